/* SPDX-License-Identifier: Apache-2.0
 *
 * An open hash table by thread id. A name is two words of 8 bytes, so a reader that races with a
 * change sees halves of two names at worst.
 */
#define _GNU_SOURCE
#include "collect/system.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROBES 16u
#define STACK  (512u << 10) /* stack size of the collector's threads */
#define WORDS  2u           /* number of words for the kernel's 16 bytes per name */

static struct {
	_Atomic uint32_t tid; /* 0: free */
	_Atomic uint64_t name[WORDS];
} threads[THREADS_MAX];

void threads_reset(void)
{
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		atomic_store_explicit(&threads[i].tid, 0, memory_order_relaxed);
		for (uint32_t w = 0; w < WORDS; w++)
			atomic_store_explicit(&threads[i].name[w], 0, memory_order_relaxed);
	}
}

/* Returns the slot of a thread. With take, claims a free slot for a new thread. Returns -1 if the
 * thread has no slot. */
static int place_of(uint32_t tid, bool take)
{
	uint32_t h = tid * 0x9e3779b1u >> 16;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (h + i) & (THREADS_MAX - 1), is = atomic_load(&threads[at].tid);

		if (is == tid)
			return (int)at;
		if (is)
			continue;
		if (!take)
			return -1;
		if (atomic_compare_exchange_strong(&threads[at].tid, &is, tid) || is == tid)
			return (int)at;
	}
	return -1;
}

uint32_t threads_see(void)
{
	int saved = errno;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t name[WORDS] = { 0 };
	int at = place_of(tid, true);

	if (at >= 0 && !prctl(PR_GET_NAME, name, 0, 0, 0))
		for (uint32_t w = 0; w < WORDS; w++)
			atomic_store(&threads[at].name[w], name[w]);
	errno = saved;
	return tid;
}

bool threads_name(uint32_t tid, char *p, size_t n)
{
	char name[WORDS * sizeof(uint64_t) + 1] = "";
	int at;

	if (process_thread_name(tid, p, n))
		return true;
	if (!tid || (at = place_of(tid, false)) < 0)
		return false;
	for (uint32_t w = 0; w < WORDS; w++) {
		uint64_t word = atomic_load(&threads[at].name[w]);

		memcpy(name + w * sizeof word, &word, sizeof word);
	}
	size_t length = strnlen(name, sizeof name - 1);

	if (!length || length >= n)
		return false;
	memcpy(p, name, length + 1);
	return true;
}

bool thread_make(void *(*run)(void *), const char *name)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	/* Blocks all signals, because the collector's thread must never process a signal of the
	 * program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = !pthread_create(&thread, &attr, run, NULL);
	if (ok)
		pthread_setname_np(thread, name);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}
