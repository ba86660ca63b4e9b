/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at first bytes, which may be anything and may break off anywhere: what sniff and foreign
 * share.
 */
#ifndef TFPROF_MODEL_SNIFF_INTERNAL_H
#define TFPROF_MODEL_SNIFF_INTERNAL_H

#include "io/wire.h"

/* A message in the head; what is cut off by the head's end counts as far as it is there. */
struct str sniff_message(struct leaf *l);

/* Could this be a name: not empty, and no control characters? */
bool sniff_is_name(struct str s);

/* Does a message begin with field 1, a name? */
bool sniff_begins_with_name(struct str s);

/* The first word of a text, small letters and '_', behind blanks and comments. */
struct str sniff_word(struct str s);

#endif
