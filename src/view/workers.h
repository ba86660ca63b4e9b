/* SPDX-License-Identifier: Apache-2.0
 *
 * Workers of a query: which are chosen, which of their steps, and their numbers (-worker_regexes,
 * -align). Knows no columns.
 */
#ifndef TFPROF_VIEW_WORKERS_H
#define TFPROF_VIEW_WORKERS_H

#include "view/view.h"

/* Selects the workers. Fails if none is selected, or if workers are requested and the model has
 * none. */
bool workers_choose(struct query *q, struct err *e);

/* Returns the number of workers: a model without names has one. */
static inline uint32_t workers_count(const struct model *m)
{
	return m->workers.n ? (uint32_t)m->workers.n : 1;
}

static inline bool workers_chosen(const struct query *q, size_t worker)
{
	return !q->workers || q->workers[worker];
}

/* Fills q->steps with the steps of the selected workers that the options select; by number or by
 * time (-align). A note names workers without such steps. */
void workers_steps(struct query *q);

/* Returns the selected steps of one worker. */
const struct step *const *workers_steps_of(const struct query *q, uint32_t worker, size_t *n);

/* Returns the numbers of the nodes in them; NULL if the worker has none. */
struct tally *workers_tallies(const struct query *q, uint32_t worker, struct arena *a);

/* True if a worker can have such a number. Numbers that do not come from running belong to every
 * worker. */
static inline bool workers_has(const struct tally *t, enum value v)
{
	return v >= V_RECORDED || t->v[V_RUNS] > 0 || t->v[v] != 0;
}

/* True if the answer has rows per worker instead of columns. */
static inline bool workers_in_rows(const struct opts *o)
{
	return o->by == BY_WORKER && (output_rows[o->output.kind].flags & OUT_LONG);
}

/* ---- worker columns ---- */

/* Columns for workers beside an answer (-by worker, -max_workers): which is the slowest, how far
 * they are apart, and each by itself. */

/* Appends them to the result's columns. */
void worker_columns_add(struct result *r);

#endif
