/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders that everybody may write to, such as /tmp: what another user put there under the name
 * that we are to write is a trap.
 */
#ifndef TFPROF_IO_SHARED_H
#define TFPROF_IO_SHARED_H

#include "base/err.h"

/* Is it safe to write to what path names, links followed or not? False: it is a link, a pipe or a
 * device of another user in a shared folder; *e then says so. True also if there is nothing. */
bool shared_check(const char *path, struct arena *a, struct err *e);

#endif
