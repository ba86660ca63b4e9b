/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop of ticks. If recording begins at once, the thread that initialises the driver starts
 * CUPTI, because a kernel may follow immediately; everything else is done by the writer.
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

#include "collect/pool.h"
#include "collect/cupti.h"
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
#define FINISH_MOST 200u       /* total number of checks, after which waiting ends */
#define STACK       (512u << 10)
#define STEPS_KEPT  64u /* step signals between two ticks */

static struct {
	struct plan plan;
	_Atomic bool finish;
	_Atomic int thread;
	/* Used by the driver's thread until it sets `cuda`; then by the writer. */
	_Atomic bool cuda;
	enum { CUPTI_OFF, CUPTI_ON, CUPTI_FAILED } first;
	char why[512];
	struct spool_clock begun; /* read when the session started */
	bool used_cupti;
	/* Used by the writer only. */
	bool adopted;   /* the writer has seen `cuda` */
	unsigned cupti; /* state of CUPTI, as in `first`, for the current session */
	uint64_t opened, next_flush, next_second, next_clock;
	uint64_t lost_ranges, lost_kernels, lost_kept, dropped, textless;
	bool ranges_on, cheaper;
	bool worked;       /* records have arrived since the last start */
	bool incomparable; /* some launches are unknown */
	/* Used by the signal handler. */
	_Atomic uint32_t steps;
	_Atomic uint64_t step_at[STEPS_KEPT];
	uint32_t steps_taken;
} writer;

bool writer_used_cupti(void)
{
	return writer.used_cupti;
}

/* True if it is time to record. */
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

/* ---- start and stop ----------------------------------------------------------------------------
 */
/* Starts CUPTI and stores the result; a failure's reason is in writer.why. */
static unsigned start_cupti(void)
{
	writer.used_cupti = true;
	if (!cupti_start(&writer.plan, writer.why, sizeof writer.why))
		return CUPTI_FAILED;
	cupti_clock(&writer.begun);
	/* CUPTI registers exit handlers, which run before earlier ones. */
	exit_hook_renew();
	return CUPTI_ON;
}

void writer_cuda(void)
{
	if (atomic_load(&writer.cuda))
		return;
	if (wanted(process_ticks()))
		writer.first = start_cupti();
	atomic_store(&writer.cuda, true);
	wake_writer();
}

static void put_number(const char *key, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)v);

	store_info(key, text, (size_t)n);
}

static void put_clock(const struct spool_clock *c)
{
	struct spool_record r = { .kind = SPOOL_CLOCK, .clock = *c };

	if (r.clock.cupti)
		decode_clock((int64_t)(r.clock.cupti - r.clock.realtime));
	store_put(&r);
}

static void put_clocks(void)
{
	struct spool_clock c;

	cupti_clock(&c);
	put_clock(&c);
}

/* Takes over the result of a start and records it. */
static void adopt(unsigned state)
{
	writer.cupti = state;
	if (writer.cupti == CUPTI_OFF)
		return;
	if (writer.cupti == CUPTI_FAILED) {
		writer.incomparable = true;
		store_note("no GPU work is recorded: %s", writer.why);
		return;
	}
	put_number("cupti", cupti_functions()->version);
	put_number("driver", (uint64_t)cupti_functions()->driver);
	store_info("libcupti", cupti_path(), strlen(cupti_path()));
	if (*cupti_missing())
		store_note("CUPTI does not report %s", cupti_missing());
	writer.worked = false;
	writer.incomparable |= writer.plan.level == LEVEL_KERNELS;
	put_clock(&writer.begun);
	watch_begin(writer.plan.silence_ns);
	writer.next_flush = process_ticks() + writer.plan.flush_ns;
}

/* Collects the data of the program's threads; true if CUPTI has returned a buffer. */
static bool drain(void)
{
	uint64_t before = decode_counts()->records;

	for (struct pool_buffer *b = pool_drain(), *next; b; b = next) {
		next = b->next;
		decode_buffer(b->data, b->valid);
		pool_give(b);
	}
	ticks_read();
	rings_drain(decode_entry, NULL);
	return decode_counts()->records != before;
}

static void put_losses(void)
{
	uint64_t ranges = rings_lost() + rings_too_deep();
	uint64_t dropped = writer.cupti == CUPTI_ON ? cupti_dropped() : 0;

	store_lost(SPOOL_LOST_RANGES, ranges - writer.lost_ranges);
	writer.lost_ranges = ranges;
	store_lost(SPOOL_LOST_DROPPED, dropped);
	writer.dropped += dropped;
	if (writer.cupti == CUPTI_ON && watch_check(process_ticks(), dropped))
		writer.cheaper = true;
	if (names_textless() && !writer.textless)
		store_note("there are too many different names: from here on new ones have a "
		           "number instead");
	writer.textless = names_textless();
}

/* Compares launches with kernels; a launch captured into a graph has no kernel. */
static void put_missing_kernels(void)
{
	const struct decode_counts *n = decode_counts();
	uint64_t have = n->single_kernels + writer.dropped + writer.lost_kernels;

	if (writer.incomparable || n->captures || n->single_launches <= have)
		return;
	store_lost(SPOOL_LOST_KERNELS, n->single_launches - have);
	writer.lost_kernels += n->single_launches - have;
}

/* Records that all launches were compared; only then is it known that nothing is missing. */
static void put_launches(void)
{
	if (!writer.incomparable && !decode_counts()->captures)
		put_number("launches", decode_counts()->single_launches);
}

/* Records the records that CUPTI did not return, with the reason. */
static void put_kept(bool failed, uint32_t error)
{
	uint64_t kept = buffers_kept();
	char text[128], name[96];

	writer.incomparable |= failed || error || pool_out();
	if (failed) {
		cupti_failure(name, sizeof name);
		snprintf(text, sizeof text, "CUPTI failed: %s", name);
	} else if (error) {
		snprintf(text, sizeof text, "the last flush of CUPTI failed: %s (%u)",
		        cupti_error_text(cupti_functions(), error), error);
	} else {
		snprintf(text, sizeof text, "CUPTI did not hand over all buffers");
	}
	kept -= writer.lost_kept < kept ? writer.lost_kept : kept;
	if (kept)
		store_note("%s; at least %llu records are lost", text, (unsigned long long)kept);
	else if (failed || error)
		store_note("%s; the last records may be lost", text);
	store_lost(SPOOL_LOST_KEPT, kept);
	writer.lost_kept += kept;
}

static void stop_cupti(void)
{
	bool failed = cupti_failed();

	if (writer.cupti != CUPTI_ON)
		return;
	put_clocks();
	uint32_t error = cupti_stop(writer.plan.detach);
	drain();
	put_losses();
	watch_end();
	put_missing_kernels();
	put_kept(failed, error);
	writer.cupti = failed ? CUPTI_FAILED : CUPTI_OFF;
}

/* Starts again after another client has ended the session. */
static void start_again(uint64_t now)
{
	bool ok = cupti_start_again(&writer.plan, writer.why, sizeof writer.why);

	watch_started_again(now, ok);
	if (!ok)
		return;
	writer.worked = false;
	exit_hook_renew();
	put_clocks();
}

/* Reduces the cost: first without calls, then without recording. */
static void make_cheaper(void)
{
	writer.cheaper = false;
	if (!writer.plan.self_limit || writer.cupti != CUPTI_ON)
		return;
	if (writer.plan.level != LEVEL_KERNELS) {
		writer.plan.level = LEVEL_KERNELS;
		writer.incomparable = true;
		cupti_no_calls();
		store_note("calls are not recorded from here on, as recording costs too much");
	} else {
		store_note("nothing is recorded from here on, as recording costs too much");
		control_stop();
	}
}

/* Starts or stops recording as plan and control file require. */
static void follow(uint64_t now)
{
	bool want = wanted(now) && !store_broken();

	if (want != writer.ranges_on && writer.plan.nvtx) {
		(want ? record_enable_open : record_enable_close)(DOOR_NVTX);
		writer.ranges_on = want;
	}
	if (!atomic_load(&writer.cuda))
		return;
	if (!writer.adopted) {
		writer.adopted = true;
		adopt(writer.first);
	}
	if (writer.cupti == CUPTI_ON && cupti_failed())
		stop_cupti();
	else if (want && writer.cupti == CUPTI_OFF)
		adopt(start_cupti());
	else if (!want && writer.cupti == CUPTI_ON)
		stop_cupti();
	else if (!want && writer.cupti == CUPTI_FAILED && !cupti_failed())
		writer.cupti = CUPTI_OFF; /* the next start tries again */
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
	bool flush = control_read();

	follow(now);
	if (writer.cupti == CUPTI_ON && (flush || now >= writer.next_flush)) {
		cupti_flush(false);
		writer.next_flush = now + writer.plan.flush_ns;
	}
	bool came = drain();

	if (came && now >= writer.next_clock) {
		put_clocks();
		writer.next_clock = now + writer.plan.flush_ns;
	}
	put_steps();
	/* After its first work the driver has registered its exit handlers. */
	if (came && !writer.worked)
		exit_hook_renew();
	writer.worked |= came;
	if (writer.cupti == CUPTI_ON && watch_tick(now, came))
		start_again(now);
	if (now >= writer.next_second) {
		writer.next_second = now + SECOND_NS;
		store_put_sums();
		put_losses();
		if (writer.cheaper)
			make_cheaper();
	}
	store_sync();
}

static void *work(void *unused)
{
	(void)unused;
	atomic_store(&writer.thread, (int)syscall(SYS_gettid));
	for (unsigned i = 1; !atomic_load(&writer.finish); i++) {
		if (i % ALONE_TICKS == 0 && process_is_last_thread())
			break; /* main has ended by pthread_exit: without our thread the process
			          would be over */
		tick();
		wake_wait(TICK_NS);
	}
	record_enable_close(DOOR_NVTX);
	tick();
	stop_cupti();
	drain();
	put_losses();
	put_launches();
	store_close();
	files_close();
	wake_done();
	return NULL;
}

/* ---- the thread --------------------------------------------------------------------------------
 */
static bool make_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	/* Blocks all signals: a signal of the program must never be handled by our thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = !pthread_create(&thread, &attr, work, NULL);
	if (ok)
		pthread_setname_np(thread, "tfprof");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}

bool writer_start(const struct plan *plan)
{
	memset(&writer, 0, sizeof writer);
	writer.plan = *plan;
	writer.opened = process_ticks();
	wake_reset();
	control_reset(plan->since_ns);
	control_read();
	if (plan->nvtx && wanted(writer.opened)) {
		record_enable_open(DOOR_NVTX);
		writer.ranges_on = true;
	}
	return make_thread();
}

void writer_finish(void)
{
	atomic_store(&writer.finish, true);
	wake_writer();
	for (unsigned i = 0, idle = 0; i < FINISH_MOST && idle < FINISH_IDLE; i++) {
		if (wake_done_wait(FINISH_NS))
			break;
		idle += !process_runs(atomic_load(&writer.thread));
	}
}
