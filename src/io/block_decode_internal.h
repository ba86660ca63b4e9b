/* SPDX-License-Identifier: Apache-2.0
 *
 * What block_decode.c and block_check.c share: the way to the next block.
 */
#ifndef TFPROF_IO_BLOCK_DECODE_INTERNAL_H
#define TFPROF_IO_BLOCK_DECODE_INTERNAL_H

#include "io/block_decode.h"

/* Makes the next good block the current one: RECORD stands for it. Else as block_decode. */
enum spool_event spool_block_next(struct block_decoder *g, struct spool_damage *d);

#endif
