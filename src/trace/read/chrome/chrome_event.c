/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads one event as tokens: known members and arguments are kept as they are in the window, others
 * are skipped. If a string ends at a quote that should have been escaped, it is read again up to
 * the quote after which the event continues.
 */
#include "trace/read/chrome/chrome_json.h"

/* S() for static data. */
#define LITERAL(z)                                                                                 \
	{                                                                                          \
		"" z, sizeof(z) - 1                                                                \
	}
#define OTHERS(key, form, own) CARG_OTHERS, ARG_##key, form, own

const struct argument_row argument_rows[] = {
	{ LITERAL("correlation"), CARG_CORRELATION, 0, FORM_NONE, true },
	{ LITERAL("device"), CARG_DEVICE, 0, FORM_NONE, true },
	{ LITERAL("stream"), CARG_STREAM, 0, FORM_NONE, true },
	{ LITERAL("name"), CARG_NAME, 0, FORM_NONE, true },
	{ LITERAL("labels"), CARG_LABELS, 0, FORM_NONE, true },
	{ LITERAL("Record function id"), CARG_RECORD, 0, FORM_NONE, true },
	{ LITERAL("op_name"), CARG_OP_NAME, 0, FORM_NONE, true },
	{ LITERAL("provider"), CARG_PROVIDER, 0, FORM_NONE, true },
	{ LITERAL("output_size"), CARG_OUTPUT_SIZE, 0, FORM_NONE, true },
	{ LITERAL("parameter_size"), CARG_PARAMETER_SIZE, 0, FORM_NONE, true },
	{ LITERAL("activation_size"), CARG_ACTIVATION_SIZE, 0, FORM_NONE, true },
	{ LITERAL("input_type_shape"), CARG_INPUT_SHAPES, 0, FORM_NONE, true },
	{ LITERAL("output_type_shape"), CARG_OUTPUT_SHAPES, 0, FORM_NONE, true },
	{ LITERAL("node_index"), CARG_NODE_INDEX, 0, FORM_NONE, true },
	{ LITERAL("graph_index"), CARG_GRAPH_INDEX, 0, FORM_NONE, true },
	{ LITERAL("mem_in_use_peak"), CARG_PEAK, 0, FORM_NONE, true },
	{ LITERAL("External id"), OTHERS(EXTERNAL, FORM_INT, true) },
	{ LITERAL("external id"), OTHERS(EXTERNAL, FORM_INT, true) },
	{ LITERAL("bytes"), OTHERS(BYTES, FORM_INT, true) },
	{ LITERAL("Bytes"), OTHERS(BYTES, FORM_INT, true) },
	{ LITERAL("context"), OTHERS(CONTEXT, FORM_INT, false) },
	{ LITERAL("grid"), OTHERS(GRID, FORM_NUMBERS, false) },
	{ LITERAL("block"), OTHERS(BLOCK, FORM_NUMBERS, false) },
	{ LITERAL("registers per thread"), OTHERS(REGISTERS, FORM_INT, false) },
	{ LITERAL("shared memory"), OTHERS(STATIC_SHARED, FORM_INT, false) },
	{ LITERAL("registers"), OTHERS(REGISTERS, FORM_INT, false) },
	{ LITERAL("static_shared"), OTHERS(STATIC_SHARED, FORM_INT, false) },
	{ LITERAL("dynamic_shared"), OTHERS(DYNAMIC_SHARED, FORM_INT, false) },
	{ LITERAL("wait_on_stream"), OTHERS(WAIT_STREAM, FORM_INT, true) },
	{ LITERAL("wait_on_cuda_event_record_corr_id"), OTHERS(WAIT_RECORD, FORM_INT, true) },
	{ LITERAL("kernel"), OTHERS(LAUNCHED, FORM_TEXT, false) },
	{ LITERAL("graph node id"), OTHERS(GRAPH_NODE, FORM_INT, true) },
	{ LITERAL("Input Dims"), OTHERS(SHAPES, FORM_TEXT, false) },
	{ LITERAL("Input dims"), OTHERS(SHAPES, FORM_TEXT, false) },
	{ LITERAL("Input type"), OTHERS(DTYPES, FORM_TEXT, false) },
	{ LITERAL("Concrete Inputs"), OTHERS(VALUES, FORM_TEXT, false) },
	{ LITERAL("Call stack"), OTHERS(STACK, FORM_STACK, false) },
	{ LITERAL("Sequence number"), OTHERS(SEQUENCE, FORM_INT, true) },
	{ LITERAL("Fwd thread id"), OTHERS(FORWARD_THREAD, FORM_INT, true) },
	{ LITERAL("Python id"), OTHERS(PYTHON_ID, FORM_INT, true) },
	{ LITERAL("Python parent id"), OTHERS(PYTHON_PARENT, FORM_INT, true) },
	{ LITERAL("Python module id"), OTHERS(PYTHON_MODULE, FORM_INT, false) },
	{ LITERAL("Addr"), OTHERS(ADDRESS, FORM_INT, true) },
	{ LITERAL("Device Type"), OTHERS(MEMORY_KIND, FORM_INT, true) },
	{ LITERAL("Device Id"), OTHERS(DEVICE, FORM_INT, true) },
	{ LITERAL("Total Allocated"), OTHERS(ALLOCATED_TOTAL, FORM_INT, true) },
	{ LITERAL("Total Reserved"), OTHERS(RESERVED_TOTAL, FORM_INT, true) },
	{ LITERAL("Collective name"), OTHERS(COLLECTIVE, FORM_TEXT, false) },
	{ LITERAL("Process Group Name"), OTHERS(PROCESS_GROUP, FORM_TEXT, false) },
	{ LITERAL("scope"), OTHERS(SCOPE, FORM_TEXT, false) },
	{ LITERAL("short_name"), OTHERS(SHORT_NAME, FORM_TEXT, false) },
	{ LITERAL("collective"), OTHERS(COLLECTIVE, FORM_TEXT, false) },
	{ LITERAL("process_group"), OTHERS(PROCESS_GROUP, FORM_TEXT, false) },
};
const unsigned n_argument_rows = sizeof argument_rows / sizeof *argument_rows;
_Static_assert(sizeof argument_rows / sizeof *argument_rows <= CHROME_ARGS_MAX, "arg is too short");

static inline unsigned arg_slot(struct str name, unsigned slots)
{
	return ((unsigned)(uint8_t)name.p[0] * 5 + (unsigned)(uint8_t)name.p[name.n - 1] * 3 +
	               (unsigned)name.n * 7) %
	       slots;
}

void chrome_args_init(struct chrome *c)
{
	for (unsigned r = 0; r < n_argument_rows; r++) {
		unsigned i = arg_slot(argument_rows[r].name, sizeof c->arg_slots);

		while (c->arg_slots[i])
			i = (i + 1) % sizeof c->arg_slots;
		c->arg_slots[i] = (uint8_t)(r + 1);
		if (argument_rows[r].arg == CARG_OTHERS ? build_wants(c->b, argument_rows[r].key)
		        : r == CARG_RECORD              ? c->calls != NULL
		                                        : r < CARG_DIALECT || c->dialect)
			c->wanted |= (uint64_t)1 << r;
		if (argument_rows[r].arg == CARG_OTHERS)
			*(argument_rows[r].own ? &c->own_args : &c->shared_args) |=
			        c->wanted & (uint64_t)1 << r;
	}
}

static inline bool same(const char *a, const char *b, size_t n)
{
	uint64_t x, y;

	if (n < sizeof x || n > 2 * sizeof x)
		return memcmp(a, b, n) == 0;
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	if (x != y)
		return false;
	memcpy(&x, a + n - sizeof x, sizeof x);
	memcpy(&y, b + n - sizeof y, sizeof y);
	return x == y;
}

/* Returns the row of an argument's name, or n_argument_rows. */
static inline unsigned find_arg(const struct chrome *c, struct str name)
{
	unsigned i = name.n ? arg_slot(name, sizeof c->arg_slots) : 0;

	for (; name.n && c->arg_slots[i]; i = (i + 1) % sizeof c->arg_slots) {
		struct str known = argument_rows[c->arg_slots[i] - 1].name;
		if (known.n == name.n && same(known.p, name.p, name.n))
			return c->arg_slots[i] - 1u;
	}
	return n_argument_rows;
}

#define IS(z) (memcmp(key.p, z, sizeof(z) - 1) == 0)

enum chrome_key chrome_key(struct str key)
{
	switch (key.n) {
	case 2: return IS("ph") ? KEY_PH : IS("ts") ? KEY_TS : IS("id") ? KEY_ID : KEY_N;
	case 3:
		return IS("dur")   ? KEY_DUR
		       : IS("cat") ? KEY_CAT
		       : IS("pid") ? KEY_PID
		       : IS("tid") ? KEY_TID
		                   : KEY_N;
	case 4: return IS("name") ? KEY_NAME : IS("args") ? KEY_ARGS : KEY_N;
	default: return KEY_N;
	}
}

/* Returns the index of the key that was just read. */
static inline enum chrome_key key_of(struct json_in *j, struct str key)
{
	uint8_t *known = json_in_user(j);

	if (*known == 0 || *known > KEY_N + 1)
		*known = (uint8_t)(1 + chrome_key(key));
	return (enum chrome_key)(*known - 1);
}

/* Returns the row of the argument whose name was just read, or n_argument_rows if there is none. */
static inline unsigned row_of(struct chrome *c, struct str name)
{
	uint8_t *known = json_in_user(&c->json);

	if (*known <= KEY_N + 1)
		*known = (uint8_t)(KEY_N + 2 + find_arg(c, name));
	return *known - (KEY_N + 2u);
}

/* Reads a value without decoding it: a container from bracket to bracket. */
static inline bool read_value(struct json_in *j, struct json_value *v)
{
	const char *from;

	if (!json_in_value(j, v))
		return false;
	if (v->type > JSON_ARRAY)
		return true;
	from = j->p;
	if (!json_in_skip(j))
		return false;
	v->text = str_make(from, (size_t)(j->p - from));
	return true;
}

static bool read_args(struct chrome *c, struct chrome_event *v)
{
	struct json_in *j = &c->json;
	struct str name;

	v->args_at = j->p;
	if (!json_in_enter(j))
		return false;
	while (json_in_member(j, &name)) {
		unsigned row = row_of(c, name);
		uint64_t bit = (uint64_t)1 << row;

		if (row == n_argument_rows || !(c->wanted & bit)) {
			if (!json_in_skip(j))
				return false;
			continue;
		}
		if (v->args & bit)
			chrome_flaw(c, FLAW_DUPLICATE, name.p);
		v->args |= bit;
		if (!read_value(j, &v->arg[row]))
			return false;
	}
	return j->stop == JSON_STOP_NONE;
}

/* Skips blanks before a character. Returns false if a different character follows. */
static bool pass(const char **p, const char *end, char c)
{
	while (*p < end && (uint8_t) * *p <= ' ')
		++*p;
	if (*p == end || **p != c)
		return false;
	++*p;
	return true;
}

/* True if an event continues or ends after the quote at p. */
static bool goes_on(const char *p, const char *end)
{
	const char *q = p + 1, *from;

	if (pass(&q, end, '}'))
		return pass(&q, end, ',') || pass(&q, end, ']');
	if (!pass(&q, end, ',') || !pass(&q, end, '"'))
		return false;
	for (from = q; q < end && *q != '"'; q++)
		;
	return chrome_key(str_make(from, (size_t)(q - from))) != KEY_N && pass(&q, end, '"') &&
	       pass(&q, end, ':');
}

/* Extends a string that ended at an unescaped quote inside it. */
static bool repair(struct chrome *c, struct json_value *v)
{
	struct json_in *j = &c->json;
	const char *p = v->text.p + v->text.n + 1;
	const char *end = (size_t)(j->end - p) > REPAIR_MAX ? p + REPAIR_MAX : j->end;

	for (; (p = memchr(p, '"', (size_t)(end - p))); p++) {
		if (p[-1] == '\\' || !goes_on(p, j->end))
			continue;
		chrome_flaw(c, FLAW_QUOTE, v->text.p + v->text.n);
		v->text.n = (size_t)(p - v->text.p);
		v->plain = false;
		j->p = p + 1;
		j->stop = JSON_STOP_NONE;
		return true;
	}
	if (end == j->end)
		j->stop = JSON_STOP_MORE;
	return false;
}

bool chrome_event_read(struct chrome *c, struct chrome_event *v)
{
	struct json_in *j = &c->json;
	enum chrome_key k = KEY_N;
	struct str key;

	v->keys = v->args = 0;
	v->args_at = NULL;
	if (!json_in_enter(j))
		return false;
	for (;;) {
		if (!json_in_member(j, &key)) {
			if (j->stop != JSON_STOP_BAD || k >= KEY_ARGS ||
			        v->key[k].type != JSON_STRING || !repair(c, &v->key[k]))
				break;
			continue;
		}
		k = key_of(j, key);
		if (k == KEY_N) {
			if (!json_in_skip(j))
				return false;
			continue;
		}
		if (event_has(v, k))
			chrome_flaw(c, FLAW_DUPLICATE, key.p);
		v->keys |= 1u << k;
		if (k == KEY_ARGS && json_in_peek(j) == '{') {
			v->args = 0;
			if (!read_args(c, v))
				return false;
		} else if (!read_value(j, &v->key[k])) {
			return false;
		}
	}
	return j->stop == JSON_STOP_NONE;
}

/* ---- values ---- */

bool chrome_number(struct chrome *c, const struct json_value *v, unsigned decimals, int64_t *out)
{
	enum json_number how = JSON_NUMBER_NONE;

	*out = 0;
	if (v->type == JSON_NUMBER || v->type == JSON_STRING)
		how = json_decimal(v->text, decimals, out);
	if (how == JSON_NUMBER_OVERFLOW) {
		chrome_flaw(c, FLAW_OVERFLOW, v->text.p);
		*out = 0;
	}
	return how == JSON_NUMBER_GOOD;
}

bool chrome_arg_int(struct chrome *c, const struct chrome_event *v, unsigned row, int64_t *out)
{
	*out = 0;
	return event_has_arg(v, row) && chrome_number(c, &v->arg[row], 0, out);
}

bool chrome_arg_of(struct chrome *c, const struct chrome_event *v, uint32_t key, int64_t *out)
{
	*out = 0;
	for (uint64_t left = v->args >> CARG_OTHERS << CARG_OTHERS; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (argument_rows[i].key == key)
			return chrome_number(c, &v->arg[i], 0, out);
	}
	return false;
}

struct str chrome_text(struct chrome *c, const struct json_value *v)
{
	return v->type == JSON_STRING ? json_in_text(&c->json, v, &c->text) : v->text;
}

bool chrome_trailing_number(struct str s, int64_t *out)
{
	size_t i = str_stem(s);

	return i < s.n && json_decimal(str_sub(s, i, s.n), 0, out) == JSON_NUMBER_GOOD;
}
