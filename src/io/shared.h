/* SPDX-License-Identifier: Apache-2.0
 *
 * World-writable folders such as /tmp: a file that another user placed there under our output's
 * name is a trap.
 */
#ifndef TFPROF_IO_SHARED_H
#define TFPROF_IO_SHARED_H

#include "base/err.h"

/* True if it is safe to write to the file at path, with links followed or not, or if there is no
 * file. False if it is a link, a pipe or a device of another user in a shared folder; *e then has
 * the sentence. */
bool shared_check(const char *path, struct arena *a, struct err *e);

#endif
