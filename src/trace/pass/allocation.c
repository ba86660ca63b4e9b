/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads allocations and releases from slices.
 */
#include "trace/pass/allocation.h"

struct str *allocation_labels(const struct trace *t, struct arena *a)
{
	struct str *labels = ARENA_ARRAY(a, t->devices.n, struct str);

	for (uint32_t i = 0; i < t->devices.n; i++)
		labels[i] = trace_device_label(t, i, a);
	return labels;
}

int64_t allocation_capacity(const struct trace *t, const struct str *labels, struct str device)
{
	for (uint32_t i = 0; i < t->devices.n; i++)
		if (t->devices.v[i].memory > 0 && str_eq(device, labels[i]))
			return t->devices.v[i].memory;
	return -1;
}

/* Returns the device of an allocation: the device of the track, or the GPU that the event names by
 * its number. */
static struct str device_of(const struct trace *t, const struct slice *s, const struct str *labels)
{
	uint32_t device = t->tracks.v[s->track].device;
	int64_t kind = 0, index = -1;
	bool typed = slice_has_int(t, s, ARG_MEMORY_KIND, &kind);

	if (device != ID_NONE)
		return labels[device];
	if (t->source == TRACE_SNAPSHOT)
		return S("host");
	if (typed && kind == 0)
		return S("host");
	if (!slice_has_int(t, s, ARG_DEVICE, &index))
		return STR_NONE;
	for (uint32_t i = 0; i < t->devices.n; i++)
		if (t->devices.v[i].kind != DEVICE_KIND_CPU && t->devices.v[i].index == index)
			return labels[i];
	return index < 0 ? S("host") : STR_NONE;
}

static int64_t total_of(const struct trace *t, const struct slice *s, uint32_t key)
{
	int64_t v = -1;

	return slice_has_int(t, s, key, &v) ? v : -1;
}

static double fragmentation_of(const struct trace *t, const struct slice *s)
{
	uint32_t key = t->source == TRACE_XSPACE ? trace_key(t, "fragmentation") : ID_NONE;
	struct argument x;

	if (key == ID_NONE || !argument_find(s->args, key, &x) || x.type != ARG_REAL)
		return -1;
	return x.real >= 0 && x.real <= 1 ? x.real : -1;
}

bool allocation_of(const struct trace *t, const struct slice *s, const struct str *labels,
        struct allocation *out)
{
	struct str name = trace_str(t, s->name);
	int64_t bytes = 0, address = 0;

	if (s->category != CATEGORY_ALLOCATION || s->form == SLICE_SAMPLE)
		return false;
	if (t->source == TRACE_SNAPSHOT && !str_eq(name, S("alloc")) &&
	        !str_eq(name, S("free_completed")))
		return false;
	slice_has_int(t, s, ARG_BYTES, &bytes);
	*out = (struct allocation){ .device = device_of(t, s, labels),
		.allocator = slice_text(t, s, ARG_ALLOCATOR),
		.freed = bytes < 0 || str_contains(name, S("Dealloc")) ||
		         str_starts(name, S("free_")),
		.bytes = bytes < 0 ? num_sub(0, bytes) : bytes,
		.has_address = slice_has_int(t, s, ARG_ADDRESS, &address),
		.address = (uint64_t)address,
		.in_use = total_of(t, s, ARG_ALLOCATED_TOTAL),
		.peak = total_of(t, s, ARG_PEAK_TOTAL),
		.reserved = total_of(t, s, ARG_RESERVED_TOTAL),
		.capacity = total_of(t, s, ARG_AVAILABLE_TOTAL),
		.fragmentation = fragmentation_of(t, s) };
	if (out->capacity >= 0)
		out->capacity = out->in_use >= 0 ? num_add(out->in_use, out->capacity) : -1;
	return true;
}
