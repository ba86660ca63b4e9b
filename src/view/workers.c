/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects workers, and the steps of different workers that belong together.
 */
#include "base/sort.h"
#include "view/step_columns.h"

#define LISTED_MAX 8 /* maximum number of names in a sentence */
#define NAMES_MAX  3 /* maximum number of names in a note */

/* ---- selection ---- */

static bool no_worker(const struct strs *names, struct arena *a, struct err *e)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < names->n && i < LISTED_MAX; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "", STR(names->v[i]));
	if (names->n > LISTED_MAX)
		sb_fmt(&b, " and %zu more", names->n - LISTED_MAX);
	return err_set(e, ERR_FAILED, "-worker_regexes: no worker matches; the workers are %.*s",
	        STR(sb_str(&b)));
}

bool workers_match(const struct strs *names, const struct opts *o, bool **chosen, struct arena *a,
        struct err *e)
{
	bool all = strs_is_one(&o->workers, S(".*")), any = false;
	struct pattern_list *rx;

	*chosen = NULL;
	if (!names->n && (!all || o->by == BY_WORKER))
		return err_set(e, ERR_FAILED,
		        "workers require several files or folders, but only one is loaded: use, "
		        "for example, "
		        "--profile_path='job_*/profile_100'");
	if (all)
		return true;
	*chosen = ARENA_ARRAY(a, names->n, bool);
	if (!pattern_compile(&rx, a, &o->workers, e))
		return false;
	for (size_t i = 0; i < names->n; i++)
		any |= (*chosen)[i] = pattern_match(rx, names->v[i]);
	bool ok = !pattern_failed(rx, e);
	pattern_free(rx);
	return ok && (any || no_worker(names, a, e));
}

bool workers_choose(struct query *q, struct err *e)
{
	return workers_match(&q->m->workers, q->o, &q->workers, q->a, e);
}

/* ---- steps ---- */

static void put_step(struct query *q, const struct step *s)
{
	q->steps[q->n_steps++] = s;
}

/* Returns the range [from, end) of a worker's steps in the model. */
static size_t steps_of(const struct model *m, uint32_t worker, size_t *from)
{
	size_t end;

	model_step_of(m, worker, INT64_MIN, from);
	for (end = *from; end < m->steps.n && m->steps.v[end]->worker == worker;)
		end++;
	return end;
}

/* Selects the steps with a requested number. */
static void choose_by_number(struct query *q, uint32_t worker)
{
	const struct model *m = q->m;
	size_t from, end = steps_of(m, worker, &from);

	for (size_t i = from; i < end; i++)
		if (opts_has_step(q->o, m->steps.v[i]->id) &&
		        (opts_names_steps(q->o) || !m->steps.v[i]->excluded_from_average))
			put_step(q, m->steps.v[i]);
}

struct interval {
	int64_t from, to; /* microseconds; to <= from: the step has no times */
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

/* Returns the worker's step with the longest overlap with the interval, or NULL. */
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

/* Selects, for another worker, the steps that overlap the n selected steps of the first worker. */
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

/* Adds a note about workers with fewer steps than other workers. */
static void note_missing(struct query *q, const uint32_t *counts)
{
	uint32_t workers = workers_count(q->m), most = 0, missing = 0;
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
	uint32_t workers = workers_count(q->m);
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
	size_t i;

	BISECT(i, 0, q->n_steps, q->steps[i]->worker < worker);
	for (*n = 0; i + *n < q->n_steps && q->steps[i + *n]->worker == worker;)
		++*n;
	return (const struct step *const *)q->steps + i;
}

struct tally *workers_tallies(
        const struct query *q, uint32_t worker, int64_t *over, struct arena *a)
{
	size_t n;
	const struct step *const *steps = workers_steps_of(q, worker, &n);

	if (n == 0)
		return NULL;
	*over = model_steps(q->m, n);
	return n == 1 ? model_tallies(q->m, steps[0], a) : model_tallies_over(q->m, steps, n, a);
}
