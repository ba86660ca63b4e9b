/* SPDX-License-Identifier: Apache-2.0
 *
 * Sinks to named files. A regular file is written beside its destination and renamed at the end, so
 * readers see the old content or the new one, never a part. Files that cannot be replaced (a
 * device, a pipe, an open descriptor such as /dev/stdout) are written directly.
 */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "io/paths.h"

#define FILE_LINKS_MAX 40  /* maximum number of links followed; Linux has the same limit */
#define FILE_TRIES     100 /* maximum number of names tried for the temporary file */
#define FILE_MARK      ".tfprof-"
#define FILE_STEM_MAX  (NAME_MAX - 24) /* maximum bytes of the final name in the temporary name */

struct out_file {
	struct arena *a;
	struct work *work;
	struct guard guard;
	struct str name;  /* path from the caller */
	const char *path; /* path after following links */
	const char *temp; /* path of the temporary file; NULL: the file is written directly */
	int folder;       /* folder of both; AT_FDCWD: they are paths */
	int fd;
};

/* Closes and removes the unfinished file. Also used as the guard. */
static void file_abandon(void *what)
{
	struct out_file *f = what;

	if (f->fd >= 0)
		close(f->fd);
	if (f->temp)
		unlinkat(f->folder, f->temp, 0);
	f->fd = -1;
	f->temp = NULL;
}

static void file_drop(void *user)
{
	struct out_file *f = user;

	if (f && f->fd >= 0) {
		arena_unguard(f->a, &f->guard);
		file_abandon(f);
	}
}

static bool file_fail(const struct out_file *f, int errnum, struct err *e)
{
	return err_system(e, "cannot write", f->name, errnum);
}

static bool file_put(void *user, const void *p, size_t n, struct err *why)
{
	const struct out_file *f = user;

	return sink_write(f->fd, f->name, p, n, f->work, why);
}

/* Closes and renames. Builds the sentence last, because building it may end the work. */
static bool file_finish(void *user, struct err *why)
{
	struct out_file *f = user;
	int fd = f->fd, errnum = 0;

	arena_unguard(f->a, &f->guard);
	f->fd = -1;
	if (close(fd) < 0 && errno != EINTR)
		errnum = errno;
	else if (f->temp && renameat(f->folder, f->temp, f->folder, f->path) < 0)
		errnum = errno;
	else
		f->temp = NULL;
	file_abandon(f);
	return !errnum || file_fail(f, errnum, why);
}

static const struct sink_ops file_ops = {
	.put = file_put, .finish = file_finish, .drop = file_drop
};

/* Returns the folder of a path with its slash; may be empty. */
static struct str file_folder(struct str path)
{
	size_t slash = str_rfind_char(path, '/');

	return str_sub(path, 0, slash == SIZE_MAX ? 0 : slash + 1);
}

/* Follows the links at the end of f->path. The target need not exist. */
static bool file_follow(struct out_file *f, struct err *e)
{
	char to[PATH_MAX];
	struct str folder;
	ssize_t n;

	for (int i = 0; i < FILE_LINKS_MAX; i++) {
		if (!shared_check(f->path, f->a, e))
			return false;
		n = readlink(f->path, to, sizeof to);
		if (n < 0) /* not a link; otherwise open reports the fault */
			return true;
		if ((size_t)n == sizeof to)
			return file_fail(f, ENAMETOOLONG, e);
		folder = n && to[0] == '/' ? S("") : file_folder(str_of(f->path));
		f->path = str_z(f->a, str_fmt(f->a, "%.*s%.*s", STR(folder), (int)n, to));
	}
	return file_fail(f, ELOOP, e);
}

/* Returns the descriptor that a path such as /dev/stdout names, or -1. */
static int file_descriptor(struct str path)
{
	static const struct str folders[] = { S("/dev/fd/"), S("/proc/self/fd/") };
	int32_t fd;

	if (str_eq(path, S("/dev/stdout")))
		return STDOUT_FILENO;
	if (str_eq(path, S("/dev/stderr")))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (str_starts(path, folders[i]) &&
		        num_parse_i32(str_sub(path, folders[i].n, SIZE_MAX), &fd) && fd >= 0)
			return fd;
	return -1;
}

/* Opens an existing file for writing without replacing it. */
static bool file_open_direct(struct out_file *f, bool pipe, struct err *e)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;

	if (pipe)
		f->fd = wait_reader(f->path, flags, f->work);
	else
		do
			f->fd = open(f->path, flags);
		while (f->fd < 0 && errno == EINTR);
	return f->fd >= 0 || file_fail(f, errno, e);
}

/* Returns six random letters and digits. */
static void file_random(const struct out_file *f, unsigned attempt, char out[6])
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	struct timespec t;
	uint64_t x;

	clock_gettime(CLOCK_MONOTONIC, &t);
	x = (uint64_t)t.tv_nsec + ((uint64_t)t.tv_sec << 30) + ((uint64_t)getpid() << 40);
	x += (uint64_t)(uintptr_t)f + attempt;
	for (int i = 0; i < 6; i++) {
		x = (x ^ x >> 32) * 0x9e3779b97f4a7c15;
		out[i] = digits[x >> 59];
	}
}

/* Returns a name for the temporary file. It contains at most `keep` bytes of the final name,
 * without cutting a character.
 */
static const char *file_temp_name(const struct out_file *f, size_t keep, unsigned attempt)
{
	struct str path = str_of(f->path), folder = file_folder(path), stem;
	char random[6];

	stem = str_sub(path, folder.n, SIZE_MAX);
	if (stem.n > keep) {
		while (keep && ((uint8_t)stem.p[keep] & 0xc0) == 0x80)
			keep--;
		stem.n = keep;
	}
	file_random(f, attempt, random);
	return str_z(
	        f->a, str_fmt(f->a, "%.*s.%.*s" FILE_MARK "%.6s", STR(folder), STR(stem), random));
}

/* Creates the temporary file. If the name is too long for its folder, retries without the stem. */
static bool file_create(struct out_file *f, mode_t mode, struct err *e)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	size_t keep = FILE_STEM_MAX;
	const char *temp;

	for (unsigned i = 0; i < FILE_TRIES; i++) {
		temp = file_temp_name(f, keep, i);
		f->fd = openat(f->folder, temp, flags, mode);
		if (f->fd >= 0) {
			f->temp = temp;
			return true;
		}
		if (errno == ENAMETOOLONG && keep)
			keep = 0;
		else if (errno != EEXIST && errno != EINTR)
			return file_fail(f, errno, e);
	}
	return file_fail(f, errno, e);
}

/* Returns the mode of a file that replaces another file. If the new file cannot get the group of
 * the old one, its own group gets no more rights than others. */
static mode_t file_mode(int fd, const struct stat *before)
{
	mode_t mode = before->st_mode & 0777;
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_gid == before->st_gid)
		return mode;
	if (fchown(fd, (uid_t)-1, before->st_gid) == 0)
		return mode;
	return mode & (mode_t)(~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3);
}

/* Creates the replacement file; it is private until its mode is set. */
static bool file_replace(struct out_file *f, const struct stat *before, struct err *e)
{
	if (!file_create(f, 0600, e))
		return false;
	(void)!fchmod(f->fd, file_mode(f->fd, before)); /* some file systems have no modes */
	return true;
}

/* Decides how to write the file, and opens it. */
static bool file_open(struct out_file *f, struct err *e)
{
	int fd = file_descriptor(f->name);
	struct stat st;

	if (f->name.n == 0)
		return file_fail(f, ENOENT, e);
	if (fd >= 0) {
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return f->fd >= 0 || file_fail(f, errno, e);
	}
	if (stat(f->path, &st) < 0) {
		if (errno != ENOENT)
			return file_fail(f, errno, e);
		return file_follow(f, e) && file_create(f, 0666, e);
	}
	if (S_ISDIR(st.st_mode))
		return file_fail(f, EISDIR, e);
	if (!S_ISREG(st.st_mode))
		return shared_check(f->path, f->a, e) &&
		       file_open_direct(f, S_ISFIFO(st.st_mode), e);
	if (faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS) < 0)
		return file_fail(f, errno, e);
	return file_follow(f, e) && file_replace(f, &st, e);
}

/* Decides how to write the file and opens it, in an open folder where links are not followed. */
static bool file_open_inside(struct out_file *f, struct err *e)
{
	struct stat st;

	if (fstatat(f->folder, f->path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? file_create(f, 0666, e) : file_fail(f, errno, e);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FAILED, "cannot write '%.*s': it is not a regular file",
		        STR(f->name));
	return file_replace(f, &st, e);
}

/* Opens with `open` and creates the sink. */
static bool file_begin(struct sink **out, struct out_file *f,
        bool (*open)(struct out_file *, struct err *), struct err *e)
{
	struct sink *s = sink_new(f->a, &file_ops, f);

	arena_guard(f->a, &f->guard, file_abandon, f);
	if (!open(f, e)) {
		arena_unguard(f->a, &f->guard);
		file_abandon(f);
		return false;
	}
	*out = s;
	return true;
}

static struct out_file *file_new(struct arena *a, int folder, struct str name, struct str path)
{
	struct out_file *f = ARENA_NEW(a, struct out_file);

	*f = (struct out_file){ .a = a, .work = a->work, .folder = folder, .fd = -1 };
	f->name = str_copy(a, name);
	f->path = str_z(a, path_unified(a, path));
	return f;
}

bool sink_file(struct sink **out, struct arena *a, struct str path, struct err *e)
{
	struct out_file *f = file_new(a, AT_FDCWD, path, path);

	if (memchr(f->path, 0, path.n))
		return err_set(
		        e, ERR_INVALID_ARGUMENT, "cannot write '%s': a NUL in its name", f->path);
	return file_begin(out, f, file_open, e);
}

bool sink_file_inside(struct sink **out, struct arena *a, int folder, struct str name,
        struct str path, struct err *e)
{
	return file_begin(out, file_new(a, folder, path, name), file_open_inside, e);
}
