/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes that are work of devices.
 */
#include "why/why_internal.h"

#define HAS(name, words) why_has(name, words, sizeof(words) / sizeof *(words))

/* Returns the partition of a chosen window, as the mean over the devices. */
static struct replay_part mean_partition(const struct why_scene *s, struct arena *a)
{
	struct replay_part mean = { .device = ID_NONE };
	size_t n;
	const struct replay_part *v = replay_partition(s->x, &s->x->recorded, &n, a);
	int64_t all = (int64_t)(n * s->x->n_chosen);

	for (size_t i = 0; i < n; i++) {
		mean.compute = num_add(mean.compute, v[i].compute / all);
		mean.communication = num_add(mean.communication, v[i].communication / all);
		mean.copy = num_add(mean.copy, v[i].copy / all);
		mean.idle = num_add(mean.idle, v[i].idle / all);
	}
	return mean;
}

/* ---- copies ---- */

/* Rate of copies from pinned memory over PCIe 4 x16; used if the file has no such copies. */
#define ASSUMED_BYTES_PER_US 25000
#define PINNED_LEAST_BYTES   65536 /* shorter copies do not reach the rate */

/* A copy between host and device: its bytes, and the result of slice_is_pageable. */
struct host_copy {
	int64_t bytes;
	int pageable;
};

static bool read_copy(const struct why_scene *s, const struct depend_node *n, struct host_copy *out)
{
	struct slice slice;

	if (n->host || n->class != USAGE_COPY)
		return false;
	trace_slice(s->t, n->slice, &slice);
	enum copy_way way = slice_copy_way(s->t, &slice);
	if (way != COPY_HTOD && way != COPY_DTOH)
		return false;
	*out = (struct host_copy){ slice_int(s->t, &slice, ARG_BYTES),
		slice_is_pageable(s->t, &slice) };
	return true;
}

/* Returns the best rate of copies from pinned memory, bytes per tick; 0: none. */
static double pinned_rate(const struct why_scene *s)
{
	struct host_copy copy;
	double best = 0;

	for (size_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (!read_copy(s, n, &copy) || copy.pageable != 0 ||
		        copy.bytes < PINNED_LEAST_BYTES || n->end <= n->start)
			continue;
		double rate = (double)copy.bytes / (double)(n->end - n->start);
		best = rate > best ? rate : best;
	}
	return best;
}

/* Removes the waits of threads for a copy. */
static void unblock_after(const struct why_scene *s, struct why_change *out, const bool *copies)
{
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		for (uint32_t k = s->d->first_edge[i]; k < s->d->first_edge[i + 1]; k++)
			if (s->d->edges[k].kind == DEPEND_SYNC && copies[s->d->edges[k].from])
				why_unblock(s, out, i);
}

/* Applies the rate of pinned copies to the pageable copies. */
static void pin_copies(const struct why_scene *s, struct why_change *out)
{
	double best = pinned_rate(s);
	double rate = best > 0 ? best : ASSUMED_BYTES_PER_US / (double)s->t->ticks_per_us;
	bool *copies = ARENA_ARRAY(out->a, s->d->nodes.n, bool);
	struct host_copy copy;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		copies[i] = read_copy(s, &s->d->nodes.v[i], &copy) && copy.pageable > 0;
		if (copies[i])
			why_shorten(s, out, i, (int64_t)((double)copy.bytes / rate));
	}
	if (out->cost && best <= 0)
		out->assumed = S("assuming 25 GB/s for pinned memory");
	unblock_after(s, out, copies);
}

/* Removes all copies if pinned copies take most of the time: overlapping them with compute would
 * save at most this. */
void why_find_host_copies(const struct why_scene *s, struct why_change *out)
{
	int64_t all = 0, pageable = 0, pinned = 0;
	struct host_copy copy;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (!read_copy(s, n, &copy))
			continue;
		all = num_add(all, n->end - n->start);
		pageable = num_add(pageable, copy.pageable > 0 ? n->end - n->start : 0);
		pinned = num_add(pinned, copy.pageable == 0 ? n->end - n->start : 0);
	}
	if (all && !pageable && !pinned)
		out->reason = S("the file does not say which copies used pageable memory");
	if (pageable > all / 2) {
		pin_copies(s, out);
		return;
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		if (read_copy(s, &s->d->nodes.v[i], &copy))
			why_shorten(s, out, i, 0);
	out->bound = true;
	if (!all)
		return;
	struct replay_part mean = mean_partition(s, out->a);
	double share = (double)pinned * 100 / (double)all;
	if (mean.copy <= mean.compute) {
		out->advice = "Copy less, or overlap the copies with compute, on a stream of their "
		              "own; their memory is pinned already.";
		out->assumed =
		        str_fmt(out->a, "%.1f%% of the copy time is for pinned memory", share);
		return;
	}
	out->advice = "Copy less: overlapping the copies with compute cannot hide most of them; "
	              "their memory is pinned already.";
	out->assumed = str_fmt(out->a,
	        "devices copy alone for %.*s and compute for %.*s, the most that overlapping can "
	        "hide; %.1f%% of the copy time is for pinned memory",
	        STR(why_time(s, mean.copy, out->a)), STR(why_time(s, mean.compute, out->a)), share);
}

/* ---- communication ---- */

/* True if the file shows a successor for at least half of the communication time: through an event,
 * later work on the same stream, or, if calls count, a blocking call. */
static bool is_waited_for(const struct depend *d, bool calls, struct arena *a)
{
	bool *known = ARENA_ARRAY(a, d->nodes.n, bool);
	int64_t all = 0, without = 0;

	for (size_t i = d->nodes.n; i-- > 0;) {
		uint32_t to = d->order[i];
		const struct depend_node *n = &d->nodes.v[to];
		if (!n->host && n->class == USAGE_COMMUNICATION) {
			all = num_add(all, n->end - n->start);
			without = num_add(without, known[to] ? 0 : n->end - n->start);
		}
		for (uint32_t k = d->first_edge[to]; k < d->first_edge[to + 1]; k++) {
			const struct depend_edge *e = &d->edges[k];
			bool passes = n->class == USAGE_COMPUTE || known[to];
			known[e->from] |= e->kind == DEPEND_EVENT ||
			                  (calls && e->kind == DEPEND_SYNC) ||
			                  (e->kind == DEPEND_STREAM && passes);
		}
	}
	return without <= all / 2;
}

bool why_streams_wait(const struct why_scene *s, struct arena *a)
{
	return is_waited_for(s->d, false, a);
}

bool why_communication_is_waited_for(const struct depend *d, struct arena *a)
{
	return is_waited_for(d, true, a);
}

/* Removes the transfer. If not all members of a collective are loaded, its waits for late members
 * cannot be separated and are removed too. */
void why_find_exposed_communication(const struct why_scene *s, struct why_change *out)
{
	if (!why_communication_is_waited_for(s->d, out->a)) {
		int64_t exposed = mean_partition(s, out->a).communication;
		if ((double)exposed > (double)s->x->recorded.after * WHY_LEAST_SHARE)
			out->reason = str_fmt(out->a,
			        "communication is exposed for %.*s per device%s, but the file does "
			        "not say which work waits for it%s",
			        STR(why_time(s, exposed, out->a)),
			        s->x->n_chosen > 1 ? " and step" : "", why_wait_cure(s));
		return;
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host || n->class != USAGE_COMMUNICATION)
			continue;
		out->bound |= !s->job->member_of[s->index][i];
		why_shorten(s, out, i, 0);
	}
}

/* ---- elementwise chains ---- */

static bool is_elementwise(const struct why_scene *s, const struct depend_node *n)
{
	return n->class == USAGE_COMPUTE && str_contains(why_name(s, n->event), S("elementwise"));
}

/* Removes all members of a chain except the longest. */
static void fuse(const struct why_scene *s, struct why_change *out, uint32_t first, uint32_t end)
{
	uint32_t longest = first;

	for (uint32_t i = first; i < end; i++) {
		const struct depend_node *n = &s->d->nodes.v[i], *l = &s->d->nodes.v[longest];
		if (n->end - n->start > l->end - l->start)
			longest = i;
	}
	for (uint32_t i = first; i < end; i++)
		if (i != longest)
			why_shorten(s, out, i, 0);
}

void why_find_unfused_elementwise(const struct why_scene *s, struct why_change *out)
{
	for (size_t k = 0; k < s->t->tracks.n; k++) {
		const struct depend_track *track = &s->d->tracks[k];
		uint32_t end = track->first + track->n, first = track->first;
		for (uint32_t i = track->first; !track->host && i < end; i++) {
			if (is_elementwise(s, &s->d->nodes.v[i]))
				continue;
			fuse(s, out, first, i);
			first = i + 1;
		}
		if (!track->host && first < end)
			fuse(s, out, first, end);
	}
}

/* ---- layouts ---- */

bool why_converts_layout(const struct why_scene *s, const struct depend_node *n)
{
	static const char *const words[] = { "nchwToNhwc", "nhwcToNchw", "NchwToNhwc", "NhwcToNchw",
		"batched_transpose", "SwapDimension", "convertTensor", "tensorTransform",
		"SubTensorOpWithScalar1d" };

	return !n->host && n->class == USAGE_COMPUTE && HAS(why_name(s, n->event), words);
}

void why_find_layout_conversion(const struct why_scene *s, struct why_change *out)
{
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		if (why_converts_layout(s, &s->d->nodes.v[i]))
			why_shorten(s, out, i, 0);
}

/* ---- small grids ---- */

/* Returns the number of blocks of a kernel from its grid "x,y,z"; 0: unknown. */
static int64_t blocks_of(const struct why_scene *s, const struct depend_node *n)
{
	struct slice slice;
	struct strs parts;
	int64_t blocks = 1, size;

	trace_slice(s->t, n->slice, &slice);
	parts = str_split(s->a, slice_text(s->t, &slice, ARG_GRID), ',');
	for (size_t i = 0; i < parts.n; i++)
		if (!num_parse_i64(parts.v[i], &size) || size <= 0)
			return 0;
		else
			blocks = num_mul(blocks, size);
	return parts.n ? blocks : 0;
}

double why_grid_share(const struct why_scene *s, const struct depend_node *n)
{
	int64_t all = s->t->devices.v[s->t->tracks.v[n->track].device].multiprocessors;
	int64_t blocks = all > 0 ? blocks_of(s, n) : 0;

	return blocks > 0 && blocks < all ? (double)blocks / (double)all : blocks > 0;
}

/* Shortens kernels with few blocks: they leave multiprocessors free, which independent work could
 * use. */
void why_find_small_grids(const struct why_scene *s, struct why_change *out)
{
	bool grids = false, devices = false;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host || n->class != USAGE_COMPUTE)
			continue;
		double share = why_grid_share(s, n);
		devices |= s->t->devices.v[s->t->tracks.v[n->track].device].multiprocessors > 0;
		grids |= share > 0;
		if (share > 0 && share < 1)
			why_shorten(s, out, i, (int64_t)((double)(n->end - n->start) * share));
	}
	out->bound = true;
	if (!devices)
		out->reason = S("the number of multiprocessors of the device is not known");
	else if (!grids)
		out->reason = S("the grids of kernels are not in the file");
}
