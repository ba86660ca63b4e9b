/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity of threads in an export of Nsight Systems: calls of CUDA and of other libraries, and the
 * overhead of the profiler itself.
 */
#include "trace/nsys_internal.h"

/* ---- calls ---- */

/* "cudaLaunchKernel_v7000" without its version. */
static struct str without_version(struct str s)
{
	size_t i = str_stem(s);

	return i < s.n && i > 2 && s.p[i - 1] == 'v' && s.p[i - 2] == '_' ? str_sub(s, 0, i - 2)
	                                                                  : s;
}

enum { CALL_START, CALL_END, CALL_THREAD, CALL_CORRELATION, CALL_NAME, CALL_RESULT };
const char *const nsys_call_columns[] = { "start", "end", "globalTid", "correlationId", "nameId",
	"returnValue", NULL };

void nsys_take_call(struct nsys *x, struct sqlite_rows *r, unsigned cuda)
{
	uint64_t id = (uint64_t)sqlite_in_int(r, CALL_NAME);
	int64_t start, length, result;
	uint32_t event;

	if (!nsys_times(x, r, CALL_START, CALL_END, &start, &length))
		return;
	if (!imap_get(&x->calls, id, &event)) {
		struct str name = trace_str(build_trace(x->b), nsys_name(x, (int64_t)id));
		event = build_event(x->b, CATEGORY_CALL, build_string(x->b, without_version(name)));
		imap_put(&x->calls, id, event, false);
	}
	result = x->sum ? 0 : sqlite_in_int(r, CALL_RESULT);
	if (result)
		build_arg_int(x->b, ARG_RESULT, result);
	nsys_put(x, nsys_thread(x, sqlite_in_int(r, CALL_THREAD)), event, start, length,
	        cuda ? sqlite_in_int(r, CALL_CORRELATION) : 0);
}

/* ---- overhead ---- */

enum { LOST_START, LOST_END, LOST_THREAD, LOST_NAME };
const char *const nsys_overhead_columns[] = { "start", "end", "globalTid", "nameId", NULL };

void nsys_take_overhead(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	int64_t start, length;

	(void)which;
	if (!nsys_times(x, r, LOST_START, LOST_END, &start, &length))
		return;
	uint32_t event =
	        build_event(x->b, CATEGORY_OVERHEAD, nsys_name(x, sqlite_in_int(r, LOST_NAME)));
	nsys_put(x, nsys_thread(x, sqlite_in_int(r, LOST_THREAD)), event, start, length, 0);
}
