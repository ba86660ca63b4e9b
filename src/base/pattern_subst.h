/* SPDX-License-Identifier: Apache-2.0
 *
 * Renaming by substitution, as in sed: s/pattern/replacement/flags, with any character in place of
 * the slash. Flags are g (all matches) and i (ignore case). In the replacement, \1 or $1 is the
 * text of the first parentheses, and & is a plain character. A ; separates several rules.
 */
#ifndef TFPROF_BASE_PATTERN_SUBST_H
#define TFPROF_BASE_PATTERN_SUBST_H

#include "base/err.h"

struct pattern_subst;

/* Compiles the rules, which are applied in order; the given bytes are referenced, not copied.
 * Closed like the lists of pattern.h. */
bool pattern_subst_compile(
        struct pattern_subst **out, struct arena *a, struct str rules, struct err *e);
void pattern_subst_free(struct pattern_subst *l);

/* Returns the text with all rules applied, in a; the given slice if no rule matches. */
bool pattern_subst_apply(
        struct pattern_subst *l, struct str text, struct arena *a, struct str *out, struct err *e);

#endif
