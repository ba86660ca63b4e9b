/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences between sides: the entries of a merged tree whose numbers differ enough, and their
 * ancestors, largest difference first. An entry that a side lacks counts as 0 there.
 */
#ifndef TFPROF_COMPARE_DIFFERENCE_H
#define TFPROF_COMPARE_DIFFERENCE_H

#include "compare/match.h"

struct diff_ask {
	const struct compare *c;
	const struct alias *alias;     /* ascending by entry and ended by ID_NONE; NULL: none */
	const struct opts *o;          /* depth, patterns, displayed_only */
	const enum metric_id *metrics; /* of each value of the sides */
	uint32_t columns;              /* the first so many values are shown */
	uint32_t order;                /* the value that sorts; DIFF_BY_NAME */
	uint32_t from, to;             /* sides: the difference is that of `from` without `to` */
	double delta;                  /* relative difference that counts */
	const int64_t *least;          /* by value: what some side has to reach */
};
#define DIFF_BY_NAME UINT32_MAX

enum diff_state {
	DIFF_BOTH,   /* on the first side and on the last */
	DIFF_NEW,    /* on the last, not on the first */
	DIFF_GONE,   /* on the first, not on the last */
	DIFF_BETWEEN /* on neither, but on some side */
};

struct diff_row {
	uint32_t entry;  /* of the merged tree */
	uint32_t parent; /* row, ID_NONE for the first */
	uint32_t end;    /* past its last row below */
	uint32_t depth;
	enum diff_state state;
	bool enough; /* it differs enough itself, not only something below it */
};

struct diff {
	const struct diff_ask *ask;
	struct diff_row *row;
	uint32_t n;
	int64_t *self, *total; /* see diff_numbers */
	uint64_t only[2];      /* defined nodes that only the first, only the last side has */
	uint64_t both;         /* ... that both have */
	size_t aliases;
};

/* In a. False when a pattern fails. */
bool diff_run(struct diff *d, const struct diff_ask *ask, struct arena *a, struct err *e);

/* Value k of a row on a side. */
static inline int64_t diff_total(const struct diff *d, uint32_t row, uint32_t side, uint32_t k)
{
	const struct compare *c = d->ask->c;

	return d->total[((size_t)row * c->sides + side) * c->side[0]->values.n + k];
}

static inline int64_t diff_self(const struct diff *d, uint32_t row, uint32_t side, uint32_t k)
{
	const struct compare *c = d->ask->c;

	return d->self[((size_t)row * c->sides + side) * c->side[0]->values.n + k];
}

/* The difference of a value: of `from` without `to`. */
static inline int64_t diff_difference(const struct diff *d, uint32_t row, uint32_t k)
{
	return num_sub(diff_total(d, row, d->ask->from, k), diff_total(d, row, d->ask->to, k));
}

/* The other name of a row, or NULL. */
const struct alias *diff_alias(const struct diff *d, uint32_t row);

const char *diff_state_name(enum diff_state state);

#endif
