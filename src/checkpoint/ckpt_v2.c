/* SPDX-License-Identifier: Apache-2.0
 *
 * Bundles: path.index lists every tensor and the place of its bytes in path.data-NNNNN-of-NNNNN.
 */
#include <inttypes.h>

#include "base/crc32c.h"
#include "base/sort.h"
#include "base/arena.h"
#include "checkpoint/ckpt_internal.h"

#define SHARDS_MAX 99999 /* largest number of five digits, as in names of shards */

static const struct table_frame frame = { "Unable to read file (",
	"). Perhaps the file is corrupt or was produced by a newer version of TensorFlow with "
	"format "
	"changes (",
	")", "" };

bool v2_open(struct ckpt *c, struct err *e)
{
	struct str path = str_fmt(c->a, "%.*s.index", STR(c->path));
	struct proto_header h;

	if (!table_open(&c->index, c->a, path, &frame, e))
		return false;
	table_at_init(&c->at, &c->index, c->a, e);
	if (!table_find(&c->at, S("")))
		return !c->at.bad && table_fail(&c->at, "the bundle has no header");
	if (!proto_header(&c->at, c->at.value, &h))
		return false;
	if (h.shards < 1 || h.shards > SHARDS_MAX)
		return table_fail(&c->at, "header: num_shards is %" PRId64, (int64_t)h.shards);
	if (h.endianness > 1)
		return table_fail(&c->at, "header: endianness %" PRId64 " is not known",
		        (int64_t)h.endianness);
	c->shard_name = ARENA_ARRAY(c->a, c->path.n + 32, char);
	c->shards = (uint32_t)h.shards;
	c->version = h.version;
	c->big_endian = h.endianness == 1;
	return true;
}

bool v2_tensor(struct ckpt *c, struct table_at *at, struct arena *a, struct ckpt_tensor *t)
{
	t->name = str_copy(a, at->key);
	if (!proto_tensor(at, at->value, TENSOR_V2, a, t))
		return false;
	if (!t->n_slices && t->shard >= c->shards)
		return table_fail(at, "tensor '%.*s': shard_id %" PRIu32 " of %" PRIu32 " shards",
		        STR(t->name), t->shard, c->shards);
	return true;
}

/* Directs errors of c's cursor to this call. */
static struct table_at *cursor(struct ckpt *c, struct err *e)
{
	c->at.e = e;
	c->at.bad = false;
	return &c->at;
}

bool v2_find(struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e)
{
	struct table_at *at = cursor(c, e);

	if (name.n && table_find(at, name))
		return v2_tensor(c, at, a, t);
	return !at->bad && err_set(e, ERR_NOT_FOUND, "Key %.*s not found in checkpoint", STR(name));
}

bool v2_part(struct ckpt *c, const struct ckpt_tensor *t, uint32_t slice, struct arena *a,
        struct ckpt_part *p, struct err *e)
{
	struct table_at *at = cursor(c, e);
	struct ckpt_tensor s;

	*p = (struct ckpt_part){ t->shard, t->crc, t->at, t->size, t->elements, STR_NONE, at };
	if (!t->n_slices)
		return true;
	const struct ckpt_slice *cut = &t->slices[slice];
	struct str key = slice_key(a, t->name, t->rank, cut->start, cut->stored);
	if (!table_find(at, key))
		return !at->bad && table_fail(at, "tensor '%.*s': slice[%" PRIu32 "] is missing",
		                           STR(t->name), slice);
	if (!v2_tensor(c, at, a, &s))
		return false;
	p->elements = slice_elements(cut, t->rank);
	if (s.type != t->type || s.elements != p->elements || s.n_slices)
		return table_fail(at,
		        "tensor '%.*s': slice[%" PRIu32 "]: dtype or shape differs from the tensor",
		        STR(t->name), slice);
	p->shard = s.shard;
	p->crc = s.crc;
	p->at = s.at;
	p->size = s.size;
	return true;
}

bool v2_next(struct ckpt *c, struct table_at *at, struct arena *a, struct ckpt_tensor *t)
{
	while (table_next(at)) {
		/* Skips the header, and slices, which the entries of their tensors describe. */
		if (at->key.n == 0 || at->key.p[0] == '\0')
			continue;
		return v2_tensor(c, at, a, t);
	}
	return false;
}

/* ---- verifying ---- */

/* The index entry of a range of bytes of a shard. */
struct ckpt_piece {
	uint64_t at, size;
	int64_t elements;
	uint32_t shard, crc, entry;
	bool strings;
};

struct verify {
	struct ckpt *c;
	struct arena *a;
	struct err *e;
	const struct ckpt_watch *w;
	VEC(struct ckpt_piece) list;
	uint32_t *order;
	uint64_t done, total;
	uint8_t *buf;
};

static bool empty_is_right(const struct ckpt_tensor *t)
{
	return t->crc == crc32c_mask(0) || (!t->type->size && t->size == 4);
}

/* Walks the index. Every entry with bytes becomes a piece. */
static bool collect(struct verify *v)
{
	struct table_at at;
	struct ckpt_tensor t;
	uint64_t sum = 0, room = v->total;

	table_at_init(&at, &v->c->index, v->c->a, v->e);
	at.strict = true;
	for (uint32_t i = 0; table_next(&at); i++) {
		struct arena_mark m = arena_mark(v->a);
		if (at.key.n == 0)
			continue;
		if (!v2_tensor(v->c, &at, v->a, &t))
			return false;
		if (!t.n_slices && t.size == 0 && !empty_is_right(&t))
			return table_fail(&at, "tensor '%.*s': crc32c does not match", STR(t.name));
		struct ckpt_piece p = { t.at, t.size, t.elements, t.shard, t.crc, i,
			!t.type->size };
		if (!t.n_slices && t.size > room - sum)
			return table_fail(&at,
			        "tensor '%.*s': the entries up to this one need more bytes "
			        "than the shards have",
			        STR(t.name));
		arena_reset(v->a, m);
		if (t.n_slices || t.size == 0)
			continue;
		sum += t.size;
		VEC_PUSH(v->a, &v->list, p);
	}
	return !at.bad && table_verify_end(&at);
}

static int by_place(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_piece *p = ctx, *x = &p[a], *y = &p[b];

	if (x->shard != y->shard)
		return x->shard < y->shard ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Returns the name of the tensor of a piece; reads the index again. */
static struct str piece_name(struct verify *v, const struct ckpt_piece *p)
{
	struct err e = { .a = v->a };
	struct table_at at;

	table_at_init(&at, &v->c->index, v->c->a, &e);
	for (uint32_t i = 0; table_next(&at); i++)
		if (i == p->entry)
			return at.key;
	return STR_NONE;
}

static bool tick(struct verify *v, uint64_t n)
{
	v->done += n;
	if (v->w && v->w->progress && !v->w->progress(v->w->user, v->done, v->total))
		return err_set(v->e, ERR_CANCELLED, "cancelled");
	return true;
}

static bool damaged(struct verify *v, const struct ckpt_piece *p, const char *what)
{
	return err_set(err_at(v->e, v->c->shard.path, p->at), ERR_DATA_LOSS,
	        "%.*s: byte %" PRIu64 ": tensor '%.*s': %s", STR(v->c->shard.path), p->at,
	        STR(piece_name(v, p)), what);
}

/* Adds n bytes at `at` to *crc. If zero is set, checks instead that all bytes are zero. */
static bool run_over(struct verify *v, uint64_t at, uint64_t n, uint32_t *crc, bool *zero)
{
	while (n) {
		size_t now = n < CKPT_WINDOW ? (size_t)n : CKPT_WINDOW;
		if (!rfile_read(&v->c->shard, at, v->buf, now, v->a, v->e))
			return false;
		if (crc)
			*crc = crc32c_more(*crc, v->buf, now);
		for (size_t i = 0; zero && i < now; i++)
			*zero &= v->buf[i] == 0;
		at += now;
		n -= now;
		if (!tick(v, now))
			return false;
	}
	return true;
}

/* Verifies the bytes between two entries, which are padding and must be zeros. */
static bool gap(struct verify *v, uint64_t at, uint64_t end)
{
	bool zero = true;

	if (!run_over(v, at, end - at, NULL, &zero))
		return false;
	if (!zero)
		return err_set(err_at(v->e, v->c->shard.path, at), ERR_DATA_LOSS,
		        "%.*s: byte %" PRIu64 ": %" PRIu64 " bytes belong to no tensor",
		        STR(v->c->shard.path), at, end - at);
	return true;
}

/* Verifies strings: their checksum covers the lengths as numbers, so they are read as values. */
static bool strings_ok(struct verify *v, const struct ckpt_piece *p)
{
	struct arena_mark m = arena_mark(v->a);
	struct ckpt_tensor t = { .name = piece_name(v, p), .type = dtype_find(DT_STRING) };
	struct part_read *r;
	struct ckpt_values values;
	struct err e = { .a = v->a };
	struct ckpt_part part = { p->shard, p->crc, p->at, p->size, p->elements, STR_NONE, NULL };

	r = part_read_new(v->c, &t, v->a, &e);
	part_begin(r, &part);
	while (part_next(r, &values))
		;
	if (e.code)
		return err_copy(v->e, &e);
	arena_reset(v->a, m);
	return tick(v, p->size);
}

static bool check(struct verify *v, const struct ckpt_piece *p)
{
	uint32_t crc = 0;

	if (p->strings)
		return strings_ok(v, p);
	if (!run_over(v, p->at, p->size, &crc, NULL))
		return false;
	return crc32c_unmask(p->crc) == crc || damaged(v, p, "Checksum does not match");
}

/* Verifies all pieces of one shard, from v->order[*i] on. */
static bool check_shard(struct verify *v, uint32_t shard, size_t *i)
{
	uint64_t at = 0;

	if (!shard_open(v->c, shard, v->a, v->e))
		return false;
	for (; *i < v->list.n; ++*i) {
		const struct ckpt_piece *p = &v->list.v[v->order[*i]];
		if (p->shard != shard)
			break;
		if (p->at < at)
			return damaged(v, p, "it overlaps the tensor before it");
		if (p->at > v->c->shard.size || p->size > v->c->shard.size - p->at)
			return damaged(v, p, "its values end outside the file");
		if (!gap(v, at, p->at) || !check(v, p))
			return false;
		at = p->at + p->size;
	}
	return gap(v, at, v->c->shard.size);
}

/* Checks that each slice of a partitioned tensor exists. */
static bool check_slices(struct verify *v)
{
	struct table_at at;
	struct ckpt_tensor t;
	struct ckpt_part part;
	struct arena_mark m;

	table_at_init(&at, &v->c->index, v->c->a, v->e);
	for (;;) {
		m = arena_mark(v->a);
		if (!v2_next(v->c, &at, v->a, &t))
			return !v->e->code;
		for (uint32_t i = 0; i < t.n_slices; i++)
			if (!v2_part(v->c, &t, i, v->a, &part, v->e))
				return false;
		arena_reset(v->a, m);
	}
}

bool v2_verify(struct ckpt *c, const struct ckpt_watch *w, struct arena *a, struct err *e)
{
	struct verify v = { .c = c, .a = a, .e = e, .w = w };
	size_t i = 0;

	v.buf = ARENA_ARRAY(a, CKPT_WINDOW, uint8_t);
	for (uint32_t s = 0; s < c->shards; s++) {
		if (!shard_open(c, s, a, e))
			return false;
		v.total += c->shard.size;
	}
	if (!collect(&v))
		return false;
	v.order = sort_order(a, v.list.n, by_place, v.list.v);
	for (uint32_t s = 0; s < c->shards; s++)
		if (!check_shard(&v, s, &i))
			return false;
	return check_slices(&v);
}
