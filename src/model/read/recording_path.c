/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of the nodes of a recording on the critical paths of its steps.
 */
#include "base/sort.h"
#include "model/read/recording_place.h"
#include "trace/pass/replay.h"

static int compare_places(const struct part_place *x, const struct part_place *y)
{
	if (x->known != y->known)
		return x->known < y->known ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

static int by_place(const void *v, uint32_t a, uint32_t b)
{
	const struct recorded_part *x = v;

	return compare_places(&x[a].at, &x[b].at);
}

/* ---- finding the path ---- */

static struct part_place place_of(const struct trace *t, const struct critical_segment *s)
{
	struct slice slice;

	if (s->slice == ID_NONE)
		return (struct part_place){ .known = false };
	trace_slice(t, s->slice, &slice);
	const struct trace_track *k = &t->tracks.v[slice.track];
	bool device = track_is_device(k);
	return (struct part_place){ .known = true,
		.device = device,
		.process = k->process,
		.gpu = device ? t->devices.v[k->device].index : 0,
		.line = k->id,
		.start = slice.start,
		.length = device ? slice.length : 0 };
}

static void add_path(void *user, const struct critical *path)
{
	struct recorded_path *x = user;
	uint32_t step = path->window.step == ID_NONE ? 0 : path->window.step;

	for (size_t i = 0; i < path->segments.n; i++) {
		const struct critical_segment *s = &path->segments.v[i];
		VEC_PUSH(x->a, &x->parts,
		        ((struct recorded_part){ .at = place_of(x->t, s),
		                .ticks = s->end - s->start,
		                .step = x->steps->steps.v[step].id,
		                .start = s->start,
		                .kind = s->kind }));
	}
}

struct recorded_path *path_find(const struct trace *t, struct arena *a)
{
	struct recorded_path *x = ARENA_NEW(a, struct recorded_path);
	struct trace_links links;
	struct trace_steps *steps = ARENA_NEW(a, struct trace_steps);

	trace_link(t, &links, a);
	trace_find_steps(t, steps, a);
	*x = (struct recorded_path){ .t = t, .steps = steps, .a = a };
	replay_each_path(t, &links, steps, add_path, x);
	sort_array(a, x->parts.v, x->parts.n, sizeof *x->parts.v, by_place);
	return x;
}

/* ---- looking it up ---- */

static struct recorded_parts parts_at(struct recorded_path *x, const struct part_place *at)
{
	struct recorded_part *v = x->parts.v;
	size_t i, n = 0;

	BISECT(i, 0, x->parts.n, compare_places(&v[i].at, at) < 0);
	while (i + n < x->parts.n && !compare_places(&v[i + n].at, at))
		n++;
	return (struct recorded_parts){ .v = n ? v + i : NULL, .n = n };
}

static int64_t tick_of(const struct recorded_path *x, uint64_t time)
{
	return num_sub(num_from_u64(time), x->t->origin_ns);
}

struct recorded_parts path_of_op(struct recorded_path *x, uint32_t process,
        const struct recorded_process *p, const struct recorded_op *op)
{
	const struct recorded_gpu *g = recorded_gpu_find(p, op->device);

	return parts_at(x, &(struct part_place){ .known = true,
	                           .device = true,
	                           .process = process,
	                           .gpu = g ? g->number : op->device,
	                           .line = op->stream,
	                           .start = tick_of(x, op->start),
	                           .length = num_from_u64(op->length) });
}

struct recorded_parts path_of_host(
        struct recorded_path *x, uint32_t process, uint32_t thread, uint64_t start)
{
	return parts_at(x, &(struct part_place){ .known = true,
	                           .process = process,
	                           .line = thread,
	                           .start = tick_of(x, start) });
}
