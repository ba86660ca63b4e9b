/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads PyTorch execution traces.
 */
#include "trace/read/chrome/execution_trace.h"

#include "base/sort.h"
#include "io/json_in.h"

#define SCOPE_USER  7 /* at::RecordScope::USER_SCOPE */
#define HEAD_BYTES  1024
#define PATH_LEVELS 64   /* calls at a deeper level do not make paths longer */
#define PATH_NAME   256  /* maximum number of bytes of a name in a path */
#define TENSORS_MAX 4096 /* maximum number of tensors in the inputs or outputs of a call */

/* Tensors of a call: the call reads [tensor0, output0) and writes [output0, end). */
struct et_tensors {
	uint32_t tensor0, output0, end;
};

struct et_reader {
	struct execution_trace *to;
	struct json_in j;
	struct arena *a;
	struct sb text;
	struct intern strings;
	struct et_call call; /* the current call */
	int64_t scope;
	/* JSON of the lists of inputs, then of outputs, in the window */
	struct et_list {
		struct str values, shapes, types;
	} list[2];
	VEC(int64_t) tensors;
	VEC(struct et_tensors) used; /* indexed by call, in file order */
	VEC(uint8_t) depth;          /* indexed by call */
	VEC(bool) leaf;              /* indexed by call: true if it contains no other call */
};

/* ---- members of a node ---- */

/* Reads a value of any kind, and stores its JSON. */
static bool read_json(struct et_reader *x, struct str *out)
{
	const char *from;

	if (json_in_peek(&x->j) < 0)
		return false;
	from = x->j.p;
	if (!json_in_skip(&x->j))
		return false;
	*out = str_make(from, (size_t)(x->j.p - from));
	if (*from == '[' || *from == '{')
		json_in_check_container(&x->j, *out);
	return true;
}

static bool read_int(struct et_reader *x, int64_t *out)
{
	struct str text;

	if (!read_json(x, &text))
		return false;
	json_decimal(text, 0, out);
	return true;
}

static bool read_name(struct et_reader *x)
{
	struct json_value v;

	if (json_in_peek(&x->j) != '"')
		return json_in_skip(&x->j);
	if (!json_in_value(&x->j, &v))
		return false;
	x->call.name = json_in_text(&x->j, &v, &x->text);
	return true;
}

/* Reads {"values": [...], "shapes": [...], "types": [...]}, or only the list of values. */
static bool read_list(struct et_reader *x, struct et_list *to)
{
	struct str key;

	if (json_in_peek(&x->j) != '{')
		return read_json(x, &to->values);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("values"))         ? read_json(x, &to->values)
		            : str_eq(key, S("shapes")) ? read_json(x, &to->shapes)
		            : str_eq(key, S("types"))  ? read_json(x, &to->types)
		                                       : json_in_skip(&x->j)))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

/* Reads {"name": "rf_id", "type": "uint64", "value": 2}. */
static bool read_attribute(struct et_reader *x)
{
	struct str key, name = S(""), value = S("");

	if (json_in_peek(&x->j) != '{')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!(str_eq(key, S("name"))          ? read_json(x, &name)
		            : str_eq(key, S("value")) ? read_json(x, &value)
		                                      : json_in_skip(&x->j)))
			return false;
	if (str_eq(name, S("\"rf_id\"")))
		json_decimal(value, 0, &x->call.record);
	if (str_eq(name, S("\"scope\"")))
		json_decimal(value, 0, &x->scope);
	return x->j.stop == JSON_STOP_NONE;
}

static bool read_attributes(struct et_reader *x)
{
	if (json_in_peek(&x->j) != '[')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_element(&x->j);)
		if (!read_attribute(x))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

static bool read_member(struct et_reader *x, struct str key)
{
	static const struct {
		struct str key;
		size_t at;
	} lists[] = {
		{ { "input_shapes", 12 }, offsetof(struct et_reader, list[0].shapes) },
		{ { "input_types", 11 }, offsetof(struct et_reader, list[0].types) },
		{ { "output_shapes", 13 }, offsetof(struct et_reader, list[1].shapes) },
		{ { "output_types", 12 }, offsetof(struct et_reader, list[1].types) },
	};

	if (str_eq(key, S("id")))
		return read_int(x, &x->call.id);
	if (str_eq(key, S("ctrl_deps")) || str_eq(key, S("parent")))
		return read_int(x, &x->call.around);
	if (str_eq(key, S("rf_id")))
		return read_int(x, &x->call.record);
	if (str_eq(key, S("scope")))
		return read_int(x, &x->scope);
	if (str_eq(key, S("name")))
		return read_name(x);
	if (str_eq(key, S("inputs")) || str_eq(key, S("outputs")))
		return read_list(x, &x->list[*key.p == 'o']);
	if (str_eq(key, S("attrs")))
		return read_attributes(x);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (str_eq(key, lists[i].key))
			return read_json(x, (struct str *)(void *)((char *)x + lists[i].at));
	return json_in_skip(&x->j);
}

static bool read_node(void *reader)
{
	struct et_reader *x = reader;
	struct str key;

	x->call = (struct et_call){ .id = -1, .around = -1 };
	x->scope = 0;
	x->text.n = 0;
	memset(x->list, 0, sizeof x->list);
	if (json_in_peek(&x->j) != '{')
		return json_in_skip(&x->j);
	for (json_in_enter(&x->j); json_in_member(&x->j, &key);)
		if (!read_member(x, key))
			return false;
	return x->j.stop == JSON_STOP_NONE;
}

/* ---- inputs and outputs ---- */

/* Returns the elements of a JSON list as text, without the brackets around them. */
static struct str elements(struct str list)
{
	return list.n >= 2 && *list.p == '[' ? str_sub(list, 1, list.n - 2) : S("");
}

/* Removes the next element from the text of elements. Returns false at the end. */
static bool next_element(struct str *list, struct str *element)
{
	bool in_string = false;
	int depth = 0;
	size_t i = 0;

	while (list->n && (*list->p == ',' || (uint8_t)*list->p <= ' '))
		*list = str_sub(*list, 1, SIZE_MAX);
	for (; i < list->n && (in_string || depth > 0 || list->p[i] != ','); i++) {
		char c = list->p[i];
		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string)
			depth += (c == '[') - (c == ']');
	}
	*element = str_sub(*list, 0, i);
	*list = str_sub(*list, i, SIZE_MAX);
	return element->n > 0;
}

static struct str unquoted(struct str s)
{
	return s.n >= 2 && *s.p == '"' ? str_sub(s, 1, s.n - 2) : s;
}

/* Appends JSON without blanks. */
static void put_compact(struct sb *to, struct str json)
{
	for (size_t i = 0; i < json.n; i++)
		if ((uint8_t)json.p[i] > ' ')
			sb_char(to, json.p[i]);
}

/* Reads the ids of tensors from a value: [4,5,0,6,4,"cpu"], or a list of such values. */
static void take_tensors(struct et_reader *x, struct str value, uint32_t first)
{
	struct str list = elements(value), one, id;
	int64_t n;

	while (next_element(&list, &one) && x->tensors.n - first < TENSORS_MAX) {
		bool nested = *one.p == '[';
		struct str inner = elements(one);
		id = one;
		if (nested && !next_element(&inner, &id))
			continue;
		if (json_decimal(id, 0, &n) == JSON_NUMBER_GOOD && n > 0)
			VEC_PUSH(x->a, &x->tensors, n);
		if (!nested)
			return; /* the first number of a single tensor */
	}
}

/* Appends the text of a scalar in Kineto's form. */
static void put_scalar(struct sb *to, struct str value)
{
	value = unquoted(value);
	if (str_eq(value, S("true")) || str_eq(value, S("false"))) {
		sb_put(to, *value.p == 't' ? S("True") : S("False"));
		return;
	}
	for (size_t i = 0; i < value.n; i++)
		sb_char(to, value.p[i] == '"' || value.p[i] == '\\' ? '\'' : value.p[i]);
}

/* The texts of inputs or outputs under construction. */
struct et_texts {
	struct sb shapes, dtypes, values;
};

/* Appends one input or output. */
static void put_item(struct et_reader *x, struct et_texts *to, struct str value, struct str shape,
        struct str type, uint32_t first)
{
	const char *comma = to->shapes.n > 1 ? "," : "";
	bool tensor = str_starts(type, S("Tensor"));
	bool tensors = str_starts(type, S("GenericList[Tensor"));

	sb_fmt(&to->shapes, "%s", comma);
	if ((tensor || tensors) && *shape.p == '[')
		put_compact(&to->shapes, shape);
	else
		sb_put(&to->shapes, S("[]"));
	struct str name = tensor && str_ends(type, S(")")) ? str_sub(type, 7, type.n - 8) : type;
	sb_fmt(&to->dtypes, "%s\"", comma);
	put_scalar(&to->dtypes, name);
	sb_fmt(&to->dtypes, "\"");
	sb_fmt(&to->values, "%s\"", comma);
	if (!tensor && !tensors)
		put_scalar(&to->values, value);
	sb_fmt(&to->values, "\"");
	if (tensor || tensors)
		take_tensors(x, value, first);
}

static struct str kept(struct et_reader *x, struct sb *b)
{
	sb_char(b, ']');
	return intern_str(&x->strings, intern_add(&x->strings, sb_str(b)));
}

/* Creates the texts of the inputs (0) or outputs (1) of the current call. */
static void take_list(struct et_reader *x, int which, struct et_call *to)
{
	struct et_texts t = { sb_in(x->a), sb_in(x->a), sb_in(x->a) };
	struct et_list l = x->list[which];
	uint32_t first = (uint32_t)x->tensors.n;
	struct str value, shape, type;

	l = (struct et_list){ elements(l.values), elements(l.shapes), elements(l.types) };
	sb_char(&t.shapes, '[');
	sb_char(&t.dtypes, '[');
	sb_char(&t.values, '[');
	while (next_element(&l.values, &value)) {
		if (!next_element(&l.shapes, &shape))
			shape = S("[]");
		if (!next_element(&l.types, &type))
			type = S("");
		put_item(x, &t, value, shape, unquoted(type), first);
	}
	if (which == 0) {
		to->shapes = kept(x, &t.shapes);
		to->dtypes = kept(x, &t.dtypes);
		to->values = kept(x, &t.values);
	} else {
		to->output_shapes = kept(x, &t.shapes);
	}
}

/* ---- calls ---- */

static bool is_marker(struct str name)
{
	return str_starts(name, S("[pytorch|profiler|execution_")) ||
	       str_starts(name, S("ProfilerStep#"));
}

static void take_node(void *reader)
{
	struct et_reader *x = reader;
	struct et_call made = x->call;
	struct et_tensors used = { .tensor0 = (uint32_t)x->tensors.n };

	if (made.id < 0 || !made.name.n)
		return;
	if (is_marker(made.name)) {
		x->to->markers++;
		return;
	}
	made.name = intern_str(&x->strings, intern_add(&x->strings, made.name));
	made.annotation = x->scope == SCOPE_USER;
	take_list(x, 0, &made);
	used.output0 = (uint32_t)x->tensors.n;
	take_list(x, 1, &made);
	used.end = (uint32_t)x->tensors.n;
	VEC_PUSH(x->a, &x->used, used);
	VEC_PUSH(x->to->a, &x->to->calls, made);
}

static int by_id(const void *calls, uint32_t a, uint32_t b)
{
	const struct et_call *v = calls;

	return (v[a].id > v[b].id) - (v[a].id < v[b].id);
}

/* Sorts the calls by the order in which they began. */
static void order_calls(struct et_reader *x)
{
	size_t n = x->to->calls.n;
	const uint32_t *order = sort_order(x->a, n, by_id, x->to->calls.v);
	struct et_call *calls = ARENA_ARRAY(x->a, n, struct et_call);
	struct et_tensors *used = ARENA_ARRAY(x->a, n, struct et_tensors);

	for (size_t i = 0; i < n; i++) {
		calls[i] = x->to->calls.v[order[i]];
		used[i] = x->used.v[order[i]];
	}
	if (n) {
		memcpy(x->to->calls.v, calls, n * sizeof *calls);
		memcpy(x->used.v, used, n * sizeof *used);
	}
}

/* Creates the path of a call from the path of the call around it, which must exist already. */
static void name_call(struct et_reader *x, uint32_t i, uint32_t around, struct imap *counts)
{
	struct et_call *c = &x->to->calls.v[i];
	struct str outer = around == ID_NONE ? S("") : x->to->calls.v[around].path;
	struct sb b = sb_in(x->a);
	uint32_t id, n = 0;

	if (around != ID_NONE && x->depth.v[around] >= PATH_LEVELS)
		outer = str_sub(outer, 0, str_rfind_char(outer, '/'));
	sb_put(&b, outer);
	sb_put(&b, outer.n ? S("/") : S(""));
	for (size_t k = 0; k < c->name.n && k < PATH_NAME; k++)
		sb_char(&b, c->name.p[k] == '/' ? '.' : c->name.p[k]);
	id = intern_add(&x->strings, sb_str(&b));
	imap_get(counts, id, &n);
	imap_put(counts, id, n + 1, true);
	if (n) {
		sb_fmt(&b, "#%u", n + 1);
		id = intern_add(&x->strings, sb_str(&b));
	}
	c->path = intern_str(&x->strings, id);
}

/* Finds the call that contains each call, and creates the paths. Outer calls precede inner
 * calls. */
static void nest_calls(struct et_reader *x)
{
	struct imap index, counts; /* index: key id, value call; counts: key string id of a path,
	                              value its number of calls */

	imap_init(&index, x->a);
	imap_init(&counts, x->a);
	for (uint32_t i = 0; i < x->to->calls.n; i++) {
		struct et_call *c = &x->to->calls.v[i];
		uint32_t around = ID_NONE;
		if (c->around < 0 || !imap_get(&index, (uint64_t)c->around, &around))
			around = ID_NONE;
		imap_put(&index, (uint64_t)c->id, i, false);
		uint8_t depth = around == ID_NONE ? 0 : x->depth.v[around];
		VEC_PUSH(x->a, &x->depth, (uint8_t)(depth < PATH_LEVELS ? depth + 1 : depth));
		VEC_PUSH(x->a, &x->leaf, true);
		if (around != ID_NONE)
			x->leaf.v[around] = false;
		name_call(x, i, around, &counts);
		if (c->record > 0)
			imap_put(&x->to->by_record, (uint64_t)c->record, i, false);
	}
}

/* Finds for each call the innermost calls that wrote its input tensors. */
static void find_producers(struct et_reader *x)
{
	struct execution_trace *t = x->to;
	struct imap writer; /* key: id of a tensor; value: the call that wrote it */
	uint32_t from;

	imap_init(&writer, x->a);
	for (uint32_t i = 0; i < t->calls.n; i++) {
		const struct et_tensors *u = &x->used.v[i];
		t->calls.v[i].producer0 = (uint32_t)t->producers.n;
		for (uint32_t k = u->tensor0; k < u->output0; k++)
			if (imap_get(&writer, (uint64_t)x->tensors.v[k], &from))
				VEC_PUSH(t->a, &t->producers, from);
		t->calls.v[i].n_producers = (uint32_t)t->producers.n - t->calls.v[i].producer0;
		for (uint32_t k = u->output0; k < u->end && x->leaf.v[i]; k++)
			imap_put(&writer, (uint64_t)x->tensors.v[k], i, true);
		if (i % 4096 == 4095)
			work_poll(x->a->work);
	}
}

/* ---- the file ---- */

/* Returns the version found in the first bytes, or an empty string. */
static struct str find_schema(struct src *s, struct arena *a)
{
	struct str head, key = S("\"schema\"");
	size_t at, end;

	src_need(s, HEAD_BYTES);
	head = str_sub(str_make(s->p, (size_t)(s->end - s->p)), 0, HEAD_BYTES);
	at = str_find(head, key);
	if (at == SIZE_MAX)
		return S("");
	head = str_sub(head, at + key.n, SIZE_MAX);
	at = str_find_char(head, '"');
	head = at == SIZE_MAX ? S("") : str_sub(head, at + 1, SIZE_MAX);
	end = str_find_char(head, '"');
	return end == SIZE_MAX ? S("") : str_copy(a, str_sub(head, 0, end));
}

bool execution_trace_read(struct execution_trace **out, struct src *s, struct notes *notes,
        struct arena *a, struct err *e)
{
	struct et_reader *x;
	struct scratch own;
	bool ok;

	*out = ARENA_NEW(a, struct execution_trace);
	(*out)->a = a;
	imap_init(&(*out)->by_record, a);
	scratch_open(&own, a->work);
	x = ARENA_NEW(&own.a, struct et_reader);
	x->to = *out;
	x->a = &own.a;
	x->text = sb_in(&own.a);
	intern_init(&x->strings, a);
	x->to->schema = find_schema(s, a);
	ok = json_in_open(&x->j, s) && json_in_find(&x->j, S("nodes")) &&
	     json_in_each(&x->j, read_node, take_node, x);
	if (ok) {
		json_in_finish(&x->j, "nodes", notes);
		order_calls(x);
		nest_calls(x);
		find_producers(x);
	} else if (!json_in_failed(&x->j)) {
		err_set(e, ERR_DATA_LOSS,
		        "%.*s: bad JSON (line %llu): the list \"nodes\" of an execution trace was "
		        "expected",
		        STR(s->name), (unsigned long long)json_in_line(&x->j, x->j.p));
	}
	scratch_close(&own);
	return ok;
}

const struct et_call *execution_trace_call(const struct execution_trace *x, int64_t record)
{
	uint32_t i;

	return record > 0 && imap_get(&x->by_record, (uint64_t)record, &i) ? &x->calls.v[i] : NULL;
}
