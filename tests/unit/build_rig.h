/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that a test builds by hand. Tests use drop_scratch as teardown.
 */
#ifndef TFPROF_TESTS_BUILD_RIG_H
#define TFPROF_TESTS_BUILD_RIG_H

#include "unit.h"

#include "trace/trace_build.h"

struct rig {
	struct trace *t;
	struct trace_build *b;
	struct notes notes;
	uint32_t thread, stream[2], line; /* after rig_open_tracks */
};

static struct arena scratch = { .work = &unit_work };

static inline struct rig rig_open(uint64_t wants)
{
	struct rig r = { .t = trace_new(&unit_arena) };

	arena_free(&scratch);
	arena_init(&scratch, &unit_work);
	notes_init(&r.notes, &unit_arena);
	r.b = build_open(r.t, wants, &r.notes, &scratch);
	return r;
}

/* Opens a trace of one process with a thread, a GPU with two streams, and a TPU with a line. */
static inline struct rig rig_open_tracks(enum trace_source source)
{
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t process, gpu, tpu;

	build_start(r.b, source, 1000);
	process = build_process(r.b, 1);
	gpu = build_device(r.b, process, DEVICE_KIND_GPU, 0, S("gpu:0"));
	tpu = build_device(r.b, process, DEVICE_KIND_TPU, 0, S("tpu:0"));
	r.thread = build_track(r.b, process, ID_NONE, TRACK_THREAD, 1);
	r.stream[0] = build_track(r.b, process, gpu, TRACK_STREAM, 7);
	r.stream[1] = build_track(r.b, process, gpu, TRACK_STREAM, 8);
	r.line = build_track(r.b, process, tpu, TRACK_LINE, 3);
	return r;
}

/* Also frees the builder's scratch. */
static inline int drop_scratch(void **state)
{
	arena_free(&scratch);
	return unit_teardown(state);
}

static inline uint32_t event(struct rig *r, const char *name)
{
	return build_event(r->b, CATEGORY_OP, build_string(r->b, str_of(name)));
}

/* Appends a slice with an event of that category and name. */
static inline void rig_slice(struct rig *r, uint32_t track, enum trace_category category,
        const char *name, int64_t start, int64_t length, int64_t correlation)
{
	uint32_t of = build_event(r->b, category, build_string(r->b, str_of(name)));

	build_slice(r->b, track, of, start, length, correlation);
}

/* Returns a slice of a track by its place. */
static inline struct slice rig_nth(const struct trace *t, uint32_t track, uint32_t n)
{
	struct slice s;

	trace_slice(t, t->tracks.v[track].first + n, &s);
	return s;
}

/* Declares a test that builds a trace. */
#define built_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, drop_scratch)

#endif
