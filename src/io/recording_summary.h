/* SPDX-License-Identifier: Apache-2.0
 *
 * Summary of a recording: its process, the number of records of each kind, and losses. Reads the
 * whole file; a file that still grows is read as far as it is written.
 */
#ifndef TFPROF_IO_RECORDING_SUMMARY_H
#define TFPROF_IO_RECORDING_SUMMARY_H

#include "base/err.h"
#include "io/process_identity.h"

#define SPOOL_NOTES_MAX 100 /* notes of a recording that are kept */

struct recording_summary {
	uint64_t size;           /* bytes read */
	uint64_t kinds[SPOOL_N]; /* records, including operations that only sums count */
	uint64_t lost[SPOOL_LOST_WHY_N];
	uint64_t damaged; /* bytes that could not be used */
	bool ended;       /* the collector closed it */
	bool compared;    /* the collector compared all launches with the kernels received */
	struct process_identity who;
	struct strs notes;
};

/* Texts live in a. False if the file cannot be read or is not a recording. */
bool recording_summary(
        struct arena *a, struct str path, struct recording_summary *l, struct err *e);

/* Kernels and graph launches; copies and memsets. */
uint64_t recording_summary_kernels(const struct recording_summary *l);
uint64_t recording_summary_copies(const struct recording_summary *l);

/* Returns losses with reasons, such as "12 dropped by CUPTI, 3 without times"; empty if nothing was
 * lost. */
void spool_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged);

#endif
