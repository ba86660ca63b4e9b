/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the calls and copies of a trace that is not a recording.
 */
#include "base/num.h"
#include "device/device_calls.h"
#include "device/device_idle.h"
#include "device/device_memory.h"
#include "device/device_parts.h"
#include "device/device_ranges.h"

/* The launch configuration of a kernel, as far as its arguments state it. */
struct event_shape {
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	bool has_grid, has_block;
	bool read; /* true: the arguments of the event have been read */
};

struct trace_feed {
	struct device_use *u;
	const struct trace *t;
	struct arena *scratch;
	struct recorded_gpu *gpus;  /* indexed by device */
	uint32_t *parts;            /* indexed by track: 1 + its part, 0: none yet */
	uint32_t *kernel_of;        /* indexed by event: 1 + index in u->kernels, 0: none yet */
	struct event_shape *shapes; /* indexed by event: from the arguments of the event */
	uint32_t *scope_of;         /* indexed by launch: scope of the range around its call */
	struct gpu_call_feed calls;
};

static struct str string_of(const void *trace, uint32_t id)
{
	return trace_str(trace, id);
}

/* ---- times ---- */

/* Chooses the first time of the clock. It is 1 if the source has no absolute times, because 0 means
 * that a time is unknown. */
static void find_base(struct device_use *u)
{
	const struct trace *t = u->t;
	int64_t start, end, at = 0;

	bool any = trace_span(t, &start, &end);
	u->first = trace_ns(t, start);
	if (t->epoch && any)
		at = num_add(t->origin_ns, u->first);
	u->base = at > 0 ? (uint64_t)at : 1;
}

/* ---- processes and devices ---- */

/* Makes the steps of the trace the steps of all processes, which share the arrays. */
static void add_steps(struct device_use *u, const struct trace_steps *from)
{
	struct recorded_process *p = u->all.v;

	for (size_t i = 0; from->by != STEPS_UNKNOWN && i < from->steps.n; i++) {
		const struct trace_step *step = &from->steps.v[i];
		VEC_PUSH(u->a, &p->boundaries, device_time(u, step->start));
		VEC_PUSH(u->a, &p->ends, device_time(u, step->end));
		VEC_PUSH(u->a, &p->labels, str_fmt(u->a, "%lld", (long long)step->id));
	}
	for (size_t i = 1; i < u->all.n; i++) {
		p[i].boundaries = p->boundaries;
		p[i].ends = p->ends;
		p[i].labels = p->labels;
	}
}

/* Adds a process for each process of the trace, and one for tracks without a process. */
static void add_processes(struct trace_feed *f)
{
	static const struct recording_options no_options = { 0 };
	struct device_use *u = f->u;
	size_t n = f->t->processes.n + 1;
	struct recorded_process *v = ARENA_ARRAY(u->a, n, struct recorded_process);

	for (size_t i = 0; i < n; i++) {
		struct process_identity *who = &v[i].facts.who;
		process_identity_init(who);
		v[i].facts.ended = true;
		if (i < f->t->processes.n) {
			who->pid = f->t->processes.v[i].pid;
			who->rank = f->t->processes.v[i].rank;
			who->program = trace_str(f->t, f->t->processes.v[i].name);
		}
		VEC_PUSH(u->a, &u->processes, ((struct gpu_process){ .from = &v[i] }));
		VEC_PUSH(u->a, &u->process_of, (uint32_t)i);
	}
	u->all.o = &no_options;
	names_init(&u->all.names, u->a, &no_options, NULL); /* fails only for malformed patterns */
	u->all.v = v;
	u->all.n = n;
	add_steps(u, &f->u->steps);
}

/* Finds out if the device numbers of the source are unique. */
static void check_numbers(struct device_use *u, struct arena *scratch)
{
	const struct trace *t = u->t;
	struct imap known;

	imap_init(&known, scratch);
	u->unique = true;
	for (size_t i = 0; i < t->devices.n; i++) {
		int64_t index = t->devices.v[i].index;
		u->unique &= index >= 0 && index < UINT32_MAX &&
		             imap_put(&known, (uint64_t)index, 0, false);
	}
}

static void number_devices(struct trace_feed *f)
{
	const struct trace *t = f->t;
	struct device_use *u = f->u;

	check_numbers(u, f->scratch);
	f->gpus = ARENA_ARRAY(u->a, t->devices.n, struct recorded_gpu);
	for (uint32_t i = 0; i < t->devices.n; i++)
		f->gpus[i] = (struct recorded_gpu){ .number = device_number(u, i),
			.name = trace_str(t, t->devices.v[i].model),
			.used = true };
}

/* Returns the part of a track of a device. The tracks of one process on one device share a part. */
static struct gpu_part *part_of(struct trace_feed *f, uint32_t track)
{
	uint32_t device = f->t->tracks.v[track].device, process = device_process(f->u, track);
	struct device_use *u = f->u;

	if (!f->parts[track])
		f->parts[track] =
		        1 + device_part(u, process, f->gpus[device].number, &f->gpus[device]);
	return &u->parts.v[f->parts[track] - 1];
}

/* ---- slices ---- */

static void take_calls(struct trace_feed *f, uint32_t track)
{
	struct slice_iter it = trace_slices_if(f->t, track, CATEGORY_BIT(CATEGORY_CALL));

	for (struct slice s; slice_next(&it, &s);) {
		uint64_t start = device_time(f->u, s.start);
		struct spool_api call = { .start = start,
			.length = device_time(f->u, slice_end(&s)) - start,
			.name = s.name,
			.tid = track };
		if (s.form == SLICE_COMPLETE && s.category == CATEGORY_CALL)
			gpu_calls_take(&f->calls, string_of, f->t, &call);
	}
}

static enum gpu_way way_of(const struct trace *t, const struct slice *s)
{
	static const enum gpu_way ways[COPY_WAYS + 1] = { [COPY_HTOD] = WAY_HTOD,
		[COPY_DTOH] = WAY_DTOH,
		[COPY_DTOD] = WAY_DTOD,
		[COPY_PTOP] = WAY_PTOP,
		[COPY_HTOH] = WAY_HTOH,
		[COPY_WAYS] = WAY_OTHER };

	return s->category == CATEGORY_SET ? WAY_SET : ways[slice_copy_way(t, s)];
}

/* Counts a copy by the memory kinds in its name: "Memcpy HtoD (Pageable -> Device)". */
static void take_memory(
        struct trace_feed *f, struct str name, enum gpu_way way, const struct recorded_op *op)
{
	if (str_contains(name, S(" (")))
		gpu_copies_take(f->u, way,
		        str_contains(name, S("Pageable")) ? HOST_PAGEABLE
		        : str_contains(name, S("Pinned")) ? HOST_PINNED
		                                          : HOST_NONE,
		        op);
}

/* Reads three numbers, "x,y,z". */
static bool read_triple(struct str text, uint32_t out[3])
{
	int64_t v = 0;

	for (size_t i = 0; i < 3; i++) {
		size_t end = str_find_char(text, ',');
		if (!num_parse_i64(str_sub(text, 0, end), &v) || v < 0 || v > UINT32_MAX ||
		        (end == SIZE_MAX) != (i == 2))
			return false;
		out[i] = (uint32_t)v;
		text = i < 2 ? str_sub(text, end + 1, SIZE_MAX) : text;
	}
	return true;
}

static uint32_t small_int(const struct trace *t, const struct argument *a)
{
	int64_t v = 0;

	argument_int(t, a, &v);
	return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* Returns the text of an argument. Returns an empty text for a number. */
static struct str text_of(const struct trace *t, const struct argument *a)
{
	return a->type == ARG_TEXT ? trace_str(t, a->text) : STR_NONE;
}

static void read_shape(const struct trace *t, struct str args, struct event_shape *k)
{
	struct argument a;

	while (argument_next(&args, &a))
		switch (a.key) {
		case ARG_GRID: k->has_grid = read_triple(text_of(t, &a), k->grid); break;
		case ARG_BLOCK: k->has_block = read_triple(text_of(t, &a), k->block); break;
		case ARG_REGISTERS: k->registers = small_int(t, &a); break;
		case ARG_STATIC_SHARED: k->static_shared = small_int(t, &a); break;
		case ARG_DYNAMIC_SHARED: k->dynamic_shared = small_int(t, &a); break;
		default: break;
		}
}

/* Counts the launch configuration of a kernel, if the event or the slice states it. The arguments
 * of the slice have precedence. */
static void take_shape(struct trace_feed *f, const struct slice *s)
{
	const struct trace *t = f->t;
	struct event_shape *known = &f->shapes[s->event], x;
	struct device_use *u = f->u;

	if (!(t->keys & ARG_BIT(ARG_GRID)))
		return;
	if (!known->read)
		read_shape(t, t->events.v[s->event].args, known);
	known->read = true;
	x = *known;
	read_shape(t, s->args, &x);
	if (!x.has_grid || !x.has_block)
		return;
	struct spool_kernel k = { .registers = x.registers,
		.static_shared = x.static_shared,
		.dynamic_shared = x.dynamic_shared };
	memcpy(k.grid, x.grid, sizeof k.grid);
	memcpy(k.block, x.block, sizeof k.block);
	if (!f->kernel_of[s->event])
		f->kernel_of[s->event] = 1 + gpu_list_index(u, &u->kernels, trace_str(t, s->name));
	device_add_shape(u, &u->kernels.v[f->kernel_of[s->event] - 1], f->parts[s->track] - 1, &k);
}

/* Adds a copy. If it reads or writes memory of the host, its call may have waited for it. */
static void take_copy(struct trace_feed *f, const struct slice *s, const struct launch *launch,
        struct gpu_part *part, struct recorded_op *op)
{
	struct str name = trace_str(f->t, s->name);
	struct slice call;
	enum gpu_way way = way_of(f->t, s);
	int64_t bytes = slice_int(f->t, s, ARG_BYTES);

	op->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	gpu_copies_add(
	        &part->ways[way], &(struct gpu_copies){ 1, bytes, num_from_u64(op->length) });
	take_memory(f, name, way, op);
	if (!launch)
		return;
	trace_slice(f->t, launch->slice, &call);
	uint64_t start = device_time(f->u, call.start);
	struct recorded_call made = { .start = start,
		.length = device_time(f->u, slice_end(&call)) - start,
		.name = call.name };
	op->pageable = slice_is_pageable(f->t, s) > 0;
	gpu_calls_transfer(&f->calls, op, &made);
}

static void take_work(struct trace_feed *f, const struct slice *s)
{
	const struct launch *launch = link_launch(f->u->links, s);
	struct gpu_part *part = part_of(f, s->track);
	struct recorded_op op = { .start = device_time(f->u, s->start) };

	op.length = device_time(f->u, slice_end(s)) - op.start;
	gpu_range_take(f->u, launch ? f->scope_of[launch - f->u->links->launches.v] : SCOPE_NONE,
	        num_from_u64(op.length));
	if (f->u->steps.by != STEPS_UNKNOWN)
		gpu_step_take(f->u, part->process, trace_step_of(&f->u->steps, s, launch),
		        num_from_u64(op.length));
	if (s->category == CATEGORY_COPY || s->category == CATEGORY_SET) {
		take_copy(f, s, launch, part, &op);
	} else {
		part->kernels = num_add_u64(part->kernels, 1);
		take_shape(f, s);
	}
}

static void take_process(struct trace_feed *f, uint32_t process)
{
	const struct trace *t = f->t;

	gpu_calls_begin(&f->calls, f->u, process, f->scratch);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]) && device_process(f->u, i) == process) {
			take_calls(f, i);
			if (!t->tracks.v[i].derived)
				gpu_ranges_thread(f->u, i, f->scope_of);
		}
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]) || device_process(f->u, i) != process)
			continue;
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				take_work(f, &s);
	}
	gpu_calls_end(&f->calls);
}

static void take_graphs(struct device_use *u)
{
	for (size_t i = 0; i < u->t->graphs.n; i++) {
		const struct trace_graph *g = &u->t->graphs.v[i];
		VEC_PUSH(u->a, &u->graphs,
		        ((struct gpu_graph){ .process = g->process == ID_NONE
		                                                ? (uint32_t)u->t->processes.n
		                                                : g->process,
		                .number = g->number,
		                .launches = g->launches,
		                .nodes = g->work,
		                .ns = trace_ns(u->t, g->time) }));
	}
}

void device_use_trace(struct device_use *u, const struct trace_links *links,
        const struct trace_steps *steps, struct arena *a)
{
	const struct trace *t = steps->t;
	struct scratch own;

	device_use_init(u, t, a);
	u->links = links;
	scratch_open(&own, a->work);
	struct trace_feed f = { .u = u, .t = t, .scratch = &own.a };
	f.parts = ARENA_ARRAY(&own.a, t->tracks.n, uint32_t);
	f.kernel_of = ARENA_ARRAY(&own.a, t->events.n, uint32_t);
	f.shapes = ARENA_ARRAY(&own.a, t->events.n, struct event_shape);
	f.scope_of = ARENA_ARRAY(&own.a, links->launches.n, uint32_t);
	u->steps = *steps;
	trace_steps_find_work(&u->steps, links);
	find_base(u);
	add_processes(&f);
	number_devices(&f);
	take_graphs(u);
	for (uint32_t i = 0; i <= t->processes.n; i++)
		take_process(&f, i);
	scratch_close(&own);
	device_sum(u);
}

void device_use_step(struct device_use *u, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t step, struct arena *a)
{
	const struct idle_question request = { .links = links, .steps = steps, .step = step };

	device_use_init(u, steps->t, a);
	u->of_step = true;
	u->links = links;
	u->steps = *steps;
	check_numbers(u, a);
	idle_find(u->t, &request, &u->idle, &u->usage, a);
	for (size_t i = 0; i < u->usage.devices.n; i++) {
		const struct device_usage *usage = &u->usage.devices.v[i];
		VEC_PUSH(a, &u->devices,
		        ((struct gpu_device){
		                .number = device_number(u, usage->device), .usage = *usage }));
	}
}
