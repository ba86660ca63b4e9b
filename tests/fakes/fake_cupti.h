/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the fake CUPTI.
 */
#ifndef FAKES_FAKE_CUPTI_H
#define FAKES_FAKE_CUPTI_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_cuda.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION 130001
#endif
#define EXPORT __attribute__((visibility("default")))
#define NEWEST (FAKE_VERSION >= 130400)
#define NEWER  (FAKE_VERSION >= 130001)
#define MIDDLE (FAKE_VERSION >= 24)
#define SHARDS 512
#define SHARED 8 /* of them, unless each thread has one */
#define KINDS  64
#define CBIDS  700

enum { OK, INVALID = 1, MAX_LIMIT = 12, NOT_INITIALIZED = 15, MULTIPLE = 39 };
enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, STATE = 6 };
enum { DRIVER_CALLS = 4 }; /* the kind of their records */

typedef void callback(void *, unsigned, unsigned, const void *);

/* Times of a record that is not complete: they are put in when the work has ended. */
struct pending {
	uint8_t *record;
	unsigned start_at, end_at;
	uint64_t start, end;
};

/* A buffer of a client. */
struct filling {
	struct filling *next;
	uint8_t *data;
	uint8_t *client; /* size requested; data, unless records are hidden until delivery */
	size_t size, used;
	struct pending *pending;
	unsigned n_pending, room;
};

struct shard {
	pthread_mutex_t lock;
	struct filling *now;
	struct filling *full; /* oldest first; CUPTI has them until their records are complete */
};

struct fake_cupti {
	callback *told;
	void *user;
	void (*request)(uint8_t **, size_t *, size_t *);
	void (*complete)(void *, unsigned, uint8_t *, size_t, size_t);
	unsigned char kinds[KINDS], single[3][CBIDS], listening[7][CBIDS];
	size_t dropped;
	uint32_t correlation;
	uint64_t launches, flushes;
	int subscribed, finalized, system_tids;
	int dead; /* a handler of exit has taken it down */
	struct shard shard[SHARDS];
};
extern struct fake_cupti fake;

#define GET(x)    __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)

/* ---- the environment ---- */

unsigned long fake_option(const char *name); /* 0: not given */
int fake_option_is(const char *name, const char *value);

/* The error that FAKE_FAIL wants of a function, 0: none. */
int fake_fail(const char *function, unsigned argument);
#define FAIL(function, argument)                                                                   \
	do {                                                                                       \
		int error_ = fake_fail(function, (unsigned)(argument));                            \
		if (error_)                                                                        \
			return error_;                                                             \
	} while (0)

/* CUPTI's clock, ns. */
uint64_t fake_now(void);

/* ---- buffers: fake_cupti_buffer.c ---- */

/* Like realloc, but never fails and keeps errno: the first allocation of a thread changes it where
 * /sys is missing, because malloc counts the processors. */
void *fake_alloc(void *old, size_t n);
/* The shard of the calling thread. */
struct shard *fake_shard(void);
/* Room for a record; NULL if it must be dropped. The shard is locked. */
uint8_t *fake_room(struct shard *s, size_t n);
/* Puts the times of the record that was made last: now, or when the work has ended. */
void fake_put_times(struct shard *s, uint8_t *record, unsigned start_at, unsigned end_at,
        uint64_t start, uint64_t end);
/* Delivers the buffers whose records are complete; forced: all. */
void fake_flush(int forced, int backwards);
/* Drops all buffers without delivering them. */
void fake_abandon(void);

/* ---- clients: fake_cupti_life.c ---- */

/* From the next end of the process on, a handler takes it down. */
void fake_cupti_die_at_exit(void);
/* Called by the driver for each operation. */
void fake_ran(const struct fake_op *op);

/* ---- records ---- */

/* 0: this version has no such kind. */
unsigned fake_record_size(unsigned kind);
/* Returns the id of the calling thread, as in records. */
uint32_t fake_tid(void);

/* All below want the shard locked; a record that finds no room counts as dropped. */
void fake_put_call(struct shard *s, unsigned domain, unsigned cbid, uint32_t correlation,
        uint64_t start, uint64_t end);
/* at: when the call ended; the work begins after it. */
void fake_put_work(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at);
void fake_put_device(struct shard *s);
void fake_put_context(struct shard *s);

#endif
