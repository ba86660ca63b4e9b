/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of a model's steps, and the sums over them: what comes into the list is added, what it
 * replaces is taken out. Knows not where steps come from.
 */
#include "base/sort.h"
#include "model/ingest_internal.h"

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
	sort_array(&own.a, v, m->steps.n, sizeof *v, sort_ascending);
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
