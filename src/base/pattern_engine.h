/* SPDX-License-Identifier: Apache-2.0
 *
 * PCRE2 with limits, for pattern.c and pattern_subst.c alone. Its memory is charged to the account
 * of the work. A match is first tried with few steps, which suffices for ordinary names. Longer
 * texts, and matches that need more steps, run with a callout at each item of the pattern: the
 * callout counts steps and checks for a cancel during the match. All matches of one work share a
 * limit of steps.
 */
#ifndef TFPROF_BASE_PATTERN_ENGINE_H
#define TFPROF_BASE_PATTERN_ENGINE_H

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include "base/str.h"

/* Additional error code: the step budget is used up. The codes of PCRE2 are above -1000. */
#define ENGINE_STEPS_USED (-10000)

struct engine {
	struct arena *a;
	struct account *account; /* account of the arena; it is charged */
	pcre2_general_context *general;
	pcre2_compile_context *compiling;
	pcre2_match_context *matching;
	pcre2_match_data *data;
	/* State of the current match. */
	uint64_t steps, most; /* number of counted steps, and their limit */
	uint64_t reach;       /* number of steps that one callout costs */
	size_t at;            /* offset in the text at the last callout */
};

/* A compiled pattern. */
struct engine_code {
	struct str text; /* text in PCRE2's syntax; owned by the caller */
	uint32_t options;
	pcre2_code *plain;
	pcre2_code *counted; /* code with callouts; NULL: not needed yet, or too large */
	size_t machine;      /* size of the machine code that is charged, bytes */
	uint64_t repeat;     /* largest count of a repetition, which bounds the text that one item
	                        may examine */
	bool translated;     /* true: compiling machine code was tried */
	bool too_large;      /* true: too large with callouts */
	bool refers_back;    /* true: has a back reference, so one item may examine the whole
	                        text */
};

/* Opens the contexts. They are closed, at the latest, when the arena drops its memory. */
void engine_open(
        struct engine *x, struct arena *a, struct guard *g, void (*close)(void *), void *what);
void engine_close(struct engine *x);

/* Compiles a text. Returns false with PCRE2's code and the offset of the error. */
bool engine_compile(struct engine *x, struct engine_code *c, struct str text, uint32_t options,
        int *code, size_t *offset);
void engine_drop(struct engine *x, struct engine_code *c);

/* Runs f, which calls PCRE2 with the given code and match options, under the limits. Returns the
 * result of f, or ENGINE_STEPS_USED, or PCRE2_ERROR_CALLOUT if the work was cancelled. Does not
 * return when memory is exhausted. */
struct engine_run {
	int (*f)(void *user, const pcre2_code *code, uint32_t options);
	void *user;
	size_t n; /* length of the text, bytes */
};
int engine_run(struct engine *x, struct engine_code *c, const struct engine_run *run);

/* Returns a text for the reason why a match failed. */
struct str engine_reason(struct arena *a, int code);

#endif
