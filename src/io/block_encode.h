/* SPDX-License-Identifier: Apache-2.0
 *
 * The encoder of recordings: records into blocks, in a buffer of the caller. Never allocates or
 * prints, and fails only for lack of room. Does not know files. One encoder serves one thread at a
 * time.
 *
 *   block_encode_init(&p, getpid());
 *   block_encode_begin(&p, buffer, sizeof buffer, now);
 *   if (!block_encode(&p, &record)) {                      the block is full:
 *           write(fd, buffer, block_encode_finish(&p));    whole, with one write
 *           block_encode_begin(&p, buffer, sizeof buffer, now);
 *           block_encode(&p, &record);                     always fits into an empty block
 *   }
 */
#ifndef TFPROF_IO_BLOCK_ENCODE_H
#define TFPROF_IO_BLOCK_ENCODE_H

#include "io/block_format.h"

struct block_encoder {
	uint8_t *block, *p, *end; /* the block, the next record, the end of the buffer */
	uint64_t base;
	uint32_t writer, sequence, records;
	uint64_t totals[SPOOL_N];
	struct spool_slots slots;
};

void block_encode_init(struct block_encoder *p, uint32_t writer);

/* Starts a block in buffer, which has at least SPOOL_BLOCK_MIN bytes. base: a time near the times
 * of its records, ns. */
void block_encode_begin(struct block_encoder *p, void *buffer, size_t size, uint64_t base);

/* Adds a record. Returns false, and changes nothing, if the block has no room for it. Texts over
 * SPOOL_TEXT_MAX bytes are truncated. */
bool block_encode(struct block_encoder *p, const struct spool_record *r);

/* Completes the block and returns its size; 0 if it has no record and need not be written. */
size_t block_encode_finish(struct block_encoder *p);

#endif
