/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h: the rows of each table.
 */
#include "export/gpu_tables.h"

#include "base/num.h"
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

static void rows_gpus(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		table_number(to, d->number);
		table_number(to, num_sub(d->to, d->from));
		table_number(to, d->busy);
		table_number(to, d->busy_kernels);
		table_number(to, d->busy_copies);
		table_number(to, d->overlap);
		table_number(to, d->shared);
		put_count(to, d->kernels);
		table_text(to, d->gpu ? d->gpu->name : STR_NONE);
	}
}

static void put_idle(struct table *to, const struct gpu_device *d, int64_t ns, const char *why)
{
	if (!ns)
		return;
	table_number(to, d->number);
	table_number(to, ns);
	table_number(to, permille(ns, num_sub(num_sub(d->to, d->from), d->busy)));
	table_text(to, str_of(why));
}

static void rows_idle(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		put_idle(to, d, d->idle.host, "the host did other things");
		put_idle(to, d, d->idle.latency, "launch latency");
		put_idle(to, d, d->idle.waiting, "the host waited for the GPU");
		put_idle(to, d, d->idle.unknown, "not known: the launch is not recorded");
	}
}

/* A process does not use a GPU while others do. */
static void rows_processes(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		for (size_t k = 0; k < d->parts.n; k++) {
			const struct gpu_part *p = &u->parts.v[d->parts.v[k]];
			const struct process_identity *who = &gpu_facts(u, p->process)->who;
			table_number(to, d->number);
			table_number(to, who->pid);
			table_number(to, p->busy);
			table_number(to, num_sub(d->busy, p->busy));
			table_number(to, num_sub(num_sub(d->to, d->from), d->busy));
			put_count(to, p->kernels);
			table_text(to, who->program);
		}
	}
}

static void rows_latency(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		const struct hist *h = &d->latency;
		int64_t time = num_sub(d->to, d->from);
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

static void rows_communication(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->devices.n; i++) {
		const struct gpu_device *d = &u->devices.v[i];
		if (!d->busy_communication)
			continue;
		table_number(to, d->number);
		table_number(to, d->busy_communication);
		table_number(to, d->hidden);
		table_number(to, num_sub(d->busy_communication, d->hidden));
		table_number(to, permille(d->hidden, d->busy_communication));
	}
}

/* ---- by name ---- */

static void rows_calls(const struct gpu_use *u, struct table *to)
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

static void rows_times(const struct gpu_list *list, struct table *to)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct gpu_times *t = &list->v[i];
		table_number(to, gpu_total(t));
		put_count(to, gpu_count(t));
		put_quantile(to, &t->h, 500);
		put_quantile(to, &t->h, 990);
		table_number(to, gpu_min(t));
		table_number(to, gpu_max(t));
		table_text(to, t->name);
	}
}

static void rows_waits(const struct gpu_use *u, struct table *to)
{
	rows_times(&u->waits, to);
}

static void rows_kernels(const struct gpu_use *u, struct table *to)
{
	rows_times(&u->kernels, to);
}

static struct str triple(struct arena *a, const uint32_t v[3])
{
	return str_fmt(a, "%u,%u,%u", v[0], v[1], v[2]);
}

static uint32_t capability_of(const struct gpu_use *u, const struct gpu_shape *s)
{
	const struct recorded_gpu *gpu = u->parts.v[s->part].gpu;

	return gpu ? gpu->capability : 0;
}

static void put_shape(const struct gpu_use *u, const struct gpu_times *t, struct table *to)
{
	const struct gpu_shape *s = gpu_shapes_first(t->shapes);
	int occupancy = gpu_occupancy(s, capability_of(u, s));

	put_count(to, s->count);
	put_count(to, t->shapes->n + (t->shapes->others != 0));
	table_text(to, triple(u->a, s->grid));
	table_text(to, triple(u->a, s->block));
	table_number(to, s->registers);
	put_count(to, (uint64_t)s->static_shared + s->dynamic_shared);
	if (occupancy < 0)
		table_null(to);
	else
		table_number(to, occupancy);
	table_text(to, t->name);
}

static void rows_launches(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->kernels.n; i++)
		if (u->kernels.v[i].shapes)
			put_shape(u, &u->kernels.v[i], to);
}

/* ---- ranges and steps ---- */

static struct str range_path(const struct gpu_use *u, uint32_t scope)
{
	struct sb b = sb_in(u->a);

	names_put_scope(&u->all.names, &b, scope);
	return sb_str(&b);
}

static int by_device_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct gpu_use *u = ctx;
	int64_t x = u->ranges.v[a].total, y = u->ranges.v[b].total;

	return x != y ? x < y ? 1 : -1 : 0;
}

/* The first range holds everything outside of ranges. */
static void rows_ranges(const struct gpu_use *u, struct table *to)
{
	const uint32_t *order = sort_order(u->a, u->ranges.n, by_device_time, u);

	for (size_t i = 0; i < u->ranges.n; i++) {
		const struct gpu_range *r = &u->ranges.v[order[i]];
		if (order[i] == SCOPE_NONE || (!r->count && !r->total))
			continue;
		table_number(to, r->total);
		table_number(to, r->device);
		put_count(to, r->operations);
		table_number(to, r->host);
		put_count(to, r->count);
		table_text(to, range_path(u, order[i]));
	}
}

/* Interval from boundary i to its end: the profiler's stop, or the next boundary. */
static void put_step_time(const struct recorded_process *p, size_t i, struct table *to)
{
	uint64_t end = 0;

	if (p->every) {
		put_count(to, p->every);
		return;
	}
	if (i < p->ends.n && p->ends.v[i] != UINT64_MAX)
		end = p->ends.v[i];
	else if (i + 1 < p->boundaries.n)
		end = p->boundaries.v[i + 1];
	if (end < p->boundaries.v[i])
		table_null(to);
	else
		put_count(to, end - p->boundaries.v[i]);
}

/* With --keep-warmup step 0 is the time before the first boundary. */
static void rows_steps_of(const struct gpu_use *u, const struct gpu_process *x, struct table *to)
{
	const struct recorded_process *p = x->from;
	size_t warmup = u->all.o->keep_warmup && !p->every,
	       all = p->boundaries.n + warmup > x->steps.n ? p->boundaries.n + warmup : x->steps.n;

	for (size_t i = 0; i < all; i++) {
		struct gpu_step s = i < x->steps.n ? x->steps.v[i] : (struct gpu_step){ 0 };
		bool bounded = i >= warmup && i - warmup < p->labels.n;
		struct str label = bounded ? p->labels.v[i - warmup] : S("");
		table_number(to, s.device);
		put_count(to, s.operations);
		if (bounded || p->every)
			put_step_time(p, i - warmup, to);
		else
			table_null(to);
		table_number(to, p->facts.who.pid);
		table_text(to, label.n ? label : str_fmt(u->a, "%zu", i));
	}
}

static void rows_steps(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->processes.n; i++)
		if (u->processes.v[i].steps.n)
			rows_steps_of(u, &u->processes.v[i], to);
}

/* ---- copies, graphs, memory, overhead ---- */

static void rows_copies(const struct gpu_use *u, struct table *to)
{
	for (unsigned way = 0; way < WAY_N; way++)
		for (unsigned host = 0; host < HOST_MEMORY_N; host++)
			for (unsigned size = 0; size < GPU_SIZES; size++) {
				const struct gpu_copies *c = &u->copies[way][host][size];
				if (!c->count)
					continue;
				table_number(to, c->ns);
				put_count(to, c->count);
				table_number(to, c->bytes);
				table_number(to, c->ns > 0 ? num_from_real((double)c->bytes /
				                                           (double)c->ns * 1e9)
				                           : 0);
				table_text(to, str_of(gpu_ways[way]));
				table_text(to, str_of(gpu_host_memories[host]));
				table_text(to, str_of(gpu_sizes[size]));
			}
}

static void rows_graphs(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->graphs.n; i++) {
		const struct gpu_graph *g = &u->graphs.v[i];
		table_number(to, g->ns);
		put_count(to, g->launches);
		put_count(to, g->nodes);
		table_number(to, gpu_facts(u, g->process)->who.pid);
		table_number(to, g->number);
	}
}

static void rows_memory(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->parts.n; i++)
		for (unsigned kind = 0; kind < MEMORY_KIND_N; kind++) {
			const struct gpu_part *p = &u->parts.v[i];
			const struct gpu_memory *m = &p->memory[kind];
			if (!m->allocations)
				continue;
			table_number(to, m->peak);
			table_number(to, m->live);
			table_number(to, m->bytes);
			put_count(to, m->allocations);
			put_count(to, m->frees);
			table_number(to, gpu_facts(u, p->process)->who.pid);
			table_number(to, p->local);
			table_text(to, str_of(gpu_memory_kinds[kind]));
		}
}

static void rows_overhead(const struct gpu_use *u, struct table *to)
{
	for (size_t i = 0; i < u->n_overheads; i++) {
		const struct hist *h = &u->overheads[i].h;
		bool rest = i == GPU_OVERHEADS - 1;
		table_number(to, h->sum);
		put_count(to, h->n);
		table_number(to, hist_quantile(h, 500));
		table_number(to, h->max);
		table_text(to, str_of(rest ? "other" : gpu_overhead_name(u->overheads[i].kind)));
	}
}

#define TIMES                                                                                      \
	{ "total_ns", "total", GPU_NS }, { "count", "count", GPU_COUNT },                          \
	        { "median_ns", "median", GPU_NS },                                                 \
	{                                                                                          \
		"p99_ns", "p99", GPU_NS                                                            \
	}

const struct gpu_table gpu_tables[] = {
	{ "gpus", "GPUs", true, false,
	        { { "gpu", "gpu", GPU_COUNT }, { "time_ns", "time", GPU_NS },
	                { "busy_ns", "busy", GPU_NS }, { "kernel_busy_ns", "kernels", GPU_NS },
	                { "copy_busy_ns", "copies", GPU_NS }, { "overlap_ns", "overlap", GPU_NS },
	                { "shared_ns", "shared", GPU_NS }, { "kernels", "launched", GPU_COUNT },
	                { "name", "name", GPU_TEXT } },
	        rows_gpus },
	{ "idle", "Why GPUs were idle", false, true,
	        { { "gpu", "gpu", GPU_COUNT }, { "ns", "time", GPU_NS },
	                { "permille", "share", GPU_PERMILLE }, { "why", "why", GPU_TEXT } },
	        rows_idle },
	{ "processes", "Processes on GPUs", true, false,
	        { { "gpu", "gpu", GPU_COUNT }, { "pid", "pid", GPU_COUNT },
	                { "busy_ns", "busy", GPU_NS }, { "others_ns", "others", GPU_NS },
	                { "idle_ns", "idle", GPU_NS }, { "kernels", "kernels", GPU_COUNT },
	                { "program", "program", GPU_TEXT } },
	        rows_processes },
	{ "latency", "From a call to the start of its work", false, true,
	        { { "gpu", "gpu", GPU_COUNT }, { "count", "count", GPU_COUNT },
	                { "median_ns", "median", GPU_NS }, { "p99_ns", "p99", GPU_NS },
	                { "max_ns", "max", GPU_NS },
	                { "queued_thousandths", "queued", GPU_THOUSANDTHS } },
	        rows_latency },
	{ "communication", "Communication", false, true,
	        { { "gpu", "gpu", GPU_COUNT }, { "total_ns", "total", GPU_NS },
	                { "hidden_ns", "hidden", GPU_NS }, { "exposed_ns", "exposed", GPU_NS },
	                { "hidden_permille", "hidden", GPU_PERMILLE } },
	        rows_communication },
	{ "calls", "Calls of the CUDA API", false, true,
	        { TIMES, { "blocking_ns", "blocked", GPU_NS }, { "name", "call", GPU_TEXT } },
	        rows_calls },
	{ "waits", "Calls in which the host waited", true, false,
	        { TIMES, { "min_ns", "min", GPU_NS }, { "max_ns", "max", GPU_NS },
	                { "name", "call", GPU_TEXT } },
	        rows_waits },
	{ "kernels", "Kernels", true, false,
	        { TIMES, { "min_ns", "min", GPU_NS }, { "max_ns", "max", GPU_NS },
	                { "name", "kernel", GPU_TEXT } },
	        rows_kernels },
	{ "launches", "Launch configurations", false, false,
	        { { "count", "count", GPU_COUNT }, { "shapes", "of", GPU_COUNT },
	                { "grid", "grid", GPU_TEXT }, { "block", "block", GPU_TEXT },
	                { "registers", "registers", GPU_COUNT },
	                { "shared_bytes", "shared", GPU_BYTES },
	                { "occupancy_permille", "occupancy", GPU_PERMILLE },
	                { "name", "kernel", GPU_TEXT } },
	        rows_launches },
	{ "ranges", "Work by ranges", false, false,
	        { { "total_ns", "total", GPU_NS }, { "own_ns", "own", GPU_NS },
	                { "operations", "own work", GPU_COUNT }, { "host_ns", "host", GPU_NS },
	                { "count", "entered", GPU_COUNT }, { "path", "range", GPU_TEXT } },
	        rows_ranges },
	{ "steps", "Work by steps", false, false,
	        { { "device_ns", "work", GPU_NS }, { "operations", "operations", GPU_COUNT },
	                { "time_ns", "time", GPU_NS }, { "pid", "pid", GPU_COUNT },
	                { "label", "step", GPU_TEXT } },
	        rows_steps },
	{ "copies", "Copies by memory and size", false, false,
	        { { "ns", "time", GPU_NS }, { "count", "count", GPU_COUNT },
	                { "bytes", "bytes", GPU_BYTES }, { "bytes_per_second", "rate", GPU_RATE },
	                { "way", "way", GPU_TEXT }, { "host_memory", "host memory", GPU_TEXT },
	                { "size", "size", GPU_TEXT } },
	        rows_copies },
	{ "graphs", "CUDA graphs", false, false,
	        { { "ns", "time", GPU_NS }, { "launches", "launches", GPU_COUNT },
	                { "nodes", "nodes", GPU_COUNT }, { "pid", "pid", GPU_COUNT },
	                { "graph", "graph", GPU_COUNT } },
	        rows_graphs },
	{ "memory", "Memory", false, false,
	        { { "peak_bytes", "peak", GPU_BYTES }, { "left_bytes", "left", GPU_BYTES },
	                { "bytes", "allocated", GPU_BYTES },
	                { "allocations", "allocations", GPU_COUNT },
	                { "frees", "frees", GPU_COUNT }, { "pid", "pid", GPU_COUNT },
	                { "gpu", "gpu", GPU_COUNT }, { "kind", "kind", GPU_TEXT } },
	        rows_memory },
	{ "overhead", "Overhead of recording", false, false,
	        { { "total_ns", "total", GPU_NS }, { "count", "count", GPU_COUNT },
	                { "median_ns", "median", GPU_NS }, { "max_ns", "max", GPU_NS },
	                { "kind", "kind", GPU_TEXT } },
	        rows_overhead },
};
const size_t gpu_tables_n = sizeof gpu_tables / sizeof *gpu_tables;
