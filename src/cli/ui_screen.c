/* SPDX-License-Identifier: Apache-2.0
 *
 * The terminal of the full-screen view, through ncurses. The signal handlers use only what is safe
 * in them: the bytes that leave and enter the full screen are prepared when it opens.
 */
#define _GNU_SOURCE /* ppoll, wcwidth */
#include "cli/ui.h"

#include "cli/program.h"

#if HAVE_NCURSES
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define SWITCH_MAX 256 /* maximum number of bytes that enter or leave the full screen */
#define ESCAPE_MS  100 /* after this time, an escape character counts as the key Esc */

/* Process-wide: signal handlers take no context, and there is one terminal. */
static struct {
	SCREEN *screen;
	FILE *keys; /* the terminal, if standard input is another file */
	int in;
	struct session *session;
	struct termios shell, full; /* modes of the terminal */
	char enter[SWITCH_MAX], leave[SWITCH_MAX];
	size_t enter_n, leave_n;
	char locale[64];
	bool utf8, color;
	volatile sig_atomic_t open, busy, ended, stale, width_changed;
	sigset_t signals, before;
} ui;

/* ---- signals ---- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };
static const int others[] = { SIGTSTP, SIGCONT, SIGWINCH };
#define N(x) (sizeof(x) / sizeof *(x))
static struct sigaction old[N(ends) + N(crashes) + N(others)];

static void put_bytes(const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, p, n);
		if (done < 0 && errno != EINTR)
			return;
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

/* Restores the terminal for the shell. */
static void leave_now(void)
{
	put_bytes(ui.leave, ui.leave_n);
	tcsetattr(ui.in, TCSANOW, &ui.shell);
}

static void on_end(int number)
{
	if (number != SIGINT || !ui.busy)
		ui.ended = number;
	if (ui.busy)
		atomic_store(&ui.session->cancel, true);
}

/* The handler is reset when it is called, so that the signal then ends the process. */
static void on_crash(int number)
{
	if (ui.open)
		leave_now();
	raise(number);
}

static void on_stop(int number)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, now;
	int error = errno;
	sigset_t one;

	leave_now();
	sigemptyset(&stop.sa_mask);
	sigaction(number, &stop, &now);
	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* the process stops here */
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(number, &now, NULL);
	errno = error;
}

static void on_continue(int number)
{
	int error = errno;

	(void)number;
	tcsetattr(ui.in, TCSANOW, &ui.full);
	put_bytes(ui.enter, ui.enter_n);
	ui.stale = 1;
	errno = error;
}

static void on_resize(int number)
{
	(void)number;
	ui.width_changed = 1;
}

/* Sets the handler of a signal, unless the parent ignores the signal. */
static void catch_one(int number, void (*handler)(int), int flags, struct sigaction *before)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&a.sa_mask);
	sigaction(number, NULL, before);
	if (before->sa_handler != SIG_IGN || number == SIGCONT || number == SIGWINCH)
		sigaction(number, &a, NULL);
}

static void catch_signals(void)
{
	static char stack[1 << 16]; /* stack for the handler of a crash that used up the stack */
	stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
	size_t n = 0;

	sigaltstack(&other, NULL);
	sigemptyset(&ui.signals);
	for (size_t i = 0; i < N(ends); i++) {
		sigaddset(&ui.signals, ends[i]);
		catch_one(ends[i], on_end, 0, &old[n++]);
	}
	for (size_t i = 0; i < N(crashes); i++)
		catch_one(crashes[i], on_crash, (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK),
		        &old[n++]);
	catch_one(SIGTSTP, on_stop, 0, &old[n++]);
	catch_one(SIGCONT, on_continue, 0, &old[n++]);
	catch_one(SIGWINCH, on_resize, 0, &old[n++]);
	for (size_t i = 0; i < N(others); i++)
		sigaddset(&ui.signals, others[i]);
}

static void release_signals(void)
{
	size_t n = 0;

	for (size_t i = 0; i < N(ends); i++)
		sigaction(ends[i], &old[n++], NULL);
	for (size_t i = 0; i < N(crashes); i++)
		sigaction(crashes[i], &old[n++], NULL);
	for (size_t i = 0; i < N(others); i++)
		sigaction(others[i], &old[n++], NULL);
}

void ui_screen_busy(bool busy)
{
	ui.busy = busy;
	if (!busy)
		atomic_store(&ui.session->cancel, ui.ended != 0);
}

/* ---- opening ---- */

/* Appends a capability of the terminal without its delays. */
static void add_capability(char *to, size_t *n, const char *name)
{
	const char *p = tigetstr(name);

	if (!p || p == (const char *)-1)
		return;
	for (; *p && *n < SWITCH_MAX; p++) {
		if (p[0] == '$' && p[1] == '<')
			while (*p && *p != '>')
				p++;
		else
			to[(*n)++] = *p;
		if (!*p)
			return;
	}
}

static void prepare_switches(void)
{
	static const char *const leave[] = { "sgr0", "op", "cnorm", "rmkx", "rmcup" };
	static const char *const enter[] = { "smcup", "smkx", "civis" };

	ui.enter_n = ui.leave_n = 0;
	for (size_t i = 0; i < N(leave); i++)
		add_capability(ui.leave, &ui.leave_n, leave[i]);
	for (size_t i = 0; i < N(enter); i++)
		add_capability(ui.enter, &ui.enter_n, enter[i]);
}

bool ui_screen_possible(struct err *e)
{
	struct term t = term_look(TERM_AUTO);
	const char *name = getenv("TERM");

	if (!t.tty)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "ui needs a terminal, and standard output is none: 'summary' prints the "
		        "most "
		        "important numbers, 'report' writes a page for a browser");
	if (!t.smart)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "ui needs a terminal that can move its cursor, and TERM is %s: 'summary' "
		        "prints "
		        "the most important numbers",
		        name && *name ? name : "not set");
	return true;
}

/* Opens the file from which keys are read: the terminal, even if standard input is a profile. */
static bool open_keys(struct err *e)
{
	ui.keys = NULL;
	ui.in = STDIN_FILENO;
	if (isatty(STDIN_FILENO))
		return true;
	ui.keys = fopen("/dev/tty", "re");
	if (!ui.keys)
		return err_set(e, ERR_FAILED,
		        "ui needs a terminal for its keys: standard input is none, and /dev/tty "
		        "cannot be opened");
	ui.in = fileno(ui.keys);
	return true;
}

static void close_keys(void)
{
	if (ui.keys)
		fclose(ui.keys);
	ui.keys = NULL;
}

static void prepare_colors(enum term_color color)
{
	ui.color = term_look(color).color && has_colors();
	if (!ui.color)
		return;
	start_color();
	use_default_colors();
	init_pair(UI_WARM, COLOR_YELLOW, -1);
	init_pair(UI_HOT, COLOR_RED, -1);
}

bool ui_screen_open(struct session *s, enum term_color color, struct err *e)
{
	const char *locale = setlocale(LC_CTYPE, NULL), *name = getenv("TERM");

	if (!ui_screen_possible(e) || !open_keys(e))
		return false;
	snprintf(ui.locale, sizeof ui.locale, "%s", locale ? locale : "C");
	setlocale(LC_CTYPE, "");
	tcgetattr(ui.in, &ui.shell);
	set_escdelay(ESCAPE_MS);
	ui.session = s;
	ui.busy = ui.ended = ui.stale = ui.width_changed = 0;
	catch_signals(); /* ncurses then does not catch these signals */
	ui.screen = newterm(NULL, stdout, ui.keys ? ui.keys : stdin);
	if (!ui.screen) {
		release_signals();
		setlocale(LC_CTYPE, ui.locale);
		close_keys();
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "ui: the terminal '%s' is not in the terminfo database (TERM)", name);
	}
	ui.utf8 = term_look(TERM_AUTO).utf8;
	prepare_switches();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	prepare_colors(color);
	tcgetattr(ui.in, &ui.full);
	ui.open = 1;
	return true;
}

void ui_screen_close(void)
{
	if (!ui.open)
		return;
	ui.open = 0;
	endwin();
	delscreen(ui.screen);
	release_signals();
	setlocale(LC_CTYPE, ui.locale);
	close_keys();
	if (ui.ended)
		signals_end_by(ui.ended);
}

/* ---- output ---- */

void ui_screen_size(unsigned *rows, unsigned *columns)
{
	*rows = (unsigned)getmaxy(stdscr);
	*columns = (unsigned)getmaxx(stdscr);
}

void ui_screen_clear(void)
{
	werase(stdscr);
}

static void set_style(enum ui_style style)
{
	static const attr_t how[] = { [UI_PLAIN] = A_NORMAL,
		[UI_DIM] = A_DIM,
		[UI_BOLD] = A_BOLD,
		[UI_WARM] = A_NORMAL,
		[UI_HOT] = A_BOLD,
		[UI_BAR] = A_REVERSE,
		[UI_CURSOR] = A_REVERSE };
	bool colored = ui.color && (style == UI_WARM || style == UI_HOT);

	wattr_set(stdscr, how[style], colored ? (short)style : 0, NULL);
}

/* Converts the character of n bytes; a character that the locale cannot show becomes '?'. */
static wchar_t wide(struct str text, size_t n)
{
	wchar_t c = (unsigned char)text.p[0];
	mbstate_t state = { 0 };

	if (c < 0x80)
		return c == '\t' ? ' ' : c;
	if (mbrtowc(&c, text.p, n, &state) != n || wcwidth(c) < 0)
		return L'?';
	return c;
}

void ui_screen_put(unsigned y, unsigned x, struct str text, enum ui_style style)
{
	unsigned columns = (unsigned)getmaxx(stdscr);
	wchar_t line[1024];
	int n = 0;

	set_style(style);
	wmove(stdscr, (int)y, (int)x);
	for (size_t i = 0; i < text.n && n < 1000;) {
		size_t width, bytes = letters_next(text, i, ui.utf8, &width);
		if (x + width > columns)
			break;
		if (bytes)
			line[n++] = wide(str_sub(text, i, bytes), bytes);
		else
			n += swprintf(line + n, 5, L"\\x%02x", (unsigned char)text.p[i]);
		x += (unsigned)width;
		i += bytes ? bytes : 1;
	}
	waddnwstr(stdscr, line, n);
}

void ui_screen_fill(unsigned y, unsigned x, enum ui_style style)
{
	unsigned columns = (unsigned)getmaxx(stdscr);

	set_style(style);
	for (; x < columns; x++)
		mvwaddch(stdscr, (int)y, (int)x, ' ');
}

void ui_screen_update(void)
{
	wrefresh(stdscr);
}

/* ---- keys ---- */

static unsigned special(wint_t key)
{
	static const struct {
		wint_t curses;
		unsigned key;
	} keys[] = { { KEY_UP, UI_UP }, { KEY_DOWN, UI_DOWN }, { KEY_LEFT, UI_LEFT },
		{ KEY_RIGHT, UI_RIGHT }, { KEY_PPAGE, UI_PAGE_UP }, { KEY_NPAGE, UI_PAGE_DOWN },
		{ KEY_HOME, UI_HOME }, { KEY_END, UI_END }, { KEY_BACKSPACE, UI_BACK },
		{ KEY_BTAB, UI_BACKTAB }, { KEY_ENTER, '\n' }, { KEY_RESIZE, UI_REDRAW } };

	for (size_t i = 0; i < N(keys); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	return 0;
}

/* Processes the signals that arrived. Returns true if the screen must be redrawn. */
static bool catch_up(void)
{
	unsigned rows, columns;
	bool any = ui.stale || ui.width_changed;

	if (!any)
		return false;
	ui.stale = ui.width_changed = 0;
	term_size(STDOUT_FILENO, &rows, &columns);
	if (rows && columns)
		resizeterm((int)rows, (int)columns);
	wclear(stdscr); /* the next update writes every character */
	return true;
}

/* Waits for bytes or a signal. Returns false if the terminal is gone. */
static bool wait_for_key(void)
{
	struct pollfd in = { .fd = ui.in, .events = POLLIN };
	int n = 0;

	sigprocmask(SIG_BLOCK, &ui.signals, &ui.before);
	if (!ui.ended && !ui.stale && !ui.width_changed)
		n = ppoll(&in, 1, NULL, &ui.before);
	int unread = 0;
	bool gone = n > 0 &&
	            (!(in.revents & POLLIN) || (ioctl(ui.in, FIONREAD, &unread) == 0 && !unread));
	sigprocmask(SIG_SETMASK, &ui.before, NULL);
	return !gone;
}

unsigned ui_screen_key(void)
{
	wint_t c;

	for (;;) {
		if (ui.ended)
			return UI_QUIT;
		if (catch_up())
			return UI_REDRAW;
		int got = wget_wch(stdscr, &c);
		if (got == ERR) {
			if (!wait_for_key())
				return UI_QUIT;
			continue;
		}
		if (got == KEY_CODE_YES) {
			unsigned key = special(c);
			if (key)
				return key;
			continue;
		}
		return c == '\r' ? '\n' : c == 127 || c == 8 ? UI_BACK : (unsigned)c;
	}
}
#else
bool ui_screen_possible(struct err *e)
{
	return err_set(e, ERR_UNIMPLEMENTED,
	        "ui is not in this build: it needs ncurses (Debian: libncurses-dev)");
}

bool ui_screen_open(struct session *s, enum term_color color, struct err *e)
{
	(void)s;
	(void)color;
	return ui_screen_possible(e);
}

void ui_screen_close(void) {}

void ui_screen_size(unsigned *rows, unsigned *columns)
{
	*rows = *columns = 0;
}

void ui_screen_clear(void) {}

void ui_screen_put(unsigned y, unsigned x, struct str text, enum ui_style style)
{
	(void)y;
	(void)x;
	(void)text;
	(void)style;
}

void ui_screen_fill(unsigned y, unsigned x, enum ui_style style)
{
	(void)y;
	(void)x;
	(void)style;
}

void ui_screen_update(void) {}

unsigned ui_screen_key(void)
{
	return UI_QUIT;
}

void ui_screen_busy(bool busy)
{
	(void)busy;
}
#endif
