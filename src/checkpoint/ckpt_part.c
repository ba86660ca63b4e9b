/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of one part of a tensor, streamed: the bytes of a shard, or a TensorProto in a block.
 *
 *   strings in a shard:  varint length ... | masked crc32c of the lengths, fixed32 | bytes ...
 *
 * In its checksum a length counts as 4 bytes, or as 8 if it does not fit; the checksum of the entry
 * covers the lengths, the fixed32 and the bytes.
 */
#include <inttypes.h>

#include "base/crc32c.h"
#include "base/arena.h"
#include "checkpoint/ckpt_internal.h"

#define BATCH 4096 /* largest number of values returned at once */

/* A window over a range of bytes of a shard. */
struct part_window {
	uint64_t at, end; /* bytes not read yet */
	uint8_t *buf;
	size_t p, n, cap;
};

struct part_read {
	struct ckpt *c;
	const struct ckpt_tensor *t;
	struct arena *a;
	struct err *e;
	struct ckpt_part part;
	int64_t given;
	uint32_t crc;
	bool begun;
	struct part_window lengths, bytes;
	struct leaf proto, packed; /* version 1 */
	uint8_t *raw;              /* buffer of a batch */
	struct str *strings;
};

struct str shard_path(const struct ckpt *c, uint32_t shard, struct arena *a)
{
	return str_fmt(a, "%.*s.data-%05" PRIu32 "-of-%05" PRIu32, STR(c->path), shard, c->shards);
}

bool shard_open(struct ckpt *c, uint32_t shard, struct arena *scratch, struct err *e)
{
	if (c->shard_now != shard) {
		rfile_close(&c->shard);
		c->shard_now = UINT32_MAX;
		struct str name = shard_path(c, shard, scratch);
		memcpy(c->shard_name, name.p, name.n);
		rfile_init(&c->shard, c->a, str_make(c->shard_name, name.n));
		c->shard_now = shard;
	}
	return rfile_open(&c->shard, scratch, e);
}

struct part_read *part_read_new(
        struct ckpt *c, const struct ckpt_tensor *t, struct arena *a, struct err *e)
{
	struct part_read *r = ARENA_NEW(a, struct part_read);

	r->c = c;
	r->t = t;
	r->a = a;
	r->e = e;
	return r;
}

void part_begin(struct part_read *r, const struct ckpt_part *p)
{
	r->part = *p;
	r->given = 0;
	r->crc = 0;
	r->begun = false;
}

static bool damaged(struct part_read *r, const char *what)
{
	return err_set(err_at(r->e, r->c->shard.path, r->part.at), ERR_DATA_LOSS,
	        "%.*s: byte %" PRIu64 ": tensor '%.*s': %s", STR(r->c->shard.path), r->part.at,
	        STR(r->t->name), what);
}

/* Fails with the original's sentence for a checksum mismatch. */
static bool bad_sum(struct part_read *r)
{
	return err_set(r->e, ERR_DATA_LOSS,
	        "TensorBundle at %.*s shard %" PRIu32 " (%" PRIu64
	        " bytes): Checksum does not match: "
	        "stored %08" PRIu32 " vs. calculated on the restored bytes %" PRIu32,
	        STR(r->c->path), r->part.shard, r->part.size, crc32c_unmask(r->part.crc), r->crc);
}

/* ---- windows ---- */

/* Makes n bytes contiguous, or all remaining bytes if there are fewer. */
static bool fill(struct part_read *r, struct part_window *w, uint64_t n)
{
	uint64_t have = w->n - w->p, left = w->end - w->at;

	if (have >= n || !left)
		return true;
	memmove(w->buf, w->buf + w->p, (size_t)have);
	w->p = 0;
	w->n = (size_t)have;
	uint64_t want = n > CKPT_WINDOW ? n - have : CKPT_WINDOW - have;
	if (want > left)
		want = left;
	if (have + want > w->cap)
		w->buf = vec_grow(r->a, w->buf, &w->cap, (size_t)(have + want), 1);
	if (!shard_open(r->c, r->part.shard, r->a, r->e) ||
	        !rfile_read(&r->c->shard, w->at, w->buf + have, (size_t)want, r->a, r->e))
		return false;
	w->at += want;
	w->n += (size_t)want;
	return true;
}

static void window_set(struct part_read *r, struct part_window *w, uint64_t at, uint64_t end)
{
	if (!w->buf)
		w->buf = vec_grow(r->a, NULL, &w->cap, CKPT_WINDOW, 1);
	w->at = at;
	w->end = end;
	w->p = w->n = 0;
}

static bool bad_values(struct part_read *r, const char *what, int64_t n);

/* True if the part is within its shard. */
static bool lies_inside(struct part_read *r)
{
	if (!shard_open(r->c, r->part.shard, r->a, r->e))
		return false;
	if (r->part.at > r->c->shard.size || r->part.size > r->c->shard.size - r->part.at)
		return damaged(r, "its values end outside the file");
	return true;
}

uint64_t part_size(const struct part_read *r)
{
	return r->part.size;
}

bool part_check(struct part_read *r, uint64_t *room)
{
	const struct ckpt_part *p = &r->part;
	int64_t least = r->t->type->size ? 1 : 2; /* bytes of one value in a TensorProto */

	*room = 0;
	if (!r->c->bundle)
		return (int64_t)p->tensor.n / least >= p->elements ||
		       bad_values(r, "at most ", (int64_t)p->tensor.n / least);
	if (p->size && !lies_inside(r))
		return false;
	*room = p->size ? r->c->shard.size : 0;
	return true;
}

/* ---- numbers in a shard ---- */

static bool next_numbers(struct part_read *r, struct ckpt_values *v)
{
	const struct dtype *d = r->t->type;
	struct part_window *w = &r->bytes;

	if (!r->begun) {
		r->begun = true;
		if (r->part.size && !lies_inside(r))
			return false;
		window_set(r, w, r->part.at, r->part.at + r->part.size);
	}
	w->p = w->n; /* all values were returned */
	if (!fill(r, w, 1))
		return false;
	if (w->n == w->p) {
		if (crc32c_unmask(r->part.crc) != r->crc)
			return bad_sum(r);
		return false;
	}
	r->crc = crc32c_more(r->crc, w->buf, w->n);
	v->n = w->n / d->size;
	v->bytes = w->buf;
	if (r->c->big_endian)
		dtype_swap(d, w->buf, v->n);
	return true;
}

/* ---- strings in a shard ---- */

static bool next_length(struct part_read *r, uint64_t *n)
{
	struct part_window *w = &r->lengths;

	if (!fill(r, w, VARINT_MAX))
		return false;
	const uint8_t *p = w->buf + w->p;
	if (!varint_get(&p, w->buf + w->n, n))
		return damaged(r, "the length of a string is truncated");
	w->p = (size_t)(p - w->buf);
	return true;
}

/* Adds a length to the checksum in the byte order of the writing machine. */
static uint32_t sum_length(const struct part_read *r, uint32_t crc, uint64_t n)
{
	uint8_t b[8];
	size_t size = n > UINT32_MAX ? 8 : 4;

	for (size_t i = 0; i < size; i++)
		b[r->c->big_endian ? size - 1 - i : i] = (uint8_t)(n >> (8 * i));
	return crc32c_more(crc, b, size);
}

/* Reads all lengths once. They must match the size and their own checksum. */
static bool begin_strings(struct part_read *r)
{
	uint64_t sum = 0, n = 0, end = r->part.at + r->part.size, at;
	uint8_t stored[4];
	uint32_t crc = 0, value;

	if (!lies_inside(r))
		return false;
	window_set(r, &r->lengths, r->part.at, end);
	for (int64_t i = 0; i < r->part.elements; i++) {
		if (!next_length(r, &n))
			return false;
		if (n > r->part.size - sum)
			return damaged(r, "a string is longer than all values together");
		sum += n;
		crc = sum_length(r, crc, n);
	}
	at = r->lengths.at - (r->lengths.n - r->lengths.p);
	if (end - at < 4 || end - at - 4 != sum)
		return damaged(r, "the lengths of its strings do not add up to its size");
	if (!rfile_read(&r->c->shard, at, stored, 4, r->a, r->e))
		return false;
	value = le32_get(stored);
	if (crc32c_unmask(r->c->big_endian ? __builtin_bswap32(value) : value) != crc)
		return damaged(r, "the checksum of the lengths of its strings does not match");
	r->crc = crc32c_more(crc, stored, 4);
	window_set(r, &r->lengths, r->part.at, at);
	window_set(r, &r->bytes, at + 4, end);
	return true;
}

/* Returns the next strings; long strings one at a time. */
static bool next_strings(struct part_read *r, struct ckpt_values *v)
{
	struct part_window *w = &r->bytes;
	uint64_t n = 0;

	if (!r->begun && r->part.size && !begin_strings(r))
		return false;
	if (!r->strings)
		r->strings = ARENA_ARRAY(r->a, 1, struct str);
	r->begun = true;
	if (r->given == r->part.elements) {
		if (r->part.size && crc32c_unmask(r->part.crc) != r->crc)
			return bad_sum(r);
		return false;
	}
	if (!next_length(r, &n) || !fill(r, w, n))
		return false;
	if (w->n - w->p < n)
		return damaged(r, "the file changed while it was read");
	r->strings[0] = str_make(w->buf + w->p, (size_t)n);
	r->crc = crc32c_more(r->crc, w->buf + w->p, (size_t)n);
	w->p += (size_t)n;
	r->given++;
	v->n = 1;
	v->strings = r->strings;
	return true;
}

/* ---- values in a TensorProto ---- */

static bool carrier_type(const struct dtype *d, enum wire_type *w)
{
	switch (d->carrier) {
	case CARRY_FLOAT:
	case CARRY_SCOMPLEX: *w = WIRE_FIXED32; return true;
	case CARRY_DOUBLE:
	case CARRY_DCOMPLEX: *w = WIRE_FIXED64; return true;
	case CARRY_STRING: *w = WIRE_BYTES; return true;
	case CARRY_INT:
	case CARRY_INT64:
	case CARRY_BOOL:
	case CARRY_HALF:
	case CARRY_UINT32:
	case CARRY_UINT64: *w = WIRE_VARINT; return true;
	case CARRY_NONE: break;
	}
	return false;
}

static const char *carrier_name(const struct dtype *d)
{
	static const char *const names[] = { [CARRY_FLOAT] = "float_val",
		[CARRY_DOUBLE] = "double_val",
		[CARRY_INT] = "int_val",
		[CARRY_STRING] = "string_val",
		[CARRY_SCOMPLEX] = "scomplex_val",
		[CARRY_INT64] = "int64_val",
		[CARRY_BOOL] = "bool_val",
		[CARRY_DCOMPLEX] = "dcomplex_val",
		[CARRY_HALF] = "half_val",
		[CARRY_UINT32] = "uint32_val",
		[CARRY_UINT64] = "uint64_val" };

	return names[d->carrier];
}

/* Reads one number of a wire type, and writes its low bytes to p. Returns their number. */
static size_t take(struct leaf *l, const struct dtype *d, enum wire_type w, uint8_t *p)
{
	size_t size = w == WIRE_VARINT ? d->size : w == WIRE_FIXED32 ? 4 : 8;
	uint64_t v = w == WIRE_VARINT    ? leaf_varint(l)
	             : w == WIRE_FIXED32 ? leaf_fixed32(l)
	                                 : leaf_fixed64(l);

	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
	return size;
}

static bool bad_values(struct part_read *r, const char *what, int64_t n)
{
	r->part.where->bad = false;
	r->part.where->e = r->e;
	return table_fail(r->part.where,
	        "tensor '%.*s': data.%s: %s%" PRId64 " values, the slice has %" PRId64,
	        STR(r->t->name), carrier_name(r->t->type), what, n, r->part.elements);
}

/* Fills the batch with the next numbers; returns its size in bytes. */
static size_t batch(struct part_read *r, enum wire_type w)
{
	const struct dtype *d = r->t->type;
	size_t n = 0, room = (size_t)BATCH * d->size;
	uint32_t field = d->carrier;

	while (n < room) {
		if (r->packed.p < r->packed.end && !r->packed.bad) {
			n += take(&r->packed, d, w, r->raw + n);
			continue;
		}
		if (r->packed.bad || !leaf_next(&r->proto))
			break;
		if (r->proto.tag == LEAF_TAG(field, WIRE_BYTES))
			r->packed = leaf_of(leaf_bytes(&r->proto));
		else if (r->proto.tag == LEAF_TAG(field, w))
			n += take(&r->proto, d, w, r->raw + n);
		else
			leaf_skip(&r->proto);
	}
	return n;
}

static bool next_carried(struct part_read *r, struct ckpt_values *v)
{
	const struct dtype *d = r->t->type;
	enum wire_type w;

	if (!carrier_type(d, &w))
		return err_set(r->e, ERR_UNIMPLEMENTED,
		        "tensor '%.*s': type: %s has no values in version 1", STR(r->t->name),
		        d->name);
	if (!r->begun) {
		r->proto = leaf_of(r->part.tensor.p ? r->part.tensor : S(""));
		r->packed = leaf_of(S(""));
		r->begun = true;
		if (!r->raw && d->size)
			r->raw = ARENA_ARRAY(r->a, (size_t)BATCH * d->size, uint8_t);
		if (!r->strings)
			r->strings = ARENA_ARRAY(r->a, 1, struct str);
	}
	size_t bytes = 0;
	bool found = false;
	if (d->kind != DTYPE_STRING)
		bytes = batch(r, w);
	while (d->kind == DTYPE_STRING && !found && leaf_next(&r->proto)) {
		found = r->proto.tag == LEAF_TAG(CARRY_STRING, WIRE_BYTES);
		if (found)
			r->strings[0] = leaf_bytes(&r->proto);
		else
			leaf_skip(&r->proto);
	}
	if (r->proto.bad || r->packed.bad)
		return bad_values(r, "truncated after ", r->given);
	v->n = d->size ? bytes / d->size : found;
	if (d->size)
		v->bytes = r->raw;
	else
		v->strings = r->strings;
	r->given += (int64_t)v->n;
	if (r->given > r->part.elements || (!v->n && r->given < r->part.elements) ||
	        (d->size && bytes % d->size))
		return bad_values(r, r->given > r->part.elements ? "at least " : "", r->given);
	return v->n > 0;
}

bool part_next(struct part_read *r, struct ckpt_values *v)
{
	*v = (struct ckpt_values){ 0 };
	if (r->e->code)
		return false;
	if (!r->c->bundle)
		return next_carried(r, v);
	return r->t->type->size ? next_numbers(r, v) : next_strings(r, v);
}
