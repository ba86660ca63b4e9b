/* SPDX-License-Identifier: Apache-2.0
 *
 * Protobuf bytes written from the end to the front, so the length of a message is known when it is
 * written before the message: fields, and their contents, are put in reverse order.
 *
 *   size_t mark = pbput_size(b);
 *   ... last field of the message ... first field ...
 *   pbput_close(b, 12, mark);          a submessage in field 12
 */
#ifndef TFPROF_EXPORT_PBPUT_H
#define TFPROF_EXPORT_PBPUT_H

#include "base/bits.h"
#include "io/sink.h"

struct pbput {
	struct arena *a;
	uint8_t *base, *p; /* start of the buffer, and start of its content */
	size_t cap;
};

enum { PB_VARINT = 0, PB_BYTES = 2 }; /* wire types */

void pbput_init(struct pbput *b, struct arena *a);
void pbput_grow(struct pbput *b, size_t n);

static inline size_t pbput_size(const struct pbput *b)
{
	return (size_t)(b->base + b->cap - b->p);
}
static inline struct str pbput_str(const struct pbput *b)
{
	return str_make(b->p, pbput_size(b));
}
static inline void pbput_clear(struct pbput *b)
{
	b->p = b->base + b->cap;
}
static inline void pbput_varint(struct pbput *b, uint64_t v)
{
	size_t n = varint_size(v);

	if ((size_t)(b->p - b->base) < n)
		pbput_grow(b, n);
	b->p -= n;
	varint_put(b->p, v);
}
static inline void pbput_tag(struct pbput *b, unsigned field, unsigned type)
{
	pbput_varint(b, field << 3 | type);
}
static inline void pbput_raw(struct pbput *b, struct str s)
{
	if ((size_t)(b->p - b->base) < s.n)
		pbput_grow(b, s.n);
	b->p -= s.n;
	if (s.n)
		memcpy(b->p, s.p, s.n);
}

/* Puts a number even if it is 0 (for map keys and members of a oneof); pbput_u64 omits 0. */
static inline void pbput_number(struct pbput *b, unsigned field, int64_t v)
{
	pbput_varint(b, (uint64_t)v);
	pbput_tag(b, field, PB_VARINT);
}
static inline void pbput_i64(struct pbput *b, unsigned field, int64_t v)
{
	if (v)
		pbput_number(b, field, v);
}
/* Puts text or bytes even if empty (for list items and map keys); pbput_str omits empty text. */
static inline void pbput_item(struct pbput *b, unsigned field, struct str s)
{
	pbput_raw(b, s);
	pbput_varint(b, s.n);
	pbput_tag(b, field, PB_BYTES);
}
static inline void pbput_text(struct pbput *b, unsigned field, struct str s)
{
	if (s.n)
		pbput_item(b, field, s);
}
static inline void pbput_close(struct pbput *b, unsigned field, size_t mark)
{
	pbput_varint(b, pbput_size(b) - mark);
	pbput_tag(b, field, PB_BYTES);
}

/* ---- fields in order, directly into a sink ---- */

static inline void pbsink_varint(struct sink *to, uint64_t v)
{
	uint8_t text[VARINT_MAX];

	sink_put(to, str_make(text, (size_t)(varint_put(text, v) - text)));
}
/* Writes tag and length of a submessage (or a text) of n bytes. */
static inline void pbsink_open(struct sink *to, unsigned field, uint64_t n)
{
	pbsink_varint(to, field << 3 | PB_BYTES);
	pbsink_varint(to, n);
}

#endif
