/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a GraphDef. For float operations, a node that calls functions is expanded: the
 * nodes of the functions are appended to a copy of the graph, once for each call.
 */
#ifndef TFPROF_MODEL_GRAPH_FUNCTIONS_H
#define TFPROF_MODEL_GRAPH_FUNCTIONS_H

#include "model/model.h"

/* The source of an input: an argument of the function, or after these a node. */
struct function_input {
	uint32_t source; /* ID_NONE: unknown */
	uint32_t slot;   /* output of the source */
};

/* A node of a function. The id of the node's name is that of its name in the function. */
struct function_node {
	struct node n;
	uint32_t input0, inputs; /* index of its first input, and their number */
};

struct function {
	uint32_t arguments;
	size_t node0, nodes, return0, returns;
};

struct library {
	struct arena *a;
	struct imap of_name; /* key: string id of a function's name; value: index in functions */
	VEC(struct function) functions;
	VEC(struct function_node) nodes;
	VEC(struct function_input) inputs;
	VEC(struct function_input) returns; /* sources of the results */
	uint32_t identity;                  /* string id of the operation Identity */
};

struct library *library_new(struct arena *a, uint32_t identity);

/* A graph whose calls are expanded. */
struct expanded {
	const struct model *m; /* nodes of functions follow the nodes of the graph */
	uint32_t *owner;       /* indexed by node: the node of the graph that calls the functions;
	                          the node itself if it is not part of a function */
	bool *calls;           /* indexed by node: true if its functions were expanded */
};
/* Expands the calls of a graph, in a. Calls in more than 64 levels, and further calls after a
 * million nodes, are not expanded. */
struct expanded library_expand(const struct model *m, struct arena *a);

#endif
