/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of a comparison: the entries that a view accounts, with the numbers that are compared,
 * cut loose from the query that made them. Pre-order as in tree.h; siblings stand in byte order of
 * their names and no two have the same. Knows nothing of other sides.
 */
#ifndef TFPROF_COMPARE_SIDE_H
#define TFPROF_COMPARE_SIDE_H

#include "view/view.h"

/* Which numbers are compared; number k of entry i is self[i * n + k]. */
struct side_values {
	const enum value *v;
	uint32_t n;
};

enum {
	SIDE_ACCOUNTED = 1, /* its own numbers count */
	SIDE_NODE = 2,      /* some node defines it */
	SIDE_ELSEWHERE = 4  /* on none of the devices that -device_regexes asks for */
};

struct side {
	enum vk kind;
	struct side_values values;
	uint32_t n;
	uint32_t *parent, *end;
	struct str *name;  /* full; bytes in the model, its trees or the side's arena */
	struct str *given; /* what they are called in the model; NULL: just so */
	uint8_t *flags;    /* SIDE_ bits */
	uint32_t *type;    /* in types; 0: none */
	struct strs types; /* operation types; [0] is empty */
	int64_t *self, *total;
};

static inline struct str side_given(const struct side *s, uint32_t i)
{
	return s->given ? s->given[i] : s->name[i];
}

/* From a query whose view has accounted (view_open, account), in a. Of more values than the query
 * is asked for, the others are left for side_fill. */
void side_from_query(
        struct side *s, struct query *q, const struct side_values *values, struct arena *a);

/* Numbers of another query of the same model, view and types (of a step): n of the values, from
 * number k on. */
void side_fill(struct side *s, struct query *q, uint32_t k, uint32_t n);

/* Divides the recorded numbers of every node by how often it ran. Between view_open and account. */
void side_per_run(struct query *q);

/* The side with other names, as `name` gives them; entries whose names become the same are added
 * up. Returns s itself if no name changes, NULL if name fails. */
typedef bool side_name(void *user, struct str from, struct arena *a, struct str *to, struct err *e);
const struct side *side_rename(
        const struct side *s, side_name *name, void *user, struct arena *a, struct err *e);

/* ---- a side in the making ---- */

struct side_maker;
struct side_maker *side_begin(enum vk kind, const struct side_values *values, struct arena *a);

/* The entry of that name below parent (0 is the root); made if there is none. */
uint32_t side_child(struct side_maker *w, uint32_t parent, struct str name);

/* The entry of a path, made with all scopes above it. */
uint32_t side_path(struct side_maker *w, struct str path);

/* Adds to the own numbers of an entry. */
void side_add(struct side_maker *w, uint32_t entry, const int64_t *self, unsigned flags);
void side_set_type(struct side_maker *w, uint32_t entry, struct str type);
/* Says what it is called in the model, if that is not its name. */
void side_set_given(struct side_maker *w, uint32_t entry, struct str name);

/* Says what the total of an entry is; without it, it is the own and those of the children. */
void side_set_total(struct side_maker *w, uint32_t entry, const int64_t *total);
void side_end(struct side_maker *w, struct side *s);

#endif
