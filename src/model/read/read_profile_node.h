/* SPDX-License-Identifier: Apache-2.0
 *
 * ProfileNode.
 */
#ifndef TFPROF_MODEL_READ_PROFILE_NODE_H
#define TFPROF_MODEL_READ_PROFILE_NODE_H

#include "model/read/read_attr.h"
#include "model/read/read_stack.h"

#define PROFILE_NODE_DEPTH 2 /* ProfileProto > entry of nodes > ProfileNode */

/* State for one node. The arrays are reused for the next node. */
struct profile_node {
	struct str op, device, host, trace;
	int64_t float_ops;
	uint32_t stack; /* id of the call stack */
	struct numbers shape, dims;
	struct entries inputs, slots, outputs, execs;
	VEC(struct str) types;
	struct attr_settings settings;
	struct attr_value other;
	struct attrs kept;
};
/* Decodes the whole node except its name. Outputs are shape ids; executions are sorted but not
 * decoded. */
bool read_profile_node(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct stacks *stacks);
/* Decodes only the name of the node, and lists its executions in file order. */
bool read_profile_node_known(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct str *name);

#endif
