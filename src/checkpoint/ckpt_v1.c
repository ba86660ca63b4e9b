/* SPDX-License-Identifier: Apache-2.0
 *
 * Version 1: tables in which the empty key lists all tensors, and each other key holds one slice.
 * Several tables, found by a pattern, may share the slices of a tensor.
 */
#include <glob.h>
#include <inttypes.h>

#include "base/sort.h"
#include "checkpoint/ckpt_internal.h"

static const struct table_frame frame = { "Unable to open table file ", ": DATA_LOSS: ", "",
	": perhaps your file is in a different file format and you need to use a different restore "
	"operator?" };

static struct str item_bytes(const struct ckpt *c, const struct v1_item *i)
{
	struct str meta = c->files[i->file].meta;
	const uint8_t *p = (const uint8_t *)meta.p + i->at;
	uint64_t n = 0;

	varint_get(&p, (const uint8_t *)meta.p + meta.n, &n);
	return str_make(p, (size_t)n);
}

static struct str item_name(const struct ckpt *c, uint32_t i)
{
	return proto_name(item_bytes(c, &c->items[i]));
}

/* Directs errors of a file's cursor to this call. */
static struct table_at *cursor(struct ckpt *c, uint32_t file, struct err *e)
{
	struct table_at *at = &c->files[file].at;

	at->e = e;
	at->bad = false;
	return at;
}

static bool read_item(struct ckpt *c, const struct v1_item *i, struct arena *a,
        struct ckpt_tensor *t, struct err *e)
{
	struct table_at *at = cursor(c, i->file, e);

	at->place = c->files[i->file].meta_at;
	t->name = STR_NONE;
	if (!proto_tensor(at, item_bytes(c, i), TENSOR_V1, a, t))
		return false;
	for (uint32_t s = 0; s < t->n_slices; s++)
		t->slices[s].file = i->file;
	return true;
}

/* ---- opening ---- */

struct items {
	VEC(struct v1_item) list;
};

/* Lists and validates the tensors in the meta message of a file. */
static bool list_items(
        struct ckpt *c, uint32_t file, struct items *items, struct arena *scratch, struct err *e)
{
	struct v1_file *f = &c->files[file];
	struct leaf l = leaf_of(f->meta.p ? f->meta : S(""));
	const uint8_t *base = l.p;
	struct table_at *at = cursor(c, file, e);
	struct ckpt_tensor t;

	while (leaf_next(&l)) {
		struct v1_item item = { file, (uint32_t)(l.p - base) };
		if (l.tag == LEAF_TAG(1, WIRE_BYTES)) {
			struct arena_mark m = arena_mark(scratch);
			leaf_bytes(&l);
			if (l.bad || !read_item(c, &item, scratch, &t, e))
				break;
			arena_reset(scratch, m);
			VEC_PUSH(c->a, &items->list, item);
		} else if (l.tag == LEAF_TAG(2, WIRE_BYTES)) {
			if (!proto_version(at, leaf_bytes(&l), &c->version))
				return false;
		} else {
			leaf_skip(&l);
		}
	}
	if (l.bad)
		return table_fail(at, "the list of tensors cannot be parsed");
	return !e->code;
}

static bool open_file(struct ckpt *c, uint32_t i, struct str path, struct err *e)
{
	struct v1_file *f = &c->files[i];
	struct proto_slice s;

	if (!table_open(&f->table, c->a, path, &frame, e))
		return false;
	table_at_init(&f->at, &f->table, c->a, e);
	if (!table_find(&f->at, S("")))
		return !f->at.bad && table_fail(&f->at, "the table has no list of tensors");
	f->meta_at = f->at.place;
	if (!proto_saved(&f->at, f->at.value, c->a, &s))
		return false;
	if (!s.has_meta)
		return table_fail(&f->at, "the table has no list of tensors");
	if (s.meta.n > UINT32_MAX)
		return table_fail(&f->at, "the list of tensors is too long");
	f->meta = str_copy(c->a, s.meta);
	return true;
}

static int by_name(const void *ctx, uint32_t a, uint32_t b)
{
	return str_cmp(item_name(ctx, a), item_name(ctx, b));
}

static void sort_items(struct ckpt *c, const struct items *items)
{
	uint32_t n = (uint32_t)items->list.n;
	const uint32_t *order;
	struct v1_item *sorted;

	c->items = items->list.v;
	order = sort_order(c->a, n, by_name, c);
	sorted = ARENA_ARRAY(c->a, n, struct v1_item);
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = c->items[order[i]];
	c->items = sorted;
	c->n_items = n;
}

/* Guard: frees the result of glob. */
static void drop_glob(void *what)
{
	globfree(what);
}

bool v1_open(struct ckpt *c, struct err *e)
{
	struct items items = { 0 };
	struct guard guard;
	struct arena *scratch = e->a;
	glob_t g = { 0 };
	bool ok = true;

	if (glob(str_z(c->a, c->path), 0, NULL, &g) != 0 || g.gl_pathc == 0) {
		globfree(&g);
		return err_set(e, ERR_NOT_FOUND,
		        "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
		        "files for %.*s",
		        STR(c->path));
	}
	work_guard(c->a->work, &guard, drop_glob, &g);
	c->files = ARENA_ARRAY(c->a, g.gl_pathc, struct v1_file);
	for (size_t i = 0; ok && i < g.gl_pathc; i++) {
		c->files[i].table.file.fd = -1;
		c->n_files = (uint32_t)i + 1;
		ok = open_file(c, (uint32_t)i, str_copy(c->a, str_of(g.gl_pathv[i])), e) &&
		     list_items(c, (uint32_t)i, &items, scratch, e);
	}
	work_unguard(c->a->work, &guard);
	globfree(&g);
	if (ok)
		sort_items(c, &items);
	return ok;
}

/* ---- finding ---- */

static bool same_shape(const struct ckpt_tensor *x, const struct ckpt_tensor *y)
{
	return x->type == y->type && x->rank == y->rank &&
	       (x->rank == 0 || memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) == 0);
}

/* Appends the slices of y to the slices of x. */
static void add_slices(struct ckpt_tensor *x, const struct ckpt_tensor *y, struct arena *a)
{
	uint32_t n = x->n_slices + y->n_slices;
	struct ckpt_slice *all = ARENA_ARRAY(a, n, struct ckpt_slice);

	for (uint32_t i = 0; i < n; i++)
		all[i] = i < x->n_slices ? x->slices[i] : y->slices[i - x->n_slices];
	x->slices = all;
	x->n_slices = n;
}

bool v1_at(struct ckpt *c, uint32_t *i, struct arena *a, struct ckpt_tensor *t, struct err *e)
{
	struct ckpt_tensor more;

	if (e->code || *i == c->n_items || !read_item(c, &c->items[*i], a, t, e))
		return false;
	while (++*i < c->n_items && str_eq(item_name(c, *i), t->name)) {
		if (!read_item(c, &c->items[*i], a, &more, e))
			return false;
		if (!same_shape(t, &more))
			return table_fail(cursor(c, c->items[*i].file, e),
			        "tensor '%.*s': type or shape differs from the list of tensors",
			        STR(t->name));
		add_slices(t, &more, a);
	}
	return true;
}

bool v1_find(struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e)
{
	uint32_t i;

	BISECT(i, 0, c->n_items, str_cmp(item_name(c, i), name) < 0);
	if (i == c->n_items || !str_eq(item_name(c, i), name))
		return err_set(e, ERR_NOT_FOUND, "%.*s not found in checkpoint file", STR(name));
	return v1_at(c, &i, a, t, e);
}

static bool same_slice(const struct proto_slice *s, const struct ckpt_slice *cut, uint32_t rank)
{
	size_t n = rank * sizeof(int64_t);

	return s->rank == rank && (rank == 0 || (memcmp(s->start, cut->start, n) == 0 &&
	                                                memcmp(s->length, cut->stored, n) == 0));
}

bool v1_part(struct ckpt *c, const struct ckpt_tensor *t, uint32_t slice, struct arena *a,
        struct ckpt_part *p, struct err *e)
{
	const struct ckpt_slice *cut = &t->slices[slice];
	struct table_at *at = cursor(c, cut->file, e);
	struct proto_slice s;
	struct str key = slice_key(a, t->name, t->rank, cut->start, cut->stored);

	if (!table_find(at, key))
		return !at->bad &&
		       table_fail(at, "tensor '%.*s': slice[%" PRIu32 "]: data is missing",
		               STR(t->name), slice);
	if (!proto_saved(at, at->value, a, &s))
		return false;
	if (!str_eq(s.name, t->name))
		return table_fail(
		        at, "tensor '%.*s': data.name is '%.*s'", STR(t->name), STR(s.name));
	if (!same_slice(&s, cut, t->rank))
		return table_fail(at, "tensor '%.*s': data.slice is not slice[%" PRIu32 "]",
		        STR(t->name), slice);
	*p = (struct ckpt_part){
		.elements = slice_elements(cut, t->rank), .tensor = s.tensor, .where = at
	};
	return true;
}

/* ---- verifying ---- */

/* True if every slice listed in the tables has its values. */
static bool check_values(struct ckpt *c, struct arena *a, uint64_t *slices, struct err *e)
{
	struct ckpt_tensor t;
	struct ckpt_values v;
	struct ckpt_part p;

	for (uint32_t i = 0; i < c->n_items;) {
		struct arena_mark m = arena_mark(a);
		if (!v1_at(c, &i, a, &t, e))
			return false;
		struct part_read *r = part_read_new(c, &t, a, e);
		for (uint32_t s = 0; s < t.n_slices; s++, ++*slices) {
			if (!v1_part(c, &t, s, a, &p, e))
				return false;
			part_begin(r, &p);
			while (part_next(r, &v))
				;
			if (e->code)
				return false;
		}
		arena_reset(a, m);
	}
	return true;
}

/* Verifies every block of a table and counts its values. */
static bool check_table(struct ckpt *c, uint32_t file, const struct ckpt_watch *w, uint64_t done,
        uint64_t total, uint64_t *values, struct err *e)
{
	struct table_at at;

	table_at_init(&at, &c->files[file].table, c->a, e);
	at.strict = true;
	for (uint64_t place = UINT64_MAX; table_next(&at); place = at.place) {
		*values += at.key.n > 0;
		if (place != at.place && w && w->progress &&
		        !w->progress(w->user, done + at.expect, total))
			return err_set(e, ERR_CANCELLED, "cancelled");
	}
	return !at.bad && table_verify_end(&at);
}

bool v1_verify(struct ckpt *c, const struct ckpt_watch *w, struct arena *a, struct err *e)
{
	uint64_t total = 0, done = 0, values = 0, slices = 0;

	for (uint32_t i = 0; i < c->n_files; i++)
		total += c->files[i].table.file.size;
	for (uint32_t i = 0; i < c->n_files; i++) {
		if (!check_table(c, i, w, done, total, &values, e))
			return false;
		done += c->files[i].table.file.size;
	}
	if (!check_values(c, a, &slices, e))
		return false;
	if (values != slices)
		return table_fail(cursor(c, 0, e),
		        "number of listed slices: %" PRIu64 "; slices with values: %" PRIu64,
		        slices, values);
	return true;
}
