/* SPDX-License-Identifier: Apache-2.0
 * Is there ncurses with wide characters? Then the command ui shows the full-screen view.
 */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <stddef.h>

int main(void)
{
	wint_t key;

	return newterm(NULL, NULL, NULL) != NULL && wget_wch(stdscr, &key) == KEY_CODE_YES;
}
