/* SPDX-License-Identifier: Apache-2.0
 *
 * N jobs on T threads. Jobs start in order. `done` runs on the calling thread in the order of the
 * jobs while later jobs run, so a fold needs no locks. At most PAR_ROOM results exist at a time.
 */
#ifndef TFPROF_BASE_PAR_H
#define TFPROF_BASE_PAR_H

#include "base/arena.h"

/* Maximum number of results that are being computed, are pending or are being folded. */
#define PAR_ROOM(threads) ((size_t)(threads) + 1)

struct pool;
struct par_ops {
	/* Runs on any thread, with a work of its own whose escape point is set. */
	void (*run)(void *ctx, size_t job, struct work *w);
	/* Runs on the calling thread, in job order. escaped: the job ran out of memory, and `done`
	 * must release its partial result. Returning false stops the run: jobs that have not
	 * started are not run. */
	bool (*done)(void *ctx, size_t job, bool escaped, struct pool *p);
	/* Releases the result of a job that ran or escaped and will not be passed to `done`. May be
	 * NULL. */
	void (*drop)(void *ctx, size_t job);
};

/* Runs all jobs on the calling thread if threads is 0 or 1. Jobs charge the account of the caller's
 * work. If that work escapes from within `done`, the threads are ended and results dropped
 * first. */
void par_run(
        const struct par_ops *ops, void *ctx, size_t jobs, unsigned threads, struct work *caller);

/* Waits until no job runs. Called from `done` before it changes data that jobs read. No job starts
 * before `done` returns. p may be NULL. */
void par_wait_idle(struct pool *p);

/* Returns the number of processors this process may use, at least 1. */
unsigned par_cpus(void);

#endif
