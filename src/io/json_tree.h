/* SPDX-License-Identifier: Apache-2.0
 *
 * A small JSON document as a tree, for messages and answers whose members come in any order.
 * Strict: text that json_in.h only tolerates is an error. Large inputs are read with json_in.h
 * instead.
 */
#ifndef TFPROF_IO_JSON_TREE_H
#define TFPROF_IO_JSON_TREE_H

#include "io/json_in.h"
#include "io/json_out.h"

#define JSON_TREE_DEPTH_MAX 48 /* maximum depth of nested arrays and objects */

/* A value. JSON_NONFINITE does not occur. */
struct json_node {
	enum json_type type;
	struct str key;  /* for a member: its name; otherwise empty */
	struct str text; /* for a string: its bytes; for a number: its digits, as written */
	size_t n;        /* number of members or elements */
	struct json_node *first, *last, *next, *parent;
};

/* Reads the only value of a text. The tree lives in a. Returns NULL for malformed JSON, with the
 * position in *e. */
struct json_node *json_tree(struct arena *a, struct str text, struct err *e);

/* Returns the first member with a name. Returns NULL if there is none, or if the node is NULL or
 * not an object. */
struct json_node *json_tree_find(const struct json_node *object, const char *key);

/* Returns the text of a member that is a string; STR_NONE if there is none. */
struct str json_tree_text(const struct json_node *object, const char *key);

/* Writes a value in the form in which it was read. */
void json_tree_write(const struct json_node *node, struct json *j);

#endif
