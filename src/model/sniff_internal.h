/* SPDX-License-Identifier: Apache-2.0
 *
 * Examines first bytes, which may be any bytes and may be truncated anywhere. Shared by sniff and
 * unsupported_format.
 */
#ifndef TFPROF_MODEL_SNIFF_INTERNAL_H
#define TFPROF_MODEL_SNIFF_INTERNAL_H

#include "io/wire.h"

/* Reads a message in the head; a value truncated by the end of the head counts as far as it is
 * present. */
struct str sniff_message(struct leaf *l);

/* True if this can be a name: not empty, without control characters. */
bool sniff_is_name(struct str s);

/* True if a message begins with field 1, a name. */
bool sniff_begins_with_name(struct str s);

/* Returns the first word of a text (lower case and '_') after blanks and comments. */
struct str sniff_word(struct str s);

#endif
