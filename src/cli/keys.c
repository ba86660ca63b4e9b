/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the keys of the prompt and passes them to libedit.
 */
#define _GNU_SOURCE /* ppoll, wcwidth */

#include "cli/prompt.h"

#if HAVE_LIBEDIT

#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wctype.h>

/* The first of these signals are blocked until a key is read; the others end the program. */
static const int numbers[] = { SIGWINCH, SIGCONT, SIGTSTP, SIGTERM, SIGHUP, SIGQUIT };
#define WAITING 3
#define NUMBERS (sizeof numbers / sizeof *numbers)

#define KEY_CTRL(letter) ((letter)&31)

/* Process-wide state: a process has one terminal. */
static struct {
	sigset_t mask; /* mode while waiting */
	struct sigaction before[NUMBERS];
	struct termios terminal; /* original mode of the terminal */
	bool tty;
	size_t prompt, length, searching; /* searching: number of keys of the current search */
	wchar_t pending;                  /* key that is returned next; 0: none */
	unsigned rows, columns;
	bool too_long;
} now;

static volatile sig_atomic_t stopped, continued;

static void on_signal(int number)
{
	if (number == SIGTSTP)
		stopped = 1;
	else if (number == SIGCONT)
		continued = 1;
}

/* May run at any time, even while the program writes to a stopped terminal. */
static void on_end(int number)
{
	if (now.tty)
		tcsetattr(STDIN_FILENO, TCSANOW, &now.terminal);
	signal(number, SIG_DFL);
	raise(number);
}

bool keys_fit(void)
{
	unsigned rows, columns;

	/* 0: unknown, then libedit uses its default */
	term_size(STDIN_FILENO, &rows, &columns);
	return (!rows || rows >= KEYS_ROWS_MIN) && rows <= KEYS_SIDE_MAX &&
	       (!columns || columns >= KEYS_COLUMNS_MIN) && columns <= KEYS_SIDE_MAX;
}

/* ---- signals ---- */

static void take_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal };
	sigset_t ours;

	now.tty = tcgetattr(STDIN_FILENO, &now.terminal) == 0;
	sigemptyset(&a.sa_mask);
	sigemptyset(&ours);
	for (size_t i = 0; i < NUMBERS; i++) {
		sigaction(numbers[i], NULL, &now.before[i]);
		if (now.before[i].sa_handler == SIG_IGN)
			continue;
		if (i < WAITING)
			sigaddset(&ours, numbers[i]);
		a.sa_handler = i < WAITING ? on_signal : on_end;
		sigaction(numbers[i], &a, NULL);
	}
	sigprocmask(SIG_BLOCK, &ours, &now.mask);
}

static void give_signals_back(void)
{
	for (size_t i = 0; i < NUMBERS; i++)
		sigaction(numbers[i], &now.before[i], NULL);
	sigprocmask(SIG_SETMASK, &now.mask, NULL);
}

void keys_stop(EditLine *e)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, ours;
	sigset_t one;

	sigemptyset(&usual.sa_mask);
	sigemptyset(&one);
	sigaddset(&one, SIGTSTP);
	el_set(e, EL_PREP_TERM, 0);
	sigaction(SIGTSTP, &usual, &ours);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(SIGTSTP);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(SIGTSTP, &ours, NULL);
	el_set(e, EL_PREP_TERM, 1);
}

/* Redraws the line from the left margin. */
static void redraw(EditLine *e)
{
	fputc('\r', stdout);
	el_set(e, EL_REFRESH);
}

static void look_at_size(void)
{
	unsigned rows, columns;

	term_size(STDIN_FILENO, &rows, &columns);
	now.rows = rows ? rows : now.rows;
	now.columns = columns ? columns : now.columns;
}

/* Reads keys that arrived while no line was being read. */
static void catch_up(EditLine *e)
{
	unsigned rows = now.rows, columns = now.columns;

	if (stopped) {
		stopped = 0;
		keys_stop(e);
	}
	if (continued) {
		continued = 0;
		el_set(e, EL_PREP_TERM, 0); /* the mode may be that of the shell */
		el_set(e, EL_PREP_TERM, 1);
		redraw(e);
	}
	if (!keys_fit())
		return;
	look_at_size();
	if (rows != now.rows || columns != now.columns) {
		el_resize(e);
		redraw(e);
	}
}

/* ---- lines ---- */

/* True if the line may reach the last row of the screen: from there on libedit's two row counts
 * differ. Characters without width, tabs and the like count as a whole row. */
static bool fills_screen(const LineInfoW *line)
{
	size_t room = (size_t)(now.rows - 1) * now.columns, taken = now.prompt;

	for (const wchar_t *c = line->buffer; c < line->lastchar && taken < room; c++)
		taken += *c >= ' ' && *c <= '~' ? 1 : wcwidth(*c) > 0 ? 2 : now.columns;
	return taken >= room;
}

static ssize_t read_byte(EditLine *e, char *c)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	for (;;) {
		catch_up(e);
		if (ppoll(&in, 1, NULL, &now.mask) < 0) {
			if (errno != EINTR)
				return -1;
			continue;
		}
		ssize_t n = read(STDIN_FILENO, c, 1);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			return n;
	}
}

/* Discards the rest of a line that is too long. */
static int pass_over(EditLine *e)
{
	char c = 0;

	now.too_long = true;
	while (c != '\n' && c != '\r' && c != KEY_CTRL('c') && c != KEY_CTRL('d') &&
	        read_byte(e, &c) == 1)
		;
	return -1;
}

/* Returns the number of characters of a search, which libedit shows below the line as "bck:text";
 * SIZE_MAX: no search. */
static size_t looked_for(const LineInfoW *line)
{
	const wchar_t *c = line->lastchar;

	while (c > line->buffer && c[-1] != '\n')
		c--;
	if (c == line->buffer || line->lastchar - c < 4 || (c[3] != ':' && c[3] != '?') ||
	        (wmemcmp(c, L"bck", 3) != 0 && wmemcmp(c, L"fwd", 3) != 0))
		return SIZE_MAX;
	return (size_t)(line->lastchar - c) - 4;
}

/* True if the line or the search is too long. libedit recurses for each key of a search. */
static bool too_long(const LineInfoW *line)
{
	size_t letters = looked_for(line);

	now.searching = letters == SIZE_MAX ? 0 : now.searching + 1;
	return (size_t)(line->lastchar - line->buffer) >= KEYS_LINE_MAX ||
	       now.searching > KEYS_SEARCH_MAX || (now.searching && letters > KEYS_SEARCH_MAX);
}

/* Reads the bytes of a character. Drops invalid bytes. */
static int read_letter(EditLine *e, wchar_t *key)
{
	mbstate_t state = { 0 };
	char c;

	for (;;) {
		ssize_t n = read_byte(e, &c);
		if (n <= 0)
			return (int)n;
		bool begun = !mbsinit(&state);
		size_t used = mbrtowc(key, &c, 1, &state);
		if (used == (size_t)-1) {
			state = (mbstate_t){ 0 };
			if (begun) /* the byte may be the first byte of the next character */
				used = mbrtowc(key, &c, 1, &state);
			if (used == (size_t)-1)
				state = (mbstate_t){ 0 };
		}
		if (used <= 1)
			return 1;
	}
}

/* Returns 1 for a character, 0 at the end of the input, -1 if no line can be read. */
static int read_key(EditLine *e, wchar_t *key)
{
	const LineInfoW *line = el_wline(e);
	size_t length = (size_t)(line->lastchar - line->buffer);

	*key = 0;
	if (too_long(line))
		return pass_over(e);
	if (now.pending) {
		*key = now.pending;
		now.pending = 0;
		return 1;
	}
	int rc = read_letter(e, key);
	if (rc <= 0)
		return rc;
	/* libedit would search for Ctrl-C: the search ends first, then the line. */
	if (now.searching && *key == KEY_CTRL('c')) {
		now.pending = *key;
		*key = KEY_CTRL('g');
	}
	/* libedit searches for a word before the line, and inserts it at the end. */
	if (now.searching && *key == KEY_CTRL('w'))
		*key = KEY_CTRL('g');
	/* Only a cursor movement leaves the length unchanged, and only then libedit's two counts of
	 * the line may differ. */
	if (length == now.length && line->cursor == line->lastchar && fills_screen(line))
		redraw(e);
	now.length = length;
	return 1;
}

void keys_open(EditLine *e)
{
	static wchar_t most[KEYS_LINE_MAX + 1];

	now.rows = 24;
	now.columns = 80;
	wmemset(most, L' ', KEYS_LINE_MAX);
	if (el_winsertstr(e, most) == 0) /* the buffer never shrinks */
		el_deletestr(e, KEYS_LINE_MAX);
	el_wset(e, EL_GETCFN, read_key);
}

void keys_forbid(EditLine *e)
{
	el_set(e, EL_BIND, "\\ex", "ed-unassigned", NULL); /* a command of libedit */
	el_set(e, EL_BIND, "-a", ":", "ed-unassigned", NULL);
	if (!iswprint('x' | 0x80)) /* not a character: M-x in one byte */
		el_set(e, EL_BIND, "\\370", "ed-unassigned", NULL);
}

const char *keys_line(EditLine *e, size_t prompt, int *n, bool *too_long)
{
	now.prompt = prompt;
	now.length = SIZE_MAX;
	now.searching = 0;
	now.too_long = false;
	now.pending = 0;
	stopped = continued = 0;
	look_at_size();
	take_signals();
	const char *line = el_gets(e, n);
	give_signals_back();
	*too_long = now.too_long;
	return line;
}

#endif
