/* SPDX-License-Identifier: Apache-2.0
 *
 * See trace_tables.h.
 */
#include "export/trace_tables.h"

#include <math.h>

#include "base/sort.h"
#include "export/device_tables.h"
#include "export/table.h"
#include "trace/ops.h"
#include "trace/passes.h"

static const struct column device_columns[] = { TEXT_COLUMN("worker"), TEXT_COLUMN("device"),
	TEXT_COLUMN("kind"), NUMBER_COLUMN("span_ns", "ns"), NUMBER_COLUMN("busy_ns", "ns"),
	NUMBER_COLUMN("idle_ns", "ns"), NUMBER_COLUMN("compute_busy_ns", "ns"),
	NUMBER_COLUMN("communication_busy_ns", "ns"), NUMBER_COLUMN("copy_busy_ns", "ns"),
	NUMBER_COLUMN("communication_compute_overlap_ns", "ns"),
	NUMBER_COLUMN("copy_bytes", "bytes"), NUMBER_COLUMN("slices", NULL),
	NUMBER_COLUMN("sum_ns", "ns"), NUMBER_COLUMN("host_wait_ns", "ns"),
	NUMBER_COLUMN("kernel_wait_ns", "ns"), NUMBER_COLUMN("other_wait_ns", "ns") };
static const struct column kernel_columns[] = { TEXT_COLUMN("worker"),
	NUMBER_COLUMN("total_ns", "ns"), NUMBER_COLUMN("count", NULL),
	NUMBER_COLUMN("mean_ns", "ns"), NUMBER_COLUMN("min_ns", "ns"),
	NUMBER_COLUMN("max_ns", "ns"), { S("share"), COLUMN_REAL, "percent" },
	TEXT_COLUMN("category"), TEXT_COLUMN("device"), TEXT_COLUMN("op"), TEXT_COLUMN("name") };
static const struct column step_columns[] = { TEXT_COLUMN("worker"), NUMBER_COLUMN("step", NULL),
	NUMBER_COLUMN("start_ns", "ns"), NUMBER_COLUMN("duration_ns", "ns"),
	NUMBER_COLUMN("busy_ns", "ns"), NUMBER_COLUMN("idle_ns", "ns"),
	NUMBER_COLUMN("compute_busy_ns", "ns"), NUMBER_COLUMN("communication_busy_ns", "ns"),
	NUMBER_COLUMN("copy_busy_ns", "ns"),
	NUMBER_COLUMN("communication_compute_overlap_ns", "ns"), NUMBER_COLUMN("slices", NULL),
	TEXT_COLUMN("name") };

static const struct column roofline_columns[] = { TEXT_COLUMN("worker"),
	NUMBER_COLUMN("time_ns", "ns"), NUMBER_COLUMN("runs", NULL),
	NUMBER_COLUMN("float_ops", "count"), NUMBER_COLUMN("bytes_accessed", "bytes"),
	{ S("intensity"), COLUMN_REAL, NULL }, NUMBER_COLUMN("flops_per_second", "flop/s"),
	NUMBER_COLUMN("bytes_per_second", "bytes/s"), { S("roof"), COLUMN_REAL, "percent" },
	TEXT_COLUMN("bound"), TEXT_COLUMN("device"), TEXT_COLUMN("type"), TEXT_COLUMN("op") };

/* The trace of a worker, with the passes that the table needs. */
struct worker_rows {
	const struct trace *t;
	struct str worker; /* of its rows; p NULL: they name none */
	struct trace_links links;
	struct trace_steps steps;
	struct trace_ops ops;
};

static void put_ticks(struct table *x, const struct trace *t, int64_t v)
{
	table_number(x, trace_ns(t, v));
}

static void put_classes(
        struct table *x, const struct trace *t, const int64_t *by_class, int64_t overlap)
{
	put_ticks(x, t, by_class[USAGE_COMPUTE]);
	put_ticks(x, t, by_class[USAGE_COMMUNICATION]);
	put_ticks(x, t, by_class[USAGE_COPY]);
	put_ticks(x, t, overlap);
}

/* Begins a row. */
static void put_worker(struct table *x, const struct worker_rows *w)
{
	if (w->worker.p)
		table_text(x, w->worker);
	x->rows++;
}

static void fill_devices(
        struct table *x, const struct worker_rows *w, const struct trace_usage *usage)
{
	const struct trace *t = w->t;

	for (size_t i = 0; i < usage->devices.n; i++) {
		const struct device_usage *u = &usage->devices.v[i];
		int64_t span = trace_ns(t, num_sub(u->end, u->start)), busy = trace_ns(t, u->busy);
		put_worker(x, w);
		table_text(x, trace_device_label(t, u->device, x->a));
		table_text(x, str_of(trace_device_kinds[t->devices.v[u->device].kind]));
		table_number(x, span);
		table_number(x, busy);
		table_number(x, num_sub(span, busy));
		put_classes(x, t, u->by_class, u->overlap);
		table_number(x, u->copy_bytes);
		table_number(x, num_from_u64(u->slices));
		put_ticks(x, t, u->sum);
		for (int k = 0; k < IDLE_N; k++)
			put_ticks(x, t, u->idle_why[k]);
	}
}

/* data: starts are on the clock of the source; otherwise after the start of the first step. */
static void fill_steps(struct table *x, const struct worker_rows *w, bool data)
{
	const struct trace_steps *steps = &w->steps;
	const struct trace *t = w->t;
	struct step_usage *usage = ARENA_ARRAY(x->a, steps->steps.n, struct step_usage);
	int64_t zero = data || !steps->steps.n ? 0 : steps->steps.v[0].start;

	usage_by_step(t, steps, usage, x->a);
	for (size_t i = 0; i < steps->steps.n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		const struct step_usage *u = &usage[i];
		int64_t length = trace_ns(t, num_sub(s->end, s->start)),
		        busy = trace_ns(t, u->busy);
		put_worker(x, w);
		table_number(x, s->id);
		put_ticks(x, t, num_sub(s->start, zero));
		table_number(x, length);
		table_number(x, busy);
		table_number(x, num_sub(length, busy));
		put_classes(x, t, u->by_class, u->overlap);
		table_number(x, num_from_u64(u->slices));
		table_text(x,
		        steps->by == STEPS_UNKNOWN ? S("steps: unknown") : trace_str(t, s->name));
	}
}

/* ---- roofline ---- */

/* Totals of an op over all steps, in nanoseconds. */
struct roof_row {
	uint32_t op;
	int64_t ns;
};

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct roof_row *x = (const struct roof_row *)v + a,
	                      *y = (const struct roof_row *)v + b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* The time of each op with what it contains and launched: on devices, or on threads if it has no
 * device work. */
static struct roof_row *roof_rows(const struct trace_ops *ops, struct arena *a)
{
	struct roof_row *v = ARENA_ARRAY(a, ops->ops.n, struct roof_row);
	int64_t *host = ARENA_ARRAY(a, ops->ops.n, int64_t);

	for (uint32_t i = 0; i < ops->ops.n; i++)
		v[i].op = i;
	for (size_t i = 0; i < ops->cells.n; i++) {
		const struct op_cell *c = &ops->cells.v[i];
		v[c->op].ns = num_add(v[c->op].ns, trace_ns(ops->t, c->device_total));
		host[c->op] = num_add(host[c->op], trace_ns(ops->t, c->host_total));
	}
	for (uint32_t i = 0; i < ops->ops.n; i++)
		v[i].ns = v[i].ns ? v[i].ns : host[i];
	sort_array(a, v, ops->ops.n, sizeof *v, by_time);
	return v;
}

static int64_t per_second(int64_t v, int64_t ns)
{
	return (int64_t)fmin((double)v * 1e9 / (double)ns, 9e18);
}

static void put_hundredths(struct table *x, double v)
{
	table_number(x, (int64_t)fmin(v * 100 + 0.5, 9e18));
}

/* Puts what limits the op and the share of that limit; null without the peaks of the device. */
static void put_roof(
        struct table *x, const struct trace_device *d, const struct trace_op *op, int64_t ns)
{
	double flops = d ? d->peak_flops : 0, bytes = d ? d->peak_bytes : 0;
	double compute = flops > 0 ? (double)op->flops / flops : 0,
	       memory = bytes > 0 ? (double)op->bytes_accessed / bytes : 0;

	if (flops <= 0 || bytes <= 0) {
		table_null(x);
		table_null(x);
		return;
	}
	put_hundredths(x, fmax(compute, memory) * 1e11 / (double)ns);
	table_text(x, compute >= memory ? S("compute") : S("memory"));
}

static void put_positive(struct table *x, int64_t v)
{
	if (v > 0)
		table_number(x, v);
	else
		table_null(x);
}

/* Puts float operations, bytes, their ratio and both per second; null for what is not known. */
static void put_rates(struct table *x, const struct trace_op *op, int64_t ns)
{
	put_positive(x, op->flops);
	put_positive(x, op->bytes_accessed);
	if (op->flops > 0 && op->bytes_accessed > 0)
		put_hundredths(x, (double)op->flops / (double)op->bytes_accessed);
	else
		table_null(x);
	put_positive(x, per_second(op->flops, ns));
	put_positive(x, per_second(op->bytes_accessed, ns));
}

static void fill_roofline(struct table *x, struct worker_rows *w)
{
	const struct trace *t = w->t;
	struct trace_ops *ops = &w->ops;

	trace_find_ops(t, &w->links, &w->steps, TRACE_BY_PATH, ops, x->a);
	const struct roof_row *rows = roof_rows(ops, x->a);

	for (size_t i = 0; i < ops->ops.n; i++) {
		const struct trace_op *op = &ops->ops.v[rows[i].op];
		int64_t ns = rows[i].ns;
		if (ns <= 0 || (op->flops <= 0 && op->bytes_accessed <= 0))
			continue;
		put_worker(x, w);
		table_number(x, ns);
		table_number(x, num_from_u64(op->runs));
		put_rates(x, op, ns);
		put_roof(x, op->device == ID_NONE ? NULL : &t->devices.v[op->device], op, ns);
		table_text(x, op->device == ID_NONE ? S("host")
		                                    : trace_device_label(t, op->device, x->a));
		table_text(x, intern_str(&ops->strings, op->type));
		table_text(x, intern_str(&ops->strings, op->name));
	}
}

/* The peaks of the devices of a trace that have some. */
static void put_peaks_of(struct document *d, const struct trace *t)
{
	for (uint32_t i = 0; i < t->devices.n; i++) {
		const struct trace_device *x = &t->devices.v[i];
		if (x->peak_flops <= 0 && x->peak_bytes <= 0)
			continue;
		json_object(&d->j);
		document_text(d, "device", trace_device_label(t, i, d->a));
		document_i64(d, "flops_per_second", (int64_t)fmin(x->peak_flops, 9e18));
		document_i64(d, "bytes_per_second", (int64_t)fmin(x->peak_bytes, 9e18));
		json_object_end(&d->j);
	}
}

static void put_peaks(struct document *d, const void *traces)
{
	const struct worker_traces *all = traces;

	document_key(d, "peaks");
	json_array(&d->j);
	for (size_t i = 0; i < all->n; i++)
		put_peaks_of(d, all->v[i].t);
	json_array_end(&d->j);
}

/* ---- kernels ---- */

/* A kernel of a worker. */
struct kernel_at {
	const struct worker_rows *w;
	const struct kernel_row *k;
};

static void put_kernel(struct table *x, const struct kernel_at *at, int64_t all)
{
	const struct trace *t = at->w->t;
	const struct kernel_row *k = at->k;
	int64_t total = trace_ns(t, k->total);

	put_worker(x, at->w);
	table_number(x, total);
	table_number(x, num_from_u64(k->count));
	put_ticks(x, t, k->total / (int64_t)k->count);
	put_ticks(x, t, k->min);
	put_ticks(x, t, k->max);
	table_number(x, all ? (int64_t)(1e4 * (double)total / (double)all + 0.5) : 0);
	table_text(x, str_of(trace_category_names[k->category]));
	table_text(x, trace_device_label(t, k->device, x->a));
	table_text(x, intern_str(&at->w->ops.strings, at->w->ops.ops.v[k->op].name));
	table_text(x, trace_str(t, k->name));
}

static int compare_kernels(const void *v, uint32_t a, uint32_t b)
{
	const struct kernel_at *x = (const struct kernel_at *)v + a,
	                       *y = (const struct kernel_at *)v + b;
	int64_t p = trace_ns(x->w->t, x->k->total), q = trace_ns(y->w->t, y->k->total);

	return (p < q) - (p > q);
}

/* Orders the kernels of all workers by total. */
static void fill_kernels(struct table *x, struct worker_rows *v, size_t n)
{
	VEC(struct kernel_at) rows = { .n = 0 };
	int64_t all = 0;

	for (size_t i = 0; i < n; i++) {
		struct trace_ops *o = &v[i].ops;
		trace_find_ops(v[i].t, &v[i].links, &v[i].steps, TRACE_BY_PATH, o, x->a);
		for (size_t k = 0; k < o->kernels.n; k++) {
			all = num_add(all, trace_ns(v[i].t, o->kernels.v[k].total));
			VEC_PUSH(x->a, &rows, ((struct kernel_at){ &v[i], &o->kernels.v[k] }));
		}
	}
	const uint32_t *order = sort_order(x->a, rows.n, compare_kernels, rows.v);
	for (size_t i = 0; i < rows.n; i++)
		put_kernel(x, &rows.v[order[i]], all);
}

/* ---- the table ---- */

#define COLUMNS(list) (list), sizeof(list) / sizeof *(list)
static const struct trace_table_row {
	const char *key, *schema;
	int64_t version;
	const struct column *columns;
	size_t n_columns;
	bool links, steps; /* the passes that it needs */
	uint64_t wants;    /* ARG_BITs of work */
} table_rows[] = {
	[TABLE_DEVICES] = { "devices", "tfprof/devices", 2, COLUMNS(device_columns), true, false,
	        ARG_BIT(ARG_BYTES) | ARG_BIT(ARG_LATENCY) },
	[TABLE_KERNELS] = { "kernels", "tfprof/kernels", 1, COLUMNS(kernel_columns), true, true,
	        ARG_BIT(ARG_SCOPE) },
	[TABLE_STEPS] = { "steps", "tfprof/steps", 1, COLUMNS(step_columns), false, true,
	        ARG_BIT(ARG_STEP) },
	[TABLE_ROOFLINE] = { "roofline", "tfprof/roofline", 1, COLUMNS(roofline_columns), true,
	        true, ARG_BITS_ALL },
};

uint64_t trace_table_wants(enum trace_table which)
{
	return table_rows[which].wants;
}

/* Adds the rows of the devices of a worker. A trace with launches, and a recording, have further
 * tables. */
static void add_devices(struct table *x, const struct worker_rows *w, struct device_use *recorded,
        struct device_workers *further)
{
	struct device_use *u = recorded;

	if (!u && !w->links.launches.n) {
		struct trace_usage usage;
		trace_usage(w->t, &w->links, &usage, x->a);
		fill_devices(x, w, &usage);
		return;
	}
	if (!u) {
		u = ARENA_NEW(x->a, struct device_use);
		device_use_trace(u, w->t, &w->links, x->a);
	}
	fill_devices(x, w, &u->usage);
	further->v[further->n++] = (struct device_worker){ w->worker, u };
}

/* Adds the tables that say why devices were idle, how long launches took, and what ran. */
static void add_sections(
        struct table *x, const struct device_workers *all, struct device_use *recorded)
{
	if (all->n)
		x->sections = device_sections(all, &x->n_sections, x->a);
	if (recorded)
		x->members = device_put_lost;
	x->user = recorded;
}

/* Makes the passes, and the rows with those of the workers before. */
static void fill(
        struct table *x, const struct worker_traces *all, enum trace_table which, bool data)
{
	const struct trace_table_row *row = &table_rows[which];
	struct worker_rows *v = ARENA_ARRAY(x->a, all->n, struct worker_rows);
	struct device_workers further = { ARENA_ARRAY(x->a, all->n, struct device_worker), 0 };
	bool named = all->names->n > 1;

	x->key = row->key;
	x->schema = row->schema;
	x->version = row->version;
	x->columns = row->columns + !named;
	x->n_columns = row->n_columns - !named;
	for (size_t i = 0; i < all->n; i++) {
		v[i].t = all->v[i].t;
		v[i].worker = named ? all->names->v[all->v[i].worker] : STR_NONE;
		if (row->links && !all->recorded)
			trace_link(v[i].t, &v[i].links, x->a);
		if (row->steps)
			trace_find_steps(v[i].t, &v[i].steps, x->a);
		if (which == TABLE_DEVICES)
			add_devices(x, &v[i], all->recorded, &further);
		else if (which == TABLE_STEPS)
			fill_steps(x, &v[i], data);
		else if (which == TABLE_ROOFLINE)
			fill_roofline(x, &v[i]);
	}
	if (which == TABLE_KERNELS)
		fill_kernels(x, v, all->n);
	if (which == TABLE_ROOFLINE) {
		x->members = put_peaks;
		x->user = all;
	}
	if (which == TABLE_DEVICES)
		add_sections(x, &further, all->recorded);
}

bool trace_table_write(const struct worker_traces *all, const struct trace_table_ask *ask,
        const struct opts *o, struct emit *to, struct err *e)
{
	struct table x = { .a = to->a };
	size_t section = ask->section > 0 ? (size_t)ask->section : 0;

	fill(&x, all, ask->which, out_is_data(o->output.kind));
	if (ask->which == TABLE_ROOFLINE && !x.rows)
		return err_set(
		        e, ERR_FAILED, "no float operations and no bytes accessed are recorded");
	if (section > x.n_sections)
		return err_set(e, ERR_FAILED,
		        "--table: only traces with launches and recordings have other tables");
	return table_write(
	        section ? &x.sections[section - 1] : &x, ask->top, &o->output, ask->columns, to, e);
}
