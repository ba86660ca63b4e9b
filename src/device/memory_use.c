/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocated memory over time. Events of all pools are gathered first; then each pool is replayed by
 * time. A release belongs to the owner of the allocation at its address; without an address, to its
 * own.
 */
#include "device/memory_use.h"

#include "base/sort.h"
#include "trace/pass/allocation.h"

struct memory_event {
	int64_t ns;
	int64_t bytes;  /* negative: released; 0: not known */
	int64_t in_use; /* total afterwards, from the source; negative: unknown */
	uint64_t address;
	uint32_t owner;    /* string id, or ID_NONE */
	uint32_t replaces; /* an event whose memory this one reuses, or ID_NONE */
	bool freed, has_address;
};
struct memory_events {
	VEC(struct memory_event) v;
	bool blind; /* releases do not name the allocation that they release */
};
struct memory_gathering {
	struct memory_use *out;
	struct arena *a, *scratch;
	VEC(struct memory_events) events; /* indexed by pool */
	struct intern keys;               /* struct pool_key -> pool */
	struct intern names;              /* of devices and allocators */
	struct intern owners;
};
struct pool_key {
	uint32_t device, allocator;
};

static void gathering_init(
        struct memory_gathering *g, struct memory_use *out, struct arena *a, struct arena *scratch)
{
	*g = (struct memory_gathering){ .out = out, .a = a, .scratch = scratch };
	intern_init(&g->keys, scratch);
	intern_init(&g->names, scratch);
	intern_init(&g->owners, a);
}

static struct str kept(const struct memory_gathering *g, struct str s)
{
	return s.p ? str_copy(g->a, s) : STR_NONE;
}

static uint32_t pool_of(struct memory_gathering *g, struct str device, struct str allocator)
{
	struct pool_key key = { device.p ? intern_add(&g->names, device) : ID_NONE,
		allocator.p ? intern_add(&g->names, allocator) : ID_NONE };
	uint32_t i = intern_add(&g->keys, str_make(&key, sizeof key));

	if (i == g->events.n) {
		VEC_PUSH(g->scratch, &g->events, (struct memory_events){ 0 });
		VEC_PUSH(g->a, &g->out->pools,
		        ((struct memory_pool){ .device = kept(g, device),
		                .allocator = kept(g, allocator),
		                .step = MEMORY_NO_STEP,
		                .peak = -1,
		                .reserved = -1,
		                .capacity = -1 }));
	}
	return i;
}

static void raise(int64_t *most, int64_t v)
{
	*most = v > *most ? v : *most;
}

static void add_event(struct memory_gathering *g, uint32_t pool, const struct memory_event *e)
{
	struct memory_pool *p = &g->out->pools.v[pool];

	if (e->freed) {
		p->frees++;
	} else {
		p->allocations++;
		p->allocated = num_add(p->allocated, e->bytes);
	}
	raise(&p->peak, e->in_use);
	VEC_PUSH(g->scratch, &g->events.v[pool].v, *e);
}

/* ---- replay ---- */

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_event *x = (const struct memory_event *)v + a,
	                          *y = (const struct memory_event *)v + b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Finds the size and the owner of each release by its address. A release without its allocation in
 * the file has no owner, and is used only if the source records totals. An allocation at an address
 * that is still allocated replaces the old one, whose release is missing in the file. */
static void match_releases(struct memory_event *v, const uint32_t *order, size_t n, struct arena *a)
{
	struct imap held; /* address -> 1 + event that allocated it; 0: released */
	uint32_t at;

	imap_init(&held, a);
	for (size_t i = 0; i < n; i++) {
		struct memory_event *e = &v[order[i]];
		e->replaces = ID_NONE;
		if (!e->has_address)
			continue;
		if (!imap_get(&held, e->address, &at))
			at = 0;
		at = at ? at - 1 : ID_NONE;
		imap_put(&held, e->address, e->freed ? 0 : 1 + order[i], true);
		if (!e->freed) {
			e->replaces = at;
		} else {
			e->bytes = at == ID_NONE ? 0 : num_sub(0, v[at].bytes);
			e->owner = at == ID_NONE ? ID_NONE : v[at].owner;
		}
		work_poll(a->work);
	}
}

/* Makes the use over time: the totals of the source where it has some, else the sum of what the
 * file itself allocates and releases. Returns the number of events up to the largest use. */
static size_t replay(struct memory_pool *p, const struct memory_event *v, const uint32_t *order,
        size_t n, struct arena *a)
{
	bool totals = false;
	int64_t live = 0;
	size_t until = 0;

	for (size_t i = 0; i < n; i++)
		totals |= v[i].in_use >= 0;
	for (size_t i = 0; i < n; i++) {
		const struct memory_event *e = &v[order[i]];
		live = num_add(live, e->bytes);
		if (e->replaces != ID_NONE)
			live = num_sub(live, v[e->replaces].bytes);
		if (totals && e->in_use < 0)
			continue;
		VEC_PUSH(a, &p->use, ((struct memory_moment){ e->ns, totals ? e->in_use : live }));
		if (!until || p->use.v[p->use.n - 1].bytes > p->use.v[p->most].bytes) {
			p->most = p->use.n - 1;
			until = i + 1;
		}
	}
	return until;
}

static int by_bytes(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_owner *x = (const struct memory_owner *)v + a,
	                          *y = (const struct memory_owner *)v + b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void memory_sort_live(struct memory_pool *p, struct arena *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < p->live.n; i++)
		if (p->live.v[i].bytes > 0 || p->live.v[i].allocations)
			p->live.v[n++] = p->live.v[i];
	p->live.n = n;
	if (n)
		sort_array(scratch, p->live.v, n, sizeof *p->live.v, by_bytes);
}

static void count_live(
        struct memory_owner *all, size_t none, const struct memory_event *e, int sign)
{
	struct memory_owner *o = &all[e->owner == ID_NONE ? none : e->owner];

	o->bytes = sign > 0 ? num_add(o->bytes, e->bytes) : num_sub(o->bytes, e->bytes);
	if (!e->freed && sign > 0)
		o->buffers++;
	else if (e->bytes && o->buffers)
		o->buffers--;
}

/* Adds up by owner what is allocated at the moment of the largest use. */
static void find_live(struct memory_gathering *g, struct memory_pool *p,
        const struct memory_event *v, const uint32_t *order, size_t n)
{
	size_t owners = g->owners.n;
	struct memory_owner *all = ARENA_ARRAY(g->scratch, owners + 1, struct memory_owner);

	for (size_t i = 0; i < n; i++) {
		const struct memory_event *e = &v[order[i]];
		count_live(all, owners, e, 1);
		if (e->replaces != ID_NONE)
			count_live(all, owners, &v[e->replaces], -1);
	}
	for (size_t i = 0; i <= owners; i++) {
		all[i].name = i < owners ? g->owners.strings[i] : STR_NONE;
		VEC_PUSH(g->a, &p->live, all[i]);
	}
	memory_sort_live(p, g->scratch);
}

static void finish(struct memory_gathering *g)
{
	for (size_t i = 0; i < g->out->pools.n; i++) {
		struct memory_pool *p = &g->out->pools.v[i];
		struct arena_mark mark = arena_mark(g->scratch);
		size_t n = g->events.v[i].v.n;
		struct memory_event *v = g->events.v[i].v.v;
		const uint32_t *order = sort_order(g->scratch, n, by_time, v);

		p->known_live = p->allocations && !g->events.v[i].blind;
		match_releases(v, order, n, g->scratch);
		size_t until = replay(p, v, order, n, g->a);
		if (p->known_live)
			find_live(g, p, v, order, until);
		arena_reset(g->scratch, mark);
	}
}

/* ---- a trace ---- */

/* Slices that are open on a track, the outermost first. */
struct open_slices {
	VEC(struct slice) v;
};

/* Returns the innermost op that is open, else the innermost slice of another level. */
static uint32_t open_owner(
        struct memory_gathering *g, const struct trace *t, const struct open_slices *o)
{
	size_t at = o->v.n;

	while (at && o->v.v[at - 1].category != CATEGORY_OP)
		at--;
	at = at ? at : o->v.n;
	return at ? intern_add(&g->owners, trace_str(t, o->v.v[at - 1].name)) : ID_NONE;
}

static uint32_t owner_of(struct memory_gathering *g, const struct trace *t, const struct slice *s,
        const struct open_slices *open)
{
	struct str scope = slice_text(t, s, ARG_SCOPE), op = slice_text(t, s, ARG_OP);

	if (scope.n || op.n)
		return intern_add(&g->owners, scope.n ? scope : op);
	return open_owner(g, t, open);
}

static void take_slice(struct memory_gathering *g, const struct trace *t, const struct slice *s,
        const struct str *labels, struct open_slices *open)
{
	struct allocation x;

	while (open->v.n && slice_end(&open->v.v[open->v.n - 1]) <= s->start)
		open->v.n--;
	if (allocation_of(t, s, labels, &x)) {
		uint32_t i = pool_of(g, x.device, x.allocator);
		struct memory_event e = { .ns = trace_ns(t, s->start),
			.bytes = x.freed ? num_sub(0, x.bytes) : x.bytes,
			.freed = x.freed,
			.in_use = x.in_use,
			.address = x.address,
			.has_address = x.has_address,
			.owner = owner_of(g, t, s, open) };
		add_event(g, i, &e);
		g->events.v[i].blind |= x.freed && !x.has_address;
		raise(&g->out->pools.v[i].peak, x.peak);
		raise(&g->out->pools.v[i].reserved, x.reserved);
		raise(&g->out->pools.v[i].capacity, x.capacity);
	} else if (s->form == SLICE_COMPLETE &&
	           trace_category_flags[s->category] & CATEGORY_HOST_NEST) {
		VEC_PUSH(g->scratch, &open->v, *s);
	}
}

void memory_use_trace(const struct trace *t, struct memory_use *out, struct arena *a)
{
	struct scratch own;
	struct memory_gathering g;
	struct slice s;

	*out = (struct memory_use){ 0 };
	scratch_open(&own, a->work);
	gathering_init(&g, out, a, &own.a);
	const struct str *labels = allocation_labels(t, &own.a);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct open_slices open = { 0 };
		for (struct slice_iter it = trace_slices(t, i); slice_next(&it, &s);)
			take_slice(&g, t, &s, labels, &open);
		work_poll(a->work);
	}
	for (size_t i = 0; i < out->pools.n; i++)
		if (out->pools.v[i].capacity < 0)
			out->pools.v[i].capacity =
			        allocation_capacity(t, labels, out->pools.v[i].device);
	finish(&g);
	scratch_close(&own);
}

/* ---- a model ---- */

/* Adds the records of a cell. A record without a time states only the highest use. */
static void take_cell(
        struct memory_gathering *g, const struct model *m, const struct step *s, uint32_t c)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	const struct node *node = &m->nodes.v[s->cell_node[c]];
	uint32_t pool = pool_of(g, device_name(m, node->device), STR_NONE),
	         owner = intern_add(&g->owners, node_name(m, s->cell_node[c]));

	g->out->pools.v[pool].step = s->id;
	for (struct mem_item x; mem_next(&item, end, &x);) {
		struct memory_event e = { .ns = step_ns(s, x.time), .in_use = -1, .owner = owner };
		if (x.allocation) {
			e.bytes = x.bytes;
			e.freed = x.bytes < 0;
			add_event(g, pool, &e);
		} else if (x.in_use > 0) {
			e.in_use = x.in_use;
			raise(&g->out->pools.v[pool].peak, x.in_use);
			if (x.time > 0)
				VEC_PUSH(g->scratch, &g->events.v[pool].v, e);
		}
	}
}

static int64_t largest(const struct memory_pool *p)
{
	int64_t most = p->use.n ? p->use.v[p->most].bytes : -1;

	return p->peak > most ? p->peak : most;
}

/* Keeps the pool unless the device has used more in an earlier step. */
static void keep_largest(struct memory_use *to, const struct memory_pool *p, struct arena *a)
{
	size_t i = 0;

	while (i < to->pools.n && !str_eq(to->pools.v[i].device, p->device))
		i++;
	if (i == to->pools.n)
		VEC_PUSH(a, &to->pools, *p);
	else if (largest(p) > largest(&to->pools.v[i]))
		to->pools.v[i] = *p;
}

void memory_use_model(
        const struct model *m, const struct opts *o, struct memory_use *out, struct arena *a)
{
	*out = (struct memory_use){ 0 };
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		struct memory_use one = { 0 };
		struct scratch own;
		struct memory_gathering g;

		if (!opts_has_step(o, s->id) || s->excluded_from_average)
			continue;
		scratch_open(&own, a->work);
		gathering_init(&g, &one, a, &own.a);
		for (uint32_t c = 0; c < s->n_cells; c++)
			if (s->cell_mem0[c] != s->cell_mem0[c + 1])
				take_cell(&g, m, s, c);
		finish(&g);
		scratch_close(&own);
		for (size_t k = 0; k < one.pools.n; k++)
			if (one.pools.v[k].allocations || one.pools.v[k].peak >= 0)
				keep_largest(out, &one.pools.v[k], a);
	}
}

int64_t memory_live_bytes(const struct memory_pool *p)
{
	int64_t sum = 0;

	if (p->from_snapshot)
		return p->moment_live;
	for (size_t i = 0; i < p->live.n; i++)
		sum = num_add(sum, p->live.v[i].bytes);
	return sum;
}
