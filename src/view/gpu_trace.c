/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls, idle causes and launch latencies of a trace: feeds its work and its calls to the sums that
 * recordings use.
 */
#include "base/num.h"
#include "view/gpu_parts.h"

#define PAGEABLE 1 /* CUpti_ActivityMemoryKind */

struct trace_feed {
	struct gpu_use *u;
	const struct trace *t;
	const struct trace_links *links;
	struct arena *scratch;
	struct recorded_gpu *gpus; /* by device */
	uint8_t *classes;          /* by event */
	uint32_t *parts;           /* by track: 1 + its part, 0: none yet */
	int64_t first;             /* the earliest start of a track, ns */
	uint64_t base;             /* its time in u */
	struct gpu_call_feed calls;
};

static struct str string_of(const void *trace, uint32_t id)
{
	return trace_str(trace, id);
}

/* ---- times ---- */

static void find_base(struct trace_feed *f)
{
	const struct trace *t = f->t;
	int64_t at = 0;

	f->first = INT64_MAX;
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n && trace_ns(t, t->tracks.v[i].start) < f->first)
			f->first = trace_ns(t, t->tracks.v[i].start);
	if (t->epoch && f->first != INT64_MAX)
		at = num_add(t->origin_ns, f->first);
	f->base = at > 0 ? (uint64_t)at : 1;
}

static uint64_t time_of(const struct trace_feed *f, int64_t tick)
{
	int64_t since = num_sub(trace_ns(f->t, tick), f->first);

	return num_add_u64(f->base, since > 0 ? (uint64_t)since : 0);
}

/* ---- processes and devices ---- */

/* A process for each of the trace, and one for tracks without. */
static void add_processes(struct trace_feed *f)
{
	struct gpu_use *u = f->u;
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
	}
	u->all.v = v;
	u->all.n = n;
}

/* Devices keep the number that the source gives them if it is the only one with that number. */
static void number_devices(struct trace_feed *f)
{
	const struct trace *t = f->t;
	struct scratch own;
	struct imap known;
	bool unique = true;

	scratch_open(&own, f->u->a->work);
	imap_init(&known, &own.a);
	for (size_t i = 0; i < t->devices.n; i++) {
		int64_t index = t->devices.v[i].index;
		unique &= index >= 0 && index < UINT32_MAX &&
		          imap_put(&known, (uint64_t)index, 0, false);
	}
	scratch_close(&own);
	f->gpus = ARENA_ARRAY(f->u->a, t->devices.n, struct recorded_gpu);
	for (uint32_t i = 0; i < t->devices.n; i++) {
		f->gpus[i].number = unique ? (uint32_t)t->devices.v[i].index : i;
		f->gpus[i].name = trace_str(t, t->devices.v[i].model);
		f->gpus[i].used = true;
	}
}

static uint32_t process_of(const struct trace_feed *f, uint32_t track)
{
	uint32_t process = f->t->tracks.v[track].process;

	return process == ID_NONE ? (uint32_t)f->t->processes.n : process;
}

/* The part of a track of a device: the tracks of one process on one device share it. */
static struct gpu_part *part_of(struct trace_feed *f, uint32_t track)
{
	uint32_t device = f->t->tracks.v[track].device, process = process_of(f, track);
	struct gpu_use *u = f->u;

	for (uint32_t i = 0; i < u->parts.n && !f->parts[track]; i++)
		if (u->parts.v[i].process == process && u->parts.v[i].gpu == &f->gpus[device])
			f->parts[track] = 1 + i;
	if (!f->parts[track]) {
		VEC_PUSH(u->a, &u->parts,
		        ((struct gpu_part){ .process = process,
		                .local = f->gpus[device].number,
		                .gpu = &f->gpus[device] }));
		f->parts[track] = (uint32_t)u->parts.n;
	}
	return &u->parts.v[f->parts[track] - 1];
}

/* ---- slices ---- */

static void take_calls(struct trace_feed *f, uint32_t track)
{
	struct slice_iter it = trace_slices(f->t, track);

	for (struct slice s; slice_next(&it, &s);) {
		uint64_t start = time_of(f, s.start);
		struct spool_api call = { .start = start,
			.length = time_of(f, slice_end(&s)) - start,
			.name = s.name,
			.tid = track };
		if (s.form == SLICE_COMPLETE && s.category == CATEGORY_CALL)
			gpu_calls_take(&f->calls, string_of, f->t, &call);
	}
}

/* The call of a copy that reads or writes memory of the host may have waited for it. */
static void take_copy(struct trace_feed *f, const struct slice *s, const struct launch *launch,
        struct gpu_part *part, struct recorded_op *op)
{
	struct str name = trace_str(f->t, s->name);
	struct gpu_copies *c;
	struct slice call;
	enum gpu_way way = 0;

	while (way < WAY_OTHER && !str_contains(name, str_of(gpu_ways[way])))
		way++;
	c = &part->ways[way];
	c->count = num_add_u64(c->count, 1);
	c->bytes = num_add(c->bytes, slice_int(f->t, s, ARG_BYTES));
	c->ns = num_add(c->ns, num_from_u64(op->length));
	if (!launch)
		return;
	trace_slice(f->t, launch->slice, &call);
	uint64_t start = time_of(f, call.start);
	struct recorded_call made = {
		.start = start, .length = time_of(f, slice_end(&call)) - start, .name = call.name
	};
	op->label = str_contains(name, S("Pageable")) ? PAGEABLE : 0;
	gpu_calls_transfer(&f->calls, op, &made);
}

static void take_work(struct trace_feed *f, const struct slice *s)
{
	static const enum gpu_class classes[USAGE_CLASS_N] = { [USAGE_COMPUTE] = GPU_KERNEL,
		[USAGE_COMMUNICATION] = GPU_COMMUNICATION,
		[USAGE_COPY] = GPU_COPY };
	const struct launch *launch = link_launch(f->links, s);
	struct gpu_part *part = part_of(f, s->track);
	struct recorded_op op = { .start = time_of(f, s->start) };
	struct span x = { .start = op.start,
		.class = s->category == CATEGORY_SET ? GPU_SET : classes[f->classes[s->event]] };

	op.length = x.length = time_of(f, slice_end(s)) - x.start;
	if (launch && time_of(f, launch->start) <= x.start)
		x.tag = 1 + x.start - time_of(f, launch->start);
	if (x.class == GPU_COPY || x.class == GPU_SET)
		take_copy(f, s, launch, part, &op);
	else
		part->kernels = num_add_u64(part->kernels, 1);
	spans_add(&part->spans, f->u->a, f->scratch, x);
}

static void take_process(struct trace_feed *f, uint32_t process)
{
	const struct trace *t = f->t;

	gpu_calls_begin(&f->calls, f->u, process, f->scratch);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]) && process_of(f, i) == process)
			take_calls(f, i);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]) || process_of(f, i) != process)
			continue;
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				take_work(f, &s);
	}
	gpu_calls_end(&f->calls);
}

void gpu_use_trace(
        struct gpu_use *u, const struct trace *t, const struct trace_links *links, struct arena *a)
{
	struct scratch own;

	gpu_use_init(u, a);
	scratch_open(&own, a->work);
	struct trace_feed f = { .u = u, .t = t, .links = links, .scratch = &own.a };
	f.classes = usage_classes(t, &own.a);
	f.parts = ARENA_ARRAY(&own.a, t->tracks.n, uint32_t);
	find_base(&f);
	add_processes(&f);
	number_devices(&f);
	for (uint32_t i = 0; i <= t->processes.n; i++)
		take_process(&f, i);
	for (size_t i = 0; i < u->parts.n; i++)
		spans_end(&u->parts.v[i].spans, a);
	scratch_close(&own);
	gpu_sum(u);
}
