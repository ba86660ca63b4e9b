/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs the switches of each thread.
 */
#include "trace/read/thread_switches.h"

#include "base/sort.h"

#define NAME "(preempted)"

static int by_thread(const void *v, uint32_t a, uint32_t b)
{
	const struct thread_switch *x = (const struct thread_switch *)v + a,
	                           *y = (const struct thread_switch *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void thread_switches_put(struct thread_switches *x, struct trace_build *b, struct arena *a)
{
	build_scheduled(b);
	sort_array(a, x->v.v, x->v.n, sizeof *x->v.v, by_thread);
	for (size_t i = 1; i < x->v.n; i++) {
		const struct thread_switch *from = &x->v.v[i - 1], *to = &x->v.v[i];
		if (from->track != to->track || from->runs || !from->ready || !to->runs)
			continue;
		uint32_t event = build_event(b, CATEGORY_PREEMPTED, build_string(b, S(NAME)));
		build_slice(b, from->track, event, from->at, num_sub(to->at, from->at), 0);
	}
}
