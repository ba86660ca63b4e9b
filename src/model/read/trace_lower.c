/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds the ops of a trace to a model. trace/pass/ops.h provides the numbers; this file adds them to
 * the model.
 */
#include "model/read/read.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "trace/pass/flops_sums.h"

#define UNLINKED_PARTS                                                                             \
	100 /* work without an op below 1 / 100 of the device work changes nothing                 \
	     */

struct lowering {
	const struct trace *t;
	struct ingest *to;
	struct arena *a;
	struct trace_links links;
	struct trace_steps steps;
	bool step_ids; /* true: the steps of the model have the source's ids; false: their
	                  indices */
	struct trace_ops ops;
	uint32_t *node;  /* indexed by op: node of the model */
	uint32_t *frame; /* indexed by frame of ops: 1 + frame of the model; 0: not created yet */
	uint32_t cpu;    /* device of the model */
	struct device_names {
		uint32_t device, all; /* devices of the model: "...gpu:0", "...gpu:0/stream:all" */
	} * devices;                  /* indexed by device of the trace */
	struct imap graph;    /* key: string id of a node's name; value: 1 + first node of the graph
	                         with it */
	uint32_t *next;       /* indexed by node of the graph: 1 + the next node with the same
	                         name */
	uint32_t *graph_name; /* indexed by node of the graph: string id of the model */
	int64_t shift;        /* added to all times, so that they are above 0 */
};

/* ---- devices ---- */

static long long rank_of(const struct trace *t, uint32_t process)
{
	int64_t rank = process == ID_NONE ? -1 : t->processes.v[process].rank;

	return rank < 0 ? 0 : rank;
}

static uint32_t name_device(
        struct lowering *x, const char *kind, long long rank, long long index, const char *rest)
{
	return ingest_device(
	        x->to, str_fmt(x->a, "/job:localhost/replica:0/task:%lld/device:%s:%lld%s", rank,
	                       kind, index, rest));
}

static void lower_devices(struct lowering *x)
{
	const struct trace *t = x->t;

	x->devices = ARENA_ARRAY(x->a, t->devices.n, struct device_names);
	x->cpu = name_device(x, "cpu", t->processes.n ? rank_of(t, 0) : 0, 0, "");
	for (size_t i = 0; i < t->devices.n; i++) {
		const struct trace_device *d = &t->devices.v[i];
		const char *kind = trace_device_kinds[d->kind];
		long long rank = rank_of(t, d->process);
		x->devices[i].device = name_device(x, kind, rank, d->index, "");
		x->devices[i].all = name_device(x, kind, rank, d->index, "/stream:all");
	}
}

/* ---- call stacks ---- */

/* Reads digits from the end of a text. Returns the text before the digits and the separator. */
static struct str cut_number(struct str s, char separator, int32_t *number)
{
	size_t at = str_rfind_char(s, separator);
	int32_t v;

	if (at == SIZE_MAX || !num_parse_i32(str_sub(s, at + 1, SIZE_MAX), &v))
		return s;
	*number = v;
	return str_sub(s, 0, at);
}

/* Splits "file.py(12): f", "$file.py:12 f", "file.py:12:8" and "file.py:12" into their parts; any
 * other text is a function. */
static struct frame parse_frame(struct ingest *to, struct str text)
{
	struct frame f = {
		.parent = ID_NONE, .file = ID_NONE, .function = ID_NONE, .source = ID_NONE
	};
	size_t colon = str_find(text, S("): ")), open, space = str_find_char(text, ' ');
	struct str file, function = S("");
	int32_t column;

	open = colon == SIZE_MAX ? SIZE_MAX : str_rfind_char(str_sub(text, 0, colon), '(');
	if (open != SIZE_MAX && num_parse_i32(str_sub(text, open + 1, colon - open - 1), &f.line)) {
		file = str_sub(text, 0, open);
		function = str_sub(text, colon + 3, SIZE_MAX);
	} else if (str_starts(text, S("$")) && space != SIZE_MAX) {
		file = cut_number(str_sub(text, 1, space - 1), ':', &f.line);
		function = str_sub(text, space + 1, SIZE_MAX);
	} else {
		struct str shorter = cut_number(text, ':', &column);
		file = cut_number(shorter, ':', &f.line);
		if (file.n == shorter.n && shorter.n < text.n)
			f.line = column; /* "file.py:12" has one number, the line */
		else if (file.n == text.n) {
			function = text;
			file = S("");
			f.line = LINE_NONE;
		}
	}
	f.file = ingest_string(to, file);
	f.function = ingest_string(to, function);
	return f;
}

uint32_t trace_lower_frame(struct ingest *to, struct str text, uint32_t parent)
{
	struct frame f = parse_frame(to, text);

	f.parent = parent;
	return ingest_frame(to, &f);
}

/* Returns the model's frame for a frame of the trace. Creates it and its outer frames if necessary.
 */
static uint32_t lower_frame(struct lowering *x, uint32_t frame)
{
	VEC(uint32_t) way = { .v = NULL };
	uint32_t made = ID_NONE;

	for (; frame != ID_NONE && !x->frame[frame]; frame = ops_frame(&x->ops, frame).parent)
		VEC_PUSH(x->a, &way, frame);
	if (frame != ID_NONE)
		made = x->frame[frame] - 1;
	while (way.n) {
		uint32_t id = way.v[--way.n];
		struct str text = intern_str(&x->ops.strings, ops_frame(&x->ops, id).text);
		made = trace_lower_frame(x->to, text, made);
		x->frame[id] = made + 1;
	}
	return made;
}

/* ---- the graph of compiled programs ---- */

/* Assigns to each node of the graph the name of its device work. Nodes of one framework op become
 * one node of the model. */
static void name_graph(struct lowering *x)
{
	const struct trace *t = x->t;
	size_t n = t->nodes.n ? t->nodes.n - 1 : 0;
	uint32_t first;

	x->next = ARENA_ARRAY(x->a, n, uint32_t);
	x->graph_name = ARENA_ARRAY(x->a, n, uint32_t);
	for (size_t i = n; i-- > 0;) {
		struct argument scope, module, record;
		struct str args = t->nodes.v[i].args, name = trace_str(t, t->nodes.v[i].name);
		uint32_t op;
		if (argument_find(args, ARG_RECORD, &record) &&
		        imap_get(&x->ops.op_of_record, (uint64_t)record.i, &op))
			name = intern_str(&x->ops.strings, x->ops.ops.v[op].name);
		else if (argument_find(args, ARG_SCOPE, &scope))
			name = trace_str(t, scope.text);
		else if (argument_find(args, ARG_MODULE_NAME, &module))
			name = str_fmt(
			        x->a, "%.*s/%.*s", STR(trace_str(t, module.text)), STR(name));
		uint32_t id = x->graph_name[i] = ingest_string(x->to, name);
		x->next[i] = imap_get(&x->graph, id, &first) ? first : 0;
		imap_put(&x->graph, id, (uint32_t)i + 1, true);
	}
}

/* Adds the inputs of the node under construction: each name once, and never its own name. */
static void add_inputs(struct lowering *x, uint32_t name)
{
	const struct trace *t = x->t;
	uint32_t i = 0, there;
	struct imap have;
	int32_t index = 0;

	if (!imap_get(&x->graph, name, &i))
		return;
	imap_init(&have, x->a);
	for (; i; i = x->next[i - 1])
		for (uint32_t k = t->nodes.v[i - 1].input0; k < t->nodes.v[i].input0; k++) {
			uint32_t from = x->graph_name[t->inputs.v[k]];
			if (from == name || imap_get(&have, from, &there))
				continue;
			imap_put(&have, from, 0, false);
			ingest_input(x->to, index++, from, 0);
		}
}

/* Adds the nodes of the graph that did not run as separate slices. */
static void lower_graph(struct lowering *x)
{
	const struct trace *t = x->t;

	for (size_t i = 0; i + 1 < t->nodes.n; i++) {
		uint32_t type = ingest_string(x->to, trace_str(t, t->nodes.v[i].type));
		if (!ingest_node(x->to, x->graph_name[i], type))
			continue;
		add_inputs(x, x->graph_name[i]);
		ingest_set_device(x->to, ingest_end_node(x->to), x->cpu,
		        ingest_model(x->to)->devices.v[x->cpu].host);
	}
}

/* ---- nodes ---- */

static uint32_t lower_op(struct lowering *x, const struct trace_op *op)
{
	const struct model *m = ingest_model(x->to);
	uint32_t name = ingest_string(x->to, intern_str(&x->ops.strings, op->name));
	uint32_t type = ingest_string(x->to, intern_str(&x->ops.strings, op->type));
	uint32_t device = op->device == ID_NONE ? x->cpu : x->devices[op->device].device, id;

	if (!ingest_node(x->to, name, type))
		return m->node_of[name] - 1;
	add_inputs(x, name);
	id = ingest_end_node(x->to);
	ingest_set_device(x->to, id, device, m->devices.v[device].host);
	if (op->frame != ID_NONE) {
		ingest_set_stack(x->to, id, lower_frame(x, op->frame));
		ingest_has_traces(x->to);
	}
	return id;
}

/* ---- cells ---- */

static int by_node_and_step(const void *lowering, uint32_t a, uint32_t b)
{
	const struct lowering *x = lowering;
	const struct op_cell *c = &x->ops.cells.v[a], *d = &x->ops.cells.v[b];
	uint32_t m = x->node[c->op], n = x->node[d->op];

	if (m != n)
		return m < n ? -1 : 1;
	return (c->step > d->step) - (c->step < d->step);
}

/* True if the steps can keep the source's ids, because -step can select them; otherwise the steps
 * are numbered. */
static bool ids_fit(const struct trace_steps *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.v[i].id < 0)
			return false;
	return true;
}

static int64_t step_id(const struct lowering *x, uint32_t step)
{
	return x->step_ids ? x->steps.steps.v[step].id : step;
}

/* Adds kernels, memory traffic and float operations to the newest cell. */
static void lower_work(struct lowering *x, const struct op_cell *c)
{
	uint8_t packed[MEM_ITEM_MAX];
	struct mem_item m = { .kernels = num_from_u64(c->kernels),
		.bytes_accessed = c->bytes_accessed,
		.flops = c->flops,
		.uncounted = num_from_u64(c->uncounted),
		.windowed = num_from_u64(c->windowed),
		.critical = c->critical };

	if (c->kernels || c->flops || c->uncounted || c->critical)
		ingest_mem(x->to, packed, (size_t)(mem_put(packed, &m) - packed));
}

static void lower_cell(struct lowering *x, const struct op_cell *c, int64_t step)
{
	uint32_t device = x->ops.ops.v[c->op].device;
	uint64_t on_host = num_add_u64(c->host_runs, c->replays);
	uint64_t runs = on_host ? on_host : c->device_runs;
	struct cell_in in = { .runs = num_from_u64(runs),
		.start = num_add(c->start, x->shift),
		.end = num_add(c->end, x->shift) };

	ingest_cell(x->to, step, x->node[c->op], &in);
	if (c->host_runs || c->host_self)
		ingest_span(
		        x->to, SPAN_CPU, x->cpu, num_add(c->host_start, x->shift), c->host_self);
	if (c->kernels)
		ingest_span(x->to, SPAN_ACCELERATOR, x->devices[device].all,
		        num_add(c->device_start, x->shift), c->device_self);
	lower_work(x, c);
}

static void lower_cells(struct lowering *x)
{
	const struct op_cell *v = x->ops.cells.v;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < x->ops.cells.n; i++)
		first = v[i].start < first ? v[i].start : first;
	x->shift = x->ops.cells.n ? num_sub(x->t->ticks_per_us, first) : 0;
	ingest_ticks(x->to, (uint32_t)x->t->ticks_per_us);
	/* Averages also include the steps in which no op ran. */
	for (uint32_t i = 0; x->ops.cells.n && i < x->steps.steps.n; i++)
		ingest_step(x->to, step_id(x, i));
	const uint32_t *order = sort_order(x->a, x->ops.cells.n, by_node_and_step, x);
	for (size_t i = 0; i < x->ops.cells.n; i++) {
		const struct op_cell *c = &v[order[i]];
		lower_cell(x, c, step_id(x, c->step));
	}
}

/* Copies the kernels, with ops as nodes, and names and devices as strings of the model, because a
 * trace with slices may later replace the trace (input_slices). */
static void keep_kernels(const struct lowering *x, struct model_trace *to)
{
	size_t n = to->n_kernels = x->ops.kernels.n;
	struct kernel_row *v = ARENA_ARRAY(ingest_model(x->to)->a, n + 1, struct kernel_row);

	for (size_t i = 0; i < n; i++) {
		v[i] = x->ops.kernels.v[i];
		v[i].op = x->node[v[i].op];
		v[i].name = ingest_string(x->to, trace_str(x->t, v[i].name));
		v[i].device = ingest_string(x->to, trace_device_label(x->t, v[i].device, x->a));
	}
	to->kernels = v;
}

/* Stores the calls, so that the command flops need not find them again. */
static void keep_calls(const struct lowering *x, struct model_trace *to)
{
	struct arena *a = ingest_model(x->to)->a;
	struct trace_ops *kept = ARENA_NEW(a, struct trace_ops);
	size_t n = x->ops.calls.n, steps = x->steps.steps.n + 1;
	struct flops_sums sums;

	flops_sums_find(&sums, &x->ops, x->a);
	to->coverage = flops_coverage_copy(flops_coverage_of(&sums, x->a), a);
	if (!n)
		return;
	*kept = (struct trace_ops){ .t = x->t,
		.calls = { ARENA_ARRAY(a, n, struct op_calls), n, n },
		.products = ARENA_ARRAY(a, steps, struct step_products),
		.moved_time = x->ops.moved_time,
		.opless_time = x->ops.opless_time };
	memcpy(kept->calls.v, x->ops.calls.v, n * sizeof *kept->calls.v);
	memcpy(kept->products, x->ops.products, steps * sizeof *kept->products);
	to->counted = kept;
}

/* Counts the steps, and those without device work. */
static void count_steps(const struct lowering *x, struct model_trace *to)
{
	bool *works = ARENA_ARRAY(x->a, x->steps.steps.n, bool);
	size_t n = 0;

	for (size_t i = 0; i < x->ops.cells.n; i++)
		works[x->ops.cells.v[i].step] |= x->ops.cells.v[i].kernels > 0;
	for (size_t i = 0; i < x->steps.steps.n; i++)
		n += works[i];
	to->steps = x->steps.steps.n;
	to->workless = n ? x->steps.steps.n - n : 0;
}

/* True if a time is at least 1 / UNLINKED_PARTS of the device work of all ops, so that its absence
 * changes how the times of ops must be read. */
static bool is_much(const struct lowering *x, int64_t ticks)
{
	int64_t all = 0;

	for (size_t i = 0; i < x->ops.cells.n; i++)
		all = num_add(all, x->ops.cells.v[i].device_self);
	return ticks >= all / UNLINKED_PARTS;
}

/* Adds a note if the steps are runs of several programs, which need not be steps of a training. */
static void note_runs(struct lowering *x, struct notes *to)
{
	struct imap programs;
	uint32_t n = 0;

	if (x->steps.by != STEPS_BY_RUN)
		return;
	imap_init(&programs, x->a);
	for (size_t i = 0; i < x->steps.steps.n; i++)
		n += x->steps.steps.v[i].name != ID_NONE &&
		     imap_put(&programs, x->steps.steps.v[i].name, 0, false);
	if (n > 1)
		note_line(to,
		        "note: no steps are marked, so each run of a program is a step: %zu runs "
		        "of "
		        "%u programs; jax.profiler.StepTraceAnnotation marks steps\n",
		        x->steps.steps.n, n);
}

/* Adds notes about data that the trace lacks. */
static void add_notes(struct lowering *x)
{
	struct notes *to = ingest_notes(x->to);
	const struct trace *t = x->t;
	struct sb time = { .a = x->a };

	fmt_time(&time, trace_ns(t, x->ops.unlinked_time));
	to->about = is_much(x, x->ops.unlinked_time) ? NOTE_OPS : NOTE_FILES;
	note_count(to, x->ops.unlinked,
	        "note: %llu {slice|slices} of device work, %.*s in all, {has|have} no op in the "
	        "file: {it is|they are} below " OPS_UNATTRIBUTED "\n",
	        (unsigned long long)x->ops.unlinked, STR(sb_str(&time)));
	to->about = NOTE_OPS;
	if (x->ops.deeper)
		note_line(to,
		        "note: paths that would need too much memory are shortened: '" OPS_DEEPER
		        "', which contains the times of all deeper levels\n");
	to->about = NOTE_NUMBERS;
	note_runs(x, to);
	note_count(to, t->clamped,
	        "note: the times of %llu {slice|slices} are impossible and were clamped\n",
	        (unsigned long long)t->clamped);
	note_count(to, t->unclosed,
	        "note: %llu {slice begins and does not end: it ends with its|slices begin and do "
	        "not end: they end with their} track\n",
	        (unsigned long long)t->unclosed);
	note_count(to, t->unopened,
	        "note: %llu {end of a slice has|ends of slices have} no begin: {it is|they are} "
	        "ignored\n",
	        (unsigned long long)t->unopened);
	note_count(to, t->dropped_slices, "note: %llu {slice is|slices are} over the limit\n",
	        (unsigned long long)t->dropped_slices);
	note_count(to, t->dropped_args, "note: %llu {argument is|arguments are} over the limit\n",
	        (unsigned long long)t->dropped_args);
}

void trace_lower(const struct trace *t, enum trace_by by, bool path, struct ingest *to,
        struct model_trace *kept, struct arena *scratch)
{
	struct lowering x = { .t = t, .to = to, .a = scratch };
	bool graph = by == TRACE_BY_PATH || by == TRACE_BY_STACK;

	trace_link(t, &x.links, scratch);
	trace_find_steps(t, &x.steps, scratch);
	x.step_ids = ids_fit(&x.steps);
	if (path)
		trace_find_path_ops(t, &x.links, &x.steps, by, &x.ops, scratch);
	else
		trace_find_ops(t, &x.links, &x.steps, by, &x.ops, scratch);
	lower_devices(&x);
	x.node = ARENA_ARRAY(scratch, x.ops.ops.n, uint32_t);
	x.frame = ARENA_ARRAY(scratch, x.ops.frames.n, uint32_t);
	imap_init(&x.graph, scratch);
	if (graph)
		name_graph(&x);
	for (size_t i = 0; i < x.ops.ops.n; i++)
		x.node[i] = lower_op(&x, &x.ops.ops.v[i]);
	if (graph)
		lower_graph(&x);
	lower_cells(&x);
	if (kept) {
		keep_kernels(&x, kept);
		keep_calls(&x, kept);
		count_steps(&x, kept);
	}
	add_notes(&x);
}
