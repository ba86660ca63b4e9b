/* SPDX-License-Identifier: Apache-2.0
 *
 * Size, colours and encoding of the terminal.
 */
#include "lib/term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool set(const char *name)
{
	const char *v = getenv(name);

	return v && *v;
}

void term_size(int fd, unsigned *rows, unsigned *columns)
{
	struct winsize w;

	*rows = *columns = 0;
	if (ioctl(fd, TIOCGWINSZ, &w) == 0) {
		*rows = w.ws_row;
		*columns = w.ws_col;
	}
}

static bool is_smart(void)
{
	const char *name = getenv("TERM");

	return name && *name && strcmp(name, "dumb") != 0;
}

bool term_is_utf8(void)
{
	locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool yes;

	if (!l)
		return false;
	yes = strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;
	freelocale(l);
	return yes;
}

struct term term_look(enum term_color color)
{
	struct term t = { .tty = isatty(STDOUT_FILENO) };
	const char *force = getenv("CLICOLOR_FORCE");

	t.smart = t.tty && is_smart();
	t.color = t.smart && !set("NO_COLOR");
	if (force && *force && strcmp(force, "0") != 0 && !set("NO_COLOR"))
		t.color = true;
	if (color != TERM_AUTO)
		t.color = color == TERM_ALWAYS;
	if (t.tty || t.color) {
		t.utf8 = term_is_utf8();
		term_size(STDOUT_FILENO, &t.rows, &t.columns);
	}
	return t;
}
