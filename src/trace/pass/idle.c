/* SPDX-License-Identifier: Apache-2.0
 *
 * Divides the idle time of devices by cause.
 */
#include "trace/pass/idle.h"

#include "base/sort.h"

#define WAITS_MAX 4096 /* maximum number of waits of a stream that are kept until work follows */

/* NOLINTBEGIN(bugprone-macro-parentheses): texts */
#define IDLE(id, name, text, meaning) [IDLE_##id] = name,
const char *const idle_names[IDLE_CAUSES] = {
#include "trace/pass/idle.def"
};
#undef IDLE
#define IDLE(id, name, text, meaning) [IDLE_##id] = text,
const char *const idle_texts[IDLE_CAUSES] = {
#include "trace/pass/idle.def"
};
#undef IDLE

#define IDLE(id, name, text, meaning) [IDLE_##id] = meaning,
const char *const idle_meanings[IDLE_CAUSES] = {
#include "trace/pass/idle.def"
};
#undef IDLE
/* NOLINTEND(bugprone-macro-parentheses) */

struct idle_stream {
	bool any;
	int64_t until;       /* latest end of its work */
	VEC(int64_t) issued; /* waits that no work has followed yet, in order of time */
};

/* An idle interval with the work that ends it. */
struct idle_gap {
	int64_t from, to;
	struct launch_call call;
	bool event, other; /* event: the stream waits for an event; other: the work before belongs
	                      to another process */
};

struct idle_device {
	bool any, based;
	int64_t until;                  /* latest end of its work */
	uint32_t process;               /* process of the work with the latest end */
	struct launch_call last;        /* call of the work with the latest end */
	int64_t base_latency, base_gap; /* both are valid if `based` is set */
	int64_t least;                  /* shortest latency of all launches */
	VEC(int64_t) latencies;         /* samples, until based */
	VEC(int64_t) gaps;
	VEC(int64_t) calls;           /* lengths of calls; collected until `based` is set */
	VEC(struct idle_gap) waiting; /* intervals that are delayed until `based` is set */
};

struct idle {
	const struct trace *t;
	idle_piece *piece;
	void *user;
	struct arena *a;
	struct idle_device *devices;
	struct idle_stream *streams; /* indexed by track */
};

struct idle *idle_begin(const struct trace *t, idle_piece *piece, void *user, struct arena *a)
{
	struct idle *x = ARENA_NEW(a, struct idle);

	*x = (struct idle){ .t = t, .piece = piece, .user = user, .a = a };
	x->devices = ARENA_ARRAY(a, t->devices.n, struct idle_device);
	x->streams = ARENA_ARRAY(a, t->tracks.n, struct idle_stream);
	for (size_t i = 0; i < t->devices.n; i++)
		x->devices[i].least = INT64_MAX;
	return x;
}

/* ---- waits for events ---- */

bool slice_is_event_wait(const struct trace *t, const struct slice *s)
{
	struct str name;

	if (s->category != CATEGORY_SYNC || s->form != SLICE_COMPLETE ||
	        !track_is_device(&t->tracks.v[s->track]))
		return false;
	name = trace_str(t, s->name);
	return str_eq(name, S("Stream Wait Event")) || str_eq(name, S("stream wait event"));
}

void idle_wait(struct idle *x, uint32_t track, int64_t issued)
{
	struct idle_stream *k = &x->streams[track];

	if (k->issued.n == WAITS_MAX)
		k->issued.n = 0;
	VEC_PUSH(x->a, &k->issued, issued);
}

/* Removes the waits that were submitted before a launch. Returns true if there were any. */
static bool take_waits(struct idle_stream *k, const struct launch_call *call)
{
	size_t n = 0;

	if (!call->known)
		return false;
	while (n < k->issued.n && k->issued.v[n] <= call->start)
		n++;
	if (!n)
		return false;
	memmove(k->issued.v, k->issued.v + n, (k->issued.n - n) * sizeof *k->issued.v);
	k->issued.n -= n;
	return true;
}

/* ---- base latency and base gap ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void take_sample(struct idle *x, struct idle_device *d, const struct idle_stream *k,
        int64_t start, const struct launch_call *call)
{
	int64_t latency = num_sub(start, call->start);

	if (!call->known || latency < 0)
		return;
	d->least = latency < d->least ? latency : d->least;
	if (d->calls.n < IDLE_SAMPLES)
		VEC_PUSH(x->a, &d->calls, num_sub(call->end, call->start));
	if ((!k->any || call->start >= k->until) && d->latencies.n < IDLE_SAMPLES)
		VEC_PUSH(x->a, &d->latencies, latency);
	if (k->any && call->end <= k->until && start >= k->until && d->gaps.n < IDLE_SAMPLES)
		VEC_PUSH(x->a, &d->gaps, num_sub(start, k->until));
}

/* Limits the bases that come from few samples. */
static void limit_bases(struct idle *x, struct idle_device *d)
{
	int64_t call;

	sort_array(x->a, d->calls.v, d->calls.n, sizeof(int64_t), sort_ascending);
	call = d->calls.n ? d->calls.v[d->calls.n / 2] : 0;
	if (call <= 0)
		return;
	if (d->latencies.n < IDLE_SAMPLES_FEW)
		d->base_latency = least(d->base_latency, num_mul(IDLE_FEW_LATENCY, call));
	if (d->gaps.n < IDLE_SAMPLES_FEW)
		d->base_gap = least(d->base_gap, num_mul(IDLE_FEW_GAP, call));
}

static void find_base(struct idle *x, struct idle_device *d)
{
	sort_array(x->a, d->latencies.v, d->latencies.n, sizeof(int64_t), sort_ascending);
	sort_array(x->a, d->gaps.v, d->gaps.n, sizeof(int64_t), sort_ascending);
	d->base_latency = d->latencies.n ? d->latencies.v[d->latencies.n / 10] : d->least;
	d->base_gap = d->gaps.n ? d->gaps.v[d->gaps.n / 2] : 0;
	limit_bases(x, d);
	d->based = true;
}

struct idle_base idle_base_of(struct idle *x, uint32_t device)
{
	struct idle_device *d = &x->devices[device];

	if (!d->based)
		find_base(x, d);
	return (struct idle_base){ d->base_latency == INT64_MAX ? 0 : d->base_latency,
		d->base_gap };
}

/* ---- intervals ---- */

/* Passes on the idle time from *from to `to` at most, and moves *from to its end. */
static void put(struct idle *x, uint32_t device, enum idle_cause why, int64_t *from, int64_t to,
        const struct launch_call *call)
{
	if (to <= *from)
		return;
	x->piece(x->user, device, why, *from, to, call);
	*from = to;
}

static void explain(struct idle *x, uint32_t device, const struct idle_gap *g)
{
	const struct idle_device *d = &x->devices[device];
	const struct launch_call *c = &g->call;
	enum idle_cause wait = g->event   ? IDLE_EVENT_WAIT
	                       : g->other ? IDLE_OTHER_PROCESS
	                                  : IDLE_UNKNOWN_WAIT;
	int64_t from = g->from, to = g->to, begun = c->start > from ? c->start : from;

	if (!c->known) {
		put(x, device, IDLE_UNKNOWN_LAUNCH, &from, to, c);
	} else if (c->end <= from) {
		put(x, device, IDLE_KERNEL_GAP, &from, least(to, num_add(from, d->base_gap)), c);
		put(x, device, wait, &from, to, c);
	} else if (c->end < to && num_sub(to, c->end) > d->base_latency) {
		put(x, device, IDLE_HOST_LATE, &from, c->end, c);
		put(x, device, IDLE_LAUNCH_LATENCY, &from, num_add(from, d->base_latency), c);
		put(x, device, wait, &from, to, c);
	} else {
		int64_t latency = begun < to ? least(num_sub(to, begun), d->base_latency) : 0;
		put(x, device, IDLE_HOST_LATE, &from, num_sub(to, latency), c);
		put(x, device, IDLE_LAUNCH_LATENCY, &from, to, c);
	}
}

static void explain_waiting(struct idle *x, uint32_t device)
{
	struct idle_device *d = &x->devices[device];

	find_base(x, d);
	for (size_t i = 0; i < d->waiting.n; i++)
		explain(x, device, &d->waiting.v[i]);
	d->waiting.n = 0;
}

static void end_interval(struct idle *x, uint32_t device, const struct idle_gap *g)
{
	struct idle_device *d = &x->devices[device];

	if (d->based) {
		explain(x, device, g);
		return;
	}
	VEC_PUSH(x->a, &d->waiting, *g);
	if (d->waiting.n == IDLE_SAMPLES)
		explain_waiting(x, device);
}

void idle_add(struct idle *x, const struct slice *s, const struct launch_call *call)
{
	const struct trace_track *track = &x->t->tracks.v[s->track];
	struct idle_device *d = &x->devices[track->device];
	struct idle_stream *k = &x->streams[s->track];
	struct launch_call made = *call;
	int64_t end = slice_end(s), first = INT64_MIN;
	bool event = take_waits(k, call);

	made.event = s->event;
	made.site = slice_site(x->t, s);
	if (!d->based)
		take_sample(x, d, k, s->start, call);
	if (!d->any)
		put(x, track->device, IDLE_BEFORE_FIRST, &first, s->start, &made);
	else if (s->start > d->until)
		end_interval(x, track->device,
		        &(struct idle_gap){
		                d->until, s->start, made, event, d->process != track->process });
	if (!d->any || end > d->until) {
		d->until = end;
		d->process = track->process;
		d->last = made;
	}
	if (!k->any || end > k->until)
		k->until = end;
	d->any = k->any = true;
}

void idle_end(struct idle *x)
{
	for (uint32_t i = 0; i < x->t->devices.n; i++) {
		struct idle_device *d = &x->devices[i];
		if (!d->any)
			continue;
		if (!d->based)
			explain_waiting(x, i);
		put(x, i, IDLE_AFTER_LAST, &d->until, INT64_MAX, &d->last);
	}
}
