/* SPDX-License-Identifier: Apache-2.0
 *
 * Demangles with the C++ runtime, for names of up to 1024 bytes. The runtime does not limit the
 * size of a name with nested references; this file adds a limit. The path of a longer name is read
 * from its mangled form, whose components come first.
 */
#include "base/demangle.h"

#include <stdlib.h>

#define MANGLED_MAX    1024 /* bytes; the runtime refuses longer names */
#define REFERENCES_MAX 32   /* to earlier parts of a name; each level can triple its size */

#if HAVE_DEMANGLE
#define NO_MEMORY (-1)
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);
#endif

/* MemorySanitizer does not see writes of the C++ runtime, which is not instrumented. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WRITTEN_BY_RUNTIME(z) __msan_unpoison_string(z)
#endif
#endif
#ifndef WRITTEN_BY_RUNTIME
#define WRITTEN_BY_RUNTIME(z) ((void)(z))
#endif

/* Returns the C++ runtime's result, to be freed; NULL if the name is not mangled. */
static char *runtime_demangle(struct work *w, const char *mangled)
{
#if HAVE_DEMANGLE
	int status = 0;
	char *z = __cxa_demangle(mangled, NULL, NULL, &status);

	if (status == NO_MEMORY)
		work_escape(w);
	if (z)
		WRITTEN_BY_RUNTIME(z);
	return z;
#else
	(void)w;
	(void)mangled;
	return NULL;
#endif
}

static bool is_mangled(struct str s)
{
	return str_starts(s, S("_Z"));
}

/* Counts references to earlier parts: S_, S1_, T_, T0_. Similar text within a name counts too. */
static unsigned references(struct str s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s.n; i++) {
		size_t end = i + 1;
		if (s.p[i] != 'S' && s.p[i] != 'T')
			continue;
		while (end < s.n && ((s.p[end] >= '0' && s.p[end] <= '9') ||
		                            (s.p[end] >= 'A' && s.p[end] <= 'Z')))
			end++;
		n += end < s.n && s.p[end] == '_';
	}
	return n;
}

struct str demangle(struct arena *a, struct str mangled, size_t *budget)
{
	struct str full;
	char *z;

	if (!is_mangled(mangled) || mangled.n > MANGLED_MAX || !*budget ||
	        memchr(mangled.p, 0, mangled.n) || references(mangled) > REFERENCES_MAX)
		return mangled;
	z = runtime_demangle(a->work, str_z(a, mangled));
	if (!z)
		return mangled;
	full = str_of(z);
	*budget -= full.n < *budget ? full.n : *budget;
	full = str_copy(a, str_sub(full, 0, DEMANGLE_BUDGET));
	free(z);
	return full;
}

/* ---- the path of a demangled name ---- */

/* Skips the bracket at i and its contents; to the end if the bracket is not closed. */
static size_t skip_bracket(struct str s, size_t i)
{
	size_t depth = 0;

	for (; i < s.n; i++) {
		char c = s.p[i];
		if (c == '-' && i + 1 < s.n && s.p[i + 1] == '>')
			i++;
		else if (c == '<' || c == '(' || c == '{' || c == '[')
			depth++;
		else if ((c == '>' || c == ')' || c == '}' || c == ']') && --depth == 0)
			return i + 1;
	}
	return s.n;
}

static bool at(struct str s, size_t i, struct str part)
{
	return i <= s.n && str_starts(str_sub(s, i, SIZE_MAX), part);
}

/* Appends text in braces: "{lambda(int)#1}" as lambda#1, other text unchanged. */
static void put_braces(struct sb *b, struct str inside)
{
	size_t open = str_find_char(inside, '('), number = str_rfind_char(inside, '#');

	sb_put(b, str_sub(inside, 0, open == SIZE_MAX ? inside.n : open));
	if (number != SIZE_MAX && open != SIZE_MAX)
		sb_put(b, str_sub(inside, number, SIZE_MAX));
}

/* Skips the operator name at i including its symbols; returns the end. */
static size_t put_operator(struct sb *b, struct str s, size_t i)
{
	size_t end = i + 8;

	if (at(s, end, S("()")))
		end += 2;
	else
		while (end < s.n && s.p[end] != '(' && !at(s, end, S(" <")))
			end++;
	sb_put(b, str_sub(s, i, end - i));
	return end + at(s, end, S(" <"));
}

static void add_part(struct arena *a, struct sb *b, struct strs *path)
{
	if (b->n)
		strs_add(a, path, str_copy(a, sb_str(b)));
	b->n = 0;
}

/* True if the whole word "operator" is at i. */
static bool is_operator(struct str s, size_t i, const struct sb *b)
{
	char after = i + 8 < s.n ? s.p[i + 8] : 0;

	return b->n == 0 && at(s, i, S("operator")) && after && after != '_' &&
	       !(after >= '0' && after <= '9') && !((after | 0x20) >= 'a' && (after | 0x20) <= 'z');
}

/* Finds the path in a demangled name. A blank ends the result type; parameters end the name unless
 * a component follows. */
static void path_of_full(struct arena *a, struct str s, struct strs *path)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < s.n;) {
		if (at(s, i, S("(anonymous namespace)"))) {
			sb_put(&b, S("anonymous"));
			i += 21;
		} else if (is_operator(s, i, &b)) {
			i = put_operator(&b, s, i);
		} else if (at(s, i, S("::"))) {
			add_part(a, &b, path);
			i += 2;
		} else if (s.p[i] == ' ') {
			b.n = path->n = 0;
			i++;
		} else if (s.p[i] == '{') {
			size_t end = skip_bracket(s, i);
			put_braces(&b, str_sub(s, i + 1, end - i - 2));
			i = end;
		} else if (s.p[i] == '<' || s.p[i] == '[') {
			i = skip_bracket(s, i);
		} else if (s.p[i] == '(') {
			i = skip_bracket(s, i);
			if (!at(s, i, S("::")))
				break;
		} else {
			sb_char(&b, s.p[i++]);
		}
	}
	add_part(a, &b, path);
}

/* ---- the path of a mangled name ---- */

/* Reads "<length><name>" at *i. */
static bool source_name(struct str s, size_t *i, struct str *name)
{
	size_t n = 0, p = *i;

	while (p < s.n && s.p[p] >= '0' && s.p[p] <= '9' && n < s.n)
		n = n * 10 + (size_t)(s.p[p++] - '0');
	if (p == *i || n == 0 || n > s.n - p)
		return false;
	*name = str_sub(s, p, n);
	*i = p + n;
	return true;
}

static void path_of_mangled(struct arena *a, struct str s, struct strs *path)
{
	struct str name;
	size_t i = 2;

	if (at(s, i, S("N")))
		i++;
	while (i < s.n && strchr("rVKL", s.p[i]))
		i++;
	if (at(s, i, S("St"))) {
		strs_add(a, path, S("std"));
		i += 2;
	}
	while (source_name(s, &i, &name)) {
		strs_add(a, path, str_starts(name, S("_GLOBAL__N_")) ? S("anonymous") : name);
		if (at(s, i, S("L")))
			i++;
	}
}

void demangle_path(struct arena *a, struct str mangled, struct str full, struct strs *path)
{
	path->n = 0;
	if (!str_eq(mangled, full))
		path_of_full(a, full, path);
	else if (is_mangled(mangled))
		path_of_mangled(a, mangled, path);
	if (!path->n)
		strs_add(a, path, mangled);
}
