/* SPDX-License-Identifier: Apache-2.0
 *
 * See repl.h.
 */
#include "app/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/cmd.h"

static void say_notes(struct session *s, struct notes *notes)
{
	struct str text = notes_text(&s->query_arena, notes);

	fwrite(text.p, 1, text.n, stderr);
	notes->list.n = 0;
}

void repl_say(struct session *s, bool ok, size_t line)
{
	if (!s->broken) {
		say_notes(s, &s->load_notes);
		say_notes(s, &s->notes);
	}
	if (ok || s->error.code == ERR_STEP)
		return;
	fputs("tfprof: ", stderr);
	if (line)
		fprintf(stderr, "line %zu: ", line);
	fwrite(s->error.text.p, 1, s->error.text.n, stderr);
	fputc('\n', stderr);
}

struct one_line {
	struct str text;
	struct sink *out;
};

static bool run_line(struct session *s, void *ctx)
{
	const struct one_line *l = ctx;

	return cmd_line(s, l->text, l->out);
}

bool repl_run(struct session *s, struct sink *out)
{
	bool prompt = isatty(STDIN_FILENO), all_ok = true;
	char *text = NULL;
	size_t cap = 0, line = 0;

	for (;;) {
		if (prompt)
			sink_put(out, S("tfprof> "));
		sink_flush(out);
		ssize_t n = getline(&text, &cap, stdin);
		if (n < 0)
			break;
		if (n > 0 && text[n - 1] == '\n')
			n--;
		struct one_line l = { { text, (size_t)n }, out };
		bool ok = session_guard(s, run_line, &l);
		sink_flush(out);
		repl_say(s, ok, prompt ? 0 : ++line);
		all_ok &= ok;
	}
	free(text);
	if (prompt)
		sink_char(out, '\n');
	return all_ok;
}
