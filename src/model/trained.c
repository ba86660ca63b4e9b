/* SPDX-License-Identifier: Apache-2.0
 *
 * The trained variables of a graph without an op log: the first inputs of optimizer operations,
 * such as ApplyMomentum, ResourceApplyAdam and SparseApplyAdagrad.
 */
#include "model/model.h"

bool model_knows_trained(const struct model *m)
{
	uint32_t type = intern_find(&m->strings, S(TYPE_TRAINABLE));

	for (size_t i = 0; type != ID_NONE && i < m->types.n; i++)
		if (m->types.v[i] == type)
			return true;
	return false;
}

static bool is_variable(struct str op)
{
	static const char *const ops[] = { "Variable", "VariableV2", "VarHandleOp",
		"AutoReloadVariable" };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (str_eq(op, str_of(ops[i])))
			return true;
	return false;
}

static bool is_update(struct str op)
{
	if (str_starts(op, S("Resource")))
		op = str_sub(op, 8, SIZE_MAX);
	if (str_starts(op, S("Sparse")))
		op = str_sub(op, 6, SIZE_MAX);
	return op.n > 5 && str_starts(op, S("Apply")) && op.p[5] >= 'A' && op.p[5] <= 'Z';
}

/* Returns the first input of a node, or ID_NONE. */
static uint32_t first_input(const struct model *m, uint32_t node)
{
	for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1]; i++)
		if (model_input_index(m, node, i) == 0)
			return m->inputs.v[i] & INPUT_UNKNOWN ? ID_NONE : m->inputs.v[i];
	return ID_NONE;
}

size_t model_trained(const struct model *m, uint32_t **nodes, size_t *all, struct arena *a)
{
	bool *updated = ARENA_ARRAY(a, m->nodes.n, bool);
	uint32_t *variables = ARENA_ARRAY(a, m->nodes.n, uint32_t);
	size_t n = 0, trained = 0;

	for (uint32_t i = 0; i < m->nodes.n; i++) {
		struct str op = model_str(m, m->nodes.v[i].op);
		uint32_t input = is_update(op) ? first_input(m, i) : ID_NONE;
		if (is_variable(op))
			variables[n++] = i;
		if (input != ID_NONE)
			updated[input] = true;
	}
	for (size_t i = 0; i < n; i++)
		if (updated[variables[i]])
			variables[trained++] = variables[i];
	*nodes = variables;
	*all = n;
	return trained ? trained : n;
}
