/* SPDX-License-Identifier: Apache-2.0
 *
 * See system.h.
 */
#include "collect/system.h"

#include <stdatomic.h>
#include <stdlib.h>

#define EXITS_MOST 32u /* registrations in a process */

static struct {
	void (*_Atomic end)(void);
	_Atomic unsigned exits; /* registrations so far */
} hook;

static void at_exit(void)
{
	void (*end)(void) = atomic_load(&hook.end);

	if (end)
		end();
}

void exit_hook_renew(void)
{
	if (atomic_fetch_add(&hook.exits, 1) < EXITS_MOST)
		atexit(at_exit);
}

void exit_hook_set(void (*end)(void))
{
	atomic_store(&hook.end, end);
	exit_hook_renew();
}
