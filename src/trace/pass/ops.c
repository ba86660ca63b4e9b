/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the ops of a trace. Threads are walked first, so that device work finds the op that
 * launched it.
 */
#include "base/demangle.h"
#include "trace/pass/ops_internal.h"
#include "trace/pass/ops.h"

/* ---- ops and cells ---- */

/* Returns the op for the calls of an op from a frame, if ops are divided by call stack. */
static uint32_t at_frame(struct finding *x, uint32_t op, uint32_t frame)
{
	uint64_t key = (uint64_t)op << 32 | frame;
	struct trace_ops *o = x->to;
	uint32_t made;

	if (!ops_have_stacks(x) || frame == ID_NONE || x->base.v[op] != op ||
	        imap_get(&x->at_stack, key, &op))
		return op;
	x->longer.n = 0;
	sb_put(&x->longer, intern_str(&o->strings, o->ops.v[op].name));
	sb_fmt(&x->longer, "#%u", frame);
	made = ops_named(x, sb_str(&x->longer), intern_str(&o->strings, o->ops.v[op].type));
	x->base.v[made] = op;
	o->ops.v[made].frame = frame;
	imap_put(&x->at_stack, key, made, false);
	return made;
}

/* ---- executions ---- */

/* Key of an execution count in a cell. */
struct run_key {
	uint64_t program;
	uint32_t op, name; /* string ids of the compiled op and of the kernel */
	uint32_t what;     /* enum runs_counted */
};

/* Returns the id of the run_key of a slice: of its kernel, or of all kernels of its op. */
static uint32_t run_of(struct finding *x, const struct slice *s, enum runs_counted what)
{
	const struct trace *t = x->to->t;
	struct run_key key = {
		.op = ID_NONE, .name = what == RUNS_OF_OP ? ID_NONE : s->name, .what = what
	};
	struct argument program = { .u = 0 };
	struct str op = slice_text(t, s, ARG_OP);

	if (slice_may_have(t, s, ARG_PROGRAM))
		slice_argument(t, s, ARG_PROGRAM, &program);
	key.program = program.u;
	if (op.n)
		key.op = intern_find(&t->strings, op);
	return intern_add(&x->compiled, str_make(&key, sizeof key));
}

/* Returns the counter of executions. in: the cell or the step. Most tracks use the counters in the
 * same order, so the counter that last followed the event's previous counter is tried first. */
static uint64_t *find_count(
        struct finding *x, enum runs_counted what, uint32_t in, const struct slice *s)
{
	bool shared = !(s->keys & (ARG_BIT(ARG_OP) | ARG_BIT(ARG_PROGRAM)));
	struct event_count *last = &x->work[s->event].counts[what];
	uint32_t i = last->at, run = last->run;

	if (shared && run) {
		if (x->counts.v[i].in != in)
			i = x->counts.v[i].next;
		if (x->counts.v[i].in == in) {
			last->at = i;
			return &x->counts.v[i].n;
		}
	} else {
		run = 1 + run_of(x, s, what);
	}
	uint64_t id = (uint64_t)run << 32 | in;
	i = (uint32_t)x->counts.n;
	if (!imap_get(&x->count_of, id, &i)) {
		imap_put(&x->count_of, id, i, false);
		VEC_PUSH(x->a, &x->counts, ((struct run_count){ .in = in, .next = i }));
	}
	if (shared) {
		x->counts.v[last->run ? last->at : i].next = i;
		*last = (struct event_count){ run, i };
	}
	return &x->counts.v[i].n;
}

/* Adds executions of a kernel or compiled op. Returns their new number in the op and step. */
static uint64_t count_runs(
        struct finding *x, const struct op_runs *in, const struct slice *s, int64_t runs)
{
	uint64_t *c = find_count(x, RUNS_IN_CELL, (uint32_t)(in - x->runs.v), s);

	return *c = num_add_u64(*c, (uint64_t)runs);
}

/* Returns by how much a count exceeds the largest count so far. An op in a step was executed as
 * often as the most frequent of its kernels, whatever the call stacks. */
static uint64_t more_than(uint64_t count, uint64_t most)
{
	return count > most ? count - most : 0;
}

/* Returns the additional executions of a compiled op. It may launch several kernels per execution,
 * so they are the executions by which its most frequent kernel in the step exceeds the previous
 * maximum. */
static int64_t more_runs(struct finding *x, uint32_t step, const struct slice *s, int64_t runs)
{
	uint64_t *c, *most, count;

	if (x->to->t->tracks.v[s->track].kind == TRACK_LINE)
		return runs;
	c = find_count(x, RUNS_IN_STEP, step, s);
	count = *c = num_add_u64(*c, (uint64_t)runs);
	most = find_count(x, RUNS_OF_OP, step, s);
	runs = count > *most ? num_from_u64(count - *most) : 0;
	*most = count > *most ? count : *most;
	return runs;
}

/* ---- threads ---- */

/* True if a slice is a level of a path, or represents the slices without a level. Other slices add
 * their time to the enclosing op. */
static bool has_own_op(const struct finding *x, const struct nest_level *level)
{
	return !level->depth || x->by == TRACE_BY_SOURCE ||
	       x->rule.levels & CATEGORY_BIT(level->s.category);
}

void ops_close_host(struct finding *x, const struct nest_level *level)
{
	uint32_t op = level->user - 1;
	struct op_cell *c = ops_cell(x, op, trace_step_of(x->steps, &level->s, NULL), &level->s);
	struct op_runs *all = ops_runs_of(x, c);
	bool compiled = ops_is_compiled(x, &level->s);

	if ((!c->host_runs && !c->host_self) || level->s.start < c->host_start)
		c->host_start = level->s.start;
	c->host_self = num_add(c->host_self, nest_self(level));
	if (x->call_of)
		ops_close_flops(x, level, (uint32_t)(c - x->to->cells.v));
	if (!has_own_op(x, level))
		return;
	c->host_total =
	        num_add(c->host_total, ops_is_deeper(x, op) ? nest_self(level) : level->s.length);
	uint64_t more = compiled ? more_than(count_runs(x, all, &level->s, 1), all->host) : 1;
	x->to->ops.v[op].runs = num_add_u64(x->to->ops.v[op].runs, more);
	c->host_runs += more;
	all->host += more;
}

void ops_open_host(struct finding *x, const struct nest *n, struct nest_level *level,
        struct frame_walk *frames)
{
	uint32_t around = ops_around(x, n, level), op;
	int64_t record;

	if (x->by == TRACE_BY_PHASE)
		ops_set_root(x, trace_step_of(x->steps, &level->s, NULL));
	around = around ? 1 + x->base.v[around - 1] : 0;
	op = ops_of_slice(x, around, &level->s, frames);
	if (ops_have_stacks(x))
		op = at_frame(x, op, ops_frame_of(x, frames, &level->s));
	else if (frames || x->to->t->keys & (ARG_BIT(ARG_STACK) | ARG_BIT(ARG_SOURCE)))
		ops_set_frame(x, op, frames, &level->s);
	level->user = 1 + op;
	if (x->records && slice_has_int(x->to->t, &level->s, ARG_RECORD, &record))
		imap_put(&x->to->op_of_record, (uint64_t)record, op, false);
}

/* Assigns the part of the path up to the next opening or closing to the slice that is innermost
 * until then. */
static void take_path(
        struct finding *x, uint32_t track, const struct nest_level *level, enum nest_what what)
{
	if (what == NEST_CLOSE)
		ops_path_host(x, track, level, slice_end(&level->s));
	else
		ops_path_host(x, track, level->depth ? level - 1 : NULL, level->s.start);
}

static void walk_thread(struct finding *x, uint32_t track)
{
	struct frame_walk frames;
	struct nest_level *level;
	struct scratch own;
	enum nest_what what;
	struct nest n;

	scratch_open(&own, x->a->work);
	nest_init(&n, x->to->t, track, x->rule.nested, &own.a);
	frame_walk_init(&frames, x->to->t, track, &own.a);
	if (x->critical)
		ops_path_thread(x, track);
	while ((what = nest_next(&n, &level))) {
		if (x->critical)
			take_path(x, track, level, what);
		if (x->rule.gaps & CATEGORY_BIT(level->s.category))
			continue;
		if (what == NEST_CLOSE) {
			ops_close_host(x, level);
			continue;
		}
		slice_find_keys(&level->s);
		ops_open_host(x, &n, level, x->frames ? &frames : NULL);
		x->op_of[ops_host_index(x, track, level->s.number)] = level->user;
		if (x->call_of)
			ops_open_flops(x, level);
	}
	if (x->critical)
		ops_path_host(x, track, NULL, INT64_MAX);
	x->to->overlaps += n.overlaps;
	scratch_close(&own);
}

/* ---- devices ---- */

/* Returns the values from the arguments of device work, and caches them for later slices of the
 * same event. */
static struct event_work facts_of(struct finding *x, const struct slice *s)
{
	const uint64_t keys = ARG_BIT(ARG_OP) | ARG_BIT(ARG_FLOPS) | ARG_BIT(ARG_BYTES_ACCESSED);
	struct event_work made = x->work[s->event];
	const struct trace *t = x->to->t;

	if (made.known && !(s->keys & keys))
		return made;
	made.known = true;
	made.compiled = slice_text(t, s, ARG_OP).n > 0;
	made.states = slice_has_int(t, s, ARG_FLOPS, &made.flops);
	made.bytes_accessed = slice_int(t, s, ARG_BYTES_ACCESSED);
	if (!(s->keys & keys))
		x->work[s->event] = made;
	return made;
}

/* Returns the site of a slice. Most traces have no sites, so their arguments are not read. */
static uint32_t site_of(const struct finding *x, const struct slice *s)
{
	return x->to->t->sites.n ? slice_site(x->to->t, s) : ID_NONE;
}

/* Counts, once for each launch of a graph, an execution of each captured op around its work, and
 * the float operations of the captured calls. Host time does not count: the capture ran once, but
 * the graph is launched often. */
static void replay(struct finding *x, const struct slice *s, const struct launch *launch)
{
	const struct trace *t = x->to->t;
	uint32_t site = site_of(x, s);

	if (site == ID_NONE || !launch)
		return;
	uint32_t around = ops_launching(x, s, launch);
	uint32_t step = trace_step_of(x->steps, s, launch);
	const uint32_t innermost = site;
	uint64_t number = (uint64_t)(launch - x->links->launches.v) << 32;
	for (; site != ID_NONE && imap_put(&x->replayed, number | site, 0, false);
	        site = t->sites.v[site].parent) {
		bool level = ops_site_is_level(x, site);
		bool counts = x->call_of && x->site_counts[site];
		if (!t->sites.v[site].replayed || !(level || counts) ||
		        !ops_site_belongs(t, site, innermost))
			continue;
		uint32_t op = ops_of_site(x, site, around);
		if (ops_have_stacks(x))
			op = at_frame(x, op, ops_frame_of_site(x, site));
		struct op_cell *c = ops_cell(x, op, step, s);
		c->replays += level;
		ops_runs_of(x, c)->host += level;
		x->to->ops.v[op].runs += level;
		if (counts)
			ops_count_site(x, site, (uint32_t)(c - x->to->cells.v));
	}
}

uint32_t ops_add_work(
        struct finding *x, const struct slice *s, int64_t self, const struct launch *launch)
{
	const struct trace *t = x->to->t;
	if (x->by == TRACE_BY_PHASE)
		ops_set_root(x, trace_step_of(x->steps, s, launch));
	uint32_t op = ops_of_work(x, s, launch), device = t->tracks.v[s->track].device;
	if (ops_have_stacks(x))
		op = at_frame(x, op, ops_frame_of(x, NULL, s));
	replay(x, s, launch);
	struct op_cell *c = ops_cell(x, op, trace_step_of(x->steps, s, launch), s);
	struct trace_op *o = &x->to->ops.v[op];
	struct op_runs *all = ops_runs_of(x, c);
	struct event_work facts = facts_of(x, s);
	int64_t runs = slice_int(t, s, ARG_COUNT);

	runs = runs > 0 ? runs : 1;
	if (!c->kernels++ || s->start < c->device_start)
		c->device_start = s->start;
	c->device_self = num_add(c->device_self, self);
	c->device_total = num_add(c->device_total, s->length);
	if (facts.compiled || !all->host) {
		uint64_t more = x->rule.leaf ? 1 /* instances of a template are one op */
		                             : more_than(count_runs(x, all, s, runs), all->device);
		c->device_runs += more;
		all->device += more;
	}
	if (facts.compiled && !x->rule.leaf)
		runs = more_runs(x, c->step, s, runs);
	if (o->device == ID_NONE)
		o->device = device;
	if (o->category == ID_NONE && slice_text(t, s, ARG_OP_CATEGORY).n)
		o->category = intern_add(&x->to->strings, slice_text(t, s, ARG_OP_CATEGORY));
	ops_add_flops(x, c, ops_count_work(x, s, c, runs, &facts));
	int64_t bytes = num_mul(runs, facts.bytes_accessed);
	o->bytes_accessed = num_add(o->bytes_accessed, bytes);
	c->bytes_accessed = num_add(c->bytes_accessed, bytes);
	if (!ops_have_stacks(x) && t->keys & (ARG_BIT(ARG_STACK) | ARG_BIT(ARG_SOURCE)))
		ops_set_frame(x, op, NULL, s);
	if (!x->steps->chosen || x->steps->steps.v[c->step].chosen)
		ops_add_kernel(x, s, op);
	return op;
}

static void add_work(struct finding *x, struct slice *s, int64_t self)
{
	slice_find_keys(s);
	const struct launch *launch = link_launch(x->links, s);

	uint32_t op = ops_add_work(x, s, self, launch);
	if (x->critical)
		ops_path_work(x, s, op);
	uint32_t site = site_of(x, s);
	if (site == ID_NONE)
		ops_cover_work(x, s, self, link_op(x->links, s, launch), op);
	else
		ops_cover_site(x, s, self, site, op);
}

/* Walks a track of a device. Ops of a program nest; work on streams does not, so each of its slices
 * counts in full. */
static void walk_device(struct finding *x, uint32_t track)
{
	const struct trace *t = x->to->t;
	uint32_t gaps = x->rule.gaps;
	struct slice_iter it = trace_slices(t, track);
	struct nest_level *level;
	struct scratch own;
	enum nest_what what;
	struct nest n;

	if (t->tracks.v[track].derived)
		return;
	if (t->tracks.v[track].kind != TRACK_LINE) {
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				add_work(x, &s, s.length);
		return;
	}
	scratch_open(&own, x->a->work);
	nest_init(&n, t, track, nest_bits(CATEGORY_WORK) | gaps, &own.a);
	while ((what = nest_next(&n, &level)))
		if (what == NEST_CLOSE && !(gaps & CATEGORY_BIT(level->s.category)))
			add_work(x, &level->s, nest_self(level));
	x->to->overlaps += n.overlaps;
	scratch_close(&own);
}

/* ---- driver ---- */

void ops_know_events(struct finding *x)
{
	size_t had = x->n_events, n = x->to->t->events.n;

	if (n <= had)
		return;
	x->n_events = n > 2 * had ? n : 2 * had;
	x->work = arena_grow(x->a, x->work, had * sizeof *x->work, x->n_events * sizeof *x->work);
}

static void find(struct finding *x)
{
	const struct trace *t = x->to->t;
	uint32_t host = 0, devices = 0;

	for (size_t i = 0; i < t->events.n && !x->frames; i++)
		x->frames = t->events.v[i].category == CATEGORY_FRAME;
	x->host0 = ARENA_ARRAY(x->a, t->tracks.n, uint32_t);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		x->host0[i] = host;
		host += track_is_device(&t->tracks.v[i]) ? 0 : t->tracks.v[i].n;
		devices += track_is_device(&t->tracks.v[i]);
	}
	x->work = ARENA_ARRAY(
	        x->a, devices || t->keys & ARG_BIT(ARG_OP) ? t->events.n : 0, struct event_work);
	x->op_of = ARENA_ARRAY(x->a, host, uint32_t);
	if (ops_have_inputs(t) || t->keys & (ARG_BIT(ARG_CALLS) | ARG_BIT(ARG_FLOPS))) {
		x->call_of = ARENA_ARRAY(x->a, t->events.n, uint32_t);
		ops_find_functions(x);
		x->decides = ARENA_ARRAY(x->a, host, uint32_t);
		x->to->products =
		        ARENA_ARRAY(x->to->a, x->steps->steps.n + 1, struct step_products);
		ops_find_site_flops(x);
	}
	ops_find_backward(x);
	for (unsigned pass = 0; pass < (x->backward ? 2u : 1u); pass++)
		for (uint32_t i = 0; i < t->tracks.n; i++) {
			bool late = x->backward && ops_is_backward(x, i);
			if (!track_is_device(&t->tracks.v[i]) && !t->tracks.v[i].derived &&
			        late == (pass == 1))
				walk_thread(x, i);
		}
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (track_is_device(&t->tracks.v[i]))
			walk_device(x, i);
	if (x->critical)
		ops_end_path(x);
	ops_end(x);
}

void ops_end(struct finding *x)
{
	for (size_t i = 0; i < x->to->cells.n; i++) {
		struct op_cell *c = &x->to->cells.v[i];
		if (ops_runs_of(x, c)->host)
			c->device_runs = 0; /* only executions that are counted have device work */
		x->to->ops.v[c->op].runs += c->device_runs;
	}
	ops_end_kernels(x);
}

/* Limit in bytes for all paths. A level adds its name to the path around it, so without a limit the
 * paths could take the square of the file's size. */
#define PATHS_FREE  (4 << 20)
#define PATHS_SHARE 16 /* additional bytes per byte of input */

void ops_begin(struct finding *x, const struct trace *t, const struct trace_steps *steps,
        enum trace_by by, struct trace_ops *out, struct arena *a, struct arena *scratch)
{
	*x = (struct finding){ .to = out,
		.a = scratch,
		.steps = steps,
		.by = by,
		.rule = ops_rule_of(t->by_ranges ? TRACE_NSYS : t->source, by),
		.records = t->keys & ARG_BIT(ARG_RECORD),
		.demangling = DEMANGLE_BUDGET };
	*out = (struct trace_ops){ .t = t, .a = a };
	imap_init(&out->op_of_record, a);
	intern_init(&out->strings, a);
	intern_init(&out->frames, a);
	x->path_room = (uint64_t)num_add(
	        PATHS_FREE, num_mul(PATHS_SHARE, num_from_u64(t->bytes ? t->bytes : t->n_slices)));
	x->path = sb_in(scratch);
	x->longer = sb_in(scratch);
	imap_init(&x->by_name, scratch);
	imap_init(&x->cell_of, scratch);
	imap_init(&x->runs_at, scratch);
	imap_init(&x->below, scratch);
	imap_init(&x->count_of, scratch);
	imap_init(&x->stack_of, scratch);
	imap_init(&x->at_stack, scratch);
	imap_init(&x->module_of, scratch);
	imap_init(&x->kernel_of, scratch);
	imap_init(&x->share_of, scratch);
	imap_init(&x->row_of, scratch);
	imap_init(&x->forward_of, scratch);
	imap_init(&x->gradient_of, scratch);
	imap_init(&x->replayed, scratch);
	imap_init(&x->use_of, scratch);
	x->site_ops = ARENA_ARRAY(scratch, t->sites.n, struct site_op);
	if (steps->by == STEPS_BY_SERVING)
		x->served = ARENA_ARRAY(scratch, steps->steps.n, struct serving_step);
	for (size_t i = 0; x->served && i < steps->steps.n; i++)
		serving_parse(trace_str(t, steps->steps.v[i].name), &x->served[i]);
	intern_init(&x->compiled, scratch);
}

/* Additional results of a search. */
enum ops_more { MORE_NOTHING, MORE_USES, MORE_PATH };

static void find_all(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, enum ops_more more,
        struct trace_ops *out, struct arena *a)
{
	struct finding x;
	struct scratch own;

	if (t->sums) {
		*out = *t->sums->ops;
		return;
	}
	scratch_open(&own, a->work);
	ops_begin(&x, t, steps, by, out, a, &own.a);
	x.links = links;
	x.keeps_uses = more == MORE_USES;
	if (more == MORE_PATH)
		ops_find_path(&x);
	find(&x);
	ops_find_windows(&x);
	scratch_close(&own);
}

void trace_find_ops(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a)
{
	find_all(t, links, steps, by, MORE_NOTHING, out, a);
}

void trace_find_uses(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a)
{
	find_all(t, links, steps, by, MORE_USES, out, a);
}

void trace_find_path_ops(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a)
{
	find_all(t, links, steps, by, MORE_PATH, out, a);
}
