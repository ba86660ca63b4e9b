/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting, signals, and programs that are started.
 */
#include "port/windows/windows_internal.h"

#undef main
#undef raise

#define SLICE    5  /* milliseconds between two looks at pipes, which cannot be waited for */
#define SIGNALS  32 /* numbers that a set can have */
#define END_CTRL 0xc000013a /* exit status of a program that Ctrl-C ends */

/* ---- poll ---- */

/* Returns the events of a descriptor that have occurred. */
static short ready(const struct pollfd *p)
{
	HANDLE h = port_handle(p->fd);
	DWORD unread = 0, mode;

	if (h == INVALID_HANDLE_VALUE)
		return POLLERR;
	switch (GetFileType(h)) {
	case FILE_TYPE_PIPE:
		if (!(p->events & POLLIN))
			return p->events;
		if (!PeekNamedPipe(h, NULL, 0, NULL, &unread, NULL))
			return POLLIN | POLLHUP;
		return unread ? POLLIN : 0;
	case FILE_TYPE_CHAR:
		if ((p->events & POLLIN) && GetConsoleMode(h, &mode))
			return WaitForSingleObject(h, 0) == WAIT_OBJECT_0 ? POLLIN : 0;
		return p->events;
	default: return p->events;
	}
}

int poll(struct pollfd *p, unsigned long n, int ms)
{
	ULONGLONG from = GetTickCount64();
	int found = 0;

	for (;;) {
		for (unsigned long i = 0; i < n; i++) {
			p[i].revents = ready(&p[i]);
			found += p[i].revents != 0;
		}
		ULONGLONG gone = GetTickCount64() - from;
		if (found || (ms >= 0 && gone >= (ULONGLONG)ms))
			return found;
		DWORD left = ms < 0 ? SLICE : (DWORD)((ULONGLONG)ms - gone);
		Sleep(n && left > SLICE ? SLICE : left);
	}
}

/* ---- signals ---- */

static struct sigaction actions[SIGNALS];

/* Called by the C library, on a thread of its own for keys. It forgets the handler first. */
static void on_signal(int number)
{
	struct sigaction a = actions[number];

	if (a.sa_flags & SA_RESETHAND)
		actions[number].sa_handler = SIG_DFL;
	else
		signal(number, on_signal);
	a.sa_handler(number);
}

int sigaction(int number, const struct sigaction *now, struct sigaction *before)
{
	if (number <= 0 || number >= SIGNALS) {
		errno = EINVAL;
		return -1;
	}
	if (before)
		*before = actions[number];
	if (!now)
		return 0;
	actions[number] = *now;
	if (number == SIGINT || number == SIGTERM || number == SIGBREAK)
		signal(number, now->sa_handler == SIG_DFL || now->sa_handler == SIG_IGN
		                       ? now->sa_handler
		                       : on_signal);
	return 0;
}

/* Ends the program as the signal does without a handler. */
int port_raise(int number)
{
	if (number == SIGINT || number == SIGBREAK)
		ExitProcess(END_CTRL);
	if (number == SIGPIPE)
		ExitProcess(128 + SIGPIPE);
	return raise(number);
}

/* ---- programs ---- */

static char *nothing_new[] = { NULL };
char **port_environ = nothing_new;

struct program_line {
	wchar_t text[WIDE_MAX];
	size_t n;
};

static void put(struct program_line *to, wchar_t c, size_t times)
{
	for (; times && to->n < WIDE_MAX - 1; times--)
		to->text[to->n++] = c;
}

/* Adds a word as the C library of the program will parse it. */
static bool put_word(struct program_line *to, const char *word)
{
	wchar_t *wide = port_wide(word);
	size_t slashes = 0;

	if (!wide)
		return false;
	if (to->n)
		put(to, L' ', 1);
	put(to, L'"', 1);
	for (const wchar_t *p = wide; *p; p++) {
		if (*p == L'"')
			put(to, L'\\', slashes + 1);
		slashes = *p == L'\\' ? slashes + 1 : 0;
		put(to, *p, 1);
	}
	put(to, L'\\', slashes);
	put(to, L'"', 1);
	free(wide);
	return true;
}

/* Sets the first variable of the environment, unless it is set: the child inherits it. */
static void set_new(char *const *environment)
{
	const char *entry = environment ? environment[0] : NULL;
	const char *sign = entry ? strchr(entry, '=') : NULL;
	char *name = sign ? _strdup(entry) : NULL;

	if (!name)
		return;
	name[sign - entry] = 0;
	if (!GetEnvironmentVariableA(name, NULL, 0))
		SetEnvironmentVariableA(name, sign + 1);
	free(name);
}

/* Returns the path of a program, from malloc, or NULL with errno set. Searches only the folders of
 * PATH: the system itself would begin with the current folder, which may belong to anybody. */
static wchar_t *find_program(const char *name)
{
	const bool has_folder = strpbrk(name, "/\\:") != NULL;
	const wchar_t *folders = has_folder ? NULL : _wgetenv(L"PATH");
	wchar_t *wide = port_wide_path(name), *path = malloc(WIDE_MAX * sizeof *path);
	DWORD n = 0;

	if (wide && path && (has_folder || folders))
		n = SearchPathW(folders, wide, L".exe", WIDE_MAX, path, NULL);
	free(wide);
	if (n && n < WIDE_MAX)
		return path;
	free(path);
	errno = ENOENT;
	return NULL;
}

/* Starts a program, which reads from `in`. Returns 0 or an error number. */
static int start_program(const wchar_t *path, wchar_t *line, HANDLE in, HANDLE *started)
{
	STARTUPINFOW start = { .cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES };
	PROCESS_INFORMATION made;
	int error = 0;

	start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
	start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
	if (!DuplicateHandle(GetCurrentProcess(), in, GetCurrentProcess(), &start.hStdInput, 0,
	            TRUE, DUPLICATE_SAME_ACCESS)) {
		port_fail();
		return errno;
	}
	if (CreateProcessW(path, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made)) {
		CloseHandle(made.hThread);
		*started = made.hProcess;
	} else {
		port_fail();
		error = errno;
	}
	CloseHandle(start.hStdInput);
	return error;
}

int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *files,
        const posix_spawnattr_t *how, char *const *argv, char *const *environment)
{
	struct program_line *line = calloc(1, sizeof *line);
	wchar_t *path = line ? find_program(name) : NULL;
	HANDLE in = path ? port_handle(files->in) : INVALID_HANDLE_VALUE, started = NULL;
	int error = !line ? ENOMEM : in == INVALID_HANDLE_VALUE ? errno : 0;

	(void)how;
	for (size_t i = 0; !error && argv[i]; i++)
		if (!put_word(line, argv[i]))
			error = errno;
	if (!error) {
		set_new(environment);
		error = start_program(path, line->text, in, &started);
	}
	free(path);
	free(line);
	*pid = (pid_t)(intptr_t)started;
	return error;
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
	HANDLE h = (HANDLE)(intptr_t)pid;
	DWORD code = 0;

	(void)flags;
	WaitForSingleObject(h, INFINITE);
	GetExitCodeProcess(h, &code);
	CloseHandle(h);
	*status = (int)code;
	return pid;
}

/* ---- the machine ---- */

long sysconf(int name)
{
	SYSTEM_INFO x;
	DWORD_PTR ours, all;
	long n = 0;

	GetSystemInfo(&x);
	if (name == _SC_PAGESIZE)
		return (long)x.dwPageSize;
	if (!GetProcessAffinityMask(GetCurrentProcess(), &ours, &all))
		return (long)x.dwNumberOfProcessors;
	for (; ours; ours &= ours - 1)
		n++;
	return n;
}

int port_gethostname(char *name, size_t n)
{
	wchar_t wide[256];
	DWORD size = sizeof wide / sizeof *wide;

	if (!GetComputerNameExW(ComputerNamePhysicalDnsHostname, wide, &size) ||
	        !WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, (int)n, NULL, NULL))
		return port_fail();
	return 0;
}
