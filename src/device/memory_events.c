/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays the allocations and releases of pools.
 */
#include "device/memory_events.h"

#include "base/sort.h"
#include "device/memory_kinds.h"
#include "device/memory_moments.h"
#include "device/memory_stacks.h"

struct pool_key {
	uint32_t worker, device, allocator;
};

void memory_gather_begin(struct memory_gathering *g, const struct memory_request *request,
        struct memory_use *out, struct arena *a, struct arena *scratch)
{
	*g = (struct memory_gathering){ .out = out,
		.request = request,
		.a = a,
		.scratch = scratch,
		.first = out->pools.n,
		.steps = { .id = MEMORY_NO_STEP } };
	intern_init(&g->keys, scratch);
	intern_init(&g->names, a);
	intern_init(&g->places, scratch);
}

static struct str kept(const struct memory_gathering *g, struct str s)
{
	return s.p ? str_copy(g->a, s) : STR_NONE;
}

struct memory_pool *memory_gathered_pool(const struct memory_gathering *g, uint32_t pool)
{
	return &g->out->pools.v[g->first + pool];
}

uint32_t memory_gather_pool(
        struct memory_gathering *g, struct str worker, struct str device, struct str allocator)
{
	struct pool_key key = { worker.p ? intern_add(&g->names, worker) : ID_NONE,
		device.p ? intern_add(&g->names, device) : ID_NONE,
		allocator.p ? intern_add(&g->names, allocator) : ID_NONE };
	uint32_t i = intern_add(&g->keys, str_make(&key, sizeof key));

	if (i == g->events.n) {
		VEC_PUSH(g->scratch, &g->events, (struct memory_events){ 0 });
		VEC_PUSH(g->a, &g->out->pools,
		        ((struct memory_pool){ .worker = kept(g, worker),
		                .device = kept(g, device),
		                .allocator = kept(g, allocator),
		                .step = g->steps.id,
		                .peak = -1,
		                .reserved = -1,
		                .capacity = -1,
		                .unused = -1,
		                .waiting = -1,
		                .largest_free = -1,
		                .past_use = -1,
		                .fragmentation = -1 }));
	}
	return i;
}

uint32_t memory_gather_place(struct memory_gathering *g, const struct memory_place *p)
{
	return intern_add(&g->places, str_make(p, sizeof *p));
}

void memory_gather_event(struct memory_gathering *g, uint32_t pool, const struct memory_event *e)
{
	g->events.v[pool].blind |= e->freed && !e->has_address && !g->sums_only;
	VEC_PUSH(g->scratch, &g->events.v[pool].v, *e);
}

/* ---- releases ---- */

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_event *x = (const struct memory_event *)v + a,
	                          *y = (const struct memory_event *)v + b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void match_release(struct memory_event *e, struct memory_event *made, bool known)
{
	e->unmatched = !made;
	e->freed_twice = !made && known;
	if (!made)
		return;
	made->released = true;
	if (e->ns <= made->until)
		made->rule = MEMORY_RULE_SAME_OP;
	e->bytes = num_sub(0, made->bytes);
	e->place = made->place;
	e->rule = made->rule;
}

/* Finds the size and the place of each release by its address. An allocation at an address that is
 * still allocated replaces the earlier allocation, whose release is missing in the file. */
static void match_releases(struct memory_event *v, const uint32_t *order, size_t n, struct arena *a)
{
	struct imap held; /* key: address; value: 1 + event that allocated it; 0: released */
	uint32_t at;

	imap_init(&held, a);
	for (size_t i = 0; i < n; i++) {
		struct memory_event *e = &v[order[i]];
		e->replaces = ID_NONE;
		if (!e->has_address)
			continue;
		bool known = imap_get(&held, e->address, &at);
		at = known && at ? at - 1 : ID_NONE;
		imap_put(&held, e->address, e->freed ? 0 : 1 + order[i], true);
		if (e->freed) {
			match_release(e, at == ID_NONE ? NULL : &v[at], known);
		} else if (at != ID_NONE) {
			e->replaces = at;
			v[at].released = true;
		}
		work_poll(a->work);
	}
}

/* ---- replay ---- */

/* State of a pool after some of its events. */
struct pool_level {
	int64_t known;        /* bytes that the file allocates and has not released */
	int64_t before;       /* bytes allocated before the first event; may become negative */
	int64_t in_use;       /* total bytes in use */
	int64_t reserved;     /* bytes; -1: unknown */
	double fragmentation; /* value in the last event that states it; -1: unknown */
};

struct pool_replay {
	struct memory_gathering *g;
	struct memory_pool *p;
	struct memory_event *v;
	const uint32_t *order;
	size_t n;
	bool totals; /* true: the source has totals */
	struct pool_level level, moment, peak;
	size_t until, peak_until; /* number of events up to the moment, and to the peak */
	bool found;               /* true: the moment has been found */
	bool any;                 /* true: the peak has been found */
};

/* Returns the number of bytes that an event adds to the known allocations. */
static int64_t change_of(const struct pool_replay *r, const struct memory_event *e)
{
	int64_t by = e->unmatched ? 0 : e->bytes;

	return e->replaces == ID_NONE ? by : num_sub(by, r->v[e->replaces].bytes);
}

/* Finds the bytes in use before the first event: the first total without the changes up to it. */
static void find_before(struct pool_replay *r)
{
	int64_t changed = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		changed = num_add(changed, e->unmatched ? e->bytes : change_of(r, e));
		if (e->in_use < 0)
			continue;
		r->totals = true;
		r->level.before = num_sub(e->in_use, changed);
		if (r->g->reserved_counts && e->reserved > 0)
			r->level.before = num_sub(r->level.before, e->reserved);
		r->level.before = r->level.before < 0 ? 0 : r->level.before;
		break;
	}
	r->level.in_use = r->level.before;
}

/* Stores the use after n events as the moment. */
static void take_moment(struct pool_replay *r, size_t n)
{
	r->moment = r->level;
	r->until = n;
	r->found = true;
}

static void raise_to(int64_t *most, int64_t v)
{
	*most = v > *most ? v : *most;
}

/* Stores the use after n events as the peak if it is the largest so far, and as the moment if it is
 * the requested one. ns: time of the last of these events. */
static void try_moment(struct pool_replay *r, size_t n, int64_t ns)
{
	struct memory_pool *p = r->p;
	const struct moment *at = &r->g->request->at;
	int64_t length = num_sub(ns, r->v[r->order[0]].ns);
	bool larger =
	        p->use.n && (!r->any || p->use.v[p->use.n - 1].bytes > p->use.v[p->most].bytes);

	if (larger) {
		p->most = p->use.n - 1;
		r->peak = r->level;
		r->peak_until = n;
	}
	r->any |= larger;
	raise_to(&r->g->out->length, length);
	if (at->kind == MOMENT_PEAK ? larger : at->kind == MOMENT_END || length <= at->ns)
		take_moment(r, n);
}

static uint64_t buffers_of(const struct memory_event *e)
{
	return e->buffers ? e->buffers : 1;
}

/* True for allocations and releases. */
static bool is_counted(const struct pool_replay *r, const struct memory_event *e)
{
	return !e->only_total && !r->g->sums_only;
}

static void count(struct pool_replay *r, const struct memory_event *e)
{
	struct memory_pool *p = r->p;

	if (!is_counted(r, e))
		return;
	if (e->freed) {
		p->frees++;
		p->double_frees += e->freed_twice;
		return;
	}
	p->allocations += buffers_of(e);
	p->allocated = num_add(p->allocated, e->bytes);
	p->lost_frees += e->replaces != ID_NONE;
	if (!e->released) {
		p->never_freed++;
		p->never_freed_bytes = num_add(p->never_freed_bytes, e->bytes);
	}
}

/* Changes the level by an event. Returns true if the use afterwards is known. */
static bool change_level(struct pool_replay *r, const struct memory_event *e)
{
	r->level.known = num_add(r->level.known, change_of(r, e));
	if (e->unmatched && r->totals)
		r->level.before = num_add(r->level.before, e->bytes);
	if (e->reserved >= 0)
		r->level.reserved = e->reserved;
	if (e->fragmentation >= 0)
		r->level.fragmentation = e->fragmentation;
	if (r->totals && e->in_use < 0)
		return false;
	r->level.in_use = r->totals ? e->in_use : r->level.known;
	return true;
}

static void take_event(struct pool_replay *r, const struct memory_event *e)
{
	if (change_level(r, e))
		VEC_PUSH(r->g->a, &r->p->use, ((struct memory_moment){ e->ns, r->level.in_use }));
}

static void replay(struct pool_replay *r)
{
	struct memory_steps *steps = &r->g->steps;

	r->level.reserved = -1;
	r->level.fragmentation = -1;
	find_before(r);
	memory_steps_rewind(steps);
	for (size_t i = 0; i < r->n; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		if (memory_steps_begin(steps, e->ns) && i)
			try_moment(r, i, e->ns);
		take_event(r, e);
		if (memory_steps_contain(steps, e->ns)) {
			count(r, e);
			try_moment(r, i + 1, e->ns);
		}
	}
	if (memory_steps_begin(steps, INT64_MAX) && r->n)
		try_moment(r, r->n, INT64_MAX);
	if (r->any && memory_is_peak_text(&r->g->request->at, r->p, r->g->scratch)) {
		r->moment = r->peak;
		r->until = r->peak_until;
		r->found = true;
	}
}

/* ---- the live set ---- */

/* The properties that all allocations of an owner share. */
struct row_key {
	struct memory_place at;
	uint32_t rule, size;
};

struct live_owners {
	struct pool_replay *r;
	struct intern keys;
	VEC(struct memory_owner) v;
};

static struct str name_of(const struct memory_gathering *g, uint32_t id)
{
	return id == ID_NONE ? STR_NONE : intern_str(&g->names, id);
}

/* Returns the text of a row that has no name of its own. p is NULL if the column is not shown. */
static struct str no_name(unsigned rule, bool shown, const char *none)
{
	if (rule == MEMORY_RULE_BEFORE_EVENTS || rule == MEMORY_RULE_NO_EVENT ||
	        rule == MEMORY_RULE_NO_ADDRESS || rule == MEMORY_RULE_RESERVED)
		none = rule == MEMORY_RULE_BEFORE_EVENTS ? "(before the trace)"
		       : rule == MEMORY_RULE_NO_EVENT    ? "(no event in the file)"
		       : rule == MEMORY_RULE_RESERVED    ? "(reserved for programs)"
		                                         : "(releases without addresses)";
	return shown ? str_of(none) : STR_NONE;
}

static struct memory_owner describe(const struct live_owners *l, const struct row_key *key)
{
	const struct memory_gathering *g = l->r->g;
	enum memory_by by = g->request->by;
	bool rest = key->at.op == ID_NONE;
	struct memory_owner o = { .site = key->at.site,
		.type = name_of(g, key->at.type),
		.name = name_of(g, key->at.op),
		.module = name_of(g, key->at.module),
		.line = name_of(g, key->at.line) };

	if (rest && !g->sums_only)
		o.name = no_name(key->rule,
		        by == MEMORY_BY_OP || by == MEMORY_BY_AUTO || by == MEMORY_BY_SITE,
		        "(no op)");
	if (key->at.module == ID_NONE)
		o.module = no_name(key->rule, by == MEMORY_BY_MODULE, "(no module)");
	if (key->at.line == ID_NONE)
		o.line = no_name(key->rule, by == MEMORY_BY_LINE, "(no line of Python)");
	if (by == MEMORY_BY_SIZE)
		o.size = key->size == ID_NONE ? no_name(key->rule, true, "(unknown)")
		                              : memory_size_class(key->size);
	if (by != MEMORY_BY_SIZE && by != MEMORY_BY_OP) {
		o.kind = str_of(memory_rule_kinds[key->rule]);
		o.rule = str_of(memory_rule_texts[key->rule]);
	}
	return o;
}

/* True for rows that do not represent allocations in the file. */
static bool is_rest(unsigned rule)
{
	return rule >= MEMORY_RULE_BEFORE_EVENTS && rule <= MEMORY_RULE_RESERVED;
}

static struct memory_owner *owner_of(
        struct live_owners *l, uint32_t place, unsigned rule, int64_t bytes)
{
	const struct memory_gathering *g = l->r->g;
	enum memory_by by = g->request->by;
	struct row_key key = { MEMORY_NO_PLACE, rule, ID_NONE };
	struct memory_place at = key.at;

	if (place != ID_NONE)
		memcpy(&at, intern_str(&g->places, place).p, sizeof at);
	if (by == MEMORY_BY_AUTO || by == MEMORY_BY_SITE)
		key.at = at;
	key.at.op = by == MEMORY_BY_OP ? at.op : key.at.op;
	key.at.module = by == MEMORY_BY_MODULE ? at.module : key.at.module;
	key.at.line = by == MEMORY_BY_LINE ? at.line : key.at.line;
	if (by == MEMORY_BY_SIZE && !is_rest(rule))
		key.size = memory_size_class_of(bytes);
	if ((by == MEMORY_BY_SIZE || by == MEMORY_BY_OP) && !is_rest(rule))
		key.rule = MEMORY_RULE_NONE;
	uint32_t i = intern_add(&l->keys, str_make(&key, sizeof key));
	if (i == l->v.n)
		VEC_PUSH(g->scratch, &l->v, describe(l, &key));
	return &l->v.v[i];
}

static void add_live(struct live_owners *l, const struct memory_event *e)
{
	struct memory_owner *o = owner_of(l, e->place, e->rule, e->bytes);

	o->bytes = num_add(o->bytes, e->bytes);
	o->buffers += l->r->g->sums_only ? 0 : buffers_of(e);
}

static void add_rest(struct live_owners *l, unsigned rule, int64_t bytes)
{
	if (!bytes)
		return;
	struct memory_owner *o = owner_of(l, ID_NONE, rule, bytes);
	o->bytes = num_add(o->bytes, bytes);
}

/* Adds the allocations that `count` counts to their rows. */
static void add_counts(struct live_owners *l)
{
	struct pool_replay *r = l->r;

	memory_steps_rewind(&r->g->steps);
	for (size_t i = 0; i < r->n; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		memory_steps_begin(&r->g->steps, e->ns);
		if (!is_counted(r, e) || e->freed || !memory_steps_contain(&r->g->steps, e->ns))
			continue;
		struct memory_owner *o = owner_of(l, e->place, e->rule, e->bytes);
		o->allocated = num_add(o->allocated, e->bytes);
		o->allocations += buffers_of(e);
		work_poll(r->g->scratch->work);
	}
}

/* Adds the allocations of the file that are in use at the moment. */
static void find_known(struct live_owners *l, bool *live)
{
	struct pool_replay *r = l->r;
	struct imap held; /* key: address; value: 1 + event; 0: released */
	uint32_t at;

	imap_init(&held, r->g->scratch);
	for (size_t i = 0; i < r->until; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		if (e->has_address && imap_get(&held, e->address, &at) && at)
			live[at - 1] = false;
		live[r->order[i]] = (r->g->sums_only || !e->freed) && e->bytes;
		if (e->has_address)
			imap_put(&held, e->address, e->freed ? 0 : 1 + r->order[i], true);
		work_poll(r->g->scratch->work);
	}
	for (size_t i = 0; i < r->n; i++)
		if (live[i])
			add_live(l, &r->v[i]);
}

/* Adds the rows for what the file's allocations do not explain. */
static void add_rests(struct live_owners *l, const struct pool_level *at, bool blind)
{
	int64_t stack = l->r->g->reserved_counts && at->reserved > 0 ? at->reserved : 0;
	int64_t before = at->before > 0 ? at->before : 0, sum = num_add(stack, before);

	for (size_t i = 0; i < l->v.n; i++)
		sum = num_add(sum, l->v.v[i].bytes);
	add_rest(
	        l, blind ? MEMORY_RULE_NO_ADDRESS : MEMORY_RULE_NO_EVENT, num_sub(at->in_use, sum));
	add_rest(l, MEMORY_RULE_BEFORE_EVENTS, before);
	add_rest(l, MEMORY_RULE_RESERVED, stack);
}

/* Makes the rows of the live set: they add up to the bytes in use at the moment. */
static void find_live(struct pool_replay *r, bool blind)
{
	struct memory_gathering *g = r->g;
	struct live_owners l = { .r = r };

	intern_init(&l.keys, g->scratch);
	if (!blind)
		find_known(&l, ARENA_ARRAY(g->scratch, r->n, bool));
	add_rests(&l, &r->moment, blind);
	if (g->request->by == MEMORY_BY_SITE)
		add_counts(&l);
	for (size_t i = 0; i < l.v.n; i++)
		VEC_PUSH(g->a, &r->p->live, l.v.v[i]);
	memory_sort_live(r->p, g->scratch);
}

/* ---- the live set over time ---- */

/* Adds an event to its owner, or removes it with sign -1. */
static void change_owner(struct live_owners *l, const struct memory_event *e, int64_t sign)
{
	bool sums = l->r->g->sums_only;

	if (!e->bytes || (e->freed && !sums))
		return;
	struct memory_owner *o = owner_of(l, e->place, e->rule, e->bytes);
	o->bytes = num_add(o->bytes, sign * e->bytes);
	o->buffers += sums ? 0 : (uint64_t)sign * buffers_of(e);
}

/* Adds the next moment. The rows that the allocations do not explain are removed afterwards. */
static void put_moment(struct memory_moments *m, struct live_owners *l, bool blind)
{
	struct memory_owner *known = ARENA_ARRAY(l->r->g->scratch, l->v.n, struct memory_owner);
	size_t n = l->v.n;

	if (n)
		memcpy(known, l->v.v, n * sizeof *known);
	add_rests(l, &l->r->level, blind);
	memory_moments_put(m, l->v.v, l->v.n, ID_NONE);
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].bytes = i < n ? known[i].bytes : 0;
}

/* Finds the live set over time. */
static void find_moments(struct pool_replay *r, bool blind)
{
	struct memory_gathering *g = r->g;
	struct live_owners l = { .r = r };
	struct memory_moments m;
	struct imap held; /* address -> 1 + event; 0: released */
	uint32_t at;
	size_t use = 0;

	r->level = (struct pool_level){ .reserved = -1, .fragmentation = -1 };
	find_before(r);
	intern_init(&l.keys, g->scratch);
	imap_init(&held, g->scratch);
	memory_moments_open(&m, r->p, g->a, g->scratch);
	for (size_t i = 0; i < r->n; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		if (!blind && e->has_address && imap_get(&held, e->address, &at) && at)
			change_owner(&l, &r->v[at - 1], -1);
		if (!blind)
			change_owner(&l, e, 1);
		if (e->has_address)
			imap_put(&held, e->address, e->freed ? 0 : 1 + r->order[i], true);
		if (change_level(r, e) && memory_moments_is(&m, use++))
			put_moment(&m, &l, blind);
		work_poll(g->scratch->work);
	}
}

/* ---- use by kind ---- */

static uint8_t kind_of(const struct pool_replay *r, unsigned rule)
{
	return memory_kinds_add(r->g->out, str_of(memory_rule_kinds[rule]), r->g->a);
}

/* Computes the memory in use over time by kind. Memory that no event of the file explains has an
 * unknown kind. */
static void find_kinds(struct pool_replay *r, bool blind)
{
	struct memory_kinds k = { .out = r->g->out, .a = r->g->a };
	struct pool_level level = { 0 };
	uint8_t unknown = kind_of(r, MEMORY_RULE_NO_EVENT);
	int64_t rest = 0;
	size_t use = 0;

	memory_kinds_open(&k, (size_t)(r->p - r->g->out->pools.v), 1, r->v[r->order[0]].ns,
	        r->v[r->order[r->n - 1]].ns, r->g->scratch);
	for (size_t i = 0; i < r->n; i++) {
		const struct memory_event *e = &r->v[r->order[i]];
		const struct memory_event *old = e->replaces == ID_NONE ? NULL : &r->v[e->replaces];
		memory_kinds_before(&k, 0, e->ns);
		if (!blind && !e->unmatched) {
			memory_kinds_change(&k, 0, kind_of(r, e->rule), e->bytes);
			level.known = num_add(level.known, change_of(r, e));
		}
		if (!blind && old)
			memory_kinds_change(&k, 0, kind_of(r, old->rule), num_sub(0, old->bytes));
		if (!r->totals || e->in_use >= 0)
			level.in_use = r->p->use.v[use++].bytes;
		memory_kinds_change(
		        &k, 0, unknown, num_sub(num_sub(level.in_use, level.known), rest));
		rest = num_sub(level.in_use, level.known);
		memory_kinds_after(&k, 0, e->ns);
	}
	memory_kinds_close(&k);
}

/* ---- pools ---- */

/* Fills the state of a pool at the moment. */
static void find_state(struct pool_replay *r, bool blind)
{
	struct memory_pool *p = r->p;

	p->moment_live = r->moment.in_use;
	p->before = r->totals && r->moment.before > 0 ? r->moment.before : 0;
	if (r->totals && !r->g->reserved_counts && r->moment.reserved >= r->moment.in_use)
		p->unused = num_sub(r->moment.reserved, r->moment.in_use);
	p->fragmentation = r->moment.fragmentation;
	p->only_sums = r->g->sums_only;
	p->has_state = r->found && !blind && p->allocations;
	p->known_live = r->found;
}

/* Sets the live set of a pool for which only the peak is known. */
static void keep_peak(struct memory_gathering *g, struct memory_pool *p)
{
	if (p->peak <= 0 || p->use.n)
		return;
	struct pool_replay r = { .g = g, .p = p, .moment = { .in_use = p->peak }, .found = true };
	p->moment_live = p->peak;
	p->known_live = true;
	find_live(&r, false);
}

void memory_gather_end(struct memory_gathering *g)
{
	for (uint32_t i = 0; i < g->events.n; i++) {
		struct memory_pool *p = memory_gathered_pool(g, i);
		struct arena_mark mark = arena_mark(g->scratch);
		struct memory_events *all = &g->events.v[i];
		struct pool_replay r = { .g = g,
			.p = p,
			.v = all->v.v,
			.n = all->v.n,
			.order = sort_order(g->scratch, all->v.n, by_time, all->v.v) };

		match_releases(r.v, r.order, r.n, g->scratch);
		replay(&r);
		if (r.found) {
			find_live(&r, all->blind);
			find_state(&r, all->blind);
			if (g->request->over_time) {
				find_kinds(&r, all->blind);
				find_moments(&r, all->blind);
			}
		}
		if (g->reserved_counts && !p->reserved)
			p->reserved =
			        -1; /* an XSpace states 0 where nothing is reserved for programs */
		if (p->use.n && !g->steps.v.n)
			raise_to(&p->peak, p->use.v[p->most].bytes);
		else if (p->use.n)
			p->peak = p->use.v[p->most].bytes;
		keep_peak(g, p);
		arena_reset(g->scratch, mark);
	}
}
