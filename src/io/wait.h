/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for the other end of a pipe, possibly forever, and still notices a cancel.
 */
#ifndef TFPROF_IO_WAIT_H
#define TFPROF_IO_WAIT_H

#include "base/arena.h"

/* True if the descriptor can be read (POLLIN) or written (POLLOUT), or is broken. False after a
 * while: ask again. */
bool wait_ready(int fd, short events);

/* Opens a pipe for writing as soon as it has a reader. Returns -1 with errno; ECANCELED if the work
 * was cancelled. */
int wait_reader(const char *path, int flags, const struct work *w);

#endif
