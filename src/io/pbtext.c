/* SPDX-License-Identifier: Apache-2.0
 *
 * Text format to wire bytes in one pass, with an explicit stack of open messages. The length of a
 * nested message gets five bytes of room and is filled in when the message ends.
 * Accepts what libprotobuf's text parser accepts by default; must not know any particular message.
 */
#include "io/pbtext.h"

#include <float.h>
#include <math.h>

#include "base/bits.h"
#include "io/pbtext_internal.h"

#define LENGTH_ROOM 5
#define SEEN_BITS   64u /* of fields behind these a second value is not noticed */

/* Steps over this character if it is the current token; *there says whether it was. */
static bool skip_char(struct pbtext *r, char c, bool *there)
{
	*there = pbtext_at(r, c);
	return !*there || pbtext_next(r);
}

/* Room for n more bytes of output. */
static uint8_t *room(struct pbtext *r, size_t n)
{
	if (r->out.cap - r->out.n >= n)
		return (uint8_t *)r->out.p + r->out.n;
	return (uint8_t *)sb_room(&r->out, n);
}

static void put_varint(struct pbtext *r, uint64_t v)
{
	uint8_t *p = room(r, VARINT_MAX);
	r->out.n += (size_t)(varint_put(p, v) - p);
}

static void put_tag(struct pbtext *r, const ProtobufCFieldDescriptor *fd, enum wire_type type)
{
	put_varint(r, (uint64_t)fd->id << 3 | type);
}

static void put_fixed(struct pbtext *r, uint64_t v, size_t n)
{
	uint8_t *p = room(r, n);

	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
	r->out.n += n;
}

/* Writes a number of any integer type, given in two's complement. */
static void put_integer(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t v)
{
	switch (fd->type) {
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
		put_tag(r, fd, WIRE_FIXED32);
		put_fixed(r, v, 4);
		break;
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
		put_tag(r, fd, WIRE_FIXED64);
		put_fixed(r, v, 8);
		break;
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SINT64: v = zigzag((int64_t)v); /* fall through */
	default: put_tag(r, fd, WIRE_VARINT); put_varint(r, v);
	}
}

/* Reads an unsigned integer up to max. */
static bool read_unsigned(struct pbtext *r, uint64_t max, uint64_t *v)
{
	if (r->type != PBT_INT)
		return pbtext_fail_here(r, "an integer");
	if (!pbtext_integer(r, max, v))
		return pbtext_fail(r, r->tok, "the number is out of range");
	return pbtext_next(r);
}

/* Reads an integer from -max - 1 to max. */
static bool read_signed(struct pbtext *r, uint64_t max, uint64_t *v)
{
	bool minus;

	if (!skip_char(r, '-', &minus) || !read_unsigned(r, minus ? max + 1 : max, v))
		return false;
	if (minus)
		*v = 0 - *v;
	return true;
}

static bool read_integer(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
{
	switch (fd->type) {
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32: return read_unsigned(r, UINT32_MAX, v);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64: return read_unsigned(r, UINT64_MAX, v);
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32: return read_signed(r, INT32_MAX, v);
	default: return read_signed(r, INT64_MAX, v);
	}
}

/* Is the current token this word? */
static bool at_word(const struct pbtext *r, const char *word)
{
	return r->type == PBT_WORD &&
	       str_eq(str_make(r->tok, (size_t)(r->p - r->tok)), str_of(word));
}

static bool read_bool(struct pbtext *r, uint64_t *v)
{
	if (r->type == PBT_INT)
		return read_unsigned(r, 1, v);
	*v = at_word(r, "true") || at_word(r, "True") || at_word(r, "t");
	if (!*v && !at_word(r, "false") && !at_word(r, "False") && !at_word(r, "f"))
		return pbtext_fail_here(r, "true or false");
	return pbtext_next(r);
}

/* Orders a NUL-terminated name against a word of the text. */
static int compare_name(const char *name, struct str word)
{
	int c = strncmp(name, word.p, word.n);
	return c ? c : (unsigned char)name[word.n];
}

/* Reads the name or the number of an enum value; unknown numbers are kept. */
static bool read_enum(struct pbtext *r, const ProtobufCEnumDescriptor *d, uint64_t *v)
{
	struct str word = str_make(r->tok, (size_t)(r->p - r->tok));
	size_t lo = 0, hi = d->n_value_names;

	if (r->type == PBT_INT || pbtext_at(r, '-'))
		return read_signed(r, INT32_MAX, v);
	if (r->type != PBT_WORD)
		return pbtext_fail_here(r, "a name or a number");
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = compare_name(d->values_by_name[mid].name, word);
		if (c == 0) {
			*v = (uint64_t)(int64_t)d->values[d->values_by_name[mid].index].value;
			return pbtext_next(r);
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return pbtext_fail(r, r->tok, "%s has no value named '%.*s'", d->short_name, STR(word));
}

/* Is the current token this word of small letters, in any case? */
static bool at_word_any_case(const struct pbtext *r, struct str word)
{
	if (r->type != PBT_WORD || (size_t)(r->p - r->tok) != word.n)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if ((r->tok[i] | 0x20) != word.p[i])
			return false;
	return true;
}

/* Reads inf, infinity or nan in any case. */
static bool read_special(struct pbtext *r, double *v)
{
	if (at_word_any_case(r, S("nan")))
		*v = (double)NAN;
	else if (at_word_any_case(r, S("inf")) || at_word_any_case(r, S("infinity")))
		*v = (double)INFINITY;
	else
		return pbtext_fail_here(r, "a number");
	return true;
}

/* Reads a decimal number as a double. */
static bool read_double(struct pbtext *r, double *v)
{
	bool minus;

	if (!skip_char(r, '-', &minus))
		return false;
	if (r->type == PBT_WORD) {
		if (!read_special(r, v))
			return false;
	} else if (r->type != PBT_FLOAT && r->type != PBT_INT) {
		return pbtext_fail_here(r, "a number");
	} else if (!pbtext_double(r, v)) {
		return pbtext_fail_here(r, "a decimal number");
	}
	if (minus)
		*v = -*v;
	return pbtext_next(r);
}

/* Rounds; what is printed for the largest float must not become infinite. */
static float to_float(double v)
{
	const double half_way = 3.4028235677973366e+38;

	if (v > (double)FLT_MAX)
		return v <= half_way ? FLT_MAX : INFINITY;
	if (v < -(double)FLT_MAX)
		return v >= -half_way ? -FLT_MAX : -INFINITY;
	return (float)v;
}

/* Reads a float or a double as its bits. */
static bool read_real(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
{
	uint32_t bits;
	double d = 0;
	float f;

	if (!read_double(r, &d))
		return false;
	if (fd->type == PROTOBUF_C_TYPE_DOUBLE) {
		memcpy(v, &d, 8);
		put_tag(r, fd, WIRE_FIXED64);
		put_fixed(r, *v, 8);
		return true;
	}
	f = to_float(d);
	memcpy(&bits, &f, 4);
	*v = bits;
	put_tag(r, fd, WIRE_FIXED32);
	put_fixed(r, *v, 4);
	return true;
}

/* Reads joined literals. One byte is kept for the length, more are made when needed.
 * Deviation: a text that is not UTF-8 is refused here, as it would be in a binary file. */
static bool read_string(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
{
	const char *first = r->tok;
	size_t at, n, more;

	if (r->type != PBT_STRING)
		return pbtext_fail_here(r, "a string in quotes");
	put_tag(r, fd, WIRE_BYTES);
	room(r, 1);
	at = ++r->out.n;
	while (r->type == PBT_STRING)
		if (!pbtext_literal(r) || !pbtext_next(r))
			return false;
	*v = n = r->out.n - at;
	if (n > INT32_MAX)
		return pbtext_fail(r, first, "the string is longer than 2 GiB");
	if (fd->type == PROTOBUF_C_TYPE_STRING && fd->label != PROTOBUF_C_LABEL_OPTIONAL &&
	        !str_is_utf8(str_make(r->out.p + at, n)))
		return pbtext_fail(r, first, "the string is not UTF-8");
	more = varint_size(n) - 1;
	if (more) {
		room(r, more);
		memmove(r->out.p + at + more, r->out.p + at, n);
		r->out.n += more;
	}
	varint_put((uint8_t *)r->out.p + at - 1, n);
	return true;
}

/* Reads one value of a field that is no message and writes it. *v is 0 for the default. */
static bool read_scalar(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
{
	bool ok;

	switch (fd->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES: return read_string(r, fd, v);
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_DOUBLE: return read_real(r, fd, v);
	case PROTOBUF_C_TYPE_BOOL: ok = read_bool(r, v); break;
	case PROTOBUF_C_TYPE_ENUM: ok = read_enum(r, fd->descriptor, v); break;
	default: ok = read_integer(r, fd, v);
	}
	if (ok)
		put_integer(r, fd, *v);
	return ok;
}

/* The field of this name, or NULL. Fields tend to follow in order, so the neighbours of the last
 * one are tried first. */
static const ProtobufCFieldDescriptor *find_field(const struct pbtext_open *m, struct str word)
{
	const ProtobufCMessageDescriptor *d = m->d;
	size_t lo = 0, hi = d->n_fields, last = m->field ? (size_t)(m->field - d->fields) : 0;

	for (size_t i = last; i < last + 2 && i < d->n_fields; i++)
		if (compare_name(d->fields[i].name, word) == 0)
			return &d->fields[i];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const ProtobufCFieldDescriptor *fd = &d->fields[d->fields_sorted_by_name[mid]];
		int c = compare_name(fd->name, word);
		if (c == 0)
			return fd;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static uint64_t field_bit(const struct pbtext_open *m, const ProtobufCFieldDescriptor *fd)
{
	size_t i = (size_t)(fd - m->d->fields);
	return i < SEEN_BITS ? UINT64_C(1) << i : 0;
}

/* Is d the entry of a map? Its key and value have presence. protobuf-c knows by the name only. */
static bool is_map_entry(const ProtobufCMessageDescriptor *d)
{
	return d->n_fields == 2 && strcmp(d->fields[0].name, "key") == 0 &&
	       strcmp(d->fields[1].name, "value") == 0 &&
	       str_ends(str_of(d->short_name), S("Entry"));
}

/* Refuses a second value of a singular field, and of another member of its oneof. */
static bool check_once(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	const struct pbtext_open *m = r->top;

	if (m->seen & field_bit(m, fd))
		return pbtext_fail(r, r->tok, "'%s' has a value already", fd->name);
	if (!(fd->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
		return true;
	for (const ProtobufCFieldDescriptor *o = m->d->fields; o < m->d->fields + m->d->n_fields;
	        o++)
		if ((o->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && (m->seen & field_bit(m, o)) &&
		        o->quantifier_offset == fd->quantifier_offset)
			return pbtext_fail(
			        r, r->tok, "'%s' cannot stand beside '%s'", fd->name, o->name);
	return true;
}

/* Opens a message at its brace. */
static bool open_message(struct pbtext *r, const ProtobufCFieldDescriptor *fd, bool in_list)
{
	char close = pbtext_at(r, '{') ? '}' : '>';

	if (close == '>' && !pbtext_at(r, '<'))
		return pbtext_fail_here(r, "'{'");
	if (r->top == r->stack + WIRE_DEPTH_MAX)
		return pbtext_fail(
		        r, r->tok, "messages are nested more than %d deep", WIRE_DEPTH_MAX);
	put_tag(r, fd, WIRE_BYTES);
	room(r, LENGTH_ROOM);
	r->out.n += LENGTH_ROOM;
	r->top++;
	*r->top = (struct pbtext_open){ fd->descriptor, NULL, 0, r->out.n, close, in_list };
	return pbtext_next(r);
}

/* Fields may be separated by one comma or semicolon. */
static bool end_field(struct pbtext *r)
{
	bool there;
	return skip_char(r, ',', &there) && (there || skip_char(r, ';', &there));
}

/* Reads the rest of [a, b] of numbers or strings. */
static bool read_list(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	uint64_t v;
	bool more;

	do {
		if (!read_scalar(r, fd, &v) || !skip_char(r, ',', &more))
			return false;
	} while (more);
	if (!pbtext_at(r, ']'))
		return pbtext_fail_here(r, "',' or ']'");
	return pbtext_next(r) && end_field(r);
}

/* Reads what follows the name of a field. A message is only opened. */
static bool read_value(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	bool message = fd->type == PROTOBUF_C_TYPE_MESSAGE, there;
	uint64_t v;

	if (!skip_char(r, ':', &there))
		return false;
	if (!there && !message)
		return pbtext_fail_here(r, "':'");
	if (fd->label == PROTOBUF_C_LABEL_REPEATED && pbtext_at(r, '[')) {
		if (!pbtext_next(r) || !skip_char(r, ']', &there))
			return false;
		if (there)
			return end_field(r);
		return message ? open_message(r, fd, true) : read_list(r, fd);
	}
	if (message) {
		r->top->seen |= field_bit(r->top, fd);
		return open_message(r, fd, false);
	}
	if (!read_scalar(r, fd, &v))
		return false;
	if (v || fd->label == PROTOBUF_C_LABEL_OPTIONAL ||
	        (fd->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || is_map_entry(r->top->d))
		r->top->seen |= field_bit(r->top, fd);
	return end_field(r);
}

/* Reads a field name and its value. */
static bool read_field(struct pbtext *r)
{
	struct str word = str_make(r->tok, (size_t)(r->p - r->tok));
	const ProtobufCFieldDescriptor *fd;

	if (pbtext_at(r, '['))
		return pbtext_fail(r, r->tok, "extensions and Any are not supported");
	if (r->type != PBT_WORD)
		return pbtext_fail_here(r, "the name of a field");
	fd = find_field(r->top, word);
	if (!fd)
		return pbtext_fail(r, r->tok, "%s has no field named '%.*s'", r->top->d->short_name,
		        STR(word));
	r->top->field = fd;
	if (fd->label != PROTOBUF_C_LABEL_REPEATED && !check_once(r, fd))
		return false;
	return pbtext_next(r) && read_value(r, fd);
}

/* Ends the innermost message at its closing brace, and goes on with the list that it is in. */
static bool close_message(struct pbtext *r)
{
	struct pbtext_open m = *r->top;
	size_t n = r->out.n - m.body;
	uint8_t *p = (uint8_t *)r->out.p + m.body - LENGTH_ROOM;
	bool more;

	if (!pbtext_at(r, m.close))
		return pbtext_fail_here(r, m.close == '}' ? "'}'" : "'>'");
	if (n > INT32_MAX)
		return pbtext_fail(r, r->tok, "the message is longer than 2 GiB");
	for (int i = 0; i < LENGTH_ROOM; i++, n >>= 7)
		p[i] = (uint8_t)((n & 0x7f) | (i < LENGTH_ROOM - 1 ? 0x80 : 0));
	r->top--;
	if (!pbtext_next(r))
		return false;
	if (!m.in_list)
		return end_field(r);
	if (!skip_char(r, ',', &more))
		return false;
	if (more)
		return open_message(r, r->top->field, true);
	if (!pbtext_at(r, ']'))
		return pbtext_fail_here(r, "',' or ']'");
	return pbtext_next(r) && end_field(r);
}

/* Reads all fields of the top message. */
static bool read_all(struct pbtext *r, const ProtobufCMessageDescriptor *d, struct str text)
{
	bool ok;

	r->end = (r->p = r->start = text.p) + text.n;
	r->out = sb_in(r->a);
	r->top = r->stack;
	r->top->d = d;
	ok = pbtext_next(r);
	while (ok && (r->type != PBT_END || r->top > r->stack)) {
		if (r->top > r->stack &&
		        (r->type == PBT_END || pbtext_at(r, '}') || pbtext_at(r, '>')))
			ok = close_message(r);
		else
			ok = read_field(r);
	}
	return ok;
}

bool pbtext_encode(const ProtobufCMessageDescriptor *d, struct str text, struct str name,
        struct arena *a, struct str *out, struct err *e)
{
	struct pbtext r = { .a = a, .name = name, .e = e };
	bool ok = read_all(&r, d, text);

	if (ok)
		*out = sb_str(&r.out);
	return ok;
}

bool pbtext_begins(const ProtobufCMessageDescriptor *d, struct str head, struct str name,
        struct arena *a, struct err *e)
{
	struct err own = { .a = a };
	struct pbtext r = { .a = a, .name = name, .e = &own };
	size_t end = str_rfind_char(head, '\n'); /* no token goes over the end of a line */

	if (end == SIZE_MAX || read_all(&r, d, str_sub(head, 0, end + 1)) || r.type == PBT_END)
		return true;
	return err_set(e, own.code, "%.*s", STR(own.text));
}
