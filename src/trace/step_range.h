/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of ranges that are steps: a pattern of the user, or names that programs commonly give.
 */
#ifndef TFPROF_TRACE_STEP_RANGE_H
#define TFPROF_TRACE_STEP_RANGE_H

#include "base/pattern.h"

#define STEP_RANGE_NAME  4096 /* bytes of a name that a pattern is matched with */
#define STEP_RANGE_TORCH "ProfilerStep#"

/* Compiles a pattern of names; pytorch, optimizer and xla are known words. *out is NULL for an
 * empty pattern. */
bool step_range_compile(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e);

/* True if the pattern, which may be NULL, matches a name of bearable length. */
bool step_range_matches(struct pattern_list *pattern, struct str name);

/* True for names such as "step 7", "Iteration_12" and "ProfilerStep#3". */
bool step_range_is_common(struct str name);

/* Returns the number at the end of a name, or -1. */
int64_t step_range_number(struct str name);

#endif
