/* SPDX-License-Identifier: Apache-2.0
 *
 * The spool of this process: records in, blocks out. Used by one thread at a time: the one that
 * opens the session, then the writer. Behind the size limit, sums take the place of records.
 */
#ifndef TFPROF_COLLECT_STORE_H
#define TFPROF_COLLECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/names.h"
#include "io/block_encode.h"

#define STORE_BLOCK ((size_t)1 << 20) /* bytes that are encoded before they are written */

/* Begins an empty spool (files_spool_make made the file); max: bytes, 0: no limit. False: no
 * memory. */
bool store_open(uint64_t max);
void store_put(const struct spool_record *);
/* The id of a name; its text is put before, if it is new. */
uint32_t store_name(struct name *);
void store_info(const char *key, const char *value, size_t n);
void store_lost(enum spool_lost_why, uint64_t count);
/* A sentence, without full stop, for the reader of the spool and for the log. */
void store_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Hands what is encoded to the system. */
void store_sync(void);
/* Puts what was summed up since the last call. */
void store_put_sums(void);
/* Whether the file takes no more. */
bool store_broken(void);
/* Ends the spool: sums, totals, end mark. */
void store_close(void);

#endif
