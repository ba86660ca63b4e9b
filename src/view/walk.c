/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of scope, graph and code over the kept entries: where to start, how deep, what is
 * trimmed, shown, hidden. Shown descendants of hidden entries move to the nearest shown ancestor;
 * then siblings are sorted. Independent of the view.
 */
#include "base/sort.h"
#include "view/view.h"

struct tree_walk {
	struct query *q;
	struct kept *k;
	bool cut_self;
	bool *live, *top;  /* live: below a start; top: is itself a start */
	int32_t *depth;    /* level, which is 1 for the root; 0: not visited */
	bool *open;        /* true: its children are visited */
	uint32_t *shown;   /* shown entries, in pre-order */
	uint32_t *parent;  /* index in `shown` of the shown parent */
	uint32_t *folded;  /* indexed by kept entry: number of folded entries directly above it; may
	                      be NULL */
	uint32_t *nearest; /* indexed by kept entry: index in `shown` of the entry or of its nearest
	                      shown ancestor */
	uint32_t n;
	uint32_t hidden[HIDDEN_N];
	struct tally deep; /* own numbers of entries that -max_depth hides */
};

/* Finds the starts: on each path down, the first match of a start pattern becomes a child of the
 * root. */
static void find_starts(struct tree_walk *w)
{
	struct kept *k = w->k;
	bool all = pattern_is_all(w->q->start);

	w->live[0] = true;
	for (uint32_t i = 1; i < k->n;) {
		if (all ? k->parent[i] == 0 : pattern_match(w->q->start, view_name(w->q, i))) {
			w->top[i] = true;
			memset(w->live + i, true, k->end[i] - i);
			i = k->end[i];
		} else {
			i++;
		}
	}
}

static uint32_t walk_parent(const struct tree_walk *w, uint32_t i)
{
	return w->top[i] ? 0 : w->k->parent[i];
}

/* Counts the kept entries [from, to) as hidden. */
static void hide(struct tree_walk *w, enum hidden_by why, uint32_t from, uint32_t to)
{
	w->hidden[why] += to - from;
	for (uint32_t i = from; i < to && why == HIDDEN_DEPTH; i++)
		if (w->k->accounted[i])
			tally_add(&w->deep, view_self(w->q, i));
}

/* True if an entry shares the line of its only child. */
static bool is_folded(const struct tree_walk *w, uint32_t i)
{
	const struct tally *self = view_self(w->q, i);
	uint32_t end = w->k->end[i];

	if (!w->folded || !i || i + 1 == end || w->k->end[i + 1] != end)
		return false;
	for (enum value v = 0; v < V_N; v++)
		if (v != V_DEFINITIONS && self->v[v])
			return false;
	return true;
}

/* Visits entry i. Returns false if its subtree must be skipped. */
static bool visit(struct tree_walk *w, uint32_t i)
{
	struct query *q = w->q;
	uint32_t up = i ? walk_parent(w, i) : 0;
	int32_t depth = i ? w->depth[up] + 1 : 1;
	bool trimmed = pattern_match(q->trim, view_name(q, i)), deep = depth > q->o->max_depth;
	enum hidden_by cut = trimmed ? HIDDEN_TRIM : HIDDEN_DEPTH;

	if (i && (!w->open[up] || (w->cut_self && (trimmed || deep)))) {
		hide(w, cut, i, w->k->end[i]);
		return false;
	}
	w->depth[i] = depth;
	w->open[i] = !trimmed && !deep;
	if (!w->open[i])
		hide(w, cut, i + 1, w->k->end[i]);
	w->nearest[i] = i ? w->nearest[up] : 0;
	if (w->folded && w->open[i] && is_folded(w, i)) {
		w->depth[i] = w->depth[up];
		w->folded[i + 1] = w->folded[i] + 1;
		return true;
	}
	enum hidden_by why = i ? view_hides(q, i, depth) : HIDDEN_N;
	if (why != HIDDEN_N) {
		hide(w, why, i, i + 1);
		return w->open[i];
	}
	w->parent[w->n] = i ? w->nearest[up] : ID_NONE;
	w->nearest[i] = w->n;
	w->shown[w->n++] = i;
	return w->open[i];
}

static void visit_all(struct tree_walk *w)
{
	unsigned seen = 0;

	for (uint32_t i = 0; i < w->k->n;) {
		if (++seen % 4096 == 0)
			work_poll(w->q->a->work);
		if (w->live[i]) {
			i = visit(w, i) ? i + 1 : i == 0 ? w->k->n : w->k->end[i];
		} else {
			w->hidden[HIDDEN_START]++;
			i++;
		}
	}
}

/* Computes totals over the shown entries only: a parent's own numbers plus its shown children's
 * totals. */
static void reaccount(struct tree_walk *w)
{
	struct tally *total = w->k->total;

	if (value_stopped(total[0].v, V_N)) /* entries may be hidden for such a saturated total */
		view_note_stopped(w->q->notes);
	for (uint32_t i = 0; i < w->n; i++)
		total[w->shown[i]] = *view_self(w->q, w->shown[i]);
	for (uint32_t i = w->n; i-- > 1;)
		tally_add(&total[w->shown[w->parent[i]]], &total[w->shown[i]]);
}

static int by_option(const void *ctx, uint32_t a, uint32_t b)
{
	const struct tree_walk *w = ctx;

	return view_order(w->q, w->k->total, w->shown[a], w->shown[b]);
}

/* Lists the sorted children of each shown entry: entry i has the children from child[first[i]] to
 * child[first[i + 1]]. */
static uint32_t *sort_children(struct tree_walk *w, uint32_t **first)
{
	uint32_t *child = ARENA_ARRAY(w->q->a, w->n, uint32_t);
	uint32_t *at = ARENA_ARRAY(w->q->a, (size_t)w->n + 2, uint32_t);

	for (uint32_t i = 1; i < w->n; i++)
		at[w->parent[i] + 2]++;
	for (uint32_t i = 2; i <= w->n; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 1; i < w->n; i++)
		child[at[w->parent[i] + 1]++] = i;
	for (uint32_t i = 0; i < w->n && !w->q->o->order.none; i++)
		sort_stable(w->q->a, child + at[i], at[i + 1] - at[i], by_option, w);
	*first = at;
	return child;
}

/* Stores the entries in the result, in printed order. */
static void emit(struct tree_walk *w, struct result *r)
{
	uint32_t *first, *child = sort_children(w, &first);
	uint32_t *stack = ARENA_ARRAY(w->q->a, (size_t)w->n + 1, uint32_t), top = 0;
	uint32_t *place = ARENA_ARRAY(w->q->a, w->n, uint32_t);

	r->shown = ARENA_ARRAY(w->q->a, w->n, struct entry);
	for (stack[top++] = 0; top;) {
		uint32_t i = stack[--top], up = w->parent[i];
		struct entry *x = &r->shown[r->n];
		place[i] = r->n++;
		x->kept = w->shown[i];
		x->parent = up == ID_NONE ? ID_NONE : place[up];
		x->depth = up == ID_NONE ? 0 : r->shown[x->parent].depth + 1;
		x->accounted = w->k->accounted[x->kept];
		x->folded = w->folded ? w->folded[x->kept] : 0;
		x->first = x->kept - x->folded; /* the folded entries are a chain in pre-order */
		x->self = view_self(w->q, x->kept);
		x->total = &w->k->total[x->kept];
		for (uint32_t c = first[i + 1]; c > first[i]; c--)
			stack[top++] = child[c - 1];
	}
	for (uint32_t i = r->n; i-- > 0;) {
		struct entry *x = &r->shown[i];
		if (x->end == 0)
			x->end = i + 1;
		if (x->parent != ID_NONE && r->shown[x->parent].end < x->end)
			r->shown[x->parent].end = x->end;
	}
	r->root = *r->shown[0].total;
}

bool view_walk(struct query *q, struct result *r, bool cut_self, struct err *e)
{
	struct kept *k = &q->kept;
	struct tree_walk w = { .q = q, .k = k, .cut_self = cut_self };

	w.live = ARENA_ARRAY(q->a, k->n, bool);
	w.top = k->start = ARENA_ARRAY(q->a, k->n, bool);
	w.depth = ARENA_ARRAY(q->a, k->n, int32_t);
	w.open = ARENA_ARRAY(q->a, k->n, bool);
	w.shown = ARENA_ARRAY(q->a, k->n, uint32_t);
	w.parent = ARENA_ARRAY(q->a, k->n, uint32_t);
	w.nearest = ARENA_ARRAY(q->a, k->n, uint32_t);
	if (q->fold && pattern_is_all(q->show) && pattern_is_empty(q->hide) && !q->devices)
		w.folded = ARENA_ARRAY(q->a, k->n, uint32_t);
	find_starts(&w);
	visit_all(&w);
	if (!view_patterns_ok(q, e))
		return false;
	if (q->o->displayed_only && !view_is(q->tree->kind, VIEW_TRACES))
		reaccount(&w);
	emit(&w, r);
	memcpy(r->hidden, w.hidden, sizeof r->hidden);
	r->deep = w.deep;
	return true;
}
