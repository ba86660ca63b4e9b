/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes of a graph, an ONNX model, a TensorRT engine or a ProfileProto that is loaded without a
 * trace, as calls of ops: for float operations, roofline and coverage.
 */
#ifndef TFPROF_LIB_GRAPH_CALLS_H
#define TFPROF_LIB_GRAPH_CALLS_H

#include "lib/session.h"
#include "trace/pass/ops.h"

struct graph_calls {
	struct trace_ops ops;    /* of an average step; ops.t has the devices of the nodes */
	struct trace_steps step; /* one, as long as the mean of the steps; none without times */
	size_t devices;          /* accelerators with work, or CPUs if there is none */
};

/* Counts the nodes. copies: copies get calls too, not only the sum of their time. Lives in the
 * query arena. */
struct graph_calls graph_calls_find(struct session *s, bool copies);

#endif
