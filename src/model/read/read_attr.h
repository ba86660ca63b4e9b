/* SPDX-License-Identifier: Apache-2.0
 *
 * Attribute values.
 */
#ifndef TFPROF_MODEL_READ_ATTR_H
#define TFPROF_MODEL_READ_ATTR_H

#include "model/read/read_leaf.h"

enum {
	ATTR_LIST = 1,
	ATTR_TEXT = 2,
	ATTR_INT = 3,
	ATTR_BOOL = 5,
	ATTR_TYPE = 6,
	ATTR_SHAPE = 7
}; /* the decoded members of AttrValue */

struct attr_shape {
	size_t dim0, n;
	bool unknown_rank;
};
struct attr_value {
	uint32_t set; /* number of the member that is set; 0: none */
	struct str s;
	VEC(struct attr_shape) shapes; /* one shape, or the shapes of the list */
	struct numbers dims;           /* dimensions of the shapes; for a list of integers, the
	                                  integers */
	int64_t number;                /* an integer, a bool or a type */
};
void attr_clear(struct attr_value *v);
bool read_attr(struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *out);
uint32_t attr_shape_id(struct ingest *to, const struct attr_value *v, size_t i);

/* The attributes of one node that TensorFlow's statistics of float operations read, and the type of
 * its inputs. */
struct attr_settings {
	struct attr_value format, size, stride, transposed, type;
};
void attr_settings_clear(struct attr_settings *v);
/* Returns the element for the value of an attribute, or NULL. */
struct attr_value *attr_setting(struct attr_settings *v, struct str name);
/* Sets the flags of a node, its window and its stride. */
void attr_settings_read(const struct attr_settings *v, struct node *n);
/* Adds the settings to the node under construction. */
void attr_settings_say(struct ingest *to, const struct attr_settings *v);

/* The attributes of one node, stored as bytes. Among equal keys, the last counts. */
struct attrs {
	struct entries list;
	struct intern names; /* names of all nodes of the file */
	VEC(uint32_t) id;    /* array of list.n elements */
	VEC(size_t) last;    /* indexed by name: index of its last entry */
};
void attrs_init(struct attrs *v, struct arena *a);
void attrs_add(struct arena *a, struct attrs *v, const struct map_entry *e);
void attrs_say(struct ingest *to, const struct attrs *v);

#endif
