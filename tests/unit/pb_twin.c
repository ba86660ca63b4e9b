/* SPDX-License-Identifier: Apache-2.0
 *
 * Broken bytes do not come to the cleaner. Keeps an explicit stack.
 */
#include <assert.h>

#include "base/bits.h"
#include "io/pb.h"
#include "pb_twin.h"

/* Copies of one singular submessage. Members of a oneof start over after another member. */
struct copies {
	size_t n, bytes;
	const uint8_t *from; /* copies before this position are replaced */
	uint8_t *w;          /* position for the body of the next copy */
};

/* Drops the copies of all other members of fd's oneof. Returns true if there were any. */
static bool forget_others(const ProtobufCMessageDescriptor *d, struct copies *c,
        const ProtobufCFieldDescriptor *fd, const uint8_t *at)
{
	bool any = false;

	if (!(fd->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
		return false;
	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *o = &d->fields[i];
		if (o != fd && (o->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
		        o->quantifier_offset == fd->quantifier_offset) {
			any |= c[i].n > 0;
			c[i] = (struct copies){ .from = at };
		}
	}
	return any;
}

/* Counts the copies of each singular submessage; true if some must be joined or left out. */
static bool count_copies(const ProtobufCMessageDescriptor *d, struct str body, struct copies *c)
{
	struct leaf l = leaf_of(body);
	bool any = false;

	while (leaf_next(&l)) {
		const ProtobufCFieldDescriptor *fd = pb_find(d, l.tag >> 3);
		struct copies *of = fd ? &c[fd - d->fields] : NULL;
		if (!fd || !pb_takes(fd, l.tag & 7)) {
			leaf_skip(&l);
			continue;
		}
		any |= forget_others(d, c, fd, l.p);
		if (fd->type == PROTOBUF_C_TYPE_MESSAGE && fd->label != PROTOBUF_C_LABEL_REPEATED) {
			of->bytes += leaf_bytes(&l).n;
			any |= of->n++ > 0;
		} else {
			leaf_skip(&l);
		}
	}
	assert(!l.bad);
	return any;
}

/* The body with the copies of each singular submessage joined into the first: joined bodies are the
 * merge. The result is never longer; it lives in a. */
static struct str join_copies(const ProtobufCMessageDescriptor *d, struct str body, struct arena *a)
{
	struct copies *counts = ARENA_ARRAY(a, d->n_fields, struct copies);
	struct leaf l = leaf_of(body);
	uint8_t *out, *w;

	if (!count_copies(d, body, counts))
		return body;
	w = out = ARENA_ARRAY(a, body.n, uint8_t);
	for (const uint8_t *at = l.p; leaf_next(&l); at = l.p) {
		const ProtobufCFieldDescriptor *fd = pb_find(d, l.tag >> 3);
		struct copies *c = fd && (l.tag & 7) == WIRE_BYTES ? &counts[fd - d->fields] : NULL;
		if (c && c->from && at < c->from) {
			leaf_skip(&l);
		} else if (c && c->n > 1) {
			struct str copy = leaf_bytes(&l);
			if (!c->w) {
				w = varint_put(varint_put(w, l.tag), c->bytes);
				c->w = w;
				w += c->bytes;
			}
			memcpy(c->w, copy.p, copy.n);
			c->w += copy.n;
		} else {
			leaf_skip(&l);
			memcpy(w, at, (size_t)(l.p - at));
			w += l.p - at;
		}
	}
	return str_make(out, (size_t)(w - out));
}

/* A message being rewritten. Its length goes to len_at when it is complete. */
struct rewrite {
	struct leaf in;
	const ProtobufCMessageDescriptor *d;
	uint8_t *len_at;
	struct arena_mark mark;
};

#define LENGTH_ROOM 5 /* bytes reserved for a length that is filled in later */

/* Fills in a length of five bytes: longer than needed, but legal. */
static void put_length(uint8_t *at, const uint8_t *end)
{
	size_t n = (size_t)(end - at) - LENGTH_ROOM;

	for (int i = 0; i < LENGTH_ROOM; i++, n >>= 7)
		at[i] = (uint8_t)((n & 0x7f) | (i < LENGTH_ROOM - 1 ? 0x80 : 0));
}

/* Merges a value that is not a message. */
static uint8_t *clean_value(struct leaf *l, const ProtobufCFieldDescriptor *fd, uint8_t *w)
{
	const uint8_t *from = l->p;
	uint64_t v = 0;

	w = varint_put(w, l->tag);
	if (fd->type == PROTOBUF_C_TYPE_BOOL && (l->tag & 7) == WIRE_VARINT) {
		*w++ = leaf_varint(l) != 0;
	} else if (fd->type == PROTOBUF_C_TYPE_BOOL) {
		struct str list = leaf_bytes(l);
		const uint8_t *p = (const uint8_t *)list.p, *end = p + list.n;
		size_t n = 0;
		for (size_t i = 0; i < list.n; i++)
			n += p[i] < 0x80;
		w = varint_put(w, n);
		while (varint_get(&p, end, &v))
			*w++ = v != 0;
	} else {
		leaf_skip(l);
		memcpy(w, from, (size_t)(l->p - from));
		w += l->p - from;
	}
	return w;
}

static void rewrite_begin(struct rewrite *r, const ProtobufCMessageDescriptor *d, struct str body,
        uint8_t *len_at, struct arena *a)
{
	r->mark = arena_mark(a);
	r->in = leaf_of(join_copies(d, body, a));
	r->d = d;
	r->len_at = len_at;
}

/* A submessage of two bytes becomes one of six at most, so three times the room is enough. */
struct str pb_clean(const ProtobufCMessageDescriptor *d, struct str bytes, struct arena *a)
{
	struct rewrite stack[PB_FRAMES], *r = stack;
	uint8_t *out = arena_array(a, bytes.n, 3, 1), *w = out;

	rewrite_begin(r, d, bytes, NULL, a);
	for (;;) {
		if (!leaf_next(&r->in)) {
			assert(!r->in.bad);
			arena_reset(a, r->mark);
			if (r == stack)
				return str_make(out, (size_t)(w - out));
			put_length(r->len_at, w);
			r--;
			continue;
		}
		const ProtobufCFieldDescriptor *fd = pb_find(r->d, r->in.tag >> 3);
		if (!fd || !pb_takes(fd, r->in.tag & 7)) {
			leaf_skip(&r->in);
		} else if (fd->type == PROTOBUF_C_TYPE_MESSAGE) {
			w = varint_put(w, r->in.tag);
			assert(r < stack + PB_FRAMES - 1);
			rewrite_begin(r + 1, fd->descriptor, leaf_bytes(&r->in), w, a);
			w += LENGTH_ROOM;
			r++;
		} else {
			w = clean_value(&r->in, fd, w);
		}
	}
}

static void *take(void *arena, size_t n)
{
	return arena_alloc(arena, n, _Alignof(uint64_t));
}

static void keep(void *arena, void *p)
{
	(void)arena;
	(void)p;
}

ProtobufCMessage *pb_unpack(const ProtobufCMessageDescriptor *d, struct str bytes, struct str name,
        struct arena *a, struct err *e)
{
	ProtobufCAllocator memory = { take, keep, a };
	ProtobufCMessage *m = NULL;
	size_t at;

	if (pb_gate(d, bytes, 0, &at)) {
		bytes = pb_clean(d, bytes, a);
		m = protobuf_c_message_unpack(
		        d, &memory, bytes.n, (const uint8_t *)(bytes.n ? bytes.p : ""));
	}
	if (!m)
		err_set(e, ERR_DATA_LOSS, "%.*s: byte %zu: no %s", STR(name), at, d->short_name);
	return m;
}

struct str pb_pack(const ProtobufCMessage *m, struct arena *a)
{
	uint8_t *p = ARENA_ARRAY(a, protobuf_c_message_get_packed_size(m), uint8_t);

	return str_make(p, protobuf_c_message_pack(m, p));
}
