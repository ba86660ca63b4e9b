/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by tests of views: a small model in text form, options, shown lines.
 */
#ifndef TFPROF_TESTS_VIEW_RIG_H
#define TFPROF_TESTS_VIEW_RIG_H

#include "model/ingest.h"
#include "export/out.h"

struct view_rig {
	struct arena *a; /* everything */
	struct model m;
	struct notes notes;
	struct ingest *in;
	struct tree trees[VK_N];
	bool built[VK_N];
	struct opts o;
	struct err e; /* of the last query */
};

struct view_rig *view_rig(struct arena *a);

/* Adds a node. inputs: names separated by blanks. Each node has a different power of two of float
 * ops.
 */
uint32_t rig_node(struct view_rig *r, const char *name, const char *op, const char *inputs);
/* Sets the call stack of a node, outermost frame first: "file:function file:function", all at
 * line 1. */
void rig_stack(struct view_rig *r, uint32_t node, const char *stack);
void rig_device(struct view_rig *r, uint32_t node, const char *device);
/* Adds the times of a node in a step: micros on the host and on an accelerator, start and end. */
void rig_ran(struct view_rig *r, uint32_t node, int64_t step, int64_t cpu, int64_t accelerator);
void rig_done(struct view_rig *r); /* the model can be queried from now on */

void rig_set(struct view_rig *r, const char *name, const char *value);
const struct tree *rig_tree(void *r, enum vk kind);

/* Runs a view. The memory of q and x belongs to the rig's arena. */
bool rig_request(struct view_rig *r, enum vk kind, struct query *q, struct result *x);

/* Returns the shown lines, separated by blanks: a dot for each level, name, '=', total float ops;
 * "failed" if there is no answer. */
struct str rig_shown(struct view_rig *r, enum vk kind);
/* Returns the text of the view, from the legend on. */
struct str rig_lines(struct view_rig *r, enum vk kind);
/* Returns the notes since the last call. */
struct str rig_notes(struct view_rig *r);

#endif
