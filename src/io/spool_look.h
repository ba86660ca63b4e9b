/* SPDX-License-Identifier: Apache-2.0
 *
 * What a spool holds, in short: whose it is, how many records of each kind, what is missing from
 * it. Reads all of it; a spool that still grows is read as far as it is written.
 */
#ifndef TFPROF_IO_SPOOL_LOOK_H
#define TFPROF_IO_SPOOL_LOOK_H

#include "base/err.h"
#include "io/spool_who.h"

#define SPOOL_NOTES_MAX 100 /* notes of a spool that are kept */

struct spool_look {
	uint64_t size;           /* bytes read */
	uint64_t kinds[SPOOL_N]; /* records; operations that only sums know are among them */
	uint64_t lost[SPOOL_LOST_WHY_N];
	uint64_t damaged; /* bytes that could not be used */
	bool ended;       /* the collector closed it */
	struct spool_who who;
	struct strs notes;
};

/* Texts live in a. False if the file cannot be read or is no spool. */
bool spool_look(struct arena *a, struct str path, struct spool_look *l, struct err *e);

/* Kernels and launches of graphs; copies and memsets. */
uint64_t spool_look_kernels(const struct spool_look *l);
uint64_t spool_look_copies(const struct spool_look *l);

/* What was lost and why: "12 dropped by CUPTI, 3 without times"; empty if nothing was. */
void spool_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged);

#endif
