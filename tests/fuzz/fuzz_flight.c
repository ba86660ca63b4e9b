/* SPDX-License-Identifier: Apache-2.0
 *
 * Dumps of PyTorch's Flight Recorder: pickles and JSON. The input is read in one window and in
 * pieces, and then compared with itself as the dumps of two ranks.
 */
#include "trace.h"

#include "trace/pass/collectives.h"

/* Every call belongs to a rank and a group, and a dump differs from itself in nothing. */
static void compare(struct str bytes, struct arena *a)
{
	struct trace *t[2] = { trace_new(a), trace_new(a) };
	struct collectives x;

	for (int i = 0; i < 2; i++) {
		read_trace(read_flight, t[i], bytes, ARG_BITS_ALL, false, a);
		if (t[i]->processes.n)
			t[i]->processes.v[0].rank = i;
	}
	collectives_find((const struct trace *const *)t, 2, &x, a);
	for (size_t i = 0; i < x.calls.n; i++)
		if (x.calls.v[i].rank >= x.ranks.n || x.calls.v[i].group >= x.groups.n)
			abort();
	for (size_t i = 0; i < x.problems.n; i++)
		if (x.problems.v[i].group >= x.groups.n || x.problems.v[i].kind == PROBLEM_OP)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct arena a;

	fuzz_trace(read_flight, data, size);
	arena_init(&a, &work);
	if (!setjmp(work.escape))
		compare(str_make(data, size), &a);
	arena_free(&a);
	return 0;
}
