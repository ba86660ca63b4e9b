/* SPDX-License-Identifier: Apache-2.0
 *
 * The prompt. Only this file and keys.c use libedit.
 */
#include "cli/prompt.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if HAVE_LIBEDIT
#include <histedit.h>
#endif

#define PROMPT_NAME 40 /* maximum number of characters of a job's name in the prompt */

struct prompt {
	struct session *session;
	struct work work;
	struct arena a, line_arena;
	struct str history_file;
	char shown[PROMPT_NAME * 4 + 16]; /* text of the prompt */
	char *text;
	size_t cap;
	bool smart, utf8, opened, given_up;
#if HAVE_LIBEDIT
	EditLine *edit;
	History *history;
#endif
};

/* ---- Ctrl-C while a command runs ---- */

static struct session *volatile running;

static void on_interrupt(int sig)
{
	(void)sig;
	if (running)
		atomic_store(&running->cancel, true);
}

void prompt_catch(struct session *s)
{
	/* Signals interrupt a pending command, but not the reading of a line. */
	struct sigaction a = { .sa_handler = on_interrupt, .sa_flags = s ? 0 : SA_RESTART };

	running = s;
	if (s)
		atomic_store(&s->cancel, false);
	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
}

/* ---- plain lines ---- */

static bool read_plain(struct prompt *p, struct str *line)
{
	fputs(p->shown, stdout);
	fflush(stdout);
	ssize_t n = getline(&p->text, &p->cap, stdin);
	if (n < 0)
		return false;
	*line = str_make(p->text, (size_t)n - (n > 0 && p->text[n - 1] == '\n'));
	return true;
}

#if HAVE_LIBEDIT

static char *prompt_text(EditLine *e)
{
	struct prompt *p;

	el_get(e, EL_CLIENTDATA, &p);
	return p->shown;
}

/* ---- keys ---- */

struct tab_offer {
	struct str text;
	struct complete c;
};

static bool ask(struct session *s, void *ctx)
{
	struct tab_offer *q = ctx;

	return complete_line(s, q->text, &q->c);
}

/* Prints candidates in columns below the line being typed. */
static void list(const struct complete *c, struct arena *a)
{
	unsigned rows, columns;
	size_t width = 0, across, down;
	size_t cut = str_rfind_char(str_sub(c->stem, 0, c->stem.n), '/');
	size_t skip = cut == SIZE_MAX ? 0 : cut + 1;
	struct sb b = sb_in(a);

	term_size(STDOUT_FILENO, &rows, &columns);
	for (size_t i = 0; i < c->items.n; i++) {
		size_t w = letters_width(str_sub(c->items.v[i], skip, SIZE_MAX), true);
		width = w > width ? w : width;
	}
	across = columns > width + 2 ? columns / (width + 2) : 1;
	down = (c->items.n + across - 1) / across;
	sb_char(&b, '\n');
	for (size_t r = 0; r < down; r++) {
		for (size_t i = r; i < c->items.n; i += down) {
			struct str word = str_sub(c->items.v[i], skip, SIZE_MAX);
			letters_escape(&b, word, true);
			if (i + down < c->items.n)
				sb_repeat(&b, ' ', width + 2 - letters_width(word, true));
		}
		sb_char(&b, '\n');
	}
	if (c->more)
		sb_fmt(&b, "... and more; keep typing to see fewer\n");
	fwrite(b.p, 1, b.n, stdout);
	fflush(stdout);
}

static unsigned char on_tab(EditLine *e, int key)
{
	const LineInfo *at = el_line(e);
	struct prompt *p;
	/* The text ends at a NUL, and the cursor may be after it. */
	struct tab_offer q = { .text = str_sub(
		                       str_of(at->buffer), 0, (size_t)(at->cursor - at->buffer)) };

	(void)key;
	el_get(e, EL_CLIENTDATA, &p);
	struct complete *c = &q.c;
	if (!session_guard(p->session, ask, &q) || !c->items.n)
		return CC_REFRESH_BEEP;
	struct arena *a = &p->session->query_arena;
	struct str more = str_sub(c->shared, c->stem.n, SIZE_MAX);
	if (more.n && el_insertstr(e, str_z(a, more)))
		return CC_REFRESH_BEEP;
	if (c->items.n == 1 && !c->open)
		el_insertstr(e, " ");
	else if (!more.n && c->items.n > 1) {
		list(c, a);
		return CC_REDISPLAY;
	}
	return CC_REFRESH;
}

/* Ctrl-C while a line is typed: discards the line and begins a new one. */
static unsigned char on_break(EditLine *e, int key)
{
	struct prompt *p;

	(void)key;
	el_get(e, EL_CLIENTDATA, &p);
	p->given_up = true;
	fputs("^C\n", stdout);
	fflush(stdout);
	return CC_NEWLINE;
}

/* Ctrl-Z: stops the process. */
static unsigned char on_stop(EditLine *e, int key)
{
	(void)key;
	keys_stop(e);
	return CC_NORM;
}

static void open_edit(struct prompt *p)
{
	HistEvent event;
	struct strs old = history_read(&p->a, p->history_file);

	setlocale(LC_CTYPE, "");
	p->edit = el_init("tfprof", stdin, stdout, stderr);
	p->history = history_init();
	if (!p->edit || !p->history)
		return;
	history(p->history, &event, H_SETSIZE, HISTORY_MAX);
	history(p->history, &event, H_SETUNIQUE, 1);
	for (size_t i = 0; i < old.n; i++)
		if (old.v[i].n <= KEYS_LINE_MAX)
			history(p->history, &event, H_ENTER, str_z(&p->a, old.v[i]));
	el_set(p->edit, EL_CLIENTDATA, p);
	keys_open(p->edit);
	el_set(p->edit, EL_PROMPT, prompt_text);
	el_set(p->edit, EL_EDITOR, "emacs");
	el_set(p->edit, EL_HIST, history, p->history);
	el_set(p->edit, EL_ADDFN, "tfprof-complete", "complete the word", on_tab);
	el_set(p->edit, EL_ADDFN, "tfprof-break", "discard the line", on_break);
	el_set(p->edit, EL_BIND, "\t", "tfprof-complete", NULL);
	el_set(p->edit, EL_BIND, "^C", "tfprof-break", NULL);
	el_set(p->edit, EL_ADDFN, "tfprof-stop", "stop the program", on_stop);
	el_set(p->edit, EL_BIND, "^Z", "tfprof-stop", NULL);
	el_set(p->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	/* Ctrl-C and Ctrl-Z are ordinary keys while a line is typed. */
	el_set(p->edit, EL_SETTY, "-d", "-isig", NULL);
	el_source(p->edit, NULL);
	keys_forbid(p->edit);
}

static bool read_edited(struct prompt *p, struct str *line)
{
	int n;
	bool too_long;
	const char *text = keys_line(p->edit, strlen(p->shown), &n, &too_long);

	if (too_long) {
		p->given_up = true;
		fputs("\ntfprof: this is too long to be typed; write it into a script\n", stderr);
	}
	if (p->given_up)
		return true;
	if (!text || n <= 0) {
		fputc('\n', stdout);
		fflush(stdout);
		return false;
	}
	*line = str_of(text); /* n includes text after a NUL */
	if (str_ends(*line, S("\n")))
		line->n--;
	return true;
}

/* Adds a line to the history, unless it equals the previous one. */
static void remember(struct prompt *p, struct str line)
{
	HistEvent event;

	if (setjmp(p->work.escape))
		return;
	if (history(p->history, &event, H_FIRST) == 0 && str_eq(str_of(event.str), line))
		return;
	arena_clear(&p->line_arena);
	history(p->history, &event, H_ENTER, str_z(&p->line_arena, line));
	history_add(&p->line_arena, p->history_file, line);
}

/* True if libedit can read the next line; opens libedit for a suitable terminal. */
static bool can_edit(struct prompt *p)
{
	if (!p->smart || !keys_fit())
		return false;
	if (!p->opened) {
		p->opened = true;
		if (setjmp(p->work.escape)) /* memory is exhausted */
			p->smart = false;
		else
			open_edit(p);
	}
	return p->smart && p->edit && p->history;
}

#endif

/* ---- common ---- */

/* Fills in the prompt. Returns false if memory is exhausted. */
static bool fill(struct prompt *p, struct session *s)
{
	p->session = s;
	strcpy(p->shown, "tfprof> ");
	p->work.account = s->work.account;
	arena_init(&p->a, &p->work);
	arena_init(&p->line_arena, &p->work);
	if (setjmp(p->work.escape))
		return false;
	p->history_file = history_path(&p->a);
	struct term look = term_look(TERM_AUTO);
	p->utf8 = look.utf8;
	p->smart = look.smart && HAVE_LIBEDIT;
	return true;
}

struct prompt *prompt_open(struct session *s)
{
	struct prompt *p = calloc(1, sizeof *p);

	if (p && fill(p, s))
		return p;
	if (p)
		prompt_close(p);
	return NULL;
}

void prompt_close(struct prompt *p)
{
#if HAVE_LIBEDIT
	if (p->history)
		history_end(p->history);
	if (p->edit)
		el_end(p->edit);
#endif
	arena_free(&p->a);
	arena_free(&p->line_arena);
	free(p->text);
	free(p);
}

/* If the session lacks the memory for the prompt, the old name stays. A name that is not valid in
 * the locale is left out, because libedit would end the program. */
void prompt_use(struct prompt *p, struct session *s, struct str name)
{
	p->session = s;
	if (setjmp(p->work.escape))
		return;
	arena_clear(&p->line_arena);
	struct sb b = sb_in(&p->line_arena);
	size_t n = name.n < PROMPT_NAME ? name.n : PROMPT_NAME;
	while (n && n < name.n && ((uint8_t)name.p[n] & 0xc0) == 0x80) /* keep only whole
	                                                                  characters */
		n--;
	letters_escape(&b, str_sub(name, 0, n), p->utf8);
	snprintf(p->shown, sizeof p->shown, "tfprof%s%.*s> ", name.n ? " " : "", STR(sb_str(&b)));
	if (p->smart && mbstowcs(NULL, p->shown, 0) == (size_t)-1)
		strcpy(p->shown, "tfprof> ");
}

void prompt_continue(struct prompt *p)
{
	strcpy(p->shown, "> ");
}

bool prompt_read(struct prompt *p, struct str *line, bool *discarded)
{
	*discarded = false;
#if HAVE_LIBEDIT
	if (can_edit(p)) {
		p->given_up = false;
		if (!read_edited(p, line))
			return false;
		*discarded = p->given_up;
		if (line->n && !p->given_up)
			remember(p, *line);
		return true;
	}
#endif
	return read_plain(p, line);
}
