/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds graph launches: calls whose correlation all work of the graph shares.
 */
#include "trace/read/graph/graph_internal.h"
#include "trace/pass/work_merge.h"

#include "base/sort.h"

#define LAUNCH_CALL "GraphLaunch" /* cudaGraphLaunch, hipGraphLaunch, cuGraphLaunch */

uint32_t graph_token(struct str name, uint32_t id)
{
	if (str_starts(name, S("Memcpy")) || str_contains(name, S("copyBuffer")))
		return TOKEN_COPY;
	if (str_starts(name, S("Memset")) || str_contains(name, S("fillBuffer")))
		return TOKEN_SET;
	return id;
}

struct finding_replays {
	const struct trace *t;
	struct trace_links links;
	struct graph_replays *to;
	struct arena *a;
	uint32_t *launch_of; /* by launch of the links: 1 + launch of a graph */
};

/* Returns, by event, whether it is a call that launches a graph; NULL if none is. */
static const bool *find_calls(const struct trace *t, struct arena *a)
{
	bool *calls = ARENA_ARRAY(a, t->events.n, bool), any = false;

	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.v[i].category == CATEGORY_CALL &&
		        str_contains(trace_str(t, t->events.v[i].name), S(LAUNCH_CALL)))
			any = calls[i] = true;
	return any ? calls : NULL;
}

static void take_launches(struct finding_replays *x, const bool *calls, uint32_t track)
{
	struct slice_iter it = trace_slices(x->t, track);

	for (struct slice s; slice_next(&it, &s);) {
		const struct launch *launch = calls[s.event] && s.form == SLICE_COMPLETE
		                                      ? link_launch(&x->links, &s)
		                                      : NULL;
		size_t i = launch ? (size_t)(launch - x->links.launches.v) : 0;
		if (!launch || x->launch_of[i])
			continue; /* a call of the driver inside one of the runtime */
		VEC_PUSH(x->a, &x->to->launches,
		        ((struct graph_launch){
		                .start = s.start, .process = x->t->tracks.v[track].process }));
		x->launch_of[i] = (uint32_t)x->to->launches.n;
	}
}

/* A piece of work and its launch. */
struct launched_work {
	uint32_t launch;
	struct graph_work work;
};
typedef VEC(struct launched_work) launched_list;

static uint32_t token_of(const struct trace *t, const struct slice *s)
{
	if (s->category == CATEGORY_COPY)
		return TOKEN_COPY;
	if (s->category == CATEGORY_SET)
		return TOKEN_SET;
	return graph_token(trace_str(t, s->name), s->name);
}

/* Finds the work of all launches, in order of start. */
static void take_work(struct finding_replays *x, launched_list *out)
{
	const struct trace *t = x->t;
	const struct slice *s;
	struct work_merge m;
	bool contains;

	work_merge_init(&m, t, ID_NONE, false, x->a);
	while ((s = work_merge_next(&m, &contains))) {
		const struct launch *launch = link_launch(&x->links, s);
		uint32_t at = launch ? x->launch_of[launch - x->links.launches.v] : 0;
		if (!at || t->tracks.v[s->track].kind == TRACK_LINE)
			continue;
		struct argument region = { .text = ID_NONE };
		if (slice_may_have(t, s, ARG_REGION))
			slice_argument(t, s, ARG_REGION, &region);
		VEC_PUSH(x->a, out,
		        ((struct launched_work){
		                at - 1, { s->track, s->number - t->tracks.v[s->track].first,
		                                token_of(t, s), region.text, s->length,
		                                slice_int(t, s, ARG_GRAPH_NODE) } }));
	}
}

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct graph_launch *x = (const struct graph_launch *)v + a,
	                          *y = (const struct graph_launch *)v + b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (a > b) - (a < b);
}

/* Orders the launches that have work by start, and groups the work by launch. */
static void group(struct finding_replays *x, const launched_list *work)
{
	struct graph_replays *to = x->to;
	size_t n = to->launches.n, kept = 0;
	struct graph_launch *old = ARENA_ARRAY(x->a, n, struct graph_launch);
	const uint32_t *order = sort_order(x->a, n, by_start, to->launches.v);
	uint32_t *place = ARENA_ARRAY(x->a, n, uint32_t), first = 0;

	memcpy(old, to->launches.v, n * sizeof *old);
	for (size_t i = 0; i < work->n; i++)
		old[work->v[i].launch].n++;
	for (size_t i = 0; i < n; i++) {
		struct graph_launch l = old[order[i]];
		if (!l.n)
			continue;
		place[order[i]] = l.first = first;
		first += l.n;
		to->launches.v[kept++] = l;
	}
	to->launches.n = kept;
	VEC_ROOM(x->a, &to->work, work->n);
	to->work.n = work->n;
	for (size_t i = 0; i < work->n; i++)
		to->work.v[place[work->v[i].launch]++] = work->v[i].work;
}

/* Writes what distinguishes the work of a launch: process, names, and streams by their first use.
 */
static struct str key_of(const struct graph_replays *to, const struct graph_launch *l,
        struct sb *key, uint32_t *stream_of)
{
	uint32_t streams = 0;

	key->n = 0;
	sb_put(key, str_make(&l->process, sizeof l->process));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct graph_work *w = &to->work.v[l->first + i];
		if (!stream_of[w->track])
			stream_of[w->track] = ++streams;
		const uint32_t cell[2] = { w->token, stream_of[w->track] };
		sb_put(key, str_make(cell, sizeof cell));
	}
	for (uint32_t i = 0; i < l->n; i++)
		stream_of[to->work.v[l->first + i].track] = 0;
	return sb_str(key);
}

/* Groups the launches by their work. */
static void find_kinds(struct finding_replays *x)
{
	uint32_t *stream_of = ARENA_ARRAY(x->a, x->t->tracks.n, uint32_t);
	struct graph_replays *to = x->to;
	struct sb key = sb_in(x->a);
	struct intern keys;

	intern_init(&keys, x->a);
	for (uint32_t i = 0; i < to->launches.n; i++) {
		struct graph_launch *l = &to->launches.v[i];
		l->kind = intern_add(&keys, key_of(to, l, &key, stream_of));
		if (l->kind == to->kinds.n)
			VEC_PUSH(x->a, &to->kinds,
			        ((struct graph_kind){
			                i, { .process = l->process, .number = l->kind + 1 } }));
		struct trace_graph *g = &to->kinds.v[l->kind].graph;
		g->launches++;
		g->work += l->n;
		for (uint32_t k = 0; k < l->n; k++)
			g->time = num_add(g->time, to->work.v[l->first + k].length);
	}
}

void graph_find_replays(const struct trace *t, struct graph_replays *out, struct arena *a)
{
	struct finding_replays x = { .t = t, .to = out, .a = a };
	const bool *calls = find_calls(t, a);
	launched_list work = { .n = 0 };

	*out = (struct graph_replays){ .launches = { .n = 0 } };
	if (!calls)
		return;
	trace_link(t, &x.links, a);
	x.launch_of = ARENA_ARRAY(a, x.links.launches.n, uint32_t);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]))
			take_launches(&x, calls, i);
	if (!out->launches.n)
		return;
	take_work(&x, &work);
	group(&x, &work);
	find_kinds(&x);
}
