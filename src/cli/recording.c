/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of a recording, and the processes that record into it.
 */
#define _GNU_SOURCE 1
#include "cli/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sort.h"
#include "io/paths.h"

#ifndef COLLECTOR_PLACE /* make install defines another path */
#define COLLECTOR_PLACE "../lib/tfprof"
#endif
#define PREFIX   "tfprof-"
#define PATH_CAP 4096

const char recording_collector_place[] = COLLECTOR_PLACE;

bool recording_collector(struct arena *a, struct str *path)
{
	static const char *const places[] = { "", "/" COLLECTOR_PLACE };
	char *self = arena_alloc(a, PATH_CAP, 1);
	ssize_t n = readlink("/proc/self/exe", self, PATH_CAP - 1);
	struct str top = n > 0 ? str_make(self, (size_t)n) : STR_NONE;
	size_t slash = str_rfind_char(top, '/');

	for (size_t i = 0; slash != SIZE_MAX && i < 2; i++) {
		struct str at = str_fmt(
		        a, "%.*s%s/%s", STR(str_sub(top, 0, slash)), places[i], COLLECT_LIBRARY);
		char *real = realpath(str_z(a, at), NULL);
		if (real) {
			*path = str_copy(a, str_of(real));
			free(real);
			return true;
		}
	}
	return false;
}

bool recording_is_collector(struct str path)
{
	return str_ends(path, S("/" COLLECT_LIBRARY));
}

/* ---- creation ---- */

/* True if a recording creates files with such a name. */
static bool is_ours(struct str name)
{
	return str_eq(name, S(SPOOL_CONTROL)) || str_eq(name, S(SPOOL_OPTIONS)) ||
	       str_ends(name, S(SPOOL_SUFFIX)) || str_ends(name, S(".log"));
}

/* True if the folder contains only a recording. Closes fd. */
static bool check_inside(int fd, struct str path, struct err *e)
{
	DIR *d = fdopendir(fd);
	struct dirent *x;
	bool ok = true;

	if (!d) {
		close(fd);
		return err_system(e, "cannot read the folder", path, errno);
	}
	while (ok && (x = readdir(d))) {
		struct str name = str_of(x->d_name);
		if (!str_eq(name, S(".")) && !str_eq(name, S("..")) && !is_ours(name))
			ok = err_set(e, ERR_FAILED,
			        "'%.*s' contains other files ('%.*s'): record into another "
			        "folder, or add --force",
			        STR(path), STR(name));
	}
	closedir(d);
	return ok;
}

static bool check_folder(struct str path, const char *z, bool force, struct err *e)
{
	int fd = open(z, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return err_set(e, ERR_FAILED,
		        "'%.*s' is a link, or not a folder: a recording needs a folder of its own",
		        STR(path));
	if (fd < 0 || fstat(fd, &st) != 0) {
		int why = errno;
		if (fd >= 0)
			close(fd);
		return err_system(e, "cannot open the folder", path, why);
	}
	if (st.st_uid != geteuid()) {
		close(fd);
		return err_set(e, ERR_PERMISSION,
		        "'%.*s' belongs to another user: a recording needs a folder of its own",
		        STR(path));
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return err_set(e, ERR_PERMISSION,
		        "other users can write into '%.*s': record into another folder, or run "
		        "chmod 700 on it",
		        STR(path));
	}
	if (!force)
		return check_inside(fd, path, e);
	close(fd);
	return true;
}

bool recording_check(struct arena *a, struct str path, struct err *e)
{
	return check_folder(path, str_z(a, path), false, e);
}

static struct str default_name(struct arena *a)
{
	char text[32];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof text, "%Y%m%d-%H%M%S", &tm);
	return str_fmt(a, PREFIX "%s-%ld", text, (long)getpid());
}

bool recording_make(
        struct arena *a, struct str name, bool force, struct str *path, bool *made, struct err *e)
{
	if (!name.n)
		name = default_name(a);
	while (name.n > 1 && name.p[name.n - 1] == '/') /* a trailing slash would follow a link */
		name.n--;
	char *z = str_z(a, name);
	*made = mkdir(z, 0700) == 0;
	if (!*made) {
		if (errno != EEXIST)
			return err_system(e, "cannot create the folder", name, errno);
		if (!check_folder(name, z, force, e))
			return false;
	}
	char *real = realpath(z, NULL);
	if (!real)
		return err_system(e, "cannot open the folder", name, errno);
	*path = str_copy(a, str_of(real));
	free(real);
	return true;
}

void recording_drop(struct arena *a, struct str path)
{
	unlink(str_z(a, str_fmt(a, "%.*s/" SPOOL_OPTIONS, STR(path))));
	rmdir(str_z(a, path)); /* a folder that is not empty stays */
}

/* ---- search ---- */

bool recording_newest(struct arena *a, struct str *path, struct err *e)
{
	struct timespec best = { 0 };
	struct strs names = { 0 };
	struct stat st;

	*path = STR_NONE;
	if (!path_list(a, S("."), &names, e))
		return false;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_starts(names.v[i], S(PREFIX)) || lstat(str_z(a, names.v[i]), &st) != 0 ||
		        !S_ISDIR(st.st_mode))
			continue;
		struct timespec t = st.st_mtim;
		if (path->n && (t.tv_sec < best.tv_sec ||
		                       (t.tv_sec == best.tv_sec && t.tv_nsec <= best.tv_nsec)))
			continue;
		best = t;
		*path = names.v[i];
	}
	return path->n ||
	       err_set(e, ERR_NOT_FOUND,
	               "no recording (a folder %sDATE-PID) is in this folder: name a recording",
	               PREFIX);
}

bool recording_files(
        struct arena *a, struct str path, struct str end, struct strs *files, struct err *e)
{
	struct strs names = { 0 };

	*files = (struct strs){ 0 };
	if (!path_list(a, path, &names, e))
		return false;
	for (size_t i = 0; i < names.n && files->n <= RECORDING_FILES_MAX; i++)
		if (str_ends(names.v[i], end))
			strs_add(a, files, str_fmt(a, "%.*s/%.*s", STR(path), STR(names.v[i])));
	if (files->n > RECORDING_FILES_MAX)
		return err_set(e, ERR_RESOURCE, "'%.*s' contains more than %d files named *%.*s",
		        STR(path), RECORDING_FILES_MAX, STR(end));
	sort_list(a, files);
	return true;
}

/* ---- owners ---- */

/* Removes "-LAST" from the end of a name. */
static struct str cut(struct str *name)
{
	size_t dash = str_rfind_char(*name, '-');
	struct str last = dash == SIZE_MAX ? STR_NONE : str_sub(*name, dash + 1, SIZE_MAX);

	*name = str_sub(*name, 0, dash == SIZE_MAX ? 0 : dash);
	return last;
}

/* Returns the name of the host as the collector writes it in file names. */
static struct str host_name(struct arena *a)
{
	char *z = arena_alloc(a, COLLECT_HOST_MAX + 1, 1);

	if (gethostname(z, COLLECT_HOST_MAX + 1) != 0 && errno != ENAMETOOLONG)
		return STR_NONE;
	z[COLLECT_HOST_MAX] = '\0';
	for (char *p = z; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ' || *p == 0x7f)
			*p = '_';
	return str_of(z);
}

bool recording_owner(struct arena *a, struct str file, struct owner *o)
{
	struct str name = str_base(file);
	int64_t start;

	if (!str_ends(name, S(SPOOL_SUFFIX)))
		return false;
	name.n -= strlen(SPOOL_SUFFIX);
	cut(&name); /* the random number */
	struct str ticks = cut(&name), pid = cut(&name);
	o->host = name;
	if (!name.n || !num_parse_i64(ticks, &start) || !num_parse_i64(pid, &o->pid))
		return false;
	o->start = (uint64_t)start;
	o->here = str_eq(name, host_name(a));
	return start > 0 && o->pid > 0;
}

bool recording_lives(struct arena *a, const struct owner *o)
{
	return o->here && proc_start(a, o->pid) == o->start;
}
