/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the process and its threads, from the system. Never calls malloc; unavailable facts
 * are omitted.
 */
#ifndef TFPROF_COLLECT_PROCESS_H
#define TFPROF_COLLECT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the beginning of a file, n bytes including the NUL; returns the number without it, 0 if
 * there is nothing. */
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

/* Writes the name of a thread, at most n bytes with the NUL; false if the thread does not exist. */
bool process_thread_name(uint32_t tid, char *, size_t n);

/* True if a thread of this process is running or runnable. */
bool process_runs(int thread);
/* True if the calling thread is the only one left. */
bool process_is_last_thread(void);

#endif
