/* SPDX-License-Identifier: Apache-2.0
 *
 * Text format: a value that is not a message, from its token to wire bytes.
 */
#include <float.h>
#include <math.h>

#include "io/pb.h"

static void put_fixed(struct pbtext *r, uint64_t v, size_t n)
{
	uint8_t *p = pbtext_room(r, n);

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
		pbtext_put_tag(r, fd, WIRE_FIXED32);
		put_fixed(r, v, 4);
		break;
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
		pbtext_put_tag(r, fd, WIRE_FIXED64);
		put_fixed(r, v, 8);
		break;
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SINT64: v = zigzag((int64_t)v); /* fall through */
	default: pbtext_put_tag(r, fd, WIRE_VARINT); pbtext_put_varint(r, v);
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

	if (!pbtext_skip(r, '-', &minus) || !read_unsigned(r, minus ? max + 1 : max, v))
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

/* True if the current token is this word. */
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
		int c = pbtext_compare(d->values_by_name[mid].name, word);
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

/* True if the current token is this lower-case word, ignoring case. */
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

	if (!pbtext_skip(r, '-', &minus))
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

/* Rounds so that the printed form of the largest float does not become infinite. */
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
		pbtext_put_tag(r, fd, WIRE_FIXED64);
		put_fixed(r, *v, 8);
		return true;
	}
	f = to_float(d);
	memcpy(&bits, &f, 4);
	*v = bits;
	pbtext_put_tag(r, fd, WIRE_FIXED32);
	put_fixed(r, *v, 4);
	return true;
}

/* Reads adjacent literals as one value. One byte is reserved for the length, more are inserted when
 * needed. Deviation: text that is not UTF-8 is refused here, as in a binary file. */
static bool read_string(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
{
	const char *first = r->tok;
	size_t at, n, more;

	if (r->type != PBT_STRING)
		return pbtext_fail_here(r, "a quoted string");
	pbtext_put_tag(r, fd, WIRE_BYTES);
	pbtext_room(r, 1);
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
		pbtext_room(r, more);
		memmove(r->out.p + at + more, r->out.p + at, n);
		r->out.n += more;
	}
	varint_put((uint8_t *)r->out.p + at - 1, n);
	return true;
}

bool pbtext_scalar(struct pbtext *r, const ProtobufCFieldDescriptor *fd, uint64_t *v)
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
