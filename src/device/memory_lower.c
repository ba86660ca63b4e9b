/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds the memory of a snapshot to a model, so that views show it.
 */
#include "base/note.h"
#include "device/memory_stacks.h"
#include "device/memory_use.h"
#include "model/read/read.h"
#include "trace/pass/trace_steps.h"

/* Frames and bytes of paths: as many as these, and more for larger files. */
#define FRAMES_FREE     ((uint64_t)1 << 16)
#define BYTES_PER_FRAME 8
#define PATHS_FREE      ((uint64_t)1 << 20)
#define PATH_MAX_BYTES  ((size_t)64 << 10)

/* Sums of the allocations of a node. */
struct node_memory {
	int64_t live, allocated;
	uint64_t allocations;
};

struct memory_lowering {
	const struct trace *t;
	struct ingest *to;
	struct arena *a;
	bool stacks; /* nodes are call stacks */
	struct memory_stacks facts;
	uint64_t *hash;          /* indexed by site: of the frames' texts, which workers share */
	uint32_t *frame;         /* indexed by site: 1 + frame of the model, 0: not made yet */
	uint64_t frames;         /* that may still be made */
	uint64_t bytes;          /* that paths may still take */
	uint64_t cut;            /* call stacks without their innermost frames */
	VEC(uint32_t) way;       /* sites or events, the innermost first */
	struct sb path;          /* of the node: its name */
	struct imap node_memory; /* node of the model -> index in memory */
	VEC(struct node_memory) memory;
	VEC(uint32_t) nodes; /* of memory */
};

/* ---- call stacks ---- */

/* Returns the frame of a site, or of the innermost caller for which there is room. */
static uint32_t lower_site(struct memory_lowering *x, uint32_t site)
{
	uint32_t made = ID_NONE;

	x->way.n = 0;
	for (; site != ID_NONE && !x->frame[site]; site = x->t->sites.v[site].parent)
		VEC_PUSH(x->a, &x->way, site);
	if (site != ID_NONE)
		made = x->frame[site] - 1;
	for (; x->way.n && x->frames; x->frames--) {
		site = x->way.v[--x->way.n];
		uint32_t event = x->t->sites.v[site].event;
		made = trace_lower_frame(x->to, trace_str(x->t, x->t->events.v[event].name), made);
		x->frame[site] = made + 1;
	}
	x->cut += x->way.n > 0;
	return made;
}

/* Fills x->hash. A site follows its parent. */
static void hash_sites(struct memory_lowering *x)
{
	const struct trace *t = x->t;

	x->hash = ARENA_ARRAY(x->a, t->sites.n, uint64_t);
	for (size_t i = 0; i < t->sites.n; i++) {
		const struct trace_site *s = &t->sites.v[i];
		struct str text = trace_str(t, t->events.v[s->event].name);
		uint64_t of[] = { s->parent == ID_NONE ? 0 : x->hash[s->parent],
			hash_bytes(text.p, text.n) };
		x->hash[i] = hash_bytes(of, sizeof of);
	}
}

/* ---- names ---- */

static void put_level(struct memory_lowering *x, struct str level)
{
	if (x->path.n)
		sb_char(&x->path, '/');
	sb_put(&x->path, level);
}

/* Appends the lines of the user's program that called an allocation, the outermost first. */
static void put_lines(struct memory_lowering *x, uint32_t site)
{
	const struct trace_site *v = x->t->sites.v;

	x->way.n = 0;
	for (; site != ID_NONE; site = v[site].parent)
		if (x->facts.line[site] == v[site].event)
			VEC_PUSH(x->a, &x->way, v[site].event);
	if (!x->way.n)
		put_level(x, S("(no line of Python)"));
	while (x->way.n && x->path.n <= PATH_MAX_BYTES && x->path.n <= x->bytes) {
		put_level(x, S(""));
		memory_put_line(&x->path, x->t, x->way.v[--x->way.n], false);
	}
	x->cut += x->way.n > 0;
}

/* Appends the name of a node to x->path. Returns its type. */
static struct str name_node(struct memory_lowering *x, const struct memory_owner *o)
{
	if (o->site == ID_NONE) {
		struct str rule = str_fmt(x->a, "(%.*s)", STR(o->rule));
		put_level(x, rule);
		return rule;
	}
	uint32_t event = x->facts.op[o->site];
	struct str op = event == ID_NONE ? S("(no op)") : memory_op_text(x->t, event, x->a);
	if (!x->stacks)
		put_lines(x, o->site);
	if (x->stacks || event != ID_NONE)
		put_level(x, op);
	if (x->stacks)
		sb_fmt(&x->path, "#%016llx", (unsigned long long)x->hash[o->site]);
	return op;
}

/* ---- nodes ---- */

/* Returns the memory of a new or an existing node. */
static struct node_memory *memory_of(struct memory_lowering *x, uint32_t node)
{
	uint32_t i;

	if (!imap_get(&x->node_memory, node, &i)) {
		i = (uint32_t)x->memory.n;
		VEC_PUSH(x->a, &x->memory, (struct node_memory){ 0 });
		VEC_PUSH(x->a, &x->nodes, node);
		imap_put(&x->node_memory, node, i, false);
	}
	return &x->memory.v[i];
}

static void lower_owner(
        struct memory_lowering *x, const struct memory_pool *p, const struct memory_owner *o)
{
	const struct model *m = ingest_model(x->to);
	struct str type = name_node(x, o);
	uint32_t name = ingest_string(x->to, sb_str(&x->path)), node;

	if (ingest_node(x->to, name, ingest_string(x->to, type))) {
		uint32_t device = ingest_device(x->to, str_lower(x->a, p->device));
		node = ingest_end_node(x->to);
		x->bytes -= x->path.n < x->bytes ? x->path.n : x->bytes;
		ingest_set_device(x->to, node, device, m->devices.v[device].host);
		if (x->stacks && o->site != ID_NONE)
			ingest_set_stack(x->to, node, lower_site(x, o->site));
	} else {
		node = m->node_of[name] - 1;
	}
	struct node_memory *to = memory_of(x, node);
	to->live = num_add(to->live, o->bytes);
	to->allocated = num_add(to->allocated, o->allocated);
	to->allocations += o->allocations;
}

static bool is_host(const struct memory_pool *p)
{
	return str_eq(p->device, S("host"));
}

/* Counts the devices, without the host. The pools of a device follow each other. */
static size_t count_devices(const struct memory_use *use)
{
	size_t n = 0;

	for (size_t i = 0; i < use->pools.n; i++)
		n += !is_host(&use->pools.v[i]) &&
		     (!i || !str_eq(use->pools.v[i].device, use->pools.v[i - 1].device));
	return n;
}

/* Adds the nodes of a pool. Each process of a job uses another device, but the same names: they do
 * not contain the device if there is only one. alone: the device has no other pool. */
static void lower_pool(
        struct memory_lowering *x, const struct memory_pool *p, bool several_devices, bool alone)
{
	for (size_t i = 0; i < p->live.n; i++) {
		x->path.n = 0;
		if (several_devices || is_host(p))
			put_level(x, p->device);
		if (!alone)
			put_level(x, p->allocator.p ? p->allocator : S("unknown pool"));
		lower_owner(x, p, &p->live.v[i]);
		work_poll(x->a->work);
	}
}

static void lower_memory(struct memory_lowering *x, int64_t step)
{
	for (size_t i = 0; i < x->memory.n; i++) {
		const struct node_memory *v = &x->memory.v[i];
		struct mem_item m = { .bytes = v->allocated, .residual = v->live };
		uint8_t packed[MEM_ITEM_MAX];

		ingest_cell(x->to, step, x->nodes.v[i],
		        &(struct cell_in){ num_from_u64(v->allocations), 1, 1 });
		ingest_mem(x->to, packed, (size_t)(mem_put(packed, &m) - packed));
	}
}

/* Adds the steps of the file, which are empty. */
static void lower_steps(const struct memory_lowering *x)
{
	struct trace_steps steps;

	trace_find_steps(x->t, &steps, x->a);
	for (size_t i = 0; i < steps.steps.n; i++)
		if (steps.steps.v[i].id >= 0)
			ingest_step(x->to, steps.steps.v[i].id);
}

size_t memory_lower(const struct trace *t, const struct opts *o, bool stacks, struct ingest *to,
        struct arena *scratch)
{
	const struct memory_request request = {
		.by = MEMORY_BY_SITE, .at = o->at, .steps = o->step >= 0 ? o : NULL
	};
	struct memory_use use = { 0 };
	struct memory_lowering x = { .t = t,
		.to = to,
		.a = scratch,
		.stacks = stacks,
		.frame = ARENA_ARRAY(scratch, t->sites.n, uint32_t),
		.frames = FRAMES_FREE + t->bytes / BYTES_PER_FRAME,
		.bytes = PATHS_FREE + t->bytes,
		.path = sb_in(scratch) };

	memory_use_snapshot(t, &request, &use, scratch);
	memory_stacks_make(t, &x.facts, scratch);
	imap_init(&x.node_memory, scratch);
	hash_sites(&x);
	size_t devices = count_devices(&use);
	for (size_t i = 0; i < use.pools.n; i++) {
		const struct memory_pool *p = &use.pools.v[i];
		bool alone = (!i || !str_eq(p[-1].device, p->device)) &&
		             (i + 1 == use.pools.n || !str_eq(p[1].device, p->device));
		lower_pool(&x, p, devices > 1, alone);
	}
	if (request.steps)
		lower_steps(&x);
	if (!use.lacks_step)
		lower_memory(&x, request.steps ? o->step : 0);
	if (stacks)
		ingest_has_traces(to);
	note_count(ingest_notes(to), x.cut,
	        "note: %llu call {stack is|stacks are} shown without {its|their} innermost frames, "
	        "which would need too much memory\n",
	        (unsigned long long)x.cut);
	return use.ooms.n;
}
