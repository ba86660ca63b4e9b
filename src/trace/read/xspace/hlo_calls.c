/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts instructions of compiled programs to lists of calls (flops/flops.h), whose float
 * operations the formulas count.
 *
 *   Shape        element_type 2  dimensions 3  tuple_shapes 4
 *   Window       dimensions 1 {size 1, stride 2, padding_low 3, window_dilation 5, base_dilation 6}
 *   Convolution  kernel_input_feature 3  output_batch 9  output_feature 10  input_spatial 11
 *                output_spatial 12
 *   Dot          lhs_contracting 1
 */
#include "flops/flops.h"
#include "trace/read/xspace/xspace_internal.h"

#define GEMM_TARGET  "__cublas$"
#define CONV_TARGET  "__cudnn$conv"
#define CONTRACTING  "\"lhs_contracting_dimensions\":["
#define OPERANDS_MAX 3   /* maximum number of operands that formulas read */
#define NUMBERS_MAX  512 /* bytes of a list of numbers; a longer list has too many dimensions */
#define FUSIONS_MAX  4   /* maximum depth of nested fusions */

/* Limits for the bytes of all lists. Many fusions can share a computation, so without limits the
 * lists could take the square of the file's size. */
#define LISTS_FREE  (1 << 16)
#define LISTS_SHARE 8 /* bytes of lists per byte of the compiled programs */

#define LIST_CUT "hlo::(more)\n" /* replaces the rest of a long list; not an op */

/* ---- shapes ---- */

/* Names of element types, by number (PrimitiveType). */
static const char *const type_names[] = { [1] = "bool",
	[2] = "signed char",
	[3] = "short",
	[4] = "int",
	[5] = "long",
	[6] = "unsigned char",
	[7] = "unsigned short",
	[8] = "unsigned int",
	[9] = "unsigned long",
	[10] = "c10::Half",
	[11] = "float",
	[12] = "double",
	[15] = "c10::complex<float>",
	[16] = "c10::BFloat16",
	[18] = "c10::complex<double>",
	[19] = "c10::Float8_e5m2",
	[20] = "c10::Float8_e4m3fn",
	[23] = "c10::Float8_e4m3b11fnuz",
	[24] = "c10::Float8_e5m2fnuz",
	[25] = "c10::Float8_e4m3fnuz" };

static struct str type_name(uint64_t type)
{
	bool known = type < sizeof type_names / sizeof *type_names && type_names[type];

	return known ? str_of(type_names[type]) : S("");
}

static void put_number(struct sb *to, int64_t v)
{
	if (to->n > NUMBERS_MAX)
		return;
	sb_fmt(to, "%s%lld", to->n && to->p[to->n - 1] != '[' ? "," : "", (long long)v);
}

/* Appends the numbers of a repeated field, such as "2,3". */
static void put_numbers(struct sb *to, struct leaf *l)
{
	if ((l->tag & 7) == WIRE_VARINT) {
		put_number(to, (int64_t)leaf_varint(l));
		return;
	}
	struct leaf packed = leaf_of(leaf_bytes(l));
	while (packed.p < packed.end && !packed.bad)
		put_number(to, (int64_t)leaf_varint(&packed));
}

/* Returns the numbers in a field of a message, such as "[2,3]". */
static struct str numbers_in(struct arena *a, struct str message, uint32_t field)
{
	struct sb to = sb_in(a);
	struct leaf l = leaf_of(message);

	sb_char(&to, '[');
	while (leaf_next(&l))
		if (l.tag >> 3 == field)
			put_numbers(&to, &l);
		else
			leaf_skip(&l);
	sb_char(&to, ']');
	return sb_str(&to);
}

/* A tensor with its shape "[2,3]" and its type "float"; for a tuple, shape and type of its first
 * element. */
struct hlo_tensor {
	struct str shape, type;
};

static struct hlo_tensor tensor_of(struct arena *a, struct str shape)
{
	uint64_t type = 0;

	for (unsigned depth = 0; depth < 2; depth++) {
		struct leaf l = leaf_of(shape);
		struct str first = STR_NONE;
		while (leaf_next(&l))
			if (l.tag == LEAF_TAG(2, WIRE_VARINT))
				type = leaf_varint(&l);
			else if (l.tag == LEAF_TAG(4, WIRE_BYTES) && !first.p)
				first = leaf_bytes(&l);
			else
				leaf_skip(&l);
		if (!first.p)
			break;
		shape = first;
	}
	return (struct hlo_tensor){ numbers_in(a, shape, 3), type_name(type) };
}

/* ---- settings ---- */

/* Returns the contracted dimensions in the configuration of a library call ("1") as the values of a
 * call: ["[1]"]; empty if there are none. */
static struct str config_values(struct arena *a, struct str config)
{
	size_t at = str_find(config, S(CONTRACTING));
	struct sb to = sb_in(a);

	if (at == SIZE_MAX)
		return S("");
	config = str_sub(config, at + sizeof CONTRACTING - 1, SIZE_MAX);
	config = str_sub(config, 0, str_find_char(config, ']'));
	sb_put(&to, S("[\"["));
	for (size_t i = 0; i < config.n; i++)
		if (config.p[i] != '"' && (uint8_t)config.p[i] > ' ')
			sb_char(&to, config.p[i]);
	sb_put(&to, S("]\"]"));
	return sb_str(&to);
}

/* Returns one field of all dimensions of a window, such as "[3,3]". */
static struct str window_numbers(struct arena *a, struct str window, uint32_t field)
{
	struct sb to = sb_in(a);
	struct leaf l = leaf_of(window);

	sb_char(&to, '[');
	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(1, WIRE_BYTES)) {
			leaf_skip(&l);
			continue;
		}
		struct leaf dimension = leaf_of(leaf_bytes(&l));
		int64_t v = field == 2 ||
		            field > 4; /* the default: 1 for stride and dilation, otherwise 0 */
		while (leaf_next(&dimension))
			if (dimension.tag == LEAF_TAG(field, WIRE_VARINT))
				v = (int64_t)leaf_varint(&dimension);
			else
				leaf_skip(&dimension);
		put_number(&to, v);
	}
	sb_char(&to, ']');
	return sb_str(&to);
}

/* Returns the settings of a convolution in the order of enum inside_setting (convolution_inside.c).
 */
static struct str window_values(struct arena *a, const struct xinstruction *i)
{
	static const uint32_t fields[] = { 1, 2, 3, 5, 6 };
	struct str batch = numbers_in(a, i->convolution, 9),
	           feature = numbers_in(a, i->convolution, 10),
	           kernel = numbers_in(a, i->convolution, 3);
	struct sb to = sb_in(a);

	/* a missing number is 0 */
	sb_fmt(&to, "[\"%.*s\",\"%.*s,%.*s\",\"%.*s\",\"%.*s\"",
	        STR(kernel.n > 2 ? kernel : S("[0]")), STR(batch.n > 2 ? batch : S("[0]")),
	        STR(feature.n > 2 ? feature : S("[0]")), STR(numbers_in(a, i->convolution, 11)),
	        STR(numbers_in(a, i->convolution, 12)));
	for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
		sb_fmt(&to, ",\"%.*s\"", STR(window_numbers(a, i->window, fields[k])));
	sb_char(&to, ']');
	return sb_str(&to);
}

/* ---- calls ---- */

/* Returns the op of an instruction: its opcode. Library calls count as dot or convolution. */
static struct str op_name(const struct xinstruction *i)
{
	return str_starts(i->target, S(GEMM_TARGET))   ? S("dot")
	       : str_starts(i->target, S(CONV_TARGET)) ? S("convolution")
	                                               : i->opcode;
}

static struct str values_of(struct arena *a, const struct xinstruction *i, struct str op)
{
	struct sb to = sb_in(a);

	if (str_starts(i->target, S(GEMM_TARGET)))
		return config_values(a, i->config);
	if (str_eq(op, S("dot"))) {
		sb_fmt(&to, "[\"%.*s\"]", STR(numbers_in(a, i->dot, 1)));
		return sb_str(&to);
	}
	if (i->lengths.n) {
		sb_put(&to, S("[\"["));
		for (size_t k = 0; k < i->lengths.n; k++)
			put_number(&to, i->lengths.v[k]);
		sb_put(&to, S("]\"]"));
		return sb_str(&to);
	}
	return i->window.n || i->convolution.n ? window_values(a, i) : S("");
}

/* Exchanges an input with the result of a library call for a gradient, so that the call has the
 * form of a forward convolution. Such a call computes the image or the kernel. */
static void exchange_result(
        const struct xinstruction *i, struct hlo_tensor in[OPERANDS_MAX], struct hlo_tensor *out)
{
	bool image = str_eq(i->target, S(CONV_TARGET "BackwardInput"));
	struct hlo_tensor *computed = &in[image ? 0 : 1], result = *out;

	if (!image && !str_eq(i->target, S(CONV_TARGET "BackwardFilter")))
		return;
	*out = *computed;
	*computed = result;
}

/* Appends a call. Returns its number of bytes. */
static size_t put_call(struct xspace *x, const struct xprogram *p, const struct xinstruction *i,
        const struct op_row *row, struct str name, struct sb *to)
{
	struct op_call_text call = { .name = name };
	struct hlo_tensor in[OPERANDS_MAX], out = tensor_of(x->a, i->shape);
	struct sb shapes = sb_in(x->a), types = sb_in(x->a);
	size_t n = 0, before = to->n;
	uint32_t at;

	for (; row && n < i->operands.n && n < OPERANDS_MAX; n++) {
		bool known = imap_get(&p->of_id, (uint64_t)i->operands.v[n], &at);
		in[n] = known ? tensor_of(x->a, p->instructions.v[at].shape)
		              : (struct hlo_tensor){ S("[-1,1]"), S("") };
	}
	if (n > 1)
		exchange_result(i, in, &out);
	for (size_t k = 0; k < n; k++) {
		sb_fmt(&shapes, "%s%.*s", k ? "," : "[", STR(in[k].shape));
		sb_fmt(&types, "%s\"%.*s\"", k ? "," : "[", STR(in[k].type));
	}
	if (n) {
		sb_char(&shapes, ']');
		sb_char(&types, ']');
		call.shapes = sb_str(&shapes);
		call.types = sb_str(&types);
		call.values = values_of(x->a, i, op_name(i));
		call.output = out.shape;
	}
	flops_put_call(to, &call);
	return to->n - before;
}

static bool lists_have_room(const struct xspace *x)
{
	return x->list_bytes < num_add_u64(LISTS_FREE, LISTS_SHARE * x->hlo_bytes);
}

/* Appends the call of an instruction and, for a fusion, the calls of the instructions inside it
 * that have float operations. */
static void put_calls(struct xspace *x, const struct xprogram *p, const struct xinstruction *i,
        unsigned depth, struct sb *to)
{
	struct str name = str_fmt(x->a, "hlo::%.*s", STR(op_name(i)));
	const struct op_row *row = flops_find_op(name);
	bool none = row && row->formula == FORMULA_NONE;
	uint32_t at;

	if (!none || !depth)
		x->list_bytes += put_call(x, p, i, none ? NULL : row, name, to);
	if (!str_eq(i->opcode, S("fusion")) || depth == FUSIONS_MAX)
		return;
	for (size_t k = 0; k < i->calls.n; k++) {
		if (!imap_get(&p->computation_of, (uint64_t)i->calls.v[k], &at))
			continue;
		const struct xcomputation *c = &p->computations.v[at];
		for (size_t inner = c->first; inner < c->end && lists_have_room(x); inner++)
			put_calls(x, p, &p->instructions.v[inner], depth + 1, to);
	}
}

struct str hlo_calls(struct xspace *x, const struct xprogram *p, struct xinstruction *i)
{
	struct sb to = sb_in(x->a);

	if (!i->list.p) {
		put_calls(x, p, i, 0, &to);
		if (!lists_have_room(x))
			sb_put(&to, S(LIST_CUT));
		i->list = sb_str(&to);
	}
	return i->list;
}
