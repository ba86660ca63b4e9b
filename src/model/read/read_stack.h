/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts by id, and the distinct call stacks of a file.
 */
#ifndef TFPROF_MODEL_READ_STACK_H
#define TFPROF_MODEL_READ_STACK_H

#include "model/read/read_leaf.h"

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
	struct intern defs; /* CodeDefs as bytes */
	VEC(struct code_trace) traces;
	VEC(size_t) trace0;  /* indexed by CodeDef, with one more element at the end */
	VEC(uint32_t) frame; /* indexed by CodeDef: innermost frame, once requested */
	VEC(bool) framed;
};
void stacks_init(struct stacks *s, struct arena *a);
/* Adds an entry of id_to_string. Among entries with the same id, the last counts. */
bool stacks_read_text(struct stacks *s, struct pb_reading *r, struct str bytes);
/* Adds a CodeDef. Equal bytes get equal ids. */
bool stacks_read(
        struct stacks *s, struct pb_reading *r, struct str bytes, unsigned depth, uint32_t *id);
/* Returns the innermost frame; ID_NONE if there are no frames. All texts must have been read. */
uint32_t stacks_frame(struct stacks *s, struct ingest *to, uint32_t id);

#endif
