/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the names that only one side has.
 */
#include "compare/compare.h"

#define PREFIX_TRIES 1000 /* names of the other side with which each name is compared */

/* Maps lower-case names to their index in `names`. */
static void find_side(const struct compare *c, uint32_t side, uint32_t other, struct strs *names,
        struct intern *lower, struct arena *a)
{
	intern_init(lower, a);
	for (uint32_t i = 1; i < c->n; i++) {
		const struct side *s = c->side[side];
		if (!compare_has(c, side, i) || compare_has(c, other, i) ||
		        !(s->flags[c->at[side][i]] & SIDE_NODE))
			continue;
		struct str name = s->name[c->at[side][i]];
		if (intern_add_kept(lower, str_lower(a, name)) == names->n)
			strs_add(a, names, name);
	}
}

void unmatched_find(struct unmatched *l, const struct compare *c, struct arena *a)
{
	struct intern first, last;

	*l = (struct unmatched){ .n_case = 0 };
	find_side(c, 0, c->sides - 1, &l->first, &first, a);
	find_side(c, c->sides - 1, 0, &l->last, &last, a);
	for (size_t i = 0; i < l->last.n; i++) {
		uint32_t id = intern_find(&first, intern_str(&last, (uint32_t)i));
		if (id == ID_NONE || str_eq(l->first.v[id], l->last.v[i]))
			continue;
		if (!l->n_case++) {
			l->one = l->first.v[id];
			l->two = l->last.v[i];
		}
	}
}

/* Returns the scope that precedes the names of b compared with the names of a. */
static struct str find_prefix(const struct strs *a, const struct strs *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct str name = b->v[i];
		size_t slash = str_find_char(name, '/');
		if (slash == SIZE_MAX)
			continue;
		for (size_t k = 0; k < a->n && k < PREFIX_TRIES; k++)
			if (str_eq(a->v[k], str_sub(name, slash + 1, SIZE_MAX)))
				return str_sub(name, 0, slash);
	}
	return STR_NONE;
}

struct str unmatched_prefix(const struct unmatched *l)
{
	struct str prefix = find_prefix(&l->first, &l->last);

	return prefix.n ? prefix : find_prefix(&l->last, &l->first);
}
