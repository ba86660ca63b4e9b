/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the command mcp, with a folder that has one small graph. Whatever the lines are, each
 * answer is a line of valid JSON, nothing is read outside of the folder, and no file is written.
 */
#include <sys/stat.h>

#include "cli/mcp.h"
#include "rig.h"

#define LINES_MOST 16

static const char graph[] =
        "node { name: \"a\" op: \"Const\" } node { name: \"b/c\" op: \"Neg\" input: "
        "\"a\" }";

/* Makes the folder with the graph once. */
static struct str make_folder(void)
{
	static char path[256];

	if (!path[0]) {
		snprintf(path, sizeof path, "%sgraph.pbtxt", fuzz_folder());
		FILE *f = fopen(path, "w");
		if (!f || fwrite(graph, sizeof graph - 1, 1, f) != 1 || fclose(f))
			abort();
	}
	return str_of(fuzz_folder());
}

static size_t entries(void)
{
	DIR *d = opendir(fuzz_folder());
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

struct talk {
	struct mcp m;
	struct str lines;
};

static bool answer(struct session *s, void *ctx)
{
	struct talk *talk = ctx;
	struct mcp *m = &talk->m;
	struct str left = talk->lines, text;
	struct strs folders = { 0 };

	m->s = s;
	strs_add(&s->query_arena, &folders, make_folder());
	if (!mcp_allow(m, &folders))
		abort();
	for (size_t i = 0; i < LINES_MOST && left.n; i++) {
		size_t end = str_find_char(left, '\n');
		struct err e = { .a = &s->query_arena };
		if (!mcp_message(m, &s->query_arena, str_sub(left, 0, end), &text))
			break;
		if (text.n && !json_tree(&s->query_arena, text, &e))
			abort();
		left = end == SIZE_MAX ? STR_NONE : str_sub(left, end + 1, SIZE_MAX);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = session_new(FUZZ_LIMIT);
	struct talk talk = { .lines = str_make(data, size) };

	if (!s)
		abort();
	make_folder();
	size_t before = entries();
	s->more_commands = program_commands;
	session_guard(s, answer, &talk);
	mcp_close_all(&talk.m);
	if (entries() != before)
		abort();
	session_free(s);
	return 0;
}
