/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by pbtext.c (fields, messages), pbvalue.c (values) and pbtoken.c (characters, tokens,
 * literals).
 */
#ifndef TFPROF_IO_PBTEXT_INTERNAL_H
#define TFPROF_IO_PBTEXT_INTERNAL_H

#include "base/bits.h"
#include "io/pb.h"
#include "io/wire.h"

enum pbtext_token { PBT_END, PBT_WORD, PBT_INT, PBT_FLOAT, PBT_STRING, PBT_SYMBOL };

/* An open message. */
struct pbtext_open {
	const ProtobufCMessageDescriptor *d;
	const ProtobufCFieldDescriptor *field; /* the field read last */
	uint64_t seen;                         /* by index of the field: true if it has a value */
	size_t body;                           /* start of its bytes in the output */
	char close;                            /* '}' or '>' */
	bool in_list;                          /* true for an element of [...] in its parent */
};

struct pbtext {
	const char *p, *end, *start;
	enum pbtext_token type; /* of the current token */
	const char *tok; /* its start; it ends at p (for a string: p is after its opening quote) */
	struct arena *a; /* holds the output and scratch memory */
	struct sb out;
	struct str name;
	struct err *e;
	struct pbtext_open *top;
	struct pbtext_open stack[WIRE_DEPTH_MAX + 1];
};

/* True if the current token is this character. */
static inline bool pbtext_at(const struct pbtext *r, char c)
{
	return r->type == PBT_SYMBOL && *r->tok == c;
}

/* Moves to the next token. False if the characters are not a token. */
bool pbtext_next(struct pbtext *r);

/* Returns the value of the current PBT_INT: decimal, octal or hexadecimal; false above max. */
bool pbtext_integer(const struct pbtext *r, uint64_t max, uint64_t *v);

/* Returns the value of the current PBT_INT or PBT_FLOAT, correctly rounded; false if it is not
 * decimal. */
bool pbtext_double(struct pbtext *r, double *v);

/* Appends the bytes of the current PBT_STRING to the output and moves past its closing quote. */
bool pbtext_literal(struct pbtext *r);

/* Fails with the current token and the expected one. */
bool pbtext_fail_here(struct pbtext *r, const char *expected);

/* Fills the error with "<name>:<line>:<column>: <sentence>" and returns false. */
bool pbtext_fail(struct pbtext *r, const char *at, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Skips this character if it is the current token; *there is set to whether it was. */
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

/* Reads one value of a field that is not a message and writes it. *v is 0 for the default. */
bool pbtext_scalar(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v);

#endif
