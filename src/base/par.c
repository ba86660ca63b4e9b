/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of threads that lives for one par_run. Workers take jobs in order, limited by the room for
 * results; the calling thread folds. Independent of the jobs.
 *
 *   jobs:  | done ....... | run, waiting | running ..... | not started |
 *          0              done                            started       jobs
 */
#define _GNU_SOURCE 1
#include "base/par.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define PAR_THREADS 256 /* maximum number of threads */

enum job_state { JOB_RUNNING, JOB_OK, JOB_ESCAPED };

struct pool {
	const struct par_ops *ops;
	void *ctx;
	struct account *account;
	locale_t locale; /* locale of the caller, which threads do not inherit */
	size_t jobs;
	size_t room; /* number of results held at a time; the state of job j is at j % room */
	unsigned n;  /* number of threads */
	pthread_t threads[PAR_THREADS];
	struct guard guard;
	size_t taken; /* number of jobs passed to done; used only by the calling thread */

	pthread_mutex_t lock; /* protects the following fields */
	pthread_cond_t may_start, has_ended;
	size_t started, running, done;
	bool stop, quiet;
	enum job_state states[PAR_THREADS + 1];
};

/* Runs one job with a recovery point of its own. Returns false if the job escaped to it. */
static bool run_job(const struct par_ops *ops, void *ctx, size_t job, struct account *account)
{
	struct work w = { .account = account, .guards = NULL };

	if (setjmp(w.escape))
		return false;
	ops->run(ctx, job, &w);
	work_end(&w);
	return true;
}

static bool may_not_start(const struct pool *p)
{
	return !p->stop && p->started < p->jobs && (p->quiet || p->started - p->done >= p->room);
}

static void *worker(void *pool)
{
	struct pool *p = pool;

	uselocale(p->locale);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		size_t job;
		bool ok;

		while (may_not_start(p))
			pthread_cond_wait(&p->may_start, &p->lock);
		if (p->stop || p->started == p->jobs)
			break;
		job = p->started++;
		p->states[job % p->room] = JOB_RUNNING;
		p->running++;
		pthread_mutex_unlock(&p->lock);
		ok = run_job(p->ops, p->ctx, job, p->account);
		pthread_mutex_lock(&p->lock);
		p->states[job % p->room] = ok ? JOB_OK : JOB_ESCAPED;
		p->running--;
		pthread_cond_signal(&p->has_ended);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Ends the threads and drops the results that `done` has not received. */
static void pool_close(void *pool)
{
	struct pool *p = pool;

	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->may_start);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n; i++)
		pthread_join(p->threads[i], NULL);
	for (; p->ops->drop && p->taken < p->started; p->taken++)
		p->ops->drop(p->ctx, p->taken);
	pthread_cond_destroy(&p->has_ended);
	pthread_cond_destroy(&p->may_start);
	pthread_mutex_destroy(&p->lock);
}

/* Starts up to n threads. They block all signals, which the caller handles. */
static void pool_start(struct pool *p, unsigned n)
{
	sigset_t all, before;

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->may_start, NULL);
	pthread_cond_init(&p->has_ended, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->n < n && !pthread_create(&p->threads[p->n], NULL, worker, p))
		p->n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Waits for the next job in order. Returns false if the job escaped. */
static bool pool_wait(struct pool *p)
{
	enum job_state *state = &p->states[p->done % p->room];
	bool ok;

	pthread_mutex_lock(&p->lock);
	while (p->started == p->done || *state == JOB_RUNNING)
		pthread_cond_wait(&p->has_ended, &p->lock);
	ok = *state == JOB_OK;
	pthread_mutex_unlock(&p->lock);
	return ok;
}

void par_wait_idle(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->quiet = true;
	while (p->running)
		pthread_cond_wait(&p->has_ended, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

/* Passes the results to `done` in order. A result occupies its slot until `done` has returned. */
static void pool_fold(struct pool *p)
{
	while (p->taken < p->jobs) {
		bool ok = pool_wait(p);

		p->taken++;
		if (!p->ops->done(p->ctx, p->taken - 1, !ok, p))
			return;
		pthread_mutex_lock(&p->lock);
		p->done++;
		p->quiet = false;
		pthread_cond_broadcast(&p->may_start);
		pthread_mutex_unlock(&p->lock);
	}
}

static void run_inline(const struct par_ops *ops, void *ctx, size_t jobs, struct account *account)
{
	for (size_t i = 0; i < jobs; i++) {
		bool ok = run_job(ops, ctx, i, account);

		if (!ops->done(ctx, i, !ok, NULL))
			break;
	}
}

void par_run(
        const struct par_ops *ops, void *ctx, size_t jobs, unsigned threads, struct work *caller)
{
	struct pool p = { .ops = ops, .ctx = ctx, .account = caller->account, .jobs = jobs };

	if (threads > PAR_THREADS)
		threads = PAR_THREADS;
	if (threads > jobs)
		threads = (unsigned)jobs;
	if (threads <= 1) {
		run_inline(ops, ctx, jobs, caller->account);
		return;
	}
	p.locale = uselocale((locale_t)0);
	p.room = PAR_ROOM(threads);
	work_guard(caller, &p.guard, pool_close, &p);
	pool_start(&p, threads);
	if (p.n)
		pool_fold(&p);
	work_unguard(caller, &p.guard);
	pool_close(&p);
	if (!p.n)
		run_inline(ops, ctx, jobs, caller->account);
}

unsigned par_cpus(void)
{
	cpu_set_t set;
	long n = sched_getaffinity(0, sizeof set, &set) ? sysconf(_SC_NPROCESSORS_ONLN)
	                                                : CPU_COUNT(&set);

	return n < 1 ? 1 : (unsigned)n;
}
