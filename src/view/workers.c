/* SPDX-License-Identifier: Apache-2.0
 *
 * Workers: which are chosen, which of their steps belong together, and columns for them beside an
 * answer. Numbers of one worker are held at a time; beside them, for each shown entry, the least,
 * the greatest and the sum, so that ten thousand workers need no more room than two.
 */
#include "view/workers.h"

#include <math.h>

#include "base/sort.h"

#define COLUMNS_MAX 8 /* workers that get a column of their own, unless -max_workers says it */
#define NAMES_MAX   3 /* that a note names */

/* ---- which ---- */

static bool no_worker(struct query *q, struct err *e)
{
	struct sb b = sb_in(q->a);
	const struct strs *names = &q->m->workers;

	for (size_t i = 0; i < names->n && i < COLUMNS_MAX; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "", STR(names->v[i]));
	if (names->n > COLUMNS_MAX)
		sb_fmt(&b, " and %zu more", names->n - COLUMNS_MAX);
	return err_set(e, ERR_FAILED, "-worker_regexes: no worker matches; there are %.*s",
	        STR(sb_str(&b)));
}

bool workers_choose(struct query *q, struct err *e)
{
	const struct strs *names = &q->m->workers;
	bool all = strs_is_one(&q->o->workers, S(".*")), any = false;
	struct rx_list *rx;

	if (!names->n && (!all || q->o->by == BY_WORKER))
		return err_set(e, ERR_FAILED,
		        "there are no workers: one file is loaded; several files or folders are "
		        "one "
		        "each, as in --profile_path='job_*/profile_100'");
	if (all)
		return true;
	q->workers = ARENA_ARRAY(q->a, names->n, bool);
	if (!rx_compile(&rx, q->a, &q->o->workers, e))
		return false;
	for (size_t i = 0; i < names->n; i++)
		any |= q->workers[i] = rx_match(rx, names->v[i]);
	bool ok = !rx_failed(rx, e);
	rx_free(rx);
	return ok && (any || no_worker(q, e));
}

static uint32_t count_workers(const struct model *m)
{
	return m->workers.n ? (uint32_t)m->workers.n : 1;
}

/* ---- steps ---- */

static void put_step(struct query *q, const struct step *s)
{
	q->steps[q->n_steps++] = s;
}

/* The steps of a worker in the model: [from, end). */
static size_t steps_of(const struct model *m, uint32_t worker, size_t *from)
{
	size_t end;

	model_step_of(m, worker, INT64_MIN, from);
	for (end = *from; end < m->steps.n && m->steps.v[end]->worker == worker;)
		end++;
	return end;
}

/* Those that have a number that is asked for. */
static void choose_by_number(struct query *q, uint32_t worker)
{
	const struct model *m = q->m;
	size_t from, end = steps_of(m, worker, &from);

	for (size_t i = from; i < end; i++)
		if (opts_has_step(q->o, m->steps.v[i]->id) &&
		        (opts_names_steps(q->o) || !m->steps.v[i]->aside))
			put_step(q, m->steps.v[i]);
}

struct interval {
	int64_t from, to; /* microseconds; to <= from: it has no times */
};

static struct interval find_interval(const struct step *s)
{
	struct interval x = { INT64_MAX, INT64_MIN };

	for (uint32_t c = 0; c < s->n_cells; c++) {
		if (s->cell_start[c] <= 0)
			continue;
		x.from = s->cell_start[c] < x.from ? s->cell_start[c] : x.from;
		x.to = s->cell_end[c] > x.to ? s->cell_end[c] : x.to;
	}
	if (x.to <= x.from)
		return (struct interval){ 0 };
	x.from = num_add(step_us(s, x.from), s->base_us);
	x.to = num_add(step_us(s, x.to), s->base_us);
	return x;
}

/* Of the worker's steps that which runs the longest while the interval lasts, or NULL. */
static const struct step *find_overlap(const struct query *q, uint32_t worker, struct interval x)
{
	const struct step *best = NULL;
	int64_t most = 0;
	size_t from, end = steps_of(q->m, worker, &from);

	for (size_t i = from; i < end; i++) {
		struct interval y = find_interval(q->m->steps.v[i]);
		int64_t both =
		        num_sub(y.to < x.to ? y.to : x.to, y.from > x.from ? y.from : x.from);
		if (both > most) {
			most = both;
			best = q->m->steps.v[i];
		}
	}
	return best;
}

/* The n steps of the first worker are chosen: of another one those of their times. */
static void choose_by_time(struct query *q, uint32_t worker, size_t n)
{
	size_t before = q->n_steps;

	for (size_t i = 0; i < n; i++) {
		const struct step *s = find_overlap(q, worker, find_interval(q->steps[i]));
		bool there = !s;
		for (size_t k = before; k < q->n_steps; k++)
			there |= q->steps[k] == s;
		if (!there)
			put_step(q, s);
	}
}

/* Says which workers have fewer steps than the others. */
static void note_missing(struct query *q, const uint32_t *counts)
{
	uint32_t workers = count_workers(q->m), most = 0, missing = 0;
	struct sb b = sb_in(q->a);

	for (uint32_t w = 0; w < workers; w++)
		most = counts[w] > most ? counts[w] : most;
	for (uint32_t w = 0; w < workers; w++) {
		if (!workers_chosen(q, w) || counts[w] == most)
			continue;
		if (missing++ < NAMES_MAX)
			sb_fmt(&b, "%s'%.*s' %u of %u", missing > 1 ? ", " : "",
			        STR(q->m->workers.v[w]), counts[w], most);
	}
	if (missing > NAMES_MAX)
		sb_fmt(&b, " and %u more workers", missing - NAMES_MAX);
	if (missing)
		note_line(q->notes, "note: not every worker has all of these steps: %.*s\n",
		        STR(sb_str(&b)));
}

void workers_steps(struct query *q)
{
	uint32_t workers = count_workers(q->m);
	uint32_t *counts = ARENA_ARRAY(q->a, workers, uint32_t);
	bool by_time = q->o->align == ALIGN_TIME && opts_names_steps(q->o);
	size_t first = 0;

	for (uint32_t w = 0; w < workers; w++) {
		size_t before = q->n_steps;
		if (!workers_chosen(q, w))
			continue;
		if (by_time && first)
			choose_by_time(q, w, first);
		else
			choose_by_number(q, w);
		first = first ? first : q->n_steps;
		counts[w] = (uint32_t)(q->n_steps - before);
	}
	if (opts_names_steps(q->o) || q->o->by == BY_WORKER)
		note_missing(q, counts);
}

const struct step *const *workers_steps_of(const struct query *q, uint32_t worker, size_t *n)
{
	size_t lo = 0, hi = q->n_steps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (q->steps[mid]->worker < worker)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < q->n_steps && q->steps[lo + *n]->worker == worker;)
		++*n;
	return (const struct step *const *)q->steps + lo;
}

struct tally *workers_tallies(const struct query *q, uint32_t worker, struct arena *a)
{
	size_t n;
	const struct step *const *steps = workers_steps_of(q, worker, &n);

	if (n == 0)
		return NULL;
	return n == 1 ? model_tallies(q->m, steps[0], a) : model_tallies_over(q->m, steps, n, a);
}

/* ---- columns ---- */

/* What an entry has over the workers, of its own or in total. */
struct spread {
	int64_t min, max;
	double sum;
	uint32_t n; /* workers that have it */
};

struct columns {
	struct result *r;
	const struct query *q;
	enum metric_id of;
	struct spread *own, *total; /* by shown entry */
	uint32_t *slowest;          /* likewise: the worker */
	int64_t *first;             /* by worker: total of the first entry */
	uint32_t *shown, n_shown;   /* workers with a column of their own */
};

/* The metric that orders, else the first that is selected. */
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
	struct retally x = view_retally(c->r, tallies, a);
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

/* All workers if they are few, else those with the most; in their order. */
static void choose_columns(struct columns *c, struct arena *a)
{
	uint32_t workers = count_workers(c->q->m), n = 0;
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

/* Which is the slowest, and how far they are apart. */
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
	struct retally y = { 0 };

	if (tallies)
		y = view_retally(c->r, tallies, a);
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

void workers_add(struct result *r)
{
	struct columns c = { .r = r, .q = r->q, .of = find_metric(r) };
	uint32_t workers = count_workers(r->q->m);
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
