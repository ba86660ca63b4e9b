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
#define EXPORT  __attribute__((visibility("default")))
#define MANY    (FAKE_VERSION >= 130500) /* several clients */
#define NEWEST  (FAKE_VERSION >= 130400)
#define NEWER   (FAKE_VERSION >= 130001)
#define MIDDLE  (FAKE_VERSION >= 24)
#define SHARDS  512
#define SHARED  8 /* of them, unless each thread has one */
#define CLIENTS 2
#define KINDS   64
#define CBIDS   700

enum { OK, INVALID = 1, MAX_LIMIT = 12, NOT_INITIALIZED = 15, NOT_COMPATIBLE = 23, MULTIPLE = 39 };
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

struct fake_client;

struct shard {
	pthread_mutex_t lock;
	struct fake_client *owner;
	struct filling *now;
	struct filling *full; /* oldest first; CUPTI has them until their records are complete */
};

typedef void requested(uint8_t **, size_t *, size_t *);
typedef void completed(void *, unsigned, uint8_t *, size_t, size_t);
typedef void requested_v2(uint8_t **, size_t *, size_t *, void *);
typedef void completed_v2(uint8_t *, size_t, size_t, void *);

/* The settings of a client. Where several are allowed, only functions with a client work, and
 * each client has buffers of its own; otherwise all is of the first one. */
struct fake_client {
	callback *told;
	void *user;
	requested *request; /* one of each two */
	completed *complete;
	requested_v2 *request_v2;
	completed_v2 *complete_v2;
	unsigned char kinds[KINDS], single[3][CBIDS], listening[7][CBIDS];
	size_t dropped;
	int subscribed, system_tids;
	struct shard shard[SHARDS];
};

struct fake_cupti {
	struct fake_client client[CLIENTS];
	uint32_t correlation;
	uint64_t launches, flushes;
	int several, finalized;
	int hangs;        /* a function does not return (FAKE_HANG) */
	int whole_graphs; /* of several clients: for all of them */
	int any_kind;     /* has been enabled */
	int dead;         /* a handler of exit has taken it down */
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

/* Functions without a client, where several are allowed. */
#define ALONE()                                                                                    \
	do {                                                                                       \
		if (GET(fake.several))                                                             \
			return NOT_COMPATIBLE;                                                     \
	} while (0)

/* CUPTI's clock, ns. */
uint64_t fake_now(void);

/* ---- buffers: fake_cupti_buffer.c ---- */

/* Like realloc, but never fails and keeps errno: the first allocation of a thread changes it where
 * /sys is missing, because malloc counts the processors. */
void *fake_alloc(void *old, size_t n);
/* The shard of the calling thread. */
struct shard *fake_shard(struct fake_client *);
/* A client has callbacks for buffers. */
int fake_has_buffers(struct fake_client *);
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

/* The client of a handle; NULL: it is none, or not subscribed. */
struct fake_client *fake_client_of(void *handle);
/* From the next end of the process on, a handler takes it down. */
void fake_cupti_die_at_exit(void);
/* Called by the driver for each operation. */
void fake_ran(const struct fake_op *op);

/* ---- records ---- */

/* Steps over the records of a buffer, as cuptiActivityGetNextRecord. */
int fake_next_record(uint8_t *buffer, size_t valid, uint8_t **r);
/* 0: this version has no such kind. */
unsigned fake_record_size(unsigned kind);
/* Returns the id of the calling thread, as in records. */
uint32_t fake_tid(const struct fake_client *);

/* All below want the shard locked; a record that finds no room counts as dropped. */
void fake_put_call(struct shard *s, unsigned domain, unsigned cbid, uint32_t correlation,
        uint64_t start, uint64_t end);
/* at: when the call ended; the work begins after it. */
void fake_put_work(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at);
void fake_put_device(struct shard *s);
void fake_put_context(struct shard *s);

#endif
