/* SPDX-License-Identifier: Apache-2.0
 *
 * A clock that is cheap to read, for hooks: the processor's counter if the system itself uses it,
 * otherwise CLOCK_REALTIME. The writer converts its ticks to ns since 1970.
 */
#ifndef TFPROF_COLLECT_TICKS_H
#define TFPROF_COLLECT_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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

/* Called once per process, before hooks read the clock. */
void ticks_begin(void);
/* Called by the writer before it converts ticks. Ticks between two calls are interpolated between
 * their times. */
void ticks_read(void);
uint64_t ticks_time(uint64_t ticks);

#endif
