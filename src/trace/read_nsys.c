/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports of Nsight Systems in SQLite, schema 2.9 to 3.25: a table for each kind of event, whose
 * names are numbers of StringIds. Tables and columns are looked up by name; any may be missing.
 *
 *   globalTid   machine << 48 | pid << 24 | thread
 *   globalPid   globalTid without the thread
 *
 * Only names that an event has are read: the strings also hold the environment of the program.
 */
#include "trace/trace_build.h"

#include "trace/nsys_internal.h"

/* ---- names, processes, threads ---- */

/* Where numbers of names are not the table's key: all names at once. */
static void read_all_names(struct nsys *x)
{
	static const char *const columns[] = { "id", "value" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "StringIds", columns, 2);

	while (r && sqlite_in_next(r))
		imap_put(&x->name_of, (uint64_t)sqlite_in_int(r, 0),
		        build_string(x->b, sqlite_in_text(r, 1)), false);
}

uint32_t nsys_name(struct nsys *x, int64_t id)
{
	uint32_t name;

	if (imap_get(&x->name_of, (uint64_t)id, &name))
		return name;
	if (x->by_id && sqlite_in_seek(x->by_id, id))
		name = build_string(x->b, sqlite_in_text(x->by_id, 0));
	else
		name = build_string(x->b, str_fmt(x->a, "(string %lld)", (long long)id));
	imap_put(&x->name_of, (uint64_t)id, name, false);
	return name;
}

uint32_t nsys_process(struct nsys *x, int64_t global)
{
	uint64_t key = (uint64_t)global >> 24;
	int64_t pid = (int64_t)(key & 0xffffff);
	uint32_t process;

	if (imap_get(&x->processes, key, &process))
		return process;
	if (imap_get(&x->pids, (uint64_t)pid, &process))
		process = build_process_named(
		        x->b, str_fmt(x->a, "%lld of machine %llu", (long long)pid,
		                      (unsigned long long)(key >> 24)));
	else
		process = build_process(x->b, pid);
	imap_put(&x->pids, (uint64_t)pid, process, false);
	imap_put(&x->processes, key, process, false);
	return process;
}

uint32_t nsys_thread(struct nsys *x, int64_t global)
{
	uint32_t track;

	if (imap_get(&x->threads, (uint64_t)global, &track))
		return track;
	track = build_track(
	        x->b, nsys_process(x, global), ID_NONE, TRACK_THREAD, global & 0xffffff);
	imap_put(&x->threads, (uint64_t)global, track, false);
	return track;
}

bool nsys_times(struct nsys *x, struct sqlite_rows *r, unsigned start, unsigned end, int64_t *from,
        int64_t *length)
{
	*from = sqlite_in_int(r, start);
	*length = num_sub(sqlite_in_int(r, end), *from);
	if (sqlite_in_null(r, start)) {
		x->timeless++;
		return false;
	}
	if (sqlite_in_null(r, end)) {
		x->endless++;
		*length = 0;
	}
	if (num_add(*from, *length) > x->last)
		x->last = num_add(*from, *length);
	x->rows++;
	return true;
}

static void name_processes(struct nsys *x)
{
	static const char *const processes[] = { "globalPid", "name" };
	static const char *const threads[] = { "globalTid", "nameId" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "PROCESSES", processes, 2);
	uint32_t id;

	while (r && sqlite_in_next(r))
		if (imap_get(&x->processes, (uint64_t)sqlite_in_int(r, 0) >> 24, &id) &&
		        !sqlite_in_null(r, 1))
			build_process_at(x->b, id)->name = build_string(x->b, sqlite_in_text(r, 1));
	r = sqlite_in_rows(x->db, "ThreadNames", threads, 2);
	while (r && sqlite_in_next(r))
		if (imap_get(&x->threads, (uint64_t)sqlite_in_int(r, 0), &id))
			build_track_at(x->b, id)->name = nsys_name(x, sqlite_in_int(r, 1));
}

/* ---- devices ---- */

/* A process numbers the GPUs that it sees; this finds the number of each on the machine. */
static void read_gpu_numbers(struct nsys *x)
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

static void describe_gpus(struct nsys *x)
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

/* The columns of all device work, first in each of its tables. */
#define WORK_COLUMNS                                                                               \
	"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",         \
	        "graphNodeId"
enum {
	WORK_START,
	WORK_END,
	WORK_DEVICE,
	WORK_CONTEXT,
	WORK_STREAM,
	WORK_CORRELATION,
	WORK_PROCESS,
	WORK_NODE,
	WORK_N
};

/* The stream of a row. */
static uint32_t stream_of(struct nsys *x, struct sqlite_rows *r)
{
	const int64_t key[] = { sqlite_in_int(r, WORK_PROCESS), sqlite_in_int(r, WORK_DEVICE),
		sqlite_in_int(r, WORK_STREAM) };
	size_t before = x->streams.n;
	uint32_t i = intern_add(&x->streams, str_make(key, sizeof key));

	if (x->streams.n != before) {
		uint64_t pid = (uint64_t)key[0] >> 24 & 0xffffff;
		int64_t gpu = key[1];
		uint32_t number;
		/* An old export has one process and does not name it. */
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
	return x->stream_tracks.v[i];
}

static void put_work(
        struct nsys *x, struct sqlite_rows *r, uint32_t event, int64_t start, int64_t length)
{
	int64_t node = sqlite_in_int(r, WORK_NODE);

	if (node)
		build_arg_int(x->b, ARG_GRAPH_NODE, node);
	build_slice(
	        x->b, stream_of(x, r), event, start, length, sqlite_in_int(r, WORK_CORRELATION));
}

/* ---- kernels ---- */

enum {
	KERNEL_NAME = WORK_N,
	KERNEL_SHORT,
	KERNEL_MANGLED,
	KERNEL_REGISTERS,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_STATIC = KERNEL_BLOCK + 3,
	KERNEL_DYNAMIC,
	KERNEL_N
};

static void put_triple(struct nsys *x, uint32_t key, const int64_t *v)
{
	build_arg_text(x->b, key,
	        str_fmt(x->a, "%lld,%lld,%lld", (long long)v[0], (long long)v[1], (long long)v[2]));
}

/* The event of a kernel, by all of its numbers. */
static uint32_t kernel_event(struct nsys *x, struct sqlite_rows *r)
{
	int64_t v[KERNEL_N] = { [WORK_CONTEXT] = sqlite_in_int(r, WORK_CONTEXT) };
	size_t before = x->kernels.n;

	for (unsigned i = WORK_N; i < KERNEL_N; i++)
		v[i] = sqlite_in_int(r, i);
	uint32_t i = intern_add(&x->kernels, str_make(v, sizeof v));
	if (x->kernels.n == before)
		return x->kernel_events.v[i];
	unsigned full = sqlite_in_has(r, KERNEL_NAME)    ? KERNEL_NAME
	                : sqlite_in_has(r, KERNEL_SHORT) ? KERNEL_SHORT
	                                                 : KERNEL_MANGLED;
	uint32_t name = nsys_name(x, v[full]);
	if (sqlite_in_has(r, KERNEL_SHORT))
		build_arg_text(x->b, ARG_SHORT_NAME,
		        trace_str(build_trace(x->b), nsys_name(x, v[KERNEL_SHORT])));
	build_arg_int(x->b, ARG_CONTEXT, v[WORK_CONTEXT]);
	put_triple(x, ARG_GRID, v + KERNEL_GRID);
	put_triple(x, ARG_BLOCK, v + KERNEL_BLOCK);
	build_arg_int(x->b, ARG_REGISTERS, v[KERNEL_REGISTERS]);
	build_arg_int(x->b, ARG_STATIC_SHARED, v[KERNEL_STATIC]);
	build_arg_int(x->b, ARG_DYNAMIC_SHARED, v[KERNEL_DYNAMIC]);
	uint32_t event = build_event(x->b, CATEGORY_KERNEL, name);
	VEC_PUSH(x->a, &x->kernel_events, event);
	return event;
}

static void read_kernels(struct nsys *x)
{
	static const char *const columns[KERNEL_N] = { WORK_COLUMNS, "demangledName", "shortName",
		"mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY",
		"blockZ", "staticSharedMemory", "dynamicSharedMemory" };
	struct sqlite_rows *r =
	        sqlite_in_rows(x->db, "CUPTI_ACTIVITY_KIND_KERNEL", columns, KERNEL_N);
	int64_t start, length;

	while (r && sqlite_in_next(r))
		if (nsys_times(x, r, WORK_START, WORK_END, &start, &length))
			put_work(x, r, kernel_event(x, r), start, length);
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

enum { COPY_BYTES = WORK_N, COPY_KIND, COPY_N };

static void read_copies(struct nsys *x)
{
	static const char *const columns[COPY_N] = { WORK_COLUMNS, "bytes", "copyKind" };
	static const char *const tables[] = { "CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET" };
	int64_t start, length;

	for (unsigned i = 0; i < 2; i++) {
		struct sqlite_rows *r = sqlite_in_rows(x->db, tables[i], columns, COPY_N);
		while (r && sqlite_in_next(r)) {
			if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
				continue;
			const char *name = i ? "Memset" : copy_name(sqlite_in_int(r, COPY_KIND));
			uint32_t event = build_event(x->b, i ? CATEGORY_SET : CATEGORY_COPY,
			        build_string(x->b, str_of(name)));
			build_arg_int(x->b, ARG_BYTES, sqlite_in_int(r, COPY_BYTES));
			put_work(x, r, event, start, length);
		}
	}
}

enum { GRAPH_ID = WORK_N, GRAPH_N };

/* Graphs that were recorded as a whole. */
static void read_graphs(struct nsys *x)
{
	static const char *const columns[GRAPH_N] = { WORK_COLUMNS, "graphId" };
	struct sqlite_rows *r =
	        sqlite_in_rows(x->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, GRAPH_N);
	int64_t start, length;

	while (r && sqlite_in_next(r)) {
		if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
			continue;
		struct str name =
		        str_fmt(x->a, "CUDA graph %lld", (long long)sqlite_in_int(r, GRAPH_ID));
		put_work(x, r, build_event(x->b, CATEGORY_KERNEL, build_string(x->b, name)), start,
		        length);
	}
}

enum { SYNC_TYPE = WORK_N, SYNC_N };

static void read_syncs(struct nsys *x)
{
	static const char *const columns[SYNC_N] = { WORK_COLUMNS, "syncType" };
	static const char *const names[] = { "synchronization", "event synchronize",
		"stream wait event", "stream synchronize", "context synchronize" };
	struct sqlite_rows *r =
	        sqlite_in_rows(x->db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns, SYNC_N);
	int64_t start, length;

	while (r && sqlite_in_next(r)) {
		int64_t type = sqlite_in_int(r, SYNC_TYPE);
		if (!nsys_times(x, r, WORK_START, WORK_END, &start, &length))
			continue;
		uint32_t event = build_event(x->b, CATEGORY_SYNC,
		        build_string(x->b, str_of(names[type > 0 && type < 5 ? type : 0])));
		build_slice(x->b, stream_of(x, r), event, start, length,
		        sqlite_in_int(r, WORK_CORRELATION));
	}
}

/* ---- the file ---- */

/* Reads the producer, and the start time of the recording. */
static void read_origin(struct nsys *x)
{
	static const char *const pairs[] = { "name", "value" };
	static const char *const begin[] = { "utcEpochNs" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "META_DATA_EXPORT", pairs, 2);
	struct str product = S(""), schema = S("");

	if (!r)
		r = sqlite_in_rows(x->db, "EXPORT_META_DATA", pairs, 2);
	while (r && sqlite_in_next(r)) {
		if (str_eq(sqlite_in_text(r, 0), S("EXPORT_PRODUCT_VERSION")))
			product = str_copy(x->a, sqlite_in_text(r, 1));
		if (str_eq(sqlite_in_text(r, 0), S("EXPORT_SCHEMA_VERSION")))
			schema = str_copy(x->a, sqlite_in_text(r, 1));
	}
	build_producer(x->b, str_fmt(x->a, "Nsight Systems%s%.*s%s%.*s", product.n ? " " : "",
	                             STR(product), schema.n ? ", schema " : "", STR(schema)));
	build_origin(x->b, 0, false);
	r = sqlite_in_rows(x->db, "TARGET_INFO_SESSION_START_TIME", begin, 1);
	while (r && sqlite_in_next(r))
		if (sqlite_in_int(r, 0) > 0)
			build_origin(x->b, sqlite_in_int(r, 0), true);
}

/* Tables of events that become no slices. */
static void count_unused(struct nsys *x)
{
	static const char *const tables[] = { "SCHED_EVENTS", "COMPOSITE_EVENTS", "GPU_METRICS",
		"NET_NIC_METRIC", "CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_GRAPH_EVENTS",
		"CUDA_GRAPH_NODE_EVENTS", "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
		"CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
		"DIAGNOSTIC_EVENT", "GENERIC_EVENTS", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS",
		"MPI_OTHER_EVENTS", "OPENMP_EVENT_KIND_PARALLEL", "OSRT_CALLCHAINS",
		"PERF_EVENT_CPU_CORE_EVENT", "SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS", "SYSCALL",
		"UNKNOWN_EVENTS", "VULKAN_API", "GPU_CONTEXT_SWITCH_EVENTS" };
	struct sb b = sb_in(x->a);
	size_t refused;
	struct strs there = sqlite_in_tables(x->db, &refused);

	for (size_t i = 0; i < there.n; i++)
		for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
			if (!str_eq(there.v[i], str_of(tables[k])))
				continue;
			int64_t rows = sqlite_in_last_row(x->db, there.v[i]);
			src_count_unused(
			        x->s, str_fmt(x->a, "rows of %s", tables[k]), (uint64_t)rows);
			if (rows)
				sb_fmt(&b, "%s%s (%lld)", b.n ? ", " : "", tables[k],
				        (long long)rows);
		}
	if (b.n)
		note_line(build_notes(x->b), "note: events that are not used: %.*s\n",
		        STR(sb_str(&b)));
	src_count_unused(x->s, S("views, triggers and virtual tables"), refused);
	if (refused)
		note_line(build_notes(x->b),
		        "note: %zu views, triggers and virtual tables are not read\n", refused);
}

static void add_notes(struct nsys *x)
{
	struct notes *to = build_notes(x->b);

	if (sqlite_in_pending(x->db))
		note_line(to,
		        "note: '%.*s-wal' has %llu bytes of changes that are not in the database: "
		        "they "
		        "are not read\n",
		        STR(x->s->name), (unsigned long long)sqlite_in_pending(x->db));
	src_count_unused(x->s, S("rows without a start"), x->timeless);
	if (x->timeless)
		note_line(to, "note: %llu rows have no start: they are left out\n",
		        (unsigned long long)x->timeless);
	if (x->endless)
		note_line(to, "note: %llu rows have no end: they take no time\n",
		        (unsigned long long)x->endless);
}

int sniff_nsys(struct str head, struct str path)
{
	static const char *const tables[] = { "StringIds", "CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS",
		"TARGET_INFO_" };

	(void)path;
	if (!str_starts(head, S(SQLITE_IN_MAGIC "\0")))
		return 0;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (str_contains(head, str_of(tables[i])))
			return 100;
	return 60;
}

static bool read_tables(struct nsys *x)
{
	x->by_id = sqlite_in_by_key(x->db, "StringIds", "id", "value");
	if (!x->by_id)
		read_all_names(x);
	read_origin(x);
	read_gpu_numbers(x);
	nsys_read_calls(x);
	read_kernels(x);
	read_copies(x);
	read_graphs(x);
	read_syncs(x);
	if (!nsys_read_ranges(x))
		return false;
	nsys_read_overhead(x);
	nsys_close_ranges(x);
	name_processes(x);
	describe_gpus(x);
	count_unused(x);
	return true;
}

bool read_nsys(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct nsys *x = ARENA_NEW(a, struct nsys);

	*x = (struct nsys){ .s = s, .b = b, .a = a, .e = e };
	imap_init(&x->name_of, a);
	imap_init(&x->processes, a);
	imap_init(&x->pids, a);
	imap_init(&x->threads, a);
	imap_init(&x->gpus, a);
	intern_init(&x->streams, a);
	intern_init(&x->kernels, a);
	build_start(b, TRACE_NSYS, 1000);
	if (!sqlite_in_open(&x->db, s, a, e))
		return false;
	if (!read_tables(x))
		return false;
	add_notes(x);
	s->damage->kept = sqlite_in_failed(x->db) && s->damage->recover ? x->rows : 0;
	if (sqlite_in_failed(x->db))
		return s->damage->kept > 0;
	if (!x->rows)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: SQLite database without events of Nsight Systems: an export of "
		        "'nsys export --type sqlite' was expected",
		        STR(s->name));
	return true;
}
