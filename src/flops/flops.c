/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of ops and formulas, and functions that all formulas share.
 */
#include <inttypes.h>

#include "flops/flops_internal.h"

const char *const flops_families[FAMILIES] = {
#define FAMILY(id, name) [FAMILY_##id] = (name),
#define FORMULA(id, family, class, count, text)
#include "flops/formula.def"
};

const char *const flops_formulas[FORMULAS] = {
#define FAMILY(id, name)
#define FORMULA(id, family, class, count, text) [FORMULA_##id] = (text),
#include "flops/formula.def"
};

static const struct {
	enum flops_family family;
	enum flops_class class;
	flops_formula *count;
} formulas[FORMULAS] = {
#define FAMILY(id, name)
#define FORMULA(id, family, class, count, text)                                                    \
	[FORMULA_##id] = { FAMILY_##family, CLASS_##class, (count) },
#include "flops/formula.def"
};

static const struct op_row rows[] = {
#define OP(names, formula, ...) { names, FORMULA_##formula, { __VA_ARGS__ } },
#include "flops/op.def"
};

static const struct op_row hlo_rows[] = {
#define OP(names, formula, ...) { names, FORMULA_##formula, { __VA_ARGS__ } },
#include "flops/op_hlo.def"
};

static const struct op_row onnx_rows[] = {
#define OP(names, formula, ...) { names, FORMULA_##formula, { __VA_ARGS__ } },
#include "flops/op_onnx.def"
};

static const struct op_row tensorrt_rows[] = {
#define OP(names, formula, ...) { names, FORMULA_##formula, { __VA_ARGS__ } },
#include "flops/op_tensorrt.def"
};

static const struct op_row tensorflow_rows[] = {
#define OP(names, formula, ...) { names, FORMULA_##formula, { __VA_ARGS__ } },
#include "flops/op_tensorflow.def"
};

static const struct op_row fused = { "triton", FORMULA_FUSED, { 0 } };
static const struct op_row flashinfer = { "flashinfer", FORMULA_PAGED_PART, { 3, 0 } };
static const struct op_row template = { "triton_tem", FORMULA_TEMPLATE, { 0 } };

const char *const flops_lacks[LACKS] = {
	[LACK_NOTHING] = "",
	[LACK_FORMULA] = "no formula",
	[LACK_SHAPE] = "no shape in the file",
	[LACK_SETTING] = "no settings in the file",
	[LACK_DATA] = "depends on the data",
	[LACK_SENSE] = "shapes contradict each other",
	[LACK_RANGE] = "too large",
	[LACK_OP] = "no op launched it",
};

const char *const number_type_names[NUMBER_TYPES] = {
	[NUMBERS_OTHER] = "",
	[NUMBERS_F64] = "float64",
	[NUMBERS_F32] = "float32",
	[NUMBERS_TF32] = "tf32",
	[NUMBERS_F16] = "float16",
	[NUMBERS_BF16] = "bfloat16",
	[NUMBERS_F8] = "float8",
	[NUMBERS_I8] = "int8",
	[NUMBERS_F4] = "float4",
};

enum flops_family flops_family_of(enum flops_formula f)
{
	return formulas[f].family;
}

enum flops_class flops_class_of(enum flops_formula f)
{
	return formulas[f].class;
}

/* ---- ops ---- */

static const struct op_row *find_in(const struct op_row *v, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_is_among(v[i].names, name))
			return &v[i];
	return NULL;
}

/* Finds the first row with a word that is part of the type of a layer. */
static const struct op_row *find_layer(struct str type)
{
	for (size_t i = 0; i < sizeof tensorrt_rows / sizeof *tensorrt_rows; i++)
		for (const char *word = tensorrt_rows[i].names; *word;) {
			size_t n = strcspn(word, " ");
			if (str_contains(type, (struct str){ word, n }))
				return &tensorrt_rows[i];
			word += n + (word[n] == ' ');
		}
	return NULL;
}

static const struct op_row *find_row(struct str name)
{
	return find_in(rows, sizeof rows / sizeof *rows, name);
}

const struct op_row *flops_find_aten(struct str name)
{
	const struct op_row *row = find_row(name);

	if (!row && name.n > 1 && name.p[name.n - 1] == '_')
		row = find_row(str_sub(name, 0, name.n - 1));
	return row;
}

/* True for functions of autograd: unlike ops of PyTorch, they have capitals. */
static bool is_function(struct str name)
{
	if (str_starts(name, S("_")))
		name = str_sub(name, 1, name.n);
	return name.n && *name.p >= 'A' && *name.p <= 'Z' && !str_contains(name, S(":"));
}

const struct op_row *flops_find_op(struct str name)
{
	if (str_starts(name, S("aten::")))
		return flops_find_aten(str_sub(name, 6, name.n));
	if (str_starts(name, S("hlo::")))
		return find_in(
		        hlo_rows, sizeof hlo_rows / sizeof *hlo_rows, str_sub(name, 5, name.n));
	if (str_starts(name, S("onnx::")))
		return find_in(
		        onnx_rows, sizeof onnx_rows / sizeof *onnx_rows, str_sub(name, 6, name.n));
	if (str_starts(name, S("tensorrt::")))
		return find_layer(str_sub(name, 10, name.n));
	if (str_starts(name, S("tensorflow::")))
		return find_in(tensorflow_rows, sizeof tensorflow_rows / sizeof *tensorflow_rows,
		        str_sub(name, 12, name.n));
	if (str_starts(name, S("triton_tem_fused_")))
		return &template;
	if (str_starts(name, S("triton_")) && str_contains(name, S("_fused_")))
		return &fused;
	if (str_starts(name, S("flashinfer::batch_")) && str_ends(name, S("_run")))
		return &flashinfer;
	return str_contains(name, S(":")) || is_function(name) ? find_row(name) : NULL;
}

bool flops_reads_forward(struct str name)
{
	return is_function(name) && str_ends(name, S("Backward")) && find_row(name);
}

/* ---- counting ---- */

struct flops lacking(enum flops_lack lack, int input)
{
	return (struct flops){
		.lack = lack, .input = input < 0 ? 0 : (unsigned)input, .read = -1, .written = -1
	};
}

struct flops counted(const struct op_call *c, const int64_t *v, unsigned n)
{
	struct flops f = { .flops = 1, .read = -1, .written = -1 };

	for (unsigned i = 0; i < n; i++) {
		f.flops = num_mul(f.flops, v[i]);
		if (c->explain)
			sb_fmt(c->explain, "%s%" PRId64, i ? " * " : "", v[i]);
	}
	return f;
}

void add_bytes(struct flops *f, const struct op_call *c, int64_t elements, int like)
{
	unsigned width = call_input(c, like)->width;

	f->read = 0;
	for (unsigned i = 0; i < c->n; i++) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && t->elements && !t->width) {
			f->read = -1;
			break;
		}
		if (t->known)
			f->read = num_add(f->read, num_mul(t->elements, t->width));
	}
	f->written = elements < 0 || !width ? -1 : num_mul(elements, width);
}

/* True for operations of TensorFlow and layers of TensorRT, whose formulas count no bytes. */
static bool is_of_graph(struct str name)
{
	return str_starts(name, S("tensorflow::")) || str_starts(name, S("tensorrt::"));
}

struct flops flops_of_call(const struct op_call *c)
{
	struct flops f = formulas[c->row->formula].count(c);

	if (!f.lack && num_stopped(f.flops))
		return lacking(LACK_RANGE, 0);
	if (!f.lack && f.read < 0 && c->output.known && is_of_graph(c->name))
		add_bytes(&f, c, c->output.elements, 0);
	for (unsigned i = 0; i < c->n && f.type == NUMBERS_OTHER; i++)
		f.type = c->in[i].type;
	return f;
}

/* ---- outputs ---- */

bool flops_needs_output(const struct op_call *c, const struct flops *f)
{
	return f->lack == LACK_SETTING && c->row->formula == FORMULA_CONVOLUTION;
}

bool flops_take_output(struct op_call *c, const struct op_call *next)
{
	const struct op_tensor *image = call_input(c, c->row->place[0]),
	                       *kernel = call_input(c, c->row->place[1]);

	for (unsigned i = 0; i < next->n; i++) {
		const struct op_tensor *t = &next->in[i];
		if (!t->known || t->rank != image->rank || t->dim[0] != image->dim[0] ||
		        t->dim[1] != kernel->dim[0])
			continue;
		c->output = *t;
		return true;
	}
	return false;
}
