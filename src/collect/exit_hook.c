/* SPDX-License-Identifier: Apache-2.0
 *
 * glibc can remove a handler from the list again: it calls all handlers that were registered with
 * the handle of a library, and here the address of a variable serves as the handle. A handler of an
 * earlier registration does nothing.
 */
#include "collect/system.h"

#include <sched.h>
#include <stdatomic.h>

#define EXITS_MAX 32u /* maximum number of registrations, if handlers cannot be removed */

int __cxa_atexit(void (*)(void *), void *, void *);
void __cxa_finalize(void *);

static struct {
	void (*_Atomic end)(void);
	_Atomic uintptr_t round; /* number of registrations so far */
	_Atomic bool busy;       /* true: a registration is in progress */
	char handle;
} hook;

static void at_exit(void *round)
{
	void (*end)(void) = atomic_load(&hook.end);

	if (end && (uintptr_t)round == atomic_load(&hook.round))
		end();
}

void exit_hook_renew(void)
{
	if (atomic_exchange(&hook.busy, true))
		return;
#ifdef __GLIBC__
	bool may = true;
#else
	bool may = atomic_load(&hook.round) < EXITS_MAX;
#endif
	if (may) {
		uintptr_t round = atomic_fetch_add(&hook.round, 1) + 1;

		__cxa_finalize(&hook.handle);
		__cxa_atexit(at_exit, (void *)round, &hook.handle);
	}
	atomic_store(&hook.busy, false);
}

/* Prevents a fork while glibc's lock is held, because glibc does not release it in the child. */
void exit_hook_hold(void)
{
	while (atomic_exchange(&hook.busy, true))
		sched_yield();
}

void exit_hook_go_on(void)
{
	atomic_store(&hook.busy, false);
}

void exit_hook_set(void (*end)(void))
{
	atomic_store(&hook.end, end);
	exit_hook_renew();
}
