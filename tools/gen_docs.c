/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the manual pages, the shells' completions and the methods of the Python package from the
 * program's tables:
 *   gen_docs FOLDER PYTHON    FOLDER/man/tfprof.1, FOLDER/man/tfprof-scope.1, ...,
 *                             FOLDER/completion/..., FOLDER/PYTHON.md; PYTHON: the Python file
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/program.h"
#include "gen_docs.h"

struct session *docs_session;
static const char *folder;

FILE *docs_begin(const char *sub, const char *name)
{
	char path[4096];

	mkdir(folder, 0777);
	snprintf(path, sizeof path, "%s/%s", folder, sub);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/%s/%s", folder, sub, name);
	FILE *f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

void docs_end(FILE *f)
{
	if (ferror(f) || fclose(f)) {
		perror(folder);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: gen_docs FOLDER PYTHON\n", stderr);
		return 2;
	}
	folder = argv[1];
	docs_session = session_new(0);
	if (!docs_session)
		return 1;
	docs_session->more_commands = program_commands;
	docs_main_page();
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		docs_page_of(c);
	docs_bash();
	docs_zsh();
	docs_fish();
	docs_python_page();
	docs_python(argv[2]);
	session_free(docs_session);
	return 0;
}
