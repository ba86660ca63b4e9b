/* SPDX-License-Identifier: Apache-2.0
 *
 * The kind of an event: what slices with equal category, name and shared arguments have in common.
 * Most events are of a few kinds, which are found by the bytes of these members:
 *
 *   key: flags, then type, size and text of category, name and each shared argument after its row
 */
#include "trace/pass/serving.h"
#include "trace/read/chrome/chrome_json.h"

#define STEP_NAME   "ProfilerStep#"
#define MODULE_NAME "nn.Module: "
#define MEMORY_NAME "[memory]"

#define KIND_KEY_MAX 2048              /* bytes; kinds with longer keys are not stored */
#define KINDS_MAX    ((size_t)4 << 20) /* maximum number of bytes of all stored keys */

/* Categories in PyTorch traces in lower case, and in tfprof's timelines. */
static const struct category_row category_rows[] = {
	{ "cpu_op", CATEGORY_OP, false, true, false },
	{ "operator", CATEGORY_OP, false, true, false },
	{ "user_annotation", CATEGORY_ANNOTATION, false, true, false },
	{ "python_function", CATEGORY_FRAME, false, true, false },
	{ "cuda_runtime", CATEGORY_CALL, false, true, false },
	{ "cuda_driver", CATEGORY_CALL, false, true, false },
	{ "runtime", CATEGORY_CALL, false, true, false },
	{ "xpu_runtime", CATEGORY_CALL, false, true, false },
	{ "mtia_runtime", CATEGORY_CALL, false, true, false },
	{ "privateuse1_runtime", CATEGORY_CALL, false, true, false },
	{ "privateuse1_driver", CATEGORY_CALL, false, true, false },
	{ "kernel", CATEGORY_KERNEL, true, true, false },
	{ "gpu_memcpy", CATEGORY_COPY, true, true, false },
	{ "memcpy", CATEGORY_COPY, true, true, false },
	{ "gpu_memset", CATEGORY_SET, true, true, false },
	{ "memset", CATEGORY_SET, true, true, false },
	{ "gpu_user_annotation", CATEGORY_ANNOTATION, true, true, false },
	{ "cuda_sync", CATEGORY_SYNC, true, true, false },
	{ "overhead", CATEGORY_OVERHEAD, false, true, false },
	{ "cuda_profiler_range", CATEGORY_OTHER, false, true, false },
	{ "cpu_instant_event", CATEGORY_OTHER, false, true, false },
	{ "trace", CATEGORY_OTHER, false, true, false },
};
static const struct category_row plain_category = { "", CATEGORY_OP, false, false, false };
static const struct category_row other_category = { "", CATEGORY_OTHER, false, false, false };

/* ---- arguments ---- */

/* Returns the JSON of a list without the blanks outside of its strings, or only the numbers of the
 * list. */
static struct str compact(struct chrome *c, struct str s, bool numbers)
{
	char *begin = sb_room(&c->text, s.n), *to = begin;
	bool in_string = false;

	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		bool bracket = ch == '[' || ch == ']';
		in_string ^= ch == '"' && (i == 0 || s.p[i - 1] != '\\');
		*to = ch;
		to += in_string || ((uint8_t)ch > ' ' && !(numbers && bracket));
	}
	c->text.n += (size_t)(to - begin);
	return str_make(begin, (size_t)(to - begin));
}

/* Writes a call stack with the outermost frame first, one frame per line. */
static struct str outermost_first(struct chrome *c, struct str s)
{
	size_t begin = c->text.n;

	while (s.n) {
		size_t cut = str_rfind_char(s, ';');
		struct str frame = cut == SIZE_MAX ? s : str_sub(s, cut + 1, s.n);
		if (c->text.n > begin)
			sb_char(&c->text, '\n');
		sb_put(&c->text, frame);
		s.n = cut == SIZE_MAX ? 0 : cut;
	}
	return str_make(c->text.p + begin, c->text.n - begin);
}

static void put_arg(struct chrome *c, const struct chrome_event *v, unsigned row)
{
	const struct argument_row *r = &argument_rows[row];
	const struct json_value *a = &v->arg[row];
	int64_t i;

	switch (r->form) {
	case FORM_NONE: break;
	case FORM_INT:
		if (chrome_number(c, a, 0, &i))
			build_arg_int(c->b, r->key, i);
		break;
	case FORM_TEXT:
	case FORM_NUMBERS:
		build_arg_text(c->b, r->key,
		        a->type == JSON_STRING ? chrome_text(c, a)
		                               : compact(c, a->text, r->form == FORM_NUMBERS));
		break;
	case FORM_STACK: {
		struct str copy = str_copy(c->a, chrome_text(c, a));
		build_arg_text(c->b, r->key, outermost_first(c, copy));
		break;
	}
	}
}

void chrome_put_args(struct chrome *c, const struct chrome_event *v, bool own)
{
	uint64_t rest = v->args & (own ? c->own_args : c->shared_args);

	for (; rest; rest &= rest - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rest);
		if (c->own || row + CHROME_OWN_ROWS < n_argument_rows)
			put_arg(c, v, row);
	}
}

static bool is_named(struct str name, const char *begins)
{
	return str_starts(name, str_of(begins));
}

/* ---- kinds ---- */

/* Returns the category with this name in tfprof's timelines. */
static enum trace_category own_category(struct str name)
{
	for (unsigned i = 0; i < CATEGORY_N; i++)
		if (str_eq(name, str_of(trace_category_names[i])))
			return (enum trace_category)i;
	return CATEGORY_OTHER;
}

static struct category_row find_category(const struct chrome *c, const struct chrome_event *v)
{
	struct str s = event_text(v, KEY_CAT);

	if (c->own)
		return (struct category_row){ .category = own_category(s), .exact = true };
	if (event_has(v, KEY_CAT) && v->key[KEY_CAT].type == JSON_STRING)
		for (size_t i = 0; i < sizeof category_rows / sizeof *category_rows; i++)
			if (str_eq_lower(s, category_rows[i].name))
				return category_rows[i];
	return c->kineto ? other_category : plain_category;
}

/* Appends a value to a key; returns the new size, or more than KIND_KEY_MAX. */
static size_t put_value(char *key, size_t n, const struct json_value *v)
{
	size_t size = v->text.n;

	if (n + 1 + sizeof size + size > KIND_KEY_MAX)
		return KIND_KEY_MAX + 1;
	key[n++] = (char)v->type;
	memcpy(key + n, &size, sizeof size);
	memcpy(key + n + sizeof size, v->text.p, size);
	return n + sizeof size + size;
}

/* Writes the key of a kind. Returns its size, or 0 if the key is too long. */
static size_t put_key(const struct chrome *c, const struct chrome_event *v, bool instant, char *key)
{
	static const struct json_value none = { JSON_NULL, true, { "", 0 } };
	uint64_t rest = v->args & c->shared_args;
	size_t n = 0;

	key[n++] = (char)(instant | c->own << 1 | c->kineto << 2);
	n = put_value(key, n, event_has(v, KEY_CAT) ? &v->key[KEY_CAT] : &none);
	n = put_value(key, n, event_has(v, KEY_NAME) ? &v->key[KEY_NAME] : &none);
	for (; rest && n < KIND_KEY_MAX; rest &= rest - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rest);
		key[n++] = (char)row;
		n = put_value(key, n, &v->arg[row]);
	}
	return n <= KIND_KEY_MAX && !rest ? n : 0;
}

struct chrome_kind *chrome_kind(struct chrome *c, const struct chrome_event *v, bool instant)
{
	char bytes[KIND_KEY_MAX];
	struct str key = str_make(bytes, put_key(c, v, instant, bytes));
	uint32_t i = key.n ? intern_find(&c->kind_keys, key) : ID_NONE;
	struct chrome_kind made = { .event = ID_NONE, .instant = instant }, *kind = &c->kind;

	if (i != ID_NONE) {
		kind = &c->kinds.v[i];
	} else {
		made.row = find_category(c, v);
		if (key.n && c->kind_bytes + key.n <= KINDS_MAX) {
			c->kind_bytes += key.n;
			intern_add(&c->kind_keys, key);
			VEC_PUSH(c->a, &c->kinds, made);
			kind = &c->kinds.v[c->kinds.n - 1];
		}
		*kind = made;
	}
	c->kineto |= kind->row.kineto;
	return kind;
}

/* Returns the category of a row, refined by the name of the event. */
static enum trace_category category_of(const struct chrome_kind *k, struct str name)
{
	const struct category_row *r = &k->row;
	struct serving_step serving;

	if (k->instant && !r->exact && str_eq(name, S(MEMORY_NAME)))
		return CATEGORY_ALLOCATION;
	if (r->device || r->exact)
		return r->category;
	if (k->instant && r->category == CATEGORY_OP)
		return CATEGORY_OTHER;
	if (r->category == CATEGORY_FRAME && is_named(name, MODULE_NAME))
		return CATEGORY_MODULE;
	if ((r->category == CATEGORY_ANNOTATION || r->category == CATEGORY_OP) &&
	        is_named(name, STEP_NAME))
		return CATEGORY_STEP;
	if (r->category == CATEGORY_ANNOTATION && serving_parse(name, &serving))
		return CATEGORY_STEP;
	return r->category;
}

/* Finds the flaws of arguments that are kept as text. */
static void check_args(struct chrome *c, const struct chrome_event *v)
{
	for (uint64_t rest = v->args & c->shared_args; rest; rest &= rest - 1) {
		const struct json_value *arg = &v->arg[__builtin_ctzll(rest)];
		if (arg->type <= JSON_ARRAY)
			json_in_check_container(&c->json, arg->text);
	}
}

/* Returns the name of a Python frame without the address of its object, which differs from object
 * to object and run to run: "<built-in method mm of type>". */
static struct str without_address(struct chrome *c, struct str s)
{
	size_t at = str_find(s, S(" object at 0x"));

	if (!is_named(s, "<built-in ") || at == SIZE_MAX || !str_ends(s, S(">")))
		return s;
	return str_fmt(c->a, "%.*s>", STR(str_sub(s, 0, at)));
}

static uint32_t make_event(
        struct chrome *c, const struct chrome_event *v, const struct chrome_kind *kind)
{
	struct str name = event_has(v, KEY_NAME) ? chrome_text(c, &v->key[KEY_NAME]) : S("");
	enum trace_category category = category_of(kind, name);
	struct serving_step serving;
	int64_t step;

	if (category == CATEGORY_FRAME)
		name = without_address(c, name);
	uint32_t id = build_string(c->b, name);

	if (category == CATEGORY_STEP && build_wants(c->b, ARG_STEP) &&
	        !serving_parse(name, &serving) && chrome_trailing_number(name, &step))
		build_arg_int(c->b, ARG_STEP, step);
	chrome_put_args(c, v, false);
	if (c->calls)
		chrome_join(c, v, false);
	return build_event(c->b, category, id);
}

uint32_t chrome_kind_event(struct chrome *c, const struct chrome_event *v, struct chrome_kind *kind)
{
	uint32_t event = kind->event;

	if (event == ID_NONE) {
		event = make_event(c, v, kind);
		check_args(c, v);
		/* not stored if each event must be examined: to count flaws, or to join the
		 * execution trace */
		if (!c->calls && !c->flaws.any && !c->json.flaws)
			kind->event = event;
	}
	return event;
}
