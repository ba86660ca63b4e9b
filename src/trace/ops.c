/* SPDX-License-Identifier: Apache-2.0
 *
 * See ops.h. Threads are walked first, so that device work finds the op that launched it.
 */
#include "trace/ops_internal.h"

#define BITS(a, b, c) (NEST_BIT(CATEGORY_##a) | NEST_BIT(CATEGORY_##b) | NEST_BIT(CATEGORY_##c))

/* By source: which slices of threads are levels of a path, and if names are whole paths. */
const struct ops_rule ops_rules[] = {
	[TRACE_PLAIN] = { .levels = NEST_ALL },
	[TRACE_XSPACE] = { .levels = NEST_BIT(CATEGORY_OP), .flat = true },
	[TRACE_KINETO] = { .levels = BITS(MODULE, ANNOTATION, OP) },
	[TRACE_RECORDING] = { .levels = BITS(MODULE, ANNOTATION, OP) },
	[TRACE_ONNXRUNTIME] = { .levels = NEST_BIT(CATEGORY_STEP) | NEST_BIT(CATEGORY_OP),
	        .flat = true,
	        .gaps = NEST_BIT(CATEGORY_SYNC) },
	[TRACE_NSYS] = { .levels = BITS(MODULE, ANNOTATION, OP), .leaf = true },
};

/* ---- ops and cells ---- */

uint32_t ops_named(struct finding *x, struct str name, struct str type)
{
	struct trace_ops *o = x->to;
	uint32_t id = intern_add(&o->strings, name), op = (uint32_t)o->ops.n;
	struct trace_op made = {
		.name = id, .category = ID_NONE, .device = ID_NONE, .frame = ID_NONE
	};

	if (imap_get(&x->by_name, id, &op))
		return op;
	made.type = intern_add(&o->strings, type);
	imap_put(&x->by_name, id, op, false);
	VEC_PUSH(o->a, &o->ops, made);
	return op;
}

struct op_cell *ops_cell(struct finding *x, uint32_t op, uint32_t step, const struct slice *s)
{
	struct trace_ops *o = x->to;
	uint64_t key = (uint64_t)op << 32 | step;
	uint32_t i = (uint32_t)o->cells.n;
	struct op_cell *c;

	if (!imap_get(&x->cell_of, key, &i)) {
		imap_put(&x->cell_of, key, i, false);
		VEC_PUSH(o->a, &o->cells,
		        ((struct op_cell){
		                .op = op, .step = step, .start = s->start, .end = slice_end(s) }));
	}
	c = &o->cells.v[i];
	c->start = s->start < c->start ? s->start : c->start;
	c->end = slice_end(s) > c->end ? slice_end(s) : c->end;
	return c;
}

/* ---- threads ---- */

/* The op of a slice below the op of the slice around it. */
static uint32_t op_below(struct finding *x, uint32_t around, const struct slice *s)
{
	const struct trace *t = x->to->t;
	uint64_t key = (uint64_t)around << 32 | s->event;
	struct str name = trace_str(t, s->name), type = slice_text(t, s, ARG_OP_TYPE);
	uint32_t op;

	if (imap_get(&x->below, key, &op))
		return op;
	if (!type.p && s->category == CATEGORY_OP)
		type = name;
	else if (!type.p)
		type = str_of(trace_category_names[s->category]);
	x->path.n = 0;
	if (around) {
		sb_put(&x->path, intern_str(&x->to->strings, x->to->ops.v[around - 1].name));
		sb_char(&x->path, '/');
	}
	sb_put(&x->path, name);
	op = ops_named(x, sb_str(&x->path), type);
	imap_put(&x->below, key, op, false);
	return op;
}

static void close_host(struct finding *x, const struct nest_level *level, uint32_t op)
{
	struct op_cell *c = ops_cell(x, op, trace_step_of(x->steps, &level->s, NULL), &level->s);

	if (!c->host_runs++ || level->s.start < c->host_start)
		c->host_start = level->s.start;
	c->host_self = num_add(c->host_self, nest_self(level));
	c->host_total = num_add(c->host_total, level->s.length);
	x->to->ops.v[op].runs++;
}

static void walk_thread(struct finding *x, uint32_t track)
{
	const struct ops_rule *rule = &ops_rules[x->to->t->source];
	struct frame_walk frames;
	struct nest_level *level;
	struct scratch own;
	enum nest_what what;
	struct nest n;

	scratch_open(&own, x->a->work);
	nest_init(&n, x->to->t, track, rule->levels | rule->gaps, &own.a);
	frame_walk_init(&frames, x->to->t, track, &own.a);
	while ((what = nest_next(&n, &level))) {
		if (rule->gaps & NEST_BIT(level->s.category))
			continue;
		if (what == NEST_CLOSE) {
			close_host(x, level, level->user - 1);
			continue;
		}
		uint32_t around = rule->flat || !level->depth ? 0 : level[-1].user;
		level->user = 1 + op_below(x, around, &level->s);
		x->op_of[x->host0[track] + level->s.number - x->to->t->tracks.v[track].first] =
		        level->user;
		ops_set_frame(x, level->user - 1, &frames, &level->s);
	}
	x->to->overlaps += n.overlaps;
	scratch_close(&own);
}

/* ---- devices ---- */

/* The op of a slice of a thread, by number. */
static uint32_t op_of_slice(struct finding *x, uint32_t number)
{
	uint32_t track = trace_track_of(x->to->t, number);
	uint32_t op = x->op_of[x->host0[track] + number - x->to->t->tracks.v[track].first];
	struct slice s;

	if (op)
		return op - 1;
	trace_slice(x->to->t, number, &s);
	return op_below(x, 0, &s);
}

static struct str joined(struct finding *x, struct str before, struct str name)
{
	x->path.n = 0;
	sb_put(&x->path, before);
	if (before.n)
		sb_char(&x->path, '/');
	sb_put(&x->path, name);
	return sb_str(&x->path);
}

/* The op that stands for device work below the op that launched it. */
static uint32_t leaf_of_work(struct finding *x, const struct slice *s)
{
	uint32_t number = link_op(x->links, s), around = 0, op;
	struct str path = S(""), leaf;

	if (number != ID_NONE) {
		around = 1 + op_of_slice(x, number);
		path = intern_str(&x->to->strings, x->to->ops.v[around - 1].name);
	} else if (!link_launch(x->links, s)) {
		x->to->unlinked++;
		x->to->unlinked_time = num_add(x->to->unlinked_time, s->length);
		around = ID_NONE;
		path = S(OPS_UNATTRIBUTED);
	}
	if (imap_get(&x->below, (uint64_t)around << 32 | s->event, &op))
		return op;
	leaf = slice_text(x->to->t, s, ARG_SHORT_NAME);
	if (!leaf.n)
		leaf = trace_str(x->to->t, s->name);
	op = ops_named(x, joined(x, path, leaf), leaf);
	imap_put(&x->below, (uint64_t)around << 32 | s->event, op, false);
	return op;
}

static uint32_t op_of_work(struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	struct str scope = slice_text(t, s, ARG_SCOPE), type = slice_text(t, s, ARG_OP_TYPE);
	struct str op = slice_text(t, s, ARG_OP), module = slice_text(t, s, ARG_MODULE_NAME);
	uint32_t number;

	if (scope.n)
		return ops_named(x, scope, type.n ? type : S(OPS_UNKNOWN_TYPE));
	if (!op.n && x->to->t->tracks.v[s->track].kind == TRACK_LINE)
		op = trace_str(t, s->name);
	if (op.n)
		return ops_named(x, joined(x, module, op), type.n ? type : S(OPS_UNKNOWN_TYPE));
	if (ops_rules[t->source].leaf)
		return leaf_of_work(x, s);
	number = link_op(x->links, s);
	if (number != ID_NONE)
		return op_of_slice(x, number);
	x->to->unlinked++;
	x->to->unlinked_time = num_add(x->to->unlinked_time, s->length);
	return ops_named(
	        x, joined(x, S(OPS_UNATTRIBUTED), trace_str(t, s->name)), S(OPS_UNATTRIBUTED));
}

/* Counts executions of one compiled op, or kernel, of a cell; returns how many there are. */
static uint64_t count_runs(struct finding *x, uint32_t cell, const struct slice *s, uint64_t runs)
{
	struct str op = slice_text(x->to->t, s, ARG_OP);
	struct argument program = { .u = 0 };
	struct {
		uint64_t program;
		uint32_t op, name;
	} key = { .op = ID_NONE, .name = s->name };
	uint64_t id;
	uint32_t i = (uint32_t)x->counts.n;

	slice_argument(x->to->t, s, ARG_PROGRAM, &program);
	key.program = program.u;
	if (op.n) {
		key.op = intern_find(&x->to->t->strings, op);
		key.name = ID_NONE; /* kernels of one compiled op */
	}
	id = (uint64_t)intern_add(&x->compiled, str_make(&key, sizeof key)) << 32 | cell;
	if (!imap_get(&x->count_of, id, &i)) {
		imap_put(&x->count_of, id, i, false);
		VEC_PUSH(x->a, &x->counts, 0);
	}
	x->counts.v[i] = num_add_u64(x->counts.v[i], runs);
	return x->counts.v[i];
}

static void add_work(struct finding *x, const struct slice *s, int64_t self)
{
	const struct launch *launch = link_launch(x->links, s);
	const struct trace *t = x->to->t;
	uint32_t op = op_of_work(x, s), device = t->tracks.v[s->track].device;
	struct op_cell *c = ops_cell(x, op, trace_step_of(x->steps, s, launch), s);
	struct trace_op *o = &x->to->ops.v[op];
	int64_t runs = slice_int(t, s, ARG_COUNT);

	runs = runs > 0 ? runs : 1;
	if (!c->kernels++ || s->start < c->device_start)
		c->device_start = s->start;
	c->device_self = num_add(c->device_self, self);
	c->device_total = num_add(c->device_total, s->length);
	uint64_t count = ops_rules[t->source].leaf
	                         ? c->kernels /* instances of a template are one op */
	                         : count_runs(x, (uint32_t)(c - x->to->cells.v), s, (uint64_t)runs);
	c->device_runs = count > c->device_runs ? count : c->device_runs;
	if (o->device == ID_NONE)
		o->device = device;
	if (o->category == ID_NONE && slice_text(t, s, ARG_OP_CATEGORY).n)
		o->category = intern_add(&x->to->strings, slice_text(t, s, ARG_OP_CATEGORY));
	o->flops = num_add(o->flops, num_mul(runs, slice_int(t, s, ARG_FLOPS)));
	o->bytes_accessed =
	        num_add(o->bytes_accessed, num_mul(runs, slice_int(t, s, ARG_BYTES_ACCESSED)));
	ops_set_frame(x, op, NULL, s);
	ops_add_kernel(x, s, op);
}

/* Ops of a program nest, work on streams does not: each of its slices counts in full. */
static void walk_device(struct finding *x, uint32_t track)
{
	const struct trace *t = x->to->t;
	uint32_t gaps = ops_rules[t->source].gaps;
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
		if (what == NEST_CLOSE && !(gaps & NEST_BIT(level->s.category)))
			add_work(x, &level->s, nest_self(level));
	x->to->overlaps += n.overlaps;
	scratch_close(&own);
}

/* ---- all ---- */

static void find(struct finding *x)
{
	const struct trace *t = x->to->t;
	uint32_t host = 0;

	x->host0 = ARENA_ARRAY(x->a, t->tracks.n, uint32_t);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		x->host0[i] = host;
		host += track_is_device(&t->tracks.v[i]) ? 0 : t->tracks.v[i].n;
	}
	x->op_of = ARENA_ARRAY(x->a, host, uint32_t);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]) && !t->tracks.v[i].derived)
			walk_thread(x, i);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (track_is_device(&t->tracks.v[i]))
			walk_device(x, i);
	for (size_t i = 0; i < x->to->cells.n; i++) {
		const struct op_cell *c = &x->to->cells.v[i];
		if (!c->host_runs)
			x->to->ops.v[c->op].runs += c->device_runs;
	}
	ops_end_kernels(x);
}

void trace_find_ops(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, struct trace_ops *out, struct arena *a)
{
	struct finding x = { .to = out, .links = links, .steps = steps };
	struct scratch own;

	scratch_open(&own, a->work);
	*out = (struct trace_ops){ .t = t, .a = a };
	intern_init(&out->strings, a);
	intern_init(&out->frames, a);
	x.a = &own.a;
	x.path = sb_in(&own.a);
	imap_init(&x.by_name, &own.a);
	imap_init(&x.cell_of, &own.a);
	imap_init(&x.below, &own.a);
	imap_init(&x.count_of, &own.a);
	imap_init(&x.stack_of, &own.a);
	imap_init(&x.kernel_of, &own.a);
	imap_init(&x.share_of, &own.a);
	intern_init(&x.compiled, &own.a);
	find(&x);
	scratch_close(&own);
}
