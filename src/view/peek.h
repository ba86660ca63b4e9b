/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything around one op, kernel, scope, type or line: the entries above and below it, its
 * kernels, its lines, its steps. The numbers are those of the views scope and code.
 */
#ifndef TFPROF_VIEW_PEEK_H
#define TFPROF_VIEW_PEEK_H

#include "view/view.h"

/* Kinds of named entries. Traces have ops, modules and kernels; other profiles have nodes, the
 * scopes in their names, and op types. */
enum peek_kind {
	PEEK_OP,
	PEEK_MODULE,
	PEEK_KERNEL,
	PEEK_CALL,
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
	VEC(struct peek_row) v; /* sorted by name until the final sort */
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
	PEEK_CALLERS, /* entries directly above the subject; total: the part of the subject below
	                 each of them */
	PEEK_CALLEES, /* entries directly below the subject, except kernels */
	PEEK_INPUTS,  /* nodes from which the subject reads */
	PEEK_READERS, /* nodes that read from the subject */
	PEEK_OPS,     /* for a line or type: the ops or nodes that have it */
	PEEK_KERNEL_LIST,
	PEEK_LINES,
	PEEK_LISTS
};

struct peek {
	const struct query *scope, *code; /* code->tree is NULL if there are no call stacks */
	struct peek_rows names;           /* all matching names, largest first */
	uint32_t searched[PEEK_KINDS];    /* if no name matches: numbers of names */
	struct tally all;                 /* sum of all numbers */
	/* Valid if exactly one name matches, or a name is the given text. */
	bool found;
	struct peek_row subject;
	struct peek_rows lists[PEEK_LISTS]; /* largest first */
	VEC(struct peek_step) steps;
};

/* Finds the names that equal the text or, without such a name, contain a match of it as a pattern.
 * If there is only one, collects the lists around it. Both queries are between view_open and
 * view_close. of, other: the numbers that order rows; other: V_NONE if there is only one. Fails if
 * the pattern is malformed. Everything lives in the arena of the query. */
bool peek_find(const struct query *scope, const struct query *code, struct str text, enum value of,
        enum value other, struct peek *out, struct err *e);

#endif
