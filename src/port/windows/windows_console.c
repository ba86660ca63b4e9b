/* SPDX-License-Identifier: Apache-2.0
 *
 * The console: its size, UTF-8, control sequences, and typed lines.
 */
#include "port/windows/windows_internal.h"

#define TYPED_MAX 8192 /* units of a typed line; the console takes no longer ones */
#define CTRL_Z    0x1a

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

/* Reads a typed line as UTF-8, with '\n' after it. The C library would read bytes of an old code
 * page. Ctrl-Z at the start of the line ends the input. */
static ssize_t typed_line(HANDLE console, char **line, size_t *cap)
{
	wchar_t typed[TYPED_MAX];
	DWORD n = 0;

	do { /* Ctrl-C calls its handler, and ends the reading */
		SetLastError(NO_ERROR);
		if (!ReadConsoleW(console, typed, TYPED_MAX, &n, NULL))
			return port_fail();
	} while (!n && GetLastError() == ERROR_OPERATION_ABORTED);
	if (!n || typed[0] == CTRL_Z)
		return -1;
	if (n > 1 && typed[n - 2] == L'\r')
		typed[--n - 1] = L'\n';
	if (*cap < 3 * (size_t)n + 1) { /* bytes of UTF-8 for each unit */
		char *p = realloc(*line, 3 * (size_t)n + 1);
		if (!p)
			return -1;
		*line = p;
		*cap = 3 * (size_t)n + 1;
	}
	n = (DWORD)WideCharToMultiByte(CP_UTF8, 0, typed, (int)n, *line, (int)*cap - 1, NULL, NULL);
	(*line)[n] = 0;
	return (ssize_t)n;
}

ssize_t port_getline(char **line, size_t *cap, FILE *f)
{
	size_t n = 0;

	if (port_isatty(_fileno(f)))
		return typed_line(port_handle(_fileno(f)), line, cap);
	for (int c; (c = getc(f)) != EOF;) {
		if (n + 2 > *cap) {
			size_t more = *cap ? 2 * *cap : 128;
			char *p = realloc(*line, more);
			if (!p)
				return -1;
			*line = p;
			*cap = more;
		}
		(*line)[n++] = (char)c;
		if (c == '\n')
			break;
	}
	if (!n)
		return -1;
	(*line)[n] = 0;
	return (ssize_t)n;
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
