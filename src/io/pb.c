/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate judges wire bytes by a descriptor, the cleaner rewrites what is legal but would be
 * misread, and only then does protobuf-c's decoder see the bytes. All stacks are explicit.
 * Must not know any particular message.
 */
#include "io/pb.h"

#include <assert.h>

#include "base/bits.h"
#include "io/wire.h"

#define FRAMES    (WIRE_DEPTH_MAX + 1) /* the message itself and what may nest in it */
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
	struct frame frames[FRAMES];
};

/* By ProtobufCType: the wire type of a single value. */
static const uint8_t wire_of[] = { WIRE_VARINT, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT, WIRE_VARINT,
	WIRE_FIXED64, WIRE_VARINT, WIRE_FIXED32, WIRE_VARINT, WIRE_FIXED64, WIRE_FIXED32,
	WIRE_FIXED64, WIRE_VARINT, WIRE_VARINT, WIRE_BYTES, WIRE_BYTES, WIRE_BYTES };
_Static_assert(PROTOBUF_C_TYPE_FLOAT == 10 && PROTOBUF_C_TYPE_STRING == 14 &&
                       PROTOBUF_C_TYPE_MESSAGE + 1 == sizeof(wire_of),
        "wire_of follows the order of ProtobufCType");

/* The field of this number, or NULL. */
static inline const ProtobufCFieldDescriptor *find_field(
        const ProtobufCMessageDescriptor *d, uint32_t id)
{
	const ProtobufCIntRange *r = d->field_ranges;

	for (unsigned i = 0; i < d->n_field_ranges; i++, r++) {
		uint32_t from = (uint32_t)r->start_value;
		if (id < from)
			return NULL;
		if (id - from < r[1].orig_index - r->orig_index)
			return &d->fields[r->orig_index + (id - from)];
	}
	return NULL;
}

/* Does this wire type carry the field's values, one at a time or as a packed list? */
static inline bool field_takes(const ProtobufCFieldDescriptor *fd, uint32_t type)
{
	return type == wire_of[fd->type] ||
	       (type == WIRE_BYTES && fd->label == PROTOBUF_C_LABEL_REPEATED);
}

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

	if (wire_of[fd->type] != WIRE_VARINT) {
		if (n % (wire_of[fd->type] == WIRE_FIXED32 ? 4 : 8))
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
	if (fd && wire_of[fd->type] != WIRE_BYTES)
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
	const ProtobufCFieldDescriptor *fd = g->f->d ? find_field(g->f->d, tag >> 3) : NULL;
	const uint8_t *from = g->p;

	if (fd && !field_takes(fd, tag & 7)) {
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
		if (gate_tag(g, &tag) && tag >> 3 == 0)
			gate_bad(g, "field number 0");
		if (g->why || !gate_value(g, tag)) {
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

/* Copies of one singular submessage. Members of a oneof start afresh behind another member. */
struct copies {
	size_t n, bytes;
	const uint8_t *from; /* copies before this are replaced */
	uint8_t *w;          /* where the body of the next copy goes */
};

/* Forgets the copies of all other members of the oneof that fd belongs to; true if there were any.
 */
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
		const ProtobufCFieldDescriptor *fd = find_field(d, l.tag >> 3);
		struct copies *of = fd ? &c[fd - d->fields] : NULL;
		if (!fd || !field_takes(fd, l.tag & 7)) {
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
		const ProtobufCFieldDescriptor *fd = find_field(d, l.tag >> 3);
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

#define LENGTH_ROOM 5 /* bytes of a length that is filled in afterwards */

/* Fills in a length of five bytes: longer than needed, but legal. */
static void put_length(uint8_t *at, const uint8_t *end)
{
	size_t n = (size_t)(end - at) - LENGTH_ROOM;

	for (int i = 0; i < LENGTH_ROOM; i++, n >>= 7)
		at[i] = (uint8_t)((n & 0x7f) | (i < LENGTH_ROOM - 1 ? 0x80 : 0));
}

/* Rewrites one value of a known field that is no message; returns the new end of the output. */
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
	struct rewrite stack[FRAMES], *r = stack;
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
		const ProtobufCFieldDescriptor *fd = find_field(r->d, r->in.tag >> 3);
		if (!fd || !field_takes(fd, r->in.tag & 7)) {
			leaf_skip(&r->in);
		} else if (fd->type == PROTOBUF_C_TYPE_MESSAGE) {
			w = varint_put(w, r->in.tag);
			assert(r < stack + FRAMES - 1);
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
		        (unsigned long long)(base + at), what, why);
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
