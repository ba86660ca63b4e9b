/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs on threads: order, limits, stopping, and failures of jobs and of the caller.
 */
#include "unit.h"

#include "base/par.h"

static int setup(void **state)
{
	(void)state;
	unit_work.guards = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(unit_account.used, 0);
	return 0;
}

enum { JOBS = 200 };

struct run {
	atomic_int started, running, held, most_held;
	int read_by_jobs; /* changed only while no job runs; the thread sanitizer checks this */
	int done[JOBS], n_done, n_escaped;
	atomic_int dropped[JOBS];
	bool ran[JOBS];
	int stop_at, escape_at, exhaust_at; /* a job, or -1 */
};

static struct run fresh_run(void)
{
	return (struct run){ .stop_at = -1, .escape_at = -1, .exhaust_at = -1 };
}

static void run_job(void *ctx, size_t job, struct work *w)
{
	struct run *r = ctx;
	int held = atomic_fetch_add(&r->held, 1) + 1, most = atomic_load(&r->most_held);

	atomic_fetch_add(&r->running, 1);
	assert_true(atomic_fetch_add(&r->started, 1) < JOBS);
	assert_true(r->read_by_jobs >= 0);
	assert_false(r->ran[job]);
	r->ran[job] = true;
	while (held > most && !atomic_compare_exchange_weak(&r->most_held, &most, held))
		;
	for (volatile size_t spin = 0; spin < job * 7919 % 20000; spin++)
		;
	atomic_fetch_sub(&r->running, 1);
	if ((int)job == r->escape_at) {
		struct arena a;

		arena_init(&a, w);
		arena_array(&a, SIZE_MAX, 2, 1);
	}
}

static bool job_done(void *ctx, size_t job, bool escaped, struct pool *p)
{
	struct run *r = ctx;

	r->done[r->n_done++] = (int)job;
	r->n_escaped += escaped;
	assert_int_equal(escaped, (int)job == r->escape_at);
	assert_true(r->ran[job]);
	if (job % 5 == 0) {
		par_wait_idle(p);
		for (int i = 0; i < 1000; i++)
			assert_int_equal(r->running, 0);
		r->read_by_jobs++;
	}
	if ((int)job == r->exhaust_at)
		work_escape(&unit_work);
	atomic_fetch_sub(&r->held, 1);
	return (int)job != r->stop_at;
}

static void job_drop(void *ctx, size_t job)
{
	struct run *r = ctx;

	atomic_fetch_add(&r->dropped[job], 1);
	atomic_fetch_sub(&r->held, 1);
}

static const struct par_ops ops = { run_job, job_done, job_drop };

/* The first n jobs were done in order, and each other job that ran was dropped once. */
static void check(const struct run *r, int n)
{
	assert_int_equal(r->n_done, n);
	for (int i = 0; i < JOBS; i++) {
		if (i < n)
			assert_int_equal(r->done[i], i);
		assert_int_equal(r->dropped[i], i >= n && r->ran[i]);
	}
}

static void all_jobs_are_done_in_order(void **state)
{
	static const unsigned threads[] = { 0, 1, 2, 3, 8, 1000 };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct run r = fresh_run();

		par_run(&ops, &r, JOBS, threads[i], &unit_work);
		check(&r, JOBS);
		assert_int_equal(r.held, 0);
		assert_true(r.most_held <= (int)threads[i] + 1);
		assert_null(unit_work.guards);
	}
	par_run(&ops, NULL, 0, 4, &unit_work);
}

static void false_stops(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads < 5; threads++) {
		struct run r = fresh_run();

		r.stop_at = 20;
		par_run(&ops, &r, JOBS, threads, &unit_work);
		check(&r, 21);
		assert_int_equal(r.held, 0);
		assert_true(r.started <= 21 + (int)threads + 1);
		assert_null(unit_work.guards);
	}
}

static void an_escaped_job_is_told(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads < 4; threads++) {
		struct run r = fresh_run();

		r.escape_at = 33;
		par_run(&ops, &r, JOBS, threads, &unit_work);
		check(&r, JOBS);
		assert_int_equal(r.n_escaped, 1);
	}
}

static bool escapes(struct run *r, unsigned threads)
{
	if (setjmp(unit_work.escape))
		return true;
	par_run(&ops, r, JOBS, threads, &unit_work);
	return false;
}

/* The fold runs out of memory: threads must have ended before the stack below is gone. */
static void the_caller_may_escape(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads < 4; threads++) {
		struct run r = fresh_run();

		r.exhaust_at = 50;
		assert_true(escapes(&r, threads));
		check(&r, 51);
		assert_int_equal(r.held, 1); /* the job whose fold failed */
		assert_null(unit_work.guards);
	}
}

static void there_is_a_processor(void **state)
{
	(void)state;
	assert_true(par_cpus() >= 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_jobs_are_done_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(false_stops, setup, teardown),
		cmocka_unit_test_setup_teardown(an_escaped_job_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(the_caller_may_escape, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_a_processor, setup, teardown),
	};

	return unit_main(tests, argc, argv);
}
