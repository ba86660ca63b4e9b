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
	uint32_t slot; /* slot of the output whose elements, or whose shape, are computed */
	/* For an operation that reads from a container: shape of an element, and number of
	 * elements; -1: unknown. */
	struct fact_shape element;
	int64_t count;
};

/* An operation that writes an element to a container, or all of its elements. */
struct container_write {
	uint32_t node, input; /* input: index of the input that is written */
	bool drops_first;     /* true: the first dimension counts the elements */
	uint32_t next;        /* next write to the container, or ID_NONE */
};

/* A stack, a TensorArray or a TensorList: tensors of one shape, which operations write and read. */
struct container {
	uint32_t root;       /* node that creates it */
	uint32_t size_input; /* index of the input of root that states the number of elements, or
	                        ID_NONE */
	bool size_of_shape;  /* true: this number is the first dimension of the input */
	uint32_t writes, first, last; /* number of its writes, the first and the last of them */
};

struct containers;
/* Finds the containers of a graph, and the operations that write and read them. */
struct containers *containers_find(const struct model *m, struct arena *a);
/* Returns the container that a node reads, or NULL if the node reads none. */
const struct container *containers_read(const struct containers *x, uint32_t node);
const struct container_write *containers_write(const struct containers *x, uint32_t i);

/* Returns a shape without its first dimension. */
struct fact_shape infer_without_first(const struct fact_shape *s);

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

/* Stores a value for the string ids of words that are separated by blanks. Skips words that the
 * model does not have, and words that are stored already. */
void infer_put_words(struct imap *to, const struct model *m, const char *words, uint32_t value);

#endif
