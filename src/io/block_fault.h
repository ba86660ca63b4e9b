/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the faults of a recording: truncation, as after a killed process, and damage, which is
 * an error unless the user asks for recovery.
 */
#ifndef TFPROF_IO_BLOCK_FAULT_H
#define TFPROF_IO_BLOCK_FAULT_H

#include "io/block_decode.h"

struct spool_fault {
	uint64_t kept;             /* records that could be read */
	uint64_t places, bytes;    /* damaged places, and the bytes they take */
	uint64_t records;          /* records lost in them, as far as known */
	uint64_t written;          /* records in all, from the end record; 0: there is none */
	struct spool_damage first; /* of them */
	struct spool_damage cut;   /* why is NULL: the file is not truncated */
};

/* Takes a result of block_decode; r or d is filled according to the event. */
void spool_fault_take(struct spool_fault *f, enum spool_event event, const struct spool_record *r,
        const struct spool_damage *d);

/* Returns false and fills *e if the recording is damaged. others: further files can be kept. */
bool spool_fault_judge(const struct spool_fault *f, struct str name, bool others, struct err *e);

/* Describes the damage: "a.tfspool: byte 96: ...; 17 records are kept; lost are 40 bytes". */
void spool_fault_text(struct sb *b, const struct spool_fault *f, struct str name);

#endif
