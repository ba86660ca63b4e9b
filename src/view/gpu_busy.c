/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_parts.h. Iterates over the intervals of a GPU, and sorts the results.
 *
 * Intervals come by their starts. So after the newest start, the time covered by any set of them is
 * one piece that ends at their latest end; each interval adds the part after that end, and only
 * ends have to be stored.
 */
#include <stdlib.h>

#include "base/num.h"
#include "view/gpu_parts.h"

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

/* ---- the walk ---- */

struct last { /* a process and the end of its covered time */
	uint64_t end;
	unsigned owner;
};

/* A time in which a process waited for the GPU. */
struct wait {
	uint64_t from, to;
	unsigned owner;
};
#define WAITS_MAX 1024 /* that are kept */

struct walk {
	struct gpu_use *u;
	struct gpu_device *d;
	struct arena *scratch;
	uint64_t all, kernels, copies; /* ends of the covered times */
	uint64_t compute, communication;
	VEC(struct wait) waits; /* by start, those that may still matter */
	uint64_t *part_ends;
	struct last latest[3]; /* the three processes with the latest ends */
};

struct gpu_stretch {
	uint64_t from, to;
};

static int64_t length(uint64_t from, uint64_t to)
{
	return to > from ? num_from_u64(to - from) : 0;
}

/* Returns what interval x adds to the covered time that ends at *end. */
static struct gpu_stretch cover(uint64_t *end, struct gpu_stretch x)
{
	if (x.from < *end)
		x.from = *end < x.to ? *end : x.to;
	if (x.to > *end)
		*end = x.to;
	return x;
}

/* Keeps the three latest ends of different processes. */
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

/* A process newly covers the piece: adds the part in which exactly one other runs, which has not
 * been counted as shared yet. */
static int64_t newly_shared(const struct last latest[3], unsigned owner, struct gpu_stretch x)
{
	uint64_t others[2] = { 0, 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < 3 && n < 2; i++)
		if (latest[i].end && latest[i].owner != owner)
			others[n++] = latest[i].end;
	return length(x.from > others[1] ? x.from : others[1], x.to < others[0] ? x.to : others[0]);
}

/* ---- why the GPU was idle ---- */

static void drop_waits(struct walk *w, uint64_t before)
{
	size_t n = 0;

	for (size_t i = 0; i < w->waits.n; i++)
		if (w->waits.v[i].to > before)
			w->waits.v[n++] = w->waits.v[i];
	w->waits.n = n;
}

static void see_wait(struct walk *w, const struct span *s, unsigned owner)
{
	if (s->class == GPU_CALL && !(s->tag & (CALL_SYNCHRONIZES | CALL_WAITED)))
		return;
	if (w->waits.n >= WAITS_MAX)
		drop_waits(w, w->all);
	if (w->waits.n >= WAITS_MAX)
		w->waits.n = 0;
	VEC_PUSH(w->scratch, &w->waits,
	        ((struct wait){ s->start, num_add_u64(s->start, s->length), owner }));
}

/* How much of the time the process waited. */
static int64_t waited(const struct walk *w, unsigned owner, uint64_t from, uint64_t to)
{
	uint64_t end = from, sum = 0;

	for (size_t i = 0; i < w->waits.n; i++) {
		const struct wait *x = &w->waits.v[i];
		uint64_t a = x->from > end ? x->from : end, b = x->to < to ? x->to : to;
		if (x->owner != owner || b <= a)
			continue;
		sum += b - a;
		end = b;
	}
	return num_from_u64(sum);
}

/* Nothing ran from w->all to the start of s: derives the reason from the time of its launch. */
static void explain_gap(struct walk *w, const struct span *s, unsigned owner)
{
	struct gpu_idle *idle = &w->d->idle;
	uint64_t from = w->all, launched;

	if (!s->tag) {
		idle->unknown = num_add(idle->unknown, length(from, s->start));
		return;
	}
	launched = s->start - (s->tag - 1);
	launched = launched > from ? launched : from;
	int64_t wait = waited(w, owner, from, launched);
	idle->waiting = num_add(idle->waiting, wait);
	idle->host = num_add(idle->host, num_sub(length(from, launched), wait));
	idle->latency = num_add(idle->latency, length(launched, s->start));
	drop_waits(w, s->start);
}

/* ---- classes ---- */

/* Compute kernels and communication kernels, and both at the same time. */
static void cover_kernel(struct walk *w, bool communicates, struct gpu_stretch whole)
{
	uint64_t *mine = communicates ? &w->communication : &w->compute;
	uint64_t other = communicates ? w->compute : w->communication;
	struct gpu_stretch x = cover(mine, whole);
	struct gpu_device *d = w->d;

	if (communicates)
		d->busy_communication = num_add(d->busy_communication, length(x.from, x.to));
	d->hidden = num_add(d->hidden, length(x.from, x.to < other ? x.to : other));
}

static void step(struct walk *w, const struct span *s, unsigned owner)
{
	const uint64_t end = s->length > UINT64_MAX - s->start ? UINT64_MAX : s->start + s->length;
	struct gpu_stretch whole = { s->start, end }, x;
	struct gpu_device *d = w->d;

	if (w->all && s->start > w->all) {
		hist_add(&d->gaps, w->u->a, length(w->all, s->start));
		explain_gap(w, s, owner);
	}
	if (s->tag)
		hist_add(&d->latency, w->u->a, num_from_u64(s->tag - 1));
	x = cover(&w->all, whole);
	d->busy = num_add(d->busy, length(x.from, x.to));
	x = cover(&w->part_ends[owner], whole);
	struct gpu_part *p = &w->u->parts.v[d->parts.v[owner]];
	p->busy = num_add(p->busy, length(x.from, x.to));
	d->shared = num_add(d->shared, newly_shared(w->latest, owner, x));
	remember(w->latest, owner, w->part_ends[owner]);
	if (s->class == GPU_KERNEL || s->class == GPU_COMMUNICATION) {
		cover_kernel(w, s->class == GPU_COMMUNICATION, whole);
		x = cover(&w->kernels, whole);
		d->busy_kernels = num_add(d->busy_kernels, length(x.from, x.to));
		d->overlap =
		        num_add(d->overlap, length(x.from, x.to < w->copies ? x.to : w->copies));
	} else if (s->class == GPU_COPY) {
		x = cover(&w->copies, whole);
		d->busy_copies = num_add(d->busy_copies, length(x.from, x.to));
		d->overlap =
		        num_add(d->overlap, length(x.from, x.to < w->kernels ? x.to : w->kernels));
	}
}

static void add_up(struct gpu_use *u, struct gpu_device *d, struct arena *scratch)
{
	struct walk w = { .u = u, .d = d, .scratch = scratch };
	struct span_walk spans;
	struct span x;
	unsigned owner;
	bool first = true;

	w.part_ends = ARENA_ARRAY(scratch, d->parts.n, uint64_t);
	span_walk_begin(&spans, scratch);
	for (unsigned i = 0; i < d->parts.n; i++) {
		const struct gpu_part *p = &u->parts.v[d->parts.v[i]];
		span_walk_add(&spans, &p->spans, i);
		span_walk_add(&spans, &u->processes.v[p->process].host, i);
	}
	while (span_walk_next(&spans, &x, &owner)) {
		if (x.class == GPU_CALL || x.class == GPU_SYNC) {
			see_wait(&w, &x, owner);
			continue;
		}
		if (first)
			d->from = num_from_u64(x.start);
		first = false;
		step(&w, &x, owner);
		work_poll(scratch->work);
	}
	d->to = num_from_u64(w.all);
}

/* ---- GPUs ---- */

/* The GPU of that number, made at first sight. */
static struct gpu_device *device_of(
        struct gpu_use *u, struct imap *known, const struct recorded_gpu *gpu)
{
	uint32_t i;

	if (imap_get(known, gpu->number, &i))
		return &u->devices.v[i];
	imap_put(known, gpu->number, (uint32_t)u->devices.n, false);
	VEC_PUSH(u->a, &u->devices, ((struct gpu_device){ .gpu = gpu, .number = gpu->number }));
	return &u->devices.v[u->devices.n - 1];
}

static void add_part(struct gpu_use *u, struct imap *known, uint32_t part)
{
	const struct gpu_part *p = &u->parts.v[part];
	struct gpu_device *d = device_of(u, known, p->gpu);

	VEC_PUSH(u->a, &d->parts, part);
	d->kernels = num_add_u64(d->kernels, p->kernels);
	for (enum gpu_way i = 0; i < WAY_N; i++) {
		d->ways[i].count = num_add_u64(d->ways[i].count, p->ways[i].count);
		d->ways[i].bytes = num_add(d->ways[i].bytes, p->ways[i].bytes);
		d->ways[i].ns = num_add(d->ways[i].ns, p->ways[i].ns);
	}
}

/* True if it was used. Processes list all GPUs they see. */
static bool is_used(const struct gpu_part *p)
{
	uint64_t any = p->gpu ? p->kernels : 0;

	for (enum gpu_way i = 0; i < WAY_N; i++)
		any |= p->gpu ? p->ways[i].count : 0;
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

void gpu_sum(struct gpu_use *u)
{
	struct scratch scratch;
	struct imap known;

	gpu_calls_block(u);
	gpu_ranges_end(u);
	scratch_open(&scratch, u->a->work);
	imap_init(&known, &scratch.a);
	for (uint32_t i = 0; i < u->parts.n; i++)
		if (is_used(&u->parts.v[i]))
			add_part(u, &known, i);
	scratch_close(&scratch);
	if (u->devices.n)
		qsort(u->devices.v, u->devices.n, sizeof *u->devices.v, by_number);
	for (size_t i = 0; i < u->devices.n; i++) {
		scratch_open(&scratch, u->a->work);
		add_up(u, &u->devices.v[i], &scratch.a);
		scratch_close(&scratch);
	}
	if (u->kernels.n)
		qsort(u->kernels.v, u->kernels.n, sizeof *u->kernels.v, by_total);
	if (u->calls.n)
		qsort(u->calls.v, u->calls.n, sizeof *u->calls.v, by_total);
	if (u->waits.n)
		qsort(u->waits.v, u->waits.n, sizeof *u->waits.v, by_total);
}
