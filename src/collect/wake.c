/* SPDX-License-Identifier: Apache-2.0
 *
 * One futex. The word is 1 from the first call until the writer has seen it: of many calls one is a
 * system call.
 */
#define _GNU_SOURCE
#include "collect/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t wanted;

void wake_writer(void)
{
	if (atomic_load_explicit(&wanted, memory_order_relaxed) || atomic_exchange(&wanted, 1))
		return;
	int saved = errno;

	syscall(SYS_futex, &wanted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

void wake_wait(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };

	if (!atomic_load(&wanted))
		syscall(SYS_futex, &wanted, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	atomic_store(&wanted, 0);
}
