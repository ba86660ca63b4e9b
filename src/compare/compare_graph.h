/* SPDX-License-Identifier: Apache-2.0
 *
 * Sides of the graph view in one structure. Where a node stands there depends on what else reads
 * its inputs, so the same node may stand elsewhere on each side: here it stands where the side that
 * has it and the most nodes puts it, on all of them, and what lies above it there is made up where
 * a side lacks it. Totals are added up anew.
 */
#ifndef TFPROF_COMPARE_COMPARE_GRAPH_H
#define TFPROF_COMPARE_COMPARE_GRAPH_H

#include "compare/side.h"

/* Replaces the sides, in a. Which side leads does not depend on their order. */
void compare_graph(const struct side **sides, uint32_t n, struct arena *a);

#endif
