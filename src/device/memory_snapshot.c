/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory use in a snapshot of PyTorch. The entries of a device are read three times, so nothing is
 * stored per entry:
 *
 * - scan: finds the allocations before the first entry, namely those that are freed without
 *   having been allocated, and the blocks that exist at the end and were never allocated
 *
 * - replay: computes the bytes in use and reserved after each entry, and the requested moment
 *
 * - collect: adds up the allocations at that moment
 *
 * Memory is in use from alloc to free_completed, and has the requested size.
 */
#include "base/sort.h"
#include "device/memory_kinds.h"
#include "device/memory_moments.h"
#include "device/memory_stacks.h"
#include "device/memory_steps.h"
#include "device/memory_use.h"

enum snapshot_action {
	ACTION_OTHER,
	ACTION_ALLOC,
	ACTION_FREE_REQUESTED,
	ACTION_FREE_COMPLETED,
	ACTION_RESERVE,
	ACTION_RELEASE,
	ACTION_OOM,
	ACTION_BLOCK,
	ACTION_SEGMENT
};
static const struct action_name {
	struct str name;
	enum snapshot_action action;
} action_names[] = {
	{ { "alloc", 5 }, ACTION_ALLOC },
	{ { "free_requested", 14 }, ACTION_FREE_REQUESTED },
	{ { "free_completed", 14 }, ACTION_FREE_COMPLETED },
	{ { "segment_alloc", 13 }, ACTION_RESERVE },
	{ { "segment_map", 11 }, ACTION_RESERVE },
	{ { "segment_free", 12 }, ACTION_RELEASE },
	{ { "segment_unmap", 13 }, ACTION_RELEASE },
	{ { "oom", 3 }, ACTION_OOM },
	{ { "block", 5 }, ACTION_BLOCK },
	{ { "segment", 7 }, ACTION_SEGMENT },
};

/* An entry of the allocator, a segment or a block. */
struct memory_entry {
	enum snapshot_action action;
	int64_t at; /* ticks */
	uint64_t address;
	int64_t bytes, requested, available; /* -1: unknown */
	uint32_t site;                       /* may be ID_NONE */
	uint32_t allocator, category, state; /* string ids, or ID_NONE */
};

/* An allocation that exists at some point of the replay. */
struct kept_block {
	uint64_t address;
	int64_t bytes;
	uint32_t site, pool, category;
	uint32_t owner; /* if the live set over time is wanted */
	uint8_t kind;   /* in out->kinds, if the use by kind is wanted */
	bool before, waiting;
};
struct kept_set {
	VEC(struct kept_block) v;
	VEC(uint32_t) unused;
	struct imap at; /* key: address; value: 1 + index in v; 0: freed */
};

struct snapshot_use {
	const struct trace *t;
	const struct memory_request *request;
	struct memory_use *out;
	struct arena *a, *scratch;
	struct memory_stacks stacks;
	const enum snapshot_action *actions; /* indexed by event */
	uint32_t key_category, key_state;
	struct intern owners;
	VEC(struct memory_owner) owner; /* indexed by owner */
	struct memory_steps steps;      /* requested steps */
	struct memory_kinds kinds;      /* valid if the use by kind is requested */
};

/* Bytes of a pool that the scan finds. */
struct pool_facts {
	int64_t reserved;     /* bytes reserved at the first entry */
	int64_t largest_free; /* largest free block at the end, bytes */
	int64_t free;         /* bytes of the free blocks at the end */
};

/* A device, or the host. */
struct snapshot_device {
	struct snapshot_use *x;
	uint32_t track;
	struct str name;
	size_t pool0, pools;  /* indexes in out->pools; if there are several, the first is the whole
	                         device */
	VEC(uint32_t) names;  /* string ids of the pools' names, or ID_NONE */
	struct imap pool_ids; /* key: name; value: index */
	size_t ooms0;         /* number of errors of earlier devices */
	VEC(struct kept_block) before;
	VEC(struct pool_facts) facts; /* indexed by pool */
	bool has_segments;
	uint64_t moment; /* number of entries up to the requested moment */
	uint64_t peak;   /* number of entries up to the peak */
	int64_t start;   /* time of the first entry, ticks */
};

/* ---- entries ---- */

static enum snapshot_action *make_actions(const struct trace *t, struct arena *a)
{
	enum snapshot_action *of = ARENA_ARRAY(a, t->events.n, enum snapshot_action);

	for (size_t i = 0; i < t->events.n; i++)
		for (size_t k = 0; k < sizeof action_names / sizeof *action_names; k++)
			if (t->events.v[i].category == CATEGORY_ALLOCATION &&
			        str_eq(trace_str(t, t->events.v[i].name), action_names[k].name))
				of[i] = action_names[k].action;
	return of;
}

static void take_argument(
        const struct snapshot_use *x, const struct argument *g, struct memory_entry *out)
{
	if (g->key == ARG_ADDRESS)
		out->address = (uint64_t)g->i;
	else if (g->key == ARG_BYTES)
		out->bytes = g->i;
	else if (g->key == ARG_REQUESTED)
		out->requested = g->i;
	else if (g->key == ARG_SITE)
		out->site = (uint32_t)(g->i - 1);
	else if (g->key == ARG_ALLOCATOR)
		out->allocator = g->text;
	else if (g->key == ARG_AVAILABLE_TOTAL)
		out->available = g->i;
	else if (g->key == x->key_category)
		out->category = g->text;
	else if (g->key == x->key_state)
		out->state = g->text;
}

static bool next_entry(const struct snapshot_use *x, struct slice_iter *i, struct memory_entry *out)
{
	struct slice s;

	do
		if (!slice_next(i, &s))
			return false;
	while (!x->actions[s.event]);
	*out = (struct memory_entry){ .action = x->actions[s.event],
		.at = s.start,
		.bytes = 0,
		.requested = -1,
		.available = -1,
		.site = ID_NONE,
		.allocator = ID_NONE,
		.category = ID_NONE,
		.state = ID_NONE };
	struct str args = s.args;
	for (struct argument g; argument_next(&args, &g);)
		take_argument(x, &g, out);
	return true;
}

static bool is_active(const struct snapshot_use *x, const struct memory_entry *e)
{
	return str_starts(trace_str(x->t, e->state), S("active"));
}

/* ---- allocations that exist ---- */

static struct kept_block *find_held(struct kept_set *s, uint64_t address)
{
	uint32_t i;

	return imap_get(&s->at, address, &i) && i ? &s->v.v[i - 1] : NULL;
}

static void add_held(struct kept_set *s, const struct kept_block *h, struct arena *a)
{
	uint32_t i = (uint32_t)s->v.n;

	if (s->unused.n) {
		i = s->unused.v[--s->unused.n];
		/* NOLINTNEXTLINE: only elements of v become unused */
		s->v.v[i] = *h;
	} else {
		VEC_PUSH(a, &s->v, *h);
	}
	imap_put(&s->at, h->address, i + 1, true);
}

static void remove_held(struct kept_set *s, struct kept_block *h, struct arena *a)
{
	imap_put(&s->at, h->address, 0, true);
	h->bytes = -1;
	VEC_PUSH(a, &s->unused, (uint32_t)(h - s->v.v));
}

/* ---- pools ---- */

/* Returns the index of a pool among the pools of the device, without the row of the device
 * itself. */
static uint32_t pool_of(struct snapshot_device *d, uint32_t name)
{
	uint32_t i;

	if (imap_get(&d->pool_ids, name, &i))
		return i;
	VEC_PUSH(d->x->scratch, &d->names, name);
	VEC_PUSH(d->x->scratch, &d->facts, (struct pool_facts){ 0 });
	imap_put(&d->pool_ids, name, (uint32_t)d->names.n - 1, false);
	return (uint32_t)d->names.n - 1;
}

static void add_pool(struct snapshot_device *d, struct str allocator)
{
	VEC_PUSH(d->x->a, &d->x->out->pools,
	        ((struct memory_pool){ .worker = d->x->out->worker,
	                .device = str_copy(d->x->a, d->name),
	                .allocator = allocator.p ? str_copy(d->x->a, allocator) : STR_NONE,
	                .step = d->x->steps.id,
	                .known_live = true,
	                .peak = -1,
	                .reserved = d->has_segments ? 0 : -1,
	                .capacity = -1,
	                .largest_free = d->has_segments ? 0 : -1,
	                .past_use = -1,
	                .fragmentation = -1,
	                .has_state = true }));
}

/* Finds the rows to which a pool's numbers belong: the row of the pool and the row of the
 * device. */
static size_t rows_of(const struct snapshot_device *d, uint32_t pool, struct memory_pool *rows[2])
{
	struct memory_pool *v = d->x->out->pools.v + d->pool0;

	if (d->pools == 1) {
		rows[0] = v;
		return 1;
	}
	rows[0] = &v[1 + pool];
	rows[1] = v;
	return 2;
}

/* Adds the free blocks of a pool to its rows. free: bytes by row. */
static void add_free(const struct snapshot_device *d, uint32_t pool, int64_t *free)
{
	struct memory_pool *rows[2], *first = d->x->out->pools.v + d->pool0;
	const struct pool_facts *facts = &d->facts.v[pool];

	for (size_t k = rows_of(d, pool, rows); k-- > 0;) {
		free[rows[k] - first] = num_add(free[rows[k] - first], facts->free);
		if (facts->largest_free > rows[k]->largest_free)
			rows[k]->largest_free = facts->largest_free;
	}
}

/* Creates the rows: one for each pool and, if there are several pools, one for the device. */
static void make_pools(struct snapshot_device *d)
{
	const struct snapshot_use *x = d->x;

	d->pool0 = x->out->pools.n;
	if (d->names.n > 1) {
		add_pool(d, S("all pools"));
		x->out->pools.v[d->pool0].whole_device = true;
	}
	for (size_t i = 0; i < d->names.n; i++)
		add_pool(d, trace_str(x->t, d->names.v[i]));
	d->pools = x->out->pools.n - d->pool0;
	int64_t *free = ARENA_ARRAY(x->scratch, d->pools, int64_t);
	for (uint32_t i = 0; d->has_segments && i < d->names.n; i++)
		add_free(d, i, free);
	for (size_t k = 0; d->has_segments && k < d->pools; k++) {
		struct memory_pool *p = &x->out->pools.v[d->pool0 + k];
		if (free[k] > 0)
			p->fragmentation = 1 - (double)p->largest_free / (double)free[k];
	}
}

/* ---- scan ---- */

/* SEEN_KEPT: a block exists at the end. */
enum seen { SEEN_NOT, SEEN_LIVE, SEEN_FREED, SEEN_KEPT };

struct entry_scan {
	struct snapshot_device *d;
	struct imap seen; /* key: address; value: enum seen */
	uint64_t live;    /* number of allocations without a free and without a block at the end */
};

static enum seen seen_at(const struct entry_scan *s, uint64_t address)
{
	uint32_t v;

	return imap_get(&s->seen, address, &v) ? (enum seen)v : SEEN_NOT;
}

static void add_before(
        struct entry_scan *s, const struct memory_entry *e, int64_t bytes, uint32_t site)
{
	VEC_PUSH(s->d->x->scratch, &s->d->before,
	        ((struct kept_block){ .address = e->address,
	                .bytes = bytes,
	                .site = site,
	                .pool = pool_of(s->d, e->allocator),
	                .category = ID_NONE,
	                .before = true }));
}

static void scan_block(struct entry_scan *s, const struct memory_entry *e, struct pool_facts *pool)
{
	enum seen seen = seen_at(s, e->address);

	if (!is_active(s->d->x, e)) {
		pool->largest_free = e->bytes > pool->largest_free ? e->bytes : pool->largest_free;
		pool->free = num_add(pool->free, e->bytes);
		return;
	}
	if (seen == SEEN_NOT)
		add_before(s, e, e->requested >= 0 ? e->requested : e->bytes, e->site);
	s->d->x->out->wrong_blocks += seen == SEEN_FREED;
	s->live -= seen == SEEN_LIVE;
	imap_put(&s->seen, e->address, SEEN_KEPT, true);
}

static void scan_entry(struct entry_scan *s, const struct memory_entry *e)
{
	enum seen seen = seen_at(s, e->address);
	bool alloc = e->action == ACTION_ALLOC;

	if (e->action == ACTION_FREE_COMPLETED && seen == SEEN_NOT)
		add_before(s, e, e->bytes, ID_NONE);
	s->live += alloc && seen != SEEN_LIVE;
	s->live -= !alloc && seen == SEEN_LIVE;
	imap_put(&s->seen, e->address, alloc ? SEEN_LIVE : SEEN_FREED, true);
}

/* Adds a segment, or a block of the last segment, to the map of the memory. */
static void map_segment(const struct entry_scan *s, const struct memory_entry *e)
{
	struct snapshot_use *x = s->d->x;
	struct memory_use *out = x->out;

	if (e->action == ACTION_SEGMENT)
		VEC_PUSH(x->a, &out->segments,
		        ((struct memory_segment){ .worker = out->worker,
		                .device = str_copy(x->a, s->d->name),
		                .allocator = str_copy(x->a, trace_str(x->t, e->allocator)),
		                .address = e->address,
		                .bytes = e->bytes }));
	else if (e->action == ACTION_BLOCK && out->segments.n)
		memory_add_block(&out->segments.v[out->segments.n - 1], e->address, e->bytes,
		        is_active(x, e));
}

static void scan_any(struct entry_scan *s, const struct memory_entry *e)
{
	uint32_t i = pool_of(s->d, e->allocator);
	struct pool_facts *pool = &s->d->facts.v[i];

	if (s->d->x->request->over_time)
		map_segment(s, e);
	if (e->action == ACTION_BLOCK)
		scan_block(s, e, pool);
	else if (e->action == ACTION_ALLOC || e->action == ACTION_FREE_COMPLETED)
		scan_entry(s, e);
	else if (e->action == ACTION_SEGMENT || e->action == ACTION_RELEASE)
		pool->reserved = num_add(pool->reserved, e->bytes);
	else if (e->action == ACTION_RESERVE)
		pool->reserved = num_sub(pool->reserved, e->bytes);
	s->d->has_segments |= e->action == ACTION_SEGMENT;
}

/* Finds the pools, and the allocations and the reserved memory before the first entry. */
static void scan(struct snapshot_device *d)
{
	struct entry_scan s = { .d = d };
	struct slice_iter i = trace_slices(d->x->t, d->track);
	bool first = true;

	imap_init(&s.seen, d->x->scratch);
	for (struct memory_entry e; next_entry(d->x, &i, &e); first = false) {
		d->start = first ? e.at : d->start;
		/* older versions do not write the pool of these entries */
		if (e.action != ACTION_OOM)
			scan_any(&s, &e);
		work_poll(d->x->scratch->work);
	}
	if (!d->names.n)
		pool_of(d, ID_NONE);
	d->x->out->lost_blocks += d->has_segments ? s.live : 0;
}

/* ---- owners ---- */

/* The properties that all allocations of an owner share. */
struct owner_key {
	uint32_t line, op, rule, category, size, site, pool;
};

static bool has_stack(const struct snapshot_use *x, const struct kept_block *h)
{
	return h->site != ID_NONE && h->site < x->t->sites.n;
}

static unsigned rule_of(const struct snapshot_use *x, const struct kept_block *h)
{
	return has_stack(x, h) ? memory_rule(&x->stacks, h->site)
	       : h->before     ? MEMORY_RULE_BEFORE
	                       : MEMORY_RULE_NO_STACK;
}

static struct owner_key key_of(const struct snapshot_use *x, const struct kept_block *h)
{
	const uint32_t none = ID_NONE;
	struct owner_key key = { none, none, none, none, none, none, h->pool };
	bool stack = has_stack(x, h);

	key.rule = rule_of(x, h);
	if (x->request->by == MEMORY_BY_SIZE) {
		key.size = memory_size_class_of(h->bytes);
		key.rule = none;
	} else if (x->request->by == MEMORY_BY_SITE) {
		key.site = stack ? h->site : none;
		key.rule = stack ? none : key.rule;
	} else if (x->request->by == MEMORY_BY_OP) {
		key.op = stack ? x->stacks.op[h->site] : none;
		key.rule = stack ? none : key.rule;
	} else {
		key.category = h->category;
		if (x->request->by != MEMORY_BY_KIND && stack)
			key.line = x->stacks.line[h->site];
	}
	return key;
}

static struct memory_owner describe(const struct snapshot_use *x, const struct owner_key *key)
{
	const struct trace *t = x->t;
	struct memory_owner made = { .pool = key->pool, .site = key->site };

	if (key->line != ID_NONE)
		made.line = memory_line_text(t, key->line, x->a);
	else if (x->request->by <= MEMORY_BY_LINE)
		made.line = key->rule == MEMORY_RULE_BEFORE
		                    ? S("(allocated before the first entry)")
		            : key->rule == MEMORY_RULE_NO_STACK ? S("(no call stack)")
		                                                : S("(no line of Python)");
	if (key->op != ID_NONE)
		made.name = memory_op_text(t, key->op, x->a);
	else if (x->request->by == MEMORY_BY_OP)
		made.name = S("(no op)");
	if (key->size != ID_NONE)
		made.size = memory_size_class(key->size);
	if (key->category != ID_NONE) {
		made.kind = str_copy(x->a, trace_str(t, key->category));
		made.rule = S("category in the file");
	} else if (key->rule != ID_NONE) {
		made.kind = str_of(memory_rule_kinds[key->rule]);
		made.rule = str_of(memory_rule_texts[key->rule]);
	}
	return made;
}

static struct memory_owner *owner_of(struct snapshot_use *x, const struct kept_block *h)
{
	struct owner_key key = key_of(x, h);
	uint32_t i = intern_add(&x->owners, str_make(&key, sizeof key));

	if (i == x->owner.n)
		VEC_PUSH(x->scratch, &x->owner, describe(x, &key));
	return &x->owner.v[i];
}

/* ---- replay ---- */

struct entry_replay {
	struct snapshot_device *d;
	struct kept_set held;
	struct snapshot_level {
		int64_t live, reserved, waiting, before;
	} * level;                  /* indexed by row */
	bool counts;                /* count and keep the use over time */
	struct memory_kinds *kinds; /* NULL: the use by kind is not wanted */
	bool owners;                /* add the bytes to their owners */
	int64_t most;               /* with steps: bytes at the moment; -1: none yet */
};

/* Changes the level of a pool and of its device. */
static void change(struct entry_replay *r, uint32_t pool, const struct snapshot_level *by)
{
	struct memory_pool *rows[2], *first = r->d->x->out->pools.v + r->d->pool0;

	for (size_t i = rows_of(r->d, pool, rows); i-- > 0;) {
		struct snapshot_level *l = &r->level[rows[i] - first];
		l->live = num_add(l->live, by->live);
		l->reserved = num_add(l->reserved, by->reserved);
		l->waiting = num_add(l->waiting, by->waiting);
		l->before = num_add(l->before, by->before);
	}
}

/* Finds the kind of an allocation. */
static void set_kind(const struct entry_replay *r, struct kept_block *h)
{
	const struct snapshot_use *x = r->d->x;
	struct str kind = h->category != ID_NONE ? trace_str(x->t, h->category)
	                                         : str_of(memory_rule_kinds[rule_of(x, h)]);

	h->kind = memory_kinds_add(x->out, kind, x->a);
}

/* Adds an allocation; removes the allocation if sign is -1. */
static void change_held(struct entry_replay *r, const struct kept_block *h, int64_t sign)
{
	int64_t bytes = sign * h->bytes;

	change(r, h->pool,
	        &(struct snapshot_level){ .live = bytes,
	                .waiting = h->waiting ? bytes : 0,
	                .before = h->before ? bytes : 0 });
	if (r->owners) {
		struct memory_owner *o = &r->d->x->owner.v[h->owner];
		o->bytes = num_add(o->bytes, bytes);
		o->buffers += (uint64_t)sign;
	}
	struct memory_pool *rows[2], *first = r->d->x->out->pools.v + r->d->pool0;
	for (size_t i = r->kinds ? rows_of(r->d, h->pool, rows) : 0; i-- > 0;)
		memory_kinds_change(r->kinds, (size_t)(rows[i] - first), h->kind, bytes);
}

static uint32_t owner_number(struct snapshot_use *x, const struct kept_block *h)
{
	return (uint32_t)(owner_of(x, h) - x->owner.v);
}

static void begin_replay(
        struct entry_replay *r, struct snapshot_device *d, bool counts, bool owners)
{
	*r = (struct entry_replay){ .d = d, .counts = counts, .owners = owners, .most = -1 };
	r->level = ARENA_ARRAY(d->x->scratch, d->pools, struct snapshot_level);
	imap_init(&r->held.at, d->x->scratch);
	if (counts && d->x->request->over_time) {
		const struct trace_track *k = &d->x->t->tracks.v[d->track];
		r->kinds = &d->x->kinds;
		memory_kinds_open(r->kinds, d->pool0, d->x->out->pools.n - d->pool0, k->start,
		        k->end, d->x->scratch);
	}
	for (size_t i = 0; i < d->before.n; i++) {
		if (r->kinds)
			set_kind(r, &d->before.v[i]);
		if (owners)
			d->before.v[i].owner = owner_number(d->x, &d->before.v[i]);
		add_held(&r->held, &d->before.v[i], d->x->scratch);
		change_held(r, &d->before.v[i], 1);
	}
	for (uint32_t i = 0; i < d->names.n; i++)
		change(r, i, &(struct snapshot_level){ .reserved = d->facts.v[i].reserved });
}

static void count(struct entry_replay *r, const struct memory_entry *e, bool found)
{
	struct memory_pool *rows[2];

	for (size_t i = rows_of(r->d, pool_of(r->d, e->allocator), rows); i-- > 0;) {
		struct memory_pool *p = rows[i];
		if (e->action == ACTION_ALLOC) {
			p->allocations++;
			p->allocated = num_add(p->allocated, e->bytes);
			p->lost_frees += found;
		} else {
			p->frees++;
			p->double_frees += !found;
		}
	}
}

/* Counts an allocation for its call stack. */
static void count_owner(struct snapshot_use *x, const struct kept_block *made)
{
	if (x->request->by != MEMORY_BY_SITE)
		return;
	struct memory_owner *o = owner_of(x, made);
	o->allocated = num_add(o->allocated, made->bytes);
	o->allocations++;
}

static void take_alloc(struct entry_replay *r, const struct memory_entry *e)
{
	struct kept_block *old = find_held(&r->held, e->address);
	struct kept_block made = { .address = e->address,
		.bytes = e->bytes,
		.site = e->site,
		.pool = pool_of(r->d, e->allocator),
		.category = e->category };

	if (r->kinds)
		set_kind(r, &made);
	if (r->owners)
		made.owner = owner_number(r->d->x, &made);
	if (r->counts) {
		count(r, e, old != NULL);
		count_owner(r->d->x, &made);
	}
	if (old) {
		change_held(r, old, -1);
		remove_held(&r->held, old, r->d->x->scratch);
	}
	add_held(&r->held, &made, r->d->x->scratch);
	change_held(r, &made, 1);
}

static void take_free(struct entry_replay *r, const struct memory_entry *e)
{
	struct kept_block *h = find_held(&r->held, e->address);

	if (r->counts)
		count(r, e, h != NULL);
	if (h) {
		change_held(r, h, -1);
		remove_held(&r->held, h, r->d->x->scratch);
	}
}

static void take_free_request(struct entry_replay *r, const struct memory_entry *e)
{
	struct kept_block *h = find_held(&r->held, e->address);

	if (!h || h->waiting)
		return;
	h->waiting = true;
	change(r, h->pool, &(struct snapshot_level){ .waiting = h->bytes });
}

static void take_reserve(struct entry_replay *r, const struct memory_entry *e)
{
	change(r, pool_of(r->d, e->allocator),
	        &(struct snapshot_level){
	                .reserved = e->action == ACTION_RESERVE ? e->bytes : -e->bytes });
}

static void take_oom(struct entry_replay *r, const struct memory_entry *e)
{
	const struct snapshot_use *x = r->d->x;
	const struct snapshot_level *l = &r->level[0];
	struct memory_oom made = { .worker = x->out->worker,
		.device = x->out->pools.v[r->d->pool0].device,
		.ns = trace_ns(x->t, e->at) - trace_ns(x->t, r->d->start),
		.requested = e->bytes,
		.device_free = e->available,
		.in_use = l->live,
		.unused = r->d->has_segments ? num_sub(l->reserved, l->live) : -1 };

	struct memory_pool *row = &x->out->pools.v[r->d->pool0];

	if (r->counts)
		VEC_PUSH(x->a, &x->out->ooms, made);
	if (r->counts && r->d->has_segments && e->available >= 0 && row->capacity < 0)
		row->capacity = num_add(l->reserved, e->available);
}

static void take_entry(struct entry_replay *r, const struct memory_entry *e)
{
	switch (e->action) {
	case ACTION_ALLOC: take_alloc(r, e); break;
	case ACTION_FREE_COMPLETED: take_free(r, e); break;
	case ACTION_FREE_REQUESTED: take_free_request(r, e); break;
	case ACTION_RESERVE:
	case ACTION_RELEASE: take_reserve(r, e); break;
	case ACTION_OOM: take_oom(r, e); break;
	default: break;
	}
}

/* Appends the use of a row after an entry. */
static void put_moment(struct entry_replay *r, struct memory_pool *p, int64_t at)
{
	const struct snapshot_level *l = &r->level[p - (r->d->x->out->pools.v + r->d->pool0)];

	if (r->kinds)
		memory_kinds_after(
		        r->kinds, (size_t)(p - (r->d->x->out->pools.v + r->d->pool0)), at);
	if (r->d->has_segments && l->reserved > p->reserved)
		p->reserved = l->reserved;
	if (p->use.n && p->use.v[p->use.n - 1].bytes == l->live)
		return;
	VEC_PUSH(
	        r->d->x->a, &p->use, ((struct memory_moment){ trace_ns(r->d->x->t, at), l->live }));
	if (l->live > p->use.v[p->most].bytes)
		p->most = p->use.n - 1;
}

/* True if the entry is the requested moment. A later entry may fit better and then replaces it: the
 * end is the moment of an out-of-memory error until the error occurs. */
static bool is_moment(const struct entry_replay *r, const struct memory_entry *e, int64_t before)
{
	const struct memory_pool *p = &r->d->x->out->pools.v[r->d->pool0];
	const struct memory_request *q = r->d->x->request;
	const struct trace *t = r->d->x->t;
	size_t ooms = r->d->x->out->ooms.n - r->d->ooms0;

	switch (q->at.kind) {
	case MOMENT_PEAK: return p->use.v[p->most].bytes > before;
	case MOMENT_END: return true;
	case MOMENT_OOM: return !ooms || (ooms == 1 && e->action == ACTION_OOM);
	case MOMENT_TIME: return trace_ns(t, e->at) - trace_ns(t, r->d->start) <= q->at.ns;
	}
	return false;
}

static size_t changed_rows(
        struct snapshot_device *d, const struct memory_entry *e, struct memory_pool *rows[2])
{
	return e->action == ACTION_OOM ? 0 : rows_of(d, pool_of(d, e->allocator), rows);
}

/* ---- the entries in order ---- */

/* Stores the use after n entries as the moment if it is the largest within the steps. */
static void try_moment(struct entry_replay *r, uint64_t n)
{
	if (r->level[0].live <= r->most)
		return;
	r->most = r->level[0].live;
	r->d->moment = n;
}

/* Counts the allocations that are never freed, by row. */
static void count_never_freed(const struct entry_replay *r)
{
	for (size_t k = 0; k < r->held.v.n; k++) {
		const struct kept_block *h = &r->held.v.v[k];
		struct memory_pool *rows[2];
		for (size_t m = h->bytes < 0 || h->before || h->waiting
		                        ? 0
		                        : rows_of(r->d, h->pool, rows);
		        m-- > 0;) {
			rows[m]->never_freed++;
			rows[m]->never_freed_bytes = num_add(rows[m]->never_freed_bytes, h->bytes);
		}
	}
}

/* Extends the time that -at can select to an entry. */
static void extend_length(const struct snapshot_device *d, const struct memory_entry *e)
{
	int64_t ns = trace_ns(d->x->t, e->at) - trace_ns(d->x->t, d->start);

	d->x->out->length = ns > d->x->out->length ? ns : d->x->out->length;
}

/* Replays the entries: finds the use over time, the counts, and the index of the requested
 * moment. */
static void replay(struct snapshot_device *d)
{
	struct slice_iter i = trace_slices(d->x->t, d->track);
	const struct memory_pool *top = &d->x->out->pools.v[d->pool0];
	struct memory_pool *rows[2];
	struct memory_steps *steps = &d->x->steps;
	uint64_t n = 0;
	struct entry_replay r;

	begin_replay(&r, d, true, false);
	memory_steps_rewind(steps);
	d->ooms0 = d->x->out->ooms.n;
	for (size_t k = 0; k < d->pools; k++)
		put_moment(&r, &d->x->out->pools.v[d->pool0 + k], d->start);
	for (struct memory_entry e; next_entry(d->x, &i, &e);) {
		int64_t before = top->use.v[top->most].bytes;
		if (memory_steps_begin(steps, e.at))
			try_moment(&r, n);
		r.counts = memory_steps_contain(steps, e.at);
		size_t changed = changed_rows(d, &e, rows);
		for (size_t k = r.kinds ? changed : 0; k-- > 0;)
			memory_kinds_before(r.kinds, (size_t)(rows[k] - top), e.at);
		take_entry(&r, &e);
		for (size_t k = changed; k-- > 0;)
			put_moment(&r, rows[k], e.at);
		extend_length(d, &e);
		n++;
		if (steps->v.n && r.counts)
			try_moment(&r, n);
		else if (!steps->v.n && is_moment(&r, &e, before))
			d->moment = n;
		if (top->use.v[top->most].bytes > before)
			d->peak = n;
		work_poll(d->x->scratch->work);
	}
	if (memory_steps_begin(steps, INT64_MAX))
		try_moment(&r, n);
	if (!steps->v.n && memory_is_peak_text(&d->x->request->at, top, d->x->scratch))
		d->moment = d->peak;
	for (size_t k = 0; k < d->pools; k++)
		memory_steps_find_most(steps, d->x->t, &d->x->out->pools.v[d->pool0 + k]);
	if (r.kinds)
		memory_kinds_close(r.kinds);
	count_never_freed(&r);
}

/* ---- collect ---- */

static void keep_live(struct snapshot_device *d)
{
	struct snapshot_use *x = d->x;

	for (size_t i = 0; i < x->owner.n; i++) {
		struct memory_pool *rows[2];
		rows_of(d, x->owner.v[i].pool, rows);
		VEC_PUSH(x->a, &rows[0]->live, x->owner.v[i]);
	}
	for (size_t i = 0; i < d->pools; i++)
		memory_sort_live(&x->out->pools.v[d->pool0 + i], x->scratch);
}

/* Adds up the allocations at the requested moment by owner. */
static void collect(struct snapshot_device *d)
{
	struct slice_iter i = trace_slices(d->x->t, d->track);
	struct snapshot_use *x = d->x;
	struct entry_replay r;
	struct memory_entry e;

	begin_replay(&r, d, false, false);
	for (uint64_t n = 0; n < d->moment && next_entry(x, &i, &e); n++)
		take_entry(&r, &e);
	for (size_t k = 0; k < r.held.v.n; k++) {
		if (r.held.v.v[k].bytes < 0)
			continue;
		struct memory_owner *o = owner_of(x, &r.held.v.v[k]);
		o->bytes = num_add(o->bytes, r.held.v.v[k].bytes);
		o->buffers++;
	}
	keep_live(d);
	for (size_t k = 0; k < d->pools; k++) {
		struct memory_pool *p = &x->out->pools.v[d->pool0 + k];
		p->moment_live = r.level[k].live;
		p->unused = d->has_segments ? num_sub(r.level[k].reserved, r.level[k].live) : -1;
		p->waiting = r.level[k].waiting;
		p->before = r.level[k].before;
	}
}

/* ---- the live set over time ---- */

/* A row whose moments are found. */
struct moments_row {
	struct memory_moments m;
	size_t use; /* index of its use after the last entry */
};

/* Adds the moment of a row if its use after an entry is one. */
static void try_put(const struct entry_replay *r, struct moments_row *row, size_t k)
{
	const struct snapshot_use *x = r->d->x;

	if (row->m.p->use.v[row->use].bytes != r->level[k].live)
		row->use++;
	if (memory_moments_is(&row->m, row->use))
		memory_moments_put(&row->m, x->owner.v, x->owner.n,
		        r->d->pools == 1 || !k ? ID_NONE : (uint32_t)k - 1);
}

/* Finds the live set over time of each row. */
static void find_moments(struct snapshot_device *d)
{
	struct slice_iter i = trace_slices(d->x->t, d->track);
	struct snapshot_use *x = d->x;
	struct moments_row *rows = ARENA_ARRAY(x->scratch, d->pools, struct moments_row);
	struct memory_pool *changed[2], *top = &x->out->pools.v[d->pool0];
	struct entry_replay r;
	struct memory_entry e;

	for (size_t k = 0; k < x->owner.n; k++) {
		x->owner.v[k].bytes = 0;
		x->owner.v[k].buffers = 0;
	}
	begin_replay(&r, d, false, true);
	for (size_t k = 0; k < d->pools; k++) {
		memory_moments_open(&rows[k].m, &top[k], x->a, x->scratch);
		try_put(&r, &rows[k], k);
	}
	while (next_entry(x, &i, &e)) {
		size_t n = changed_rows(d, &e, changed);
		take_entry(&r, &e);
		while (n-- > 0)
			try_put(&r, &rows[changed[n] - top], (size_t)(changed[n] - top));
		work_poll(x->scratch->work);
	}
}

/* True if the track has memory entries: of the allocator, of segments or of blocks. */
static bool has_entries(const struct snapshot_use *x, uint32_t track)
{
	struct slice_iter i = trace_slices(x->t, track);
	struct memory_entry e;

	return next_entry(x, &i, &e);
}

void memory_use_snapshot(const struct trace *t, const struct memory_request *request,
        struct memory_use *out, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct snapshot_use x = { .t = t,
		.request = request,
		.out = out,
		.a = a,
		.scratch = &own.a,
		.actions = make_actions(t, &own.a),
		.key_category = trace_key(t, "category"),
		.key_state = trace_key(t, "state") };
	x.kinds = (struct memory_kinds){ .t = t, .out = out, .a = a };
	memory_stacks_make(t, &x.stacks, &own.a);
	out->lacks_step |= !memory_steps_choose(t, request->steps, &x.steps, &own.a);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct snapshot_device d = { .x = &x, .track = i };
		uint32_t device = t->tracks.v[i].device;
		if (!has_entries(&x, i))
			continue;
		d.name = device == ID_NONE ? S("host") : trace_device_label(t, device, &own.a);
		imap_init(&d.pool_ids, &own.a);
		scan(&d);
		make_pools(&d);
		intern_init(&x.owners, &own.a);
		x.owner.n = 0;
		replay(&d);
		collect(&d);
		if (request->over_time)
			find_moments(&d);
	}
	scratch_close(&own);
}
