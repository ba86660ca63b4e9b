/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs without an op log: which variables are trainable, and why there are no float operations.
 */
#include "lib/session.h"

static bool asks_for_trained(const struct opts *o)
{
	for (size_t i = 0; i < o->account.n; i++)
		if (str_contains(o->account.v[i], S(TYPE_TRAINABLE)))
			return true;
	return false;
}

/* True if nothing that is loaded names types and float operations of nodes. */
static bool graph_alone(const struct session *s)
{
	return session_has_source(s, ROLE_GRAPH) && !session_has_source(s, ROLE_OPLOG) &&
	       !session_has_source(s, ROLE_PROFILE);
}

/* Adds a note that nothing is accounted, with a cure. */
static void note_unknown(struct session *s, size_t variables)
{
	if (variables)
		note_line(&s->notes,
		        "note: no variable has the type " TYPE_TRAINABLE ", which an op log or a "
		        "MetaGraphDef gives; the graph has %zu variable%s: -account_type_regexes "
		        "'Var.*'\n",
		        variables, variables == 1 ? "" : "s");
	else if (s->bare_files || s->columns)
		note_line(&s->notes, "note: no node has the type " TYPE_TRAINABLE
		                     ": the graph has no variables\n");
}

bool session_need_types(struct session *s, const struct opts *o)
{
	uint32_t *nodes;
	size_t all;

	if (!asks_for_trained(o) || !graph_alone(s) || model_knows_trained(&s->model))
		return true;
	size_t n = model_trained(&s->model, &nodes, &all, &s->query_arena);
	/* A command line of the original gets the original's answer. */
	if (!n || !s->bare_files || atomic_load(&s->readers)) {
		note_unknown(s, all);
		return true;
	}
	if (!session_add_type(s, nodes, n, S(TYPE_TRAINABLE)))
		return false;
	note_line(&s->notes,
	        "note: no op log names the trainable variables: taken are %s (%zu of %zu)\n",
	        n < all ? "those that an optimizer updates" : "all variables", n, all);
	return session_seal(s);
}

void session_note_flops(struct session *s, const struct opts *o)
{
	if (o->select.metrics != METRIC_BIT(M_FLOAT_OPS) || !graph_alone(s))
		return;
	for (size_t i = 0; i < s->model.nodes.n; i++)
		if (s->model.nodes.v[i].float_ops)
			return;
	note_line(&s->notes,
	        "note: a graph has no float operations, an op log has: write_op_log of the Python "
	        "package tfprof makes one from the graph, for --op_log_path\n");
}
