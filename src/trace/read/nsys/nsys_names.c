/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and places that rows of an Nsight Systems export refer to: strings, processes, threads,
 * devices, streams, and the times of a row.
 *
 *   globalTid   machine << 48 | pid << 24 | thread
 *   globalPid   globalTid without the thread
 *
 * Only names that an event has are read: the strings also hold the environment of the program.
 */
#include "trace/read/nsys/nsys_internal.h"

/* ---- names, processes, threads ---- */

/* Reads the whole string table. Needed only if its ids are not the primary key. */
static void read_all_names(struct nsys *x)
{
	static const char *const columns[] = { "id", "value" };
	struct sqlite_rows *r = sqlite_in_rows(x->db, "StringIds", columns, 2);

	while (r && sqlite_in_next(r))
		imap_put(&x->name_of, (uint64_t)sqlite_in_int(r, 0),
		        build_string(x->b, sqlite_in_text(r, 1)), false);
}

void nsys_open_names(struct nsys *x)
{
	x->by_id = sqlite_in_by_key(x->db, "StringIds", "id", "value");
	if (!x->by_id)
		read_all_names(x);
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

	if (x->last_thread.known && x->last_thread.global == global)
		return x->last_thread.track;
	if (!imap_get(&x->threads, (uint64_t)global, &track)) {
		track = build_track(
		        x->b, nsys_process(x, global), ID_NONE, TRACK_THREAD, global & 0xffffff);
		imap_put(&x->threads, (uint64_t)global, track, false);
	}
	x->last_thread.known = true;
	x->last_thread.global = global;
	x->last_thread.track = track;
	return track;
}

void nsys_name_processes(struct nsys *x)
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

enum { GPU_ID, GPU_NAME, GPU_MEMORY, GPU_BANDWIDTH, GPU_UUID, GPU_SMS, GPU_N };

void nsys_describe_gpus(struct nsys *x)
{
	static const char *const columns[GPU_N] = { "id", "name", "totalMemory", "memoryBandwidth",
		"uuid", "smCount" };
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
			d->multiprocessors = sqlite_in_int(r, GPU_SMS);
		}
}

/* Returns the new track of a stream whose process, device and stream number occur for the first
 * time. */
static uint32_t add_stream(struct nsys *x, const int64_t *key, bool has_process, bool work)
{
	uint64_t pid = (uint64_t)key[0] >> 24 & 0xffffff;
	int64_t gpu = key[1];
	uint32_t number, known = 0, only = 0;
	/* Old exports have one process, and do not record its id. */
	uint32_t process = has_process                           ? nsys_process(x, key[0])
	                   : build_trace(x->b)->processes.n == 1 ? 0
	                                                         : nsys_process(x, 0);
	uint64_t place = (uint64_t)process << 32 | (uint32_t)key[2];

	/* A synchronisation states the device's number in the process; work may state the device's
	 * number on the machine. So a synchronisation of a stream without work is on the device of
	 * the process, if there is only one. */
	bool seen = imap_get(&x->work_streams, place, &known);
	if (!work && known)
		return known - 1;
	if (imap_get(&x->gpus, pid << 32 | (uint32_t)key[1], &number))
		gpu = number;
	bool worked = imap_get(&x->work_devices, process, &only);
	if (!work && only)
		gpu = only - 1;
	if (work && gpu >= 0 && gpu < UINT32_MAX - 1)
		imap_put(&x->work_devices, process,
		        worked && only != (uint32_t)gpu + 1 ? 0 : (uint32_t)gpu + 1, true);
	uint32_t d = build_device(
	        x->b, ID_NONE, DEVICE_KIND_GPU, gpu, str_fmt(x->a, "gpu:%lld", (long long)gpu));
	uint32_t track = build_track(x->b, process, d, TRACK_STREAM, key[2]);
	if (work)
		imap_put(&x->work_streams, place, seen ? 0 : track + 1, true);
	return track;
}

uint32_t nsys_stream(struct nsys *x, struct sqlite_rows *r, bool work)
{
	const int64_t key[] = { sqlite_in_int(r, WORK_PROCESS), sqlite_in_int(r, WORK_DEVICE),
		sqlite_in_int(r, WORK_STREAM) };
	size_t before = x->streams.n;

	if (before && memcmp(key, x->last_place, sizeof key) == 0)
		return x->stream_tracks.v[x->last_stream];
	uint32_t i = intern_add(&x->streams, str_make(key, sizeof key));

	if (x->streams.n != before)
		VEC_PUSH(x->a, &x->stream_tracks,
		        add_stream(x, key, sqlite_in_has(r, WORK_PROCESS), work));
	memcpy(x->last_place, key, sizeof key);
	x->last_stream = i;
	return x->stream_tracks.v[i];
}

/* ---- times ---- */

bool nsys_times(struct nsys *x, struct sqlite_rows *r, unsigned start, unsigned end, int64_t *from,
        int64_t *length)
{
	int64_t until = sqlite_in_int(r, end);

	*from = sqlite_in_int(r, start);
	*length = num_sub(until, *from);
	if (!*from && sqlite_in_null(r, start)) {
		x->timeless++;
		return false;
	}
	if (!until && sqlite_in_null(r, end)) {
		x->endless++;
		*length = 0;
	}
	if (num_add(*from, *length) > x->last)
		x->last = num_add(*from, *length);
	x->rows++;
	return true;
}
