/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: the list of tensors with type and shape, and their values, streamed. Both
 * formats: bundles (version 2: an index and its shards) and tables of slices (version 1). Only
 * requested parts are read; shards are opened on demand. The arena of ckpt_open holds reused state;
 * every other arena passed below must be a different one.
 */
#ifndef TFPROF_CHECKPOINT_CKPT_H
#define TFPROF_CHECKPOINT_CKPT_H

#include "base/err.h"

/* ---- dtype ----
 *
 * Types of tensor elements: the table of their names, sizes and encodings.
 */

enum { DT_FLOAT = 1, DT_STRING = 7, DT_BOOL = 10, DT_HALF = 19 };

enum dtype_kind { DTYPE_FLOAT, DTYPE_INT, DTYPE_UINT, DTYPE_COMPLEX, DTYPE_STRING };

/* Field of TensorProto that holds the values in a version 1 checkpoint. */
enum dtype_carrier {
	CARRY_NONE,
	CARRY_FLOAT = 5,
	CARRY_DOUBLE = 6,
	CARRY_INT = 7,
	CARRY_STRING = 8,
	CARRY_SCOMPLEX = 9,
	CARRY_INT64 = 10,
	CARRY_BOOL = 11,
	CARRY_DCOMPLEX = 12,
	CARRY_HALF = 13,
	CARRY_UINT32 = 16,
	CARRY_UINT64 = 17
};

struct dtype {
	uint32_t number; /* number of the type in the file */
	const char *name;
	uint8_t size; /* bytes of an element in a file; 0: varies */
	uint8_t part; /* size of the units that byte swapping reverses */
	enum dtype_kind kind;
	enum dtype_carrier carrier;
	uint8_t exponent, mantissa; /* numbers of bits of small floats */
	int8_t bias;
	uint8_t specials; /* a DTYPE_ value */
	uint8_t bits;     /* number of bits of integers narrower than their byte; 0: all */
};

/* Encodings of infinity and NaN in small floats. */
enum { DTYPE_IEEE, DTYPE_FN, DTYPE_FNUZ, DTYPE_FINITE };

const struct dtype *dtype_find(uint32_t number); /* NULL: the type is unknown, or never in a
                                                    checkpoint */

/* Reads one element from little-endian bytes. */
double dtype_double(const struct dtype *d, const uint8_t *p); /* integers too; complex: real part */
int64_t dtype_int(const struct dtype *d, const uint8_t *p);   /* DTYPE_INT, DTYPE_UINT: its bits */

/* Reverses the byte order of the n elements at p. */
void dtype_swap(const struct dtype *d, uint8_t *p, size_t n);

/* ---- ckpt ---- */

#define CKPT_RANK_MAX 254

struct ckpt;

/* A part of a tensor: start and length of each dimension, all within the shape. */
struct ckpt_slice {
	const int64_t *start, *length;
	const int64_t *stored; /* lengths as written: SLICE_FULL for a whole dimension */
	uint32_t file;         /* version 1: number of the table with the values */
};

struct ckpt_tensor {
	struct str name;
	const struct dtype *type;
	uint32_t rank, n_slices;
	const int64_t *dims;
	int64_t elements;
	struct ckpt_slice *slices; /* version 2: empty unless the tensor is partitioned */
	uint32_t shard, crc;       /* version 2: valid unless the tensor is partitioned */
	uint64_t at, size;
};

/* Opens path.index and its shards or, if that file does not exist, the tables that match the
 * pattern path. Everything lives in a; later calls take other arenas. */
bool ckpt_open(struct ckpt **out, struct arena *a, struct str path, struct err *e);
void ckpt_close(struct ckpt *c);

/* Returns the name of the checkpoint that a file belongs to, for completion in shells: model.ckpt
 * for model.ckpt.index. Any other path is returned unchanged. */
struct str ckpt_whole(struct arena *a, struct str path);

struct str ckpt_path(const struct ckpt *c);
bool ckpt_is_bundle(const struct ckpt *c);
uint64_t ckpt_version(const struct ckpt *c); /* version of the format; 0: not in the file */
uint32_t ckpt_shards(const struct ckpt *c);  /* number of data files */
struct str ckpt_shard_path(const struct ckpt *c, uint32_t i, struct arena *a);

/* Finds a tensor; its description lives in a. Returns false with *e filled, in the original's words
 * if the name is unknown. */
bool ckpt_find(
        struct ckpt *c, struct str name, struct arena *a, struct ckpt_tensor *t, struct err *e);

/* Lists all tensors sorted by the bytes of their names. ckpt_next returns false at the end and if
 * l->e is filled; *t lives in a until the caller resets a. */
struct ckpt_list;
struct ckpt_list *ckpt_list(struct ckpt *c, struct arena *a, struct err *e);
bool ckpt_next(struct ckpt_list *l, struct arena *a, struct ckpt_tensor *t);

/* Values in row-major order, delivered piece by piece. */
struct ckpt_values {
	size_t n;
	const uint8_t *bytes;      /* little-endian, n * type->size; NULL for strings */
	const struct str *strings; /* values of a string tensor */
};
struct ckpt_read;
struct ckpt_read *ckpt_read(
        struct ckpt *c, const struct ckpt_tensor *t, struct arena *a, struct err *e);
/* Reads the next values. Returns false at the end, and if *e is filled: for a fault, or for a
 * checksum mismatch. */
bool ckpt_read_next(struct ckpt_read *r, struct ckpt_values *v);

/* Returns the stored size of a tensor's values, in bytes. */
uint64_t ckpt_bytes(struct ckpt *c, const struct ckpt_tensor *t, struct arena *a);

/* Verifies every checksum, and that a checksum covers every byte of every file. Returns false with
 * a sentence for the first damage. */
struct ckpt_watch {
	bool (*progress)(void *user, uint64_t done,
	        uint64_t total); /* may be NULL; returning false cancels */
	void *user;
};
bool ckpt_verify(struct ckpt *c, const struct ckpt_watch *watch, struct arena *a, struct err *e);

/* ---- ckpt diff ---- */

/* Two checkpoints side by side, tensor by tensor in the order of their names. */

enum ckpt_differs { DIFF_NONE, DIFF_ONLY_A, DIFF_ONLY_B, DIFF_DTYPE, DIFF_SHAPE, DIFF_VALUES };

struct ckpt_diff {
	enum ckpt_differs what;
	const struct ckpt_tensor *a, *b; /* NULL: the checkpoint lacks the tensor */
	int64_t differing;               /* number of differing values */
	double absolute, relative; /* the largest absolute difference; infinite if only one value is
	                              a number */
};

/* Calls put for every tensor, including equal ones, and resets scratch after each. Returns false if
 * *e is filled. */
bool ckpt_compare(struct ckpt *a, struct ckpt *b, struct arena *scratch,
        void (*put)(void *user, const struct ckpt_diff *d), void *user, struct err *e);

#endif
