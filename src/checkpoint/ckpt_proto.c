/* SPDX-License-Identifier: Apache-2.0
 *
 * The messages of checkpoints, decoded by hand: they are small, and errors name tensor and field.
 * Fields with a wrong wire type count as unknown, as in the original.
 */
#include <inttypes.h>

#include "base/arena.h"
#include "checkpoint/ckpt_internal.h"

struct i64s {
	VEC(int64_t) list;
};

struct raw_slice {
	struct i64s start, length;
	bool missing; /* true: the extent has a start but no length */
};

/* A tensor's message as decoded, before validation. */
struct raw_tensor {
	struct str name;
	uint64_t type;
	struct i64s dims;
	bool unknown_rank, bad;
	VEC(struct raw_slice) slices;
	int64_t shard, at, size;
	uint32_t crc;
};

static struct leaf walk(struct str bytes)
{
	return leaf_of(bytes.p ? bytes : S(""));
}

/* Returns the message after the tag. Sets bad if the message is truncated. */
static struct leaf enter(struct leaf *l)
{
	return walk(leaf_bytes(l));
}

static int64_t read_dim(struct leaf l, bool *bad)
{
	int64_t size = 0;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			size = (int64_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	*bad |= l.bad;
	return size;
}

static void read_shape(struct leaf l, struct arena *a, struct raw_tensor *t)
{
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(2, WIRE_BYTES)) {
			int64_t dim = read_dim(enter(&l), &t->bad);
			VEC_PUSH(a, &t->dims.list, dim);
		} else if (l.tag == LEAF_TAG(3, WIRE_VARINT)) {
			t->unknown_rank = leaf_varint(&l) != 0;
		} else {
			leaf_skip(&l);
		}
	}
	t->bad |= l.bad;
}

static void read_extent(struct leaf l, struct arena *a, struct raw_slice *s, bool *bad)
{
	int64_t start = 0, length = SLICE_FULL;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			start = (int64_t)leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_VARINT))
			length = (int64_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	}
	*bad |= l.bad;
	VEC_PUSH(a, &s->start.list, start);
	VEC_PUSH(a, &s->length.list, length);
}

static void read_slice(struct leaf l, struct arena *a, struct raw_slice *s, bool *bad)
{
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			read_extent(enter(&l), a, s, bad);
		else
			leaf_skip(&l);
	}
	*bad |= l.bad;
}

static void add_slice(struct leaf *l, struct arena *a, struct raw_tensor *t)
{
	struct raw_slice s = { 0 };

	read_slice(enter(l), a, &s, &t->bad);
	VEC_PUSH(a, &t->slices, s);
}

static void read_meta(struct leaf l, struct arena *a, struct raw_tensor *t)
{
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): t->name = leaf_bytes(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): read_shape(enter(&l), a, t); break;
		case LEAF_TAG(3, WIRE_VARINT): t->type = leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_BYTES): add_slice(&l, a, t); break;
		default: leaf_skip(&l);
		}
	}
	t->bad |= l.bad;
}

static void read_entry(struct leaf l, struct arena *a, struct raw_tensor *t)
{
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): t->type = leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): read_shape(enter(&l), a, t); break;
		case LEAF_TAG(3, WIRE_VARINT): t->shard = (int32_t)leaf_varint(&l); break;
		case LEAF_TAG(4, WIRE_VARINT): t->at = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): t->size = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_FIXED32): t->crc = leaf_fixed32(&l); break;
		case LEAF_TAG(7, WIRE_BYTES): add_slice(&l, a, t); break;
		default: leaf_skip(&l);
		}
	}
	t->bad |= l.bad;
}

/* ---- validation ---- */

#define FIELD_FAIL(c, t, ...) field_fail((c), (t)->name, __VA_ARGS__)
static bool field_fail(struct table_at *c, struct str name, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

static bool field_fail(struct table_at *c, struct str name, const char *f, ...)
{
	struct sb b = sb_in(c->e->a);
	va_list ap;

	va_start(ap, f);
	sb_vfmt(&b, f, ap);
	va_end(ap);
	return table_fail(c, "tensor '%.*s': %.*s", STR(name), STR(sb_str(&b)));
}

/* Validates extents without the shape. */
static bool check_extents(struct table_at *c, const struct raw_tensor *t)
{
	for (size_t i = 0; i < t->slices.n; i++) {
		const struct raw_slice *s = &t->slices.v[i];
		for (size_t d = 0; d < s->start.list.n; d++) {
			int64_t start = s->start.list.v[d], length = s->length.list.v[d], end;
			if (start < 0)
				return FIELD_FAIL(
				        c, t, "slice[%zu].extent[%zu].start is negative", i, d);
			if (length == SLICE_FULL && start)
				return FIELD_FAIL(
				        c, t, "slice[%zu].extent[%zu].length is missing", i, d);
			if (length < 0 && length != SLICE_FULL)
				return FIELD_FAIL(
				        c, t, "slice[%zu].extent[%zu].length is negative", i, d);
			if (__builtin_add_overflow(start, length, &end))
				return FIELD_FAIL(c, t,
				        "slice[%zu].extent[%zu]: start + length does not fit in 64 "
				        "bits",
				        i, d);
		}
	}
	return true;
}

static bool check_shape(struct table_at *c, const struct raw_tensor *t, int64_t *elements)
{
	int64_t all = 1;

	*elements = 1;
	if (t->unknown_rank)
		return FIELD_FAIL(c, t, "shape.unknown_rank is set");
	if (t->dims.list.n > CKPT_RANK_MAX)
		return FIELD_FAIL(c, t, "shape.dim: %zu dimensions, at most %d are supported",
		        t->dims.list.n, CKPT_RANK_MAX);
	for (size_t d = 0; d < t->dims.list.n; d++) {
		int64_t size = t->dims.list.v[d];
		if (size < 0)
			return FIELD_FAIL(c, t, "shape.dim[%zu].size is negative", d);
		if (__builtin_mul_overflow(all, size ? size : 1, &all))
			return FIELD_FAIL(
			        c, t, "shape: the number of elements does not fit in 64 bits");
		*elements = size ? *elements * size : 0;
	}
	return true;
}

/* Validates extents against the shape and stores them as slices of t. */
static bool fit_slice(struct table_at *c, const struct raw_tensor *raw, size_t i, struct arena *a,
        struct ckpt_tensor *t)
{
	const struct raw_slice *s = &raw->slices.v[i];
	int64_t *length = ARENA_ARRAY(a, t->rank, int64_t);

	if (s->start.list.n != t->rank)
		return FIELD_FAIL(c, raw,
		        "slice[%zu].extent: %zu extents for %" PRIu32 " dimensions", i,
		        s->start.list.n, t->rank);
	for (uint32_t d = 0; d < t->rank; d++) {
		length[d] = s->length.list.v[d] == SLICE_FULL ? t->dims[d] : s->length.list.v[d];
		if (s->start.list.v[d] > t->dims[d] - length[d])
			return FIELD_FAIL(c, raw,
			        "slice[%zu].extent[%" PRIu32 "] ends beyond shape.dim[%" PRIu32 "]",
			        i, d, d);
	}
	t->slices[i].start = s->start.list.v;
	t->slices[i].stored = s->length.list.v;
	t->slices[i].length = length;
	return true;
}

static bool check_place(struct table_at *c, const struct raw_tensor *raw, struct ckpt_tensor *t)
{
	int64_t size = t->elements;

	if (raw->shard < 0)
		return FIELD_FAIL(c, raw, "shard_id is negative");
	if (raw->at < 0)
		return FIELD_FAIL(c, raw, "offset is negative");
	if (raw->size < 0)
		return FIELD_FAIL(c, raw, "size is negative");
	if (__builtin_mul_overflow(size, (int64_t)t->type->size, &size))
		return FIELD_FAIL(c, raw, "shape: the number of bytes does not fit in 64 bits");
	if (t->type->size && size != raw->size)
		return table_fail(c,
		        "Invalid size in bundle entry: key %.*s; stored size %" PRId64
		        "; expected size %" PRId64,
		        STR(raw->name), raw->size, size);
	if (!t->type->size && (t->elements ? raw->size < 4 || raw->size - 4 < t->elements
	                                   : raw->size != 0 && raw->size != 4))
		return FIELD_FAIL(c, raw, "size: %" PRId64 " bytes cannot hold %" PRId64 " strings",
		        raw->size, t->elements);
	t->shard = (uint32_t)raw->shard;
	t->at = (uint64_t)raw->at;
	t->size = (uint64_t)raw->size;
	t->crc = raw->crc;
	return true;
}

bool proto_tensor(
        struct table_at *c, struct str bytes, int version, struct arena *a, struct ckpt_tensor *t)
{
	struct raw_tensor raw = { .name = t->name };

	if (version == TENSOR_V1)
		read_meta(walk(bytes), a, &raw);
	else
		read_entry(walk(bytes), a, &raw);
	if (raw.bad)
		return FIELD_FAIL(c, &raw, "its message cannot be parsed");
	*t = (struct ckpt_tensor){ .name = raw.name };
	if (!check_extents(c, &raw) || !check_shape(c, &raw, &t->elements))
		return false;
	if (!raw.type)
		return FIELD_FAIL(
		        c, &raw, "%s is missing", version == TENSOR_V1 ? "type" : "dtype");
	t->type = dtype_find(raw.type > UINT32_MAX ? 0 : (uint32_t)raw.type);
	if (!t->type)
		return FIELD_FAIL(c, &raw, "%s: %" PRIu64 " is not a checkpoint data type",
		        version == TENSOR_V1 ? "type" : "dtype", raw.type);
	t->rank = (uint32_t)raw.dims.list.n;
	t->dims = raw.dims.list.v;
	t->n_slices = (uint32_t)raw.slices.n;
	t->slices = ARENA_ARRAY(a, raw.slices.n, struct ckpt_slice);
	for (size_t i = 0; i < raw.slices.n; i++)
		if (!fit_slice(c, &raw, i, a, t))
			return false;
	return version == TENSOR_V1 || t->n_slices || check_place(c, &raw, t);
}

struct str proto_name(struct str bytes)
{
	struct leaf l = walk(bytes);
	struct str name = STR_NONE;

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			name = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	return name;
}

bool proto_version(struct table_at *c, struct str bytes, uint64_t *producer)
{
	struct leaf l = walk(bytes);
	uint64_t least = 0;
	bool refused = false;

	*producer = 0;
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT)) {
			*producer = leaf_varint(&l);
		} else if (l.tag == LEAF_TAG(2, WIRE_VARINT)) {
			least = leaf_varint(&l);
		} else if (l.tag == LEAF_TAG(3, WIRE_VARINT)) {
			refused |= leaf_varint(&l) == CKPT_VERSION;
		} else if (l.tag == LEAF_TAG(3, WIRE_BYTES)) {
			struct leaf in = enter(&l);
			while (in.p < in.end && !in.bad)
				refused |= leaf_varint(&in) == CKPT_VERSION;
			l.bad |= in.bad;
		} else {
			leaf_skip(&l);
		}
	}
	if (l.bad)
		return table_fail(c, "the version cannot be parsed");
	if (refused || (least > CKPT_VERSION && least < INT32_MAX))
		return table_fail(c,
		        "the checkpoint needs a reader of version %" PRIu64
		        ", this one has version %d",
		        least, CKPT_VERSION);
	return true;
}

bool proto_header(struct table_at *c, struct str bytes, struct proto_header *h)
{
	struct leaf l = walk(bytes);
	struct str version = STR_NONE;

	*h = (struct proto_header){ 0 };
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_VARINT))
			h->shards = leaf_varint(&l);
		else if (l.tag == LEAF_TAG(2, WIRE_VARINT))
			h->endianness = leaf_varint(&l);
		else if (l.tag == LEAF_TAG(3, WIRE_BYTES))
			version = leaf_bytes(&l);
		else
			leaf_skip(&l);
	}
	if (l.bad)
		return table_fail(c, "the header of the bundle cannot be parsed");
	return proto_version(c, version, &h->version);
}

static bool read_saved_slice(struct leaf l, struct arena *a, struct proto_slice *s)
{
	struct raw_slice raw = { 0 };
	bool bad = false;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): s->name = leaf_bytes(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): read_slice(enter(&l), a, &raw, &bad); break;
		case LEAF_TAG(3, WIRE_BYTES): s->tensor = leaf_bytes(&l); break;
		default: leaf_skip(&l);
		}
	}
	s->rank = (uint32_t)raw.start.list.n;
	s->start = raw.start.list.v;
	s->length = raw.length.list.v;
	return !bad && !l.bad;
}

bool proto_saved(struct table_at *c, struct str bytes, struct arena *a, struct proto_slice *s)
{
	struct leaf l = walk(bytes);
	bool ok = true;

	*s = (struct proto_slice){ 0 };
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES)) {
			s->meta = leaf_bytes(&l);
			s->has_meta = true;
		} else if (l.tag == LEAF_TAG(2, WIRE_BYTES)) {
			ok &= read_saved_slice(enter(&l), a, s);
		} else {
			leaf_skip(&l);
		}
	}
	if (ok && !l.bad)
		return true;
	if (s->name.n)
		return field_fail(c, s->name, "its values cannot be parsed");
	return table_fail(c, "a value is not a SavedTensorSlices");
}
