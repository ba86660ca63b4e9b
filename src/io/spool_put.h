/* SPDX-License-Identifier: Apache-2.0
 *
 * The encoder of spools: records into blocks, in a buffer of the caller. Never allocates, prints or
 * fails but for want of room; knows no file. One encoder is used by one thread at a time.
 *
 *   spool_put_init(&p, getpid());
 *   spool_put_begin(&p, buffer, sizeof buffer, now);
 *   if (!spool_put(&p, &record)) {                      the block is full:
 *           write(fd, buffer, spool_put_finish(&p));    whole, with one write
 *           spool_put_begin(&p, buffer, sizeof buffer, now);
 *           spool_put(&p, &record);                     always fits into an empty block
 *   }
 */
#ifndef TFPROF_IO_SPOOL_PUT_H
#define TFPROF_IO_SPOOL_PUT_H

#include "io/spool.h"

struct spool_put {
	uint8_t *block, *p, *end; /* the block, the next record, the end of the buffer */
	uint64_t base;
	uint32_t writer, sequence, records;
	uint64_t totals[SPOOL_N];
	struct spool_slots slots;
};

void spool_put_init(struct spool_put *p, uint32_t writer);

/* Starts a block in buffer, which has at least SPOOL_BLOCK_MIN bytes. base: a time near those of
 * its records, ns. */
void spool_put_begin(struct spool_put *p, void *buffer, size_t size, uint64_t base);

/* Adds a record; false when the block has no room for it, and nothing has changed. Texts over
 * SPOOL_TEXT_MAX bytes are cut. */
bool spool_put(struct spool_put *p, const struct spool_record *r);

/* Completes the block and returns its size; 0 if it holds no record, then it is not written. */
size_t spool_put_finish(struct spool_put *p);

#endif
