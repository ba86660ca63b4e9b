/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording of this process: records in, blocks out. Used by one thread at a time: first the
 * thread that opens the session, then the writer. Beyond the size limit, sums replace records.
 */
#ifndef TFPROF_COLLECT_STORE_H
#define TFPROF_COLLECT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/names.h"
#include "io/block_format.h"

#define STORE_BLOCK ((size_t)1 << 20) /* number of encoded bytes per write */

/* Begins an empty recording (files_spool_make created the file). max: size limit in bytes, 0: no
 * limit. Returns false if memory is exhausted. */
bool store_open(uint64_t max);
void store_put(const struct spool_record *);
/* Returns the id of a name. First writes its text if the name is new. */
uint32_t store_name(struct name *);
void store_info(const char *key, const char *value, size_t n);
void store_lost(enum spool_lost_why, uint64_t count);
/* Adds a loss whose number is only a lower bound; 0: possibly none. */
void store_lost_least(enum spool_lost_why, uint64_t count);
/* Adds a sentence, without full stop, to the recording and the log. */
void store_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes all encoded blocks. */
void store_sync(void);
/* Adds the sums collected since the last call. */
void store_put_sums(void);
/* True if the file no longer accepts writes. */
bool store_broken(void);
/* Ends the recording: sums, totals, end record. */
void store_close(void);

/* ---- files ----
 *
 * The collector's view of the session folder: its recording, its log, the control file. Descriptors
 * are never 0 to 2, are closed by exec, and are checked before each use: the program may have
 * closed them and reused their numbers.
 */

#define FILES_LAST 1024u

/* Opens the folder; false on failure. */
bool files_open(const char *folder, bool verbose);
/* Closes all files; also used in a forked child. */
void files_close(void);

/* Appends a line to the log (and to standard error, if verbose): one sentence without a full stop.
 * Never raises a signal, and preserves errno. */
void files_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Creates the recording. On failure, a sentence is in the log. */
bool files_spool_make(void);
/* Appends to the recording. If this fails, returns false, now and from then on: the file then ends
 * after the last whole block, and files_spool_fault returns the reason. Called only by the writer
 * thread, which blocks signals. */
bool files_spool_write(const void *, size_t n);
/* Appends the final records after a failure: at most FILES_LAST bytes in total, which are reserved
 * below the limit of file sizes. */
bool files_spool_write_last(const void *, size_t n);
/* Writes the launch counts, if they have changed and are not in shared memory. */
void files_spool_counts(void);
const char *files_spool_fault(void);
uint64_t files_spool_size(void);

/* Reads further bytes of the control file. Returns their number; 0 if there are none. */
size_t files_control_read(char *p, size_t n, uint64_t offset);

#endif
