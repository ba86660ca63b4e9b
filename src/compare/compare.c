/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges sides. The children of an entry are a list in order of their names, and the children of
 * each side come in the same order. So a side is merged in one pass, with a cursor in each list.
 */
#include "compare/compare.h"

/* The tree under construction. */
struct side_merge {
	struct arena *a;
	struct tree_nodes nodes;
	VEC(uint32_t) first, next;
	VEC(uint32_t) cursor; /* the child merged last in this pass, or ID_NONE */
	VEC(struct str) name;
};

static uint32_t add_entry(struct side_merge *m, uint32_t parent, struct str name)
{
	VEC_PUSH(m->a, &m->nodes.parent, parent);
	VEC_PUSH(m->a, &m->first, ID_NONE);
	VEC_PUSH(m->a, &m->next, ID_NONE);
	VEC_PUSH(m->a, &m->cursor, ID_NONE);
	VEC_PUSH(m->a, &m->name, name);
	return (uint32_t)m->name.n - 1;
}

/* Returns the child with a name. All earlier names of this pass must be smaller. */
static uint32_t find_child(struct side_merge *m, uint32_t parent, struct str name)
{
	uint32_t before = m->cursor.v[parent];
	uint32_t at = before == ID_NONE ? m->first.v[parent] : m->next.v[before];
	int order = 1;

	while (at != ID_NONE) {
		order = str_eq(m->name.v[at], name) ? 0 : str_cmp(m->name.v[at], name);
		if (order >= 0)
			break;
		before = at;
		at = m->next.v[at];
	}
	if (order || at == ID_NONE) {
		uint32_t made = add_entry(m, parent, name);
		m->next.v[made] = at;
		if (before == ID_NONE)
			m->first.v[parent] = made;
		else
			m->next.v[before] = made;
		at = made;
	}
	return m->cursor.v[parent] = at;
}

/* Merges a side. Element i of the result is the tree's entry for entry i of the side. */
static uint32_t *merge_side(struct side_merge *m, const struct side *s)
{
	uint32_t *to = ARENA_ARRAY(m->a, s->n, uint32_t);

	memset(m->cursor.v, 0xff, m->cursor.n * sizeof *m->cursor.v);
	for (uint32_t i = 1; i < s->n; i++) {
		to[i] = find_child(m, to[s->parent[i]], s->name[i]);
		if (i % 4096 == 0)
			work_poll(m->a->work);
	}
	return to;
}

static uint32_t *new_column(struct compare *c)
{
	uint32_t *at = ARENA_ARRAY(c->a, c->n, uint32_t);

	memset(at, 0xff, c->n * sizeof *at);
	return at;
}

void compare_sides(struct compare *c, const struct side *const *sides, uint32_t n, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct side_merge m = { .a = &own.a, .nodes = { .a = &own.a } };
	struct tree t;
	uint32_t **to = ARENA_ARRAY(&own.a, n, uint32_t *);
	add_entry(&m, ID_NONE, ROOT_NAME);
	for (uint32_t s = 0; s < n; s++)
		to[s] = merge_side(&m, sides[s]);
	uint32_t *order = tree_order_links(&t, &m.nodes, m.first.v, m.next.v, a);
	uint32_t *place = ARENA_ARRAY(&own.a, t.n, uint32_t);
	*c = (struct compare){ .a = a, .sides = n, .n = t.n, .parent = t.parent, .end = t.end };
	c->name = ARENA_ARRAY(a, t.n, struct str);
	c->side = ARENA_ARRAY(a, n, const struct side *);
	c->at = ARENA_ARRAY(a, n, uint32_t *);
	for (uint32_t k = 0; k < t.n; k++) {
		c->name[k] = m.name.v[order[k]];
		place[order[k]] = k;
	}
	for (uint32_t s = 0; s < n; s++) {
		c->side[s] = sides[s];
		c->at[s] = new_column(c);
		for (uint32_t i = 0; i < sides[s]->n; i++)
			c->at[s][place[to[s][i]]] = i;
	}
	scratch_close(&own);
}

/* Returns the entries to keep. */
static uint32_t *living(const struct compare *c, uint32_t *n, struct arena *a)
{
	uint32_t *list = ARENA_ARRAY(a, c->n, uint32_t);

	*n = 0;
	for (uint32_t i = 0; i < c->n; i++)
		if (i == 0 || c->parent[i] != ID_NONE)
			list[(*n)++] = i;
	return list;
}

/* Translates aliases to the new numbers of their entries. */
static struct alias *renumber_aliases(const struct alias *from, size_t n, const uint32_t *place,
        uint32_t entries, struct arena *scratch, struct arena *a)
{
	struct alias *to = ARENA_ARRAY(a, n + 1, struct alias);
	uint32_t *of = ARENA_ARRAY(scratch, entries, uint32_t);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		of[place[from[i].entry]] = (uint32_t)i + 1;
	for (uint32_t i = 0; i < entries; i++)
		if (of[i])
			to[k++] = (struct alias){ i, from[of[i] - 1].name };
	to[k].entry = ID_NONE;
	return to;
}

struct alias *compare_renumber(struct compare *c, const struct alias *aliases, size_t n)
{
	struct compare old = *c;
	struct scratch own;

	scratch_open(&own, c->a->work);
	struct tree_nodes nodes = { .a = &own.a };
	uint32_t *list = living(&old, &c->n, &own.a),
	         *new_of = ARENA_ARRAY(&own.a, old.n, uint32_t);
	struct tree t;
	for (uint32_t k = 0; k < c->n; k++)
		new_of[list[k]] = k;
	for (uint32_t k = 0; k < c->n; k++)
		VEC_PUSH(&own.a, &nodes.parent, k ? new_of[old.parent[list[k]]] : ID_NONE);
	uint32_t *order = tree_order(&t, &nodes, NULL, c->a);
	c->parent = t.parent;
	c->end = t.end;
	c->name = ARENA_ARRAY(c->a, c->n, struct str);
	for (uint32_t k = 0; k < c->n; k++) {
		c->name[k] = old.name[list[order[k]]];
		new_of[list[order[k]]] = k;
	}
	for (uint32_t s = 0; s < c->sides; s++) {
		const uint32_t *was = c->at[s];
		c->at[s] = new_column(c);
		for (uint32_t k = 0; k < c->n; k++)
			c->at[s][k] = was[list[order[k]]];
	}
	struct alias *to = renumber_aliases(aliases, n, new_of, c->n, &own.a, c->a);
	scratch_close(&own);
	return to;
}

uint32_t compare_first(const struct compare *c, uint32_t i)
{
	uint32_t s = 0;

	while (s + 1 < c->sides && !compare_has(c, s, i))
		s++;
	return s;
}

struct str compare_type(const struct compare *c, uint32_t i)
{
	uint32_t s = compare_first(c, i);

	return c->side[s]->types.v[c->side[s]->type[c->at[s][i]]];
}
