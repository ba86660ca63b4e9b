/* SPDX-License-Identifier: Apache-2.0
 *
 * Expands the calls of a graph. Each call gets a node for each argument, the nodes of the function,
 * and a node for each result; arguments and results are Identity nodes.
 */
#include "model/graph_functions.h"

#include "model/node_facts.h"

#define LEVELS_MAX    64
#define EXPANDED_MAX  (1u << 20)
#define FUNCTIONS_MAX 16 /* limit for the functions that one node calls */

/* Operations that call functions, and their attributes with the names of the functions. The results
 * of an operation are those of the first function. */
static const struct caller {
	const char *ops, *attrs[2];
	uint32_t skipped; /* number of inputs that are not arguments: a condition or an index */
} callers[] = {
	{ "PartitionedCall StatefulPartitionedCall", { "f", NULL }, 0 },
	{ "While StatelessWhile", { "body", "cond" }, 0 },
	{ "If StatelessIf", { "then_branch", "else_branch" }, 1 },
	{ "Case StatelessCase", { "branches", NULL }, 1 },
};

/* The nodes that stand for the results of a call. */
struct call_results {
	uint32_t first, n;
};

struct expansion {
	const struct library *library;
	struct arena *a;
	struct model *m;
	size_t graph_nodes; /* number of nodes of the graph itself */
	VEC(uint32_t) owner;
	VEC(uint8_t) level;
	struct imap of_call; /* key: node that calls; value: index in results */
	VEC(struct call_results) results;
};

struct library *library_new(struct arena *a, uint32_t identity)
{
	struct library *x = ARENA_NEW(a, struct library);

	x->a = a;
	x->identity = identity;
	imap_init(&x->of_name, a);
	return x;
}

/* ---- calls ---- */

static const struct function *find_function(const struct expansion *x, uint32_t name)
{
	uint32_t at;

	if (name == ID_NONE || !imap_get(&x->library->of_name, name, &at))
		return NULL;
	return &x->library->functions.v[at];
}

/* Lists the functions that a node calls. Returns their number. Sets *skipped to the number of
 * inputs that are not arguments. */
static unsigned find_called(const struct expansion *x, uint32_t node,
        const struct function *to[FUNCTIONS_MAX], uint32_t *skipped)
{
	const struct node *n = &x->m->nodes.v[node];
	const struct caller *c = callers, *end = callers + sizeof callers / sizeof *callers;
	unsigned found = 0;

	*skipped = 0;
	if ((to[0] = find_function(x, n->op)))
		return 1;
	while (c < end && !str_is_among(c->ops, model_str(x->m, n->op)))
		c++;
	if (c == end || n->facts == ID_NONE)
		return 0;
	*skipped = c->skipped;
	for (unsigned k = 0; k < 2 && c->attrs[k]; k++)
		for (unsigned i = 0; i < FUNCTIONS_MAX; i++) {
			struct str name = facts_function(model_str(x->m, n->facts), c->attrs[k], i);
			if (!name.n)
				break;
			if (found == FUNCTIONS_MAX)
				return 0;
			to[found] = find_function(x, intern_find(&x->m->strings, name));
			if (!to[found++])
				return 0;
		}
	return found;
}

/* ---- nodes ---- */

static void add_node(struct expansion *x, const struct node *n, uint32_t caller)
{
	struct model *m = x->m;
	const uint32_t inputs = m->input0.v[m->input0.n - 1];
	const uint32_t outputs = m->output0.v[m->output0.n - 1];

	VEC_PUSH(x->a, &m->nodes, *n);
	VEC_PUSH(x->a, &x->owner, x->owner.v[caller]);
	VEC_PUSH(x->a, &x->level, (uint8_t)(x->level.v[caller] + 1));
	VEC_PUSH(x->a, &m->input0, inputs);
	VEC_PUSH(x->a, &m->output0, outputs);
}

/* Adds an input to the last node. */
static void add_input(struct expansion *x, uint32_t source, int32_t slot)
{
	struct model *m = x->m;
	uint32_t *end = &m->input0.v[m->input0.n - 1];

	VEC_PUSH(x->a, &m->input_index, (int32_t)(*end - end[-1]));
	VEC_PUSH(x->a, &m->inputs, source);
	VEC_PUSH(x->a, &m->input_slot, slot);
	++*end;
}

/* Adds an input that reads from the same function, whose nodes begin at base. */
static void add_local_input(struct expansion *x, const struct function_input *in, uint32_t base)
{
	bool known = in->source != ID_NONE;

	add_input(x, known ? base + in->source : INPUT_UNKNOWN, known ? (int32_t)in->slot : 0);
}

/* Appends the nodes of a function. Returns the nodes of its results. */
static struct call_results add_function(
        struct expansion *x, uint32_t caller, const struct function *f, uint32_t skipped)
{
	const struct library *l = x->library;
	const struct node identity = {
		.name = x->m->nodes.v[caller].name,
		.op = l->identity,
		.device = ID_NONE,
		.host = ID_NONE,
		.frame = ID_NONE,
		.shape = ID_NONE,
		.facts = ID_NONE,
	};
	uint32_t base = (uint32_t)x->m->nodes.n;

	for (uint32_t i = 0; i < f->arguments; i++) {
		const size_t at = (size_t)x->m->input0.v[caller] + skipped + i;
		bool exists = at < x->m->input0.v[caller + 1];
		add_node(x, &identity, caller);
		add_input(x, exists ? x->m->inputs.v[at] : INPUT_UNKNOWN,
		        exists ? x->m->input_slot.v[at] : 0);
	}
	for (size_t i = f->node0; i < f->node0 + f->nodes; i++) {
		const struct function_node *n = &l->nodes.v[i];
		add_node(x, &n->n, caller);
		for (uint32_t k = n->input0; k < n->input0 + n->inputs; k++)
			add_local_input(x, &l->inputs.v[k], base);
	}
	struct call_results to = { (uint32_t)x->m->nodes.n, (uint32_t)f->returns };
	for (size_t i = f->return0; i < f->return0 + f->returns; i++) {
		add_node(x, &identity, caller);
		add_local_input(x, &l->returns.v[i], base);
	}
	return to;
}

/* True if the nodes and inputs of the functions fit. */
static bool has_room(const struct expansion *x, uint32_t node,
        const struct function *const called[FUNCTIONS_MAX], unsigned n)
{
	size_t more = 0;

	for (unsigned i = 0; i < n; i++)
		more += called[i]->arguments + called[i]->nodes + called[i]->returns;
	return x->level.v[node] < LEVELS_MAX && x->m->nodes.n + more < NODES_MAX &&
	       x->m->nodes.n + more < x->graph_nodes + EXPANDED_MAX &&
	       x->m->inputs.n < UINT32_MAX / 2;
}

static void expand(struct expansion *x, uint32_t node)
{
	const struct function *called[FUNCTIONS_MAX];
	uint32_t skipped;
	unsigned n = find_called(x, node, called, &skipped);

	if (!n || !has_room(x, node, called, n))
		return;
	imap_put(&x->of_call, node, (uint32_t)x->results.n, false);
	struct call_results first = { 0, 0 };
	for (unsigned i = 0; i < n; i++) {
		const struct call_results r = add_function(x, node, called[i], skipped);
		first = i ? first : r;
	}
	VEC_PUSH(x->a, &x->results, first);
}

/* ---- the graph ---- */

/* Copies the nodes and inputs of the graph, with the output slots that inputs read. */
static void copy_graph(struct expansion *x, const struct model *m)
{
	struct model *to = x->m;

	*to = *m;
	to->slots_final = true;
	memset(&to->nodes, 0, sizeof to->nodes);
	memset(&to->input0, 0, sizeof to->input0);
	memset(&to->inputs, 0, sizeof to->inputs);
	memset(&to->input_index, 0, sizeof to->input_index);
	memset(&to->input_slot, 0, sizeof to->input_slot);
	memset(&to->output0, 0, sizeof to->output0);
	VEC_PUSH(x->a, &to->input0, 0);
	VEC_PUSH(x->a, &to->output0, 0);
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		const struct str facts = model_str(m, m->nodes.v[i].facts);
		VEC_PUSH(x->a, &to->nodes, m->nodes.v[i]);
		VEC_PUSH(x->a, &x->owner, i);
		VEC_PUSH(x->a, &x->level, 0);
		for (size_t k = m->input0.v[i]; k < m->input0.v[i + 1]; k++) {
			int32_t slot = model_input_slot(m, k);
			if (!slot)
				slot = (int32_t)facts_slot(facts, (uint32_t)(k - m->input0.v[i]));
			VEC_PUSH(x->a, &to->inputs, m->inputs.v[k]);
			VEC_PUSH(x->a, &to->input_index, model_input_index(m, i, k));
			VEC_PUSH(x->a, &to->input_slot, slot);
		}
		VEC_PUSH(x->a, &to->input0, m->input0.v[i + 1]);
		VEC_PUSH(x->a, &to->output0, m->output0.v[i + 1]);
	}
}

/* Lets inputs that read a call read the results of the function. */
static void connect_results(struct expansion *x)
{
	struct model *m = x->m;
	uint32_t at;

	for (size_t i = 0; i < m->inputs.n; i++) {
		if (m->inputs.v[i] & INPUT_UNKNOWN || !imap_get(&x->of_call, m->inputs.v[i], &at))
			continue;
		const struct call_results r = x->results.v[at];
		if (m->input_slot.v[i] < 0 || (uint32_t)m->input_slot.v[i] >= r.n)
			continue;
		m->inputs.v[i] = r.first + (uint32_t)m->input_slot.v[i];
		m->input_slot.v[i] = 0;
	}
}

struct expanded library_expand(const struct model *m, struct arena *a)
{
	struct expanded to = { .m = m };

	if (!m->library || !m->nodes.n)
		return to;
	struct expansion x = { m->library, .a = a, .m = ARENA_NEW(a, struct model),
		.graph_nodes = m->nodes.n };
	imap_init(&x.of_call, a);
	copy_graph(&x, m);
	for (uint32_t i = 0; i < x.m->nodes.n; i++)
		expand(&x, i);
	connect_results(&x);
	to.m = x.m;
	to.owner = x.owner.v;
	to.calls = ARENA_ARRAY(a, x.m->nodes.n, bool);
	for (uint32_t i = 0; i < x.m->nodes.n; i++)
		to.calls[i] = imap_get(&x.of_call, i, &(uint32_t){ 0 });
	return to;
}
