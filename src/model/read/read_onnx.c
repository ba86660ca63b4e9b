/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX models: nodes, the tensors between them, parameters and shapes. Values of tensors are
 * skipped, so a model of any size needs only the memory of its names. The nodes in bodies of If,
 * Loop and Scan are below the node with the body: net/loop/Loop/body/Mul.
 *
 *   ModelProto   7 GraphProto
 *   GraphProto   1 NodeProto  5 TensorProto (initializers)  11 inputs  12 outputs  13 other shapes
 *   NodeProto    1 inputs  2 outputs  3 name  4 operator
 *                5 AttributeProto { 1 name  6 GraphProto  8 integers }
 *   TensorProto  1 dimensions  8 name
 *   ValueInfo    1 name  2 type { 1 tensor { 2 shape { 1 dimension { 1 size } } } }
 */
#include "io/wire.h"
#include "model/read/read.h"
#include "model/sniff.h"

#define BODIES_MAX  2 /* maximum depth of nested bodies; each takes three messages of the cursor */
#define RANK_MAX    64
#define ONNX_NEWEST 100 /* a format version far above any in use */

struct onnx_node {
	uint32_t name, op;      /* string ids */
	uint32_t input, output; /* index of its last input and output in uses, or ID_NONE */
	uint32_t window;        /* product of the values of the attribute kernel_shape; 0: none */
};
/* A tensor that a node reads or writes. */
struct onnx_use {
	uint32_t tensor; /* string id */
	uint32_t before; /* previous use of the same node, or ID_NONE */
};
enum tensor_kind { TENSOR_SHAPE, TENSOR_INPUT, TENSOR_PARAMETER };
struct onnx_tensor {
	uint32_t name, shape; /* string id, shape id */
	enum tensor_kind kind;
};

struct onnx_model {
	struct wire w;
	struct ingest *to;
	struct arena *a;
	VEC(struct onnx_node) nodes;
	VEC(struct onnx_use) uses;
	VEC(struct onnx_tensor) tensors;
	VEC(uint32_t) order;   /* uses of one node */
	struct imap shape_of;  /* key: string id of a tensor; value: index in tensors */
	struct imap writer_of; /* key: string id of a tensor; value: string id of the node that
	                          computes it */
	struct imap slot_of;   /* key: string id of a tensor; value: its index among the outputs of
	                          its node, if not 0 */
	struct str producer, version; /* the program that wrote the model */
};

/* ---- tensors ---- */

static void add_tensor(struct onnx_model *x, struct str name, const int64_t *dims, size_t rank,
        enum tensor_kind kind)
{
	struct onnx_tensor made = { ingest_string(x->to, name), ingest_shape(x->to, dims, rank),
		kind };

	if (!name.n)
		return;
	imap_put(&x->shape_of, made.name, (uint32_t)x->tensors.n, true);
	VEC_PUSH(x->a, &x->tensors, made);
}

/* Reads an initializer, without its values. */
static void read_tensor(struct onnx_model *x)
{
	int64_t dims[RANK_MAX];
	size_t rank = 0;
	struct str name = S(""), packed;
	uint64_t v;

	if (!wire_enter(&x->w))
		return;
	while (wire_next(&x->w)) {
		switch (LEAF_TAG(x->w.field, x->w.type)) {
		case LEAF_TAG(1, WIRE_VARINT):
			if (wire_u64(&x->w, &v) && rank < RANK_MAX)
				dims[rank++] = (int64_t)v;
			break;
		case LEAF_TAG(1, WIRE_BYTES):
			if (!wire_leaf(&x->w, &packed))
				return;
			for (struct leaf l = leaf_of(packed);
			        l.p < l.end && !l.bad && rank < RANK_MAX;)
				dims[rank++] = (int64_t)leaf_varint(&l);
			break;
		case LEAF_TAG(8, WIRE_BYTES):
			if (!wire_leaf(&x->w, &name))
				return;
			name = str_copy(x->a, name);
			break;
		default: wire_skip(&x->w);
		}
	}
	wire_leave(&x->w);
	add_tensor(x, name, dims, rank, TENSOR_PARAMETER);
}

/* Returns the first field with a number inside a message, or an empty text. */
static struct str inside(struct str bytes, uint32_t field)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(field, WIRE_BYTES))
			return leaf_bytes(&l);
		leaf_skip(&l);
	}
	return S("");
}

/* Reads a ValueInfo: the name and the shape of a tensor. An unknown size is -1. */
static void read_value_info(struct onnx_model *x, enum tensor_kind kind)
{
	int64_t dims[RANK_MAX];
	size_t rank = 0;
	struct str bytes;

	if (!wire_leaf(&x->w, &bytes))
		return;
	struct leaf shape = leaf_of(inside(inside(inside(bytes, 2), 1), 2));
	while (leaf_next(&shape)) {
		if (shape.tag != LEAF_TAG(1, WIRE_BYTES)) {
			leaf_skip(&shape);
			continue;
		}
		struct leaf dim = leaf_of(leaf_bytes(&shape));
		int64_t size = -1;
		while (leaf_next(&dim))
			if (dim.tag == LEAF_TAG(1, WIRE_VARINT))
				size = (int64_t)leaf_varint(&dim);
			else
				leaf_skip(&dim);
		if (rank < RANK_MAX)
			dims[rank++] = size;
	}
	add_tensor(x, inside(bytes, 1), dims, rank, kind);
}

/* ---- nodes ---- */

static void add_use(struct onnx_model *x, uint32_t *last)
{
	struct str name;
	struct onnx_use made;

	if (!wire_leaf(&x->w, &name))
		return;
	made = (struct onnx_use){ ingest_string(x->to, name), *last };
	*last = (uint32_t)x->uses.n;
	VEC_PUSH(x->a, &x->uses, made);
}

static struct str read_copy(struct onnx_model *x)
{
	struct str s;

	return wire_leaf(&x->w, &s) ? str_copy(x->a, s) : S("");
}

static void walk_graph(struct onnx_model *x, struct str around, unsigned bodies);

/* Multiplies a product by the integers of a field. */
static void read_product(struct onnx_model *x, int64_t *product)
{
	struct str packed;
	uint64_t v;

	if (x->w.type == WIRE_VARINT) {
		if (wire_u64(&x->w, &v))
			*product = num_mul(*product, (int64_t)v);
	} else if (x->w.type == WIRE_BYTES && wire_leaf(&x->w, &packed)) {
		for (struct leaf l = leaf_of(packed); l.p < l.end && !l.bad;)
			*product = num_mul(*product, (int64_t)leaf_varint(&l));
	} else {
		wire_skip(&x->w);
	}
}

/* Reads an attribute if it is a nested body, such as the body of If, or the window of a pooling
 * operator. */
static void read_attribute(
        struct onnx_model *x, struct str around, unsigned bodies, struct onnx_node *node)
{
	int64_t product = 1;
	struct str name = S("");

	if (!wire_enter(&x->w))
		return;
	while (wire_next(&x->w)) {
		if ((x->w.field == 6 || x->w.field == 11) && x->w.type == WIRE_BYTES &&
		        bodies < BODIES_MAX)
			walk_graph(x, around, bodies + 1);
		else if (x->w.field == 1 && x->w.type == WIRE_BYTES)
			name = read_copy(x);
		else if (x->w.field == 8)
			read_product(x, &product);
		else
			wire_skip(&x->w);
	}
	wire_leave(&x->w);
	if (str_eq(name, S("kernel_shape")) && product > 0 && product <= UINT32_MAX)
		node->window = (uint32_t)product;
}

/* Returns the path of a node. A node without a name gets the name of its operator and its
 * position. */
static struct str node_path(
        struct onnx_model *x, struct str around, struct str name, struct str op, uint32_t place)
{
	struct sb b = sb_in(x->a);

	sb_put(&b, around);
	if (around.n)
		sb_char(&b, '/');
	if (name.n)
		sb_put(&b, name);
	else
		sb_fmt(&b, "%.*s_%u", STR(op), place);
	return sb_str(&b);
}

/* Lists the uses of a node in their order. */
static void list_uses(struct onnx_model *x, uint32_t last)
{
	x->order.n = 0;
	for (; last != ID_NONE; last = x->uses.v[last].before)
		VEC_PUSH(x->a, &x->order, last);
}

static void read_node(struct onnx_model *x, struct str around, unsigned bodies, uint32_t place)
{
	struct onnx_node made = { .input = ID_NONE, .output = ID_NONE };
	struct str name = S(""), op = S("");
	size_t at = x->nodes.n;

	if (!wire_enter(&x->w))
		return;
	VEC_PUSH(x->a, &x->nodes, made); /* must precede the nodes of its bodies */
	while (wire_next(&x->w)) {
		switch (LEAF_TAG(x->w.field, x->w.type)) {
		case LEAF_TAG(1, WIRE_BYTES): add_use(x, &made.input); break;
		case LEAF_TAG(2, WIRE_BYTES): add_use(x, &made.output); break;
		case LEAF_TAG(3, WIRE_BYTES): name = read_copy(x); break;
		case LEAF_TAG(4, WIRE_BYTES): op = read_copy(x); break;
		case LEAF_TAG(5, WIRE_BYTES):
			read_attribute(x, node_path(x, around, name, op, place), bodies, &made);
			break;
		default: wire_skip(&x->w);
		}
	}
	wire_leave(&x->w);
	made.name = ingest_string(x->to, node_path(x, around, name, op, place));
	made.op = ingest_string(x->to, op);
	x->nodes.v[at] = made;
	list_uses(x, made.output);
	for (size_t i = 0; i < x->order.n; i++) {
		uint32_t tensor = x->uses.v[x->order.v[x->order.n - 1 - i]].tensor;
		imap_put(&x->writer_of, tensor, made.name, false);
		if (i)
			imap_put(&x->slot_of, tensor, (uint32_t)i, false);
	}
}

static void walk_graph(struct onnx_model *x, struct str around, unsigned bodies)
{
	uint32_t place = 0;

	if (!wire_enter(&x->w))
		return;
	while (wire_next(&x->w)) {
		switch (LEAF_TAG(x->w.field, x->w.type)) {
		case LEAF_TAG(1, WIRE_BYTES): read_node(x, around, bodies, place++); break;
		case LEAF_TAG(5, WIRE_BYTES): read_tensor(x); break;
		case LEAF_TAG(11, WIRE_BYTES):
			read_value_info(x, bodies ? TENSOR_SHAPE : TENSOR_INPUT);
			break;
		case LEAF_TAG(12, WIRE_BYTES):
		case LEAF_TAG(13, WIRE_BYTES): read_value_info(x, TENSOR_SHAPE); break;
		default: wire_skip(&x->w);
		}
	}
	wire_leave(&x->w);
}

/* ---- the model ---- */

/* Adds parameters and inputs as nodes, unless a node has the same name. */
static void put_tensors(struct onnx_model *x)
{
	for (size_t i = 0; i < x->tensors.n; i++) {
		const struct onnx_tensor *t = &x->tensors.v[i];
		struct str op = t->kind == TENSOR_PARAMETER ? S("Initializer") : S("Input");
		if (t->kind == TENSOR_SHAPE ||
		        !ingest_node(x->to, t->name, ingest_string(x->to, op)))
			continue;
		if (t->kind == TENSOR_PARAMETER)
			ingest_node_shape(x->to, t->shape);
		ingest_output(x->to, 0, t->shape);
		ingest_end_node(x->to);
		imap_put(&x->writer_of, t->name, t->name, false);
	}
}

static void put_node(struct onnx_model *x, const struct onnx_node *n)
{
	uint32_t from;

	if (!ingest_node(x->to, n->name, n->op))
		return;
	ingest_flags(x->to, NODE_ONNX);
	ingest_window(x->to, n->window, 0);
	list_uses(x, n->input);
	for (size_t i = x->order.n; i-- > 0;) {
		uint32_t tensor = x->uses.v[x->order.v[i]].tensor, slot = 0;
		imap_get(&x->slot_of, tensor, &slot);
		if (imap_get(&x->writer_of, tensor, &from))
			ingest_input(x->to, (int32_t)(x->order.n - 1 - i), from, (int32_t)slot);
	}
	list_uses(x, n->output);
	for (size_t i = x->order.n; i-- > 0;)
		if (imap_get(&x->shape_of, x->uses.v[x->order.v[i]].tensor, &from))
			ingest_output(
			        x->to, (int32_t)(x->order.n - 1 - i), x->tensors.v[from].shape);
	ingest_end_node(x->to);
}

int sniff_onnx(struct str head, struct str path)
{
	struct leaf l = leaf_of(head);

	if (!leaf_next(&l) || l.tag != LEAF_TAG(1, WIRE_VARINT) || leaf_varint(&l) > ONNX_NEWEST ||
	        !leaf_next(&l))
		return 0;
	if (l.tag == LEAF_TAG(2, WIRE_BYTES))
		return sniff_is_name(sniff_message(&l)) ? 90 : 0;
	if (l.tag != LEAF_TAG(7, WIRE_BYTES) && l.tag != LEAF_TAG(8, WIRE_BYTES))
		return 0;
	return str_ends(path, S(".onnx")) ? 100 : 90;
}

/* Reads a member of the model that is not its graph. */
static void read_about(struct onnx_model *x)
{
	struct wire *w = &x->w;

	switch (LEAF_TAG(w->field, w->type)) {
	case LEAF_TAG(2, WIRE_BYTES): x->producer = read_copy(x); return;
	case LEAF_TAG(3, WIRE_BYTES): x->version = read_copy(x); return;
	case LEAF_TAG(20, WIRE_BYTES): src_count_unused(w->s, S("training graphs"), 1); break;
	case LEAF_TAG(25, WIRE_BYTES): src_count_unused(w->s, S("functions"), 1); break;
	default:
		if (w->field > 14)
			src_count_unused(w->s, S("unknown fields"), 1);
	}
	wire_skip(w);
}

bool read_onnx(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct onnx_model *x = ARENA_NEW(a, struct onnx_model);

	*x = (struct onnx_model){ .to = to, .a = a };
	imap_init(&x->shape_of, a);
	imap_init(&x->writer_of, a);
	imap_init(&x->slot_of, a);
	wire_init(&x->w, s, "ONNX model", e);
	while (wire_next(&x->w)) {
		if (x->w.field == 7 && x->w.type == WIRE_BYTES)
			walk_graph(x, S(""), 0);
		else
			read_about(x);
	}
	if (!wire_done(&x->w, x->nodes.n))
		return false;
	put_tensors(x);
	for (size_t i = 0; i < x->nodes.n; i++)
		put_node(x, &x->nodes.v[i]);
	src_set_producer(s, str_fmt(a, "%.*s%s%.*s", STR(x->producer), x->version.n ? " " : "",
	                            STR(x->version)));
	return true;
}
