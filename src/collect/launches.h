/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of launches, in the first bytes of the recording (struct spool_count). On a local file
 * system they are shared memory, so they are correct even after the process was killed; on other
 * file systems, the writer writes them from time to time. Counting takes no lock and makes no
 * system call.
 */
#ifndef TFPROF_COLLECT_LAUNCHES_H
#define TFPROF_COLLECT_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

#include "io/block_format.h"

enum launch { LAUNCH_KERNEL, LAUNCH_GRAPH, LAUNCH_UNSURE };

/* Starts the counts at the beginning of a new file, which must be open for reading and writing.
 * Returns the new size of the file. Returns 0 if the counts do not fit; the recording then has
 * none. */
size_t launches_make(int fd);
/* Counts in memory outside the file from now on: for a forked child, which gets another file, and
 * for a process without a recording. Not called at the end of a recording, because launches of exit
 * handlers and other threads still count then. */
void launches_forget(void);

/* Adds n to a count; n < 0 subtracts. Any thread may call it. */
void launches_add(enum launch, int n);
/* Marks later launches. Must be called at the end of the process: the writer no longer checks
 * whether all launches are counted, so each further launch sets SPOOL_COUNT_PART. */
void launches_end(void);
uint64_t launches_total(enum launch);
/* Moves n kernel launches to the unsure ones. */
void launches_doubt(uint64_t n);
/* Sets flags (SPOOL_COUNT_*). */
void launches_flag(uint32_t flags);
uint32_t launches_flags(void);
/* Returns the counts if they must be written to the file and have changed since the last call;
 * otherwise NULL. Only for the writer. */
const struct spool_count *launches_news(void);

#endif
