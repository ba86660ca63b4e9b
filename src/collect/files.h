/* SPDX-License-Identifier: Apache-2.0
 *
 * The session folder as the collector sees it: its spool, its log, the control file. Descriptors
 * are never 0 to 2, are closed by exec, and are looked at before each use: the program may have
 * closed them and opened something else under their numbers.
 */
#ifndef TFPROF_COLLECT_FILES_H
#define TFPROF_COLLECT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILES_LAST 1024u

/* Opens the folder; false if it cannot be. */
bool files_open(const char *folder, bool verbose);
/* Closes everything; in a forked child too. */
void files_close(void);

/* A line into the log (and on standard error, if verbose): one sentence, without a full stop. Never
 * raises a signal; keeps errno. */
void files_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes the spool; false if it cannot be (a sentence is in the log). */
bool files_spool_make(void);
/* Appends to it. False, now and from then on, if that failed: the file ends then behind the last
 * whole block, and files_spool_fault says why. Only the writer thread calls it, which has signals
 * blocked. */
bool files_spool_write(const void *, size_t n);
/* The same after a failure, for what little there is to say of it: at most FILES_LAST bytes in all,
 * for which there is room behind what a limit of file sizes has refused. */
bool files_spool_write_last(const void *, size_t n);
const char *files_spool_fault(void);
uint64_t files_spool_size(void);

/* Reads on in the control file: how many bytes, 0 if there is nothing new. */
size_t files_control_read(char *p, size_t n, uint64_t offset);

#endif
