/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of the nodes of a graph: of TensorFlow's operations by its own registered
 * statistics, of ONNX operators and layers of TensorRT by the formulas of flops/flops.h.
 */
#ifndef TFPROF_MODEL_GRAPH_FLOPS_H
#define TFPROF_MODEL_GRAPH_FLOPS_H

#include "flops/flops.h"
#include "model/infer.h"

/* Returns a node as a list of one call for flops_of_list, in a. */
struct str model_node_call(
        const struct model *m, const struct graph_shapes *shapes, uint32_t node, struct arena *a);

enum node_flops {
	NODE_WITHOUT_FLOPS, /* the node copies data, or is not an operation */
	NODE_COUNTED,
	NODE_LACKS_DATA,   /* data such as a shape is missing */
	NODE_REPEATS,      /* the node is a loop with an unknown number of iterations, whose nodes
	                      count once */
	NODE_LACKS_FORMULA /* TensorFlow has no statistic for the operation */
};

/* A counted node. */
struct node_count {
	struct str list;  /* its call, for flops_of_list */
	struct flops one; /* the result for one execution */
	enum flops_formula formula;
};

struct graph_flops {
	const struct model *m; /* the graph; if it calls functions, their nodes follow its own */
	uint32_t *owner;       /* indexed by node: the node of the graph that calls the function;
	                          NULL: no function is called */
	int64_t *v;            /* indexed by node; 0: none, or unknown */
	uint8_t *state;        /* indexed by node: enum node_flops */
	struct node_count *counts; /* indexed by node, for nodes with a formula; NULL: not kept */
	size_t counted, unknown;   /* numbers of nodes with a statistic or a formula */
	size_t loops;              /* number of nodes that repeat */
	size_t onnx;               /* number of ONNX operators among the counted and the unknown
	                              nodes */
	struct graph_shapes *shapes;
};
/* Counts the float operations of all nodes. batch: replaces an unknown first dimension; 0: no
 * replacement. keep: also returns the calls and what they count. The result lives in a. */
struct graph_flops model_flops(const struct model *m, int64_t batch, bool keep, struct arena *a);

/* Counts one execution of a node. The text of the call lives in a. */
struct node_count graph_flops_count(const struct graph_flops *x, uint32_t node, struct arena *a);

#endif
