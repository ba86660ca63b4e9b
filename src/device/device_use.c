/* SPDX-License-Identifier: Apache-2.0
 *
 * Items of struct device_use by name, time and track.
 */
#include "device/device_use.h"

#include "device/device_parts.h"

/* ---- lists ---- */

void device_use_init(struct device_use *u, const struct trace *t, struct arena *a)
{
	*u = (struct device_use){ .a = a, .t = t };
	intern_init(&u->names, a);
	imap_init(&u->kernels.at, a);
	imap_init(&u->waits.at, a);
	imap_init(&u->calls.at, a);
}

uint32_t gpu_list_index(struct device_use *u, struct gpu_list *list, struct str name)
{
	uint32_t id = intern_add(&u->names, name), i;

	if (imap_get(&list->at, id, &i))
		return i;
	i = (uint32_t)list->n;
	VEC_PUSH(u->a, list, ((struct gpu_times){ .name = intern_str(&u->names, id) }));
	imap_put(&list->at, id, i, false);
	return i;
}

uint64_t gpu_count(const struct gpu_times *t)
{
	return num_add_u64(t->h.n, t->summed);
}

int64_t gpu_total(const struct gpu_times *t)
{
	return num_add(t->h.sum, t->summed_ns);
}

int64_t gpu_min(const struct gpu_times *t)
{
	return t->summed && (!t->h.n || t->summed_min < t->h.min) ? t->summed_min : t->h.min;
}

int64_t gpu_max(const struct gpu_times *t)
{
	return t->summed_max > t->h.max ? t->summed_max : t->h.max;
}

/* ---- work ---- */

uint32_t device_part(
        struct device_use *u, uint32_t process, uint32_t local, const struct recorded_gpu *gpu)
{
	for (uint32_t i = 0; i < u->parts.n; i++)
		if (u->parts.v[i].process == process && u->parts.v[i].local == local &&
		        u->parts.v[i].gpu == gpu)
			return i;
	VEC_PUSH(u->a, &u->parts,
	        ((struct gpu_part){ .process = process,
	                .local = local,
	                .number = gpu ? gpu->number : local,
	                .gpu = gpu }));
	return (uint32_t)u->parts.n - 1;
}

void device_add_shape(
        struct device_use *u, struct gpu_times *kernel, uint32_t part, const struct spool_kernel *k)
{
	if (!kernel->shapes)
		kernel->shapes = ARENA_NEW(u->a, struct gpu_shapes);
	gpu_shapes_add(kernel->shapes, k, part);
}

void gpu_copies_add(struct gpu_copies *c, const struct gpu_copies *more)
{
	c->count = num_add_u64(c->count, more->count);
	c->bytes = num_add(c->bytes, more->bytes);
	c->ns = num_add(c->ns, more->ns);
}

/* ---- times and processes ---- */

uint64_t device_time(const struct device_use *u, int64_t tick)
{
	int64_t since = num_sub(trace_ns(u->t, tick), u->first);
	uint64_t before = since < 0 ? 0 - (uint64_t)since : 0;

	if (since >= 0)
		return num_add_u64(u->base, (uint64_t)since);
	return before < u->base ? u->base - before : 0;
}

uint32_t device_process(const struct device_use *u, uint32_t track)
{
	uint32_t process = u->t->tracks.v[track].process;

	return process < u->process_of.n ? u->process_of.v[process] : (uint32_t)u->processes.n - 1;
}

/* Returns the number that the source gives a device if these numbers are unique, otherwise the
 * index of the device. */
uint32_t device_number(const struct device_use *u, uint32_t device)
{
	return u->unique ? (uint32_t)u->t->devices.v[device].index : device;
}
