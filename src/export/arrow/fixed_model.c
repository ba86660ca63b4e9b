/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a model without a trace: steps, slices, kernels and devices, from the timed executions
 * of its steps.
 */
#include "base/sort.h"
#include "export/arrow/arrow.h"

/* ---- timed executions ---- */

/* A timed execution; times are nanoseconds. */
struct timed {
	uint32_t device; /* device of the model */
	int64_t start, end;
};
struct timed_list {
	VEC(struct timed) list;
	int64_t untimed; /* end of the executions without start times, which are laid end to end */
};

static bool is_timed(const struct step *s, uint32_t span)
{
	return s->span_kind[span] != SPAN_SEEN;
}

static struct timed timed_of(const struct step *s, uint32_t span)
{
	int64_t base = num_mul(s->base_us, 1000);
	int64_t start = num_add(base, step_ns(s, s->span_start[span]));

	return (struct timed){ s->devices[s->span_device[span]], start,
		num_add(start, step_ns(s, s->span_length[span])) };
}

static int by_device_and_start(const void *v, uint32_t a, uint32_t b)
{
	const struct timed *x = (const struct timed *)v + a, *y = (const struct timed *)v + b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct timed *x = (const struct timed *)v + a, *y = (const struct timed *)v + b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Adds the cells of a step. accelerators: add only cells on accelerators. */
static void collect(struct timed_list *to, const struct step *s, bool accelerators, struct arena *a)
{
	bool untimed = step_is_untimed(s);

	for (uint32_t i = 0; i < s->n_spans; i++) {
		struct timed t = timed_of(s, i);
		if (accelerators ? s->span_kind[i] != SPAN_ACCELERATOR : !is_timed(s, i))
			continue;
		if (untimed) {
			t.start = num_add(t.start, to->untimed);
			t.end = num_add(t.end, to->untimed);
			to->untimed = num_add(to->untimed, num_sub(t.end, t.start));
		}
		VEC_PUSH(a, &to->list, t);
	}
}

/* Returns the time that n executions, sorted by start, cover together. Sets *end to their last
 * end. */
static int64_t covered(const struct timed *v, size_t n, int64_t *end)
{
	int64_t sum = 0, until = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i].start > until ? v[i].start : until;
		if (v[i].end <= until)
			continue;
		sum = num_add(sum, num_sub(v[i].end, from));
		until = v[i].end;
	}
	*end = n && until == INT64_MIN ? v[0].start : until;
	return sum;
}

double model_step_us(const struct model *m, const struct step *s, enum value which)
{
	int64_t sum = 0;

	for (uint32_t c = 0; c < s->n_cells; c++)
		sum = num_sum(sum, step_value(s, c, model_ticks(m), which));
	return fraction_real(model_fraction(m, 1, which, sum));
}

/* ---- steps ---- */

static void put_step(const struct table_reader *x, struct arrow_build *to, const struct step *s,
        struct arena *scratch)
{
	struct timed_list work = { 0 };
	struct model_times times = { 0 };
	int64_t last;

	collect(&work, s, true, scratch);
	sort_array(scratch, work.list.v, work.list.n, sizeof *work.list.v, by_start);
	int64_t busy = covered(work.list.v, work.list.n, &last);
	model_times_add(&times, s);
	int64_t length = num_sub(times.end, times.start);
	table_put_run(x, to, s->worker);
	arrow_i64(to, s->id);
	arrow_null(to);
	arrow_text(to, S("file"));
	table_put(to, times.any, times.start);
	table_put(to, times.any, length);
	table_put(to, work.list.n, busy);
	table_put(to, work.list.n, num_sub(length, busy));
	for (int i = 0; i < 4; i++) /* compute, communication, copy, overlap */
		arrow_null(to);
	arrow_i64(to, num_from_u64(times.n));
	arrow_real(to, model_step_us(x->m, s, V_CPU_MICROS));
	arrow_real(to, model_step_us(x->m, s, V_ACCELERATOR_MICROS));
	for (int i = 0; i < 12; i++) /* devices, exposed times, causes of idle time */
		arrow_null(to);
}

bool fill_model_steps(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	for (; x->at[0] < x->m->steps.n && !arrow_full(to); x->at[0]++) {
		put_step(x, to, x->m->steps.v[x->at[0]], scratch);
		arena_clear(scratch);
	}
	return x->at[0] < x->m->steps.n;
}

/* ---- slices ---- */

static void put_slice(const struct table_reader *x, struct arrow_build *to, const struct step *s,
        uint32_t cell, uint32_t span)
{
	const struct model *m = x->m;
	struct timed t = timed_of(s, span);
	bool call = x->recording && s->span_kind[span] != SPAN_ACCELERATOR;

	table_put_run(x, to, s->worker);
	arrow_i64(to, s->id);
	arrow_text(to, call ? STR_NONE : device_name(m, t.device));
	arrow_null(to);
	arrow_null(to);
	arrow_null(to);
	arrow_null(to);
	arrow_text(to, call ? S("call") : x->recording ? S("kernel") : S("op"));
	table_put_named_key(to, node_name(m, s->cell_node[cell]));
	arrow_null(to);
	arrow_i64(to, t.start);
	arrow_i64(to, num_sub(t.end, t.start));
	arrow_null(to);
	arrow_null(to);
	arrow_i64(to, 0);
}

/* Appends slices. at: step and span; the cell is found by its spans. */
bool fill_model_slices(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	(void)scratch;
	for (; x->at[0] < x->m->steps.n && !arrow_full(to); x->at[0]++, x->at[1] = 0) {
		const struct step *s = x->m->steps.v[x->at[0]];
		uint32_t cell = 0;
		for (; x->at[1] < s->n_spans && !arrow_full(to); x->at[1]++) {
			uint32_t span = (uint32_t)x->at[1];
			while (cell < s->n_cells && s->cell_span0[cell + 1] <= span)
				cell++;
			if (cell < s->n_cells && is_timed(s, span))
				put_slice(x, to, s, cell, span);
		}
		if (x->at[1] < s->n_spans)
			return true;
	}
	return x->at[0] < x->m->steps.n;
}

/* ---- kernels ---- */

/* Accelerator work of an operation type on a device. */
struct type_row {
	uint32_t worker, type, device; /* string id, device of the model */
	int64_t count, total, min, max;
};
struct type_rows {
	VEC(struct type_row) list;
	struct intern keys; /* bytes of worker, type and device; its ids are row numbers */
};

static void add_execution(
        struct type_rows *to, uint32_t worker, uint32_t type, struct timed t, struct arena *a)
{
	uint32_t key[3] = { worker, type, t.device };
	uint32_t i = intern_add(&to->keys, str_make(key, sizeof key));
	int64_t length = num_sub(t.end, t.start);

	if (i == to->list.n)
		VEC_PUSH(a, &to->list,
		        ((struct type_row){ worker, type, t.device, 0, 0, length, length }));
	struct type_row *r = &to->list.v[i];
	r->count++;
	r->total = num_add(r->total, length);
	r->min = length < r->min ? length : r->min;
	r->max = length > r->max ? length : r->max;
}

static int by_total(const void *v, uint32_t a, uint32_t b)
{
	const struct type_row *x = (const struct type_row *)v + a,
	                      *y = (const struct type_row *)v + b;

	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->total < y->total) - (x->total > y->total);
}

static void collect_kernels(struct table_reader *x)
{
	const struct model *m = x->m;
	struct type_rows *rows = ARENA_NEW(x->a, struct type_rows);

	intern_init(&rows->keys, x->a);
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		for (uint32_t c = 0; c < s->n_cells; c++)
			for (uint32_t k = s->cell_span0[c]; k < s->cell_span0[c + 1]; k++)
				if (s->span_kind[k] == SPAN_ACCELERATOR)
					add_execution(rows, s->worker,
					        m->nodes.v[s->cell_node[c]].op, timed_of(s, k),
					        x->a);
	}
	sort_array(x->a, rows->list.v, rows->list.n, sizeof *rows->list.v, by_total);
	x->state = rows;
}

bool fill_model_kernels(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	(void)scratch;
	if (!x->state)
		collect_kernels(x);
	const struct type_rows *rows = x->state;
	for (; x->at[0] < rows->list.n && !arrow_full(to); x->at[0]++) {
		const struct type_row *r = &rows->list.v[x->at[0]];
		table_put_run(x, to, r->worker);
		arrow_text(to, device_name(x->m, r->device));
		arrow_text(to, x->recording ? S("kernel") : S("op"));
		table_put_named_key(to, model_str(x->m, r->type));
		arrow_null(to);
		arrow_i64(to, r->count);
		arrow_i64(to, r->total);
		arrow_i64(to, r->min);
		arrow_i64(to, r->max);
	}
	return x->at[0] < rows->list.n;
}

/* ---- devices ---- */

static struct str kind_name(const struct model *m, uint32_t device)
{
	unsigned kind = m->devices.v[device].kind;

	return kind & (DEVICE_GPU | DEVICE_ACCELERATOR) ? S("gpu")
	       : kind & DEVICE_CPU                      ? S("cpu")
	                                                : S("other");
}

/* Appends the row of a device from its n executions v, which it sorts by start. */
static void put_device(const struct table_reader *x, struct arrow_build *to, uint32_t worker,
        const struct timed *v, size_t n)
{
	int64_t end, busy = covered(v, n, &end), span = num_sub(end, v[0].start);

	table_put_run(x, to, worker);
	table_put_named_key(to, device_name(x->m, v[0].device));
	arrow_text(to, kind_name(x->m, v[0].device));
	arrow_null(to);
	arrow_i64(to, v[0].start);
	arrow_i64(to, span);
	arrow_i64(to, busy);
	arrow_i64(to, num_sub(span, busy));
	for (int i = 0; i < 5; i++) /* compute to copy_bytes */
		arrow_null(to);
	arrow_i64(to, (int64_t)n);
	for (int i = 0; i < 12; i++) /* memory, exposed times, causes of idle time */
		arrow_null(to);
	arrow_i64(to, span);
	arrow_null(to);
}

/* Appends the devices of the workers. at[0]: the next worker. */
bool fill_model_devices(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct model *m = x->m;
	size_t workers = m->workers.n ? m->workers.n : 1;

	for (; x->at[0] < workers && !arrow_full(to); x->at[0]++) {
		struct timed_list work = { 0 };
		for (size_t i = 0; i < m->steps.n; i++)
			if (m->steps.v[i]->worker == x->at[0])
				collect(&work, m->steps.v[i], x->recording, scratch);
		const struct timed *v = work.list.v;
		sort_array(scratch, work.list.v, work.list.n, sizeof *v, by_device_and_start);
		for (size_t i = 0, n; i < work.list.n; i += n) {
			for (n = 1; i + n < work.list.n && v[i + n].device == v[i].device;)
				n++;
			put_device(x, to, (uint32_t)x->at[0], &v[i], n);
		}
		arena_clear(scratch);
	}
	return x->at[0] < workers;
}
