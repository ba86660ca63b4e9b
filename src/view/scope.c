/* SPDX-License-Identifier: Apache-2.0
 *
 * The scope view: nodes by the components of their names, like a file system.
 */
#include "base/sort.h"
#include "view/view.h"

/* Entries in the order in which they are found, which is pre-order. */
struct scope_entry {
	uint32_t parent, node; /* node: the node of this name, or ID_NONE */
	struct str name;       /* full name; the bytes belong to the model */
};

struct scopes {
	struct arena *a; /* arena for scratch data */
	VEC(struct scope_entry) list;
	VEC(uint32_t) open; /* the entries of the last name, outermost first */
};

/* Returns the length of the common prefix of two names. */
static size_t common_bytes(struct str x, struct str y)
{
	size_t most = x.n < y.n ? x.n : y.n, i = 0;

	while (most - i >= 8 && memcmp(x.p + i, y.p + i, 8) == 0)
		i += 8;
	while (i < most && x.p[i] == y.p[i])
		i++;
	return i;
}

/* Compares paths component by component, so the contents of a scope follow it directly. */
static int by_path(const void *ctx, uint32_t a, uint32_t b)
{
	const struct str *names = ctx, x = names[a], y = names[b];
	size_t i = common_bytes(x, y);

	if (i == x.n || i == y.n)
		return (x.n > y.n) - (x.n < y.n);
	if (x.p[i] == '/' || y.p[i] == '/')
		return x.p[i] == '/' ? -1 : 1;
	return (uint8_t)x.p[i] < (uint8_t)y.p[i] ? -1 : 1;
}

/* True if an open scope whose name has n bytes contains `name`. `name` shares its first `same`
 * bytes with the innermost open entry; these must include the scope's name and the '/' after it. */
static bool contains_name(size_t n, size_t same, struct str name)
{
	return n < same || (n == same && n < name.n && name.p[n] == '/');
}

/* Returns the number of open entries that contain the name. */
static size_t common_scopes(const struct scopes *s, struct str name)
{
	const uint32_t *open = s->open.v;
	size_t i;

	if (s->open.n == 0)
		return 0;
	size_t same = common_bytes(s->list.v[open[s->open.n - 1]].name, name);
	BISECT(i, 0, s->open.n, contains_name(s->list.v[open[i]].name.n, same, name));
	return i;
}

/* Adds the entries of a name that are not open yet. Names must arrive in path order. */
static void add_name(struct scopes *s, struct str name, uint32_t node)
{
	size_t from = 0;
	uint32_t up = 0;

	s->open.n = common_scopes(s, name);
	if (s->open.n) {
		up = s->open.v[s->open.n - 1];
		from = s->list.v[up].name.n + 1;
	}
	for (bool more = true; more;) {
		size_t slash = str_find_char(str_sub(name, from, SIZE_MAX), '/');
		more = slash != SIZE_MAX;
		size_t end = more ? from + slash : name.n;
		struct scope_entry x = { up, ID_NONE, str_sub(name, 0, end) };
		up = (uint32_t)s->list.n;
		VEC_PUSH(s->a, &s->list, x);
		VEC_PUSH(s->a, &s->open, up);
		from = end + 1;
	}
	s->list.v[up].node = node;
}

/* Sorts the nodes as paths. Names in byte order are nearly sorted as paths, which makes the sort
 * fast. */
static uint32_t *order_paths(const struct model *m, const struct str *names, struct arena *a)
{
	return sort_order(a, m->by_name.n, by_path, names);
}

static void fill_tree(const struct scopes *s, struct tree *t, struct arena *a)
{
	uint32_t n = t->n = (uint32_t)s->list.n;

	t->parent = ARENA_ARRAY(a, n, uint32_t);
	t->end = ARENA_ARRAY(a, n, uint32_t);
	t->name = ARENA_ARRAY(a, n, struct str);
	t->node = ARENA_ARRAY(a, n, uint32_t);
	for (uint32_t i = n; i-- > 0;) {
		const struct scope_entry *x = &s->list.v[i];
		t->parent[i] = x->parent;
		t->name[i] = x->name;
		t->node[i] = x->node;
		if (t->end[i] == 0) /* the entry has no descendants */
			t->end[i] = i + 1;
		if (i && t->end[x->parent] < t->end[i])
			t->end[x->parent] = t->end[i];
	}
}

void view_scope_build(const struct model *m, struct tree *t, struct arena *a, struct notes *notes)
{
	struct scratch own;

	(void)notes;
	scratch_open(&own, a->work);
	struct scopes s = { .a = &own.a };
	struct str *names = ARENA_ARRAY(&own.a, m->by_name.n, struct str);
	for (size_t i = 0; i < m->by_name.n; i++)
		names[i] = node_name(m, m->by_name.v[i]);
	uint32_t *order = order_paths(m, names, &own.a);
	VEC_PUSH(&own.a, &s.list, ((struct scope_entry){ ID_NONE, ID_NONE, ROOT_NAME }));
	for (size_t i = 0; i < m->by_name.n; i++)
		add_name(&s, names[order[i]], m->by_name.v[order[i]]);
	fill_tree(&s, t, a);
	scratch_close(&own);
}

/* Keeps a scope if it is accounted or leads to an accounted entry; Quirk 8: it then counts. */
void view_scope_account(struct query *q)
{
	const struct tree *t = q->tree;
	bool *keep = ARENA_ARRAY(q->a, t->n, bool), *accounted = ARENA_ARRAY(q->a, t->n, bool);
	bool made_up = pattern_is_all(q->account) ||
	               pattern_match(q->account, view_made_up_type(q->tree->kind));

	for (uint32_t i = t->n; i-- > 1;) {
		accounted[i] = t->node[i] == ID_NONE ? made_up : view_matches(q, t->node[i]) > 0;
		keep[i] |= accounted[i];
		keep[t->parent[i]] |= keep[i];
	}
	view_keep(q, keep, accounted);
	view_sum(q);
}

bool view_scope_show(struct query *q, struct result *r, struct err *e)
{
	view_scope_account(q);
	return view_walk(q, r, false, e);
}
