/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what the host did while devices were idle.
 */
#include "trace/pass/idle_place.h"
#include "trace/pass/communication.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

#include "base/sort.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): texts */
#define IDLE_REASON(id, name, text, of) [REASON_##id] = name,
const char *const idle_reason_names[IDLE_REASONS] = {
#include "trace/pass/idle_place.def"
};
#undef IDLE_REASON
#define IDLE_REASON(id, name, text, of) [REASON_##id] = text,
const char *const idle_reason_texts[IDLE_REASONS] = {
#include "trace/pass/idle_place.def"
};
#undef IDLE_REASON
#define IDLE_REASON(id, name, text, of) [REASON_##id] = IDLE_##of,
static const enum idle_cause cause_of[IDLE_REASONS] = {
#include "trace/pass/idle_place.def"
};
#undef IDLE_REASON
/* NOLINTEND(bugprone-macro-parentheses) */

const char *const idle_place_kinds[PLACE_KINDS] = { "op", "line", "call", "kernel", "step",
	"outside" };

/* Work of a process in the order of its ends. */
struct ended_work {
	int64_t end;
	uint32_t name; /* string id */
};

struct process_work {
	VEC(struct ended_work) v;
};

/* Identity of a place; its bytes are the key. */
struct place_key {
	uint32_t reason, kind;
	uint32_t name, waits_for; /* string ids, or ID_NONE; for a step, name is its index */
};
/* Values of name for places of the kind PLACE_OUTSIDE, besides ID_NONE: outside of all slices. */
enum { OUTSIDE_STEPS, OUTSIDE_THREADS };

/* A run of tiles of a thread that neither block nor wait for another thread, added up by place. */
#define RUN_TILES 64
struct run_place {
	struct place_key key;
	int64_t ticks;
};
struct tile_run {
	bool known, mixed; /* known: the run was added up; mixed: it contains other tiles, and no
	                      places are stored */
	VEC(struct run_place) places;
	int64_t outside; /* ticks in which no slice is open */
};

struct device_places;
struct idle_places {
	const struct trace *t;
	const struct idle_question *request;
	struct idle_report *out;
	struct arena *a, *own;
	struct host_time host;
	uint32_t thread;               /* track of the only thread that launches work or, without
	                                  launches, the only thread; ID_NONE: several, or none */
	struct tile_run **runs;        /* by thread, a run for each RUN_TILES tiles; NULL without
	                                  tiles */
	int64_t outside;               /* ticks in which no slice of the thread is open */
	bool *launches;                /* indexed by event: true for a call that launches work, by
	                                  its name */
	struct process_work *work;     /* indexed by process; the last element is for tracks without
	                                  a process; NULL until it is needed */
	int64_t from, to;              /* bounds of the window */
	struct device_places *devices; /* indexed by device of the trace */
	/* State for the current interval. */
	struct device_places *device;
	enum idle_cause cause;
};

struct device_places {
	struct intern keys; /* key: place_key; value: index of the place */
	VEC(struct idle_place) v;
};

/* ---- places ---- */

static struct str name_of(const struct idle_places *f, const struct place_key *k)
{
	const struct trace_step *step;

	if (k->kind == PLACE_OUTSIDE)
		return k->name == ID_NONE           ? S("(outside of all slices)")
		       : k->name == OUTSIDE_THREADS ? S("(the launching thread is not known)")
		                                    : S("(outside of all steps)");
	if (k->kind != PLACE_STEP)
		return trace_str(f->t, k->name);
	step = &f->request->steps->steps.v[k->name];
	return str_fmt(f->a, "step %lld", (long long)step->id);
}

static void count(struct idle_places *f, struct place_key k, int64_t ticks)
{
	struct device_places *d = f->device;
	uint32_t id = intern_add(&d->keys, str_make(&k, sizeof k));

	if (id == d->v.n) {
		struct idle_place made = { .reason = k.reason,
			.kind = k.kind,
			.name = name_of(f, &k),
			.waits_for = trace_str(f->t, k.waits_for) };
		VEC_PUSH(f->own, &d->v, made);
	}
	d->v.v[id].ticks = num_add(d->v.v[id].ticks, ticks);
}

/* Counts an interval for the steps that it lies in. */
static void count_steps(struct idle_places *f, struct place_key k, int64_t from, int64_t to)
{
	const struct trace_step *v = f->request->steps->steps.v;
	size_t n = f->request->steps->steps.n, i;

	BISECT(i, 0, n, v[i].start <= from);
	while (from < to) {
		bool in = i && v[i - 1].end > from;
		int64_t end = i < n && v[i].start < to ? v[i].start : to;
		if (in && v[i - 1].end < end)
			end = v[i - 1].end;
		k.kind = in ? PLACE_STEP : PLACE_OUTSIDE;
		k.name = in ? (uint32_t)(i - 1) : OUTSIDE_STEPS;
		count(f, k, num_sub(end, from));
		from = end;
		while (i < n && v[i].start <= from)
			i++;
	}
}

static void put(struct idle_places *f, struct place_key k, int64_t from, int64_t to)
{
	if (f->request->by == IDLE_BY_STEP) {
		k.waits_for = ID_NONE;
		count_steps(f, k, from, to);
	} else {
		count(f, k, num_sub(to, from));
	}
}

static bool take_name(
        const struct idle_places *f, struct place_key *k, uint32_t event, enum idle_place_kind kind)
{
	if (event == ID_NONE)
		return false;
	k->kind = kind;
	k->name = f->t->events.v[event].name;
	return true;
}

/* ---- what the host did ---- */

static struct process_work *work_of(const struct idle_places *f, uint32_t track)
{
	uint32_t process = f->t->tracks.v[track].process;

	return &f->work[process == ID_NONE ? f->t->processes.n : process];
}

static int by_end(const void *v, uint32_t a, uint32_t b)
{
	const struct ended_work *x = (const struct ended_work *)v + a,
	                        *y = (const struct ended_work *)v + b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Collects the work that calls may wait for. */
static void find_work(struct idle_places *f)
{
	const struct trace *t = f->t;

	f->work = ARENA_ARRAY(f->own, t->processes.n + 1, struct process_work);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				VEC_PUSH(f->own, &work_of(f, i)->v,
				        ((struct ended_work){ slice_end(&s), s.name }));
	}
	for (size_t i = 0; i <= t->processes.n; i++)
		sort_array(
		        f->own, f->work[i].v.v, f->work[i].v.n, sizeof(struct ended_work), by_end);
}

/* Returns the name of the work that ended last in an interval, or ID_NONE. */
static uint32_t last_work(struct idle_places *f, uint32_t track, int64_t from, int64_t to)
{
	const struct process_work *p;
	size_t i;

	if (!f->work)
		find_work(f);
	p = work_of(f, track);
	BISECT(i, 0, p->v.n, p->v.v[i].end <= to);
	return i && p->v.v[i - 1].end >= from ? p->v.v[i - 1].name : ID_NONE;
}

static bool is_collective(const struct idle_places *f, const struct host_activity *x)
{
	return x->op != ID_NONE && communication_is_op(trace_str(f->t, f->t->events.v[x->op].name));
}

static bool blocks(const struct host_activity *x)
{
	return x->class != DEPEND_PLAIN && x->class != DEPEND_LOADS;
}

/* True if the thread waited for a CPU, not for work. */
static bool is_preempted(const struct idle_places *f, const struct host_activity *x)
{
	return x->call != ID_NONE && f->t->events.v[x->call].category == CATEGORY_PREEMPTED;
}

/* Chooses the name of a place on a thread. */
static void name_tile(
        const struct idle_places *f, const struct host_activity *x, struct place_key *k)
{
	uint32_t op = x->loader != ID_NONE ? x->loader : x->op;
	bool found = false;

	switch (f->request->by) {
	case IDLE_BY_LINE: found = take_name(f, k, x->line, PLACE_LINE); break;
	case IDLE_BY_CALL: found = take_name(f, k, x->call, PLACE_CALL); break;
	case IDLE_BY_DEFAULT:
		found = x->loader == ID_NONE && x->call != ID_NONE && !f->launches[x->call] &&
		        take_name(f, k, x->call, PLACE_CALL);
		break;
	default: break;
	}
	if (!found && !take_name(f, k, op, PLACE_OP) && !take_name(f, k, x->frame, PLACE_LINE) &&
	        !take_name(f, k, x->call, PLACE_CALL) && !take_name(f, k, x->step, PLACE_OP))
		k->kind = PLACE_OUTSIDE;
}

/* Returns the reason of time in which the host was busy. */
static enum idle_reason busy_reason(const struct idle_places *f)
{
	return f->cause == IDLE_BEFORE_FIRST ? REASON_BEFORE_FIRST
	       : f->cause == IDLE_AFTER_LAST ? REASON_AFTER_LAST
	                                     : REASON_HOST_BUSY;
}

static void take_tile(
        void *user, uint32_t track, const struct host_tile *tile, int64_t from, int64_t to)
{
	struct idle_places *f = user;
	const struct host_activity *x = host_time_activity(&f->host, tile);
	struct place_key k = { busy_reason(f), .name = ID_NONE, .waits_for = ID_NONE };

	name_tile(f, x, &k);
	bool preempted = is_preempted(f, x);
	if (blocks(x) && k.reason == REASON_HOST_BUSY)
		k.reason = is_collective(f, x) && !preempted ? REASON_COLLECTIVE_WAIT
		                                             : REASON_HOST_BLOCKED;
	if (blocks(x) && !preempted)
		k.waits_for = last_work(f, track, tile->start, to);
	if (host_tile_is_gap(tile))
		f->outside = num_add(f->outside, num_sub(to, from));
	put(f, k, from, to);
}

/* ---- runs of tiles ----
 *
 * Many devices wait for the same thread: the places of whole runs of its tiles are added up once.
 */

static void add_to_run(struct idle_places *f, struct tile_run *r, struct place_key k, int64_t ticks)
{
	size_t i = 0;

	while (i < r->places.n && memcmp(&r->places.v[i].key, &k, sizeof k) != 0)
		i++;
	if (i == r->places.n)
		VEC_PUSH(f->own, &r->places, ((struct run_place){ .key = k }));
	r->places.v[i].ticks = num_add(r->places.v[i].ticks, ticks);
}

static void find_run(
        struct idle_places *f, const struct host_thread *h, size_t first, struct tile_run *out)
{
	out->known = true;
	for (size_t i = first; i < first + RUN_TILES && !out->mixed; i++)
		out->mixed = blocks(host_time_activity(&f->host, &h->tiles.v[i])) ||
		             h->tiles.v[i].other != ID_NONE;
	for (size_t i = first; i < first + RUN_TILES && !out->mixed; i++) {
		const struct host_tile *x = &h->tiles.v[i];
		struct place_key k = { .name = ID_NONE, .waits_for = ID_NONE };
		int64_t ticks = num_sub(host_time_end(h, x), x->start);
		name_tile(f, host_time_activity(&f->host, x), &k);
		add_to_run(f, out, k, ticks);
		out->outside = num_add(out->outside, host_tile_is_gap(x) ? ticks : 0);
	}
}

/* Adds the places of the run that begins with a tile, if all of the run ends by a given time.
 * Returns its last tile, or NULL. */
static const struct host_tile *take_run(
        struct idle_places *f, uint32_t track, const struct host_tile *x, int64_t until)
{
	const struct host_thread *h = &f->host.threads[track];
	size_t first = (size_t)(x - h->tiles.v), n = h->tiles.n / RUN_TILES;
	struct tile_run *r;

	if (f->request->by == IDLE_BY_STEP || first % RUN_TILES || first / RUN_TILES >= n ||
	        host_time_end(h, x + RUN_TILES - 1) > until)
		return NULL;
	if (!f->runs[track])
		f->runs[track] = ARENA_ARRAY(f->own, n, struct tile_run);
	r = &f->runs[track][first / RUN_TILES];
	if (!r->known)
		find_run(f, h, first, r);
	for (size_t i = 0; i < r->places.n; i++) {
		struct place_key k = r->places.v[i].key;
		k.reason = busy_reason(f);
		count(f, k, r->places.v[i].ticks);
	}
	f->outside = num_add(f->outside, r->outside);
	return r->mixed ? NULL : x + RUN_TILES - 1;
}

/* Adds the places of a thread during an interval. */
static void take_host(struct idle_places *f, uint32_t track, int64_t from, int64_t to)
{
	const struct host_thread *h = &f->host.threads[track];
	const struct host_tile *x = host_time_at(h, from);

	if (!x) {
		host_time_walk(&f->host, track, from, to, take_tile, f);
		return;
	}
	for (; from < to; x++) {
		const struct host_tile *last = x->start == from ? take_run(f, track, x, to) : NULL;
		int64_t end = host_time_end(h, last ? last : x);
		end = end < to ? end : to;
		if (last)
			x = last;
		else if (x->other != ID_NONE)
			host_time_walk(&f->host, track, from, end, take_tile, f);
		else
			take_tile(f, track, x, from, end);
		from = end;
	}
}

/* ---- other causes ---- */

static enum idle_reason reason_of(enum idle_cause cause)
{
	enum idle_reason i = 0;

	while (cause_of[i] != cause)
		i++;
	return i;
}

static uint32_t slice_event(const struct idle_places *f, uint32_t number)
{
	struct slice s;

	if (number == ID_NONE)
		return ID_NONE;
	trace_slice(f->t, number, &s);
	return s.event;
}

/* Returns the event of the innermost op around a captured site, or the event of the site itself if
 * there is no op. */
static uint32_t captured_op(const struct trace *t, uint32_t site)
{
	for (uint32_t i = site; i != ID_NONE; i = t->sites.v[i].parent)
		if (t->events.v[t->sites.v[i].event].category == CATEGORY_OP)
			return t->sites.v[i].event;
	return site == ID_NONE ? ID_NONE : t->sites.v[site].event;
}

/* Adds a piece of idle time to its place: the op in which the next work was captured or launched,
 * otherwise the call that launched it, otherwise the work. */
static void take_launch(struct idle_places *f, const struct launch_call *call, enum idle_cause why,
        int64_t from, int64_t to)
{
	struct place_key k = { .reason = reason_of(why), .name = ID_NONE, .waits_for = ID_NONE };
	const struct launch *launch =
	        call->launch ? &f->request->links->launches.v[call->launch - 1] : NULL;
	bool found = f->request->by != IDLE_BY_CALL &&
	             take_name(f, &k, captured_op(f->t, call->site), PLACE_OP);

	if (launch && !found) {
		uint32_t made = launch->op != ID_NONE ? launch->op : launch->scope;
		found = (f->request->by != IDLE_BY_CALL &&
		                take_name(f, &k, slice_event(f, made), PLACE_OP)) ||
		        take_name(f, &k, slice_event(f, launch->slice), PLACE_CALL);
	}
	if (!found)
		take_name(f, &k, call->event, PLACE_KERNEL);
	put(f, k, from, to);
}

static uint32_t launching_thread(const struct idle_places *f, size_t launch)
{
	return trace_track_of(f->t, f->request->links->launches.v[launch].slice);
}

/* Returns the only thread that launches work or, if the file has no launches, the only thread. */
static uint32_t find_thread(const struct idle_places *f)
{
	size_t launches = f->request->links->launches.n, n = 0;
	uint32_t found = ID_NONE;

	for (size_t i = 0; i < launches && n < 2; i++) {
		uint32_t track = launching_thread(f, i);
		n += track != found;
		found = track;
	}
	for (uint32_t i = 0; i < f->t->tracks.n && !launches && n < 2; i++) {
		if (f->host.threads[i].tiles.n < 2) /* the last tile is a gap */
			continue;
		n++;
		found = i;
	}
	return n == 1 ? found : ID_NONE;
}

void idle_places_take(void *user, uint32_t device, enum idle_cause why, int64_t from, int64_t to,
        const struct launch_call *call)
{
	struct idle_places *f = user;
	bool host = why == IDLE_HOST_LATE || why == IDLE_BEFORE_FIRST || why == IDLE_AFTER_LAST;

	from = from > f->from ? from : f->from;
	to = to < f->to ? to : f->to;
	if (to <= from)
		return;
	f->cause = why;
	f->device = &f->devices[device];
	if (!host)
		take_launch(f, call, why, from, to);
	else if (call->launch)
		take_host(f, launching_thread(f, call->launch - 1), from, to);
	else if (f->thread != ID_NONE)
		take_host(f, f->thread, from, to);
	else
		put(f,
		        (struct place_key){
		                reason_of(why), PLACE_OUTSIDE, OUTSIDE_THREADS, ID_NONE },
		        from, to);
}

/* ---- all ---- */

static void find_launching(struct idle_places *f)
{
	static const char *const words[] = { "Launch", "Memcpy", "Memset" };

	f->launches = ARENA_ARRAY(f->own, f->t->events.n, bool);
	for (size_t i = 0; i < f->t->events.n; i++)
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			f->launches[i] |= str_contains(
			        trace_str(f->t, f->t->events.v[i].name), str_of(words[k]));
}

/* Orders places by reason, then the longest first, then by name. */
static int by_reason(const void *v, uint32_t a, uint32_t b)
{
	const struct idle_place *x = (const struct idle_place *)v + a,
	                        *y = (const struct idle_place *)v + b;

	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	int order = str_cmp(x->name, y->name);
	return order ? order : str_cmp(x->waits_for, y->waits_for);
}

/* Adds a device. Sums of ticks are rounded to ns, so that all parts add up. */
static void end_device(struct idle_places *f, const struct device_usage *u)
{
	struct device_places *p = &f->devices[u->device];
	struct idle_of_device made = { .device = u->device };
	const struct usage_partition part =
	        usage_partition(f->t, &u->times, num_sub(f->to, f->from), 1);
	int64_t sum = u->times.busy;

	made.window_ns = part.window;
	made.idle_ns = part.idle;
	sort_array(f->own, p->v.v, p->v.n, sizeof *p->v.v, by_reason);
	for (size_t i = 0; i < p->v.n; i++) {
		struct idle_place *x = &p->v.v[i];
		int64_t before = trace_ns(f->t, sum);
		sum = num_add(sum, x->ticks);
		x->ns = num_sub(trace_ns(f->t, sum), before);
		made.ns[x->reason] = num_add(made.ns[x->reason], x->ns);
		VEC_PUSH(f->a, &made.places, *x);
	}
	VEC_PUSH(f->a, &f->out->devices, made);
	f->out->idle_ns = num_add(f->out->idle_ns, made.idle_ns);
}

struct idle_places *idle_places_begin(const struct trace *t, const struct idle_question *request,
        struct idle_report *out, struct arena *a, struct arena *scratch)
{
	struct idle_places *f = ARENA_NEW(scratch, struct idle_places);

	*f = (struct idle_places){ .t = t, .request = request, .out = out, .a = a, .own = scratch };
	*out = (struct idle_report){ .t = t };
	trace_window(t, &f->from, &f->to);
	if (request->step != ID_NONE) {
		f->from = request->steps->steps.v[request->step].start;
		f->to = request->steps->steps.v[request->step].end;
	}
	host_time_find(t, request->links, &f->host, scratch);
	f->runs = ARENA_ARRAY(scratch, t->tracks.n, struct tile_run *);
	out->frames = f->host.frames;
	f->thread = find_thread(f);
	find_launching(f);
	f->devices = ARENA_ARRAY(scratch, t->devices.n, struct device_places);
	for (uint32_t i = 0; i < t->devices.n; i++)
		intern_init(&f->devices[i].keys, scratch);
	return f;
}

void idle_places_end(struct idle_places *f, const struct trace_usage *usage)
{
	for (size_t i = 0; i < usage->devices.n; i++)
		end_device(f, &usage->devices.v[i]);
	f->out->outside_ns = trace_ns(f->t, f->outside);
}

void idle_find(const struct trace *t, const struct idle_question *request, struct idle_report *out,
        struct trace_usage *usage, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct idle_places *f = idle_places_begin(t, request, out, a, &own.a);
	const struct usage_watch watch = { .idle = idle_places_take, .user = f };
	const struct usage_request usage_request = { .links = request->links,
		.watch = &watch,
		.steps = request->steps,
		.window =
		        request->step == ID_NONE ? NULL : &request->steps->steps.v[request->step] };
	trace_usage(t, &usage_request, usage, a);
	idle_places_end(f, usage);
	scratch_close(&own);
}
