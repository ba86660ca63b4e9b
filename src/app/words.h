/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the commands that have words of their own. One table per command: the words are read
 * by it, and help, manual page and completion are made of it.
 */
#ifndef TFPROF_APP_WORDS_H
#define TFPROF_APP_WORDS_H

#include "app/session.h"

enum word_type {
	WORD_SWITCH,  /* bool */
	WORD_TEXT,    /* struct str */
	WORD_CHOICE,  /* int: which of the words of .value, separated by bars; from 0 */
	WORD_COUNT,   /* int64_t, above 0 */
	WORD_SECONDS, /* int64_t milliseconds, given as seconds: 3 or 0.5 */
	WORD_SIZE,    /* int64_t bytes, with K, M or G behind them */
};

struct word {
	const char *name;  /* without dashes; NULL ends the table */
	const char *value; /* the word for its value; NULL: it is a switch */
	const char *help;
	enum word_type type;
	size_t at;  /* in the command's struct */
	bool alone; /* a choice that may stand without its value: then it is the first */
};

extern const struct word record_words[], ctl_words[], doctor_words[], gpu_words[];

/* What a table is read with. */
struct words {
	const char *command;
	const struct word *table;
	void *into;       /* holds what stays when an option is not given */
	bool first;       /* the first word that is no option, and all behind it, are left */
	struct strs rest; /* words that are no options, or stand behind "--" */
};
bool words_read(struct session *s, const struct strs *words, struct words *w);

/* The i-th word of the choice of that name. */
struct str words_choice(struct arena *a, const struct word *table, const char *name, int i);

/* Appends "--name=value", or "-n value" where the name is one letter. */
void word_usage(struct sb *b, const struct word *w);

#endif
