/* SPDX-License-Identifier: Apache-2.0
 *
 * Validates wire bytes against a descriptor, for any message. Uses an explicit stack of bounded
 * depth.
 */
#include "io/pb.h"

/* A message while it is checked, or an unknown group in it (d is NULL). */
struct pb_frame {
	const uint8_t *end;
	const ProtobufCMessageDescriptor *d;
	uint32_t group; /* field number */
};

struct pb_gate {
	const uint8_t *p;
	struct pb_frame *f, *last; /* the innermost frame; the deepest allowed frame */
	struct pb_frame frames[PB_FRAMES];
};

/* Skips a varint. */
static inline bool gate_varint(struct pb_gate *g)
{
	const uint8_t *p = g->p, *end = g->f->end;

	for (unsigned n = 0; n < VARINT_MAX; n++) {
		if (p == end)
			return false;
		if (*p++ < 0x80) {
			g->p = p;
			return true;
		}
	}
	return false;
}

static inline bool gate_tag(struct pb_gate *g, uint32_t *tag)
{
	const uint8_t *from = g->p;
	uint64_t v;

	if (*from < 0x80) {
		*tag = *from;
		g->p++;
		return true;
	}
	if (!varint_get(&g->p, g->f->end, &v) || g->p - from > 5)
		return false;
	*tag = (uint32_t)v;
	return true;
}

/* Reads a length, and checks that this number of bytes follows. */
static inline bool gate_length(struct pb_gate *g, size_t *n)
{
	const uint8_t *from = g->p;
	uint64_t v;

	if (!varint_get(&g->p, g->f->end, &v) || g->p - from > 5 || v > INT32_MAX)
		return false;
	if (v > (size_t)(g->f->end - g->p))
		return false;
	*n = (size_t)v;
	return true;
}

static inline bool gate_fixed(struct pb_gate *g, size_t n)
{
	if ((size_t)(g->f->end - g->p) < n)
		return false;
	g->p += n;
	return true;
}

static inline bool gate_push(
        struct pb_gate *g, const uint8_t *end, const ProtobufCMessageDescriptor *d, uint32_t group)
{
	if (g->f == g->last)
		return false;
	g->f++;
	*g->f = (struct pb_frame){ end, d, group };
	return true;
}

/* True if the text is valid. Checks eight bytes at a time while they are ASCII. */
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

/* Checks a packed list of n bytes. */
static bool gate_packed(struct pb_gate *g, const ProtobufCFieldDescriptor *fd, size_t n)
{
	const uint8_t *end = g->p + n;
	unsigned run = 0;

	if (pb_wire_of[fd->type] != WIRE_VARINT) {
		if (n % (pb_wire_of[fd->type] == WIRE_FIXED32 ? 4 : 8))
			return false;
		g->p = end;
		return true;
	}
	while (g->p < end) {
		run = *g->p++ < 0x80 ? 0 : run + 1;
		if (run == VARINT_MAX)
			return false;
	}
	return run == 0;
}

/* Checks the value of a field with a length. Strings of proto2 (optional) are not checked. */
static bool gate_bytes(struct pb_gate *g, const ProtobufCFieldDescriptor *fd)
{
	size_t n;

	if (!gate_length(g, &n))
		return false;
	if (fd && fd->type == PROTOBUF_C_TYPE_MESSAGE)
		return gate_push(g, g->p + n, fd->descriptor, 0);
	if (fd && pb_wire_of[fd->type] != WIRE_BYTES)
		return gate_packed(g, fd, n);
	if (fd && fd->type == PROTOBUF_C_TYPE_STRING && fd->label != PROTOBUF_C_LABEL_OPTIONAL &&
	        !is_utf8(g->p, n))
		return false;
	g->p += n;
	return true;
}

/* Checks the value after the tag. */
static inline bool gate_value(struct pb_gate *g, uint32_t tag)
{
	const ProtobufCFieldDescriptor *fd = g->f->d ? pb_find(g->f->d, tag >> 3) : NULL;

	if (fd && !pb_takes(fd, tag & 7))
		fd = NULL;
	switch (tag & 7) {
	case WIRE_VARINT: return gate_varint(g);
	case WIRE_BYTES: return gate_bytes(g, fd);
	case WIRE_FIXED32: return gate_fixed(g, 4);
	case WIRE_FIXED64: return gate_fixed(g, 8);
	case WIRE_GROUP: return gate_push(g, g->f->end, NULL, tag >> 3);
	case WIRE_GROUP_END:
		if (g->f->group != tag >> 3)
			return false;
		g->f--;
		return true;
	default: return false;
	}
}

/* Checks everything; *at is the offset of the faulty field. */
static bool gate_run(struct pb_gate *g, size_t *at)
{
	const uint8_t *from, *start = g->p;
	uint32_t tag;

	for (;;) {
		if (g->p == g->f->end) {
			*at = (size_t)(g->p - start);
			if (g->f->group)
				return false;
			if (g->f == g->frames)
				return true;
			g->f--;
			continue;
		}
		from = g->p;
		if (!gate_tag(g, &tag) || tag >> 3 == 0 || !gate_value(g, tag)) {
			*at = (size_t)(from - start);
			return false;
		}
	}
}

bool pb_gate(const ProtobufCMessageDescriptor *d, struct str bytes, unsigned depth, size_t *at)
{
	struct pb_gate g;

	*at = 0;
	if (depth > WIRE_DEPTH_MAX || bytes.n > INT32_MAX)
		return false;
	if (bytes.n == 0)
		return true;
	g.p = (const uint8_t *)bytes.p;
	g.f = g.frames;
	g.last = g.frames + (WIRE_DEPTH_MAX - depth);
	g.frames[0] = (struct pb_frame){ g.p + bytes.n, d, 0 };
	return gate_run(&g, at);
}
