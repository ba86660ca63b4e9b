/* SPDX-License-Identifier: Apache-2.0
 *
 * See diff_why.h.
 */
#include "app/diff_why.h"

/* Defined nodes that one of two sides alone has. */
struct lonely {
	VEC(struct str) v;
	struct intern lower; /* names in lower case, by place in v */
};

static void find_lonely(
        const struct compare *c, uint32_t side, uint32_t other, struct lonely *x, struct arena *a)
{
	*x = (struct lonely){ 0 };
	intern_init(&x->lower, a);
	for (uint32_t i = 1; i < c->n; i++) {
		const struct side *s = c->side[side];
		if (!compare_has(c, side, i) || compare_has(c, other, i) ||
		        !(s->flags[c->at[side][i]] & SIDE_NODE))
			continue;
		struct str name = s->name[c->at[side][i]];
		if (intern_add_kept(&x->lower, str_lower(a, name)) == x->v.n)
			VEC_PUSH(a, &x->v, name);
	}
}

/* How many of b are called like one of a but for case; the first two in *one and *two. */
static size_t count_case(
        const struct lonely *a, const struct lonely *b, struct str *one, struct str *two)
{
	size_t n = 0;

	for (size_t i = 0; i < b->v.n; i++) {
		uint32_t id = intern_find(&a->lower, intern_str(&b->lower, (uint32_t)i));
		if (id == ID_NONE || str_eq(a->v.v[id], b->v.v[i]))
			continue;
		if (!n++) {
			*one = a->v.v[id];
			*two = b->v.v[i];
		}
	}
	return n;
}

/* The scope that the names of b have in front of those of a; empty: it is not so. */
static struct str find_prefix(const struct lonely *a, const struct lonely *b)
{
	for (size_t i = 0; i < b->v.n; i++) {
		struct str name = b->v.v[i];
		size_t slash = str_find_char(name, '/');
		if (slash == SIZE_MAX)
			continue;
		for (size_t k = 0; k < a->v.n && k < 1000; k++)
			if (str_eq(a->v.v[k], str_sub(name, slash + 1, SIZE_MAX)))
				return str_sub(name, 0, slash);
	}
	return STR_NONE;
}

static bool fail(struct session *s, const struct lonely *a, const struct lonely *b,
        const struct strs *names, struct str why)
{
	return session_fail(s, ERR_FAILED,
	        "nothing matches: %.*s has %zu nodes, such as '%.*s', %.*s has %zu, such as "
	        "'%.*s'; %.*s",
	        STR(names->v[0]), (size_t)a->v.n, STR(a->v.n ? a->v.v[0] : S("")),
	        STR(names->v[names->n - 1]), (size_t)b->v.n, STR(b->v.n ? b->v.v[0] : S("")),
	        STR(why));
}

bool diff_why_nothing(struct session *s, const struct compare *c, const struct strs *names)
{
	struct arena *q = &s->query_arena;
	struct str one, two, prefix;
	struct lonely a, b;

	find_lonely(c, 0, c->sides - 1, &a, q);
	find_lonely(c, c->sides - 1, 0, &b, q);
	if (count_case(&a, &b, &one, &two))
		return fail(s, &a, &b, names,
		        str_fmt(q,
		                "they differ in case ('%.*s', '%.*s'): -rename can make them "
		                "the same",
		                STR(one), STR(two)));
	prefix = find_prefix(&a, &b);
	if (prefix.n || (prefix = find_prefix(&b, &a)).n)
		return fail(s, &a, &b, names,
		        str_fmt(q, "those of one side stand below '%.*s': -rename 's|^%.*s/||'",
		                STR(prefix), STR(prefix)));
	return fail(s, &a, &b, names, S("they look like different models"));
}

void diff_note_case(struct session *s, const struct compare *c)
{
	struct str one, two;
	struct scratch own;
	struct lonely a, b;

	scratch_open(&own, &s->work);
	find_lonely(c, 0, c->sides - 1, &a, &own.a);
	find_lonely(c, c->sides - 1, 0, &b, &own.a);
	size_t n = count_case(&a, &b, &one, &two);
	if (n)
		note_line(&s->notes,
		        "names that differ only in case: %zu, such as '%.*s' and '%.*s'; they "
		        "are different nodes\n",
		        n, STR(one), STR(two));
	scratch_close(&own);
}
