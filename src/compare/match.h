/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds renamed scopes: an entry of some sides only, beside an entry of other sides only, with the
 * same parent and similar descendants. Then matches their children by name, and the remaining ones
 * by type and position. Ambiguous cases stay unmatched.
 */
#ifndef TFPROF_COMPARE_MATCH_H
#define TFPROF_COMPARE_MATCH_H

#include "compare/compare.h"

/* Joins renamed entries; *aliases lists the tops of renamed subtrees, ascending by entry and ended
 * by ID_NONE. Views without node names (op) are unchanged. */
void match_renamed(struct compare *c, struct alias **aliases, struct arena *a);

#endif
