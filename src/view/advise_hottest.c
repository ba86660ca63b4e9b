/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the scopes and nodes with the largest times.
 */
#include "view/advise.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "view/facts.h"

static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
	const int64_t *v = ctx;

	return (v[a] < v[b]) - (v[a] > v[b]);
}

void advise_put_share(struct sb *b, int64_t part, int64_t all)
{
	if (all <= 0)
		return;
	sb_put(b, S(" ("));
	fmt_fixed2(b, 100.0 * (double)part / (double)all);
	sb_put(b, S("%)"));
}

/* ---- scopes and nodes ---- */

/* A number by which entries are ranked. */
struct hottest_by {
	enum value of;
	const char *by; /* name of the number in messages; empty if messages do not name it */
};

/* True if one child has all of the entry's time, so that the child is more informative. */
static bool has_heir(const struct result *r, uint32_t i, enum value of)
{
	int64_t all = r->shown[i].total->v[of];

	for (uint32_t k = i + 1; k < r->shown[i].end; k = r->shown[k].end)
		if (r->shown[k].total->v[of] == all)
			return true;
	return false;
}

/* Reports the entries with the largest values above 0. */
static void put_largest(struct advise *ask, const struct result *r, const int64_t *value,
        const char *what, const struct hottest_by *by, struct strs *reports)
{
	const uint32_t *order = sort_order(ask->a, r->n, by_value, value);
	struct sb b = sb_in(ask->a);

	for (uint32_t i = 0; i < r->n && i < ask->rows && value[order[i]] > 0; i++) {
		sb_fmt(&b, "%stop %u %s%s: ", i ? "\n" : "", i + 1, what, by->by);
		sb_put(&b, view_name(r->q, r->shown[order[i]].kept));
		sb_put(&b, *by->by ? S(", ") : S(", total: "));
		fmt_fraction(&b, QUANTITY_TIME,
		        model_fraction(ask->m, r->q->over, by->of, value[order[i]]));
		advise_put_share(&b, value[order[i]], r->root.v[by->of]);
	}
	if (b.n)
		strs_add(ask->a, reports, sb_str(&b));
}

static void put_hottest(struct advise *ask, const struct result *r, const struct hottest_by *by,
        struct strs *reports)
{
	int64_t *scope = ARENA_ARRAY(ask->a, r->n, int64_t),
	        *node = ARENA_ARRAY(ask->a, r->n, int64_t);

	for (uint32_t i = 1; i < r->n; i++) {
		if (r->shown[i].end > i + 1 && !has_heir(r, i, by->of))
			scope[i] = r->shown[i].total->v[by->of];
		node[i] = r->shown[i].self->v[by->of];
	}
	put_largest(ask, r, scope, "scope", by, reports);
	put_largest(ask, r, node, "node", by, reports);
}

void advise_hottest(struct advise *ask, const struct result *r, struct strs *reports)
{
	if (!ask->m->parallel_times) {
		put_hottest(ask, r, &(struct hottest_by){ V_MICROS, "" }, reports);
		return;
	}
	put_hottest(
	        ask, r, &(struct hottest_by){ V_ACCELERATOR_MICROS, " by device time" }, reports);
	put_hottest(ask, r, &(struct hottest_by){ V_CPU_MICROS, " by host time" }, reports);
}

/* ---- the slowest step ---- */

/* Adds the times of each node in the steps with an id, of all workers, to v. */
static void add_times(
        const struct model *m, int64_t id, const struct hottest_by *by, int sign, int64_t *v)
{
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		for (uint32_t c = 0; s->id == id && !s->excluded_from_average && c < s->n_cells;
		        c++) {
			struct tally t = { 0 };
			step_tally(s, c, model_ticks(m), &t);
			v[s->cell_node[c]] =
			        num_add(v[s->cell_node[c]], num_mul(sign, t.v[by->of]));
		}
	}
}

/* Appends a time of one step. */
static void put_time(struct sb *b, const struct model *m, int64_t ticks)
{
	fmt_fraction(b, QUANTITY_TIME, model_fraction(m, 1, V_MICROS, ticks));
}

/* Times of the nodes in the slow step, and their excess over the median step. Times of devices and
 * of threads are different entries: entry i belongs to node i % nodes and to by[i / nodes]. */
struct slower {
	uint32_t nodes, n;
	int64_t *slow, *more;
	const struct hottest_by *by;
};

static void put_slower(struct advise *ask, const struct slower *x, uint32_t i, struct sb *b)
{
	sb_put(b, S("\n  "));
	sb_put_name(b, node_name(ask->m, i % x->nodes));
	sb_put(b, str_of(x->by[i / x->nodes].by));
	sb_put(b, S(": "));
	put_time(b, ask->m, x->slow[i]);
	sb_put(b, S(", in the median step "));
	put_time(b, ask->m, num_sub(x->slow[i], x->more[i]));
	sb_put(b, S(" (+"));
	put_time(b, ask->m, x->more[i]);
	sb_char(b, ')');
}

static void put_causes(struct advise *ask, int64_t slow, int64_t median, struct sb *b)
{
	static const struct hottest_by sum[] = { { V_MICROS, "" } },
	                               sides[] = { { V_ACCELERATOR_MICROS, ", on devices" },
		                               { V_CPU_MICROS, ", on the host" } };
	bool apart = ask->m->parallel_times;
	uint32_t nodes = (uint32_t)ask->m->nodes.n, n = apart ? 2 * nodes : nodes;
	struct slower x = { .nodes = nodes, .n = n, .by = apart ? sides : sum };

	x.slow = ARENA_ARRAY(ask->a, n, int64_t);
	x.more = ARENA_ARRAY(ask->a, n, int64_t);
	for (uint32_t i = 0; i < n; i += nodes) {
		add_times(ask->m, slow, &x.by[i / nodes], 1, x.slow + i);
		add_times(ask->m, median, &x.by[i / nodes], -1, x.more + i);
	}
	for (uint32_t i = 0; i < n; i++)
		x.more[i] = num_add(x.more[i], x.slow[i]);
	const uint32_t *order = sort_order(ask->a, n, by_value, x.more);
	for (uint32_t i = 0; i < n && i < ask->rows && x.more[order[i]] > 0; i++)
		put_slower(ask, &x, order[i], b);
}

void advise_slowest(struct advise *ask, struct strs *reports)
{
	struct sb b = sb_in(ask->a);
	size_t n;
	const struct step_time *v =
	        facts_steps(ask->m, ask->recording, ask->recording_options, &n, ask->a);

	if (n < 2 || v[n - 1].ns <= v[(n - 1) / 2].ns)
		return;
	struct step_time slow = v[n - 1], median = v[(n - 1) / 2];
	sb_fmt(&b, "slowest of %zu steps: %lld, ", n, (long long)slow.id);
	fmt_time(&b, slow.ns);
	sb_fmt(&b, "; median: step %lld, ", (long long)median.id);
	fmt_time(&b, median.ns);
	put_causes(ask, slow.id, median.id, &b);
	strs_add(ask->a, reports, sb_str(&b));
}
