/* SPDX-License-Identifier: Apache-2.0
 *
 * Validates messages that are skipped, as libprotobuf does: depth, groups, wire types, lengths and
 * UTF-8.
 */
#ifndef TFPROF_IO_PB_H
#define TFPROF_IO_PB_H

#include <protobuf-c/protobuf-c.h>

#include "io/wire.h"

/* True if bytes can be a message d, `depth` levels below the top of its file. Otherwise sets *at to
 * the offset of the fault. */
bool pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth, size_t *at);

/* ---- pb: shared by its files ---- */

/* Maps a tag to its field, and a field to the wire types it accepts; everything else is an unknown
 * field. */

#define PB_FRAMES (WIRE_DEPTH_MAX + 1) /* maximum number of levels of nested messages */

/* Indexed by ProtobufCType: the wire type of a single value. */
static const uint8_t pb_wire_of[] = { WIRE_VARINT, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT,
	WIRE_VARINT, WIRE_FIXED64, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT, WIRE_FIXED64,
	WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT, WIRE_VARINT, WIRE_BYTES, WIRE_BYTES, WIRE_BYTES };
_Static_assert(PROTOBUF_C_TYPE_FLOAT == 10 && PROTOBUF_C_TYPE_STRING == 14 &&
                       PROTOBUF_C_TYPE_MESSAGE + 1 == sizeof(pb_wire_of),
        "pb_wire_of follows the order of ProtobufCType");

/* Returns the field with a number, or NULL. */
static inline const ProtobufCFieldDescriptor *pb_find(
        const ProtobufCMessageDescriptor *d, uint32_t id)
{
	const ProtobufCIntRange *r = d->field_ranges;

	for (unsigned i = 0; i < d->n_field_ranges; i++, r++) {
		uint32_t from = (uint32_t)r->start_value;
		if (id < from)
			return NULL;
		if (id - from < r[1].orig_index - r->orig_index)
			return &d->fields[r->orig_index + (id - from)];
	}
	return NULL;
}

/* True if a wire type carries values of the field, one at a time or as a packed list. */
static inline bool pb_takes(const ProtobufCFieldDescriptor *fd, uint32_t type)
{
	return type == pb_wire_of[fd->type] ||
	       (type == WIRE_BYTES && fd->label == PROTOBUF_C_LABEL_REPEATED);
}

/* ---- pbtext ----
 *
 * protobuf text format -> wire bytes, driven by protobuf-c descriptors, so that text and binary
 * files go through the same reader. Nested at most 100 deep, no recursion.
 */

/* Translates text to the wire bytes of a message d, in a. Returns false with
 * "<name>:<line>:<column>: <found token, and the expected one>" (ERR_DATA_LOSS). */
bool pbtext_encode(const ProtobufCMessageDescriptor *d, struct str text, struct str name,
        struct arena *a, struct str *out, struct err *e);

/* True if a text beginning with head can be translated. Returns false, with the sentence, if a
 * complete line of head is malformed. */
bool pbtext_begins(const ProtobufCMessageDescriptor *d, struct str head, struct str name,
        struct arena *a, struct err *e);

/* Rates the first bytes as text format: from 0 (certainly not: a NUL, invalid UTF-8, control bytes)
 * to 100. */
int pbtext_sniff(struct str head);

/* ---- internal ----
 *
 * Shared by pbtext.c (fields, messages), pbvalue.c (values) and pbtoken.c (characters, tokens,
 * literals).
 */

enum pbtext_token { PBT_END, PBT_WORD, PBT_INT, PBT_FLOAT, PBT_STRING, PBT_SYMBOL };

/* An open message. */
struct pbtext_open {
	const ProtobufCMessageDescriptor *d;
	const ProtobufCFieldDescriptor *field; /* the field read last */
	uint64_t seen; /* one bit per field of the descriptor: set if the field has a value */
	size_t body;   /* start of the message's bytes in the output */
	char close;    /* '}' or '>' */
	bool in_list;  /* true for an element of [...] in its parent */
};

struct pbtext {
	const char *p, *end, *start;
	enum pbtext_token type; /* type of the current token */
	const char *tok; /* start of the current token; it ends at p (for a string, p is after its
	                    opening quote) */
	struct arena *a; /* arena of the output and scratch memory */
	struct sb out;
	struct str name;
	struct err *e;
	struct pbtext_open *top;
	struct pbtext_open stack[WIRE_DEPTH_MAX + 1];
};

/* True if the current token is a given character. */
static inline bool pbtext_at(const struct pbtext *r, char c)
{
	return r->type == PBT_SYMBOL && *r->tok == c;
}

/* Moves to the next token. Returns false if the characters are not a token. */
bool pbtext_next(struct pbtext *r);

/* Returns the value of the current PBT_INT: decimal, octal or hexadecimal. Returns false above
 * max. */
bool pbtext_integer(const struct pbtext *r, uint64_t max, uint64_t *v);

/* Returns the value of the current PBT_INT or PBT_FLOAT, correctly rounded. Returns false if it is
 * not decimal. */
bool pbtext_double(struct pbtext *r, double *v);

/* Appends the bytes of the current PBT_STRING to the output and moves past its closing quote. */
bool pbtext_literal(struct pbtext *r);

/* Fails with the current token and the expected one. */
bool pbtext_fail_here(struct pbtext *r, const char *expected);

/* Fills the error with "<name>:<line>:<column>: <sentence>" and returns false. */
bool pbtext_fail(struct pbtext *r, const char *at, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Skips a given character if it is the current token, and sets *there to whether it was. */
static inline bool pbtext_skip(struct pbtext *r, char c, bool *there)
{
	*there = pbtext_at(r, c);
	return !*there || pbtext_next(r);
}

/* Makes room for n more bytes of output. */
static inline uint8_t *pbtext_room(struct pbtext *r, size_t n)
{
	if (r->out.cap - r->out.n >= n)
		return (uint8_t *)r->out.p + r->out.n;
	return (uint8_t *)sb_room(&r->out, n);
}

static inline void pbtext_put_varint(struct pbtext *r, uint64_t v)
{
	uint8_t *p = pbtext_room(r, VARINT_MAX);
	r->out.n += (size_t)(varint_put(p, v) - p);
}

static inline void pbtext_put_tag(
        struct pbtext *r, const ProtobufCFieldDescriptor *fd, enum wire_type type)
{
	pbtext_put_varint(r, (uint64_t)fd->id << 3 | type);
}

/* Compares a NUL-terminated name with a word of the text. */
static inline int pbtext_compare(const char *name, struct str word)
{
	int c = strncmp(name, word.p, word.n);
	return c ? c : (unsigned char)name[word.n];
}

/* Reads one value of a field that is not a message, and writes it. Sets *v to 0 for the default
 * value. */
bool pbtext_scalar(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v);

#endif
