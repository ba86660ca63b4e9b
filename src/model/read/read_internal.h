/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the readers of GraphDef, OpLogProto and ProfileProto: faulty leaves reported with their
 * offset, map entries, attribute values, call stacks. Decoding follows the rules of libprotobuf:
 * the last scalar wins, a known field with another wire type is unknown, copies of a submessage are
 * merged, packed and unpacked lists are both accepted, texts are UTF-8.
 */
#ifndef TFPROF_MODEL_READ_INTERNAL_H
#define TFPROF_MODEL_READ_INTERNAL_H

#include "io/wire.h"
#include "model/read/read.h"

/* One file being read. */
struct pb_reading {
	struct wire w;
	struct ingest *to;
	struct arena *a;  /* memory of the file */
	struct str leaf;  /* being decoded; valid until the next one */
	uint64_t leaf_at; /* its offset */
	const char *why;  /* static text: the fault that read_text found */
	char *join;       /* end of the last read_join */
	size_t join_cap;
};

void reading_init(struct pb_reading *r, struct src *s, const char *what, struct ingest *to,
        struct arena *a, struct err *e);

/* Reads the value announced by wire_next as the leaf to decode. */
bool reading_leaf(struct pb_reading *r);

/* Ends decoding: true if l was valid to its end, otherwise fills *e with the place of the fault. */
bool reading_end(struct pb_reading *r, const struct leaf *l);

/* Fills *e; near is a byte of the leaf, or NULL. Returns false. */
bool reading_refuse(struct pb_reading *r, const void *near, const char *why);

/* Starts decoding bytes that are depth levels below the top of the file. */
static inline struct leaf leaf_below(struct str bytes, unsigned depth)
{
	struct leaf l = leaf_of(bytes);
	l.depth = depth;
	return l;
}

/* Returns the value of a text field; invalid UTF-8 sets bad. */
static inline struct str read_text(struct pb_reading *r, struct leaf *l)
{
	struct str s = leaf_bytes(l);

	if (!str_is_utf8(s)) {
		l->bad = true;
		l->p = (const uint8_t *)s.p; /* place of the fault */
		r->why = "a text that is not UTF-8";
	}
	return s;
}

/* Adds one more copy of a submessage; concatenated copies are their merge. */
void read_join(struct pb_reading *r, struct str *to, struct str copy);

/* Appends the values of a packed list to a column, or only validates them (to is NULL). */
struct numbers {
	int64_t *v;
	size_t n, cap;
};
void read_packed(struct pb_reading *r, struct leaf *l, struct numbers *to);

/* Reads a Tuple and appends its values to the column. */
bool read_tuple(struct pb_reading *r, struct str bytes, unsigned depth, struct numbers *to);

/* Reads an AllocationRecord: one allocation or, negative, one release. */
struct mem_item read_allocation(struct leaf *l);

/* Validates a submessage that is not kept. */
struct ProtobufCMessageDescriptor;
bool read_judge(struct pb_reading *r, const struct ProtobufCMessageDescriptor *d, struct str bytes,
        unsigned depth);

/* ---- map entries ---- */

struct map_entry {
	int64_t key;      /* of a map with numeric keys */
	struct str name;  /* of a map with text keys */
	struct str value; /* a text, or a message with its copies joined */
	int64_t number;   /* value of a map with numeric values */
};
struct entries {
	struct map_entry *v;
	size_t n, cap;
};
enum entry_form {
	ENTRY_MESSAGE = 0,
	ENTRY_TEXT = 1,   /* the value is text */
	ENTRY_NUMBER = 2, /* the value is a varint */
	ENTRY_NAMED = 4,  /* the key is text, otherwise a varint */
	ENTRY_KEY32 = 8   /* the key has 32 bits */
};
bool read_entry(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct map_entry *out);
bool read_entry_to(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct entries *to);

/* Sorts by number. The tidy function also keeps only the last of equal keys. */
void entries_sort(struct arena *a, struct entries *v);
bool entries_last(const struct entries *v,
        size_t i); /* in a sorted list: true for the last entry of its key */
void entries_tidy(struct arena *a, struct entries *v);

/* ---- attribute values ---- */

enum { ATTR_LIST = 1, ATTR_TEXT = 2, ATTR_SHAPE = 7 }; /* the decoded members of AttrValue */

struct attr_shape {
	size_t dim0, n;
	bool unknown_rank;
};
struct attr_value {
	uint32_t set; /* the member that is set, 0: none */
	struct str s;
	VEC(struct attr_shape) shapes; /* one shape, or the shapes of the list */
	struct numbers dims;
};
void attr_clear(struct attr_value *v);
bool read_attr(struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *out);
uint32_t attr_shape_id(struct ingest *to, const struct attr_value *v, size_t i);
bool attr_is_nhwc(const struct attr_value *v);

/* Attributes of one node that are kept as bytes; the last of equal keys counts. */
struct attrs {
	struct entries list;
	struct intern names; /* names of all nodes of the file */
	VEC(uint32_t) id;    /* [list.n] */
	VEC(size_t) last;    /* indexed by name: index of its last entry */
};
void attrs_init(struct attrs *v, struct arena *a);
void attrs_add(struct arena *a, struct attrs *v, const struct map_entry *e);
void attrs_say(struct ingest *to, const struct attrs *v);

/* ---- call stacks ---- */

/* Texts by id, and the distinct call stacks of a file. */
struct code_trace {
	int64_t file, function, source; /* text ids */
	int32_t line, func_start_line;
};
struct stack_text {
	struct str text;
	uint32_t string; /* string id in the model; ID_NONE until used */
};
struct stacks {
	struct arena *a;
	struct imap text_of;
	VEC(struct stack_text) texts;
	struct intern defs; /* bytes of CodeDefs */
	VEC(struct code_trace) traces;
	VEC(size_t) trace0;  /* by CodeDef, with one more element at the end */
	VEC(uint32_t) frame; /* by CodeDef: innermost frame, once requested */
	VEC(bool) framed;
};
void stacks_init(struct stacks *s, struct arena *a);
/* Adds an entry of id_to_string; the last one of an id counts. */
bool stacks_read_text(struct stacks *s, struct pb_reading *r, struct str bytes);
/* Adds a CodeDef; equal bytes get equal ids. */
bool stacks_read(
        struct stacks *s, struct pb_reading *r, struct str bytes, unsigned depth, uint32_t *id);
/* Returns the innermost frame, ID_NONE without frames. All texts must have been read. */
uint32_t stacks_frame(struct stacks *s, struct ingest *to, uint32_t id);

/* ---- ProfileNode (read_profile_node.c) ---- */

#define PROFILE_NODE_DEPTH 2 /* ProfileProto > entry of nodes > ProfileNode */

/* State for one node. Its scratch is reused from node to node. */
struct profile_node {
	struct str op, device, host, trace;
	int64_t float_ops;
	uint32_t stack; /* id */
	struct numbers shape, dims;
	struct entries inputs, slots, outputs, execs;
	VEC(struct str) types;
	struct attr_value format, other;
	struct attrs kept;
};
/* Decodes the whole node except its name, outputs by shape id; executions are sorted but not
 * decoded. */
bool read_profile_node(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct stacks *stacks);
/* Decodes only its name, and lists its executions in file order. */
bool read_profile_node_known(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct str *name);

/* ---- ExecProfile (read_exec.c) ---- */

struct exec_times {
	uint32_t device;
	enum span_kind kind;
	struct str times; /* ExecTime */
};
/* Scratch for the executions of a node in a step, and counts of skipped data. */
struct exec {
	int64_t runs, start, end;
	VEC(struct exec_times) times;
	VEC(struct str) memory;
	VEC(struct str) allocations;
	/* By device: 1 + index of its last map entry (accelerator, cpu), and serial number of the
	 * last cell with a span there. */
	VEC(size_t) last[2];
	VEC(uint64_t) seen;
	uint64_t serial;
	struct numbers tuple;
	struct entries outputs;
	VEC(uint8_t) packed;
	uint64_t short_tuples;
};
/* node ID_NONE: only validates. */
bool read_exec(struct pb_reading *r, struct exec *x, int64_t step, uint32_t node, struct str bytes);

#endif
