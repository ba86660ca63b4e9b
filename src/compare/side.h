/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of a comparison: the entries that a view accounts, with the compared numbers,
 * independent of the query that made them. Pre-order as in tree.h; siblings are in byte order of
 * their names, without duplicates. Knows nothing of other sides.
 */
#ifndef TFPROF_COMPARE_SIDE_H
#define TFPROF_COMPARE_SIDE_H

#include "view/view.h"

/* The compared values; number k of entry i is self[i * n + k]. */
struct side_values {
	const enum value *v;
	uint32_t n;
};

enum {
	SIDE_ACCOUNTED = 1, /* its own numbers count */
	SIDE_NODE = 2,      /* a node defines it */
	SIDE_ELSEWHERE = 4  /* on none of the devices that -device_regexes selects */
};

struct side {
	enum vk kind;
	struct side_values values;
	uint32_t n;
	uint32_t *parent, *end;
	struct str *name;  /* full names; bytes in the model, its trees or the side's arena */
	struct str *given; /* names in the model; NULL: unchanged */
	uint8_t *flags;    /* SIDE_ bits */
	uint32_t *type;    /* index into types; 0: none */
	struct strs types; /* operation types; [0] is empty */
	int64_t *self, *total;
};

static inline struct str side_given(const struct side *s, uint32_t i)
{
	return s->given ? s->given[i] : s->name[i];
}

/* Makes a side from a query whose view has accounted (view_open, account), in a. Values that the
 * query does not compute are left to side_fill. */
void side_from_query(
        struct side *s, struct query *q, const struct side_values *values, struct arena *a);

/* Fills n values, from number k on, from another query (such as a step) of the same model, view and
 * types. */
void side_fill(struct side *s, struct query *q, uint32_t k, uint32_t n);

/* Divides the recorded numbers of every node by its number of executions. Call between view_open
 * and account. */
void side_per_run(struct query *q);

/* Renames the entries through `name`; entries with equal names are added up. Returns s itself if no
 * name changes, NULL if name fails. */
typedef bool side_name(void *user, struct str from, struct arena *a, struct str *to, struct err *e);
const struct side *side_rename(
        const struct side *s, side_name *name, void *user, struct arena *a, struct err *e);

/* ---- construction of a side ---- */

struct side_maker;
struct side_maker *side_begin(enum vk kind, const struct side_values *values, struct arena *a);

/* Returns the entry with that name below parent (0 is the root); creates it if missing. */
uint32_t side_child(struct side_maker *w, uint32_t parent, struct str name);

/* Returns the entry of a path; creates it with all its scopes if missing. */
uint32_t side_path(struct side_maker *w, struct str path);

/* Adds to an entry's own numbers. */
void side_add(struct side_maker *w, uint32_t entry, const int64_t *self, unsigned flags);
void side_set_type(struct side_maker *w, uint32_t entry, struct str type);
/* Sets an entry's name in the model, if it differs from its name here. */
void side_set_given(struct side_maker *w, uint32_t entry, struct str name);

/* Sets an entry's total; by default it is the sum of its own numbers and its children's totals. */
void side_set_total(struct side_maker *w, uint32_t entry, const int64_t *total);
void side_end(struct side_maker *w, struct side *s);

#endif
