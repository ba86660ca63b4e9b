/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of TensorFlow's operations as TensorFlow itself counts them: its registered
 * statistics "flops", which need all dimensions. They differ from flops.h in what they leave out.
 */
#ifndef TFPROF_FLOPS_REGISTERED_H
#define TFPROF_FLOPS_REGISTERED_H

#include "base/num.h"
#include "base/str.h"

#define REGISTERED_RANK_MAX 16

struct registered_shape {
	bool known; /* all of its dimensions */
	unsigned rank;
	int64_t dim[REGISTERED_RANK_MAX];
};

/* The data of an operation that its statistics need. */
struct registered_op {
	struct registered_shape in[2], out;
	size_t inputs;
	bool nhwc;       /* data_format */
	bool transposed; /* transpose_a */
	int64_t window;  /* product of ksize; 0: none */
	int64_t stride;  /* product of the strides over the image; 0: none */
};

enum registered_answer { REGISTERED_NONE, REGISTERED_UNKNOWN, REGISTERED_COUNTED };

/* Counts the float operations of an operation, by its name in the graph: "MatMul". REGISTERED_NONE:
 * it has no statistic. REGISTERED_UNKNOWN: a shape that the statistic reads is not known. */
enum registered_answer registered_count(struct str op, const struct registered_op *o, int64_t *out);

#endif
