/* SPDX-License-Identifier: Apache-2.0
 *
 * Options that only one command has. One table per command: the words are read by it, and help,
 * manual page and completion are made of it.
 */
#ifndef TFPROF_LIB_WORDS_H
#define TFPROF_LIB_WORDS_H

#include "lib/cmd.h"

enum word_type {
	WORD_SWITCH,       /* bool */
	WORD_TEXT,         /* struct str */
	WORD_TEXTS,        /* struct strs: one more each time it is given */
	WORD_LIST,         /* struct strs: A,B,... */
	WORD_CHOICE,       /* int: which of the words of .value, separated by bars; from 0 */
	WORD_COUNT,        /* int64_t, above 0 */
	WORD_SECONDS,      /* int64_t milliseconds, given with a unit or as seconds: 20ms, 3, 0.5 */
	WORD_MILLISECONDS, /* int64_t milliseconds above 0, given with a unit or as milliseconds */
	WORD_SIZE,         /* int64_t bytes, above 0: 500M, 2Gi */
	WORD_QUANTITY,     /* int64_t bytes: 1.5MB */
	WORD_SHARE,        /* double, not negative: 0.1 or 10% */
};

struct word {
	const char *name;  /* without dashes; NULL ends the table */
	const char *value; /* the word for its value; NULL: it is a switch */
	const char *help;
	enum word_type type;
	size_t at;  /* in the command's struct */
	bool alone; /* a choice that may stand without its value: then it is the first */
};

extern const struct word set_words[], checkpoint_words[], diff_words[], record_words[], ctl_words[],
        doctor_words[], gpu_words[];

/* Values of the options of record, gpu and doctor, which only the program has. */
struct record_words {
	int level, graphs, start, env; /* places in the lists of option tables; -1: not given */
	bool mem, sync, no_nvtx, chain, step_signal, self_limit, detach, force, verbose;
	int64_t delay, duration, wait; /* milliseconds; -1: not given */
	int64_t step_every, max_size;  /* -1: not given */
	struct str step_nvtx, folder;
};

struct gpu_words {
	int64_t top;
	int output; /* place in the list of option tables */
	bool recover, wide;
};

struct doctor_words {
	struct str folder;
};

/* What words are read with. */
struct words {
	const struct command *command; /* whose table it is */
	void *into;                    /* holds what stays when an option is not given */
	struct opts *opts;             /* of a command with view_options: where these go */
	struct strs rest;              /* words that are no options, or stand behind "--" */
	struct strs given;             /* the names of the view's options among the words */
};
bool words_read(struct session *s, const struct strs *words, struct words *w);

/* Is --help or -h one of the words that are the command's own? */
bool words_want_help(const struct command *c, const struct strs *words);

/* Takes the option at words->v[*i] and, where it has one, its value behind it. */
bool words_take(struct session *s, const struct strs *words, size_t *i, struct words *w);

/* The row of that name, or NULL; also of no table. */
const struct word *word_find(const struct word *table, struct str name);

/* The words of a choice. */
struct strs word_choices(struct arena *a, const struct word *w);

/* Appends "--name=value", or "-n value" where the name is one letter. */
void word_usage(struct sb *b, const struct word *w);

#endif
