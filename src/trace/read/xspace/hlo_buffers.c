/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that the compiler assigned to a program (BufferAssignmentProto in an HloProto):
 *
 *   BufferAssignment  logical_buffers 1  buffer_allocations 3  heap_simulator_traces 4
 *   LogicalBuffer     id 1  size 2  defined_at 3 {instruction_name 2, instruction_id 4}
 *   BufferAllocation  size 2  index 1  is_entry_parameter 5  maybe_live_out 7  color 8
 *                     assigned 9 {logical_buffer_id 1, size 3}  is_constant 12
 *   HeapTrace         events 1  allocation_index 3
 *   Event             kind 1  buffer_id 2  share_with_canonical_id 5
 *
 * An allocation exists while the program runs. In each memory space, the allocation with the
 * longest heap trace is divided into its buffers, which exist from their allocation to their
 * release in that trace. Every other allocation is one buffer. A parameter that the program does
 * not overwrite exists until the end, also if its last use is before the peak.
 */
#include "base/sort.h"
#include "trace/read/xspace/xspace_internal.h"

#define SPACE_MAX                                                                                  \
	255 /* maximum number of memory spaces; compilers have a handful, and larger numbers count \
	       as the last one */

struct logical_buffer {
	int64_t size, instruction;
	struct str name; /* name of the instruction, in older files */
};
struct hlo_allocation {
	int64_t index, size, space;
	bool parameter, constant, live_out;
	size_t first, end;             /* range in `assigned` */
	const struct heap_trace *heap; /* its longest heap trace, or NULL */
};
struct hlo_assigned {
	uint64_t buffer;
	int64_t size;
};
struct heap_trace {
	struct str bytes; /* bytes of the message */
	int64_t allocation;
	size_t events;
};

/* The life of a group of buffers that share memory. */
struct buffer_life {
	uint32_t from, until, users;
	uint32_t buffer; /* index in buffers */
};

struct assignment {
	struct xspace *x;
	struct arena *a; /* arena that lives until hlo_read_buffers returns */
	const struct xprogram *p;
	VEC(struct logical_buffer) buffers;
	struct imap buffer_of; /* key: id; value: index in buffers */
	VEC(struct hlo_allocation) allocations;
	struct imap allocation_of; /* key: index stated by the message; value: index in
	                              allocations */
	VEC(struct hlo_assigned) assigned;
	VEC(struct heap_trace) heaps;
	const uint32_t *uses; /* positions of the last uses in the schedule, as passed to
	                         hlo_read_buffers */
	uint32_t *positions;  /* indexed by instruction: position in the schedule; 0: not in it */
	uint32_t peak;        /* position of the peak in the schedule; 0: unknown */
};

/* ---- messages ---- */

static void read_location(struct str bytes, struct logical_buffer *to)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_BYTES): to->name = leaf_bytes(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): to->instruction = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
}

static bool read_buffer(struct assignment *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct logical_buffer made = { .name = S(""), .instruction = -1 };
	uint64_t id = 0;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): id = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): made.size = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES): read_location(leaf_bytes(&l), &made); break;
		default: leaf_skip(&l);
		}
	}
	imap_put(&m->buffer_of, id, (uint32_t)m->buffers.n, true);
	VEC_PUSH(m->a, &m->buffers, made);
	return !l.bad && made.size >= 0;
}

static bool read_assigned(struct assignment *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct hlo_assigned made = { 0 };

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): made.buffer = leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): made.size = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	VEC_PUSH(m->a, &m->assigned, made);
	return !l.bad;
}

static bool read_allocation(struct assignment *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct hlo_allocation made = { .first = m->assigned.n };
	bool good = true;

	while (good && leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): made.index = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): made.size = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): made.parameter = leaf_varint(&l); break;
		case LEAF_TAG(7, WIRE_VARINT): made.live_out = leaf_varint(&l); break;
		case LEAF_TAG(8, WIRE_VARINT): made.space = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(9, WIRE_BYTES): good = read_assigned(m, leaf_bytes(&l)); break;
		case LEAF_TAG(12, WIRE_VARINT): made.constant = leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	made.end = m->assigned.n;
	made.space = made.space < 0 || made.space > SPACE_MAX ? SPACE_MAX : made.space;
	imap_put(&m->allocation_of, (uint64_t)made.index, (uint32_t)m->allocations.n, false);
	VEC_PUSH(m->a, &m->allocations, made);
	return good && !l.bad && made.size >= 0;
}

static bool read_heap(struct assignment *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	struct heap_trace made = { .bytes = bytes };

	while (leaf_next(&l)) {
		made.events += l.tag == LEAF_TAG(1, WIRE_BYTES);
		if (l.tag == LEAF_TAG(3, WIRE_VARINT))
			made.allocation = (int64_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	VEC_PUSH(m->a, &m->heaps, made);
	return !l.bad;
}

static bool read_assignment(struct assignment *m, struct str bytes)
{
	struct leaf l = leaf_of(bytes);
	bool good = true;

	while (good && leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): good = read_buffer(m, leaf_bytes(&l)); break;
		case LEAF_TAG(3, WIRE_BYTES): good = read_allocation(m, leaf_bytes(&l)); break;
		case LEAF_TAG(4, WIRE_BYTES): good = read_heap(m, leaf_bytes(&l)); break;
		default: leaf_skip(&l);
		}
	}
	return good && !l.bad;
}

/* ---- buffers ---- */

/* Returns the instruction that defines a buffer, or NULL. */
static const struct xinstruction *definition(
        const struct assignment *m, const struct logical_buffer *k)
{
	uint32_t i;

	if (imap_get(&m->p->of_id, (uint64_t)k->instruction, &i))
		return &m->p->instructions.v[i];
	uint32_t name = intern_find(&m->x->hlo_names, k->name);
	return name != ID_NONE && imap_get(&m->p->of_name, name, &i) ? &m->p->instructions.v[i]
	                                                             : NULL;
}

/* Returns the name of the framework's op, otherwise the name of the instruction. */
static struct str name_of(const struct xinstruction *i, const struct logical_buffer *k)
{
	struct str op = i ? i->op.name : S("");

	if (op.n && op.p[op.n - 1] == ':')
		op.n--;
	return op.n ? op : i ? i->name : k->name;
}

static void put_buffer(
        struct assignment *m, const struct logical_buffer *k, struct trace_buffer made)
{
	const struct xinstruction *i = definition(m, k);
	struct str name = name_of(i, k);

	made.op = name.n ? build_string(m->x->b, name) : ID_NONE;
	made.source = i && i->source.n ? build_string(m->x->b, i->source) : ID_NONE;
	build_buffer(m->x->b, &made);
}

static enum trace_buffer_kind kind_of(const struct hlo_allocation *a)
{
	return a->parameter  ? BUFFER_PARAMETER
	       : a->constant ? BUFFER_CONSTANT
	       : a->live_out ? BUFFER_OUTPUT
	                     : BUFFER_TEMPORARY;
}

/* True for the memory of a parameter whose last use is before the peak and which no result
 * reuses. */
static bool is_used(
        const struct assignment *m, const struct hlo_allocation *a, const struct logical_buffer *k)
{
	const struct xinstruction *i = definition(m, k);

	return a->parameter && !a->live_out && m->peak && i &&
	       m->uses[i - m->p->instructions.v] < m->peak;
}

/* Adds an allocation as one buffer that has the name of its largest buffer. */
static void put_whole(struct assignment *m, const struct hlo_allocation *a)
{
	const struct logical_buffer none = { .name = S(""), .instruction = -1 }, *of = &none;
	int64_t most = -1;
	uint32_t at;

	for (size_t i = a->first; i < a->end; i++) {
		const struct hlo_assigned *k = &m->assigned.v[i];
		if (k->size > most && imap_get(&m->buffer_of, k->buffer, &at)) {
			most = k->size;
			of = &m->buffers.v[at];
		}
	}
	struct trace_buffer made = {
		.bytes = a->size, .until = UINT32_MAX, .kind = (uint8_t)kind_of(a)
	};
	if (is_used(m, a, of))
		made.kind = BUFFER_USED_PARAMETER;
	put_buffer(m, of, made);
}

/* ---- heap traces ---- */

struct heap_event {
	uint64_t kind, buffer, share;
};
enum { HEAP_ALLOC, HEAP_FREE, HEAP_SHARE };

struct heap_replay {
	struct assignment *m;
	VEC(struct buffer_life) lives;
	struct imap life_of; /* key: id of a buffer; value: index in lives */
	uint32_t at;         /* number of the event */
};

static void take_heap_event(struct heap_replay *r, const struct heap_event *e)
{
	uint32_t life, at;

	r->at++;
	if (e->kind == HEAP_FREE) {
		if (imap_get(&r->life_of, e->buffer, &life) && r->lives.v[life].users &&
		        !--r->lives.v[life].users)
			r->lives.v[life].until = r->at;
	} else if (e->kind == HEAP_SHARE && imap_get(&r->life_of, e->share, &life)) {
		r->lives.v[life].users++;
		r->lives.v[life].until = UINT32_MAX;
		imap_put(&r->life_of, e->buffer, life, true);
	} else if (imap_get(&r->m->buffer_of, e->buffer, &at)) {
		imap_put(&r->life_of, e->buffer, (uint32_t)r->lives.n, true);
		VEC_PUSH(r->m->a, &r->lives, ((struct buffer_life){ r->at, UINT32_MAX, 1, at }));
	}
}

/* Returns the schedule position of the instruction that defines a buffer; 0: unknown. */
static uint32_t position_of(const struct assignment *m, uint32_t buffer)
{
	const struct xinstruction *i = definition(m, &m->buffers.v[buffer]);

	return i ? m->positions[i - m->p->instructions.v] : 0;
}

/* Sets the position of the largest use of the buffers. */
static void find_peak(struct heap_replay *r)
{
	struct assignment *m = r->m;
	int64_t *change = ARENA_ARRAY(m->a, (size_t)r->at + 2, int64_t);
	uint32_t *made = ARENA_ARRAY(m->a, (size_t)r->at + 2, uint32_t);
	int64_t now = 0, most = 0;
	uint32_t peak = 0;

	for (uint32_t i = 0; i < r->lives.n; i++) {
		const struct buffer_life *v = &r->lives.v[i];
		int64_t size = m->buffers.v[v->buffer].size;
		change[v->from] = num_add(change[v->from], size);
		made[v->from] = v->buffer;
		if (v->until != UINT32_MAX)
			change[v->until] = num_sub(change[v->until], size);
	}
	for (uint32_t at = 1; at <= r->at; at++) {
		now = num_add(now, change[at]);
		peak = now > most ? at : peak;
		most = now > most ? now : most;
	}
	m->peak = peak ? position_of(m, made[peak]) : 0;
}

/* Replays the heap trace of an allocation. */
static void replay_heap(struct assignment *m, const struct heap_trace *heap, struct heap_replay *r)
{
	struct leaf l = leaf_of(heap->bytes);

	*r = (struct heap_replay){ .m = m };
	imap_init(&r->life_of, m->a);
	while (leaf_next(&l)) {
		struct heap_event e = { 0 };
		if (l.tag != LEAF_TAG(1, WIRE_BYTES)) {
			leaf_skip(&l);
			continue;
		}
		struct leaf k = leaf_of(leaf_bytes(&l));
		while (leaf_next(&k)) {
			uint64_t *to = k.tag == LEAF_TAG(1, WIRE_VARINT)   ? &e.kind
			               : k.tag == LEAF_TAG(2, WIRE_VARINT) ? &e.buffer
			               : k.tag == LEAF_TAG(5, WIRE_VARINT) ? &e.share
			                                                   : NULL;
			if (to)
				*to = leaf_varint(&k);
			else
				leaf_skip(&k);
		}
		take_heap_event(r, &e);
	}
	find_peak(r);
}

/* Adds the buffers of an allocation that has a heap trace. */
static void put_heap(
        struct assignment *m, const struct hlo_allocation *a, const struct heap_replay *r)
{
	for (size_t i = 0; i < r->lives.n; i++) {
		const struct buffer_life *v = &r->lives.v[i];
		const struct logical_buffer *k = &m->buffers.v[v->buffer];
		put_buffer(m, k,
		        (struct trace_buffer){ .bytes = k->size,
		                .from = v->from,
		                .until = v->until,
		                .kind = (uint8_t)kind_of(a) });
	}
}

/* ---- memory spaces ---- */

/* Adds the memory of a space with n allocations. */
static void put_space(struct assignment *m, const struct hlo_allocation *v, size_t n)
{
	struct str name = str_fmt(
	        m->a, "program %.*s(%llu)", STR(m->p->name), (unsigned long long)m->p->program);
	const struct hlo_allocation *divided = NULL;
	struct heap_replay replay;
	int64_t reserved = 0;

	for (size_t i = 0; i < n; i++) {
		reserved = num_add(reserved, v[i].size);
		if (v[i].heap && (!divided || v[i].heap->events > divided->heap->events))
			divided = &v[i];
	}
	if (!reserved)
		return;
	m->peak = 0;
	if (divided)
		replay_heap(m, divided->heap, &replay);
	build_program_memory(
	        m->x->b, (struct trace_program_memory){ .name = build_string(m->x->b, name),
	                         .space = v->space,
	                         .reserved = reserved,
	                         .knows_use = m->peak > 0 });
	for (size_t i = 0; i < n; i++) {
		if (&v[i] == divided)
			put_heap(m, &v[i], &replay);
		else
			put_whole(m, &v[i]);
	}
}

static int by_space(const void *v, uint32_t a, uint32_t b)
{
	const struct hlo_allocation *x = v;

	return (x[a].space > x[b].space) - (x[a].space < x[b].space);
}

/* Finds the longest heap trace of each allocation. */
static void find_heaps(struct assignment *m)
{
	uint32_t at;

	for (size_t i = 0; i < m->heaps.n; i++) {
		const struct heap_trace *h = &m->heaps.v[i];
		if (!h->events || !imap_get(&m->allocation_of, (uint64_t)h->allocation, &at))
			continue;
		struct hlo_allocation *to = &m->allocations.v[at];
		if (!to->heap || h->events > to->heap->events)
			to->heap = h;
	}
}

static void find_positions(struct assignment *m)
{
	uint32_t i;

	m->positions = ARENA_ARRAY(m->a, m->p->instructions.n, uint32_t);
	for (size_t k = 0; k < m->p->schedule.n; k++)
		if (imap_get(&m->p->of_id, (uint64_t)m->p->schedule.v[k], &i))
			m->positions[i] = (uint32_t)k + 1;
}

/* Adds the memory of all spaces. */
static void put_spaces(struct assignment *m)
{
	find_positions(m);
	find_heaps(m);
	if (m->allocations.n)
		sort_array(m->a, m->allocations.v, m->allocations.n, sizeof *m->allocations.v,
		        by_space);
	for (size_t i = 0, end; i < m->allocations.n; i = end) {
		int64_t space = m->allocations.v[i].space;
		for (end = i + 1; end < m->allocations.n && m->allocations.v[end].space == space;)
			end++;
		put_space(m, &m->allocations.v[i], end - i);
	}
}

bool hlo_read_buffers(
        struct xspace *x, const struct xprogram *p, struct str bytes, const uint32_t *uses)
{
	struct scratch own;
	bool good;

	scratch_open(&own, x->a->work);
	struct assignment m = { .x = x, .a = &own.a, .p = p, .uses = uses };
	imap_init(&m.buffer_of, &own.a);
	imap_init(&m.allocation_of, &own.a);
	good = read_assignment(&m, bytes);
	if (good)
		put_spaces(&m);
	scratch_close(&own);
	return good;
}
