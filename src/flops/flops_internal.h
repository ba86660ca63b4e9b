/* SPDX-License-Identifier: Apache-2.0
 *
 * The formulas: vector.c (for each element), matrix.c, convolution.c, attention.c, paged.c,
 * library.c, registered.c (TensorFlow's); call.c reads calls.
 */
#ifndef TFPROF_FLOPS_INTERNAL_H
#define TFPROF_FLOPS_INTERNAL_H

#include "flops/flops.h"

typedef struct flops flops_formula(const struct op_call *c);
#define FAMILY(id, name)
#define FORMULA(id, family, class, count, text) flops_formula count;
#include "flops/formula.def"

/* The numbers of a setting: "[1, 2]", "3", "True"; n is 0 if the file has none. */
struct op_setting {
	bool flag; /* true: the last of them is True or False */
	unsigned n;
	int64_t v[TENSOR_RANK_MAX];
};
struct op_setting call_setting(const struct op_call *c, int place);
/* Returns number i of a setting. A single number applies to all i. */
int64_t setting_at(const struct op_setting *s, unsigned i);
bool call_flag(const struct op_call *c, int place);
/* Returns the text of a setting. The text is empty if the file has none. */
struct str call_text(const struct op_call *c, int place);
/* Returns a call whose inputs are the tensors of a list, which is an input of c. */
struct op_call flops_read_list(const struct op_call *c, unsigned place);

/* Finds an op by its name without "aten::", or with another namespace. */
const struct op_row *flops_find_aten(struct str name);

/* Returns an input. A missing input is not known. */
const struct op_tensor *call_input(const struct op_call *c, int place);

struct flops lacking(enum flops_lack lack, int input);
/* Returns the float operations as the product of numbers, and explains the product. */
struct flops counted(const struct op_call *c, const int64_t *v, unsigned n);
#define COUNTED(c, ...)                                                                            \
	counted(c, (const int64_t[]){ __VA_ARGS__ },                                               \
	        sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
/* Adds the bytes of the inputs, and of the output: its elements (-1: unknown) times the bytes of an
 * element of input `like`. */
void add_bytes(struct flops *f, const struct op_call *c, int64_t elements, int like);

#endif
