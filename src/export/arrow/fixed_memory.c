/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of memory: allocations of a trace, or the memory records of the model's steps, added up
 * by step, device and allocator.
 */
#include "device/memory_use.h"
#include "export/arrow/arrow.h"
#include "trace/pass/allocation.h"
#include "trace/pass/trace_steps.h"

struct memory_row {
	uint32_t worker;
	int64_t step;
	struct str device, allocator; /* p is NULL if unknown */
	int64_t allocations, frees, allocated;
	int64_t peak, reserved, capacity; /* negative: unknown */
};
struct memory_rows {
	VEC(struct memory_row) list;
	struct intern keys;  /* bytes of struct memory_key; its ids are row numbers */
	struct intern names; /* names of devices and allocators */
};
struct memory_key {
	int64_t step;
	uint32_t worker, device, allocator, pad;
};

static struct memory_row *row_of(struct memory_rows *to, uint32_t worker, int64_t step,
        struct str device, struct str allocator, struct arena *a)
{
	struct memory_key key = { .step = step,
		.worker = worker,
		.device = device.p ? intern_add(&to->names, device) : ID_NONE,
		.allocator = allocator.p ? intern_add(&to->names, allocator) : ID_NONE };
	uint32_t i = intern_add(&to->keys, str_make(&key, sizeof key));

	if (i == to->list.n)
		VEC_PUSH(a, &to->list,
		        ((struct memory_row){
		                worker, step, device, allocator, 0, 0, 0, -1, -1, -1 }));
	return &to->list.v[i];
}

static void raise_to(int64_t *most, int64_t v)
{
	*most = v > *most ? v : *most;
}

/* ---- a trace ---- */

static void add_allocation(struct memory_row *r, const struct allocation *x)
{
	if (x->freed) {
		r->frees++;
	} else {
		r->allocations++;
		r->allocated = num_add(r->allocated, x->bytes);
	}
	raise_to(&r->peak, x->in_use);
	raise_to(&r->peak, x->peak);
	raise_to(&r->reserved, x->reserved);
	raise_to(&r->capacity, x->capacity);
}

/* Raises the peaks of a pool of a memory snapshot, whose entries have no totals. A step lasts until
 * the next one begins, and includes the use at its start. */
static void add_use(const struct table_reader *x, const struct memory_pool *p,
        const struct trace_steps *steps, struct memory_rows *to)
{
	size_t k = 0;

	for (size_t i = 0; i < steps->steps.n && p->use.n; i++) {
		bool last = i + 1 == steps->steps.n;
		int64_t end = last ? INT64_MAX : trace_ns(x->t, steps->steps.v[i + 1].start);
		struct memory_row *r =
		        row_of(to, 0, steps->steps.v[i].id, p->device, p->allocator, x->a);
		raise_to(&r->peak, p->use.v[k].bytes);
		for (; k + 1 < p->use.n && p->use.v[k + 1].ns < end; k++)
			raise_to(&r->peak, p->use.v[k + 1].bytes);
		if (steps->steps.n == 1)
			raise_to(&r->reserved, p->reserved);
	}
}

/* Adds the pools of a memory snapshot, but not the sums of the devices. */
static void add_pools(
        const struct table_reader *x, const struct trace_steps *steps, struct memory_rows *to)
{
	const struct memory_request request = { .by = MEMORY_BY_KIND };
	struct memory_use use = { 0 };

	memory_use_snapshot(x->t, &request, &use, x->a);
	for (size_t i = 0; i < use.pools.n; i++)
		if (!use.pools.v[i].whole_device)
			add_use(x, &use.pools.v[i], steps, to);
}

static void collect_trace(const struct table_reader *x, struct memory_rows *to)
{
	const struct trace *t = x->t;
	const struct str *labels = allocation_labels(t, x->a);
	struct trace_steps steps;
	struct allocation of;
	struct slice s;

	trace_find_steps(t, &steps, x->a);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		for (struct slice_iter it = trace_slices(t, i); slice_next(&it, &s);) {
			if (!allocation_of(t, &s, labels, &of))
				continue;
			uint32_t step = trace_step_of(&steps, &s, NULL);
			add_allocation(row_of(to, 0, steps.steps.v[step].id, of.device,
			                       of.allocator, x->a),
			        &of);
		}
	}
	if (t->source == TRACE_SNAPSHOT)
		add_pools(x, &steps, to);
	for (size_t i = 0; i < to->list.n; i++)
		if (to->list.v[i].capacity < 0)
			to->list.v[i].capacity =
			        allocation_capacity(t, labels, to->list.v[i].device);
}

/* ---- a model ---- */

static void add_records(struct memory_row *r, const struct step *s, uint32_t c)
{
	const uint8_t *item = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];

	for (struct mem_item m; mem_next(&item, end, &m);) {
		if (m.allocation && m.bytes < 0) {
			r->frees++;
		} else if (m.allocation) {
			r->allocations++;
			r->allocated = num_add(r->allocated, m.bytes);
		}
		raise_to(&r->peak, m.in_use > 0 ? m.in_use : -1);
	}
}

static void collect_model(const struct table_reader *x, struct memory_rows *to)
{
	const struct model *m = x->m;

	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		for (uint32_t c = 0; c < s->n_cells; c++) {
			if (s->cell_mem0[c] == s->cell_mem0[c + 1])
				continue;
			struct str device = device_name(m, m->nodes.v[s->cell_node[c]].device);
			add_records(row_of(to, s->worker, s->id, device, STR_NONE, x->a), s, c);
		}
	}
}

/* ---- rows ---- */

static bool fill_memory(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct memory_rows *rows = x->state;

	(void)scratch;
	for (; x->at[0] < rows->list.n && !arrow_full(to); x->at[0]++) {
		const struct memory_row *r = &rows->list.v[x->at[0]];
		table_put_run(x, to, r->worker);
		arrow_i64(to, r->step);
		table_put_named_key(to, r->device);
		arrow_text(to, r->allocator);
		arrow_i64(to, r->allocations);
		arrow_i64(to, r->frees);
		arrow_i64(to, r->allocated);
		table_put(to, r->peak >= 0, r->peak);
		table_put(to, r->reserved >= 0, r->reserved);
		table_put(to, r->capacity >= 0, r->capacity);
	}
	return x->at[0] < rows->list.n;
}

table_fill *table_open_memory(struct table_reader *x)
{
	struct memory_rows *rows = ARENA_NEW(x->a, struct memory_rows);

	intern_init(&rows->keys, x->a);
	intern_init(&rows->names, x->a);
	if (x->t)
		collect_trace(x, rows);
	else
		collect_model(x, rows);
	x->state = rows;
	return fill_memory;
}
