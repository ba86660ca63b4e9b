/* SPDX-License-Identifier: Apache-2.0
 *
 * See advise.h.
 */
#include "view/advise.h"

#include "base/fmt.h"
#include "base/sort.h"

static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
	const int64_t *v = ctx;

	return (v[a] < v[b]) - (v[a] > v[b]);
}

static void put_share(struct sb *b, int64_t part, int64_t all)
{
	if (all <= 0)
		return;
	sb_put(b, S(" ("));
	fmt_fixed2(b, 100.0 * (double)part / (double)all);
	sb_put(b, S("%)"));
}

/* ---- scopes and nodes ---- */

/* True if one child has all of the entry's time: the child says more. */
static bool has_heir(const struct result *r, uint32_t i)
{
	int64_t all = r->shown[i].total->v[V_MICROS];

	for (uint32_t k = i + 1; k < r->shown[i].end; k = r->shown[k].end)
		if (r->shown[k].total->v[V_MICROS] == all)
			return true;
	return false;
}

/* Reports the entries with the largest values above 0. */
static void put_largest(struct advise *ask, const struct result *r, const int64_t *value,
        const char *what, struct strs *reports)
{
	const uint32_t *order = sort_order(ask->a, r->n, by_value, value);
	struct sb b = sb_in(ask->a);

	for (uint32_t i = 0; i < r->n && i < ADVISE_ROWS && value[order[i]] > 0; i++) {
		sb_fmt(&b, "%stop %u %s: ", i ? "\n" : "", i + 1, what);
		sb_put(&b, view_name(r->q, r->shown[order[i]].kept));
		sb_put(&b, S(", total: "));
		fmt_fraction(&b, QUANTITY_TIME,
		        model_fraction(ask->m, r->q->over, V_MICROS, value[order[i]]));
		put_share(&b, value[order[i]], r->root.v[V_MICROS]);
	}
	if (b.n)
		strs_add(ask->a, reports, sb_str(&b));
}

void advise_hottest(struct advise *ask, const struct result *r, struct strs *reports)
{
	int64_t *scope = ARENA_ARRAY(ask->a, r->n, int64_t),
	        *node = ARENA_ARRAY(ask->a, r->n, int64_t);

	for (uint32_t i = 1; i < r->n; i++) {
		if (r->shown[i].end > i + 1 && !has_heir(r, i))
			scope[i] = r->shown[i].total->v[V_MICROS];
		node[i] = r->shown[i].self->v[V_MICROS];
	}
	put_largest(ask, r, scope, "scope", reports);
	put_largest(ask, r, node, "node", reports);
}

/* ---- the slowest step ---- */

/* Returns the time of each node in the steps of that id, of all workers. */
static int64_t *times_in(const struct model *m, int64_t id, struct arena *a)
{
	int64_t *v = ARENA_ARRAY(a, m->nodes.n, int64_t);

	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		for (uint32_t c = 0; s->id == id && !s->excluded_from_average && c < s->n_cells;
		        c++) {
			struct tally t = { 0 };
			step_tally(s, c, model_ticks(m), &t);
			v[s->cell_node[c]] = num_add(v[s->cell_node[c]], t.v[V_MICROS]);
		}
	}
	return v;
}

/* Appends a time of one step. */
static void put_time(struct sb *b, const struct model *m, int64_t ticks)
{
	fmt_fraction(b, QUANTITY_TIME, model_fraction(m, 1, V_MICROS, ticks));
}

static void put_causes(struct advise *ask, int64_t slow, int64_t median, struct sb *b)
{
	const struct model *m = ask->m;
	const int64_t *now = times_in(m, slow, ask->a), *usual = times_in(m, median, ask->a);
	int64_t *more = ARENA_ARRAY(ask->a, m->nodes.n, int64_t);

	for (uint32_t i = 0; i < m->nodes.n; i++)
		more[i] = num_sub(now[i], usual[i]);
	const uint32_t *order = sort_order(ask->a, m->nodes.n, by_value, more);
	for (uint32_t i = 0; i < m->nodes.n && i < ADVISE_ROWS && more[order[i]] > 0; i++) {
		sb_put(b, S("\n  "));
		sb_put_name(b, node_name(m, order[i]));
		sb_put(b, S(": "));
		put_time(b, m, now[order[i]]);
		sb_put(b, S(", in the median step "));
		put_time(b, m, usual[order[i]]);
		sb_put(b, S(" (+"));
		put_time(b, m, more[order[i]]);
		sb_char(b, ')');
	}
}

void advise_slowest(struct advise *ask, struct strs *reports)
{
	struct sb b = sb_in(ask->a);
	size_t n;
	const struct step_time *v = steps_by_time(ask->m, &n, ask->a);

	if (n < 2 || v[n - 1].ticks <= v[(n - 1) / 2].ticks)
		return;
	struct step_time slow = v[n - 1], median = v[(n - 1) / 2];
	sb_fmt(&b, "slowest of %zu steps: %lld, ", n, (long long)slow.id);
	put_time(&b, ask->m, slow.ticks);
	sb_fmt(&b, "; median: step %lld, ", (long long)median.id);
	put_time(&b, ask->m, median.ticks);
	put_causes(ask, slow.id, median.id, &b);
	strs_add(ask->a, reports, sb_str(&b));
}
