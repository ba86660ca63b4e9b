/* SPDX-License-Identifier: Apache-2.0
 *
 * Values about steps: the lists and ranges of -step, the statistics of -stats.
 */
#ifndef TFPROF_METRIC_STEPS_H
#define TFPROF_METRIC_STEPS_H

#include "base/err.h"

/* ---- -step ---- */

struct step_range {
	int64_t from, to; /* inclusive */
	int64_t reach;    /* largest end of the ranges up to this one */
};

/* Value of -step unless it is a single number: 0,2,5 or 3..9 or both. */
struct step_set {
	struct str text;      /* without blanks */
	struct step_range *v; /* sorted by start */
	size_t n;             /* 0: -step is one number */
};

/* Strings and ranges live in a. On failure *s is unchanged. */
bool steps_parse(struct step_set *s, struct arena *a, struct str text, struct err *e);
bool steps_has(const struct step_set *s, int64_t step);

/* ---- -stats ---- */

enum stat_id {
#define ROW(id, ...) STAT_##id,
#include "metric/stat.def"
#undef ROW
	STATS_N
};

struct stat_row {
	const char *name;
	bool whole, ranked;
	const char *help;
};
extern const struct stat_row stat_rows[STATS_N];

#define STAT_BIT(id) (1u << (id))

/* Reads a list of statistics as STAT_BIT bits. On failure *bits is unchanged. */
bool stats_parse(unsigned *bits, const struct strs *words, struct err *e);
/* "mean,cv", in the order of the table. */
void stats_names(struct sb *b, unsigned bits, const char *between);

#endif
