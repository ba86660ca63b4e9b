/* SPDX-License-Identifier: Apache-2.0
 *
 * A regular file that is read by offset. It is opened at the first read, and reopened if a work
 * that ended early closed it. Every read is checked against the file size at opening.
 */
#ifndef TFPROF_IO_RFILE_H
#define TFPROF_IO_RFILE_H

#include "base/err.h"

struct rfile {
	struct str path;
	uint64_t size; /* set by rfile_open */
	struct guard guard;
	struct arena *a; /* holds *f; closes the file at the latest */
	int fd;          /* -1: not open */
};

/* *f lies in the arena a; path must live as long as *f. Opens nothing yet. */
void rfile_init(struct rfile *f, struct arena *a, struct str path);

/* Opens the file unless it is open; scratch holds the name. Refuses everything but regular files.
 */
bool rfile_open(struct rfile *f, struct arena *scratch, struct err *e);

/* Reads exactly n bytes at an offset; fails with a sentence if the file ends before. */
bool rfile_read(
        struct rfile *f, uint64_t at, void *p, size_t n, struct arena *scratch, struct err *e);
void rfile_close(struct rfile *f);

#endif
