/* SPDX-License-Identifier: Apache-2.0
 *
 * The encoder of recordings. One function writes all records of a kind; block_decode.c reads the
 * same fields in the same order. The bits 1, 2 and 4 of the tag's flags are explained at each
 * function.
 */
#include "io/block_format.h"

#include "base/bits.h"
#include "base/crc32c.h"

#define RECORD_ROOM ((size_t)512) /* maximum size of a record without its texts, bytes */
_Static_assert(SPOOL_N *VARINT_MAX + 2 * VARINT_MAX + 32 < RECORD_ROOM, "an end fits");
_Static_assert(SPOOL_HEADER + RECORD_ROOM + 2 * SPOOL_TEXT_MAX < SPOOL_BLOCK_MIN, "texts fit");

static void le32_put(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void block_encode_init(struct block_encoder *p, uint32_t writer)
{
	memset(p, 0, sizeof *p);
	p->writer = writer;
}

void block_encode_begin(struct block_encoder *p, void *buffer, size_t size, uint64_t base)
{
	size_t most = SPOOL_HEADER + (size_t)SPOOL_PAYLOAD_MAX;

	p->block = buffer;
	p->p = p->block + SPOOL_HEADER;
	p->end = p->block + (size < most ? size : most);
	p->base = base;
	p->records = 0;
	p->slots.stamp++;
	for (unsigned i = 0; i < SPOOL_N; i++) {
		p->slots.last[i].time = base;
		p->slots.last[i].node = p->slots.last[i].correlation = 0;
	}
}

size_t block_encode_finish(struct block_encoder *p)
{
	uint32_t payload = (uint32_t)(p->p - p->block - SPOOL_HEADER);
	uint8_t *h = p->block;

	if (!p->records)
		return 0;
	memcpy(h, SPOOL_MAGIC, SPOOL_MAGIC_SIZE);
	le32_put(h + 8, SPOOL_VERSION);
	le32_put(h + 12, payload);
	le32_put(h + 16, p->sequence++);
	le32_put(h + 20, p->records);
	le32_put(h + 24, (uint32_t)p->base);
	le32_put(h + 28, (uint32_t)(p->base >> 32));
	le32_put(h + 32, p->writer);
	le32_put(h + 36, crc32c(h + SPOOL_HEADER, payload));
	le32_put(h + 40, crc32c(h, 40));
	return SPOOL_HEADER + (size_t)payload;
}

/* ---- fields ---- */

static uint8_t *put_tag(uint8_t *q, enum spool_kind kind, unsigned flags)
{
	*q++ = (uint8_t)((unsigned)kind | flags << 5);
	return q;
}

static uint8_t *put_time(struct block_encoder *p, uint8_t *q, enum spool_kind kind, uint64_t time)
{
	q = varint_put(q, zigzag((int64_t)(time - p->slots.last[kind].time)));
	p->slots.last[kind].time = time;
	return q;
}

static uint8_t *put_correlation(
        struct block_encoder *p, uint8_t *q, enum spool_kind kind, uint32_t correlation)
{
	q = varint_put(q, zigzag((int32_t)(correlation - p->slots.last[kind].correlation)));
	p->slots.last[kind].correlation = correlation;
	return q;
}

static uint8_t *put_where(uint8_t *q, const struct spool_where *w)
{
	q = varint_put(q, w->device);
	q = varint_put(q, w->context);
	return varint_put(q, w->stream);
}

/* Encodes the fields that all records with a duration have. */
static inline uint8_t *put_span(struct block_encoder *p, uint8_t *q, enum spool_kind kind,
        uint64_t start, uint64_t length, uint32_t correlation)
{
	q = varint_put(put_time(p, q, kind, start), length);
	return put_correlation(p, q, kind, correlation);
}

static size_t text_size(struct spool_text t)
{
	return t.n < SPOOL_TEXT_MAX ? t.n : SPOOL_TEXT_MAX;
}

static uint8_t *put_text(uint8_t *q, struct spool_text t)
{
	size_t n = text_size(t);

	q = varint_put(q, n);
	if (n)
		memcpy(q, t.p, n);
	return q + n;
}

/* Encodes graph and node; flag 4 is set if there is a graph. */
static uint8_t *put_graph(
        struct block_encoder *p, uint8_t *q, enum spool_kind kind, uint32_t graph, uint64_t node)
{
	if (!graph)
		return q;
	q = varint_put(q, graph);
	q = varint_put(q, zigzag((int64_t)(node - p->slots.last[kind].node)));
	p->slots.last[kind].node = node;
	return q;
}

/* ---- frequent records; flag 1: the slot is new ---- */

static unsigned slot_of(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u;

	return (h ^ h >> 15) % SPOOL_SLOTS;
}

static uint8_t *put_kernel(struct block_encoder *p, uint8_t *q, const struct spool_kernel *k)
{
	const uint32_t shape[9] = { k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
		k->block[2], k->registers, k->static_shared, k->dynamic_shared };
	unsigned i = slot_of(k->name, k->grid[0] + k->block[0], k->at.stream ^ k->at.device << 8);
	uint32_t stamp = p->slots.stamp;
	bool known = p->slots.kernel[i].stamp == stamp && p->slots.kernel[i].name == k->name &&
	             !memcmp(&p->slots.kernel[i].at, &k->at, sizeof k->at) &&
	             !memcmp(p->slots.kernel[i].shape, shape, sizeof shape);

	q = put_tag(q, SPOOL_KERNEL, (known ? 0u : 1u) | (k->graph ? 4u : 0u));
	q = varint_put(q, i);
	if (!known) {
		q = put_where(varint_put(q, k->name), &k->at);
		for (unsigned j = 0; j < 9; j++)
			q = varint_put(q, shape[j]);
		p->slots.kernel[i].stamp = stamp;
		p->slots.kernel[i].name = k->name;
		p->slots.kernel[i].at = k->at;
		memcpy(p->slots.kernel[i].shape, shape, sizeof shape);
	}
	q = put_span(p, q, SPOOL_KERNEL, k->start, k->length, k->correlation);
	return put_graph(p, q, SPOOL_KERNEL, k->graph, k->graph_node);
}

/* Returns the slot of a call or a range. Its number is stored above some low bits of a word. */
static inline uint8_t *put_small_slot(uint8_t *q, enum spool_kind kind, struct spool_slot *of,
        struct spool_slot v, unsigned shift, unsigned low)
{
	unsigned i = slot_of(v.name, v.tid, v.more);
	bool known = of[i].stamp == v.stamp && of[i].name == v.name && of[i].tid == v.tid &&
	             of[i].more == v.more;

	q = put_tag(q, kind, !known);
	q = varint_put(q, i << shift | low);
	if (known)
		return q;
	of[i] = v;
	return varint_put(varint_put(varint_put(q, v.name), v.tid), v.more);
}

static uint8_t *put_api(struct block_encoder *p, uint8_t *q, const struct spool_api *c)
{
	struct spool_slot v = { p->slots.stamp, c->name, c->tid, c->result };

	q = put_small_slot(q, SPOOL_API, p->slots.api, v, 0, 0);
	return put_span(p, q, SPOOL_API, c->start, c->length, c->correlation);
}

static uint8_t *put_range(struct block_encoder *p, uint8_t *q, const struct spool_range *g)
{
	struct spool_slot v = { p->slots.stamp, g->name, g->tid, g->domain };

	q = put_small_slot(q, SPOOL_RANGE, p->slots.range, v, 3, (unsigned)g->op);
	q = put_time(p, q, SPOOL_RANGE, g->time);
	return g->op == SPOOL_START || g->op == SPOOL_STOP ? varint_put(q, g->id) : q;
}

/* ---- less frequent records ---- */

/* Encodes a copy. Flag 1: between devices. */
static uint8_t *put_copy(struct block_encoder *p, uint8_t *q, const struct spool_copy *c)
{
	q = put_tag(q, SPOOL_COPY, c->peer | (c->graph ? 4u : 0));
	q = put_span(p, q, SPOOL_COPY, c->start, c->length, c->correlation);
	*q++ = c->kind;
	*q++ = c->from;
	*q++ = c->to;
	*q++ = c->flags;
	q = put_where(varint_put(q, c->bytes), &c->at);
	if (c->peer)
		q = varint_put(varint_put(q, c->from_device), c->to_device);
	return put_graph(p, q, SPOOL_COPY, c->graph, c->graph_node);
}

static uint8_t *put_set(struct block_encoder *p, uint8_t *q, const struct spool_set *s)
{
	q = put_tag(q, SPOOL_SET, s->graph ? 4 : 0);
	q = put_span(p, q, SPOOL_SET, s->start, s->length, s->correlation);
	*q++ = s->memory;
	q = put_where(varint_put(q, s->bytes), &s->at);
	return put_graph(p, q, SPOOL_SET, s->graph, s->graph_node);
}

/* Encodes an allocation or, with flag 1, a release. */
static uint8_t *put_memory(struct block_encoder *p, uint8_t *q, const struct spool_memory *m)
{
	q = put_tag(q, SPOOL_MEMORY, m->freed);
	q = put_time(p, q, SPOOL_MEMORY, m->time);
	q = put_correlation(p, q, SPOOL_MEMORY, m->correlation);
	q = varint_put(varint_put(q, m->address), m->bytes);
	*q++ = m->memory;
	return varint_put(put_where(q, &m->at), m->name);
}

static uint8_t *put_sync(struct block_encoder *p, uint8_t *q, const struct spool_sync *s)
{
	q = put_tag(q, SPOOL_SYNC, 0);
	q = put_span(p, q, SPOOL_SYNC, s->start, s->length, s->correlation);
	*q++ = s->type;
	return varint_put(varint_put(varint_put(q, s->context), s->stream), s->event);
}

static uint8_t *put_launch(struct block_encoder *p, uint8_t *q, const struct spool_graph *g)
{
	q = put_tag(q, SPOOL_GRAPH, 0);
	q = put_span(p, q, SPOOL_GRAPH, g->start, g->length, g->correlation);
	return varint_put(put_where(q, &g->at), g->graph);
}

static uint8_t *put_overhead(struct block_encoder *p, uint8_t *q, const struct spool_overhead *o)
{
	q = put_tag(q, SPOOL_OVERHEAD, 0);
	q = put_time(p, q, SPOOL_OVERHEAD, o->start);
	return varint_put(varint_put(varint_put(q, o->length), o->kind), o->tid);
}

/* ---- rare records ---- */

static uint8_t *put_device(uint8_t *q, const struct spool_device *d)
{
	q = varint_put(put_tag(q, SPOOL_DEVICE, 0), d->id);
	memcpy(q, d->uuid, 16);
	memcpy(q + 16, d->mig_uuid, 16);
	q = varint_put(varint_put(q + 32, d->name), d->memory);
	return varint_put(varint_put(varint_put(q, d->multiprocessors), d->major), d->minor);
}

static uint8_t *put_sum(uint8_t *q, const struct spool_sum *s)
{
	const uint64_t v[] = { s->name, s->device, s->scope, s->from, s->to, s->count, s->sum,
		s->min, s->max, s->bytes };

	q = put_tag(q, SPOOL_SUM, 0);
	*q++ = (uint8_t)s->what;
	for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
		q = varint_put(q, v[i]);
	return q;
}

static uint8_t *put_end(struct block_encoder *p, uint8_t *q, const struct spool_end *e)
{
	/* Without graph nodes, the record equals that of versions without them. */
	unsigned n = p->totals[SPOOL_NODE] ? SPOOL_N : SPOOL_NODE;

	q = varint_put(put_tag(q, SPOOL_END, 0), e->time);
	q = varint_put(q, n);
	for (unsigned i = 0; i < n; i++)
		q = varint_put(q, p->totals[i]);
	return q;
}

/* Encodes a graph node. Flag 1: a copy. */
static uint8_t *put_node(struct block_encoder *p, uint8_t *q, const struct spool_node *n)
{
	q = put_tag(q, SPOOL_NODE, n->original != 0);
	q = varint_put(varint_put(q, n->id), n->tid);
	return n->original ? varint_put(q, n->original) : put_time(p, q, SPOOL_NODE, n->time);
}

static uint8_t *put_numbers(uint8_t *q, enum spool_kind kind, uint64_t a, uint64_t b)
{
	return varint_put(varint_put(put_tag(q, kind, 0), a), b);
}

/* Encodes the kinds of records that have their own layout. */
static uint8_t *put_rare(struct block_encoder *p, uint8_t *q, const struct spool_record *r)
{
	const enum spool_kind kind = r->kind;

	switch (kind) {
	case SPOOL_INFO: return put_text(put_text(put_tag(q, kind, 0), r->info.key), r->info.value);
	case SPOOL_STRING:
		return put_text(varint_put(put_tag(q, kind, 0), r->string.id), r->string.text);
	case SPOOL_CLOCK:
		q = varint_put(put_tag(q, kind, r->clock.width != 0), r->clock.realtime);
		q = varint_put(varint_put(q, r->clock.monotonic_raw), r->clock.cupti);
		return r->clock.width ? varint_put(q, r->clock.width) : q;
	case SPOOL_DEVICE: return put_device(q, &r->device);
	case SPOOL_CONTEXT: return put_numbers(q, kind, r->context.id, r->context.device);
	case SPOOL_THREAD: return put_numbers(q, kind, r->thread.tid, r->thread.name);
	case SPOOL_MARK:
		q = put_tag(q, kind, (unsigned)r->mark.what);
		return varint_put(put_time(p, q, kind, r->mark.time), r->mark.label);
	case SPOOL_SUM: return put_sum(q, &r->sum);
	case SPOOL_LOST:
		return varint_put(
		        varint_put(put_tag(q, kind, r->lost.at_least), r->lost.why), r->lost.count);
	case SPOOL_GAP: return varint_put(put_numbers(q, kind, r->gap.from, r->gap.to), r->gap.why);
	case SPOOL_NOTE: return put_text(put_tag(q, kind, 0), r->note.text);
	case SPOOL_END: return put_end(p, q, &r->end);
	case SPOOL_NODE: return put_node(p, q, &r->node);
	default: return q;
	}
}

/* Returns the number of bytes of the texts of a record. */
static size_t texts_of(const struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_INFO: return text_size(r->info.key) + text_size(r->info.value);
	case SPOOL_STRING: return text_size(r->string.text);
	case SPOOL_NOTE: return text_size(r->note.text);
	default: return 0;
	}
}

bool block_encode(struct block_encoder *p, const struct spool_record *r)
{
	uint8_t *q = p->p;

	if ((size_t)(p->end - q) < RECORD_ROOM + texts_of(r))
		return false;
	switch (r->kind) {
	case SPOOL_KERNEL: q = put_kernel(p, q, &r->kernel); break;
	case SPOOL_API: q = put_api(p, q, &r->api); break;
	case SPOOL_RANGE: q = put_range(p, q, &r->range); break;
	case SPOOL_COPY: q = put_copy(p, q, &r->copy); break;
	case SPOOL_SET: q = put_set(p, q, &r->set); break;
	case SPOOL_MEMORY: q = put_memory(p, q, &r->memory); break;
	case SPOOL_SYNC: q = put_sync(p, q, &r->sync); break;
	case SPOOL_GRAPH: q = put_launch(p, q, &r->graph); break;
	case SPOOL_OVERHEAD: q = put_overhead(p, q, &r->overhead); break;
	default: q = put_rare(p, q, r);
	}
	p->p = q;
	p->totals[r->kind]++;
	p->records++;
	return true;
}
