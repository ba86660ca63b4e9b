/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives all sides of the graph view one structure. The position of a node there depends on the
 * other readers of its inputs, so the same node may have different parents on each side. Here every
 * node takes the position of the side that has the node and the most nodes; missing ancestors are
 * inserted on the other sides. Totals are computed anew.
 */
#ifndef TFPROF_COMPARE_COMPARE_GRAPH_H
#define TFPROF_COMPARE_COMPARE_GRAPH_H

#include "compare/side.h"

/* Replaces the sides, in a. Which side leads does not depend on their order. */
void compare_graph(const struct side **sides, uint32_t n, struct arena *a);

#endif
