/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of patterns, each matched against the whole text. Only this file and rx_subst.c know that
 * PCRE2 does it. Match and heap limits are set: a pattern that hits one is an error, never a hang.
 */
#ifndef TFPROF_BASE_RX_H
#define TFPROF_BASE_RX_H

#include "base/err.h"

struct rx_list;

/* Compiles the patterns (any of them may match). The list lives in the arena; its compiled code is
 * closed with rx_free or by a guard of the arena's work, and must be before the arena is reset.
 * Fails with the pattern, the position and the reason. */
bool rx_compile(struct rx_list **out, struct arena *a, const struct strs *patterns, struct err *e);
void rx_free(struct rx_list *l);

bool rx_is_all(const struct rx_list *l); /* exactly [".*"] */
bool rx_is_empty(const struct rx_list *l);
size_t rx_count(const struct rx_list *l);

/* Does any pattern match? A pattern that hits a limit fails the list: from then on nothing matches,
 * and rx_failed tells. */
bool rx_match(struct rx_list *l, struct str text);
bool rx_match_one(struct rx_list *l, size_t i, struct str text); /* does pattern i match? */

/* True once a match gave up; *e then says which pattern on which text. */
bool rx_failed(const struct rx_list *l, struct err *e);

#endif
