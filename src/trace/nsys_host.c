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

enum { CALL_START, CALL_END, CALL_THREAD, CALL_CORRELATION, CALL_NAME, CALL_RESULT, CALL_N };

/* Only CUDA's calls have correlations that its device work shares. */
static void read_calls(struct nsys *x, const char *table, bool cuda)
{
	static const char *const columns[CALL_N] = { "start", "end", "globalTid", "correlationId",
		"nameId", "returnValue" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, table, columns, CALL_N);
	const struct trace *t = build_trace(x->b);
	struct imap events; /* number of a name -> event */
	int64_t start, length, result;
	uint32_t event;

	imap_init(&events, x->a);
	while (r && sqlite_in_next(r)) {
		uint64_t id = (uint64_t)sqlite_in_int(r, CALL_NAME);
		if (!nsys_times(x, r, CALL_START, CALL_END, &start, &length))
			continue;
		if (!imap_get(&events, id, &event)) {
			struct str name = trace_str(t, nsys_name(x, (int64_t)id));
			event = build_event(
			        x->b, CATEGORY_CALL, build_string(x->b, without_version(name)));
			imap_put(&events, id, event, false);
		}
		result = sqlite_in_int(r, CALL_RESULT);
		if (result)
			build_arg_int(x->b, ARG_RESULT, result);
		build_slice(x->b, nsys_thread(x, sqlite_in_int(r, CALL_THREAD)), event, start,
		        length, cuda ? sqlite_in_int(r, CALL_CORRELATION) : 0);
	}
}

void nsys_read_calls(struct nsys *x)
{
	read_calls(x, "CUPTI_ACTIVITY_KIND_RUNTIME", true);
	read_calls(x, "CUPTI_ACTIVITY_KIND_DRIVER", true);
	read_calls(x, "CUDNN_EVENTS", false);
	read_calls(x, "CUBLAS_EVENTS", false);
	read_calls(x, "OSRT_API", false);
}

/* ---- overhead ---- */

enum { LOST_START, LOST_END, LOST_THREAD, LOST_NAME, LOST_N };

static void read_overhead(struct nsys *x, const char *table)
{
	static const char *const columns[LOST_N] = { "start", "end", "globalTid", "nameId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, table, columns, LOST_N);
	int64_t start, length;

	while (r && sqlite_in_next(r)) {
		if (!nsys_times(x, r, LOST_START, LOST_END, &start, &length))
			continue;
		uint32_t event = build_event(
		        x->b, CATEGORY_OVERHEAD, nsys_name(x, sqlite_in_int(r, LOST_NAME)));
		build_slice(x->b, nsys_thread(x, sqlite_in_int(r, LOST_THREAD)), event, start,
		        length, 0);
	}
}

void nsys_read_overhead(struct nsys *x)
{
	read_overhead(x, "CUPTI_ACTIVITY_KIND_OVERHEAD");
	read_overhead(x, "PROFILER_OVERHEAD");
}
