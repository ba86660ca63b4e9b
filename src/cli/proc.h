/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads facts about processes and about itself from /proc, below a root that tests choose.
 */
#ifndef TFPROF_CLI_PROC_H
#define TFPROF_CLI_PROC_H

#include "base/str.h"

#define PROC_READ_MAX ((size_t)16 << 20) /* more of a file is not read */

/* The folder that stands for "/": what TFPROF_ROOT says, else nothing. */
const char *proc_root(void);

/* All of a small file, whose path is formatted; no bytes where it cannot be read. */
struct str proc_read(struct arena *a, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* When a process began, in ticks since the system did, as /proc/PID/stat has it; 0: no process. */
uint64_t proc_start(struct arena *a, int64_t pid);

/* The value of a variable in the bytes of /proc/PID/environ; p is NULL where it is not set. */
struct str proc_variable(struct str environment, struct str name);

/* Calls f for each process until it returns false. */
void proc_each(struct arena *a, bool (*f)(void *user, int64_t pid), void *user);

#endif
