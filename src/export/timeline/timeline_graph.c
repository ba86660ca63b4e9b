/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph timeline: every execution of a shown node as a box on its device, overlapping
 * boxes in separate lanes, and arrows for data that goes from one device to another.
 *
 *   boxes   box0[rank] .. box0[rank] + n_boxes[rank]   of one device, by start; ranks by name
 *   order   the same indices                           by lane, then start
 *   flows   flow0[box] .. flow0[box + 1]               the boxes that this one leads to
 */
#include "base/sort.h"
#include "export/timeline/timeline.h"

struct arrow {
	uint32_t from, to; /* box ids */
};

struct chart {
	const struct result *r;
	const struct query *q;
	const struct model *m;
	const struct step *s;
	struct arena *a;
	struct trace_writer t;
	struct idset cells; /* the nodes of the step; the rank of a node is its cell */
	uint32_t *cell;     /* cells that are drawn, in the order in which they are shown */
	uint32_t n_cells;
	struct arena *own_cells; /* arena of the cells */
	uint32_t n_ranks;
	uint32_t *rank;   /* indexed by device of the step */
	uint32_t *device; /* indexed by rank: device of the model */
	int64_t *pid;     /* indexed by rank */
	uint32_t *by_pid; /* ranks sorted by their pids */
	uint32_t n_pids;
	size_t *box0, *n_boxes; /* indexed by rank */
	struct arena *own;      /* arena of all fields below; released before memory is drawn */
	uint32_t *node;         /* indexed by span of the step, for drawn spans */
	uint32_t *span;         /* indexed by box: span of the step */
	uint32_t *lane;         /* indexed by box */
	uint32_t *order;
	VEC(struct arrow) arrows; /* in order of discovery */
	uint32_t *flow0, *flows;
};

/* True if a node has a canonical device. The original also needs a host, which its profiles do not
 * have. */
static bool has_place(const struct query *q, uint32_t node)
{
	const struct node *n = &q->m->nodes.v[node];

	return n->device != ID_NONE && (n->host != ID_NONE || q->o->bare_input);
}

/* Returns the cell of a shown entry if it is drawn: it ran in the step, has a start and devices. */
static uint32_t drawn_cell(const struct chart *c, uint32_t shown)
{
	const struct query *q = c->q;
	const struct result *r = c->r;
	uint32_t node = q->tree->node[q->kept.at[r->shown[shown].kept]];

	if (shown == 0 || node == ID_NONE || !has_place(q, node))
		return ID_NONE;
	uint32_t cell = idset_place(&c->cells, node);
	return cell == ID_NONE || c->s->cell_start[cell] == 0 ? ID_NONE : cell;
}

static void find_cells(struct chart *c)
{
	c->cells = idset_new(c->own_cells, c->m->nodes.n);
	for (uint32_t i = 0; i < c->s->n_cells; i++)
		idset_add(&c->cells, c->s->cell_node[i]);
	idset_count(&c->cells);
	c->cell = ARENA_ARRAY(c->own_cells, c->s->n_cells, uint32_t);
}

/* ---- devices ---- */

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return (a > b) - (a < b);
}

/* Lists the devices of the step in byte order of their names, without duplicates. */
static void rank_devices(struct chart *c)
{
	uint32_t *of = ARENA_ARRAY(c->a, c->m->devices.n, uint32_t); /* 1 + rank */

	c->device = ARENA_ARRAY(c->a, c->s->n_devices, uint32_t);
	c->rank = ARENA_ARRAY(c->a, c->s->n_devices, uint32_t);
	for (uint32_t i = 0; i < c->s->n_devices; i++) {
		uint32_t d = c->s->devices[i];
		if (!of[d])
			c->device[c->n_ranks++] = d;
		of[d] = 1;
	}
	model_sort_devices(c->m, c->device, c->n_ranks, c->a);
	for (uint32_t k = 0; k < c->n_ranks; k++)
		of[c->device[k]] = k + 1;
	for (uint32_t i = 0; i < c->s->n_devices; i++)
		c->rank[i] = of[c->s->devices[i]] - 1;
}

static uint32_t span_rank(const struct chart *c, uint32_t span)
{
	return c->rank[c->s->span_device[span]];
}

/* Assigns pids to the devices that a cell uses first, in byte order of their names. */
static void name_devices(struct chart *c, uint32_t *fresh, uint32_t n)
{
	struct trace_writer *t = &c->t;

	sort_stable(c->a, fresh, n, by_number, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct str name = device_name(c->m, c->device[fresh[i]]);
		bool stream = str_contains(name, S("stream"));
		t->text.n = 0;
		sb_put(&t->text,
		        stream ? S("Op execution threads: ") : S("Op scheduling threads: "));
		sb_put(&t->text, name);
		c->pid[fresh[i]] = c->n_pids;
		c->by_pid[c->n_pids] = fresh[i];
		trace_process(t, sb_str(&t->text), c->n_pids++);
	}
}

/* First pass: creates rows, and counts the boxes that each row may get. */
static void count_boxes(struct chart *c)
{
	uint32_t *fresh = ARENA_ARRAY(c->a, c->n_ranks, uint32_t);

	c->node = ARENA_ARRAY(c->own, c->s->n_spans, uint32_t);
	for (uint32_t i = 0; i < c->r->n; i++) {
		uint32_t cell = drawn_cell(c, i), n = 0;
		if (cell == ID_NONE)
			continue;
		c->cell[c->n_cells++] = cell;
		for (uint32_t k = c->s->cell_span0[cell]; k < c->s->cell_span0[cell + 1]; k++) {
			uint32_t rank = span_rank(c, k);
			c->node[k] = c->s->cell_node[cell];
			if (c->s->span_kind[k] == SPAN_SEEN)
				continue;
			if (c->n_boxes[rank]++ == 0)
				fresh[n++] = rank;
		}
		if (n)
			name_devices(c, fresh, n);
	}
}

/* ---- boxes ---- */

static int64_t box_start(const struct chart *c, size_t box)
{
	return c->s->span_start[c->span[box]];
}
static int64_t box_end(const struct chart *c, size_t box)
{
	return num_add(box_start(c, box), c->s->span_length[c->span[box]]);
}

static void gather_cell(struct chart *c, uint32_t cell, enum span_kind kind, size_t *next)
{
	for (uint32_t k = c->s->cell_span0[cell]; k < c->s->cell_span0[cell + 1]; k++)
		if (c->s->span_kind[k] == kind)
			c->span[next[span_rank(c, k)]++] = k;
}

/* Collects the boxes of each device in order of discovery. */
static void gather_boxes(struct chart *c)
{
	size_t *next = ARENA_ARRAY(c->a, c->n_ranks, size_t), n = 0;

	for (uint32_t k = 0; k < c->n_ranks; k++) {
		c->box0[k] = next[k] = n;
		n += c->n_boxes[k];
	}
	c->box0[c->n_ranks] = n;
	c->span = ARENA_ARRAY(c->own, n, uint32_t);
	for (uint32_t i = 0; i < c->n_cells; i++) {
		gather_cell(c, c->cell[i], SPAN_ACCELERATOR, next);
		gather_cell(c, c->cell[i], SPAN_CPU, next);
	}
}

/* Sorts boxes by start. Quirk 28: of boxes that start together, only the first stays. */
static void sort_boxes(struct chart *c, uint32_t rank)
{
	size_t n = c->n_boxes[rank], kept = 0;
	uint32_t *span = c->span + c->box0[rank];
	const int64_t *start = c->s->span_start;

	keysort(c->own, span, n, start);
	for (size_t i = 0; i < n; i++)
		if (!kept || start[span[kept - 1]] != start[span[i]])
			span[kept++] = span[i];
	c->n_boxes[rank] = kept;
}

/* ---- lanes ---- */

static size_t find_lanes(struct chart *c, uint32_t rank)
{
	struct arena_mark mark = arena_mark(c->own);
	struct lanes l = { .a = c->own };

	for (size_t i = 0; i < c->n_boxes[rank]; i++) {
		size_t box = c->box0[rank] + i;
		c->lane[box] = (uint32_t)lanes_take(&l, box_start(c, box), box_end(c, box));
	}
	arena_reset(c->own, mark);
	return l.n;
}

/* Sorts by lane, then start. */
static void order_boxes(struct chart *c, uint32_t rank, size_t n_lanes)
{
	struct arena_mark mark = arena_mark(c->own);
	size_t box0 = c->box0[rank], n = c->n_boxes[rank];
	uint32_t *next = ARENA_ARRAY(c->own, n_lanes + 1, uint32_t);

	for (size_t i = 0; i < n; i++)
		next[c->lane[box0 + i] + 1]++;
	for (size_t i = 1; i <= n_lanes; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; i < n; i++)
		c->order[box0 + next[c->lane[box0 + i]]++] = (uint32_t)(box0 + i);
	arena_reset(c->own, mark);
}

/* ---- flows ---- */

/* Returns the box of a device that starts at a time, or ID_NONE. */
static uint32_t find_box(const struct chart *c, uint32_t rank, int64_t start)
{
	size_t first = c->box0[rank], end = first + c->n_boxes[rank], i;

	BISECT(i, first, end, box_start(c, i) < start);
	return i < end && box_start(c, i) == start ? (uint32_t)i : ID_NONE;
}

/* True if arrows may connect boxes of the device. */
static bool is_canonical(const struct chart *c, uint32_t rank)
{
	return c->n_boxes[rank] && (c->m->devices.v[c->device[rank]].kind & DEVICE_CANONICAL);
}

/* Adds arrows to a box from the executions of one of its inputs on other devices. */
static void add_flows(struct chart *c, uint32_t rank, uint32_t box, uint32_t source)
{
	const struct step *s = c->s;
	uint32_t cell = idset_place(&c->cells, source);

	if (cell == ID_NONE || s->cell_start[cell] == 0 || !has_place(c->q, source) ||
	        !view_matches(c->q, source))
		return;
	for (uint32_t k = s->cell_span0[cell]; k < s->cell_span0[cell + 1]; k++) {
		uint32_t other = span_rank(c, k);
		if (s->span_kind[k] != SPAN_CPU || other == rank || !is_canonical(c, other))
			continue;
		uint32_t from = find_box(c, other, s->span_start[k]);
		if (from == ID_NONE)
			continue;
		if (c->arrows.n == UINT32_MAX) /* 2^32 of them would take 32 GiB */
			work_escape(c->own->work);
		VEC_PUSH(c->own, &c->arrows, ((struct arrow){ from, box }));
	}
}

static void walk_flows(struct chart *c)
{
	const struct model *m = c->m;

	for (uint32_t rank = 0; rank < c->n_ranks; rank++) {
		if (!is_canonical(c, rank))
			continue;
		for (size_t i = 0; i < c->n_boxes[rank]; i++) {
			size_t box = c->box0[rank] + i;
			uint32_t node = c->node[c->span[box]];
			for (uint32_t k = m->input0.v[node]; k < m->input0.v[node + 1]; k++)
				if (!(m->inputs.v[k] & INPUT_UNKNOWN))
					add_flows(c, rank, (uint32_t)box, m->inputs.v[k]);
		}
	}
}

/* Sorts flows by their source box. Flows of one box stay in order of discovery. A single device has
 * no flows. */
static void find_flows(struct chart *c)
{
	size_t n = c->box0[c->n_ranks];
	uint32_t used = 0, *next;

	for (uint32_t rank = 0; rank < c->n_ranks; rank++)
		used += is_canonical(c, rank);
	if (used < 2)
		return;
	walk_flows(c);
	next = c->flow0 = ARENA_ARRAY(c->own, n + 2, uint32_t);
	for (size_t i = 0; i < c->arrows.n; i++)
		next[c->arrows.v[i].from + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		next[i] += next[i - 1];
	c->flows = ARENA_ARRAY(c->own, c->arrows.n, uint32_t);
	for (size_t i = 0; i < c->arrows.n; i++)
		c->flows[next[c->arrows.v[i].from + 1]++] = c->arrows.v[i].to;
}

/* ---- writing ---- */

static struct str box_name(const struct chart *c, size_t box)
{
	return node_name(c->m, c->node[c->span[box]]);
}

/* Prefetches the names of the following boxes, one access at a time, because reading a name takes
 * four dependent memory accesses. */
static void fetch_names(const struct chart *c, const uint32_t *box, size_t n)
{
	const uint32_t *node = c->node, *span = c->span;
	const struct node *nodes = c->m->nodes.v;
	const struct str *strings = c->m->strings.strings;

	if (n > 24) {
		__builtin_prefetch(&node[span[box[24]]]);
		__builtin_prefetch(&c->s->span_start[span[box[24]]]);
		__builtin_prefetch(&c->s->span_length[span[box[24]]]);
	}
	if (n > 16)
		__builtin_prefetch(&nodes[node[span[box[16]]]]);
	if (n > 8)
		__builtin_prefetch(&strings[nodes[node[span[box[8]]]].name]);
	if (n > 4)
		__builtin_prefetch(strings[nodes[node[span[box[4]]]].name].p);
}

/* Returns the last rank that begins at or before a box. */
static uint32_t box_rank(const struct chart *c, size_t box)
{
	uint32_t i;

	BISECT(i, 1, c->n_ranks, c->box0[i] <= box);
	return i - 1;
}

static void put_region(struct chart *c, int64_t pid, size_t box)
{
	struct region b = { .pid = pid,
		.tid = c->lane[box],
		.start = timeline_us(c->s, box_start(c, box)),
		.length = step_us(c->s, c->s->span_length[c->span[box]]),
		.name = box_name(c, box) };

	trace_region(&c->t, &b);
}

static void put_flows(struct chart *c, int64_t pid, size_t box, int64_t *id)
{
	if (c->flow0[box] == c->flow0[box + 1])
		return;
	struct flow_end from = { .pid = pid,
		.tid = c->lane[box],
		.at = timeline_us(c->s, box_end(c, box)),
		.source = box_name(c, box),
		.start = true };

	for (size_t i = c->flow0[box]; i < c->flow0[box + 1]; i++) {
		uint32_t to = c->flows[i];
		struct flow_end end = { .id = *id,
			.pid = c->pid[box_rank(c, to)],
			.tid = c->lane[to],
			.at = timeline_us(c->s, box_start(c, to)),
			.source = from.source };
		from.id = (*id)++;
		trace_flow(&c->t, &from);
		trace_flow(&c->t, &end);
	}
}

static void put_boxes(struct chart *c)
{
	for (uint32_t p = 0; p < c->n_pids; p++) {
		size_t n = c->n_boxes[c->by_pid[p]];
		const uint32_t *boxes = c->order + c->box0[c->by_pid[p]];
		for (size_t i = 0; i < n; i++) {
			fetch_names(c, boxes + i, n - i);
			put_region(c, p, boxes[i]);
		}
	}
}

static void put_arrows(struct chart *c)
{
	int64_t id = 1;

	for (uint32_t p = 0; p < c->n_pids && c->flow0; p++)
		for (size_t i = 0; i < c->n_boxes[c->by_pid[p]]; i++)
			put_flows(c, p, c->order[c->box0[c->by_pid[p]] + i], &id);
}

/* Draws the boxes. Their data live only during this call. */
static void draw_boxes(struct chart *c, struct emit *to, struct trace_mem *memory)
{
	struct scratch own;

	scratch_open(&own, c->a->work);
	c->own = &own.a; /* cppcheck-suppress autoVariables ; until the end of this function */
	count_boxes(c);
	gather_boxes(c);
	for (uint32_t k = 0; k < c->n_ranks; k++)
		sort_boxes(c, k);
	c->lane = ARENA_ARRAY(c->own, c->box0[c->n_ranks], uint32_t);
	c->order = ARENA_ARRAY(c->own, c->box0[c->n_ranks], uint32_t);
	for (uint32_t k = 0; k < c->n_ranks; k++)
		order_boxes(c, k, find_lanes(c, k));
	find_flows(c);
	if (!c->r->q->o->quiet)
		sink_put(to->out, S("generating trace file.\n"));
	put_boxes(c);
	trace_mem_init(memory, c->r, c->cell, c->n_cells);
	trace_mem_rows(memory, &c->t, c->n_pids);
	put_arrows(c);
	scratch_close(&own);
}

bool timeline_graph(const struct result *r, struct emit *to, struct err *e)
{
	struct chart c = { .r = r, .q = r->q, .m = r->q->m, .s = r->q->step, .a = r->q->a };
	struct trace_mem memory = { 0 };
	struct scratch cells;

	if (!trace_open(&c.t, r->q, e))
		return false;
	scratch_open(&cells, c.a->work);
	c.own_cells = &cells.a;
	find_cells(&c);
	rank_devices(&c);
	c.pid = ARENA_ARRAY(c.a, c.n_ranks, int64_t);
	c.by_pid = ARENA_ARRAY(c.a, c.n_ranks, uint32_t);
	c.n_boxes = ARENA_ARRAY(c.a, c.n_ranks, size_t);
	c.box0 = ARENA_ARRAY(c.a, (size_t)c.n_ranks + 1, size_t);
	draw_boxes(&c, to, &memory);
	trace_mem_read(&memory, &c.cells);
	scratch_close(&cells);
	if (!c.n_cells && c.q->o->bare_input)
		note_line(c.q->notes,
		        "note: the timeline of step %lld is empty: no shown node has "
		        "a start and a device\n",
		        (long long)c.s->id);
	trace_mem_counters(&memory, &c.t, c.n_pids, to->out);
	return trace_close(&c.t, to, e);
}
