/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the program under observation.
 */
#ifndef INJECT_PROGRAM_H
#define INJECT_PROGRAM_H

struct word {
	const char *name;
	void (*act)(void);
};
/* The last row has no name. */
extern const struct word work_words[], wait_words[], process_words[], refuse_words[];

extern char *argument[3]; /* text after the colons */
extern const char *self;

/* Returns an argument as a number. */
long number(int i, long otherwise);
/* Prints a message, and exits at once with a status that no test expects. */
_Noreturn void wrong(const char *what);
/* Launches n kernels with this name; NULL: with several names in turn. */
void launch(long n, const char *name);
/* Returns a function of the loaded fake CUPTI, or NULL if none is loaded. */
void *fake_cupti(const char *function);
/* Executes a word. */
void run(char *word);

#endif
