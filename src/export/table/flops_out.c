/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the float operations of a trace as text and as data.
 */
#include "export/table/flops_out.h"

#include <inttypes.h>

#include "base/fmt.h"
#include "base/sort.h"
#include "export/table/coverage_out.h"
#include "export/table/table.h"
#include "trace/pass/step_time.h"

/* ---- tables ---- */

static const struct column family_columns[] = { TEXT_COLUMN("family"),
	NUMBER_COLUMN("flops", "flop"), REAL_COLUMN("share", "percent"),
	NUMBER_COLUMN("device_ns", "ns"), REAL_COLUMN("device_share", "percent"),
	NUMBER_COLUMN("flops_per_second", "flop/s"), NUMBER_COLUMN("uncounted", NULL) };
static const char *const family_titles[] = { "family", "float ops", "share", "device time", "share",
	"flop/s", "" };
static const struct column op_columns[] = { NUMBER_COLUMN("flops", "flop"),
	REAL_COLUMN("share", "percent"), NUMBER_COLUMN("calls", NULL),
	NUMBER_COLUMN("device_ns", "ns"), NUMBER_COLUMN("flops_per_second", "flop/s"),
	NUMBER_COLUMN("recomputed_flops", "flop"), NUMBER_COLUMN("bytes", "bytes"),
	NUMBER_COLUMN("stated_flops", "flop"), NUMBER_COLUMN("uncounted", NULL),
	TEXT_COLUMN("family"), TEXT_COLUMN("op") };
static const char *const op_titles[] = { "float ops", "share", "calls", "device time", "flop/s", "",
	"", "", "", "", "op" };
static const char *const stated_titles[] = { "float ops", "share", "calls", "device time", "flop/s",
	"", "", "in the file", "", "", "op" };
static const struct column lack_columns[] = { NUMBER_COLUMN("device_ns", "ns"),
	REAL_COLUMN("device_share", "percent"), NUMBER_COLUMN("calls", NULL), TEXT_COLUMN("reason"),
	NUMBER_COLUMN("input", NULL), TEXT_COLUMN("op") };
static const char *const lack_titles[] = { "device time", "share", "calls", "reason", "", "op" };
/* Titles that are used if the file has no times. */
static const char *const timeless_family_titles[] = { "family", "float ops", "share", "", "", "",
	"" };
static const char *const timeless_op_titles[] = { "float ops", "share", "calls", "", "", "", "", "",
	"", "", "op" };
static const char *const timeless_stated_titles[] = { "float ops", "share", "calls", "", "", "", "",
	"in the file", "", "", "op" };
static const char *const timeless_lack_titles[] = { "", "", "calls", "reason", "", "op" };

static bool has_compiled_ops(const struct trace *t)
{
	return t->source == TRACE_XSPACE || t->keys & ARG_BIT(ARG_OP);
}

/* Returns the heading of the numbers of calls. In an XSpace, a call of a framework op may have
 * several compiled ops, whose runs are counted. */
static const char *calls_title(const struct trace *t)
{
	return has_compiled_ops(t) ? "runs" : "calls";
}

/* Returns the titles of a table, with the heading of the column "calls" of the trace. */
static const char *const *titles_for(const struct trace *t, const char *const *titles, size_t n,
        const struct column *columns, struct arena *a)
{
	const char **made = ARENA_ARRAY(a, n, const char *);

	for (size_t i = 0; i < n; i++)
		made[i] = str_eq(columns[i].name, S("calls")) ? calls_title(t) : titles[i];
	return made;
}

static int64_t per_second(const struct flops_row *r, const struct trace *t)
{
	int64_t ns = trace_ns(t, r->device);

	return ns > 0 ? num_from_real((double)r->flops * 1e9 / (double)ns) : 0;
}

static int more_flops(const void *v, uint32_t a, uint32_t b)
{
	const struct flops_row *x = (const struct flops_row *)v + a,
	                       *y = (const struct flops_row *)v + b;

	return x->flops != y->flops ? (x->flops < y->flops ? 1 : -1)
	                            : (x->device < y->device) - (x->device > y->device);
}

static void put_flops(struct table *to, const struct flops_row *r)
{
	table_sum(to, r->missing > 0, r->flops);
	if (r->windowed)
		table_mark(to, 1, "~");
}

static void fill_families(struct table *to, const struct flops_sums *x)
{
	const struct trace *t = x->ops->t;
	const uint32_t *order = sort_order(to->a, FAMILIES, more_flops, x->families);

	for (size_t i = 0; i < FAMILIES; i++) {
		const struct flops_row *r = &x->families[order[i]];
		int64_t rate = per_second(r, t);
		if (!r->flops && !r->device)
			continue;
		table_text(to, str_of(flops_families[order[i]]));
		put_flops(to, r);
		table_number(to, table_share(r->flops, x->flops));
		table_number(to, trace_ns(t, r->device));
		table_number(to, table_share(r->device, x->all));
		table_number_if(to, rate > 0, rate);
		table_count(to, r->missing);
		to->rows++;
	}
}

static void fill_ops(struct table *to, const struct flops_sums *x)
{
	const struct trace *t = x->ops->t;
	const uint32_t *order = sort_order(to->a, x->n, more_flops, x->rows);

	for (size_t i = 0; i < x->n; i++) {
		const struct flops_row *r = &x->rows[order[i]];
		int64_t rate = per_second(r, t);
		if (r->lack || (!r->flops && !r->device && !r->stated))
			continue;
		put_flops(to, r);
		table_number(to, table_share(r->flops, x->flops));
		table_count(to, r->calls);
		table_number(to, trace_ns(t, r->device));
		table_number_if(to, rate > 0, rate);
		table_number(to, r->recomputed);
		table_number_if(to, r->bytes > 0, r->bytes);
		table_number_if(to, r->stated > 0, r->stated);
		table_count(to, r->missing);
		table_text(to, str_of(flops_families[flops_row_family(r)]));
		table_text(to, r->name);
		to->rows++;
	}
}

static void fill_lacks(struct table *to, const struct flops_sums *x)
{
	const struct trace *t = x->ops->t;
	size_t n;
	const struct flops_row *rows = flops_sums_unknown(x, &n, to->a);

	for (size_t i = 0; i < n; i++) {
		const struct flops_row *r = &rows[i];
		table_number(to, trace_ns(t, r->device));
		table_number(to, table_share(r->device, x->all));
		table_number_if(to, r->lack != LACK_OP, num_from_u64(r->calls));
		table_text(to, str_of(flops_lacks[r->lack]));
		table_number_if(to,
		        r->lack == LACK_SHAPE || r->lack == LACK_SETTING || r->lack == LACK_DATA,
		        r->input);
		table_text(to, r->name.p ? r->name : S("(no op)"));
		to->rows++;
	}
}

/* ---- utilization ----
 *
 * MFU and HFU: the time that matrix products, convolutions and attention would take at the peak
 * rates of their types, as a share of the time that the steps took. MFU leaves out what a backward
 * pass computes again.
 */

#define COVERAGE_MIN 9000 /* hundredths of a percent of the device time */

enum utilization_lack { UTILIZED, NO_DEVICE, NO_PEAK, NO_TYPE, NO_COVERAGE };

struct utilization {
	enum utilization_lack lack;
	double model, hardware;
};

/* The products and the wall time of several steps together. */
struct step_sum {
	struct step_products products;
	size_t steps;
	int64_t ticks;
};

static void add_step(struct step_sum *to, const struct trace_ops *ops,
        const struct trace_steps *steps, size_t step)
{
	const struct step_products *p = &ops->products[step];

	for (unsigned i = 0; i < NUMBER_TYPES; i++) {
		to->products.all[i] = num_add(to->products.all[i], p->all[i]);
		to->products.again[i] = num_add(to->products.again[i], p->again[i]);
	}
	to->steps++;
	to->ticks =
	        num_add(to->ticks, num_sub(steps->steps.v[step].end, steps->steps.v[step].start));
}

/* True if float operations are known for enough device time to state a utilization; without device
 * work, for all calls of the table. */
static bool is_covered(const struct flops_sums *x, const struct flops_rate *rate)
{
	bool lacks = false;

	for (size_t i = 0; i < x->n; i++)
		lacks |= x->rows[i].lack != LACK_NOTHING;
	return rate->partial || (x->all ? table_share(x->known, x->all) >= COVERAGE_MIN : !lacks);
}

static struct utilization find_utilization(
        const struct flops_sums *x, const struct flops_rate *rate, const struct step_sum *s)
{
	struct utilization u = { .lack = UTILIZED };
	double wall = (double)trace_ns(x->ops->t, s->ticks) * 1e-9 * (double)rate->devices;

	if (!rate->devices || !(wall > 0))
		return (struct utilization){ .lack = NO_DEVICE };
	if (!rate->peak && !(rate->given > 0))
		return (struct utilization){ .lack = NO_PEAK };
	if (!is_covered(x, rate))
		return (struct utilization){ .lack = NO_COVERAGE };
	for (unsigned i = 0; i < NUMBER_TYPES; i++) {
		double peak = rate->given > 0 ? rate->given : peak_flops(rate->peak, i);
		int64_t all = s->products.all[i];
		if (!all)
			continue;
		if (!(peak > 0))
			return (struct utilization){ .lack = NO_TYPE };
		u.hardware += (double)all / peak / wall;
		u.model += (double)(all - s->products.again[i]) / peak / wall;
	}
	return u;
}

/* Returns the utilization of the steps that count in averages, as in the step time. */
static struct utilization utilization_of_all(
        const struct flops_sums *x, const struct flops_rate *rate)
{
	struct step_sum all = { .steps = 0 };

	for (size_t i = 0; x->ops->products && i < rate->steps->steps.n; i++)
		if (trace_step_counts(rate->steps, i))
			add_step(&all, x->ops, rate->steps, i);
	return find_utilization(x, rate, &all);
}

/* Appends the time with which the products are compared. */
static void put_wall(struct sb *b, const struct flops_rate *rate)
{
	bool whole = rate->steps && rate->steps->by == STEPS_UNKNOWN;
	sb_put(b, whole ? S(",\nas a share of the wall time of the whole trace, which marks no "
	                    "steps")
	                : S(",\nas a share of the wall time of the steps"));
	if (rate->steps && trace_steps_counted(rate->steps) < rate->steps->steps.n)
		sb_fmt(b, " with device work (%zu of %zu)", trace_steps_counted(rate->steps),
		        rate->steps->steps.n);
	if (rate->devices > 1)
		sb_fmt(b, " on %zu devices", rate->devices);
}

static void put_mfu(struct sb *b, const struct utilization *u,
        const struct flops_coverage *coverage, const struct flops_rate *rate)
{
	sb_fmt(b, "MFU %.1f%%", u->model * 100);
	if (u->hardware > u->model)
		sb_fmt(b, ", HFU %.1f%%", u->hardware * 100);
	if (coverage->all_ns) {
		sb_put(b, S(", "));
		coverage_put_share(b, coverage);
	}
	sb_put(b, S(":\nproducts at the "));
	if (rate->given > 0)
		sb_put(b, S("given peak"));
	else
		sb_fmt(b, "dense peaks of %s", rate->peak->name);
	put_wall(b, rate);
	if (!(rate->given > 0))
		sb_fmt(b, "\n(peaks: %s)", rate->peak->source);
	if (u->model > 1)
		sb_put(b, S("\nAbove 100%: the device is faster than this peak"));
}

/* Appends the reason why a file has no MFU; nothing if it has no device work or an MFU. */
static void put_no_mfu(struct sb *b, enum utilization_lack lack, const struct flops_sums *x,
        const struct flops_rate *rate)
{
	switch (lack) {
	case NO_PEAK:
		sb_put(b, S("No MFU: "));
		if (rate->model.n) {
			sb_put(b, S("the peak of '"));
			sb_put_name(b, rate->model);
			sb_put(b, S("' is not known; give it"));
		} else {
			sb_put(b, S("the file does not name the device; give its peak"));
		}
		sb_fmt(b, ", such as --peak-flops=100T%s", is_covered(x, rate) ? "" : " --partial");
		break;
	case NO_TYPE: sb_put(b, S("No MFU: the file lacks types of inputs")); break;
	case NO_COVERAGE:
		sb_put(b, x->all ? S("No MFU below 90% of the device time; --partial prints it")
		                 : S("No MFU, because some calls are not counted; --partial "
		                     "prints it"));
		break;
	case UTILIZED:
	case NO_DEVICE: break;
	}
}

/* ---- steps ---- */

static const struct column step_columns[] = { NUMBER_COLUMN("step", NULL), TEXT_COLUMN("phase"),
	NUMBER_COLUMN("steps", NULL), NUMBER_COLUMN("duration_ns", "ns"),
	NUMBER_COLUMN("product_flops", "flop"), REAL_COLUMN("mfu", "fraction"),
	REAL_COLUMN("hfu", "fraction") };
static const char *const step_titles[] = { "step", "phase", "", "step time", "products", "MFU",
	"HFU" };
static const char *const phase_titles[] = { "", "phase", "steps", "time", "products", "MFU",
	"HFU" };

/* True if calls of matrix products, convolutions or attention are not counted. */
static bool lacks_products(const struct flops_sums *x)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct flops_row *r = &x->rows[i];
		if (r->lack && r->calls && r->formula != FORMULAS &&
		        flops_class_of(r->formula) == CLASS_MATRIX)
			return true;
	}
	return false;
}

/* Appends a row for one step or several. id: id of the step; -1: several. phase: -1 if the steps
 * have no phase. */
static void put_steps(struct table *to, const struct flops_sums *x, const struct flops_rate *rate,
        const struct step_sum *s, int64_t id, int phase)
{
	const struct utilization u = find_utilization(x, rate, s);
	bool known = u.lack == UTILIZED;
	int64_t products = 0;

	for (unsigned i = 0; i < NUMBER_TYPES; i++)
		products = num_add(products, s->products.all[i]);
	table_number_if(to, id >= 0, id);
	table_text_if(to, phase >= 0, phase >= 0 ? str_of(serving_phases[phase]) : STR_NONE);
	table_count(to, s->steps);
	table_number(to, trace_ns(x->ops->t, s->ticks));
	table_sum(to, lacks_products(x) && (products || !known), products);
	table_fraction_if(to, known, num_from_real(u.model * 1e4 + 0.5));
	table_fraction_if(to, known, num_from_real(u.hardware * 1e4 + 0.5));
	to->rows++;
}

/* Adds the steps and, for steps of a server, their sums by phase. */
static void fill_steps(struct table *steps, struct table *phases, const struct flops_sums *x,
        const struct flops_rate *rate)
{
	struct step_sum sums[PHASE_N] = { { .steps = 0 } };

	for (size_t i = 0; x->ops->products && i < rate->steps->steps.n; i++) {
		const struct trace_step *step = &rate->steps->steps.v[i];
		struct step_sum one = { .steps = 0 };
		struct serving_step served;
		bool serves = rate->steps->by == STEPS_BY_SERVING &&
		              serving_parse(trace_str(x->ops->t, step->name), &served);
		add_step(&one, x->ops, rate->steps, i);
		put_steps(steps, x, rate, &one, step->id, serves ? (int)served.phase : -1);
		if (serves)
			add_step(&sums[served.phase], x->ops, rate->steps, i);
	}
	for (int i = 0; i < PHASE_N; i++)
		if (sums[i].steps)
			put_steps(phases, x, rate, &sums[i], -1, i);
}

/* ---- the answer ---- */

struct flops_shown {
	const struct flops_sums *sums;
	const struct flops_coverage *coverage;
	const struct flops_rate *rate;
};

static void put_members(struct document *d, const void *user)
{
	const struct flops_shown *shown = user;
	const struct flops_sums *x = shown->sums;

	document_i64(d, "flops", x->flops);
	document_i64(d, "recomputed_flops", x->recomputed);
	document_i64(d, "bytes", x->bytes);
	if (x->stated)
		document_i64(d, "stated_flops", x->stated);
	if (x->ops->idle_nodes)
		document_i64(d, "not_run_flops", x->ops->idle_flops);
	if (x->paged) {
		document_i64(d, "paged_flops", x->paged);
		document_i64(d, "upper_bound_flops", x->windowed);
	}
	document_i64(d, "steps", num_from_u64(shown->rate->n));
	coverage_members(d, shown->coverage);
	document_i64(d, "inferred_calls", num_from_u64(x->inferred));
	if (shown->rate->peak && !(shown->rate->given > 0))
		document_text(d, "peak_device", str_of(shown->rate->peak->name));
	const struct utilization u = utilization_of_all(x, shown->rate);
	if (u.lack == UTILIZED) {
		coverage_member(d, "mfu", u.model);
		coverage_member(d, "hfu", u.hardware);
	}
}

/* States the assumptions about attention over a paged cache. */
static void put_windows(struct sb *b, const struct flops_sums *x)
{
	if (x->paged)
		sb_put(b, S("\nPaged attention is counted over all previous tokens: the file would "
		            "not state a window"));
	for (size_t i = 0; i < x->n; i++)
		if (x->rows[i].windowed) {
			sb_char(b, '\n');
			coverage_put_window(b, x->rows[i].name);
		}
}

/* Appends the float operations that the file states, unless the answer already shows the same text
 * for the computed ones. */
static void put_stated(struct sb *b, const struct flops_sums *x)
{
	struct sb computed = sb_in(b->a), stated = sb_in(b->a);

	fmt_si(&computed, (double)x->flops);
	fmt_si(&stated, (double)x->stated);
	if (!x->stated || str_eq(sb_str(&computed), sb_str(&stated)))
		return;
	sb_fmt(b, "\nThe file itself states %.*s for these calls, which other commands show",
	        STR(sb_str(&stated)));
}

/* Appends what the nodes of a graph that the steps did not execute would count. */
static void put_idle(struct sb *b, const struct trace_ops *ops)
{
	if (!ops->idle_flops)
		return;
	sb_put(b, S("\nNot included: "));
	fmt_si(b, (double)ops->idle_flops);
	sb_fmt(b, " of %" PRIu64 " node%s without an execution in the steps", ops->idle_nodes,
	        ops->idle_nodes == 1 ? "" : "s");
}

static struct str lead_of(const struct flops_sums *x, const struct flops_coverage *coverage,
        const struct flops_rate *rate, struct arena *a)
{
	const struct trace *t = x->ops->t;
	struct sb b = sb_in(a);
	size_t steps = rate->n;

	sb_put(&b, S("Float operations: "));
	if (coverage->uncounted && !x->flops) {
		sb_char(&b, '?');
	} else {
		if (x->windowed)
			sb_put(&b, S("~"));
		else if (coverage->uncounted || num_stopped(x->flops))
			sb_put(&b, S("≥"));
		fmt_si(&b, (double)x->flops);
	}
	if (steps > 1 && x->flops) {
		sb_put(&b, S(" ("));
		fmt_si(&b, (double)x->flops / (double)steps);
		sb_fmt(&b, " per step, the mean of %zu steps)", steps);
	}
	if (x->recomputed) {
		sb_put(&b, S("; of these, repeated in backward passes: "));
		fmt_si(&b, (double)x->recomputed);
	}
	put_stated(&b, x);
	put_idle(&b, x->ops);
	if (x->all) {
		sb_put(&b, S("\nThey are "));
		coverage_put_share(&b, coverage);
		sb_put(&b, S(": "));
		table_put_time(&b, trace_ns(t, x->known));
		sb_put(&b, S(" of "));
		table_put_time(&b, trace_ns(t, x->all));
	}
	if (has_compiled_ops(t) && x->n)
		sb_put(&b, S("\nRuns are those of compiled ops; other commands count calls of "
		             "framework ops"));
	if (x->inferred)
		sb_fmt(&b,
		        "\nEstimated for %" PRIu64
		        " call%s: the output is assumed to have the shape that the next op reads",
		        x->inferred, x->inferred == 1 ? "" : "s");
	put_windows(&b, x);
	const struct utilization u = utilization_of_all(x, rate);
	if (u.lack != NO_DEVICE)
		sb_char(&b, '\n');
	if (u.lack == UTILIZED)
		put_mfu(&b, &u, coverage, rate);
	put_no_mfu(&b, u.lack, x, rate);
	sb_put(&b, S("\n\n"));
	return sb_str(&b);
}

bool flops_write(const struct trace_ops *ops, const struct flops_rate *rate, size_t top,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e)
{
	struct flops_sums sums;
	struct table families = { .a = to->a,
		.key = "families",
		.command = "flops",
		TABLE_COLUMNS(family_columns, family_titles) };
	struct table rows = { .a = to->a, .key = "ops", .title = "Ops" };
	struct table lacks = { .a = to->a,
		.key = "uncounted",
		.title = "Not counted",
		TABLE_COLUMNS(lack_columns, lack_titles) };
	struct table steps = { .a = to->a,
		.key = "by_step",
		.title = "Steps",
		.data_only = rate->n < 2,
		TABLE_COLUMNS(step_columns, step_titles) };
	struct table phases = { .a = to->a,
		.key = "by_phase",
		.title = "Phases",
		TABLE_COLUMNS(step_columns, phase_titles) };
	bool data = out_is_data(o->output.kind);

	flops_sums_find(&sums, ops, to->a);
	rows.columns = op_columns;
	rows.titles = sums.stated ? stated_titles : op_titles;
	if (!sums.all) {
		families.titles = timeless_family_titles;
		rows.titles = sums.stated ? timeless_stated_titles : timeless_op_titles;
		lacks.titles = timeless_lack_titles;
	}
	rows.n_columns = sizeof op_columns / sizeof *op_columns;
	rows.titles = titles_for(ops->t, rows.titles, rows.n_columns, rows.columns, to->a);
	lacks.titles = titles_for(ops->t, lacks.titles, lacks.n_columns, lacks.columns, to->a);
	const struct flops_shown shown = { &sums, flops_coverage_of(&sums, to->a), rate };
	fill_families(&families, &sums);
	fill_ops(&rows, &sums);
	fill_lacks(&lacks, &sums);
	fill_steps(&steps, &phases, &sums, rate);
	/* in data, rows are ops; text begins with the families */
	struct table *first = data ? &rows : &families;
	const struct table sections[] = { data ? families : rows, lacks, phases, steps };
	first->schema = "tfprof/flops";
	first->version = 4;
	first->lead = lead_of(&sums, shown.coverage, rate, to->a);
	first->sections = sections;
	first->n_sections = sizeof sections / sizeof *sections;
	first->members = put_members;
	first->user = &shown;
	return table_write(first, top, &o->output, columns, to, e);
}

/* ---- ranks ---- */

static const struct column rank_columns[] = { NUMBER_COLUMN("flops", "flop"),
	REAL_COLUMN("coverage", "fraction"), NUMBER_COLUMN("duration_ns", "ns"),
	REAL_COLUMN("mfu", "fraction"), REAL_COLUMN("hfu", "fraction"), TEXT_COLUMN("worker") };
static const char *const rank_titles[] = { "float ops", "known", "time", "MFU", "HFU", "worker" };

/* MFU of ranks: the mean of all known values, and the worst value; or why there is none. */
struct rank_mfu {
	size_t known, worst;
	double sum, least;
	struct str reason; /* why the first rank has no MFU */
	bool several;      /* true: other ranks have none for other reasons */
};

static void put_rank(
        struct table *to, const struct flops_rank *r, size_t index, struct rank_mfu *all)
{
	struct flops_sums sums;

	flops_sums_find(&sums, &r->ops, to->a);
	const struct utilization u = utilization_of_all(&sums, &r->rate);
	bool known = u.lack == UTILIZED;
	table_sum(to, flops_coverage_of(&sums, to->a)->uncounted > 0, sums.flops);
	table_fraction_if(to, sums.all > 0, table_share(sums.known, sums.all));
	table_number(to, trace_ns(r->ops.t, step_time_sum(r->rate.steps)));
	table_fraction_if(to, known, num_from_real(u.model * 1e4 + 0.5));
	table_fraction_if(to, known, num_from_real(u.hardware * 1e4 + 0.5));
	table_text(to, r->name);
	to->rows++;
	if (!known) {
		struct sb reason = sb_in(to->a);
		put_no_mfu(&reason, u.lack, &sums, &r->rate);
		all->several |= index && !str_eq(sb_str(&reason), all->reason);
		all->reason = sb_str(&reason);
		return;
	}
	if (!all->known++ || u.model < all->least) {
		all->least = u.model;
		all->worst = index;
	}
	all->sum += u.model;
}

struct ranks_shown {
	const struct flops_rank *v;
	struct rank_mfu mfu;
};

static void put_rank_members(struct document *d, const void *user)
{
	const struct ranks_shown *x = user;

	if (!x->mfu.known)
		return;
	coverage_member(d, "mean_mfu", x->mfu.sum / (double)x->mfu.known);
	coverage_member(d, "worst_mfu", x->mfu.least);
	document_text(d, "worst", x->v[x->mfu.worst].name);
}

bool flops_write_ranks(const struct flops_rank *v, size_t n, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e)
{
	struct ranks_shown shown = { .v = v };
	struct table x = { .a = to->a,
		.key = "ranks",
		.schema = "tfprof/flops-ranks",
		.version = 3,
		.members = put_rank_members,
		.user = &shown,
		TABLE_COLUMNS(rank_columns, rank_titles) };
	struct sb lead = sb_in(to->a);

	for (size_t i = 0; i < n; i++)
		put_rank(&x, &v[i], i, &shown.mfu);
	if (shown.mfu.known)
		sb_fmt(&lead,
		        "MFU: mean %.1f%%, worst %.1f%% (%.*s): products at the dense peaks of "
		        "the\n"
		        "devices, as a share of the wall time of the steps\n\n",
		        100 * shown.mfu.sum / (double)shown.mfu.known, 100 * shown.mfu.least,
		        STR(v[shown.mfu.worst].name));
	else
		sb_fmt(&lead, "%.*s\n\n",
		        STR(shown.mfu.several || !shown.mfu.reason.n
		                        ? S("No MFU: read one of the files alone for the reason")
		                        : shown.mfu.reason));
	x.lead = sb_str(&lead);
	return table_write(&x, top, &o->output, columns, to, e);
}

/* ---- one op ---- */

/* Appends the formula of a call with its numbers: "2 * 141 * 512 * 512". */
static void explain_numbers(
        const struct trace *t, const struct slice *s, const struct op_calls *c, struct sb *to)
{
	enum flops_formula formula;

	if (c->formula == FORMULA_STATED || c->from_file) {
		sb_put(to, S("as the file states"));
	} else if (c->list.n) {
		flops_of_list(c->list, to, &formula);
	} else {
		struct op_call call = flops_read_call(flops_find_op(c->name), c->name,
		        slice_text(t, s, ARG_SHAPES), slice_text(t, s, ARG_DTYPES),
		        slice_text(t, s, ARG_VALUES));
		call.explain = to;
		flops_of_call(&call);
	}
}

/* Appends "3 calls of 73924608: 2 * 141 * 512 * 512", or the reason why a call is not counted. */
static void explain_calls(const struct trace_ops *ops, const struct op_calls *c, struct sb *to)
{
	const struct trace *t = ops->t;
	const struct slice s = { .event = c->event };
	struct sb numbers = sb_in(to->a);

	if (c->lack || c->formula == FORMULAS) {
		sb_fmt(to, "%" PRIu64 " not counted: %s", c->unknown, flops_lacks[c->lack]);
		if (c->lack == LACK_SHAPE || c->lack == LACK_SETTING || c->lack == LACK_DATA)
			sb_fmt(to, ", input %u", c->input);
		return;
	}
	explain_numbers(t, &s, c, &numbers);
	if (c->inferred)
		sb_fmt(to,
		        "%" PRIu64 " of %" PRId64 " in all; estimated: the output is assumed to "
		        "have the shape that the next op reads",
		        c->calls, c->flops);
	else
		sb_fmt(to, "%" PRIu64 " of %" PRId64 "%s%.*s", c->calls, c->one.flops,
		        numbers.n ? " = " : "", STR(sb_str(&numbers)));
	if (!c->inferred && c->stated && c->stated != c->flops)
		sb_fmt(to, "; the file states %" PRId64 " in all", c->stated);
}

/* Writes a line after `blanks` blanks, wrapped on a terminal. */
static void put_explained(struct sink *to, struct str line, unsigned columns, size_t blanks)
{
	for (size_t i = 0; i < blanks; i++)
		sink_char(to, ' ');
	if (columns) {
		sink_wrap(to, line, columns, blanks);
	} else {
		sink_put(to, line);
		sink_char(to, '\n');
	}
}

/* Orders calls by their float operations, most first. */
static int most_flops(const void *v, uint32_t a, uint32_t b)
{
	const struct op_calls *x = (const struct op_calls *)v + a,
	                      *y = (const struct op_calls *)v + b;

	return (x->flops < y->flops) - (x->flops > y->flops);
}

bool flops_explain(const struct trace_ops *ops, struct str op, size_t top, unsigned columns,
        struct sink *to, struct arena *a)
{
	const uint32_t *order = sort_order(a, ops->calls.n, most_flops, ops->calls.v);
	struct sb line = sb_in(a);
	size_t n = 0;

	for (size_t i = 0; i < ops->calls.n; i++) {
		const struct op_calls *c = &ops->calls.v[order[i]];
		if (!str_eq(c->name, op) || !(c->calls + c->unknown))
			continue;
		if (!n++ && c->formula != FORMULAS)
			put_explained(to,
			        str_fmt(a, "%.*s: %s", STR(op), flops_formulas[c->formula]),
			        columns, 0);
		if (top && n > top)
			continue;
		line.n = 0;
		explain_calls(ops, c, &line);
		put_explained(to, sb_str(&line), columns, 2);
	}
	if (top && n > top)
		sink_fmt(to, "  (%zu more with other inputs)\n", n - top);
	return n > 0;
}
