/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything around one op, kernel, scope, type or line: what is above and below it, its kernels,
 * its lines, its steps. The numbers are those of the views scope and code.
 */
#ifndef TFPROF_VIEW_PEEK_H
#define TFPROF_VIEW_PEEK_H

#include "view/view.h"

/* Kinds of things with names. Traces have ops, modules and kernels; other profiles have nodes, the
 * scopes in their names, and op types. */
enum peek_kind {
	PEEK_OP,
	PEEK_MODULE,
	PEEK_KERNEL,
	PEEK_NODE,
	PEEK_SCOPE,
	PEEK_TYPE,
	PEEK_LINE,
	PEEK_KINDS
};
extern const char *const peek_kinds[PEEK_KINDS];

/* A name with its numbers, over the steps of the query. */
struct peek_row {
	struct str name;
	enum peek_kind kind;
	struct tally total, own;
};
struct peek_rows {
	struct intern names;
	VEC(struct peek_row) v; /* by name until they are sorted */
};

/* The numbers of the subject in a step; times are ticks of the model. */
struct peek_step {
	int64_t id;
	uint32_t worker;
	struct tally total;
	int64_t runs;
};

/* Lists around the subject. */
enum peek_list {
	PEEK_CALLERS, /* what is directly above it; total: the part of the subject below it */
	PEEK_CALLEES, /* what is directly below it, except kernels */
	PEEK_INPUTS,  /* nodes that it reads from */
	PEEK_READERS, /* nodes that read from it */
	PEEK_OPS,     /* of a line or type: the ops or nodes with it */
	PEEK_KERNEL_LIST,
	PEEK_LINES,
	PEEK_LISTS
};

struct peek {
	const struct query *scope, *code; /* code->tree is NULL without call stacks */
	struct peek_rows names;           /* all names that match, the largest first */
	struct tally all;                 /* of everything */
	/* If one name matches, or is the given text: */
	bool found;
	struct peek_row subject;
	struct peek_rows lists[PEEK_LISTS]; /* the largest first */
	VEC(struct peek_step) steps;
};

/* Finds the names that are the text, or else contain a match of it as a pattern, and looks at the
 * one if there is only one. Both queries are between view_open and view_close. of, other: the
 * numbers that order rows; other: V_NONE: only one. Fails if the pattern is malformed. Everything
 * is in the arena of the query. */
bool peek_find(const struct query *scope, const struct query *code, struct str text, enum value of,
        enum value other, struct peek *out, struct err *e);

#endif
