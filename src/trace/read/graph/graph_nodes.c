/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the places that a trace itself states for work of graphs: the calls that created the nodes
 * (Nsight Systems with --cuda-graph-trace=node), and the regions that PyTorch wrote to the kernels
 * (torch.cuda.graph_annotations).
 */
#include "trace/read/graph/graph_internal.h"

#include "base/sort.h"
#include "trace/pass/nest.h"

#define COPIES_MAX 64 /* maximum length of a chain of copied nodes */

/* An open slice of a thread. */
struct node_level {
	uint32_t event, site; /* event: ID_NONE if the slice is not a place; site: ID_NONE if it is
	                         not created yet */
	bool replayed;        /* true: it began inside a capture */
};

struct finding_nodes {
	struct trace_build *b;
	const struct trace *t;
	struct arena *a;
	const struct build_creations *nodes;
	struct idmap *created, *copies; /* indexed by process, then one for tracks without a
	                                   process; key: id of a graph node; value: index in
	                                   nodes */
	uint32_t *site_of;              /* indexed by node: 1 + site of its creation; 0: none */
	struct imap regions;            /* key: string id; value: site */
	VEC(struct node_level) open;    /* indexed by depth */
	bool capturing;                 /* true: between the begin and the end of a capture */
};

static size_t index_of(const struct finding_nodes *x, uint32_t process)
{
	return process == ID_NONE ? x->t->processes.n : process;
}

static struct idmap *make_maps(const struct finding_nodes *x)
{
	struct idmap *maps = ARENA_ARRAY(x->a, x->t->processes.n + 1, struct idmap);

	for (size_t i = 0; i <= x->t->processes.n; i++)
		idmap_init(&maps[i], x->a);
	return maps;
}

static void index_nodes(struct finding_nodes *x)
{
	x->created = make_maps(x);
	x->copies = make_maps(x);
	for (uint32_t i = 0; i < x->nodes->n; i++) {
		const struct build_creation *n = &x->nodes->v[i];
		size_t process = index_of(x, x->t->tracks.v[n->track].process);
		idmap_put(n->original ? &x->copies[process] : &x->created[process], (uint64_t)n->id,
		        i);
	}
}

/* ---- levels around creations ---- */

/* Returns 1 + the site of the innermost place among the first `depth` open levels; 0: no level is a
 * place. */
static uint32_t site_of_open(struct finding_nodes *x, uint32_t depth)
{
	uint32_t site = ID_NONE;

	for (uint32_t i = 0; i < depth; i++) {
		struct node_level *l = &x->open.v[i];
		if (l->event != ID_NONE && l->site == ID_NONE)
			l->site = build_site(x->b, site, l->event, l->replayed);
		site = l->event == ID_NONE ? site : l->site;
	}
	return site + 1;
}

static void open_level(struct finding_nodes *x, const struct nest_level *level)
{
	struct str name = trace_str(x->t, level->s.name);
	bool call = level->s.category == CATEGORY_CALL;
	bool place = !call && level->s.category != CATEGORY_STEP;

	while (x->open.n <= level->depth)
		VEC_PUSH(x->a, &x->open, ((struct node_level){ ID_NONE, ID_NONE, false }));
	x->open.v[level->depth] =
	        (struct node_level){ place ? level->s.event : ID_NONE, ID_NONE, x->capturing };
	if (call && str_contains(name, S("StreamBeginCapture")))
		x->capturing = true;
	else if (call && str_contains(name, S("StreamEndCapture")))
		x->capturing = false;
}

/* Finds the levels around each creation of a node on a thread. v: n indices of nodes, sorted by
 * time. */
static void take_thread(struct finding_nodes *x, uint32_t track, const uint32_t *v, size_t n)
{
	const uint32_t levels = nest_bits(CATEGORY_HOST_NEST) | CATEGORY_BIT(CATEGORY_CALL);
	struct nest_level *level;
	enum nest_what what;
	uint32_t depth = 0;
	struct nest nest;
	size_t next = 0;

	x->capturing = false;
	nest_init(&nest, x->t, track, levels, x->a);
	while (next < n && (what = nest_next(&nest, &level))) {
		int64_t at = what == NEST_OPEN ? level->s.start : slice_end(&level->s);
		for (; next < n && x->nodes->v[v[next]].created < at; next++)
			x->site_of[v[next]] = site_of_open(x, depth);
		if (what == NEST_OPEN)
			open_level(x, level);
		depth = level->depth + (what == NEST_OPEN);
	}
}

static int by_thread(const void *v, uint32_t a, uint32_t b)
{
	const struct build_creation *x = (const struct build_creation *)v + a,
	                            *y = (const struct build_creation *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
	return (a > b) - (a < b);
}

static void find_creations(struct finding_nodes *x)
{
	const struct build_creation *v = x->nodes->v;
	uint32_t *order = sort_order(x->a, x->nodes->n, by_thread, v);

	for (size_t i = 0, end; i < x->nodes->n; i = end) {
		for (end = i; end < x->nodes->n && v[order[end]].track == v[order[i]].track; end++)
			;
		take_thread(x, v[order[i]].track, order + i, end - i);
	}
}

/* ---- work ---- */

/* Follows a graph node to the node from which it was copied. Returns 1 + the site where that
 * original node was created; 0: unknown. */
static uint32_t site_of_node(const struct finding_nodes *x, uint32_t process, int64_t id)
{
	size_t of = index_of(x, process);
	uint32_t i;

	for (unsigned hops = 0; hops < COPIES_MAX; hops++) {
		if (!idmap_get(&x->copies[of], (uint64_t)id, &i))
			break;
		id = x->nodes->v[i].original;
	}
	return idmap_get(&x->created[of], (uint64_t)id, &i) ? x->site_of[i] : 0;
}

/* Returns 1 + the site of a region. Creates the site if needed. */
static uint32_t site_of_region(struct finding_nodes *x, uint32_t region)
{
	uint32_t site;

	if (!imap_get(&x->regions, region, &site)) {
		site = build_site(
		        x->b, ID_NONE, build_event(x->b, CATEGORY_ANNOTATION, region), true);
		imap_put(&x->regions, region, site, false);
	}
	return 1 + site;
}

void graph_find_places(const struct graph_replays *replays, struct trace_build *b,
        struct graph_places *out, struct arena *a)
{
	struct finding_nodes x = {
		.b = b, .t = build_trace(b), .a = a, .nodes = build_get_creations(b)
	};

	out->created = ARENA_ARRAY(a, replays->work.n, uint32_t);
	out->region = ARENA_ARRAY(a, replays->work.n, uint32_t);
	x.site_of = ARENA_ARRAY(a, x.nodes->n, uint32_t);
	imap_init(&x.regions, a);
	index_nodes(&x);
	find_creations(&x);
	for (size_t i = 0; i < replays->work.n; i++) {
		const struct graph_work *w = &replays->work.v[i];
		if (w->node && x.nodes->n)
			out->created[i] =
			        site_of_node(&x, x.t->tracks.v[w->track].process, w->node);
		if (w->region != ID_NONE)
			out->region[i] = site_of_region(&x, w->region);
	}
}
