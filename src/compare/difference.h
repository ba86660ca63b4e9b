/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences between sides: the entries of a merged tree whose numbers differ enough, with their
 * ancestors, largest difference first. An entry that a side lacks counts as 0 on it.
 */
#ifndef TFPROF_COMPARE_DIFFERENCE_H
#define TFPROF_COMPARE_DIFFERENCE_H

#include "base/statistics.h"
#include "compare/compare.h"

/* ---- noise ----
 *
 * The noise floor of times: which differences between sides are too small to mean anything.
 */

#define NOISE_MICROS 10   /* smaller time differences are noise */
#define NOISE_SHARE  0.01 /* differences below this share of the larger time are also noise */

struct noise_request {
	const struct compare *c;
	uint32_t n;    /* number of values of a side; with steps, the same number of values follows
	                  for each step */
	uint32_t runs; /* index of the value that counts executions; used only with steps */
	bool steps;    /* true: the numbers of each step decide what is noise (base/statistics.h) */
	double level;  /* a difference with a smaller probability (two-sided) is not noise */
	/* Set by noise_open. */
	struct shift_tails *tails;
	double *room[2]; /* room for the values of the steps of two sides */
};

/* Makes room in a, which must outlive request. request->c must be set. */
void noise_open(struct noise_request *request, struct arena *a);

/* Compares number k of entry i in the steps of the first side with the steps of another side; only
 * steps that count in the average. Returns false if there are too few steps for a test. *s is valid
 * until the next call. */
bool noise_shift(const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k,
        bool relative, struct shift *s);

/* True if number k of entry i is a time whose difference from the first side is noise or 0. An
 * entry that a side lacks is not noise. Uses the fixed limits above if there are too few steps. */
bool noise_is(const struct noise_request *request, uint32_t i, uint32_t k);

/* Sets *p to the two-sided probability that the variation of the steps alone makes number k of
 * entry i differ this much between the first side and another side. Returns false if there
 * are too few steps for the test. */
bool noise_probability(
        const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k, double *p);

/* ---- difference ---- */

struct difference_request {
	const struct compare *c;
	const struct alias *alias;     /* sorted by entry and ended by ID_NONE; NULL: none */
	const struct opts *o;          /* options used: depth, patterns, displayed_only */
	const enum metric_id *metrics; /* units of the values */
	uint32_t n;                    /* number of values */
	uint32_t columns;              /* number of shown values, counted from the first */
	uint32_t order;                /* value to sort by; DIFF_BY_NAME: by name */
	uint32_t from, to;             /* indexes of sides: the difference is `from` minus `to` */
	double delta;                  /* smallest relative difference that counts */
	const int64_t *least; /* indexed by value: minimum that at least one side must reach */
	const struct noise_request *noise; /* noise floor for times; NULL: none */
	const struct noise_request
	        *test; /* computes the significance of differences; may be NULL */
};
#define DIFF_BY_NAME UINT32_MAX

enum diff_state {
	DIFF_BOTH,   /* on the first side and on the last side */
	DIFF_NEW,    /* on the last side, not on the first */
	DIFF_GONE,   /* on the first side, not on the last */
	DIFF_BETWEEN /* on neither of the two, but on another side */
};

struct diff_row {
	uint32_t entry;  /* entry of the merged tree */
	uint32_t parent; /* index of a row; ID_NONE for the first row */
	uint32_t end;    /* index of the row after its last descendant */
	uint32_t depth;
	enum diff_state state;
	bool enough; /* true: its own difference is large enough, not only a descendant's */
};

struct diff {
	const struct difference_request *request;
	struct diff_row *row;
	uint32_t n;
	int64_t *self, *total; /* read with diff_numbers */
	uint64_t only[2];      /* number of defined nodes on the first side only, and on the last
	                          side only */
	uint64_t both;         /* number of defined nodes on both sides */
	/* Number of entries that no row shows because their own time differs only by noise, and the
	 * sum of these differences, in the first column that is a time. */
	uint64_t noise;
	int64_t noise_sum;
	uint32_t noise_column;
	size_t aliases;
};

/* Finds the differences; in a. Returns false if matching a pattern fails. */
bool diff_run(
        struct diff *d, const struct difference_request *request, struct arena *a, struct err *e);

/* Returns the number of parts per unit in which value k is stored. */
static inline int64_t diff_parts(const struct difference_request *request, uint32_t k)
{
	return compare_parts(request->c, metrics[request->metrics[k]].value);
}

/* Returns value k of a row on a side. */
static inline int64_t diff_total(const struct diff *d, uint32_t row, uint32_t side, uint32_t k)
{
	return d->total[((size_t)row * d->request->c->sides + side) * d->request->n + k];
}

static inline int64_t diff_self(const struct diff *d, uint32_t row, uint32_t side, uint32_t k)
{
	return d->self[((size_t)row * d->request->c->sides + side) * d->request->n + k];
}

/* Returns the difference of a value: `from` minus `to`. */
static inline int64_t diff_difference(const struct diff *d, uint32_t row, uint32_t k)
{
	return num_sub(
	        diff_total(d, row, d->request->from, k), diff_total(d, row, d->request->to, k));
}

/* Returns the other name of a row, or NULL. */
const struct alias *diff_alias(const struct diff *d, uint32_t row);

const char *diff_state_name(enum diff_state state);

#endif
