/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the shortest sequence of calls that repeats on the busiest thread.
 */
#include "trace/pass/step_guess.h"

#include "trace/pass/nest.h"

#define LEVELS_MAX  6    /* levels of nesting that are tried, the outermost first */
#define CALLS_MAX   8000 /* a level with more calls is not tried: the time grows with the square */
#define REPEATS_MIN 3

struct repeated_call {
	uint32_t name;
	int64_t start;
};

struct level_calls {
	VEC(struct repeated_call) v;
};

/* Returns the thread with the most slices, or ID_NONE. */
static uint32_t busiest_thread(const struct trace *t)
{
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		if (k->device == ID_NONE && !k->derived && k->n &&
		        (found == ID_NONE || k->n > t->tracks.v[found].n))
			found = i;
	}
	return found;
}

/* Reads the calls of each level, at most CALLS_MAX + 1. */
static void read_levels(
        const struct trace *t, uint32_t track, struct level_calls *levels, struct arena *a)
{
	struct nest_level *level;
	enum nest_what what;
	struct nest n;

	nest_init(&n, t, track, NEST_ALL, a);
	while ((what = nest_next(&n, &level))) {
		if (what != NEST_OPEN || level->depth >= LEVELS_MAX)
			continue;
		struct level_calls *to = &levels[level->depth];
		if (to->v.n <= CALLS_MAX)
			VEC_PUSH(a, &to->v,
			        ((struct repeated_call){ level->s.name, level->s.start }));
	}
}

/* Finds the longest run of calls that are equal to the call `length` calls later. *begin: its first
 * call. */
static size_t longest_run(const struct level_calls *c, size_t length, size_t *begin)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i + length < c->v.n; i++) {
		run = c->v.v[i].name == c->v.v[i + length].name ? run + 1 : 0;
		if (run > longest) {
			longest = run;
			*begin = i + 1 - run;
		}
	}
	return longest;
}

/* window: ticks of the trace. */
static struct step_guess guess_level(const struct level_calls *c, int64_t window)
{
	for (size_t length = 1; length * REPEATS_MIN <= c->v.n; length++) {
		size_t begin = 0, calls = longest_run(c, length, &begin) + length;
		if (calls < length * REPEATS_MIN || 2 * calls <= c->v.n)
			continue;
		size_t times = calls / length, end = begin + (times - 1) * length;
		int64_t period =
		        num_sub(c->v.v[end].start, c->v.v[begin].start) / (int64_t)(times - 1);
		if (num_mul(period, (int64_t)times) > window / 2)
			return (struct step_guess){ length, times, c->v.v[begin].name,
				c->v.v[begin + length - 1].name, period };
	}
	return (struct step_guess){ .calls = 0 };
}

struct step_guess step_guess_of(const struct trace *t, struct arena *a)
{
	struct level_calls levels[LEVELS_MAX] = { { .v = { .n = 0 } } };
	struct step_guess found = { .calls = 0 };
	uint32_t track = busiest_thread(t);
	int64_t start, end;
	struct scratch own;

	if (track == ID_NONE)
		return found;
	trace_window(t, &start, &end);
	scratch_open(&own, a->work);
	read_levels(t, track, levels, &own.a);
	for (unsigned i = 0; i < LEVELS_MAX && !found.calls; i++)
		if (levels[i].v.n <= CALLS_MAX)
			found = guess_level(&levels[i], num_sub(end, start));
	scratch_close(&own);
	return found;
}
