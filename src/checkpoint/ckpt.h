/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints (B§9): which tensors there are, of what type and shape, and their values, streamed.
 * Both formats: bundles (version 2: an index and its shards) and tables of slices (version 1). Only
 * what is asked for is read; shards are opened when they are needed.
 * The arena of ckpt_open holds what is reused; all others given below must be different ones.
 */
#ifndef TFPROF_CHECKPOINT_CKPT_H
#define TFPROF_CHECKPOINT_CKPT_H

#include "base/err.h"
#include "checkpoint/dtype.h"

#define CKPT_RANK_MAX 254

struct ckpt;

/* Part of a tensor: start and length of each dimension, none of them beyond the shape. */
struct ckpt_slice {
	const int64_t *start, *length;
	const int64_t *stored; /* lengths as written: SLICE_FULL for a whole dimension */
	uint32_t file;         /* version 1: which table has it */
};

struct ckpt_tensor {
	struct str name;
	const struct dtype *type;
	uint32_t rank, n_slices;
	const int64_t *dims;
	int64_t elements;
	struct ckpt_slice *slices; /* version 2: none unless it is partitioned */
	uint32_t shard, crc;       /* version 2, unless partitioned */
	uint64_t at, size;
};

/* Opens path.index and what belongs to it, or, if there is no such file, the tables that match the
 * pattern path. Everything lives in a; later calls are given
 * other arenas. */
bool ckpt_open(struct ckpt **out, struct arena *a, struct str path, struct err *e);
void ckpt_close(struct ckpt *c);

/* The name of the checkpoint that a file is a part of, which a shell completes: model.ckpt.index is
 * of model.ckpt. Any other path as it is. */
struct str ckpt_whole(struct arena *a, struct str path);

struct str ckpt_path(const struct ckpt *c);
bool ckpt_is_bundle(const struct ckpt *c);
uint32_t ckpt_shards(const struct ckpt *c); /* files with data */
struct str ckpt_shard_path(const struct ckpt *c, uint32_t i, struct arena *a);

/* Finds a tensor; what is said of it lives in a. False: *e is filled, with the original's sentence
 * if there is none of that name. */
bool ckpt_find(
        struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e);

/* All tensors by name, bytewise. ckpt_next gives false at the end, and when l->e is filled; *t then
 * lives in a until the caller resets it. */
struct ckpt_list;
struct ckpt_list *ckpt_list(struct ckpt *c, struct arena *a, struct err *e);
bool ckpt_next(struct ckpt_list *l, struct arena *a, struct ckpt_tensor *t);

/* Values in row-major order, piece by piece. */
struct ckpt_values {
	size_t n;
	const uint8_t *bytes;      /* little-endian, n * type->size; NULL for strings */
	const struct str *strings; /* of strings */
};
struct ckpt_read;
struct ckpt_read *ckpt_read(
        struct ckpt *c, const struct ckpt_tensor *t, struct arena *a, struct err *e);
/* False at the end, and when *e is filled: for a fault, or for a checksum that turned out wrong. */
bool ckpt_read_next(struct ckpt_read *r, struct ckpt_values *v);

/* Bytes of a tensor's values as stored. */
uint64_t ckpt_bytes(struct ckpt *c, const struct ckpt_tensor *t, struct arena *a);

/* Tests every checksum, and that every byte of every file is covered by one. False for the first
 * damage, with its sentence. */
struct ckpt_watch {
	bool (*progress)(
	        void *user, uint64_t done, uint64_t total); /* may be NULL; false cancels */
	void *user;
};
bool ckpt_verify(struct ckpt *c, const struct ckpt_watch *watch, struct arena *a, struct err *e);

#endif
