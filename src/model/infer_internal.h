/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of shape inference: infer_shape.c (shapes), infer_window.c (convolutions and pooling),
 * infer_value.c (contents of small tensors of integers, such as the new shape that Reshape reads).
 */
#ifndef TFPROF_MODEL_INFER_INTERNAL_H
#define TFPROF_MODEL_INFER_INTERNAL_H

#include "base/num.h"
#include "model/infer.h"

#define INFER_INPUTS_MAX 64        /* maximum number of an operation's inputs that rules read */
#define INFER_OPEN       INT64_MIN /* an unknown element */

/* Shape of a tensor, and its elements if they are known integers. */
struct inferred {
	struct fact_shape shape;
	struct fact_list values;
};

/* An operation whose output is computed. Inputs beyond n are unknown. */
struct infer_op {
	struct str facts;
	unsigned n;
	struct inferred in[INFER_INPUTS_MAX];
	int64_t batch;
	uint32_t slot; /* slot of the output whose elements are computed */
};

typedef struct fact_shape infer_shape_rule(const struct infer_op *o);
typedef struct fact_list infer_value_rule(const struct infer_op *o);

#define RULE(names, shape, value, second)                                                          \
	infer_shape_rule shape, second;                                                            \
	infer_value_rule value;
#include "model/infer.def"

static inline const struct fact_shape *infer_in(const struct infer_op *o, unsigned i)
{
	static const struct fact_shape unknown;

	return i < o->n ? &o->in[i].shape : &unknown;
}

static inline const struct fact_list *infer_values(const struct infer_op *o, unsigned i)
{
	static const struct fact_list none;

	return i < o->n ? &o->in[i].values : &none;
}

static inline struct fact_shape infer_unknown(void)
{
	return (struct fact_shape){ .known = false };
}

/* Returns the product of the dimensions; -1 if one of them is unknown. */
int64_t infer_elements(const struct fact_shape *s, unsigned from, unsigned to);

/* Sets *axis to the dimension below rank that `given` means, which may be negative. Returns false
 * if there is none. */
bool infer_axis(int64_t given, unsigned rank, unsigned *axis);

#endif
