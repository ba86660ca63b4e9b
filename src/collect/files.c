/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors with their identity, and I/O errors that the recorded program does not notice.
 */
#define _GNU_SOURCE
#include "collect/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/random.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/launches.h"
#include "collect/system.h"

#define FD_FIRST                                                                                   \
	128 /* lowest number of the collector's descriptors, so that the program's numbers do not  \
	       change */
#define FD_LEAST       3
#define LOG_LINES      64u /* maximum log lines of a process */
#define LINE_BYTES_MAX 512u
#define NAME_ATTEMPTS  8

struct file {
	int fd; /* -1: closed */
	dev_t dev;
	ino_t ino;
};

static struct {
	struct file folder, spool, counts, log,
	        control; /* counts: the recording opened again without append mode */
	bool verbose;
	char spool_name[NAME_MAX + 1];
	uint64_t spool_size;
	char fault[128]; /* reason why the recording was closed */
	unsigned lines;
} files = { .folder.fd = -1, .spool.fd = -1, .counts.fd = -1, .log.fd = -1, .control.fd = -1 };

/* Moves a new descriptor to a high number. Closes the descriptor on failure. */
static bool file_keep(struct file *f, int fd)
{
	struct stat s;

	f->fd = -1;
	if (fd < 0)
		return false;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST);

	if (high < 0 && fd < FD_LEAST)
		high = fcntl(fd, F_DUPFD_CLOEXEC, FD_LEAST);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	if (fd < FD_LEAST || fstat(fd, &s)) {
		close(fd);
		return false;
	}
	*f = (struct file){ fd, s.st_dev, s.st_ino };
	return true;
}

/* True if the descriptor still refers to the same file. */
static bool file_ok(const struct file *f)
{
	struct stat s;

	return f->fd >= 0 && !fstat(f->fd, &s) && s.st_dev == f->dev && s.st_ino == f->ino;
}

static void file_close(struct file *f)
{
	if (file_ok(f))
		close(f->fd);
	f->fd = -1;
}

/* Returns the name of an error. */
static const char *text_of(int error, char *p, size_t n)
{
#ifdef __GLIBC__ /* the GNU version returns the message, the POSIX version an error number */
	return strerror_r(error, p, n);
#else
	return strerror_r(error, p, n) ? "unknown error" : p;
#endif
}

/* Returns the reason why the open folder must not contain a recording; NULL if it may. */
static const char *folder_fault(int fd)
{
	struct stat s;

	if (fstat(fd, &s))
		return "its owner is unknown";
	if (s.st_uid != geteuid())
		return "it belongs to another user";
	return s.st_mode & S_IWOTH ? "everyone may write into it" : NULL;
}

/* Opens a folder that is not a link. Returns -1 with errno set on failure. */
static int open_folder(const char *path)
{
	char plain[PATH_MAX];
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/') /* a trailing slash would follow a link */
		n--;
	if (n >= sizeof plain) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(plain, path, n);
	plain[n] = 0;
	return open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool files_open(const char *folder, bool verbose)
{
	int fd = open_folder(folder);
	char text[80];
	const char *fault = fd < 0 ? text_of(errno, text, sizeof text) : folder_fault(fd);

	files.verbose = verbose;
	files.spool_size = 0;
	files.fault[0] = 0;
	files.lines = 0;
	if (fault && fd >= 0)
		close(fd);
	if (!fault && file_keep(&files.folder, fd))
		return true;
	files_say("nothing is recorded: the session folder '%.200s' cannot be used: %s", folder,
	        fault ? fault : "no file descriptor is left");
	return false;
}

void files_close(void)
{
	file_close(&files.spool);
	file_close(&files.counts);
	file_close(&files.log);
	file_close(&files.control);
	file_close(&files.folder);
}

/* Creates a new private file. */
static bool make(struct file *f, const char *name)
{
	if (!file_ok(&files.folder)) {
		errno = EBADF;
		return false;
	}
	return file_keep(
	        f, openat(files.folder.fd, name,
	                   O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
	                   0600));
}

/* Creates a file with an unused name of the session's form, which ends in `suffix`. */
static bool make_unique(struct file *f, const char *suffix, char *name, size_t size)
{
	char host[COLLECT_HOST_MAX + 1];
	uint32_t random = 0;

	process_host(host, sizeof host);
	for (int i = 0; i < NAME_ATTEMPTS; i++) {
		/* glibc has the function only from 2.25 on. */
		if (syscall(SYS_getrandom, &random, sizeof random, GRND_NONBLOCK) !=
		        (long)sizeof random)
			random = (uint32_t)process_clock() ^ (uint32_t)i << 24;
		int n = snprintf(name, size, COLLECT_SPOOL_FMT, host, (long)getpid(),
		        process_start_ticks(), random);

		if (n < 0 || (size_t)n >= size)
			break;
		memcpy(name + n - strlen(SPOOL_SUFFIX), suffix, strlen(suffix) + 1);
		if (make(f, name))
			return true;
		if (errno != EEXIST)
			break;
	}
	return false;
}

/* ---- log ---------------------------------------------------------------------------------------
 */
/* Writes all bytes, if the limit of file sizes allows for them and `room` more: exceeding the limit
 * would raise a signal. */
static bool put(int fd, uint64_t at, const void *data, size_t n, size_t room)
{
	const char *p = data;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	        at + n + room > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	while (n) {
		ssize_t did = write(fd, p, n);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0) {
			if (!did)
				errno = ENOSPC;
			return false;
		}
		p += did;
		n -= (size_t)did;
	}
	return true;
}

/* Creates the log with its first line. If another process with this pid has left a log, uses the
 * long name. */
static bool log_ready(void)
{
	char name[NAME_MAX + 1];

	if (files.log.fd >= 0)
		return file_ok(&files.log);
	snprintf(name, sizeof name, COLLECT_LOG_FMT, (long)getpid());
	return make(&files.log, name) ||
	       (errno == EEXIST && make_unique(&files.log, ".log", name, sizeof name));
}

void files_say(const char *format, ...)
{
	char line[LINE_BYTES_MAX];
	int saved = errno;
	sigset_t all, old;
	struct stat s;
	va_list args;

	va_start(args, format);
	int n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	if (n < 0 || files.lines++ >= LOG_LINES)
		return;
	size_t length = (size_t)n < sizeof line - 2 ? (size_t)n : sizeof line - 2;

	line[length++] = '\n';
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (log_ready() && !fstat(files.log.fd, &s))
		put(files.log.fd, (uint64_t)s.st_size, line, length, 0);
	if (files.verbose) {
		static const char who[] = "tfprof: ";
		char said[LINE_BYTES_MAX + sizeof who];

		memcpy(said, who, sizeof who - 1);
		memcpy(said + sizeof who - 1, line, length);
		if (write(STDERR_FILENO, said, sizeof who - 1 + length) < 0)
			errno = saved; /* no place is left for reporting */
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
}

/* ---- recording ---------------------------------------------------------------------------------
 */
/* True if a new file may have n bytes and FILES_LAST more. */
static bool has_room(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	        n + FILES_LAST <= limit.rlim_cur)
		return true;
	return false;
}

bool files_spool_make(void)
{
	if (make_unique(&files.spool, SPOOL_SUFFIX, files.spool_name, sizeof files.spool_name)) {
		if (has_room(sizeof(struct spool_count)))
			files.spool_size = launches_make(files.spool.fd);
		return true;
	}
	files_say("nothing is recorded: no file can be created in the session folder: %s",
	        text_of(errno, (char[80]){ 0 }, 80));
	return false;
}

static bool fail(const char *why)
{
	if (!files.fault[0])
		snprintf(files.fault, sizeof files.fault, "%s", why);
	return false;
}

/* Removes an incomplete block, so that the file ends with a whole block. */
static void take_back(void)
{
	if (ftruncate(files.spool.fd, (off_t)files.spool_size))
		return; /* then the file ends with a truncated block */
}

bool files_spool_write(const void *p, size_t n)
{
	if (files.fault[0])
		return false;
	if (!file_ok(&files.spool)) {
		launches_flag(SPOOL_COUNT_SHUT);
		return fail("the program has closed its descriptor");
	}
	if (put(files.spool.fd, files.spool_size, p, n, FILES_LAST)) {
		files.spool_size += n;
		return true;
	}
	fail(text_of(errno, (char[80]){ 0 }, 80));
	take_back();
	return false;
}

bool files_spool_write_last(const void *p, size_t n)
{
	if (!file_ok(&files.spool))
		return false;
	if (put(files.spool.fd, files.spool_size, p, n, 0)) {
		files.spool_size += n;
		return true;
	}
	take_back();
	return false;
}

void files_spool_counts(void)
{
	const struct spool_count *c = launches_news();

	if (!c)
		return;
	if (files.counts.fd < 0 && file_ok(&files.folder))
		file_keep(&files.counts, openat(files.folder.fd, files.spool_name,
		                                 O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
	if (file_ok(&files.counts) && pwrite(files.counts.fd, c, sizeof *c, 0) < 0)
		return; /* the next change tries again */
}

const char *files_spool_fault(void)
{
	return files.fault;
}

uint64_t files_spool_size(void)
{
	return files.spool_size;
}

/* ---- control -----------------------------------------------------------------------------------
 */
size_t files_control_read(char *p, size_t n, uint64_t offset)
{
	ssize_t got = -1;

	/* Checks first, because each failing open would briefly take the lowest descriptor. */
	if (files.control.fd < 0 && file_ok(&files.folder) &&
	        !faccessat(files.folder.fd, SPOOL_CONTROL, F_OK, 0))
		file_keep(&files.control,
		        openat(files.folder.fd, SPOOL_CONTROL,
		                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
	if (file_ok(&files.control))
		got = pread(files.control.fd, p, n, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}
