/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that arrive node by node (profiles), and the list of steps with the sums over them.
 */
#include "base/sort.h"
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
	VEC_PUSH(in->scratch, &in->said, id);
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

/* The columns of a step that has grown. */
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

/* A step of which there is no record. */
static struct step *empty(struct ingest *in, int64_t id)
{
	struct step *s = ARENA_NEW(in->m->a, struct step);

	step_make_columns(in->m->a, s, 0, 0, 0);
	s->id = id;
	s->ticks_per_us = in->ticks_per_us;
	return s;
}

static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
	const int64_t *v = ctx;

	return (v[a] > v[b]) - (v[a] < v[b]);
}

static int by_id(const void *ctx, uint32_t a, uint32_t b)
{
	struct step_in *const *v = ctx;

	return (v[a]->id > v[b]->id) - (v[a]->id < v[b]->id);
}

void ingest_commit_steps(struct ingest *in)
{
	const int64_t *said = in->said.v;
	struct step_in **grown = in->steps.v;
	size_t n = 0, i = 0, k = 0;

	sort_array(in->scratch, in->said.v, in->said.n, sizeof *said, by_value);
	sort_array(in->scratch, grown, in->steps.n, sizeof *grown, by_id);
	struct step **run = ARENA_ARRAY(in->scratch, in->said.n + in->steps.n, struct step *);
	while (i < in->said.n || k < in->steps.n) {
		bool grows = k < in->steps.n && (i == in->said.n || grown[k]->id <= said[i]);
		int64_t id = grows ? grown[k]->id : said[i];
		run[n++] = grows ? finish(in->m, grown[k++]) : empty(in, id);
		while (i < in->said.n && said[i] == id)
			i++;
	}
	ingest_put_steps(in, run, n);
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
			if (in_sum)
				to->v[i] = num_sum(to->v[i], t.v[i]);
			else if (!value_stopped(&to->v[i], 1))
				to->v[i] = num_sub(to->v[i], t.v[i]);
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

static void average_with(struct ingest *in, const struct step *s)
{
	struct model *m = in->m;

	for (uint32_t c = 0; c < s->n_cells; c++)
		m->nodes.v[s->cell_node[c]].flags |= NODE_RAN;
	if (!m->averaged)
		in->alone = s;
	else if (m->averaged == 1 && !m->sums.n)
		sum_cells(m, in->alone, true);
	if (m->averaged++)
		sum_cells(m, s, true);
}

static bool is_behind(const struct step *a, const struct step *b)
{
	return a->worker != b->worker ? a->worker > b->worker : a->id > b->id;
}

/* Merges steps into the list that it does not have, from the back. */
static void insert_steps(struct model *m, struct step *const *run, size_t n)
{
	size_t i = m->steps.n, k = i + n;

	VEC_ROOM(m->a, &m->steps, n);
	m->steps.n += n;
	while (n) {
		bool moves = i && is_behind(m->steps.v[i - 1], run[n - 1]);
		m->steps.v[--k] = moves ? m->steps.v[--i] : run[--n];
	}
}

/* Lists the numbers of the steps of all workers anew. */
static void list_ids(struct model *m)
{
	struct scratch own;
	size_t n = 0;

	m->step_ids.n = 0;
	VEC_ROOM(m->a, &m->step_ids, m->steps.n);
	int64_t *v = m->step_ids.v;
	for (size_t i = 0; i < m->steps.n; i++)
		v[i] = m->steps.v[i]->id;
	scratch_open(&own, m->a->work);
	sort_array(&own.a, v, m->steps.n, sizeof *v, by_value);
	scratch_close(&own);
	for (size_t i = 0; i < m->steps.n; i++)
		if (!n || v[n - 1] != v[i])
			v[n++] = v[i];
	m->step_ids.n = n;
}

/* Adds the numbers of steps that came; most are above all others. */
static void add_ids(struct model *m, struct step *const *run, size_t n)
{
	size_t before = m->step_ids.n;

	if (n && before && run[0]->id <= m->step_ids.v[before - 1]) {
		list_ids(m);
		return;
	}
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(m->a, &m->step_ids, run[i]->id);
}

void ingest_put_steps(struct ingest *in, struct step **run, size_t n)
{
	struct model *m = in->m;
	size_t fresh = 0;

	for (size_t i = 0, at; i < n; i++) {
		struct step *s = run[i];
		const struct step *before = model_step_of(m, s->worker, s->id, &at);
		if (in->base) {
			s->aside = true; /* what it is worth is found out when it is merged */
		} else {
			find_holdings(m->a, s);
		}
		if (before && !before->aside)
			average_without(m, before); /* before its follower: sums have ends */
		if (before)
			m->steps.v[at] = s;
		else
			run[fresh++] = s;
		if (!s->aside)
			average_with(in, s);
	}
	insert_steps(m, run, fresh);
	add_ids(m, run, fresh);
}
