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
	uint32_t *launch_of; /* indexed by launch of the links: 1 + launch of a graph */
};

/* Returns an array indexed by event: true for calls that launch a graph. Returns NULL if no event
 * is such a call. */
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
			continue; /* a driver call inside a runtime call */
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

/* Numbers the streams of a launch by their first use. Returns their number. streams: indexed by
 * work of the launch. */
static uint32_t number_streams(struct finding_replays *x, const struct graph_launch *l,
        uint32_t *stream_of, uint32_t *streams)
{
	const struct graph_work *w = &x->to->work.v[l->first];
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (!stream_of[w[i].track])
			stream_of[w[i].track] = ++n;
		streams[i] = stream_of[w[i].track] - 1;
	}
	for (uint32_t i = 0; i < l->n; i++)
		stream_of[w[i].track] = 0;
	return n;
}

/* Writes the work of a launch: process, names, streams and nodes, in order of start. */
static struct str pattern_of(const struct graph_replays *to, const struct graph_launch *l,
        const uint32_t *streams, struct sb *key)
{
	const struct graph_work *w = &to->work.v[l->first];
	int64_t least = INT64_MAX;

	key->n = 0;
	sb_put(key, str_make(&l->process, sizeof l->process));
	for (uint32_t i = 0; i < l->n; i++)
		least = w[i].node < least ? w[i].node : least;
	for (uint32_t i = 0; i < l->n; i++) {
		const uint32_t cell[2] = { w[i].token, streams[i] };
		int64_t node = num_sub(w[i].node, least);
		sb_put(key, str_make(cell, sizeof cell));
		if (w[i].node)
			sb_put(key, str_make(&node, sizeof node));
	}
	return sb_str(key);
}

static int by_text(const void *v, uint32_t a, uint32_t b)
{
	const struct str *x = v;

	return str_cmp(x[a], x[b]);
}

/* Writes the process of a launch, and the names of the work on each stream. The order in which work
 * of several streams starts differs between launches of a graph. */
static struct str kind_of(struct finding_replays *x, const struct graph_launch *l,
        const uint32_t *streams, uint32_t n_streams, struct sb *key)
{
	struct str *lists = ARENA_ARRAY(x->a, n_streams, struct str);
	struct sb *texts = ARENA_ARRAY(x->a, n_streams, struct sb);
	const uint32_t end = TOKEN_NONE;

	for (uint32_t i = 0; i < n_streams; i++)
		texts[i] = sb_in(x->a);
	for (uint32_t i = 0; i < l->n; i++)
		sb_put(&texts[streams[i]],
		        str_make(&x->to->work.v[l->first + i].token, sizeof(uint32_t)));
	for (uint32_t i = 0; i < n_streams; i++)
		lists[i] = sb_str(&texts[i]);
	sort_array(x->a, lists, n_streams, sizeof *lists, by_text);
	key->n = 0;
	sb_put(key, str_make(&l->process, sizeof l->process));
	for (uint32_t i = 0; i < n_streams; i++) {
		sb_put(key, lists[i]);
		sb_put(key, str_make(&end, sizeof end));
	}
	return sb_str(key);
}

/* Groups the launches by their work. */
static void find_kinds(struct finding_replays *x)
{
	uint32_t *stream_of = ARENA_ARRAY(x->a, x->t->tracks.n, uint32_t);
	struct graph_replays *to = x->to;
	VEC(uint32_t) kind_of_pattern = { .v = NULL };
	struct sb key = sb_in(x->a);
	struct intern patterns, kinds;
	VEC(uint32_t) streams = { .v = NULL };

	intern_init(&patterns, x->a);
	intern_init(&kinds, x->a);
	for (uint32_t i = 0; i < to->launches.n; i++) {
		struct graph_launch *l = &to->launches.v[i];
		VEC_ROOM(x->a, &streams, l->n);
		uint32_t n = number_streams(x, l, stream_of, streams.v);
		l->pattern = intern_add(&patterns, pattern_of(to, l, streams.v, &key));
		if (l->pattern == kind_of_pattern.n)
			VEC_PUSH(x->a, &kind_of_pattern,
			        intern_add(&kinds, kind_of(x, l, streams.v, n, &key)));
		l->kind = kind_of_pattern.v[l->pattern];
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
