/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the starts of steps. A step lasts until the next one begins, the last one until the end,
 * steps of cuProfilerStart until cuProfilerStop. Work launched before the first step is warm-up.
 */
#include "base/sort.h"
#include "trace/read/recording/recording_internal.h"

void steps_add(struct step_marks *to, struct arena *a, uint64_t start, struct str label)
{
	VEC_PUSH(a, to, ((struct step_mark){ .start = start, .label = label }));
}

static void take_boundary(
        struct recordings *r, struct recorded_process *p, uint64_t time, struct str label)
{
	VEC_PUSH(r->a, &p->boundaries, time);
	VEC_PUSH(r->a, &p->labels, label);
}

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const uint64_t *v = ctx;

	return v[a] < v[b] ? -1 : v[a] > v[b];
}

/* Sorts the boundaries and their labels by time. */
static void sort_boundaries(struct arena *a, struct recorded_process *p)
{
	size_t n = p->boundaries.n;
	bool sorted = true;

	for (size_t i = 1; i < n && sorted; i++)
		sorted = p->boundaries.v[i - 1] <= p->boundaries.v[i];
	if (sorted)
		return;
	const uint32_t *order = sort_order(a, n, by_number, p->boundaries.v);
	uint64_t *times = ARENA_ARRAY(a, n, uint64_t);
	struct str *labels = ARENA_ARRAY(a, n, struct str);
	for (size_t i = 0; i < n; i++) {
		times[i] = p->boundaries.v[order[i]];
		labels[i] = p->labels.v[order[i]];
	}
	p->boundaries.v = times;
	p->labels.v = labels;
	p->boundaries.cap = p->labels.cap = n;
}

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_mark *v = ctx;

	return v[a].start < v[b].start ? -1 : v[a].start > v[b].start;
}

/* Adds the ranges of all threads that are steps. A range that begins inside another one belongs to
 * that range. */
static void take_spans(
        struct recordings *r, struct recorded_process *p, const struct step_marks *from)
{
	const uint32_t *by = sort_order(r->a, from->n, by_start, from->v);
	uint64_t end = 0;

	for (size_t i = 0; i < from->n; i++) {
		const struct step_mark *s = &from->v[by[i]];
		if (p->boundaries.n && s->start < end)
			continue;
		take_boundary(r, p, s->start, s->label);
		end = s->end > s->start ? s->end : s->start + 1;
	}
}

static void take_moments(
        struct recordings *r, struct recorded_process *p, const struct step_marks *from)
{
	for (size_t i = 0; i < from->n; i++)
		take_boundary(r, p, from->v[i].start, from->v[i].label);
}

/* Reads the lines of the control file: "<ns> step[ <label>]". */
static void take_control(struct recordings *r, struct recorded_process *p)
{
	struct strs lines = str_split(r->a, r->files->control, '\n');

	for (size_t i = 0; i < lines.n; i++) {
		struct strs words = str_split(r->a, lines.v[i], ' ');
		int64_t time;
		if (words.n >= 2 && str_eq(words.v[1], S(SPOOL_CONTROL_STEP)) &&
		        num_parse_i64(words.v[0], &time) && time > 0)
			take_boundary(r, p, (uint64_t)time, words.n > 2 ? words.v[2] : S(""));
	}
	take_moments(r, p, &p->steps_signal);
}

static void take_profiler(struct recordings *r, struct recorded_process *p)
{
	for (size_t i = 0; i < p->steps_profiler.n; i++) {
		const struct step_mark *s = &p->steps_profiler.v[i];
		take_boundary(r, p, s->start, s->label);
		VEC_PUSH(r->a, &p->ends, s->end ? s->end : UINT64_MAX);
	}
}

/* Order of precedence: steps that the user requested, steps that the program recorded, steps that
 * tfprof ctl recorded. */
void steps_decide(struct recordings *r, struct recorded_process *p)
{
	take_spans(r, p, &p->steps_nvtx);
	if (!p->boundaries.n)
		take_moments(r, p, &p->steps_mark);
	if (!p->boundaries.n)
		take_moments(r, p, &p->steps_kernel);
	if (!p->boundaries.n)
		take_control(r, p);
	if (!p->boundaries.n && r->o->step_every > 0)
		p->every = (uint64_t)r->o->step_every;
	else if (!p->boundaries.n)
		take_profiler(r, p);
	if (!p->boundaries.n && !p->every)
		take_spans(r, p, &p->steps_implied);
	if (!p->ends.n)
		sort_boundaries(r->a, p);
}

bool recording_has_steps(const struct recorded_process *p)
{
	return p->boundaries.n || p->every;
}

/* Returns the last boundary at or before a time, or SIZE_MAX. Tries the previous result first,
 * because times mostly increase. */
static size_t find_boundary(struct recorded_process *p, uint64_t time)
{
	const uint64_t *v = p->boundaries.v;
	size_t n = p->boundaries.n, i = p->boundary;

	if (i < n && v[i] <= time && (i + 1 == n || time < v[i + 1]))
		return i;
	n = sort_count(v, n, time);
	p->boundary = n ? n - 1 : 0;
	return n ? n - 1 : SIZE_MAX;
}

/* Returns the first process that has steps. */
static const struct recorded_process *find_lead(const struct recordings *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].boundaries.n)
			return &r->v[i];
	return NULL;
}

void steps_follow(struct recordings *r)
{
	const struct recorded_process *lead = find_lead(r);
	size_t n = lead ? lead->boundaries.n : 0;
	uint64_t *ends = ARENA_ARRAY(r->a, n, uint64_t);

	for (size_t i = 0; i < n; i++)
		ends[i] = lead->ends.n ? lead->ends.v[i]
		          : i + 1 < n  ? lead->boundaries.v[i + 1]
		                       : lead->last + 1;
	for (size_t i = 0; i < r->n && n; i++) {
		struct recorded_process *p = &r->v[i];
		if (str_eq(p->facts.who.job, lead->facts.who.job))
			continue;
		p->follows = true;
		p->boundaries.v = lead->boundaries.v;
		p->ends.v = ends;
		p->labels.v = lead->labels.v;
		p->boundaries.n = p->boundaries.cap = p->ends.n = p->ends.cap = n;
		p->labels.n = p->labels.cap = n;
	}
}

void recording_forget_steps(struct recorded_process *p)
{
	p->boundaries.n = p->labels.n = p->ends.n = 0;
	p->untimed = p->unlaunched = p->outside = p->created_work = 0;
	p->created_ns = 0;
	p->stepless = true;
}

int64_t recording_step(const struct recordings *r, struct recorded_process *p, uint64_t time)
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

/* Reads "3-5,9": pairs of a first and a last step. */
bool steps_list_read(struct steps_list *to, struct arena *a, struct str text, struct err *e)
{
	struct strs parts = str_split(a, text, ',');

	for (size_t i = 0; i < parts.n; i++) {
		size_t dash = str_find_char(parts.v[i], '-');
		int64_t first, last;
		bool ok = num_parse_i64(str_sub(parts.v[i], 0, dash), &first);
		last = first;
		if (ok && dash != SIZE_MAX)
			ok = num_parse_i64(str_sub(parts.v[i], dash + 1, SIZE_MAX), &last);
		if (!ok || first < 0 || last < first)
			return err_set(e, ERR_INVALID_ARGUMENT,
			        "--detail-steps=%.*s is not a list of steps, such as 3-5,9",
			        STR(text));
		VEC_PUSH(a, to, first);
		VEC_PUSH(a, to, last);
	}
	return true;
}
