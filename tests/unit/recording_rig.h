/* SPDX-License-Identifier: Apache-2.0
 *
 * Spools of random records, for tests.
 */
#ifndef TFPROF_TESTS_SPOOL_RIG_H
#define TFPROF_TESTS_SPOOL_RIG_H

#include "base/str.h"
#include "io/recording_in.h"
#include "io/block_format.h"

#define BUFFER ((size_t)64 << 10)

/* A file of many records in small blocks. */
struct spooled {
	struct sb bytes;
	struct spool_record *records;
	size_t *block; /* end of the block of each record */
	size_t n;
};

extern uint64_t spool_seed; /* random state for the next records */

struct spooled spool_make(struct arena *a, size_t n, unsigned per_block);

#endif
