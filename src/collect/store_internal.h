/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums by name and device, used when the recording may not grow: exact, in bounded memory.
 */
#ifndef TFPROF_COLLECT_STORE_INTERNAL_H
#define TFPROF_COLLECT_STORE_INTERNAL_H

#include <stdbool.h>

#include "io/block_format.h"

#define SUMS_MOST 8192u /* distinct names and devices; a power of two */

void sums_reset(void);
/* Adds a record; false if its kind has no sums, or if the table is full. */
bool sums_add(const struct spool_record *);
/* Passes the sums since the last call to put, row by row. */
void sums_take(void (*put)(const struct spool_sum *));

#endif
