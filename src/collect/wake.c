/* SPDX-License-Identifier: Apache-2.0
 *
 * Three futexes. The writer's word is 1 from the first call until the writer has seen it, so
 * repeated calls cost one system call.
 */
#define _GNU_SOURCE
#include "collect/system.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t wanted, done, started;

/* Sleeps while the word is 0, for at most ns. */
static void sleep_on(_Atomic uint32_t *word, uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u) };

	if (!atomic_load(word))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

/* Sets the word to 1 and wakes the sleeper. */
static void set(_Atomic uint32_t *word, int sleepers)
{
	int saved = errno;

	if (!atomic_exchange(word, 1))
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
	errno = saved;
}

void wake_writer(void)
{
	if (!atomic_load_explicit(&wanted, memory_order_relaxed))
		set(&wanted, 1);
}

void wake_wait(uint64_t ns)
{
	sleep_on(&wanted, ns);
	atomic_store(&wanted, 0);
}

void wake_done(void)
{
	set(&done, INT_MAX);
}

static bool wait_for(_Atomic uint32_t *word, uint64_t ns)
{
	uint64_t end = process_ticks() + ns, now;

	while (!atomic_load(word) && (now = process_ticks()) < end)
		sleep_on(word, end - now);
	return atomic_load(word);
}

bool wake_done_wait(uint64_t ns)
{
	return wait_for(&done, ns);
}

void wake_started(void)
{
	set(&started, INT_MAX);
}

bool wake_started_wait(uint64_t ns)
{
	return wait_for(&started, ns);
}

void wake_starting(void)
{
	atomic_store(&started, 0);
}

void wake_reset(void)
{
	atomic_store(&wanted, 0);
	atomic_store(&done, 0);
}
