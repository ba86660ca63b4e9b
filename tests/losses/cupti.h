/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUPTI that loses records in known ways. LOSSES_CUPTI lists its habits, as in "hide=1,drop=10":
 *
 *   threads=1        each thread fills buffers of its own
 *   hide=1           records appear in the client's buffer when it is given back
 *   pend=1           a record goes into a buffer only when its work has ended
 *   worker=1         full buffers are given back by a thread of CUPTI, else by the thread that
 * fills the next one drop=N mute=N    each Nth kernel is dropped and counted so, or has no record
 * and nobody says so next=N nexts=E   the Nth record of a client cannot be read: error E, and for
 * all behind it in its buffer uncounted=N      from its Nth call on,
 * cuptiActivityGetNumDroppedRecords fails keep=N           each Nth buffer is never given back
 *   keepfrom=N       from the Nth flush on, no buffer is
 *   flushfail=N      from the Nth on, cuptiActivityFlushAll fails and does nothing
 *   die=N dieon=N    at the Nth launch or flush CUPTI registers a handler of exit that takes it
 * down silent=1         taken down, its functions still succeed meet=N           the Nth flush
 * waits until the program leaves displace=1       a second subscriber is accepted, and the first
 * one has no callbacks any more newest=1         buffers are given to the client that registered
 * last, not to the one that supplied them refuse=NAME      this function fails, for all clients;
 * refuse2=NAME: this one too hang=NAME        this function never returns
 */
#ifndef LOSSES_CUPTI_H
#define LOSSES_CUPTI_H

#include <pthread.h>

#include "driver.h"

#ifndef VERSION
#define VERSION 130001
#endif
#define EXPORTED __attribute__((visibility("default")))
#define SHARDS   512
#define KINDS    64
#define CBIDS    1024
#define DOMAINS  8
#define CLIENTS  4

enum {
	OK,
	INVALID = 1,
	DOWN = 4,
	INVALID_OPERATION = 7,
	MAX_LIMIT = 12,
	ALREADY = 39,
	UNKNOWN = 999
};
enum {
	MEMCPY = 1,
	DRIVER_CALLS = 4,
	RUNTIME_CALLS = 5,
	DEVICE = 8,
	CONTEXT = 9,
	KERNEL = 10,
	GRAPH = 51
};

/* The value of a habit, 0: none. */
unsigned long habit(const char *name);
/* The error with which a function is refused, 0: it is not; one that hangs does not return. */
int refused(const char *function);

/* A record whose work may not have ended. */
struct open_record {
	size_t at;
	void *stream;
	uint64_t work;
	int kernel;
};

struct buffer {
	struct buffer *next;
	struct client *owner;
	int newer; /* the interface of several subscribers */
	uint8_t *client, *own;
	size_t size, used;
	struct open_record *open;
	size_t n_open, room;
	unsigned kernels, records;
};

/* A record that waits for the end of its work. */
struct pending {
	struct pending *next;
	uint8_t record[256];
	size_t size;
	struct open_record what;
};

typedef void request_1(uint8_t **, size_t *, size_t *);
typedef void complete_1(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void request_2(uint8_t **, size_t *, size_t *, const void *);
typedef void complete_2(uint8_t *, size_t, size_t, const void *);
typedef void callback(void *, uint32_t, uint32_t, const void *);

/* Registered functions; a second client may replace them. */
struct client {
	request_1 *request;
	complete_1 *complete;
	request_2 *request2;
	complete_2 *complete2;
	int first; /* the recorder: the first that has registered */
};

/* Records: of all clients together, or of one of several subscribers. */
struct activity {
	pthread_mutex_t lock;
	struct client *client; /* who registered last, NULL: nobody */
	unsigned char kinds[KINDS], single[3][CBIDS];
	size_t dropped;
	struct buffer *now[SHARDS], *full, **full_end;
	struct pending *pending, **pending_end;
};

struct subscriber {
	int used;
	callback *told;
	void *user;
	unsigned char on[DOMAINS][CBIDS];
	struct activity *activity;
};

extern struct subscriber subscribers[CLIENTS];
extern struct activity shared; /* of clients without handles */
extern int several;            /* subscribers have handles and records of their own */
extern _Atomic int down;

/* ---- cupti_buffers.c ---- */

/* Stores a record; of a kernel with its stream and number. */
void put(struct activity *a, const void *record, size_t size, struct open_record what);
int flush(struct activity *a, int forced);
void abandon(struct activity *a);
void start_worker(void);
uint32_t thread_id(void);

/* ---- cupti_records.c ---- */

size_t size_of(uint32_t kind);
uint64_t clock_now(void);
/* Records of a call that has ended. */
void put_call(struct activity *a, const struct call *c, uint64_t began);
void put_work(struct activity *a, const struct call *c);
void put_device(struct activity *a);

/* ---- cupti_session.c ---- */

/* A buffer is given with new content. */
void readable(const uint8_t *buffer, size_t size);

/* Registers the handler that takes CUPTI down, if its time has come. */
void die_at_exit(const char *event, uint64_t n);

#endif
