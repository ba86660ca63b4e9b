/* SPDX-License-Identifier: Apache-2.0
 *
 * The decoder of recordings: the fields of each kind of record, in the order in which
 * block_encode.c writes them. block_check.c finds and checks the blocks.
 */
#include "io/recording_in.h"

#include "base/bits.h"

void block_decode_init(struct block_decoder *g, struct src *s, struct arena *a, struct err *e)
{
	memset(g, 0, sizeof *g);
	g->s = s;
	g->a = a;
	g->e = e;
}

/* ---- fields ---- */

/* A position in the payload. The decoders of the most frequent records use a copy and the functions
 * take_*, which are inlined, so the compiler keeps the copy in registers. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};
#define INLINED static inline __attribute__((always_inline))

/* A number and the position after it; NULL if it cannot be read. */
struct long_number {
	uint64_t v;
	const uint8_t *p;
};

static __attribute__((noinline)) struct long_number get_long(const uint8_t *p, const uint8_t *end)
{
	struct long_number x = { 0, p };

	if (!varint_get(&x.p, end, &x.v))
		x.p = NULL;
	return x;
}

INLINED uint64_t take_u64(struct cursor *c)
{
	const uint8_t *p = c->p;

	if (p < c->end && *p < 0x80) {
		c->p = p + 1;
		return *p;
	}
	if (c->end - p >= 2 && p[1] < 0x80) {
		c->p = p + 2;
		return (*p & 0x7fu) | (uint64_t)p[1] << 7;
	}
	struct long_number x = get_long(p, c->end);
	c->bad |= !x.p;
	c->p = x.p ? x.p : p;
	return x.v;
}

INLINED uint32_t take_u32(struct cursor *c)
{
	uint64_t v = take_u64(c);

	c->bad |= v > UINT32_MAX;
	return (uint32_t)v;
}

static uint64_t get_u64(struct cursor *c)
{
	return take_u64(c);
}

static uint32_t get_u32(struct cursor *c)
{
	return take_u32(c);
}

static uint8_t get_byte(struct cursor *c)
{
	c->bad |= c->p == c->end;
	return c->bad ? 0 : *c->p++;
}

static struct spool_text get_text(struct cursor *c)
{
	struct spool_text t = { NULL, 0 };
	uint64_t n = get_u64(c);

	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return t;
	}
	t = (struct spool_text){ (const char *)c->p, (size_t)n };
	c->p += n;
	return t;
}

static void get_bytes(struct cursor *c, uint8_t *to, size_t n)
{
	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		return;
	}
	memcpy(to, c->p, n);
	c->p += n;
}

INLINED uint64_t take_time(struct block_decoder *g, struct cursor *c, enum spool_kind kind)
{
	return g->slots.last[kind].time += (uint64_t)unzigzag(take_u64(c));
}

INLINED uint32_t take_correlation(struct block_decoder *g, struct cursor *c, enum spool_kind kind)
{
	return g->slots.last[kind].correlation += (uint32_t)unzigzag(take_u64(c));
}

static uint64_t get_time(struct block_decoder *g, struct cursor *c, enum spool_kind kind)
{
	return take_time(g, c, kind);
}

/* Decodes the fields that all records with a duration have. */
INLINED void take_span(struct block_decoder *g, struct cursor *c, enum spool_kind kind,
        uint64_t *start, uint64_t *length, uint32_t *correlation)
{
	*start = take_time(g, c, kind);
	*length = take_u64(c);
	*correlation = take_correlation(g, c, kind);
}

static void get_span(struct block_decoder *g, struct cursor *c, enum spool_kind kind,
        uint64_t *start, uint64_t *length, uint32_t *correlation)
{
	take_span(g, c, kind, start, length, correlation);
}

INLINED void take_where(struct cursor *c, struct spool_where *w)
{
	w->device = take_u32(c);
	w->context = take_u32(c);
	w->stream = take_u32(c);
}

static void get_where(struct cursor *c, struct spool_where *w)
{
	take_where(c, w);
}

INLINED void take_graph(struct block_decoder *g, struct cursor *c, enum spool_kind kind,
        unsigned flags, uint32_t *graph, uint64_t *node)
{
	*graph = 0;
	*node = 0;
	if (!(flags & 4))
		return;
	*graph = take_u32(c);
	*node = g->slots.last[kind].node += (uint64_t)unzigzag(take_u64(c));
}

/* ---- records ---- */

/* Reads a slot number. With flag 1 the contents follow; otherwise the slot must be filled. */
INLINED bool take_slot(struct cursor *c, uint64_t v, unsigned flags, uint32_t *i)
{
	c->bad |= v >= SPOOL_SLOTS;
	*i = c->bad ? 0 : (uint32_t)v;
	return flags & 1;
}

static __attribute__((noinline)) void get_kernel(
        struct block_decoder *g, struct cursor *at, unsigned flags, struct spool_kernel *k)
{
	struct cursor c = *at;
	uint32_t i;

	bool filled = !take_slot(&c, take_u64(&c), flags, &i);
	struct spool_kernel_slot *slot = &g->slots.kernel[i];
	if (!filled) {
		slot->stamp = g->slots.stamp;
		slot->name = take_u32(&c);
		take_where(&c, &slot->at);
		for (unsigned j = 0; j < 9; j++)
			slot->shape[j] = take_u32(&c);
	}
	c.bad |= slot->stamp != g->slots.stamp;
	k->name = slot->name;
	k->at = slot->at;
	memcpy(k->grid, slot->shape, sizeof k->grid);
	memcpy(k->block, slot->shape + 3, sizeof k->block);
	k->registers = slot->shape[6];
	k->static_shared = slot->shape[7];
	k->dynamic_shared = slot->shape[8];
	take_span(g, &c, SPOOL_KERNEL, &k->start, &k->length, &k->correlation);
	take_graph(g, &c, SPOOL_KERNEL, flags, &k->graph, &k->graph_node);
	*at = c;
}

/* Returns the slot of a call or a range. */
INLINED const struct spool_slot *take_small_slot(struct block_decoder *g, struct cursor *c,
        uint64_t v, unsigned flags, struct spool_slot *of)
{
	uint32_t i;

	if (take_slot(c, v, flags, &i)) {
		of[i].stamp = g->slots.stamp;
		of[i].name = take_u32(c);
		of[i].tid = take_u32(c);
		of[i].more = take_u32(c);
	}
	c->bad |= of[i].stamp != g->slots.stamp;
	return &of[i];
}

static __attribute__((noinline)) void get_api(
        struct block_decoder *g, struct cursor *at, unsigned flags, struct spool_api *v)
{
	struct cursor c = *at;
	const struct spool_slot *s = take_small_slot(g, &c, take_u64(&c), flags, g->slots.api);

	v->name = s->name;
	v->tid = s->tid;
	v->result = s->more;
	take_span(g, &c, SPOOL_API, &v->start, &v->length, &v->correlation);
	*at = c;
}

static void get_range(
        struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_range *v)
{
	uint64_t word = get_u64(c);
	const struct spool_slot *s = take_small_slot(g, c, word >> 3, flags, g->slots.range);

	c->bad |= (word & 7) > SPOOL_INSTANT;
	v->op = (enum spool_range_op)(word & 7);
	v->name = s->name;
	v->tid = s->tid;
	v->domain = s->more;
	v->time = get_time(g, c, SPOOL_RANGE);
	v->id = v->op == SPOOL_START || v->op == SPOOL_STOP ? get_u64(c) : 0;
}

static void get_copy(
        struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_copy *v)
{
	get_span(g, c, SPOOL_COPY, &v->start, &v->length, &v->correlation);
	v->kind = get_byte(c);
	v->from = get_byte(c);
	v->to = get_byte(c);
	v->flags = get_byte(c);
	v->bytes = get_u64(c);
	get_where(c, &v->at);
	v->peer = flags & 1;
	v->from_device = v->peer ? get_u32(c) : 0;
	v->to_device = v->peer ? get_u32(c) : 0;
	take_graph(g, c, SPOOL_COPY, flags, &v->graph, &v->graph_node);
}

static void get_set(struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_set *v)
{
	get_span(g, c, SPOOL_SET, &v->start, &v->length, &v->correlation);
	v->memory = get_byte(c);
	v->bytes = get_u64(c);
	get_where(c, &v->at);
	take_graph(g, c, SPOOL_SET, flags, &v->graph, &v->graph_node);
}

static void get_memory(
        struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_memory *v)
{
	v->time = get_time(g, c, SPOOL_MEMORY);
	v->correlation = take_correlation(g, c, SPOOL_MEMORY);
	v->freed = flags & 1;
	v->address = get_u64(c);
	v->bytes = get_u64(c);
	v->memory = get_byte(c);
	get_where(c, &v->at);
	v->name = get_u32(c);
}

static void get_sync(struct block_decoder *g, struct cursor *c, struct spool_sync *v)
{
	get_span(g, c, SPOOL_SYNC, &v->start, &v->length, &v->correlation);
	v->type = get_byte(c);
	v->context = get_u32(c);
	v->stream = get_u32(c);
	v->event = get_u32(c);
}

static void get_launch(struct block_decoder *g, struct cursor *c, struct spool_graph *v)
{
	get_span(g, c, SPOOL_GRAPH, &v->start, &v->length, &v->correlation);
	get_where(c, &v->at);
	v->graph = get_u32(c);
}

static void get_overhead(struct block_decoder *g, struct cursor *c, struct spool_overhead *v)
{
	v->start = get_time(g, c, SPOOL_OVERHEAD);
	v->length = get_u64(c);
	v->kind = get_u32(c);
	v->tid = get_u32(c);
}

static void get_device(struct cursor *c, struct spool_device *v)
{
	v->id = get_u32(c);
	get_bytes(c, v->uuid, sizeof v->uuid);
	get_bytes(c, v->mig_uuid, sizeof v->mig_uuid);
	v->name = get_u32(c);
	v->memory = get_u64(c);
	v->multiprocessors = get_u32(c);
	v->major = get_u32(c);
	v->minor = get_u32(c);
}

/* Stores a string. Each string takes at least three bytes of the file, so no encoder writes larger
 * ids. */
static void get_string(struct block_decoder *g, struct cursor *c, struct spool_string *v)
{
	v->id = get_u32(c);
	v->text = get_text(c);
	c->bad |= v->id == 0 || v->id > src_at(g->s) / 3;
	if (c->bad)
		return;
	if (v->id >= g->strings.n) {
		VEC_ROOM(g->a, &g->strings, v->id + 1 - g->strings.n);
		while (g->strings.n <= v->id)
			g->strings.v[g->strings.n++] = STR_NONE;
	}
	g->strings.v[v->id] = str_copy(g->a, str_make(v->text.p, v->text.n));
}

static void get_sum(struct cursor *c, struct spool_sum *v)
{
	v->what = (enum spool_kind)get_byte(c);
	c->bad |= v->what != SPOOL_KERNEL && v->what != SPOOL_COPY && v->what != SPOOL_SET &&
	          v->what != SPOOL_API;
	v->name = get_u32(c);
	v->device = get_u32(c);
	v->scope = get_u32(c);
	v->from = get_u64(c);
	v->to = get_u64(c);
	v->count = get_u64(c);
	v->sum = get_u64(c);
	v->min = get_u64(c);
	v->max = get_u64(c);
	v->bytes = get_u64(c);
}

/* Decodes an end record; skips totals of unknown kinds. */
static void get_end(struct cursor *c, struct spool_end *v)
{
	uint32_t n;

	memset(v->totals, 0, sizeof v->totals);
	v->time = get_u64(c);
	n = get_u32(c);
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint64_t total = get_u64(c);
		if (i < SPOOL_N)
			v->totals[i] = total;
	}
}

static void get_node(
        struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_node *v)
{
	bool copied = flags & 1;

	v->id = get_u64(c);
	v->tid = get_u32(c);
	v->original = copied ? get_u64(c) : 0;
	v->time = copied ? 0 : get_time(g, c, SPOOL_NODE);
	c->bad |= copied && !v->original;
}

/* Decodes all records but the most frequent ones. */
static __attribute__((noinline)) void get_rare(
        struct block_decoder *g, struct cursor *c, unsigned flags, struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_RANGE: get_range(g, c, flags, &r->range); break;
	case SPOOL_COPY: get_copy(g, c, flags, &r->copy); break;
	case SPOOL_SET: get_set(g, c, flags, &r->set); break;
	case SPOOL_MEMORY: get_memory(g, c, flags, &r->memory); break;
	case SPOOL_SYNC: get_sync(g, c, &r->sync); break;
	case SPOOL_GRAPH: get_launch(g, c, &r->graph); break;
	case SPOOL_OVERHEAD: get_overhead(g, c, &r->overhead); break;
	case SPOOL_INFO:
		r->info.key = get_text(c);
		r->info.value = get_text(c);
		break;
	case SPOOL_STRING: get_string(g, c, &r->string); break;
	case SPOOL_CLOCK:
		r->clock.realtime = get_u64(c);
		r->clock.monotonic_raw = get_u64(c);
		r->clock.cupti = get_u64(c);
		r->clock.width = flags & 1 ? get_u64(c) : 0;
		break;
	case SPOOL_DEVICE: get_device(c, &r->device); break;
	case SPOOL_CONTEXT:
		r->context.id = get_u32(c);
		r->context.device = get_u32(c);
		break;
	case SPOOL_THREAD:
		r->thread.tid = get_u32(c);
		r->thread.name = get_u32(c);
		break;
	case SPOOL_MARK:
		c->bad |= flags > SPOOL_PROFILER_STOP;
		r->mark.what = (enum spool_mark_what)flags;
		r->mark.time = get_time(g, c, SPOOL_MARK);
		r->mark.label = get_u32(c);
		break;
	case SPOOL_SUM: get_sum(c, &r->sum); break;
	case SPOOL_LOST:
		r->lost.why = (enum spool_lost_why)get_u32(c);
		c->bad |= r->lost.why >= SPOOL_LOST_WHY_N;
		r->lost.count = get_u64(c);
		r->lost.at_least = flags & 1;
		break;
	case SPOOL_GAP:
		r->gap.from = get_u64(c);
		r->gap.to = get_u64(c);
		r->gap.why = get_u32(c);
		break;
	case SPOOL_NOTE: r->note.text = get_text(c); break;
	case SPOOL_END: get_end(c, &r->end); break;
	case SPOOL_NODE: get_node(g, c, flags, &r->node); break;
	default: c->bad = true;
	}
}

/* Decodes the next record of the block. Returns false if it cannot be read. */
static bool get_record(struct block_decoder *g, struct spool_record *r)
{
	struct cursor c = { g->p, g->end, false };
	unsigned tag = get_byte(&c), flags = tag >> 5;

	r->kind = (enum spool_kind)(tag & 31);
	switch (r->kind) {
	case SPOOL_KERNEL: get_kernel(g, &c, flags, &r->kernel); break;
	case SPOOL_API: get_api(g, &c, flags, &r->api); break;
	default: get_rare(g, &c, flags, r);
	}
	g->p = c.p;
	return !c.bad;
}

enum spool_event block_decode(
        struct block_decoder *g, struct spool_record *r, struct spool_damage *d)
{
	while (!g->left) {
		enum spool_event event = spool_block_next(g, d);
		if (event != SPOOL_EVENT_RECORD)
			return event;
	}
	if (!get_record(g, r)) {
		*d = (struct spool_damage){ .at = g->block_at,
			.skipped = (uint64_t)(g->end - g->p),
			.why = "a record of the block cannot be read",
			.records = g->left };
		g->left = 0;
		g->damaged = true;
		return SPOOL_EVENT_DAMAGE;
	}
	g->left--;
	g->ended = r->kind == SPOOL_END;
	return SPOOL_EVENT_RECORD;
}
