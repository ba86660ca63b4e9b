/* SPDX-License-Identifier: Apache-2.0
 *
 * One function for each kind of record. Implausible data is not trusted: times are checked, names
 * are copied at first use, and records that would exceed their buffer are dropped.
 */
#include "collect/decode.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "collect/cupti_client.h"
#include "collect/nvtx.h"
#include "collect/pool.h"
#include "collect/system.h"
#include "collect/store.h"

#define DAY_NS   86400000000000u
#define CBIDS    2048u /* API function numbers whose names are cached */
#define POINTERS 8192u /* number of kernel names cached by address; a power of two */
#define TIDS     4096u /* number of cached thread names; a power of two */
#define DEVICES  64u   /* number of devices that are stored, so that each is written once */

struct call {
	struct name *name;
	enum { CALL_UNKNOWN, CALL_UNWANTED, CALL_WANTED } wanted;
	uint8_t profiler; /* 1 + enum spool_mark_what, for cuProfilerStart and cuProfilerStop */
};

static struct {
	bool all_calls;
	bool graphs, parts; /* copies have the graph field; devices have the GPU partition field */
	uint64_t now;       /* start time of the buffer, on CUPTI's clock */
	int64_t ahead;      /* offset of that clock */
	uint64_t earliest;
	struct call call[2][CBIDS];
	struct {
		const char *at;
		struct name *name;
	} kernel[POINTERS];
	uint32_t tid[TIDS];
	uint32_t tids;
	struct spool_device device[DEVICES]; /* devices written so far, indexed by number */
	uint32_t devices;
	uint32_t error; /* the last reported error */
	_Atomic bool forget;
	struct decode_counts counts;
} decode;

void decode_reset(void)
{
	memset(&decode, 0, sizeof decode);
}

void decode_use(bool all_calls)
{
	const struct cupti *c = &cupti_client.f;

	decode.all_calls = all_calls;
	decode.graphs = c->version >= CUPTI_API_11_1;
	decode.parts = c->version >= CUPTI_API_11_8;
}

void decode_clock(int64_t ahead)
{
	decode.ahead = ahead;
}

uint64_t decode_earliest(void)
{
	return decode.earliest == UINT64_MAX ? UINT64_MAX
	                                     : decode.earliest - (uint64_t)decode.ahead;
}

void decode_earliest_begin(void)
{
	decode.earliest = UINT64_MAX;
}

void decode_forget_names(void)
{
	atomic_store(&decode.forget, true);
}

const struct decode_counts *decode_counts(void)
{
	return &decode.counts;
}

/* ---- names -------------------------------------------------------------------------------------
 */
static struct call *call_of(uint32_t domain, uint32_t cbid)
{
	static struct call none = { .wanted = CALL_UNWANTED };
	struct call *c = &decode.call[domain == CB_RUNTIME][cbid < CBIDS ? cbid : 0];
	const char *name = NULL;
	char number[24];

	if (cbid >= CBIDS)
		return &none;
	if (c->wanted != CALL_UNKNOWN)
		return c;
	if (!cupti_client.f.GetCallbackName || cupti_client.f.GetCallbackName(domain, cbid, &name))
		name = NULL;
	if (!name)
		snprintf(
		        number, sizeof number, "%s#%u", domain == CB_RUNTIME ? "cuda" : "cu", cbid);
	c->name = name ? names_add(name, decode_unversioned(name))
	               : names_add(number, strlen(number));
	c->wanted = !name || decode_wants(name) ? CALL_WANTED : CALL_UNWANTED;
	if (!name)
		return c;
	if (!strcmp(name, "cuProfilerStart"))
		c->profiler = 1 + SPOOL_PROFILER_START;
	if (!strcmp(name, "cuProfilerStop"))
		c->profiler = 1 + SPOOL_PROFILER_STOP;
	return c;
}

static uint32_t kernel_name(const char *name)
{
	if (!name)
		return store_name(names_add("?", 1));
	uint32_t slot =
	        (uint32_t)((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u >> 40) & (POINTERS - 1);

	if (decode.kernel[slot].at != name) {
		decode.kernel[slot].name = names_add(name, strnlen(name, NAME_READ));
		decode.kernel[slot].at = name;
	}
	return store_name(decode.kernel[slot].name);
}

static void put_thread(uint32_t tid)
{
	struct spool_record r = { .kind = SPOOL_THREAD };
	char text[64];

	if (!threads_name(tid, text, sizeof text))
		return;
	r.thread = (struct spool_thread){ tid, store_name(names_add(text, strlen(text))) };
	store_put(&r);
}

/* Writes a thread's name when its first record arrives. */
static void know_thread(uint32_t tid)
{
	uint32_t slot = tid * 0x9e3779b1u >> 16;

	for (;; slot++) {
		uint32_t *t = &decode.tid[slot & (TIDS - 1)];

		if (*t == tid)
			return;
		if (*t)
			continue;
		if (!tid || decode.tids >= TIDS / 2)
			return;
		*t = tid;
		decode.tids++;
		break;
	}
	put_thread(tid);
}

/* ---- kinds ---- */

/* Sets start and length. Implausible times become 0 and are counted. Records without an end are
 * counted separately: the work had not ended when CUPTI was forced to return its buffers, or CUPTI
 * has no times. */
static void times(uint64_t start, uint64_t end, uint64_t *from, uint64_t *length)
{
	bool ok = start && end >= start && end - start < DAY_NS && start < decode.now + DAY_NS;

	*from = ok ? start : 0;
	*length = ok ? end - start : 0;
	if (!ok) {
		++*(end ? &decode.counts.untimed : &decode.counts.running);
		return;
	}
	decode.counts.timed++;
	if (start < decode.earliest)
		decode.earliest = start;
}

static void put_kernel(const struct rec_kernel *k)
{
	struct spool_record r;

	r.kind = SPOOL_KERNEL;
	r.kernel = (struct spool_kernel){ .correlation = k->correlation,
		.name = kernel_name(k->name),
		.at = { k->device, k->context, k->stream },
		.grid = { (uint32_t)k->grid_x, (uint32_t)k->grid_y, (uint32_t)k->grid_z },
		.block = { (uint32_t)k->block_x, (uint32_t)k->block_y, (uint32_t)k->block_z },
		.registers = k->registers,
		.static_shared = (uint32_t)k->static_shared,
		.dynamic_shared = (uint32_t)k->dynamic_shared,
		.graph = k->graph,
		.graph_node = k->graph_node };
	times(k->start, k->end, &r.kernel.start, &r.kernel.length);
	decode.counts.kernels++;
	decode.counts.uncorrelated += !k->correlation;
	store_put(&r);
}

/* Decodes a copy of either kind; their first fields are equal. */
static void put_copy(const union rec *rec)
{
	const struct rec_memcpy *c = &rec->copy;
	const struct rec_memcpy_peer *p = rec->kind == ACT_MEMCPY_PEER ? &rec->peer : NULL;
	struct spool_record r;

	r.kind = SPOOL_COPY;
	r.copy = (struct spool_copy){ .bytes = c->bytes,
		.correlation = p ? p->correlation : c->correlation,
		.kind = c->copy_kind,
		.from = c->src_kind,
		.to = c->dst_kind,
		.flags = c->flags,
		.at = { c->device, c->context, c->stream },
		.peer = p != NULL,
		.from_device = p ? p->src_device : 0,
		.to_device = p ? p->dst_device : 0 };
	if (decode.graphs) {
		r.copy.graph = p ? p->graph : c->graph;
		r.copy.graph_node = p ? p->graph_node : c->graph_node;
	}
	times(c->start, c->end, &r.copy.start, &r.copy.length);
	store_put(&r);
}

static void put_set(const struct rec_memset *s)
{
	struct spool_record r;

	r.kind = SPOOL_SET;
	r.set = (struct spool_set){ .bytes = s->bytes,
		.correlation = s->correlation,
		.memory = (uint8_t)s->memory_kind,
		.at = { s->device, s->context, s->stream },
		.graph = decode.graphs ? s->graph : 0,
		.graph_node = decode.graphs ? s->graph_node : 0 };
	times(s->start, s->end, &r.set.start, &r.set.length);
	store_put(&r);
}

static void put_memory(const struct rec_memory *m)
{
	struct spool_record r;

	r.kind = SPOOL_MEMORY;
	r.memory = (struct spool_memory){ .time = m->time,
		.address = m->address,
		.bytes = m->bytes,
		.correlation = m->correlation,
		.freed = m->operation == MEMORY_OP_FREE,
		.memory = (uint8_t)m->memory_kind,
		.at = { m->device, m->context, m->stream },
		.name = m->name ? kernel_name(m->name) : 0 };
	store_put(&r);
}

static void put_api(const struct rec_api *a)
{
	struct call *c = call_of(a->kind == ACT_RUNTIME ? CB_RUNTIME : CB_DRIVER, a->cbid);
	struct spool_record r;

	if (c->wanted != CALL_WANTED && !(decode.all_calls && c->name))
		return;
	if (a->kind == ACT_DRIVER && a->cbid == CBID_DRIVER_VERSION)
		return; /* the collector itself made this call (cupti_count.c) */
	know_thread(a->thread);
	r.kind = SPOOL_API;
	r.api = (struct spool_api){ .correlation = a->correlation,
		.name = store_name(c->name),
		.tid = a->thread,
		.result = a->status };
	times(a->start, a->end, &r.api.start, &r.api.length);
	store_put(&r);
	if (!c->profiler)
		return;
	r.kind = SPOOL_MARK;
	r.mark = (struct spool_mark){ (enum spool_mark_what)(c->profiler - 1), a->start, 0 };
	store_put(&r);
}

static void put_graph(const struct rec_graph *g)
{
	struct spool_record r;

	r.kind = SPOOL_GRAPH;
	r.graph = (struct spool_graph){ .correlation = g->correlation,
		.at = { g->device, g->context, g->stream },
		.graph = g->graph };
	times(g->start, g->end, &r.graph.start, &r.graph.length);
	decode.counts.kernels++;
	store_put(&r);
}

static void put_sync(const struct rec_sync *s)
{
	struct spool_record r;

	r.kind = SPOOL_SYNC;
	r.sync = (struct spool_sync){ .correlation = s->correlation,
		.type = (uint8_t)s->type,
		.context = s->context,
		.stream = s->stream,
		.event = s->event };
	times(s->start, s->end, &r.sync.start, &r.sync.length);
	store_put(&r);
}

static void put_overhead(const struct rec_overhead *o)
{
	struct spool_record r;

	r.kind = SPOOL_OVERHEAD;
	r.overhead = (struct spool_overhead){ .kind = o->overhead_kind,
		.tid = o->object_kind == OBJECT_THREAD ? o->object[1] : 0 };
	times(o->start, o->end, &r.overhead.start, &r.overhead.length);
	store_put(&r);
}

static void put_context(const struct rec_context *c)
{
	struct spool_record r = { .kind = SPOOL_CONTEXT };

	r.context = (struct spool_context){ c->context, c->device };
	store_put(&r);
}

/* True if the device has already been written. */
static bool has_device(const struct spool_device *d)
{
	for (uint32_t i = 0; i < decode.devices; i++)
		if (decode.device[i].id == d->id && decode.device[i].name == d->name &&
		        !memcmp(decode.device[i].uuid, d->uuid, sizeof d->uuid) &&
		        !memcmp(decode.device[i].mig_uuid, d->mig_uuid, sizeof d->mig_uuid))
			return true;
	if (decode.devices < DEVICES)
		decode.device[decode.devices++] = *d;
	return false;
}

static void put_device(const struct rec_device *d)
{
	struct spool_record r = { .kind = SPOOL_DEVICE };

	r.device = (struct spool_device){ .id = d->id,
		.memory = d->memory_size,
		.multiprocessors = d->multiprocessors,
		.major = d->capability_major,
		.minor = d->capability_minor,
		.name = d->name ? kernel_name(d->name) : 0 };
	memcpy(r.device.uuid, d->uuid, sizeof r.device.uuid);
	if (decode.parts && d->mig)
		memcpy(r.device.mig_uuid, d->mig_uuid, sizeof r.device.mig_uuid);
	decode.counts.devices++;
	if (!has_device(&r.device))
		store_put(&r);
}

/* ---- buffers -----------------------------------------------------------------------------------
 */
/* The size up to the last field that a version has, for versions that lack the last fields. */
#define UP_TO(has, record, last)                                                                   \
	((has) ? sizeof(struct record)                                                             \
	       : offsetof(struct record, last) + sizeof(((struct record *)0)->last))

/* Returns the number of bytes that are read of a record; 0 for a kind that is not read. */
static size_t size_of(uint32_t kind)
{
	switch (kind) {
	case ACT_KERNEL: return sizeof(struct rec_kernel);
	case ACT_MEMCPY: return UP_TO(decode.graphs, rec_memcpy, correlation);
	case ACT_MEMCPY_PEER: return UP_TO(decode.graphs, rec_memcpy_peer, correlation);
	case ACT_MEMSET: return UP_TO(decode.graphs, rec_memset, memory_kind);
	case ACT_MEMORY: return sizeof(struct rec_memory);
	case ACT_RUNTIME:
	case ACT_DRIVER: return sizeof(struct rec_api);
	case ACT_GRAPH: return sizeof(struct rec_graph);
	case ACT_SYNC: return sizeof(struct rec_sync);
	case ACT_OVERHEAD: return sizeof(struct rec_overhead);
	case ACT_CONTEXT: return sizeof(struct rec_context);
	case ACT_DEVICE: return UP_TO(decode.parts, rec_device, name);
	default: return 0;
	}
}

static void put_record(const union rec *r)
{
	switch (r->kind) {
	case ACT_KERNEL: put_kernel(&r->kernel); break;
	case ACT_MEMCPY:
	case ACT_MEMCPY_PEER: put_copy(r); break;
	case ACT_MEMSET: put_set(&r->set); break;
	case ACT_MEMORY: put_memory(&r->memory); break;
	case ACT_RUNTIME:
	case ACT_DRIVER: put_api(&r->api); break;
	case ACT_GRAPH: put_graph(&r->graph); break;
	case ACT_SYNC: put_sync(&r->sync); break;
	case ACT_OVERHEAD: put_overhead(&r->overhead); break;
	case ACT_CONTEXT: put_context(&r->context); break;
	case ACT_DEVICE: put_device(&r->device); break;
	default: break;
	}
}

/* Processes a buffer that CUPTI cannot read to its end: n bytes are left, in records of at most
 * RECORD_MAX. */
static void put_unread(uint32_t error, size_t n)
{
	store_lost_least(SPOOL_LOST_UNREAD, n / RECORD_MAX);
	decode.counts.unread++;
	if (error != decode.error)
		store_note("CUPTI cannot read its own records: %s (%u)", cupti_error_text(error),
		        error);
	decode.error = error;
}

void decode_buffer(uint8_t *data, size_t valid)
{
	struct decode_counts before = decode.counts;
	union rec *r = NULL;
	size_t used = 0;
	uint32_t e = 0;

	decode.now = process_clock() + (uint64_t)decode.ahead;
	if (atomic_exchange(&decode.forget, false))
		memset(decode.kernel, 0, sizeof decode.kernel);
	while (valid && !(e = cupti_next(data, valid, &r))) {
		size_t at = (size_t)((uint8_t *)r - data), size;

		if (at >= valid || at < used || valid - at < sizeof r->kind) {
			e = CUPTI_E_INVALID_KIND;
			break;
		}
		size = size_of(r->kind);
		used = at + (size && size <= valid - at ? size : sizeof r->kind);
		decode.counts.records++;
		if (!size || size > valid - at)
			decode.counts.unknown++;
		else
			put_record(r);
	}
	/* A buffer with data holds at least one whole record. */
	if (e && (e != CUPTI_E_MAX_LIMIT_REACHED || !used))
		put_unread(e, valid - used);
	store_lost(SPOOL_LOST_UNTIMED, decode.counts.untimed - before.untimed);
	store_lost(SPOOL_LOST_RUNNING, decode.counts.running - before.running);
	store_lost(SPOOL_LOST_UNKNOWN, decode.counts.unknown - before.unknown);
}

void decode_entry(void *unused, uint32_t tid, const struct ring_entry *e)
{
	static const enum spool_range_op ops[] = { [RING_PUSH] = SPOOL_PUSH,
		[RING_POP] = SPOOL_POP,
		[RING_START] = SPOOL_START,
		[RING_END] = SPOOL_STOP,
		[RING_MARK] = SPOOL_INSTANT };
	uint32_t domain = e->domain ? domains_name(e->domain) : 0;
	struct spool_record r;

	(void)unused;
	know_thread(tid);
	if (e->kind == RING_NODE || e->kind == RING_COPY) {
		bool copied = e->kind == RING_COPY;
		r.kind = SPOOL_NODE;
		r.node = (struct spool_node){ .id = e->value,
			.original = copied ? e->time : 0,
			.time = copied ? 0 : ticks_time(e->time),
			.tid = tid };
	} else if (e->kind == RING_THREAD) {
		r.kind = SPOOL_THREAD;
		r.thread =
		        (struct spool_thread){ (uint32_t)e->value, store_name(names_at(e->name)) };
	} else {
		r.kind = SPOOL_RANGE;
		r.range = (struct spool_range){ .op = ops[e->kind],
			.time = ticks_time(e->time),
			.tid = tid,
			.domain = domain ? store_name(names_at(domain)) : 0,
			.name = e->kind == RING_POP || e->kind == RING_END
			                ? 0
			                : store_name(names_at(e->name)),
			.id = e->value };
	}
	store_put(&r);
}
