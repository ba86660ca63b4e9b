/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that executes the words of its command line in order: the program under observation in
 * the tests of the collector. "launch:100" launches a hundred kernels; the tables at the end of
 * program_work.c, program_wait.c, program_process.c and program_refuse.c list all words. It checks
 * that errno, signals and descriptors are as without a collector.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

char *argument[3];
const char *self;

long number(int i, long otherwise)
{
	return argument[i] ? strtol(argument[i], NULL, 0) : otherwise;
}

void wrong(const char *what)
{
	dprintf(STDOUT_FILENO, "WRONG: %s\n", what);
	_exit(99);
}

static const struct word *find(const struct word *words, const char *name)
{
	for (; words->name; words++)
		if (!strcmp(words->name, name))
			return words;
	return NULL;
}

void run(char *word)
{
	char *copy = strdup(word), *save = NULL, *name = copy ? strtok_r(copy, ":", &save) : NULL;
	const struct word *const tables[] = { work_words, wait_words, process_words, refuse_words };
	const struct word *w = NULL;

	for (int i = 0; i < 3; i++)
		argument[i] = strtok_r(NULL, ":", &save);
	for (unsigned i = 0; name && !w && i < sizeof tables / sizeof *tables; i++)
		w = find(tables[i], name);
	if (!w)
		wrong(word);
	w->act();
	free(copy);
}

int main(int argc, char **argv)
{
	self = argv[0];
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
