/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations and bytes of one call of an op, from the shapes, types and values of its inputs.
 *
 * A multiply-add counts as two operations; a bias is not counted. Bytes are a lower bound: each
 * input is read once, each output is written once. op.def lists the ops, formula.def the formulas;
 * docs/FLOPS.md explains both.
 */
#ifndef TFPROF_FLOPS_H
#define TFPROF_FLOPS_H

#include "base/num.h"
#include "base/str.h"

#define TENSOR_RANK_MAX 16
#define CALL_INPUTS_MAX 24
#define OP_PLACES_MAX   6

/* Families of ops: the kind of computation. */
enum flops_family {
#define FAMILY(id, name) FAMILY_##id,
#define FORMULA(id, family, class, count, text)
#include "flops/formula.def"
	FAMILIES
};

/* Classes of arithmetic, the lightest first. */
enum flops_class { CLASS_NONE, CLASS_VECTOR, CLASS_TRANSCENDENTAL, CLASS_MATRIX };

enum flops_formula {
#define FAMILY(id, name)
#define FORMULA(id, family, class, count, text) FORMULA_##id,
#include "flops/formula.def"
	FORMULAS
};

/* Number types for which devices have rates. */
enum number_type {
	NUMBERS_OTHER,
	NUMBERS_F64,
	NUMBERS_F32,
	NUMBERS_TF32, /* a rate of devices; the tensors have the type float32 */
	NUMBERS_F16,
	NUMBERS_BF16,
	NUMBERS_F8,
	NUMBERS_I8,
	NUMBERS_F4,
	NUMBER_TYPES
};

/* Reasons why the float operations of a call are unknown. */
enum flops_lack {
	LACK_NOTHING, /* the float operations are known */
	LACK_FORMULA, /* the table lacks the op */
	LACK_SHAPE,   /* the file has no shape of an input */
	LACK_SETTING, /* the file has no value of a setting, such as a stride */
	LACK_DATA,    /* the float operations depend on the contents of a tensor */
	LACK_SENSE,   /* the shapes contradict each other */
	LACK_RANGE,   /* the number is too large for 64 bits */
	LACK_OP,      /* the file does not connect the work with an op */
	LACKS
};

struct op_tensor {
	bool known;
	bool list;   /* true: a list of tensors, which has no dimensions but a number of elements */
	bool paired; /* true: each element contains two numbers of 4 bits */
	enum number_type type;
	unsigned rank;
	unsigned width; /* bytes of an element; 0: unknown */
	int64_t dim[TENSOR_RANK_MAX];
	int64_t elements;
	int64_t weights; /* for a list: number of elements of the tensors of rank 2 */
};

/* A row of op.def. */
struct op_row {
	const char *names;
	enum flops_formula formula;
	int place[OP_PLACES_MAX]; /* places whose meaning depends on the formula; op.def describes
	                             them */
};

/* Sums over the requests of a step, for attention over a paged cache. q: computed tokens of a
 * request; k: tokens that they attend to. */
struct paged_sums {
	int64_t q, k, qq, qk;
};

struct op_call {
	const struct op_row *row;
	struct str name;
	struct str shapes; /* in the form of the file: [[2,3],[]] */
	struct str values; /* in the form of the file: ["", "[1, 1]", "False"] */
	struct op_tensor in[CALL_INPUTS_MAX];
	unsigned n;
	struct op_tensor output;                       /* known: the output shape comes from
	                                                  elsewhere in the file */
	const struct paged_sums *prompts, *generation; /* sums over the requests of each kind, or
	                                                  NULL */
	struct sb *explain; /* receives the formula with its numbers, or NULL */
};

struct flops {
	enum flops_lack lack;
	unsigned input;        /* index of the input that lacks its shape or value */
	enum number_type type; /* type of the inputs; for a product, of its left factor */
	int64_t flops;
	int64_t recomputed;    /* part of flops that repeats a forward pass */
	int64_t read, written; /* minimum number of bytes; -1: unknown */
};

extern const char *const flops_families[FAMILIES];
extern const char *const flops_formulas[FORMULAS]; /* texts of the formulas */
extern const char *const flops_lacks[LACKS];
extern const char *const number_type_names[NUMBER_TYPES];
enum flops_family flops_family_of(enum flops_formula f);
enum flops_class flops_class_of(enum flops_formula f);

/* True if a formula reads sums over the requests of a step. */
static inline bool flops_is_paged(enum flops_formula f)
{
	return f == FORMULA_PAGED || f == FORMULA_PAGED_PART || f == FORMULA_PAGED_LATENT;
}

/* Finds the row of an op such as "aten::mm", "vllm::outplace_fused_experts", "hlo::dot",
 * "onnx::Conv" or "tensorflow::MatMul". Returns NULL if there is none. In-place forms
 * ("aten::add_") have the row of the op. Kernels that Inductor fused ("triton_poi_fused_add_mul_0")
 * share a row. */
const struct op_row *flops_find_op(struct str name);

/* Reads a call. shapes: "[[4,5],[5,6]]"; types: ["float","c10::Half"]; values: see op_call. Each
 * text may be empty. */
struct op_call flops_read_call(const struct op_row *row, struct str name, struct str shapes,
        struct str types, struct str values);

/* True for the gradient of a function of autograd, such as "FlashAttnFuncBackward". Its row counts
 * with the inputs of the function, which has the same name without the end. The inputs of the
 * gradient itself are only gradients of results. */
bool flops_reads_forward(struct str name);

/* Reads a shape such as "[4,5]". */
struct op_tensor flops_read_shape(struct str shape);

/* Counts the float operations and bytes of one call. */
struct flops flops_of_call(const struct op_call *c);

/* A list of calls is a text with one line for each call: the name of the op, the shapes, types and
 * values of the inputs, and the shape of the output, in the form that flops_read_call reads,
 * separated by tabs. Compiled ops and nodes of ONNX consist of such calls. */
struct op_call_text {
	struct str name, shapes, types, values, output;
};
void flops_put_call(struct sb *to, const struct op_call_text *call);

/* Counts a list of calls. Sets *formula to the formula of the heaviest call, or of the call that
 * lacks data; to FORMULAS if the table lacks the op of that call. explain: receives the sum with
 * its numbers; may be NULL. */
struct flops flops_of_list(struct str list, struct sb *explain, enum flops_formula *formula);

/* True if the missing value could be computed from the shape of the output. */
bool flops_needs_output(const struct op_call *c, const struct flops *f);
/* Sets the output shape of such a call to the input of the next op that fits. Returns false if none
 * fits. */
bool flops_take_output(struct op_call *c, const struct op_call *next);

#endif
