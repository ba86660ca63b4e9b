/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of the outputs of a GraphDef's operations that the file does not state: computed from the
 * shapes of placeholders, variables and constants, operation by operation.
 */
#ifndef TFPROF_MODEL_INFER_H
#define TFPROF_MODEL_INFER_H

#include "model/model.h"
#include "model/node_facts.h"

struct graph_shapes;

/* batch: in place of an unknown first dimension; 0: none. The result lives in a. */
struct graph_shapes *graph_shapes_find(const struct model *m, int64_t batch, struct arena *a);

/* Returns the shape of the output of a node, as the file states it, or computed. */
struct fact_shape graph_shapes_output(const struct graph_shapes *x, uint32_t node, int32_t slot);
/* Returns the shape of input i (an index into the inputs of the model) of a node. */
struct fact_shape graph_shapes_input(const struct graph_shapes *x, uint32_t node, size_t i);

/* Number of nodes whose output shape was computed. */
size_t graph_shapes_computed(const struct graph_shapes *x);

/* An operation at which shapes are lost: the shapes of its inputs are known, that of its output is
 * not. */
struct lost_shapes {
	struct str op, first; /* first: name of its first node */
	size_t nodes;
};
/* Returns the operations at which shapes are lost that nodes with state[node] == lacks need, those
 * with the most nodes first; *n: their number. Call it once. */
const struct lost_shapes *graph_shapes_lost(
        struct graph_shapes *x, const uint8_t *state, uint8_t lacks, size_t *n);

#endif
