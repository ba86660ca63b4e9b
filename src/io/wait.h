/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for the other end of a pipe, possibly forever, and still notices a cancel.
 */
#ifndef TFPROF_IO_WAIT_H
#define TFPROF_IO_WAIT_H

#include "base/arena.h"

/* Can the descriptor be read (POLLIN) or written (POLLOUT), or is it broken? False: not for a
 * while, ask again. */
bool wait_ready(int fd, short events);

/* Opens a pipe for writing as soon as it has a reader; -1: errno says why, ECANCELED if the work
 * was cancelled. */
int wait_reader(const char *path, int flags, const struct work *w);

#endif
