/* SPDX-License-Identifier: Apache-2.0
 *
 * See trace_rig.h.
 */
#include "trace_rig.h"

struct trace_rig trace_rig_open(struct arena *a, struct arena *scratch, enum trace_source source)
{
	struct trace_rig r = { .t = trace_new(a) };
	uint32_t process, gpu, tpu;

	notes_init(&r.notes, a);
	r.b = build_open(r.t, ARG_BITS_ALL, &r.notes, scratch);
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

void trace_rig_slice(struct trace_rig *r, uint32_t track, enum trace_category category,
        const char *name, int64_t start, int64_t length, int64_t correlation)
{
	uint32_t event = build_event(r->b, category, build_string(r->b, str_of(name)));

	build_slice(r->b, track, event, start, length, correlation);
}
