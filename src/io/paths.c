/* SPDX-License-Identifier: Apache-2.0
 *
 * Expands patterns of paths. Patterns are those of glob(3); the order of the matches is our own.
 */
#include "io/paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"

enum { NOTE_PATH_TWICE = 0x600 }; /* a kind of note */

/* Returns the number at s[*i] without leading zeros. Moves *i after it. */
static struct str take_number(struct str s, size_t *i)
{
	size_t from;

	while (*i < s.n && s.p[*i] == '0')
		++*i;
	for (from = *i; *i < s.n && char_is_digit(s.p[*i]);)
		++*i;
	return str_sub(s, from, *i - from);
}

int path_order(struct str a, struct str b)
{
	size_t i = 0, k = 0;

	while (i < a.n && k < b.n) {
		if (char_is_digit(a.p[i]) && char_is_digit(b.p[k])) {
			struct str x = take_number(a, &i), y = take_number(b, &k);
			if (x.n != y.n)
				return x.n < y.n ? -1 : 1;
			if (str_cmp(x, y))
				return str_cmp(x, y);
		} else if (a.p[i] != b.p[k]) {
			return (unsigned char)a.p[i] < (unsigned char)b.p[k] ? -1 : 1;
		} else {
			i++;
			k++;
		}
	}
	if (i < a.n || k < b.n)
		return i < a.n ? 1 : -1;
	return str_cmp(a, b); /* equal numbers such as 1 and 01 */
}

static int by_order(const void *ctx, uint32_t a, uint32_t b)
{
	const struct str *v = ctx;

	return path_order(v[a], v[b]);
}

void paths_sort(struct arena *a, struct strs *paths)
{
	sort_array(a, paths->v, paths->n, sizeof *paths->v, by_order);
}

struct str path_unified(struct arena *a, struct str path)
{
#ifdef PATH_OTHER_SLASH
	char *z = str_z(a, path);

	for (size_t i = 0; i < path.n; i++)
		z[i] = z[i] == PATH_OTHER_SLASH ? '/' : z[i];
	return str_make(z, path.n);
#else
	(void)a;
	return path;
#endif
}

bool path_exists(struct arena *a, struct str path)
{
	return access(str_z(a, path), F_OK) == 0;
}

bool path_is_folder(struct arena *a, struct str path)
{
	struct stat st;

	return stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_is_empty(struct arena *a, struct str path)
{
	struct stat st;

	return stat(str_z(a, path), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

bool path_is_special(struct arena *a, struct str path)
{
	struct stat st;

	return stat(str_z(a, path), &st) == 0 && !S_ISREG(st.st_mode);
}

static void drop_folder(void *d)
{
	closedir(d);
}

bool path_list(struct arena *a, struct str folder, struct strs *names, struct err *e)
{
	DIR *d = opendir(str_z(a, folder));
	struct dirent *x;
	struct guard g;

	if (!d)
		return err_system(e, "cannot open the folder", folder, errno);
	work_guard(a->work, &g, drop_folder, d);
	for (errno = 0; (x = readdir(d)); errno = 0)
		if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
			strs_add(a, names, str_copy(a, str_of(x->d_name)));
	int failed = errno;
	work_unguard(a->work, &g);
	closedir(d);
	return !failed || err_system(e, "cannot read the folder", folder, failed);
}

bool path_is_pattern(struct str word)
{
	return str_find_char(word, '*') != SIZE_MAX || str_find_char(word, '?') != SIZE_MAX ||
	       str_find_char(word, '[') != SIZE_MAX;
}

static void drop_glob(void *g)
{
	globfree(g);
}

static bool expand_pattern(struct arena *a, struct str word, struct strs *to, struct err *e)
{
	struct strs found = { 0 };
	struct guard guard;
	glob_t g = { 0 };
	char *z = str_z(a, word);
	int rc = glob(z, GLOB_NOSORT, NULL, &g);

	work_guard(a->work, &guard, drop_glob, &g);
	for (size_t i = 0; rc == 0 && i < g.gl_pathc; i++)
		strs_add(a, &found, str_copy(a, str_of(g.gl_pathv[i])));
	work_unguard(a->work, &guard);
	globfree(&g);
	if (rc == GLOB_NOSPACE)
		return err_set(
		        e, ERR_RESOURCE, "'%.*s' matches more than memory can hold", STR(word));
	if (!found.n)
		return err_set(e, ERR_NOT_FOUND, "nothing matches '%.*s'", STR(word));
	paths_sort(a, &found);
	for (size_t i = 0; i < found.n; i++)
		strs_add(a, to, found.v[i]);
	return true;
}

/* Adds the paths that an element of a list, or a word without commas, names. */
static bool expand_piece(struct arena *a, struct str word, struct strs *to, struct err *e)
{
	if (path_is_pattern(word) && !path_exists(a, word))
		return expand_pattern(a, word, to, e);
	strs_add(a, to, word);
	return true;
}

bool paths_expand(struct arena *a, struct str word, struct strs *to, struct err *e)
{
	word = path_unified(a, word);
	if (path_exists(a, word)) {
		strs_add(a, to, word);
		return true;
	}
	struct strs pieces = str_split(a, word, ',');
	for (size_t i = 0; i < pieces.n; i++)
		if (!expand_piece(a, pieces.v[i], to, e))
			return false;
	return true;
}

void paths_once(struct arena *a, struct strs *paths, struct notes *notes)
{
	char *real = ARENA_ARRAY(a, PATH_MAX + 1, char);
	struct intern seen;
	size_t kept = 0;

	intern_init(&seen, a);
	for (size_t i = 0; i < paths->n; i++) {
		size_t before = seen.n;
		char *z = realpath(str_z(a, paths->v[i]), real);
		intern_add(&seen, z ? str_of(z) : paths->v[i]);
		if (seen.n > before)
			paths->v[kept++] = paths->v[i];
		else
			note_kind(notes, NOTE_PATH_TWICE, "'%.*s' is given twice and read once",
			        STR(paths->v[i]));
	}
	paths->n = kept;
}

/* Returns the number of parts common to all lists, from the start or from the end; each list keeps
 * `spare` parts. */
static size_t common_parts(const struct strs *v, size_t n, bool at_end, size_t spare)
{
	for (size_t k = 0;; k++) {
		for (size_t i = 0; i < n; i++) {
			if (v[i].n <= k + spare)
				return k;
			struct str first = v[0].v[at_end ? v[0].n - 1 - k : k];
			if (!str_eq(v[i].v[at_end ? v[i].n - 1 - k : k], first))
				return k;
		}
	}
}

struct strs paths_names(struct arena *a, const struct strs *paths)
{
	struct strs *parts = ARENA_ARRAY(a, paths->n, struct strs), names = { 0 };
	struct intern seen;

	intern_init(&seen, a);
	for (size_t i = 0; i < paths->n; i++) {
		parts[i] = str_split(a, paths->v[i], '/');
		if (!parts[i].n)
			strs_add(a, &parts[i], paths->v[i]);
	}
	size_t head = paths->n ? common_parts(parts, paths->n, false, 1) : 0;
	size_t tail = paths->n ? common_parts(parts, paths->n, true, head + 1) : 0;
	for (size_t i = 0; i < paths->n; i++) {
		struct strs own = { parts[i].v + head, parts[i].n - head - tail, 0 };
		struct str name = strs_join(a, &own, S("/"));
		strs_add(a, &names, name);
		intern_add(&seen, name);
	}
	return seen.n == paths->n ? names : *paths;
}
