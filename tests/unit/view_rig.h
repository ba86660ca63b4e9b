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

/* A node; inputs are names with blanks between them. Its float ops are a power of two of its own.
 */
uint32_t rig_node(struct view_rig *r, const char *name, const char *op, const char *inputs);
/* Its call stack, outermost frame first: "file:function file:function"; each is line 1. */
void rig_stack(struct view_rig *r, uint32_t node, const char *stack);
void rig_device(struct view_rig *r, uint32_t node, const char *device);
/* Its times in a step: micros on the host and on an accelerator, start and end. */
void rig_ran(struct view_rig *r, uint32_t node, int64_t step, int64_t cpu, int64_t accelerator);
void rig_done(struct view_rig *r); /* the model can be asked from now on */

void rig_set(struct view_rig *r, const char *name, const char *value);
const struct tree *rig_tree(void *r, enum vk kind);

/* Asks a view; q and x live on in the rig's arena but for themselves. */
bool rig_request(struct view_rig *r, enum vk kind, struct query *q, struct result *x);

/* The shown lines: a point for each level, name, '=', total float ops; blanks between them.
 * "failed" if there is no answer. */
struct str rig_shown(struct view_rig *r, enum vk kind);
/* The text of the view, from the legend on. */
struct str rig_lines(struct view_rig *r, enum vk kind);
/* The notes since the last call. */
struct str rig_notes(struct view_rig *r);

#endif
