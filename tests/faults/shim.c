/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the program: makes one of its system or memory calls fail.
 *   FAULT=KIND:N:HOW   the N-th call (from 1) of a kind fails; "N+": that one and all after it
 *      KIND  open read write close rename stat alloc map thread other
 *      HOW   a name of an error (EIO, ENOSPC, EINTR, ENOMEM, EACCES), short (half of what was
 *            asked for), or a signal that arrives just before the call (SIGTERM, SIGKILL, ...)
 *   FAULT=full:N       files take N bytes in all, then the disk is full
 *   FAULT_COUNT=FILE   at the end, "KIND CALLS" for each kind, "bytes WRITTEN", "peak KIB"
 * Calls that the C library makes for itself are not seen, nor is standard error touched.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, CLOSE, RENAME, STAT, ALLOC, MAP, THREAD, OTHER, KINDS };

static const char *const kinds[KINDS] = { "open", "read", "write", "close", "rename", "stat",
	"alloc", "map", "thread", "other" };
static const struct {
	const char *name;
	int number;
} errors[] = { { "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EINTR", EINTR }, { "ENOMEM", ENOMEM },
	{ "EACCES", EACCES }, { "EMFILE", EMFILE }, { "ENOENT", ENOENT } },
  signals[] = { { "SIGINT", SIGINT }, { "SIGTERM", SIGTERM }, { "SIGHUP", SIGHUP },
	  { "SIGPIPE", SIGPIPE }, { "SIGKILL", SIGKILL } };

static atomic_ulong calls[KINDS], written;
static int kind = -1, error, number;
static unsigned long nth, room;
static int on, half, all, full;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static void parse(const char *text)
{
	const char *colon = strchr(text, ':');
	char *end;

	if (!strncmp(text, "full:", 5)) {
		full = 1;
		room = strtoul(text + 5, NULL, 10);
		return;
	}
	for (int k = 0; k < KINDS && colon; k++)
		if (strlen(kinds[k]) == (size_t)(colon - text) &&
		        !strncmp(text, kinds[k], (size_t)(colon - text)))
			kind = k;
	if (kind < 0)
		_exit(99);
	nth = strtoul(colon + 1, &end, 10);
	all = *end == '+';
	end += all;
	half = !strcmp(end, ":short");
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (!strcmp(end + 1, errors[i].name))
			error = errors[i].number;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!strcmp(end + 1, signals[i].name))
			number = signals[i].number;
	if (!half && !error && !number)
		_exit(99);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAULT");

	if (text)
		parse(text);
	on = 1;
}

/* Peak memory in KiB; getrusage would include memory from before the exec. */
static unsigned long peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long n = 0;
	char line[256];

	while (f && !n && fgets(line, sizeof line, f))
		if (!strncmp(line, "VmHWM:", 6))
			n = strtoul(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return n;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *f;

	on = 0;
	if (!path || !(f = fopen(path, "w")))
		return;
	for (int k = 0; k < KINDS; k++)
		fprintf(f, "%s %lu\n", kinds[k], calls[k]);
	fprintf(f, "bytes %lu\n", written);
	fprintf(f, "peak %lu\n", peak());
	fclose(f);
}

/* Counts a call. Returns 1 if the call must fail (errno is set), or 2 if half of it is to be done.
 */
static int judge(enum kind k)
{
	unsigned long n;

	if (!on)
		return 0;
	n = atomic_fetch_add(&calls[k], 1) + 1;
	if ((int)k != kind || (all ? n < nth : n != nth))
		return 0;
	if (number) {
		raise(number);
		return 0;
	}
	errno = error;
	return half ? 2 : 1;
}

/* Finds the original function. */
#define NEXT(type, name, ...)                                                                      \
	static type (*next)(__VA_ARGS__);                                                          \
	if (!next)                                                                                 \
	next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define OPENS(name)                                                                                \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list ap;                                                                        \
		NEXT(int, name, const char *, int, ...);                                           \
		va_start(ap, flags);                                                               \
		int mode = va_arg(ap, int);                                                        \
		va_end(ap);                                                                        \
		return judge(OPEN) == 1 ? -1 : next(path, flags, mode);                            \
	}
OPENS(open)
OPENS(open64)

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}
int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

ssize_t read(int fd, void *p, size_t n)
{
	NEXT(ssize_t, read, int, void *, size_t);
	int j = judge(READ);
	return j == 1 ? -1 : next(fd, p, j == 2 && n > 1 ? n / 2 : n);
}
ssize_t __read_chk(int fd, void *p, size_t n, size_t size)
{
	(void)size;
	return read(fd, p, n);
}

#define PREADS(name, checked)                                                                      \
	ssize_t name(int fd, void *p, size_t n, off_t at)                                          \
	{                                                                                          \
		NEXT(ssize_t, name, int, void *, size_t, off_t);                                   \
		int j = judge(READ);                                                               \
		return j == 1 ? -1 : next(fd, p, j == 2 && n > 1 ? n / 2 : n, at);                 \
	}                                                                                          \
	ssize_t checked(int fd, void *p, size_t n, off_t at, size_t size)                          \
	{                                                                                          \
		(void)size;                                                                        \
		return name(fd, p, n, at);                                                         \
	}
PREADS(pread, __pread_chk)
PREADS(pread64, __pread64_chk)

ssize_t write(int fd, const void *p, size_t n)
{
	NEXT(ssize_t, write, int, const void *, size_t);
	int j = judge(WRITE);
	ssize_t done;

	if (j == 1)
		return -1;
	if (on && full && n > room - written) {
		n = room - written;
		if (!n) {
			errno = ENOSPC;
			return -1;
		}
	}
	done = next(fd, p, j == 2 && n > 1 ? n / 2 : n);
	written += done > 0 ? (unsigned long)done : 0;
	return done;
}

int close(int fd)
{
	NEXT(int, close, int);
	int j = judge(CLOSE), error_now = errno, result = next(fd);

	if (j != 1)
		return result;
	errno = error_now;
	return -1;
}

int rename(const char *from, const char *to)
{
	NEXT(int, rename, const char *, const char *);
	return judge(RENAME) == 1 ? -1 : next(from, to);
}

int fstat(int fd, struct stat *st)
{
	NEXT(int, fstat, int, struct stat *);
	return judge(STAT) == 1 ? -1 : next(fd, st);
}
int stat(const char *path, struct stat *st)
{
	NEXT(int, stat, const char *, struct stat *);
	return judge(STAT) == 1 ? -1 : next(path, st);
}

int fchmod(int fd, mode_t mode)
{
	NEXT(int, fchmod, int, mode_t);
	return judge(OTHER) == 1 ? -1 : next(fd, mode);
}
int unlink(const char *path)
{
	NEXT(int, unlink, const char *);
	return judge(OTHER) == 1 ? -1 : next(path);
}
ssize_t readlink(const char *path, char *p, size_t n)
{
	NEXT(ssize_t, readlink, const char *, char *, size_t);
	return judge(OTHER) == 1 ? -1 : next(path, p, n);
}

int access(const char *path, int mode)
{
	NEXT(int, access, const char *, int);
	return judge(OTHER) == 1 ? -1 : next(path, mode);
}
int faccessat(int at, const char *path, int mode, int flags)
{
	NEXT(int, faccessat, int, const char *, int, int);
	return judge(OTHER) == 1 ? -1 : next(at, path, mode, flags);
}
off_t lseek(int fd, off_t to, int from)
{
	NEXT(off_t, lseek, int, off_t, int);
	return judge(OTHER) == 1 ? -1 : next(fd, to, from);
}
int pipe(int ends[2])
{
	NEXT(int, pipe, int *);
	return judge(OTHER) == 1 ? -1 : next(ends);
}
int pthread_create(pthread_t *t, const pthread_attr_t *how, void *(*f)(void *), void *arg)
{
	NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	return judge(THREAD) == 1 ? EAGAIN : next(t, how, f, arg);
}

void *malloc(size_t n)
{
	return judge(ALLOC) == 1 ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
	return judge(ALLOC) == 1 ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
	return judge(ALLOC) == 1 ? NULL : __libc_realloc(p, n);
}

void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
	NEXT(void *, mmap, void *, size_t, int, int, int, off_t);
	return judge(MAP) == 1 ? MAP_FAILED : next(p, n, protection, flags, fd, at);
}
void *mremap(void *p, size_t old, size_t n, int flags, ...)
{
	NEXT(void *, mremap, void *, size_t, size_t, int, ...);
	return judge(MAP) == 1 ? MAP_FAILED : next(p, old, n, flags);
}
