/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives all sides of the graph view one structure. The ancestors of a node are never from a side of
 * lower rank, so there are no cycles.
 */
#include "compare/compare.h"

#include "base/sort.h"

struct placing {
	struct arena *a; /* arena for scratch data */
	struct intern names;
	VEC(uint32_t) parent; /* indexed by name: name of the parent node; ID_NONE: the root */
};

/* Returns a hash of a side's structure, independent of the order of its entries. */
static uint64_t structure_of(const struct side *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < s->n; i++) {
		struct str up = s->name[s->parent[i]];
		sum += hash_bytes(s->name[i].p, s->name[i].n) * 0x9e3779b97f4a7c15u ^
		       hash_bytes(up.p, up.n);
	}
	return sum;
}

struct rank {
	const struct side *const *sides;
	const uint64_t *structure;
};

static int by_rank(const void *ctx, uint32_t a, uint32_t b)
{
	const struct rank *r = ctx;
	uint32_t x = r->sides[a]->n, y = r->sides[b]->n;

	if (x != y)
		return x < y ? 1 : -1;
	return (r->structure[a] < r->structure[b]) - (r->structure[a] > r->structure[b]);
}

/* Places the nodes of a side that no earlier side has placed. */
static void place(struct placing *p, const struct side *s)
{
	uint32_t *id = ARENA_ARRAY(p->a, s->n, uint32_t);

	id[0] = ID_NONE;
	for (uint32_t i = 1; i < s->n; i++) {
		id[i] = intern_add_kept(&p->names, s->name[i]);
		if (id[i] == p->parent.n)
			VEC_PUSH(p->a, &p->parent, id[s->parent[i]]);
	}
}

/* Rebuilds a side in the common structure. */
static const struct side *remake(struct placing *p, const struct side *s, struct arena *a)
{
	struct side_maker *w = side_begin(s->kind, &s->values, a);
	struct side *to = ARENA_NEW(a, struct side);
	uint32_t *entry =
	        ARENA_ARRAY(p->a, p->parent.n, uint32_t); /* indexed by name; 0: not created */
	VEC(uint32_t) way = { 0 };

	for (uint32_t i = 1; i < s->n; i++) {
		uint32_t id = intern_find(&p->names, s->name[i]), up = id, at = 0;
		for (way.n = 0; up != ID_NONE && !entry[up]; up = p->parent.v[up])
			VEC_PUSH(p->a, &way, up);
		if (up != ID_NONE)
			at = entry[up];
		while (way.n) {
			up = way.v[--way.n];
			at = entry[up] = side_child(w, at, intern_str(&p->names, up));
		}
		side_add(w, at, s->self + (size_t)i * s->values.n, s->flags[i]);
		side_set_type(w, at, s->types.v[s->type[i]]);
		side_set_given(w, at, side_given(s, i));
	}
	side_end(w, to);
	return to;
}

void compare_graph(const struct side **sides, uint32_t n, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct placing p = { .a = &own.a };
	uint64_t *structure = ARENA_ARRAY(&own.a, n, uint64_t);
	intern_init(&p.names, &own.a);
	for (uint32_t i = 0; i < n; i++)
		structure[i] = structure_of(sides[i]);
	const uint32_t *order = sort_order(&own.a, n, by_rank, &(struct rank){ sides, structure });
	for (uint32_t k = 0; k < n; k++)
		place(&p, sides[order[k]]);
	for (uint32_t i = 0; i < n; i++)
		sides[i] = remake(&p, sides[i], a);
	scratch_close(&own);
}
