/* SPDX-License-Identifier: Apache-2.0
 *
 * The system below the collector: mappings, futexes, names of threads, clocks, /proc and exit
 * handlers. All of it works without malloc and without locks.
 */
#ifndef TFPROF_COLLECT_SYSTEM_H
#define TFPROF_COLLECT_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- memory ---- Memory of the collector: whole zeroed mappings, never malloc, mostly
 * inaccessible in a forked child. */

enum memory_fork {
	MEMORY_GONE_BY_FORK,  /* absent in a child: its pages are not copied */
	MEMORY_WIPED_BY_FORK, /* zeros in a child */
	MEMORY_KEPT_BY_FORK,  /* copied to a child */
};

/* Returns at least n zeroed bytes, or NULL. Preserves errno. */
void *memory_map(size_t n, enum memory_fork);

/* ---- wake ----
 *
 * Wakes the writer thread from hooks in any thread, with a word and a futex; never blocks.
 */

void wake_writer(void);
/* Waits in the writer until it is woken, for at most ns nanoseconds. */
void wake_wait(uint64_t ns);
/* wake_done reports that the writer has ended. wake_done_wait waits for that, at most ns
 * nanoseconds, and returns false if the writer has not ended. */
void wake_done(void);
bool wake_done_wait(uint64_t ns);
/* wake_starting and wake_started report that the start of a session begins and has ended.
 * wake_started_wait waits for the end like wake_done_wait. */
void wake_starting(void);
void wake_started(void);
bool wake_started_wait(uint64_t ns);
/* Called before a writer is started. */
void wake_reset(void);

/* ---- threads ----
 *
 * Names of threads, stored while the threads live, because the writer often processes records after
 * their thread has ended.
 */

#define THREADS_MAX 4096u /* a power of two; more threads lose their names when they end */

/* Starts a thread of the collector: detached, with all signals blocked. Returns false if no thread
 * can be created. */
bool thread_make(void *(*run)(void *), const char *name);
/* Called once per process, before all others. */
void threads_reset(void);
/* Stores the name of the calling thread, replacing an earlier one. Returns its id. */
uint32_t threads_see(void);
/* Writes the name of a thread, at most n bytes with the NUL: the current name of a running thread,
 * otherwise the stored name. Returns false if the thread is unknown. */
bool threads_name(uint32_t tid, char *, size_t n);

/* ---- ticks ----
 *
 * A clock that is cheap to read, for hooks: the processor's counter if the system itself uses it,
 * otherwise CLOCK_REALTIME. The writer converts its ticks to ns since 1970.
 */

extern bool ticks_by_counter;

static inline uint64_t ticks_now(void)
{
	struct timespec t;

#ifdef __x86_64__
	if (ticks_by_counter)
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Prepares the clock. Called once per process, before hooks read it. */
void ticks_begin(void);
/* Called by the writer before it converts ticks. Ticks between two calls are interpolated between
 * their times. */
void ticks_read(void);
uint64_t ticks_time(uint64_t ticks);

/* ---- process ----
 *
 * Facts about the process and its threads, from the system. Never calls malloc; unavailable facts
 * are omitted.
 */

/* Reads the beginning of a file, n bytes including the NUL. Returns the number of bytes without the
 * NUL; 0 if there are none. */
size_t process_file(const char *path, char *, size_t n);

/* Returns ns since 1970. */
uint64_t process_clock(void);
/* Returns ns of CLOCK_MONOTONIC. */
uint64_t process_ticks(void);
uint64_t process_raw_clock(void);
/* Returns the processor time of the calling thread, ns. */
uint64_t process_thread_cpu(void);

/* Returns the start time of the process in clock ticks since boot. */
unsigned long long process_start_ticks(void);
/* Returns the host name, usable in a file name. */
void process_host(char *, size_t n);

/* Calls put for each fact (io/block_format.h, struct spool_info) about the process. */
typedef void process_fact(void *user, const char *key, const char *value, size_t n);
void process_facts(process_fact *put, void *user);

/* Writes the name of a thread, at most n bytes with the NUL. Returns false if the thread does not
 * exist. */
bool process_thread_name(uint32_t tid, char *, size_t n);

/* True if a thread of this process is running or runnable. */
bool process_runs(int thread);
/* True if the calling thread is the only one left. */
bool process_is_last_thread(void);

/* ---- exit hook ----
 *
 * Ends the recording at exit, before the exit handlers that CUPTI and the driver have registered.
 */

/* Registers the function that ends the recording. May be called several times. */
void exit_hook_set(void (*end)(void));

/* Moves the handler to the end of the list: exit handlers run in reverse order, so it runs before
 * all handlers registered so far. Cheap enough for each tick. */
void exit_hook_renew(void);
/* Called before and after a fork, in parent and child. */
void exit_hook_hold(void);
void exit_hook_go_on(void);

#endif
