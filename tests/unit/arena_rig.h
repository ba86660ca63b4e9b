/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena and its account for each test of arenas; afterwards nothing may be charged to it. They
 * do not use unit.h, which needs arenas itself.
 */
#ifndef UNIT_ARENA_RIG_H
#define UNIT_ARENA_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static struct account account;
static struct work work = { .account = &account };
static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, &work);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	account_close(&account);
	assert_int_equal(account.used, 0);
	assert_int_equal(account.spare_bytes, 0);
	return 0;
}

#endif
