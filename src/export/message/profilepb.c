/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a model as a ProfileProto, node by node: only one node's bytes are in memory. Maps
 * are in order of their keys. Messages are assembled from the end (see pbput.h), so everything here
 * runs from the last to the first.
 */
#include "base/sort.h"
#include "export/out.h"
#include "export/message/pbput.h"

enum { NOTE_LOST_INPUT = 0x701 }; /* kind of note */

/* Bits of the sort key of a cell's spans: kind, rank of the device. */
#define KEY_KIND_SHIFT 32

struct writer {
	const struct model *m;
	struct arena *a;
	const struct tally *tallies; /* sums over all steps of a trace; NULL if the model is not
	                                from a trace */
	struct pbput b;
	uint32_t *cursor;      /* indexed by step: the first cell whose node has not been written */
	uint32_t *device_rank; /* indexed by device of the model: rank by name */
	uint32_t *device_at;   /* indexed by rank: device of the model */
	uint32_t *text_id;     /* indexed by string: id of a call stack's text; 0: none yet */
	VEC(uint32_t) texts;   /* strings of the texts 1 to n */
	uint32_t *slot_node;   /* indexed by source: 1 + the last node that recorded its slot */
	uint32_t span0;        /* the first span of a cell, */
	VEC(int64_t) keys;     /* keys of its spans, */
	VEC(uint32_t) sorted;  /* and the sorted indices of keys */
	VEC(const uint8_t *) items; /* memory items of a cell */
	uint64_t lost;
	uint32_t lost_name, lost_from; /* string ids of the last missing input and of its node */
};

/* ---- call stacks ---- */

/* Returns the id of a text, counted from 1; 0: no text. */
static uint32_t text_id(struct writer *w, uint32_t string)
{
	if (string == ID_NONE)
		return 0;
	if (!w->text_id[string]) {
		VEC_PUSH(w->a, &w->texts, string);
		w->text_id[string] = (uint32_t)w->texts.n;
	}
	return w->text_id[string];
}

static void put_trace(struct writer *w, uint32_t frame)
{
	struct pbput *b = &w->b;
	size_t trace = pbput_size(b);

	while (frame != ID_NONE) {
		struct frame f = model_frame(w->m, frame);
		size_t mark = pbput_size(b);
		pbput_i64(b, 8, text_id(w, f.source));
		pbput_i64(b, 7, text_id(w, f.function));
		pbput_i64(b, 6, text_id(w, f.file));
		pbput_i64(b, 5, f.func_start_line);
		pbput_i64(b, 2, f.line);
		pbput_close(b, 1, mark);
		frame = f.parent;
	}
	pbput_close(b, 10, trace);
}

/* ---- executions ---- */

static void put_allocation(struct pbput *b, const struct step *s, const struct mem_item *m)
{
	size_t mark = pbput_size(b);

	pbput_i64(b, 2, m->bytes);
	pbput_i64(b, 1, step_us(s, m->time));
	pbput_close(b, 11, mark);
}

static void put_outputs(struct writer *w, const struct mem_item *m)
{
	const uint8_t *p = m->outputs;
	struct pbput *b = &w->b;
	struct mem_output o;

	for (size_t i = 0; i < m->n_outputs; i++) {
		size_t entry = pbput_size(b);
		mem_next_output(&p, &o);
		pbput_i64(b, 2, (int64_t)o.ptr);
		pbput_i64(b, 1, o.bytes);
		pbput_close(b, 2, entry);
		pbput_number(b, 1, o.slot);
		pbput_close(b, 11, entry);
	}
}

/* True if an item contains only data of device work for which a ProfileProto has no field. */
static bool is_work_only(const struct mem_item *m)
{
	return (m->kernels || m->bytes_accessed) && !m->bytes && !m->peak && !m->residual &&
	       !m->output && !m->n_outputs;
}

static void put_memory(struct writer *w, const struct step *s, const struct mem_item *m)
{
	struct pbput *b = &w->b;
	size_t mark = pbput_size(b);

	put_outputs(w, m);
	pbput_i64(b, 10, m->in_use);
	pbput_i64(b, 9, m->output);
	pbput_i64(b, 8, m->residual);
	pbput_i64(b, 7, m->peak);
	pbput_i64(b, 6, m->bytes);
	pbput_i64(b, 5, m->accelerator_persistent);
	pbput_i64(b, 4, m->accelerator_temp);
	pbput_i64(b, 3, m->host_persistent);
	pbput_i64(b, 2, m->host_temp);
	pbput_i64(b, 1, step_us(s, m->time));
	pbput_close(b, 7, mark);
}

/* Writes allocations, then memory records, each in file order. */
static void put_items(struct writer *w, const struct step *s, uint32_t c)
{
	const uint8_t *p = s->mem + s->cell_mem0[c], *end = s->mem + s->cell_mem0[c + 1], *at = p;
	struct mem_item m;

	w->items.n = 0;
	while (mem_next(&p, end, &m)) {
		VEC_PUSH(w->a, &w->items, at);
		at = p;
	}
	for (size_t i = w->items.n; i-- > 0;) {
		p = w->items.v[i];
		if (mem_next(&p, end, &m) && m.allocation)
			put_allocation(&w->b, s, &m);
	}
	for (size_t i = w->items.n; i-- > 0;) {
		p = w->items.v[i];
		if (mem_next(&p, end, &m) && !m.allocation && !is_work_only(&m))
			put_memory(w, s, &m);
	}
}

/* Sorts the spans of a cell by kind, then by device. Equal spans stay in file order. */
static void sort_spans(struct writer *w, const struct step *s, uint32_t c)
{
	w->span0 = s->cell_span0[c];
	w->keys.n = w->sorted.n = 0;
	for (uint32_t k = w->span0; k < s->cell_span0[c + 1]; k++) {
		int64_t rank = w->device_rank[s->devices[s->span_device[k]]];
		VEC_PUSH(w->a, &w->keys, (int64_t)s->span_kind[k] << KEY_KIND_SHIFT | rank);
		VEC_PUSH(w->a, &w->sorted, k - w->span0);
	}
	keysort(w->a, w->sorted.v, w->sorted.n, w->keys.v);
}

static uint64_t sorted_key(const struct writer *w, size_t i)
{
	return (uint64_t)w->keys.v[w->sorted.v[i]];
}

static struct str rank_name(const struct writer *w, uint64_t key)
{
	return device_name(w->m, w->device_at[(uint32_t)key]);
}

/* Writes the names of all devices of a cell. Its spans are three sorted runs, which are merged from
 * their ends. */
static void put_devices(struct writer *w)
{
	size_t from[4] = { 0, 0, 0, w->keys.n }, end[3];

	for (unsigned kind = 1; kind < 3; kind++)
		for (from[kind] = from[kind - 1]; from[kind] < w->keys.n; from[kind]++)
			if (sorted_key(w, from[kind]) >> KEY_KIND_SHIFT >= kind)
				break;
	for (unsigned kind = 0; kind < 3; kind++)
		end[kind] = from[kind + 1];
	for (;;) {
		uint32_t most = 0;
		bool any = false;
		for (unsigned kind = 0; kind < 3; kind++) {
			if (end[kind] == from[kind])
				continue;
			uint32_t rank = (uint32_t)sorted_key(w, end[kind] - 1);
			most = any && most > rank ? most : rank;
			any = true;
		}
		if (!any)
			return;
		pbput_item(&w->b, 6, rank_name(w, most));
		for (unsigned kind = 0; kind < 3; kind++)
			while (end[kind] > from[kind] &&
			        (uint32_t)sorted_key(w, end[kind] - 1) == most)
				end[kind]--;
	}
}

static void put_time(struct pbput *b, const struct step *s, uint32_t span)
{
	size_t mark = pbput_size(b);
	int64_t from = step_us(s, s->span_start[span]);
	int64_t length = s->span_length[span];

	/* Rounds both ends, so that adjacent spans stay adjacent. */
	if (s->ticks_per_us > 1)
		length = num_sub(step_us(s, num_add(s->span_start[span], length)), from);
	pbput_varint(b, (uint64_t)length);
	pbput_varint(b, (uint64_t)num_add(s->base_us, from));
	pbput_close(b, 1, mark);
	pbput_close(b, 1, mark);
}

/* Writes times by device: first for the CPU, then for accelerators. */
static void put_times(struct writer *w, const struct step *s)
{
	struct pbput *b = &w->b;

	for (size_t i = w->keys.n; i-- > 0;) {
		uint64_t key = sorted_key(w, i), kind = key >> KEY_KIND_SHIFT;
		size_t entry = pbput_size(b);
		if (kind == SPAN_SEEN)
			return;
		put_time(b, s, w->span0 + w->sorted.v[i]);
		for (; i > 0 && sorted_key(w, i - 1) == key; i--)
			put_time(b, s, w->span0 + w->sorted.v[i - 1]);
		pbput_close(b, 2, entry);
		pbput_item(b, 1, rank_name(w, key));
		pbput_close(b, kind == SPAN_CPU ? 5 : 4, entry);
	}
}

static int64_t cell_us(const struct step *s, int64_t ticks)
{
	return ticks ? num_add(s->base_us, step_us(s, ticks)) : 0;
}

static void put_exec(struct writer *w, const struct step *s, uint32_t c)
{
	struct pbput *b = &w->b;
	size_t entry = pbput_size(b);

	put_items(w, s, c);
	sort_spans(w, s, c);
	put_devices(w);
	put_times(w, s);
	pbput_i64(b, 3, cell_us(s, s->cell_end[c]));
	pbput_i64(b, 2, cell_us(s, s->cell_start[c]));
	pbput_i64(b, 1, s->cell_runs[c]);
	pbput_close(b, 2, entry);
	pbput_number(b, 1, s->id);
	pbput_close(b, 12, entry);
}

/* Writes the node's cells; nodes are written in the order of the cells. */
static void put_execs(struct writer *w, uint32_t node)
{
	for (size_t i = w->m->steps.n; i-- > 0;) {
		const struct step *s = w->m->steps.v[i];
		uint32_t *c = &w->cursor[i];
		while (*c < s->n_cells && s->cell_node[*c] < node)
			++*c;
		if (*c < s->n_cells && s->cell_node[*c] == node)
			put_exec(w, s, *c);
	}
}

/* ---- nodes ---- */

static void put_numbers(struct pbput *b, unsigned field, const struct model *m, uint32_t shape)
{
	size_t rank = model_rank(m, shape), mark = pbput_size(b);

	for (size_t i = rank; i-- > 0;)
		pbput_varint(b, (uint64_t)model_dim(m, shape, i));
	if (rank)
		pbput_close(b, field, mark);
}

static void put_output_shapes(struct writer *w, uint32_t node)
{
	const struct model *m = w->m;
	struct pbput *b = &w->b;

	for (uint32_t i = m->output0.v[node + 1]; i-- > m->output0.v[node];) {
		size_t entry = pbput_size(b);
		put_numbers(b, 1, m, m->output_shape.v[i]);
		pbput_close(b, 2, entry);
		pbput_number(b, 1, m->output_slot.v[i]);
		pbput_close(b, 15, entry);
	}
}

/* Writes the output slot that is used of each source; -1 if the slot was not recorded. */
static void put_slots(struct writer *w, uint32_t node)
{
	const struct model *m = w->m;
	struct pbput *b = &w->b;

	for (uint32_t i = m->input0.v[node + 1]; i-- > m->input0.v[node];) {
		uint32_t source = m->inputs.v[i];
		size_t entry = pbput_size(b);
		if ((source & INPUT_UNKNOWN) || w->slot_node[source] == node + 1 ||
		        model_input_slot(m, i) < 0)
			continue;
		w->slot_node[source] = node + 1;
		pbput_number(b, 2, model_input_slot(m, i));
		pbput_number(b, 1, source);
		pbput_close(b, 14, entry);
	}
}

static void put_inputs(struct writer *w, uint32_t node)
{
	const struct model *m = w->m;
	struct pbput *b = &w->b;

	for (uint32_t i = m->input0.v[node + 1]; i-- > m->input0.v[node];) {
		uint32_t source = m->inputs.v[i];
		size_t entry = pbput_size(b);
		if (source & INPUT_UNKNOWN) {
			w->lost++;
			w->lost_name = source & ~INPUT_UNKNOWN;
			w->lost_from = m->nodes.v[node].name;
			continue;
		}
		pbput_number(b, 2, source);
		pbput_number(b, 1, model_input_index(m, node, i));
		pbput_close(b, 2, entry);
	}
}

/* Writes the attributes if the model stores them; otherwise only the one that advice needs. */
static void put_attrs(struct writer *w, uint32_t node)
{
	const struct model *m = w->m;
	struct pbput *b = &w->b;
	size_t entry;

	for (uint32_t i = m->attr0.v[node + 1]; i-- > m->attr0.v[node];) {
		entry = pbput_size(b);
		pbput_item(b, 2, m->attrs.v[i].value);
		pbput_item(b, 1, model_str(m, m->attrs.v[i].key));
		pbput_close(b, 11, entry);
	}
	if (m->attr0.v[node] < m->attr0.v[node + 1] || !(m->nodes.v[node].flags & NODE_NHWC))
		return;
	entry = pbput_size(b);
	pbput_item(b, 2, S("NHWC"));
	pbput_close(b, 2, entry);
	pbput_item(b, 1, S("data_format"));
	pbput_close(b, 11, entry);
}

static void put_types(struct writer *w, const struct node *n)
{
	size_t count;
	const uint32_t *types = model_types(w->m, n->types, &count);

	while (count-- > 0)
		pbput_item(&w->b, 5, model_str(w->m, types[count]));
}

/* Returns the float operations of a run: the mean if each call was counted. */
static int64_t flops_of_run(const struct writer *w, uint32_t node)
{
	const struct tally *t = w->tallies ? &w->tallies[node] : NULL;

	if (!t || !t->v[V_CALL_FLOPS] || w->m->nodes.v[node].float_ops)
		return w->m->nodes.v[node].float_ops;
	return num_div(t->v[V_CALL_FLOPS], t->v[V_RUNS] > 0 ? t->v[V_RUNS] : 1);
}

/* Writes an entry of nodes; its key is the node's id. */
static void put_node(struct writer *w, uint32_t node)
{
	const struct node *n = &w->m->nodes.v[node];
	struct pbput *b = &w->b;

	put_output_shapes(w, node);
	put_slots(w, node);
	pbput_i64(b, 13, node);
	put_execs(w, node);
	put_attrs(w, node);
	if (n->flags & NODE_STACK)
		put_trace(w, n->frame);
	pbput_text(b, 9, model_str(w->m, n->op));
	pbput_i64(b, 8, flops_of_run(w, node));
	pbput_text(b, 7, model_str(w->m, n->host));
	pbput_text(b, 6, device_name(w->m, n->device));
	put_types(w, n);
	put_numbers(b, 4, w->m, n->shape);
	put_inputs(w, node);
	pbput_text(b, 1, model_str(w->m, n->name));
	pbput_close(b, 2, 0);
	pbput_number(b, 1, node);
	pbput_close(b, 1, 0);
}

/* ---- the profile ---- */

static void flush(struct writer *w, struct sink *to)
{
	sink_put(to, pbput_str(&w->b));
	pbput_clear(&w->b);
}

/* Writes the fields after the nodes. */
static void put_rest(struct writer *w, struct sink *to)
{
	const struct model *m = w->m;
	struct pbput *b = &w->b;

	pbput_i64(b, 5, m->misses_streams);
	for (size_t i = w->texts.n; i-- > 0;) {
		size_t entry = pbput_size(b);
		pbput_item(b, 2, model_str(m, w->texts.v[i]));
		pbput_number(b, 1, (int64_t)i + 1);
		pbput_close(b, 4, entry);
	}
	size_t mark = pbput_size(b);
	for (size_t i = m->steps.n; i-- > 0;)
		pbput_varint(b, (uint64_t)m->steps.v[i]->id);
	if (m->steps.n)
		pbput_close(b, 3, mark);
	pbput_i64(b, 2, m->has_traces);
	flush(w, to);
}

static void init(struct writer *w)
{
	const struct model *m = w->m;

	pbput_init(&w->b, w->a);
	if (model_ticks(m) > 1)
		w->tallies = model_tallies(m, NULL, w->a);
	w->cursor = ARENA_ARRAY(w->a, m->steps.n, uint32_t);
	w->device_rank = ARENA_ARRAY(w->a, m->devices.n, uint32_t);
	w->device_at = ARENA_ARRAY(w->a, m->devices.n, uint32_t);
	w->text_id = ARENA_ARRAY(w->a, m->strings.n, uint32_t);
	w->slot_node = ARENA_ARRAY(w->a, m->nodes.n, uint32_t);
	for (uint32_t d = 0; d < m->devices.n; d++)
		w->device_at[d] = d;
	model_sort_devices(m, w->device_at, m->devices.n, w->a);
	for (uint32_t k = 0; k < m->devices.n; k++)
		w->device_rank[w->device_at[k]] = k;
}

bool profile_write(
        const struct model *m, struct sink *to, struct arena *scratch, struct notes *notes)
{
	struct writer w = { .m = m, .a = scratch };

	init(&w);
	for (uint32_t node = 0; node < m->nodes.n && sink_ok(to); node++) {
		put_node(&w, node);
		flush(&w, to);
	}
	put_rest(&w, to);
	if (w.lost)
		note_kind(notes, NOTE_LOST_INPUT,
		        "%llu inputs name no node and are left out of the profile; the last is "
		        "'%.*s' of '%.*s'",
		        (unsigned long long)w.lost, STR(model_str(m, w.lost_name)),
		        STR(model_str(m, w.lost_from)));
	return sink_ok(to);
}
