/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes that are work of devices.
 */
#include "flops/peak.h"
#include "why/why_internal.h"

#define HAS(name, words) why_has(name, words, sizeof(words) / sizeof *(words))

/* ---- copies ---- */

/* Rate that copies from pinned memory reach over PCIe 4 x16, if the file has no such copies. */
#define ASSUMED_BYTES_PER_US 25000
#define PINNED_LEAST_BYTES   65536 /* shorter copies do not reach the rate */

/* A copy between host and device: its bytes, and slice_is_pageable. */
struct host_copy {
	int64_t bytes;
	int pageable;
};

static bool read_copy(const struct why_scene *s, const struct depend_node *n, struct host_copy *out)
{
	struct str name = n->host ? STR_NONE : why_name(s, n->event);
	struct slice slice;

	if (n->host || n->class != USAGE_COPY ||
	        (!str_contains(name, S("HtoD")) && !str_contains(name, S("DtoH"))))
		return false;
	trace_slice(s->t, n->slice, &slice);
	*out = (struct host_copy){ slice_int(s->t, &slice, ARG_BYTES),
		slice_is_pageable(s->t, &slice) };
	return true;
}

/* Returns the best rate of the copies of pinned memory, bytes per tick; 0: none. */
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

/* Lets no thread wait for a copy. */
static void unblock_after(const struct why_scene *s, struct why_change *out, const bool *copies)
{
	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		for (uint32_t k = s->d->first_edge[i]; k < s->d->first_edge[i + 1]; k++)
			if (s->d->edges[k].kind == DEPEND_SYNC && copies[s->d->edges[k].from])
				why_unblock(s, out, i);
}

void why_find_host_copies(const struct why_scene *s, struct why_change *out)
{
	double best = pinned_rate(s);
	double rate = best > 0 ? best : ASSUMED_BYTES_PER_US / (double)s->t->ticks_per_us;
	bool *copies = ARENA_ARRAY(out->a, s->d->nodes.n, bool), any = false, known = false;
	struct host_copy copy;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		if (!read_copy(s, &s->d->nodes.v[i], &copy))
			continue;
		any = true;
		known |= copy.pageable >= 0;
		copies[i] = copy.pageable > 0;
		if (copies[i])
			why_shorten(s, out, i, (int64_t)((double)copy.bytes / rate));
	}
	if (any && !known)
		out->reason = S("the file does not say which copies used pageable memory");
	if (out->cost && best <= 0)
		out->assumed = S("assuming 25 GB/s for pinned memory");
	unblock_after(s, out, copies);
}

/* ---- communication ---- */

/* Of collectives of which all members are known, only the transfer is removed; other communication
 * loses its waits for late members as well. */
void why_find_exposed_communication(const struct why_scene *s, struct why_change *out)
{
	bool any = false, edges = false;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		for (uint32_t k = s->d->first_edge[i]; k < s->d->first_edge[i + 1]; k++)
			edges |= s->d->edges[k].kind == DEPEND_EVENT;
		if (n->host || n->class != USAGE_COMMUNICATION)
			continue;
		any = true;
		out->bound |= !s->job->member_of[s->index][i];
		why_shorten(s, out, i, 0);
	}
	if (any && !edges)
		out->reason = S("the file does not say which work waits for communication");
}

/* ---- elementwise chains ---- */

static bool is_elementwise(const struct why_scene *s, const struct depend_node *n)
{
	return n->class == USAGE_COMPUTE && str_contains(why_name(s, n->event), S("elementwise"));
}

/* Shortens all of a chain but its longest member. */
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

void why_find_layout_conversion(const struct why_scene *s, struct why_change *out)
{
	static const char *const words[] = { "nchwToNhwc", "nhwcToNchw", "NchwToNhwc", "NhwcToNchw",
		"batched_transpose", "SwapDimension", "convertTensor", "tensorTransform",
		"SubTensorOpWithScalar1d" };

	for (uint32_t i = 0; i < s->d->nodes.n; i++)
		if (!s->d->nodes.v[i].host && s->d->nodes.v[i].class == USAGE_COMPUTE &&
		        HAS(why_name(s, s->d->nodes.v[i].event), words))
			why_shorten(s, out, i, 0);
}

/* ---- matrix products outside tensor cores ---- */

/* Returns the float operations and bytes of the op that launched a kernel; false: unknown. */
static bool call_of_kernel(const struct why_scene *s, const struct slice *kernel, struct flops *out)
{
	uint32_t number = link_op(s->d->links, kernel, link_launch(s->d->links, kernel));
	const struct op_row *row;
	struct slice op;

	if (number == ID_NONE)
		return false;
	trace_slice(s->t, number, &op);
	if (!(row = flops_find_op(trace_str(s->t, op.name))) ||
	        flops_class_of(row->formula) != CLASS_MATRIX)
		return false;
	const struct op_call c =
	        flops_read_call(row, trace_str(s->t, op.name), slice_text(s->t, &op, ARG_SHAPES),
	                slice_text(s->t, &op, ARG_DTYPES), slice_text(s->t, &op, ARG_VALUES));
	*out = flops_of_call(&c);
	return out->lack == LACK_NOTHING && out->type != NUMBERS_OTHER;
}

/* Returns the time at the rate of tensor cores, ticks: the share of the vector rate, but not less
 * than reading and writing takes. */
static int64_t tensor_time(
        const struct why_scene *s, const struct peak *p, const struct flops *f, int64_t length)
{
	double bytes =
	        (double)(f->read > 0 ? f->read : 0) + (double)(f->written > 0 ? f->written : 0);
	double memory = bytes / (p->gbytes * 1e3) * (double)s->t->ticks_per_us;
	double compute = (double)length * p->tflops[NUMBERS_F32] * 1e12 / peak_flops(p, f->type);

	return num_from_real(compute > memory ? compute : memory);
}

void why_find_no_tensor_cores(const struct why_scene *s, struct why_change *out)
{
	static const char *const vector_kernels[] = { "sgemm", "_simt_", "_ffma_" };
	bool any = false, known = false;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		struct slice kernel;
		struct flops f;
		if (n->host || n->class != USAGE_COMPUTE)
			continue;
		uint32_t model = s->t->devices.v[s->t->tracks.v[n->track].device].model;
		const struct peak *p = model == ID_NONE ? NULL : peak_find(trace_str(s->t, model));
		any = true;
		trace_slice(s->t, n->slice, &kernel);
		if (!p || !call_of_kernel(s, &kernel, &f) || !(peak_flops(p, f.type) > 0))
			continue;
		known = true;
		int64_t length = n->end - n->start, least = tensor_time(s, p, &f, length);
		if (HAS(why_name(s, n->event), vector_kernels) && least < length)
			why_shorten(s, out, i, least);
	}
	out->bound = true;
	if (any && !known)
		out->reason = S("the file lacks types of matrix products, or the device has no "
		                "known peaks");
}

/* ---- small grids ---- */

/* Returns the number of blocks of a kernel: of "x,y,z"; 0: unknown. */
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

/* With more independent work beside it, a kernel of few blocks would leave the other
 * multiprocessors to that. */
void why_find_small_grids(const struct why_scene *s, struct why_change *out)
{
	bool grids = false, devices = false;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host || n->class != USAGE_COMPUTE)
			continue;
		int64_t all = s->t->devices.v[s->t->tracks.v[n->track].device].multiprocessors;
		int64_t blocks = all > 0 ? blocks_of(s, n) : 0;
		devices |= all > 0;
		grids |= blocks > 0;
		if (blocks > 0 && blocks < all)
			why_shorten(s, out, i,
			        (int64_t)((double)(n->end - n->start) * (double)blocks /
			                  (double)all));
	}
	out->bound = true;
	if (!devices)
		out->reason = S("the number of multiprocessors of the device is not known");
	else if (!grids)
		out->reason = S("the grids of kernels are not in the file");
}
