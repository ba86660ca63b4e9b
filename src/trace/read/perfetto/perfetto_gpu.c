/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of GPUs in Perfetto traces:
 *
 *   GpuRenderStageEvent  duration 2  hw_queue_id 3  stage_id 4  context 5  specifications 7
 *                        gpu_id 11  hw_queue_iid 13  stage_iid 14  name 17  name_iid 20
 *                        launch 21 { grid_size 1  workgroup_size 2 } with { x 1  y 2  z 3 }
 *   Specifications       hw_queue 2  stage 3, each { name 1 }
 */
#include "trace/read/perfetto/perfetto_internal.h"

struct stage {
	int64_t duration, gpu, queue_id, stage_id;
	uint64_t context, queue_iid, stage_iid, name_iid;
	struct str name, launch;
	bool has_duration;
};

static void add_name(struct perfetto *x, struct str message, bool queue)
{
	struct leaf l = leaf_of(message);
	struct str name = S("");
	uint32_t text;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			name = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	text = build_string(x->b, name);
	if (queue)
		VEC_PUSH(x->a, &x->queues, text);
	else
		VEC_PUSH(x->a, &x->stages, text);
}

/* Reads the names of queues and stages, which events number from 0. */
static void read_specifications(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);

	x->queues.n = x->stages.n = 0;
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(2, WIRE_BYTES) || l.tag == LEAF_TAG(3, WIRE_BYTES)) {
			bool queue = l.tag == LEAF_TAG(2, WIRE_BYTES);
			add_name(x, leaf_bytes(&l), queue);
		} else {
			leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void read_stage(struct perfetto *x, struct str message, struct stage *v)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_VARINT):
			v->duration = num_from_u64(leaf_varint(&l));
			v->has_duration = true;
			break;
		case LEAF_TAG(3, WIRE_VARINT): v->queue_id = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): v->stage_id = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): v->context = leaf_varint(&l); break;
		case LEAF_TAG(7, WIRE_BYTES): read_specifications(x, leaf_bytes(&l)); break;
		case LEAF_TAG(11, WIRE_VARINT): v->gpu = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(13, WIRE_VARINT): v->queue_iid = leaf_varint(&l); break;
		case LEAF_TAG(14, WIRE_VARINT): v->stage_iid = leaf_varint(&l); break;
		case LEAF_TAG(17, WIRE_BYTES): v->name = leaf_bytes(&l); break;
		case LEAF_TAG(20, WIRE_VARINT): v->name_iid = leaf_varint(&l); break;
		case LEAF_TAG(21, WIRE_BYTES): v->launch = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

static void put_triple(struct perfetto *x, uint32_t key, struct str message)
{
	struct leaf l = leaf_of(message);
	int64_t v[4] = { 0 };

	while (leaf_next(&l)) {
		uint32_t field = l.tag >> 3;
		if ((l.tag & 7) == WIRE_VARINT && field >= 1 && field <= 3)
			v[field] = (uint32_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
	build_arg_triple(x->b, key, v + 1);
}

static void put_launch(struct perfetto *x, struct str message)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			put_triple(x, ARG_GRID, leaf_bytes(&l));
		else if (l.tag == LEAF_TAG(2, WIRE_BYTES))
			put_triple(x, ARG_BLOCK, leaf_bytes(&l));
		else
			leaf_skip(&l);
	}
	x->lost[PF_LOST_DAMAGED] += l.bad;
}

/* Returns the name of an interned text, otherwise the name at an index of a list, or ID_NONE. */
static uint32_t name_of(struct perfetto *x, const struct pf_sequence *q, enum pf_kind kind,
        uint64_t iid, const uint32_t *list, size_t n, int64_t index)
{
	const struct pf_text *t = iid ? pf_text(x, q, kind, iid) : NULL;

	if (t)
		return t->text;
	return !iid && index >= 0 && (size_t)index < n ? list[index] : ID_NONE;
}

static uint32_t stream_of(struct perfetto *x, const struct pf_sequence *q, const struct stage *v)
{
	const struct pf_text *context = pf_text(x, q, PF_CONTEXT, v->context);
	uint32_t process = context ? build_process(x->b, context->pid) : ID_NONE;
	uint32_t device = build_device(x->b, ID_NONE, DEVICE_KIND_GPU, v->gpu,
	        str_fmt(x->a, "gpu:%lld", (long long)v->gpu));
	uint32_t track = build_track(x->b, process, device, TRACK_STREAM,
	        v->queue_iid ? (int64_t)v->queue_iid : v->queue_id);
	uint32_t name =
	        name_of(x, q, PF_STAGE, v->queue_iid, x->queues.v, x->queues.n, v->queue_id);

	if (name != ID_NONE)
		build_track_at(x->b, track)->name = name;
	return track;
}

void pf_stage(struct perfetto *x, struct pf_sequence *q, const struct pf_packet *p)
{
	struct stage v = { .name = S("") };
	uint32_t track, name;
	int64_t at;

	read_stage(x, p->stage, &v);
	if (!v.has_duration || !p->has_time || !pf_time(x, q, p, &at))
		return;
	track = stream_of(x, q, &v);
	name = name_of(x, q, PF_NAME, v.name_iid, NULL, 0, 0);
	if (v.name.n)
		name = build_string(x->b, v.name);
	if (name == ID_NONE)
		name = name_of(x, q, PF_STAGE, v.stage_iid, x->stages.v, x->stages.n, v.stage_id);
	if (name == ID_NONE)
		name = build_string(x->b, S("(unnamed)"));
	put_launch(x, v.launch);
	build_slice(x->b, track, build_event(x->b, CATEGORY_KERNEL, name), at, v.duration, 0);
	x->events++;
}
