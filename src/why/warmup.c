/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow first steps. A step with more device work is longer, but not slow: the steps of a server
 * differ in the work that they launch. So only the time counts in which no device worked.
 */
#include "base/sort.h"
#include "why/why_internal.h"

#define STEPS_LEAST 3
#define SLOW_SHARE                                                                                 \
	0.25 /* a first step is slow if its time without work is longer than usual by              \
	        this share of the median step */

static int64_t length_of(const struct critical_window *w)
{
	return num_sub(w->to, w->from);
}

/* Returns the index of a chosen window in order of time, or SIZE_MAX. */
static size_t place_of(const struct why_scene *s, uint32_t node)
{
	const struct critical_window *w = why_window_around(s, node);

	return s->d->nodes.v[node].host || !w ? SIZE_MAX : (size_t)(w - s->windows);
}

/* Returns, for each step, its length without the mean time of its work on a device. */
static int64_t *find_rests(const struct why_scene *s, struct arena *a)
{
	int64_t *rests = ARENA_ARRAY(a, s->x->n_chosen, int64_t), devices = 0;
	bool *works = ARENA_ARRAY(a, s->t->devices.n, bool);

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		size_t step = place_of(s, i);
		if (step == SIZE_MAX)
			continue;
		rests[step] = num_sub(rests[step], n->end - n->start);
		works[s->t->tracks.v[n->track].device] = true;
	}
	for (size_t i = 0; i < s->t->devices.n; i++)
		devices += works[i];
	for (size_t i = 0; i < s->x->n_chosen; i++)
		rests[i] = num_add(length_of(&s->windows[i]), rests[i] / (devices ? devices : 1));
	return rests;
}

static int64_t median_of(const int64_t *v, size_t n, struct arena *a)
{
	return v[keysort_new(a, n, v)[(n - 1) / 2]];
}

/* Returns the advice that names the steps from a window on; NULL if a step before them has a number
 * in their range. */
static const char *advice_from(const struct why_scene *s, size_t first, struct arena *a)
{
	const struct trace_step *steps = s->x->marks->steps.v;
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (size_t i = first; i < s->x->n_chosen; i++) {
		int64_t id = steps[s->windows[i].step].id;
		low = id < low ? id : low;
		high = id > high ? id : high;
	}
	for (size_t i = 0; i < first; i++) {
		int64_t id = steps[s->windows[i].step].id;
		if (id >= low && id <= high)
			return NULL;
	}
	struct str text = str_fmt(a, "%s (-step %lld..%lld).",
	        s->t->source == TRACE_KINETO ? "Use torch.profiler.schedule(wait=1, warmup=3), or "
	                                       "leave the first steps out"
	                                     : "Leave the first steps out of the measurement",
	        (long long)low, (long long)high);
	return str_z(a, text);
}

void why_find_warmup(const struct why_scene *s, struct why_change *out)
{
	size_t n = s->x->n_chosen;
	int64_t *lengths = ARENA_ARRAY(out->a, n, int64_t);

	if (n < STEPS_LEAST) {
		out->reason = s->x->marks->by == STEPS_UNKNOWN ? S("no steps are marked")
		                                               : S("fewer than 3 steps");
		return;
	}
	for (size_t i = 0; i < n; i++)
		lengths[i] = length_of(&s->windows[i]);
	const int64_t *rests = find_rests(s, out->a);
	int64_t least = (int64_t)((double)median_of(lengths, n, out->a) * SLOW_SHARE);
	int64_t median = median_of(rests, n, out->a);
	size_t slow = 0;
	for (size_t i = 0; i < n / 2 && num_sub(rests[i], median) > least; i++, slow++) {
		struct why_place place = { .kind = "step",
			.name = str_fmt(out->a, "number %zu", i + 1),
			.ticks = num_sub(rests[i], median),
			.times = 1 };
		VEC_PUSH(out->a, &out->places, place);
		out->cost = num_add(out->cost, place.ticks);
	}
	out->saved = out->cost / (int64_t)n;
	if (slow)
		out->advice = advice_from(s, slow, out->a);
}
