/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the readers of checkpoints.
 */
#ifndef TFPROF_CHECKPOINT_CKPT_INTERNAL_H
#define TFPROF_CHECKPOINT_CKPT_INTERNAL_H

#include "io/sstable.h"
#include "io/wire.h"
#include "checkpoint/ckpt.h"

/* ---- slices (ordered_code.c) ---- */

#define SLICE_FULL (-1) /* length of a dimension that is not split */

/* Encodes the key of a slice from starts and lengths, SLICE_FULL for a whole dimension. */
struct str slice_key(struct arena *a, struct str name, uint32_t rank, const int64_t *start,
        const int64_t *length);
int64_t slice_elements(const struct ckpt_slice *s, uint32_t rank);

#define CKPT_VERSION 1
#define CKPT_WINDOW  ((size_t)256 << 10)

/* Position of a tensor's entry in a version 1 checkpoint. The entry's length precedes its message
 * there. */
struct v1_item {
	uint32_t file, at;
};

struct v1_file {
	struct sstable table;
	struct str meta;    /* SavedTensorSliceMeta */
	struct table_at at; /* cursor for finding values */
	uint64_t meta_at;   /* offset of its block */
};

struct ckpt {
	struct arena *a;
	struct str path;
	bool bundle, big_endian;
	uint64_t version; /* version of the writer; 0: unknown */
	/* version 2 */
	struct sstable index;
	struct table_at at;
	uint32_t shards;
	char *shard_name;   /* path of the shard */
	struct rfile shard; /* the shard that was read last */
	uint32_t shard_now; /* its number, or UINT32_MAX */
	/* version 1 */
	struct v1_file *files;
	uint32_t n_files, n_items;
	struct v1_item *items; /* sorted by name */
};

struct ckpt_list {
	struct ckpt *c;
	struct err *e;
	struct table_at at;
	uint32_t i;
};

/* The position of a slice of a tensor in the files. */
struct ckpt_part {
	uint32_t shard, crc; /* version 2 */
	uint64_t at, size;
	int64_t elements;
	struct str tensor; /* version 1: its TensorProto */
	struct table_at *where;
};

/* ---- messages (ckpt_proto.c) ---- */

/* Decodes a tensor's message, SavedSliceMeta or BundleEntryProto. Allocated in a. */
enum { TENSOR_V1, TENSOR_V2 };
bool proto_tensor(
        struct table_at *c, struct str bytes, int version, struct arena *a, struct ckpt_tensor *t);
/* Decodes only the name of a SavedSliceMeta. */
struct str proto_name(struct str bytes);

struct proto_header {
	uint64_t shards, endianness, version;
};
bool proto_header(struct table_at *c, struct str bytes, struct proto_header *h);
/* Decodes a VersionDef. Sets *producer to the version of the writer, or 0. */
bool proto_version(struct table_at *c, struct str bytes, uint64_t *producer);

/* Decodes the SavedSlice of a SavedTensorSlices. */
struct proto_slice {
	struct str name, tensor; /* tensor: TensorProto */
	uint32_t rank;
	const int64_t *start, *length; /* as stored in the file */
	bool has_meta;
	struct str meta;
};
bool proto_saved(struct table_at *c, struct str bytes, struct arena *a, struct proto_slice *s);

/* ---- the formats ---- */
bool v1_open(struct ckpt *c, struct err *e);
bool v1_find(
        struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e);
bool v1_at(struct ckpt *c, uint32_t *i, struct arena *a, struct ckpt_tensor *t, struct err *e);
bool v1_part(struct ckpt *c, const struct ckpt_tensor *t, uint32_t slice, struct arena *a,
        struct ckpt_part *p, struct err *e);
bool v1_verify(struct ckpt *c, const struct ckpt_watch *w, struct arena *a, struct err *e);

bool v2_open(struct ckpt *c, struct err *e);
bool v2_find(
        struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e);
bool v2_tensor(struct ckpt *c, struct table_at *at, struct arena *a, struct ckpt_tensor *t);
/* Reads the next tensor of the index. Returns false at its end and on errors. */
bool v2_next(struct ckpt *c, struct table_at *at, struct arena *a, struct ckpt_tensor *t);
bool v2_part(struct ckpt *c, const struct ckpt_tensor *t, uint32_t slice, struct arena *a,
        struct ckpt_part *p, struct err *e);
bool v2_verify(struct ckpt *c, const struct ckpt_watch *w, struct arena *a, struct err *e);

/* ---- shards, and values of one part (ckpt_part.c) ---- */
struct str shard_path(const struct ckpt *c, uint32_t shard, struct arena *a); /* for version 2 */
/* Opens a shard of version 2 as c->shard, and closes the previous shard. */
bool shard_open(struct ckpt *c, uint32_t shard, struct arena *scratch, struct err *e);
struct part_read;
struct part_read *part_read_new(
        struct ckpt *c, const struct ckpt_tensor *t, struct arena *a, struct err *e);
void part_begin(struct part_read *r, const struct ckpt_part *p);
uint64_t part_size(const struct part_read *r); /* size in its shard, in bytes */
/* True if all values of the part fit its shard. Sets `*room` to the shard's size in bytes. */
bool part_check(struct part_read *r, uint64_t *room);
bool part_next(struct part_read *r, struct ckpt_values *v);

#endif
