/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_tables.h: rows of the tables that only recordings fill.
 */
#include "base/num.h"
#include "base/sort.h"
#include "export/device_tables.h"

static void put_count(struct table *to, uint64_t n)
{
	table_number(to, num_from_u64(n));
}

static struct str triple(struct arena *a, const uint32_t v[3])
{
	return str_fmt(a, "%u,%u,%u", v[0], v[1], v[2]);
}

static uint32_t capability_of(const struct device_use *u, const struct gpu_shape *s)
{
	const struct recorded_gpu *gpu = u->parts.v[s->part].gpu;

	return gpu ? gpu->capability : 0;
}

static void put_shape(const struct device_use *u, const struct gpu_times *t, struct table *to)
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

void rows_launches(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->kernels.n; i++)
		if (u->kernels.v[i].shapes)
			put_shape(u, &u->kernels.v[i], to);
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

/* The first range holds everything outside of ranges. */
void rows_ranges(const struct device_use *u, struct table *to)
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
static void rows_steps_of(const struct device_use *u, const struct gpu_process *x, struct table *to)
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

void rows_steps(const struct device_use *u, struct table *to)
{
	for (size_t i = 0; i < u->processes.n; i++)
		if (u->processes.v[i].steps.n)
			rows_steps_of(u, &u->processes.v[i], to);
}

/* ---- copies, graphs, memory, overhead ---- */

void rows_copies(const struct device_use *u, struct table *to)
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
				table_number(to, copies_rate(c));
				table_text(to, str_of(gpu_ways[way]));
				table_text(to, str_of(gpu_host_memories[host]));
				table_text(to, str_of(gpu_sizes[size]));
			}
}

void rows_graphs(const struct device_use *u, struct table *to)
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

void rows_memory(const struct device_use *u, struct table *to)
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

void rows_overhead(const struct device_use *u, struct table *to)
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
