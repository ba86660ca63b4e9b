/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON files of TensorRT's trtexec. --exportLayerInfo: the layers of an engine with the tensors
 * that they read and write, a graph. --exportProfile: the time of each layer, a step.
 *
 *   {"Layers": [{"Name": ..., "LayerType": ..., "Inputs": [{"Name": ..., "Dimensions": [...],
 *       "Format/Datatype": ...}], "Outputs": [...], "Weights": {"Count": ...}, "OutMaps": ...,
 *       "WindowSize": [...]}, ...], "Bindings": [...]}
 *   [{"count": 100}, {"name": ..., "timeMs": ..., "averageMs": ..., "percentage": ...}, ...]
 *
 * A layer of an engine without details is only its name.
 */
#include "flops/flops.h"
#include "io/json_in.h"
#include "model/read/read.h"
#include "model/sniff.h"

#define DIMENSIONS_MAX 16
#define NS_DECIMALS    6 /* decimal digits of nanoseconds in a millisecond */

/* ---- JSON ---- */

static bool fail(struct json_in *j, const char *what, struct err *e)
{
	return !json_in_failed(j) &&
	       err_set(e, ERR_DATA_LOSS, "%.*s: bad JSON (line %llu): %s was expected",
	               STR(j->s->name), (unsigned long long)json_in_line(j, j->p), what);
}

/* ---- layers ---- */

struct tensor {
	struct str name, format;
	int64_t dims[DIMENSIONS_MAX];
	size_t n_dims;
};
struct layer {
	uint32_t name, type; /* string ids of the model */
	uint32_t input0, output0;
	int64_t sums; /* result of sums_of; 0: unknown */
};
struct layers {
	struct json_in j;
	struct src *s;
	struct ingest *to;
	struct arena *a;
	struct sb text;
	struct str name, type;         /* name and type of the current layer */
	int64_t weights, maps, window; /* numbers of weights, of output channels, and of elements of
	                                  a pooling window in the current layer; 0: unknown */
	VEC(struct tensor) in, out;    /* tensors of the current layer */
	uint64_t other, far;      /* numbers of unknown fields, and of dimensions above the limit */
	VEC(struct layer) layers; /* sorted by file position, with one more element at the end */
	VEC(struct tensor) inputs, outputs;
};

static bool read_text(struct layers *x, struct str *out)
{
	struct json_value v;

	if (!json_in_scalar(&x->j, &v))
		return false;
	if (v.type > JSON_ARRAY)
		*out = str_copy(x->a, json_in_text(&x->j, &v, &x->text));
	return true;
}

static bool skip_counted(struct json_in *j, uint64_t *n)
{
	++*n;
	return json_in_skip(j);
}

static bool read_dimensions(struct layers *x, struct tensor *t)
{
	struct json_value v;

	t->n_dims = 0;
	if (json_in_peek(&x->j) != '[')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_element(&x->j);) {
		if (!json_in_value(&x->j, &v) || v.type <= JSON_ARRAY)
			return false;
		if (t->n_dims < DIMENSIONS_MAX)
			json_decimal(v.text, 0, &t->dims[t->n_dims++]);
		else
			x->far++;
	}
	return x->j.stop == JSON_STOP_NONE;
}

static bool read_tensor(struct layers *x, struct tensor *t)
{
	struct str key;

	*t = (struct tensor){ .n_dims = 0 };
	if (json_in_peek(&x->j) != '{')
		return read_text(x, &t->name);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("Name"))                    ? read_text(x, &t->name)
		            : str_eq(key, S("Dimensions"))      ? read_dimensions(x, t)
		            : str_eq(key, S("Format/Datatype")) ? read_text(x, &t->format)
		                                                : skip_counted(&x->j, &x->other)))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

static bool read_tensors(struct layers *x, bool outputs)
{
	struct tensor t;

	if (json_in_peek(&x->j) != '[')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_element(&x->j);) {
		if (!read_tensor(x, &t))
			return false;
		if (outputs)
			VEC_PUSH(x->a, &x->out, t);
		else
			VEC_PUSH(x->a, &x->in, t);
	}
	return x->j.stop == JSON_STOP_NONE;
}

/* Reads a number that is not negative. Reads 0 if the value is anything else. */
static bool read_count(struct layers *x, int64_t *to)
{
	struct json_value v;

	if (!json_in_scalar(&x->j, &v))
		return false;
	if (v.type <= JSON_ARRAY || json_decimal(v.text, 0, to) != JSON_NUMBER_GOOD || *to < 0)
		*to = 0;
	return true;
}

/* Reads {"Type": "Half", "Count": 9408}. */
static bool read_weights(struct layers *x)
{
	struct str key;

	if (json_in_peek(&x->j) != '{')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("Count")) ? read_count(x, &x->weights)
		                              : skip_counted(&x->j, &x->other)))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

static bool read_window(struct layers *x)
{
	struct tensor t = { .n_dims = 0 };

	if (!read_dimensions(x, &t))
		return false;
	x->window = t.n_dims > 0;
	for (size_t i = 0; i < t.n_dims; i++)
		x->window = t.dims[i] > 0 ? num_mul(x->window, t.dims[i]) : 0;
	return true;
}

static bool read_layer(void *layers)
{
	struct layers *x = layers;
	struct str key;

	x->name = x->type = S("");
	x->weights = x->maps = x->window = 0;
	x->in.n = x->out.n = x->text.n = 0;
	x->other = x->far = 0;
	if (json_in_peek(&x->j) != '{')
		return read_text(x, &x->name);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("Name"))               ? read_text(x, &x->name)
		            : str_eq(key, S("LayerType"))  ? read_text(x, &x->type)
		            : str_eq(key, S("Inputs"))     ? read_tensors(x, false)
		            : str_eq(key, S("Outputs"))    ? read_tensors(x, true)
		            : str_eq(key, S("Weights"))    ? read_weights(x)
		            : str_eq(key, S("OutMaps"))    ? read_count(x, &x->maps)
		            : str_eq(key, S("WindowSize")) ? read_window(x)
		                                           : skip_counted(&x->j, &x->other)))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

static int64_t elements_of(const struct tensor *t)
{
	int64_t n = t->n_dims > 0;

	for (size_t i = 0; i < t->n_dims; i++)
		n = t->dims[i] > 0 ? num_mul(n, t->dims[i]) : 0;
	return n;
}

/* True if a right factor, possibly transposed, has sums of this length and the columns of the
 * result. */
static bool is_factor(const struct tensor *right, int64_t sums, const struct tensor *out)
{
	size_t n = right->n_dims;
	int64_t columns = out->dims[out->n_dims - 1];

	return n >= 2 && ((right->dims[n - 2] == sums && right->dims[n - 1] == columns) ||
	                         (right->dims[n - 1] == sums && right->dims[n - 2] == columns));
}

/* Returns the length of the sums of a matrix product. If there is one input, the other factor
 * consists of weights, and each row of the result needs an equal part of the input. If there are
 * two inputs, the batches of the left factor must equal the batches of the result. The left factor
 * may be transposed. */
static int64_t product_sums(const struct layers *x)
{
	const struct tensor *left = x->in.v, *right = left + 1, *out = x->out.v;
	size_t n = x->out.n ? out->n_dims : 0;

	if (!x->in.n || !n || !elements_of(out))
		return 0;
	if (x->in.n == 1) {
		int64_t rows = elements_of(out) / out->dims[n - 1], all = elements_of(left);
		return all % rows ? 0 : all / rows;
	}
	if (n < 2 || left->n_dims != n)
		return 0;
	for (size_t i = 0; i + 2 < n; i++)
		if (left->dims[i] != out->dims[i])
			return 0;
	if (left->dims[n - 2] == out->dims[n - 2] && is_factor(right, left->dims[n - 1], out))
		return left->dims[n - 1];
	return left->dims[n - 1] == out->dims[n - 2] && is_factor(right, left->dims[n - 2], out)
	               ? left->dims[n - 2]
	               : 0;
}

/* Returns the number of products that are added up for each element of the result: the weights of
 * an output channel of a convolution, the length of the sums of a matrix product, or the elements
 * of a window; 0 if the file does not state it. */
static int64_t sums_of(const struct layers *x)
{
	const struct op_row *row = flops_find_op(str_fmt(x->a, "tensorrt::%.*s", STR(x->type)));
	int64_t sums = 0;

	if (row && row->formula == FORMULA_SUMS)
		sums = product_sums(x);
	else if (row && row->formula == FORMULA_SUMS_CONVOLUTION)
		sums = x->maps && x->weights % x->maps == 0 ? x->weights / x->maps : 0;
	else if (row && row->formula == FORMULA_WINDOW)
		sums = x->window;
	return sums > 0 && sums <= UINT32_MAX ? sums : 0;
}

static void take_layer(void *layers)
{
	struct layers *x = layers;
	struct layer made = { ingest_string(x->to, x->name),
		ingest_string(x->to, x->type.n ? x->type : S("layer")), (uint32_t)x->inputs.n,
		(uint32_t)x->outputs.n, sums_of(x) };

	VEC_PUSH(x->a, &x->layers, made);
	src_count_unused(x->s, S("other fields of layers and tensors"), x->other);
	src_count_unused(x->s, S("dimensions over the limit"), x->far);
	for (size_t i = 0; i < x->in.n; i++)
		VEC_PUSH(x->a, &x->inputs, x->in.v[i]);
	for (size_t i = 0; i < x->out.n; i++)
		VEC_PUSH(x->a, &x->outputs, x->out.v[i]);
}

/* Data types in formats of tensors, and TensorFlow's number of each; 0: TensorFlow has none. */
static const struct precision {
	const char *name;
	uint32_t number;
} precisions[] = { { "FP32", 1 }, { "FP16", 19 }, { "BF16", 14 }, { "INT8", 6 }, { "FP8", 25 },
	{ "FP4", 0 }, { "INT4", 0 } };

/* Returns the data type that a format names, "Row major linear FP16 format", or NULL. */
static const struct precision *precision_of(struct str format)
{
	for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
		if (str_contains(format, str_of(precisions[i].name)))
			return &precisions[i];
	return NULL;
}

static void put_layers(struct layers *x)
{
	struct imap writer; /* key: string id of a tensor; value: layer */
	size_t n = x->layers.n;

	imap_init(&writer, x->a);
	struct layer end = { ID_NONE, ID_NONE, (uint32_t)x->inputs.n, (uint32_t)x->outputs.n, 0 };
	VEC_PUSH(x->a, &x->layers, end);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = x->layers.v[i].output0; k < x->layers.v[i + 1].output0; k++)
			imap_put(&writer, ingest_string(x->to, x->outputs.v[k].name), i, true);
	for (uint32_t i = 0; i < n; i++) {
		const struct layer *l = &x->layers.v[i];
		uint32_t from;
		if (!ingest_node(x->to, l->name, l->type)) {
			src_count_unused(x->s, S("layers with a duplicate name"), 1);
			continue;
		}
		const struct precision *precision =
		        l->output0 < l[1].output0 ? precision_of(x->outputs.v[l->output0].format)
		                                  : NULL;
		ingest_flags(x->to, NODE_ONNX | NODE_LAYER |
		                            (precision ? precision->number << NODE_TYPE_SHIFT : 0));
		ingest_window(x->to, (uint32_t)l->sums, 0);
		for (uint32_t k = l->input0; k < l[1].input0; k++)
			if (imap_get(&writer, ingest_string(x->to, x->inputs.v[k].name), &from))
				ingest_input(
				        x->to, (int32_t)(k - l->input0), x->layers.v[from].name, 0);
		for (uint32_t k = l->output0; k < l[1].output0; k++)
			ingest_output(x->to, (int32_t)(k - l->output0),
			        ingest_shape(x->to, x->outputs.v[k].dims, x->outputs.v[k].n_dims));
		uint32_t node = ingest_end_node(x->to);
		if (precision)
			ingest_add_type(x->to, node, ingest_string(x->to, str_of(precision->name)));
	}
}

int sniff_tensorrt_layers(struct str head, struct str path)
{
	(void)path;
	return !str_is_binary(head) && str_contains(head, S("\"Layers\"")) &&
	                       (str_contains(head, S("\"LayerType\"")) ||
	                               str_contains(head, S("\"Bindings\"")))
	               ? 100
	               : 0;
}

bool read_tensorrt_layers(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct layers *x = ARENA_NEW(a, struct layers);

	*x = (struct layers){ .s = s, .to = to, .a = a, .text = sb_in(a) };
	if (!json_in_open(&x->j, s) || !json_in_find(&x->j, S("Layers")) ||
	        !json_in_each(&x->j, read_layer, take_layer, x))
		return fail(&x->j, "the TensorRT list \"Layers\"", e);
	if (!x->layers.n)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: no layers: a TensorRT engine with at least one was expected",
		        STR(s->name));
	json_in_finish(&x->j, "Layers", ingest_notes(to));
	put_layers(x);
	return true;
}

/* ---- times ---- */

struct times {
	struct json_in j;
	struct src *s;
	struct batch *to;
	struct sb text;
	struct str name;        /* name of the current layer */
	int64_t total, average; /* nanoseconds; -1: absent */
	int64_t count;          /* number of runs that the times add up */
	uint64_t median, other; /* numbers of median times and of unknown fields in the current
	                           layer */
	uint32_t device, stream;
	uint64_t layers;
};

static bool read_number(struct times *x, unsigned decimals, int64_t *out)
{
	struct json_value v;

	if (!json_in_scalar(&x->j, &v))
		return false;
	if (v.type > JSON_ARRAY &&
	        (json_decimal(v.text, decimals, out) != JSON_NUMBER_GOOD || *out < 0))
		*out = -1;
	return true;
}

static bool read_name(struct times *x)
{
	struct json_value v;

	if (json_in_peek(&x->j) != '"')
		return json_in_skip(&x->j);
	if (!json_in_value(&x->j, &v))
		return false;
	x->name = json_in_text(&x->j, &v, &x->text);
	return true;
}

static bool read_time(void *times)
{
	struct times *x = times;
	struct str key;

	x->name = STR_NONE;
	x->text.n = 0;
	x->total = x->average = -1;
	x->median = x->other = 0;
	if (json_in_peek(&x->j) != '{')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("count"))             ? read_number(x, 0, &x->count)
		            : str_eq(key, S("name"))      ? read_name(x)
		            : str_eq(key, S("timeMs"))    ? read_number(x, NS_DECIMALS, &x->total)
		            : str_eq(key, S("averageMs")) ? read_number(x, NS_DECIMALS, &x->average)
		            : str_eq(key, S("percentage")) ? json_in_skip(&x->j)
		            : str_eq(key, S("medianMs"))   ? skip_counted(&x->j, &x->median)
		                                           : skip_counted(&x->j, &x->other)))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

/* Adds the time of a layer for one run, which is the mean of all runs. */
static void take_time(void *times)
{
	struct times *x = times;
	struct record r = { .start = 1 };

	src_count_unused(x->s, S("median times"), x->median);
	src_count_unused(x->s, S("other fields of layers"), x->other);
	if (!x->name.p) {
		src_count_unused(
		        x->s, S("times without a layer"), x->total >= 0 || x->average >= 0);
		return;
	}
	r.length = x->average >= 0                 ? x->average
	           : x->total >= 0 && x->count > 0 ? x->total / x->count
	                                           : 0;
	r.node = batch_node(x->to, x->name);
	r.label = x->name;
	r.device = x->device;
	batch_record(
	        x->to, &(struct record){
	                       .node = r.node, .device = r.device, .start = 1, .label = r.label });
	r.device = x->stream;
	batch_record(x->to, &r);
	x->layers++;
}

int sniff_tensorrt_profile(struct str head, struct str path)
{
	(void)path;
	return !str_is_binary(head) && str_contains(head, S("\"averageMs\"")) &&
	                       str_contains(head, S("\"timeMs\""))
	               ? 100
	               : 0;
}

bool read_tensorrt_profile(struct src *s, struct batch *to, struct err *e)
{
	struct arena *a = batch_arena(to);
	struct times *x = ARENA_NEW(a, struct times);
	unsigned noted = 0;

	*x = (struct times){ .s = s, .to = to, .text = sb_in(a) };
	x->device = batch_device(to);
	batch_name_device(to, x->device, S("/job:localhost/replica:0/task:0/device:gpu:0"));
	x->stream = batch_device(to);
	batch_name_device(
	        to, x->stream, S("/job:localhost/replica:0/task:0/device:gpu:0/stream:all"));
	if (!json_in_open(&x->j, s) || !json_in_each(&x->j, read_time, take_time, x))
		return fail(&x->j, "a list of TensorRT layers", e);
	json_in_note_flaws(&x->j, &noted, batch_notes(to));
	return x->layers > 0 || err_set(e, ERR_DATA_LOSS,
	                                "%.*s: no layer with a name: a TensorRT "
	                                "profile was expected",
	                                STR(s->name));
}
