/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that read recordings. Only recording_feed.c decodes; recording_survey.c is
 * the first pass, recording_ops.c the second.
 */
#ifndef TFPROF_TRACE_RECORDING_INTERNAL_H
#define TFPROF_TRACE_RECORDING_INTERNAL_H

#include "base/pattern.h"
#include "trace/read/recording/recordings.h"

/* ---- one reading of a file ---- */

struct recording_feed {
	struct recordings *r;
	struct recorded_process *p;
	struct block_decoder *get;
	struct src *s;
	size_t epoch; /* number of clock readings so far */
	bool own;     /* true: the feed closes src */
	struct scratch scratch;
};
bool feed_open(struct recording_feed *f, struct recordings *r, struct recorded_process *p);
/* Decodes the next record. Converts its times to the system's clock, without jumps. */
enum spool_event feed_next(
        struct recording_feed *f, struct spool_record *r, struct spool_damage *d);
void feed_close(struct recording_feed *f);

/* ---- names ---- */

/* Closes the patterns after the last look-up. Returns false if matching failed for one of them. If
 * reading fails earlier, the patterns are closed with their arena. */
bool names_end(struct recording_names *n, struct err *e);

/* ---- the parts of recordings_open ---- */

/* Reads the whole file and fills p. */
bool survey_process(struct recordings *r, struct recorded_process *p);

/* Selects and orders the processes, chooses their prefixes, and numbers their GPUs. Returns false
 * if no process is left. */
bool processes_arrange(struct recordings *r);

/* Adds a mark. */
void steps_add(struct step_marks *to, struct arena *a, uint64_t start, struct str label);
/* Determines the starts of the process's steps. */
void steps_decide(struct recordings *r, struct recorded_process *p);
/* Copies the steps of the first process that has steps to processes of other jobs, by time. */
void steps_follow(struct recordings *r);

#endif
