/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers that CUPTI fills: its callbacks take and return them in any thread, without lock and
 * malloc; the writer thread alone empties them.
 *
 * CUPTI keeps a buffer until all operations in it have ended, so a large buffer would hold back the
 * records of a slow program for minutes. The size is chosen so that a buffer fills in about
 * POOL_FILL_NS, between POOL_BYTES_LEAST, room for four launches, and the limit given to
 * pool_reset. Work that waits in long queues has many small buffers, as each one comes back when
 * its work has ended; only while CUPTI holds a quarter of all buffers or more, new ones have at
 * least POOL_BYTES_SMALL, or the buffers would not suffice.
 */
#ifndef TFPROF_COLLECT_POOL_H
#define TFPROF_COLLECT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAX       512u  /* bytes of a record; a buffer with less room left counts as full */
#define POOL_BUFFERS     1024u /* maximum number of buffers */
#define POOL_LARGE       384u  /* large buffers; the others, for very many threads, are small */
#define POOL_BYTES       (128u << 10) /* size of a large buffer */
#define POOL_BYTES_SMALL (16u << 10)  /* size of a small buffer, and the minimum of the option */
#define POOL_BYTES_LEAST (1u << 10)   /* smallest size that is passed to CUPTI */
#define POOL_CROWD       4u /* if CUPTI holds 1/POOL_CROWD of all buffers, new ones are larger */
#define POOL_FILL_NS     UINT64_C(250000000)

struct pool_buffer {
	struct pool_buffer *next;
	uint8_t *data;
	size_t size;    /* number of bytes that CUPTI may use this time */
	uint64_t taken; /* time when CUPTI took it (process_ticks) */
	size_t valid;
};

/* Resets the pool to at most `count` buffers of at most `bytes`. May be called only while no
 * callback can run. */
void pool_reset(unsigned count, size_t bytes);
/* Returns a zeroed buffer and its size, or NULL if all are in use. */
uint8_t *pool_take(size_t *size);
/* Queues a buffer of pool_take for the writer. Returns false if it is not a buffer of the pool. */
bool pool_put(uint8_t *, size_t valid);
/* Returns the queued buffers, oldest first, linked by next; NULL if there are none. */
struct pool_buffer *pool_drain(void);
/* Clears a drained buffer, and returns it to the pool. */
void pool_give(struct pool_buffer *);

/* Returns the number of buffers held by CUPTI. */
unsigned pool_out(void);
/* Returns the number of bytes that CUPTI has written into the buffers it holds, estimated from
 * their content. */
size_t pool_written(void);
/* Calls f for each buffer that CUPTI holds and has written to. */
void pool_each_written(void (*f)(void *, uint8_t *data, size_t size), void *user);

/* Records that a buffer was requested while all were in use or memory was exhausted. */
void pool_was_short(void);
bool pool_were_short(void);
/* Returns the number of records in buffers that CUPTI has not returned. count: counts the records
 * of one buffer. */
uint64_t pool_kept(uint64_t (*count)(uint8_t *data, size_t size));

#endif
