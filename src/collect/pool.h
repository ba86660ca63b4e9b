/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers that CUPTI fills: taken and handed on by its callbacks in any thread, without a lock
 * and without malloc; emptied by the writer thread alone.
 */
#ifndef TFPROF_COLLECT_POOL_H
#define TFPROF_COLLECT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_BUFFERS     64u         /* at most: one bit each */
#define POOL_BYTES       (1u << 20)  /* of a buffer */
#define POOL_BYTES_LEAST (16u << 10) /* the least that an option may ask for */

struct pool_buffer {
	struct pool_buffer *next;
	uint8_t *data;
	size_t valid;
};

/* Empties the pool: buffers of `bytes`, at most `count`. Only while no callback can come. */
void pool_reset(unsigned count, size_t bytes);
size_t pool_bytes(void);
/* A zeroed buffer, or NULL where all are out. */
uint8_t *pool_take(void);
/* Queues a buffer of pool_take for the writer; false if it is none of the pool's. */
bool pool_put(uint8_t *, size_t valid);
/* The queued buffers, oldest first, linked by next; NULL if there is none. */
struct pool_buffer *pool_drain(void);
/* Gives a drained buffer back, cleared. */
void pool_give(struct pool_buffer *);

#endif
