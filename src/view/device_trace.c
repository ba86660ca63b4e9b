/* SPDX-License-Identifier: Apache-2.0
 *
 * See device_use.h: adds the calls and copies of a trace that is not a recording.
 */
#include "base/num.h"
#include "view/device_parts.h"

struct trace_feed {
	struct device_use *u;
	const struct trace *t;
	struct arena *scratch;
	struct recorded_gpu *gpus; /* indexed by device */
	uint32_t *parts;           /* indexed by track: 1 + its part, 0: none yet */
	struct gpu_call_feed calls;
};

static struct str string_of(const void *trace, uint32_t id)
{
	return trace_str(trace, id);
}

/* ---- times ---- */

/* 0 means an unknown time, so the clock starts at 1 if the source has no absolute times. */
static void find_base(struct device_use *u)
{
	const struct trace *t = u->t;
	int64_t at = 0;

	u->first = INT64_MAX;
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n && trace_ns(t, t->tracks.v[i].start) < u->first)
			u->first = trace_ns(t, t->tracks.v[i].start);
	if (t->epoch && u->first != INT64_MAX)
		at = num_add(t->origin_ns, u->first);
	u->base = at > 0 ? (uint64_t)at : 1;
}

/* ---- processes and devices ---- */

/* A process for each of the trace, and one for tracks without. */
static void add_processes(struct trace_feed *f)
{
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
	u->all.v = v;
	u->all.n = n;
}

static void number_devices(struct trace_feed *f)
{
	const struct trace *t = f->t;
	struct device_use *u = f->u;
	struct imap known;

	imap_init(&known, f->scratch);
	u->unique = true;
	for (size_t i = 0; i < t->devices.n; i++) {
		int64_t index = t->devices.v[i].index;
		u->unique &= index >= 0 && index < UINT32_MAX &&
		             imap_put(&known, (uint64_t)index, 0, false);
	}
	f->gpus = ARENA_ARRAY(u->a, t->devices.n, struct recorded_gpu);
	for (uint32_t i = 0; i < t->devices.n; i++)
		f->gpus[i] = (struct recorded_gpu){ .number = device_number(u, i),
			.name = trace_str(t, t->devices.v[i].model),
			.used = true };
}

/* The part of a track of a device: the tracks of one process on one device share it. */
static struct gpu_part *part_of(struct trace_feed *f, uint32_t track)
{
	uint32_t device = f->t->tracks.v[track].device, process = device_process(f->u, track);
	struct device_use *u = f->u;

	for (uint32_t i = 0; i < u->parts.n && !f->parts[track]; i++)
		if (u->parts.v[i].process == process && u->parts.v[i].gpu == &f->gpus[device])
			f->parts[track] = 1 + i;
	if (!f->parts[track]) {
		VEC_PUSH(u->a, &u->parts,
		        ((struct gpu_part){ .process = process,
		                .local = f->gpus[device].number,
		                .number = f->gpus[device].number,
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
		uint64_t start = device_time(f->u, s.start);
		struct spool_api call = { .start = start,
			.length = device_time(f->u, slice_end(&s)) - start,
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
	uint64_t start = device_time(f->u, call.start);
	struct recorded_call made = { .start = start,
		.length = device_time(f->u, slice_end(&call)) - start,
		.name = call.name };
	op->pageable = str_contains(name, S("Pageable"));
	gpu_calls_transfer(&f->calls, op, &made);
}

static void take_work(struct trace_feed *f, const struct slice *s)
{
	const struct launch *launch = link_launch(f->u->links, s);
	struct gpu_part *part = part_of(f, s->track);
	struct recorded_op op = { .start = device_time(f->u, s->start) };

	op.length = device_time(f->u, slice_end(s)) - op.start;
	if (s->category == CATEGORY_COPY || s->category == CATEGORY_SET)
		take_copy(f, s, launch, part, &op);
	else
		part->kernels = num_add_u64(part->kernels, 1);
}

static void take_process(struct trace_feed *f, uint32_t process)
{
	const struct trace *t = f->t;

	gpu_calls_begin(&f->calls, f->u, process, f->scratch);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (!track_is_device(&t->tracks.v[i]) && device_process(f->u, i) == process)
			take_calls(f, i);
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

void device_use_trace(struct device_use *u, const struct trace *t, const struct trace_links *links,
        struct arena *a)
{
	struct scratch own;

	device_use_init(u, t, a);
	u->links = links;
	scratch_open(&own, a->work);
	struct trace_feed f = { .u = u, .t = t, .scratch = &own.a };
	f.parts = ARENA_ARRAY(&own.a, t->tracks.n, uint32_t);
	find_base(u);
	add_processes(&f);
	number_devices(&f);
	for (uint32_t i = 0; i <= t->processes.n; i++)
		take_process(&f, i);
	scratch_close(&own);
	device_sum(u);
}
