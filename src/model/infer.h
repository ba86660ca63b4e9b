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

/* Computes the shapes of a graph. batch: replaces an unknown first dimension; 0: no replacement.
 * The result lives in a. */
struct graph_shapes *graph_shapes_find(const struct model *m, int64_t batch, struct arena *a);

/* Returns the shape of an output of a node, as the file states it or as computed. */
struct fact_shape graph_shapes_output(const struct graph_shapes *x, uint32_t node, int32_t slot);
/* Returns the shape of input i (an index into the inputs of the model) of a node. */
struct fact_shape graph_shapes_input(const struct graph_shapes *x, uint32_t node, size_t i);

/* Returns the number of nodes whose output shape was computed. */
size_t graph_shapes_computed(const struct graph_shapes *x);

/* An operation that loses shapes: the shapes of its inputs are known, the shape of its output is
 * not. */
struct lost_shapes {
	struct str op, first; /* first: name of its first node */
	size_t nodes;
};
/* Returns the operations that lose shapes needed by nodes with state[node] == lacks, sorted by
 * descending number of these nodes. Sets *n to their number. Must be called only once. */
const struct lost_shapes *graph_shapes_lost(
        struct graph_shapes *x, const uint8_t *state, uint8_t lacks, size_t *n);

#endif
