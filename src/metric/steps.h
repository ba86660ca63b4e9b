/* SPDX-License-Identifier: Apache-2.0
 *
 * Words about steps: the lists and ranges of -step, the statistics of -stats.
 */
#ifndef TFPROF_METRIC_STEPS_H
#define TFPROF_METRIC_STEPS_H

#include "base/err.h"

/* ---- -step ---- */

struct step_range {
	int64_t from, to; /* both belong to it */
	int64_t reach;    /* the furthest end of those up to here */
};

/* Value of -step if it is not a single number: 0,2,5 or 3..9 or both. */
struct step_set {
	struct str text;      /* without blanks */
	struct step_range *v; /* by their beginnings */
	size_t n;             /* 0: -step is one number */
};

/* Strings and ranges live in a. On failure *s is untouched. */
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

/* The words of a list as STAT_BIT bits. On failure *bits is untouched. */
bool stats_parse(unsigned *bits, const struct strs *words, struct err *e);
/* "mean,cv", in the order of the table. */
void stats_names(struct sb *b, unsigned bits, const char *between);

#endif
