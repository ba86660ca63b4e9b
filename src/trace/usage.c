/* SPDX-License-Identifier: Apache-2.0
 *
 * See usage.h. The tracks of a device are merged by start, so each union needs to remember only up
 * to when the past is covered.
 */
#include "trace/usage.h"

/* A union of intervals that come in the order of their starts. */
struct cover {
	bool any;
	int64_t until, total;
};

static void cover_add(struct cover *c, const struct slice *s)
{
	int64_t from = c->any && c->until > s->start ? c->until : s->start, end = slice_end(s);

	if (!c->any || end > c->until) {
		c->total = num_add(c->total, num_sub(end, from));
		c->until = end;
	}
	c->any = true;
}

/* A track of the device: the next slice of work, and the one after it. */
struct cursor {
	struct slice_iter it;
	struct slice now, after;
	bool have, have_after;
	struct cover stream; /* all work of this track so far */
	int64_t outer_end;   /* end of the outermost op so far; INT64_MIN: none */
};

struct device_walk {
	const struct trace *t;
	const struct trace_links *links;
	const uint8_t *classes; /* by event */
	struct cursor *v;       /* a heap by start, then by track */
	size_t n;
	struct cover busy, by_class[USAGE_CLASS_N], both; /* both: compute or communication */
	struct device_usage *to;
};

/* ---- classes ---- */

static bool is_collective(struct str name)
{
	static const char *const prefixes[] = { "nccl", "rccl", "oneccl" };

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(name, str_of(prefixes[i])))
			return str_contains(name, S("Kernel"));
	return false;
}

enum usage_class usage_class_of(const struct trace *t, uint32_t event)
{
	const struct trace_event *e = &t->events.v[event];

	switch (e->category) {
	case CATEGORY_COPY:
	case CATEGORY_SET: return USAGE_COPY;
	case CATEGORY_COMMUNICATION: return USAGE_COMMUNICATION;
	default: break;
	}
	return is_collective(trace_str(t, e->name)) ? USAGE_COMMUNICATION : USAGE_COMPUTE;
}

/* ---- the merge ---- */

static bool read_work(struct cursor *c, struct slice *out)
{
	while (slice_next(&c->it, out))
		if (slice_is_work(c->it.t, out))
			return true;
	return false;
}

static void advance(struct cursor *c)
{
	c->now = c->after;
	c->have = c->have_after;
	c->have_after = c->have && read_work(c, &c->after);
}

static bool comes_first(const struct cursor *a, const struct cursor *b)
{
	return a->now.start != b->now.start ? a->now.start < b->now.start
	                                    : a->now.track < b->now.track;
}

static void sift(struct device_walk *w, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < w->n; i = child) {
		if (child + 1 < w->n && comes_first(&w->v[child + 1], &w->v[child]))
			child++;
		if (!comes_first(&w->v[child], &w->v[i]))
			return;
		struct cursor swap = w->v[i];
		w->v[i] = w->v[child];
		w->v[child] = swap;
	}
}

/* ---- one slice ---- */

static void judge_gap(struct device_walk *w, const struct cursor *c)
{
	const struct launch *launch = w->links ? link_launch(w->links, &c->now) : NULL;
	int64_t gap = num_sub(c->now.start, c->stream.until);
	enum usage_idle why = trace_ns(w->t, gap) < IDLE_KERNEL_NS ? IDLE_KERNEL : IDLE_OTHER;

	if (!c->stream.any || gap <= 0)
		return;
	if (launch && launch->start > c->stream.until)
		why = IDLE_HOST;
	w->to->idle_why[why] = num_add(w->to->idle_why[why], gap);
}

/* Ops of a program nest on their line: a loop contains the ops of its body. Only the outermost
 * count in the sum, and only the innermost have a class. Work on streams does not nest. */
static bool nests(const struct cursor *c)
{
	return c->it.t->tracks.v[c->it.track].kind == TRACK_LINE;
}

static bool contains_next(const struct cursor *c)
{
	return nests(c) && c->have_after && c->after.start < slice_end(&c->now) &&
	       slice_end(&c->after) <= slice_end(&c->now);
}

static bool is_contained(struct cursor *c)
{
	bool inner = nests(c) && slice_end(&c->now) <= c->outer_end;

	if (slice_end(&c->now) > c->outer_end)
		c->outer_end = slice_end(&c->now);
	return inner;
}

static void add_slice(struct device_walk *w, struct cursor *c)
{
	struct device_usage *u = w->to;
	enum usage_class class = (enum usage_class)w->classes[c->now.event];

	if (!u->slices++)
		u->start = u->end = c->now.start;
	if (slice_end(&c->now) > u->end)
		u->end = slice_end(&c->now);
	judge_gap(w, c);
	cover_add(&c->stream, &c->now);
	cover_add(&w->busy, &c->now);
	if (!contains_next(c)) {
		cover_add(&w->by_class[class], &c->now);
		if (class != USAGE_COPY)
			cover_add(&w->both, &c->now);
	}
	if (!is_contained(c))
		u->sum = num_add(u->sum, c->now.length);
	if (c->now.category == CATEGORY_COPY)
		u->copy_bytes = num_add(u->copy_bytes, slice_int(w->t, &c->now, ARG_BYTES));
}

static void walk_device(struct device_walk *w, uint32_t device)
{
	struct device_usage *u = w->to;

	u->device = device;
	for (uint32_t i = 0; i < w->t->tracks.n; i++) {
		struct cursor c = { .it = trace_slices(w->t, i), .outer_end = INT64_MIN };
		if (w->t->tracks.v[i].device != device)
			continue;
		c.have_after = read_work(&c, &c.after);
		advance(&c);
		if (c.have)
			w->v[w->n++] = c;
	}
	for (size_t i = w->n; i-- > 0;)
		sift(w, i);
	while (w->n) {
		add_slice(w, &w->v[0]);
		advance(&w->v[0]);
		if (!w->v[0].have)
			w->v[0] = w->v[--w->n];
		sift(w, 0);
	}
	u->busy = w->busy.total;
	for (int i = 0; i < USAGE_CLASS_N; i++)
		u->by_class[i] = w->by_class[i].total;
	u->overlap = num_sub(num_add(u->by_class[USAGE_COMPUTE], u->by_class[USAGE_COMMUNICATION]),
	        w->both.total);
}

void trace_usage(const struct trace *t, const struct trace_links *links, struct trace_usage *out,
        struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	uint8_t *classes = ARENA_ARRAY(&own.a, t->events.n, uint8_t);
	struct cursor *cursors = ARENA_ARRAY(&own.a, t->tracks.n, struct cursor);
	for (uint32_t i = 0; i < t->events.n; i++)
		classes[i] = (uint8_t)usage_class_of(t, i);
	out->devices.v = NULL;
	out->devices.n = out->devices.cap = 0;
	for (uint32_t i = 0; i < t->devices.n; i++) {
		struct device_usage u = { .slices = 0 };
		struct device_walk w = {
			.t = t, .links = links, .classes = classes, .v = cursors, .to = &u
		};
		walk_device(&w, i);
		if (u.slices)
			VEC_PUSH(a, &out->devices, u);
	}
	scratch_close(&own);
}
