/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate judges wire bytes by a descriptor; what is odd is cleaned; only then does protobuf-c's
 * decoder see the bytes. Must not know any particular message, and keeps an explicit stack.
 */
#include "io/pb.h"

#include "base/bits.h"
#include "io/pb_internal.h"

#define SEEN_BITS 64u /* fields behind these count as seen: clean rather than miss */

/* A message being judged, or an unknown group in it (d is NULL). */
struct frame {
	const uint8_t *end;
	const ProtobufCMessageDescriptor *d;
	uint64_t seen;  /* by index of the field: a singular submessage that was there */
	uint32_t group; /* field number */
};

struct gate {
	const uint8_t *p;
	struct frame *f, *last; /* the innermost frame; the last one that the depth allows */
	const char *why;        /* the fault, when there is one */
	bool odd;
	struct frame frames[PB_FRAMES];
};

static bool gate_bad(struct gate *g, const char *why)
{
	g->why = why;
	return false;
}

/* Steps over a varint. */
static inline bool gate_varint(struct gate *g)
{
	const uint8_t *p = g->p, *end = g->f->end;

	for (unsigned n = 0; n < VARINT_MAX; n++) {
		if (p == end)
			return gate_bad(g, "a number that is cut off");
		if (*p++ < 0x80) {
			g->p = p;
			return true;
		}
	}
	return gate_bad(g, "a number of more than ten bytes");
}

static inline bool gate_tag(struct gate *g, uint32_t *tag)
{
	const uint8_t *from = g->p;
	uint64_t v;

	if (*from < 0x80) {
		*tag = *from;
		g->p++;
		return true;
	}
	if (!varint_get(&g->p, g->f->end, &v) || g->p - from > 5)
		return gate_bad(g, "a broken field number");
	*tag = (uint32_t)v;
	if (g->p - from == 5) /* protobuf-c keeps more bits of the fifth byte */
		g->odd = true;
	return true;
}

/* Reads a length and checks that so many bytes follow. */
static inline bool gate_length(struct gate *g, size_t *n)
{
	const uint8_t *from = g->p;
	uint64_t v;

	if (!varint_get(&g->p, g->f->end, &v) || g->p - from > 5 || v > INT32_MAX)
		return gate_bad(g, "a broken length");
	if (v > (size_t)(g->f->end - g->p))
		return gate_bad(g, "a length that goes beyond the end");
	*n = (size_t)v;
	return true;
}

static inline bool gate_fixed(struct gate *g, size_t n)
{
	if ((size_t)(g->f->end - g->p) < n)
		return gate_bad(g, "a number that is cut off");
	g->p += n;
	return true;
}

static inline bool gate_push(
        struct gate *g, const uint8_t *end, const ProtobufCMessageDescriptor *d, uint32_t group)
{
	if (g->f == g->last)
		return gate_bad(g, "messages nested more than 100 deep");
	g->f++;
	*g->f = (struct frame){ end, d, 0, group };
	return true;
}

/* Is the text valid? Eight bytes at a time while it is ASCII. */
static inline bool is_utf8(const uint8_t *p, size_t n)
{
	uint64_t w;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		memcpy(&w, p + i, 8);
		if (w & UINT64_C(0x8080808080808080))
			return str_is_utf8(str_make(p, n));
	}
	for (size_t i = n & ~(size_t)7; i < n; i++)
		if (p[i] >= 0x80)
			return str_is_utf8(str_make(p, n));
	return true;
}

/* Judges a packed list of n bytes. */
static bool gate_packed(struct gate *g, const ProtobufCFieldDescriptor *fd, size_t n)
{
	const uint8_t *end = g->p + n;
	unsigned run = 0, high = 0;

	if (pb_wire_of[fd->type] != WIRE_VARINT) {
		if (n % (pb_wire_of[fd->type] == WIRE_FIXED32 ? 4 : 8))
			return gate_bad(g, "a list of numbers that is cut off");
		g->p = end;
		return true;
	}
	while (g->p < end) {
		unsigned b = *g->p++;
		high |= b;
		run = b < 0x80 ? 0 : run + 1;
		if (run == VARINT_MAX)
			return gate_bad(g, "a number of more than ten bytes");
	}
	if (run)
		return gate_bad(g, "a list of numbers that is cut off");
	if (fd->type == PROTOBUF_C_TYPE_BOOL && high > 1)
		g->odd = true; /* protobuf-c takes each byte for a value */
	return true;
}

/* Notes that a singular submessage is there; the second one must be joined with the first. */
static inline void gate_see(struct gate *g, const ProtobufCFieldDescriptor *fd)
{
	size_t i = (size_t)(fd - g->f->d->fields);
	uint64_t bit = UINT64_C(1) << (i % SEEN_BITS);

	if (i >= SEEN_BITS || (g->f->seen & bit))
		g->odd = true;
	g->f->seen |= bit;
}

/* Judges the value of a field with a length. Strings of proto2 (optional) are not checked. */
static bool gate_bytes(struct gate *g, const ProtobufCFieldDescriptor *fd)
{
	size_t n;

	if (!gate_length(g, &n))
		return false;
	if (fd && fd->type == PROTOBUF_C_TYPE_MESSAGE) {
		if (fd->label != PROTOBUF_C_LABEL_REPEATED)
			gate_see(g, fd);
		return gate_push(g, g->p + n, fd->descriptor, 0);
	}
	if (fd && pb_wire_of[fd->type] != WIRE_BYTES)
		return gate_packed(g, fd, n);
	if (fd && fd->type == PROTOBUF_C_TYPE_STRING && fd->label != PROTOBUF_C_LABEL_OPTIONAL &&
	        !is_utf8(g->p, n))
		return gate_bad(g, "a string that is not UTF-8");
	g->p += n;
	return true;
}

/* Judges the value that follows the tag. */
static inline bool gate_value(struct gate *g, uint32_t tag)
{
	const ProtobufCFieldDescriptor *fd = g->f->d ? pb_find(g->f->d, tag >> 3) : NULL;
	const uint8_t *from = g->p;

	if (fd && !pb_takes(fd, tag & 7)) {
		g->odd = true;
		fd = NULL;
	}
	switch (tag & 7) {
	case WIRE_VARINT:
		if (!gate_varint(g))
			return false;
		if (fd && fd->type == PROTOBUF_C_TYPE_BOOL && g->p - from > 1)
			g->odd = true; /* protobuf-c looks at bits beyond the 64th */
		return true;
	case WIRE_BYTES: return gate_bytes(g, fd);
	case WIRE_FIXED32: return gate_fixed(g, 4);
	case WIRE_FIXED64: return gate_fixed(g, 8);
	case WIRE_GROUP: g->odd = true; return gate_push(g, g->f->end, NULL, tag >> 3);
	case WIRE_GROUP_END:
		if (g->f->group != tag >> 3)
			return gate_bad(g, "the end of a group that was not begun");
		g->f--;
		return true;
	default: return gate_bad(g, "a wire type that does not exist");
	}
}

/* Judges everything; *at is where the faulty field begins. */
static bool gate_run(struct gate *g, size_t *at)
{
	const uint8_t *from, *start = g->p;
	uint32_t tag;

	for (;;) {
		if (g->p == g->f->end) {
			*at = (size_t)(g->p - start);
			if (g->f->group)
				return gate_bad(g, "a group that does not end");
			if (g->f == g->frames)
				return true;
			g->f--;
			continue;
		}
		from = g->p;
		bool ok = gate_tag(g, &tag);
		if (ok && tag >> 3 == 0)
			ok = gate_bad(g, "field number 0");
		if (!ok || !gate_value(g, tag)) {
			*at = (size_t)(from - start);
			return false;
		}
	}
}

/* As pb_gate; *why is the fault. */
static enum pb_verdict judge(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth,
        size_t *at, const char **why)
{
	struct gate g;

	*at = 0;
	if (depth > WIRE_DEPTH_MAX) {
		*why = "messages nested more than 100 deep";
		return PB_BAD;
	}
	if (bytes.n > INT32_MAX) {
		*why = "more than 2 GiB";
		return PB_BAD;
	}
	if (bytes.n == 0)
		return PB_GOOD;
	g.p = (const uint8_t *)bytes.p;
	g.f = g.frames;
	g.last = g.frames + (WIRE_DEPTH_MAX - depth);
	g.why = NULL;
	g.odd = false;
	g.frames[0] = (struct frame){ g.p + bytes.n, d, 0, 0 };
	if (!gate_run(&g, at)) {
		*why = g.why;
		return PB_BAD;
	}
	return g.odd ? PB_ODD : PB_GOOD;
}

/* Needs no scratch: the depth, and so the stack, is bounded. */
enum pb_verdict pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth,
        struct arena *scratch, size_t *at)
{
	const char *why;

	(void)scratch;
	return judge(d, bytes, depth, at, &why);
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

ProtobufCMessage *pb_unpack(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth,
        struct str name, const char *what, uint64_t base, struct arena *a, struct err *e)
{
	ProtobufCAllocator memory = { take, keep, a };
	const char *why = "more fields than can be held";
	size_t at;
	enum pb_verdict v = judge(d, bytes, depth, &at, &why);
	ProtobufCMessage *m = NULL;

	if (v == PB_ODD)
		bytes = pb_clean(d, bytes, a);
	if (v != PB_BAD)
		m = protobuf_c_message_unpack(
		        d, &memory, bytes.n, (const uint8_t *)(bytes.n ? bytes.p : ""));
	if (!m)
		err_set(e, ERR_DATA_LOSS, "%.*s: byte %llu: %s cannot be parsed: %s", STR(name),
		        (unsigned long long)base + at, what, why);
	return m;
}

void pb_pack(const ProtobufCMessage *m, struct arena *scratch, struct sink *to)
{
	struct arena_mark mark = arena_mark(scratch);
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *p = ARENA_ARRAY(scratch, n, uint8_t);

	sink_put(to, str_make(p, protobuf_c_message_pack(m, p)));
	arena_reset(scratch, mark);
}
