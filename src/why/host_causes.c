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

/* True if an event is a call that frees device memory. */
static bool frees_memory(const struct why_scene *s, uint32_t event)
{
	static const char *const words[] = { "cudaFree", "cuMemFree", "cuMemUnmap", "cuMemRelease",
		"hipFree" };
	struct str name = event == ID_NONE ? S("") : why_name(s, event);

	return HAS(name, words) && !str_contains(name, S("Host"));
}

/* Returns the end of the first call in the file that frees device memory, or INT64_MAX. */
static int64_t first_free(const struct why_scene *s)
{
	int64_t end = INT64_MAX;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host && n->end < end && frees_memory(s, n->event))
			end = n->end;
	}
	return end;
}

/* Memory that is allocated after some was freed is allocated in every step, unless it is a first
 * call. Without calls that free memory, the pool of the program only grows. */
static void find_repetition(const struct why_scene *s, struct why_change *out)
{
	int64_t freed = first_free(s);

	if (freed == INT64_MAX) {
		out->detail = S("no call in the file frees device memory");
		out->advice = "Profile later steps: memory is allocated for the first time (for "
		              "each size and stream), and nothing is freed. If later steps "
		              "allocate, too, allocate the largest sizes before the first step.";
		return;
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		int64_t ticks = n->end - n->start;
		if (n->host && n->start >= freed && why_owner(s, i) == WHY_allocation &&
		        why_window(s, i) != ID_NONE && !frees_memory(s, n->event) &&
		        !why_is_start_up_call(s, i, ticks))
			out->again = num_add(out->again, ticks);
	}
}

void why_find_allocation(const struct why_scene *s, struct why_change *out)
{
	if (!has_events(s, CATEGORY_CALL)) {
		out->reason = S("the file has no calls of the driver");
		return;
	}
	why_remove_owned(s, out, WHY_allocation);
	if (out->cost)
		find_repetition(s, out);
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

/* True if a thread waits in the node for a copy from pageable memory to the device. */
static bool waits_for_upload(const struct why_scene *s, uint32_t node)
{
	const struct depend *d = s->d;
	bool found = false;

	for (uint32_t i = d->first_edge[node]; i < d->first_edge[node + 1]; i++) {
		const struct depend_node *from = &d->nodes.v[d->edges[i].from];
		struct slice copy;
		if (d->edges[i].kind != DEPEND_SYNC || from->host || from->class != USAGE_COPY)
			continue;
		trace_slice(s->t, from->slice, &copy);
		found |= slice_copy_way(s->t, &copy) == COPY_HTOD &&
		         slice_is_pageable(s->t, &copy) == 1;
	}
	return found;
}

void why_find_synchronisation(const struct why_scene *s, struct why_change *out)
{
	if (!has_events(s, CATEGORY_CALL)) {
		out->reason = S("the file has no calls of the driver");
		return;
	}
	int64_t uploads = 0;
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		int64_t before = out->cost;
		if (!s->d->nodes.v[i].host || why_owner(s, i) != WHY_synchronisation ||
		        !is_in_mid_step(s, i))
			continue;
		why_unblock(s, out, i);
		if (waits_for_upload(s, i))
			uploads = num_add(uploads, out->cost - before);
	}
	if (uploads <= out->cost / 2)
		return;
	out->detail = S("most of it waits for copies to the device from pageable memory");
	out->advice = "Create these tensors on the device, or copy them from pinned memory without "
	              "waiting (PyTorch: pin_memory(), to(device, non_blocking=True)): a copy from "
	              "pageable memory waits for all earlier work of its stream.";
}
