/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of a recording: its process, the number of records of each kind, losses and damage.
 */
#ifndef TFPROF_TRACE_RECORDING_FACTS_H
#define TFPROF_TRACE_RECORDING_FACTS_H

#include "io/recording_in.h"

#define RECORDING_NOTES_MAX 100 /* notes of a file that are kept */

struct recording_facts {
	struct process_identity who;
	struct spool_fault fault;
	uint64_t size;            /* bytes read */
	uint64_t totals[SPOOL_N]; /* records */
	uint64_t summed[SPOOL_N]; /* operations that only sums know */
	uint64_t lost[SPOOL_LOST_WHY_N];
	uint64_t gaps, gap_ns; /* times in which nothing was recorded */
	bool ended;            /* the collector closed it */
	bool compared;         /* it compared all launches with the kernels that came */
	struct strs notes;
};

void recording_facts_init(struct recording_facts *f);

/* Takes a result of the decoder; texts are copied to a. */
void recording_facts_take(struct recording_facts *f, struct arena *a, enum spool_event event,
        const struct spool_record *r, const struct spool_damage *d);

/* Kernels and launches of graphs; copies and memsets. */
uint64_t recording_kernels(const struct recording_facts *f);
uint64_t recording_copies(const struct recording_facts *f);

/* Appends losses with reasons, such as "12 records dropped by CUPTI, 3 bytes damaged"; nothing if
 * nothing was lost. */
void recording_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged);

#endif
