/* SPDX-License-Identifier: Apache-2.0
 *
 * Where steps begin. A step lasts until the next one begins, the last one until the end, those of
 * cuProfilerStart until cuProfilerStop. What is launched before the first is warm-up.
 */
#include "base/sort.h"
#include "model/spools_internal.h"

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const uint64_t *v = ctx;

	return v[a] < v[b] ? -1 : v[a] > v[b];
}

/* Sorts moments. */
static void sort_moments(struct arena *a, uint64_t *v, size_t n)
{
	bool sorted = true;

	for (size_t i = 1; i < n && sorted; i++)
		sorted = v[i - 1] <= v[i];
	if (!sorted)
		sort_array(a, v, n, sizeof *v, by_number);
}

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct span_of_time *v = ctx;

	return v[a].start < v[b].start ? -1 : v[a].start > v[b].start;
}

/* Ranges that are steps, of all threads; one that begins within another belongs to it. */
static void take_spans(struct reading_spools *r, struct process *p)
{
	const struct span_of_time *v = p->steps_nvtx.v;
	size_t n = p->steps_nvtx.n;
	const uint32_t *by = sort_order(r->a, n, by_start, v);
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		const struct span_of_time *s = &v[by[i]];
		if (p->boundaries.n && s->start < end)
			continue;
		VEC_PUSH(r->a, &p->boundaries, s->start);
		end = s->end > s->start ? s->end : s->start + 1;
	}
}

static void take_moments(struct reading_spools *r, struct process *p, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(r->a, &p->boundaries, v[i]);
}

/* Lines of the control file: "<ns> step[ <label>]". */
static void take_control(struct reading_spools *r, struct process *p)
{
	struct strs lines = str_split(r->a, r->files->control, '\n');

	for (size_t i = 0; i < lines.n; i++) {
		struct strs words = str_split(r->a, lines.v[i], ' ');
		int64_t time;
		if (words.n >= 2 && str_eq(words.v[1], S(SPOOL_CONTROL_STEP)) &&
		        num_parse_i64(words.v[0], &time) && time > 0)
			VEC_PUSH(r->a, &p->boundaries, (uint64_t)time);
	}
	take_moments(r, p, p->steps_signal.v, p->steps_signal.n);
}

static void take_profiler(struct reading_spools *r, struct process *p)
{
	for (size_t i = 0; i < p->steps_profiler.n; i++) {
		const struct span_of_time *s = &p->steps_profiler.v[i];
		VEC_PUSH(r->a, &p->boundaries, s->start);
		VEC_PUSH(r->a, &p->ends, s->end ? s->end : UINT64_MAX);
	}
}

/* In this order: what was asked for, what the program says, what was said from outside. */
void steps_decide(struct reading_spools *r, struct process *p)
{
	take_spans(r, p);
	if (!p->boundaries.n)
		take_moments(r, p, p->steps_mark.v, p->steps_mark.n);
	if (!p->boundaries.n)
		take_moments(r, p, p->steps_kernel.v, p->steps_kernel.n);
	if (!p->boundaries.n)
		take_control(r, p);
	sort_moments(r->a, p->boundaries.v, p->boundaries.n);
	if (!p->boundaries.n && r->o->step_every > 0)
		p->every = (uint64_t)r->o->step_every;
	else if (!p->boundaries.n)
		take_profiler(r, p);
}

/* The last boundary at or before time, or SIZE_MAX. Times mostly grow: the one found last is tried.
 */
static size_t find_boundary(struct process *p, uint64_t time)
{
	const uint64_t *v = p->boundaries.v;
	size_t n = p->boundaries.n, i = p->boundary;

	if (i < n && v[i] <= time && (i + 1 == n || time < v[i + 1]))
		return i;
	n = sort_count(v, n, time);
	p->boundary = n ? n - 1 : 0;
	return n ? n - 1 : SIZE_MAX;
}

/* The first process that has steps. */
static const struct process *find_lead(const struct reading_spools *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].boundaries.n)
			return &r->v[i];
	return NULL;
}

void steps_follow(struct reading_spools *r)
{
	const struct process *lead = find_lead(r);
	size_t n = lead ? lead->boundaries.n : 0;
	uint64_t *ends = ARENA_ARRAY(r->a, n, uint64_t);

	for (size_t i = 0; i < n; i++)
		ends[i] = lead->ends.n ? lead->ends.v[i]
		          : i + 1 < n  ? lead->boundaries.v[i + 1]
		                       : lead->last + 1;
	for (size_t i = 0; i < r->n && n; i++) {
		struct process *p = &r->v[i];
		if (str_eq(p->who.job, lead->who.job))
			continue;
		p->follows = true;
		p->boundaries.v = lead->boundaries.v;
		p->ends.v = ends;
		p->boundaries.n = p->boundaries.cap = p->ends.n = p->ends.cap = n;
	}
}

void steps_forget(struct process *p)
{
	p->boundaries.n = p->ends.n = 0;
	p->untimed = p->unlaunched = p->outside = 0;
	p->stepless = true;
}

int64_t steps_of(const struct reading_spools *r, struct process *p, uint64_t time)
{
	int64_t step = 0, warmup = r->o->keep_warmup ? 0 : STEP_WARMUP, first = r->o->keep_warmup;
	size_t i;

	if (p->every) {
		uint64_t n = time > r->origin ? (time - r->origin) / p->every : 0;
		return n < STEPS_MAX ? (int64_t)n : STEPS_MAX - 1;
	}
	if (!p->boundaries.n)
		return step;
	i = find_boundary(p, time);
	if (i == SIZE_MAX || (p->ends.n && time >= p->ends.v[i]))
		return warmup;
	return first + (int64_t)(i < STEPS_MAX ? i : STEPS_MAX - 1);
}
