/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine with a stack, as Python's unpickler, without anything that runs code. A list or dict is
 * open until it is stored in the container around it. The items of open containers lie in one
 * vector, the innermost last, because the pickler writes the items of a container after its
 * beginning and before it is stored:
 *
 *   stack     dict   MARK  "segments"  list   MARK  dict
 *   open      0                        1            2
 *   items     items of 0 ...           of 1 ...     of 2 ...
 *
 * The memo has 8 bytes per entry: what an open container will be is filled in when it is closed.
 */
#include "io/pickle.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/num.h"

enum form {
	FORM_NOTHING,
	FORM_UINT1,
	FORM_UINT2,
	FORM_UINT4,
	FORM_UINT8,
	FORM_INT4,
	FORM_REAL8,
	FORM_BYTES1, /* bytes after their number, which has this many bytes */
	FORM_BYTES4,
	FORM_BYTES8,
	FORM_LINE,
	FORM_LINES /* two lines */
};

enum action {
	ACTION_UNKNOWN,
	ACTION_APPEND,
	ACTION_APPENDS,
	ACTION_BYTES,
	ACTION_CODE,
	ACTION_EMPTY_DICT,
	ACTION_EMPTY_LIST,
	ACTION_FALSE,
	ACTION_FRAME,
	ACTION_GET,
	ACTION_GET_LINE,
	ACTION_INT,
	ACTION_INT_LINE,
	ACTION_LONG,
	ACTION_MARK,
	ACTION_MARKED_DICT,
	ACTION_MARKED_LIST,
	ACTION_MEMOIZE,
	ACTION_NONE,
	ACTION_ODD,
	ACTION_PROTO,
	ACTION_PUT,
	ACTION_PUT_LINE,
	ACTION_REAL,
	ACTION_REAL_LINE,
	ACTION_SETITEM,
	ACTION_SETITEMS,
	ACTION_STOP,
	ACTION_TEXT,
	ACTION_TEXT_LINE,
	ACTION_TRUE,
	ACTION_TUPLE,
	ACTION_TUPLE0,
	ACTION_TUPLE1,
	ACTION_TUPLE2,
	ACTION_TUPLE3
};

static const struct opcode {
	const char *name;
	uint8_t form, action;
} opcodes[256] = {
#define OPCODE(code, name, form, action) [code] = { name, FORM_##form, ACTION_##action },
#include "io/pickle_opcode.def"
#undef OPCODE
};

#define PICKLE_PROTOCOL_MAX 5
#define LINE_MAX_BYTES      PICKLE_TEXT_MAX
#define MEMO_NONE           UINT64_MAX
#define TYPE_OPEN           (PICKLE_DICT + 1) /* type on the stack; id is an index in open */
#define TYPE_EMPTY          UINT8_MAX         /* an entry of the memo that was not written */
#define MEMO_EMPTY          0                 /* memo_pack never returns it */

/* The argument of an opcode. */
struct argument_of {
	uint64_t n;
	struct str text;
};

struct open_container {
	enum pickle_type type;
	size_t at;    /* index on the stack */
	size_t item0; /* index in items */
	uint64_t number;
	uint64_t memo; /* its entry in the memo, or MEMO_NONE */
};

struct mark {
	size_t height; /* height of the stack */
	size_t open;   /* number of open containers */
};

struct pickle {
	struct src *s;
	const struct pickle_caller *caller;
	struct arena *a;
	uint64_t at; /* offset of the opcode */
	const struct opcode *op;
	VEC(struct pickle_value) stack;
	VEC(struct mark) marks;
	VEC(struct open_container) open;
	struct pickle_items items;
	VEC(uint64_t) memo;
	uint64_t memoized; /* number of MEMOIZE and PUT opcodes */
	uint64_t opened;   /* number of lists and dicts that were opened */
	struct sb text;
	bool ended; /* true: the file ended early */
	bool done;
};

/* ---- errors ---- */

static bool fail(struct pickle *x, const char *why)
{
	return err_set(err_at(x->s->e, x->s->name, x->at), ERR_DATA_LOSS,
	        "%.*s: bad pickle (byte %" PRIu64 ", opcode %s): %s", STR(x->s->name), x->at,
	        x->op->name ? x->op->name : "unknown", why);
}

/* Refuses an opcode that would run code. what: the name that it would import, if any. */
static bool refuse(struct pickle *x, struct str what)
{
	struct sb b = sb_in(x->a);

	if (what.n) {
		sb_put(&b, S(" of "));
		sb_put_name(&b, what);
	}
	return err_set(err_at(x->s->e, x->s->name, x->at), ERR_DATA_LOSS,
	        "%.*s: refused: the pickle would run code (byte %" PRIu64 ", opcode %s%.*s): "
	        "lists, dicts, texts and numbers were expected",
	        STR(x->s->name), x->at, x->op->name, STR(sb_str(&b)));
}

/* Fills *e for a file that ends early, and records this. */
static bool fail_end(struct pickle *x)
{
	if (src_failed(x->s))
		return false;
	x->ended = true;
	x->s->damage->at = x->at;
	uint64_t end = src_at(x->s) + (uint64_t)(x->s->end - x->s->p);
	return err_set(err_at(x->s->e, x->s->name, end), ERR_DATA_LOSS,
	        "%.*s: truncated at byte %" PRIu64 ": the rest of a pickle was expected",
	        STR(x->s->name), end);
}

/* ---- arguments ---- */

/* Returns the next n bytes, or NULL at the end. */
static const uint8_t *take(struct pickle *x, size_t n)
{
	struct src *s = x->s;
	const uint8_t *p;

	if ((size_t)(s->end - s->p) < n && !src_need(s, n)) {
		fail_end(x);
		return NULL;
	}
	p = s->p;
	s->p += n;
	return p;
}

/* Reads a line without its end. */
static bool take_line(struct pickle *x, struct str *out)
{
	for (size_t have = 0, n = 1; n <= LINE_MAX_BYTES; n = have + 1) {
		if (!src_need(x->s, n))
			return fail_end(x);
		size_t all = (size_t)(x->s->end - x->s->p);
		const uint8_t *end = memchr(x->s->p + have, '\n', all - have);
		if (end) {
			*out = str_make(x->s->p, (size_t)(end - x->s->p));
			x->s->p = end + 1;
			return true;
		}
		have = all;
	}
	return fail(x, "a line of more than 1 MiB");
}

/* Reads two lines as "first.second". */
static bool take_lines(struct pickle *x, struct str *out)
{
	struct str line = STR_NONE;

	x->text.n = 0;
	if (!take_line(x, &line))
		return false;
	sb_put(&x->text, line);
	sb_char(&x->text, '.');
	if (!take_line(x, &line))
		return false;
	sb_put(&x->text, line);
	*out = sb_str(&x->text);
	return true;
}

/* Reads bytes after their count, which has `bytes` bytes. Skips data, without a limit. */
static bool take_bytes(struct pickle *x, size_t bytes, struct argument_of *out)
{
	const uint8_t *p = take(x, bytes);

	if (!p)
		return false;
	out->n = bytes == 1 ? *p : bytes == 4 ? le32_get(p) : le64_get(p);
	if (x->op->action == ACTION_BYTES)
		return src_skip(x->s, out->n) || fail_end(x);
	if (out->n > PICKLE_TEXT_MAX)
		return fail(x, "a text or number of more than 1 MiB");
	if (!(p = take(x, (size_t)out->n)))
		return false;
	out->text = str_make(p, (size_t)out->n);
	return true;
}

static bool take_argument(struct pickle *x, struct argument_of *out)
{
	static const uint8_t sizes[] = { [FORM_UINT1] = 1,
		[FORM_UINT2] = 2,
		[FORM_UINT4] = 4,
		[FORM_INT4] = 4,
		[FORM_UINT8] = 8,
		[FORM_REAL8] = 8 };
	const uint8_t *p = NULL;

	switch ((enum form)x->op->form) {
	case FORM_NOTHING: return true;
	case FORM_LINE: return take_line(x, &out->text);
	case FORM_LINES: return take_lines(x, &out->text);
	case FORM_BYTES1: return take_bytes(x, 1, out);
	case FORM_BYTES4: return take_bytes(x, 4, out);
	case FORM_BYTES8: return take_bytes(x, 8, out);
	default: p = take(x, sizes[x->op->form]);
	}
	if (!p)
		return false;
	for (unsigned i = sizes[x->op->form]; i-- > 0;)
		out->n = out->n << 8 | p[i];
	if (x->op->form == FORM_INT4)
		out->n = (uint64_t)(int32_t)(uint32_t)out->n;
	return true;
}

/* ---- values ---- */

static bool push(struct pickle *x, struct pickle_value v)
{
	if (x->stack.n == PICKLE_STACK_MAX)
		return fail(x, "more than 1048576 values that are not stored");
	VEC_PUSH(x->a, &x->stack, v);
	return true;
}

static bool push_int(struct pickle *x, enum pickle_type type, int64_t i)
{
	return push(x, (struct pickle_value){ .type = (uint8_t)type, .n = 1, .i = i });
}

static bool push_real(struct pickle *x, double real)
{
	return push(x, (struct pickle_value){ .type = PICKLE_REAL, .n = 1, .real = real });
}

static bool push_text(struct pickle *x, struct str text)
{
	return push(
	        x, (struct pickle_value){
	                   .type = PICKLE_TEXT, .n = 1, .id = intern_add(x->caller->texts, text) });
}

/* Reads a number in two's complement, the lowest byte first. */
static bool push_long(struct pickle *x, struct str bytes)
{
	uint64_t v = 0;

	if (bytes.n > 9 || (bytes.n == 9 && bytes.p[8]))
		return fail(x, "a number of more than 64 bits");
	if (bytes.n && bytes.n < 8 && bytes.p[bytes.n - 1] & 0x80)
		v = UINT64_MAX;
	for (size_t i = bytes.n < 8 ? bytes.n : 8; i-- > 0;)
		v = v << 8 | (uint8_t)bytes.p[i];
	return push_int(x, PICKLE_INT, (int64_t)v);
}

/* Reads "12", "12L", and the truth values "00" and "01". */
static bool push_int_line(struct pickle *x, struct str line)
{
	int64_t v;

	if (x->op->form == FORM_LINE && (str_eq(line, S("00")) || str_eq(line, S("01"))))
		return push_int(x, PICKLE_BOOL, line.p[1] == '1');
	if (line.n && line.p[line.n - 1] == 'L')
		line.n--;
	return num_parse_i64(line, &v) ? push_int(x, PICKLE_INT, v) : fail(x, "not a number");
}

static bool push_real_line(struct pickle *x, struct str line)
{
	char z[64], *end;

	if (!line.n || line.n >= sizeof z)
		return fail(x, "not a number");
	memcpy(z, line.p, line.n);
	z[line.n] = 0;
	double v = strtod(z, &end);
	return *end || end == z ? fail(x, "not a number") : push_real(x, v);
}

static void put_code_point(struct sb *b, uint32_t c)
{
	if (c < 0x80) {
		sb_char(b, (char)c);
	} else if (c < 0x800) {
		sb_char(b, (char)(0xc0 | c >> 6));
		sb_char(b, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c < 0x10000) {
			sb_char(b, (char)(0xe0 | c >> 12));
		} else {
			sb_char(b, (char)(0xf0 | (c >> 18 & 7)));
			sb_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		sb_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		sb_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* Reads n hexadecimal digits; false on any other text. */
static bool take_hex(struct str s, size_t n, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		int digit = i < s.n ? char_hex(s.p[i]) : -1;
		if (digit < 0)
			return false;
		*out = *out << 4 | (uint32_t)digit;
	}
	return *out <= 0x10ffff;
}

/* Reads a text of protocol 0: Latin-1 with \uXXXX and \UXXXXXXXX. */
static bool push_text_line(struct pickle *x, struct str line)
{
	uint32_t c;

	x->text.n = 0;
	for (size_t i = 0; i < line.n; i++) {
		struct str rest = str_sub(line, i, SIZE_MAX);
		size_t digits = str_starts(rest, S("\\u")) ? 4 : str_starts(rest, S("\\U")) ? 8 : 0;
		if (!digits) {
			put_code_point(&x->text, (uint8_t)line.p[i]);
			continue;
		}
		if (!take_hex(str_sub(rest, 2, SIZE_MAX), digits, &c))
			return fail(x, "bad escape in a text");
		put_code_point(&x->text, c);
		i += 1 + digits;
	}
	return push_text(x, sb_str(&x->text));
}

/* Returns the height of the innermost MARK. */
static size_t floor_of(const struct pickle *x)
{
	return x->marks.n ? x->marks.v[x->marks.n - 1].height : 0;
}

/* ---- memo ---- */

/* Packs a value into 8 bytes: id, kind, 1 + type. Picklers never memoize numbers. */
static uint64_t memo_pack(const struct pickle_value *v)
{
	return v->id << 16 | (uint64_t)v->kind << 8 | (1u + v->type);
}

static struct pickle_value memo_unpack(uint64_t packed)
{
	return (struct pickle_value){ .type = (uint8_t)(packed - 1),
		.kind = (uint8_t)(packed >> 8),
		.n = 1,
		.id = packed >> 16 };
}

static bool memo_put(struct pickle *x, uint64_t at)
{
	struct pickle_value *v;

	if (x->stack.n == floor_of(x))
		return fail(x, "the stack is empty where a value is memoized");
	v = &x->stack.v[x->stack.n - 1];
	if (at > src_at(x->s)) /* an entry takes at least a byte */
		return fail(x, "the number of the memo entry is too large");
	if (at < x->memo.n && x->memo.v[at] != MEMO_EMPTY)
		return fail(x, "a memo entry that is written twice");
	if (v->type == PICKLE_INT || v->type == PICKLE_REAL || v->type == PICKLE_BOOL)
		return fail(x, "a memoized number");
	if (v->type == TYPE_OPEN) {
		if (x->open.v[v->id].memo != MEMO_NONE)
			return fail(x, "a second memo entry of one container");
		x->open.v[v->id].memo = at;
	}
	if (at >= x->memo.n) {
		VEC_ROOM(x->a, &x->memo, at + 1 - x->memo.n);
		memset(x->memo.v + x->memo.n, 0, (at - x->memo.n) * sizeof *x->memo.v);
		x->memo.n = at + 1;
	}
	x->memo.v[at] = memo_pack(v);
	x->memoized++;
	return true;
}

/* ---- containers ---- */

static bool open_container(struct pickle *x, enum pickle_type type)
{
	struct pickle_value v = { .type = TYPE_OPEN, .n = 1, .id = x->open.n };

	if (x->open.n == PICKLE_OPEN_MAX)
		return fail(x, "more than 16384 containers that are not stored");
	VEC_PUSH(x->a, &x->open,
	        ((struct open_container){ type, x->stack.n, x->items.n, ++x->opened, MEMO_NONE }));
	return push(x, v);
}

static bool close_items(
        struct pickle *x, const struct pickle_container *c, struct pickle_value *out)
{
	*out = (struct pickle_value){ .type = PICKLE_NONE, .n = 1 };
	return x->caller->close(x->caller->user, c, out);
}

/* Closes the container of a stack value, and replaces the stack value by the value that represents
 * the container. */
static bool close_value(struct pickle *x, struct pickle_value *v, uint64_t around, bool whole)
{
	if (v->type != TYPE_OPEN)
		return true;
	uint64_t at = v->id;
	const struct open_container o = x->open.v[at];
	size_t end = at + 1 < x->open.n ? x->open.v[at + 1].item0 : x->items.n;
	struct pickle_container c = { .type = o.type,
		.whole = whole,
		.around = around,
		.v = x->items.v + o.item0,
		.n = end - o.item0 };
	if (!close_items(x, &c, v))
		return false;
	if (o.memo != MEMO_NONE)
		x->memo.v[o.memo] = memo_pack(v);
	return true;
}

/* Drops all containers but the first n, with their items. */
static void forget_open(struct pickle *x, size_t n)
{
	if (n < x->open.n) {
		x->items.n = x->open.v[n].item0;
		x->open.n = n;
	}
}

/* Closes the containers among the stack values from `from` on. n containers are open around them.
 * whole: true if the last of the values is complete. */
static bool close_values(struct pickle *x, size_t from, size_t n, bool whole)
{
	uint64_t around = n ? x->open.v[n - 1].number : 0;

	for (size_t i = from; i < x->stack.n; i++) {
		struct pickle_value *v = &x->stack.v[i];
		if (v->type == TYPE_OPEN && !close_value(x, v, around, whole || i + 1 < x->stack.n))
			return false;
	}
	forget_open(x, n);
	return true;
}

void pickle_add_item(
        struct arena *a, struct pickle_items *to, size_t from, const struct pickle_value *v)
{
	struct pickle_value *last = to->n > from ? &to->v[to->n - 1] : NULL;

	if (last && v->type == PICKLE_OBJECT && last->type == PICKLE_OBJECT &&
	        last->kind == v->kind && last->id + last->n == v->id && last->n < UINT32_MAX)
		last->n++;
	else
		VEC_PUSH(a, to, *v);
}

/* Moves the stack values from `from` on to the items of the container that was opened last. Values
 * of a dict stay separate, because their keys are between them. */
static void move_items(struct pickle *x, size_t from)
{
	size_t item0 = x->open.v[x->open.n - 1].item0;

	VEC_ROOM(x->a, &x->items, x->stack.n - from);
	for (size_t i = from; i < x->stack.n; i++) {
		if (x->stack.v[i].type == PICKLE_OBJECT)
			pickle_add_item(x->a, &x->items, item0, &x->stack.v[i]);
		else
			x->items.v[x->items.n++] = x->stack.v[i];
	}
	x->stack.n = from;
}

/* True if the stack values from `from` on are keys, each with its value. */
static bool are_pairs(struct pickle *x, size_t from)
{
	if ((x->stack.n - from) % 2)
		return fail(x, "a key without a value");
	for (size_t i = from; i < x->stack.n; i += 2) {
		uint8_t type = x->stack.v[i].type;
		if (type == PICKLE_OBJECT || type == PICKLE_LIST || type == PICKLE_DICT ||
		        type == TYPE_OPEN)
			return fail(x, "a list or a dict as a key");
	}
	return true;
}

/* Stores the stack values from `from` on in the container below them. */
static bool store(struct pickle *x, size_t from, enum pickle_type type)
{
	const struct pickle_value *to;

	if (from <= floor_of(x) || from > x->stack.n)
		return fail(x, "a value is stored outside of a container");
	to = &x->stack.v[from - 1];
	if (to->type != TYPE_OPEN || x->open.v[to->id].type != type)
		return fail(x, type == PICKLE_LIST ? "a list was expected" : "a dict was expected");
	if (type == PICKLE_DICT && !are_pairs(x, from))
		return false;
	if (!close_values(x, from, (size_t)to->id + 1, true))
		return false;
	move_items(x, from);
	return true;
}

static bool pop_mark(struct pickle *x, struct mark *out)
{
	if (!x->marks.n)
		return fail(x, "a MARK is missing");
	*out = x->marks.v[--x->marks.n];
	return true;
}

static bool push_mark(struct pickle *x)
{
	if (x->marks.n == PICKLE_DEPTH_MAX)
		return fail(x, "nested more than 1000 deep");
	VEC_PUSH(x->a, &x->marks, ((struct mark){ x->stack.n, x->open.n }));
	return true;
}

static bool store_marked(struct pickle *x, enum pickle_type type)
{
	struct mark mark = { 0 };

	return pop_mark(x, &mark) && store(x, mark.height, type);
}

static bool store_top(struct pickle *x, size_t n, enum pickle_type type)
{
	return store(x, x->stack.n < n ? 0 : x->stack.n - n, type);
}

/* Implements LIST and DICT: makes a container of the items above the mark. */
static bool marked_container(struct pickle *x, enum pickle_type type)
{
	struct mark mark = { 0 };

	if (!pop_mark(x, &mark))
		return false;
	if (type == PICKLE_DICT && !are_pairs(x, mark.height))
		return false;
	if (!close_values(x, mark.height, mark.open, true))
		return false;
	if (x->open.n == PICKLE_OPEN_MAX)
		return fail(x, "more than 16384 containers that are not stored");
	VEC_PUSH(x->a, &x->open,
	        ((struct open_container){ type, mark.height, x->items.n, ++x->opened, MEMO_NONE }));
	move_items(x, mark.height);
	return push(x, (struct pickle_value){ .type = TYPE_OPEN, .n = 1, .id = x->open.n - 1 });
}

/* Makes a tuple of the stack values from `from` on; n containers are open around them. */
static bool make_tuple(struct pickle *x, size_t from, size_t n)
{
	struct pickle_container c = { .type = PICKLE_TUPLE, .whole = true };
	struct pickle_value v;

	if (!close_values(x, from, n, true))
		return false;
	c.v = x->stack.v + from;
	c.n = x->stack.n - from;
	if (!close_items(x, &c, &v))
		return false;
	x->stack.n = from;
	return push(x, v);
}

static bool make_top_tuple(struct pickle *x, size_t n)
{
	size_t open = x->open.n;

	if (x->stack.n - floor_of(x) < n)
		return fail(x, "a tuple without its values");
	for (size_t i = x->stack.n; i-- > x->stack.n - n;)
		if (x->stack.v[i].type == TYPE_OPEN)
			open = (size_t)x->stack.v[i].id;
	return make_tuple(x, x->stack.n - n, open);
}

static bool make_marked_tuple(struct pickle *x)
{
	struct mark mark = { 0 };

	return pop_mark(x, &mark) && make_tuple(x, mark.height, mark.open);
}

/* ---- values again ---- */

/* True if the values that are read now belong to a given container. */
static bool is_around(const struct pickle *x, const struct open_container *o)
{
	for (size_t i = 0; i < x->marks.n; i++)
		if (x->marks.v[i].height == o->at + 1)
			return true;
	return false;
}

/* Pushes a value again. A container that is not stored yet is complete if nothing is being read
 * into it, so it is closed now. */
static bool memo_get(struct pickle *x, uint64_t at)
{
	struct pickle_value v = memo_unpack(at < x->memo.n ? x->memo.v[at] : MEMO_EMPTY);

	if (v.type == TYPE_EMPTY)
		return fail(x, "the memo has no such entry");
	if (v.type == TYPE_OPEN) {
		const struct open_container *o = &x->open.v[v.id];
		if (is_around(x, o))
			return fail(x, "a container that contains itself");
		if (!close_value(x, &x->stack.v[o->at], 0, true))
			return false;
		v = memo_unpack(x->memo.v[at]);
	}
	return push(x, v);
}

static bool memo_line(struct pickle *x, struct str line, bool put)
{
	int64_t v;

	if (!num_parse_i64(line, &v) || v < 0)
		return fail(x, "not the number of a memo entry");
	return put ? memo_put(x, (uint64_t)v) : memo_get(x, (uint64_t)v);
}

/* ---- opcodes ---- */

/* Refuses an opcode that would import a name: GLOBAL and INST have lines, STACK_GLOBAL has two
 * texts on the stack. */
static bool refuse_code(struct pickle *x, const struct argument_of *argument)
{
	struct sb b = sb_in(x->a);

	if (x->op->form == FORM_LINES || x->op->form == FORM_LINE)
		return refuse(x, argument->text);
	for (size_t i = x->stack.n < 2 ? x->stack.n : x->stack.n - 2;
	        x->op->form == FORM_NOTHING && i < x->stack.n; i++) {
		if (x->stack.v[i].type != PICKLE_TEXT)
			return refuse(x, S(""));
		if (b.n)
			sb_char(&b, '.');
		sb_put(&b, intern_str(x->caller->texts, (uint32_t)x->stack.v[i].id));
	}
	return refuse(x, sb_str(&b));
}

static bool stop(struct pickle *x)
{
	if (x->stack.n != 1 || x->marks.n)
		return fail(x, "one value was expected on the stack");
	x->done = true;
	return close_values(x, 0, 0, true);
}

static bool run_number(struct pickle *x, const struct argument_of *argument)
{
	union {
		uint64_t bits;
		double real;
	} v = { .bits = __builtin_bswap64(argument->n) };

	switch ((enum action)x->op->action) {
	case ACTION_INT: return push_int(x, PICKLE_INT, (int64_t)argument->n);
	case ACTION_INT_LINE: return push_int_line(x, argument->text);
	case ACTION_LONG: return push_long(x, argument->text);
	case ACTION_REAL: return push_real(x, v.real);
	case ACTION_REAL_LINE: return push_real_line(x, argument->text);
	case ACTION_NONE: return push_int(x, PICKLE_NONE, 0);
	case ACTION_TRUE: return push_int(x, PICKLE_BOOL, 1);
	default: return push_int(x, PICKLE_BOOL, 0);
	}
}

static bool run(struct pickle *x, const struct argument_of *argument)
{
	switch ((enum action)x->op->action) {
	case ACTION_GET: return memo_get(x, argument->n);
	case ACTION_MEMOIZE: return memo_put(x, x->memoized);
	case ACTION_PUT: return memo_put(x, argument->n);
	case ACTION_GET_LINE:
	case ACTION_PUT_LINE: return memo_line(x, argument->text, x->op->action == ACTION_PUT_LINE);
	case ACTION_MARK: return push_mark(x);
	case ACTION_TEXT: return push_text(x, argument->text);
	case ACTION_TEXT_LINE: return push_text_line(x, argument->text);
	case ACTION_BYTES: return push_int(x, PICKLE_BYTES, 0);
	case ACTION_EMPTY_DICT: return open_container(x, PICKLE_DICT);
	case ACTION_EMPTY_LIST: return open_container(x, PICKLE_LIST);
	case ACTION_MARKED_DICT: return marked_container(x, PICKLE_DICT);
	case ACTION_MARKED_LIST: return marked_container(x, PICKLE_LIST);
	case ACTION_APPEND: return store_top(x, 1, PICKLE_LIST);
	case ACTION_APPENDS: return store_marked(x, PICKLE_LIST);
	case ACTION_SETITEM: return store_top(x, 2, PICKLE_DICT);
	case ACTION_SETITEMS: return store_marked(x, PICKLE_DICT);
	case ACTION_TUPLE: return make_marked_tuple(x);
	case ACTION_TUPLE0:
	case ACTION_TUPLE1:
	case ACTION_TUPLE2:
	case ACTION_TUPLE3: return make_top_tuple(x, x->op->action - (size_t)ACTION_TUPLE0);
	case ACTION_PROTO:
		return argument->n <= PICKLE_PROTOCOL_MAX ||
		       fail(x, "protocols 0 to 5 were expected");
	case ACTION_FRAME: return true;
	case ACTION_STOP: return stop(x);
	case ACTION_CODE: return refuse_code(x, argument);
	case ACTION_ODD:
	case ACTION_UNKNOWN: return fail(x, "not an opcode of plain data");
	default: return run_number(x, argument);
	}
}

/* ---- the end ---- */

/* Returns the height above the container to which the innermost values of a truncated file belong.
 * Without a MARK, each of them was about to be stored in the container below it. */
static size_t innermost(const struct pickle *x)
{
	size_t from = x->stack.n;

	if (x->marks.n)
		return floor_of(x);
	while (from > 1 && (from == x->stack.n || x->stack.v[from - 1].type != TYPE_OPEN))
		from--;
	return from;
}

/* Closes all containers that a truncated file left open, from the inside. Drops values outside of
 * all lists and dicts, and keys without a value. */
static bool salvage(struct pickle *x)
{
	while (x->stack.n > 1 || x->marks.n) {
		size_t from = innermost(x);
		const struct pickle_value *to = from ? &x->stack.v[from - 1] : NULL;
		enum pickle_type type = PICKLE_NONE;
		if (to && to->type == TYPE_OPEN)
			type = x->open.v[to->id].type;
		size_t open = type != PICKLE_NONE ? (size_t)to->id + 1
		              : x->marks.n        ? x->marks.v[x->marks.n - 1].open
		                                  : 0;
		x->marks.n -= x->marks.n > 0;
		if (type == PICKLE_NONE)
			x->stack.n = from;
		else if (type == PICKLE_DICT && (x->stack.n - from) % 2)
			x->stack.n--;
		if (!close_values(x, from, open, false))
			return false;
		if (x->stack.n > from)
			move_items(x, from);
	}
	return x->stack.n && close_value(x, &x->stack.v[0], 0, false);
}

/* Runs opcodes that push memoized values, of which most of a file consists, as long as they are
 * simple: the values exist and are complete, and the window and the stack have room. */
static void run_gets(struct pickle *x)
{
	const uint8_t *p = x->s->p, *end = x->s->end;
	uint64_t packed;

	while (end - p >= 5 && x->stack.n < x->stack.cap && x->stack.n < PICKLE_STACK_MAX) {
		bool wide = *p == 'j';
		uint64_t at = wide ? le32_get(p + 1) : p[1];
		if ((!wide && *p != 'h') || at >= x->memo.n)
			break;
		packed = x->memo.v[at];
		if (packed == MEMO_EMPTY || (uint8_t)packed == 1 + TYPE_OPEN)
			break;
		x->stack.v[x->stack.n++] = memo_unpack(packed);
		p += wide ? 5 : 2;
	}
	x->s->p = p;
}

bool pickle_read(struct src *s, const struct pickle_caller *caller, struct pickle_value *root,
        bool *cut, struct arena *a)
{
	struct pickle x = { .s = s, .caller = caller, .a = a, .text = sb_in(a) };

	VEC_ROOM(a, &x.items, 1); /* never NULL, even without elements */
	VEC_ROOM(a, &x.stack, 1);
	*cut = false;
	while (!x.done) {
		struct argument_of argument = { 0 };
		const uint8_t *code;
		run_gets(&x);
		x.at = src_at(s);
		bool good = (code = take(&x, 1)) != NULL;
		if (good) {
			x.op = &opcodes[*code];
			good = take_argument(&x, &argument) && run(&x, &argument);
		}
		if (!good && x.ended && s->damage->recover && salvage(&x))
			*cut = x.done = true;
		else if (!good)
			return false;
	}
	*root = x.stack.v[0];
	return true;
}

bool pickle_begins_dict(struct str head)
{
	if (head.n > 1 && head.p[0] == '\x80' && (uint8_t)head.p[1] <= PICKLE_PROTOCOL_MAX)
		head = str_sub(head, 2, SIZE_MAX);
	if (head.n > 9 && head.p[0] == '\x95')
		head = str_sub(head, 9, SIZE_MAX);
	return (head.n > 1 && head.p[0] == '}' && strchr("q\x94(r", head.p[1]) && head.p[1]) ||
	       str_starts(head, S("(dp0\n")) || str_starts(head, S("(d"));
}
