/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls and their waits. Finds the time in which calls waited, in one walk over the calls and the
 * work of all processes in order of their starts. Keeps a list of the calls that have not ended.
 */
#include "device/device_calls.h"
#include "device/device_parts.h"
#include "trace/pass/work_merge.h"

#define OPEN_CALLS_MAX 4096 /* maximum number of open calls */

enum call_trait {
	TRAIT_SYNC = 1,     /* the call always waits for work */
	TRAIT_MAY_WAIT = 2, /* the call may wait for work */
};

static bool has(struct str name, const char *part)
{
	return str_contains(name, str_of(part));
}

static uint8_t traits_of(struct str name)
{
	static const char *const may[] = { "Free", "Malloc", "MemAlloc", "HostAlloc",
		"HostRegister", "HostUnregister", "MemHost", "ModuleUnload", "ModuleLoad",
		"Destroy", "Reset" };
	uint8_t traits = 0;

	if (has(name, "GraphLaunch"))
		return 0;
	if (has(name, "Synchronize"))
		return TRAIT_SYNC;
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (has(name, may[i]) && !has(name, "Async"))
			traits |= TRAIT_MAY_WAIT;
	return traits;
}

/* Returns the index of a call's name in u->calls. */
static uint32_t call_of(struct gpu_call_feed *f, gpu_name *text_of, const void *from, uint32_t name)
{
	if (f->traits.n && f->name == name)
		return f->call;
	f->name = name;
	if (imap_get(&f->call_of, name, &f->call))
		return f->call;
	struct str text = text_of(from, name);
	f->call = gpu_list_index(f->u, &f->u->calls, text);
	while (f->traits.n <= f->call)
		VEC_PUSH(f->scratch, &f->traits, 0);
	f->traits.v[f->call] = traits_of(text);
	imap_put(&f->call_of, name, f->call, false);
	return f->call;
}

static void add_host(struct gpu_call_feed *f, struct span x)
{
	spans_add(&f->u->processes.v[f->process].host, f->u->a, f->scratch, x);
}

/* Adds a call that is not nested in another one. */
static void settle(struct gpu_call_feed *f, const struct gpu_pending *p)
{
	uint8_t traits = f->traits.v[p->call];

	hist_add(&f->u->calls.v[p->call].h, f->u->a, num_from_u64(p->length));
	if (!(traits & (TRAIT_SYNC | TRAIT_MAY_WAIT)) || !p->start)
		return;
	uint64_t flags = traits & TRAIT_SYNC ? CALL_SYNCHRONIZES : 0;
	add_host(f, (struct span){ .start = p->start,
	                    .length = p->length,
	                    .tag = (uint64_t)p->call << CALL_BITS | flags });
}

/* True if b is inside a. */
static bool contains(const struct gpu_pending *a, const struct gpu_pending *b)
{
	return b->start >= a->start && b->start - a->start <= a->length &&
	       b->length <= a->length - (b->start - a->start);
}

void gpu_calls_begin(
        struct gpu_call_feed *f, struct device_use *u, uint32_t process, struct arena *scratch)
{
	*f = (struct gpu_call_feed){ .u = u, .scratch = scratch, .process = process };
	imap_init(&f->threads, scratch);
	imap_init(&f->call_of, scratch);
}

void gpu_calls_take(
        struct gpu_call_feed *f, gpu_name *text_of, const void *from, const struct spool_api *c)
{
	struct gpu_pending now = { c->start, c->length, call_of(f, text_of, from, c->name) };
	uint32_t i;

	if (!imap_get(&f->threads, c->tid, &i)) {
		imap_put(&f->threads, c->tid, (uint32_t)f->pending.n, false);
		VEC_PUSH(f->scratch, &f->pending, now);
		return;
	}
	struct gpu_pending *p = &f->pending.v[i];
	if (contains(p, &now) && !contains(&now, p))
		return;
	if (!contains(&now, p))
		settle(f, p);
	*p = now;
}

void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l)
{
	uint32_t call;
	uint64_t end = num_add_u64(op->start, op->length),
	         returned = num_add_u64(l->start, l->length);

	if (!op->start || !l->start || op->start >= returned || (end > returned && !op->pageable))
		return;
	end = end < returned ? end : returned;
	if (end <= l->start || !imap_get(&f->call_of, l->name, &call))
		return;
	add_host(f, (struct span){ .start = l->start,
	                    .length = end - l->start,
	                    .tag = (uint64_t)call << CALL_BITS | CALL_WAITED });
	/* More work of the same call adds the time after this. */
	l->length = returned - end;
	l->start = end;
	l->announced = true;
}

void gpu_calls_end(struct gpu_call_feed *f)
{
	for (size_t i = 0; i < f->pending.n; i++)
		settle(f, &f->pending.v[i]);
	spans_end(&f->u->processes.v[f->process].host, f->u->a);
}

/* ---- waits ---- */

struct open_call {
	uint64_t start, end;
	uint64_t covered; /* end of the work that has been counted */
	uint64_t blocking;
	uint32_t call;
	bool waited;   /* the call waits in any case */
	bool outlived; /* work launched before the call was still running when the call returned */
};

/* The open calls of one process. */
struct host_walk {
	struct device_use *u;
	struct arena *scratch;
	uint64_t busy; /* latest end of work so far */
	VEC(struct open_call) open;
};

static uint64_t end_of(const struct span *x)
{
	return num_add_u64(x->start, x->length);
}

static void close_call(struct host_walk *w, const struct open_call *c)
{
	struct device_use *u = w->u;
	struct gpu_times *t = &u->calls.v[c->call];

	if (!c->blocking || (c->outlived && !c->waited))
		return;
	int64_t ns = num_from_u64(c->blocking);
	t->blocking = num_add(t->blocking, ns);
	uint32_t i = gpu_list_index(u, &u->waits, t->name);
	hist_add(&u->waits.v[i].h, u->a, ns);
}

/* Counts the part of the time between from and to that has not been counted yet. */
static void count(struct open_call *c, uint64_t from, uint64_t to)
{
	from = from > c->covered ? from : c->covered;
	to = to < c->end ? to : c->end;
	if (to > from) {
		c->blocking += to - from;
		c->covered = to;
	}
}

/* Closes the calls that ended before a time. */
static void close_ended(struct host_walk *w, uint64_t before)
{
	size_t n = 0;

	for (size_t i = 0; i < w->open.n; i++)
		if (w->open.v[i].end <= before)
			close_call(w, &w->open.v[i]);
		else
			w->open.v[n++] = w->open.v[i];
	w->open.n = n;
}

static void see_call(struct host_walk *w, const struct span *x)
{
	struct open_call c = { .start = x->start,
		.end = end_of(x),
		.covered = x->start,
		.call = (uint32_t)(x->tag >> CALL_BITS),
		.waited = (x->tag & (CALL_SYNCHRONIZES | CALL_WAITED)) != 0 };

	/* Work that began before this call was launched earlier; it covers the time to its latest
	 * end. */
	count(&c, x->start, w->busy);
	c.outlived = w->busy > c.end;
	if (w->open.n >= OPEN_CALLS_MAX)
		close_ended(w, x->start);
	if (w->open.n >= OPEN_CALLS_MAX)
		close_ended(w, UINT64_MAX);
	VEC_PUSH(w->scratch, &w->open, c);
}

/* Adds a piece of work. since: ns from the launch to the start of the work; negative: unknown. */
static void see_work(struct host_walk *w, uint64_t start, uint64_t end, int64_t since)
{
	uint64_t launched = start - ((uint64_t)since < start ? (uint64_t)since : start);
	bool known = since >= 0;

	for (size_t i = 0; i < w->open.n; i++) {
		struct open_call *c = &w->open.v[i];
		if (known && launched > c->start)
			continue;
		c->outlived |= known && launched < c->start && end > c->end;
		count(c, start, end);
	}
	w->busy = w->busy > end ? w->busy : end;
	close_ended(w, start);
}

/* Walks over all processes. Calls are read ahead of the work. */
struct calls_walk {
	struct device_use *u;
	struct host_walk *hosts; /* indexed by process */
	struct span_walk spans;
	struct span next;
	unsigned owner; /* index of the process of `next` */
	bool more;      /* true: `next` is valid */
};

/* Processes the calls that start before a time. */
static void see_calls(struct calls_walk *w, uint64_t before)
{
	for (; w->more && w->next.start < before;
	        w->more = span_walk_next(&w->spans, &w->next, &w->owner))
		see_call(&w->hosts[w->owner], &w->next);
}

static void walk_work(struct calls_walk *w, struct arena *scratch)
{
	const struct device_use *u = w->u;
	const struct slice *s;
	struct work_merge m;
	bool contains;

	work_merge_init(&m, u->t, ID_NONE, false, scratch);
	while ((s = work_merge_next(&m, &contains))) {
		uint64_t start = device_time(u, s->start);
		see_calls(w, start);
		struct launch_call call = work_call(u->t, u->links, s);
		see_work(&w->hosts[device_process(u, s->track)], start,
		        device_time(u, slice_end(s)),
		        call.known ? trace_ns(u->t, num_sub(s->start, call.start)) : -1);
		work_poll(scratch->work);
	}
}

void gpu_calls_block(struct device_use *u)
{
	struct calls_walk w = { .u = u };
	struct scratch own;

	scratch_open(&own, u->a->work);
	w.hosts = ARENA_ARRAY(&own.a, u->processes.n, struct host_walk);
	span_walk_begin(&w.spans, &own.a);
	for (uint32_t i = 0; i < u->processes.n; i++) {
		w.hosts[i] = (struct host_walk){ .u = u, .scratch = &own.a };
		span_walk_add(&w.spans, &u->processes.v[i].host, i);
	}
	w.more = span_walk_next(&w.spans, &w.next, &w.owner);
	if (w.more)
		walk_work(&w, &own.a);
	see_calls(&w, UINT64_MAX);
	for (uint32_t i = 0; i < u->processes.n; i++)
		close_ended(&w.hosts[i], UINT64_MAX);
	scratch_close(&own);
}
