/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the option table (metric/option.def): options of views, flags of the command line,
 * options of single commands and of the collector. Parsing, help, manual and completions use these
 * rows. A floor that parses options makes an array of its scopes, in the order of the table, that
 * ends with a row without a name. The functions here allocate nothing.
 */
#ifndef TFPROF_BASE_OPTION_H
#define TFPROF_BASE_OPTION_H

#include "base/num.h"

/* Scopes; the options of a command have the command's name as their scope. */
#define SCOPE_VIEWS     "views"     /* struct opts */
#define SCOPE_FLAGS     "flags"     /* struct flags */
#define SCOPE_COLLECTOR "collector" /* TFPROF_OPTS; struct plan */

/* Types, and the C types of their values. */
enum option_type {
	OPT_SWITCH,       /* bool; takes no value */
	OPT_BOOL,         /* bool; true if no value follows */
	OPT_CHOICE,       /* int: index into the choices; -1 if not given and without default */
	OPT_COUNT,        /* int64_t, above 0 */
	OPT_ROWS,         /* int64_t, not negative */
	OPT_SIZE,         /* int64_t bytes */
	OPT_LIMIT,        /* int64_t bytes, above 0 */
	OPT_SECONDS,      /* int64_t nanoseconds; seconds if no unit is given */
	OPT_MILLISECONDS, /* int64_t nanoseconds, at least 1 ms; milliseconds if no unit is given */
	OPT_SHARE,        /* double, not negative */
	/* Types of options that the library parses. */
	OPT_TEXT,  /* struct str, not empty */
	OPT_TEXTS, /* struct strs: one element per occurrence of the option */
	OPT_LIST,  /* struct strs: A,B,... */
	OPT_FILE,  /* struct str; may be empty */
	OPT_FILES, /* struct strs: one element per occurrence */
	/* Types of view options (metric/opts.h). */
	OPT_I32,
	OPT_I64,
	OPT_ORDER,
	OPT_PATTERNS,
	OPT_SELECT,
	OPT_OUTPUT,
	OPT_STRING,
	OPT_STEPS,
	OPT_MOMENT,
	OPT_STATS
};

enum {
	OPTION_EXTENSION = 1, /* an option that the original lacks; only set -all prints it */
	OPTION_RECORDED = 2,  /* allowed in the options file of a recording */
	OPTION_ALONE = 4,     /* a choice whose value may be omitted: the first choice then */
	OPTION_HIDDEN = 8,    /* a row without an option */
	OPTION_OF_2016 = 16,  /* an option of tfprof that the original's version of 2016 had */
	OPTION_PRINTED = 32 /* affects only printed text and written files, so it is not an argument
	                       in Python */
};

struct option {
	const char *scope;
	const char *name; /* name without dashes; NULL ends the array */
	enum option_type type;
	size_t at;           /* offset in the scope's struct */
	const char *preset;  /* default, as a user would type it; NULL if there is none */
	unsigned flags;      /* OPTION_ bits */
	const char *value;   /* name of its argument; NULL if it has none, or has choices */
	const char *choices; /* accepted words, separated by '|'; NULL if any other value is
	                        accepted */
	const char *help;
};

/* C types that hold the plain and text types, for structs generated from the table. */
#define OPTION_C_SWITCH       bool
#define OPTION_C_BOOL         bool
#define OPTION_C_CHOICE       int
#define OPTION_C_COUNT        int64_t
#define OPTION_C_ROWS         int64_t
#define OPTION_C_SIZE         int64_t
#define OPTION_C_LIMIT        int64_t
#define OPTION_C_SECONDS      int64_t
#define OPTION_C_MILLISECONDS int64_t
#define OPTION_C_SHARE        double
#define OPTION_C_TEXT         struct str
#define OPTION_C_TEXTS        struct strs
#define OPTION_C_LIST         struct strs

/* Makes a row from the macro's arguments in metric/option.def. */
#define OPTION_ROW(scope, type, s, field, name, preset, flags, value, choices, help)               \
	{ scope, name, OPT_##type, offsetof(struct s, field), preset, flags, value, choices, help },

/* Returns the next option of the same scope, or NULL. */
const struct option *option_next(const struct option *row);

/* Returns the option with a name, from this row on within its scope, or NULL. first may be NULL. */
const struct option *option_in(const struct option *first, struct str name);

/* Sets *i to the index of the word among choices such as "a|b|c". Returns false if the word is not
 * among them. */
bool option_choice(const char *choices, struct str word, int *i);

/* Returns the choice with an index, or an empty text. */
struct str option_choice_at(const char *choices, int i);

/* Reads true/t/yes/y/1 and false/f/no/n/0, ignoring case. */
bool option_truth(struct str s, bool *out);

/* Stores a value of one of the plain types (those before the types of the library) in the struct at
 * `in`. Returns NULL, or the reason why the value is refused, such as "not a size, such as 1MB". */
const char *option_set_plain(const struct option *row, struct str value, void *in);

#endif
