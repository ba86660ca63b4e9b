/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises pprof profiles by the messages that only they have. Writers differ in the order of
 * fields: Go begins with the period's type (11) or the time (9), most others with a sample type.
 *
 *   Profile    1 ValueType  2 Sample  3 Mapping  4 Location  5 Function  6 text  7 ... 15 numbers
 *              11 ValueType
 *   ValueType  1 type  2 unit                            indexes of texts
 *   Sample     1 locations  2 values (both packed or not)  3 Label
 *   Function   1 id  2 name  3 system name  4 file  5 line
 */
#include "model/read/read.h"
#include "model/sniff.h"

#define BIT(field)     (1u << (field))
#define HAS(set, bits) (((set) & (bits)) == (bits))

/* The fields of a message that are varints, and those that have a length. A field may be both. */
struct shape {
	uint32_t varints, lengths;
};
static const struct shape profile_shape = { 0xf780, 0x287e };
static const struct shape type_shape = { 0x6, 0 };
static const struct shape sample_shape = { 0x6, 0xe };
static const struct shape mapping_shape = { 0x7fe, 0 };
static const struct shape location_shape = { 0x2e, 0x10 };
static const struct shape function_shape = { 0x3e, 0 };

/* Parts of a profile that few other messages have. */
enum { SEEN_TYPE = 1, SEEN_SAMPLE = 2, SEEN_LOCATION = 4, SEEN_FUNCTION = 8, SEEN_TEXT = 16 };

/* Reads a tag. Returns false at the end; also, with l->bad set, for a field that the shape
 * lacks. */
static bool next_field(struct leaf *l, const struct shape *shape)
{
	if (!leaf_next(l))
		return false;
	uint32_t field = l->tag >> 3, type = l->tag & 7;
	uint32_t fields = type == WIRE_VARINT  ? shape->varints
	                  : type == WIRE_BYTES ? shape->lengths
	                                       : 0;
	l->bad |= field > 15 || !(fields & BIT(field));
	return !l->bad;
}

/* Returns the fields of a message, and BIT(0) if the message has this shape. */
static uint32_t fields_of(struct str message, const struct shape *shape)
{
	struct leaf l = leaf_of(message);
	uint32_t seen = BIT(0);

	while (next_field(&l, shape)) {
		seen |= BIT(l.tag >> 3);
		leaf_skip(&l);
	}
	return l.bad ? 0 : seen;
}

/* Examines a message of the profile. Returns false if a pprof profile cannot contain it. */
static bool judge_message(uint32_t field, struct str message, unsigned *seen)
{
	static const struct {
		const struct shape *shape;
		uint32_t needs; /* bits of the fields that identify this message; 0: none */
		unsigned is;
	} messages[] = {
		[1] = { &type_shape, 0x6, SEEN_TYPE },
		[2] = { &sample_shape, 0x6, SEEN_SAMPLE },
		[3] = { &mapping_shape, 0x0, 0 },
		[4] = { &location_shape, 0x12, SEEN_LOCATION },
		[5] = { &function_shape, 0x6, SEEN_FUNCTION },
		[11] = { &type_shape, 0x6, SEEN_TYPE },
	};

	if (field == 6) {
		*seen |= message.n ? 0 : SEEN_TEXT;
		return *seen & SEEN_TEXT; /* the first text is empty */
	}
	if (field >= sizeof messages / sizeof *messages || !messages[field].shape)
		return true; /* packed numbers */
	uint32_t fields = fields_of(message, messages[field].shape);
	if (HAS(fields, messages[field].needs))
		*seen |= messages[field].is;
	return fields;
}

int sniff_pprof(struct str head, struct str path)
{
	struct leaf l = leaf_of(head);
	unsigned seen = 0;
	bool fits = true;

	(void)path;
	while (fits && next_field(&l, &profile_shape)) {
		if ((l.tag & 7) != WIRE_BYTES) {
			leaf_skip(&l);
			continue;
		}
		struct str message = sniff_message(&l);
		if (l.p == l.end && head.n >= SNIFF_BYTES)
			break; /* the message may be truncated */
		fits = judge_message(l.tag >> 3, message, &seen);
	}
	if (seen & SEEN_TYPE)
		return 100;
	if (!fits || l.bad)
		return 0;
	return seen & (seen - 1) ? 80 : seen == SEEN_TEXT ? 40 : 0; /* two kinds of parts, or one */
}
