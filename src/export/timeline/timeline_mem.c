/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory counters of the graph timeline: bytes in use on each accelerator, and the nodes
 * with the largest buffers. Allocations and releases of all nodes are processed once, in time
 * order; the live buffers are a set ordered by size, then name:
 *
 *   buffers   all that a node ever holds, by node in name order, then time; then by size
 *   place     of a buffer: its rank by (bytes descending, name, time)
 *   changes   one buffer ends, another begins
 *   live      one bit per place: set if the node has exactly these bytes now
 */
#include "base/fmt.h"
#include "export/timeline/timeline.h"
#include "base/sort.h"

#define SHOWN   10  /* number of allocations listed in one counter */
#define BETWEEN 100 /* microseconds from one counter to the next */

#define NOTHING UINT32_MAX

/* Bytes that nodes hold from the start of a step on: the maximum over all steps. */
struct held {
	struct idset nodes;
	int64_t *bytes; /* indexed by member */
};

/* A time at which a node's bytes change. */
struct change {
	uint32_t from, to; /* indices of buffers, later of places; NOTHING: no bytes */
};

/* The changes of one device. */
struct changes {
	const struct trace_mem *x;
	const struct held *held;
	struct arena *a;
	VEC(int64_t) less; /* bytes of buffers, negated, so that the largest sorts first */
	VEC(uint32_t) node;
	uint32_t *at;      /* indexed by place: its buffer */
	VEC(int64_t) time; /* microseconds; INT64_MIN: from the start on */
	VEC(struct change) list;
	uint32_t *by_time;
	size_t applied;
	struct bittree live;
	/* The texts of the last counter, most of which recur in the next counter. */
	struct shown_text {
		uint32_t buffer; /* 1 + buffer, 0: none */
		struct sb text;
	} shown[SHOWN];
};

/* The records of one cell: times and sizes of its memory changes. */
struct moments {
	struct arena *a;
	VEC(int64_t) at, by;
	VEC(uint32_t) order;
};

/* ---- devices and their cells ---- */

static uint32_t cell_device(const struct trace_mem *x, uint32_t cell)
{
	return x->m->nodes.v[x->s->cell_node[cell]].device;
}

/* Finds the devices. */
static void find_devices(struct trace_mem *x)
{
	for (uint32_t i = 0; i < x->n_cells; i++) {
		uint32_t d = cell_device(x, x->cell[i]);
		if (x->of[d] || (x->m->devices.v[d].kind & DEVICE_CPU))
			continue;
		x->of[d] = 1;
		x->device[x->n_devices++] = d;
	}
	model_sort_devices(x->m, x->device, x->n_devices, x->a);
	for (uint32_t k = 0; k < x->n_devices; k++)
		x->of[x->device[k]] = k + 1;
}

void trace_mem_init(
        struct trace_mem *x, const struct result *r, const uint32_t *cell, uint32_t n_cells)
{
	const struct query *q = r->q;

	*x = (struct trace_mem){
		.m = q->m, .s = q->step, .a = q->a, .cell = cell, .n_cells = n_cells
	};
	x->of = ARENA_ARRAY(x->a, x->m->devices.n, uint32_t);
	x->device = ARENA_ARRAY(x->a, x->m->devices.n, uint32_t);
	find_devices(x);
}

/* Sorts the drawn cells by their nodes' names. */
static uint32_t *order_cells(const struct trace_mem *x, const struct idset *cells, struct arena *a)
{
	uint32_t *v = ARENA_ARRAY(a, x->n_cells, uint32_t), n = 0;
	struct idset drawn = idset_new(a, x->s->n_cells);

	for (uint32_t i = 0; i < x->n_cells; i++)
		idset_add(&drawn, x->cell[i]);
	for (size_t i = 0; i < x->m->by_name.n; i++) {
		uint32_t cell = idset_place(cells, x->m->by_name.v[i]);
		if (cell != UINT32_MAX && idset_has(&drawn, cell))
			v[n++] = cell;
	}
	return v;
}

/* Lists the cells of each device in order. Device k has the cells from at[k] to at[k + 1]. */
static uint32_t *part_cells(
        const struct trace_mem *x, const uint32_t *cell, uint32_t **at, struct arena *a)
{
	uint32_t *first = ARENA_ARRAY(a, (size_t)x->n_devices + 2, uint32_t);

	for (uint32_t i = 0; i < x->n_cells; i++)
		first[x->of[cell_device(x, cell[i])] + 1]++;
	first[1] = 0; /* without a device */
	for (uint32_t k = 2; k < x->n_devices + 2; k++)
		first[k] += first[k - 1];
	uint32_t *v = ARENA_ARRAY(a, first[x->n_devices + 1], uint32_t);
	for (uint32_t i = 0; i < x->n_cells; i++) {
		uint32_t k = x->of[cell_device(x, cell[i])];
		if (k)
			v[first[k]++] = cell[i];
	}
	*at = first;
	return v;
}

static struct held find_held(const struct model *m, struct arena *a)
{
	struct held h = { .nodes = idset_new(a, m->nodes.n) };

	for (size_t i = 0; i < m->steps.n; i++)
		for (size_t k = 0; k < m->steps.v[i]->holdings.n; k++)
			idset_add(&h.nodes, m->steps.v[i]->holdings.v[k].node);
	idset_count(&h.nodes);
	h.bytes = ARENA_ARRAY(a, h.nodes.n, int64_t);
	for (size_t i = 0; i < m->steps.n; i++) {
		for (size_t k = 0; k < m->steps.v[i]->holdings.n; k++) {
			const struct holding *x = &m->steps.v[i]->holdings.v[k];
			int64_t *most = &h.bytes[idset_place(&h.nodes, x->node)];
			*most = x->bytes > *most ? x->bytes : *most;
		}
	}
	return h;
}

static int64_t held_bytes(const struct held *h, uint32_t node)
{
	uint32_t i = idset_place(&h->nodes, node);

	return i == UINT32_MAX ? 0 : h->bytes[i];
}

void trace_mem_rows(const struct trace_mem *x, struct trace_writer *t, int64_t pid)
{
	for (uint32_t k = 0; k < x->n_devices; k++) {
		t->text.n = 0;
		sb_put(&t->text, S("mem usage on:"));
		sb_put(&t->text, device_name(x->m, x->device[k]));
		trace_process(t, sb_str(&t->text), pid++);
		sb_put(&t->text, S(" allocations"));
		trace_process(t, sb_str(&t->text), pid++);
	}
}

/* ---- changes ---- */

/* Starts the buffer that a node has from a time on. */
static uint32_t add_buffer(struct changes *c, uint32_t node, int64_t bytes)
{
	if (bytes <= 0)
		return NOTHING;
	VEC_PUSH(c->a, &c->less, -bytes);
	VEC_PUSH(c->a, &c->node, node);
	return (uint32_t)(c->less.n - 1);
}

/* Adds the changes of a node. The value at its first time counts from the start on. Among several
 * values at one time, the last counts. */
static void add_changes(struct changes *c, const struct moments *m, uint32_t node)
{
	int64_t bytes = 0;
	uint32_t had = NOTHING;
	bool first = true;

	for (size_t i = 0; i < m->order.n; i++) {
		int64_t at = m->at.v[m->order.v[i]];
		bytes = num_add(bytes, m->by.v[m->order.v[i]]);
		if (i + 1 < m->order.n && m->at.v[m->order.v[i + 1]] == at)
			continue;
		struct change x = { had, add_buffer(c, node, bytes) };
		if (x.from != NOTHING || x.to != NOTHING) {
			VEC_PUSH(c->a, &c->time, first ? INT64_MIN : at);
			VEC_PUSH(c->a, &c->list, x);
		}
		had = x.to;
		first = false;
	}
}

static void add_moment(struct moments *m, int64_t at, int64_t by)
{
	VEC_PUSH(m->a, &m->order, (uint32_t)m->at.n);
	VEC_PUSH(m->a, &m->at, at);
	VEC_PUSH(m->a, &m->by, by);
}

/* Adds the bytes that the cell's node holds from the start on, then its records. */
static void collect_cell(struct changes *c, struct moments *m, uint32_t cell)
{
	const struct step *s = c->x->s;
	const uint8_t *p = s->mem + s->cell_mem0[cell], *end = s->mem + s->cell_mem0[cell + 1];
	uint32_t node = s->cell_node[cell];
	struct mem_item item;

	m->at.n = m->by.n = m->order.n = 0;
	add_moment(m, 0, held_bytes(c->held, node));
	while (mem_next_of(&p, end, true, &item))
		add_moment(m, timeline_us(s, item.time), item.bytes);
	keysort(m->a, m->order.v, m->order.n, m->at.v);
	add_changes(c, m, node);
}

/* Assigns every buffer its place in the set, and stores the places in the changes. */
static void find_places(struct changes *c, struct arena *scratch)
{
	size_t n = c->less.n;

	c->at = keysort_new(c->a, n, c->less.v);
	uint32_t *place = ARENA_ARRAY(scratch, n, uint32_t);
	for (size_t k = 0; k < n; k++)
		place[c->at[k]] = (uint32_t)k;
	for (size_t i = 0; i < c->list.n; i++) {
		struct change *x = &c->list.v[i];
		x->from = x->from == NOTHING ? NOTHING : place[x->from];
		x->to = x->to == NOTHING ? NOTHING : place[x->to];
	}
	bittree_init(&c->live, n, c->a);
}

/* Collects the changes of device k. Their number is close to the number of allocations: more
 * buffers would be held from the start on. */
static void collect_changes(struct changes *c, uint32_t k)
{
	const struct trace_mem *x = c->x;
	struct scratch own;

	scratch_open(&own, c->a->work);
	struct moments m = { .a = &own.a };
	VEC_ROOM(c->a, &c->time, x->points[k].allocations);
	VEC_ROOM(c->a, &c->list, x->points[k].allocations);
	for (uint32_t i = x->at[k]; i < x->at[k + 1]; i++)
		collect_cell(c, &m, x->named[i]);
	c->by_time = keysort_new(c->a, c->time.n, c->time.v);
	find_places(c, &own.a);
	scratch_close(&own);
}

/* Applies the changes before `time`. */
static void advance(struct changes *c, int64_t time)
{
	for (; c->applied < c->list.n; c->applied++) {
		uint32_t i = c->by_time[c->applied];
		if (c->time.v[i] >= time)
			break;
		if (c->list.v[i].from != NOTHING)
			bittree_clear(&c->live, c->list.v[i].from);
		if (c->list.v[i].to != NOTHING)
			bittree_set(&c->live, c->list.v[i].to);
	}
}

/* Returns the first place from `from` on with at most `bytes` bytes. */
static size_t skip_larger(const struct changes *c, size_t from, int64_t bytes)
{
	size_t i;

	BISECT(i, from, c->less.n, -c->less.v[c->at[i]] > bytes);
	return i;
}

/* Finds the largest allocations that fit the remaining bytes in use. */
static int find_top(const struct changes *c, int64_t *left, uint32_t top[SHOWN])
{
	size_t place = 0;
	int n = 0;

	while (n < SHOWN) {
		place = bittree_next(&c->live, skip_larger(c, place, *left));
		if (place == SIZE_MAX)
			break;
		top[n] = c->at[place++];
		*left += c->less.v[top[n++]];
	}
	return n;
}

/* ---- counters ---- */

static void put_in_use(struct trace_writer *t, int64_t pid, int64_t at, int64_t bytes)
{
	trace_counter(t);
	trace_counter_number(t, S("Allocator Bytes in Use"), bytes);
	trace_counter_end(t, S("Allocated Bytes"), pid, at);
}

/* Writes the counter's text for a slot of a buffer. */
static struct str top_text(struct changes *c, int slot, uint32_t buffer)
{
	struct shown_text *x = &c->shown[slot];

	if (x->buffer == buffer + 1)
		return sb_str(&x->text);
	x->buffer = buffer + 1;
	x->text.a = c->a;
	x->text.n = 0;
	fmt_general(&x->text, (double)-c->less.v[buffer] / 1e6, 6);
	sb_put(&x->text, S(" MB from "));
	sb_put(&x->text, node_name(c->x->m, c->node.v[buffer]));
	return sb_str(&x->text);
}

/* Quirk 28: slot 00 is written only if it is filled. */
static void put_top(
        struct trace_writer *t, struct changes *c, int64_t pid, int64_t at, int64_t left)
{
	uint32_t top[SHOWN];
	int n = find_top(c, &left, top);
	char key[] = "Top Allocation 00";

	trace_counter(t);
	t->text.n = 0;
	fmt_ratio2(&t->text, left, 1000000);
	sb_put(&t->text, S(" MB"));
	trace_counter_text(t, S("Not Displayed"), sb_str(&t->text));
	for (int i = 0; i < SHOWN; i++) {
		if (i == 0 && n == 0)
			continue;
		key[sizeof key - 2] = (char)('0' + i);
		trace_counter_text(t, str_make(key, sizeof key - 1),
		        i < n ? top_text(c, i, top[i]) : S("N/A"));
	}
	trace_counter_end(t, S("Top Allocations"), pid, at);
}

/* Collects the bytes in use recorded with each execution of n cells, in the order in which they are
 * shown. Returns the number of allocations recorded with them. */
static size_t collect_points(const struct trace_mem *x, const uint32_t *cells, uint32_t n,
        struct points *v, struct arena *a)
{
	const struct step *s = x->s;
	struct mem_item item;
	size_t allocations = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = s->mem + s->cell_mem0[cells[i]];
		const uint8_t *end = s->mem + s->cell_mem0[cells[i] + 1];
		while (mem_next(&p, end, &item)) {
			allocations += item.allocation;
			if (item.allocation || item.time <= 0)
				continue;
			VEC_PUSH(a, &v->time, timeline_us(s, item.time));
			VEC_PUSH(a, &v->bytes, item.in_use);
		}
	}
	return allocations;
}

/* Selects the points for counters, sorted by time. Among several points at one time, the last
 * counts. */
static void choose_points(
        const struct points *from, const uint32_t *order, struct points *to, struct arena *a)
{
	int64_t last = 0;

	for (size_t i = 0; i < from->time.n; i++) {
		int64_t at = from->time.v[order[i]], bytes = from->bytes.v[order[i]];
		if (i + 1 < from->time.n && from->time.v[order[i + 1]] == at)
			continue;
		to->most = bytes > to->most ? bytes : to->most;
		if (at - last < BETWEEN)
			continue;
		last = at;
		VEC_PUSH(a, &to->time, at);
		VEC_PUSH(a, &to->bytes, bytes);
	}
}

void trace_mem_read(struct trace_mem *x, const struct idset *cells)
{
	struct scratch own, one;
	uint32_t *at;

	if (!x->n_devices)
		return;
	scratch_open(&own, x->a->work);
	scratch_open(&one, x->a->work);
	x->named = part_cells(x, order_cells(x, cells, &one.a), &x->at, x->a);
	x->points = ARENA_ARRAY(x->a, x->n_devices, struct points);
	const uint32_t *cell = part_cells(x, x->cell, &at, &own.a);
	for (uint32_t k = 0; k < x->n_devices; k++) {
		struct points all = { 0 };
		arena_clear(&one.a);
		x->points[k].allocations =
		        collect_points(x, cell + at[k], at[k + 1] - at[k], &all, &one.a);
		const uint32_t *order = keysort_new(&one.a, all.time.n, all.time.v);
		choose_points(&all, order, &x->points[k], x->a);
	}
	scratch_close(&one);
	scratch_close(&own);
}

static void put_peak(const struct trace_mem *x, uint32_t device, int64_t most, struct sink *say)
{
	struct sb b = sb_in(x->a);

	sb_put(&b, device_name(x->m, x->device[device]));
	sb_put(&b, S(" peak memory: "));
	fmt_ratio2(&b, most, 1000000);
	sb_put(&b, S(" MB\n"));
	sink_put(say, sb_str(&b));
}

static void put_device(
        struct trace_writer *t, struct changes *c, const struct points *v, int64_t pid)
{
	for (size_t i = 0; i < v->time.n; i++) {
		advance(c, v->time.v[i]);
		put_in_use(t, pid, v->time.v[i], v->bytes.v[i]);
		put_top(t, c, pid + 1, v->time.v[i], v->bytes.v[i]);
	}
}

void trace_mem_counters(
        const struct trace_mem *x, struct trace_writer *t, int64_t pid, struct sink *say)
{
	struct scratch own;

	if (!x->n_devices)
		return;
	const struct held held = find_held(x->m, x->a);
	scratch_open(&own, x->a->work);
	for (uint32_t k = 0; k < x->n_devices; k++, pid += 2) {
		struct changes c = { .x = x, .held = &held, .a = &own.a };
		collect_changes(&c, k);
		put_device(t, &c, &x->points[k], pid);
		if (x->m->devices.v[x->device[k]].kind & DEVICE_GPU)
			put_peak(x, k, x->points[k].most, say);
		arena_clear(&own.a);
	}
	scratch_close(&own);
}
