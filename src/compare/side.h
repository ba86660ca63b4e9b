/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of a comparison: the entries that a view accounts, with the compared numbers,
 * independent of the query that made them. Pre-order as in view.h; siblings are in byte order of
 * their names, without duplicates. A printed report can be a side, too.
 */
#ifndef TFPROF_COMPARE_SIDE_H
#define TFPROF_COMPARE_SIDE_H

#include "view/view.h"
#include "io/src.h"

/* The compared values; number k of entry i is self[i * n + k]. All sides of a comparison store
 * values in equal parts: a side whose own parts are different is converted. */
struct side_values {
	const enum value *v;
	uint32_t n;
	int64_t ticks_per_us; /* the shortest ticks of all sides; 0 and 1: microseconds */
	bool every_step; /* true: averages are over all steps, so an entry has 0 where it did not
	                    run */
};

/* Returns the number of parts of a unit in which a value is stored. Times are stored in ticks.
 * Counts of traces are stored in thousandths, because their averages have fractions. */
static inline int64_t side_parts(int64_t ticks_per_us, enum value v)
{
	if (ticks_per_us <= 1)
		return 1;
	return value_is_time(v) ? ticks_per_us : v == V_RUNS || v == V_KERNELS ? 1000 : 1;
}

enum {
	SIDE_ACCOUNTED = 1, /* its own numbers count */
	SIDE_NODE = 2,      /* a node defines it */
	SIDE_ELSEWHERE = 4  /* on no device that -device_regexes selects */
};

struct side {
	enum vk kind;
	struct side_values values;
	uint32_t n;
	uint32_t *parent, *end;
	struct str *name;  /* full names; the bytes belong to the model, its trees or the side's
	                      arena */
	struct str *given; /* names in the model; NULL: equal to name */
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

/* Fills n values, starting with number k, from another query (such as a step) of the same model,
 * view and types. */
void side_fill(struct side *s, struct query *q, uint32_t k, uint32_t n);

/* Divides the recorded numbers of every node by its number of executions. Must be called between
 * view_open and account. */
void side_per_run(struct query *q);

/* Renames the entries through `name`; entries with equal names are added up. Returns s itself if no
 * name changes, NULL if name fails. */
typedef bool side_name(void *user, struct str from, struct arena *a, struct str *to, struct err *e);
const struct side *side_rename(
        const struct side *s, side_name *name, void *user, struct arena *a, struct err *e);

/* ---- construction of a side ---- */

struct side_maker;
struct side_maker *side_begin(enum vk kind, const struct side_values *values, struct arena *a);

/* Returns the entry with a name below parent (0 is the root). Creates it if it is missing. */
uint32_t side_child(struct side_maker *w, uint32_t parent, struct str name);

/* Returns the entry of a path. Creates it and its scopes if they are missing. */
uint32_t side_path(struct side_maker *w, struct str path);

/* Adds to an entry's own numbers. */
void side_add(struct side_maker *w, uint32_t entry, const int64_t *self, unsigned flags);
void side_set_type(struct side_maker *w, uint32_t entry, struct str type);
/* Sets an entry's name in the model, if it differs from its name here. */
void side_set_given(struct side_maker *w, uint32_t entry, struct str name);

/* Sets an entry's total. By default, the total is the sum of its own numbers and its children's
 * totals. */
void side_set_total(struct side_maker *w, uint32_t entry, const int64_t *total);
void side_end(struct side_maker *w, struct side *s);

/* ---- report reader ----
 *
 * Reads a printed report of a view, by any version of the original or by tfprof. Text before the
 * root is skipped; the lines below it are nodes with name, indent and rounded numbers. The op view
 * has no root: its lines follow the legend.
 */

#define ANSWER_HEAD ((size_t)64 << 10) /* limit for the length of the first line, bytes */

struct answer_line {
	struct str name;
	uint32_t indent;
	bool accounted;
};

struct answer {
	struct str file;
	bool op; /* true: a report of the op view: names are types, and the root's numbers are
	            unknown */
	enum metric_id metric[M_N]; /* metrics of the number columns, in printed order */
	uint32_t columns;
	VEC(struct answer_line) lines; /* lines, the root first */
	VEC(int64_t) self, total;      /* indexed by line, then by column */
};

/* True if the first bytes of a file are the beginning of a report. */
bool answer_sniff(struct str head);

/* Reads a whole report that answer_sniff recognises; names are copied to a. */
bool answer_read(struct answer *x, struct src *s, struct arena *a, struct err *e);

/* Converts the report to a side with the given ticks, in a. Returns false if the report lacks one
 * of the metrics. */
bool answer_side(const struct answer *x, enum vk kind, const enum metric_id *metrics, uint32_t n,
        int64_t ticks_per_us, struct side *to, struct arena *a, struct err *e);

#endif
