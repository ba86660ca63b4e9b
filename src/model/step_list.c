/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of a model's steps and the sums over it: added steps are added to the sums, replaced
 * steps are subtracted. Independent of the source of the steps.
 */
#include "model/ingest_internal.h"

void ingest_sum_room(struct model *m)
{
	VEC_ROOM(m->a, &m->sums, m->nodes.n - m->sums.n);
	m->sums.n = m->nodes.n;
}

/* Adds the numbers of a step to the sums of its nodes, or subtracts them. */
static void sum_cells(struct model *m, const struct step *s, bool in_sum)
{
	ingest_sum_room(m);
	for (uint32_t c = 0; c < s->n_cells; c++) {
		struct tally_sum *to = &m->sums.v[s->cell_node[c]];
		struct tally t = { 0 };
		step_tally(s, c, model_ticks(m), &t);
		for (int i = 0; i < V_RECORDED; i++)
			if (in_sum)
				to->v[i] = num_sum(to->v[i], t.v[i]);
			else if (!num_stopped(to->v[i]))
				to->v[i] = num_sub(to->v[i], t.v[i]);
		to->steps += in_sum ? 1 : UINT32_MAX;
	}
}

/* Adopts the ticks of a step if they are shorter, and converts the times in the sums to these
 * ticks. */
static void adopt_ticks(struct model *m, const struct step *s)
{
	int64_t finer = s->ticks_per_us / model_ticks(m);

	m->ticks_per_us = finer ? s->ticks_per_us : m->ticks_per_us;
	for (size_t i = 0; finer > 1 && i < m->sums.n; i++)
		for (enum value v = 0; v < V_RECORDED; v++)
			if (value_is_time(v))
				m->sums.v[i].v[v] = num_mul(m->sums.v[i].v[v], finer);
}

/* Finds the memory that nodes hold from the start on. Done once, so that queries need not unpack
 * the memory records of all steps. */
static void find_holdings(struct arena *a, struct step *s)
{
	for (uint32_t c = 0; c < s->n_cells; c++) {
		struct holding h = { s->cell_node[c], step_find_holding(s, c) };
		if (h.bytes)
			VEC_PUSH(a, &s->holdings, h);
	}
}

/* Removes a step from the average, or adds it. A model with one step has no sums, because the step
 * is its average. Sums begin with the second step. */
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

/* Merges new steps into the list, from the back. */
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

/* Merges step numbers, which must ascend, into the list of all numbers, without duplicates, from
 * the back. */
static void add_ids(struct model *m, struct step *const *run, size_t n)
{
	size_t old = m->step_ids.n, fresh = 0;

	for (size_t i = old, k = n; k;) {
		if (i && m->step_ids.v[i - 1] > run[k - 1]->id) {
			i--;
			continue;
		}
		k--;
		fresh += !i || m->step_ids.v[i - 1] != run[k]->id;
	}
	VEC_ROOM(m->a, &m->step_ids, fresh);
	m->step_ids.n += fresh;
	for (size_t k = m->step_ids.n; k > old;) {
		int64_t *v = m->step_ids.v, id = run[n - 1]->id;
		bool moves = old && v[old - 1] >= id;
		n -= !moves || v[old - 1] == id;
		v[--k] = moves ? v[--old] : id;
	}
}

void ingest_put_steps(struct ingest *in, struct step **run, size_t n)
{
	struct model *m = in->m;
	size_t fresh = 0;

	for (size_t i = 0, at; i < n; i++) {
		struct step *s = run[i];
		adopt_ticks(m, s);
		const struct step *before = model_step_of(m, s->worker, s->id, &at);
		if (in->base) {
			s->excluded_from_average =
			        true; /* the values are computed when the step is merged */
		} else {
			find_holdings(m->a, s);
		}
		if (before && !before->excluded_from_average)
			average_without(m, before); /* before its successor is added, because sums
			                               can saturate */
		if (before)
			m->steps.v[at] = s;
		else
			run[fresh++] = s;
		if (!s->excluded_from_average)
			average_with(in, s);
	}
	insert_steps(m, run, fresh);
	add_ids(m, run, fresh);
}
