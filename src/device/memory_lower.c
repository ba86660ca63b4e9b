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
#define FRAMES_FREE     ((uint64_t)1 << 15)
#define BYTES_PER_FRAME 8
#define PATHS_FREE      ((uint64_t)1 << 20)
#define PATH_MAX_BYTES  ((size_t)64 << 10)

/* Sums of the allocations of a node. */
struct node_memory {
	int64_t live, allocated;
	uint64_t allocations;
};

/* A frame and the call stack around it, of any source. */
struct lowered_site {
	uint32_t parent;
	struct str text;
	uint64_t hash;  /* of the texts, which workers share */
	uint32_t frame; /* 1 + frame of the model, 0: not made yet */
};

struct memory_lowering {
	const struct memory_source *from;
	struct memory_use use;
	struct ingest *to;
	struct arena *a;
	bool stacks;                /* true: nodes are call stacks */
	struct memory_stacks facts; /* of a snapshot */
	struct lowered_site *site;  /* indexed by memory_owner.site */
	uint64_t frames;            /* number of frames that may still be created */
	uint64_t bytes;             /* number of bytes that paths may still take */
	uint64_t cut;               /* number of call stacks that lost their innermost frames */
	VEC(uint32_t) way;          /* path of sites or events, innermost first */
	struct sb path;             /* path of the node, which is its name */
	struct imap node_memory;    /* key: node of the model; value: index in memory */
	VEC(struct node_memory) memory;
	VEC(uint32_t) nodes; /* nodes of the elements of memory */
};

static bool is_snapshot(const struct memory_lowering *x)
{
	return x->from->t && x->from->t->source == TRACE_SNAPSHOT;
}

/* ---- call stacks ---- */

/* Sets a site, whose parent is set. */
static void set_site(struct memory_lowering *x, uint32_t i, uint32_t parent, struct str text)
{
	uint64_t of[] = { parent == ID_NONE ? 0 : x->site[parent].hash,
		hash_bytes(text.p, text.n) };

	x->site[i] = (struct lowered_site){ parent, text, hash_bytes(of, sizeof of), 0 };
}

/* Sets the sites of a trace. A site follows its parent. */
static void set_sites(struct memory_lowering *x)
{
	const struct trace *t = x->from->t;
	bool own = is_snapshot(x);
	size_t n = own ? t->sites.n : x->use.sites.n;

	x->site = ARENA_ARRAY(x->a, n, struct lowered_site);
	for (uint32_t i = 0; i < n && own; i++)
		set_site(x, i, t->sites.v[i].parent,
		        trace_str(t, t->events.v[t->sites.v[i].event].name));
	for (uint32_t i = 0; i < n && !own; i++)
		set_site(x, i, x->use.sites.v[i].parent, x->use.sites.v[i].text);
}

/* Sets the sites of a model, which are its frames. A frame follows the frame around it. */
static void set_frames(struct memory_lowering *x)
{
	const struct model *m = x->from->m;

	x->site = ARENA_ARRAY(x->a, m->frames.n, struct lowered_site);
	for (uint32_t i = 0; i < m->frames.n; i++) {
		struct frame f = model_frame(m, i);
		struct str text = str_fmt(x->a, "%.*s:%d %.*s", STR(model_str(m, f.file)),
		        (int)f.line, STR(model_str(m, f.function)));
		set_site(x, i, f.parent < i ? f.parent : ID_NONE, text);
	}
}

static uint32_t copy_string(const struct memory_lowering *x, uint32_t id)
{
	return id == ID_NONE ? ID_NONE : ingest_string(x->to, model_str(x->from->m, id));
}

static uint32_t make_frame(const struct memory_lowering *x, uint32_t site, uint32_t parent)
{
	if (x->from->t)
		return trace_lower_frame(x->to, x->site[site].text, parent);
	struct frame f = model_frame(x->from->m, site);
	f.parent = parent;
	f.file = copy_string(x, f.file);
	f.function = copy_string(x, f.function);
	f.source = copy_string(x, f.source);
	return ingest_frame(x->to, &f);
}

/* Returns the frame of a site. At the limit of frames, returns the innermost caller that has one.
 */
static uint32_t lower_site(struct memory_lowering *x, uint32_t site)
{
	uint32_t made = ID_NONE;

	x->way.n = 0;
	for (; site != ID_NONE && !x->site[site].frame; site = x->site[site].parent)
		VEC_PUSH(x->a, &x->way, site);
	if (site != ID_NONE)
		made = x->site[site].frame - 1;
	for (; x->way.n && x->frames; x->frames--) {
		site = x->way.v[--x->way.n];
		made = make_frame(x, site, made);
		x->site[site].frame = made + 1;
	}
	x->cut += x->way.n > 0;
	return made;
}

/* ---- names ---- */

static void put_level(struct memory_lowering *x, struct str level)
{
	if (x->path.n)
		sb_char(&x->path, '/');
	sb_put(&x->path, level);
}

/* Appends a name as one level: slashes in it become spaces. */
static void put_one_level(struct memory_lowering *x, struct str name)
{
	while (name.n && name.p[0] == '/')
		name = str_sub(name, 1, SIZE_MAX);
	size_t at = x->path.n + (x->path.n > 0);
	put_level(x, name);
	for (; at < x->path.n; at++)
		if (x->path.p[at] == '/')
			x->path.p[at] = ' ';
}

/* Appends the lines of the user's program that called an allocation, the outermost first. */
static void put_lines(struct memory_lowering *x, uint32_t site)
{
	const struct trace_site *v = x->from->t->sites.v;

	x->way.n = 0;
	for (; site != ID_NONE; site = v[site].parent)
		if (x->facts.line[site] == v[site].event)
			VEC_PUSH(x->a, &x->way, v[site].event);
	if (!x->way.n)
		put_level(x, S("(no line of Python)"));
	while (x->way.n && x->path.n <= PATH_MAX_BYTES && x->path.n <= x->bytes) {
		put_level(x, S(""));
		memory_put_line(&x->path, x->from->t, x->way.v[--x->way.n], false);
	}
	x->cut += x->way.n > 0;
}

/* Appends the name of a snapshot's node to x->path. Returns its type. */
static struct str name_by_lines(struct memory_lowering *x, const struct memory_owner *o)
{
	if (o->site == ID_NONE) {
		struct str rule = str_fmt(x->a, "(%.*s)", STR(o->rule));
		put_level(x, rule);
		return rule;
	}
	uint32_t event = x->facts.op[o->site];
	struct str op = event == ID_NONE ? S("(no op)") : memory_op_text(x->from->t, event, x->a);
	if (!x->stacks)
		put_lines(x, o->site);
	if (x->stacks || event != ID_NONE)
		put_level(x, op);
	return op;
}

/* Appends the name of another source's node to x->path. Returns its type. */
static struct str name_by_op(struct memory_lowering *x, const struct memory_owner *o)
{
	struct str name = o->name.n ? o->name : o->kind;

	if (!x->stacks && o->module.n && !x->use.names_paths)
		put_level(x, o->module);
	put_level(x, name);
	return o->type.n ? o->type : name;
}

/* Appends the name of a node to x->path. Returns its type. */
static struct str name_node(struct memory_lowering *x, const struct memory_owner *o)
{
	struct str type = is_snapshot(x) ? name_by_lines(x, o) : name_by_op(x, o);

	if (x->stacks && o->site != ID_NONE)
		sb_fmt(&x->path, "#%016llx", (unsigned long long)x->site[o->site].hash);
	return type;
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
		node = ingest_end_node(x->to);
		x->bytes -= x->path.n < x->bytes ? x->path.n : x->bytes;
		if (p->device.n) {
			uint32_t device = ingest_device(x->to, str_lower(x->a, p->device));
			ingest_set_device(x->to, node, device, m->devices.v[device].host);
		}
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

/* The pools of each device. */
struct pools_by_device {
	struct intern devices;
	VEC(size_t) pools; /* indexed by device */
	size_t n;          /* devices, without the host */
};

static void count_pools(struct memory_lowering *x, struct pools_by_device *to)
{
	intern_init(&to->devices, x->a);
	for (size_t i = 0; i < x->use.pools.n; i++) {
		const struct memory_pool *p = &x->use.pools.v[i];
		uint32_t device = intern_add(&to->devices, p->device);
		if (device == to->pools.n) {
			VEC_PUSH(x->a, &to->pools, 0);
			to->n += p->device.n && !is_host(p);
		}
		to->pools.v[device]++;
	}
}

/* Adds the nodes of a pool. The processes of a job use different devices but the same names, so
 * names contain the device only if there are several. alone: the device has no other pool. */
static void lower_pool(
        struct memory_lowering *x, const struct memory_pool *p, bool several_devices, bool alone)
{
	for (size_t i = 0; i < p->live.n; i++) {
		x->path.n = 0;
		if (p->device.n && (several_devices || is_host(p)))
			put_one_level(x, p->device);
		if (!alone)
			put_one_level(x, p->allocator.p ? p->allocator : S("unknown pool"));
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

/* Adds the steps of the source, which are empty. Returns true if a step is one of them. */
static bool lower_steps(const struct memory_lowering *x, int64_t step)
{
	const struct model *m = x->from->m;
	struct trace_steps steps = { 0 };
	bool has = false;

	if (x->from->t)
		trace_find_steps(x->from->t, &steps, x->a);
	for (size_t i = 0; i < steps.steps.n; i++)
		if (steps.steps.v[i].id >= 0)
			ingest_step(x->to, steps.steps.v[i].id);
	for (size_t i = 0; !x->from->t && i < m->steps.n; i++) {
		if (m->steps.v[i]->worker != x->from->worker)
			continue;
		ingest_step(x->to, m->steps.v[i]->id);
		has |= m->steps.v[i]->id == step;
	}
	return x->from->t ? !x->use.lacks_step : has;
}

/* Computes the live set of the source by call stack. */
static void find_use(struct memory_lowering *x, const struct opts *o)
{
	const struct memory_request request = { .by = MEMORY_BY_SITE,
		.at = o->at,
		.steps = o->step >= 0 ? o : NULL,
		.one_worker = true,
		.worker = x->from->worker };

	if (x->from->t) {
		memory_use_trace(x->from->t, &request, &x->use, x->a);
		set_sites(x);
	} else {
		x->use.names_paths = true;
		memory_use_model(x->from->m, &request, o, &x->use, x->a);
		set_frames(x);
	}
	if (is_snapshot(x))
		memory_stacks_make(x->from->t, &x->facts, x->a);
}

/* Adds the nodes of all pools. The memory of a program is on no device. */
static void lower_pools(struct memory_lowering *x)
{
	struct pools_by_device by = { .n = 0 };

	count_pools(x, &by);
	for (size_t i = 0; i < x->use.pools.n; i++) {
		const struct memory_pool *p = &x->use.pools.v[i];
		size_t pools = by.pools.v[intern_add(&by.devices, p->device)];
		lower_pool(x, p, by.n > 1, (p->device.n ? pools : x->use.pools.n) == 1);
	}
}

void memory_lower(const struct memory_source *from, const struct opts *o, bool stacks,
        struct ingest *to, struct memory_found *found, struct arena *scratch)
{
	uint64_t size = from->t ? from->t->bytes : 0;
	struct memory_lowering x = { .from = from,
		.to = to,
		.a = scratch,
		.stacks = stacks,
		.frames = FRAMES_FREE + (from->t ? size / BYTES_PER_FRAME : from->m->frames.n),
		.bytes = PATHS_FREE + size,
		.path = sb_in(scratch) };

	find_use(&x, o);
	imap_init(&x.node_memory, scratch);
	lower_pools(&x);
	if (o->step < 0 || lower_steps(&x, o->step))
		lower_memory(&x, o->step < 0 ? 0 : o->step);
	if (stacks)
		ingest_has_traces(to);
	note_count(ingest_notes(to), x.cut,
	        "note: %llu call {stack is|stacks are} shown without {its|their} innermost frames, "
	        "which would need too much memory\n",
	        (unsigned long long)x.cut);
	found->pools += x.use.pools.n;
	found->ooms += x.use.ooms.n;
	found->length = x.use.length > found->length ? x.use.length : found->length;
}
