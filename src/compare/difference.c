/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the entries that differ, and walks over them.
 */
#include "compare/difference.h"

#include "base/sort.h"

struct diff_walk {
	const struct difference_request *request;
	const struct compare *c;
	struct arena *a;
	struct pattern_list *start, *trim, *show, *hide;
	bool *enough;         /* indexed by entry: true if its own difference is large enough */
	bool *leads;          /* indexed by entry: true if the difference of a descendant is large
	                         enough */
	bool *live, *top;     /* indexed by entry; live: below a start; top: is itself a start */
	VEC(uint32_t) shown;  /* entries, in pre-order */
	VEC(uint32_t) parent; /* parent of each shown entry, as index in `shown` */
	uint32_t *nearest;    /* indexed by entry: the entry or its nearest shown ancestor, as index
	                         in `shown` */
	uint32_t *depth;      /* indexed by entry; the root has depth 1 */
	bool *open;
};

const char *diff_state_name(enum diff_state state)
{
	static const char *const names[] = { [DIFF_BOTH] = "both",
		[DIFF_NEW] = "new",
		[DIFF_GONE] = "gone",
		[DIFF_BETWEEN] = "between" };

	return names[state];
}

const struct alias *diff_alias(const struct diff *d, uint32_t row)
{
	uint32_t entry = d->row[row].entry;
	size_t i;

	BISECT(i, 0, d->aliases, d->request->alias[i].entry < entry);
	return i < d->aliases && d->request->alias[i].entry == entry ? &d->request->alias[i] : NULL;
}

/* ---- selection by difference ---- */

static int64_t value_of(const struct compare *c, uint32_t side, uint32_t i, uint32_t k)
{
	const int64_t *total = compare_total(c, side, i);

	return total ? total[k] : 0;
}

struct side_spread {
	int64_t low, high;
	bool missing; /* a side lacks the entry */
};

static struct side_spread spread_of(const struct compare *c, uint32_t i, uint32_t k)
{
	struct side_spread x = { value_of(c, 0, i, k), value_of(c, 0, i, k),
		!compare_has(c, 0, i) };

	for (uint32_t s = 1; s < c->sides; s++) {
		int64_t v = value_of(c, s, i, k);
		x.low = v < x.low ? v : x.low;
		x.high = v > x.high ? v : x.high;
		x.missing |= !compare_has(c, s, i);
	}
	return x;
}

/* True if the relative difference is above delta, the signs differ, or one number is 0. */
static bool spread_counts(const struct side_spread *x, double delta)
{
	double low = (double)x->low, high = (double)x->high;

	if (x->low == x->high)
		return false;
	if (x->missing || x->low == 0 || x->high == 0 || (x->low < 0) != (x->high < 0))
		return true;
	return x->low > 0 ? high > low * (1 + delta) : -low > -high * (1 + delta);
}

static bool is_time(const struct difference_request *request, uint32_t k)
{
	return metrics[request->metrics[k]].unit == UNIT_TIME;
}

static bool is_noise(struct diff_walk *w, uint32_t i, uint32_t k)
{
	return w->request->noise && is_time(w->request, k) && noise_is(w->request->noise, i, k);
}

static bool differs_enough(struct diff_walk *w, uint32_t i)
{
	const struct difference_request *request = w->request;
	bool any = false;

	for (uint32_t k = 0; k < request->n; k++) {
		struct side_spread x = spread_of(request->c, i, k);
		int64_t least = num_mul(request->least[k], diff_parts(request, k));
		if (least && x.high < least && k >= request->columns)
			return false;
		any |= k < request->columns && x.high >= least &&
		       spread_counts(&x, request->delta) && !is_noise(w, i, k);
	}
	return any;
}

/* Counts the entries that are left out as noise, and adds up their own times. */
static void add_noise(struct diff_walk *w, struct diff *d)
{
	const struct difference_request *request = w->request;
	uint32_t k = 0;

	while (k < request->columns && !is_time(request, k))
		k++;
	if (!request->noise || k == request->columns)
		return;
	d->noise_column = k;
	for (uint32_t i = 0; i < request->c->n; i++) {
		const int64_t *x = compare_self(request->c, request->from, i),
		              *y = compare_self(request->c, request->to, i);
		if (w->enough[i] || !x || !y || x[k] == y[k] || !is_noise(w, i, k))
			continue;
		d->noise++;
		d->noise_sum = num_add(d->noise_sum, num_sub(x[k], y[k]));
	}
}

static void find_enough(struct diff_walk *w)
{
	const struct compare *c = w->c;

	for (uint32_t i = c->n; i-- > 0;) {
		w->enough[i] = differs_enough(w, i);
		w->leads[i] |= w->enough[i];
		if (i)
			w->leads[c->parent[i]] |= w->leads[i];
		if (i % 4096 == 0)
			work_poll(w->a->work);
	}
}

/* ---- selection by options ---- */

/* True if a list matches the entry's name on any side. */
static bool matches(struct diff_walk *w, struct pattern_list *l, uint32_t i)
{
	const struct compare *c = w->c;

	if (pattern_is_all(l))
		return true;
	if (pattern_is_empty(l))
		return false;
	for (uint32_t s = 0; s < c->sides; s++)
		if (compare_has(c, s, i) && pattern_match(l, side_given(c->side[s], c->at[s][i])))
			return true;
	return false;
}

/* Finds the starts: the first match of a start pattern on each path down becomes a child of the
 * root. */
static void find_starts(struct diff_walk *w)
{
	const struct compare *c = w->c;
	bool all = pattern_is_all(w->start);

	w->live[0] = true;
	for (uint32_t i = 1; i < c->n;) {
		if (!w->leads[i]) {
			i = c->end[i];
		} else if (all ? c->parent[i] == 0 : matches(w, w->start, i)) {
			w->top[i] = true;
			memset(w->live + i, true, c->end[i] - i);
			i = c->end[i];
		} else {
			i++;
		}
	}
}

static bool elsewhere(const struct compare *c, uint32_t i)
{
	for (uint32_t s = 0; s < c->sides; s++)
		if (compare_has(c, s, i) && !(c->side[s]->flags[c->at[s][i]] & SIDE_ELSEWHERE))
			return false;
	return true;
}

static bool shows(struct diff_walk *w, uint32_t i)
{
	return i == 0 || (matches(w, w->show, i) && !matches(w, w->hide, i) && !elsewhere(w->c, i));
}

/* Visits an entry. Returns false if its descendants must be skipped. */
static bool visit(struct diff_walk *w, uint32_t i)
{
	uint32_t up = i == 0 || w->top[i] ? 0 : w->c->parent[i], n = (uint32_t)w->shown.n;
	int64_t most = w->request->o->max_depth;

	if (i && !w->open[up])
		return false;
	w->depth[i] = i ? w->depth[up] + 1 : 1;
	w->open[i] = !matches(w, w->trim, i) && w->depth[i] < most;
	w->nearest[i] = i ? w->nearest[up] : 0;
	if (w->depth[i] <= most && shows(w, i)) {
		VEC_PUSH(w->a, &w->shown, i);
		VEC_PUSH(w->a, &w->parent, i ? w->nearest[up] : ID_NONE);
		w->nearest[i] = n;
	}
	return w->open[i];
}

static void visit_all(struct diff_walk *w)
{
	for (uint32_t i = 0; i < w->c->n;) {
		if (!w->leads[i])
			i = w->c->end[i];
		else if (!w->live[i])
			i++;
		else
			i = visit(w, i) ? i + 1 : w->c->end[i];
	}
}

/* ---- order ---- */

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Returns the absolute difference of the two sides. */
static uint64_t weight(const struct difference_request *request, uint32_t i)
{
	return distance(value_of(request->c, request->from, i, request->order),
	        value_of(request->c, request->to, i, request->order));
}

static int by_weight(const void *ctx, uint32_t a, uint32_t b)
{
	const uint64_t *v = ctx;

	return (v[a] < v[b]) - (v[a] > v[b]);
}

/* Returns the shown entries with the children of each parent in the requested order, as tree_order
 * expects. Entries of equal weight keep their order by name. */
static uint32_t *sort_shown(struct diff_walk *w)
{
	uint32_t n = (uint32_t)w->shown.n, *list = ARENA_ARRAY(w->a, n, uint32_t);
	struct str *names;
	uint64_t *weights;

	for (uint32_t i = 1; i < n; i++)
		list[i - 1] = i;
	if (w->request->order == DIFF_BY_NAME) {
		names = ARENA_ARRAY(w->a, n, struct str);
		for (uint32_t i = 0; i < n; i++)
			names[i] = w->c->name[w->shown.v[i]];
		sort_strings(w->a, list, n - 1, names);
		return list;
	}
	weights = ARENA_ARRAY(w->a, n, uint64_t);
	for (uint32_t i = 0; i < n; i++)
		weights[i] = weight(w->request, w->shown.v[i]);
	sort_stable(w->a, list, n - 1, by_weight, weights);
	return list;
}

/* True if the entry exists on a side. In the graph view, inserted ancestors do not count. */
static bool is_there(const struct compare *c, uint32_t side, uint32_t i)
{
	const struct side *s = c->side[side];

	return compare_has(c, side, i) &&
	       (i == 0 || !view_is(s->kind, VIEW_EDGES) || (s->flags[c->at[side][i]] & SIDE_NODE));
}

static enum diff_state state_of(const struct compare *c, uint32_t i)
{
	bool first = is_there(c, 0, i), last = is_there(c, c->sides - 1, i);

	return first ? last ? DIFF_BOTH : DIFF_GONE : last ? DIFF_NEW : DIFF_BETWEEN;
}

static void make_rows(struct diff_walk *w, struct diff *d)
{
	struct tree_nodes nodes = { .a = w->a };
	struct tree t = { .n = 0 };

	if (!w->shown.n)
		return;
	for (size_t i = 0; i < w->shown.n; i++)
		VEC_PUSH(w->a, &nodes.parent, w->parent.v[i]);
	uint32_t *order = tree_order(&t, &nodes, sort_shown(w), w->a);
	d->n = t.n;
	d->row = ARENA_ARRAY(w->a, d->n, struct diff_row);
	for (uint32_t k = 0; k < d->n; k++) {
		uint32_t i = w->shown.v[order[k]], up = t.parent[k];
		d->row[k] = (struct diff_row){ .entry = i,
			.parent = up,
			.end = t.end[k],
			.depth = up == ID_NONE ? 0 : d->row[up].depth + 1,
			.state = state_of(w->c, i),
			.enough = w->enough[i] };
	}
}

/* ---- numbers ---- */

static void fill_numbers(struct diff *d, struct arena *a)
{
	const struct compare *c = d->request->c;
	size_t n = d->request->n, all = (size_t)d->n * c->sides * n, at = 0;

	d->self = ARENA_ARRAY(a, all, int64_t);
	d->total = ARENA_ARRAY(a, all, int64_t);
	for (uint32_t row = 0; row < d->n && n; row++) {
		for (uint32_t s = 0; s < c->sides; s++, at += n) {
			const int64_t *self = compare_self(c, s, d->row[row].entry);
			const int64_t *total = compare_total(c, s, d->row[row].entry);
			if (!self || !total)
				continue;
			memcpy(d->self + at, self, n * sizeof *d->self);
			memcpy(d->total + at, total, n * sizeof *d->total);
		}
	}
}

/* Computes totals over the shown entries only. */
static void reaccount(struct diff *d)
{
	size_t per_row = (size_t)d->request->c->sides * d->request->n;

	if (d->n)
		memcpy(d->total, d->self, d->n * per_row * sizeof *d->total);
	for (uint32_t i = d->n; i-- > 1;)
		for (size_t k = 0; k < per_row; k++) {
			int64_t *up = &d->total[d->row[i].parent * per_row + k];
			*up = num_add(*up, d->total[i * per_row + k]);
		}
}

/* Counts nodes by the sides that have them. */
static void count_nodes(struct diff *d)
{
	const struct compare *c = d->request->c;

	for (uint32_t i = 1; i < c->n; i++) {
		enum diff_state state = state_of(c, i);
		uint32_t s = state == DIFF_NEW ? c->sides - 1 : 0;
		if (state == DIFF_BETWEEN || !(c->side[s]->flags[c->at[s][i]] & SIDE_NODE))
			continue;
		d->both += state == DIFF_BOTH;
		d->only[0] += state == DIFF_GONE;
		d->only[1] += state == DIFF_NEW;
	}
}

static bool compile(struct diff_walk *w, struct err *e)
{
	const struct opts *o = w->request->o;

	return pattern_compile(&w->start, w->a, &o->start, e) &&
	       pattern_compile(&w->trim, w->a, &o->trim, e) &&
	       pattern_compile(&w->show, w->a, &o->show, e) &&
	       pattern_compile(&w->hide, w->a, &o->hide, e);
}

static bool gave_up(const struct diff_walk *w, struct err *e)
{
	return pattern_failed(w->start, e) || pattern_failed(w->trim, e) ||
	       pattern_failed(w->show, e) || pattern_failed(w->hide, e);
}

bool diff_run(
        struct diff *d, const struct difference_request *request, struct arena *a, struct err *e)
{
	struct diff_walk w = { .request = request, .c = request->c, .a = a };
	uint32_t n = request->c->n;

	*d = (struct diff){ .request = request };
	w.enough = ARENA_ARRAY(a, n, bool);
	w.leads = ARENA_ARRAY(a, n, bool);
	w.live = ARENA_ARRAY(a, n, bool);
	w.top = ARENA_ARRAY(a, n, bool);
	w.open = ARENA_ARRAY(a, n, bool);
	w.nearest = ARENA_ARRAY(a, n, uint32_t);
	w.depth = ARENA_ARRAY(a, n, uint32_t);
	bool ok = compile(&w, e);
	if (ok) {
		find_enough(&w);
		find_starts(&w);
		visit_all(&w);
		add_noise(&w, d);
		ok = !gave_up(&w, e);
	}
	pattern_free(w.start);
	pattern_free(w.trim);
	pattern_free(w.show);
	pattern_free(w.hide);
	if (!ok)
		return false;
	make_rows(&w, d);
	fill_numbers(d, a);
	if (request->o->displayed_only)
		reaccount(d);
	count_nodes(d);
	while (request->alias && request->alias[d->aliases].entry != ID_NONE)
		d->aliases++;
	return true;
}
