/* SPDX-License-Identifier: Apache-2.0
 *
 * See flops_out.h.
 */
#include "export/table/flops_out.h"

#include <inttypes.h>

#include "base/fmt.h"
#include "base/sort.h"
#include "export/table/coverage_out.h"
#include "export/table/table.h"

/* ---- tables ---- */

static const struct column family_columns[] = { TEXT_COLUMN("family"),
	NUMBER_COLUMN("flops", "flop"), { S("share"), COLUMN_REAL, "percent" },
	NUMBER_COLUMN("device_ns", "ns"), { S("device_share"), COLUMN_REAL, "percent" },
	NUMBER_COLUMN("flops_per_second", "flop/s") };
static const char *const family_titles[] = { "family", "float ops", "share", "device time", "share",
	"flop/s" };
static const struct column op_columns[] = { NUMBER_COLUMN("flops", "flop"),
	{ S("share"), COLUMN_REAL, "percent" }, NUMBER_COLUMN("calls", NULL),
	NUMBER_COLUMN("device_ns", "ns"), NUMBER_COLUMN("flops_per_second", "flop/s"),
	NUMBER_COLUMN("recomputed_flops", "flop"), NUMBER_COLUMN("bytes", "bytes"),
	TEXT_COLUMN("family"), TEXT_COLUMN("op") };
static const char *const op_titles[] = { "float ops", "share", "calls", "device time", "flop/s", "",
	"", "", "op" };
static const struct column lack_columns[] = { NUMBER_COLUMN("device_ns", "ns"),
	{ S("device_share"), COLUMN_REAL, "percent" }, NUMBER_COLUMN("calls", NULL),
	TEXT_COLUMN("reason"), NUMBER_COLUMN("input", NULL), TEXT_COLUMN("op") };
static const char *const lack_titles[] = { "device time", "share", "calls", "reason", "", "op" };

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
		table_number(to, r->flops);
		table_number(to, table_share(r->flops, x->flops));
		table_number(to, trace_ns(t, r->device));
		table_number(to, table_share(r->device, x->all));
		table_number_if(to, rate > 0, rate);
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
		if (r->lack || (!r->flops && !r->device))
			continue;
		table_number(to, r->flops);
		table_number(to, table_share(r->flops, x->flops));
		table_count(to, r->calls);
		table_number(to, trace_ns(t, r->device));
		table_number_if(to, rate > 0, rate);
		table_number(to, r->recomputed);
		table_number_if(to, r->bytes > 0, r->bytes);
		table_text(to, str_of(flops_families[flops_row_family(r)]));
		table_text(to, trace_str(t, r->name));
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
		table_count(to, r->calls);
		table_text(to, str_of(flops_lacks[r->lack]));
		table_number_if(to,
		        r->lack == LACK_SHAPE || r->lack == LACK_SETTING || r->lack == LACK_DATA,
		        r->input);
		table_text(to, r->name == ID_NONE ? S("(no op)") : trace_str(t, r->name));
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

static struct utilization find_utilization(
        const struct flops_sums *x, const struct flops_rate *rate)
{
	struct utilization u = { .lack = UTILIZED };
	double wall = (double)rate->ns * 1e-9 * (double)rate->devices;

	if (!rate->devices || rate->ns <= 0)
		return (struct utilization){ .lack = NO_DEVICE };
	if (!rate->peak && !(rate->given > 0))
		return (struct utilization){ .lack = NO_PEAK };
	if (!rate->partial && table_share(x->known, x->all) < COVERAGE_MIN)
		return (struct utilization){ .lack = NO_COVERAGE };
	for (unsigned i = 0; i < NUMBER_TYPES; i++) {
		double peak = rate->given > 0 ? rate->given : peak_flops(rate->peak, i);
		if (!x->products[i])
			continue;
		if (!(peak > 0))
			return (struct utilization){ .lack = NO_TYPE };
		u.hardware += (double)x->products[i] / peak / wall;
		u.model += (double)(x->products[i] - x->repeated[i]) / peak / wall;
	}
	return u;
}

static void put_utilization(struct sb *b, const struct flops_sums *x, const struct flops_rate *rate)
{
	const struct utilization u = find_utilization(x, rate);

	switch (u.lack) {
	case UTILIZED:
		sb_fmt(b, "\nMFU %.1f%%", u.model * 100);
		if (u.hardware > u.model)
			sb_fmt(b, ", HFU %.1f%%", u.hardware * 100);
		sb_put(b, S(": products at the "));
		if (rate->given > 0)
			sb_put(b, S("given peak"));
		else
			sb_fmt(b, "dense peaks of %s", rate->peak->name);
		sb_put(b, S(",\nas a share of the wall time of the steps"));
		if (rate->devices > 1)
			sb_fmt(b, " on %zu devices", rate->devices);
		if (!(rate->given > 0))
			sb_fmt(b, "\n(peaks: %s)", rate->peak->source);
		break;
	case NO_PEAK:
		sb_put(b, S("\nNo MFU: "));
		if (rate->model.n) {
			sb_put(b, S("the peaks of '"));
			sb_put_name(b, rate->model);
			sb_put(b, S("' are not known;\n"));
		} else {
			sb_put(b, S("the file does not name the device;\n"));
		}
		sb_put(b, S("--peak-flops=989T gives one"));
		break;
	case NO_TYPE: sb_put(b, S("\nNo MFU: the file lacks types of inputs")); break;
	case NO_COVERAGE:
		sb_put(b, S("\nNo MFU below 90% of the device time; --partial prints it"));
		break;
	case NO_DEVICE: break;
	}
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
	document_i64(d, "steps", num_from_u64(shown->rate->steps));
	coverage_members(d, shown->coverage);
	document_i64(d, "inferred_calls", num_from_u64(x->inferred));
	if (shown->rate->peak && !(shown->rate->given > 0))
		document_text(d, "peak_device", str_of(shown->rate->peak->name));
	const struct utilization u = find_utilization(x, shown->rate);
	if (u.lack == UTILIZED) {
		coverage_member(d, "mfu", u.model);
		coverage_member(d, "hfu", u.hardware);
	}
}

static struct str lead_of(const struct flops_sums *x, const struct flops_coverage *coverage,
        const struct flops_rate *rate, struct arena *a)
{
	const struct trace *t = x->ops->t;
	struct sb b = sb_in(a);
	size_t steps = rate->steps;

	sb_put(&b, num_stopped(x->flops) ? S("Float operations: more than ")
	                                 : S("Float operations: "));
	fmt_si(&b, (double)x->flops);
	if (steps > 1) {
		sb_put(&b, S(" ("));
		fmt_si(&b, (double)x->flops / (double)steps);
		sb_fmt(&b, " in each of %zu steps)", steps);
	}
	if (x->recomputed) {
		sb_put(&b, S("; of these, repeated in backward passes: "));
		fmt_si(&b, (double)x->recomputed);
	}
	if (x->all) {
		sb_char(&b, '\n');
		coverage_put_share(&b, coverage);
		sb_put(&b, S(": "));
		table_put_time(&b, trace_ns(t, x->known));
		sb_put(&b, S(" of "));
		table_put_time(&b, trace_ns(t, x->all));
	}
	if (x->inferred)
		sb_fmt(&b,
		        "\nA guess for %" PRIu64
		        " call%s: the output has the shape that the next op reads",
		        x->inferred, x->inferred == 1 ? "" : "s");
	put_utilization(&b, x, rate);
	sb_put(&b, S("\n\n"));
	return sb_str(&b);
}

bool flops_write(const struct trace_ops *ops, const struct flops_rate *rate, size_t top,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e)
{
	struct flops_sums sums;
	struct table families = {
		.a = to->a, .key = "families", TABLE_COLUMNS(family_columns, family_titles)
	};
	struct table rows = {
		.a = to->a, .key = "ops", .title = "Ops", TABLE_COLUMNS(op_columns, op_titles)
	};
	struct table lacks = { .a = to->a,
		.key = "uncounted",
		.title = "Not counted",
		TABLE_COLUMNS(lack_columns, lack_titles) };
	bool data = out_is_data(o->output.kind);

	flops_sums_find(&sums, ops, to->a);
	const struct flops_shown shown = { &sums, flops_coverage_of(&sums, to->a), rate };
	fill_families(&families, &sums);
	fill_ops(&rows, &sums);
	fill_lacks(&lacks, &sums);
	/* in data, the rows are ops; text begins with the families */
	struct table *first = data ? &rows : &families;
	const struct table sections[] = { data ? families : rows, lacks };
	first->schema = "tfprof/flops";
	first->lead = lead_of(&sums, shown.coverage, rate, to->a);
	first->sections = sections;
	first->n_sections = 2;
	first->members = put_members;
	first->user = &shown;
	return table_write(first, top, &o->output, columns, to, e);
}

/* ---- one op ---- */

/* Writes "3 calls of 73924608: 2 * 141 * 512 * 512", or the reason why a call is not counted. */
static void explain_calls(
        const struct trace_ops *ops, const struct op_calls *c, struct sink *to, struct arena *a)
{
	const struct trace *t = ops->t;
	const struct slice s = { .event = c->event };
	struct sb numbers = sb_in(a);
	struct str name = trace_str(t, t->events.v[c->event].name);
	const struct op_row *row = flops_find_op(name);

	if (c->lack || !row) {
		sink_fmt(to, "  %" PRIu64 " not counted: %s", c->unknown, flops_lacks[c->lack]);
		if (c->lack == LACK_SHAPE || c->lack == LACK_SETTING || c->lack == LACK_DATA)
			sink_fmt(to, ", input %u", c->input);
		sink_char(to, '\n');
		return;
	}
	struct op_call call = flops_read_call(row, name, slice_text(t, &s, ARG_SHAPES),
	        slice_text(t, &s, ARG_DTYPES), slice_text(t, &s, ARG_VALUES));
	call.explain = &numbers;
	flops_of_call(&call);
	if (c->inferred)
		sink_fmt(to,
		        "  %" PRIu64 " of %" PRId64
		        " in all; the output has the shape that the next op reads\n",
		        c->calls, c->flops);
	else
		sink_fmt(to, "  %" PRIu64 " of %" PRId64 " = %.*s\n", c->calls, c->one.flops,
		        STR(sb_str(&numbers)));
}

/* Calls with the most float operations first. */
static int most_flops(const void *v, uint32_t a, uint32_t b)
{
	const struct op_calls *x = (const struct op_calls *)v + a,
	                      *y = (const struct op_calls *)v + b;

	return (x->flops < y->flops) - (x->flops > y->flops);
}

bool flops_explain(
        const struct trace_ops *ops, struct str op, size_t top, struct sink *to, struct arena *a)
{
	const uint32_t *order = sort_order(a, ops->calls.n, most_flops, ops->calls.v);
	size_t n = 0;

	for (size_t i = 0; i < ops->calls.n; i++) {
		const struct op_calls *c = &ops->calls.v[order[i]];
		if (!str_eq(trace_str(ops->t, ops->t->events.v[c->event].name), op) ||
		        !(c->calls + c->unknown))
			continue;
		if (!n++ && c->formula != FORMULAS)
			sink_fmt(to, "%.*s: %s\n", STR(op), flops_formulas[c->formula]);
		if (!top || n <= top)
			explain_calls(ops, c, to, a);
	}
	if (top && n > top)
		sink_fmt(to, "  (%zu more with other inputs)\n", n - top);
	return n > 0;
}
