/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes over traces. Every ten bytes of input are a slice: form and category, track, event,
 * correlation, start and length. Checked properties: groupings of ops and steps lose no time and no
 * device work, the tables of devices are consistent, and a copy of the trace is equal.
 */
#include "rig.h"
#include "trace/pass/ops.h"
#include "trace/trace_build.h"
#include "export/table/device_tables.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

#define RECORD 10

/* Returns the sums over all ops. */
struct sums {
	int64_t host, device;
	uint64_t kernels;
};

static uint32_t track_of(struct trace_build *b, uint8_t which)
{
	uint32_t process = build_process(b, which >> 6), device = ID_NONE;

	if (which & 1)
		device = build_device(b, process, DEVICE_KIND_GPU, which >> 1 & 1, S("gpu"));
	return build_track(b, process, device,
	        which & 4           ? TRACK_LINE
	        : device == ID_NONE ? TRACK_THREAD
	                            : TRACK_STREAM,
	        which >> 3 & 7);
}

static void put_args(struct trace_build *b, uint8_t bits)
{
	static const char *const texts[] = { "a", "a/b", "x.py(3): f\ny.py(4): g", "" };

	if (bits & 1)
		build_arg_text(b, ARG_SCOPE, str_of(texts[bits >> 1 & 3]));
	if (bits & 2)
		build_arg_text(b, ARG_STACK, str_of(texts[bits >> 2 & 3]));
	if (bits & 4)
		build_arg_text(b, ARG_OP, str_of(texts[bits >> 3 & 1]));
	if (bits & 8)
		build_arg_int(b, ARG_GROUP, bits >> 4);
	if (bits & 16)
		build_arg_int(b, ARG_COUNT, (int8_t)bits);
	if (bits & 32)
		build_arg_int(b, ARG_EXTERNAL, bits >> 6);
	if (bits & 64)
		build_arg_int(b, ARG_SEQUENCE, bits & 3);
	if (bits & 128)
		build_arg_int(b, ARG_FORWARD_THREAD, bits >> 2 & 3);
}

static void put_slice(struct trace_build *b, const uint8_t *p)
{
	uint32_t track = track_of(b, p[1]), event;
	int64_t start = (int16_t)(p[4] | p[5] << 8), length = p[6] | p[7] << 8;
	static const char *const names[] = { "a", "b", "cudaStreamSynchronize", "cudaMemcpyAsync",
		"Memcpy HtoD (Pageable -> Device)", "ncclDevKernel", "cudaFree", "Memset" };

	put_args(b, p[8]);
	event = build_event(b, (enum trace_category)(p[0] % CATEGORY_N),
	        build_string(b, str_of(names[p[2] & 7])));
	put_args(b, p[9]);
	switch (p[0] >> 6) {
	case 0: build_begin(b, track, event, start, p[3]); break;
	case 1: build_end(b, track, start); break;
	default: build_slice(b, track, event, start, length, p[3]);
	}
}

static struct sums sums_by(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct arena *a)
{
	struct sums sum = { 0 };
	struct trace_ops ops;

	trace_find_ops(t, links, steps, by, &ops, a);
	for (size_t i = 0; i < ops.cells.n; i++) {
		const struct op_cell *c = &ops.cells.v[i];
		if (c->host_self < 0 || c->device_self < 0 || c->step >= steps->steps.n)
			abort();
		sum.host += c->host_self;
		sum.device += c->device_self;
		sum.kernels += c->kernels;
	}
	return sum;
}

/* Checks that the tables of devices are consistent. */
static void check_devices(const struct trace *t, const struct trace_links *links, struct arena *a)
{
	struct trace_steps steps;
	struct device_use u;
	struct device_worker one = { .u = &u };
	struct sink *to = sink_memory(a);
	size_t n;

	trace_find_steps(t, &steps, a);
	device_use_trace(&u, links, &steps, a);
	for (size_t i = 0; i < u.devices.n; i++) {
		const struct gpu_device *d = &u.devices.v[i];
		int64_t idle = 0;
		int64_t busy = trace_ns(t, d->usage.times.busy), span = (int64_t)(d->to - d->from);
		for (enum idle_cause k = 0; k < IDLE_CAUSES; k++) {
			if (d->usage.times.idle[k] < 0)
				abort();
			if (k != IDLE_BEFORE_FIRST && k != IDLE_AFTER_LAST)
				idle += usage_idle_ns(t, &d->usage.times, k);
		}
		if (d->gaps.sum != span - busy ||
		        usage_exposed_communication(&d->usage.times) < 0 ||
		        usage_copy_overlap(&d->usage.times) < 0 || d->shared < 0 ||
		        d->shared > busy || idle != d->gaps.sum)
			abort();
	}
	const struct table *v = device_sections(&(struct device_workers){ &one, 1 }, &n, a);
	for (size_t i = 0; i < n; i++)
		table_put_text(&v[i], 3, 60, to);
}

/* Checks that a copy of the trace has the same slices. */
static void check_copy(const struct trace *t, struct arena *a)
{
	const struct trace *copy = trace_copy(t, a);

	if (copy->n_slices != t->n_slices || copy->tracks.n != t->tracks.n)
		abort();
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter p = trace_slices(t, i), q = trace_slices(copy, i);
		for (struct slice x, y; slice_next(&p, &x);)
			if (!slice_next(&q, &y) || x.number != y.number || x.start != y.start ||
			        x.length != y.length || x.event != y.event ||
			        x.correlation != y.correlation || !str_eq(x.args, y.args) ||
			        !str_eq(trace_str(t, x.name), trace_str(copy, y.name)))
				abort();
	}
}

static void check(const struct trace *t, struct arena *a)
{
	struct trace_links links;
	struct trace_steps steps;
	struct trace_usage usage;

	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	trace_usage(t, &(struct usage_request){ .links = &links }, &usage, a);
	for (size_t i = 0; i < usage.devices.n; i++) {
		const struct device_usage *u = &usage.devices.v[i];
		if (u->times.busy < 0 || u->end < u->start || u->times.busy > u->end - u->start)
			abort();
	}
	check_devices(t, &links, a);
	check_copy(t, a);
	struct sums path = sums_by(t, &links, &steps, TRACE_BY_PATH, a);
	for (enum trace_by by = TRACE_BY_MODULE; by < TRACE_BY_N; by++) {
		struct sums sum = sums_by(t, &links, &steps, by, a);
		if (sum.device != path.device || sum.kernels != path.kernels ||
		        sum.host < path.host)
			abort(); /* annotations of a source that does not nest them add time */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct arena a, own;

	arena_init(&a, &work);
	arena_init(&own, &work);
	if (size && !setjmp(work.escape)) {
		struct trace *t = trace_new(&a);
		struct notes notes;
		notes_init(&notes, &a);
		struct trace_build *b = build_open(t, ARG_BITS_ALL, &notes, &own);
		build_start(b, (enum trace_source)(data[0] % (TRACE_SOURCES)), 1000);
		for (size_t at = 1; at + RECORD <= size; at += RECORD)
			put_slice(b, data + at);
		build_seal(b);
		check(t, &a);
	}
	arena_free(&own);
	arena_free(&a);
	return 0;
}
