/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop of ticks. If recording begins at once, the thread that initialises the driver waits for
 * the start of the session, because a kernel may follow immediately.
 */
#define _GNU_SOURCE
#include "collect/writer.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/decode.h"
#include "collect/system.h"
#include "collect/store.h"
#include "collect/record_enable.h"
#include "collect/ring.h"

#define TICK_NS     100000000u
#define ALONE_TICKS 5u /* interval between checks for other threads */
#define SECOND_NS   1000000000u
#define FINISH_NS   100000000u /* interval between checks for the program's exit */
#define FINISH_IDLE 20u        /* checks without progress of the writer, after which waiting ends */
#define FINISH_MAX  200u       /* total number of checks, after which waiting ends */
#define START_NS    2000000000u /* maximum time that a program waits for the start of a session */
#define STEPS_KEPT  64u         /* maximum number of step signals between two ticks */

static struct {
	struct plan plan;
	_Atomic bool finish;
	_Atomic int thread;
	_Atomic bool cuda; /* true: the driver has been initialised */
	/* Used by the writer only. */
	uint64_t opened, next_second, next_clock;
	bool ranges_on, cheaper;
	/* Used by the signal handler. */
	_Atomic uint32_t steps;
	_Atomic uint64_t step_at[STEPS_KEPT];
	uint32_t steps_taken;
} writer;

bool writer_used_gpu(void)
{
	return session_was_used();
}

/* True if recording should be on at a given time. */
static bool wanted(uint64_t now)
{
	const struct plan *p = &writer.plan;
	uint64_t begin = writer.opened + p->delay_ns;

	switch (control_state()) {
	case CONTROL_STOPPED: return false;
	case CONTROL_STARTED: return true;
	case CONTROL_SILENT: break;
	}
	if (p->wait_for_start || now < begin)
		return false;
	return !p->duration_ns || now < begin + p->duration_ns;
}

void writer_cuda(void)
{
	if (atomic_load(&writer.cuda))
		return;
	if (wanted(process_ticks())) {
		session_begin();
		session_wait(START_NS);
		/* The library and the driver register exit handlers, which run before earlier ones.
		 */
		exit_hook_renew();
	}
	atomic_store(&writer.cuda, true);
	wake_writer();
}

/* Reduces the cost: first without calls, then without recording. */
static void make_cheaper(void)
{
	writer.cheaper = false;
	if (!writer.plan.self_limit || session_state() != SESSION_ON)
		return;
	if (writer.plan.level != LEVEL_KERNELS) {
		writer.plan.level = LEVEL_KERNELS;
		session_fewer_calls();
		store_note(
		        "from here on, calls are not recorded, because recording costs too much");
	} else {
		store_note("from here on, nothing is recorded, because recording costs too much");
		control_stop();
	}
}

/* Starts or stops recording, as the plan and the control file require. */
static void follow(uint64_t now)
{
	bool want = wanted(now) && !store_broken();

	if (want != writer.ranges_on && writer.plan.nvtx) {
		(want ? record_enable_open : record_enable_close)(DOOR_NVTX);
		writer.ranges_on = want;
	}
	if (!atomic_load(&writer.cuda))
		return;
	session_adopt(now);
	if (session_state() == SESSION_ON && store_broken())
		session_stop(true); /* launches are still counted */
	else if (session_state() == SESSION_ON && (!want || session_failed()))
		session_stop(false);
	else if (want && session_state() == SESSION_OFF && !atomic_load(&writer.finish))
		session_begin();
	else if (!want)
		session_retry();
}

/* ---- ticks -------------------------------------------------------------------------------------
 */
void writer_step(void)
{
	uint32_t i = atomic_fetch_add(&writer.steps, 1);

	atomic_store(&writer.step_at[i % STEPS_KEPT], process_clock());
}

static void put_steps(void)
{
	uint32_t n = atomic_load(&writer.steps);
	struct spool_record r = { .kind = SPOOL_MARK };

	if (n - writer.steps_taken > STEPS_KEPT)
		writer.steps_taken = n - STEPS_KEPT;
	for (; writer.steps_taken != n; writer.steps_taken++) {
		uint64_t at = atomic_load(&writer.step_at[writer.steps_taken % STEPS_KEPT]);

		r.mark = (struct spool_mark){ SPOOL_STEP, at, 0 };
		store_put(&r);
	}
}

static void tick(void)
{
	uint64_t now = process_ticks();
	bool asked = control_read();

	follow(now);
	session_flush(now, asked);
	bool came = session_drain();

	if (came && now >= writer.next_clock) {
		session_clocks();
		writer.next_clock = now + writer.plan.flush_ns;
	}
	put_steps();
	if (session_state() == SESSION_ON) {
		exit_hook_renew();
		if (watch_tick(now, came))
			session_again(now);
	}
	if (now >= writer.next_second) {
		writer.next_second = now + SECOND_NS;
		store_put_sums();
		writer.cheaper |= session_losses(0);
		if (!atomic_load(&writer.finish))
			session_look();
		if (writer.cheaper)
			make_cheaper();
	}
	files_spool_counts();
	store_sync();
}

/* Waits for a buffer, or until it is time to flush. */
static void rest(void)
{
	uint64_t now = process_ticks(), ns = TICK_NS;

	if (session_state() == SESSION_ON && session_next_flush() < now + ns)
		ns = session_next_flush() > now ? session_next_flush() - now : 0;
	wake_wait(ns);
}

/* Ends the recording. No records are accepted afterwards. */
static void end(void)
{
	record_enable_close(DOOR_NVTX);
	tick();
	if (session_state() == SESSION_STARTS) { /* its first records are kept, too */
		session_wait(START_NS);
		tick();
	}
	session_stop(true);
	session_drain();
	session_losses(0);
	session_end();
	files_spool_counts();
	store_close();
	files_close();
}

static void *work(void *unused)
{
	(void)unused;
	atomic_store(&writer.thread, (int)syscall(SYS_gettid));
	for (unsigned i = 1; !atomic_load(&writer.finish); i++) {
		if (i % ALONE_TICKS == 0 && process_is_last_thread())
			break; /* main has ended by pthread_exit: without the collector's thread,
			          the process would be over */
		tick();
		rest();
	}
	end();
	wake_done();
	return NULL;
}

/* ---- the thread --------------------------------------------------------------------------------
 */
bool writer_start(const struct plan *plan)
{
	memset(&writer, 0, sizeof writer);
	writer.plan = *plan;
	session_reset(&cupti_backend, &writer.plan);
	writer.opened = process_ticks();
	wake_reset();
	control_reset(plan->since_ns);
	control_read();
	if (plan->nvtx && wanted(writer.opened)) {
		record_enable_open(DOOR_NVTX);
		writer.ranges_on = true;
	}
	return thread_make(work, "tfprof");
}

void writer_finish(void)
{
	atomic_store(&writer.finish, true);
	wake_writer();
	for (unsigned i = 0, idle = 0; i < FINISH_MAX && idle < FINISH_IDLE; i++) {
		if (wake_done_wait(FINISH_NS))
			break;
		idle += !process_runs(atomic_load(&writer.thread));
	}
}
