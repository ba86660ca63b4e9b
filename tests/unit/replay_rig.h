/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays of traces that a test builds by hand, and of random ones.
 */
#ifndef TFPROF_TESTS_REPLAY_RIG_H
#define TFPROF_TESTS_REPLAY_RIG_H

#include "build_rig.h"

#include <stdlib.h>

#include "trace/pass/replay.h"

/* Seals the trace and opens its replay, of which there is one at a time. */
static inline void open_replay(struct rig *r, struct replay *x)
{
	static struct trace_links links;
	static struct trace_steps steps;

	build_seal(r->b);
	links = (struct trace_links){ 0 };
	steps = (struct trace_steps){ 0 };
	trace_link(r->t, &links, &unit_arena);
	trace_find_steps(r->t, &steps, &unit_arena);
	replay_open(r->t, &links, &steps, x, &unit_arena);
}

/* Appends a kernel that a synchronisation waits for, and one that is launched after it. */
static inline void rig_append_wait(struct rig *r)
{
	rig_slice(r, r->thread, CATEGORY_CALL, "cudaLaunchKernel", 0, 10, 1);
	rig_slice(r, r->thread, CATEGORY_CALL, "cudaDeviceSynchronize", 10, 110, 0);
	rig_slice(r, r->thread, CATEGORY_OP, "a", 120, 40, 0);
	rig_slice(r, r->thread, CATEGORY_CALL, "cudaLaunchKernel", 150, 5, 2);
	rig_slice(r, r->stream[0], CATEGORY_KERNEL, "k1", 5, 110, 1);
	rig_slice(r, r->stream[0], CATEGORY_KERNEL, "k2", 155, 10, 2);
}

/* Appends ops, calls and work of three threads, two streams and a line, in no order. */
static inline void rig_append_random(struct rig *r, unsigned seed)
{
	static const char *const calls[] = { "cudaLaunchKernel", "cudaMemcpyAsync",
		"cudaStreamSynchronize", "cudaFree", "cudaDeviceSynchronize" };
	uint32_t threads[3] = { r->thread };

	srand(seed);
	for (int i = 1; i < 3; i++)
		threads[i] = build_track(
		        r->b, r->t->tracks.v[r->thread].process, ID_NONE, TRACK_THREAD, 10 + i);
	for (int i = 1; i < 200; i++) {
		uint32_t thread = threads[rand() % 3];
		int64_t at = rand() % 3000;
		rig_slice(r, thread, rand() % 2 ? CATEGORY_OP : CATEGORY_FRAME,
		        rand() % 9 ? "op" : "wait", rand() % 3000, rand() % 300, 0);
		rig_slice(r, thread, CATEGORY_CALL, calls[rand() % 5], at, rand() % 40,
		        rand() % 4 ? i : 0);
		if (rand() % 3)
			rig_slice(r, r->stream[rand() % 2], CATEGORY_KERNEL, "k",
			        at - 5 + rand() % 60, rand() % 50, rand() % 8 ? i : 1000 + i);
		if (rand() % 20 == 0)
			rig_slice(r, r->line, CATEGORY_OP, "fusion", rand() % 3000, rand() % 80, 0);
	}
}

#endif
