/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums of each device. Walks over the work of each device, and sorts the results.
 *
 * Work is read in order of its starts, so no later slice can begin before the current one. For the
 * union of the work of a process it is therefore enough to store the latest end: a slice adds only
 * its part after that end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "device/device_calls.h"
#include "device/device_idle.h"
#include "device/device_parts.h"
#include "device/device_ranges.h"

/* ---- the walk ---- */

#define NO_PART UINT32_MAX

struct last { /* a process and the latest end of its work */
	uint64_t end;
	unsigned owner;
};

struct walk {
	struct device_use *u;
	struct gpu_device *d; /* NULL if the device is not shown */
	struct scratch own;   /* scratch memory for the device; open while d is set */
	uint32_t *kernel_of;  /* indexed by event: 1 + index in kernels */
	uint32_t *part_of;    /* indexed by track: 1 + index in d->parts, or NO_PART */
	uint64_t *part_ends;
	struct last latest[3]; /* the three processes with the latest ends */
	struct idle_places *idle;
};

struct gpu_stretch {
	uint64_t from, to;
};

static int64_t length(uint64_t from, uint64_t to)
{
	return to > from ? num_from_u64(to - from) : 0;
}

/* Returns the part of interval x after *end. Moves *end to the end of x if x ends later. */
static struct gpu_stretch extend(uint64_t *end, struct gpu_stretch x)
{
	if (x.from < *end)
		x.from = *end < x.to ? *end : x.to;
	if (x.to > *end)
		*end = x.to;
	return x;
}

/* Updates the three latest ends, which belong to different processes. */
static void remember(struct last latest[3], unsigned owner, uint64_t end)
{
	unsigned i = 0;

	while (i < 2 && latest[i].end && latest[i].owner != owner)
		i++;
	if (latest[i].end && latest[i].owner != owner && latest[i].end >= end)
		return;
	latest[i] = (struct last){ end, owner };
	for (; i && latest[i].end > latest[i - 1].end; i--) {
		struct last x = latest[i];
		latest[i] = latest[i - 1];
		latest[i - 1] = x;
	}
}

/* Returns the part of x in which exactly one other process runs. x is new work of a process; time
 * with two or more other processes is already counted as shared. */
static int64_t newly_shared(const struct last latest[3], unsigned owner, struct gpu_stretch x)
{
	uint64_t others[2] = { 0, 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < 3 && n < 2; i++)
		if (latest[i].end && latest[i].owner != owner)
			others[n++] = latest[i].end;
	return length(x.from > others[1] ? x.from : others[1], x.to < others[0] ? x.to : others[0]);
}

/* ---- one slice ---- */

/* Returns the index in d->parts for the work of a track. */
static uint32_t find_part(struct walk *w, uint32_t track)
{
	const struct device_use *u = w->u;
	uint32_t process = device_process(u, track);

	for (uint32_t i = 0; !w->part_of[track] && i < w->d->parts.n; i++)
		if (u->parts.v[w->d->parts.v[i]].process == process)
			w->part_of[track] = 1 + i;
	if (!w->part_of[track])
		w->part_of[track] = NO_PART;
	return w->part_of[track] == NO_PART ? NO_PART : w->part_of[track] - 1;
}

static void take_kernel(struct walk *w, const struct slice *s)
{
	struct device_use *u = w->u;

	if (s->category == CATEGORY_COPY || s->category == CATEGORY_SET)
		return;
	if (!w->kernel_of[s->event])
		w->kernel_of[s->event] =
		        1 + gpu_list_index(u, &u->kernels, trace_str(u->t, s->name));
	hist_add(&u->kernels.v[w->kernel_of[s->event] - 1].h, u->a, trace_ns(u->t, s->length));
}

/* Adds work to the part of its process. */
static void take_part(struct walk *w, unsigned owner, struct gpu_stretch whole)
{
	struct gpu_part *p = &w->u->parts.v[w->d->parts.v[owner]];
	struct gpu_stretch x = extend(&w->part_ends[owner], whole);

	p->busy = num_add(p->busy, length(x.from, x.to));
	w->d->shared = num_add(w->d->shared, newly_shared(w->latest, owner, x));
	remember(w->latest, owner, w->part_ends[owner]);
}

static void take_work(
        void *user, const struct slice *s, const struct cover *busy, const struct launch_call *call)
{
	struct walk *w = user;
	struct device_use *u = w->u;
	struct gpu_stretch whole = { device_time(u, s->start), device_time(u, slice_end(s)) };
	uint64_t until = busy->any ? device_time(u, busy->until) : 0;
	int64_t latency = call->known ? trace_ns(u->t, num_sub(s->start, call->start)) : -1;

	if (!w->d)
		return;
	take_kernel(w, s);
	uint32_t owner = find_part(w, s->track);
	if (busy->any && whole.from > until)
		hist_add(&w->d->gaps, u->a, length(until, whole.from));
	if (latency >= 0)
		hist_add(&w->d->latency, u->a, latency);
	if (owner != NO_PART)
		take_part(w, owner, whole);
	work_poll(u->a->work);
}

/* ---- a device ---- */

static struct gpu_device *find_device(struct device_use *u, uint32_t number)
{
	for (size_t i = 0; i < u->devices.n; i++)
		if (u->devices.v[i].number == number)
			return &u->devices.v[i];
	return NULL;
}

static void end_device(struct walk *w)
{
	if (w->d)
		scratch_close(&w->own);
	w->d = NULL;
}

static void begin_device(void *user, uint32_t device)
{
	struct walk *w = user;
	struct device_use *u = w->u;

	end_device(w);
	w->d = find_device(u, device_number(u, device));
	if (!w->d)
		return;
	scratch_open(&w->own, u->a->work);
	w->part_ends = ARENA_ARRAY(&w->own.a, w->d->parts.n, uint64_t);
	memset(w->latest, 0, sizeof w->latest);
}

static void take_idle(void *user, uint32_t device, enum idle_cause why, int64_t from, int64_t to,
        const struct launch_call *call)
{
	struct walk *w = user;

	if (w->idle)
		idle_places_take(w->idle, device, why, from, to, call);
}

/* Walks over the work of all devices. */
static void walk_devices(struct device_use *u)
{
	struct walk w = { .u = u };
	const struct usage_watch watch = {
		.device = begin_device, .work = take_work, .idle = take_idle, .user = &w
	};
	const struct idle_question places = {
		.links = u->links, .steps = &u->steps, .step = ID_NONE
	};
	struct scratch own;

	scratch_open(&own, u->a->work);
	if (u->links)
		w.idle = idle_places_begin(u->t, &places, &u->idle, u->a, &own.a);
	w.kernel_of = ARENA_ARRAY(&own.a, u->t->events.n, uint32_t);
	w.part_of = ARENA_ARRAY(&own.a, u->t->tracks.n, uint32_t);
	const struct usage_request request = {
		.links = u->links, .watch = &watch, .steps = &u->steps
	};
	trace_usage(u->t, &request, &u->usage, u->a);
	end_device(&w);
	if (w.idle)
		idle_places_end(w.idle, &u->usage);
	scratch_close(&own);
	for (size_t i = 0; i < u->usage.devices.n; i++) {
		const struct device_usage *usage = &u->usage.devices.v[i];
		struct gpu_device *d = find_device(u, device_number(u, usage->device));
		if (!d)
			continue;
		d->usage = *usage;
		d->from = device_time(u, usage->start);
		d->to = device_time(u, usage->end);
	}
}

/* ---- GPUs ---- */

/* Finds the device of a part, or adds it. */
static struct gpu_device *device_of(struct device_use *u, const struct gpu_part *p)
{
	struct gpu_device *d = find_device(u, p->number);

	if (d)
		return d;
	VEC_PUSH(u->a, &u->devices, ((struct gpu_device){ .gpu = p->gpu, .number = p->number }));
	return &u->devices.v[u->devices.n - 1];
}

static void add_part(struct device_use *u, uint32_t part)
{
	const struct gpu_part *p = &u->parts.v[part];
	struct gpu_device *d = device_of(u, p);

	VEC_PUSH(u->a, &d->parts, part);
	d->kernels = num_add_u64(d->kernels, p->kernels);
	for (enum gpu_way i = 0; i < WAY_N; i++)
		gpu_copies_add(&d->ways[i], &p->ways[i]);
}

/* True if the process used the GPU. Processes list all visible GPUs. */
static bool is_used(const struct gpu_part *p)
{
	uint64_t any = p->kernels;

	for (enum gpu_way i = 0; i < WAY_N; i++)
		any |= p->ways[i].count;
	return any != 0;
}

static int by_total(const void *a, const void *b)
{
	const struct gpu_times *x = a, *y = b;
	int64_t p = gpu_total(x), q = gpu_total(y);

	return p != q ? p < q ? 1 : -1 : str_cmp(x->name, y->name);
}

static int by_number(const void *a, const void *b)
{
	const struct gpu_device *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_list(struct gpu_list *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof *list->v, by_total);
}

void device_sum(struct device_use *u)
{
	gpu_calls_block(u);
	gpu_ranges_end(u);
	for (uint32_t i = 0; i < u->parts.n; i++)
		if (is_used(&u->parts.v[i]))
			add_part(u, i);
	walk_devices(u);
	if (u->devices.n)
		qsort(u->devices.v, u->devices.n, sizeof *u->devices.v, by_number);
	sort_list(&u->kernels);
	sort_list(&u->calls);
	sort_list(&u->waits);
}
