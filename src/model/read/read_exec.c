/* SPDX-License-Identifier: Apache-2.0
 *
 * ExecProfile, the executions of one node in one step: a leaf within a leaf, decoded by hand
 * directly into a cell. Independent of the node.
 */
#include "model/read/read_exec.h"
#include "model/read/read_leaf.h"

#define EXEC_DEPTH                                                                                 \
	4 /* ProfileProto > entry of nodes > ProfileNode > entry of execs > ExecProfile */

/* Reads an entry of accelerator_execs or cpu_execs. */
static bool add_times(struct pb_reading *r, struct exec *x, struct str bytes, enum span_kind kind)
{
	struct exec_times t = { .kind = kind };
	struct map_entry e;

	if (!read_entry(r, bytes, EXEC_DEPTH + 1, ENTRY_NAMED, &e))
		return false;
	t.device = ingest_device(r->to, e.name);
	t.times = e.value;
	VEC_PUSH(r->a, &x->times, t);
	return true;
}

/* Decodes the numbers of an ExecProfile, and stores the positions of its other parts. */
static bool walk_exec(struct pb_reading *r, struct exec *x, struct str bytes)
{
	struct leaf l = leaf_below(bytes, EXEC_DEPTH);
	struct exec_times seen = { .kind = SPAN_SEEN };
	struct str s;

	x->runs = x->start = x->end = 0;
	x->times.n = x->memory.n = x->allocations.n = 0;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): x->runs = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): x->start = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): x->end = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_BYTES):
			if (!add_times(r, x, leaf_bytes(&l), SPAN_ACCELERATOR))
				return false;
			break;
		case LEAF_TAG(5, WIRE_BYTES):
			if (!add_times(r, x, leaf_bytes(&l), SPAN_CPU))
				return false;
			break;
		case LEAF_TAG(6, WIRE_BYTES):
			s = read_text(r, &l);
			if (l.bad)
				break;
			seen.device = ingest_device(r->to, s);
			VEC_PUSH(r->a, &x->times, seen);
			break;
		case LEAF_TAG(7, WIRE_BYTES):
			s = leaf_bytes(&l);
			VEC_PUSH(r->a, &x->memory, s);
			break;
		case LEAF_TAG(11, WIRE_BYTES):
			s = leaf_bytes(&l);
			VEC_PUSH(r->a, &x->allocations, s);
			break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Reads an ExecTime: one span per tuple of start and duration. */
static bool say_times(struct pb_reading *r, struct exec *x, const struct exec_times *t, bool say)
{
	struct leaf l = leaf_below(t->times, EXEC_DEPTH + 2);

	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(1, WIRE_BYTES)) {
			leaf_skip(&l);
			continue;
		}
		x->tuple.n = 0;
		if (!read_tuple(r, leaf_bytes(&l), EXEC_DEPTH + 3, &x->tuple))
			return false;
		if (!say)
			continue;
		if (x->tuple.n < 2) {
			x->short_tuples++;
			continue;
		}
		x->seen.v[t->device] = x->serial;
		ingest_span(r->to, t->kind, t->device, x->tuple.v[0], x->tuple.v[1]);
	}
	return reading_end(r, &l);
}

/* Adds the spans of one kind. Among map entries with the same device, the last counts. */
static bool say_kind(struct pb_reading *r, struct exec *x, enum span_kind kind, bool say)
{
	for (size_t i = 0; i < x->times.n; i++) {
		const struct exec_times *t = &x->times.v[i];
		bool last = t->kind != SPAN_SEEN && x->last[kind == SPAN_CPU].v[t->device] == i;
		if (t->kind == kind && !say_times(r, x, t, say && last))
			return false;
	}
	return true;
}

/* Adds all spans of the cell. A device without times gets one entry without a time. */
static bool say_spans(struct pb_reading *r, struct exec *x, bool say)
{
	for (size_t i = 0; i < x->times.n; i++) {
		const struct exec_times *t = &x->times.v[i];
		while (x->seen.n <= t->device) {
			VEC_PUSH(r->a, &x->seen, 0);
			VEC_PUSH(r->a, &x->last[0], 0);
			VEC_PUSH(r->a, &x->last[1], 0);
		}
		if (t->kind != SPAN_SEEN)
			x->last[t->kind == SPAN_CPU].v[t->device] = i;
	}
	if (!say_kind(r, x, SPAN_ACCELERATOR, say) || !say_kind(r, x, SPAN_CPU, say))
		return false;
	for (size_t i = 0; i < x->times.n && say; i++) {
		uint32_t device = x->times.v[i].device;
		if (x->seen.v[device] == x->serial)
			continue;
		x->seen.v[device] = x->serial;
		ingest_span(r->to, SPAN_SEEN, device, 0, 0);
	}
	return true;
}

/* Reads a Memory: size and place of an output. */
static bool read_output(struct pb_reading *r, const struct map_entry *e, struct mem_output *o)
{
	struct leaf l = leaf_below(e->value, EXEC_DEPTH + 3);

	*o = (struct mem_output){ .slot = (int32_t)e->key };
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): o->bytes = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): o->ptr = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Reads field f of ExecMemory. */
static int64_t *mem_field(struct mem_item *m, uint32_t f)
{
	switch (f) {
	case 1: return &m->time;
	case 2: return &m->host_temp;
	case 3: return &m->host_persistent;
	case 4: return &m->accelerator_temp;
	case 5: return &m->accelerator_persistent;
	case 6: return &m->bytes;
	case 7: return &m->peak;
	case 8: return &m->residual;
	case 9: return &m->output;
	case 10: return &m->in_use;
	default: return NULL;
	}
}

/* Reads an ExecMemory, and packs it after the contents of x->packed. */
static bool pack_memory(struct pb_reading *r, struct exec *x, struct str bytes)
{
	const enum entry_form form = ENTRY_MESSAGE | ENTRY_KEY32;
	struct leaf l = leaf_below(bytes, EXEC_DEPTH + 1);
	struct mem_item m = { 0 };
	struct mem_output o;
	uint8_t *p;

	x->outputs.n = 0;
	while (leaf_next(&l)) {
		int64_t *v = (l.tag & 7) == WIRE_VARINT ? mem_field(&m, l.tag >> 3) : NULL;
		if (v)
			*v = (int64_t)leaf_varint(&l);
		else if (l.tag != LEAF_TAG(11, WIRE_BYTES))
			leaf_skip(&l);
		else if (!read_entry_to(r, leaf_bytes(&l), EXEC_DEPTH + 2, form, &x->outputs))
			return false;
	}
	if (!reading_end(r, &l))
		return false;
	for (size_t i = 0; i < x->outputs.n; i++)
		if (!read_output(r, &x->outputs.v[i], &o))
			return false;
	entries_tidy(r->a, &x->outputs);
	m.n_outputs = x->outputs.n;
	VEC_ROOM(r->a, &x->packed, MEM_ITEM_MAX + m.n_outputs * MEM_OUTPUT_MAX);
	uint8_t *item = x->packed.v + x->packed.n;
	p = mem_put(item, &m);
	for (size_t i = 0; i < x->outputs.n; i++) {
		read_output(r, &x->outputs.v[i], &o);
		p = mem_put_output(p, &o);
	}
	mem_close(item, p);
	x->packed.n = (size_t)(p - x->packed.v);
	return true;
}

/* Reads an AllocationRecord, and packs it in the same way. */
static bool pack_allocation(struct pb_reading *r, struct exec *x, struct str bytes)
{
	struct leaf l = leaf_below(bytes, EXEC_DEPTH + 1);
	struct mem_item m = read_allocation(&l);

	VEC_ROOM(r->a, &x->packed, MEM_ITEM_MAX);
	x->packed.n = (size_t)(mem_put(x->packed.v + x->packed.n, &m) - x->packed.v);
	return reading_end(r, &l);
}

static bool say_memory(struct pb_reading *r, struct exec *x, bool say)
{
	x->packed.n = 0;
	for (size_t i = 0; i < x->memory.n; i++)
		if (!pack_memory(r, x, x->memory.v[i]))
			return false;
	for (size_t i = 0; i < x->allocations.n; i++)
		if (!pack_allocation(r, x, x->allocations.v[i]))
			return false;
	if (say && x->packed.n)
		ingest_mem(r->to, x->packed.v, x->packed.n);
	return true;
}

/* Reads an ExecProfile into a cell. If node is ID_NONE, only validates it. */
bool read_exec(struct pb_reading *r, struct exec *x, int64_t step, uint32_t node, struct str bytes)
{
	bool say = node != ID_NONE;
	struct cell_in c;

	if (!walk_exec(r, x, bytes))
		return false;
	c = (struct cell_in){ x->runs, x->start, x->end };
	x->serial++;
	if (say)
		ingest_cell(r->to, step, node, &c);
	return say_spans(r, x, say) && say_memory(r, x, say);
}
