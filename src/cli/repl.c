/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads commands line by line, from the prompt or a script.
 */
#include "cli/screen.h"
#include "cli/prompt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/options.h"
#include "cli/program.h"
#include "cli/ui.h"

/* Prints to standard error, where `filled` columns are already filled. For a terminal or a wanted
 * width, wraps the lines, and escapes characters that could control it. */
static void say(struct session *s, struct str text, size_t filled)
{
	struct sb b = sb_in(&s->query_arena);
	unsigned rows, columns;

	if (!text.n)
		return;
	if ((!isatty(STDERR_FILENO) && !s->width) || s->error.code == ERR_RESOURCE) {
		fwrite(text.p, 1, text.n, stderr);
		return;
	}
	bool utf8 = s->width ? term_is_utf8() : term_look(TERM_AUTO).utf8;
	term_size(STDERR_FILENO, &rows, &columns);
	columns = s->width ? s->width : columns;
	for (; text.n; filled = 0) {
		size_t end = str_find_char(text, '\n');
		letters_wrap(&b, str_sub(text, 0, end), filled, columns, utf8);
		if (end == SIZE_MAX)
			break;
		sb_char(&b, '\n');
		text = str_sub(text, end + 1, SIZE_MAX);
	}
	fwrite(b.p, 1, b.n, stderr);
}

void repl_say(struct session *s, bool ok, size_t line)
{
	if (!s->broken) {
		struct notes loading = notes_take(&s->load_notes, s->notes_wanted, &s->query_arena);
		say(s, notes_text(&s->query_arena, &loading), 0);
		say(s, notes_text(&s->query_arena, &s->notes), 0);
		s->notes.list.n = 0;
	}
	if (ok || s->error.code == ERR_STEP)
		return;
	int filled = fprintf(stderr, "tfprof: ");
	if (line)
		filled += fprintf(stderr, "line %zu: ", line);
	say(s, s->error.text, filled > 0 ? (size_t)filled : 0);
	fputc('\n', stderr);
	if (s->error.partial)
		fputs("tfprof: --recover reads what is not damaged\n", stderr);
}

struct one_line {
	struct str text;
	struct screen *screen;
	bool prompt, ends, ui;
};

/* Runs one line and redirects its output. */
static bool run_line(struct session *s, void *ctx)
{
	struct one_line *one = ctx;
	struct request r;
	struct redirect l;

	if (one->prompt && str_eq(one->text, S("!!")))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "'!!' needs a previous line to repeat");
	if (!redirect_split(&l, one->text, &s->error) || !cmd_parse_line(s, l.command, &r))
		return false;
	r.prompt = one->prompt;
	r.opts.exact_names = true;
	one->ends = r.command && r.command->ends;
	one->ui = r.command && r.command->run == ui_run;
	if (!redirect_open(&l, &s->error))
		return false;
	if (!l.sink && r.command && r.command->view)
		screen_fit(one->screen, &r.opts);
	struct sink *out = l.sink ? l.sink : screen_begin(one->screen, &r.opts);
	s->columns = l.sink ? 0 : screen_columns(one->screen);
	return redirect_close(&l, cmd_run(s, &r, out), &s->error);
}

static bool run_one(struct session *s, struct one_line *one)
{
	screen_cancel(one->screen, &s->cancel);
	bool ok = session_guard(s, run_line, one);

	screen_end(one->screen);
	screen_cancel(one->screen, NULL); /* the session may be closed by the next line */
	return ok;
}

/* Removes a carriage return at the end, and a byte order mark before the first line. */
static struct str script_line(const char *text, size_t n, bool first)
{
	struct str line = { text, n };

	if (line.n && line.p[line.n - 1] == '\n')
		line.n--;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return first && str_starts(line, S("\xef\xbb\xbf")) ? str_sub(line, 3, SIZE_MAX) : line;
}

/* The lines before a line that continues them. */
struct begun_line {
	char *p;
	size_t n;
};

/* Joins a line to the begun line, which ends with a backslash. Returns true if the line also ends
 * with one: it becomes the begun line, which the next line continues. If memory is exhausted, the
 * line stands alone. */
static bool join_line(struct begun_line *begun, struct str *line)
{
	bool goes_on = line->n && line->p[line->n - 1] == '\\';
	char *p = goes_on || begun->n ? realloc(begun->p, begun->n + line->n + 1) : NULL;

	if (!p)
		return false;
	begun->p = p;
	memcpy(p + begun->n, line->p, line->n);
	begun->n += line->n;
	if (goes_on)
		p[begun->n - 1] = ' ';
	*line = str_make(p, begun->n);
	return goes_on;
}

/* Runs the lines of a script. */
static bool run_script(struct jobs *jobs, struct screen *screen, size_t *lines)
{
	struct session *s = jobs_now(jobs);
	bool all_ok = true, ends = false;
	struct begun_line begun = { 0 };
	char *text = NULL;
	size_t cap = 0;
	ssize_t n = 0;

	while (!ends && (n = getline(&text, &cap, stdin)) >= 0) {
		struct one_line one = { .text = script_line(text, (size_t)n, *lines == 0),
			.screen = screen };
		++*lines;
		if (join_line(&begun, &one.text))
			continue;
		begun.n = 0;
		signals_catch(s);
		bool ok = run_one(s, &one);
		signals_catch(NULL);
		repl_say(s, ok, *lines);
		all_ok &= ok;
		ends = one.ends || signals_came();
		s = jobs_next(jobs, s);
	}
	free(text);
	free(begun.p);
	if (n < 0 && !feof(stdin) && !signals_came()) {
		fprintf(stderr, "tfprof: cannot read 'standard input': %s\n", strerror(errno));
		return false;
	}
	return all_ok;
}

/* Replaces the line "!!" by the previous line, and prints it. */
static void repeat_line(struct str *line, char **last)
{
	if (!str_eq(*line, S("!!"))) {
		free(*last);
		*last = strndup(line->n ? line->p : "", line->n);
	} else if (*last) {
		*line = str_of(*last);
		puts(*last);
		fflush(stdout);
	}
}

/* Runs a shell command: !COMMAND. */
static void run_shell(struct str command)
{
	char *z = strndup(command.n ? command.p : "", command.n);

	fflush(stdout);
	if (!z || system(z) < 0)
		fprintf(stderr, "tfprof: cannot start the shell: %s\n", strerror(errno));
	free(z);
}

/* Runs the lines that a user types. Ctrl-C ends only the running command. */
static bool run_prompt(struct jobs *jobs, struct screen *screen, size_t *lines)
{
	struct session *s = jobs_now(jobs);
	struct prompt *p = prompt_open(s);
	struct one_line one = { .screen = screen, .prompt = true };
	struct begun_line begun = { 0 };
	bool all_ok = true, discarded;
	char *last = NULL;

	if (!p)
		return false;
	while (!one.ends && !signals_came() && prompt_read(p, &one.text, &discarded)) {
		if (discarded) { /* with the lines that it continues */
			if (begun.n)
				prompt_use(p, s, jobs_name(jobs));
			begun.n = 0;
			continue;
		}
		++*lines;
		if (join_line(&begun, &one.text)) {
			prompt_continue(p);
			continue;
		}
		if (begun.n)
			prompt_use(p, s, jobs_name(jobs));
		begun.n = 0;
		repeat_line(&one.text, &last);
		if (one.text.n > 1 && one.text.p[0] == '!' && one.text.p[1] != '!') {
			run_shell(str_sub(one.text, 1, SIZE_MAX));
			continue;
		}
		screen->stop = &s->cancel;
		signals_catch(s);
		prompt_catch(s);
		one.ui = false;
		bool ok = run_one(s, &one);
		signals_catch(NULL);
		prompt_catch(NULL);
		ok = ok && (!one.ui || ui_show(s, screen->color));
		repl_say(s, ok, 0);
		all_ok &= ok;
		s = jobs_next(jobs, s);
		prompt_use(p, s, jobs_name(jobs));
	}
	free(last);
	free(begun.p);
	prompt_close(p);
	return all_ok;
}

bool repl_run(struct jobs *jobs, struct screen *screen, size_t *lines)
{
	*lines = 0;
	sink_flush(screen->plain);
	return isatty(STDIN_FILENO) ? run_prompt(jobs, screen, lines)
	                            : run_script(jobs, screen, lines);
}
