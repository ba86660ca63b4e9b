/* SPDX-License-Identifier: Apache-2.0
 *
 * A pull cursor over protobuf wire bytes: outer messages are streamed, leaves are returned whole.
 * Validates as libprotobuf does: field 0, stray group ends, tags over five bytes, and lengths over
 * 2 GiB - 1 or past their parent are refused; groups are skipped, nested at most WIRE_DEPTH_MAX
 * deep. Exception: a top-level or streamed message may be longer than 2 GiB.
 */
#ifndef TFPROF_IO_WIRE_H
#define TFPROF_IO_WIRE_H

#include "base/bits.h"
#include "io/src.h"

#define WIRE_DEPTH_MAX 100 /* maximum depth of nested messages; libprotobuf's limit */
#define WIRE_STREAMED  8   /* maximum number of levels that a streaming reader may enter */

enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_FIXED32 };

/* A streaming cursor. */
struct wire {
	struct src *s;
	struct err *e;
	const char *what;             /* name of the message, for sentences: "RunMetadata" */
	uint64_t stop[WIRE_STREAMED]; /* absolute end of each entered message */
	unsigned depth;               /* number of entered messages; 0: in the top message, which
	                                 ends with the input */
	uint64_t record_at;           /* offset of the last tag */
	uint64_t value_end;           /* end of the last value of known length */
	uint32_t field;               /* type of the next value */
	enum wire_type type;
	bool bad; /* true: *e is filled; every further call returns false */
};

void wire_init(struct wire *w, struct src *s, const char *what, struct err *e);

/* Reads the next tag of the current message. Returns false at its end, or when bad is set. */
bool wire_next(struct wire *w);
/* Functions for the value after wire_next; exactly one of them must consume it. */
bool wire_u64(struct wire *w, uint64_t *v);        /* type must be WIRE_VARINT */
bool wire_leaf(struct wire *w, struct str *bytes); /* WIRE_BYTES; valid until the next wire call */
/* Fast path for wire_next + wire_leaf: reads the next field if it has this tag, is a leaf and is
 * completely buffered. Otherwise returns false and changes nothing. */
static inline bool wire_leaf_ahead(struct wire *w, uint8_t tag, struct str *bytes)
{
	struct src *s = w->s;
	size_t have = (size_t)(s->end - s->p), head = 2, n;
	uint64_t left = w->bad || !w->depth ? 0 : w->stop[w->depth - 1] - src_at(s);

	have = have < left ? have : (size_t)left;
	if (have < 3 || s->p[0] != tag)
		return false;
	n = s->p[1];
	if (n >= 0x80) {
		if (s->p[2] >= 0x80)
			return false;
		n = (n & 0x7f) | (size_t)s->p[2] << 7;
		head = 3;
	}
	if (have - head < n)
		return false;
	*bytes = str_make(s->p + head, n);
	s->p += head + n;
	return true;
}
bool wire_enter(struct wire *w); /* WIRE_BYTES */
bool wire_leave(struct wire *w); /* skips the rest of the message */
bool wire_skip(struct wire *w);  /* any type; unread bytes are not validated */
/* Ends reading. Returns true if the input was valid, or valid up to damage that is tolerated
 * (src_damage). records: number of records read. */
bool wire_done(struct wire *w, uint64_t records);
/* Fails with "<name>: byte <at>: <what> cannot be parsed: ..." as ERR_DATA_LOSS. Sets bad, and
 * returns false. */
bool wire_fail(struct wire *w, uint64_t at, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Cursor over a leaf in memory: call leaf_next in a loop, and read or skip each value.
 *
 *   struct leaf l = leaf_of(bytes);
 *   while (leaf_next(&l))
 *           switch (l.tag) {
 *           case LEAF_TAG(1, WIRE_BYTES): name = leaf_bytes(&l); break;
 *           default: leaf_skip(&l);
 *           }
 *   if (l.bad) ...
 */
#define LEAF_TAG(field, type) ((uint32_t)(field) << 3 | (uint32_t)(type))
struct leaf {
	const uint8_t *p, *end;
	uint32_t tag;
	bool bad;       /* true: malformed; p is near the fault */
	unsigned depth; /* number of enclosing messages, which count against the nesting of
	                   groups */
};
static inline struct leaf leaf_of(struct str b)
{
	const uint8_t *p = (const uint8_t *)b.p; /* maybe NULL, which nothing may be added to */

	return (struct leaf){ p, b.n ? p + b.n : p, 0, false, 0 };
}
bool leaf_next_slow(struct leaf *l);
static inline bool leaf_next(struct leaf *l)
{
	if (l->p == l->end || l->bad)
		return false;
	if (*l->p < 0x80 && *l->p >= 8 &&
	        (0x2f >> (*l->p & 7) & 1)) { /* a type other than a group end */
		l->tag = *l->p++;
		return true;
	}
	return leaf_next_slow(l);
}
uint64_t leaf_varint_slow(struct leaf *l);
static inline uint64_t leaf_varint(struct leaf *l)
{
	return l->p < l->end && *l->p < 0x80 ? *l->p++ : leaf_varint_slow(l);
}
struct str leaf_bytes_slow(struct leaf *l);
static inline struct str leaf_bytes(struct leaf *l)
{
	if (l->p < l->end && *l->p < 0x80 && (size_t)(l->end - l->p - 1) >= *l->p) {
		struct str s = { (const char *)l->p + 1, *l->p };
		l->p += s.n + 1;
		return s;
	}
	return leaf_bytes_slow(l);
}
uint32_t leaf_fixed32(struct leaf *l);
uint64_t leaf_fixed64(struct leaf *l);
void leaf_skip(struct leaf *l); /* the value of l->tag, groups included */

#endif
