/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a model as the files that the original read before profiles existed: a GraphDef, and a
 * RunMetadata for each step. Every span is a record on its device. Each run of a node needs a
 * record on the node's own device: if no time was measured there, the record has length 0, which
 * readers count as 1 us. Messages are assembled from the end (see pbput.h).
 */
#include "base/sort.h"
#include "export/out.h"
#include "export/message/pbput.h"

enum { NOTE_RUN_INPUT = 0x740, NOTE_RUN_SUMMED }; /* kinds of notes */

#define MESSAGE_MAX ((size_t)INT32_MAX) /* largest file that libprotobuf reads, bytes */

/* A record under construction. */
struct box {
	uint32_t device, cell; /* node of the model; cell of the step */
	int64_t start, length; /* ticks */
	struct span_annotation said;
	const uint8_t *mem, *mem_end;
};

struct run_writer {
	const struct model *m;
	const struct step *s;
	struct arena *a; /* memory for the current step */
	struct pbput b;
	VEC(struct box) boxes;
	uint64_t summed; /* number of runs without a record of their own */
};

/* ---- collecting ---- */

/* Returns the position after the item at *p and the allocations that follow it. */
static const uint8_t *next_items(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *at = p;
	struct mem_item m;
	bool any = false;

	while (mem_next(&p, end, &m)) {
		if (!m.allocation && any)
			return at;
		any |= !m.allocation;
		at = p;
	}
	return end;
}

/* Adds the record of a run on the node's own device, with its share of the memory; the last run
 * gets the remainder. */
static void add_run(
        struct run_writer *w, struct box box, const uint8_t **mem, uint32_t cell, bool last)
{
	const uint8_t *end = w->s->mem + w->s->cell_mem0[cell + 1];

	box.mem = *mem;
	box.mem_end = last ? end : next_items(*mem, end);
	*mem = box.mem_end;
	VEC_PUSH(w->a, &w->boxes, box);
}

/* Returns the number of spans of a kind in a cell. */
static int64_t count(const struct step *s, uint32_t cell, enum span_kind kind)
{
	int64_t n = 0;

	for (uint32_t k = s->cell_span0[cell]; k < s->cell_span0[cell + 1]; k++)
		n += s->span_kind[k] == kind;
	return n;
}

static void add_cell(struct run_writer *w, uint32_t cell)
{
	const struct step *s = w->s;
	uint32_t own = w->m->nodes.v[s->cell_node[cell]].device;
	const uint8_t *mem = s->mem + s->cell_mem0[cell];
	int64_t timed = count(s, cell, SPAN_CPU), missing = s->cell_runs[cell] - timed;
	int64_t times = count(s, cell, SPAN_ACCELERATOR), runs;
	struct box none = { .device = own, .cell = cell, .start = s->cell_start[cell] };

	if (own == ID_NONE)
		missing = 0;
	else if (missing > (times ? times : 1))
		missing = times ? times : 1;
	else if (missing <= 0)
		missing = timed == 0;
	runs = timed + missing;
	w->summed += (uint64_t)(s->cell_runs[cell] > runs ? s->cell_runs[cell] - runs : 0);
	for (uint32_t k = s->cell_span0[cell]; k < s->cell_span0[cell + 1]; k++) {
		struct box box = { .device = s->devices[s->span_device[k]],
			.cell = cell,
			.start = s->span_start[k],
			.length = s->span_length[k] };
		if (s->span_annotation)
			box.said = s->span_annotation[k];
		if (s->span_kind[k] == SPAN_CPU) {
			add_run(w, box, &mem, cell, --runs == 0);
			continue;
		}
		if (box.start)
			VEC_PUSH(w->a, &w->boxes, box);
		if (s->span_kind[k] == SPAN_ACCELERATOR && missing > 0 && missing--) {
			none.start = box.start;
			none.said = box.said;
			add_run(w, none, &mem, cell, --runs == 0);
		}
	}
	if (missing > 0)
		add_run(w, none, &mem, cell, true);
}

/* ---- writing ---- */

static void put_memory(struct run_writer *w, const struct box *box)
{
	struct pbput *b = &w->b;
	const uint8_t *p = box->mem;
	int64_t bytes = 0, peak = 0, live = 0, in_use = 0;
	size_t mark = pbput_size(b);
	struct mem_item m;
	VEC(struct mem_item) pieces = { 0 };

	if (p == box->mem_end)
		return;
	while (mem_next(&p, box->mem_end, &m)) {
		if (m.allocation) {
			VEC_PUSH(w->a, &pieces, m);
			continue;
		}
		bytes = num_add(bytes, m.bytes);
		peak = num_add(peak, m.peak);
		live = num_add(live, m.residual);
		in_use = num_add(in_use, m.in_use);
	}
	while (pieces.n-- > 0) {
		size_t piece = pbput_size(b);
		pbput_i64(b, 2, pieces.v[pieces.n].bytes);
		pbput_i64(b, 1, step_us(w->s, pieces.v[pieces.n].time));
		pbput_close(b, 6, piece);
	}
	pbput_i64(b, 5, in_use);
	pbput_i64(b, 4, live);
	pbput_i64(b, 3, peak);
	pbput_i64(b, 2, bytes);
	pbput_text(b, 1, w->m->devices.v[box->device].kind & DEVICE_GPU ? S("GPU_cuda") : S("cpu"));
	pbput_close(b, 6, mark);
}

static void put_record(struct run_writer *w, const struct box *box, int64_t start)
{
	const struct node *n = &w->m->nodes.v[w->s->cell_node[box->cell]];
	int64_t ticks = w->s->ticks_per_us, length = box->length;
	struct pbput *b = &w->b;
	size_t mark = pbput_size(b);

	if (ticks > 1) {
		int64_t ns = num_mul(length, 1000 / ticks);
		length = num_sub(
		        step_us(w->s, num_add(box->start, length)), step_us(w->s, box->start));
		pbput_i64(b, 16, ns);
		pbput_i64(b, 15, ns);
		pbput_i64(b, 13, num_mul(box->start, 1000 / ticks));
	}
	pbput_i64(b, 10, box->said.thread);
	pbput_text(b, 8, model_str(w->m, box->said.label ? box->said.label - 1 : n->op));
	put_memory(w, box);
	pbput_i64(b, 5, length);
	pbput_i64(b, 4, length);
	pbput_i64(b, 2, num_add(w->s->base_us, start));
	pbput_text(b, 1, model_str(w->m, n->name));
	pbput_close(b, 2, mark);
}

/* Sorts the records of one device by time, and moves records so that no two begin in the same
 * microsecond, because timelines of the original would show only one of them. */
static void put_device(struct run_writer *w, uint32_t device, const uint32_t *boxes, size_t n)
{
	int64_t *starts = ARENA_ARRAY(w->a, n, int64_t), last = INT64_MIN;
	size_t mark = pbput_size(&w->b);

	for (size_t i = 0; i < n; i++)
		starts[i] = w->boxes.v[boxes[i]].start;
	const uint32_t *order = keysort_new(w->a, n, starts);
	for (size_t i = 0; i < n; i++) {
		starts[i] = step_us(w->s, w->boxes.v[boxes[order[i]]].start);
		if (w->s->ticks_per_us > 1 && starts[i] <= last)
			starts[i] = last + 1;
		last = starts[i];
	}
	for (size_t i = n; i-- > 0;)
		put_record(w, &w->boxes.v[boxes[order[i]]], starts[i]);
	pbput_text(&w->b, 1, device_name(w->m, device));
	pbput_close(&w->b, 1, mark);
}

static void put_devices(struct run_writer *w)
{
	size_t n = w->m->devices.n;
	uint32_t *at = ARENA_ARRAY(w->a, n + 2, uint32_t);
	uint32_t *boxes = ARENA_ARRAY(w->a, w->boxes.n, uint32_t);

	for (size_t i = 0; i < w->boxes.n; i++)
		at[w->boxes.v[i].device + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < w->boxes.n; i++)
		boxes[at[w->boxes.v[i].device + 1]++] = i;
	for (uint32_t d = (uint32_t)n; d-- > 0;)
		if (at[d + 1] > at[d])
			put_device(w, d, boxes + at[d], at[d + 1] - at[d]);
}

bool run_write(const struct model *m, const struct step *s, struct sink *to, struct arena *scratch,
        struct notes *notes, struct err *e)
{
	struct run_writer w = { .m = m, .s = s, .a = scratch };

	pbput_init(&w.b, scratch);
	for (uint32_t c = 0; c < s->n_cells; c++)
		add_cell(&w, c);
	put_devices(&w);
	pbput_close(&w.b, 1, 0);
	if (pbput_size(&w.b) > MESSAGE_MAX)
		return err_set(e, ERR_RESOURCE,
		        "the RunMetadata of step %lld would have %zu bytes; 2 GiB can be read",
		        (long long)s->id, pbput_size(&w.b));
	if (w.summed)
		note_kind(notes, NOTE_RUN_SUMMED,
		        "step %lld: %llu runs were loaded as part of other runs, and are written "
		        "so",
		        (long long)s->id, (unsigned long long)w.summed);
	sink_put(to, pbput_str(&w.b));
	return sink_ok(to);
}

/* ---- the graph ---- */

static void put_inputs(struct pbput *b, const struct model *m, uint32_t node, struct arena *a)
{
	for (uint32_t i = m->input0.v[node + 1]; i-- > m->input0.v[node];) {
		uint32_t source = m->inputs.v[i];
		int32_t slot = model_input_slot(m, i);
		struct str name = source & INPUT_UNKNOWN ? model_str(m, source & ~INPUT_UNKNOWN)
		                                         : node_name(m, source);
		pbput_item(b, 3, slot > 0 ? str_fmt(a, "%.*s:%d", STR(name), slot) : name);
	}
}

static void put_node(struct pbput *b, const struct model *m, uint32_t node, struct arena *a)
{
	const struct node *n = &m->nodes.v[node];

	for (uint32_t i = m->attr0.v[node + 1]; i-- > m->attr0.v[node];) {
		size_t entry = pbput_size(b);
		pbput_item(b, 2, m->attrs.v[i].value);
		pbput_item(b, 1, model_str(m, m->attrs.v[i].key));
		pbput_close(b, 5, entry);
	}
	pbput_text(b, 4, device_name(m, n->device));
	put_inputs(b, m, node, a);
	pbput_text(b, 2, model_str(m, n->op));
	pbput_text(b, 1, model_str(m, n->name));
	pbput_close(b, 1, 0);
}

bool graph_write(const struct model *m, struct sink *to, struct arena *scratch)
{
	struct pbput b;

	pbput_init(&b, scratch);
	for (uint32_t node = 0; node < m->nodes.n && sink_ok(to); node++) {
		put_node(&b, m, node, scratch);
		sink_put(to, pbput_str(&b));
		pbput_clear(&b);
	}
	return sink_ok(to);
}
