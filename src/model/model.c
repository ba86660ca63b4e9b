/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only access to a sealed model.
 */
#include "model/model.h"

#include "base/sort.h"

uint32_t model_find(const struct model *m, struct str name)
{
	uint32_t id = intern_find(&m->strings, name);

	return id == ID_NONE || id >= m->node_of_cap ? ID_NONE : m->node_of[id] - 1;
}

bool model_is_sampled(const struct model *m)
{
	size_t n = 0;

	while (n < m->files.n && str_starts(m->files.v[n].format, S("pprof profile")))
		n++;
	return n && n == m->files.n;
}

const struct step *model_step(const struct model *m, int64_t id)
{
	for (size_t i = 0; i < m->steps.n;) {
		uint32_t worker = m->steps.v[i]->worker;
		const struct step *s = model_step_of(m, worker, id, NULL);
		if (s)
			return s;
		model_step_of(m, worker + 1, INT64_MIN, &i);
	}
	return NULL;
}

const struct step *model_step_of(const struct model *m, uint32_t worker, int64_t id, size_t *place)
{
	struct step *const *v = m->steps.v;
	size_t i;

	BISECT(i, 0, m->steps.n,
	        v[i]->worker < worker || (v[i]->worker == worker && v[i]->id < id));
	if (place)
		*place = i;
	const struct step *x = i < m->steps.n ? v[i] : NULL;
	return x && x->worker == worker && x->id == id ? x : NULL;
}

size_t model_rank(const struct model *m, uint32_t shape)
{
	return shape == ID_NONE ? 0 : m->shapes.strings[shape].n / sizeof(int64_t);
}

int64_t model_dim(const struct model *m, uint32_t shape, size_t i)
{
	int64_t d;

	memcpy(&d, m->shapes.strings[shape].p + i * sizeof d, sizeof d);
	return d;
}

int32_t model_input_index(const struct model *m, uint32_t node, size_t i)
{
	return m->input_index.n ? m->input_index.v[i] : (int32_t)(i - m->input0.v[node]);
}

int32_t model_input_slot(const struct model *m, size_t i)
{
	return m->input_slot.n ? m->input_slot.v[i] : 0;
}

uint32_t model_output_shape(const struct model *m, uint32_t node, int32_t slot)
{
	for (uint32_t o = m->output0.v[node]; o < m->output0.v[node + 1]; o++)
		if (m->output_slot.v[o] == slot)
			return m->output_shape.v[o];
	return ID_NONE;
}

uint32_t model_input_shape(const struct model *m, size_t i)
{
	uint32_t source = m->inputs.v[i];

	return source & INPUT_UNKNOWN ? ID_NONE
	                              : model_output_shape(m, source, model_input_slot(m, i));
}

const uint32_t *model_types(const struct model *m, uint32_t set, size_t *n)
{
	*n = m->type0.v[set + 1] - m->type0.v[set];
	return *n ? m->types.v + m->type0.v[set] : NULL;
}

static int by_device_name(const void *ctx, uint32_t a, uint32_t b)
{
	return str_cmp(device_name(ctx, a), device_name(ctx, b));
}

void model_sort_devices(const struct model *m, uint32_t *devices, size_t n, struct arena *scratch)
{
	sort_stable(scratch, devices, n, by_device_name, m);
}

double model_coverage(const struct model *m)
{
	return (double)m->covered / ((double)m->nodes.n + 1e-10);
}

double model_ran(const struct model *m, struct arena *a)
{
	bool *ran = ARENA_ARRAY(a, m->nodes.n, bool);
	size_t n = 0;

	for (size_t i = 0; i < m->steps.n; i++)
		for (uint32_t c = 0; c < m->steps.v[i]->n_cells; c++)
			ran[m->steps.v[i]->cell_node[c]] = true;
	for (size_t i = 0; i < m->nodes.n; i++)
		n += ran[i];
	return m->nodes.n ? (double)n / (double)m->nodes.n : 0;
}

/* Returns the values that do not come from a step, and the float operations: counted call by call,
 * if they were counted that way. Quirk 33: otherwise they count per run once the node has run. */
static void tally_static(const struct node *n, int64_t steps, struct tally *t)
{
	bool ran = n->flags & NODE_RAN || t->v[V_RUNS];
	int64_t times = ran ? t->v[V_RUNS] : steps;

	t->v[V_PARAMS] = n->params;
	t->v[V_FLOAT_OPS] = n->float_ops ? num_mul(n->float_ops, times) : t->v[V_CALL_FLOPS];
	if (n->flags & NODE_UNCOUNTED)
		t->v[V_UNCOUNTED] = times;
	t->v[V_DEFINITIONS] = 1;
}

/* Quirk 34: the average is over the steps in which the node has an entry. The original divides as
 * unsigned numbers. A saturated sum has no known average, so it stays unchanged. */
static void tally_average(const struct model *m, const struct tally_sum *s, struct tally *t)
{
	uint32_t steps = model_ticks(m) > 1 ? 1 : s->steps;

	for (int i = 0; s->steps && i < V_RECORDED; i++)
		t->v[i] = num_stopped(s->v[i]) ? s->v[i] : (int64_t)((uint64_t)s->v[i] / steps);
}

/* Adds a cell of a step. */
static void tally_cell(
        const struct model *m, struct tally_sum *to, const struct step *s, uint32_t c)
{
	struct tally t = { 0 };

	step_tally(s, c, model_ticks(m), &t);
	for (int i = 0; i < V_RECORDED; i++)
		to->v[i] = num_sum(to->v[i], t.v[i]);
	to->steps++;
}

/* Returns the only step of the average, for which the model stores no sums. */
static const struct step *step_or_only(const struct model *m, const struct step *s)
{
	for (size_t i = 0; !s && m->averaged == 1 && i < m->steps.n; i++)
		if (!m->steps.v[i]->excluded_from_average)
			return m->steps.v[i];
	return s;
}

struct tally *model_tallies(const struct model *m, const struct step *s, struct arena *a)
{
	struct tally *t = ARENA_ARRAY(a, m->nodes.n, struct tally);

	s = step_or_only(m, s);
	for (uint32_t c = 0; s && c < s->n_cells; c++)
		step_tally(s, c, model_ticks(m), &t[s->cell_node[c]]);
	for (uint32_t n = 0; n < m->nodes.n; n++) {
		if (!s && m->sums.n)
			tally_average(m, &m->sums.v[n], &t[n]);
		tally_static(&m->nodes.v[n], model_steps(m, s ? 1 : m->averaged), &t[n]);
	}
	return t;
}

int64_t model_value(
        const struct model *m, const struct step *s, uint32_t cell, uint32_t node, enum value which)
{
	struct tally t = { 0 };

	if (cell != ID_NONE)
		step_tally(s, cell, model_ticks(m), &t);
	tally_static(&m->nodes.v[node], 1, &t);
	return t.v[which];
}

struct tally *model_tallies_over(
        const struct model *m, const struct step *const *steps, size_t n, struct arena *a)
{
	struct tally *t = ARENA_ARRAY(a, m->nodes.n, struct tally);
	struct scratch own;

	scratch_open(&own, a->work);
	struct tally_sum *sums = ARENA_ARRAY(&own.a, m->nodes.n, struct tally_sum);
	for (size_t i = 0; i < n; i++)
		for (uint32_t c = 0; c < steps[i]->n_cells; c++)
			tally_cell(m, &sums[steps[i]->cell_node[c]], steps[i], c);
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		tally_average(m, &sums[i], &t[i]);
		tally_static(&m->nodes.v[i], model_steps(m, n), &t[i]);
	}
	scratch_close(&own);
	return t;
}
