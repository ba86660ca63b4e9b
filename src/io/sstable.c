/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tables of sorted keys. Trusts nothing in a file: handles are checked against its size,
 * compressed blocks are measured and walked before memory is allocated for them, entries must be in
 * order.
 *
 *   entry: varint shared, varint more, varint value_n | key bytes (more) | value bytes (value_n)
 *   block: entry ... entry | offset of each restart, fixed32 | count of restarts, fixed32
 */
#include "io/sstable.h"

#include <inttypes.h>

#include "base/crc32c.h"

#if HAVE_SNAPPY
#include <snappy-c.h>
#endif

#define FOOTER  48
#define TRAILER 5 /* type and checksum after a block */
#define MAGIC   UINT64_C(0xdb4775248b80fb57)
#define PIECE   ((size_t)1 << 20) /* larger blocks are checked piece by piece first */
#define GROWTH  22                /* largest expansion factor of snappy data */

enum { BLOCK_RAW, BLOCK_SNAPPY };

static const struct table_frame plain = { "", ": ", "", "" };

/* Writes the sentence about byte `at`. */
static bool fail_at(
        const struct sstable *t, struct err *e, enum status code, uint64_t at, const char *what)
{
	const struct table_frame *f = t->frame;

	return err_set(err_at(e, t->file.path, at), code, "%s%.*s%sbyte %" PRIu64 ": %s%s", f->lead,
	        STR(t->file.path), f->middle, at, what, f->tail);
}

static bool lost(const struct sstable *t, struct err *e, uint64_t at, const char *what)
{
	return fail_at(t, e, ERR_DATA_LOSS, at, what);
}

bool table_fail(struct table_at *c, const char *f, ...)
{
	struct sb b = sb_in(c->e->a);
	va_list ap;

	va_start(ap, f);
	sb_vfmt(&b, f, ap);
	va_end(ap);
	c->bad = true;
	return err_set(err_at(c->e, c->t->file.path, c->place), ERR_DATA_LOSS,
	        "%.*s: byte %" PRIu64 ": %.*s", STR(c->t->file.path), c->place, STR(sb_str(&b)));
}

/* ---- blocks ---- */

/* Makes room for n bytes in a buffer; its contents may be lost. */
static void make_room(struct arena *a, uint8_t **buf, size_t *cap, size_t n)
{
	if (n > *cap)
		*buf = vec_grow(a, *buf, cap, n, 1);
}

/* True if the stored checksum matches. Used before memory is allocated for a large block. */
static bool check_large(
        struct sstable *t, struct table_block *b, struct arena *a, bool *ok, struct err *e)
{
	uint64_t at = b->from.at, left = b->from.size + 1;
	uint32_t crc = 0;
	uint8_t stored[4];

	make_room(a, &b->packed, &b->packed_cap, PIECE);
	while (left) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		if (!rfile_read(&t->file, at, b->packed, n, a, e))
			return false;
		crc = crc32c_more(crc, b->packed, n);
		at += n;
		left -= n;
	}
	if (!rfile_read(&t->file, at, stored, sizeof stored, a, e))
		return false;
	*ok = crc32c_unmask(le32_get(stored)) == crc;
	return true;
}

#if HAVE_SNAPPY
/* Decompresses n bytes of b->packed to b->buf, after checking their declared size. */
static bool unpack(struct table_block *b, struct arena *a, size_t *n)
{
	const char *from = (const char *)b->packed;
	size_t size;

	if (snappy_uncompressed_length(from, *n, &size) != SNAPPY_OK || size / GROWTH > *n ||
	        snappy_validate_compressed_buffer(from, *n) != SNAPPY_OK)
		return false;
	make_room(a, &b->buf, &b->cap, size);
	if (snappy_uncompress(from, *n, (char *)b->buf, &size) != SNAPPY_OK)
		return false;
	*n = size;
	return true;
}
#endif

/* Finds the restart array of the contents in b->buf, and starts at the first entry. */
static bool begin(const struct sstable *t, struct table_block *b, size_t n, struct err *e)
{
	b->restarts = n < 4 ? UINT32_MAX : le32_get(b->buf + n - 4);
	if (n < 4 || b->restarts > (n - 4) / 4 || (b->restarts == 0 && n > 4))
		return lost(t, e, b->from.at, "bad block contents");
	b->p = b->buf;
	b->entries_end = b->buf + (n - 4 - (size_t)4 * b->restarts);
	b->first = b->loaded = true;
	return true;
}

/* True if the block and its trailer are before the footer. */
static bool lies_inside(const struct sstable *t, struct table_handle h)
{
	uint64_t room = t->file.size - FOOTER;

	return h.at <= room && room - h.at >= TRAILER && h.size <= room - h.at - TRAILER;
}

/* Reads, verifies and decompresses the block at h. */
static bool load(struct sstable *t, struct table_block *b, struct table_handle h, struct arena *a,
        struct err *e)
{
	size_t n = (size_t)h.size;
	bool ok = true;

	b->loaded = false;
	b->from = h;
	if (!lies_inside(t, h))
		return lost(t, e, h.at, "truncated block read");
	if (n > PIECE && !check_large(t, b, a, &ok, e))
		return false;
	if (!ok)
		return lost(t, e, h.at, "block checksum mismatch");
	make_room(a, &b->packed, &b->packed_cap, n + TRAILER);
	if (!rfile_read(&t->file, h.at, b->packed, n + TRAILER, a, e))
		return false;
	if (crc32c_unmask(le32_get(b->packed + n + 1)) != crc32c(b->packed, n + 1))
		return lost(t, e, h.at, "block checksum mismatch");
	switch (b->packed[n]) {
	case BLOCK_RAW: {
		uint8_t *p = b->packed;
		size_t cap = b->packed_cap;
		b->packed = b->buf;
		b->packed_cap = b->cap;
		b->buf = p;
		b->cap = cap;
		return begin(t, b, n, e);
	}
	case BLOCK_SNAPPY:
#if HAVE_SNAPPY
		if (!unpack(b, a, &n))
			return lost(t, e, h.at, "corrupted compressed block contents");
		return begin(t, b, n, e);
#else
		return fail_at(t, e, ERR_UNIMPLEMENTED, h.at,
		        "the block is compressed, and this build has no snappy");
#endif
	default: return lost(t, e, h.at, "bad block type");
	}
}

static bool small_varint(struct table_block *b, size_t *out)
{
	uint64_t v;

	if (!varint_get(&b->p, b->entries_end, &v) || v > UINT32_MAX)
		return false;
	*out = (size_t)v;
	return true;
}

/* True if a key that shares n bytes with its predecessor sorts after the predecessor. */
static bool ascends(const struct table_block *b, size_t shared, size_t more)
{
	struct str old = str_make(b->key_buf + shared, b->key_n - shared);

	return str_cmp(str_make(b->p, more), old) > 0;
}

/* Reads the entry at b->p into key and value. Returns false at the end, or when *ok becomes
 * false. */
static bool entry(struct table_block *b, struct arena *a, bool *ok)
{
	size_t shared = 0, more = 0, value = 0;

	if (b->p == b->entries_end)
		return false;
	*ok = small_varint(b, &shared) && small_varint(b, &more) && small_varint(b, &value) &&
	      shared <= (b->first ? 0 : b->key_n) && more <= (size_t)(b->entries_end - b->p) &&
	      value <= (size_t)(b->entries_end - b->p) - more &&
	      (!b->has_key || ascends(b, shared, more));
	if (!*ok)
		return false;
	if (shared + more >= b->key_cap)
		b->key_buf = vec_grow(a, b->key_buf, &b->key_cap, shared + more + 1, 1);
	if (more)
		memcpy(b->key_buf + shared, b->p, more);
	b->first = false;
	b->has_key = true;
	b->key_n = shared + more;
	b->value = str_make(b->p + more, value);
	b->p += more + value;
	return true;
}

static struct str block_key(const struct table_block *b)
{
	return str_make(b->key_buf, b->key_n);
}

/* Moves to restart i. Returns false if its offset is invalid. */
static bool restart(struct table_block *b, uint32_t i)
{
	uint32_t at = le32_get(b->entries_end + (size_t)4 * i);

	if (at >= (size_t)(b->entries_end - b->buf))
		return false;
	b->p = b->buf + at;
	b->first = true;
	b->has_key = false;
	return true;
}

/* Reads the first entry with a key not less than the given one. Returns false if there is none, or
 * on errors, which set *ok to false. */
static bool seek(struct table_block *b, struct str key, struct arena *a, bool *ok)
{
	uint32_t low = 0, high = b->restarts;

	*ok = true;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		*ok = restart(b, mid) && entry(b, a, ok);
		if (!*ok)
			return false;
		if (str_cmp(block_key(b), key) < 0)
			low = mid;
		else
			high = mid;
	}
	b->p = b->buf;
	b->first = true;
	b->has_key = false;
	if (low && !restart(b, low))
		return *ok = false;
	while (entry(b, a, ok))
		if (str_cmp(block_key(b), key) >= 0)
			return true;
	return false;
}

/* ---- tables ---- */

static bool get_handle(const uint8_t **p, const uint8_t *end, struct table_handle *h)
{
	return varint_get(p, end, &h->at) && varint_get(p, end, &h->size);
}

/* True if the first 40 bytes of the footer are exactly a writer's encoding of the handles. */
static bool footer_is_usual(const struct sstable *t, const uint8_t *footer)
{
	uint8_t made[FOOTER] = { 0 }, *p = made;

	p = varint_put(p, t->meta.at);
	p = varint_put(p, t->meta.size);
	p = varint_put(p, t->index.at);
	varint_put(p, t->index.size);
	return memcmp(made, footer, FOOTER - 8) == 0;
}

/* Fails to open a table. The message has no offset. */
static bool fail_open(const struct sstable *t, struct err *e, const char *what, const char *more)
{
	const struct table_frame *f = t->frame;

	return err_set(e, ERR_DATA_LOSS, "%s%.*s%s%s%s%s", f->lead, STR(t->file.path), f->middle,
	        what, more, f->tail);
}

bool table_open(struct sstable *t, struct arena *a, struct str path,
        const struct table_frame *frame, struct err *e)
{
	uint8_t footer[FOOTER];
	const uint8_t *p = footer;

	*t = (struct sstable){ .frame = frame ? frame : &plain };
	rfile_init(&t->file, a, path);
	if (!rfile_open(&t->file, a, e))
		return false;
	if (t->file.size < FOOTER)
		return fail_open(t, e, "file is too short to be an sstable", "");
	if (!rfile_read(&t->file, t->file.size - FOOTER, footer, FOOTER, a, e))
		return false;
	if (le64_get(footer + FOOTER - 8) != MAGIC)
		return fail_open(t, e, "not an sstable (bad magic number)", t->frame->magic);
	if (!get_handle(&p, footer + FOOTER - 8, &t->meta) ||
	        !get_handle(&p, footer + FOOTER - 8, &t->index))
		return lost(t, e, t->file.size - FOOTER, "bad block handle");
	t->odd_footer = !footer_is_usual(t, footer);
	if (!load(t, &t->top, t->index, a, e))
		return false;
	t->frame = &plain;
	return true;
}

void table_close(struct sstable *t)
{
	rfile_close(&t->file);
}

/* ---- cursors ---- */

void table_at_init(struct table_at *c, struct sstable *t, struct arena *a, struct err *e)
{
	*c = (struct table_at){ .t = t, .a = a, .e = e, .place = t->index.at };
	c->top = t->top;
	c->top.key_buf = NULL;
	c->top.key_cap = c->top.key_n = 0;
}

/* Loads the block of the current index entry. */
static bool descend(struct table_at *c)
{
	const uint8_t *p = (const uint8_t *)c->top.value.p;
	struct table_handle h;

	if (!get_handle(&p, p + c->top.value.n, &h)) {
		c->place = c->t->index.at;
		return table_fail(c, "bad block handle");
	}
	c->place = h.at;
	if (c->strict && h.at != c->expect)
		return table_fail(c, "gap or overlap before this block");
	if (!c->block.loaded || c->block.from.at != h.at || c->block.from.size != h.size)
		c->bad = !load(c->t, &c->block, h, c->a, c->e);
	c->expect = h.at + h.size + TRAILER;
	return !c->bad;
}

static bool bad_entry(struct table_at *c)
{
	return table_fail(c, "bad entry in block");
}

bool table_next(struct table_at *c)
{
	bool ok = true;

	if (c->bad)
		return false;
	while (!c->block.loaded || !entry(&c->block, c->a, &ok)) {
		if (!ok)
			return bad_entry(c);
		if (!entry(&c->top, c->a, &ok)) {
			c->place = c->t->index.at;
			return ok ? false : bad_entry(c);
		}
		if (!descend(c))
			return false;
		c->block.p = c->block.buf;
		c->block.first = true;
	}
	c->key = block_key(&c->block);
	c->value = c->block.value;
	return true;
}

bool table_find(struct table_at *c, struct str key)
{
	bool ok;

	if (c->bad)
		return false;
	if (!seek(&c->top, key, c->a, &ok)) {
		c->place = c->t->index.at;
		return ok ? false : bad_entry(c);
	}
	if (!descend(c))
		return false;
	if (!seek(&c->block, key, c->a, &ok))
		return ok ? false : bad_entry(c);
	c->key = block_key(&c->block);
	c->value = c->block.value;
	return str_eq(c->key, key);
}

bool table_verify_end(struct table_at *c)
{
	struct sstable *t = c->t;
	uint64_t meta_end = t->meta.at + t->meta.size + TRAILER;

	c->place = t->file.size - FOOTER;
	if (t->odd_footer)
		return table_fail(c, "the footer is damaged");
	if (t->meta.at != c->expect || t->index.at != meta_end ||
	        t->index.at + t->index.size + TRAILER != t->file.size - FOOTER)
		return table_fail(c, "there is a gap between the blocks, or before the footer");
	return load(t, &c->block, t->meta, c->a, c->e) || !(c->bad = true);
}
