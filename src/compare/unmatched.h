/* SPDX-License-Identifier: Apache-2.0
 *
 * Defined nodes that the first or the last side alone has, and why that may be: names that differ
 * in case, a scope around all of one side. Says nothing to anybody.
 */
#ifndef TFPROF_COMPARE_UNMATCHED_H
#define TFPROF_COMPARE_UNMATCHED_H

#include "compare/compare.h"

struct unmatched {
	struct strs first, last; /* names; of those that differ in case on one side, one */
	size_t n_case;           /* of last: are called like one of first but for case */
	struct str one, two;     /* the first such pair */
};

/* In a; names stay the sides'. */
void unmatched_find(struct unmatched *l, const struct compare *c, struct arena *a);

/* The scope that the names of one side have in front of those of the other; empty: it is not so. */
struct str unmatched_prefix(const struct unmatched *l);

#endif
