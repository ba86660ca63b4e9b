/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of a node of a GraphDef from which the shapes of its outputs can be computed: entries
 * of NodeDef's field attr, kept as bytes. Only nodes without _output_shapes have them, nodes that
 * call functions, and nodes of functions.
 */
#ifndef TFPROF_MODEL_NODE_FACTS_H
#define TFPROF_MODEL_NODE_FACTS_H

#include "io/wire.h"

#define FACTS_RANK_MAX   16
#define FACTS_VALUES_MAX 32 /* limit for elements of a constant, and of a list of integers */

struct fact_shape {
	bool known; /* true: its rank is known */
	unsigned rank;
	int64_t dim[FACTS_RANK_MAX]; /* -1: unknown */
};

/* Integers; n is 0 if there are none, or too many. */
struct fact_list {
	unsigned n;
	int64_t v[FACTS_VALUES_MAX];
};

/* Appends an attribute if a rule reads it. For a constant, appends only the first bytes. */
void facts_put(struct sb *to, struct str name, struct str value);
/* Appends the output slot that an input reads. */
void facts_put_slot(struct sb *to, uint32_t input, uint32_t slot);

/* The following functions return the default value if the node lacks the attribute. */
int64_t facts_number(struct str facts, const char *name, int64_t none);
bool facts_text_is(struct str facts, const char *name, const char *text);
struct str facts_text(struct str facts, const char *name);
struct fact_list facts_list(struct str facts, const char *name);
struct fact_shape facts_shape(struct str facts, const char *name);
uint32_t facts_slot(struct str facts, uint32_t input);
/* Returns the shape of the first output, as the file states it for a node of a function. */
struct fact_shape facts_output(struct str facts);
/* Returns the name of a function that an attribute names; i: its position in a list of functions.
 * The name is empty if there is none. */
struct str facts_function(struct str facts, const char *name, unsigned i);

/* Returns the shape of the constant, and its elements if they are integers. */
struct fact_shape facts_constant(struct str facts, struct fact_list *values);

#endif
