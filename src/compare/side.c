/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a side from the answer of a view.
 */
#include "compare/side.h"

#include "base/sort.h"

/* ---- construction ---- */

struct side_maker {
	struct arena *a;
	struct side_values values;
	enum vk kind;
	struct tree_nodes nodes;
	VEC(struct str) name, given;
	VEC(uint8_t) flags;
	VEC(bool) has_total; /* true: the total was given */
	VEC(uint32_t) type;
	VEC(int64_t) self, total;
	struct intern names, types;
	struct imap child; /* key: parent << 32 | name; value: entry */
};

static uint32_t add_entry(struct side_maker *w, uint32_t parent, struct str name)
{
	uint32_t n = w->values.n;

	VEC_PUSH(w->a, &w->nodes.parent, parent);
	VEC_PUSH(w->a, &w->name, name);
	VEC_PUSH(w->a, &w->given, name);
	VEC_PUSH(w->a, &w->flags, 0);
	VEC_PUSH(w->a, &w->has_total, false);
	VEC_PUSH(w->a, &w->type, 0);
	VEC_ROOM(w->a, &w->self, n);
	VEC_ROOM(w->a, &w->total, n);
	w->self.n += n;
	w->total.n += n;
	return (uint32_t)w->name.n - 1;
}

struct side_maker *side_begin(enum vk kind, const struct side_values *values, struct arena *a)
{
	struct side_maker *w = ARENA_NEW(a, struct side_maker);

	w->a = w->nodes.a = a;
	w->values = *values;
	w->kind = kind;
	intern_init(&w->names, a);
	intern_init(&w->types, a);
	imap_init(&w->child, a);
	intern_add(&w->types, S(""));
	add_entry(w, ID_NONE, ROOT_NAME);
	return w;
}

uint32_t side_child(struct side_maker *w, uint32_t parent, struct str name)
{
	uint32_t id = intern_add(&w->names, name), entry;
	uint64_t key = (uint64_t)parent << 32 | id;

	if (!imap_get(&w->child, key, &entry)) {
		entry = add_entry(w, parent, intern_str(&w->names, id));
		imap_put(&w->child, key, entry, false);
	}
	return entry;
}

uint32_t side_path(struct side_maker *w, struct str path)
{
	uint32_t at = 0;
	size_t from = 0;

	for (;;) {
		size_t slash = str_find_char(str_sub(path, from, SIZE_MAX), '/');
		if (slash == SIZE_MAX)
			return side_child(w, at, path);
		from += slash;
		at = side_child(w, at, str_sub(path, 0, from++));
	}
}

void side_add(struct side_maker *w, uint32_t entry, const int64_t *self, unsigned flags)
{
	int64_t *to = w->self.v + (size_t)entry * w->values.n;

	for (uint32_t k = 0; k < w->values.n; k++)
		to[k] = num_sum(to[k], self[k]);
	w->flags.v[entry] |= (uint8_t)flags;
}

void side_set_type(struct side_maker *w, uint32_t entry, struct str type)
{
	w->type.v[entry] = intern_add(&w->types, type);
}

void side_set_total(struct side_maker *w, uint32_t entry, const int64_t *total)
{
	if (w->values.n)
		memcpy(w->total.v + (size_t)entry * w->values.n, total,
		        w->values.n * sizeof *total);
	w->has_total.v[entry] = true;
}

void side_set_given(struct side_maker *w, uint32_t entry, struct str name)
{
	w->given.v[entry] = name;
}

/* Computes missing totals; children follow their parents. */
static void add_up(struct side *s, const bool *has_total)
{
	uint32_t n = s->values.n;

	for (uint32_t i = s->n; i-- > 0;) {
		int64_t *total = s->total + (size_t)i * n;
		for (uint32_t k = 0; k < n && !has_total[i]; k++)
			total[k] = num_sum(total[k], s->self[(size_t)i * n + k]);
		if (i == 0 || has_total[s->parent[i]])
			continue;
		int64_t *up = s->total + (size_t)s->parent[i] * n;
		for (uint32_t k = 0; k < n; k++)
			up[k] = num_sum(up[k], total[k]);
	}
}

static void make_room(struct side *s, struct arena *a)
{
	s->name = ARENA_ARRAY(a, s->n, struct str);
	s->flags = ARENA_ARRAY(a, s->n, uint8_t);
	s->type = ARENA_ARRAY(a, s->n, uint32_t);
	s->self = ARENA_ARRAY(a, (size_t)s->n * s->values.n, int64_t);
	s->total = ARENA_ARRAY(a, (size_t)s->n * s->values.n, int64_t);
}

/* Sorts entries 1.. so that siblings are in byte order of their names. */
static uint32_t *by_name(struct arena *a, const struct str *names, size_t n)
{
	uint32_t *order = ARENA_ARRAY(a, n, uint32_t);

	for (uint32_t i = 1; i < n; i++)
		order[i - 1] = i;
	if (n)
		sort_strings(a, order, n - 1, names);
	return order;
}

void side_end(struct side_maker *w, struct side *s)
{
	size_t n = w->values.n, bytes = n * sizeof(int64_t);
	struct tree t = { .n = 0 };
	uint32_t *order = tree_order(&t, &w->nodes, by_name(w->a, w->name.v, w->name.n), w->a);
	bool *has_total = ARENA_ARRAY(w->a, t.n, bool);

	*s = (struct side){ .kind = w->kind, .values = w->values, .n = t.n };
	s->parent = t.parent;
	s->end = t.end;
	make_room(s, w->a);
	s->given = ARENA_ARRAY(w->a, s->n, struct str);
	for (uint32_t k = 0; k < t.n; k++) {
		size_t i = order[k];
		s->given[k] = w->given.v[i];
		s->name[k] = w->name.v[i];
		s->flags[k] = w->flags.v[i];
		s->type[k] = w->type.v[i];
		has_total[k] = w->has_total.v[i];
		if (n) {
			memcpy(s->self + k * n, w->self.v + i * n, bytes);
			memcpy(s->total + k * n, w->total.v + i * n, bytes);
		}
	}
	s->types = (struct strs){ w->types.strings, w->types.n, 0 };
	add_up(s, has_total);
}

/* ---- from a query ---- */

void side_per_run(struct query *q)
{
	for (uint32_t i = 0; i < q->m->nodes.n; i++) {
		struct tally *t = &q->tallies[i];
		int64_t runs = t->v[V_RUNS];
		for (int v = 0; v < V_RECORDED && runs > 0; v++)
			if (v != V_RUNS) /* the result is divided by q->over, like all numbers */
				t->v[v] = num_add(num_mul(t->v[v] / runs, q->over),
				        num_mul(t->v[v] % runs, q->over) / runs);
	}
}

struct copy {
	struct side *s;
	struct query *q;
	struct arena *a;
	uint32_t *type_of; /* indexed by string id of the model; 0: not seen yet */
	uint32_t first, n; /* selected values */
};

static uint32_t find_type(struct copy *c, uint32_t entry)
{
	const struct tree *t = c->q->tree;
	uint32_t node = t->node ? t->node[entry] : ID_NONE;

	if (node == ID_NONE)
		return 0;
	uint32_t op = c->q->m->nodes.v[node].op;
	if (!c->type_of[op]) {
		c->type_of[op] = (uint32_t)c->s->types.n;
		strs_add(c->a, &c->s->types, model_str(c->q->m, op));
	}
	return c->type_of[op];
}

/* Copies the numbers of an entry. The root has no own numbers. For op, the root's children get
 * their own numbers, not the running sums of the list. */
static void copy_numbers(struct copy *c, uint32_t to, uint32_t from)
{
	const struct kept *k = &c->q->kept;
	const struct tally *self = view_self(c->q, from);
	size_t at = (size_t)to * c->s->values.n;
	bool op = view_is(c->s->kind, VIEW_LIST);

	for (uint32_t j = c->first; j < c->first + c->n; j++) {
		enum value v = c->s->values.v[j];
		int64_t parts = side_parts(c->s->values.ticks_per_us, v);
		int64_t own = from ? fraction_in(view_value(c->q, self, v), parts) : 0;
		c->s->self[at + j] = own;
		c->s->total[at + j] =
		        op ? own : fraction_in(view_value(c->q, &k->total[from], v), parts);
		if (op && from)
			c->s->total[j] = num_sum(c->s->total[j], own);
	}
}

static void copy_entry(struct copy *c, uint32_t to, uint32_t from)
{
	const struct tree *t = c->q->tree;
	uint32_t entry = c->q->kept.at[from];
	unsigned flags = c->q->kept.accounted[from] ? SIDE_ACCOUNTED : 0;

	if (from && (!t->node || t->node[entry] != ID_NONE))
		flags |= SIDE_NODE;
	if (!view_on_device(c->q, from))
		flags |= SIDE_ELSEWHERE;
	c->s->name[to] = t->name[entry];
	c->s->type[to] = find_type(c, entry);
	c->s->flags[to] = (uint8_t)flags;
}

/* Returns the kept entries in pre-order with sorted siblings; NULL if they are sorted already
 * (scope, op). Fills t. */
static uint32_t *sort_entries(const struct query *q, struct tree *t)
{
	const struct kept *k = &q->kept;
	struct tree_nodes nodes = { .a = q->a };

	*t = (struct tree){ .n = k->n, .parent = k->parent, .end = k->end };
	if (!view_is(q->tree->kind, VIEW_EDGES | VIEW_TRACES))
		return NULL;
	struct str *names = ARENA_ARRAY(q->a, k->n, struct str);
	for (uint32_t i = 0; i < k->n; i++) {
		names[i] = view_name(q, i);
		VEC_PUSH(q->a, &nodes.parent, k->parent[i]);
	}
	return tree_order(t, &nodes, by_name(q->a, names, k->n), q->a);
}

static uint32_t *copy_ids(struct arena *a, const uint32_t *v, size_t n)
{
	uint32_t *to = ARENA_ARRAY(a, n, uint32_t);

	memcpy(to, v, n * sizeof *v);
	return to;
}

void side_from_query(
        struct side *s, struct query *q, const struct side_values *values, struct arena *a)
{
	struct copy c = { .s = s, .q = q, .a = a, .n = values->n };
	struct tree t;
	uint32_t *order = sort_entries(q, &t);

	*s = (struct side){ .kind = q->tree->kind, .values = *values, .n = t.n };
	c.type_of = ARENA_ARRAY(q->a, q->m->strings.n, uint32_t);
	strs_add(a, &s->types, S(""));
	s->parent = copy_ids(a, t.parent, t.n);
	s->end = copy_ids(a, t.end, t.n);
	make_room(s, a);
	for (uint32_t i = 0; i < s->n; i++) {
		copy_entry(&c, i, order ? order[i] : i);
		copy_numbers(&c, i, order ? order[i] : i);
	}
}

void side_fill(struct side *s, struct query *q, uint32_t first, uint32_t n)
{
	struct copy c = { .s = s, .q = q, .first = first, .n = n };
	struct tree t;
	uint32_t *order = sort_entries(q, &t);

	for (uint32_t i = 0; i < s->n; i++)
		copy_numbers(&c, i, order ? order[i] : i);
}

/* ---- renaming ---- */

/* Computes the part of an entry's total that neither its own numbers nor its children explain,
 * because a printed report may omit lines. */
static void add_unseen(struct side_maker *w, uint32_t to, const struct side *s, uint32_t i)
{
	uint32_t n = s->values.n;

	for (uint32_t k = 0; k < n; k++) {
		int64_t *total = &w->total.v[(size_t)to * n + k],
		        rest = num_sub(s->total[(size_t)i * n + k], s->self[(size_t)i * n + k]);
		for (uint32_t c = i + 1; c < s->end[i]; c = s->end[c])
			rest = num_sub(rest, s->total[(size_t)c * n + k]);
		*total = num_add(*total, rest);
	}
}

/* Adds the entries to a maker under new names. In the scope view, entries that a node defines
 * rebuild their path. */
static bool rename_entries(struct side_maker *w, const struct side *s, side_name *rename,
        void *user, bool *changed, struct err *e)
{
	uint32_t *to = ARENA_ARRAY(w->a, s->n, uint32_t);

	add_unseen(w, 0, s, 0);
	for (uint32_t i = 1; i < s->n; i++) {
		struct str name;
		if (!rename(user, s->name[i], w->a, &name, e))
			return false;
		*changed |= !str_eq(name, s->name[i]);
		if (view_is(s->kind, VIEW_PATHS) && !(s->flags[i] & SIDE_NODE))
			continue;
		to[i] = view_is(s->kind, VIEW_PATHS) ? side_path(w, name)
		                                     : side_child(w, to[s->parent[i]], name);
		side_add(w, to[i], s->self + (size_t)i * s->values.n, s->flags[i]);
		add_unseen(w, to[i], s, i);
		side_set_type(w, to[i], s->types.v[s->type[i]]);
		side_set_given(w, to[i], side_given(s, i));
	}
	return true;
}

const struct side *side_rename(
        const struct side *s, side_name *name, void *user, struct arena *a, struct err *e)
{
	struct side_maker *w = side_begin(s->kind, &s->values, a);
	struct side *renamed = ARENA_NEW(a, struct side);
	bool changed = false;

	if (!rename_entries(w, s, name, user, &changed, e))
		return NULL;
	if (!changed)
		return s;
	side_end(w, renamed);
	return renamed;
}
