/* SPDX-License-Identifier: Apache-2.0
 *
 * A result as call stacks: one number for each shown entry, so that the sum of all is the root's.
 */
#ifndef TFPROF_EXPORT_STACKS_H
#define TFPROF_EXPORT_STACKS_H

#include "export/out.h"

/* Returns, by shown entry, its total without the totals of the shown entries below it; in op its
 * own number. In the query's arena. */
int64_t *stacks_values(const struct result *r, enum value v);

/* Returns the only selected metric that has a unit for pprof; M_NONE if there is none or several.
 */
enum metric_id stacks_metric(const struct opts *o);

/* Returns the graph node of a shown entry, or ID_NONE. */
uint32_t stacks_node(const struct result *r, uint32_t shown);

/* Returns true if the stack of a shown entry continues with its shown parent; the root is not a
 * frame.
 */
static inline bool stacks_has_parent(const struct result *r, uint32_t shown)
{
	return !view_is(r->kind, VIEW_LIST) && r->shown[shown].parent != ID_NONE &&
	       r->shown[r->shown[shown].parent].parent != ID_NONE;
}

/* True if the shown entry is a frame at all: the root of a tree is none. */
static inline bool stacks_is_frame(const struct result *r, uint32_t shown)
{
	return view_is(r->kind, VIEW_LIST) || r->shown[shown].parent != ID_NONE;
}

/* Writes the profile of scope, graph or op for pprof (pprof_tree.c). */
bool pprof_tree_write(const struct result *r, enum metric_id m, struct sink *to);

#endif
