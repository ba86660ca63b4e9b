/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that the call stacks of a memory snapshot give about an allocation: the line of the user's
 * program, the op, and the kind of memory with the rule that decided.
 */
#ifndef TFPROF_DEVICE_MEMORY_STACKS_H
#define TFPROF_DEVICE_MEMORY_STACKS_H

#include "trace/trace.h"

/* Facts about each site of a trace (trace.sites). */
struct memory_stacks {
	const struct trace *t;
	uint32_t *line;  /* event of the line, or ID_NONE */
	uint32_t *op;    /* event of the frame that names the op, or ID_NONE */
	uint32_t *rules; /* bits of the rules that match a frame */
};

void memory_stacks_make(const struct trace *t, struct memory_stacks *out, struct arena *a);

/* Kinds of memory. The rule is the first row of memory_rule.def that matches. */
unsigned memory_rule(const struct memory_stacks *s, uint32_t site);
extern const char *const memory_rule_kinds[], *const memory_rule_texts[];
enum { MEMORY_RULE_NO_STACK, MEMORY_RULE_BEFORE, MEMORY_RULE_NONE, MEMORY_RULE_FIRST };

/* Appends "/folder/file.py:12 function" for the event of a line; unless whole, without folders. */
void memory_put_line(struct sb *to, const struct trace *t, uint32_t event, bool whole);

/* Returns such a whole text; in a. */
struct str memory_line_text(const struct trace *t, uint32_t event, struct arena *a);

/* Returns the name of the op that a frame belongs to, "aten::add"; empty if none. */
struct str memory_op_text(const struct trace *t, uint32_t event, struct arena *a);

#endif
