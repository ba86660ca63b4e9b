/* SPDX-License-Identifier: Apache-2.0
 *
 * RunMetadata. step_stats and dev_stats are streamed, each NodeExecStats is a leaf that
 * is decoded directly into the batch; everything else of RunMetadata is skipped.
 */
#include "model/read/read_leaf.h"

/* State for one NodeExecStats. Its scratch is reused from leaf to leaf. */
struct run_exec {
	struct str name, label;
	struct str said; /* timeline_label */
	uint32_t thread;
	int64_t start, end_rel;
	int64_t temp, persistent;
	uint32_t gpu_allocators;
	struct mem_item mem;
	VEC(uint8_t) outputs;     /* packed */
	VEC(uint8_t) allocations; /* packed allocations */
	VEC(struct leaf) others;  /* AllocatorMemoryUsed of allocators other than the GPU's */
	VEC(uint8_t) packed;
};

struct run_reading {
	struct wire w;
	struct batch *b;
	struct arena *a;
	struct run_exec x;
	uint32_t device;
	struct str device_name;
	uint64_t taken;
};

/* Stores an AllocationRecord. */
static void walk_allocation(struct run_reading *r, struct leaf l)
{
	struct mem_item m = read_allocation(&l);

	if (l.bad) {
		r->w.bad = true;
		return;
	}
	VEC_ROOM(r->a, &r->x.allocations, MEM_ITEM_MAX);
	uint8_t *p = r->x.allocations.v + r->x.allocations.n;
	r->x.allocations.n += (size_t)(mem_put(p, &m) - p);
}

/* Reads a string, which protobuf requires to be UTF-8. */
static struct str take_text(struct run_reading *r, struct leaf *l)
{
	struct str s = leaf_bytes(l);

	if (!l->bad && !str_is_utf8(s))
		l->bad = r->w.bad = true;
	return s;
}

/* Reads an AllocatorMemoryUsed. Sums run over all allocators; bytes in use and allocations are
 * those of the GPU's allocator. The other allocators are packed later. */
static void walk_memory(struct run_reading *r, struct leaf l)
{
	struct run_exec *x = &r->x;
	const struct leaf whole = l;
	struct str name = STR_NONE;
	int64_t total = 0, peak = 0, live = 0, in_use = 0;
	size_t before = x->allocations.n;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): name = take_text(r, &l); break;
		case LEAF_TAG(2, WIRE_VARINT): total = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): peak = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): live = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): in_use = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_BYTES): walk_allocation(r, leaf_of(leaf_bytes(&l))); break;
		default: leaf_skip(&l);
		}
	}
	r->w.bad |= l.bad;
	x->mem.bytes = num_add(x->mem.bytes, total);
	x->mem.peak = num_add(x->mem.peak, peak);
	x->mem.residual = num_add(x->mem.residual, live);
	if (str_contains(name, S("GPU"))) {
		x->gpu_allocators++;
		if (in_use > x->mem.in_use)
			x->mem.in_use = in_use;
	} else {
		x->allocations.n = before;
		if (!r->w.bad)
			VEC_PUSH(r->a, &x->others, whole);
	}
}

struct description {
	bool there;
	int64_t requested, allocated;
	uint64_t ptr;
};

static void walk_description(struct run_reading *r, struct leaf l, struct description *d)
{
	d->there = true;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): d->requested = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): d->allocated = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): take_text(r, &l); break;
		case LEAF_TAG(6, WIRE_VARINT): d->ptr = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	r->w.bad |= l.bad;
}

static void walk_tensor(struct run_reading *r, struct leaf l, struct description *d)
{
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(4, WIRE_BYTES))
			walk_description(r, leaf_of(leaf_bytes(&l)), d);
		else
			leaf_skip(&l);
	}
	r->w.bad |= l.bad;
}

/* Reads a NodeOutput, which counts if it has an allocation description. */
static void walk_output(struct run_reading *r, struct leaf l)
{
	struct run_exec *x = &r->x;
	struct description d = { 0 };
	struct mem_output o = { 0 };

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): o.slot = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): walk_tensor(r, leaf_of(leaf_bytes(&l)), &d); break;
		default: leaf_skip(&l);
		}
	}
	r->w.bad |= l.bad;
	if (!d.there)
		return;
	o.bytes = d.allocated > d.requested ? d.allocated : d.requested;
	o.ptr = d.ptr;
	x->mem.output = num_add(x->mem.output, o.bytes);
	x->mem.n_outputs++;
	VEC_ROOM(r->a, &x->outputs, MEM_OUTPUT_MAX);
	uint8_t *p = x->outputs.v + x->outputs.n;
	x->outputs.n += (size_t)(mem_put_output(p, &o) - p);
}

/* Reads the fields of MemoryStats that are still used. */
static void walk_memory_stats(struct run_reading *r, struct leaf l)
{
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): r->x.temp = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): r->x.persistent = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	r->w.bad |= l.bad;
}

static void walk_exec(struct run_reading *r, struct leaf l)
{
	struct run_exec *x = &r->x;

	x->name = STR_NONE;
	x->start = x->end_rel = x->temp = x->persistent = 0;
	x->gpu_allocators = x->thread = 0;
	x->said = STR_NONE;
	x->mem = (struct mem_item){ 0 };
	x->outputs.n = x->allocations.n = x->others.n = 0;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): x->name = take_text(r, &l); break;
		case LEAF_TAG(2, WIRE_VARINT): x->start = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): x->end_rel = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_BYTES): walk_memory(r, leaf_of(leaf_bytes(&l))); break;
		case LEAF_TAG(7, WIRE_BYTES): walk_output(r, leaf_of(leaf_bytes(&l))); break;
		case LEAF_TAG(8, WIRE_BYTES): x->said = take_text(r, &l); break;
		case LEAF_TAG(10, WIRE_VARINT): x->thread = (uint32_t)leaf_varint(&l); break;
		case LEAF_TAG(12, WIRE_BYTES): walk_memory_stats(r, leaf_of(leaf_bytes(&l))); break;
		default: leaf_skip(&l);
		}
	}
	r->w.bad |= l.bad;
}

static void put_other(struct run_reading *r, const struct mem_item *m, struct str name)
{
	VEC_ROOM(r->a, &r->x.packed, MEM_ITEM_MAX + MEM_NAME_MAX);
	uint8_t *p = r->x.packed.v + r->x.packed.n;
	r->x.packed.n += (size_t)(mem_put_other(p, m, name) - p);
}

/* Packs the bytes in use and the allocations of another allocator, which have been validated. */
static void pack_other(struct run_reading *r, struct leaf l)
{
	struct mem_item m = { .time = r->x.mem.time };
	struct leaf again = l;
	struct str name = STR_NONE;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): name = leaf_bytes(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): m.in_use = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	if (m.in_use > 0)
		put_other(r, &m, name);
	while (leaf_next(&again)) {
		if (again.tag != LEAF_TAG(6, WIRE_BYTES)) {
			leaf_skip(&again);
			continue;
		}
		struct leaf record = leaf_of(leaf_bytes(&again));
		struct mem_item made = read_allocation(&record);
		put_other(r, &made, name);
	}
}

/* Packs the memory data of a record: one item, then its allocations. */
static void pack_memory(struct run_reading *r)
{
	struct run_exec *x = &r->x;
	struct mem_item *m = &x->mem;
	int64_t used = num_add(x->temp, x->persistent);

	m->time = num_add(x->start, x->end_rel);
	m->bytes = num_add(m->bytes, used);
	m->peak = num_add(m->peak, used);
	m->residual = num_add(m->residual, x->persistent);
	m->accelerator_temp = x->temp;
	m->accelerator_persistent = x->persistent;
	x->packed.n = 0;
	VEC_ROOM(r->a, &x->packed, MEM_ITEM_MAX + x->outputs.n + x->allocations.n);
	uint8_t *p = mem_put(x->packed.v, m);
	if (x->outputs.n)
		memcpy(p, x->outputs.v, x->outputs.n);
	p += x->outputs.n;
	mem_close(x->packed.v, p);
	if (x->allocations.n)
		memcpy(p, x->allocations.v, x->allocations.n);
	x->packed.n = (size_t)(p - x->packed.v) + x->allocations.n;
	for (size_t i = 0; i < x->others.n; i++)
		pack_other(r, x->others.v[i]);
}

/* Returns the node name of a record: the text before the first ':'. */
static struct str plain_name(struct str recorded)
{
	size_t colon = str_find_char(recorded, ':');

	return colon == SIZE_MAX ? recorded : str_sub(recorded, 0, colon);
}

/* Returns the node of a record. Returns ID_NONE for transfers, whose names are not nodes. */
static uint32_t record_node(struct run_reading *r, struct str recorded)
{
	struct str name = plain_name(recorded);
	uint32_t node = batch_find(r->b, name);

	if (node != ID_NONE)
		return node;
	if (str_eq(name, S("RecvTensor")) || str_eq(name, S("_SOURCE")) ||
	        str_contains(name, S("MEMCPY")))
		return ID_NONE;
	return batch_node(r->b, name);
}

/* Prefetches the slot of the next record's name, if the record is in the window and begins with a
 * short name, because most of the time is spent on cache misses when names are looked up. */
static void expect_next(struct run_reading *r)
{
	struct leaf l = { .p = r->w.s->p, .end = r->w.s->end };

	if (l.end - l.p < 256 || *l.p++ != LEAF_TAG(2, WIRE_BYTES))
		return;
	leaf_varint(&l);
	if (*l.p++ == LEAF_TAG(1, WIRE_BYTES))
		batch_prefetch(r->b, plain_name(leaf_bytes(&l)));
}

static bool take_exec(struct run_reading *r)
{
	struct run_exec *x = &r->x;
	struct str bytes;
	uint64_t at = src_at(r->w.s);

	if (!wire_leaf(&r->w, &bytes))
		return false;
	expect_next(r);
	walk_exec(r, leaf_of(bytes));
	if (r->w.bad) {
		r->w.bad = false;
		return wire_fail(&r->w, at, "a NodeExecStats is malformed");
	}
	r->taken++;
	uint32_t node = record_node(r, x->name);
	if (node == ID_NONE)
		return true;
	struct record record = { .node = node,
		.device = r->device,
		.start = x->start,
		.length = x->end_rel,
		.said = x->said,
		.thread = x->thread,
		.gpu_allocators = x->gpu_allocators };
	if (x->start > 0) {
		pack_memory(r);
		record.mem = x->packed.v;
		record.mem_n = x->packed.n;
	} else {
		record.label = x->name;
	}
	batch_record(r->b, &record);
	return true;
}

static bool take_device_name(struct run_reading *r)
{
	struct str name;
	uint64_t at = src_at(r->w.s);

	if (!wire_leaf(&r->w, &name))
		return false;
	if (!str_is_utf8(name))
		return wire_fail(&r->w, at, "a device name is not valid UTF-8");
	r->device_name = str_copy(r->a, name);
	return true;
}

static bool read_device(struct run_reading *r)
{
	r->device = batch_device(r->b);
	r->device_name = STR_NONE;
	if (!wire_enter(&r->w))
		return false;
	while (wire_next(&r->w)) {
		if (r->w.field == 1 && r->w.type == WIRE_BYTES)
			take_device_name(r);
		else if (r->w.field == 2 && r->w.type == WIRE_BYTES)
			take_exec(r);
		else
			wire_skip(&r->w);
	}
	batch_name_device(r->b, r->device, r->device_name);
	return wire_leave(&r->w);
}

static bool read_step_stats(struct run_reading *r)
{
	if (!wire_enter(&r->w))
		return false;
	while (wire_next(&r->w)) {
		if (r->w.field == 1 && r->w.type == WIRE_BYTES)
			read_device(r);
		else
			wire_skip(&r->w);
	}
	return wire_leave(&r->w);
}

/* Counts a member of RunMetadata that is not part of the statistics. */
static void count_unused(struct src *s, uint32_t field)
{
	static const char *const kinds[] = { [2] = "cost graphs",
		[3] = "partition graphs",
		[4] = "function graphs",
		[5] = "session metadata" };

	src_count_unused(s, str_of(field > 1 && field < 6 ? kinds[field] : "unknown fields"), 1);
}

bool read_run(struct src *s, struct batch *to, struct err *e)
{
	struct run_reading r = { .b = to, .a = batch_arena(to) };
	bool stats = false;

	wire_init(&r.w, s, "RunMetadata", e);
	while (wire_next(&r.w)) {
		if (r.w.field == 1 && r.w.type == WIRE_BYTES) {
			stats = true;
			read_step_stats(&r);
		} else {
			count_unused(s, r.w.field);
			wire_skip(&r.w);
		}
	}
	if (!stats)
		batch_no_stats(to);
	return wire_done(&r.w, r.taken);
}
