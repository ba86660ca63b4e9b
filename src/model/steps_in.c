/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that arrive node by node (profiles), and the list of steps with the sums over them.
 */
#include "model/ingest_internal.h"

static struct step_in *step_in(struct ingest *in, int64_t id)
{
	uint32_t found;

	if (imap_get(&in->step_of, (uint64_t)id, &found))
		return in->steps.v[found];
	struct step_in *s = ARENA_NEW(in->scratch, struct step_in);
	s->id = id;
	s->ticks_per_us = in->ticks_per_us;
	imap_init(&s->device_index, in->scratch);
	imap_put(&in->step_of, (uint64_t)id, (uint32_t)in->steps.n, false);
	VEC_PUSH(in->scratch, &in->steps, s);
	return s;
}

void ingest_ticks(struct ingest *in, uint32_t per_us)
{
	in->ticks_per_us = per_us;
}

void ingest_step(struct ingest *in, int64_t id)
{
	step_in(in, id);
}

void ingest_cell(struct ingest *in, int64_t step, uint32_t node, const struct cell_in *c)
{
	struct step_in *s = step_in(in, step);
	struct arena *a = in->m->a;

	if (s->mem.n >= UINT32_MAX || s->span_kind.n >= UINT32_MAX)
		in->overflow = "execution records in one step";
	VEC_PUSH(a, &s->node, node);
	VEC_PUSH(a, &s->span0, (uint32_t)s->span_kind.n);
	VEC_PUSH(a, &s->mem0, (uint32_t)s->mem.n);
	VEC_PUSH(a, &s->runs, c->runs);
	VEC_PUSH(a, &s->start, c->start);
	VEC_PUSH(a, &s->end, c->end);
	in->cell_step = s;
}

void ingest_span(
        struct ingest *in, enum span_kind kind, uint32_t device, int64_t start, int64_t length)
{
	struct step_in *s = in->cell_step;
	struct arena *a = in->m->a;
	uint32_t index;

	if (!imap_get(&s->device_index, device, &index)) {
		index = (uint32_t)s->devices.n;
		imap_put(&s->device_index, device, index, false);
		VEC_PUSH(a, &s->devices, device);
		if (s->devices.n > STEP_DEVICES_MAX)
			in->overflow = "devices in one step";
	}
	VEC_PUSH(a, &s->span_device, (uint16_t)index);
	VEC_PUSH(a, &s->span_kind, (uint8_t)kind);
	VEC_PUSH(a, &s->span_start, start);
	VEC_PUSH(a, &s->span_length, length);
}

void ingest_span_said(struct ingest *in, struct span_said said)
{
	struct step_in *s = in->cell_step;

	while (s->span_said.n + 1 < s->span_kind.n)
		VEC_PUSH(in->m->a, &s->span_said, ((struct span_said){ 0, 0 }));
	VEC_PUSH(in->m->a, &s->span_said, said);
}

void ingest_mem(struct ingest *in, const uint8_t *packed, size_t n)
{
	struct step_in *s = in->cell_step;

	VEC_ROOM(in->m->a, &s->mem, n);
	memcpy(s->mem.v + s->mem.n, packed, n);
	s->mem.n += n;
}

static struct step *finish(struct model *m, struct step_in *g)
{
	struct step *s = ARENA_NEW(m->a, struct step);

	VEC_PUSH(m->a, &g->span0, (uint32_t)g->span_kind.n);
	VEC_PUSH(m->a, &g->mem0, (uint32_t)g->mem.n);
	VEC_ROOM(m->a, &g->mem, 1); /* an address, also of nothing */
	if (g->span_said.n)
		VEC_ROOM(m->a, &g->span_said, g->span_kind.n - g->span_said.n);
	*s = (struct step){
		.id = g->id,
		.ticks_per_us = g->ticks_per_us,
		.n_cells = (uint32_t)g->node.n,
		.cell_node = g->node.v,
		.cell_span0 = g->span0.v,
		.cell_mem0 = g->mem0.v,
		.cell_runs = g->runs.v,
		.cell_start = g->start.v,
		.cell_end = g->end.v,
		.n_spans = (uint32_t)g->span_kind.n,
		.span_device = g->span_device.v,
		.span_kind = g->span_kind.v,
		.span_start = g->span_start.v,
		.span_length = g->span_length.v,
		.span_said = g->span_said.v,
		.mem = g->mem.v,
		.n_devices = (uint32_t)g->devices.n,
		.devices = g->devices.v,
	};
	return s;
}

void ingest_commit_steps(struct ingest *in)
{
	for (size_t i = 0; i < in->steps.n; i++)
		ingest_put_step(in, finish(in->m, in->steps.v[i]));
}

void ingest_sum_room(struct model *m)
{
	VEC_ROOM(m->a, &m->sums, m->nodes.n - m->sums.n);
	m->sums.n = m->nodes.n;
}

/* Adds the numbers of a step to the sums of its nodes, or takes them out. */
static void sum_cells(struct model *m, const struct step *s, bool in_sum)
{
	ingest_sum_room(m);
	for (uint32_t c = 0; c < s->n_cells; c++) {
		struct tally_sum *to = &m->sums.v[s->cell_node[c]];
		struct tally t = { 0 };
		step_tally(s, c, &t);
		for (int i = 0; i < V_RECORDED; i++)
			to->v[i] = in_sum ? num_add(to->v[i], t.v[i]) : num_sub(to->v[i], t.v[i]);
		to->steps += in_sum ? 1 : UINT32_MAX;
	}
}

/* Found once here, so that nobody has to unpack all memory records of all steps for it. */
static void find_holdings(struct arena *a, struct step *s)
{
	for (uint32_t c = 0; c < s->n_cells; c++) {
		struct holding h = { s->cell_node[c], step_find_holding(s, c) };
		if (h.bytes)
			VEC_PUSH(a, &s->holdings, h);
	}
}

/* Takes a step out of the average, or in. A model of one step has no sums: the step is its average.
 * They begin with the second one. */
static void average_without(struct model *m, const struct step *s)
{
	m->averaged--;
	if (m->sums.n)
		sum_cells(m, s, false);
}

static void average_with(struct model *m, const struct step *s)
{
	for (uint32_t c = 0; c < s->n_cells; c++)
		m->nodes.v[s->cell_node[c]].flags |= NODE_RAN;
	for (size_t i = 0; m->averaged == 1 && !m->sums.n && i < m->steps.n; i++)
		if (!m->steps.v[i]->aside && m->steps.v[i] != s)
			sum_cells(m, m->steps.v[i], true);
	if (m->averaged++)
		sum_cells(m, s, true);
}

/* Puts the number of a step among those of all workers, if it is not there. */
static void put_id(struct model *m, int64_t id)
{
	size_t lo = 0, hi = m->step_ids.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (m->step_ids.v[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < m->step_ids.n && m->step_ids.v[lo] == id)
		return;
	VEC_PUSH(m->a, &m->step_ids, id);
	memmove(m->step_ids.v + lo + 1, m->step_ids.v + lo,
	        (m->step_ids.n - 1 - lo) * sizeof *m->step_ids.v);
	m->step_ids.v[lo] = id;
}

void ingest_put_step(struct ingest *in, struct step *s)
{
	struct model *m = in->m;
	size_t i;
	const struct step *before = model_step_of(m, s->worker, s->id, &i);

	if (in->base) {
		s->aside = true; /* what it is worth is found out when it is merged */
	} else {
		find_holdings(m->a, s);
	}
	if (before && !before->aside)
		average_without(m, before); /* before its follower: sums have ends */
	if (!before) {
		VEC_PUSH(m->a, &m->steps, s);
		memmove(m->steps.v + i + 1, m->steps.v + i,
		        (m->steps.n - 1 - i) * sizeof *m->steps.v);
		put_id(m, s->id);
	}
	m->steps.v[i] = s;
	if (!s->aside)
		average_with(m, s);
}
