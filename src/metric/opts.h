/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a view. Filled only through the rows of metric/option.def, by the command line,
 * the prompt, scripts and the library alike.
 */
#ifndef TFPROF_METRIC_OPTS_H
#define TFPROF_METRIC_OPTS_H

#include "base/err.h"
#include "base/option.h"
#include "metric/metric.h"
#include "metric/nearest.h"
#include "metric/steps.h"

enum output_kind {
#define ROW(id, ...) OUT_##id,
#include "metric/output.def"
#undef ROW
	OUT_N
};
enum { KEY_OUTFILE = 1, KEY_SPREADSHEET = 2 };
enum {
	OUT_PREFIX = 1,    /* the Doc block comes first */
	OUT_EXTENSION = 2, /* the original has no such kind */
	OUT_ROWS = 4,      /* rows of numbers; a file that an earlier kind was given is forgotten */
	OUT_LONG = 8       /* -by gives each worker rows of its own, not columns */
};

struct output_row {
	const char *name;
	unsigned keys, required; /* KEY_ bits */
	unsigned flags;
	const char *help;
};
extern const struct output_row output_rows[OUT_N];

struct output {
	enum output_kind kind;
	struct str outfile; /* quirk 22: kept when the kind changes; empty if never given */
	bool spreadsheet;   /* csv: no text is a formula */
};

enum by { BY_NONE, BY_WORKER };
enum align { ALIGN_STEP, ALIGN_TIME };

struct order {
	struct str word;   /* as given */
	enum metric_id by; /* M_NAME also for words that only the original's library takes */
	bool none;         /* the empty word: no sorting */
};

struct select {
	unsigned metrics;    /* METRIC_BIT bits */
	struct strs unknown; /* names that no metric has; only the library lets them in */
};

struct opts {
	int32_t max_depth;
	int64_t min[M_N]; /* by metric, where USE_MIN */
	int64_t step;
	struct order order;
	struct strs account, start, trim, show, hide;
	bool displayed_only;
	struct select select;
	struct output output;
	/* Extensions. */
	struct step_set steps; /* unless empty, step is negative */
	unsigned stats;        /* STAT_BIT bits */
	struct strs devices, workers;
	enum by by;
	int64_t max_workers; /* columns; negative: as many as are sensible */
	enum align align;
	bool viz, bars, wide;
	struct str dump_to_file;
	struct str rename;  /* rules, as pattern_subst.h reads them */
	int64_t max_values; /* of a tensor; negative: all */
};

/* The table: its first row stands for all of them; option_next goes on. */
extern const struct option view_options[];
const struct option *view_option(struct str name); /* without dashes; NULL: there is none */

/* True if the value is a list of items. */
bool option_is_list(const struct option *row);

/* Everything as the table presets it. Strings live in a. */
void opts_preset(struct opts *o, struct arena *a);

/* Sets one option from the words a user typed. Quotes around lists are stripped. value is copied
 * into a. On failure *o is untouched. */
bool opts_set(
        struct opts *o, struct arena *a, const struct option *row, struct str value, struct err *e);

/* Sets a list option from its items, which may hold commas and blanks. strict: names that no metric
 * has are refused; else kept as unknown. */
bool opts_set_list(struct opts *o, struct arena *a, const struct option *row,
        const struct strs *items, bool strict, struct err *e);

/* Does -step choose it? A negative number chooses all. */
bool opts_has_step(const struct opts *o, int64_t step);
/* Does it name steps, so that those that are not in the average can be meant? */
bool opts_names_steps(const struct opts *o);

struct opts opts_copy(const struct opts *o, struct arena *a);

/* The value as a user would type it. */
void opts_value(struct sb *b, const struct opts *o, const struct option *row);

/* "-name    value\n" for each option of the original (B§1.6); opts_dump_all: for ours too. */
void opts_dump(struct sb *b, const struct opts *o);
void opts_dump_all(struct sb *b, const struct opts *o);
void opts_dump_one(struct sb *b, const struct opts *o, const struct option *row);

#endif
