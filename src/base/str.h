/* SPDX-License-Identifier: Apache-2.0
 *
 * Slices of bytes (not NUL-terminated, any byte allowed) and the string builder.
 * A slice does not own its bytes; the comment where it is stored says which arena does.
 */
#ifndef TFPROF_BASE_STR_H
#define TFPROF_BASE_STR_H

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

struct str {
	const char *p;
	size_t n;
};

#define S(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
/* The two arguments of %.*s, which stops at a NUL byte: use sb_put for names that must be printed
 * whole. */
#define STR(s)   (int)((s).n < INT_MAX ? (s).n : INT_MAX), (s).p
#define STR_NONE ((struct str){ NULL, 0 })

static inline struct str str_of(const char *z)
{
	return (struct str){ z, z ? strlen(z) : 0 };
}
static inline struct str str_make(const void *p, size_t n)
{
	return (struct str){ (const char *)p, n };
}

/* ---- characters: ASCII, whatever the locale ---- */

static inline bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool char_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool char_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}
/* Returns the value of a hexadecimal digit, or -1. */
static inline int char_hex(char c)
{
	char lower = char_lower(c);

	return char_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* ---- slices ---- */

/* Returns the length of the text without trailing digits. */
static inline size_t str_stem(struct str s)
{
	while (s.n && char_is_digit(s.p[s.n - 1]))
		s.n--;
	return s.n;
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_make(s.p, prefix.n), prefix);
}

int str_cmp(struct str a, struct str b);            /* bytewise; a prefix sorts first */
bool str_eq_lower(struct str s, const char *lower); /* true if s equals lower, ignoring the case of
                                                       s */
bool str_ends(struct str s, struct str suffix);
size_t str_find(struct str s, struct str part); /* offset of the first occurrence, or SIZE_MAX */
size_t str_find_char(struct str s, char c);     /* offset of the first occurrence, or SIZE_MAX */
size_t str_rfind_char(struct str s, char c);    /* offset of the last occurrence, or SIZE_MAX */
struct str str_base(struct str path);           /* the part after the last '/', or the whole text */
bool str_contains(struct str s, struct str part);
/* True if a name is among the words of a list, which blanks separate. */
bool str_is_among(const char *words, struct str name);
struct str str_sub(struct str s, size_t from, size_t n); /* limited to s */
struct str str_copy(struct arena *a, struct str s);
struct str str_lower(struct arena *a, struct str s); /* ASCII only */
struct str str_replace_char(struct arena *a, struct str s, char from, char to);
char *str_z(struct arena *a, struct str s); /* NUL-terminated copy, for system calls */
/* True if the beginning of a file has the control characters of a binary format. A single damaged
 * byte does not make a text binary. */
bool str_is_binary(struct str head);
bool str_is_utf8(struct str s);   /* by the rules for proto3 strings */
size_t str_letters(struct str s); /* number of characters of UTF-8 */

/* Removes every leading and trailing ' and " character. */
struct str str_strip_quotes(struct str s);

struct strs {
	struct str *v;
	size_t n, cap;
};
void strs_add(
        struct arena *a, struct strs *to, struct str s); /* stores the slice, copies no bytes */
struct strs str_split(struct arena *a, struct str s, char at); /* drops empty pieces */
struct str strs_join(struct arena *a, const struct strs *v, struct str between);
bool strs_is_one(const struct strs *v, struct str s); /* exactly the list [s] */

/* A builder of text, which grows in its arena. The text stays valid until the next put or the
 * arena's reset. */
struct sb {
	struct arena *a;
	char *p;
	size_t n, cap;
};
static inline struct sb sb_in(struct arena *a)
{
	return (struct sb){ a, NULL, 0, 0 };
}
/* Makes room for n more bytes, which the caller adds to b->n. */
char *sb_room(struct sb *b, size_t n) __attribute__((returns_nonnull));
void sb_put(struct sb *b, struct str s);
void sb_char(struct sb *b, char c);
void sb_repeat(struct sb *b, char c, size_t n);
void sb_put_utf8(struct sb *b, struct str s); /* bytes that are not UTF-8 become \xNN */
void sb_put_name(
        struct sb *b, struct str s); /* control bytes become \xNN, so the text stays on one line */
void sb_put_shell(struct sb *b, struct str s); /* quoted as one shell word */
/* Appends a word in the form typed in a shell, quoted if needed. Control bytes become \xNN. */
void sb_put_word(struct sb *b, struct str s);
void sb_fmt(struct sb *b, const char *f, ...) __attribute__((format(printf, 2, 3)));
void sb_vfmt(struct sb *b, const char *f, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends a message. Control bytes of the arguments are written as \xNN, so that all line breaks of
 * the text come from the format. */
void sb_vfmt_message(struct sb *b, const char *f, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends the text, with each "{one|many}" replaced by the form for n. */
void sb_plural(struct sb *b, const char *text, uint64_t n);
/* Appends n and the noun, which is given in the plural: "1 record without a time" for "records
 * without a time". str_counted returns this text, in a. */
void sb_counted(struct sb *b, uint64_t n, struct str things);
struct str str_counted(struct arena *a, uint64_t n, struct str things);
static inline struct str sb_str(const struct sb *b)
{
	return (struct str){ b->p, b->n };
}

struct str str_fmt(struct arena *a, const char *f, ...) __attribute__((format(printf, 2, 3)));

#endif
