/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that the call stacks of a memory snapshot give about an allocation: the line of the user's
 * program, the op, and the kind of memory with the rule that decided.
 */
#ifndef TFPROF_DEVICE_MEMORY_STACKS_H
#define TFPROF_DEVICE_MEMORY_STACKS_H

#include "trace/trace.h"

/* Facts about each site of a trace (trace.sites). The arrays are indexed by site. */
struct memory_stacks {
	const struct trace *t;
	uint32_t *line;  /* event of the line, or ID_NONE */
	uint32_t *op;    /* event of the frame that names the op, or ID_NONE */
	uint32_t *rules; /* bits of the rules that match a frame */
};

void memory_stacks_make(const struct trace *t, struct memory_stacks *out, struct arena *a);

/* Facts about a frame, or about the name of an op, module or annotation. */
struct memory_frame {
	uint32_t rules;         /* bits of the rules that match it */
	bool python, installed; /* python: a Python frame; installed: a frame of an installed
	                           package */
	bool op;                /* true: a C++ frame that names an op */
};
struct memory_frame memory_frame_of(struct str frame);

/* Returns the bits of the rules that match the path or the type of an op. */
uint32_t memory_rules_of_name(struct str name);

/* True for the file of an installed package. */
bool memory_is_library(struct str file);

/* Kinds of memory. The rule is the first matching row of memory_rule.def, or one of these
 * values. */
enum {
	MEMORY_RULE_NO_STACK,
	MEMORY_RULE_BEFORE,
	MEMORY_RULE_NONE,
	MEMORY_RULE_BEFORE_EVENTS,
	MEMORY_RULE_NO_EVENT,
	MEMORY_RULE_NO_ADDRESS,
	MEMORY_RULE_RESERVED,
	MEMORY_RULE_SAME_OP,
	MEMORY_RULE_REGION_TEMP,
	MEMORY_RULE_REGION_OUTPUT,
	MEMORY_RULE_BUFFER, /* buffers of programs, in the order of trace_buffer_kind */
	MEMORY_RULE_BUFFER_END = MEMORY_RULE_BUFFER + BUFFER_KINDS,
	MEMORY_RULE_CATEGORY = MEMORY_RULE_BUFFER_END, /* the categories that the file states, in
	                                                  the order of memory_categories */
	MEMORY_RULE_CATEGORY_END = MEMORY_RULE_CATEGORY + 8,
	MEMORY_RULE_FIRST = MEMORY_RULE_CATEGORY_END
};
extern const char *const memory_rule_kinds[], *const memory_rule_texts[];
/* Returns the rule of a category that the file states. */
unsigned memory_rule_of_category(struct str category);
unsigned memory_rule(const struct memory_stacks *s, uint32_t site);
/* Returns the first rule of a set of bits, or MEMORY_RULE_NONE. */
unsigned memory_first_rule(uint32_t rules);

/* Appends "/folder/file.py:12 function" for the event of a line. Without `whole`, omits the
 * folders. */
void memory_put_line(struct sb *to, const struct trace *t, uint32_t event, bool whole);

/* Returns the text that memory_put_line appends with `whole`; in a. */
struct str memory_line_text(const struct trace *t, uint32_t event, struct arena *a);

/* Returns the name of the op that a frame belongs to, such as "aten::add"; empty if there is
 * none. */
struct str memory_op_text(const struct trace *t, uint32_t event, struct arena *a);

#endif
