/* SPDX-License-Identifier: Apache-2.0
 *
 * Text: UTF-8 and UTF-16, errors, formats with numbered arguments, locales, the environment.
 */
#include "port/windows/windows_internal.h"

#include <wchar.h>

/* ---- errors ---- */

static const struct {
	DWORD system;
	int number;
} errors[] = { { ERROR_FILE_NOT_FOUND, ENOENT }, { ERROR_PATH_NOT_FOUND, ENOENT },
	{ ERROR_INVALID_NAME, ENOENT }, { ERROR_BAD_PATHNAME, ENOENT },
	{ ERROR_BAD_NETPATH, ENOENT }, { ERROR_BAD_NET_NAME, ENOENT },
	{ ERROR_INVALID_DRIVE, ENOENT }, { ERROR_TOO_MANY_OPEN_FILES, EMFILE },
	{ ERROR_ACCESS_DENIED, EACCES }, { ERROR_SHARING_VIOLATION, EACCES },
	{ ERROR_LOCK_VIOLATION, EACCES }, { ERROR_WRITE_PROTECT, EROFS },
	{ ERROR_INVALID_HANDLE, EBADF }, { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
	{ ERROR_OUTOFMEMORY, ENOMEM }, { ERROR_COMMITMENT_LIMIT, ENOMEM },
	{ ERROR_FILE_EXISTS, EEXIST }, { ERROR_ALREADY_EXISTS, EEXIST },
	{ ERROR_BROKEN_PIPE, EPIPE }, { ERROR_NO_DATA, EPIPE }, { ERROR_PIPE_NOT_CONNECTED, EPIPE },
	{ ERROR_DISK_FULL, ENOSPC }, { ERROR_HANDLE_DISK_FULL, ENOSPC },
	{ ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG }, { ERROR_BUFFER_OVERFLOW, ENAMETOOLONG },
	{ ERROR_DIRECTORY, ENOTDIR }, { ERROR_CANT_RESOLVE_FILENAME, ELOOP },
	{ ERROR_OPERATION_ABORTED, EINTR }, { ERROR_BAD_EXE_FORMAT, ENOEXEC },
	{ ERROR_NO_UNICODE_TRANSLATION, EILSEQ }, { ERROR_INVALID_PARAMETER, EINVAL } };

int port_fail(void)
{
	DWORD last = GetLastError();

	errno = EIO;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].system == last)
			errno = errors[i].number;
	return -1;
}

/* The sentences of other systems where those of the C library differ. */
static const struct {
	int number;
	const char *text;
} sentences[] = { { EPERM, "Operation not permitted" }, { ENOENT, "No such file or directory" },
	{ EINTR, "Interrupted system call" }, { EIO, "Input/output error" },
	{ ENXIO, "No such device or address" }, { EBADF, "Bad file descriptor" },
	{ ENOMEM, "Cannot allocate memory" }, { EACCES, "Permission denied" },
	{ EEXIST, "File exists" }, { ENOTDIR, "Not a directory" }, { EISDIR, "Is a directory" },
	{ EINVAL, "Invalid argument" }, { EMFILE, "Too many open files" },
	{ EFBIG, "File too large" }, { ENOSPC, "No space left on device" },
	{ EROFS, "Read-only file system" }, { EPIPE, "Broken pipe" },
	{ ENAMETOOLONG, "File name too long" }, { ELOOP, "Too many levels of symbolic links" },
	{ ECANCELED, "Operation canceled" }, { ENOEXEC, "Exec format error" } };

#undef strerror
char *port_strerror(int number)
{
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
		if (sentences[i].number == number)
			return (char *)(uintptr_t)sentences[i].text;
	return strerror(number);
}

int port_strerror_r(int number, char *to, size_t n)
{
	const char *text = port_strerror(number);

	if (!n)
		return ERANGE;
	strncpy(to, text, n - 1);
	to[n - 1] = 0;
	return 0;
}

/* ---- UTF-8 and UTF-16 ---- */

wchar_t *port_wide(const char *text)
{
	int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
	wchar_t *to = n > 0 ? malloc((size_t)n * sizeof *to) : NULL;

	if (n <= 0) {
		port_fail();
		return NULL;
	}
	if (!to) {
		errno = ENOMEM;
		return NULL;
	}
	MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, to, n);
	return to;
}

char *port_narrow(const wchar_t *text)
{
	int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *to = n > 0 ? malloc((size_t)n) : NULL;

	if (!to) {
		errno = n > 0 ? ENOMEM : EILSEQ;
		return NULL;
	}
	WideCharToMultiByte(CP_UTF8, 0, text, -1, to, n, NULL, NULL);
	return to;
}

/* Returns the absolute form of a long path, which functions of the system take without a limit:
 * "\\?\C:\..." or, for a share, "\\?\UNC\server\...". */
static wchar_t *without_limit(wchar_t *path)
{
	const bool share = wcsncmp(path, L"\\\\", 2) == 0;
	const wchar_t *mark = share ? L"\\\\?\\UNC" : L"\\\\?\\";
	size_t marked = wcslen(mark);
	DWORD n = GetFullPathNameW(path, 0, NULL, NULL);
	wchar_t *to = n ? malloc((n + marked) * sizeof *to) : NULL;

	if (!to || wcsncmp(path, L"\\\\?\\", 4) == 0 || wcsncmp(path, L"\\\\.\\", 4) == 0) {
		free(to);
		return path;
	}
	/* The mark of a share replaces the first '\'. */
	GetFullPathNameW(path, n, to + marked - share, NULL);
	memcpy(to, mark, marked * sizeof *to);
	free(path);
	return to;
}

wchar_t *port_wide_path(const char *path)
{
	wchar_t *to = port_wide(strcmp(path, "/dev/null") == 0 ? "NUL" : path);

	if (to && (!*to || wcsncmp(to, L"/proc/", 6) == 0)) { /* only Linux has that folder */
		free(to);
		errno = ENOENT;
		return NULL;
	}
	for (wchar_t *p = to; to && *p; p++)
		if (*p == L'/')
			*p = L'\\';
	return to && wcslen(to) >= MAX_PATH - 12 ? without_limit(to)
	                                         : to; /* a folder has room for a file */
}

/* ---- formats ---- */

/* Numbered arguments are collected in order first; each conversion is then formatted by itself. */
#define ARGUMENTS_MAX 16

enum kind { KIND_NONE, KIND_INT, KIND_LONG, KIND_LLONG, KIND_DOUBLE, KIND_POINTER };

union value {
	int i;
	long l;
	long long ll;
	double d;
	const void *p;
};

struct conversion {
	const char *flags, *length, *end; /* the flags and width, the length, after the letter */
	unsigned number, precision; /* number of the argument and of that after '*'; 0: none */
	enum kind kind;
};

static unsigned take_number(const char **p)
{
	unsigned n = 0;

	while (**p >= '0' && **p <= '9')
		n = n * 10 + (unsigned)(*(*p)++ - '0');
	return n;
}

static enum kind kind_of(const char *length, char letter)
{
	if (strchr("eEfFgGaA", letter))
		return KIND_DOUBLE;
	if (strchr("sp", letter))
		return KIND_POINTER;
	if (*length == 'z' || *length == 'j' || *length == 't' || strncmp(length, "ll", 2) == 0)
		return KIND_LLONG;
	return *length == 'l' && letter != 'c' ? KIND_LONG : KIND_INT;
}

/* Parses a conversion after its '%'. False: it does not have the form "N$". */
static bool parse(const char *p, struct conversion *c)
{
	*c = (struct conversion){ .number = take_number(&p) };
	if (!c->number || *p++ != '$')
		return false;
	c->flags = p;
	p += strspn(p, "-+ #0123456789");
	if (p[0] == '.' && p[1] == '*') {
		p += 2;
		c->precision = take_number(&p);
		p += *p == '$';
	} else if (*p == '.') {
		p += 1 + strspn(p + 1, "0123456789");
	}
	c->length = p;
	p += strspn(p, "hlzjt");
	c->kind = kind_of(c->length, *p);
	c->end = p + (*p != 0);
	return c->number <= ARGUMENTS_MAX && c->precision <= ARGUMENTS_MAX;
}

static void collect(const char *format, union value v[], va_list ap)
{
	enum kind kinds[ARGUMENTS_MAX] = { KIND_NONE };
	struct conversion c;

	for (const char *p = format; *p; p++) {
		if (*p != '%')
			continue;
		if (p[1] == '%') {
			p++;
		} else if (parse(p + 1, &c)) {
			kinds[c.number - 1] = c.kind;
			if (c.precision)
				kinds[c.precision - 1] = KIND_INT;
		}
	}
	for (size_t i = 0; i < ARGUMENTS_MAX && kinds[i]; i++)
		switch (kinds[i]) {
		case KIND_LONG: v[i].l = va_arg(ap, long); break;
		case KIND_LLONG: v[i].ll = va_arg(ap, long long); break;
		case KIND_DOUBLE: v[i].d = va_arg(ap, double); break;
		case KIND_POINTER: v[i].p = va_arg(ap, const void *); break;
		default: v[i].i = va_arg(ap, int); break;
		}
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"

/* Formats one value; the result is as that of snprintf. */
static int put_value(char *to, size_t n, const struct conversion *c, const union value v[])
{
	const union value *x = &v[c->number - 1];
	int precision = c->precision ? v[c->precision - 1].i : -1;
	char one[64];

	if (c->end - c->flags > (ptrdiff_t)sizeof one - 4)
		return -1;
	__mingw_snprintf(one, sizeof one, "%%%.*s%s%.*s",
	        (int)strcspn(c->flags, "*hlzjtdiouxXcspeEfFgGaA"), c->flags,
	        c->precision ? "*" : "", (int)(c->end - c->length), c->length);
	switch (c->kind) {
	case KIND_LONG: return __mingw_snprintf(to, n, one, x->l);
	case KIND_LLONG: return __mingw_snprintf(to, n, one, x->ll);
	case KIND_DOUBLE: return __mingw_snprintf(to, n, one, x->d);
	case KIND_POINTER:
		return c->precision ? __mingw_snprintf(to, n, one, precision, x->p)
		                    : __mingw_snprintf(to, n, one, x->p);
	default: return __mingw_snprintf(to, n, one, x->i);
	}
}

static int format_numbered(char *to, size_t n, const char *format, va_list ap)
{
	union value v[ARGUMENTS_MAX] = { { 0 } };
	struct conversion c;
	size_t used = 0;

	collect(format, v, ap);
	for (const char *p = format; *p;) {
		size_t room = used < n ? n - used : 0;
		if (*p == '%' && p[1] != '%' && parse(p + 1, &c)) {
			int length = put_value(room ? to + used : NULL, room, &c, v);
			if (length < 0)
				return -1;
			used += (size_t)length;
			p = c.end;
			continue;
		}
		p += *p == '%';
		if (room > 1)
			to[used] = *p;
		used++;
		p += *p != 0;
	}
	if (n)
		to[used < n ? used : n - 1] = 0;
	return (int)used;
}

int port_vsnprintf(char *to, size_t n, const char *format, va_list ap)
{
	const char *first = format;
	struct conversion c;

	while ((first = strchr(first, '%')) && first[1] == '%')
		first += 2;
	return first && parse(first + 1, &c) ? format_numbered(to, n, format, ap)
	                                     : __mingw_vsnprintf(to, n, format, ap);
}

#pragma clang diagnostic pop

int port_snprintf(char *to, size_t n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int length = port_vsnprintf(to, n, format, ap);
	va_end(ap);
	return length;
}

/* ---- locales ---- */

static const char *const c_locale = "C";

locale_t newlocale(int mask, const char *name, locale_t base)
{
	(void)mask;
	(void)name;
	(void)base;
	return c_locale;
}

/* Sets the numbers of the thread's locale; those of other threads stay. Returns the locale before.
 */
locale_t uselocale(locale_t to)
{
	static __thread char before[128];
	const char *now = setlocale(LC_NUMERIC, NULL);

	if (!to || !now || strcmp(to, now) == 0)
		return now && strcmp(now, c_locale) != 0 ? before : c_locale;
	if (to == c_locale)
		strncpy(before, now, sizeof before - 1);
	_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
	setlocale(LC_NUMERIC, to);
	return to == c_locale ? before : c_locale;
}

void freelocale(locale_t l)
{
	(void)l;
}

char *nl_langinfo_l(int item, locale_t l)
{
	static char utf8[] = "UTF-8";

	(void)item;
	(void)l;
	return utf8;
}

/* ---- the environment ---- */

/* Returns the value as UTF-8. It stays valid: the few variables that are read are never freed. A
 * console that understands control sequences counts as a terminal with a name. */
char *port_getenv(const char *name)
{
	static char terminal[] = "xterm-256color";
	wchar_t *wide = port_wide(name);
	const wchar_t *value = wide ? _wgetenv(wide) : NULL;
	char *text = value ? port_narrow(value) : NULL;

	free(wide);
	if (text || strcmp(name, "TERM") != 0)
		return text;
	DWORD mode;
	HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
	return GetConsoleMode(out, &mode) && (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) ? terminal
	                                                                                 : NULL;
}

struct tm *port_localtime_r(const time_t *t, struct tm *tm)
{
	return localtime_s(tm, t) ? NULL : tm;
}

/* ---- bytes and characters ---- */

void *memmem(const void *p, size_t n, const void *what, size_t size)
{
	const char *from = p, *at, *end = from + n;

	if (!size)
		return (void *)(uintptr_t)p;
	while ((size_t)(end - from) >= size && (at = memchr(from, *(const unsigned char *)what,
	                                                (size_t)(end - from) - size + 1))) {
		if (memcmp(at, what, size) == 0)
			return (void *)(uintptr_t)at;
		from = at + 1;
	}
	return NULL;
}

void *memrchr(const void *p, int c, size_t n)
{
	const unsigned char *from = p;

	while (n)
		if (from[--n] == (unsigned char)c)
			return (void *)(uintptr_t)(from + n);
	return NULL;
}

char *port_strndup(const char *p, size_t n)
{
	size_t length = strnlen(p, n);
	char *to = malloc(length + 1);

	if (!to)
		return NULL;
	memcpy(to, p, length);
	to[length] = 0;
	return to;
}

/* Blocks of characters that take no column or two; all others take one. */
static const struct {
	int32_t first, last;
	int columns;
} blocks[] = { { 0x300, 0x36f, 0 }, { 0x483, 0x489, 0 }, { 0x591, 0x5bd, 0 }, { 0x64b, 0x65f, 0 },
	{ 0x1100, 0x115f, 2 }, { 0x200b, 0x200f, 0 }, { 0x20d0, 0x20ff, 0 }, { 0x2e80, 0x303e, 2 },
	{ 0x3041, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 },
	{ 0xfe20, 0xfe2f, 0 }, { 0xfe30, 0xfe6f, 2 }, { 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
	{ 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
	{ 0x20000, 0x3fffd, 2 } };

int port_wcwidth(int32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return c ? -1 : 0;
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		if (c >= blocks[i].first && c <= blocks[i].last)
			return blocks[i].columns;
	return 1;
}
