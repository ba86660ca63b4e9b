/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire cursor: streaming over a src, and the slow paths of the cursor over a leaf in memory.
 * Handles tags, lengths and groups of any message. Rejects the same input as libprotobuf 3.21, but
 * does not validate skipped values.
 */
#include "io/wire.h"

#include <assert.h>
#include <inttypes.h>

#define TAG_BYTES   5 /* size of the longest tag, bytes; bits above the 32nd are dropped */
#define SIZE_BYTES  5 /* size of the longest length up to INT32_MAX, bytes */
#define TYPES_KNOWN 0x3f
#define TYPES_START 0x2f /* without WIRE_GROUP_END */

/* Starts at the current place of s, as the top message. */
void wire_init(struct wire *w, struct src *s, const char *what, struct err *e)
{
	*w = (struct wire){ .s = s, .e = e, .what = what };
}

/* Fills *e with the sentence for a fault at byte `at`. */
bool wire_fail(struct wire *w, uint64_t at, const char *f, ...)
{
	struct sb b = sb_in(w->e->a);
	va_list ap;

	sb_put_name(&b, w->s->name);
	sb_fmt(&b, ": byte %" PRIu64 ": %s cannot be parsed: ", at, w->what);
	va_start(ap, f);
	sb_vfmt_message(&b, f, ap);
	va_end(ap);
	w->bad = true;
	if (w->record_at < w->s->damage->at)
		w->s->damage->at = w->record_at;
	return err_text(err_at(w->e, w->s->name, at), ERR_DATA_LOSS, sb_str(&b));
}

/* Fails because the input ends before the announced length. */
static bool wire_fail_end(struct wire *w, uint64_t at, const char *part)
{
	struct src_damage *d = w->s->damage;
	uint64_t promised = w->depth ? w->stop[0] : w->value_end, end = w->s->end_at;

	if (promised > end)
		d->missing = promised - end;
	return wire_fail(w, at, "the input ends inside %s", part);
}

/* Fails because the input had fewer bytes than requested: a read error, or an end inside `part`. */
static bool wire_fail_short(struct wire *w, uint64_t at, const char *part)
{
	if (!src_failed(w->s))
		return wire_fail_end(w, at, part);
	w->bad = true;
	if (w->s->e != w->e)
		err_copy(w->e, w->s->e);
	return false;
}

/* Returns the absolute end of the current message. The top message has no end. */
static uint64_t wire_end(const struct wire *w)
{
	return w->depth ? w->stop[w->depth - 1] : UINT64_MAX;
}

/* Reads a varint of at most max bytes, within the current message. */
static bool wire_varint(struct wire *w, unsigned max, const char *part, uint64_t *v)
{
	struct src *s = w->s;
	uint64_t at = src_at(s), left = wire_end(w) - at;
	size_t have;

	if ((size_t)(s->end - s->p) < max)
		src_need(s, max); /* fewer bytes may suffice */
	have = (size_t)(s->end - s->p);
	have = have < max ? have : max;
	if (varint_get(&s->p, s->p + (have < left ? have : (size_t)left), v))
		return true;
	if (have == max && left >= max)
		return wire_fail(w, at, "%s is longer than %u bytes", part, max);
	if (left <= have)
		return wire_fail(
		        w, at, "the message ends (byte %" PRIu64 ") inside %s", at + left, part);
	return wire_fail_short(w, at, part);
}

/* Checks a tag that starts at byte `at`; a group end is valid only if a group is open. */
static bool wire_judge_tag(struct wire *w, uint64_t at, bool in_group)
{
	if (!w->field)
		return wire_fail(w, at, "field number 0");
	if (!(TYPES_KNOWN >> w->type & 1))
		return wire_fail(w, at, "field %" PRIu32 " has wire type %d, which does not exist",
		        w->field, (int)w->type);
	if (w->type == WIRE_GROUP_END && !in_group)
		return wire_fail(w, at, "group %" PRIu32 " ends but did not start", w->field);
	return true;
}

/* Reads a tag into field and type. */
static bool wire_tag(struct wire *w, bool in_group)
{
	struct src *s = w->s;
	uint64_t at = src_at(s), v;

	if (s->p < s->end && *s->p < 0x80)
		v = *s->p++;
	else if (!wire_varint(w, TAG_BYTES, "a tag", &v))
		return false;
	w->field = (uint32_t)v >> 3;
	w->type = (enum wire_type)(v & 7);
	return wire_judge_tag(w, at, in_group);
}

/* Reads the next tag of the current message. Returns false at its end, or when bad is set. */
bool wire_next(struct wire *w)
{
	struct src *s = w->s;

	if (w->bad)
		return false;
	if (w->depth && src_at(s) >= w->stop[w->depth - 1])
		return false;
	w->record_at = src_at(s);
	if (s->p == s->end && !src_need(s, 1)) {
		if (w->depth || src_failed(s))
			wire_fail_short(w, src_at(s), "a message");
		return false;
	}
	return wire_tag(w, false);
}

bool wire_done(struct wire *w, uint64_t records)
{
	w->s->damage->kept = records;
	return !w->bad || (w->s->damage->recover && w->e->code == ERR_DATA_LOSS);
}

/* Reads a varint. */
bool wire_u64(struct wire *w, uint64_t *v)
{
	assert(w->bad || w->type == WIRE_VARINT);
	return !w->bad && wire_varint(w, VARINT_MAX, "a varint", v);
}

/* Reads a length, and checks it against the current message. Then p is at the first byte. */
static bool wire_size(struct wire *w, uint64_t *n)
{
	uint64_t at = src_at(w->s), start, end = wire_end(w);

	if (!wire_varint(w, VARINT_MAX, "a length", n))
		return false;
	start = src_at(w->s);
	w->value_end = *n > UINT64_MAX - start ? start : start + *n;
	if (*n > INT64_MAX || (*n <= INT32_MAX && start - at > SIZE_BYTES))
		return wire_fail(w, at, "a length is longer than %d bytes", SIZE_BYTES);
	if (*n > end - start)
		return wire_fail(w, at,
		        "length %" PRIu64 " goes past the end of its message (byte %" PRIu64 ")",
		        *n, end);
	return true;
}

/* Reads a whole value of type WIRE_BYTES, contiguous and valid until the next call. */
bool wire_leaf(struct wire *w, struct str *bytes)
{
	uint64_t at = src_at(w->s), n;

	assert(w->bad || w->type == WIRE_BYTES);
	if (w->bad || !wire_size(w, &n))
		return false;
	if (n > INT32_MAX)
		return wire_fail(
		        w, at, "length %" PRIu64 " is over the limit of %d bytes", n, INT32_MAX);
	if ((size_t)(w->s->end - w->s->p) < n && !src_need(w->s, (size_t)n))
		return wire_fail_short(w, at, "a value");
	*bytes = str_make(w->s->p, (size_t)n);
	w->s->p += n;
	return true;
}

/* Makes the value of type WIRE_BYTES the current message. */
bool wire_enter(struct wire *w)
{
	uint64_t n;

	assert(w->bad || (w->type == WIRE_BYTES && w->depth < WIRE_STREAMED));
	if (w->bad || !wire_size(w, &n))
		return false;
	w->stop[w->depth++] = src_at(w->s) + n;
	return true;
}

/* Moves n bytes forward in the current message. */
static bool wire_pass(struct wire *w, uint64_t n, const char *part)
{
	struct src *s = w->s;
	uint64_t at = src_at(s), end = wire_end(w);

	if (n > end - at)
		return wire_fail(w, at, "the message ends (byte %" PRIu64 ") inside %s", end, part);
	if (n <= (size_t)(s->end - s->p)) {
		s->p += n;
		return true;
	}
	return src_skip(s, n) || wire_fail_short(w, at, part);
}

/* Returns to the parent, after the entered message. */
bool wire_leave(struct wire *w)
{
	assert(w->bad || w->depth);
	if (w->bad || !wire_pass(w, wire_end(w) - src_at(w->s), "a message"))
		return false;
	w->depth--;
	return true;
}

/* Skips one value that is not a group. */
static bool wire_skip_plain(struct wire *w)
{
	uint64_t n;

	switch (w->type) {
	case WIRE_VARINT: return wire_varint(w, VARINT_MAX, "a varint", &n);
	case WIRE_FIXED64: return wire_pass(w, 8, "an 8-byte number");
	case WIRE_FIXED32: return wire_pass(w, 4, "a 4-byte number");
	default: return wire_size(w, &n) && wire_pass(w, n, "a value");
	}
}

/* Skips a group whose start tag was just read, with the groups in it. */
static bool wire_skip_group(struct wire *w)
{
	uint64_t at = src_at(w->s), end = wire_end(w);
	uint32_t open[WIRE_DEPTH_MAX];
	unsigned n = 0;

	do {
		if (n && end == at)
			return wire_fail(
			        w, at, "the message ends inside group %" PRIu32, open[n - 1]);
		if (n && !wire_tag(w, true))
			return false;
		if (w->type == WIRE_GROUP) {
			if (n + w->depth == WIRE_DEPTH_MAX)
				return wire_fail(
				        w, at, "nested more than %d levels deep", WIRE_DEPTH_MAX);
			open[n++] = w->field;
		} else if (w->type != WIRE_GROUP_END) {
			if (!wire_skip_plain(w))
				return false;
		} else if (open[--n] != w->field) {
			return wire_fail(w, at,
			        "group %" PRIu32 " ends with the end tag of group %" PRIu32,
			        open[n], w->field);
		}
		at = src_at(w->s);
	} while (n);
	return true;
}

/* Skips the value announced by wire_next. */
bool wire_skip(struct wire *w)
{
	if (w->bad)
		return false;
	return w->type == WIRE_GROUP ? wire_skip_group(w) : wire_skip_plain(w);
}

/* Marks the leaf as broken. */
static bool leaf_fail(struct leaf *l)
{
	l->bad = true;
	return false;
}

/* Reads a varint of at most max bytes: a tag or a length. */
static bool leaf_short(struct leaf *l, size_t max, uint64_t *v)
{
	size_t have = (size_t)(l->end - l->p);

	return varint_get(&l->p, l->p + (have < max ? have : max), v) || leaf_fail(l);
}

/* Reads a tag of any form; a group end is valid only if a group is open. */
static bool leaf_tag(struct leaf *l, bool in_group)
{
	uint64_t v;

	if (!leaf_short(l, TAG_BYTES, &v))
		return false;
	l->tag = (uint32_t)v;
	if (l->tag < 8 || !((in_group ? TYPES_KNOWN : TYPES_START) >> (l->tag & 7) & 1))
		return leaf_fail(l);
	return true;
}

/* Slow path of leaf_next: long tags and faults. */
bool leaf_next_slow(struct leaf *l)
{
	return leaf_tag(l, false);
}

/* Slow path of leaf_varint: two bytes or more, and faults. */
uint64_t leaf_varint_slow(struct leaf *l)
{
	uint64_t v = 0;

	if (!varint_get_long(&l->p, l->end, &v))
		l->bad = true;
	return v;
}

/* Slow path of leaf_bytes: long lengths and faults. */
struct str leaf_bytes_slow(struct leaf *l)
{
	struct str s = { "", 0 };
	uint64_t n;

	if (l->bad || !leaf_short(l, SIZE_BYTES, &n))
		return s;
	if (n > INT32_MAX || n > (size_t)(l->end - l->p)) {
		leaf_fail(l);
		return s;
	}
	s = str_make(l->p, (size_t)n);
	l->p += n;
	return s;
}

/* Reads four bytes. Returns 0 if they are missing. */
uint32_t leaf_fixed32(struct leaf *l)
{
	if (l->end - l->p < 4) {
		leaf_fail(l);
		return 0;
	}
	l->p += 4;
	return le32_get(l->p - 4);
}

/* Reads eight bytes. Returns 0 if they are missing. */
uint64_t leaf_fixed64(struct leaf *l)
{
	if (l->end - l->p < 8) {
		leaf_fail(l);
		return 0;
	}
	l->p += 8;
	return le64_get(l->p - 8);
}

/* Skips one value that is not a group. */
static void leaf_skip_plain(struct leaf *l)
{
	switch (l->tag & 7) {
	case WIRE_VARINT: leaf_varint(l); break;
	case WIRE_FIXED64: leaf_fixed64(l); break;
	case WIRE_FIXED32: leaf_fixed32(l); break;
	case WIRE_BYTES: leaf_bytes(l); break;
	default: leaf_fail(l);
	}
}

/* Skips a group whose start tag is l->tag, with the groups in it. */
static void leaf_skip_group(struct leaf *l)
{
	uint32_t open[WIRE_DEPTH_MAX];
	unsigned n = 0;

	do {
		if ((l->tag & 7) == WIRE_GROUP) {
			if (n + l->depth >= WIRE_DEPTH_MAX)
				leaf_fail(l);
			else
				open[n++] = l->tag >> 3;
		} else if ((l->tag & 7) != WIRE_GROUP_END) {
			leaf_skip_plain(l);
		} else if (open[--n] != l->tag >> 3) {
			leaf_fail(l);
		}
		if (l->bad)
			return;
	} while (n && leaf_tag(l, true));
}

/* Skips the value of l->tag, groups included. */
void leaf_skip(struct leaf *l)
{
	if (l->bad)
		return;
	if ((l->tag & 7) == WIRE_GROUP)
		leaf_skip_group(l);
	else
		leaf_skip_plain(l);
}
