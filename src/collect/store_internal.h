/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums by name and device, for when the spool may not grow any more: exact, in bounded memory.
 */
#ifndef TFPROF_COLLECT_STORE_INTERNAL_H
#define TFPROF_COLLECT_STORE_INTERNAL_H

#include <stdbool.h>

#include "io/block_format.h"

#define SUMS_MOST 8192u /* different names and devices; a power of two */

void sums_reset(void);
/* Adds a record; false if it is of a kind without sums, or of one name too many. */
bool sums_add(const struct spool_record *);
/* Hands out what came since the last call, row by row. */
void sums_take(void (*put)(const struct spool_sum *));

#endif
