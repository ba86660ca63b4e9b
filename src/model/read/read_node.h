/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes NodeDefs, in a GraphDef and in the functions of its library.
 */
#ifndef TFPROF_MODEL_READ_NODE_H
#define TFPROF_MODEL_READ_NODE_H

#include "model/read/read_attr.h"

/* State for one NodeDef. Its scratch is reused from node to node. */
struct graph_node {
	struct str name, op;
	VEC(struct str) inputs;
	struct attr_value shape, outputs, other;
	struct attr_settings settings;
	struct attrs kept;
	struct sb facts; /* facts for shape inference */
	bool calls;      /* true: an attribute names a function */
};

/* Decodes the NodeDef that is the current leaf of r. */
bool read_graph_node(struct pb_reading *r, struct graph_node *n);

/* Sets the format of a node that has none to NHWC: SavedModels leave out attributes with their
 * default value. */
void graph_node_default_format(struct graph_node *n);

#endif
