/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by block_decode.c and block_check.c: the step to the next block.
 */
#ifndef TFPROF_IO_BLOCK_DECODE_INTERNAL_H
#define TFPROF_IO_BLOCK_DECODE_INTERNAL_H

#include "io/block_decode.h"

/* Makes the next valid block the current one and returns RECORD; otherwise returns as block_decode
 * does. */
enum spool_event spool_block_next(struct block_decoder *g, struct spool_damage *d);

#endif
