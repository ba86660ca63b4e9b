/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_ranges.h.
 */
#include "view/gpu_ranges.h"

#include "base/num.h"
#include "base/sort.h"
#include "model/spool_join.h"

#define RANGES_MAX                                                                                 \
	(1u << 16)       /* paths that are told apart; below others count as the one around        \
	                  */
#define DEPTH_MAX 128    /* open ranges of a thread that are kept */
#define STEPS_MAX 100000 /* of all processes; later work counts as the last step's */

/* ---- paths ---- */

/* The name without the number of an instance at its end: "ProfilerStep#17". */
static struct str unnumbered(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n && n < name.n && name.p[n - 1] == '#' ? str_sub(name, 0, n - 1) : name;
}

/* The path of a range inside another one (1 + index, 0: of none). */
static uint32_t path_of(struct gpu_use *u, uint32_t parent, struct str name)
{
	uint32_t id = intern_add(&u->names, name), i;
	uint64_t key = (uint64_t)parent << 32 | id;

	if (imap_get(&u->range_of, key, &i))
		return i + 1;
	if (u->ranges.n == RANGES_MAX)
		return parent;
	i = (uint32_t)u->ranges.n;
	imap_put(&u->range_of, key, i, false);
	VEC_PUSH(u->a, &u->ranges,
	        ((struct gpu_range){ .parent = parent, .name = intern_str(&u->names, id) }));
	return i + 1;
}

/* ---- reading ranges ---- */

static uint32_t thread_of(struct gpu_range_feed *f, uint32_t tid)
{
	uint32_t i;

	if (imap_get(&f->thread_of, tid, &i))
		return i;
	i = (uint32_t)f->threads.n;
	imap_put(&f->thread_of, tid, i, false);
	VEC_PUSH(f->scratch, &f->threads, ((struct gpu_range_thread){ 0 }));
	return i;
}

void gpu_ranges_begin(struct gpu_range_feed *f)
{
	imap_init(&f->thread_of, f->scratch);
	f->first_step = f->u->steps.n;
}

static void begin_step(struct gpu_range_feed *f, uint64_t time, struct str label)
{
	struct gpu_use *u = f->u;

	if (u->steps.n == STEPS_MAX)
		return;
	VEC_PUSH(f->scratch, &f->step_starts, time);
	VEC_PUSH(u->a, &u->steps,
	        ((struct gpu_step){ .process = f->process,
	                .start = time,
	                .label = label.n ? str_copy(u->a, label)
	                                 : str_fmt(u->a, "%zu", f->step_starts.n - 1) }));
}

/* The innermost range changes. */
static void change(struct gpu_range_feed *f, struct gpu_range_thread *t, uint64_t time)
{
	uint32_t now = t->open.n ? t->open.v[t->open.n - 1].range : 0;

	t->unsorted |= t->times.n && time < t->times.v[t->times.n - 1];
	VEC_PUSH(f->scratch, &t->times, time);
	VEC_PUSH(f->scratch, &t->ranges, now);
}

static void push(struct gpu_range_feed *f, struct gpu_range_thread *t, const struct spool_range *x)
{
	struct str name = block_decode_string(f->g, x->name);
	uint32_t around = t->open.n ? t->open.v[t->open.n - 1].range : 0;

	name = name.p ? name : S("(name lost)");
	if (t->open.n == DEPTH_MAX) {
		t->too_deep++;
		return;
	}
	if (str_starts(name, S("ProfilerStep#")) || str_starts(name, S("tfprof.step")))
		begin_step(f, x->time, name);
	VEC_PUSH(f->scratch, &t->open,
	        ((struct gpu_open_range){
	                x->domain, path_of(f->u, around, unnumbered(name)), x->time }));
	change(f, t, x->time);
}

/* Closes the last one of its domain; those that were pushed after it stay open. */
static void pop(struct gpu_range_feed *f, struct gpu_range_thread *t, const struct spool_range *x)
{
	size_t i = t->open.n;

	if (t->too_deep) {
		t->too_deep--;
		return;
	}
	while (i && t->open.v[i - 1].domain != x->domain)
		i--;
	if (!i)
		return;
	const struct gpu_open_range *o = &t->open.v[i - 1];
	if (o->range) {
		struct gpu_range *r = &f->u->ranges.v[o->range - 1];
		r->count++;
		if (x->time > o->since)
			r->host = num_add(r->host, num_from_u64(x->time - o->since));
	}
	memmove(&t->open.v[i - 1], &t->open.v[i], (t->open.n - i) * sizeof *t->open.v);
	t->open.n--;
	change(f, t, x->time);
}

void gpu_ranges_take(struct gpu_range_feed *f, const struct spool_range *x)
{
	uint32_t i = thread_of(f, x->tid);
	struct gpu_range_thread *t = &f->threads.v[i];

	if (x->op == SPOOL_PUSH)
		push(f, t, x);
	else if (x->op == SPOOL_POP)
		pop(f, t, x);
}

void gpu_ranges_mark(struct gpu_range_feed *f, const struct spool_mark *m)
{
	if (m->what == SPOOL_STEP)
		begin_step(f, m->time, block_decode_string(f->g, m->label));
}

/* ---- work ---- */

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct gpu_range_thread *t = ctx;

	return t->times.v[a] < t->times.v[b] ? -1 : t->times.v[a] > t->times.v[b];
}

static void sort_thread(struct gpu_range_thread *t, struct arena *a)
{
	size_t n = t->times.n;
	const uint32_t *order = sort_order(a, n, by_time, t);
	uint32_t *ranges = ARENA_ARRAY(a, n, uint32_t);
	uint64_t *times = ARENA_ARRAY(a, n, uint64_t);

	for (size_t i = 0; i < n; i++) {
		times[i] = t->times.v[order[i]];
		ranges[i] = t->ranges.v[order[i]];
	}
	memcpy(t->times.v, times, n * sizeof *times);
	memcpy(t->ranges.v, ranges, n * sizeof *ranges);
}

/* How many of the moments are at or before the time. Times mostly grow: *cursor is tried first. */
static size_t moments_before(const uint64_t *v, size_t n, uint64_t time, size_t *cursor)
{
	size_t low = 0, high = n, at = *cursor;

	if (at <= n && (!at || v[at - 1] <= time) && (at == n || v[at] > time))
		return at;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (v[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return *cursor = low;
}

struct attribution {
	struct gpu_range_feed *f;
	const struct clock_map *clock;
	struct join *join;
	size_t step_cursor;
};

static void take_joined(void *user, const struct op *op, struct launch *l)
{
	struct attribution *x = user;
	struct gpu_range_feed *f = x->f;
	struct gpu_use *u = f->u;
	int64_t ns = num_from_u64(op->length);

	if (!l)
		return;
	uint64_t at = x->clock->apart ? clock_map_time(x->clock, l->start) : l->start;
	size_t step = moments_before(f->step_starts.v, f->step_starts.n, at, &x->step_cursor);
	if (step) {
		struct gpu_step *s = &u->steps.v[f->first_step + step - 1];
		s->device = num_add(s->device, ns);
		s->operations++;
	}
	if (!l->thread)
		return;
	struct gpu_range_thread *t = &f->threads.v[l->thread - 1];
	size_t i = moments_before(t->times.v, t->times.n, at, &t->cursor);
	uint32_t range = i ? t->ranges.v[i - 1] : 0;
	if (range) {
		u->ranges.v[range - 1].device = num_add(u->ranges.v[range - 1].device, ns);
		u->ranges.v[range - 1].operations++;
	}
}

static void take_call(struct attribution *x, const struct spool_api *c)
{
	uint32_t i;
	bool known = imap_get(&x->f->thread_of, c->tid, &i);

	if (c->correlation)
		join_call(x->join, c->correlation,
		        &(struct launch){ .start = c->start,
		                .length = c->length,
		                .thread = known ? i + 1 : 0,
		                .graph = str_contains(
		                        block_decode_string(x->f->g, c->name), S("GraphLaunch")) });
}

static void take_work(struct attribution *x, enum spool_kind kind, uint32_t correlation,
        uint64_t start, uint64_t length)
{
	if (start && correlation)
		join_op(x->join, correlation,
		        &(struct op){ .kind = kind, .start = start, .length = length });
}

static void take(struct attribution *x, const struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_API: take_call(x, &r->api); break;
	case SPOOL_KERNEL:
		take_work(x, r->kind, r->kernel.correlation, r->kernel.start, r->kernel.length);
		break;
	case SPOOL_COPY:
		take_work(x, r->kind, r->copy.correlation, r->copy.start, r->copy.length);
		break;
	case SPOOL_SET:
		take_work(x, r->kind, r->set.correlation, r->set.start, r->set.length);
		break;
	case SPOOL_GRAPH:
		take_work(x, r->kind, r->graph.correlation, r->graph.start, r->graph.length);
		break;
	default: break;
	}
}

static bool read_again(struct gpu_range_feed *f, struct src *s, struct err *e)
{
	struct attribution x = { .f = f, .clock = &f->u->processes.v[f->process].clock };
	struct spool_damage damage;
	struct spool_record r;
	enum spool_event event;

	f->g = ARENA_NEW(f->scratch, struct block_decoder);
	x.join = join_new(f->scratch, take_joined, &x);
	block_decode_init(f->g, s, f->scratch, e);
	while ((event = block_decode(f->g, &r, &damage)) < SPOOL_EVENT_END)
		if (event == SPOOL_EVENT_RECORD)
			take(&x, &r);
	join_finish(x.join);
	return event == SPOOL_EVENT_END;
}

bool gpu_ranges_attribute(struct gpu_range_feed *f, struct str path, struct err *e)
{
	struct src *s;

	if (!f->threads.n && !f->step_starts.n)
		return true;
	for (size_t i = 0; i < f->threads.n; i++)
		if (f->threads.v[i].unsorted)
			sort_thread(&f->threads.v[i], f->scratch);
	if (!src_open_file(&s, f->scratch, path, e))
		return false;
	bool ok = read_again(f, s, e);
	src_close(s);
	return ok;
}

void gpu_ranges_end(struct gpu_use *u)
{
	for (size_t i = 0; i < u->ranges.n; i++)
		u->ranges.v[i].total = u->ranges.v[i].device;
	/* A path comes after the one around it. */
	for (size_t i = u->ranges.n; i-- > 0;) {
		const struct gpu_range *r = &u->ranges.v[i];
		if (r->parent)
			u->ranges.v[r->parent - 1].total =
			        num_add(u->ranges.v[r->parent - 1].total, r->total);
	}
}
