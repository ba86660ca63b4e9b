/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a GraphDef.
 *
 *   FunctionDef  1 signature { 1 name  2 argument { 1 name }, repeated
 *                              3 result { 1 name }, repeated }
 *                3 NodeDef, repeated  4 source of a result { 1 result  2 source }, repeated
 *
 * An input or a source of a result is the name of an argument, or "node:output:index": the name of
 * an output of the node's operation, and the index in the list of tensors that it stands for.
 */
#include "model/read/read_function.h"

#include "model/graph_functions.h"

struct named_source {
	struct str result, source;
};

/* State for one function. Texts are copied, because a leaf is valid until the next one. */
struct function_reading {
	struct pb_reading *r;
	struct library *to;
	struct arena *a;      /* memory of the function */
	struct imap index_of; /* key: id of a name; value: index among arguments and nodes */
	struct intern names;  /* names of arguments and nodes */
	struct function f;
	uint32_t name; /* string id; ID_NONE: the function has no name */
	VEC(struct str) arguments, results;
	VEC(struct str) inputs; /* inputs of all nodes */
	VEC(struct named_source) sources;
};

/* Returns the number of outputs of an operation before those with a name. Only operations whose
 * further outputs have shapes in infer.def are known. */
static uint32_t first_slot(struct str op, struct str output)
{
	if (str_eq(output, S("tensor")))
		return str_eq(op, S("TensorListPopBack"));
	if (str_eq(output, S("batch_variance")))
		return 2;
	return str_is_among("backprop batch_mean flow idx indices offset_backprop output_true r1 "
	                    "scale_backprop value_index",
	        output);
}

/* Returns the source that a text names. */
static struct function_input find_source(const struct function_reading *x, struct str text)
{
	size_t colon = str_find_char(text, ':');
	struct function_input to = { ID_NONE, 0 };
	uint32_t at;

	const struct str name = str_sub(text, 0, colon);
	const uint32_t id = intern_find(&x->names, name);
	if (id == ID_NONE || !imap_get(&x->index_of, id, &at))
		return to;
	to.source = at;
	if (colon == SIZE_MAX)
		return to;
	const struct str output = str_sub(text, colon + 1, SIZE_MAX);
	const size_t second = str_find_char(output, ':');
	int32_t index = 0;
	if (second != SIZE_MAX)
		num_parse_i32(str_sub(output, second + 1, SIZE_MAX), &index);
	const struct str op =
	        at < x->arguments.n
	                ? STR_NONE
	                : model_str(ingest_model(x->r->to),
	                          x->to->nodes.v[x->f.node0 + at - x->arguments.n].n.op);
	to.slot = first_slot(op, str_sub(output, 0, second)) + (index > 0 ? (uint32_t)index : 0);
	return to;
}

static void add_name(struct function_reading *x, struct str name, uint32_t index)
{
	imap_put(&x->index_of, intern_add(&x->names, name), index, false);
}

/* Reads the name of an argument or a result. */
static bool read_name(struct function_reading *x, struct str bytes, unsigned depth, struct str *to)
{
	struct leaf l = leaf_below(bytes, depth);

	*to = S("");
	while (leaf_next(&l))
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			*to = str_copy(x->a, read_text(x->r, &l));
		else
			leaf_skip(&l);
	return reading_end(x->r, &l);
}

/* Reads the signature, which is the current leaf. */
static bool read_signature(struct function_reading *x)
{
	const unsigned depth = x->r->w.depth + 1;
	struct leaf l = leaf_below(x->r->leaf, depth);
	struct str name;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES)) {
			x->name = ingest_string(x->r->to, read_text(x->r, &l));
		} else if (l.tag == LEAF_TAG(2, WIRE_BYTES) || l.tag == LEAF_TAG(3, WIRE_BYTES)) {
			bool result = l.tag == LEAF_TAG(3, WIRE_BYTES);
			if (!read_name(x, leaf_bytes(&l), depth + 1, &name))
				return false;
			if (result)
				VEC_PUSH(x->a, &x->results, name);
			else
				VEC_PUSH(x->a, &x->arguments, name);
		} else {
			leaf_skip(&l);
		}
	}
	return reading_end(x->r, &l);
}

/* Reads the source of a result, which is the current leaf. */
static bool read_source(struct function_reading *x)
{
	const unsigned depth = x->r->w.depth + 1;
	struct map_entry e;

	if (!read_entry(x->r, x->r->leaf, depth, ENTRY_NAMED | ENTRY_TEXT, &e))
		return false;
	VEC_PUSH(x->a, &x->sources,
	        ((struct named_source){ str_copy(x->a, e.name), str_copy(x->a, e.value) }));
	return true;
}

/* Adds a node. Control inputs are left out. */
static void add_node(struct function_reading *x, const struct graph_node *from)
{
	struct ingest *to = x->r->to;
	struct function_node n = { .n = { .name = ingest_string(to, from->name),
		                           .op = ingest_string(to, from->op),
		                           .device = ID_NONE,
		                           .host = ID_NONE,
		                           .frame = ID_NONE,
		                           .shape = ID_NONE,
		                           .facts = ID_NONE },
		.input0 = (uint32_t)x->inputs.n };

	attr_settings_read(&from->settings, &n.n);
	if (from->facts.n)
		n.n.facts = ingest_string(to, sb_str(&from->facts));
	for (size_t i = 0; i < from->inputs.n; i++)
		if (!str_starts(from->inputs.v[i], S("^")))
			VEC_PUSH(x->a, &x->inputs, str_copy(x->a, from->inputs.v[i]));
	n.inputs = (uint32_t)x->inputs.n - n.input0;
	VEC_PUSH(x->to->a, &x->to->nodes, n);
}

/* Adds the function to the library, after all of its names are known. Returns false if it has no
 * name or the library is full. */
static bool add_function(struct function_reading *x)
{
	struct library *to = x->to;
	struct function f = { .arguments = (uint32_t)x->arguments.n,
		.node0 = x->f.node0,
		.nodes = to->nodes.n - x->f.node0,
		.return0 = to->returns.n,
		.returns = x->results.n };
	const struct model *m = ingest_model(x->r->to);

	if (x->name == ID_NONE || to->inputs.n + x->inputs.n >= UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < f.arguments; i++)
		add_name(x, x->arguments.v[i], i);
	for (uint32_t i = 0; i < f.nodes; i++)
		add_name(x, model_str(m, to->nodes.v[f.node0 + i].n.name), f.arguments + i);
	for (size_t i = f.node0; i < to->nodes.n; i++)
		to->nodes.v[i].input0 += (uint32_t)to->inputs.n;
	for (size_t i = 0; i < x->inputs.n; i++) {
		struct function_input in = find_source(x, x->inputs.v[i]);
		VEC_PUSH(to->a, &to->inputs, in);
	}
	for (size_t i = 0; i < f.returns; i++) {
		struct function_input in = { ID_NONE, 0 };
		for (size_t k = 0; k < x->sources.n && in.source == ID_NONE; k++)
			if (str_eq(x->sources.v[k].result, x->results.v[i]))
				in = find_source(x, x->sources.v[k].source);
		VEC_PUSH(to->a, &to->returns, in);
	}
	if (imap_put(&to->of_name, x->name, (uint32_t)to->functions.n, false))
		VEC_PUSH(to->a, &to->functions, f);
	return true;
}

/* Reads the fields of a FunctionDef; it is the current message. */
static void read_fields(struct function_reading *x, struct graph_node *n)
{
	struct pb_reading *r = x->r;

	while (wire_next(&r->w)) {
		switch (LEAF_TAG(r->w.field, r->w.type)) {
		case LEAF_TAG(1, WIRE_BYTES):
			if (reading_leaf(r))
				read_signature(x);
			break;
		case LEAF_TAG(3, WIRE_BYTES):
			if (reading_leaf(r) && read_graph_node(r, n)) {
				graph_node_default_format(n);
				add_node(x, n);
			}
			break;
		case LEAF_TAG(4, WIRE_BYTES):
			if (reading_leaf(r))
				read_source(x);
			break;
		default: wire_skip(&r->w);
		}
	}
}

uint64_t read_function(struct pb_reading *r, struct graph_node *n)
{
	struct library *to = ingest_library(r->to);
	struct scratch own;
	struct function_reading x = { .r = r, .to = to, .name = ID_NONE };

	scratch_open(&own, r->a->work);
	x.a = &own.a;
	x.f.node0 = to->nodes.n;
	imap_init(&x.index_of, x.a);
	intern_init(&x.names, x.a);
	wire_enter(&r->w);
	read_fields(&x, n);
	wire_leave(&r->w);
	const uint64_t nodes = to->nodes.n - x.f.node0;
	if (r->w.bad || !add_function(&x))
		to->nodes.n = x.f.node0;
	scratch_close(&own);
	return nodes;
}
