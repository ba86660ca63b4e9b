/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_tables.h: the tables, and the rows of those that every trace fills.
 */
#include "export/device_tables.h"

#include "base/sort.h"

static void put_count(struct table *to, uint64_t n)
{
	table_number(to, num_from_u64(n));
}

/* part / whole in thousandths. */
static int64_t permille(int64_t part, int64_t whole)
{
	return whole > 0 ? num_from_real(1000.0 * (double)part / (double)whole + 0.5) : 0;
}

static void put_quantile(struct table *to, const struct hist *h, unsigned thousandths)
{
	if (h->n)
		table_number(to, hist_quantile(h, thousandths));
	else
		table_null(to);
}

/* ---- GPUs ---- */

/* "GPU-1b4f28ba-2fa1-11d2-883f-0016d3cca427"; empty where it is not known. */
static struct str device_uuid(struct arena *a, const struct gpu_device *d)
{
	struct sb b = sb_in(a);

	if (!d->gpu || !recorded_gpu_known(d->gpu))
		return STR_NONE;
	sb_put(&b, S("GPU-"));
	recorded_gpu_uuid(&b, d->gpu);
	return sb_str(&b);
}

/* Puts a text, or null if it is empty. */
static void put_known(struct table *to, struct str text)
{
	if (text.n)
		table_text(to, text);
	else
		table_null(to);
}

static int64_t span_of(const struct gpu_device *d)
{
	return num_from_u64(d->to - d->from);
}

static int64_t idle_of(const struct device_use *u, const struct gpu_device *d)
{
	return num_sub(span_of(d), trace_ns(u->t, d->usage.busy));
}

static void rows_gpus(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		table_number(to, d->number);
		put_count(to, d->kernels);
		table_number(to, trace_ns(u->t, d->usage.kernels));
		table_number(to, trace_ns(u->t, d->usage.copy_overlap));
		table_number(to, d->shared);
		put_count(to, d->gaps.n);
		put_quantile(to, &d->gaps, 500);
		put_quantile(to, &d->gaps, 990);
		put_quantile(to, &d->gaps, 1000);
		put_count(to, d->from);
		put_count(to, d->to);
		put_known(to, d->gpu ? d->gpu->name : STR_NONE);
		put_known(to, device_uuid(to->a, d));
	}
}

static void put_idle(struct table *to, const struct device_use *u, const struct gpu_device *d,
        int64_t ns, const char *why)
{
	if (!ns)
		return;
	table_number(to, d->number);
	table_number(to, ns);
	table_number(to, permille(ns, idle_of(u, d)));
	table_text(to, str_of(why));
}

static void rows_idle(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		put_idle(to, u, d, d->idle.host, "the host did other things");
		put_idle(to, u, d, d->idle.latency, "launch latency");
		put_idle(to, u, d, d->idle.waiting, "the host waited for the GPU");
		put_idle(to, u, d, d->idle.unknown, "not known: the launch is not recorded");
	}
}

/* Others: the time in which other processes used the GPU and this one did not. */
static void put_process(
        const struct device_use *u, const struct gpu_device *d, uint32_t part, struct table *to)
{
	const struct gpu_part *p = &u->parts.v[part];
	const struct process_identity *who = &gpu_facts(u, p->process)->who;

	table_number(to, d->number);
	table_number(to, who->pid);
	table_number(to, p->busy);
	table_number(to, num_sub(trace_ns(u->t, d->usage.busy), p->busy));
	table_number(to, idle_of(u, d));
	put_count(to, p->kernels);
	if (who->rank < 0)
		table_null(to);
	else
		table_number(to, who->rank);
	put_known(to, who->host);
	put_known(to, who->job);
	put_known(to, who->program);
}

static void rows_processes(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		for (size_t k = 0; k < u->devices.v[i].parts.n; k++)
			put_process(u, &u->devices.v[i], u->devices.v[i].parts.v[k], to);
}

static void rows_latency(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		const struct hist *h = &d->latency;
		int64_t time = span_of(d);
		if (!h->n)
			continue;
		table_number(to, d->number);
		put_count(to, h->n);
		table_number(to, hist_quantile(h, 500));
		table_number(to, hist_quantile(h, 990));
		table_number(to, h->max);
		/* Work that waits at a moment, on average: Little's law. */
		table_number(to, permille(h->sum, time));
	}
}

static void rows_communication(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		int64_t busy = trace_ns(u->t, d->usage.by_class[USAGE_COMMUNICATION]),
		        hidden = trace_ns(u->t, d->usage.overlap);
		if (!busy)
			continue;
		table_number(to, d->number);
		table_number(to, busy);
		table_number(to, hidden);
		table_number(to, num_sub(busy, hidden));
		table_number(to, permille(hidden, busy));
	}
}

int64_t copies_rate(const struct gpu_copies *c)
{
	return c->ns > 0 ? num_from_real((double)c->bytes / (double)c->ns * 1e9) : 0;
}

static void rows_transfers(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		for (enum gpu_way way = 0; way < WAY_N; way++) {
			const struct gpu_copies *c = &u->devices.v[i].ways[way];
			if (!c->count)
				continue;
			table_number(to, u->devices.v[i].number);
			table_number(to, c->ns);
			put_count(to, c->count);
			table_number(to, c->bytes);
			table_number(to, copies_rate(c));
			table_text(to, str_of(gpu_ways[way]));
		}
}

/* ---- by name ---- */

static void rows_calls(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->calls.n; i++) {
		const struct gpu_times *t = &u->calls.v[i];
		table_number(to, gpu_total(t));
		put_count(to, gpu_count(t));
		put_quantile(to, &t->h, 500);
		put_quantile(to, &t->h, 990);
		table_number(to, t->blocking);
		table_text(to, t->name);
	}
}

static void put_times(const struct gpu_times *t, int64_t all, struct table *to)
{
	uint64_t n = gpu_count(t);

	table_number(to, gpu_total(t));
	table_number(to, permille(gpu_total(t), all));
	put_count(to, n);
	table_number(to, num_from_real((double)gpu_total(t) / (double)n + 0.5));
	put_quantile(to, &t->h, 500);
	put_quantile(to, &t->h, 990);
	table_number(to, gpu_min(t));
	table_number(to, gpu_max(t));
	if (t->h.n)
		table_number(to, num_from_real(hist_deviation(&t->h) + 0.5));
	else
		table_null(to);
	table_text(to, t->name);
}

static void rows_times(const struct gpu_times *v, size_t n, struct table *to)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all = num_add(all, gpu_total(&v[i]));
	for (size_t i = 0; i < n; i++)
		if (gpu_count(&v[i]))
			put_times(&v[i], all, to);
}

static void rows_waits(const struct device_use *u, struct table *to)
{
	rows_times(u->waits.v, u->waits.n, to);
}

static void rows_synchronisations(const struct device_use *u, struct table *to)
{
	rows_times(u->syncs, GPU_SYNCS, to);
}

static void rows_kernels(const struct device_use *u, struct table *to)
{
	rows_times(u->kernels.v, u->kernels.n, to);
}

/* ---- the tables ---- */

enum { COUNT, NS, MOMENT, BYTES, RATE, PERMILLE, THOUSANDTHS, TEXT };
static const char *const units[] = { [NS] = "ns",
	[MOMENT] = "ns",
	[BYTES] = "bytes",
	[RATE] = "bytes/s",
	[PERMILLE] = "permille",
	[THOUSANDTHS] = "thousandths",
	[TEXT] = NULL };

/* A number is an integer of its unit in data; text leaves out moments. */
struct table_column {
	const char *name;  /* in data: "total_ns" */
	const char *title; /* in text: "total" */
	int unit;
};

#define COLUMNS_MAX 13

#define TIMES(of)                                                                                  \
	{                                                                                          \
		{ "total_ns", "total", NS }, { "permille", "share", PERMILLE },                    \
		        { "count", "count", COUNT }, { "mean_ns", "mean", NS },                    \
		        { "median_ns", "median", NS }, { "p99_ns", "p99", NS },                    \
		        { "min_ns", "min", NS }, { "max_ns", "max", NS },                          \
		        { "deviation_ns", "stddev", NS }, { "name", of, TEXT },                    \
	}

static const struct device_table {
	const char *name;                         /* in data, and of --table */
	const char *title;                        /* in text, above the table */
	struct table_column columns[COLUMNS_MAX]; /* the last one has no name, or there are that
	                                             many */
	void (*rows)(const struct device_use *u, struct table *to);
} tables[] = {
	{ "gpus", "GPUs",
	        { { "gpu", "gpu", COUNT }, { "kernels", "launched", COUNT },
	                { "kernel_busy_ns", "kernels", NS },
	                { "copy_overlap_ns", "copies beside", NS }, { "shared_ns", "shared", NS },
	                { "gaps", "gaps", COUNT }, { "gap_median_ns", "median", NS },
	                { "gap_p99_ns", "p99", NS }, { "gap_max_ns", "max", NS },
	                { "from_ns", "", MOMENT }, { "to_ns", "", MOMENT },
	                { "name", "name", TEXT }, { "uuid", "uuid", TEXT } },
	        rows_gpus },
	{ "idle", "Why GPUs were idle",
	        { { "gpu", "gpu", COUNT }, { "ns", "time", NS }, { "permille", "share", PERMILLE },
	                { "why", "why", TEXT } },
	        rows_idle },
	{ "kernels", "Kernels", TIMES("kernel"), rows_kernels },
	{ "waits", "Calls in which the host waited", TIMES("call"), rows_waits },
	{ "latency", "From a call to the start of its work",
	        { { "gpu", "gpu", COUNT }, { "count", "count", COUNT },
	                { "median_ns", "median", NS }, { "p99_ns", "p99", NS },
	                { "max_ns", "max", NS }, { "queued_thousandths", "queued", THOUSANDTHS } },
	        rows_latency },
	{ "communication", "Communication",
	        { { "gpu", "gpu", COUNT }, { "total_ns", "total", NS },
	                { "hidden_ns", "hidden", NS }, { "exposed_ns", "exposed", NS },
	                { "hidden_permille", "hidden", PERMILLE } },
	        rows_communication },
	{ "transfers", "Copies by direction",
	        { { "gpu", "gpu", COUNT }, { "ns", "time", NS }, { "count", "count", COUNT },
	                { "bytes", "bytes", BYTES }, { "bytes_per_second", "rate", RATE },
	                { "way", "way", TEXT } },
	        rows_transfers },
	{ "processes", "Processes on GPUs",
	        { { "gpu", "gpu", COUNT }, { "pid", "pid", COUNT }, { "busy_ns", "busy", NS },
	                { "others_ns", "others", NS }, { "idle_ns", "idle", NS },
	                { "kernels", "launched", COUNT }, { "rank", "rank", COUNT },
	                { "host", "host", TEXT }, { "job", "job", TEXT },
	                { "program", "program", TEXT } },
	        rows_processes },
	{ "synchronisations", "Synchronisations", TIMES("of"), rows_synchronisations },
	{ "calls", "Calls of the CUDA API",
	        { { "total_ns", "total", NS }, { "count", "count", COUNT },
	                { "median_ns", "median", NS }, { "p99_ns", "p99", NS },
	                { "blocking_ns", "blocked", NS }, { "name", "call", TEXT } },
	        rows_calls },
	{ "launches", "Launch configurations",
	        { { "count", "count", COUNT }, { "shapes", "of", COUNT }, { "grid", "grid", TEXT },
	                { "block", "block", TEXT }, { "registers", "registers", COUNT },
	                { "shared_bytes", "shared", BYTES },
	                { "occupancy_permille", "occupancy", PERMILLE },
	                { "name", "kernel", TEXT } },
	        rows_launches },
	{ "ranges", "Work by ranges",
	        { { "total_ns", "total", NS }, { "own_ns", "own", NS },
	                { "operations", "own work", COUNT }, { "host_ns", "host", NS },
	                { "count", "entered", COUNT }, { "path", "range", TEXT } },
	        rows_ranges },
	{ "steps", "Work by steps",
	        { { "device_ns", "work", NS }, { "operations", "operations", COUNT },
	                { "time_ns", "time", NS }, { "pid", "pid", COUNT },
	                { "label", "step", TEXT } },
	        rows_steps },
	{ "copies", "Copies by memory and size",
	        { { "ns", "time", NS }, { "count", "count", COUNT }, { "bytes", "bytes", BYTES },
	                { "bytes_per_second", "rate", RATE }, { "way", "way", TEXT },
	                { "host_memory", "host memory", TEXT }, { "size", "size", TEXT } },
	        rows_copies },
	{ "graphs", "CUDA graphs",
	        { { "ns", "time", NS }, { "launches", "launches", COUNT },
	                { "nodes", "nodes", COUNT }, { "pid", "pid", COUNT },
	                { "graph", "graph", COUNT } },
	        rows_graphs },
	{ "memory", "Memory",
	        { { "peak_bytes", "peak", BYTES }, { "left_bytes", "left", BYTES },
	                { "bytes", "allocated", BYTES }, { "allocations", "allocations", COUNT },
	                { "frees", "frees", COUNT }, { "pid", "pid", COUNT },
	                { "gpu", "gpu", COUNT }, { "kind", "kind", TEXT } },
	        rows_memory },
	{ "overhead", "Overhead of recording",
	        { { "total_ns", "total", NS }, { "count", "count", COUNT },
	                { "median_ns", "median", NS }, { "max_ns", "max", NS },
	                { "kind", "kind", TEXT } },
	        rows_overhead },
};
#define TABLES_N (sizeof tables / sizeof *tables)

/* The place of a row: its cells and its worker. */
struct row_at {
	const struct table_cell *cells;
	struct str worker;
};

static int by_first_number(const void *rows, uint32_t a, uint32_t b)
{
	const struct row_at *x = (const struct row_at *)rows + a,
	                    *y = (const struct row_at *)rows + b;

	return (x->cells->number < y->cells->number) - (x->cells->number > y->cells->number);
}

/* Adds the rows of several workers, each with its worker. */
static void fill_workers(const struct device_workers *all, const struct device_table *t,
        size_t n_columns, struct table *x)
{
	VEC(struct row_at) rows = { .n = 0 };

	for (size_t i = 0; i < all->n; i++) {
		struct table part = { .a = x->a };
		t->rows(all->v[i].u, &part);
		for (size_t k = 0; k + n_columns <= part.cells.n; k += n_columns)
			VEC_PUSH(
			        x->a, &rows, ((struct row_at){ &part.cells.v[k], all->v[i].name }));
	}
	const uint32_t *order = sort_order(x->a, rows.n, by_first_number, rows.v);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row_at *row =
		        &rows.v[t->columns[0].unit == NS ? order[i] : (uint32_t)i];
		table_text(x, row->worker);
		for (size_t k = 0; k < n_columns; k++)
			VEC_PUSH(x->a, &x->cells, row->cells[k]);
	}
}

/* Makes a table with all its rows. */
static void fill(const struct device_workers *all, const struct device_table *t, struct table *x)
{
	struct column *columns = ARENA_ARRAY(x->a, COLUMNS_MAX + 1, struct column);
	const char **titles = ARENA_ARRAY(x->a, COLUMNS_MAX + 1, const char *);
	bool named = all->v[0].name.p;
	size_t n = 0;

	*x = (struct table){
		.a = x->a, .key = t->name, .title = t->title, .columns = columns, .titles = titles
	};
	columns[0] = (struct column){ S("worker"), COLUMN_TEXT, NULL };
	titles[0] = "worker";
	for (; n < COLUMNS_MAX && t->columns[n].name; n++) {
		const struct table_column *c = &t->columns[n];
		columns[n + named] = (struct column){ str_of(c->name),
			c->unit == TEXT ? COLUMN_TEXT : COLUMN_INTEGER, units[c->unit] };
		titles[n + named] = c->title;
		x->data_only |= c->unit == MOMENT ? 1u << (n + named) : 0;
	}
	x->n_columns = n + named;
	if (named)
		fill_workers(all, t, n, x);
	else
		t->rows(all->v[0].u, x);
	x->rows = x->cells.n / x->n_columns;
}

const struct table *device_sections(const struct device_workers *all, size_t *n, struct arena *a)
{
	struct table *v = ARENA_ARRAY(a, TABLES_N, struct table);

	for (size_t i = 0; i < TABLES_N; i++) {
		v[i].a = a;
		fill(all, &tables[i], &v[i]);
	}
	*n = TABLES_N;
	return v;
}

void device_put_lost(struct document *d, const void *use)
{
	static const char *const why[] = { [SPOOL_LOST_DROPPED] = "dropped",
		[SPOOL_LOST_UNKNOWN] = "unknown",
		[SPOOL_LOST_UNTIMED] = "untimed",
		[SPOOL_LOST_RANGES] = "ranges",
		[SPOOL_LOST_WRITE] = "not_written",
		[SPOOL_LOST_KEPT] = "kept_by_cupti",
		[SPOOL_LOST_KERNELS] = "kernels_without_record" };
	const struct device_use *u = use;
	int64_t open = 0;

	for (uint32_t i = 0; i < u->processes.n; i++)
		open += !gpu_facts(u, i)->ended;
	document_key(d, "lost");
	json_object(&d->j);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		document_i64(d, why[i], num_from_u64(u->lost[i]));
	document_i64(d, "damaged_bytes", num_from_u64(u->damaged));
	document_i64(d, "operations_without_times", num_from_u64(u->untimed));
	document_i64(d, "operations_in_sums_only", num_from_u64(u->summed));
	document_i64(d, "times_not_recorded", num_from_u64(u->gaps));
	document_i64(d, "ns_not_recorded", u->gap_ns);
	document_i64(d, "processes_not_closed", open);
	json_object_end(&d->j);
}
