/* SPDX-License-Identifier: Apache-2.0
 *
 * Workers of a query: which are chosen, which of their steps, and their numbers (-worker_regexes,
 * -align). Knows no columns.
 */
#ifndef TFPROF_VIEW_WORKERS_H
#define TFPROF_VIEW_WORKERS_H

#include "view/view.h"

/* Finds out which workers are chosen. False: there is none, or there are no workers at all though
 * they are asked for. */
bool workers_choose(struct query *q, struct err *e);

/* How many there are: a model without names has one. */
static inline uint32_t workers_count(const struct model *m)
{
	return m->workers.n ? (uint32_t)m->workers.n : 1;
}

static inline bool workers_chosen(const struct query *q, size_t worker)
{
	return !q->workers || q->workers[worker];
}

/* Fills q->steps with those of the chosen workers that the options choose; in lock-step or by time.
 * A note names workers that have none of them. */
void workers_steps(struct query *q);

/* The chosen steps of one worker. */
const struct step *const *workers_steps_of(const struct query *q, uint32_t worker, size_t *n);

/* The numbers of the nodes in them; NULL: it has none. */
struct tally *workers_tallies(const struct query *q, uint32_t worker, struct arena *a);

/* Has a worker such a number at all? What does not come from running, everyone has. */
static inline bool workers_has(const struct tally *t, enum value v)
{
	return v >= V_RECORDED || t->v[V_RUNS] > 0 || t->v[v] != 0;
}

/* Does the answer have rows for each worker, instead of columns? */
static inline bool workers_in_rows(const struct opts *o)
{
	return o->by == BY_WORKER && (output_rows[o->output.kind].flags & OUT_LONG);
}

/* ---- worker columns ---- */

/* Columns for workers beside an answer (-by worker, -max_workers): which is the slowest, how far
 * they are apart, and each by itself. */

/* Adds them to the result's, behind those that it has. */
void worker_columns_add(struct result *r);

#endif
