/* SPDX-License-Identifier: Apache-2.0
 *
 * Similarity of two multisets of texts, by the hashes of the texts.
 */
#ifndef TFPROF_COMPARE_SIMILARITY_H
#define TFPROF_COMPARE_SIMILARITY_H

#include "base/str.h"
#include "base/vec.h"

struct signature {
	uint64_t *v;
	size_t n, cap;
};

void similarity_add(struct signature *s, struct arena *a, struct str text);
void similarity_end(struct signature *s, struct arena *a); /* ends adding */

/* Returns the size of the common part divided by that of the larger one; 0 .. 1. */
double similarity_share(const struct signature *a, const struct signature *b);

#endif
