/* SPDX-License-Identifier: Apache-2.0
 *
 * A regular file that is read by offset: opened at the first read, reopened if work that ended
 * early closed it. Every read is checked against the size the file had when it was opened.
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

/* Opens if it is not open; scratch for the name. Refuses what is no regular file. */
bool rfile_open(struct rfile *f, struct arena *scratch, struct err *e);

/* Reads just n bytes at an offset; false with a sentence when they are not there. */
bool rfile_read(
        struct rfile *f, uint64_t at, void *p, size_t n, struct arena *scratch, struct err *e);
void rfile_close(struct rfile *f);

#endif
