/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics over the selected steps, as additional columns of a result. Reads the steps once for
 * sums, minimum and maximum, and several more times for median and percentiles (base/rank.c), one
 * metric at a time. A shown entry needs at most 220 bytes for any number of steps, plus 16 bytes
 * per column. Only nodes that ran in a step are visited; all other numbers are 0.
 */
#include "view/step_columns.h"

#include <math.h>

#include "base/statistics.h"

/* Statistics of the numbers that are not 0. The mean is updated number by number (Welford), so
 * large or many numbers do not spoil the variance. The sum is exact unless it overflows its
 * type. */
struct series {
	int64_t sum; /* SUM_OVER: the sum overflowed */
	int64_t min, max;
	double mean, m2;
};
#define SUM_OVER INT64_MIN

struct stats {
	const struct result *r;
	const struct query *q;
	const struct step *const *steps; /* the selected steps */
	size_t n_steps;
	enum metric_id columns[M_N];
	size_t n_columns;
	struct extra *next; /* the column that is filled next */
	struct step_numbers numbers;
	struct series *series; /* indexed by shown entry; own or total */
	struct ranks ranks;    /* ranks of these series */
	uint32_t *counts; /* indexed by shown entry: number of steps with a value other than 0; at
	                     the end, number of all steps */
	uint32_t *ran;    /* indexed by shown entry: number of steps in which it ran */
	struct scratch scratch; /* arena of all fields */
};

/* Adds a number to the series. Increments *n, the count of numbers. */
static void series_add(struct series *s, uint32_t *n, int64_t v)
{
	double delta = (double)v - s->mean;

	if (!v)
		return;
	if (s->sum == SUM_OVER || __builtin_add_overflow(s->sum, v, &s->sum))
		s->sum = SUM_OVER;
	s->min = !*n || v < s->min ? v : s->min;
	s->max = !*n || v > s->max ? v : s->max;
	++*n;
	s->mean += delta / *n;
	s->m2 += delta * ((double)v - s->mean);
}

/* Adds the numbers that are 0, so that the count grows from `had` to n. */
static void series_end(struct series *s, uint32_t had, size_t n)
{
	double zeros = (double)(n - had);

	if (had == n)
		return;
	s->min = s->min < 0 ? s->min : 0;
	s->max = s->max > 0 ? s->max : 0;
	s->m2 += s->mean * s->mean * had * zeros / (double)n;
	s->mean *= had / (double)n;
}

static void add_moments(void *user, uint32_t shown, int64_t own, int64_t total)
{
	struct stats *s = user;

	size_t at = (size_t)2 * shown;

	series_add(&s->series[at], &s->counts[at], own);
	series_add(&s->series[at + 1], &s->counts[at + 1], total);
}

static void add_ranks(void *user, uint32_t shown, int64_t own, int64_t total)
{
	struct stats *s = user;

	if (own)
		ranks_add(&s->ranks, (size_t)2 * shown, own, 1);
	if (total)
		ranks_add(&s->ranks, (size_t)2 * shown + 1, total, 1);
}

static void add_runs(void *user, uint32_t shown, int64_t own, int64_t total)
{
	struct stats *s = user;

	s->ran[(size_t)2 * shown] += own > 0;
	s->ran[(size_t)2 * shown + 1] += total > 0;
}

/* True for a value that is equal in every step, so that one step suffices. */
static bool is_fixed(enum value v)
{
	return v == V_PARAMS || v == V_DEFINITIONS;
}

static size_t steps_read(const struct stats *s)
{
	return is_fixed(s->numbers.value) && s->n_steps ? 1 : s->n_steps;
}

static void each_step(struct stats *s, void (*f)(void *, uint32_t, int64_t, int64_t))
{
	for (size_t i = 0; i < steps_read(s); i++)
		step_numbers_each(&s->numbers, s->steps[i], f, s);
}

static const struct { /* rows of stat.def that need all values */
	enum stat_id id;
	unsigned percent;
} percentiles[] = { { STAT_MEDIAN, 50 }, { STAT_P95, 95 }, { STAT_P99, 99 } };
#define PERCENTILES (sizeof percentiles / sizeof *percentiles)

static bool is_selected(const struct stats *s, enum stat_id id)
{
	return s->q->o->stats & STAT_BIT(id);
}

/* Returns the number of requested percentiles before this one; for PERCENTILES, the number of
 * all. */
static unsigned part_of(const struct stats *s, size_t p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p; i++)
		n += is_selected(s, percentiles[i].id);
	return n;
}

/* Copies the numbers from the sums to the ranks. Returns the widest spread. */
static uint64_t open_ranks(struct stats *s, struct arena *a)
{
	size_t series = (size_t)2 * s->r->n;
	uint64_t widest = 0;

	ranks_open(&s->ranks, a, series);
	for (size_t i = 0; i < series; i++) {
		const struct series *x = &s->series[i];
		uint64_t spread = (uint64_t)x->max - (uint64_t)x->min;
		s->ranks.least[i] = x->min;
		s->counts[i] = (uint32_t)(steps_read(s) - s->counts[i]);
		widest = spread > widest ? spread : widest;
	}
	return widest;
}

/* Finds the nearest ranks: percentile P has rank P % of the steps, rounded up. */
static void find_ranks(struct stats *s, uint64_t widest)
{
	uint32_t wanted[PERCENTILES];
	unsigned n = 0;

	for (size_t p = 0; p < PERCENTILES; p++)
		if (is_selected(s, percentiles[p].id))
			wanted[n++] =
			        (uint32_t)((steps_read(s) * percentiles[p].percent + 99) / 100);
	ranks_begin(&s->ranks, wanted, n, widest);
	while (s->ranks.open) {
		each_step(s, add_ranks);
		for (size_t i = 0; i < s->ranks.n; i++)
			if (s->counts[i])
				ranks_add(&s->ranks, i, 0, s->counts[i]);
		ranks_end_pass(&s->ranks);
	}
}

static double mean_of(const struct series *x, size_t n)
{
	return x->sum == SUM_OVER ? x->mean : (double)x->sum / (double)n;
}

/* True if the statistic is one of the values, and the values have no fraction. */
static bool is_whole(const struct stats *s, enum stat_id id, enum value v)
{
	return stat_rows[id].whole && model_fraction(s->q->m, 1, v, 0).per == 1;
}

/* Returns a number of a step in the form that the column shows. */
static union figure value_figure(const struct stats *s, int64_t v)
{
	struct fraction f = step_number(&s->numbers, v);

	if (f.per > 1)
		return (union figure){ .real = fraction_real(f) };
	return (union figure){ .whole = v };
}

static union figure no_figure(bool whole)
{
	if (whole)
		return (union figure){ .whole = FIGURE_NONE };
	return (union figure){ .real = NAN };
}

static union figure moment(const struct stats *s, enum stat_id id, size_t at)
{
	const struct series *x = &s->series[at];
	size_t n = steps_read(s);

	if (!n)
		return no_figure(is_whole(s, id, s->numbers.value));
	double mean = mean_of(x, n), std = sqrt(x->m2 / (double)n);
	double per = (double)step_number(&s->numbers, 0).per;
	switch (id) {
	case STAT_MEAN: return (union figure){ .real = mean / per };
	case STAT_STD: return (union figure){ .real = std / per };
	case STAT_CV: return (union figure){ .real = mean != 0 ? 100 * std / mean : 0 };
	case STAT_MIN: return value_figure(s, x->min);
	default: return value_figure(s, x->max);
	}
}

static enum unit unit_of(enum metric_id m, enum stat_id id)
{
	return id == STAT_CV ? UNIT_PERCENT : metric_unit(m);
}

static void new_extra(
        struct result *r, enum stat_id id, enum metric_id of, enum unit unit, bool whole)
{
	r->extra[r->n_extra++] = (struct extra){ .name = str_of(stat_rows[id].name),
		.of = of,
		.unit = unit,
		.whole = whole,
		.own = ARENA_ARRAY(r->q->a, r->n, union figure),
		.total = ARENA_ARRAY(r->q->a, r->n, union figure) };
}

/* Adds the columns: for each metric the requested statistics, and the number of runs. */
static void new_columns(struct result *r, const struct stats *s)
{
	unsigned asked = s->q->o->stats;

	r->extra = ARENA_ARRAY(s->q->a, s->n_columns * STATS_N + 1, struct extra);
	for (size_t c = 0; c < s->n_columns; c++)
		for (enum stat_id id = 0; id < STAT_N; id++)
			if (asked & STAT_BIT(id))
				new_extra(r, id, s->columns[c], unit_of(s->columns[c], id),
				        is_whole(s, id, metrics[s->columns[c]].value));
	if (asked & STAT_BIT(STAT_N))
		new_extra(r, STAT_N, M_NONE, UNIT_COUNT, true);
}

/* Returns the numbers of one percentile. */
static void fill_ranked(const struct stats *s, struct extra *x, size_t p)
{
	for (uint32_t e = 0; e < s->r->n; e++) {
		x->own[e] = x->total[e] = no_figure(x->whole);
		if (!s->n_steps)
			continue;
		x->own[e] = value_figure(s, ranks_get(&s->ranks, (size_t)2 * e, part_of(s, p)));
		x->total[e] =
		        value_figure(s, ranks_get(&s->ranks, (size_t)2 * e + 1, part_of(s, p)));
	}
}

static void fill_moment(const struct stats *s, struct extra *x, enum stat_id id)
{
	for (uint32_t e = 0; e < s->r->n; e++) {
		x->own[e] = moment(s, id, (size_t)2 * e);
		x->total[e] = moment(s, id, (size_t)2 * e + 1);
	}
}

/* Fills the columns of a metric: first the statistics from sums. The ranks then
 * reuse the memory of the sums. */
static void fill_metric(struct stats *s, enum metric_id of)
{
	struct extra *to[STATS_N] = { 0 };
	struct scratch sums, ranks;
	uint64_t widest;

	for (enum stat_id id = 0; id < STAT_N; id++)
		if (is_selected(s, id))
			to[id] = s->next++;
	scratch_open(&sums, s->q->a->work);
	scratch_open(&ranks, s->q->a->work);
	s->numbers.value = metrics[of].value;
	s->series = ARENA_ARRAY(&sums.a, (size_t)2 * s->r->n, struct series);
	s->counts = ARENA_ARRAY(&ranks.a, (size_t)2 * s->r->n, uint32_t);
	each_step(s, add_moments);
	for (size_t i = 0; i < (size_t)2 * s->r->n; i++)
		series_end(&s->series[i], s->counts[i], steps_read(s));
	for (enum stat_id id = 0; id < STAT_N; id++)
		if (to[id] && !stat_rows[id].ranked)
			fill_moment(s, to[id], id);
	widest = open_ranks(s, &ranks.a);
	scratch_close(&sums);
	if (part_of(s, PERCENTILES))
		find_ranks(s, widest);
	for (size_t p = 0; p < PERCENTILES; p++)
		if (to[percentiles[p].id])
			fill_ranked(s, to[percentiles[p].id], p);
	scratch_close(&ranks);
}

/* Counts the steps in which each entry ran. */
static void fill_runs(struct stats *s)
{
	struct extra *x = s->next++;

	s->ran = ARENA_ARRAY(&s->scratch.a, (size_t)2 * s->r->n, uint32_t);
	s->numbers.value = V_RUNS;
	each_step(s, add_runs);
	for (uint32_t e = 0; e < s->r->n; e++) {
		x->own[e].whole = s->ran[(size_t)2 * e];
		x->total[e].whole = s->ran[(size_t)2 * e + 1];
	}
}

static struct stats stats_of(const struct result *r)
{
	struct stats s = { .r = r, .q = r->q };
	enum metric_id order[M_N];
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, order);

	for (size_t i = 0; i < n; i++)
		if (metrics[order[i]].value != V_NONE)
			s.columns[s.n_columns++] = order[i];
	return s;
}

/* Fills the columns with the statistics over n steps. */
static void fill(struct stats *s, const struct step *const *steps, size_t n)
{
	s->steps = steps;
	s->n_steps = n;
	s->next = s->r->extra;
	scratch_open(&s->scratch, s->q->a->work);
	step_numbers_open(&s->numbers, s->r, &s->scratch.a);
	for (size_t c = 0; c < s->n_columns; c++)
		fill_metric(s, s->columns[c]);
	if (is_selected(s, STAT_N))
		fill_runs(s);
	scratch_close(&s->scratch);
}

void stats_add(struct result *r)
{
	struct stats s = stats_of(r);

	new_columns(r, &s);
	if (!workers_in_rows(r->q->o))
		fill(&s, (const struct step *const *)r->q->steps, r->q->n_steps);
}

void stats_of_worker(const struct result *r, uint32_t worker)
{
	struct stats s = stats_of(r);
	size_t n;
	const struct step *const *steps = workers_steps_of(r->q, worker, &n);

	fill(&s, steps, n);
}
