/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a recording, and other files in its folder.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "io/paths.h"
#include "trace/read/recording/recordings.h"

#define ASIDE_MAX ((size_t)16 << 20) /* maximum number of bytes read from the control file */

bool recording_is_folder(struct arena *a, struct str path)
{
	struct stat st;
	struct dirent *x;
	bool found = false;
	DIR *d;

	if (stat(str_z(a, path), &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	d = opendir(str_z(a, path));
	while (d && !found && (x = readdir(d)))
		found = str_ends(str_of(x->d_name), S(SPOOL_SUFFIX)) ||
		        str_eq(str_of(x->d_name), S(SPOOL_OPTIONS));
	if (d)
		closedir(d);
	return found;
}

static void add_file(struct recording_set *s, struct arena *a, struct str path)
{
	struct stat st;

	VEC_ROOM(a, s, 1);
	s->v[s->n++] = (struct recording_file){ .path = path };
	if (stat(str_z(a, path), &st) == 0 && st.st_size > 0)
		s->bytes += (uint64_t)st.st_size;
}

/* Lists the recorded files of a folder, sorted by name. */
static bool list_folder(struct recording_set *s, struct arena *a, struct str folder, struct err *e)
{
	struct strs names = { 0 };

	if (!path_list(a, folder, &names, e))
		return false;
	sort_list(a, &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], S(SPOOL_SUFFIX)))
			add_file(s, a, str_fmt(a, "%.*s/%.*s", STR(folder), STR(names.v[i])));
	if (!s->n)
		return err_set(e, ERR_NOT_FOUND,
		        "'%.*s' contains no recording: nothing has been recorded yet", STR(folder));
	return true;
}

/* Returns the contents of a file of the folder; empty if it is missing. */
static bool read_aside(
        struct str *out, struct arena *a, struct str folder, const char *name, struct err *e)
{
	struct str path = str_fmt(a, "%.*s/%s", STR(folder), name);
	struct src *s;
	bool ok;

	*out = S("");
	if (access(str_z(a, path), F_OK) != 0)
		return true;
	if (!src_open_file(&s, a, path, e))
		return false;
	src_need(s, ASIDE_MAX);
	*out = str_copy(a, str_make(s->p, (size_t)(s->end - s->p)));
	ok = !src_failed(s);
	src_close(s);
	return ok;
}

bool recording_find(struct recording_set *s, struct arena *a, struct str path, struct err *e)
{
	struct stat st;
	struct str folder = path;

	*s = (struct recording_set){ 0 };
	if (stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode)) {
		while (folder.n > 1 && folder.p[folder.n - 1] == '/')
			folder.n--;
		if (!list_folder(s, a, folder, e))
			return false;
	} else {
		size_t slash = str_rfind_char(path, '/');
		if (str_eq(path, S("-")) ||
		        (stat(str_z(a, path), &st) == 0 && !S_ISREG(st.st_mode)))
			return err_set(e, ERR_INVALID_ARGUMENT,
			        "'%.*s': a recording is read twice, so it must be a file",
			        STR(path));
		folder = slash == SIZE_MAX ? S(".") : str_sub(path, 0, slash ? slash : 1);
		add_file(s, a, path);
	}
	return read_aside(&s->control, a, folder, SPOOL_CONTROL, e) &&
	       read_aside(&s->options, a, folder, SPOOL_OPTIONS, e);
}
