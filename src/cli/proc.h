/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads facts about processes, including this one, from /proc, below a root that tests set.
 */
#ifndef TFPROF_CLI_PROC_H
#define TFPROF_CLI_PROC_H

#include "base/str.h"

#define PROC_READ_MAX ((size_t)16 << 20) /* bytes of a file that are read */

/* Returns the folder that replaces "/": TFPROF_ROOT, by default empty. */
const char *proc_root(void);

/* Returns a small file's content; the path is formatted. Empty if it cannot be read. */
struct str proc_read(struct arena *a, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* Returns the start time of a process in ticks since boot, from /proc/PID/stat; 0: no such process.
 */
uint64_t proc_start(struct arena *a, int64_t pid);

/* Returns the value of a variable in the bytes of /proc/PID/environ; p is NULL if it is not set. */
struct str proc_variable(struct str environment, struct str name);

/* Calls f for each process until it returns false. */
void proc_each(struct arena *a, bool (*f)(void *user, int64_t pid), void *user);

#endif
