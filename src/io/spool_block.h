/* SPDX-License-Identifier: Apache-2.0
 *
 * What spool_get.c and spool_block.c share: the way to the next block.
 */
#ifndef TFPROF_IO_SPOOL_BLOCK_H
#define TFPROF_IO_SPOOL_BLOCK_H

#include "io/spool_get.h"

/* Makes the next good block the current one: RECORD stands for it. Else as spool_get. */
enum spool_event spool_block_next(struct spool_get *g, struct spool_damage *d);

#endif
