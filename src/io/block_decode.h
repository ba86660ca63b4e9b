/* SPDX-License-Identifier: Apache-2.0
 *
 * The decoder of spools: pulls one record after the other out of an input. Blocks are judged whole,
 * by their checksum, before a record of theirs is handed out. What is damaged is skipped up to the
 * next block and reported, and so is where the file breaks off; a missing end is no fault. Hostile
 * bytes cost no more memory than they are.
 */
#ifndef TFPROF_IO_BLOCK_DECODE_H
#define TFPROF_IO_BLOCK_DECODE_H

#include "base/vec.h"
#include "io/block_format.h"
#include "io/src.h"

struct block_decoder {
	struct src *s;
	struct arena *a;
	struct err *e;
	const uint8_t *p, *end;    /* records of the block that are left */
	uint32_t left;             /* how many */
	uint32_t blocks;           /* good ones so far */
	uint32_t writer, sequence; /* of the file; of the next block */
	uint64_t block_at;
	bool damaged;            /* just before the next block */
	bool ended;              /* the last record was an end */
	VEC(struct str) strings; /* by id; NULL: none of that id */
	struct spool_slots slots;
};

/* Bytes that could not be used. */
struct spool_damage {
	uint64_t at, skipped;
	const char *why;  /* "the checksum does not match" */
	uint32_t records; /* that were in there, if its header is whole; else 0 */
	bool cut; /* the file breaks off here, as one does whose writer was killed, or whose machine
	           * went down: in the middle of a block, or in zeros up to its end */
};

enum spool_event { SPOOL_EVENT_RECORD, SPOOL_EVENT_DAMAGE, SPOOL_EVENT_END, SPOOL_EVENT_FAILED };

/* Starts at the current place of s; the strings live in a. */
void block_decode_init(struct block_decoder *g, struct src *s, struct arena *a, struct err *e);

/* The next record, whose texts are valid until the next call; or what was skipped; or the end of
 * the file. FAILED: reading failed, or the version is not ours, and *e says so. */
enum spool_event block_decode(
        struct block_decoder *g, struct spool_record *r, struct spool_damage *d);

/* The string of an id; p is NULL when the id is 0 or was lost. */
static inline struct str block_decode_string(const struct block_decoder *g, uint32_t id)
{
	return id < g->strings.n ? g->strings.v[id] : STR_NONE;
}

#endif
