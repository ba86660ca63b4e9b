/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds scopes that were renamed: entries that only some sides have, beside entries that only
 * others have, below the same entry and alike in what is below them. Then their children by name,
 * and what is left of these by type and position. Where two answers are possible, none is given.
 */
#ifndef TFPROF_COMPARE_MATCH_H
#define TFPROF_COMPARE_MATCH_H

#include "compare/compare.h"

/* Joins what was renamed; *aliases lists the tops of renamed subtrees, ascending by entry and ended
 * by ID_NONE. Views without names of nodes (op) are left alone. */
void match_renamed(struct compare *c, struct alias **aliases, struct arena *a);

#endif
