/* SPDX-License-Identifier: Apache-2.0
 *
 * The times in which threads of an Nsight Systems export could run but had no CPU. The export has
 * them if the profiler ran with --cpuctxsw. It does not say when sleeping threads woke up.
 */
#include "trace/read/nsys/nsys_internal.h"
#include "trace/read/thread_switches.h"

/* States of threads that lose their CPU although they could run: values of
 * ENUM_SAMPLING_THREAD_STATE. */
#define STATE_RUNNING     1
#define STATE_UNSCHEDULED 6

enum { SWITCH_START, SWITCH_THREAD, SWITCH_IN, SWITCH_STATE, SWITCH_N };
static const char *const columns[SWITCH_N] = { "start", "globalTid", "isSchedIn", "threadState" };

/* Adds the switch of a row. Skips threads without other slices. */
static void take(struct nsys *x, struct sqlite_rows *r, struct thread_switches *to)
{
	int64_t state = sqlite_in_int(r, SWITCH_STATE);
	struct thread_switch made = { .at = sqlite_in_int(r, SWITCH_START),
		.runs = sqlite_in_int(r, SWITCH_IN) != 0,
		.ready = state == STATE_RUNNING || state == STATE_UNSCHEDULED };

	if (sqlite_in_null(r, SWITCH_START)) {
		x->timeless++;
		return;
	}
	x->rows++;
	if (imap_get(&x->threads, (uint64_t)sqlite_in_int(r, SWITCH_THREAD), &made.track))
		VEC_PUSH(x->a, &to->v, made);
}

void nsys_read_switches(struct nsys *x)
{
	struct sqlite_rows *r = sqlite_in_rows(x->db, NSYS_SWITCHES, columns, SWITCH_N);
	struct thread_switches all = { .v = { .n = 0 } };

	for (unsigned i = 0; r && i < SWITCH_N; i++)
		x->switches = sqlite_in_has(r, i) && (!i || x->switches);
	while (x->switches && sqlite_in_next(r))
		take(x, r, &all);
	if (x->switches)
		thread_switches_put(&all, x->b, x->a);
}
