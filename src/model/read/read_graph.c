/* SPDX-License-Identifier: Apache-2.0
 *
 * GraphDef, streamed: each NodeDef is a leaf that is decoded by hand. The attributes shape,
 * _output_shapes and data_format are decoded. The functions of the library are read apart from the
 * nodes (read_function.c). A
 * GraphDef may also be inside a MetaGraphDef, alone or as the first of a SavedModel; a note lists
 * the parts of such a file that are not used. Independent of how the model uses the data.
 *
 *   SavedModel    1 schema version (varint)  2 MetaGraphDef, repeated
 *   MetaGraphDef  1 MetaInfoDef { 4 tag, repeated }  2 GraphDef
 *                 4 collections { 1 name  2 { 1 { 1 tensor }  2 { 1 VariableDef { 1 tensor } } } }
 *   GraphDef      1 NodeDef, repeated  2 library { 1 FunctionDef { 3 NodeDef, repeated } }
 */
#include "model/node_facts.h"
#include "model/read/read_function.h"
#include "model/sniff.h"

/* State for one file. */
struct graph_file {
	struct graph_node n;
	uint64_t taken;            /* number of nodes */
	uint64_t graphs;           /* number of MetaGraphDefs; only the first is used */
	uint64_t functions, nodes; /* numbers of functions of its library, and of their nodes */
	uint64_t libraries, signatures, assets, unknown;
	uint64_t version;    /* version of the graph; 0: unknown */
	struct str program;  /* version of TensorFlow; empty: unknown */
	struct sb tags;      /* tags of the used MetaGraphDef */
	struct strs trained; /* names of the tensors of its trainable variables */
};

/* Returns the name in an input "^name:1": the text before the first ':', without a leading '^'.
 * Quirk 15: so control inputs count as inputs. */
static struct str source_name(struct str input)
{
	size_t colon = str_find_char(input, ':');

	if (colon != SIZE_MAX)
		input.n = colon;
	if (input.n && input.p[0] == '^') {
		input.p++;
		input.n--;
	}
	return input;
}

/* Returns the output slot that an input reads: 1 for "name:1"; 0 if it names no slot. */
static uint32_t source_slot(struct str input)
{
	size_t colon = str_find_char(input, ':');
	int32_t slot = 0;

	if (colon == SIZE_MAX || !num_parse_i32(str_sub(input, colon + 1, SIZE_MAX), &slot) ||
	        slot < 0)
		return 0;
	return (uint32_t)slot;
}

/* Adds the data that shape inference needs about a node: the outputs that it reads, and attributes
 * if the file does not state its shapes. */
static void say_facts(struct ingest *to, struct graph_node *n)
{
	for (size_t i = 0; i < n->inputs.n; i++) {
		uint32_t slot = source_slot(n->inputs.v[i]);
		if (slot)
			facts_put_slot(&n->facts, (uint32_t)i, slot);
	}
	if (n->facts.n)
		ingest_facts(to, ingest_string(to, sb_str(&n->facts)));
}

/* Adds the node to the model. Quirk 14: the output index after ':' is ignored. */
static void say_node(struct ingest *to, struct graph_node *n)
{
	if (!ingest_node(to, ingest_string(to, n->name), ingest_string(to, n->op)))
		return;
	for (size_t i = 0; i < n->inputs.n; i++)
		ingest_input(to, (int32_t)i, ingest_string(to, source_name(n->inputs.v[i])), 0);
	if (n->shape.set == ATTR_SHAPE)
		ingest_node_shape(to, attr_shape_id(to, &n->shape, 0));
	if (n->outputs.set == ATTR_LIST) {
		for (size_t i = 0; i < n->outputs.shapes.n; i++)
			ingest_output(to, (int32_t)i, attr_shape_id(to, &n->outputs, i));
		n->facts.n = n->calls ? n->facts.n : 0;
	}
	say_facts(to, n);
	attr_settings_say(to, &n->settings);
	attrs_say(to, &n->kept);
	ingest_end_node(to);
}

/* Reads the library of functions; it is the next value. */
static void read_library(struct pb_reading *r, struct graph_file *f)
{
	struct wire *w = &r->w;

	wire_enter(w);
	while (wire_next(w)) {
		if (LEAF_TAG(w->field, w->type) != LEAF_TAG(1, WIRE_BYTES)) {
			wire_skip(w);
			continue;
		}
		f->functions++;
		f->nodes += read_function(r, &f->n);
	}
	wire_leave(w);
}

/* Reads a VersionDef; it is the next value. */
static void read_version(struct pb_reading *r, struct graph_file *f)
{
	struct wire *w = &r->w;

	if (!wire_enter(w))
		return;
	while (wire_next(w))
		if (LEAF_TAG(w->field, w->type) != LEAF_TAG(1, WIRE_VARINT) ||
		        !wire_u64(w, &f->version))
			wire_skip(w);
	wire_leave(w);
}

/* Reads a GraphDef; it is the current message. */
static void read_nodes(struct pb_reading *r, struct graph_file *f, enum graph_form form)
{
	while (wire_next(&r->w)) {
		uint32_t tag = LEAF_TAG(r->w.field, r->w.type);
		if (tag == LEAF_TAG(2, WIRE_BYTES)) {
			f->libraries += form == GRAPH_PLAIN;
			read_library(r, f);
		} else if (tag == LEAF_TAG(4, WIRE_BYTES)) {
			read_version(r, f);
		} else if (tag != LEAF_TAG(1, WIRE_BYTES)) {
			wire_skip(&r->w);
		} else if (reading_leaf(r) && read_graph_node(r, &f->n)) {
			if (form != GRAPH_PLAIN)
				graph_node_default_format(&f->n);
			say_node(r->to, &f->n);
			f->taken++;
		}
	}
}

/* Stores the tags of a MetaInfoDef; it is the next value. */
static void read_tags(struct pb_reading *r, struct graph_file *f)
{
	struct wire *w = &r->w;
	struct str tag;

	wire_enter(w);
	while (wire_next(w)) {
		uint32_t field = LEAF_TAG(w->field, w->type);
		if (field == LEAF_TAG(5, WIRE_BYTES) && wire_leaf(w, &tag)) {
			f->program = str_copy(r->a, tag);
		} else if (field != LEAF_TAG(4, WIRE_BYTES)) {
			wire_skip(w);
		} else if (wire_leaf(w, &tag)) {
			sb_put(&f->tags, f->tags.n ? S(", ") : STR_NONE);
			sb_put_name(&f->tags, tag);
		}
	}
	wire_leave(w);
}

/* Stores the name of a trainable variable's tensor. The bytes are opaque to the format of the file,
 * so damaged bytes are left out. */
static void keep_trained(
        struct pb_reading *r, struct graph_file *f, struct str bytes, bool variable)
{
	struct leaf l = leaf_of(bytes);
	struct str tensor = variable ? STR_NONE : bytes;

	while (variable && leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			tensor = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	if (tensor.n && !l.bad)
		strs_add(r->a, &f->trained, str_copy(r->a, tensor));
}

/* Reads the lists of a collection; it is the current message. */
static void read_collection_lists(struct pb_reading *r, struct graph_file *f)
{
	struct wire *w = &r->w;
	struct str item;

	while (wire_next(w)) {
		uint32_t tag = LEAF_TAG(w->field, w->type);
		bool variables = tag == LEAF_TAG(2, WIRE_BYTES);
		if (!variables && tag != LEAF_TAG(1, WIRE_BYTES)) {
			wire_skip(w);
			continue;
		}
		wire_enter(w);
		while (wire_next(w)) {
			if (LEAF_TAG(w->field, w->type) != LEAF_TAG(1, WIRE_BYTES))
				wire_skip(w);
			else if (wire_leaf(w, &item))
				keep_trained(r, f, item, variables);
		}
		wire_leave(w);
	}
}

/* Reads the collection of trainable variables, if it is the next entry. */
static void read_collection(struct pb_reading *r, struct graph_file *f)
{
	struct wire *w = &r->w;
	struct str name;
	bool trainable = false;

	wire_enter(w);
	while (wire_next(w)) {
		uint32_t tag = LEAF_TAG(w->field, w->type);
		if (tag == LEAF_TAG(1, WIRE_BYTES) && wire_leaf(w, &name)) {
			trainable = str_eq(name, S("trainable_variables"));
		} else if (tag == LEAF_TAG(2, WIRE_BYTES) && trainable) {
			wire_enter(w);
			read_collection_lists(r, f);
			wire_leave(w);
		} else if (tag != LEAF_TAG(1, WIRE_BYTES)) {
			wire_skip(w);
		}
	}
	wire_leave(w);
}

/* Assigns the type of trainable variables to them. */
static void add_trained(struct pb_reading *r, const struct graph_file *f)
{
	const struct model *m = ingest_model(r->to);

	for (size_t i = 0; i < f->trained.n; i++) {
		uint32_t node = model_find(m, source_name(f->trained.v[i]));
		if (node != ID_NONE)
			ingest_add_type(r->to, node, ingest_string(r->to, S(TYPE_TRAINABLE)));
	}
}

/* Reads a MetaGraphDef; it is the current message. */
static void read_meta(struct pb_reading *r, struct graph_file *f, enum graph_form form)
{
	while (wire_next(&r->w)) {
		switch (LEAF_TAG(r->w.field, r->w.type)) {
		case LEAF_TAG(1, WIRE_BYTES): read_tags(r, f); break;
		case LEAF_TAG(2, WIRE_BYTES):
			wire_enter(&r->w);
			read_nodes(r, f, form);
			wire_leave(&r->w);
			break;
		case LEAF_TAG(4, WIRE_BYTES): read_collection(r, f); break;
		default:
			f->signatures += r->w.field == 5;
			f->assets += r->w.field == 6;
			f->unknown += r->w.field != 3 && (r->w.field < 5 || r->w.field > 7);
			wire_skip(&r->w);
		}
	}
}

/* Reads the first MetaGraphDef of a SavedModel. */
static void read_saved(struct pb_reading *r, struct graph_file *f, enum graph_form form)
{
	while (wire_next(&r->w)) {
		bool meta = LEAF_TAG(r->w.field, r->w.type) == LEAF_TAG(2, WIRE_BYTES);
		if (!meta || f->graphs++) {
			wire_skip(&r->w);
		} else {
			wire_enter(&r->w);
			read_meta(r, f, form);
			wire_leave(&r->w);
		}
	}
}

/* Adds a note about the parts of the file that are not in the model. */
static void tell_rest(struct pb_reading *r, const struct graph_file *f, enum graph_form form)
{
	struct notes *notes = ingest_notes(r->to);
	struct str name = r->w.s->name, tags = sb_str(&f->tags);

	if (f->graphs > 1)
		note_line(notes, "note: '%.*s' contains %llu graphs; the first (%.*s) is used\n",
		        STR(name), (unsigned long long)f->graphs,
		        STR(tags.n ? tags : S("without tags")));
	if (f->functions && form != GRAPH_PLAIN)
		note_line(notes,
		        "note: '%.*s' has functions, which are not shown (%llu with %llu node%s): "
		        "their float operations are those of the nodes that call them; "
		        "TensorFlow's convert_variables_to_constants_v2 makes a graph without "
		        "functions\n",
		        STR(name), (unsigned long long)f->functions, (unsigned long long)f->nodes,
		        f->nodes == 1 ? "" : "s");
}

/* Stores the version of the producer, and counts the unused parts of the file. */
static void count_rest(struct src *s, const struct graph_file *f, struct arena *a)
{
	if (f->program.n || f->version)
		src_set_producer(s,
		        str_fmt(a, "TensorFlow%s%.*s%s", f->program.n ? " " : "", STR(f->program),
		                f->version ? str_z(a, str_fmt(a, ", graph version %llu",
		                                              (unsigned long long)f->version))
		                           : ""));
	src_count_unused(s, S("further graphs"), f->graphs > 1 ? f->graphs - 1 : 0);
	src_count_unused(s, S("functions"), f->libraries ? 0 : f->functions);
	src_count_unused(s, S("libraries of functions"), f->libraries);
	src_count_unused(s, S("signatures"), f->signatures);
	src_count_unused(s, S("assets"), f->assets);
	src_count_unused(s, S("unknown fields"), f->unknown);
}

/* Reads a binary GraphDef, or the GraphDef in a MetaGraphDef or SavedModel. */
bool read_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	static const char *const names[] = { "GraphDef", "MetaGraphDef", "SavedModel" };
	struct graph_file f = { .n = { .facts = sb_in(a) }, .tags = sb_in(a) };
	enum graph_form form;
	struct pb_reading r;

	src_need(s, SNIFF_BYTES);
	form = sniff_graph_form(str_make(s->p, (size_t)(s->end - s->p)));
	reading_init(&r, s, names[form], to, a, e);
	attrs_init(&f.n.kept, a);
	switch (form) {
	case GRAPH_PLAIN: read_nodes(&r, &f, form); break;
	case GRAPH_META: read_meta(&r, &f, form); break;
	case GRAPH_SAVED: read_saved(&r, &f, form); break;
	}
	if (!wire_done(&r.w, f.taken))
		return false;
	add_trained(&r, &f);
	tell_rest(&r, &f, form);
	count_rest(s, &f, a);
	return true;
}
