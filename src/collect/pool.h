/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers that CUPTI fills: taken and handed on by its callbacks in any thread, without a lock
 * and without malloc; emptied by the writer thread alone.
 *
 * CUPTI keeps a buffer until all operations in it have ended, so a large one would hold the records
 * of a slow program back for minutes. Buffers are as large as fills in about POOL_FILL_NS, from
 * POOL_BYTES_LEAST up to what pool_reset is given.
 */
#ifndef TFPROF_COLLECT_POOL_H
#define TFPROF_COLLECT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_BUFFERS 1024u        /* at most */
#define POOL_LARGE   384u         /* of them; the others, for very many threads, are small */
#define POOL_BYTES   (128u << 10) /* of a large one */
#define POOL_BYTES_LEAST                                                                           \
	(16u << 10) /* of a small one, and the least that an option may ask for                    \
	             */
#define POOL_FILL_NS 250000000u

struct pool_buffer {
	struct pool_buffer *next;
	uint8_t *data;
	size_t size;    /* that CUPTI may use this time */
	uint64_t taken; /* when it got it, process_ticks */
	size_t valid;
};

/* Empties the pool: buffers of at most `bytes`, at most `count`. Only while no callback can come.
 */
void pool_reset(unsigned count, size_t bytes);
/* A zeroed buffer and its size, or NULL where all are out. */
uint8_t *pool_take(size_t *size);
/* Queues a buffer of pool_take for the writer; false if it is none of the pool's. */
bool pool_put(uint8_t *, size_t valid);
/* The queued buffers, oldest first, linked by next; NULL if there is none. */
struct pool_buffer *pool_drain(void);
/* Gives a drained buffer back, cleared. */
void pool_give(struct pool_buffer *);

/* Returns how many buffers CUPTI has. */
unsigned pool_out(void);
/* Returns how many bytes CUPTI has written into the buffers that it has, as far as their content
 * shows. */
size_t pool_written(void);
/* Calls f for each buffer that CUPTI has and has written into. */
void pool_each_written(void (*f)(void *, uint8_t *data, size_t size), void *user);

#endif
