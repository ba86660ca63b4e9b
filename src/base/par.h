/* SPDX-License-Identifier: Apache-2.0
 *
 * N jobs on T threads. Jobs are started in order; `done` is called on the calling thread in the
 * order of the jobs, so a fold needs no locks, while later jobs run. At most PAR_ROOM results are
 * there at a time.
 */
#ifndef TFPROF_BASE_PAR_H
#define TFPROF_BASE_PAR_H

#include "base/arena.h"

/* Results that are being made, wait or are being done. */
#define PAR_ROOM(threads) ((size_t)(threads) + 1)

struct pool;
struct par_ops {
	/* Runs on some thread, with a work of its own whose escape point is set. */
	void (*run)(void *ctx, size_t job, struct work *w);
	/* Runs on the calling thread, in job order. escaped: the job ran out of memory; what it
	 * left behind is for done to give back. False stops: jobs not yet started are not run. */
	bool (*done)(void *ctx, size_t job, bool escaped, struct pool *p);
	/* Gives back the result of a job that was run, or escaped, and will not be done. May be
	 * NULL. */
	void (*drop)(void *ctx, size_t job);
};

/* threads 0 or 1 runs everything on the calling thread. Jobs charge the account of the caller's
 * work. If that work escapes from within done, the threads are ended and results dropped first. */
void par_run(
        const struct par_ops *ops, void *ctx, size_t jobs, unsigned threads, struct work *caller);

/* Called from done before it changes what jobs read: waits until none runs; none is started before
 * done returns. p may be NULL. */
void par_wait_idle(struct pool *p);

/* Processors this process may use, at least 1. */
unsigned par_cpus(void);

#endif
