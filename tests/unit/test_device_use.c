/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU results against a simulation of the same operations, nanosecond by nanosecond.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/block_format.h"
#include "device/device_use.h"

#define SPAN      4000 /* nanoseconds that are drawn */
#define PROCESSES 4
#define BASE      1700000000000000000u

static uint64_t random_below(uint64_t n)
{
	static uint64_t seed = 88172645463325252u;

	return unit_random(&seed) % n;
}

static struct { /* the present record */
	struct block_encoder put;
	uint8_t block[SPOOL_BLOCK_MIN];
	char folder[32], path[PROCESSES][64]; /* in the order of their names */
	size_t n;
	int fd;
} writer;

static void begin(uint32_t pid)
{
	char *path = writer.path[writer.n];

	if (!writer.n)
		assert_non_null(mkdtemp(strcpy(writer.folder, "/tmp/tfprof-gpu-XXXXXX")));
	snprintf(path, sizeof writer.path[0], "%s/%zu", writer.folder, writer.n++);
	assert_true((writer.fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600)) >= 0);
	block_encode_init(&writer.put, pid);
	block_encode_begin(&writer.put, writer.block, sizeof writer.block, BASE);
}

static void flush(void)
{
	size_t n = block_encode_finish(&writer.put);

	assert_int_equal(write(writer.fd, writer.block, n), n);
}

static void put(struct spool_record r)
{
	if (block_encode(&writer.put, &r))
		return;
	flush();
	block_encode_begin(&writer.put, writer.block, sizeof writer.block, BASE);
	assert_true(block_encode(&writer.put, &r));
}

static void put_name(uint32_t id, const char *z)
{
	put((struct spool_record){ .kind = SPOOL_STRING, .string = { id, { z, strlen(z) } } });
}

/* Ends the file. */
static void end(bool closed)
{
	if (closed)
		put((struct spool_record){ .kind = SPOOL_END });
	flush();
	close(writer.fd);
}

/* Reads all files that were written. */
static void read_all(struct device_use *u, struct arena *a)
{
	struct recording_set *set = ARENA_NEW(a, struct recording_set);
	struct recording_options *o = ARENA_NEW(a, struct recording_options);
	struct err e = { .a = a };
	struct notes notes;

	for (size_t i = 0; i < writer.n; i++)
		VEC_PUSH(a, set, ((struct recording_file){ .path = str_of(writer.path[i]) }));
	notes_init(&notes, a);
	assert_true(
	        device_use_read(u, set, o, &(struct device_request){ .say = true }, a, &notes, &e));
	while (writer.n)
		unlink(writer.path[--writer.n]);
	rmdir(writer.folder);
}

/* ---- drawing ---- */

static uint8_t kernels[PROCESSES][SPAN * 2], copies[SPAN * 2], anything[PROCESSES][SPAN * 2];

static void put_random(uint32_t process)
{
	uint64_t start = random_below(SPAN), length = 1 + random_below(40);
	struct spool_record r = { .kind = SPOOL_KERNEL };

	if (random_below(3)) {
		r.kernel = (struct spool_kernel){ BASE + start, length, .name = 1 };
		memset(kernels[process] + start, 1, length);
	} else {
		r.kind = SPOOL_COPY;
		r.copy = (struct spool_copy){ BASE + start, length, .bytes = 1000, .kind = 1 };
		memset(copies + start, 1, length);
	}
	memset(anything[process] + start, 1, length);
	put(r);
}

static void compare(const struct device_use *u)
{
	int64_t busy = 0, k = 0, c = 0, overlap = 0, shared = 0, from = -1, to = 0, gaps = 0;
	int64_t own[PROCESSES] = { 0 };
	const struct gpu_device *d = &u->devices.v[0];

	for (int64_t t = 0; t < SPAN * 2; t++) {
		int n = 0, kernel = 0;
		for (int p = 0; p < PROCESSES; p++) {
			n += anything[p][t];
			kernel |= kernels[p][t];
			own[p] += anything[p][t];
		}
		gaps += n && to && t > to;
		from = n && from < 0 ? t : from;
		to = n ? t + 1 : to;
		busy += n > 0;
		shared += n > 1;
		k += kernel;
		c += copies[t];
		overlap += kernel && copies[t];
	}
	assert_int_equal(u->devices.n, 1);
	assert_true((int64_t)(d->from - BASE) == from && (int64_t)(d->to - BASE) == to);
	assert_int_equal(d->usage.times.busy, busy);
	assert_int_equal(d->usage.times.kernels, k);
	assert_int_equal(d->usage.times.by_class[USAGE_COPY], c);
	assert_true(usage_copy_overlap(&d->usage.times) == overlap && d->shared == shared);
	assert_true(d->gaps.n == (uint64_t)gaps && d->gaps.sum == to - from - busy);
	for (int p = 0; p < PROCESSES; p++)
		assert_int_equal(u->parts.v[p].busy, own[p]);
}

static void as_drawn(void **state)
{
	for (uint64_t density = 3; density < 300; density *= 3) {
		struct device_use u;
		memset(kernels, 0, sizeof kernels);
		memset(copies, 0, sizeof copies);
		memset(anything, 0, sizeof anything);
		for (uint32_t p = 0; p < PROCESSES; p++) {
			begin(p + 1);
			put_name(1, "kernel");
			put((struct spool_record){
			        .kind = SPOOL_DEVICE, .device = { .uuid = { 7 }, .name = 1 } });
			for (uint64_t i = 0; i < density; i++)
				put_random(p);
			end(true);
		}
		read_all(&u, *state);
		compare(&u);
	}
}

/* Intervals of more than one batch, unordered: all in one, and one after the other. */
static void many(void **state)
{
	struct device_use u;
	uint64_t n = SPAN_BATCH * 2 + 5;

	begin(1);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = (i * 104729) % n;
		put((struct spool_record){
		        .kind = SPOOL_KERNEL, .kernel = { .start = BASE + at * 10, .length = 4 } });
	}
	end(true);
	read_all(&u, *state);
	assert_int_equal(u.devices.v[0].kernels, n);
	assert_int_equal(u.devices.v[0].usage.times.busy, n * 4);
	assert_int_equal(u.devices.v[0].gaps.n, n - 1);
	assert_int_equal(hist_quantile(&u.devices.v[0].gaps, 500), 6);
	assert_str(u.kernels.v[0].name, "unnamed");
}

/* One GPU under two numbers; a GPU without UUID is identified by host and number. */
static void uuids(void **state)
{
	struct device_use u;

	for (uint32_t p = 0; p < 2; p++) {
		begin(p + 1);
		put((struct spool_record){
		        SPOOL_KERNEL, .kernel = { BASE, 4, .at = { .device = p } } });
		put((struct spool_record){
		        SPOOL_KERNEL, .kernel = { BASE, 4, .at = { .device = 5 } } });
		put((struct spool_record){ .kind = SPOOL_DEVICE, .device = { p, .uuid = { 9 } } });
		put((struct spool_record){ .kind = SPOOL_DEVICE, .device = { .id = 77 } });
		end(p);
	}
	read_all(&u, *state);
	assert_int_equal(u.devices.n, 2);
	assert_true(u.devices.v[0].number == 1 && u.devices.v[1].number == 5);
	assert_true(u.devices.v[0].parts.n == 2 && u.devices.v[1].parts.n == 2);
	assert_int_equal(u.devices.v[0].shared, 4);
	assert_true(!gpu_facts(&u, 0)->ended && gpu_facts(&u, 1)->ended);
}

static void put_call(uint32_t tid, uint32_t name, uint64_t start, uint64_t length)
{
	put((struct spool_record){ SPOOL_API, .api = { BASE + start, length, 0, name, tid, 0 } });
}

/* The driver's call inside the runtime's is not counted twice, and a call waits while work runs. */
static void waits(void **state)
{
	struct device_use u;

	begin(1);
	put_name(1, "cuStreamSynchronize");
	put_name(2, "cudaStreamSynchronize_v3020");
	put_name(3, "cudaLaunchKernel");
	put_name(4, "cudaMemcpyAsync");
	put((struct spool_record){ .kind = SPOOL_KERNEL, .kernel = { BASE + 80, 60, .name = 3 } });
	put_call(1, 1, 100, 50);
	put_call(2, 1, 110, 40);
	put_call(1, 2, 90, 70);
	put_call(1, 3, 200, 10);
	end(true);
	read_all(&u, *state);
	assert_int_equal(u.calls.n, 3);
	assert_int_equal(gpu_total(&u.calls.v[0]), 70);
	assert_int_equal(u.calls.v[0].blocking, 50);
	assert_int_equal(u.waits.n, 2);
	assert_true(gpu_total(&u.waits.v[0]) == 50 && gpu_total(&u.waits.v[1]) == 30);
}

/* A graph launch counts like a kernel. */
static void graphs(void **state)
{
	const struct work *w = ((struct arena *)*state)->work;
	struct device_use u;

	begin(1);
	for (uint32_t i = 0; i < 300000; i++)
		put((struct spool_record){
		        .kind = SPOOL_GRAPH, .graph = { BASE + i, 1, .graph = i % 3 } });
	end(true);
	read_all(&u, *state);
	assert_int_equal(u.kernels.n, 3);
	assert_int_equal(gpu_count(&u.kernels.v[2]), 100000);
	assert_true(atomic_load(&w->account->peak) < (size_t)16 << 20);
}

static void what_is_missing(void **state)
{
	struct device_use u;

	begin(1);
	put_name(1, "k");
	put_name(2, "MemcpyDtoH");
	put((struct spool_record){ .kind = SPOOL_KERNEL, .kernel = { BASE, 10, .name = 1 } });
	put((struct spool_record){ .kind = SPOOL_KERNEL, .kernel = { .name = 1 } });
	put((struct spool_record){ .kind = SPOOL_LOST, .lost = { SPOOL_LOST_DROPPED, 12, false } });
	put((struct spool_record){ .kind = SPOOL_GAP, .gap = { BASE, BASE + 5, 0 } });
	put((struct spool_record){ .kind = SPOOL_GAP, .gap = { BASE + 9, BASE, 0 } });
	put((struct spool_record){
	        .kind = SPOOL_SUM, .sum = { SPOOL_KERNEL, 1, 0, 0, 0, 0, 100, 3000, 2, 90, 0 } });
	put((struct spool_record){
	        .kind = SPOOL_SUM, .sum = { SPOOL_COPY, 2, 0, 0, 0, 0, 3, 300, 50, 150, 4096 } });
	end(false);
	read_all(&u, *state);
	assert_int_equal(u.untimed, 1);
	assert_int_equal(u.lost.n[SPOOL_LOST_DROPPED], 12);
	assert_true(u.gaps == 2 && u.gap_ns == 5);
	assert_int_equal(u.summed, 103);
	const struct gpu_times *k = &u.kernels.v[0];
	assert_true(gpu_count(k) == 101 && gpu_total(k) == 3010);
	assert_true(gpu_min(k) == 2 && gpu_max(k) == 90);
	assert_int_equal(u.devices.v[0].kernels, 102);
	assert_int_equal(u.devices.v[0].ways[WAY_DTOH].bytes, 4096);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(as_drawn),
		unit_case(many),
		unit_case(uuids),
		unit_case(waits),
		unit_case(graphs),
		unit_case(what_is_missing),
	};

	return unit_main(tests, argc, argv);
}
