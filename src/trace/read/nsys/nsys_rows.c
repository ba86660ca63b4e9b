/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of an Nsight Systems export: kernels, copies, sets, graphs and synchronisation on
 * devices; calls of CUDA and of other libraries, and the overhead of the profiler, on threads.
 */
#include "trace/read/nsys/nsys_internal.h"

/* ---- work ---- */

/* Adds device work. node_column: column with the id of the graph node. */
static void put_work(struct nsys *x, struct sqlite_rows *r, uint32_t event, int64_t start,
        int64_t length, unsigned node_column)
{
	int64_t node = x->sum ? 0 : sqlite_in_int(r, node_column);

	if (node)
		build_arg_int(x->b, ARG_GRAPH_NODE, node);
	x->put(x, nsys_stream(x, r, true), event, start, length,
	        sqlite_in_int(r, WORK_CORRELATION));
}

/* ---- kernels ---- */

enum {
	KERNEL_NAME = WORK_N,
	KERNEL_SHORT,
	KERNEL_MANGLED,
	KERNEL_CONTEXT,
	KERNEL_REGISTERS,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_STATIC = KERNEL_BLOCK + 3,
	KERNEL_DYNAMIC,
	KERNEL_N,
	KERNEL_NODE = KERNEL_N
};

static void put_launch_size(struct nsys *x, const int64_t *v)
{
	build_arg_int(x->b, ARG_CONTEXT, v[KERNEL_CONTEXT]);
	build_arg_triple(x->b, ARG_GRID, v + KERNEL_GRID);
	build_arg_triple(x->b, ARG_BLOCK, v + KERNEL_BLOCK);
	build_arg_int(x->b, ARG_REGISTERS, v[KERNEL_REGISTERS]);
	build_arg_int(x->b, ARG_STATIC_SHARED, v[KERNEL_STATIC]);
	build_arg_int(x->b, ARG_DYNAMIC_SHARED, v[KERNEL_DYNAMIC]);
}

/* Returns the event for the kernel of a row. Kernels with equal attributes share an event; for
 * sums, kernels with equal names do. */
static uint32_t kernel_event(struct nsys *x, struct sqlite_rows *r)
{
	int64_t v[KERNEL_N] = { 0 };
	size_t before = x->kernels.n;

	unsigned n = x->sum ? KERNEL_CONTEXT : KERNEL_N;
	for (unsigned i = WORK_N; i < n; i++)
		v[i] = sqlite_in_int(r, i);
	uint32_t i = intern_add(&x->kernels, str_make(v + WORK_N, (n - WORK_N) * sizeof *v));
	if (x->kernels.n == before)
		return x->kernel_events.v[i];
	unsigned full = sqlite_in_has(r, KERNEL_NAME)    ? KERNEL_NAME
	                : sqlite_in_has(r, KERNEL_SHORT) ? KERNEL_SHORT
	                                                 : KERNEL_MANGLED;
	uint32_t name = nsys_name(x, v[full]);
	if (sqlite_in_has(r, KERNEL_SHORT))
		build_arg_text(x->b, ARG_SHORT_NAME,
		        trace_str(build_trace(x->b), nsys_name(x, v[KERNEL_SHORT])));
	if (!x->sum)
		put_launch_size(x, v);
	uint32_t event = build_event(x->b, CATEGORY_KERNEL, name);
	VEC_PUSH(x->a, &x->kernel_events, event);
	return event;
}

const char *const nsys_kernel_columns[] = { NSYS_WORK_COLUMNS, "demangledName", "shortName",
	"mangledName", "contextId", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
	"blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphNodeId", NULL };

void nsys_take_kernel(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	int64_t start, length;

	(void)which;
	if (nsys_times(x, r, WORK_START, WORK_END, &start, &length))
		put_work(x, r, kernel_event(x, r), start, length, KERNEL_NODE);
}

/* ---- other work ---- */

static const char *copy_name(int64_t kind)
{
	static const char *const names[] = { "Memcpy", "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
		"Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD",
		"Memcpy HtoH", "Memcpy PtoP", "Memcpy unified HtoD", "Memcpy unified DtoH",
		"Memcpy unified DtoD" };

	return kind > 0 && kind < (int64_t)(sizeof names / sizeof *names) ? names[kind] : names[0];
}

enum { COPY_BYTES = WORK_N, COPY_KIND, COPY_NODE, COPY_FROM, COPY_TO };

#define MEMORY_PAGEABLE 0 /* value of ENUM_CUDA_MEM_KIND */

const char *const nsys_copy_columns[] = { NSYS_WORK_COLUMNS, "bytes", "copyKind", "graphNodeId",
	"srcKind", "dstKind", NULL };

void nsys_take_copy(struct nsys *x, struct sqlite_rows *r, unsigned set)
{
	int64_t start, length;

	if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
		return;
	const char *name = set ? "Memset" : copy_name(sqlite_in_int(r, COPY_KIND));
	uint32_t event = build_event(
	        x->b, set ? CATEGORY_SET : CATEGORY_COPY, build_string(x->b, str_of(name)));
	x->bytes = sqlite_in_int(r, COPY_BYTES);
	build_arg_int(x->b, ARG_BYTES, x->bytes);
	/* For sums, only the first columns are read. */
	if (!x->sum && !set && !sqlite_in_null(r, COPY_FROM) && !sqlite_in_null(r, COPY_TO))
		build_arg_int(x->b, ARG_PAGEABLE,
		        sqlite_in_int(r, COPY_FROM) == MEMORY_PAGEABLE ||
		                sqlite_in_int(r, COPY_TO) == MEMORY_PAGEABLE);
	put_work(x, r, event, start, length, COPY_NODE);
}

enum { GRAPH_ID = WORK_N, GRAPH_NODE };
const char *const nsys_graph_columns[] = { NSYS_WORK_COLUMNS, "graphId", "graphNodeId", NULL };

void nsys_take_graph(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	int64_t start, length, id = sqlite_in_int(r, GRAPH_ID);
	uint32_t event;

	(void)which;
	if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
		return;
	if (!imap_get(&x->graphs, (uint64_t)id, &event)) {
		struct str name = str_fmt(x->a, "CUDA graph %lld", (long long)id);
		event = build_event(x->b, CATEGORY_KERNEL, build_string(x->b, name));
		imap_put(&x->graphs, (uint64_t)id, event, false);
	}
	put_work(x, r, event, start, length, GRAPH_NODE);
}

enum { NODE_START, NODE_THREAD, NODE_ID, NODE_ORIGINAL, NODE_N };

void nsys_read_nodes(struct nsys *x)
{
	static const char *const columns[] = { "start", "globalTid", "graphNodeId",
		"originalGraphNodeId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "CUDA_GRAPH_NODE_EVENTS", columns, NODE_N);

	while (r && sqlite_in_next(r))
		if (sqlite_in_has(r, NODE_THREAD))
			build_creation(
			        x->b, &(struct build_creation){ sqlite_in_int(r, NODE_ID),
			                      sqlite_in_int(r, NODE_ORIGINAL),
			                      sqlite_in_int(r, NODE_START),
			                      nsys_thread(x, sqlite_in_int(r, NODE_THREAD)) });
}

enum { SYNC_TYPE = WORK_N, SYNC_EVENT, SYNC_ID };
const char *const nsys_sync_columns[] = { NSYS_WORK_COLUMNS, "syncType", "eventId", "eventSyncId",
	NULL };

/* Adds the stream and the call that recorded the event for which a row waits. */
static void put_record(struct nsys *x, struct sqlite_rows *r)
{
	int64_t event = sqlite_in_int(r, sqlite_in_has(r, SYNC_ID) ? SYNC_ID : SYNC_EVENT);
	const struct nsys_record *record = nsys_find_record(
	        x, sqlite_in_int(r, WORK_PROCESS), event, sqlite_in_int(r, WORK_CORRELATION));

	if (!record)
		return;
	build_arg_int(x->b, ARG_WAIT_STREAM, record->stream);
	build_arg_int(x->b, ARG_WAIT_RECORD, record->correlation);
}

void nsys_take_sync(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	static const char *const names[] = { "synchronization", "event synchronize",
		"stream wait event", "stream synchronize", "context synchronize" };
	enum { EVENT_WAIT = 1, STREAM_WAIT = 2 };
	int64_t start, length, type = sqlite_in_int(r, SYNC_TYPE);

	(void)which;
	if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
		return;
	uint32_t event = build_event(x->b, CATEGORY_SYNC,
	        build_string(x->b, str_of(names[type > 0 && type < 5 ? type : 0])));
	if (!x->sum && (type == EVENT_WAIT || type == STREAM_WAIT))
		put_record(x, r);
	x->put(x, nsys_stream(x, r, false), event, start, length,
	        sqlite_in_int(r, WORK_CORRELATION));
}

/* ---- calls ---- */

/* Returns "cudaLaunchKernel" for "cudaLaunchKernel_v7000". */
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
	x->put(x, nsys_thread(x, sqlite_in_int(r, CALL_THREAD)), event, start, length,
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
	x->put(x, nsys_thread(x, sqlite_in_int(r, LOST_THREAD)), event, start, length, 0);
}
