/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the owners of the time of threads, and changes recorded times.
 */
#include "why/why_internal.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "flops/peak.h"

/* ---- owners ---- */

struct str why_name(const struct why_scene *s, uint32_t event)
{
	return trace_str(s->t, s->t->events.v[event].name);
}

struct str why_time(const struct why_scene *s, int64_t ticks, struct arena *a)
{
	struct sb b = sb_in(a);

	fmt_time(&b, trace_ns(s->t, ticks));
	return sb_str(&b);
}

bool why_has(struct str name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_contains(name, str_of(words[i])))
			return true;
	return false;
}

static uint8_t owner_of_event(const struct why_scene *s, uint32_t event)
{
	for (unsigned i = 0; i < WHY_IDS; i++)
		if (why_rows[i].owns && why_rows[i].owns(s, event))
			return (uint8_t)i;
	return WHY_IDS;
}

/* Finds the owner of each context: the first row that owns the context or a context around it. */
static void find_owners(struct why_scene *s)
{
	const struct depend *d = s->d;
	uint8_t *events = ARENA_ARRAY(s->a, s->t->events.n, uint8_t);

	for (uint32_t i = 0; i < s->t->events.n; i++)
		events[i] = owner_of_event(s, i);
	s->owners = ARENA_ARRAY(s->a, d->contexts.n, uint8_t);
	for (size_t i = 0; i < d->contexts.n; i++) {
		const struct depend_context *c = &d->contexts.v[i];
		uint8_t own = events[c->event];
		uint8_t around = c->parent == ID_NONE ? WHY_IDS : s->owners[c->parent];
		s->owners[i] = own < around ? own : around;
	}
}

enum why_id why_owner(const struct why_scene *s, uint32_t node)
{
	uint32_t context = s->d->nodes.v[node].context;

	return context == ID_NONE ? WHY_IDS : (enum why_id)s->owners[context];
}

/* ---- launches ---- */

static void find_launches(struct why_scene *s)
{
	const struct depend *d = s->d;

	s->launched = ARENA_ARRAY(s->a, d->nodes.n, int64_t);
	s->launches = ARENA_ARRAY(s->a, d->nodes.n, uint32_t);
	s->late = ARENA_ARRAY(s->a, d->nodes.n, bool);
	s->last_launch = ARENA_ARRAY(s->a, s->x->n_windows, int64_t);
	for (size_t i = 0; i < s->x->n_windows; i++)
		s->last_launch[i] = INT64_MIN;
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *n = &d->nodes.v[i];
		for (uint32_t k = d->first_edge[i]; !n->host && k < d->first_edge[i + 1]; k++) {
			uint32_t from = d->edges[k].from;
			if (d->edges[k].kind != DEPEND_LAUNCH)
				continue;
			s->launched[from] = num_add(s->launched[from], n->end - n->start);
			s->launches[from]++;
			s->late[from] |= d->edges[k].binding;
			int64_t at = d->nodes.v[from].start;
			if (s->x->steps[i] != ID_NONE && at > s->last_launch[s->x->steps[i]])
				s->last_launch[s->x->steps[i]] = at;
		}
	}
}

bool why_launches_graph(const struct why_scene *s, uint32_t node)
{
	const struct depend_node *n = &s->d->nodes.v[node];

	return n->host && n->event != ID_NONE &&
	       str_contains(why_name(s, n->event), S("GraphLaunch"));
}

/* Finds the nodes for which another thread waited before its next launch. */
static void find_handed(struct why_scene *s, struct arena *own)
{
	const struct depend *d = s->d;
	uint32_t *next = ARENA_ARRAY(own, d->nodes.n + 1, uint32_t);

	s->handed = ARENA_ARRAY(s->a, d->nodes.n, uint32_t);
	for (size_t i = 0; i < d->nodes.n; i++)
		s->handed[i] = ID_NONE;
	next[d->nodes.n] = ID_NONE;
	for (uint32_t i = (uint32_t)d->nodes.n; i-- > 0;) {
		const struct depend_node *n = &d->nodes.v[i];
		bool last = i + 1 == d->nodes.n || n[1].track != n->track;
		next[i] = s->launches[i] ? i : last ? ID_NONE : next[i + 1];
		for (uint32_t k = d->first_edge[i]; n->host && k < d->first_edge[i + 1]; k++) {
			const struct depend_edge *e = &d->edges[k];
			if (e->kind == DEPEND_THREAD && d->nodes.v[e->from].track != n->track)
				s->handed[e->from] = next[i];
		}
	}
}

/* ---- overhead of the profiler ---- */

struct overhead {
	int64_t start, end;
};

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct overhead *x = v;

	return (x[a].start > x[b].start) - (x[a].start < x[b].start);
}

/* True for an event of the profiler's own work. */
static bool is_overhead(const struct why_scene *s, uint32_t event)
{
	return s->t->events.v[event].category == CATEGORY_OVERHEAD &&
	       s->d->classes[event] != DEPEND_FULL;
}

/* Returns the slices of the profiler's own work in order of time. They overlap the work that they
 * delay. */
static struct overhead *find_overheads(const struct why_scene *s, size_t *n)
{
	VEC(struct overhead) v = { .n = 0 };
	bool any = false;

	for (uint32_t i = 0; i < s->t->events.n; i++)
		any |= is_overhead(s, i);
	for (uint32_t k = 0; any && k < s->t->tracks.n; k++) {
		struct slice_iter it = trace_slices(s->t, k);
		struct slice slice;
		while (slice_next(&it, &slice))
			if (is_overhead(s, slice.event) && slice.length > 0)
				VEC_PUSH(s->a, &v,
				        ((struct overhead){ slice.start, slice_end(&slice) }));
	}
	sort_array(s->a, v.v, v.n, sizeof *v.v, by_start);
	*n = v.n;
	return v.v;
}

/* Adds the time of the profiler's own work inside calls, on threads that launch. */
static void add_overhead(
        struct why_scene *s, const struct depend_track *track, const struct overhead *v, size_t n)
{
	for (uint32_t i = track->first, k = 0; i < track->first + track->n; i++) {
		const struct depend_node *node = &s->d->nodes.v[i];
		while (k < n && v[k].end <= node->start)
			k++;
		for (uint32_t m = k; m < n && v[m].start < node->end; m++) {
			int64_t from = v[m].start > node->start ? v[m].start : node->start;
			int64_t to = v[m].end < node->end ? v[m].end : node->end;
			s->overhead[i] = num_add(s->overhead[i], to > from ? to - from : 0);
		}
		if (s->overhead[i] > node->end - node->start)
			s->overhead[i] = node->end - node->start;
	}
}

static bool does_launch(const struct why_scene *s, const struct depend_track *track)
{
	for (uint32_t i = track->first; track->host && i < track->first + track->n; i++)
		if (s->launches[i])
			return true;
	return false;
}

static void find_overhead(struct why_scene *s)
{
	size_t n;
	const struct overhead *v = find_overheads(s, &n);

	if (!n)
		return;
	s->overhead = ARENA_ARRAY(s->a, s->d->nodes.n, int64_t);
	for (size_t k = 0; k < s->t->tracks.n; k++)
		if (does_launch(s, &s->d->tracks[k]))
			add_overhead(s, &s->d->tracks[k], v, n);
}

/* ---- windows ---- */

static int by_from(const void *v, uint32_t a, uint32_t b)
{
	const struct critical_window *x = v;

	return (x[a].from > x[b].from) - (x[a].from < x[b].from);
}

/* Finds the chosen windows in order of their starts. */
static void order_windows(struct why_scene *s)
{
	size_t n = s->x->n_chosen;
	struct critical_window *v = ARENA_ARRAY(s->a, n, struct critical_window);

	for (size_t i = 0; i < n; i++) {
		v[i] = s->x->recorded.windows[i];
		v[i].step = s->x->chosen[i];
	}
	sort_array(s->a, v, n, sizeof *v, by_from);
	s->windows = v;
}

const struct critical_window *why_window_around(const struct why_scene *s, uint32_t node)
{
	int64_t start = s->d->nodes.v[node].start;
	size_t i;

	BISECT(i, 0, s->x->n_chosen, s->windows[i].from <= start);
	return i && start < s->windows[i - 1].to ? &s->windows[i - 1] : NULL;
}

uint32_t why_window(const struct why_scene *s, uint32_t node)
{
	const struct critical_window *w = why_window_around(s, node);

	return w ? w->step : ID_NONE;
}

/* ---- opening ---- */

static void find_peaks(struct why_scene *s)
{
	s->peaks = ARENA_ARRAY(s->a, s->t->devices.n, const struct peak *);
	for (size_t i = 0; i < s->t->devices.n; i++)
		if (s->t->devices.v[i].model != ID_NONE)
			s->peaks[i] = peak_find(trace_str(s->t, s->t->devices.v[i].model));
}

void why_scene_open(
        struct why_scene *s, const struct rank_group *job, uint32_t index, struct arena *a)
{
	const struct replay *x = job->replays[index];
	struct scratch own;

	*s = (struct why_scene){
		.job = job, .index = index, .x = x, .d = &x->depend, .t = x->depend.t, .a = a
	};
	order_windows(s);
	find_peaks(s);
	find_owners(s);
	find_launches(s);
	scratch_open(&own, a->work);
	find_handed(s, &own.a);
	scratch_close(&own);
	find_overhead(s);
	why_find_first_calls(s);
}

/* ---- changes ---- */

/* Returns a name such as "cudaMalloc in aten::empty" or "(preempted) in aten::linear". */
static struct str call_name(
        const struct why_scene *s, const struct depend_context *c, struct arena *a)
{
	struct str name = why_name(s, c->event);
	uint32_t around = c->parent == ID_NONE ? ID_NONE : s->d->contexts.v[c->parent].event;

	/* names of steps contain numbers */
	return around == ID_NONE || s->t->events.v[around].category == CATEGORY_STEP
	               ? name
	               : str_fmt(a, "%.*s in %.*s", STR(name), STR(why_name(s, around)));
}

/* Returns the context whose name is used: the outermost that a cause owns, otherwise the
 * innermost. */
static const struct depend_context *named_context(const struct why_scene *s, uint32_t node)
{
	const struct depend_context *c = depend_context(s->d, &s->d->nodes.v[node]);
	enum why_id owner = why_owner(s, node);

	if (!c)
		return NULL;
	while (owner != WHY_IDS && c->parent != ID_NONE && s->owners[c->parent] == owner)
		c = &s->d->contexts.v[c->parent];
	return c;
}

/* Returns the place of a node: the kernel for device work; the op, Python line or call for a node
 * of a thread. */
static struct why_place place_of(const struct why_scene *s, uint32_t node, struct arena *a)
{
	const struct depend_node *n = &s->d->nodes.v[node];
	const struct depend_context *c;

	if (!n->host)
		return (struct why_place){ .kind = n->class == USAGE_COPY ? "copy" : "kernel",
			.name = why_name(s, n->event) };
	c = named_context(s, node);
	if (!c)
		return (struct why_place){ .kind = WHY_OUTSIDE,
			.name = S("outside of all slices") };
	switch (s->t->events.v[c->event].category) {
	case CATEGORY_FRAME:
		return (struct why_place){ .kind = "line", .name = why_name(s, c->event) };
	case CATEGORY_CALL: return (struct why_place){ .kind = "call", .name = call_name(s, c, a) };
	case CATEGORY_PREEMPTED:
		return (struct why_place){ .kind = "thread", .name = call_name(s, c, a) };
	case CATEGORY_OP: return (struct why_place){ .kind = "op", .name = why_name(s, c->event) };
	case CATEGORY_STEP: /* the names contain numbers */
		return (struct why_place){ .kind = "range", .name = S("(mark of the step)") };
	default: return (struct why_place){ .kind = "range", .name = why_name(s, c->event) };
	}
}

static void add_cost(const struct why_scene *s, struct why_change *c, uint32_t node, int64_t ticks)
{
	if (ticks <= 0 || why_window(s, node) == ID_NONE)
		return;
	if (!c->tracks)
		c->tracks = ARENA_ARRAY(c->a, s->t->tracks.n, bool);
	c->tracks[s->d->nodes.v[node].track] = true;
	struct why_place place = place_of(s, node, c->a);
	if (c->at.p)
		place.name = str_fmt(c->a, "%.*s: %.*s", STR(c->at), STR(place.name));
	uint32_t id = intern_add(&c->names, place.name);
	if (id == c->places.n)
		VEC_PUSH(c->a, &c->places, place);
	struct why_place *p = &c->places.v[id];
	p->ticks = num_add(p->ticks, ticks);
	p->times++;
	if (ticks > p->longest) {
		p->longest = ticks;
		p->first = why_is_start_up_call(s, node, ticks);
	}
	c->cost = num_add(c->cost, ticks);
}

static void set_length(
        const struct why_scene *s, struct why_change *c, uint32_t node, int64_t length)
{
	const struct depend_node *n = &s->d->nodes.v[node];

	if (!c->plan.lengths) {
		int64_t *v = ARENA_ARRAY(c->a, s->d->nodes.n, int64_t);
		for (size_t i = 0; i < s->d->nodes.n; i++)
			v[i] = s->d->nodes.v[i].end - s->d->nodes.v[i].start;
		c->plan.lengths = v;
	}
	c->plan.lengths[node] = length;
	add_cost(s, c, node, n->end - n->start - length);
}

void why_shorten(const struct why_scene *s, struct why_change *c, uint32_t node, int64_t length)
{
	int64_t least = s->overhead ? s->overhead[node] : 0;

	why_shorten_all(s, c, node, length > least ? length : least);
}

void why_shorten_all(const struct why_scene *s, struct why_change *c, uint32_t node, int64_t length)
{
	const struct depend_node *n = &s->d->nodes.v[node];

	if (length < n->end - n->start)
		set_length(s, c, node, length);
}

void why_scale(const struct why_scene *s, struct why_change *c, uint32_t node, double factor)
{
	const struct depend_node *n = &s->d->nodes.v[node];

	set_length(s, c, node, (int64_t)((double)(n->end - n->start) * factor + 0.5));
}

bool why_waits_for_device(const struct why_scene *s, uint32_t node)
{
	const struct depend *d = s->d;

	for (uint32_t i = d->first_edge[node]; i < d->first_edge[node + 1]; i++)
		if (d->edges[i].kind == DEPEND_SYNC)
			return true;
	return false;
}

void why_unblock(const struct why_scene *s, struct why_change *c, uint32_t node)
{
	const struct depend_node *n = &s->d->nodes.v[node];

	if (!c->plan.unblocked)
		c->plan.unblocked = ARENA_ARRAY(c->a, s->d->nodes.n, bool);
	c->plan.unblocked[node] = true;
	if (!n->first && n->host)
		add_cost(s, c, node, n->start - s->d->nodes.v[node - 1].end);
}

void why_remove_owned(const struct why_scene *s, struct why_change *c, enum why_id id)
{
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		if (!s->d->nodes.v[i].host || why_owner(s, i) != id)
			continue;
		why_shorten(s, c, i, 0);
		if (why_waits_for_device(s, i))
			why_unblock(s, c, i);
	}
}

const char *why_wait_cure(const struct why_scene *s)
{
	return s->t->source == TRACE_KINETO
	               ? "; PyTorch records it with enable_cuda_sync_events=True "
	                 "in experimental_config"
	               : "";
}
