/* SPDX-License-Identifier: Apache-2.0
 *
 * Renaming by substitution, as sed writes it: s/pattern/replacement/flags, where any character may
 * stand for the slash; flags are g (all matches) and i (in any case). In the replacement \1 or $1
 * is what the first parentheses matched, & is a plain character. Several rules stand behind each
 * other, with a ; between them.
 */
#ifndef TFPROF_BASE_PATTERN_SUBST_H
#define TFPROF_BASE_PATTERN_SUBST_H

#include "base/err.h"

struct pattern_subst;

/* Compiles the rules, which are applied one after the other; their bytes are kept. Closed as lists
 * of pattern.h are. */
bool pattern_subst_compile(
        struct pattern_subst **out, struct arena *a, struct str rules, struct err *e);
void pattern_subst_free(struct pattern_subst *l);

/* The text with all rules applied, in a; the very slice given if none matches. */
bool pattern_subst_apply(
        struct pattern_subst *l, struct str text, struct arena *a, struct str *out, struct err *e);

#endif
