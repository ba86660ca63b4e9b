/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees as arrays in pre-order: the subtree of entry i is i .. end[i] (exclusive). Adding up is a
 * loop from the last entry to the first, skipping a subtree is a jump; no walk needs recursion.
 *
 *   entry   0 root | 1 a | 2 a/b | 3 a/c | 4 d
 *   parent  NONE     0     1       1       0
 *   end     5        4     3       4       5
 */
#ifndef TFPROF_VIEW_TREE_H
#define TFPROF_VIEW_TREE_H

#include "metric/metric.h"
#include "model/model.h"

/* The structure of a view, from the model alone; built once and cached. */
struct tree {
	enum vk kind;
	uint32_t n; /* entries; 0 is the root */
	uint32_t *parent, *end;
	struct str *name; /* full node name, op type or trace string; bytes in the model or the
	                     tree's arena */
	uint32_t *node;   /* scope and graph: the model's node, ID_NONE for a scope without a node;
	                     otherwise NULL */
	/* op and code, otherwise NULL: graph nodes of entry i, in name order: members[member0[i]]
	 * .. members[member0[i + 1]]; and by node, its entry, or ID_NONE. */
	uint32_t *member0, *members, *entry_of;
	uint32_t *frame; /* code: the model frame first seen here, ID_NONE for the root; otherwise
	                    NULL */
	bool *gradient;  /* code: the name ends in " (gradient)", which the frame lacks; otherwise
	                    NULL */
};

/* A tree under construction: entries with parents in any order, children in order of creation. */
struct tree_nodes {
	struct arena *a;      /* scratch */
	VEC(uint32_t) parent; /* entry 0 is the root, its parent ID_NONE */
};

/* Computes the pre-order of the entries: order[k] is the k-th. Fills t->n, t->parent and t->end,
 * from a. siblings: entries 1.. so that the children of each parent are in the wanted order; NULL:
 * in order of creation. */
uint32_t *tree_order(
        struct tree *t, const struct tree_nodes *from, const uint32_t *siblings, struct arena *a);

/* Builds a tree from lists of children: the first child of an entry, and the next sibling of a
 * child, or ID_NONE. */
uint32_t *tree_order_links(struct tree *t, const struct tree_nodes *from, const uint32_t *first,
        const uint32_t *next, struct arena *a);

/* Fills t->member0 and t->members from t->entry_of. */
void tree_members(struct tree *t, const struct model *m, struct arena *a);

#endif
