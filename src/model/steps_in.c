/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps whose data arrives node by node (profiles, recordings); the commit turns them into columns.
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
	VEC_PUSH(in->scratch, &in->existing, id);
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

void ingest_span_annotation(struct ingest *in, struct span_annotation said)
{
	struct step_in *s = in->cell_step;

	while (s->span_annotation.n + 1 < s->span_kind.n)
		VEC_PUSH(in->m->a, &s->span_annotation, ((struct span_annotation){ 0, 0 }));
	VEC_PUSH(in->m->a, &s->span_annotation, said);
}

void ingest_mem(struct ingest *in, const uint8_t *packed, size_t n)
{
	struct step_in *s = in->cell_step;

	VEC_ROOM(in->m->a, &s->mem, n);
	memcpy(s->mem.v + s->mem.n, packed, n);
	s->mem.n += n;
}

/* Builds the columns of a step. */
static struct step *finish(struct model *m, struct step_in *g)
{
	struct step *s = ARENA_NEW(m->a, struct step);

	VEC_PUSH(m->a, &g->span0, (uint32_t)g->span_kind.n);
	VEC_PUSH(m->a, &g->mem0, (uint32_t)g->mem.n);
	VEC_ROOM(m->a, &g->mem, 1); /* never NULL, even without elements */
	if (g->span_annotation.n)
		VEC_ROOM(m->a, &g->span_annotation, g->span_kind.n - g->span_annotation.n);
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
		.span_annotation = g->span_annotation.v,
		.mem = g->mem.v,
		.n_devices = (uint32_t)g->devices.n,
		.devices = g->devices.v,
	};
	return s;
}

/* Returns a step without records. */
static struct step *empty(struct ingest *in, int64_t id)
{
	struct step *s = ARENA_NEW(in->m->a, struct step);

	step_make_columns(in->m->a, s, 0, 0, 0);
	s->id = id;
	s->ticks_per_us = in->ticks_per_us;
	return s;
}

static int by_id(const void *ctx, uint32_t a, uint32_t b)
{
	struct step_in *const *v = ctx;

	return (v[a]->id > v[b]->id) - (v[a]->id < v[b]->id);
}

void ingest_commit_steps(struct ingest *in)
{
	const int64_t *existing = in->existing.v;
	struct step_in **grown = in->steps.v;
	size_t n = 0, i = 0, k = 0;

	sort_array(in->scratch, in->existing.v, in->existing.n, sizeof *existing, sort_ascending);
	sort_array(in->scratch, grown, in->steps.n, sizeof *grown, by_id);
	struct step **run = ARENA_ARRAY(in->scratch, in->existing.n + in->steps.n, struct step *);
	while (i < in->existing.n || k < in->steps.n) {
		bool grows =
		        k < in->steps.n && (i == in->existing.n || grown[k]->id <= existing[i]);
		int64_t id = grows ? grown[k]->id : existing[i];
		run[n++] = grows ? finish(in->m, grown[k++]) : empty(in, id);
		while (i < in->existing.n && existing[i] == id)
			i++;
	}
	ingest_put_steps(in, run, n);
}
