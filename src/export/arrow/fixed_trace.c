/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a trace: steps, slices, kernels and devices, from its passes. Without a trace, the
 * rows come from fixed_model.c.
 */
#include "export/arrow/arrow.h"
#include "flops/peak.h"
#include "trace/pass/ops.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

struct trace_state {
	struct trace_links links;
	struct trace_steps steps;
	struct str *labels; /* indexed by device */
	/* State for the table of slices. */
	struct slice_iter it;
	bool open;      /* true: the iterator is in track at[0] */
	uint32_t *name; /* indexed by slice of a thread: its name, otherwise 0 */
	/* State for the tables of devices and steps. */
	struct trace_usage usage;
	struct step_usage *by_step;
};

/* Creates the state of a table. links, steps: true if the table needs these passes. */
static struct trace_state *open_trace(struct table_reader *x, bool links, bool steps)
{
	struct trace_state *s = ARENA_NEW(x->a, struct trace_state);

	if (links)
		trace_link(x->t, &s->links, x->a);
	if (steps)
		trace_find_steps(x->t, &s->steps, x->a);
	s->labels = ARENA_ARRAY(x->a, x->t->devices.n, struct str);
	for (uint32_t i = 0; i < x->t->devices.n; i++)
		s->labels[i] = trace_device_label(x->t, i, x->a);
	x->state = s;
	return s;
}

/* Returns ticks in the time unit of the tables. */
static int64_t time_ns(const struct trace *t, int64_t ticks)
{
	return t->epoch ? num_add(trace_ns(t, ticks), t->origin_ns) : trace_ns(t, ticks);
}

/* Adds exposed times and the causes of idle time. */
static void put_causes(struct arrow_build *to, const struct trace *t, const struct usage_times *u,
        const struct usage_partition *part)
{
	arrow_i64(to, part->communication);
	arrow_i64(to, part->copy);
	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		arrow_i64(to, usage_idle_ns(t, u, i));
}

/* ---- steps ---- */

static void put_step_us(const struct table_reader *x, struct arrow_build *to,
        const struct step *lowered, enum value which)
{
	if (lowered)
		arrow_real(to, model_step_us(x->m, lowered, which));
	else
		arrow_null(to);
}

static bool fill_steps(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct trace_state *state = x->state;
	const struct trace *t = x->t;
	size_t n = state->steps.steps.n;

	(void)scratch;
	for (; x->at[0] < n && !arrow_full(to); x->at[0]++) {
		const struct trace_step *s = &state->steps.steps.v[x->at[0]];
		const struct step_usage *u = &state->by_step[x->at[0]];
		const struct step *lowered = model_step(x->m, s->id);
		int64_t length = num_sub(s->end, s->start);
		const struct usage_partition part = usage_partition(
		        t, &u->times, num_mul(length, num_from_u64(state->usage.devices.n)), 1);
		bool work = u->slices > 0;
		table_put_run(x, to, 0);
		arrow_i64(to, s->id);
		arrow_text(to, trace_str(t, s->name));
		arrow_text(to, str_of(steps_by_names[state->steps.by]));
		arrow_i64(to, time_ns(t, s->start));
		arrow_i64(to, trace_ns(t, length));
		table_put(to, work, trace_ns(t, u->times.busy));
		table_put(to, work, part.idle);
		table_put(to, work, trace_ns(t, u->times.by_class[USAGE_COMPUTE]));
		table_put(to, work, trace_ns(t, u->times.by_class[USAGE_COMMUNICATION]));
		table_put(to, work, trace_ns(t, u->times.by_class[USAGE_COPY]));
		table_put(to, work, trace_ns(t, usage_overlap(&u->times)));
		arrow_i64(to, num_from_u64(u->slices));
		put_step_us(x, to, lowered, V_CPU_MICROS);
		put_step_us(x, to, lowered, V_ACCELERATOR_MICROS);
		arrow_i64(to, num_from_u64(state->usage.devices.n));
		put_causes(to, t, &u->times, &part);
	}
	return x->at[0] < n;
}

table_fill *table_open_steps(struct table_reader *x)
{
	if (!x->t)
		return fill_model_steps;
	struct trace_state *s = open_trace(x, true, true);
	s->by_step = ARENA_ARRAY(x->a, s->steps.steps.n, struct step_usage);
	const struct usage_request request = {
		.links = &s->links, .steps = &s->steps, .by_step = s->by_step
	};
	trace_usage(x->t, &request, &s->usage, x->a);
	return fill_steps;
}

/* ---- slices ---- */

static void put_slice(struct table_reader *x, struct arrow_build *to, const struct slice *s)
{
	static const char *const kinds[] = { [TRACK_THREAD] = "thread",
		[TRACK_STREAM] = "stream",
		[TRACK_LINE] = "line",
		[TRACK_COUNTER] = "counter" };
	const struct trace_state *state = x->state;
	const struct trace *t = x->t;
	const struct trace_track *k = &t->tracks.v[s->track];
	bool device = track_is_device(k);
	const struct launch *launch = device ? link_launch(&state->links, s) : NULL;
	uint32_t op = device ? link_op(&state->links, s, launch) : ID_NONE;
	int64_t bytes = 0;
	bool has_bytes = slice_has_int(t, s, ARG_BYTES, &bytes);

	table_put_run(x, to, 0);
	arrow_i64(to, state->steps.steps.v[trace_step_of(&state->steps, s, launch)].id);
	arrow_text(to, device ? state->labels[k->device] : STR_NONE);
	arrow_text(to, trace_str(t, k->name));
	arrow_text(to, str_of(kinds[k->kind]));
	table_put(to, k->process != ID_NONE,
	        k->process == ID_NONE ? 0 : t->processes.v[k->process].pid);
	arrow_i64(to, k->id);
	arrow_text(to, str_of(trace_category_names[s->category]));
	table_put_named_key(to, trace_str(t, s->name));
	arrow_text(to, op == ID_NONE ? STR_NONE : trace_str(t, state->name[op]));
	arrow_i64(to, time_ns(t, s->start));
	arrow_i64(to, trace_ns(t, s->length));
	table_put(to, s->correlation, s->correlation);
	table_put(to, has_bytes, bytes);
	arrow_i64(to, k->derived);
}

static bool fill_slices(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	struct trace_state *state = x->state;
	struct slice s;

	(void)scratch;
	for (; x->at[0] < x->t->tracks.n && !arrow_full(to); x->at[0]++, state->open = false) {
		if (!state->open)
			state->it = trace_slices(x->t, (uint32_t)x->at[0]);
		state->open = true;
		while (!arrow_full(to)) {
			if (!slice_next(&state->it, &s))
				break;
			if (s.form == SLICE_COMPLETE)
				put_slice(x, to, &s);
		}
		if (arrow_full(to))
			return true;
	}
	return x->at[0] < x->t->tracks.n;
}

table_fill *table_open_slices(struct table_reader *x)
{
	const struct trace *t = x->t;
	struct slice s;

	if (!t)
		return fill_model_slices;
	struct trace_state *state = open_trace(x, true, true);
	state->name = ARENA_ARRAY(x->a, t->n_slices, uint32_t);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		if (track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice_iter it = trace_slices(t, i); slice_next(&it, &s);)
			state->name[s.number] = s.name;
	}
	return fill_slices;
}

/* ---- kernels ---- */

static bool fill_kernels(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct model_trace *kept = &x->m->traces.v[0];
	const struct trace *t = x->t;

	(void)scratch;
	for (; x->at[0] < kept->n_kernels && !arrow_full(to); x->at[0]++) {
		const struct kernel_row *k = &kept->kernels[x->at[0]];
		table_put_run(x, to, 0);
		arrow_text(to, model_str(x->m, k->device));
		arrow_text(to, str_of(trace_category_names[k->category]));
		table_put_named_key(to, model_str(x->m, k->name));
		arrow_text(to, node_name(x->m, k->op));
		arrow_i64(to, num_from_u64(k->count));
		arrow_i64(to, trace_ns(t, k->total));
		arrow_i64(to, trace_ns(t, k->min));
		arrow_i64(to, trace_ns(t, k->max));
	}
	return x->at[0] < kept->n_kernels;
}

table_fill *table_open_kernels(struct table_reader *x)
{
	return x->t ? fill_kernels : fill_model_kernels;
}

/* ---- devices ---- */

/* Returns the maximum number of float operations per second of a device: from the file, otherwise
 * from the table of peaks. 0: unknown. */
static double find_peak(const struct trace *t, const struct trace_device *d)
{
	const struct peak *p = d->model == ID_NONE ? NULL : peak_find(trace_str(t, d->model));

	if (d->peak_flops > 0)
		return d->peak_flops;
	if (!p)
		return 0;
	double rate = peak_flops(p, NUMBERS_BF16);
	return rate > 0 ? rate : peak_flops(p, NUMBERS_F16);
}

static void put_device(
        const struct table_reader *x, struct arrow_build *to, const struct device_usage *u)
{
	const struct trace_state *state = x->state;
	const struct trace *t = x->t;
	const struct trace_device *d = &t->devices.v[u->device];
	int64_t span = trace_ns(t, num_sub(u->end, u->start)), busy = trace_ns(t, u->times.busy);
	const struct usage_partition part = usage_partition(t, &u->times, u->window, 1);

	table_put_run(x, to, 0);
	table_put_named_key(to, state->labels[u->device]);
	arrow_text(to, str_of(trace_device_kinds[d->kind]));
	arrow_text(to, trace_str(t, d->model));
	arrow_i64(to, time_ns(t, u->start));
	arrow_i64(to, span);
	arrow_i64(to, busy);
	arrow_i64(to, part.idle);
	for (int i = 0; i < USAGE_CLASS_N; i++)
		arrow_i64(to, trace_ns(t, u->times.by_class[i]));
	arrow_i64(to, trace_ns(t, usage_overlap(&u->times)));
	arrow_i64(to, u->copy_bytes);
	arrow_i64(to, num_from_u64(u->slices));
	table_put(to, d->memory > 0, d->memory);
	put_causes(to, t, &u->times, &part);
	arrow_i64(to, part.window);
	double peak = find_peak(t, d);
	if (peak > 0)
		arrow_real(to, peak);
	else
		arrow_null(to);
}

static bool fill_devices(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	const struct trace_state *state = x->state;

	(void)scratch;
	for (; x->at[0] < state->usage.devices.n && !arrow_full(to); x->at[0]++)
		put_device(x, to, &state->usage.devices.v[x->at[0]]);
	return x->at[0] < state->usage.devices.n;
}

table_fill *table_open_devices(struct table_reader *x)
{
	bool links = x->t != NULL; /* work of recordings has latencies */

	if (!links)
		x->t = x->recorded;
	if (!x->t)
		return fill_model_devices;
	struct trace_state *s = open_trace(x, links, false);
	trace_usage(x->t, &(struct usage_request){ .links = links ? &s->links : NULL }, &s->usage,
	        x->a);
	return fill_devices;
}
