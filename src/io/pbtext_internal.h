/* SPDX-License-Identifier: Apache-2.0
 *
 * Between pbtext.c (fields, values, messages) and pbtoken.c (characters, tokens, literals).
 */
#ifndef TFPROF_IO_PBTEXT_INTERNAL_H
#define TFPROF_IO_PBTEXT_INTERNAL_H

#include "io/pb.h"
#include "io/wire.h"

enum pbtext_token { PBT_END, PBT_WORD, PBT_INT, PBT_FLOAT, PBT_STRING, PBT_SYMBOL };

/* An open message. */
struct pbtext_open {
	const ProtobufCMessageDescriptor *d;
	const ProtobufCFieldDescriptor *field; /* the one read last */
	uint64_t seen;                         /* by index of the field: has a value */
	size_t body;                           /* where its bytes begin in the output */
	char close;                            /* '}' or '>' */
	bool in_list;                          /* it is an element of [...] in its parent */
};

struct pbtext {
	const char *p, *end, *start;
	enum pbtext_token type; /* of the current token */
	const char *tok; /* where it begins; it ends at p (a string: p is behind its quote) */
	struct arena *a; /* holds the output, and scratch */
	struct sb out;
	struct str name;
	struct err *e;
	struct pbtext_open *top;
	struct pbtext_open stack[WIRE_DEPTH_MAX + 1];
};

/* Is the current token this character? */
static inline bool pbtext_at(const struct pbtext *r, char c)
{
	return r->type == PBT_SYMBOL && *r->tok == c;
}

/* Goes to the next token. False when the characters make none. */
bool pbtext_next(struct pbtext *r);

/* Value of the current PBT_INT: decimal, octal or hexadecimal; false above max. */
bool pbtext_integer(const struct pbtext *r, uint64_t max, uint64_t *v);

/* Value of the current PBT_INT or PBT_FLOAT, correctly rounded; false if it is not decimal. */
bool pbtext_double(struct pbtext *r, double *v);

/* Appends the bytes of the current PBT_STRING to the output and goes behind its closing quote. */
bool pbtext_literal(struct pbtext *r);

/* Says what the current token is, and what should stand there instead. */
bool pbtext_fail_here(struct pbtext *r, const char *expected);

/* Fills the error with "<name>:<line>:<column>: <sentence>" and returns false. */
bool pbtext_fail(struct pbtext *r, const char *at, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

#endif
