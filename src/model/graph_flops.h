/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of the nodes of a graph: of TensorFlow's operations by its own registered
 * statistics, of ONNX operators and layers of TensorRT by the formulas of flops/flops.h.
 */
#ifndef TFPROF_MODEL_GRAPH_FLOPS_H
#define TFPROF_MODEL_GRAPH_FLOPS_H

#include "model/infer.h"

/* Returns a node as a list of one call for flops_of_list, in a. */
struct str model_node_call(
        const struct model *m, const struct graph_shapes *shapes, uint32_t node, struct arena *a);

enum node_flops {
	NODE_WITHOUT_FLOPS, /* it copies, or it is not an operation */
	NODE_COUNTED,
	NODE_LACKS_DATA,   /* such as a shape */
	NODE_LACKS_FORMULA /* TensorFlow has no statistic for its operation */
};

struct graph_flops {
	int64_t *v;              /* by node; 0: none, or unknown */
	uint8_t *state;          /* by node: enum node_flops */
	size_t counted, unknown; /* nodes with a statistic or a formula */
	size_t onnx;             /* ONNX operators among the counted and the unknown ones */
	struct graph_shapes *shapes;
};
/* batch: in place of an unknown first dimension; 0: none. The result lives in a. */
struct graph_flops model_flops(const struct model *m, int64_t batch, struct arena *a);

#endif
