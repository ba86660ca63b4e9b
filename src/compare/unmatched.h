/* SPDX-License-Identifier: Apache-2.0
 *
 * Defined nodes of the first or the last side alone, and possible reasons: names that differ in
 * case, an additional scope around all of one side. Prints nothing.
 */
#ifndef TFPROF_COMPARE_UNMATCHED_H
#define TFPROF_COMPARE_UNMATCHED_H

#include "compare/compare.h"

struct unmatched {
	struct strs first, last; /* names; of names that differ only in case on one side, one */
	size_t n_case;           /* names of last that equal a name of first except for case */
	struct str one, two;     /* the first such pair */
};

/* In a; the names belong to the sides. */
void unmatched_find(struct unmatched *l, const struct compare *c, struct arena *a);

/* Returns the scope that the names of one side have before the names of the other; empty if there
 * is none. */
struct str unmatched_prefix(const struct unmatched *l);

#endif
