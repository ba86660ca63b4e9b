/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics over the chosen steps, as columns beside an answer: the numbers of each shown entry in
 * each step, one step after the other. Held are, for each shown entry and selected metric, its own
 * numbers and totals: 2 x 48 bytes, and where something is ranked 2 x 8 bytes a step; beside
 * that one step's tallies of all nodes.
 */
#include "view/stats.h"

#include <math.h>
#include <stdlib.h>

#include "view/workers.h"

/* Numbers of one kind, seen one by one. The mean runs (Welford), so that neither large numbers nor
 * many spoil the variance; the sum is exact as long as its type holds it. */
struct series {
	int64_t sum, min, max;
	bool over; /* the type did not hold the sum */
	double mean, m2;
};

struct stats {
	const struct result *r;
	const struct query *q;
	const struct step *const *steps; /* these */
	size_t n_steps;
	enum metric_id columns[M_N];
	size_t n_columns;
	size_t n_series;        /* of an entry: two for each column */
	struct series *series;  /* by entry, column, own or total */
	int64_t *values;        /* the same, and by step; NULL: nothing is ranked */
	uint32_t *ran;          /* by entry, own or total: in how many steps */
	struct scratch scratch; /* all of this */
};

static void series_add(struct series *s, int64_t v, size_t n)
{
	double delta = (double)v - s->mean;

	s->over |= __builtin_add_overflow(s->sum, v, &s->sum);
	s->min = n == 1 || v < s->min ? v : s->min;
	s->max = n == 1 || v > s->max ? v : s->max;
	s->mean += delta / (double)n;
	s->m2 += delta * ((double)v - s->mean);
}

static void add_number(struct stats *s, size_t at, int64_t v, size_t step)
{
	series_add(&s->series[at], v, step + 1);
	if (s->values)
		s->values[at * s->n_steps + step] = v;
}

/* Takes in the numbers of one step. */
static void add_step(struct stats *s, const struct step *step, size_t i)
{
	struct scratch own;
	size_t at = 0;

	scratch_open(&own, s->q->a->work);
	struct tally *tallies = model_tallies(s->q->m, step, &own.a);
	struct recompute_values x = view_recompute(s->r, tallies, &own.a);
	for (uint32_t e = 0; e < s->r->n; e++) {
		for (size_t c = 0; c < s->n_columns; c++) {
			enum value v = metrics[s->columns[c]].value;
			add_number(s, at++, x.own[e].v[v], i);
			add_number(s, at++, x.total[e].v[v], i);
		}
		s->ran[(size_t)2 * e] += x.own[e].v[V_RUNS] > 0;
		s->ran[(size_t)2 * e + 1] += x.total[e].v[V_RUNS] > 0;
	}
	scratch_close(&own);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_values(struct stats *s)
{
	size_t n = s->n_steps;

	for (size_t i = 0; i < s->r->n * s->n_series; i++)
		qsort(s->values + i * n, n, sizeof *s->values, by_value);
}

/* The value whose rank is so many percent of the steps, rounded up: the nearest rank. */
static int64_t ranked(const struct stats *s, size_t at, size_t percent)
{
	size_t n = s->n_steps;

	return s->values[at * n + (n * percent + 99) / 100 - 1];
}

static double mean_of(const struct series *x, size_t n)
{
	return x->over ? x->mean : (double)x->sum / (double)n;
}

static union figure statistic(const struct stats *s, enum stat_id id, size_t at)
{
	const struct series *x = &s->series[at];
	size_t n = s->n_steps;

	if (!n && stat_rows[id].whole)
		return (union figure){ .whole = FIGURE_NONE };
	if (!n)
		return (union figure){ .real = NAN };
	double mean = mean_of(x, n), std = sqrt(x->m2 / (double)n);
	switch (id) {
	case STAT_MEAN: return (union figure){ .real = mean };
	case STAT_STD: return (union figure){ .real = std };
	case STAT_CV: return (union figure){ .real = mean != 0 ? 100 * std / mean : 0 };
	case STAT_MIN: return (union figure){ .whole = x->min };
	case STAT_MAX: return (union figure){ .whole = x->max };
	case STAT_MEDIAN: return (union figure){ .whole = ranked(s, at, 50) };
	case STAT_P95: return (union figure){ .whole = ranked(s, at, 95) };
	case STAT_P99: return (union figure){ .whole = ranked(s, at, 99) };
	case STAT_N:
	case STATS_N: break;
	}
	return (union figure){ 0 };
}

static enum unit unit_of(enum metric_id m, enum stat_id id)
{
	return id == STAT_CV ? UNIT_PERCENT : metric_unit(m);
}

static void new_extra(struct result *r, enum stat_id id, enum metric_id of, enum unit unit)
{
	r->extra[r->n_extra++] = (struct extra){ .name = str_of(stat_rows[id].name),
		.of = of,
		.unit = unit,
		.whole = stat_rows[id].whole,
		.own = ARENA_ARRAY(r->q->a, r->n, union figure),
		.total = ARENA_ARRAY(r->q->a, r->n, union figure) };
}

/* The columns: for each metric those that were asked for, and how often it ran. */
static void new_columns(struct result *r, const struct stats *s)
{
	unsigned asked = s->q->o->stats;

	r->extra = ARENA_ARRAY(s->q->a, s->n_columns * STATS_N + 1, struct extra);
	for (size_t c = 0; c < s->n_columns; c++)
		for (enum stat_id id = 0; id < STAT_N; id++)
			if (asked & STAT_BIT(id))
				new_extra(r, id, s->columns[c], unit_of(s->columns[c], id));
	if (asked & STAT_BIT(STAT_N))
		new_extra(r, STAT_N, M_NONE, UNIT_COUNT);
}

/* Fills them, in their order. */
static void fill_columns(const struct stats *s)
{
	unsigned asked = s->q->o->stats;
	const struct extra *x = s->r->extra;

	for (size_t c = 0; c < s->n_columns; c++) {
		for (enum stat_id id = 0; id < STAT_N; id++) {
			if (!(asked & STAT_BIT(id)))
				continue;
			for (uint32_t e = 0; e < s->r->n; e++) {
				size_t at = e * s->n_series + 2 * c;
				x->own[e] = statistic(s, id, at);
				x->total[e] = statistic(s, id, at + 1);
			}
			x++;
		}
	}
	for (uint32_t e = 0; (asked & STAT_BIT(STAT_N)) && e < s->r->n; e++) {
		x->own[e].whole = s->ran[(size_t)2 * e];
		x->total[e].whole = s->ran[(size_t)2 * e + 1];
	}
}

/* Is one of the statistics asked for such as needs all values? */
static bool any_ranked(unsigned asked)
{
	for (enum stat_id id = 0; id < STATS_N; id++)
		if ((asked & STAT_BIT(id)) && stat_rows[id].ranked)
			return true;
	return false;
}

static struct stats stats_of(const struct result *r)
{
	struct stats s = { .r = r, .q = r->q };
	enum metric_id order[M_N];
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, order);

	for (size_t i = 0; i < n; i++)
		if (metrics[order[i]].value != V_NONE)
			s.columns[s.n_columns++] = order[i];
	s.n_series = 2 * s.n_columns;
	return s;
}

/* Fills the columns with the statistics over n steps. */
static void fill(struct stats *s, const struct step *const *steps, size_t n)
{
	uint32_t entries = s->r->n;

	s->steps = steps;
	s->n_steps = n;
	scratch_open(&s->scratch, s->q->a->work);
	s->series = ARENA_ARRAY(&s->scratch.a, entries * s->n_series, struct series);
	s->ran = ARENA_ARRAY(&s->scratch.a, (size_t)2 * entries, uint32_t);
	if (any_ranked(s->q->o->stats))
		s->values = arena_array(&s->scratch.a, entries * s->n_series, n * sizeof *s->values,
		        _Alignof(int64_t));
	for (size_t i = 0; i < n; i++)
		add_step(s, steps[i], i);
	if (s->values)
		sort_values(s);
	fill_columns(s);
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
