/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that a test builds by hand. Tests use drop_scratch as teardown.
 */
#ifndef TFPROF_TESTS_BUILD_RIG_H
#define TFPROF_TESTS_BUILD_RIG_H

#include "unit.h"

#include "trace/trace_build.h"

struct rig {
	struct trace *t;
	struct trace_build *b;
	struct notes notes;
};

static struct arena scratch = { .work = &unit_work };

static struct rig rig_open(uint64_t wants)
{
	struct rig r = { .t = trace_new(&unit_arena) };

	arena_free(&scratch);
	arena_init(&scratch, &unit_work);

	notes_init(&r.notes, &unit_arena);
	r.b = build_open(r.t, wants, &r.notes, &scratch);
	return r;
}

/* Also frees the builder's scratch. */
static int drop_scratch(void **state)
{
	arena_free(&scratch);
	return unit_teardown(state);
}

static uint32_t event(struct rig *r, const char *name)
{
	return build_event(r->b, CATEGORY_OP, build_string(r->b, str_of(name)));
}

#endif
