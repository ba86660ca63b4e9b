/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of the prompt. The lock is on the file itself, so the owner of the lock checks that
 * the file has not been replaced meanwhile.
 */
#include "cli/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCAL "./.tfprof_history.txt"

/* Creates the folders before the last '/'. */
static void make_folders(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
}

/* True for a regular file of this user with one link. In a folder of another user it could be a
 * link, symbolic or hard, to a file that must not be changed. */
static bool is_private(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

static bool is_ours(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && is_private(&st);
}

struct str history_path(struct arena *a)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct str path;

	if (is_ours(LOCAL))
		return S(LOCAL);
	if (state && state[0] == '/')
		path = str_fmt(a, "%s/tfprof/history.txt", state);
	else if (home && home[0] == '/')
		path = str_fmt(a, "%s/.local/state/tfprof/history.txt", home);
	else
		return STR_NONE;
	make_folders(str_z(a, path));
	return path;
}

/* Opens and locks the file at path. Returns -1 on failure. */
static int open_locked(const char *path)
{
	for (int tries = 0; tries < 20; tries++) {
		struct stat mine, there;
		int fd = open(path,
		        O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX) == 0 && fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
		        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev &&
		        is_private(&mine)) {
			if ((mine.st_mode & 0777) != 0600)
				fchmod(fd, 0600);
			return fd;
		}
		close(fd);
	}
	return -1;
}

static struct str read_all(struct arena *a, int fd)
{
	struct sb b = sb_in(a);
	ssize_t n;

	do {
		n = read(fd, sb_room(&b, 4096), 4096);
		b.n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return sb_str(&b);
}

static bool put_all(int fd, struct str text)
{
	return write(fd, text.p, text.n) == (ssize_t)text.n;
}

/* Replaces the file by its last lines. */
static void cut(struct arena *a, struct str path, const struct strs *lines)
{
	char *to = str_z(a, path), *name = str_z(a, str_fmt(a, "%s.%ld", to, (long)getpid()));
	struct sb b = sb_in(a);
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	for (size_t i = 0; i < lines->n; i++) {
		sb_put(&b, lines->v[i]);
		sb_char(&b, '\n');
	}
	bool ok = put_all(fd, sb_str(&b));
	if (close(fd) || !ok || rename(name, to))
		unlink(name);
}

struct strs history_read(struct arena *a, struct str path)
{
	struct strs lines = { 0 };

	if (!path.n)
		return lines;
	int fd = open_locked(str_z(a, path));
	if (fd < 0)
		return lines;
	lines = str_split(a, read_all(a, fd), '\n');
	if (lines.n > HISTORY_MAX) {
		bool much = lines.n > (size_t)2 * HISTORY_MAX;
		lines.v += lines.n - HISTORY_MAX;
		lines.n = HISTORY_MAX;
		if (much)
			cut(a, path, &lines);
	}
	close(fd);
	return lines;
}

void history_add(struct arena *a, struct str path, struct str line)
{
	int fd = path.n ? open_locked(str_z(a, path)) : -1;

	if (fd < 0)
		return;
	(void)!put_all(fd, str_fmt(a, "%.*s\n", STR(line)));
	close(fd);
}
