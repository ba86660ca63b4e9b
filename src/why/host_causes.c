/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes that consist of slices on threads. Their time is removed, including their waits.
 */
#include "why/why_internal.h"

#define HAS(name, words) why_has(name, words, sizeof(words) / sizeof *(words))

static bool is_present(const struct why_scene *s, enum why_id id)
{
	for (size_t i = 0; i < s->d->contexts.n; i++)
		if (s->owners[i] == id)
			return true;
	return false;
}

static bool has_events(const struct why_scene *s, enum trace_category category)
{
	for (size_t i = 0; i < s->t->events.n; i++)
		if (s->t->events.v[i].category == category)
			return true;
	return false;
}

/* ---- profiler overhead ---- */

void why_find_profiler_overhead(const struct why_scene *s, struct why_change *out)
{
	if (!s->overhead) {
		out->reason = S("the profiler did not record its own overhead");
		return;
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		if (s->overhead[i] > 0)
			why_shorten_all(s, out, i,
			        s->d->nodes.v[i].end - s->d->nodes.v[i].start - s->overhead[i]);
}

/* ---- garbage collection ---- */

bool why_owns_garbage_collection(const struct why_scene *s, uint32_t event)
{
	static const char *const words[] = { "gc.collect", "Garbage", "garbage", "gc_collect",
		"Python GC" };

	return HAS(why_name(s, event), words);
}

void why_find_garbage_collection(const struct why_scene *s, struct why_change *out)
{
	if (is_present(s, WHY_garbage_collection))
		why_remove_owned(s, out, WHY_garbage_collection);
	else
		out->reason = S("the file has no slices of the garbage collector");
}

/* ---- contention ---- */

bool why_owns_host_contention(const struct why_scene *s, uint32_t event)
{
	return s->t->events.v[event].category == CATEGORY_PREEMPTED;
}

void why_find_host_contention(const struct why_scene *s, struct why_change *out)
{
	if (s->t->scheduled)
		why_remove_owned(s, out, WHY_host_contention);
	else if (s->t->source == TRACE_NSYS)
		out->reason = S("the file does not say when threads had no CPU; record with nsys "
		                "profile --cpuctxsw=process-tree");
	else if (s->t->source == TRACE_PERFETTO)
		out->reason = S("the file does not say when threads had no CPU; record the ftrace "
		                "events sched/sched_switch and sched/sched_waking");
	else
		out->reason = S("the file does not say when threads had no CPU; perf sched record "
		                "shows it, and so does nsys profile --cpuctxsw=process-tree");
}

/* ---- allocation ---- */

bool why_owns_allocation(const struct why_scene *s, uint32_t event)
{
	static const char *const words[] = { "cudaMalloc", "cudaFree", "cuMemAlloc", "cuMemFree",
		"cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease", "cudaHostAlloc",
		"cuMemHostAlloc", "hipMalloc", "hipFree", "hipHostMalloc" };

	return s->t->events.v[event].category == CATEGORY_CALL && HAS(why_name(s, event), words);
}

void why_find_allocation(const struct why_scene *s, struct why_change *out)
{
	if (has_events(s, CATEGORY_CALL))
		why_remove_owned(s, out, WHY_allocation);
	else
		out->reason = S("the file has no calls of the driver");
}

/* ---- input pipeline ---- */

bool why_owns_input_pipeline(const struct why_scene *s, uint32_t event)
{
	static const char *const words[] = { "IteratorGetNext",
		"Iterator::", "prefetch_to_device" };

	return s->d->classes[event] == DEPEND_LOADS || HAS(why_name(s, event), words);
}

void why_find_input_pipeline(const struct why_scene *s, struct why_change *out)
{
	bool named = has_events(s, CATEGORY_OP) || has_events(s, CATEGORY_FRAME);

	if (named || is_present(s, WHY_input_pipeline))
		why_remove_owned(s, out, WHY_input_pipeline);
	else
		out->reason = S("the file has neither ops nor Python frames");
}

/* ---- synchronisation ---- */

bool why_owns_synchronisation(const struct why_scene *s, uint32_t event)
{
	static const char *const ops[] = { "aten::item", "aten::_local_scalar_dense",
		"aten::nonzero", "aten::is_nonzero", "aten::equal" };
	uint8_t class = s->d->classes[event];

	return class == DEPEND_BLOCKS || class == DEPEND_ALL ||
	       (s->t->events.v[event].category == CATEGORY_OP && HAS(why_name(s, event), ops));
}

/* True if the node waits for work of a step that launches more work afterwards. A wait after the
 * last launch of a step does not count, because it ends the step. */
static bool is_in_mid_step(const struct why_scene *s, uint32_t node)
{
	const struct depend *d = s->d;

	for (uint32_t i = d->first_edge[node]; i < d->first_edge[node + 1]; i++) {
		if (d->edges[i].kind != DEPEND_SYNC)
			continue;
		uint32_t window = s->x->steps[d->edges[i].from];
		if (window == ID_NONE || d->nodes.v[node].start < s->last_launch[window])
			return true;
	}
	return false;
}

void why_find_synchronisation(const struct why_scene *s, struct why_change *out)
{
	if (!has_events(s, CATEGORY_CALL)) {
		out->reason = S("the file has no calls of the driver");
		return;
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		if (s->d->nodes.v[i].host && why_owner(s, i) == WHY_synchronisation &&
		        is_in_mid_step(s, i))
			why_unblock(s, out, i);
}
