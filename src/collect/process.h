/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the process and its threads, from the system. No malloc; what cannot be found out is
 * left out.
 */
#ifndef TFPROF_COLLECT_PROCESS_H
#define TFPROF_COLLECT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of a file, n bytes with the NUL behind it; how many without, 0 if there is nothing.
 */
size_t process_file(const char *path, char *, size_t n);

/* ns since 1970. */
uint64_t process_clock(void);
/* ns of CLOCK_MONOTONIC. */
uint64_t process_ticks(void);
uint64_t process_raw_clock(void);
/* Processor time of the calling thread, ns. */
uint64_t process_thread_cpu(void);

/* When the process began, in clock ticks since boot. */
unsigned long long process_start_ticks(void);
/* The name of the machine, fit for a file name. */
void process_host(char *, size_t n);

/* Calls put for each fact of io/spool.h's struct spool_info that is about the process. */
typedef void process_fact(void *user, const char *key, const char *value, size_t n);
void process_facts(process_fact *put, void *user);

/* The name of a thread, at most n bytes with the NUL; false if there is no such thread. */
bool process_thread_name(uint32_t tid, char *, size_t n);

/* Whether a thread of this process runs, or waits for nothing but a processor. */
bool process_runs(int thread);
/* Whether the calling thread is the only one that has not ended. */
bool process_is_last_thread(void);

#endif
