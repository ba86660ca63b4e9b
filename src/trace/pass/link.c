/* SPDX-License-Identifier: Apache-2.0
 *
 * Indexes the calls that launched device work.
 */
#include "trace/pass/communication.h"
#include "trace/pass/link.h"
#include "trace/pass/nest.h"

/* Properties of the name of an event, found once for each event. */
enum { NAME_KNOWN = 1, NAME_COLLECTIVE = 2, NAME_GRAPH = 4 };

struct linking {
	struct trace_links *l;
	uint8_t *names; /* properties, indexed by event */
	struct arena *a;
};

static bool name_is(struct linking *x, const struct slice *s, uint8_t what)
{
	uint8_t *known = &x->names[s->event];
	struct str name = trace_str(x->l->t, s->name);

	if (!*known)
		*known = (uint8_t)(NAME_KNOWN | (communication_is_op(name) ? NAME_COLLECTIVE : 0) |
		                   (str_contains(name, S("GraphLaunch")) ? NAME_GRAPH : 0));
	return *known & what;
}

static struct idmap *map_of(const struct trace_links *l, struct idmap *maps, uint32_t track)
{
	uint32_t process = l->t->tracks.v[track].process;

	return &maps[process == ID_NONE ? l->t->processes.n : process];
}

/* Adds a call. others: categories of the enclosing slices to use if no op contains the call. */
static void add_launch(
        struct linking *x, const struct nest *n, const struct nest_level *level, uint32_t others)
{
	struct trace_links *l = x->l;
	const struct nest_level *op = nest_around(n, level, CATEGORY_BIT(CATEGORY_OP));
	const struct nest_level *scope = nest_around(n, level, others);
	struct launch made = { .start = level->s.start,
		.slice = level->s.number,
		.op = op ? op->s.number : ID_NONE,
		.scope = scope ? scope->s.number : ID_NONE,
		.collective = op && name_is(x, &op->s, NAME_COLLECTIVE),
		.length = level->s.length < LAUNCH_LENGTH_MAX
		                  ? (uint32_t)level->s.length & LAUNCH_LENGTH_MAX
		                  : LAUNCH_LENGTH_MAX };

	if (!idmap_put(map_of(l, l->by_correlation, level->s.track), (uint64_t)level->s.correlation,
	            (uint32_t)l->launches.n))
		return; /* the call is inside another call with this correlation */
	l->externals |= !op;
	VEC_PUSH(x->a, &l->launches, made);
}

/* Returns the CATEGORY_BITs of the slices to which a call belongs if no op contains it. A Python
 * frame does not count for the launch of a graph, because it does not describe the work of the
 * graph. */
static uint32_t scopes_of(
        struct linking *x, const struct nest *n, const struct nest_level *call, uint32_t others)
{
	uint32_t without = others & ~CATEGORY_BIT(CATEGORY_FRAME);

	return name_is(x, &call->s, NAME_GRAPH) && nest_around(n, call, without) ? without : others;
}

/* Returns the CATEGORY_BITs of slices that launch work. Threads of ONNX Runtime wait for the nodes
 * that they launch. */
static uint32_t launching(const struct trace *t)
{
	return nest_bits(CATEGORY_LAUNCH) |
	       (t->source == TRACE_ONNXRUNTIME ? CATEGORY_BIT(CATEGORY_SYNC) : 0);
}

static void link_track(struct linking *x, uint32_t track)
{
	const uint32_t calls = launching(x->l->t);
	const uint32_t others = nest_bits(CATEGORY_HOST_NEST) & ~CATEGORY_BIT(CATEGORY_OP);
	struct nest_level *level;
	struct scratch own;
	struct nest n;
	enum nest_what what;

	if (!(x->l->t->tracks.v[track].categories & calls))
		return;
	scratch_open(&own, x->a->work);
	nest_init(&n, x->l->t, track, nest_bits(CATEGORY_HOST_NEST) | calls, &own.a);
	while ((what = nest_next(&n, &level)))
		if (what == NEST_OPEN && level->s.correlation &&
		        CATEGORY_BIT(level->s.category) & calls)
			add_launch(x, &n, level, scopes_of(x, &n, level, others));
	scratch_close(&own);
}

static void find_externals(struct trace_links *l, uint32_t track)
{
	struct slice_iter i = trace_slices_if(l->t, track, CATEGORY_BIT(CATEGORY_OP));
	int64_t id;

	for (struct slice s; slice_next(&i, &s);)
		if (s.form == SLICE_COMPLETE && s.category == CATEGORY_OP &&
		        slice_has_int(l->t, &s, ARG_EXTERNAL, &id) && id)
			idmap_put(map_of(l, l->by_external, track), (uint64_t)id, s.number);
}

static struct idmap *make_maps(const struct trace *t, struct arena *a)
{
	struct idmap *maps = ARENA_ARRAY(a, t->processes.n + 1, struct idmap);

	for (size_t i = 0; i <= t->processes.n; i++)
		idmap_init(&maps[i], a);
	return maps;
}

void trace_link(const struct trace *t, struct trace_links *out, struct arena *a)
{
	struct linking x = { .l = out, .a = a };
	struct scratch own;

	*out = (struct trace_links){ .t = t };
	out->by_correlation = make_maps(t, a);
	scratch_open(&own, a->work);
	x.names = ARENA_ARRAY(&own.a, t->events.n, uint8_t);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]))
			link_track(&x, i);
	scratch_close(&own);
	if (!out->externals)
		return;
	out->by_external = make_maps(t, a);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]))
			find_externals(out, i);
}

int64_t launch_end(const struct trace_links *l, const struct launch *launch)
{
	struct slice call;

	if (launch->length < LAUNCH_LENGTH_MAX)
		return launch->start + launch->length;
	trace_slice(l->t, launch->slice, &call);
	return slice_end(&call);
}

const struct launch *link_launch(const struct trace_links *l, const struct slice *work)
{
	uint32_t i;

	if (!work->correlation || !l->launches.n ||
	        !idmap_get(
	                map_of(l, l->by_correlation, work->track), (uint64_t)work->correlation, &i))
		return NULL;
	return &l->launches.v[i];
}

uint32_t link_op(const struct trace_links *l, const struct slice *work, const struct launch *launch)
{
	int64_t external;
	uint32_t op;

	if (!launch)
		return ID_NONE;
	if (launch->op != ID_NONE)
		return launch->op;
	if (l->by_external && slice_has_int(l->t, work, ARG_EXTERNAL, &external) && external &&
	        idmap_get(map_of(l, l->by_external, work->track), (uint64_t)external, &op))
		return op;
	return launch->scope;
}
