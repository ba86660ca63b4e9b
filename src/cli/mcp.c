/* SPDX-License-Identifier: Apache-2.0
 *
 * The command mcp: answers the lines of standard input until it ends.
 */
#include <stdlib.h>

#include "cli/mcp.h"

static void drop_lines(void *lines)
{
	mcp_lines_end(lines);
}

static void drop_line(void *line)
{
	free(line);
}

#define TOO_LONG                                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"the line is "   \
	"longer than 4 MiB\"}}\n"

/* Answers one line. Returns false if the client has disconnected, or memory is exhausted. */
static bool answer(struct mcp *m, const struct mcp_line *line)
{
	struct scratch own;
	struct str text;

	if (line->too_long)
		return mcp_lines_put(m->lines, S(TOO_LONG));
	scratch_open(&own, &m->s->work);
	bool ok = mcp_message(m, &own.a, str_make(line->text, line->n), &text) &&
	          mcp_lines_put(m->lines, text);
	scratch_close(&own);
	return ok;
}

static void answer_lines(struct mcp *m)
{
	struct arena_mark empty = arena_mark(&m->s->query_arena);
	bool ok = true;

	for (struct mcp_line *line; ok && (line = mcp_lines_next(m->lines)) != NULL;) {
		struct guard g;
		work_guard(&m->s->work, &g, drop_line, line);
		ok = answer(m, line);
		work_unguard(&m->s->work, &g);
		free(line);
		m->s->error = (struct err){ .a = &m->s->query_arena };
		arena_reset(&m->s->query_arena, empty);
	}
}

bool mcp_run_command(struct session *s, const struct request *r, struct sink *out)
{
	struct mcp_options options = { 0 };
	struct option_words w = { .command = r->command, .into = &options };
	struct mcp m = { .s = s };
	struct mcp_lines lines;
	struct guard files, reader;

	(void)out;
	options_preset("mcp", &options);
	if (!options_read(s, &r->topics, &w))
		return false;
	for (size_t i = 0; i < w.rest.n; i++)
		strs_add(&s->query_arena, &options.allow, w.rest.v[i]);
	if (!mcp_allow(&m, &options.allow))
		return false;
	mcp_confine(&m); /* must precede the start of threads, which inherit it */
	if (!mcp_lines_begin(&lines))
		return session_fail(s, ERR_RESOURCE, "a thread cannot be started");
	m.lines = &lines;
	work_guard(&s->work, &reader, drop_lines, &lines);
	work_guard(&s->work, &files, mcp_close_all, &m);
	answer_lines(&m);
	work_unguard(&s->work, &files);
	mcp_close_all(&m);
	work_unguard(&s->work, &reader);
	mcp_lines_end(&lines);
	return true;
}
