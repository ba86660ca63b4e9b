/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of patterns, each matched against the whole text. Only this file and pattern_subst.c use
 * PCRE2. Match and heap limits are set: a pattern that reaches one is an error, never a hang.
 */
#ifndef TFPROF_BASE_PATTERN_H
#define TFPROF_BASE_PATTERN_H

#include "base/err.h"

struct pattern_list;

/* Compiles the patterns, any of which may match. The list lives in the arena. Its compiled code is
 * closed by pattern_free or by a guard of the arena's work, and must be closed before the arena is
 * reset. The error contains the pattern, the position and the reason. */
bool pattern_compile(
        struct pattern_list **out, struct arena *a, const struct strs *patterns, struct err *e);
/* Compiles one pattern that may match anywhere in a text. */
bool pattern_compile_within(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e);
void pattern_free(struct pattern_list *l);

bool pattern_is_all(const struct pattern_list *l); /* true for exactly [".*"] */
bool pattern_is_empty(const struct pattern_list *l);
size_t pattern_count(const struct pattern_list *l);

/* True if any pattern matches. A pattern that reaches a limit fails the list: from then on nothing
 * matches, and pattern_failed returns true. */
bool pattern_match(struct pattern_list *l, struct str text);
bool pattern_match_one(
        struct pattern_list *l, size_t i, struct str text); /* true if pattern i matches */

/* True after matching a pattern has failed. Then *e names the pattern and the text. */
bool pattern_failed(const struct pattern_list *l, struct err *e);

/* ---- pattern subst ---- */

/* Renaming by substitution, as in sed: s/pattern/replacement/flags, with any character in place of
 * the slash. Flags are g (all matches) and i (ignore case). In the replacement, \1 or $1 is the
 * text of the first parentheses, and & is an ordinary character. A semicolon separates rules. */

struct pattern_subst;

/* Compiles the rules, which are applied in order. References the given bytes without copying them.
 * Closed like the lists of pattern.h. */
bool pattern_subst_compile(
        struct pattern_subst **out, struct arena *a, struct str rules, struct err *e);
void pattern_subst_free(struct pattern_subst *l);

/* Returns the text after applying all rules, in a; the given slice if no rule matches. */
bool pattern_subst_apply(
        struct pattern_subst *l, struct str text, struct arena *a, struct str *out, struct err *e);

#endif
