/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_tables.h.
 */
#include "export/device_tables.h"

#include "base/sort.h"

/* ---- values of columns ---- */

/* Returns part / whole in thousandths. */
static int64_t permille(int64_t part, int64_t whole)
{
	return whole > 0 ? num_from_real(1000.0 * (double)part / (double)whole + 0.5) : 0;
}

static int64_t span_of(const struct gpu_device *d)
{
	return num_from_u64(d->to - d->from);
}

static int64_t idle_of(const struct device_use *u, const struct gpu_device *d)
{
	return num_sub(span_of(d), trace_ns(u->t, d->usage.times.busy));
}

static int64_t gpu_mean(const struct gpu_times *t)
{
	return num_from_real((double)gpu_total(t) / (double)gpu_count(t) + 0.5);
}

static int64_t copies_rate(const struct gpu_copies *c)
{
	return c->ns > 0 ? num_from_real((double)c->bytes / (double)c->ns * 1e9) : 0;
}

static struct str triple(struct arena *a, const uint32_t v[3])
{
	return str_fmt(a, "%u,%u,%u", v[0], v[1], v[2]);
}

/* "GPU-1b4f28ba-2fa1-11d2-883f-0016d3cca427" */
static struct str device_uuid(struct arena *a, const struct recorded_gpu *g)
{
	return str_fmt(a, "GPU-%.*s", STR(recorded_gpu_uuid(a, g)));
}

#define TABLE_LIST "export/device_table.def"
#include "export/table_list.h"

/* ---- rows by GPU ---- */

static void rows_gpus(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		put_gpus(u, &u->devices.v[i], to);
}

static void rows_idle(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		for (enum idle_cause why = 0; why < IDLE_CAUSES; why++)
			if (d->usage.times.idle[why])
				put_idle(u, d, usage_idle_ns(u->t, &d->usage.times, why), why, to);
	}
}

static void rows_processes(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		for (size_t k = 0; k < d->parts.n; k++) {
			const struct gpu_part *p = &u->parts.v[d->parts.v[k]];
			put_processes(u, d, p, &gpu_facts(u, p->process)->who, to);
		}
	}
}

static void rows_latency(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		if (u->devices.v[i].latency.n)
			put_latency(&u->devices.v[i], &u->devices.v[i].latency, to);
}

static void rows_communication(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		int64_t busy = trace_ns(u->t, d->usage.times.by_class[USAGE_COMMUNICATION]);
		if (busy)
			put_communication(
			        d, busy, trace_ns(u->t, usage_overlap(&d->usage.times)), to);
	}
}

static void rows_transfers(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		for (enum gpu_way way = 0; way < WAY_N; way++) {
			const struct gpu_device *d = &u->devices.v[i];
			if (d->ways[way].count)
				put_transfers(d, &d->ways[way], gpu_ways[way], to);
		}
}

/* ---- rows by name ---- */

static void rows_calls(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->calls.n; i++)
		put_calls(&u->calls.v[i], to);
}

static void rows_times(const struct gpu_times *v, size_t n,
        void (*put)(const struct gpu_times *t, int64_t all, struct table *to), struct table *to)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all = num_add(all, gpu_total(&v[i]));
	for (size_t i = 0; i < n; i++)
		if (gpu_count(&v[i]))
			put(&v[i], all, to);
}

static void rows_waits(const struct device_use *u, struct table *to)
{
	rows_times(u->waits.v, u->waits.n, put_waits, to);
}

static void rows_synchronisations(const struct device_use *u, struct table *to)
{
	rows_times(u->syncs, GPU_SYNCS, put_synchronisations, to);
}

static void rows_kernels(const struct device_use *u, struct table *to)
{
	rows_times(u->kernels.v, u->kernels.n, put_kernels, to);
}

static void rows_launches(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->kernels.n; i++) {
		const struct gpu_times *t = &u->kernels.v[i];
		if (!t->shapes)
			continue;
		const struct gpu_shape *s = gpu_shapes_first(t->shapes);
		const struct recorded_gpu *gpu = u->parts.v[s->part].gpu;
		put_launches(t, s, gpu_occupancy(s, gpu ? gpu->capability : 0), to);
	}
}

/* ---- ranges and steps ---- */

static struct str range_path(const struct device_use *u, uint32_t scope)
{
	struct sb b = sb_in(u->a);

	names_put_scope(&u->all.names, &b, scope);
	return sb_str(&b);
}

static int by_device_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct device_use *u = ctx;
	int64_t x = u->ranges.v[a].total, y = u->ranges.v[b].total;

	return x != y ? x < y ? 1 : -1 : 0;
}

/* The first range stands for work outside of all ranges. */
static void rows_ranges(const struct device_use *u, struct table *to)
{
	const uint32_t *order = sort_order(u->a, u->ranges.n, by_device_time, u);

	for (size_t i = 0; i < u->ranges.n; i++) {
		const struct gpu_range *r = &u->ranges.v[order[i]];
		if (order[i] != SCOPE_NONE && (r->count || r->total))
			put_ranges(r, range_path(u, order[i]), to);
	}
}

/* Returns the interval from boundary i to its end: the profiler's stop, or the next boundary; -1 if
 * unknown. */
static int64_t step_time(const struct recorded_process *p, size_t i)
{
	uint64_t end = 0;

	if (p->every)
		return num_from_u64(p->every);
	if (i < p->ends.n && p->ends.v[i] != UINT64_MAX)
		end = p->ends.v[i];
	else if (i + 1 < p->boundaries.n)
		end = p->boundaries.v[i + 1];
	return end < p->boundaries.v[i] ? -1 : num_from_u64(end - p->boundaries.v[i]);
}

/* With --keep-warmup, step 0 is the time before the first boundary. */
static void rows_steps_of(const struct device_use *u, const struct gpu_process *x, struct table *to)
{
	static const struct gpu_step none = { 0 };
	const struct recorded_process *p = x->from;
	size_t warmup = u->all.o->keep_warmup && !p->every,
	       all = p->boundaries.n + warmup > x->steps.n ? p->boundaries.n + warmup : x->steps.n;

	for (size_t i = 0; i < all; i++) {
		bool bounded = i >= warmup && i - warmup < p->labels.n;
		struct str label = bounded ? p->labels.v[i - warmup] : S("");
		put_steps(i < x->steps.n ? &x->steps.v[i] : &none,
		        bounded || p->every ? step_time(p, i - warmup) : -1, p->facts.who.pid,
		        label.n ? label : str_fmt(u->a, "%zu", i), to);
	}
}

static void rows_steps(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->processes.n; i++)
		if (u->processes.v[i].steps.n)
			rows_steps_of(u, &u->processes.v[i], to);
}

/* ---- copies, graphs, memory, overhead ---- */

static void rows_copies(const struct device_use *u, struct table *to)
{
	for (unsigned way = 0; way < WAY_N; way++)
		for (unsigned host = 0; host < HOST_MEMORY_N; host++)
			for (unsigned size = 0; size < GPU_SIZES; size++)
				if (u->copies[way][host][size].count)
					put_copies(&u->copies[way][host][size], gpu_ways[way],
					        gpu_host_memories[host], gpu_sizes[size], to);
}

static void rows_graphs(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->graphs.n; i++)
		put_graphs(u, &u->graphs.v[i], to);
}

static void rows_memory(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->parts.n; i++)
		for (enum gpu_memory_kind kind = 0; kind < MEMORY_KIND_N; kind++)
			if (u->parts.v[i].memory[kind].allocations)
				put_memory(u, &u->parts.v[i], kind, to);
}

static void rows_overhead(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->n_overheads; i++) {
		const struct gpu_overhead *x = &u->overheads[i];
		bool rest = i == GPU_OVERHEADS - 1;
		put_overhead(&x->h, rest ? "other" : gpu_overhead_name(x->kind), to);
	}
}

/* ---- the tables ---- */

static const struct device_table {
	const char *name;             /* in data outputs and for --table */
	const char *title;            /* heading in text */
	const struct column *columns; /* the first one is the worker */
	const char *const *titles;
	size_t n; /* with the worker */
	void (*rows)(const struct device_use *u, struct table *to);
} tables[] = {
#define TABLE(name, title, row, ...)                                                               \
	{ #name, title, columns_of_##name, titles_of_##name,                                       \
		sizeof columns_of_##name / sizeof *columns_of_##name, rows_##name },
#include TABLE_LIST
#undef TABLE
};
#define TABLES_N (sizeof tables / sizeof *tables)

/* A row: its first cell and its worker. */
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

/* Adds the rows of several workers, each with its worker; sorted if they begin with a time. */
static void fill_workers(
        const struct device_workers *all, const struct device_table *t, struct table *x)
{
	const char *unit = t->columns[1].unit;
	bool sorted = unit && strcmp(unit, "ns") == 0;
	VEC(struct row_at) rows = { .n = 0 };
	size_t n = t->n - 1;

	for (size_t i = 0; i < all->n; i++) {
		struct table part = { .a = x->a };
		t->rows(all->v[i].u, &part);
		for (size_t k = 0; k + n <= part.cells.n; k += n)
			VEC_PUSH(
			        x->a, &rows, ((struct row_at){ &part.cells.v[k], all->v[i].name }));
	}
	const uint32_t *order = sort_order(x->a, rows.n, by_first_number, rows.v);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row_at *row = &rows.v[sorted ? order[i] : (uint32_t)i];
		table_text(x, row->worker);
		for (size_t k = 0; k < n; k++)
			VEC_PUSH(x->a, &x->cells, row->cells[k]);
	}
}

/* Makes one table with all its rows. */
static void fill(const struct device_workers *all, const struct device_table *t, struct table *x)
{
	bool named = all->v[0].name.p;

	*x = (struct table){ .a = x->a,
		.key = t->name,
		.title = t->title,
		.columns = t->columns + !named,
		.titles = t->titles + !named,
		.n_columns = t->n - !named };
	if (named)
		fill_workers(all, t, x);
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
		[SPOOL_LOST_KERNELS] = "kernels_without_record",
		[SPOOL_LOST_UNREAD] = "unread_by_cupti",
		[SPOOL_LOST_NAMES] = "names_shortened_or_shared",
		[SPOOL_LOST_RUNNING] = "not_ended" };
	const struct device_use *u = use;
	int64_t open = 0;

	for (uint32_t i = 0; i < u->processes.n; i++)
		open += !gpu_facts(u, i)->ended;
	document_key(d, "lost");
	json_object(&d->j);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		document_i64(d, why[i], num_from_u64(u->lost.n[i]));
	document_i64(d, "damaged_bytes", num_from_u64(u->damaged));
	document_i64(d, "operations_without_times", num_from_u64(u->untimed));
	document_i64(d, "operations_in_sums_only", num_from_u64(u->summed));
	document_i64(d, "times_not_recorded", num_from_u64(u->gaps));
	document_i64(d, "ns_not_recorded", u->gap_ns);
	document_i64(d, "processes_not_closed", open);
	document_i64(d, "processes_not_compared", u->uncompared);
	document_key(d, "lower_bounds");
	json_array(&d->j);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		if (recording_is_bound(&u->lost, i))
			json_string(&d->j, str_of(why[i]));
	json_array_end(&d->j);
	json_object_end(&d->j);
}
