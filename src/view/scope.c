/* SPDX-License-Identifier: Apache-2.0
 *
 * The scope view: nodes by the parts of their names, like a file system (B§4.1).
 */
#include "base/sort.h"
#include "view/view.h"

/* The parts of all names as a trie: a scope is its parent and one more part. So a long name costs
 * its length, however many parts it has. */
struct scope {
	uint32_t parent; /* scope; 0 is the root */
	uint32_t node;   /* of this name, or ID_NONE */
	struct str name; /* whole; bytes in the model */
	size_t part;     /* where its last part begins */
};

struct scopes {
	struct arena *a; /* scratch */
	VEC(struct scope) list;
	VEC(uint32_t) open; /* the scopes of the last name, outermost first */
	uint32_t *slots;    /* scope, 0 = empty; a power of two of them */
	size_t n_slots;
};

static struct str last_part(const struct scope *x)
{
	return str_sub(x->name, x->part, SIZE_MAX);
}

static size_t first_slot(const struct scopes *s, uint32_t parent, struct str part)
{
	return (size_t)((hash_bytes(part.p, part.n) ^ parent * 0x9e3779b97f4a7c15u) >> 7) &
	       (s->n_slots - 1);
}

static void grow_slots(struct scopes *s)
{
	s->n_slots = s->n_slots ? 2 * s->n_slots : 1024;
	s->slots = ARENA_ARRAY(s->a, s->n_slots, uint32_t);
	for (uint32_t i = 1; i < s->list.n; i++) {
		size_t at = first_slot(s, s->list.v[i].parent, last_part(&s->list.v[i]));
		while (s->slots[at])
			at = (at + 1) & (s->n_slots - 1);
		s->slots[at] = i;
	}
}

/* The scope `name`, which is one part (from byte `part`) below parent. */
static uint32_t find_scope(struct scopes *s, uint32_t parent, struct str name, size_t part)
{
	struct scope x = { parent, ID_NONE, name, part };

	if (2 * s->list.n >= s->n_slots)
		grow_slots(s);
	size_t at = first_slot(s, parent, last_part(&x));
	for (; s->slots[at]; at = (at + 1) & (s->n_slots - 1)) {
		const struct scope *y = &s->list.v[s->slots[at]];
		if (y->parent == parent && str_eq(last_part(y), last_part(&x)))
			return s->slots[at];
	}
	s->slots[at] = (uint32_t)s->list.n;
	VEC_PUSH(s->a, &s->list, x);
	return s->slots[at];
}

/* How many of the open scopes contain the name too. */
static size_t common_scopes(const struct scopes *s, struct str name)
{
	size_t lo = 0, hi = s->open.n;

	if (hi == 0)
		return 0;
	struct str last = s->list.v[s->open.v[hi - 1]].name;
	size_t same = 0, most = last.n < name.n ? last.n : name.n;
	while (same < most && last.p[same] == name.p[same])
		same++;
	while (lo < hi) { /* scopes whose name and the '/' behind it are in the common part */
		size_t mid = lo + (hi - lo) / 2, n = s->list.v[s->open.v[mid]].name.n;
		if (n < same || (n == same && n < name.n && name.p[n] == '/'))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

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
		up = find_scope(s, up, str_sub(name, 0, end), from);
		VEC_PUSH(s->a, &s->open, up);
		from = end + 1;
	}
	s->list.v[up].node = node;
}

static int by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct scopes *s = ctx;

	return str_cmp(last_part(&s->list.v[a]), last_part(&s->list.v[b]));
}

/* Scopes so that siblings are in byte order: grouped by parent, each group sorted. */
static uint32_t *sort_siblings(struct scopes *s)
{
	size_t n = s->list.n;
	uint32_t *first = ARENA_ARRAY(s->a, n + 2, uint32_t), *all = ARENA_ARRAY(s->a, n, uint32_t);

	for (size_t i = 1; i < n; i++)
		first[s->list.v[i].parent + 2]++;
	for (size_t i = 2; i <= n; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 1; i < n; i++)
		all[first[s->list.v[i].parent + 1]++] = i;
	for (size_t i = 0; i < n; i++)
		sort_stable(s->a, all + first[i], first[i + 1] - first[i], by_name, s);
	return all;
}

/* Entries in an order in which parents come first: a parent's group ends before its children's. */
static void order_scopes(struct scopes *s, struct tree *t, struct arena *a)
{
	uint32_t *all = sort_siblings(s), n = (uint32_t)s->list.n;
	struct tree_nodes nodes = { .a = s->a };

	VEC_ROOM(s->a, &nodes.parent, n);
	nodes.parent.n = n;
	nodes.parent.v[0] = ID_NONE;
	for (uint32_t i = 1; i < n; i++)
		nodes.parent.v[i] = s->list.v[i].parent;
	uint32_t *order = tree_order(t, &nodes, all, a);
	t->name = ARENA_ARRAY(a, n, struct str);
	t->node = ARENA_ARRAY(a, n, uint32_t);
	for (uint32_t k = 0; k < n; k++) {
		t->name[k] = k ? s->list.v[order[k]].name : ROOT_NAME;
		t->node[k] = s->list.v[order[k]].node;
	}
}

static void build(const struct model *m, struct tree *t, struct arena *a, struct notes *notes)
{
	struct arena scratch;

	(void)notes;
	arena_init(&scratch, a->work);
	struct scopes s = { .a = &scratch };
	VEC_PUSH(&scratch, &s.list, ((struct scope){ .node = ID_NONE }));
	for (size_t i = 0; i < m->by_name.n; i++)
		add_name(&s, node_name(m, m->by_name.v[i]), m->by_name.v[i]);
	order_scopes(&s, t, a);
	arena_free(&scratch);
}

/* A scope is kept if it is accounted or leads to something that is; quirk 8: it then counts. */
static bool show(struct query *q, struct result *r, struct err *e)
{
	const struct tree *t = q->tree;
	bool *keep = ARENA_ARRAY(q->a, t->n, bool), *accounted = ARENA_ARRAY(q->a, t->n, bool);
	bool made_up = rx_is_all(q->account) || rx_match(q->account, view_made_up_type(VK_SCOPE));

	for (uint32_t i = t->n; i-- > 1;) {
		accounted[i] = t->node[i] == ID_NONE ? made_up : view_matches(q, t->node[i]) > 0;
		keep[i] |= accounted[i];
		keep[t->parent[i]] |= keep[i];
	}
	view_keep(q, keep, accounted);
	view_sum(q);
	return view_walk(q, r, false, e);
}

const struct view_ops view_scope = {
	.name = "scope",
	.kind = VK_SCOPE,
	.doc = "scope: The nodes in the model graph are organized by their names, which is "
	       "hierarchical "
	       "like filesystem.",
	.help = "nodes by name scope, like folders",
	.made_up = "_kTFScopeParent",
	.outputs = 1u << OUT_STDOUT | 1u << OUT_FILE | 1u << OUT_NONE | 1u << OUT_TIMELINE,
	.build = build,
	.show = show,
};
