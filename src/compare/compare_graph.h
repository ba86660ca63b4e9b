/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives all sides of the graph view one structure. The position of a node there depends on the
 * other readers of its inputs, so the same node may have different parents on each side. Here every
 * node takes the position it has on the largest side that contains it; missing ancestors are
 * inserted on the other sides. Totals are recomputed.
 */
#ifndef TFPROF_COMPARE_COMPARE_GRAPH_H
#define TFPROF_COMPARE_COMPARE_GRAPH_H

#include "compare/side.h"

/* Replaces the sides, in a. The result does not depend on the order of the sides. */
void compare_graph(const struct side **sides, uint32_t n, struct arena *a);

#endif
