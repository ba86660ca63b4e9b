/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of the calls of ops (flops/flops.h), and the device work that they cover.
 *
 * An op and the ops inside it describe the same arithmetic: aten::linear contains aten::addmm. A
 * call counts unless an op inside it has counted work of the same class, or of a heavier one. So a
 * product counts where its kernels are launched, and the elementwise ops inside a convolution count
 * too.
 */
#include "trace/pass/ops_internal.h"
#include "flops/flops.h"

#define NOT_COUNTED UINT32_MAX  /* the op of the event is not in the table */
#define UNDECIDED   0x80000000u /* in `decides`: not decided yet; the other bits are the event */
#define TRIES_MAX   4           /* number of later ops that may show the shape of an output */

/* ---- calls ---- */

void ops_add_flops(struct finding *x, struct op_cell *c, int64_t flops)
{
	struct trace_op *o = &x->to->ops.v[c->op];

	o->flops = num_add(o->flops, flops);
	c->flops = num_add(c->flops, flops);
}

static const struct op_row *row_of(struct finding *x, uint32_t name)
{
	uint32_t at = (uint32_t)x->rows.n;

	if (!imap_get(&x->row_of, name, &at)) {
		imap_put(&x->row_of, name, at, false);
		VEC_PUSH(x->a, &x->rows, flops_find_op(trace_str(x->to->t, name)));
	}
	return x->rows.v[at];
}

static struct op_call read_call(
        const struct finding *x, const struct op_row *row, const struct slice *s)
{
	const struct trace *t = x->to->t;

	return flops_read_call(row, trace_str(t, s->name), slice_text(t, s, ARG_SHAPES),
	        slice_text(t, s, ARG_DTYPES), slice_text(t, s, ARG_VALUES));
}

static uint32_t push_call(struct finding *x, uint32_t event, struct str name,
        enum flops_formula formula, const struct flops *f)
{
	VEC_PUSH(x->to->a, &x->to->calls,
	        ((struct op_calls){ .event = event,
	                .name = name,
	                .formula = formula,
	                .lack = f->lack,
	                .input = f->input,
	                .one = *f,
	                .on = ID_NONE }));
	return (uint32_t)x->to->calls.n;
}

static uint32_t add_call(struct finding *x, const struct slice *s, struct str name,
        enum flops_formula formula, const struct flops *f)
{
	return x->call_of[s->event] = push_call(x, s->event, name, formula, f);
}

/* Returns the name of a slice with listed calls: the op type of a compiled op or an ONNX node,
 * otherwise the compiler's category, otherwise the name of the slice. */
static struct str listed_name(const struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	struct str type = slice_text(t, s, ARG_OP_TYPE),
	           category = slice_text(t, s, ARG_OP_CATEGORY);

	return type.n ? type : category.n ? category : trace_str(t, s->name);
}

/* True for an instruction that computes a part of a forward pass again: JAX's checkpoint names the
 * scope, XLA the instruction. */
static bool is_rematerialised(const struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;

	return str_contains(slice_text(t, s, ARG_SCOPE), S("rematted_computation")) ||
	       str_contains(slice_text(t, s, ARG_OP), S(".remat")) ||
	       str_contains(trace_str(t, s->name), S(".remat"));
}

/* Returns 1 + the index of the calls of a slice for which the file lists calls or states float
 * operations; 0 for other slices. */
static uint32_t listed_calls(struct finding *x, const struct slice *s)
{
	const struct trace *t = x->to->t;
	enum flops_formula formula = FORMULA_STATED;
	struct flops f = { .read = -1, .written = -1 };
	uint32_t known = x->call_of[s->event];
	struct str list;

	if (known)
		return known == NOT_COUNTED ? 0 : known;
	if ((list = slice_text(t, s, ARG_CALLS)).n)
		f = flops_of_list(list, NULL, &formula);
	else if (!slice_has_int(t, s, ARG_FLOPS, &f.flops)) {
		if (!slice_text(t, s, ARG_OP).n) {
			x->call_of[s->event] = NOT_COUNTED;
			return 0;
		}
		f.lack = LACK_SHAPE;
	}
	if (is_rematerialised(x, s))
		f.recomputed = f.flops;
	known = add_call(x, s, listed_name(x, s), formula, &f);
	x->to->calls.v[known - 1].list = list;
	return known;
}

/* Returns 1 + the index of the calls of the gradient of an autograd function, with the inputs of
 * the function. */
static uint32_t gradient_calls(
        struct finding *x, const struct op_row *row, const struct slice *s, uint32_t event)
{
	const struct slice function = { .event = event, .name = s->name };
	uint64_t key = (uint64_t)event << 32 | s->name;
	uint32_t known;

	if (imap_get(&x->gradient_of, key, &known))
		return known;
	const struct op_call c = read_call(x, row, &function);
	const struct flops f = flops_of_call(&c);
	known = push_call(x, event, trace_str(x->to->t, s->name), row->formula, &f);
	imap_put(&x->gradient_of, key, known, false);
	return known;
}

/* Returns 1 + the index of the calls with the op and inputs of a slice; 0: the op is not in the
 * table. */
static uint32_t calls_of(struct finding *x, const struct slice *s)
{
	uint32_t known = x->call_of[s->event], function;
	const struct op_row *row;

	if (x->forward_of.n && s->category == CATEGORY_OP && ops_find_function(x, s, &function) &&
	        (row = row_of(x, s->name)))
		return gradient_calls(x, row, s, function);
	if (known || s->category != CATEGORY_OP)
		return known == NOT_COUNTED ? 0 : known;
	if (!ops_have_inputs(x->to->t))
		return listed_calls(x, s);
	if (!(row = row_of(x, s->name))) {
		x->call_of[s->event] = NOT_COUNTED;
		return 0;
	}
	const struct op_call c = read_call(x, row, s);
	struct flops f = flops_of_call(&c);
	if (flops_reads_forward(c.name)) /* the trace lacks the function */
		f = (struct flops){ .lack = LACK_SHAPE, .read = -1, .written = -1 };
	return add_call(x, s, trace_str(x->to->t, s->name), row->formula, &f);
}

static enum flops_class class_of(const struct op_calls *c)
{
	return c->formula == FORMULAS ? CLASS_NONE : flops_class_of(c->formula);
}

static bool is_known(const struct finding *x, uint32_t calls)
{
	return calls && x->to->calls.v[calls - 1].lack == LACK_NOTHING;
}

/* Returns the part of the calls that an op made. */
static struct op_use *use_of(struct finding *x, uint32_t calls, uint32_t op)
{
	struct trace_ops *to = x->to;
	uint64_t key = (uint64_t)calls << 32 | op;
	uint32_t at = (uint32_t)to->uses.n;

	if (!imap_get(&x->use_of, key, &at)) {
		imap_put(&x->use_of, key, at, false);
		VEC_PUSH(to->a, &to->uses,
		        ((struct op_use){ .calls = calls - 1, .op = op, .device = ID_NONE }));
	}
	return &to->uses.v[at];
}

/* Adds n executions of a counted call in a step. */
static void add_counted(
        struct finding *x, struct op_calls *to, uint32_t step, const struct flops *f, int64_t n)
{
	int64_t flops = num_mul(n, f->flops), again = num_mul(n, f->recomputed);
	struct step_products *products = &x->to->products[step];

	to->calls = num_add_u64(to->calls, (uint64_t)n);
	to->flops = num_add(to->flops, flops);
	to->recomputed = num_add(to->recomputed, again);
	to->bytes = num_add(to->bytes, f->read > 0 ? num_mul(n, f->read) : 0);
	to->bytes = num_add(to->bytes, f->written > 0 ? num_mul(n, f->written) : 0);
	if (class_of(to) != CLASS_MATRIX)
		return;
	products->all[to->one.type] = num_add(products->all[to->one.type], flops);
	products->again[to->one.type] = num_add(products->again[to->one.type], again);
}

/* Adds a counted call to its op. length: ticks on its thread. */
static void count_call(
        struct finding *x, uint32_t calls, uint32_t cell, const struct flops *f, int64_t length)
{
	struct op_calls *to = &x->to->calls.v[calls - 1];

	if (x->keeps_uses) {
		struct op_use *use = use_of(x, calls, x->to->cells.v[cell].op);
		use->n++;
		use->host = num_add(use->host, length);
	}
	add_counted(x, to, x->to->cells.v[cell].step, f, 1);
	ops_add_flops(x, &x->to->cells.v[cell], f->flops);
}

/* ---- outputs ---- Old traces have no strides of convolutions. The op after a convolution reads
 * its output, so its inputs show the shape. */

static void find_output(struct finding *x, const struct nest_level *level)
{
	struct waiting_call *w = &x->waiting;
	struct flops f;

	if (!w->calls || level->depth > w->depth || level->s.category != CATEGORY_OP)
		return;
	const struct op_call next = read_call(x, w->call.row, &level->s);
	if (flops_take_output(&w->call, &next) &&
	        (f = flops_of_call(&w->call)).lack == LACK_NOTHING) {
		struct op_calls *to = &x->to->calls.v[w->calls - 1];
		to->lack = LACK_NOTHING;
		to->inferred++;
		to->unknown--;
		x->to->cells.v[w->cell].uncounted--;
		if (x->keeps_uses)
			use_of(x, w->calls, x->to->cells.v[w->cell].op)->unknown--;
		count_call(x, w->calls, w->cell, &f, w->length);
		w->calls = 0;
	} else if (++w->tries == TRIES_MAX) {
		w->calls = 0;
	}
}

/* ---- threads ---- */

/* Returns 1 + the index of the calls whose formula counts the work launched in an op: the op's own
 * calls, or the calls of the enclosing op if the op's float operations are unknown. */
static uint32_t decides(const struct finding *x, uint32_t own, uint32_t around)
{
	return is_known(x, own) || !around ? own : is_known(x, around) || !own ? around : own;
}

void ops_open_flops(struct finding *x, const struct nest_level *level)
{
	uint32_t around = level->depth ? x->levels.v[level->depth - 1].decides : 0;

	find_output(x, level);
	while (x->levels.n <= level->depth)
		VEC_PUSH(x->a, &x->levels, ((struct flops_level){ .decides = 0 }));
	x->levels.v[level->depth] =
	        (struct flops_level){ .decides = decides(x, calls_of(x, &level->s), around) };
	ops_find_again(x, &level->s, level->depth ? &x->levels.v[level->depth - 1] : NULL,
	        &x->levels.v[level->depth]);
	uint32_t found = x->levels.v[level->depth].decides;
	x->decides[ops_host_index(x, level->s.track, level->s.number)] =
	        found ? found : UNDECIDED | level->s.event;
}

/* Counts attention over a paged cache, from the sums in the annotation of its step. Returns false
 * for other calls, or if the step has no sums. */
static bool count_paged(struct finding *x, uint32_t calls, uint32_t cell, const struct slice *s)
{
	struct op_calls *to = &x->to->calls.v[calls - 1];
	const struct serving_step *step = x->served ? &x->served[x->to->cells.v[cell].step] : NULL;

	if (!flops_is_paged(to->formula) || !step || !step->sums)
		return false;
	struct op_call c = read_call(x, row_of(x, s->name), s);
	c.prompts = &step->context;
	c.generation = &step->generation;
	const struct flops f = flops_of_call(&c);
	if (f.lack != LACK_NOTHING)
		return false;
	to->lack = LACK_NOTHING;
	count_call(x, calls, cell, &f, s->length);
	VEC_PUSH(x->a, &x->paged_calls, ((struct paged_call){ calls, cell }));
	return true;
}

/* Counts a call whose float operations are unknown. */
static void count_unknown(struct finding *x, uint32_t calls, uint32_t cell)
{
	x->to->calls.v[calls - 1].unknown++;
	x->to->cells.v[cell].uncounted++;
	if (x->keeps_uses)
		use_of(x, calls, x->to->cells.v[cell].op)->unknown++;
}

/* Counts a call if no op inside it has been counted. */
static void close_call(
        struct finding *x, const struct nest_level *level, uint32_t calls, uint32_t cell)
{
	struct op_calls *to = &x->to->calls.v[calls - 1];
	enum flops_class class = class_of(to);
	unsigned *inside = &x->levels.v[level->depth].counted;

	if (class != CLASS_NONE && *inside >= class)
		return;
	*inside = class > *inside ? class : *inside;
	if (to->one.lack == LACK_NOTHING) {
		struct flops one = to->one;
		if (x->levels.v[level->depth].again)
			one.recomputed = one.flops;
		count_call(x, calls, cell, &one, level->s.length);
		return;
	}
	if (count_paged(x, calls, cell, &level->s))
		return;
	count_unknown(x, calls, cell);
	if (!ops_have_inputs(x->to->t)) {
		*inside = CLASS_NONE;
		return;
	}
	const struct op_call c = read_call(x, row_of(x, level->s.name), &level->s);
	if (flops_needs_output(&c, &to->one))
		x->waiting = (struct waiting_call){ .calls = calls,
			.cell = cell,
			.depth = level->depth,
			.length = level->s.length,
			.call = c };
	else
		*inside = CLASS_NONE;
}

void ops_close_flops(struct finding *x, const struct nest_level *level, uint32_t cell)
{
	struct flops_level *at = &x->levels.v[level->depth];
	uint32_t calls = calls_of(x, &level->s);
	int64_t stated;

	if (calls)
		close_call(x, level, calls, cell);
	if (!is_known(x, calls) && !at->counted &&
	        slice_has_int(x->to->t, &level->s, ARG_FLOPS, &stated)) {
		ops_add_flops(x, &x->to->cells.v[cell], stated);
		x->to->cells.v[cell].uncounted -= calls > 0;
		at->counted = CLASS_MATRIX;
	}
	if (level->depth && at[-1].counted < at->counted)
		at[-1].counted = at->counted;
}

/* ---- devices ---- */

/* A slice of device work, its time, and the op that it belongs to. */
struct covered_work {
	const struct slice *s;
	int64_t self;
	uint32_t op;
};

/* Counts device work without a call as unknown, in the cell to which the work was just added. */
static void count_callless(struct finding *x, uint32_t op)
{
	x->to->cells.v[x->last_cell.v[op]].uncounted++;
}

/* Adds device work that belongs to no op to the time without an op. */
static void add_opless(struct finding *x, int64_t self, uint32_t op)
{
	x->to->opless_time = num_add(x->to->opless_time, self);
	count_callless(x, op);
}

/* Adds device work to calls. */
static void cover(struct finding *x, uint32_t calls, const struct covered_work *work)
{
	struct op_calls *to = &x->to->calls.v[calls - 1];

	to->device = num_add(to->device, work->self);
	ops_take_paged(x, calls, work->s, work->op);
	if (to->on == ID_NONE)
		to->on = x->to->t->tracks.v[work->s->track].device;
	if (to->formula == FORMULAS)
		count_callless(x, work->op);
	if (!x->keeps_uses)
		return;
	struct op_use *use = use_of(x, calls, work->op);
	use->work = num_add(use->work, work->self);
	if (!use->kernels++)
		use->device = x->to->t->tracks.v[work->s->track].device;
}

/* Returns the calls of an op without a formula. */
static uint32_t calls_without_formula(struct finding *x, const struct slice *op)
{
	const struct flops none = { .lack = LACK_FORMULA };
	uint32_t calls = x->call_of[op->event];

	return calls && calls != NOT_COUNTED
	               ? calls
	               : add_call(x, op, trace_str(x->to->t, op->name), FORMULAS, &none);
}

/* Adds a copy, a memset or communication: to its calls if the file lists them and their float
 * operations are known, otherwise to the time of such work. */
static void add_moved(struct finding *x, const struct slice *s, int64_t self)
{
	uint32_t calls = x->call_of ? x->call_of[s->event] : 0;
	struct trace_ops *to = x->to;
	int64_t *time = calls != NOT_COUNTED && is_known(x, calls) ? &to->calls.v[calls - 1].device
	                                                           : &to->moved_time;

	*time = num_add(*time, self);
}

int64_t ops_count_work(struct finding *x, const struct slice *s, struct op_cell *cell, int64_t n,
        const struct event_work *facts)
{
	uint32_t calls = x->call_of ? listed_calls(x, s) : 0;
	int64_t stated = num_mul(n, facts->flops);
	struct op_calls *to;
	struct flops f;

	if (!calls)
		return stated;
	to = &x->to->calls.v[calls - 1];
	f = to->one;
	if (to->lack) {
		to->unknown = num_add_u64(to->unknown, (uint64_t)n);
		cell->uncounted += !facts->states;
		return stated;
	}
	if (to->formula == FORMULA_STATED) {
		f.recomputed = f.recomputed ? facts->flops : 0;
		f.flops = facts->flops;
	} else if (facts->states) {
		to->stated = num_add(to->stated, stated);
	}
	add_counted(x, to, cell->step, &f, n);
	return facts->states ? stated : num_mul(n, f.flops);
}

void ops_cover_work(
        struct finding *x, const struct slice *s, int64_t self, uint32_t launching, uint32_t op)
{
	struct trace_ops *to = x->to;
	struct slice by;
	uint32_t calls;

	if (s->category != CATEGORY_KERNEL && s->category != CATEGORY_OP) {
		add_moved(x, s, self);
		return;
	}
	if (x->call_of && (calls = listed_calls(x, s))) {
		to->calls.v[calls - 1].device = num_add(to->calls.v[calls - 1].device, self);
		return;
	}
	if (!x->call_of || launching == ID_NONE) {
		add_opless(x, self, op);
		return;
	}
	calls = x->decides[ops_host_index(x, trace_track_of(to->t, launching), launching)];
	if (calls & UNDECIDED) /* usually known from the event, so that the slice is not read */
		calls = x->call_of[calls & ~UNDECIDED];
	if (!calls || calls == NOT_COUNTED) {
		trace_slice(to->t, launching, &by);
		calls = calls_without_formula(x, &by);
	}
	cover(x, calls, &(struct covered_work){ s, self, op });
}

/* ---- sites ---- */

void ops_find_site_flops(struct finding *x)
{
	const struct trace *t = x->to->t;
	size_t n = t->sites.n;
	unsigned *inside = ARENA_ARRAY(x->a, n, unsigned);

	x->site_decides = ARENA_ARRAY(x->a, n, uint32_t);
	x->site_counts = ARENA_ARRAY(x->a, n, bool);
	for (uint32_t i = 0; i < n; i++) {
		const struct slice s = ops_site_slice(t, i);
		uint32_t up = t->sites.v[i].parent;
		x->site_decides[i] =
		        decides(x, calls_of(x, &s), up == ID_NONE ? 0 : x->site_decides[up]);
	}
	for (uint32_t i = (uint32_t)n; i-- > 0;) {
		const struct slice s = ops_site_slice(t, i);
		uint32_t calls = calls_of(x, &s), up = t->sites.v[i].parent;
		enum flops_class class =
		        calls ? flops_class_of(x->to->calls.v[calls - 1].formula) : CLASS_NONE;
		x->site_counts[i] = calls && (class == CLASS_NONE || inside[i] < class);
		if (x->site_counts[i] && is_known(x, calls) && class > inside[i])
			inside[i] = class;
		if (up != ID_NONE && inside[up] < inside[i])
			inside[up] = inside[i];
	}
}

void ops_count_site(struct finding *x, uint32_t site, uint32_t cell)
{
	const struct slice s = ops_site_slice(x->to->t, site);
	uint32_t calls = calls_of(x, &s);
	struct op_calls *to = &x->to->calls.v[calls - 1];
	if (to->one.lack == LACK_NOTHING)
		count_call(x, calls, cell, &to->one, 0);
	else if (!count_paged(x, calls, cell, &s))
		count_unknown(x, calls, cell);
}

void ops_cover_site(
        struct finding *x, const struct slice *s, int64_t self, uint32_t site, uint32_t op)
{
	const struct trace *t = x->to->t;
	uint32_t at = site;

	while (t->events.v[t->sites.v[at].event].category != CATEGORY_OP &&
	        t->sites.v[at].parent != ID_NONE)
		at = t->sites.v[at].parent;
	const struct slice call = ops_site_slice(t, at);
	if (s->category != CATEGORY_KERNEL) {
		x->to->moved_time = num_add(x->to->moved_time, self);
		return;
	}
	if (!x->call_of) {
		add_opless(x, self, op);
		return;
	}
	uint32_t calls = x->site_decides[site];
	cover(x, calls ? calls : calls_without_formula(x, &call),
	        &(struct covered_work){ s, self, op });
}
