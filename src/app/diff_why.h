/* SPDX-License-Identifier: Apache-2.0
 *
 * Why sides do not match.
 */
#ifndef TFPROF_APP_DIFF_WHY_H
#define TFPROF_APP_DIFF_WHY_H

#include "app/session.h"
#include "view/compare.h"

/* Fails with the likeliest reason why the first and the last side have nothing in common. */
bool diff_why_nothing(struct session *s, const struct compare *c, const struct strs *names);

/* A note if nodes of one side are called like nodes of the other but for upper and lower case. */
void diff_note_case(struct session *s, const struct compare *c);

#endif
