/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocated memory over time of traces and profiles: gathers allocations and releases with the op,
 * the module, the line and the kind of each.
 */
#include "device/memory_use.h"

#include "device/memory_events.h"
#include "device/memory_stacks.h"
#include "trace/pass/allocation.h"

#define MODULE_MAX_BYTES ((size_t)1 << 10) /* of a module path, which may lose outer levels */

/* ---- a trace ---- */

/* A slice that is open on a track, with the op, module and line around it. */
struct slice_around {
	int64_t end, op_end;           /* ticks; op_end: end of the innermost op, or INT64_MIN */
	uint32_t op, other;            /* string ids of the trace: the innermost op, and the
	                                  innermost other slice */
	uint32_t module;               /* id in the names of the gathering */
	uint32_t line, installed_line; /* events of the innermost Python frames */
	uint32_t site;                 /* in memory_use.sites */
	uint32_t rules;
};
#define NOTHING_AROUND                                                                             \
	((struct slice_around){                                                                    \
	        0, INT64_MIN, ID_NONE, ID_NONE, ID_NONE, ID_NONE, ID_NONE, ID_NONE, 0 })

struct trace_gathering {
	struct memory_gathering g;
	const struct trace *t;
	const struct str *labels;
	struct memory_frame *frames; /* indexed by event */
	bool *frame_known;
	uint32_t key_region, key_category;
	bool backward;         /* true: modules of forward ops are assigned to their backward ops */
	struct imap module_of; /* key: sequence number of a forward op; value: module, or AMBIGUOUS
	                          if there are several */
	struct imap site_of;   /* site around and event -> site */
	struct sb text;
	VEC(struct slice_around) open;
};
#define AMBIGUOUS (ID_NONE - 1)

static const struct memory_frame *frame_of(struct trace_gathering *x, uint32_t event)
{
	if (!x->frame_known[event])
		x->frames[event] = memory_frame_of(trace_str(x->t, x->t->events.v[event].name));
	x->frame_known[event] = true;
	return &x->frames[event];
}

/* Returns the path of a module below another one. */
static uint32_t path_of(struct trace_gathering *x, uint32_t outer, struct str name)
{
	const struct str mark = S("nn.Module: ");

	name = str_starts(name, mark) ? str_sub(name, mark.n, SIZE_MAX) : name;
	x->text.n = 0;
	if (outer != ID_NONE) {
		struct str path = intern_str(&x->g.names, outer);
		while (path.n && path.n + 1 + name.n > MODULE_MAX_BYTES) {
			size_t slash = str_find_char(path, '/');
			path = slash == SIZE_MAX ? S("") : str_sub(path, slash + 1, SIZE_MAX);
		}
		sb_put(&x->text, path);
		if (path.n)
			sb_char(&x->text, '/');
	}
	sb_put(&x->text, str_sub(name, 0, MODULE_MAX_BYTES));
	return intern_add(&x->g.names, sb_str(&x->text));
}

/* True for an op with a sequence number. Sets *key to the number in its process. */
static bool has_number(const struct trace *t, const struct slice *s, uint64_t *key, bool *backward)
{
	uint32_t process = t->tracks.v[s->track].process;
	int64_t number, thread;

	if (s->category != CATEGORY_OP || !slice_has_int(t, s, ARG_SEQUENCE, &number) || number < 0)
		return false;
	*backward = slice_has_int(t, s, ARG_FORWARD_THREAD, &thread) && thread;
	*key = (uint64_t)number * (t->processes.n + 1) +
	       (process == ID_NONE ? t->processes.n : process);
	return true;
}

/* Stores the module of a forward op, or assigns it to the backward op. */
static void pass_module(struct trace_gathering *x, const struct slice *s, struct slice_around *o)
{
	uint64_t key;
	uint32_t known;
	bool backward;

	if (!x->backward || !has_number(x->t, s, &key, &backward))
		return;
	bool has = imap_get(&x->module_of, key, &known);
	if (backward && has && o->module == ID_NONE && known != AMBIGUOUS)
		o->module = known;
	else if (!backward && o->module != ID_NONE)
		imap_put(&x->module_of, key, has && known != o->module ? AMBIGUOUS : o->module,
		        true);
}

/* Returns the call stack of a frame. key: what distinguishes it from the others that the same site
 * calls. Without interest in call stacks there is none. */
static uint32_t site_of(struct trace_gathering *x, uint32_t parent, uint32_t key, struct str text)
{
	uint64_t both = (uint64_t)parent << 32 | key;
	uint32_t site;

	if (x->g.request->by != MEMORY_BY_SITE)
		return ID_NONE;
	if (!imap_get(&x->site_of, both, &site)) {
		site = (uint32_t)x->g.out->sites.n;
		VEC_PUSH(x->g.a, &x->g.out->sites,
		        ((struct memory_site){ parent, str_copy(x->g.a, text) }));
		imap_put(&x->site_of, both, site, false);
	}
	return site;
}

static void open_around(struct trace_gathering *x, const struct slice *s)
{
	const struct memory_frame *f = frame_of(x, s->event);
	struct slice_around o = NOTHING_AROUND;

	if (x->open.n)
		o = x->open.v[x->open.n - 1];
	o.end = slice_end(s);
	o.rules |= f->rules;
	if (s->category == CATEGORY_OP) {
		o.op = s->name;
		o.op_end = slice_end(s);
	}
	o.other = s->name;
	if (s->category == CATEGORY_MODULE) {
		o.module = path_of(x, o.module, trace_str(x->t, s->name));
		o.rules |= memory_frame_of(S("_call_impl")).rules;
	} else if (s->category == CATEGORY_FRAME && f->python) {
		o.installed_line = s->event;
		o.line = f->installed ? o.line : s->event;
		o.site = site_of(x, o.site, s->event, trace_str(x->t, s->name));
	}
	pass_module(x, s, &o);
	VEC_PUSH(x->g.scratch, &x->open, o);
}

static uint32_t intern_if(struct memory_gathering *g, struct str s)
{
	return s.n ? intern_add(&g->names, s) : ID_NONE;
}

/* Returns the line of an allocation: the line that the slice states, or the innermost open Python
 * frame. */
static uint32_t line_of(
        struct trace_gathering *x, const struct slice *s, const struct slice_around *o)
{
	uint32_t event = o->line != ID_NONE ? o->line : o->installed_line;
	struct str own = slice_text(x->t, s, ARG_SOURCE);

	if (own.n || event == ID_NONE)
		return intern_if(&x->g, own);
	x->text.n = 0;
	memory_put_line(&x->text, x->t, event, true);
	return intern_if(&x->g, sb_str(&x->text));
}

/* Returns the call stack of an allocation: the open frames of Python, or its own line. */
static uint32_t stack_of(struct trace_gathering *x, const struct slice_around *o, uint32_t line)
{
	if (o->site != ID_NONE || line == ID_NONE)
		return o->site;
	return site_of(x, ID_NONE, line | 1u << 31, intern_str(&x->g.names, line));
}

/* Returns the last level of a path. */
static struct str last_of(struct str path)
{
	size_t slash = str_rfind_char(path, '/');

	return slash == SIZE_MAX ? path : str_sub(path, slash + 1, SIZE_MAX);
}

/* Fills what the live set by call stack needs. type: of the op, empty: none in the file. */
static void place_site(struct trace_gathering *x, const struct slice_around *o, struct str op,
        struct str type, struct memory_place *at)
{
	at->site = at->type = ID_NONE;
	if (x->g.request->by != MEMORY_BY_SITE)
		return;
	at->type = intern_if(&x->g, type.n ? type : last_of(op));
	at->site = stack_of(x, o, at->line);
}

/* Returns the levels around the last one of a path. */
static struct str scope_of(struct str path)
{
	size_t slash = str_rfind_char(path, '/');

	return slash == SIZE_MAX ? S("") : str_sub(path, 0, slash);
}

static unsigned rule_of_region(struct str region)
{
	return str_eq(region, S("temp"))     ? MEMORY_RULE_REGION_TEMP
	       : str_eq(region, S("output")) ? MEMORY_RULE_REGION_OUTPUT
	                                     : MEMORY_RULE_NONE;
}

/* Sets the place and the rule of an allocation. */
static void place(struct trace_gathering *x, const struct slice *s, struct memory_event *e)
{
	const struct slice_around none = NOTHING_AROUND;
	const struct slice_around *o = x->open.n ? &x->open.v[x->open.n - 1] : &none;
	struct str scope = slice_text(x->t, s, ARG_SCOPE);
	struct str op = scope.n ? scope : slice_text(x->t, s, ARG_OP);
	struct memory_place at = { .module = o->module, .line = line_of(x, s, o) };
	uint32_t rules = o->rules;
	bool op_is_named = op.n > 0;

	if (!op.n)
		op = trace_str(x->t, o->op != ID_NONE ? o->op : o->other);
	if (scope.n)
		at.module = intern_if(&x->g, scope_of(scope));
	if (x->t->source == TRACE_XSPACE)
		rules |= memory_rules_of_name(op) |
		         memory_rules_of_name(slice_text(x->t, s, ARG_OP_TYPE));
	at.op = intern_if(&x->g, op);
	place_site(x, o, op, slice_text(x->t, s, ARG_OP_TYPE), &at);
	e->place = memory_gather_place(&x->g, &at);
	e->rule = (uint8_t)memory_first_rule(rules);
	if (x->g.sums_only)
		e->rule = (uint8_t)memory_rule_of_category(slice_text(x->t, s, x->key_category));
	if (!rules && x->key_region != ID_NONE)
		e->rule = (uint8_t)rule_of_region(slice_text(x->t, s, x->key_region));
	/* If the event names an op, the open op may be a different one, so its end is not used. */
	e->until = op_is_named || o->op_end == INT64_MIN ? INT64_MIN : trace_ns(x->t, o->op_end);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void take_allocation(
        struct trace_gathering *x, const struct slice *s, const struct allocation *made)
{
	uint32_t i = memory_gather_pool(&x->g, x->g.out->worker, made->device, made->allocator);
	struct memory_pool *p = memory_gathered_pool(&x->g, i);
	struct memory_event e = { .ns = trace_ns(x->t, s->start),
		.bytes = made->freed ? num_sub(0, made->bytes) : made->bytes,
		.freed = made->freed,
		.in_use = made->in_use,
		.reserved = made->reserved,
		.fragmentation = made->fragmentation,
		.address = made->address,
		.has_address = made->has_address };

	if (x->g.reserved_counts && e.in_use >= 0 && e.reserved > 0)
		e.in_use = num_add(e.in_use, e.reserved);
	place(x, s, &e);
	memory_gather_event(&x->g, i, &e);
	if (!x->g.steps.v.n)
		p->peak = larger(p->peak, made->peak);
	p->reserved = larger(p->reserved, made->reserved);
	p->capacity = larger(p->capacity, made->capacity);
}

/* Walks the slices of a track. If collect is false, only finds the modules of forward ops. */
static void walk_track(struct trace_gathering *x, uint32_t track, bool collect)
{
	struct slice_iter it = trace_slices(x->t, track);
	struct allocation made;

	x->open.n = 0;
	for (struct slice s; slice_next(&it, &s);) {
		while (x->open.n && x->open.v[x->open.n - 1].end <= s.start)
			x->open.n--;
		if (allocation_of(x->t, &s, x->labels, &made)) {
			if (collect)
				take_allocation(x, &s, &made);
		} else if (s.form == SLICE_COMPLETE &&
		           trace_category_flags[s.category] & CATEGORY_HOST_NEST) {
			open_around(x, &s);
		}
		work_poll(x->g.scratch->work);
	}
}

static bool has_modules(const struct trace *t)
{
	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.v[i].category == CATEGORY_MODULE)
			return true;
	return false;
}

/* ---- programs ---- */

static void take_buffer(struct trace_gathering *x, uint32_t pool, const struct trace_buffer *k)
{
	const struct trace *t = x->t;
	struct str op = k->op == ID_NONE ? S("") : trace_str(t, k->op);
	struct memory_place at = { .op = intern_if(&x->g, op),
		.module = intern_if(&x->g, scope_of(op)),
		.line = k->source == ID_NONE ? ID_NONE
		                             : intern_if(&x->g, trace_str(t, k->source)) };
	const struct slice_around none = NOTHING_AROUND;
	place_site(x, &none, op, S(""), &at);
	struct memory_event e = { .ns = k->from,
		.bytes = k->bytes,
		.in_use = -1,
		.reserved = -1,
		.fragmentation = -1,
		.until = INT64_MIN,
		.address = (uint64_t)(k - t->buffers.v),
		.has_address = true,
		.place = memory_gather_place(&x->g, &at),
		.rule = (uint8_t)(MEMORY_RULE_BUFFER + k->kind) };
	uint32_t rules = k->kind == BUFFER_TEMPORARY ? memory_rules_of_name(op) : 0;

	if (rules)
		e.rule = (uint8_t)memory_first_rule(rules);
	memory_gather_event(&x->g, pool, &e);
	if (k->until == UINT32_MAX)
		return;
	e.ns = k->until;
	e.freed = true;
	memory_gather_event(&x->g, pool, &e);
}

/* Adds a pool for each program whose memory the compiler assigned. Its times are positions in the
 * program's schedule until drop_positions is called. */
static void gather_programs(struct trace_gathering *x)
{
	const struct trace *t = x->t;

	for (size_t i = 0; i < t->program_memory.n; i++) {
		const struct trace_program_memory *m = &t->program_memory.v[i];
		struct str name = trace_str(t, m->name);
		size_t end = i + 1 < t->program_memory.n ? m[1].buffer0 : t->buffers.n;
		if (m->space)
			name = str_fmt(x->g.scratch, "%.*s, memory space %lld", STR(name),
			        (long long)m->space);
		uint32_t pool = memory_gather_pool(&x->g, x->g.out->worker, STR_NONE, name);
		struct memory_pool *p = memory_gathered_pool(&x->g, pool);
		p->program = true;
		p->reserved = m->reserved;
		p->past_use = m->knows_use ? 0 : -1;
		for (size_t k = m->buffer0; k < end; k++) {
			take_buffer(x, pool, &t->buffers.v[k]);
			if (t->buffers.v[k].kind == BUFFER_USED_PARAMETER)
				p->past_use = num_add(p->past_use, t->buffers.v[k].bytes);
		}
	}
}

/* Removes data that the memory of a program lacks: times, and allocations that are never freed.
 * Memory of a program's allocations that is not used at its peak counts as unused. */
static void drop_positions(struct memory_pool *p)
{
	p->use.n = 0;
	p->by_kind.n = 0;
	p->live_at.n = 0;
	p->never_freed = 0;
	p->never_freed_bytes = 0;
	p->unused = num_sub(p->reserved, p->moment_live);
}

static void use_events(const struct trace *t, const struct memory_request *request,
        struct memory_use *out, struct arena *a)
{
	const uint64_t keys = ARG_BIT(ARG_SEQUENCE) | ARG_BIT(ARG_FORWARD_THREAD);
	struct scratch own;

	scratch_open(&own, a->work);
	struct trace_gathering x = { .t = t,
		.labels = allocation_labels(t, &own.a),
		.frames = ARENA_ARRAY(&own.a, t->events.n, struct memory_frame),
		.frame_known = ARENA_ARRAY(&own.a, t->events.n, bool),
		.key_region = trace_key(t, "region_type"),
		.key_category = trace_key(t, "category"),
		.backward = (t->keys & keys) == keys && has_modules(t),
		.text = sb_in(&own.a) };
	memory_gather_begin(&x.g, request, out, a, &own.a);
	imap_init(&x.module_of, &own.a);
	imap_init(&x.site_of, &own.a);
	x.g.reserved_counts = t->source == TRACE_XSPACE;
	x.g.sums_only = t->source == TRACE_TIMELINE;
	out->lacks_step |= !memory_steps_choose(t, request->steps, &x.g.steps, &own.a);
	for (size_t i = 0; i < x.g.steps.v.n; i++) {
		struct memory_interval *v = &x.g.steps.v.v[i];
		*v = (struct memory_interval){ trace_ns(t, v->start), trace_ns(t, v->end) };
	}
	for (uint32_t i = 0; x.backward && i < t->tracks.n; i++)
		walk_track(&x, i, false);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		walk_track(&x, i, true);
	for (size_t i = x.g.first; i < out->pools.n; i++)
		if (out->pools.v[i].capacity < 0)
			out->pools.v[i].capacity =
			        allocation_capacity(t, x.labels, out->pools.v[i].device);
	if (request->at.kind == MOMENT_PEAK && !request->steps)
		gather_programs(&x);
	memory_gather_end(&x.g);
	for (size_t i = x.g.first; i < out->pools.n; i++)
		if (out->pools.v[i].program)
			drop_positions(&out->pools.v[i]);
	scratch_close(&own);
}

void memory_use_trace(const struct trace *t, const struct memory_request *request,
        struct memory_use *out, struct arena *a)
{
	out->names_paths |= t->source == TRACE_XSPACE;
	if (t->source == TRACE_SNAPSHOT)
		memory_use_snapshot(t, request, out, a);
	else
		use_events(t, request, out, a);
}

/* ---- a model ---- */

struct model_gathering {
	struct memory_gathering g;
	const struct model *m;
	uint32_t *line;  /* indexed by frame: frame with the line, or ID_NONE */
	uint32_t *rules; /* indexed by frame: rules of the frame and of the frames around it */
	enum heap {
		HEAP_NONE,
		HEAP_RESIDUAL, /* pprof: the residual bytes are in use */
		HEAP_BYTES     /* pprof without residual bytes: the bytes are in use */
	} heap;
};

/* Distinguishes pprof profiles, which have a live set without times, from profiles of steps. */
static enum heap find_heap(const struct model *m)
{
	enum heap found = HEAP_BYTES;

	if (!model_is_sampled(m))
		return HEAP_NONE;
	for (size_t i = 0; i < m->steps.n && found == HEAP_BYTES; i++) {
		const struct step *s = m->steps.v[i];
		const uint8_t *item = s->mem + s->cell_mem0[0], *end = s->mem;
		end += s->cell_mem0[s->n_cells];
		for (struct mem_item x; found == HEAP_BYTES && mem_next(&item, end, &x);)
			found = x.residual ? HEAP_RESIDUAL : HEAP_BYTES;
	}
	return found;
}

enum value memory_heap_value(const struct model *m)
{
	enum heap heap = find_heap(m);
	bool any = false;

	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		if (s->n_spans)
			return V_NONE;
		any |= s->n_cells && s->cell_mem0[s->n_cells] > s->cell_mem0[0];
	}
	return !any || heap == HEAP_NONE ? V_NONE : heap == HEAP_BYTES ? V_BYTES : V_RESIDUAL_BYTES;
}

/* Returns the value of a label of a node's sample; p is NULL if there is none. Labels have the form
 * "key=value,key=value". */
static struct str label_of(const struct model *m, uint32_t n, struct str key)
{
	uint32_t types = m->nodes.v[n].types;

	for (uint32_t i = m->type0.v[types]; i < m->type0.v[types + 1]; i++)
		for (struct str rest = model_str(m, m->types.v[i]); rest.n;) {
			size_t end = str_find_char(rest, ',');
			struct str one = str_sub(rest, 0, end);
			if (str_starts(one, key))
				return str_sub(one, key.n, SIZE_MAX);
			rest = end == SIZE_MAX ? S("") : str_sub(rest, end + 1, SIZE_MAX);
		}
	return STR_NONE;
}

/* Finds the line and the rules of each frame. A frame follows the frame around it. */
static void find_lines(struct model_gathering *x)
{
	const struct model *m = x->m;
	uint32_t *library = ARENA_ARRAY(x->g.scratch, m->frames.n, uint32_t);

	x->line = ARENA_ARRAY(x->g.scratch, m->frames.n, uint32_t);
	x->rules = ARENA_ARRAY(x->g.scratch, m->frames.n, uint32_t);
	for (uint32_t i = 0; i < m->frames.n; i++) {
		struct frame f = model_frame(m, i);
		struct str file = model_str(m, f.file);
		uint32_t around = f.parent < i ? f.parent : ID_NONE;
		bool placed = file.n && frame_is_placed(m, &f);
		library[i] = placed ? i : around == ID_NONE ? ID_NONE : library[around];
		x->line[i] = placed && !memory_is_library(file) ? i
		             : around == ID_NONE                ? ID_NONE
		                                                : x->line[around];
		x->rules[i] = memory_frame_of(file).rules |
		              memory_frame_of(model_str(m, f.function)).rules |
		              (around == ID_NONE ? 0 : x->rules[around]);
	}
	for (uint32_t i = 0; i < m->frames.n; i++)
		x->line[i] = x->line[i] == ID_NONE ? library[i] : x->line[i];
}

static uint32_t line_of_node(struct model_gathering *x, const struct node *node)
{
	if (node->frame == ID_NONE || x->line[node->frame] == ID_NONE)
		return ID_NONE;
	struct frame f = model_frame(x->m, x->line[node->frame]);
	struct str text = str_fmt(x->g.scratch, "%.*s:%d %.*s", STR(model_str(x->m, f.file)),
	        (int)f.line, STR(model_str(x->m, f.function)));
	return intern_add(&x->g.names, text);
}

static void place_node(struct model_gathering *x, uint32_t n, struct memory_event *e)
{
	const struct node *node = &x->m->nodes.v[n];
	struct str name = node_name(x->m, n);
	struct str op = x->heap ? model_str(x->m, node->op) : name;
	struct memory_place at = { .op = intern_if(&x->g, op),
		.module = x->heap ? ID_NONE : intern_if(&x->g, scope_of(name)),
		.line = line_of_node(x, node),
		.type = ID_NONE,
		.site = ID_NONE };
	uint32_t rules =
	        memory_rules_of_name(name) | memory_rules_of_name(model_str(x->m, node->op));

	if (node->frame != ID_NONE)
		rules |= x->rules[node->frame];
	if (x->g.request->by == MEMORY_BY_SITE) {
		at.op = intern_if(&x->g, name);
		at.type = intern_if(&x->g, model_str(x->m, node->op));
		at.site = node->frame;
	}
	e->place = memory_gather_place(&x->g, &at);
	e->rule = (uint8_t)memory_first_rule(rules);
}

/* Adds the records of a cell about allocators other than the GPU's allocator. */
static void take_others(struct model_gathering *x, const struct step *s, uint32_t c,
        const struct memory_event *place)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	struct str worker = x->m->workers.n ? x->m->workers.v[s->worker] : STR_NONE;
	struct str device = device_name(x->m, x->m->nodes.v[s->cell_node[c]].device);
	struct str allocator;

	for (struct mem_item m; mem_next_other(&item, end, &m, &allocator);) {
		uint32_t pool = memory_gather_pool(&x->g, worker, device, allocator);
		struct memory_pool *p = memory_gathered_pool(&x->g, pool);
		struct memory_event e = *place;
		p->step = s->id;
		e.ns = step_ns(s, m.time);
		e.bytes = m.bytes;
		e.freed = m.bytes < 0;
		e.in_use = m.allocation ? -1 : m.in_use;
		e.only_total = !m.allocation;
		if (!m.allocation)
			p->peak = larger(p->peak, m.in_use);
		memory_gather_event(&x->g, pool, &e);
	}
}

/* Adds the records of a cell. A record without a time states only the largest use. */
static void take_cell(struct model_gathering *x, const struct step *s, uint32_t c)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
	const struct node *node = &x->m->nodes.v[s->cell_node[c]];
	struct str worker = x->m->workers.n ? x->m->workers.v[s->worker] : STR_NONE;
	struct str device = x->heap ? label_of(x->m, s->cell_node[c], S("device="))
	                            : device_name(x->m, node->device);
	uint32_t pool = memory_gather_pool(&x->g, worker, device, STR_NONE);
	struct memory_pool *p = memory_gathered_pool(&x->g, pool);
	struct memory_event place = { .reserved = -1, .fragmentation = -1, .until = INT64_MIN };

	p->step = s->id;
	place_node(x, s->cell_node[c], &place);
	for (struct mem_item m; mem_next(&item, end, &m);) {
		struct memory_event e = place;
		e.ns = step_ns(s, m.time);
		e.in_use = -1;
		if (x->heap) {
			e.bytes = x->heap == HEAP_RESIDUAL ? m.residual : m.bytes;
			e.buffers = s->cell_runs[c] > 0 ? (uint64_t)s->cell_runs[c] : 1;
			if (e.bytes > 0)
				memory_gather_event(&x->g, pool, &e);
		} else if (m.allocation) {
			e.bytes = m.bytes;
			e.freed = m.bytes < 0;
			memory_gather_event(&x->g, pool, &e);
		} else if (m.in_use > 0) {
			e.in_use = m.in_use;
			e.only_total = true;
			p->peak = larger(p->peak, m.in_use);
			if (m.time > 0)
				memory_gather_event(&x->g, pool, &e);
		}
	}
	take_others(x, s, c, &place);
}

/* Removes data that a heap profile lacks: its peak, times and releases. */
static void drop_times(struct memory_pool *p)
{
	p->peak = -1;
	p->use.n = 0;
	p->by_kind.n = 0;
	p->live_at.n = 0;
	p->has_state = false;
	p->step = MEMORY_NO_STEP;
}

/* Stores the pool unless an earlier step used more memory of the device. */
static void keep_largest(struct memory_use *to, const struct memory_pool *p, struct arena *a)
{
	size_t i = 0;

	while (i < to->pools.n && !(str_eq(to->pools.v[i].device, p->device) &&
	                                  str_eq(to->pools.v[i].allocator, p->allocator) &&
	                                  str_eq(to->pools.v[i].worker, p->worker)))
		i++;
	if (i == to->pools.n)
		VEC_PUSH(a, &to->pools, *p);
	else if (memory_pool_peak(p) > memory_pool_peak(&to->pools.v[i]))
		to->pools.v[i] = *p;
}

void memory_use_model(const struct model *m, const struct memory_request *request,
        const struct opts *o, struct memory_use *out, struct arena *a)
{
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		struct memory_use one = { 0 };
		struct scratch own;

		if (!opts_has_step(o, s->id) ||
		        (s->excluded_from_average && !opts_names_steps(o)) ||
		        (request->one_worker && s->worker != request->worker))
			continue;
		one.kinds = out->kinds;
		scratch_open(&own, a->work);
		struct model_gathering x = { .m = m, .heap = find_heap(m) };
		memory_gather_begin(&x.g, request, &one, a, &own.a);
		find_lines(&x);
		for (uint32_t c = 0; c < s->n_cells; c++)
			if (s->cell_mem0[c] != s->cell_mem0[c + 1])
				take_cell(&x, s, c);
		memory_gather_end(&x.g);
		scratch_close(&own);
		out->kinds = one.kinds;
		for (size_t k = 0; k < one.pools.n; k++) {
			struct memory_pool *p = &one.pools.v[k];
			if (x.heap)
				drop_times(p);
			if (p->allocations || p->peak >= 0)
				keep_largest(out, p, a);
		}
	}
}
