/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of checkers. They read the model and results of views, and print nothing.
 */
#include "base/fmt.h"
#include "view/advise.h"
#include "view/facts.h"

#define TOP        3    /* number of entries that a list names */
#define MIN_MICROS 1000 /* microseconds; minimum for naming a line of code */
#define LEVELS     4    /* number of levels of code below the first line that branches */

struct checker {
	const char *name;
	bool (*run)(struct advise *ask, struct strs *reports, struct err *e);
};

/* ---- AcceleratorUtilizationChecker ---- */

struct busy {
	int64_t start, end; /* microseconds */
	int64_t ticks;      /* in units of 1 / model_ticks microseconds */
};

/* Adds the work of cell c on its node's device. */
static void add_cell(const struct model *m, const struct step *s, uint32_t c, struct busy *b)
{
	struct tally t = { 0 };
	int64_t start = s->cell_start[c] ? num_add(s->base_us, step_us(s, s->cell_start[c])) : 0;
	int64_t end = num_add(s->base_us, step_us(s, s->cell_end[c]));

	if (b->start == 0 || (start != 0 && start < b->start))
		b->start = start;
	if (end > b->end)
		b->end = end;
	step_tally(s, c, model_ticks(m), &t);
	b->ticks = num_add(b->ticks, t.v[V_ACCELERATOR_MICROS]);
}

/* Sums by device the last step of each node on an accelerator. */
static struct busy *add_devices(const struct model *m, struct arena *a)
{
	struct busy *busy = ARENA_ARRAY(a, m->devices.n, struct busy);
	bool *seen = ARENA_ARRAY(a, m->nodes.n, bool);

	for (size_t i = m->steps.n; i-- > 0;) {
		const struct step *s = m->steps.v[i];
		bool untimed = step_is_untimed(s); /* the idle time of the devices is unknown */
		for (uint32_t c = 0; c < s->n_cells; c++) {
			uint32_t node = s->cell_node[c], device = m->nodes.v[node].device;
			if (!seen[node] && !untimed && device != ID_NONE &&
			        (m->devices.v[device].kind & DEVICE_GPU))
				add_cell(m, s, c, &busy[device]);
			seen[node] = true;
		}
	}
	return busy;
}

/* Quirk 25: a third and a fifth of the time have the same sentence. */
static void put_utilization(
        struct advise *ask, struct strs *reports, struct str device, double share)
{
	struct sb text = sb_in(ask->a);

	sb_put(&text, S("device: "));
	sb_put(&text, device);
	sb_put(&text, share >= 0.5 ? S(" utilization: ") : S(" low utilization: "));
	fmt_fixed2(&text, share);
	strs_add(ask->a, reports, sb_str(&text));
}

/* Checks the devices of traces: the share of the time in which something ran, as in summary. */
static void check_busy(struct advise *ask, struct strs *reports)
{
	struct facts *f = ARENA_NEW(ask->a, struct facts);

	facts_find(ask->m, NULL, NULL, f, ask->a);
	for (size_t i = 0; i < f->devices.n; i++) {
		const struct device_summary *d = &f->devices.v[i];
		if (!d->host && d->window > 0)
			put_utilization(ask, reports, d->name, (double)d->busy / (double)d->window);
	}
}

static bool check_utilization(struct advise *ask, struct strs *reports, struct err *e)
{
	const struct model *m = ask->m;
	struct busy *busy = add_devices(m, ask->a);
	uint32_t *order = ARENA_ARRAY(ask->a, m->devices.n, uint32_t);

	(void)e;
	if (m->traces.n) {
		check_busy(ask, reports);
		return true;
	}
	for (uint32_t i = 0; i < m->devices.n; i++)
		order[i] = i;
	model_sort_devices(m, order, m->devices.n, ask->a);
	for (size_t i = 0; i < m->devices.n; i++) {
		const struct busy *b = &busy[order[i]];
		int64_t total;
		if (__builtin_sub_overflow(b->end, b->start, &total) || total <= 0)
			continue;
		put_utilization(ask, reports, device_name(m, order[i]),
		        (double)b->ticks / (double)model_ticks(m) / (double)total);
	}
	return true;
}

/* ---- OperationChecker ---- */

/* Quirk 27: FusedBatchNormV2 and V3 are not recognised. */
static bool check_operations(struct advise *ask, struct strs *reports, struct err *e)
{
	const struct model *m = ask->m;
	bool norm = false, fused = false, nhwc = false;
	uint32_t fused_type = intern_find(&m->strings, S("FusedBatchNorm"));

	(void)e;
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.v[i];
		norm = norm || str_contains(node_name(m, i), S("BatchNorm"));
		nhwc |= (n->flags & NODE_NHWC) && n->device != ID_NONE &&
		        (m->devices.v[n->device].kind & DEVICE_GPU);
	}
	for (size_t i = 0; i < m->types.n; i++)
		fused |= m->types.v[i] == fused_type;
	if (norm && !fused)
		strs_add(
		        ask->a, reports, S("Maybe use faster FusedBatchNorm instead of BatchNorm"));
	if (nhwc)
		strs_add(ask->a, reports,
		        S("Found operation using NHWC data_format on GPU. Maybe NCHW is faster."));
	return true;
}

/* ---- ExpensiveOperationChecker ---- */

/* Runs a view over the average of all steps, most expensive first. */
static bool ask_view(struct advise *ask, enum vk kind, int32_t depth, int64_t micros,
        struct result *r, struct err *e)
{
	struct opts *o = ARENA_NEW(ask->a, struct opts);
	struct query *q = ARENA_NEW(ask->a, struct query);

	opts_preset(o, ask->a);
	o->max_depth = depth;
	o->min[M_MICROS] = ask->m->parallel_times ? 0 : micros;
	o->order = (struct order){ .word = S("micros"), .by = view_time_metric(ask->m) };
	o->step = -1;
	o->output.kind = OUT_NONE;
	*q = (struct query){ .m = ask->m, .o = o, .a = ask->a, .notes = ask->notes };
	q->tree = ask->tree(ask->user, kind);
	q->tallies = ask->tallies;
	bool ok = view_run(&views[kind], q, r, e);
	ask->tallies = q->tallies;
	return ok;
}

/* Appends a part such as ", device: 3.19ms (81.28%)". */
static void put_side(struct sb *b, const struct result *r, const struct tally *t, enum value of)
{
	sb_put(b, of == V_CPU_MICROS ? S(", host: ") : S(", device: "));
	fmt_fraction(b, QUANTITY_TIME, view_value(r->q, t, of));
	advise_put_share(b, t->v[of], r->root.v[of]);
}

static void put_times(struct sb *b, const struct query *q, const struct tally *t)
{
	sb_put(b, S(", cpu: "));
	fmt_fraction(b, QUANTITY_TIME, view_value(q, t, V_CPU_MICROS));
	sb_put(b, S(", accelerator: "));
	fmt_fraction(b, QUANTITY_TIME, view_value(q, t, V_ACCELERATOR_MICROS));
	sb_put(b, S(", total: "));
	fmt_fraction(b, QUANTITY_TIME, view_value(q, t, V_MICROS));
}

static void put_entry(struct sb *b, const struct result *r, uint32_t i, const struct tally *t)
{
	sb_put(b, view_name(r->q, r->shown[i].kept));
	if (r->q->m->parallel_times) {
		put_side(b, r, t, V_ACCELERATOR_MICROS);
		put_side(b, r, t, V_CPU_MICROS);
	} else {
		put_times(b, r->q, t);
	}
}

static bool check_types(struct advise *ask, struct strs *reports, struct err *e)
{
	struct sb b = sb_in(ask->a);
	struct result r;

	if (ask->m->steps.n == 0) {
		note_line(ask->notes, "Missing run_meta for ExpensiveOperationChecker\n");
		return true;
	}
	if (!ask_view(ask, VK_OP, 3, 1, &r, e))
		return false;
	for (uint32_t i = 0; i < r.n && i < TOP; i++) {
		const struct tally *t = r.shown[i].self;
		sb_fmt(&b, "%stop %u operation type: ", i ? "\n" : "", i + 1);
		put_entry(&b, &r, i, t);
		if (ask->m->parallel_times)
			continue;
		sb_put(&b, S(" ("));
		fmt_fixed2(
		        &b, 100.0 * (double)t->v[V_MICROS] / ((double)r.root.v[V_MICROS] + 1e-10));
		sb_put(&b, S("%)"));
	}
	if (r.n)
		strs_add(ask->a, reports, sb_str(&b));
	return true;
}

/* Quirk 26: scopes are selected by their totals and shown with their own times, mostly 0. Traces
 * and recordings have the lists of HottestChecker instead. */
static bool check_scopes(struct advise *ask, struct strs *reports, struct err *e)
{
	struct sb b = sb_in(ask->a);
	struct result r;
	uint32_t n = 0;

	if (ask->m->parallel_times)
		return true;
	if (!ask_view(ask, VK_SCOPE, 100, 100, &r, e))
		return false;
	for (uint32_t i = 1; i < r.n && n < TOP; i = r.shown[i].end) {
		if (ask->no_zeros && !r.shown[i].self->v[V_MICROS])
			continue;
		sb_fmt(&b, "%stop %u graph node: ", n ? "\n" : "", n + 1);
		put_entry(&b, &r, i, r.shown[i].self);
		n++;
	}
	if (n)
		strs_add(ask->a, reports, sb_str(&b));
	return true;
}

/* Returns the time in microseconds. If threads and devices run at the same time, returns the longer
 * time. */
static double largest_time(const struct result *r, const struct tally *t)
{
	double device = fraction_real(view_value(r->q, t, V_ACCELERATOR_MICROS)),
	       host = fraction_real(view_value(r->q, t, V_CPU_MICROS));

	if (!r->q->m->parallel_times)
		return fraction_real(view_value(r->q, t, V_MICROS));
	return device > host ? device : host;
}

/* Writes the lines below entry `at`, which is on level `level`: the first few children with a cost,
 * each followed by its own children. Recursion is at most LEVELS deep. */
static void put_lines(struct sb *b, const struct result *r, uint32_t at, uint32_t level)
{
	const struct entry *x = &r->shown[at];
	uint32_t n = 0;

	if (level >= LEVELS || x->end == at + 1 || r->shown[at + 1].end == x->end)
		return; /* too deep, no child, or one child */
	for (uint32_t i = at + 1; i < x->end && n < TOP; i = r->shown[i].end, n++) {
		if (largest_time(r, r->shown[i].total) < MIN_MICROS)
			continue;
		if (b->n)
			sb_char(b, '\n');
		sb_repeat(b, ' ', (size_t)2 * level);
		put_entry(b, r, i, r->shown[i].total);
		put_lines(b, r, i, level + 1);
	}
}

static bool check_code(struct advise *ask, struct strs *reports, struct err *e)
{
	struct sb b = sb_in(ask->a);
	struct result r;
	uint32_t at = 0;

	if (!ask->m->has_traces && ask->m->traces.n)
		return true; /* an op log would not help */
	if (!ask->m->has_traces) {
		note_line(
		        ask->notes, "Missing op_log (code traces) for ExpensiveOperationChecker\n");
		return true;
	}
	if (!ask_view(ask, VK_CODE, 100, 1, &r, e))
		return false;
	while (at + 1 < r.shown[at].end && r.shown[at + 1].end == r.shown[at].end)
		at++; /* an only child */
	if (at + 1 == r.shown[at].end)
		return true;
	put_lines(&b, &r, at, 0);
	strs_add(ask->a, reports, sb_str(&b));
	return true;
}

static bool check_expensive(struct advise *ask, struct strs *reports, struct err *e)
{
	if (ask->m->steps.n == 0)
		note_line(ask->notes, "Missing RunMetadata info. Skip ExpensiveOperationChecker\n");
	return check_types(ask, reports, e) && check_scopes(ask, reports, e) &&
	       check_code(ask, reports, e);
}

/* ---- extensions ---- */

/* Reports about all entries of a view, if there are steps. */
static bool check_view(struct advise *ask, enum vk kind,
        void (*report)(struct advise *, const struct result *, struct strs *), struct strs *reports,
        struct err *e)
{
	struct result r;

	if (!ask->m->steps.n)
		return true;
	if (!ask_view(ask, kind, INT32_MAX, 1, &r, e))
		return false;
	report(ask, &r, reports);
	return true;
}

static bool check_hottest(struct advise *ask, struct strs *reports, struct err *e)
{
	return check_view(ask, VK_SCOPE, advise_hottest, reports, e);
}

static bool check_inputs(struct advise *ask, struct strs *reports, struct err *e)
{
	return check_view(ask, VK_OP, advise_inputs, reports, e);
}

static bool check_slowest_step(struct advise *ask, struct strs *reports, struct err *e)
{
	(void)e;
	advise_slowest(ask, reports);
	return true;
}

/* ---- running the checkers ---- */

static const struct checker checkers[CHECK_N] = {
	[CHECK_ACCELERATOR_UTILIZATION] = { "AcceleratorUtilizationChecker", check_utilization },
	[CHECK_OPERATION] = { "OperationChecker", check_operations },
	[CHECK_EXPENSIVE_OPERATION] = { "ExpensiveOperationChecker", check_expensive },
	[CHECK_INPUT_PIPELINE] = { "InputPipelineChecker", check_inputs },
	[CHECK_HOTTEST] = { "HottestChecker", check_hottest },
	[CHECK_SLOWEST_STEP] = { "SlowestStepChecker", check_slowest_step },
};

const char *advise_name(enum checker_id id)
{
	return checkers[id].name;
}

unsigned advise_find(struct str name)
{
	for (enum checker_id i = 0; i < CHECK_N; i++)
		if (str_eq(name, str_of(checkers[i].name)))
			return CHECK_BIT(i);
	return 0;
}

bool advise_run(struct advise *ask, struct advice *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	ask->rows = ask->rows ? ask->rows : ADVISE_ROWS;
	for (enum checker_id i = 0; i < CHECK_N; i++) {
		out->asked[i] = (ask->checkers & CHECK_BIT(i)) != 0;
		if (out->asked[i] && !checkers[i].run(ask, &out->reports[i], e))
			return false;
	}
	return true;
}
