/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a view. Set only through the rows of metric/option.def, by the command line, the
 * prompt, scripts and the library alike.
 */
#ifndef TFPROF_METRIC_OPTS_H
#define TFPROF_METRIC_OPTS_H

#include "base/option.h"
#include "metric/metric.h"

/* ---- steps ---- Values for steps: the lists and ranges of -step, and the statistics of -stats. */

/* ---- -step ---- */

struct step_range {
	int64_t from, to; /* bounds, inclusive */
	int64_t reach;    /* largest end of all ranges up to this one */
};

/* Value of -step if it is not a single number: 0,2,5 or 3..9 or both. */
struct step_set {
	struct str text;      /* text without blanks */
	struct step_range *v; /* sorted by start */
	size_t n;             /* 0: -step is a single number */
};

/* Parses a value of -step. Strings and ranges live in a. On failure *s is unchanged. */
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
/* Appends the names of statistics, "mean,cv", in the order of the table. */
void stats_names(struct sb *b, unsigned bits, const char *between);

/* ---- opts ---- */

enum output_kind {
#define ROW(id, ...) OUT_##id,
#include "metric/output.def"
#undef ROW
	OUT_N
};
enum { KEY_OUTFILE = 1, KEY_SPREADSHEET = 2 };
enum {
	OUT_PREFIX = 1,    /* the Doc block is printed first */
	OUT_EXTENSION = 2, /* an extension: unknown to the original */
	OUT_ROWS = 4,      /* rows of numbers; does not inherit the file of an earlier output */
	OUT_LONG = 8,      /* with -by, each worker gets rows instead of columns */
	OUT_WHOLE = 16     /* shows all levels unless -max_depth is given */
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
	struct str outfile; /* kept if the kind of output changes, as in the original (quirk 22);
	                       empty if never given */
	bool spreadsheet;   /* for csv: no text is a formula */
	bool cells;         /* typed cells, for Arrow (export/data/sheet.h) */
	bool named;         /* true: the file comes from -o */
	bool full_names;    /* true: text does not reduce the names of C++ functions */
};

enum by {
	BY_NONE,
	BY_WORKER,
	BY_MODULE, /* this and the following values are for traces, in the order of enum trace_by */
	BY_OP,
	BY_ANNOTATION,
	BY_SOURCE,
	BY_KERNEL,
	BY_HLO_CATEGORY,
	BY_FUNCTION,
	BY_PHASE,
	BY_MODULE_CLASS,
	BY_PROVIDER,
	BY_STACK, /* for the view code; this value and the next are not choices of the option */
	BY_CALLS  /* for the command peek */
};
enum align { ALIGN_STEP, ALIGN_TIME };

struct order {
	struct str word;   /* the word that the user gave */
	enum metric_id by; /* also M_NAME for words that only the original's library accepts */
	bool none;         /* true for an empty word: the answer is not sorted */
	bool given;        /* true: the user gave the option */
};

struct select {
	unsigned metrics;    /* METRIC_BIT bits */
	struct strs unknown; /* unknown names, which are accepted only by the library */
	bool preset;         /* true: the option was not given */
};

/* Value of -at: a moment in a memory snapshot. */
enum moment_kind { MOMENT_PEAK, MOMENT_OOM, MOMENT_END, MOMENT_TIME };
struct moment {
	enum moment_kind kind;
	int64_t ns;      /* for MOMENT_TIME: time after the first entry */
	struct str text; /* the word that the user gave */
};

/* A step that is chosen by its time, once the steps are loaded. */
enum step_rank { STEP_RANK_NONE, STEP_RANK_SLOWEST, STEP_RANK_FASTEST, STEP_RANK_MEDIAN };

/* Returns the rank that the word names, or STEP_RANK_NONE; and the word. */
enum step_rank step_rank_of(struct str word);
const char *step_rank_name(enum step_rank rank);

struct opts {
	int32_t max_depth;
	int64_t min[M_N]; /* indexed by metric with USE_MIN */
	int64_t step;
	struct order order;
	struct strs account, start, trim, show, hide;
	bool displayed_only;
	struct select select;
	struct output output;
	/* Options that the original lacks. */
	struct step_set steps; /* if not empty, step is negative */
	enum step_rank rank;   /* if given, step is negative until session_rank_step sets it */
	unsigned stats;        /* STAT_BIT bits */
	int64_t top;           /* maximum number of rows; 0: all; negative: not given */
	struct str file;       /* value of -o: file of the answer; empty if not given */
	struct moment at;
	struct strs devices, workers;
	enum by by;
	int64_t max_workers; /* number of columns; negative: chosen automatically */
	enum align align;
	bool file_later;  /* true: -o may follow -output, so opts_place_output must be called */
	bool depth_given; /* true: -max_depth was given */
	bool new_input;   /* true: an input has a format that the original cannot read */
	bool bare_input;  /* true: files were given without flags, which the original does not
	                     accept */
	bool exact_names; /* timeline: true if a name that ends in .json is used unchanged; set by
	                     the program */
	bool viz, bars, wide, quiet, source;
	struct str source_path; /* folder of source files; empty: the current folder */
	struct str dump_to_file;
	struct str rename;  /* substitution rules in the syntax of pattern_subst.c */
	int64_t max_values; /* number of tensor values to print; negative: all */
};

/* The first row of the table; option_next returns the others. */
extern const struct option view_options[];
const struct option *view_option(struct str name); /* name without dashes; NULL if there is none */

/* True if the value of an option is a list of items. */
bool option_is_list(const struct option *row);

/* Sets every option to its default. Strings live in a. */
void opts_preset(struct opts *o, struct arena *a);

/* Sets one option from a user's words. Quotes around lists are stripped. value is copied into a. On
 * failure *o is unchanged. */
bool opts_set(
        struct opts *o, struct arena *a, const struct option *row, struct str value, struct err *e);

/* Sets a list option from its items, which may contain commas and blanks. strict: if true, unknown
 * metric names are an error; otherwise they are stored as unknown. */
bool opts_set_list(struct opts *o, struct arena *a, const struct option *row,
        const struct strs *items, bool strict, struct err *e);

/* Sends the output to the file of -o. Fails if an output needs a file and has none. */
bool opts_place_output(struct opts *o, struct err *e);

/* True if -step selects a step. A negative number selects all steps. */
bool opts_has_step(const struct opts *o, int64_t step);
/* True if -step names steps. These may be steps that are excluded from the average. */
bool opts_names_steps(const struct opts *o);

/* True if the options, the output or the inputs use a feature that the original lacks. */
bool opts_use_ours(const struct opts *o, struct arena *a);

/* Sets defaults that depend on the view: with by_column, orders by the first numeric column; with
 * whole, and for data outputs, all levels are shown unless -max_depth is
 * given.
 */
void opts_complete(struct opts *o, enum vk view, bool by_column, bool whole);

/* Returns the last place of the list that op shows, counted from 0. The original shows one row more
 * than -max_depth states; if an option that the original lacks is in use, exactly that number of
 * rows is shown. */
int64_t opts_op_depth(const struct opts *o, struct arena *a);

struct opts opts_copy(const struct opts *o, struct arena *a);

/* Appends the value as a user would type it. */
void opts_value(struct sb *b, const struct opts *o, const struct option *row);

/* Writes "-name value " for each option of the original. opts_dump_all also writes the options that
 * the original lacks. */
void opts_dump(struct sb *b, const struct opts *o);
void opts_dump_all(struct sb *b, const struct opts *o);
/* Writes the options that differ from their defaults in the same form. Returns false if there are
 * none. */
bool opts_dump_set(struct sb *b, const struct opts *o);
void opts_dump_one(struct sb *b, const struct opts *o, const struct option *row);

#endif
