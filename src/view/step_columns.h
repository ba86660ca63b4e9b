/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns that differ by step or by worker: statistics over steps, and the numbers of each worker.
 */
#ifndef TFPROF_VIEW_STEP_COLUMNS_H
#define TFPROF_VIEW_STEP_COLUMNS_H

#include "view/view.h"

/* ---- stats ----
 *
 * Statistics over steps as additional columns (-stats).
 */

/* Adds the columns that -stats requests, over the selected steps. With rows per worker,
 * stats_of_worker replaces these numbers by the numbers of one worker. */
void stats_add(struct result *r);
void stats_of_worker(const struct result *r, uint32_t worker);

/* ---- step numbers ---- */

/* A number of the shown entries in single steps, own and total, with the selection and order of the
 * result. The time for a step is proportional to the number of nodes that ran in it; memory does
 * not depend on the number of steps. */

/* A place is an entry that contributes to totals: a kept entry or, with -account_displayed_op_only,
 * a shown entry. Parents precede their children. */
struct step_numbers {
	const struct query *q;
	enum value value;
	uint32_t n;
	uint32_t *kept;       /* indexed by place */
	uint32_t *parent;     /* indexed by place; ID_NONE: none */
	uint32_t *depth;      /* indexed by place: number of ancestors */
	uint32_t *shown;      /* indexed by place: the shown entry, or ID_NONE */
	bool root_apart;      /* totals exclude the own number of place 0 */
	uint32_t *place_of;   /* indexed by node; ID_NONE: not counted */
	int64_t *own, *total; /* indexed by place; 0 between steps */
	bool *marked;
	uint32_t *touched, n_touched; /* places with numbers, without duplicates */
};

/* Returns one of these numbers in the form that is shown. Times are in microseconds. */
static inline struct fraction step_number(const struct step_numbers *x, int64_t v)
{
	return model_fraction(x->q->m, 1, x->value, v);
}

void step_numbers_open(struct step_numbers *x, const struct result *r, struct arena *a);

/* Calls f for the shown entries whose own or total number is not 0 in the step. */
void step_numbers_each(struct step_numbers *x, const struct step *s,
        void (*f)(void *user, uint32_t shown, int64_t own, int64_t total), void *user);

/* ---- workers ----
 *
 * The workers of a query: selected workers, their steps, and their numbers (-worker_regexes,
 * -align). Independent of columns.
 */

/* Selects workers by their names (-worker_regexes): sets *chosen to an array in a, or to NULL if
 * all are selected. Fails if none is selected, or if workers are requested and there are no names.
 */
bool workers_match(const struct strs *names, const struct opts *o, bool **chosen, struct arena *a,
        struct err *e);

/* Selects the workers of a query, as workers_match does. */
bool workers_choose(struct query *q, struct err *e);

/* Returns the number of workers. A model without worker names has one worker. */
static inline uint32_t workers_count(const struct model *m)
{
	return m->workers.n ? (uint32_t)m->workers.n : 1;
}

static inline bool workers_chosen(const struct query *q, size_t worker)
{
	return !q->workers || q->workers[worker];
}

/* Sets q->steps to the steps of the selected workers that the options select by number or by time
 * (-align). A note names workers without such steps. */
void workers_steps(struct query *q);

/* Returns the selected steps of one worker. */
const struct step *const *workers_steps_of(const struct query *q, uint32_t worker, size_t *n);

/* Returns the numbers of the nodes in the selected steps of a worker; NULL if it has none. Sets
 * *over to the number of steps to divide by. */
struct tally *workers_tallies(
        const struct query *q, uint32_t worker, int64_t *over, struct arena *a);

/* True if the number can differ between workers. Numbers that do not come from executions apply to
 * every worker. */
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

/* Additional columns for workers (-by worker, -max_workers): the slowest worker, the spread, and
 * each worker. */

/* Appends the columns of workers to the result's columns. */
void worker_columns_add(struct result *r);

#endif
