/* SPDX-License-Identifier: Apache-2.0
 *
 * The console: its size, UTF-8, and control sequences.
 */
#include "port/windows/windows_internal.h"

static UINT page_before;
static DWORD modes_before[2];

static HANDLE stream(int i)
{
	return GetStdHandle(i ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE);
}

/* The console outlives the program: gets its settings back. */
static void restore(void)
{
	if (page_before)
		SetConsoleOutputCP(page_before);
	for (int i = 0; i < 2; i++)
		if (modes_before[i])
			SetConsoleMode(stream(i), modes_before[i]);
}

/* Makes the console of the program show UTF-8 and colours, and the standard streams pass bytes
 * unchanged. */
void port_console_open(void)
{
	DWORD mode;

	for (int fd = 0; fd <= 2; fd++)
		_setmode(fd, _O_BINARY);
	for (int i = 0; i < 2; i++) {
		if (!GetConsoleMode(stream(i), &mode))
			continue;
		if (!page_before) {
			page_before = GetConsoleOutputCP();
			SetConsoleOutputCP(CP_UTF8);
			atexit(restore);
		}
		modes_before[i] = mode;
		SetConsoleMode(stream(i),
		        mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
	}
}

int port_isatty(int fd)
{
	HANDLE h = port_handle(fd);
	DWORD mode;

	return h != INVALID_HANDLE_VALUE && GetConsoleMode(h, &mode);
}

int ioctl(int fd, unsigned long request, struct winsize *w)
{
	CONSOLE_SCREEN_BUFFER_INFO x;
	HANDLE h = port_handle(fd);

	(void)request;
	if (h == INVALID_HANDLE_VALUE || !GetConsoleScreenBufferInfo(h, &x))
		return -1;
	w->ws_row = (unsigned short)(x.srWindow.Bottom - x.srWindow.Top + 1);
	w->ws_col = (unsigned short)(x.srWindow.Right - x.srWindow.Left + 1);
	return 0;
}
