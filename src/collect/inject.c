/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points of the collector: called by the CUDA driver in cuInit, by NVTX once for each
 * module of the program that has ranges, at fork and at exit. Failures are never visible to the
 * program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/decode.h"
#include "collect/launches.h"
#include "collect/system.h"
#include "collect/store.h"
#include "collect/record_enable.h"
#include "collect/nvtx.h"
#include "collect/plan.h"
#include "collect/pool.h"
#include "collect/ring.h"
#include "collect/writer.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);
EXPORT nvtx_init InitializeInjectionNvtx2;

/* The state is stored in one word together with the process id, so that a forked child has the
 * state UNOPENED. */
enum state { UNOPENED, OPENING, OPEN, DORMANT, STATES };

static struct {
	_Atomic uint64_t word; /* process id * STATES + state */
	bool hooked;
	_Atomic bool finished;
	struct plan plan;
} life;

static uint64_t word_of(enum state s)
{
	return (uint64_t)getpid() * STATES + s;
}

/* ---- end ---------------------------------------------------------------------------------------
 */
static void at_exit(void)
{
	if (record_enable_ours() && atomic_load(&life.word) == word_of(OPEN) &&
	        !atomic_exchange(&life.finished, true)) {
		launches_flag(SPOOL_COUNT_EXITS);
		writer_finish();
	}
}

static void in_child(void)
{
	int saved = errno;

	record_enable_forget();
	launches_forget();
	files_close();
	exit_hook_go_on();
	errno = saved;
}

static void on_step(int signal)
{
	int saved = errno;

	(void)signal;
	if (record_enable_ours())
		writer_step();
	errno = saved;
}

/* Registers the handlers, unless they are inherited. */
static void hook(void)
{
	struct sigaction a;

	if (!life.hooked) {
		pthread_atfork(exit_hook_hold, exit_hook_go_on, in_child);
		exit_hook_set(at_exit);
		(void)at_quick_exit(
		        at_exit); /* if registration fails, quick_exit loses the last second */
	}
	life.hooked = true;
	if (!life.plan.step_signal || sigaction(SIGUSR2, NULL, &a) || a.sa_handler != SIG_DFL)
		return;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_step;
	a.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &a, NULL);
}

/* ---- start -------------------------------------------------------------------------------------
 */
static void put_fact(void *unused, const char *key, const char *value, size_t n)
{
	(void)unused;
	store_info(key, value, n);
}

static void put_header(const char *options)
{
	struct str level = plan_level_name(life.plan.level);

	store_info("tfprof", TFPROF_VERSION, sizeof TFPROF_VERSION - 1);
	process_facts(put_fact, NULL);
	store_info("level", level.p, level.n);
	if (options)
		store_info("options", options, strlen(options));
	store_sync();
}

/* Creates everything that recording needs. On failure, the log contains a sentence, if there is a
 * log. */
static bool make(void)
{
	const char *folder = secure_getenv(COLLECT_ENV_SESSION);
	const char *options = secure_getenv(COLLECT_ENV_OPTS), *wrong = NULL;
	size_t length = 0;

	if (!folder || !*folder)
		return false;
	bool understood = plan_read(&life.plan, options, &wrong, &length);

	files_close();
	if (!files_open(folder, life.plan.verbose))
		return false;
	if (!understood)
		files_say("%s: '%.*s' is not understood", COLLECT_ENV_OPTS, (int)length, wrong);
	if (!files_spool_make())
		return false;
	if (!record_enable_make() || !names_make() || !rings_make() ||
	        !store_open(life.plan.max_bytes)) {
		files_say("nothing is recorded: memory is exhausted");
		return false;
	}
	atomic_store(&life.finished, false);
	pool_reset((unsigned)life.plan.buffers, life.plan.buffer_bytes);
	decode_reset();
	threads_reset();
	ticks_begin();
	hook();
	put_header(options);
	if (writer_start(&life.plan))
		return true;
	files_say("nothing is recorded: no thread can be created");
	record_enable_forget();
	return false;
}

/* Opens the session of this process once. Returns true if there is one. */
static bool open_session(void)
{
	uint64_t is = atomic_load(&life.word);

	if (is / STATES != (uint64_t)getpid()) {
		/* The child of a process that used CUDA cannot use CUDA. */
		bool hopeless = is && writer_used_gpu();

		if (atomic_compare_exchange_strong(
		            &life.word, &is, word_of(hopeless ? DORMANT : OPENING)) &&
		        !hopeless) {
			bool ok = make();

			if (!ok) {
				launches_forget();
				files_close();
			}
			atomic_store(&life.word, word_of(ok ? OPEN : DORMANT));
		}
	}
	while (atomic_load(&life.word) == word_of(OPENING))
		sched_yield();
	return atomic_load(&life.word) == word_of(OPEN);
}

int InitializeInjection(void)
{
	int saved = errno;

	if (open_session())
		writer_cuda();
	errno = saved;
	return 1;
}

int InitializeInjectionNvtx2(nvtx_get_table *get)
{
	int saved = errno;
	bool ok = open_session() && life.plan.nvtx ? nvtx_fill(get) : nvtx_chain_init(get);

	errno = saved;
	return ok;
}
