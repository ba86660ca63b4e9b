/* SPDX-License-Identifier: Apache-2.0
 *
 * See step_columns.h. Stores the numbers of one worker at a time, plus minimum, maximum and sum per
 * shown entry, so memory does not depend on the number of workers.
 */
#include "view/step_columns.h"

#include <math.h>

#include "base/sort.h"

#define COLUMNS_MAX 8 /* workers with a column each, unless -max_workers is given */

/* Statistics of an entry over the workers, own or total. */
struct spread {
	int64_t min, max;
	double sum;
	uint32_t n; /* workers that have it */
};

struct columns {
	struct result *r;
	const struct query *q;
	enum metric_id of;
	struct spread *own, *total; /* indexed by shown entry */
	uint32_t *slowest;          /* indexed by shown entry: the worker */
	int64_t *first;             /* indexed by worker: total of the first entry */
	uint32_t *shown, n_shown;   /* workers with a column each */
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

static bool take_in(struct spread *s, const struct tally *t, enum value v)
{
	bool most;

	if (!workers_has(t, v))
		return false;
	most = s->n == 0 || t->v[v] > s->max;
	s->min = s->n == 0 || t->v[v] < s->min ? t->v[v] : s->min;
	s->max = most ? t->v[v] : s->max;
	s->sum += (double)t->v[v];
	s->n++;
	return most;
}

static void add_worker(struct columns *c, uint32_t worker, struct arena *a)
{
	enum value v = metrics[c->of].value;
	struct tally *tallies = workers_tallies(c->q, worker, a);

	c->first[worker] = INT64_MIN;
	if (!tallies)
		return;
	struct recompute_values x = view_recompute(c->r, tallies, a);
	for (uint32_t i = 0; i < c->r->n; i++) {
		take_in(&c->own[i], &x.own[i], v);
		if (take_in(&c->total[i], &x.total[i], v))
			c->slowest[i] = worker;
	}
	c->first[worker] = c->r->n ? x.total[0].v[v] : 0;
}

static int by_first(const void *ctx, uint32_t a, uint32_t b)
{
	const int64_t *first = ctx;

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
	return s->sum != 0 ? 100 * ((double)s->max - (double)s->min) / (s->sum / s->n) : 0;
}

static union figure whole(const struct spread *s, int64_t v)
{
	return (union figure){ .whole = s->n ? v : FIGURE_NONE };
}

/* Adds a note with the slowest worker and the spread. */
static void add_spread(struct columns *c)
{
	enum unit unit = metric_unit(c->of);
	bool time = unit == UNIT_TIME;
	struct extra *name = new_column(
	        c, time ? S("slowest worker") : S("largest worker"), M_NONE, UNIT_TEXT, true);
	struct extra *min = new_column(c, S("min"), c->of, unit, true);
	struct extra *max = new_column(c, S("max"), c->of, unit, true);
	struct extra *apart = new_column(c, S("spread"), c->of, UNIT_PERCENT, false);
	struct extra *n = new_column(c, S("workers"), M_NONE, UNIT_COUNT, true);

	name->words = ARENA_ARRAY(c->q->a, c->r->n, struct str);
	for (uint32_t i = 0; i < c->r->n; i++) {
		const struct spread *own = &c->own[i], *total = &c->total[i];
		name->words[i] = total->n ? c->q->m->workers.v[c->slowest[i]] : S("-");
		min->own[i] = whole(own, own->min);
		min->total[i] = whole(total, total->min);
		max->own[i] = whole(own, own->max);
		max->total[i] = whole(total, total->max);
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
	struct extra *x = new_column(c, c->q->m->workers.v[worker], c->of, unit, true);
	struct tally *tallies = workers_tallies(c->q, worker, a);
	struct recompute_values y = { 0 };

	if (tallies)
		y = view_recompute(c->r, tallies, a);
	for (uint32_t i = 0; i < c->r->n; i++) {
		bool own = tallies && workers_has(&y.own[i], v);
		bool total = tallies && workers_has(&y.total[i], v);
		x->own[i].whole = own ? y.own[i].v[v] : FIGURE_NONE;
		x->total[i].whole = total ? y.total[i].v[v] : FIGURE_NONE;
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
	c.first = ARENA_ARRAY(&own.a, workers, int64_t);
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
