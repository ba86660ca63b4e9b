/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises ranges that are steps, by the user's pattern or by common names.
 */
#ifndef TFPROF_TRACE_STEP_RANGE_H
#define TFPROF_TRACE_STEP_RANGE_H

#include "base/pattern.h"

#define STEP_RANGE_NAME  4096 /* longer names are not matched with a pattern */
#define STEP_RANGE_TORCH "ProfilerStep#"

/* Compiles a pattern of range names; "pytorch", "optimizer" and "xla" stand for predefined
 * patterns. An empty pattern sets *out to NULL. */
bool step_range_compile(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e);

/* True if the pattern matches a name of at most STEP_RANGE_NAME bytes. pattern may be NULL. */
bool step_range_matches(struct pattern_list *pattern, struct str name);

/* True for names such as "step 7", "Iteration_12" and "ProfilerStep#3". */
bool step_range_is_common(struct str name);

/* Returns the number at the end of a name, or -1. */
int64_t step_range_number(struct str name);

#endif
