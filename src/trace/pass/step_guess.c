/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the shortest sequence of calls that repeats on the busiest thread.
 */
#include "trace/pass/step_guess.h"

#include "trace/pass/nest.h"

#define LEVELS_MAX  6    /* maximum number of nesting levels that are tried, the outermost first */
#define CALLS_MAX   8000 /* levels with more calls are not tried: the time grows with the square */
#define REPEATS_MIN 3

struct repeated_call {
	uint32_t name;
	int64_t start, end;
	uint32_t before, updates; /* number of calls of the thread before this call, and of
	                             optimizer steps */
};

struct level_calls {
	VEC(struct repeated_call) v;
};

/* The calls of a thread. */
struct thread_calls {
	struct level_calls levels[LEVELS_MAX];
	uint32_t n, updates; /* number of all calls, and of optimizer steps */
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

/* True for the range that PyTorch opens around an optimizer step. */
static bool is_update(const struct trace *t, const struct slice *s)
{
	return str_starts(trace_str(t, s->name), S("Optimizer.step#"));
}

/* Reads the calls of each level, at most CALLS_MAX + 1. */
static void read_levels(
        const struct trace *t, uint32_t track, struct thread_calls *to, struct arena *a)
{
	struct nest_level *level;
	enum nest_what what;
	struct nest n;

	nest_init(&n, t, track, NEST_ALL, a);
	while ((what = nest_next(&n, &level))) {
		if (what != NEST_OPEN)
			continue;
		const struct slice *s = &level->s;
		struct repeated_call made = { s->name, s->start, slice_end(s), to->n, to->updates };
		to->n++;
		to->updates += is_update(t, s);
		if (level->depth < LEVELS_MAX && to->levels[level->depth].v.n <= CALLS_MAX)
			VEC_PUSH(a, &to->levels[level->depth].v, made);
	}
}

/* Finds the longest run of calls in which each call equals the call `length` calls later. Sets
 * *begin to its first call. */
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

/* True if the repetitions contain most of the calls of the thread and, if there are optimizer
 * steps, one optimizer step each. end: index of the call after the last repetition. */
static bool is_most(const struct thread_calls *all, const struct level_calls *c, size_t begin,
        size_t end, size_t length)
{
	const struct repeated_call *v = c->v.v;
	uint32_t calls = (end < c->v.n ? v[end].before : all->n) - v[begin].before;

	for (size_t i = begin; all->updates && i < end; i += length) {
		uint32_t until = i + length < c->v.n ? v[i + length].updates : all->updates;
		if (until == v[i].updates)
			return false;
	}
	return calls > all->n / 2;
}

static int64_t *starts_of(
        const struct level_calls *c, size_t begin, size_t length, size_t times, struct arena *a)
{
	const struct repeated_call *v = c->v.v;
	int64_t *starts = ARENA_ARRAY(a, times + 1, int64_t);
	size_t end = begin + times * length;

	for (size_t i = 0; i < times; i++)
		starts[i] = v[begin + i * length].start;
	starts[times] = end < c->v.n ? v[end].start : v[end - 1].end;
	return starts;
}

/* window: ticks of the trace. */
static struct step_guess guess_level(
        const struct thread_calls *all, unsigned level, int64_t window, struct arena *a)
{
	const struct level_calls *c = &all->levels[level];

	for (size_t length = 1; length * REPEATS_MIN <= c->v.n; length++) {
		size_t begin = 0, calls = longest_run(c, length, &begin) + length;
		if (calls < length * REPEATS_MIN || 2 * calls <= c->v.n)
			continue;
		size_t times = calls / length, last = begin + (times - 1) * length;
		int64_t period =
		        num_sub(c->v.v[last].start, c->v.v[begin].start) / (int64_t)(times - 1);
		if (num_mul(period, (int64_t)times) > window / 2 &&
		        is_most(all, c, begin, last + length, length))
			return (struct step_guess){ length, times, c->v.v[begin].name,
				c->v.v[begin + length - 1].name, period,
				starts_of(c, begin, length, times, a) };
	}
	return (struct step_guess){ .calls = 0 };
}

struct step_guess step_guess_of(const struct trace *t, struct arena *a)
{
	struct thread_calls calls = { .n = 0 };
	struct step_guess found = { .calls = 0 };
	uint32_t track = busiest_thread(t);
	int64_t start, end;
	struct scratch own;

	if (track == ID_NONE)
		return found;
	trace_window(t, &start, &end);
	scratch_open(&own, a->work);
	read_levels(t, track, &calls, &own.a);
	for (unsigned i = 0; i < LEVELS_MAX && !found.calls; i++)
		if (calls.levels[i].v.n <= CALLS_MAX)
			found = guess_level(&calls, i, num_sub(end, start), a);
	scratch_close(&own);
	return found;
}
