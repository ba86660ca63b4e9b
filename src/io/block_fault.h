/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the faults of a recorded file: where it is truncated, as after a killed process, and
 * where it is damaged, which is refused unless the user asks for recovery.
 */
#ifndef TFPROF_IO_BLOCK_FAULT_H
#define TFPROF_IO_BLOCK_FAULT_H

#include "io/block_decode.h"

struct spool_fault {
	uint64_t kept;             /* records that could be read */
	uint64_t places, bytes;    /* damaged: how many, and what they take */
	uint64_t records;          /* that were in them, as far as is known */
	uint64_t written;          /* in all, as the end of the spool says; 0: it has none */
	struct spool_damage first; /* of them */
	struct spool_damage cut;   /* why is NULL: it does not break off */
};

/* Takes what block_decode returned; r or d is filled as the event says. */
void spool_fault_take(struct spool_fault *f, enum spool_event event, const struct spool_record *r,
        const struct spool_damage *d);

/* Fills *e if the spool is damaged; returns false then. others: there are more to be kept. */
bool spool_fault_judge(const struct spool_fault *f, struct str name, bool others, struct err *e);

/* "a.tfspool: byte 96: ...; 17 records are kept; lost are 40 bytes": of a damaged one. */
void spool_fault_text(struct sb *b, const struct spool_fault *f, struct str name);

#endif
