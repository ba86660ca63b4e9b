/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a src, for src.c and src_seek.c only.
 */
#ifndef TFPROF_IO_SRC_INTERNAL_H
#define TFPROF_IO_SRC_INTERNAL_H

#include "io/gz.h"
#include "io/src.h"

struct src_inner {
	struct src pub;
	struct arena *a;
	struct guard guard;
	int fd;       /* -1: memory, or closed */
	bool owned;   /* the src closes fd */
	bool regular; /* read by offset; may seek */
	bool memory, ended, failed;
	bool first;    /* the window still begins at offset 0 */
	bool keep;     /* keep it that way */
	uint64_t base; /* initial position in a regular file */
	uint64_t raw_at, raw_size;
	struct str text; /* memory: the whole input */
	uint8_t *buf;    /* the window; NULL for memory that is not gzip */
	size_t cap;
	struct gunzip *gz; /* NULL: not compressed */
	uint8_t *raw;      /* compressed bytes of a file */
	struct str packed; /* bytes not yet decompressed */
	bool (*tick)(void *user, uint64_t done, uint64_t size);
	void *user;
};

/* Adds bytes to the window, `need` of them if possible at once; false at the end. */
bool src_fill(struct src_inner *in, size_t n);

#endif
