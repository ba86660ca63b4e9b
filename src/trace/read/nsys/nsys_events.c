/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the call that recorded the CUDA event for which a synchronisation of an Nsight Systems
 * export waits. The export has records if the profiler ran with --cuda-event-trace=true.
 */
#include "trace/read/nsys/nsys_internal.h"

#include "base/sort.h"

enum { RECORD_STREAM, RECORD_CORRELATION, RECORD_PROCESS, RECORD_EVENT, RECORD_SYNC };
static const char *const columns[] = { "streamId", "correlationId", "globalPid", "eventId",
	"eventSyncId" };

static int by_event(const void *v, uint32_t a, uint32_t b)
{
	const struct nsys_record *x = (const struct nsys_record *)v + a,
	                         *y = (const struct nsys_record *)v + b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

void nsys_read_records(struct nsys *x)
{
	struct sqlite_rows *r = sqlite_in_rows(
	        x->db, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", columns, sizeof columns / sizeof *columns);

	while (r && sqlite_in_next(r)) {
		struct nsys_record made = { .process = sqlite_in_int(r, RECORD_PROCESS),
			.correlation = sqlite_in_int(r, RECORD_CORRELATION),
			.stream = sqlite_in_int(r, RECORD_STREAM) };
		/* Only eventSyncId distinguishes several records of one event. */
		made.event = sqlite_in_int(
		        r, sqlite_in_has(r, RECORD_SYNC) ? RECORD_SYNC : RECORD_EVENT);
		VEC_PUSH(x->a, &x->records, made);
	}
	sort_array(x->a, x->records.v, x->records.n, sizeof *x->records.v, by_event);
}

const struct nsys_record *nsys_find_record(
        const struct nsys *x, int64_t process, int64_t event, int64_t before)
{
	struct nsys_record v[2] = {
		[1] = { .process = process, .event = event, .correlation = before }
	};
	const struct nsys_record *found;
	size_t i;

	BISECT(i, 0, x->records.n, (v[0] = x->records.v[i], by_event(v, 0, 1) < 0));
	found = i ? &x->records.v[i - 1] : NULL;
	return found && found->process == process && found->event == event ? found : NULL;
}
