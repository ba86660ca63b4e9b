/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists folders, and expands patterns of paths.
 */
#include "port/windows/windows_internal.h"

struct port_folder {
	HANDLE h;
	WIN32_FIND_DATAW next;
	bool has_next;
	DWORD failed;
	struct dirent entry;
};

DIR *opendir(const char *path)
{
	size_t n = strlen(path);
	char *all = malloc(n + 3);
	DIR *d = calloc(1, sizeof *d);
	wchar_t *wide = NULL;

	if (all && d) {
		memcpy(all, path, n);
		strcpy(all + n, n && (path[n - 1] == '/' || path[n - 1] == '\\') ? "*" : "/*");
		wide = port_wide_path(all);
	}
	free(all);
	if (wide)
		d->h = FindFirstFileW(wide, &d->next);
	if (!wide || d->h == INVALID_HANDLE_VALUE) {
		if (wide)
			port_fail();
		free(wide);
		free(d);
		return NULL;
	}
	free(wide);
	d->has_next = true;
	return d;
}

/* A name that is not valid UTF-16 is left out: no path leads to it. */
struct dirent *readdir(DIR *d)
{
	while (d->has_next) {
		int n = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, d->next.cFileName, -1,
		        d->entry.d_name, sizeof d->entry.d_name, NULL, NULL);
		d->has_next = FindNextFileW(d->h, &d->next);
		if (!d->has_next && GetLastError() != ERROR_NO_MORE_FILES)
			d->failed = GetLastError();
		if (n > 0)
			return &d->entry;
	}
	if (d->failed) {
		SetLastError(d->failed);
		port_fail();
		d->failed = 0;
	}
	return NULL;
}

int closedir(DIR *d)
{
	FindClose(d->h);
	free(d);
	return 0;
}

/* ---- patterns ---- */

static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

static bool has_wildcard(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr("*?[", p[i]))
			return true;
	return false;
}

/* Returns a letter in lower case: names of files do not differ in case only. */
static unsigned char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : (unsigned char)c;
}

/* Matches a character with the set at *p, after its '['; *p moves after the set. False also if the
 * set has no end. */
static bool in_set(const char **p, const char *end, char c)
{
	const char *s = *p;
	bool no = s < end && (*s == '!' || *s == '^'), found = false;

	s += no;
	for (bool first = true; s < end && (first || *s != ']'); first = false) {
		char low = *s++, high = low;
		if (end - s >= 2 && *s == '-' && s[1] != ']') {
			high = s[1];
			s += 2;
		}
		found |= folded(low) <= folded(c) && folded(c) <= folded(high);
	}
	if (s == end)
		return false;
	*p = s + 1;
	return found != no;
}

/* Returns the bytes of the character at p. */
static size_t character(const char *p)
{
	size_t n = 1;

	while (((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* True if the name matches the pattern p..end. Goes back to the last '*' only. */
static bool matches(const char *p, const char *end, const char *name)
{
	const char *star = NULL, *from = NULL;

	if (*name == '.' && (p == end || *p != '.'))
		return false;
	while (*name) {
		const char *set = p + 1;
		if (p < end && *p == '*') {
			star = ++p;
			from = name;
			continue;
		}
		if (p < end && *p == '?') {
			p++;
			name += character(name);
		} else if (p < end && *p == '[' && in_set(&set, end, *name)) {
			p = set;
			name++;
		} else if (p < end && *p != '[' && folded(*p) == folded(*name)) {
			p++;
			name++;
		} else if (star) {
			p = star;
			name = from += character(from);
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

static bool add(glob_t *g, char *path)
{
	char **v = path ? realloc(g->gl_pathv, (g->gl_pathc + 1) * sizeof *v) : NULL;

	if (!v) {
		free(path);
		return false;
	}
	g->gl_pathv = v;
	v[g->gl_pathc++] = path;
	return true;
}

/* Returns top + name + the slash after it, if there is one. */
static char *joined(const char *top, const char *name, size_t n, bool slash)
{
	size_t length = strlen(top);
	char *z = malloc(length + n + 2);

	if (!z)
		return NULL;
	memcpy(z, top, length);
	memcpy(z + length, name, n);
	strcpy(z + length + n, slash ? "/" : "");
	return z;
}

/* Adds the entries of the folder `top`, which ends with '/' or is empty, that match a part of the
 * pattern. */
static bool add_matches(glob_t *g, const char *top, const char *part, size_t n, bool slash)
{
	DIR *d = opendir(*top ? top : ".");
	struct dirent *x;
	bool ok = true;

	while (d && ok && (x = readdir(d)))
		if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0 &&
		        matches(part, part + n, x->d_name))
			ok = add(g, joined(top, x->d_name, strlen(x->d_name), slash));
	if (d)
		closedir(d);
	return ok;
}

/* Replaces the paths found so far with those that the next part of the pattern leads to. */
static bool take_part(glob_t *g, const char *part, size_t n, bool slash)
{
	glob_t next = { 0 };
	bool ok = true;

	for (size_t i = 0; i < g->gl_pathc && ok; i++)
		ok = has_wildcard(part, n) ? add_matches(&next, g->gl_pathv[i], part, n, slash)
		                           : add(&next, joined(g->gl_pathv[i], part, n, slash));
	globfree(g);
	*g = next;
	return ok;
}

int glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *g)
{
	bool ok;

	(void)flags;
	(void)fail;
	*g = (glob_t){ 0 };
	ok = add(g, _strdup(""));
	while (*pattern && ok) {
		size_t n = 0;
		while (pattern[n] && !is_slash(pattern[n]))
			n++;
		ok = take_part(g, pattern, n, pattern[n] != 0);
		pattern += n + (pattern[n] != 0);
	}
	for (size_t i = 0; i < g->gl_pathc;) {
		if (access(g->gl_pathv[i], F_OK) == 0) {
			i++;
			continue;
		}
		free(g->gl_pathv[i]);
		g->gl_pathv[i] = g->gl_pathv[--g->gl_pathc];
	}
	return !ok ? GLOB_NOSPACE : g->gl_pathc ? 0 : GLOB_NOMATCH;
}

void globfree(glob_t *g)
{
	for (size_t i = 0; i < g->gl_pathc; i++)
		free(g->gl_pathv[i]);
	free(g->gl_pathv);
	*g = (glob_t){ 0 };
}
