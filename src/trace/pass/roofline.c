/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the counted calls and the device work of ops by row, and compares each row with the peaks
 * of its devices.
 */
#include "trace/pass/roofline.h"

#include "base/sort.h"

const char *const roof_bounds[BOUNDS] = {
	[BOUND_UNKNOWN] = "",
	[BOUND_COMPUTE] = "compute",
	[BOUND_MEMORY] = "memory",
	[BOUND_LAUNCH] = "launch",
};

/* A row whose calls are being added up. */
struct roof_sum {
	struct roof_row row;
	struct roof roof;     /* rates in seconds */
	int64_t ticks, rated; /* time of all calls, and time of the calls with known numbers */
	bool open;            /* true: some of its calls have operations without a peak */
};

struct roofing {
	const struct trace *t;
	const struct roofline_request *request;
	struct roofline *to;
	struct arena *a;
	struct intern keys;
	VEC(struct roof_sum) sums;
	struct peak *peaks; /* indexed by device */
	bool *known;        /* indexed by device: true if its peaks are known */
	bool threads;       /* true: the trace has no device work, so the time of threads counts */
};

/* ---- peaks ---- */

/* Finds the peaks of each device: from the user, otherwise from the file, otherwise from the
 * table. */
static void find_peaks(struct roofing *x)
{
	const struct roofline_request *r = x->request;

	x->peaks = ARENA_ARRAY(x->a, x->t->devices.n, struct peak);
	x->known = ARENA_ARRAY(x->a, x->t->devices.n, bool);
	for (size_t i = 0; i < x->t->devices.n; i++) {
		const struct trace_device *d = &x->t->devices.v[i];
		const struct peak *table =
		        d->model == ID_NONE ? NULL : peak_find(trace_str(x->t, d->model));
		if (d->peak_flops > 0 && d->peak_bytes > 0)
			x->peaks[i] =
			        peak_given("the peaks in the file", d->peak_flops, d->peak_bytes);
		else if (table)
			x->peaks[i] = *table;
		if (r->peak_flops > 0)
			x->peaks[i] = peak_given(
			        "the given peaks", r->peak_flops, x->peaks[i].gbytes * 1e9);
		if (r->peak_bytes > 0)
			x->peaks[i].gbytes = r->peak_bytes / 1e9;
		x->known[i] = x->peaks[i].gbytes > 0;
	}
}

/* Adds the peak of a row to the list, once. */
static void list_peak(struct roofing *x, const struct roof_row *row, enum flops_class class)
{
	const struct peak *p = &x->peaks[row->device];
	enum number_type type = p->source ? row->numbers : NUMBERS_OTHER;
	double rate = peak_rate(p, class, row->numbers);

	for (size_t i = 0; i < x->to->peaks.n; i++)
		if (x->to->peaks.v[i].device == row->device && x->to->peaks.v[i].flops == rate)
			return;
	VEC_PUSH(x->a, &x->to->peaks,
	        ((struct roof_peak){
	                row->device, p->name, p->source, type, rate, p->gbytes * 1e9 }));
}

/* ---- rows ---- */

static struct roof_sum *sum_of(struct roofing *x, struct str key)
{
	uint32_t id = intern_add(&x->keys, key);

	while (x->sums.n <= id)
		VEC_PUSH(x->a, &x->sums,
		        ((struct roof_sum){
		                .row = { .device = ID_NONE, .flops = -1, .bytes = -1 } }));
	return &x->sums.v[id];
}

/* The part of the numbers of a struct op_calls that belongs to one row. */
struct roof_part {
	uint32_t device;
	uint64_t calls, kernels;
	int64_t ticks;
	bool rated;
	enum flops_class class;
	struct flops numbers;
};

static void add_part(struct roofing *x, struct roof_sum *s, const struct roof_part *p)
{
	struct roof_row *row = &s->row;

	row->device = row->device == ID_NONE ? p->device : row->device;
	row->calls = num_add_u64(row->calls, p->calls);
	row->kernels = num_add_u64(row->kernels, p->kernels);
	s->ticks = num_add(s->ticks, p->ticks);
	if (!p->rated)
		return;
	s->rated = num_add(s->rated, p->ticks);
	row->flops = num_add(row->flops < 0 ? 0 : row->flops, p->numbers.flops);
	if (p->numbers.read > 0)
		row->bytes = num_add(row->bytes < 0 ? 0 : row->bytes, p->numbers.read);
	if (row->device == ID_NONE || !x->known[row->device])
		return;
	const struct peak *peak = &x->peaks[row->device];
	const struct roof roof = peak_roof(peak, p->class, &p->numbers);
	row->numbers = p->numbers.type;
	s->roof.compute += roof.compute;
	s->roof.memory += roof.memory;
	s->open |= (p->numbers.flops > 0 && p->class == CLASS_MATRIX && !(roof.compute > 0));
	/* without bytes, the roof of other work is not known */
	s->open |= p->class != CLASS_MATRIX && p->numbers.flops > 0 && p->numbers.read <= 0;
	if (roof.compute > 0)
		list_peak(x, row, p->class);
}

/* Divides the numbers of calls among the ops that made them, or among the kernels by their time. */
static struct roof_part part_of(const struct roofing *x, const struct op_use *use)
{
	const struct op_calls *c = &x->to->ops.calls.v[use->calls];
	bool kernels = x->request->by == ROOF_BY_KERNEL;
	double all = kernels ? (double)c->device : (double)c->calls;
	double share = all > 0 ? (kernels ? (double)use->work : (double)use->n) / all : 0;

	/* the kernels may belong to an op inside the counted op */
	return (struct roof_part){ .device = use->device == ID_NONE ? c->on : use->device,
		.calls = kernels ? use->kernels : num_add_u64(use->n, use->unknown),
		.kernels = use->kernels,
		.ticks = x->threads ? use->host : use->work,
		.rated = c->lack == LACK_NOTHING,
		.class = c->formula == FORMULAS ? CLASS_NONE : flops_class_of(c->formula),
		.numbers = { .flops = num_from_real(share * (double)c->flops),
		        .read = num_from_real(share * (double)c->bytes),
		        .type = c->one.type } };
}

/* Returns the name of a row: the module, the function, or the first level of a path. */
static struct str group_name(const struct roofing *x, const struct op_use *use)
{
	struct str name = intern_str(&x->to->ops.strings, x->to->ops.ops.v[use->op].name);

	return x->request->by == ROOF_BY_PHASE ? str_sub(name, 0, str_find_char(name, '/')) : name;
}

static void add_use(struct roofing *x, const struct op_use *use)
{
	const struct trace_ops *ops = &x->to->ops;
	const struct op_calls *c = &ops->calls.v[use->calls];
	const struct slice s = { .event = c->event };
	/* the event of a gradient names its function */
	struct str op = flops_reads_forward(c->name)
	                        ? c->name
	                        : trace_str(x->t, x->t->events.v[c->event].name);
	const struct roof_part part = part_of(x, use);
	struct roof_sum *sum;

	if (x->request->by == ROOF_BY_OP) {
		struct str shapes = slice_text(x->t, &s, ARG_SHAPES);
		sum = sum_of(x, str_fmt(x->a, "%.*s %.*s %d %u", STR(op), STR(shapes),
		                        c->lack != LACK_NOTHING, c->one.type));
		sum->row.name = sum->row.type = op;
		sum->row.shapes = shapes;
	} else {
		struct str name = group_name(x, use);
		sum = sum_of(x, name);
		sum->row.name = name;
	}
	sum->row.windowed |= c->windowed;
	add_part(x, sum, &part);
}

/* Returns the shapes of a list of one call; those that are not known are "[]". */
static struct str shapes_in(struct str list, struct arena *a)
{
	struct str text = str_sub(list, str_find_char(list, '\t'), SIZE_MAX);
	struct sb b = sb_in(a);

	text = str_sub(text, 1, SIZE_MAX);
	text = str_sub(text, 0, str_find_char(text, '\t'));
	while (text.n) {
		size_t unknown = str_starts(text, S("[-")) ? str_find_char(text, ']') : 0;
		sb_put(&b, unknown ? S("[]") : str_sub(text, 0, 1));
		text = str_sub(text, unknown + 1, SIZE_MAX);
	}
	return sb_str(&b);
}

/* Returns the scope of a node: its name before the last '/'. */
static struct str scope_of(struct str node)
{
	size_t n = node.n;

	while (n && node.p[n - 1] != '/')
		n--;
	return n > 1 ? str_sub(node, 0, n - 1) : S("(no module)");
}

/* Adds a call of a graph's node. */
static void add_node(struct roofing *x, const struct op_calls *c)
{
	const struct str shapes = c->list.n ? shapes_in(c->list, x->a) : STR_NONE;
	const struct roof_part part = { .device = c->on,
		.calls = num_add_u64(c->calls, c->unknown),
		.ticks = c->device,
		.rated = c->lack == LACK_NOTHING,
		.class = c->formula == FORMULAS ? CLASS_NONE : flops_class_of(c->formula),
		.numbers = { .flops = c->flops, .read = c->bytes, .type = c->one.type } };

	if (x->request->by != ROOF_BY_OP) {
		const struct str name =
		        x->request->by == ROOF_BY_MODULE ? scope_of(c->node) : c->node;
		struct roof_sum *sum = sum_of(x, name);
		sum->row.name = name;
		if (x->request->by == ROOF_BY_KERNEL)
			sum->row.type = c->name;
		add_part(x, sum, &part);
		return;
	}
	struct roof_sum *sum = sum_of(x, str_fmt(x->a, "%.*s %.*s %d %u", STR(c->name), STR(shapes),
	                                         c->lack != LACK_NOTHING, c->one.type));
	sum->row.name = sum->row.type = c->name;
	sum->row.shapes = shapes;
	add_part(x, sum, &part);
}

/* True for the begin and the end of an asynchronous op of a compiler. The data transfer or
 * computation runs between the two, beside other ops, so their own time does not show its rate. */
static bool is_half(const struct trace_ops *ops, const struct trace_op *op)
{
	struct str category =
	        op->category == ID_NONE ? STR_NONE : intern_str(&ops->strings, op->category);

	return str_ends(category, S("-start")) || str_ends(category, S("-done"));
}

/* Adds the ops whose numbers the file states. */
static void add_stated(struct roofing *x)
{
	const struct trace_ops *ops = &x->to->ops;
	struct roof_part *parts = ARENA_ARRAY(x->a, ops->ops.n, struct roof_part);

	for (size_t i = 0; i < ops->cells.n; i++) {
		const struct op_cell *c = &ops->cells.v[i];
		struct roof_part *p = &parts[c->op];
		p->ticks = num_add(p->ticks, x->threads ? c->host_total : c->device_total);
		p->kernels = num_add_u64(p->kernels, c->kernels);
	}
	for (uint32_t i = 0; i < ops->ops.n; i++) {
		const struct trace_op *op = &ops->ops.v[i];
		struct str name = intern_str(&ops->strings, op->name);
		struct roof_part *p = &parts[i];
		if (op->flops <= 0 && op->bytes_accessed <= 0)
			continue;
		p->device = op->device;
		p->calls = op->runs;
		p->rated = !is_half(ops, op);
		x->to->halves += !p->rated;
		p->class = CLASS_MATRIX;
		p->numbers = (struct flops){ .flops = op->flops, .read = op->bytes_accessed };
		struct roof_sum *sum = sum_of(x, name);
		sum->row.name = name;
		sum->row.type = intern_str(&ops->strings, op->type);
		add_part(x, sum, p);
	}
}

/* ---- results ---- */

/* Returns the median time of a launch in ns; 0: no launches. */
static double launch_ns(const struct trace *t, const struct trace_links *links, struct arena *a)
{
	size_t n = links->launches.n;
	int64_t *lengths = ARENA_ARRAY(a, n, int64_t);

	for (size_t i = 0; i < n; i++)
		lengths[i] = links->launches.v[i].length;
	return n ? (double)trace_ns(t, lengths[keysort_new(a, n, lengths)[n / 2]]) : 0;
}

static enum roof_bound bound_of(const struct roof_sum *s, double ns, double launch)
{
	if (s->row.kernels && ns < launch * (double)s->row.kernels)
		return BOUND_LAUNCH;
	if (s->row.bytes < 0)
		return BOUND_UNKNOWN;
	return s->roof.compute >= s->roof.memory ? BOUND_COMPUTE : BOUND_MEMORY;
}

static void end_row(struct roofing *x, struct roof_sum *s, double launch)
{
	double ns = 1e9 * (s->roof.compute > s->roof.memory ? s->roof.compute : s->roof.memory);

	s->row.ns = trace_ns(x->t, s->ticks);
	s->row.rated_ns = trace_ns(x->t, s->rated);
	s->row.roof_ns = -1;
	if (ns > 0 && !s->open) {
		s->row.roof_ns = num_from_real(ns + 0.5);
		s->row.bound = bound_of(s, ns, launch);
	}
	if (s->row.ns > 0)
		VEC_PUSH(x->a, &x->to->rows, s->row);
}

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct roof_row *x = (const struct roof_row *)v + a,
	                      *y = (const struct roof_row *)v + b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : str_cmp(x->name, y->name);
}

static bool has_work(const struct trace *t)
{
	bool any = false;

	for (size_t i = 0; i < t->tracks.n && !any; i++)
		any = track_is_device(&t->tracks.v[i]) && t->tracks.v[i].n;
	return any;
}

void roofline_find(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, const struct roofline_request *request,
        struct roofline *out, struct arena *a)
{
	/* without calls, ops are distinguished by their paths */
	const enum trace_by by[] = { [ROOF_BY_OP] = t->source == TRACE_KINETO ? TRACE_BY_OP
		                                                              : TRACE_BY_PATH,
		[ROOF_BY_KERNEL] = TRACE_BY_FUNCTION,
		[ROOF_BY_MODULE] = TRACE_BY_MODULE,
		[ROOF_BY_PHASE] = TRACE_BY_PHASE };
	struct roofing x = {
		.t = t, .request = request, .to = out, .a = a, .threads = !has_work(t)
	};

	struct flops_sums sums;

	*out = (struct roofline){ .rows = { .n = 0 } };
	intern_init(&x.keys, a);
	find_peaks(&x);
	if (request->calls)
		out->ops = *request->calls;
	else
		trace_find_uses(t, links, steps, by[request->by], &out->ops, a);
	flops_sums_find(&sums, &out->ops, a);
	out->coverage = flops_coverage_of(&sums, a);
	for (size_t i = 0; i < out->ops.uses.n; i++)
		add_use(&x, &out->ops.uses.v[i]);
	for (size_t i = 0; request->calls && i < out->ops.calls.n; i++)
		add_node(&x, &out->ops.calls.v[i]);
	if (!out->ops.uses.n && !request->calls)
		add_stated(&x);
	double launch = launch_ns(t, links, a);
	for (size_t i = 0; i < x.sums.n; i++)
		end_row(&x, &x.sums.v[i], launch);
	sort_array(a, out->rows.v, out->rows.n, sizeof *out->rows.v, by_time);
}

/* Appends the shapes with at least `least` dimensions, such as " 4x5 5x6". Returns false if there
 * are none. */
static bool put_shapes(struct sb *b, struct str shapes, size_t least)
{
	bool any = false;

	while (shapes.n) {
		size_t end = str_find_char(shapes, ']'), from = end;
		if (end == SIZE_MAX)
			break;
		while (from && shapes.p[from - 1] != '[')
			from--;
		struct strs dims = str_split(b->a, str_sub(shapes, from, end - from), ',');
		for (size_t i = 0; dims.n >= least && end > from && i < dims.n; i++) {
			sb_put(b, i ? S("x") : S(" "));
			sb_put(b, dims.v[i]);
			any = true;
		}
		shapes = str_sub(shapes, end + 1, SIZE_MAX);
	}
	return any;
}

struct str roof_label(const struct roof_row *r, struct arena *a)
{
	struct sb b = sb_in(a);

	sb_put(&b, r->name);
	if (!put_shapes(&b, r->shapes, 2))
		put_shapes(&b, r->shapes, 1);
	return sb_str(&b);
}
