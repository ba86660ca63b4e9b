/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the functions in the library of a GraphDef.
 */
#ifndef TFPROF_MODEL_READ_FUNCTION_H
#define TFPROF_MODEL_READ_FUNCTION_H

#include "model/read/read_node.h"

/* Reads a FunctionDef, which is the next value, into the library of the graph. n: scratch. Returns
 * the number of its nodes. */
uint64_t read_function(struct pb_reading *r, struct graph_node *n);

#endif
