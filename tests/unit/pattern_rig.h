/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of pattern lists.
 */
#ifndef TFPROF_TESTS_PATTERN_RIG_H
#define TFPROF_TESTS_PATTERN_RIG_H

#include "unit.h"

#include "base/pattern.h"

static struct err err;

/* Compiles a list; NULL if a pattern is malformed: err says why. */
static struct pattern_list *list_of(const char *const *patterns, size_t n)
{
	struct strs v = { NULL, 0, 0 };
	struct pattern_list *l;

	err = (struct err){ .a = &unit_arena };
	for (size_t i = 0; i < n; i++)
		strs_add(&unit_arena, &v, str_of(patterns[i]));
	return pattern_compile(&l, &unit_arena, &v, &err) ? l : NULL;
}

#endif
