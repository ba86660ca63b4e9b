/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of devices in an export of Nsight Systems: kernels, copies, sets, graphs, synchronisation;
 * devices and streams.
 */
#include "trace/nsys_internal.h"

/* ---- devices ---- */

/* Maps the device ids of each process to the device ids on the machine. */
void nsys_read_gpus(struct nsys *x)
{
	static const char *const columns[] = { "pid", "cudaId", "gpuId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "TARGET_INFO_CUDA_DEVICE", columns, 3);

	while (r && sqlite_in_next(r)) {
		uint64_t pid = (uint64_t)sqlite_in_int(r, 0) & 0xffffff;
		int64_t gpu = sqlite_in_int(r, 2);
		if (gpu >= 0 && gpu < UINT32_MAX)
			imap_put(&x->gpus, pid << 32 | (uint32_t)sqlite_in_int(r, 1), (uint32_t)gpu,
			        false);
	}
}

enum { GPU_ID, GPU_NAME, GPU_MEMORY, GPU_BANDWIDTH, GPU_UUID, GPU_N };

void nsys_describe_gpus(struct nsys *x)
{
	static const char *const columns[GPU_N] = { "id", "name", "totalMemory", "memoryBandwidth",
		"uuid" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "TARGET_INFO_GPU", columns, GPU_N);
	const struct trace *t = build_trace(x->b);

	while (r && sqlite_in_next(r))
		for (uint32_t i = 0; i < t->devices.n; i++) {
			struct trace_device *d = build_device_at(x->b, i);
			if (d->index != sqlite_in_int(r, GPU_ID))
				continue;
			if (!sqlite_in_null(r, GPU_NAME))
				d->model = build_string(x->b, sqlite_in_text(r, GPU_NAME));
			if (sqlite_in_text(r, GPU_UUID).n)
				d->uuid = build_string(x->b, sqlite_in_text(r, GPU_UUID));
			d->memory = sqlite_in_int(r, GPU_MEMORY);
			d->peak_bytes = (double)sqlite_in_int(r, GPU_BANDWIDTH);
		}
}

uint32_t nsys_stream(struct nsys *x, struct sqlite_rows *r)
{
	const int64_t key[] = { sqlite_in_int(r, WORK_PROCESS), sqlite_in_int(r, WORK_DEVICE),
		sqlite_in_int(r, WORK_STREAM) };
	size_t before = x->streams.n;

	if (before && memcmp(key, x->last_place, sizeof key) == 0)
		return x->stream_tracks.v[x->last_stream];
	uint32_t i = intern_add(&x->streams, str_make(key, sizeof key));

	if (x->streams.n != before) {
		uint64_t pid = (uint64_t)key[0] >> 24 & 0xffffff;
		int64_t gpu = key[1];
		uint32_t number;
		/* Old exports have one process and do not record its id. */
		uint32_t process = sqlite_in_has(r, WORK_PROCESS)        ? nsys_process(x, key[0])
		                   : build_trace(x->b)->processes.n == 1 ? 0
		                                                         : nsys_process(x, 0);
		if (imap_get(&x->gpus, pid << 32 | (uint32_t)key[1], &number))
			gpu = number;
		uint32_t d = build_device(x->b, ID_NONE, DEVICE_KIND_GPU, gpu,
		        str_fmt(x->a, "gpu:%lld", (long long)gpu));
		VEC_PUSH(x->a, &x->stream_tracks,
		        build_track(x->b, process, d, TRACK_STREAM, key[2]));
	}
	memcpy(x->last_place, key, sizeof key);
	x->last_stream = i;
	return x->stream_tracks.v[i];
}

/* Adds device work. node_column: has the id of the graph node. */
static void put_work(struct nsys *x, struct sqlite_rows *r, uint32_t event, int64_t start,
        int64_t length, unsigned node_column)
{
	int64_t node = x->sum ? 0 : sqlite_in_int(r, node_column);

	if (node)
		build_arg_int(x->b, ARG_GRAPH_NODE, node);
	nsys_put(x, nsys_stream(x, r), event, start, length, sqlite_in_int(r, WORK_CORRELATION));
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

/* Returns the event for the kernel of a row. Equal attributes share an event; for sums, equal names
 * do. */
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

enum { COPY_BYTES = WORK_N, COPY_KIND, COPY_NODE };

const char *const nsys_copy_columns[] = { NSYS_WORK_COLUMNS, "bytes", "copyKind", "graphNodeId",
	NULL };

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

enum { SYNC_TYPE = WORK_N };
const char *const nsys_sync_columns[] = { NSYS_WORK_COLUMNS, "syncType", NULL };

void nsys_take_sync(struct nsys *x, struct sqlite_rows *r, unsigned which)
{
	static const char *const names[] = { "synchronization", "event synchronize",
		"stream wait event", "stream synchronize", "context synchronize" };
	int64_t start, length, type = sqlite_in_int(r, SYNC_TYPE);

	(void)which;
	if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
		return;
	uint32_t event = build_event(x->b, CATEGORY_SYNC,
	        build_string(x->b, str_of(names[type > 0 && type < 5 ? type : 0])));
	nsys_put(x, nsys_stream(x, r), event, start, length, sqlite_in_int(r, WORK_CORRELATION));
}
