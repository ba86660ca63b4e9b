/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns with the numbers of each worker. Stores the numbers of one worker at a time, plus
 * minimum, maximum and sum per shown entry, so memory does not depend on the number of workers.
 */
#include "view/step_columns.h"

#include <math.h>

#include "base/sort.h"

#define COLUMNS_MAX 8 /* workers with a column, unless -max_workers is given */

/* Statistics of an entry over the workers, own or total. */
struct spread {
	struct fraction min, max;
	double sum;
	uint32_t n; /* number of workers that have the entry */
};

struct columns {
	struct result *r;
	const struct query *q;
	enum metric_id of;
	struct spread *own, *total; /* indexed by shown entry */
	uint32_t *slowest;          /* indexed by shown entry: the slowest worker */
	double *first;              /* indexed by worker: total of the first entry */
	bool whole;                 /* true: the numbers have no fractions */
	uint32_t *shown, n_shown;   /* workers with a column of their own */
};

/* Returns the metric of -order_by, otherwise the first selected one. */
static enum metric_id find_metric(const struct result *r)
{
	enum metric_id order[M_N], of = r->q->o->order.by;
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, order);

	for (size_t i = 0; i < n && metrics[of].value == V_NONE; i++)
		of = order[i];
	return metrics[of].value == V_NONE ? M_MICROS : of;
}

/* Compares two numbers. The comparison is exact if both have the same divisor. */
static bool is_above(struct fraction a, struct fraction b)
{
	return a.per == b.per ? a.v > b.v : fraction_real(a) > fraction_real(b);
}

static bool take_in(struct spread *s, const struct tally *t, enum value v, struct fraction f)
{
	bool most;

	if (!workers_has(t, v))
		return false;
	most = s->n == 0 || is_above(f, s->max);
	s->min = s->n == 0 || is_above(s->min, f) ? f : s->min;
	s->max = most ? f : s->max;
	s->sum += fraction_real(f);
	s->n++;
	return most;
}

static void add_worker(struct columns *c, uint32_t worker, struct arena *a)
{
	enum value v = metrics[c->of].value;
	const struct model *m = c->q->m;
	int64_t over = 1;
	struct tally *tallies = workers_tallies(c->q, worker, &over, a);

	c->first[worker] = -INFINITY;
	if (!tallies)
		return;
	struct recompute_values x = view_recompute(c->r, tallies, a);
	for (uint32_t i = 0; i < c->r->n; i++) {
		const struct tally *own = &x.own[i], *total = &x.total[i];
		take_in(&c->own[i], own, v, model_fraction(m, over, v, own->v[v]));
		if (take_in(&c->total[i], total, v, model_fraction(m, over, v, total->v[v])))
			c->slowest[i] = worker;
	}
	c->first[worker] = c->r->n ? fraction_real(model_fraction(m, over, v, x.total[0].v[v])) : 0;
}

static int by_first(const void *ctx, uint32_t a, uint32_t b)
{
	const double *first = ctx;

	return (first[a] < first[b]) - (first[a] > first[b]);
}

/* Selects all workers if they are few, otherwise the workers with the largest totals, in the order
 * of workers. */
static void choose_columns(struct columns *c, struct arena *a)
{
	uint32_t workers = workers_count(c->q->m), n = 0;
	int64_t asked = c->q->o->max_workers;
	uint32_t most = asked < 0 ? COLUMNS_MAX : asked < workers ? (uint32_t)asked : workers;
	uint32_t *order = ARENA_ARRAY(a, workers, uint32_t);
	bool *chosen = ARENA_ARRAY(a, workers, bool);

	for (uint32_t w = 0; w < workers; w++)
		if (workers_chosen(c->q, w))
			order[n++] = w;
	sort_stable(a, order, n, by_first, c->first);
	for (uint32_t i = 0; i < n && i < most; i++)
		chosen[order[i]] = true;
	c->shown = ARENA_ARRAY(a, n < most ? n : most, uint32_t);
	for (uint32_t w = 0; w < workers; w++)
		if (chosen[w])
			c->shown[c->n_shown++] = w;
	if (n > most && most)
		note_line(c->q->notes,
		        "note: columns of the %u of %u workers that have the most; -max_workers "
		        "shows more\n",
		        c->n_shown, n);
}

static struct extra *new_column(
        struct columns *c, struct str name, enum metric_id of, enum unit unit, bool whole)
{
	struct extra *x = &c->r->extra[c->r->n_extra++];

	*x = (struct extra){ .name = name,
		.of = of,
		.unit = unit,
		.whole = whole,
		.total_only = true,
		.own = ARENA_ARRAY(c->q->a, c->r->n, union figure),
		.total = ARENA_ARRAY(c->q->a, c->r->n, union figure) };
	return x;
}

static double percent(const struct spread *s)
{
	if (!s->n)
		return NAN;
	double apart = fraction_real(s->max) - fraction_real(s->min);
	return s->sum != 0 ? 100 * apart / (s->sum / s->n) : 0;
}

/* Converts a number, or a missing number, to a figure. */
static union figure figure_of(const struct columns *c, bool any, struct fraction f)
{
	if (c->whole)
		return (union figure){ .whole = any ? f.v : FIGURE_NONE };
	return (union figure){ .real = any ? fraction_real(f) : NAN };
}

/* Adds a note with the slowest worker and the spread. */
static void add_spread(struct columns *c)
{
	enum unit unit = metric_unit(c->of);
	bool time = unit == UNIT_TIME;
	struct extra *name = new_column(
	        c, time ? S("slowest worker") : S("largest worker"), M_NONE, UNIT_TEXT, true);
	struct extra *min = new_column(c, S("min"), c->of, unit, c->whole);
	struct extra *max = new_column(c, S("max"), c->of, unit, c->whole);
	struct extra *apart = new_column(c, S("spread"), c->of, UNIT_PERCENT, false);
	struct extra *n = new_column(c, S("workers"), M_NONE, UNIT_COUNT, true);

	name->words = ARENA_ARRAY(c->q->a, c->r->n, struct str);
	for (uint32_t i = 0; i < c->r->n; i++) {
		const struct spread *own = &c->own[i], *total = &c->total[i];
		name->words[i] = total->n ? c->q->m->workers.v[c->slowest[i]] : S("-");
		min->own[i] = figure_of(c, own->n, own->min);
		min->total[i] = figure_of(c, total->n, total->min);
		max->own[i] = figure_of(c, own->n, own->max);
		max->total[i] = figure_of(c, total->n, total->max);
		apart->own[i].real = percent(own);
		apart->total[i].real = percent(total);
		n->own[i].whole = own->n;
		n->total[i].whole = total->n;
	}
}

static void add_column(struct columns *c, uint32_t worker, struct arena *a)
{
	enum value v = metrics[c->of].value;
	enum unit unit = metric_unit(c->of);
	struct extra *x = new_column(c, c->q->m->workers.v[worker], c->of, unit, c->whole);
	int64_t over = 1;
	struct tally *tallies = workers_tallies(c->q, worker, &over, a);
	struct recompute_values y = { 0 };

	if (tallies)
		y = view_recompute(c->r, tallies, a);
	for (uint32_t i = 0; i < c->r->n; i++) {
		bool own = tallies && workers_has(&y.own[i], v);
		bool total = tallies && workers_has(&y.total[i], v);
		x->own[i] = figure_of(
		        c, own, model_fraction(c->q->m, over, v, own ? y.own[i].v[v] : 0));
		x->total[i] = figure_of(
		        c, total, model_fraction(c->q->m, over, v, total ? y.total[i].v[v] : 0));
	}
}

static void room_for_columns(struct result *r, size_t n)
{
	struct extra *before = r->extra;

	r->extra = ARENA_ARRAY(r->q->a, r->n_extra + n, struct extra);
	if (r->n_extra)
		memcpy(r->extra, before, r->n_extra * sizeof *before);
}

void worker_columns_add(struct result *r)
{
	struct columns c = { .r = r, .q = r->q, .of = find_metric(r) };
	uint32_t workers = workers_count(r->q->m);
	struct scratch own, each;

	scratch_open(&own, r->q->a->work);
	scratch_open(&each, r->q->a->work);
	c.own = ARENA_ARRAY(&own.a, r->n, struct spread);
	c.total = ARENA_ARRAY(&own.a, r->n, struct spread);
	c.slowest = ARENA_ARRAY(&own.a, r->n, uint32_t);
	c.first = ARENA_ARRAY(&own.a, workers, double);
	c.whole = !view_has_fractions(r->q, metrics[c.of].value);
	for (uint32_t w = 0; w < workers; w++) {
		if (workers_chosen(r->q, w))
			add_worker(&c, w, &each.a);
		arena_clear(&each.a);
	}
	choose_columns(&c, &own.a);
	room_for_columns(r, 5 + c.n_shown);
	add_spread(&c);
	for (uint32_t i = 0; i < c.n_shown; i++) {
		add_column(&c, c.shown[i], &each.a);
		arena_clear(&each.a);
	}
	scratch_close(&each);
	scratch_close(&own);
}
