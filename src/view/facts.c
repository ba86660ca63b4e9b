/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what the inputs contain, for the command "summary".
 */
#include "view/facts.h"

#include "base/sort.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"
#include "trace/read/recording/recordings.h"

#define STREAM_ALL S("/stream:all")

/* ---- the model ---- */

static void count_nodes(const struct model *m, struct facts *out, struct arena *a)
{
	bool *seen = ARENA_ARRAY(a, m->strings.n, bool);

	out->nodes = m->nodes.n;
	out->edges = m->inputs.n;
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.v[i];
		out->params = num_add(out->params, n->params);
		out->types += !seen[n->op];
		seen[n->op] = true;
	}
}

static void find_peak(const struct model *m, const struct step *s, struct facts *out)
{
	struct mem_item item;

	for (uint32_t c = 0; c < s->n_cells; c++) {
		const uint8_t *p = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1];
		while (mem_next_of(&p, end, false, &item)) {
			if (item.in_use <= out->peak_bytes)
				continue;
			out->peak_bytes = item.in_use;
			out->peak_device = m->nodes.v[s->cell_node[c]].device;
		}
	}
}

/* ---- devices and steps of run metadata ---- */

/* The spans of a step, and for each of its devices the index among the summary's devices, or
 * ID_NONE. */
struct step_spans {
	const struct step *s;
	uint32_t *slot;
	bool untimed; /* true: the spans have no start times, so they are added up */
};

static int by_device_and_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_spans *x = ctx;
	uint32_t p = x->slot[x->s->span_device[a]], q = x->slot[x->s->span_device[b]];
	int64_t m = x->s->span_start[a], n = x->s->span_start[b];

	return p != q ? (p > q) - (p < q) : (m > n) - (m < n);
}

static uint32_t find_device(
        const struct model *m, uint32_t device, struct facts *out, struct arena *a)
{
	struct str name = device_name(m, device);

	if (str_ends(name, STREAM_ALL))
		name = str_sub(name, 0, name.n - STREAM_ALL.n);
	for (size_t i = 0; i < out->devices.n; i++)
		if (str_eq(out->devices.v[i].name, name))
			return (uint32_t)i;
	VEC_PUSH(a, &out->devices, ((struct device_summary){ .name = name, .worker = ID_NONE }));
	return (uint32_t)out->devices.n - 1;
}

/* True if the span is work of its device, not time in which the host submitted work to a GPU. */
static bool is_work(const struct model *m, const struct step *s, uint32_t span)
{
	uint32_t device = s->devices[s->span_device[span]];

	return s->span_kind[span] == SPAN_ACCELERATOR ||
	       (s->span_kind[span] == SPAN_CPU && !(m->devices.v[device].kind & DEVICE_GPU));
}

/* Finds the device of each span that is work. Returns the length of the step, ns. */
static int64_t find_slots(
        const struct model *m, const struct step_spans *x, struct facts *out, struct arena *keep)
{
	const struct step *s = x->s;
	int64_t first = INT64_MAX, last = INT64_MIN, sum = 0;

	memset(x->slot, 0xff, s->n_devices * sizeof *x->slot);
	for (uint32_t i = 0; i < s->n_spans; i++) {
		int64_t start = s->span_start[i], end = num_add(start, s->span_length[i]);
		if (s->span_kind[i] == SPAN_SEEN)
			continue;
		sum = num_add(sum, s->span_length[i]);
		first = start < first ? start : first;
		last = end > last ? end : last;
		uint32_t *slot = &x->slot[s->span_device[i]];
		if (!is_work(m, s, i) || *slot != ID_NONE)
			continue;
		*slot = find_device(m, s->devices[s->span_device[i]], out, keep);
		out->devices.v[*slot].host = s->span_kind[i] == SPAN_CPU;
	}
	if (x->untimed)
		return step_ns(s, sum);
	return last > first ? step_ns(s, num_sub(last, first)) : 0;
}

/* Adds the union of each device's spans to the device and to the step, and sets the length of the
 * step. a: scratch. */
static void add_step(const struct model *m, const struct step *s, struct facts *out,
        struct step_summary *to, struct arena *a, struct arena *keep)
{
	struct step_spans x = { s, ARENA_ARRAY(a, s->n_devices, uint32_t), step_is_untimed(s) };
	int64_t length = find_slots(m, &x, out, keep), until = INT64_MIN;
	uint32_t *order = sort_order(a, s->n_spans, by_device_and_start, &x), before = ID_NONE;

	for (uint32_t k = 0; k < s->n_spans; k++) {
		uint32_t i = order[k], slot = x.slot[s->span_device[i]];
		int64_t start = s->span_start[i], end = num_add(start, s->span_length[i]);
		if (k % 4096 == 4095)
			work_poll(a->work);
		if (!is_work(m, s, i))
			continue;
		struct device_summary *d = &out->devices.v[slot];
		if (slot != before) /* NOLINTNEXTLINE: find_slots has made room for each device */
			d->window = num_add(d->window, length);
		until = slot != before || until < start || x.untimed ? start : until;
		before = slot;
		if (end > until) {
			int64_t ns = step_ns(s, num_sub(end, until));
			int64_t *busy = d->host ? &to->host_busy : &to->device_busy;
			d->busy = num_add(d->busy, ns); /* NOLINT: as above */
			*busy = num_add(*busy, ns);
		}
		until = end > until ? end : until;
		to->slices++;
	}
	to->ns = length;
}

static void add_steps(
        const struct model *m, bool spans, struct facts *out, struct arena *a, struct arena *keep)
{
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		find_peak(m, s, out);
		if (!spans)
			continue;
		struct step_summary x = { .id = s->id, .worker = s->worker };
		add_step(m, s, out, &x, a, keep);
		if (x.ns > 0)
			VEC_PUSH(keep, &out->steps, x);
		arena_clear(a);
	}
}

/* ---- traces and recordings ---- */

static void add_device(struct facts *out, const struct trace_steps *steps,
        const struct device_usage *u, struct str name, uint32_t worker, struct arena *a)
{
	const struct trace *t = steps->t;
	struct device_summary d = { .name = name,
		.worker = worker,
		.window = trace_ns(t, u->window),
		.busy = trace_ns(t, u->times.busy),
		.host = t->devices.v[u->device].kind == DEVICE_KIND_CPU,
		.causes = true,
		.step = step_time_partition(steps, u) };

	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		d.idle[i] = usage_idle_ns(t, &u->times, i);
	VEC_PUSH(a, &out->devices, d);
}

/* Adds the steps that count in averages. */
static void add_trace_steps(
        struct facts *out, const struct trace_steps *steps, uint32_t worker, struct arena *a)
{
	for (size_t i = 0; i < steps->steps.n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		struct step_summary x = { .id = s->id,
			.worker = worker,
			.ns = trace_ns(steps->t, num_sub(s->end, s->start)) };
		if (x.ns > 0 && trace_step_counts(steps, i))
			VEC_PUSH(a, &out->steps, x);
	}
}

/* Adds the devices and steps of a trace. */
static void add_trace(const struct model_trace *of, struct facts *out, struct arena *a)
{
	const struct trace *t = of->t;
	uint32_t worker = of->worker;
	struct trace_links links;
	struct trace_steps steps;
	struct trace_usage usage;

	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	trace_steps_find_work(&steps, &links);
	trace_usage(t, &(struct usage_request){ .links = &links, .steps = &steps }, &usage, a);
	VEC_PUSH(a, &out->times, ((struct worker_step_time){ worker, step_time_of(&steps, a) }));
	for (size_t i = 0; i < usage.devices.n; i++) {
		const struct device_usage *u = &usage.devices.v[i];
		add_device(out, &steps, u, trace_device_label(t, u->device, a), worker, a);
	}
	out->marks = steps.by != STEPS_UNKNOWN;
	add_trace_steps(out, &steps, worker, a);
}

/* Adds the GPUs of a recording, and replaces the steps of its only worker, whose marks the model
 * does not store. Skips files that are no longer readable. */
static void add_recording(const struct model *m, const struct recording_set *files,
        const struct recording_options *how, struct facts *out, struct arena *a)
{
	struct recording_options options = *how;
	const struct recording_request ask = { .wants = ARG_BIT(ARG_STEP) | TRACE_LAUNCH_ARGS };
	struct err e = { .a = a };
	struct trace *t = trace_new(a);
	struct trace_steps steps;
	struct trace_usage usage;
	struct notes dropped;

	notes_init(&dropped, a);
	options.step_implied = true; /* as in steps and devices */
	if (!recording_trace(t, files, &options, &ask, &dropped, &e))
		return;
	trace_find_steps(t, &steps, a);
	trace_steps_find_work(&steps, NULL);
	trace_usage(t, &(struct usage_request){ .steps = &steps }, &usage, a);
	VEC_PUSH(a, &out->times, ((struct worker_step_time){ ID_NONE, step_time_of(&steps, a) }));
	if (m->workers.n <= 1 && m->steps.n) {
		out->steps.n = 0;
		add_trace_steps(out, &steps, m->steps.v[0]->worker, a);
	}
	for (size_t i = 0; i < usage.devices.n; i++) {
		const struct device_usage *u = &usage.devices.v[i];
		struct str model = trace_str(t, t->devices.v[u->device].model);
		struct str name = str_fmt(a, "%.*s%s%.*s", STR(trace_device_label(t, u->device, a)),
		        model.n ? " " : "", STR(model));
		add_device(out, &steps, u, name, ID_NONE, a);
	}
	out->marks = steps.by != STEPS_UNKNOWN;
}

/* ---- all ---- */

static int by_busy(const void *v, uint32_t a, uint32_t b)
{
	const struct device_summary *d = v;
	int order = (d[a].busy < d[b].busy) - (d[a].busy > d[b].busy);

	return d[a].host != d[b].host ? d[a].host - d[b].host : order;
}

static int by_length(const void *v, uint32_t a, uint32_t b)
{
	const struct step_summary *s = v;

	return (s[a].ns < s[b].ns) - (s[a].ns > s[b].ns);
}

void facts_find(const struct model *m, const struct recording_set *recording,
        const struct recording_options *how, struct facts *out, struct arena *a)
{
	struct scratch own;

	*out = (struct facts){ .peak_device = ID_NONE };
	scratch_open(&own, a->work);
	count_nodes(m, out, &own.a);
	scratch_close(&own);
	scratch_open(&own, a->work);
	add_steps(m, !m->traces.n && !model_is_sampled(m), out, &own.a, a);
	scratch_close(&own);
	out->marks = m->steps.n > 0 && !m->traces.n && !recording && !model_is_sampled(m);
	for (size_t i = 0; i < m->traces.n; i++)
		add_trace(&m->traces.v[i], out, a);
	if (recording) {
		out->devices.n = 0; /* the model stores single operations only up to a limit */
		add_recording(m, recording, how, out, a);
	}
	sort_array(a, out->devices.v, out->devices.n, sizeof *out->devices.v, by_busy);
	sort_array(a, out->steps.v, out->steps.n, sizeof *out->steps.v, by_length);
	if (out->steps.n)
		out->median = out->steps.v[out->steps.n / 2].ns;
}

static int by_id_and_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_time *v = ctx;

	if (v[a].id != v[b].id)
		return (v[a].id > v[b].id) - (v[a].id < v[b].id);
	return (v[a].ns < v[b].ns) - (v[a].ns > v[b].ns);
}

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_time *v = ctx;

	return (v[a].ns > v[b].ns) - (v[a].ns < v[b].ns);
}

struct step_time *facts_steps(const struct model *m, const struct recording_set *recording,
        const struct recording_options *how, size_t *n, struct arena *a)
{
	struct facts *f = ARENA_NEW(a, struct facts);
	size_t all = 0;

	facts_find(m, recording, how, f, a);
	struct step_time *v = ARENA_ARRAY(a, f->steps.n, struct step_time);
	for (size_t i = 0; i < f->steps.n; i++) {
		const struct step_summary *s = &f->steps.v[i];
		const struct step *step = model_step_of(m, s->worker, s->id, NULL);
		if (step && !step->excluded_from_average)
			v[all++] = (struct step_time){ s->id, s->ns };
	}
	sort_array(a, v, all, sizeof *v, by_id_and_time);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (!*n || v[*n - 1].id != v[i].id)
			v[(*n)++] = v[i];
	sort_array(a, v, *n, sizeof *v, by_time);
	return v;
}
