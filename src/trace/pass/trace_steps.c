/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the steps of stored slices.
 */
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"

#include "base/bits.h"
#include "base/sort.h"

const char *const steps_by_names[] = { "unknown", "mark", "annotation", "group", "run", "guess" };

/* True if steps are slices of the category step. */
static bool is_by_slice(enum steps_by by)
{
	return by == STEPS_BY_MARK || by == STEPS_BY_SERVING;
}

/* True if a slice names its step by the rule `by`; sets *id to the id of the step. */
static bool says_step(const struct trace *t, const struct slice *s, enum steps_by by, int64_t *id)
{
	switch (by) {
	case STEPS_BY_MARK:
		if (s->form != SLICE_COMPLETE || s->category != CATEGORY_STEP)
			return false;
		return slice_has_int(t, s, ARG_STEP, id) || slice_has_int(t, s, ARG_GROUP, id);
	case STEPS_BY_SERVING:
		if (says_step(t, s, STEPS_BY_MARK, id))
			return false;
		*id = 0;
		return s->form == SLICE_COMPLETE && s->category == CATEGORY_STEP;
	case STEPS_BY_GROUP: return slice_has_int(t, s, ARG_GROUP, id);
	case STEPS_BY_RUN: return slice_has_int(t, s, ARG_RUN, id);
	default: return false;
	}
}

/* Extends an interval to contain a slice. */
static void extend(int64_t *start, int64_t *end, const struct slice *s)
{
	*start = s->start < *start ? s->start : *start;
	*end = slice_end(s) > *end ? slice_end(s) : *end;
}

static bool is_by_thread_run(const struct trace_steps *s)
{
	return s->by == STEPS_BY_RUN && s->by_extent;
}

/* Returns the string id of the program that an op belongs to, or ID_NONE. */
static uint32_t name_of_program(const struct trace *t, const struct slice *s)
{
	struct argument a;

	return slice_may_have(t, s, ARG_MODULE_NAME) && slice_argument(t, s, ARG_MODULE_NAME, &a) &&
	                       a.type == ARG_TEXT
	               ? a.text
	               : ID_NONE;
}

static uint32_t step_index(
        struct trace_steps *out, int64_t id, const struct slice *s, struct arena *a)
{
	struct trace_step made = {
		.id = id, .name = ID_NONE, .start = s->start, .end = slice_end(s)
	};
	uint32_t i = (uint32_t)out->steps.n;

	if (out->by_start || !imap_get(&out->by_id, zigzag(id), &i)) {
		if (is_by_slice(out->by))
			made.name = s->name;
		imap_put(&out->by_id, zigzag(id), i, false);
		VEC_PUSH(a, &out->steps, made);
	}
	struct trace_step *step = &out->steps.v[i];
	if (is_by_thread_run(out) && step->name == ID_NONE)
		step->name = name_of_program(out->t, s);
	if (out->by_extent) {
		extend(&step->start, &step->end, s);
	} else if (s->length > num_sub(step->end, step->start)) {
		step->start = s->start;
		step->end = slice_end(s);
	}
	return i;
}

/* Adds the interval of a slice. A step that extends over its slices has one growing interval per
 * track. */
static uint32_t add_interval(struct trace_steps *out, struct imap *groups,
        const struct trace_track *k, uint32_t step, const struct slice *s, struct arena *a)
{
	struct step_interval made = { k->device, k->device == ID_NONE ? k->process : ID_NONE, step,
		s->start, slice_end(s) };
	uint32_t i = (uint32_t)out->intervals.n;

	if (out->by_extent && imap_get(groups, step, &i)) {
		extend(&out->intervals.v[i].start, &out->intervals.v[i].end, s);
		return i;
	}
	imap_put(groups, step, i, true);
	VEC_PUSH(a, &out->intervals, made);
	return i;
}

/* True if marks with different names have the same number, such as "train" 0 and "eval" 0. */
static bool shares_numbers(const struct trace_steps *out, const struct slice *s, uint32_t step)
{
	return out->by == STEPS_BY_MARK && out->t->source == TRACE_XSPACE &&
	       out->steps.v[step].name != s->name;
}

/* Collects the intervals of a track's slices. */
static void find_on(struct trace_steps *out, uint32_t track, struct arena *a)
{
	const struct trace_track *k = &out->t->tracks.v[track];
	struct slice_iter it = trace_slices_if(
	        out->t, track, is_by_slice(out->by) ? CATEGORY_BIT(CATEGORY_STEP) : UINT32_MAX);
	struct scratch own;
	struct imap groups;
	uint32_t step = ID_NONE, interval = 0;
	int64_t id, before = 0, until = INT64_MIN;

	if (k->derived && out->by != STEPS_BY_MARK)
		return;
	scratch_open(&own, a->work);
	imap_init(&groups, &own.a);
	for (struct slice s; slice_next(&it, &s);) {
		if (!says_step(out->t, &s, out->by, &id))
			continue;
		if (out->by == STEPS_BY_SERVING && slice_end(&s) <= until)
			continue; /* the slice is inside another mark */
		until = slice_end(&s);
		if (out->by_extent && step != ID_NONE && id == before) {
			extend(&out->steps.v[step].start, &out->steps.v[step].end, &s);
			extend(&out->intervals.v[interval].start, &out->intervals.v[interval].end,
			        &s);
			continue;
		}
		step = step_index(out, id, &s, a);
		out->by_start |= shares_numbers(out, &s, step);
		interval = add_interval(out, &groups, k, step, &s, a);
		before = id;
	}
	scratch_close(&own);
}

/* True if slices of the trace can name their step in this way. */
static bool may_say_steps(const struct trace *t, enum steps_by by)
{
	if (!is_by_slice(by))
		return t->keys & ARG_BIT(by == STEPS_BY_GROUP ? ARG_GROUP : ARG_RUN);
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].categories & CATEGORY_BIT(CATEGORY_STEP))
			return true;
	return false;
}

/* Stores the processes of marks only if there are several processes. */
static void find_processes(struct trace_steps *out)
{
	uint32_t first = ID_NONE;

	for (size_t i = 0; i < out->intervals.n; i++) {
		const struct step_interval *v = &out->intervals.v[i];
		if (!is_by_slice(out->by) || v->device != ID_NONE || v->process == ID_NONE)
			continue;
		out->by_process |= first != ID_NONE && first != v->process;
		first = v->process;
	}
	for (size_t i = 0; i < out->intervals.n && !out->by_process; i++)
		out->intervals.v[i].process = ID_NONE;
}

static void find_on_all(struct trace_steps *out, struct arena *a)
{
	for (uint32_t i = 0; i < out->t->tracks.n; i++)
		find_on(out, i, a);
}

static int compare_intervals(const void *v, uint32_t a, uint32_t b)
{
	const struct step_interval *x = (const struct step_interval *)v + a;
	const struct step_interval *y = (const struct step_interval *)v + b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

/* Returns the number of intervals up to a time of a device and process, in the sort order. */
static size_t count_until(
        const struct trace_steps *s, uint32_t device, uint32_t process, int64_t at)
{
	const struct step_interval *v = s->intervals.v;
	size_t i;

	BISECT(i, 0, s->intervals.n,
	        v[i].device != device     ? v[i].device < device
	        : v[i].process != process ? v[i].process < process
	                                  : v[i].start <= at);
	return i;
}

/* Returns the last interval of a device, or of the threads of a process, that begins at or before a
 * time; otherwise the first interval, or NULL if there is none. */
static const struct step_interval *interval_at(
        const struct trace_steps *s, uint32_t device, uint32_t process, int64_t at)
{
	size_t until = count_until(s, device, process, at);
	const struct step_interval *v = s->intervals.v + until;

	/* NOLINTNEXTLINE: until is above 0 only if there are intervals */
	if (until && v[-1].device == device && v[-1].process == process)
		return v - 1;
	return until < s->intervals.n && v->device == device && v->process == process ? v : NULL;
}

/* Sets the intervals of a server's steps to the times of the device work launched inside their
 * marks: the host runs ahead of the device, and a graph launch takes a fraction of the graph's
 * time. */
static void find_device_times(struct trace_steps *out, struct arena *a)
{
	const struct trace *t = out->t;
	struct trace_links links;
	struct scratch own;

	scratch_open(&own, a->work);
	bool *any = ARENA_ARRAY(&own.a, out->steps.n, bool);
	trace_link(t, &links, &own.a);
	sort_array(&own.a, out->intervals.v, out->intervals.n, sizeof *out->intervals.v,
	        compare_intervals);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		for (struct slice s; slice_next(&it, &s);) {
			const struct launch *launch =
			        slice_is_work(t, &s) ? link_launch(&links, &s) : NULL;
			const struct step_interval *v =
			        launch ? interval_at(out, ID_NONE,
			                         out->by_process ? t->tracks.v[i].process : ID_NONE,
			                         launch->start)
			               : NULL;
			if (!v || launch->start < v->start || launch->start >= v->end)
				continue;
			struct trace_step *step = &out->steps.v[v->step];
			if (!any[v->step]) {
				step->start = s.start;
				step->end = slice_end(&s);
			}
			any[v->step] = true;
			extend(&step->start, &step->end, &s);
		}
	}
	scratch_close(&own);
}

static void find_by(struct trace_steps *out, enum steps_by by, struct arena *a)
{
	if (!may_say_steps(out->t, by))
		return;
	out->by = by;
	out->by_start = by == STEPS_BY_SERVING;
	out->by_extent = by == STEPS_BY_GROUP || (by == STEPS_BY_RUN && !out->t->devices.n);
	find_on_all(out, a);
	if (out->by_start && by != STEPS_BY_SERVING) {
		out->steps.n = out->intervals.n = 0;
		find_on_all(out, a);
	}
	if (!out->steps.n)
		out->by = STEPS_UNKNOWN;
}

static int compare_steps(const void *v, uint32_t a, uint32_t b)
{
	const struct trace_step *x = (const struct trace_step *)v + a;
	const struct trace_step *y = (const struct trace_step *)v + b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Numbers the steps by their starts. */
static void order_steps(struct trace_steps *out, struct arena *a)
{
	size_t n = out->steps.n;
	const uint32_t *order = sort_order(a, n, compare_steps, out->steps.v);
	uint32_t *place = ARENA_ARRAY(a, n, uint32_t);
	struct trace_step *old = ARENA_ARRAY(a, n, struct trace_step);

	memcpy(old, out->steps.v, n * sizeof *old);
	for (uint32_t i = 0; i < n; i++) {
		out->steps.v[i] = old[order[i]];
		if (is_by_thread_run(out))
			imap_put(&out->by_run, zigzag(out->steps.v[i].id), i, true);
		if (out->by_start || is_by_thread_run(out))
			out->steps.v[i].id = i;
		place[order[i]] = i;
		imap_put(&out->by_id, zigzag(out->steps.v[i].id), i, true);
	}
	for (size_t i = 0; i < out->intervals.n; i++)
		out->intervals.v[i].step = place[out->intervals.v[i].step];
	sort_array(
	        a, out->intervals.v, out->intervals.n, sizeof *out->intervals.v, compare_intervals);
}

static void begin(const struct trace *t, struct trace_steps *out, struct arena *a)
{
	*out = (struct trace_steps){ .t = t };
	imap_init(&out->by_id, a);
	imap_init(&out->by_run, a);
}

static void add_whole(struct trace_steps *out, struct arena *a)
{
	struct trace_step all = { .name = ID_NONE };

	trace_window(out->t, &all.start, &all.end);
	VEC_PUSH(a, &out->steps, all);
}

/* Takes the guessed steps; their intervals apply to all devices. */
static void take_guesses(struct trace_steps *out, struct arena *a)
{
	const struct trace *t = out->t;

	if (t->guesses.n) {
		out->by = STEPS_BY_GUESS;
		out->by_start = true;
	}
	for (uint32_t i = 0; i < t->guesses.n; i++) {
		const struct trace_guess *g = &t->guesses.v[i];
		VEC_PUSH(a, &out->steps,
		        ((struct trace_step){
		                .id = i, .name = g->name, .start = g->start, .end = g->end }));
		VEC_PUSH(a, &out->intervals,
		        ((struct step_interval){ ID_NONE, ID_NONE, i, g->start, g->end }));
	}
}

/* Tries several ways to find steps, and uses the first that finds any. */
static void find_first(const struct trace *t, enum steps_by from, enum steps_by to,
        struct trace_steps *out, struct arena *a)
{
	begin(t, out, a);
	for (enum steps_by by = from; by <= to && !out->steps.n; by++)
		find_by(out, by, a);
	if (!out->steps.n)
		take_guesses(out, a);
	find_processes(out);
	if (out->by == STEPS_BY_SERVING)
		find_device_times(out, a);
	if (out->steps.n)
		order_steps(out, a);
	else
		add_whole(out, a);
}

void trace_one_step(const struct trace *t, struct trace_steps *out, struct arena *a)
{
	begin(t, out, a);
	add_whole(out, a);
}

void trace_find_steps(const struct trace *t, struct trace_steps *out, struct arena *a)
{
	if (t->sums) {
		*out = *t->sums->steps;
		return;
	}
	find_first(t, STEPS_BY_MARK, STEPS_BY_RUN, out, a);
}

void trace_find_served(const struct trace *t, struct trace_steps *out, struct arena *a)
{
	if (t->sums) { /* the work of the steps is not stored */
		trace_one_step(t, out, a);
		return;
	}
	find_first(t, STEPS_BY_SERVING, STEPS_BY_SERVING, out, a);
}
uint32_t trace_step_of(
        const struct trace_steps *s, const struct slice *slice, const struct launch *launch)
{
	const struct trace_track *k = &s->t->tracks.v[slice->track];
	uint32_t process = s->by_process ? k->process : ID_NONE, step;
	const struct step_interval *at = NULL;
	int64_t id;

	if (s->by == STEPS_UNKNOWN)
		return 0;
	if (!s->by_start &&
	        says_step(s->t, slice, s->by == STEPS_BY_RUN ? s->by : STEPS_BY_GROUP, &id) &&
	        imap_get(is_by_thread_run(s) ? &s->by_run : &s->by_id, zigzag(id), &step))
		return step;
	/* NOLINTNEXTLINE: all steps but unknown ones have intervals; those of devices are first */
	if (k->device != ID_NONE && s->intervals.v->device != ID_NONE)
		at = interval_at(s, k->device, ID_NONE, slice->start);
	if (!at)
		at = interval_at(s, ID_NONE, process, launch ? launch->start : slice->start);
	if (!at) {
		const struct step_interval *first = s->intervals.v;
		/* NOLINTNEXTLINE: all steps but unknown ones have intervals */
		at = interval_at(s, first->device, first->process, slice->start);
	}
	return at ? at->step : 0;
}

/* ---- steps with device work ---- */

void trace_steps_count_work(struct trace_steps *s)
{
	s->working = 0;
	for (size_t i = 0; i < s->steps.n; i++)
		s->working += s->steps.v[i].works;
}

void trace_steps_find_work(struct trace_steps *s, const struct trace_links *links)
{
	const struct trace *t = s->t;

	if (t->sums || s->by == STEPS_UNKNOWN) /* the sums have already found these steps */
		return;
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice w; slice_next(&it, &w);)
			if (slice_is_work(t, &w))
				s->steps.v[trace_step_of(
				                   s, &w, links ? link_launch(links, &w) : NULL)]
				        .works = true;
	}
	trace_steps_count_work(s);
}
