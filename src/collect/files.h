/* SPDX-License-Identifier: Apache-2.0
 *
 * The collector's view of the session folder: its recording, its log, the control file. Descriptors
 * are never 0 to 2, are closed by exec, and are checked before each use: the program may have
 * closed them and reused their numbers.
 */
#ifndef TFPROF_COLLECT_FILES_H
#define TFPROF_COLLECT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILES_LAST 1024u

/* Opens the folder; false on failure. */
bool files_open(const char *folder, bool verbose);
/* Closes everything, also in a forked child. */
void files_close(void);

/* Appends a line to the log (and to standard error, if verbose): one sentence without a full stop.
 * Never raises a signal; preserves errno. */
void files_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Creates the recording; on failure a sentence is in the log. */
bool files_spool_make(void);
/* Appends to the recording. Returns false, now and from then on, if that failed: the file then ends
 * after the last whole block, and files_spool_fault gives the reason. Called by the writer thread
 * only, which blocks signals. */
bool files_spool_write(const void *, size_t n);
/* Appends the final records after a failure: at most FILES_LAST bytes in all, which are reserved
 * below the limit of file sizes. */
bool files_spool_write_last(const void *, size_t n);
const char *files_spool_fault(void);
uint64_t files_spool_size(void);

/* Reads further bytes of the control file; returns their number, 0 if there are none. */
size_t files_control_read(char *p, size_t n, uint64_t offset);

#endif
