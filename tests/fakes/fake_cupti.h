/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the fake CUPTI share; nobody else includes it.
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
#define NEWER  (FAKE_VERSION >= 130001)
#define MIDDLE (FAKE_VERSION >= 24)
#define SHARDS 8
#define KINDS  64
#define CBIDS  700
#define STOLEN 65536

enum { OK, INVALID = 1, MAX_LIMIT = 12, MULTIPLE = 39 };
enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, STATE = 6 };
enum { DRIVER_CALLS = 4 }; /* the kind of their records */

typedef void callback(void *, unsigned, unsigned, const void *);

struct shard {
	pthread_mutex_t lock;
	uint8_t *buffer;
	size_t size, used;
	int theirs; /* it belongs to the other client */
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
	int subscribed, finalized, stolen, system_tids;
	struct shard shard[SHARDS];
	uint8_t theirs[STOLEN];
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

/* ---- records ---- */

/* 0: this version has no such kind. */
unsigned fake_record_size(unsigned kind);
/* As records name the calling thread. */
uint32_t fake_tid(void);

/* All below want the shard locked; a record that finds no room counts as dropped. */
void fake_give_back(struct shard *s);
void fake_put_call(
        struct shard *s, unsigned domain, unsigned cbid, uint32_t correlation, uint64_t at);
void fake_put_work(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at);
void fake_put_device(struct shard *s);
void fake_put_context(struct shard *s);

#endif
