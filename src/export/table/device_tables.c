/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of devices, calls and memory.
 */
#include "export/table/device_tables.h"

#include "base/sort.h"
#include "trace/pass/idle_place.h"

/* ---- values of columns ---- */

/* Returns the ratio part / whole in thousandths. */
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
	return usage_partition(u->t, &d->usage.times, d->usage.window, 1).idle;
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

/* Returns an identifier such as "GPU-1b4f28ba-2fa1-11d2-883f-0016d3cca427". */
static struct str device_uuid(struct arena *a, const struct recorded_gpu *g)
{
	return str_fmt(a, "GPU-%.*s", STR(recorded_gpu_uuid(a, g)));
}

#define TABLE_LIST "export/table/device_table.def"
#include "export/table/table_list.h"

/* ---- a row of each table ---- */

static void put_quantile(struct table *to, const struct hist *h, unsigned thousandths)
{
	table_number_if(to, h->n, hist_quantile(h, thousandths));
}

/* Appends the columns TIMES. all: time of all rows, ns. */
static void put_times(struct table *to, const struct gpu_times *t, int64_t all)
{
	table_number(to, gpu_total(t));
	table_number(to, permille(gpu_total(t), all));
	table_count(to, gpu_count(t));
	table_number(to, gpu_mean(t));
	put_quantile(to, &t->h, 500);
	put_quantile(to, &t->h, 990);
	table_number(to, gpu_min(t));
	table_number(to, gpu_max(t));
	table_number_if(to, t->h.n, num_from_real(hist_deviation(&t->h) + 0.5));
	table_text(to, t->name);
}

static void put_gpus(struct table *to, const struct device_use *u, const struct gpu_device *d)
{
	table_count(to, d->number);
	table_count(to, d->kernels);
	table_number(to, trace_ns(u->t, d->usage.times.kernels));
	table_number(to, trace_ns(u->t, usage_copy_overlap(&d->usage.times)));
	table_number(to, d->shared);
	table_count(to, d->gaps.n);
	put_quantile(to, &d->gaps, 500);
	put_quantile(to, &d->gaps, 990);
	put_quantile(to, &d->gaps, 1000);
	table_number(to, num_from_u64(d->from));
	table_number(to, num_from_u64(d->to));
	table_text_if(to, d->gpu && d->gpu->name.n, d->gpu ? d->gpu->name : STR_NONE);
	if (d->gpu && recorded_gpu_known(d->gpu))
		table_text(to, device_uuid(to->a, d->gpu));
	else
		table_null(to);
}

static void put_idle(struct table *to, const struct device_use *u, const struct gpu_device *d,
        int64_t ns, enum idle_cause why)
{
	table_count(to, d->number);
	table_number(to, ns);
	table_number(to, permille(ns, idle_of(u, d)));
	table_text(to, str_of(idle_names[why]));
	table_text(to, str_of(idle_texts[why]));
}

static void put_idle_places(
        struct table *to, uint32_t number, int64_t idle_ns, const struct idle_place *p)
{
	table_number(to, p->ns);
	table_number(to, permille(p->ns, idle_ns));
	table_count(to, number);
	table_text(to, str_of(idle_reason_names[p->reason]));
	table_text(to, str_of(idle_reason_texts[p->reason]));
	table_text(to, str_of(idle_place_kinds[p->kind]));
	table_text_if(to, p->waits_for.n > 0, p->waits_for);
	table_text(to, p->name);
}

static void put_latency(struct table *to, const struct gpu_device *d, const struct hist *h)
{
	table_count(to, d->number);
	table_count(to, h->n);
	table_number(to, hist_quantile(h, 500));
	table_number(to, hist_quantile(h, 990));
	table_number(to, h->max);
	/* Average number of operations that are queued at a time, by Little's law. */
	table_number(to, permille(h->sum, span_of(d)));
}

static void put_communication(
        struct table *to, const struct gpu_device *d, int64_t busy, int64_t hidden)
{
	table_count(to, d->number);
	table_number(to, busy);
	table_number(to, hidden);
	table_number(to, num_sub(busy, hidden));
	table_number(to, permille(hidden, busy));
	table_number(to, table_share(hidden, busy));
}

/* Appends the bytes of copies and their rate, which are unknown if the source states no bytes. */
static void put_bytes(struct table *to, const struct gpu_copies *c)
{
	table_number_if(to, c->bytes > 0, c->bytes);
	table_number_if(to, c->bytes > 0, copies_rate(c));
}

static void put_transfers(
        struct table *to, const struct gpu_device *d, const struct gpu_copies *c, const char *way)
{
	table_count(to, d->number);
	table_number(to, c->ns);
	table_count(to, c->count);
	put_bytes(to, c);
	table_text(to, str_of(way));
}

/* Appends the processes. others_ns: the time in which other processes used the GPU and this process
 * did not. */
static void put_processes(struct table *to, const struct device_use *u, const struct gpu_device *d,
        const struct gpu_part *p, const struct process_identity *who)
{
	table_count(to, d->number);
	table_number(to, who->pid);
	table_number(to, p->busy);
	table_number(to, num_sub(trace_ns(u->t, d->usage.times.busy), p->busy));
	table_number(to, idle_of(u, d));
	table_count(to, p->kernels);
	table_number_if(to, who->rank >= 0, who->rank);
	table_text_if(to, who->host.n, who->host);
	table_text_if(to, who->job.n, who->job);
	table_text_if(to, who->program.n, who->program);
}

static void put_calls(struct table *to, const struct gpu_times *t)
{
	table_number(to, gpu_total(t));
	table_count(to, gpu_count(t));
	put_quantile(to, &t->h, 500);
	put_quantile(to, &t->h, 990);
	table_number(to, t->blocking);
	table_text(to, t->name);
}

static void put_launches(
        struct table *to, const struct gpu_times *t, const struct gpu_shape *s, int occupancy)
{
	table_count(to, s->count);
	table_count(to, t->shapes->n + (t->shapes->others != 0));
	table_text(to, triple(to->a, s->grid));
	table_text(to, triple(to->a, s->block));
	table_count(to, s->registers);
	table_number(to, (int64_t)s->static_shared + s->dynamic_shared);
	table_number_if(to, occupancy >= 0, occupancy);
	table_text(to, t->name);
}

static void put_ranges(struct table *to, const struct gpu_range *r, struct str path)
{
	table_number(to, r->total);
	table_number(to, r->device);
	table_count(to, r->operations);
	table_number(to, r->host);
	table_count(to, r->count);
	table_text(to, path);
}

/* Appends a step. time: ns; -1 if unknown. */
static void put_steps(
        struct table *to, const struct gpu_step *s, int64_t time, int64_t pid, struct str label)
{
	table_number(to, s->device);
	table_count(to, s->operations);
	table_number_if(to, time >= 0, time);
	table_number(to, pid);
	table_text(to, label);
}

static void put_copies(struct table *to, const struct gpu_copies *c, const char *way,
        const char *memory, const char *size)
{
	table_number(to, c->ns);
	table_count(to, c->count);
	put_bytes(to, c);
	table_text(to, str_of(way));
	table_text(to, str_of(memory));
	table_text(to, str_of(size));
}

static void put_graphs(struct table *to, const struct device_use *u, const struct gpu_graph *g)
{
	table_number(to, g->ns);
	table_count(to, g->launches);
	if (g->launches)
		table_number(to, num_div(g->ns, num_from_u64(g->launches)));
	else
		table_null(to);
	table_count(to, g->nodes);
	table_number(to, gpu_facts(u, g->process)->who.pid);
	table_count(to, g->number);
}

static void put_memory(struct table *to, const struct device_use *u, const struct gpu_part *p,
        enum gpu_memory_kind kind)
{
	table_number(to, p->memory[kind].peak);
	table_number(to, p->memory[kind].live);
	table_number(to, p->memory[kind].bytes);
	table_count(to, p->memory[kind].allocations);
	table_count(to, p->memory[kind].frees);
	table_number(to, gpu_facts(u, p->process)->who.pid);
	table_count(to, p->local);
	table_text(to, str_of(gpu_memory_kinds[kind]));
}

static void put_overhead(struct table *to, const struct hist *h, const char *kind)
{
	table_number(to, h->sum);
	table_count(to, h->n);
	table_number(to, hist_quantile(h, 500));
	table_number(to, h->max);
	table_text(to, str_of(kind));
}

/* ---- rows by GPU ---- */

static void rows_gpus(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; !u->of_step && i < u->devices.n; i++)
		put_gpus(to, u, &u->devices.v[i]);
}

static void rows_idle(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		for (enum idle_cause why = 0; why < IDLE_CAUSES; why++)
			if (d->usage.times.idle[why])
				put_idle(to, u, d, usage_idle_ns(u->t, &d->usage.times, why), why);
	}
}

/* An idle place of a device. */
struct place_of {
	const struct idle_of_device *d;
	const struct idle_place *p;
};

static int by_place_time(const void *v, uint32_t a, uint32_t b)
{
	const struct place_of *x = v;

	return (x[a].p->ns < x[b].p->ns) - (x[a].p->ns > x[b].p->ns);
}

/* Makes the rows of the idle places of all devices, longest first. A recording has none, because
 * its calls are not stored. */
static void rows_idle_places(const struct device_use *u, struct table *to)
{
	VEC(struct place_of) v = { .n = 0 };

	for (size_t i = 0; i < u->idle.devices.n; i++)
		for (size_t k = 0; k < u->idle.devices.v[i].places.n; k++)
			VEC_PUSH(to->a, &v,
			        ((struct place_of){ &u->idle.devices.v[i],
			                &u->idle.devices.v[i].places.v[k] }));
	sort_array(to->a, v.v, v.n, sizeof *v.v, by_place_time);
	for (size_t i = 0; i < v.n; i++)
		put_idle_places(
		        to, device_number(u, v.v[i].d->device), v.v[i].d->idle_ns, v.v[i].p);
}

static void rows_processes(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		for (size_t k = 0; k < d->parts.n; k++) {
			const struct gpu_part *p = &u->parts.v[d->parts.v[k]];
			put_processes(to, u, d, p, &gpu_facts(u, p->process)->who);
		}
	}
}

static void rows_latency(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		if (u->devices.v[i].latency.n)
			put_latency(to, &u->devices.v[i], &u->devices.v[i].latency);
}

static void rows_communication(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		int64_t busy = trace_ns(u->t, d->usage.times.by_class[USAGE_COMMUNICATION]);
		if (busy)
			put_communication(
			        to, d, busy, trace_ns(u->t, usage_overlap(&d->usage.times)));
	}
}

static void rows_transfers(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++)
		for (enum gpu_way way = 0; way < WAY_N; way++) {
			const struct gpu_device *d = &u->devices.v[i];
			if (d->ways[way].count)
				put_transfers(to, d, &d->ways[way], gpu_ways[way]);
		}
}

/* ---- rows by name ---- */

static void rows_calls(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->calls.n; i++)
		put_calls(to, &u->calls.v[i]);
}

static void rows_times(const struct gpu_times *v, size_t n, struct table *to)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all = num_add(all, gpu_total(&v[i]));
	for (size_t i = 0; i < n; i++)
		if (gpu_count(&v[i]))
			put_times(to, &v[i], all);
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

static void rows_launches(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->kernels.n; i++) {
		const struct gpu_times *t = &u->kernels.v[i];
		if (!t->shapes)
			continue;
		const struct gpu_shape *s = gpu_shapes_first(t->shapes);
		const struct recorded_gpu *gpu = u->parts.v[s->part].gpu;
		put_launches(to, t, s, gpu_occupancy(s, gpu ? gpu->capability : 0));
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

/* Makes the rows of the ranges. The first range represents work outside of all ranges. */
static void rows_ranges(const struct device_use *u, struct table *to)
{
	const uint32_t *order = sort_order(u->a, u->ranges.n, by_device_time, u);

	for (size_t i = 0; i < u->ranges.n; i++) {
		const struct gpu_range *r = &u->ranges.v[order[i]];
		if (order[i] != SCOPE_NONE && (r->count || r->total))
			put_ranges(to, r, range_path(u, order[i]));
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

/* Makes the rows of a process's steps. With --keep-warmup, step 0 is the time before the first
 * boundary. */
static void rows_steps_of(const struct device_use *u, const struct gpu_process *x, struct table *to)
{
	static const struct gpu_step none = { 0 };
	const struct recorded_process *p = x->from;
	size_t warmup = u->all.o->keep_warmup && !p->every,
	       all = p->boundaries.n + warmup > x->steps.n ? p->boundaries.n + warmup : x->steps.n;

	for (size_t i = 0; i < all; i++) {
		bool bounded = i >= warmup && i - warmup < p->labels.n;
		struct str label = bounded ? p->labels.v[i - warmup] : S("");
		put_steps(to, i < x->steps.n ? &x->steps.v[i] : &none,
		        bounded || p->every ? step_time(p, i - warmup) : -1, p->facts.who.pid,
		        label.n ? label : str_fmt(u->a, "%zu", i));
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
					put_copies(to, &u->copies[way][host][size], gpu_ways[way],
					        gpu_host_memories[host], gpu_sizes[size]);
}

static void rows_graphs(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->graphs.n; i++)
		put_graphs(to, u, &u->graphs.v[i]);
}

static void rows_memory(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->parts.n; i++)
		for (enum gpu_memory_kind kind = 0; kind < MEMORY_KIND_N; kind++)
			if (u->parts.v[i].memory[kind].allocations)
				put_memory(to, u, &u->parts.v[i], kind);
}

static void rows_overhead(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->n_overheads; i++) {
		const struct gpu_overhead *x = &u->overheads[i];
		bool rest = i == GPU_OVERHEADS - 1;
		put_overhead(to, &x->h, rest ? "other" : gpu_overhead_name(x->kind));
	}
}

/* ---- the tables ---- */

static const struct device_table {
	const char *name;             /* name in data outputs and for --table */
	const char *title;            /* heading in text */
	const struct column *columns; /* columns; the first is the worker */
	const char *const *titles;
	size_t n; /* number of columns including the worker */
	void (*rows)(const struct device_use *u, struct table *to);
} tables[] = {
#define TABLE(name, title, ...)                                                                    \
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

/* Adds the rows of several workers, each with its worker. Rows that begin with a time are sorted by
 * it. */
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

/* Fills one table with all its rows. */
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
