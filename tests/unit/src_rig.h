/* SPDX-License-Identifier: Apache-2.0
 *
 * A file in a folder of its own, for tests of the input window.
 */
#ifndef TFPROF_TESTS_SRC_RIG_H
#define TFPROF_TESTS_SRC_RIG_H

#include "unit.h"

#include <stdio.h>

#include "io/src.h"

#define UNUSED void **state __attribute__((unused))
#define SIZE   ((size_t)3 * SRC_WINDOW + 1234)

static struct err err;
static char dir[] = "/tmp/test_src_XXXXXX", path[64];

static inline void put_file(struct str bytes)
{
	struct sink *s;

	assert_true(sink_file(&s, &unit_arena, str_of(path), &err));
	sink_put(s, bytes);
	assert_true(sink_close(s, &err));
}

static inline int src_setup(UNUSED)
{
	err = (struct err){ .a = &unit_arena };
	sprintf(path, "%s/file", dir);
	return unit_setup(state);
}

static inline int src_teardown(UNUSED)
{
	assert_null(unit_work.guards);
	unlink(path);
	return unit_teardown(state);
}

#endif
