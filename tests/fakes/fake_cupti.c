/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUPTI without a GPU: libcupti.so.11.8, .12 and .13 for tests, told apart by FAKE_VERSION. It
 * makes a record of each operation of the fake driver, in the sizes and places of that version
 * (from CUPTI's own headers, not from the collector's), and can be told to misbehave:
 *   FAKE_FAIL=ActivityEnable:2[:10],...  a function returns that error [if its first number is
 * that] FAKE_HOLDER=nsys           another tool has the only place FAKE_FATAL=100             it
 * gives up after so many launches FAKE_STEAL=100[:200]       another client takes the buffers after
 * so many launches [until so many] FAKE_TIMES=zero|negative|huge|early   times of kernels
 *   FAKE_END=truncated|unknown|empty      how buffers end
 *   FAKE_CORRELATION=4294967290           the first one
 *   FAKE_UNCORRELATED=1        none until whole kinds of calls are enabled
 *   FAKE_DROPPED=5             at each question
 *   FAKE_BLOCK=10              seconds that a forced flush takes
 *   FAKE_MUTE=1                launches, but no kernels
 *   FAKE_SHUFFLE=1             buffers come back in another order
 *   FAKE_KERNEL_SIZE=160       size of kernel records
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION 130001
#endif
#define EXPORT __attribute__((visibility("default")))
#define NEWER  (FAKE_VERSION >= 130001)
#define MIDDLE (FAKE_VERSION >= 24)
#define SHARDS 8
#define KINDS  64
#define CBIDS  600
#define STOLEN 65536

enum { OK, INVALID = 1, MAX_LIMIT = 12, MULTIPLE = 39 };
enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, STATE = 6 };

/* Sizes of records in this version; 0: there is no such kind. */
static unsigned size_of[KINDS] = {
	[1] = NEWER || MIDDLE ? 96 : 88,
	[2] = 88,
	[4] = 40,
	[5] = 40,
	[8] = MIDDLE ? 184 : 176,
	[9] = MIDDLE ? 32 : 16,
	[10] = NEWER    ? 216
	       : MIDDLE ? 208
	                : 200,
	[17] = MIDDLE ? 56 : 40,
	[22] = 96,
	[38] = MIDDLE ? 56 : 40,
	[49] = NEWER ? 128 : 120,
	[51] = MIDDLE ? 56 : 48,
	[55] = 48,
};

__attribute__((unused)) static const struct {
	unsigned domain, cbid;
	const char *name;
} calls[] = {
	{ RUNTIME, 164, "cudaDeviceReset_v3020" },
	{ RUNTIME, 211, "cudaLaunchKernel_v7000" },
	{ RUNTIME, 3, "cudaGetDevice_v3020" },
	{ RUNTIME, 31, "cudaMemcpy_v3020" },
	{ RUNTIME, 505, "__cudaLaunchKernel_v13000" },
	{ RUNTIME, 506, "__cudaLaunchKernel_ptsz_v13000" },
	{ DRIVER, 307, "cuLaunchKernel" },
	{ DRIVER, 514, "cuGraphLaunch" },
	{ DRIVER, 276, "cuMemcpyHtoD_v2" },
	{ DRIVER, 278, "cuMemcpyDtoH_v2" },
	{ DRIVER, 407, "cuMemcpyPeer" },
	{ DRIVER, 267, "cuMemsetD8_v2" },
	{ DRIVER, 243, "cuMemAlloc_v2" },
	{ DRIVER, 245, "cuMemFree_v2" },
	{ DRIVER, 17, "cuCtxSynchronize" },
	{ DRIVER, 16, "cuCtxGetDevice" },
	{ DRIVER, 322, "cuCtxDestroy_v2" },
	{ DRIVER, 24, "cuModuleUnload" },
	{ DRIVER, 308, "cuProfilerStart" },
	{ DRIVER, 309, "cuProfilerStop" },
};

typedef void callback(void *, unsigned, unsigned, const void *);

struct shard {
	pthread_mutex_t lock;
	uint8_t *buffer;
	size_t size, used;
	int theirs; /* it belongs to the other client */
};

static struct {
	callback *told;
	void *user;
	void (*request)(uint8_t **, size_t *, size_t *);
	void (*complete)(void *, unsigned, uint8_t *, size_t, size_t);
	unsigned char kinds[KINDS], single[3][CBIDS], listening[7][CBIDS];
	size_t dropped;
	uint32_t correlation;
	uint64_t launches;
	int subscribed, finalized, stolen, system_tids;
	struct shard shard[SHARDS];
	uint8_t theirs[STOLEN];
} c = { .shard = { [0 ... SHARDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER } } };

#define GET(x)    __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned long option(const char *name)
{
	const char *v = getenv(name);

	return v ? strtoul(v, NULL, 10) : 0;
}

static int option_is(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v && !strcmp(v, value);
}

/* The error that FAKE_FAIL wants of a function, 0: none. */
static int fail(const char *function, unsigned argument)
{
	const char *p = getenv("FAKE_FAIL");
	size_t n = strlen(function);

	for (; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char *end;

		if (strncmp(p, function, n) || p[n] != ':')
			continue;
		int error = (int)strtoul(p + n + 1, &end, 10);

		if (*end != ':' || strtoul(end + 1, NULL, 10) == argument)
			return error;
	}
	return 0;
}
#define FAIL(function, argument)                                                                   \
	do {                                                                                       \
		int error_ = fail(function, (unsigned)(argument));                                 \
		if (error_)                                                                        \
			return error_;                                                             \
	} while (0)

__attribute__((constructor)) static void set_sizes(void)
{
	if (option("FAKE_KERNEL_SIZE"))
		size_of[10] = (unsigned)option("FAKE_KERNEL_SIZE");
}

/* ---- buffers -----------------------------------------------------------------------------------
 */
static void give_back(struct shard *s)
{
	uint8_t *p = s->buffer;
	size_t valid = s->used;

	if (!p)
		return;
	s->buffer = NULL;
	if (s->theirs)
		return;
	if (option_is("FAKE_END", "truncated") && valid > 20)
		valid -= 20;
	if (option_is("FAKE_END", "empty"))
		valid = 0;
	if (option_is("FAKE_END", "unknown") && s->size - valid >= 48) {
		memset(p + valid, 0, 48);
		p[valid] = 55;
		valid += 48;
	}
	GET(c.complete)(NULL, 0, p, s->size, valid);
}

/* A record of a kind; NULL if it must be dropped. The shard is locked. */
static uint8_t *record(struct shard *s, unsigned kind)
{
	size_t n = size_of[kind], most;

	if (s->buffer && (s->size - s->used < n || s->theirs != GET(c.stolen)))
		give_back(s);
	if (!s->buffer) {
		s->used = 0;
		s->theirs = GET(c.stolen);
		if (s->theirs) {
			s->buffer = c.theirs;
			s->size = STOLEN;
		} else {
			GET(c.request)(&s->buffer, &s->size, &most);
		}
		if (!s->buffer || s->size < n) {
			__atomic_fetch_add(&c.dropped, 1, __ATOMIC_RELAXED);
			s->buffer = NULL;
			return NULL;
		}
	}
	uint8_t *p = s->buffer + s->used;

	s->used += n;
	if (s->theirs)
		return NULL;
	memset(p, 0, n);
	memcpy(p, &kind, 4);
	return p;
}

static void put(uint8_t *p, unsigned at, uint64_t v, unsigned size)
{
	memcpy(p + at, &v, size);
}
#define PUT32(at, v) put(p, at, (uint64_t)(v), 4)
#define PUT64(at, v) put(p, at, (uint64_t)(v), 8)

static void times(uint64_t *start, uint64_t *end)
{
	if (option_is("FAKE_TIMES", "zero"))
		*start = *end = 0;
	if (option_is("FAKE_TIMES", "negative"))
		*end = *start - 100;
	if (option_is("FAKE_TIMES", "huge"))
		*end = UINT64_MAX - 5;
	if (option_is("FAKE_TIMES", "early"))
		*start = *end = *start - 3600u * 1000000000u;
}

/* ---- records -----------------------------------------------------------------------------------
 */
static unsigned cbid_of(const struct fake_op *op, unsigned *domain)
{
	static const unsigned ids[] = { [FAKE_LAUNCH] = 307,
		[FAKE_COPY] = 276,
		[FAKE_SET] = 267,
		[FAKE_ALLOC] = 243,
		[FAKE_FREE] = 245,
		[FAKE_SYNC] = 17,
		[FAKE_GRAPH] = 514,
		[FAKE_DESTROY] = 322,
		[FAKE_RESET] = 164,
		[FAKE_UNLOAD] = 24,
		[FAKE_PROFILER_START] = 308,
		[FAKE_PROFILER_STOP] = 309,
		[FAKE_GET_DEVICE] = 16 };

	*domain = op->what == FAKE_RESET ? RUNTIME : DRIVER;
	return op->what == FAKE_COPY && op->kind == 2    ? 278
	       : op->what == FAKE_COPY && op->kind == 10 ? 407
	                                                 : ids[op->what];
}

static uint32_t tid(void)
{
	static __thread uint32_t mine;

	if (!mine)
		mine = (uint32_t)syscall(SYS_gettid);
	return GET(c.system_tids) ? mine : (uint32_t)pthread_self();
}

static void put_kernel(
        struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at, uint64_t node)
{
	uint64_t start = at + 2000, end = start + 1000 + (node ? node : 0);
	uint8_t *p = record(s, 10);

	if (!p)
		return;
	times(&start, &end);
	put(p, 6, 32, 2);
	PUT64(16, start);
	PUT64(24, end);
	PUT32(40, 0);
	PUT32(44, 1);
	PUT32(48, op->stream + 7);
	for (unsigned i = 0; i < 3; i++) {
		PUT32(52 + 4 * i, op->grid[i] ? op->grid[i] : 1);
		PUT32(64 + 4 * i, op->block[i] ? op->block[i] : 1);
	}
	PUT32(80, op->shared);
	PUT32(92, correlation);
	PUT64(104, (uintptr_t)(op->name ? op->name : "_Z4nodev"));
	if (node) {
		PUT64(144, node);
		PUT32(156, 5);
	}
}

static void put_transfer(
        struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	int peer = op->kind == 10, set = op->what == FAKE_SET;
	uint8_t *p = record(s, set ? 2 : peer ? 22 : 1);

	if (!p)
		return;
	if (!set) {
		put(p, 4, (uint64_t)op->kind, 1);
		put(p, 5, op->kind == 1 ? 1 : 3, 1);
		put(p, 6, op->kind == 2 ? 1 : 3, 1);
	}
	PUT64(8, op->bytes);
	PUT64(16, at + 2000);
	PUT64(24, at + 2000 + op->bytes / 16);
	PUT32(36, 1);
	PUT32(40, 7);
	if (peer) {
		PUT32(44, 0);
		PUT32(52, 1);
		PUT32(60, correlation);
	} else {
		PUT32(44, correlation);
	}
	if (set)
		put(p, 50, 3, 2);
}

static void put_memory(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	uint8_t *p = record(s, 49);

	if (!p)
		return;
	PUT32(4, op->what == FAKE_ALLOC ? 1 : 2);
	PUT32(8, 3);
	PUT32(12, correlation);
	PUT64(16, op->address);
	PUT64(24, op->bytes);
	PUT64(32, at);
	PUT32(56, 1);
}

static void put_sync(struct shard *s, uint32_t correlation, uint64_t at)
{
	uint8_t *p = record(s, 38);

	if (!p)
		return;
	PUT32(4, 4);
	PUT64(8, at);
	PUT64(16, at + 5000);
	PUT32(24, correlation);
	PUT32(28, 1);
}

static void put_graph(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	struct fake_op node = *op;
	uint8_t *p;

	if (!GET(c.kinds[51])) {
		node.name = NULL;
		for (uint64_t i = 1; i <= op->bytes && GET(c.kinds[10]); i++)
			put_kernel(s, &node, correlation, at, i);
		return;
	}
	if (!(p = record(s, 51)))
		return;
	PUT32(4, correlation);
	PUT64(8, at + 2000);
	PUT64(16, at + 2000 + 1000 * op->bytes);
	PUT32(28, 5);
	PUT32(32, 1);
	PUT32(36, op->stream + 7);
}

static void put_work(struct shard *s, const struct fake_op *op, uint32_t correlation, uint64_t at)
{
	switch (op->what) {
	case FAKE_LAUNCH:
		if (GET(c.kinds[10]) && !option("FAKE_MUTE"))
			put_kernel(s, op, correlation, at, 0);
		break;
	case FAKE_GRAPH: put_graph(s, op, correlation, at); break;
	case FAKE_COPY:
		if (GET(c.kinds[op->kind == 10 ? 22 : 1]))
			put_transfer(s, op, correlation, at);
		break;
	case FAKE_SET:
		if (GET(c.kinds[2]))
			put_transfer(s, op, correlation, at);
		break;
	case FAKE_ALLOC:
	case FAKE_FREE:
		if (GET(c.kinds[49]))
			put_memory(s, op, correlation, at);
		break;
	case FAKE_SYNC:
		if (GET(c.kinds[38]))
			put_sync(s, correlation, at);
		break;
	default: break;
	}
}

static void put_call(
        struct shard *s, unsigned domain, unsigned cbid, uint32_t correlation, uint64_t at)
{
	uint8_t *p;

	if (!GET(c.kinds[domain == RUNTIME ? 5 : 4]) && !GET(c.single[domain][cbid]))
		return;
	if (!(p = record(s, domain == RUNTIME ? 5 : 4)))
		return;
	PUT32(4, cbid);
	PUT64(8, at);
	PUT64(16, at + 1500);
	PUT32(24, getpid());
	PUT32(28, tid());
	PUT32(32, correlation);
}

/* ---- what the driver reports --------------------------------------------------------------------
 */
struct call_data {
	unsigned site;
	const char *function;
	const void *parameters;
};

static void tell(unsigned domain, unsigned cbid, unsigned site)
{
	struct call_data d = { site, "", NULL };
	callback *told = GET(c.told);

	if (told && GET(c.listening[domain][cbid]))
		told(GET(c.user), domain, cbid, &d);
}

static void count_launch(void)
{
	uint64_t n = __atomic_add_fetch(&c.launches, 1, __ATOMIC_SEQ_CST);
	const char *steal = getenv("FAKE_STEAL");
	unsigned long fatal = option("FAKE_FATAL");

	if (steal && n == strtoul(steal, NULL, 10))
		SET(c.stolen, 1);
	if (steal && strchr(steal, ':') && n == strtoul(strchr(steal, ':') + 1, NULL, 10))
		SET(c.stolen, 0);
	if (fatal && n == fatal) {
		tell(STATE, 1, 0);
		SET(c.finalized, 1);
	}
}

static void ran(const struct fake_op *op)
{
	unsigned domain, cbid = cbid_of(op, &domain);
	uint64_t at = now() - 1500;

	if (!GET(c.subscribed) || GET(c.finalized))
		return;
	if (op->entered) {
		tell(domain, cbid, 0);
		if (op->what == FAKE_UNLOAD)
			tell(RESOURCE, 7, 0);
		return;
	}
	struct shard *s = &c.shard[tid() % SHARDS];
	uint32_t correlation = __atomic_add_fetch(&c.correlation, 1, __ATOMIC_RELAXED);

	if (option("FAKE_UNCORRELATED") && !GET(c.kinds[4]))
		correlation = 0;
	pthread_mutex_lock(&s->lock);
	if (GET(c.request)) {
		put_call(s, domain, cbid, correlation, at);
		put_work(s, op, correlation, at);
	}
	pthread_mutex_unlock(&s->lock);
	tell(domain, cbid, 1);
	if (op->what == FAKE_LAUNCH || op->what == FAKE_GRAPH)
		count_launch();
}

/* ---- the functions ------------------------------------------------------------------------------
 */
EXPORT int cuptiGetVersion(unsigned *v)
{
	FAIL("GetVersion", 0);
	*v = FAKE_VERSION;
	return OK;
}

EXPORT int cuptiSubscribe(void **s, callback *f, void *user)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void (**hook)(const struct fake_op *) = cuda ? dlsym(cuda, "fake_hook") : NULL;

	FAIL("Subscribe", 0);
	if (getenv("FAKE_HOLDER") || GET(c.subscribed))
		return MULTIPLE;
	if (!hook)
		return 999;
	SET(c.correlation, (uint32_t)option("FAKE_CORRELATION"));
	SET(c.user, user);
	SET(c.told, f);
	SET(c.subscribed, 1);
	SET(c.finalized, 0);
	__atomic_store_n(hook, ran, __ATOMIC_RELEASE);
	*s = &c;
	return OK;
}

#if NEWER
struct params {
	size_t size;
	const char *name;
	char *old;
	size_t old_size;
};

EXPORT int cuptiSubscribe_v2(void **s, callback *f, void *user, struct params *p)
{
	FAIL("Subscribe_v2", 0);
	if (p->size < sizeof *p)
		return INVALID;
	if (getenv("FAKE_HOLDER") && p->old)
		snprintf(p->old, p->old_size, "CUPTI for %s", getenv("FAKE_HOLDER"));
	return cuptiSubscribe(s, f, user);
}
#endif

EXPORT int cuptiUnsubscribe(void *s)
{
	if (s != &c || !GET(c.subscribed))
		return INVALID;
	SET(c.subscribed, 0);
	SET(c.told, NULL);
	for (unsigned i = 0; i < sizeof c.kinds; i++)
		SET(c.kinds[i], 0);
	for (unsigned i = 0; i < CBIDS; i++) {
		for (unsigned d = 0; d < 3; d++)
			SET(c.single[d][i], 0);
		for (unsigned d = 0; d < 7; d++)
			SET(c.listening[d][i], 0);
	}
	FAIL("Unsubscribe", 0);
	return OK;
}

EXPORT int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
        void (*complete)(void *, unsigned, uint8_t *, size_t, size_t))
{
	FAIL("ActivityRegisterCallbacks", 0);
	SET(c.request, request);
	SET(c.complete, complete);
	return OK;
}

EXPORT int cuptiActivityEnable(unsigned kind)
{
	FAIL("ActivityEnable", kind);
	if (kind >= KINDS || !size_of[kind])
		return INVALID;
	SET(c.kinds[kind], 1);
	return OK;
}

EXPORT int cuptiActivityDisable(unsigned kind)
{
	if (kind < KINDS)
		SET(c.kinds[kind], 0);
	FAIL("ActivityDisable", kind);
	return OK;
}

/* A shard whose lock is taken by the caller's own thread is a callback that may not flush: the test
 * hangs. */
EXPORT int cuptiActivityFlushAll(unsigned forced)
{
	int backwards = option("FAKE_SHUFFLE") != 0;

	if (forced && option("FAKE_BLOCK"))
		sleep((unsigned)option("FAKE_BLOCK"));
	FAIL("ActivityFlushAll", forced);
	if (GET(c.finalized))
		return 999;
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &c.shard[backwards ? SHARDS - 1 - i : i];

		pthread_mutex_lock(&s->lock);
		if (GET(c.complete))
			give_back(s);
		pthread_mutex_unlock(&s->lock);
	}
	return OK;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **r)
{
	unsigned kind = 0;
	size_t at = 0;

	FAIL("ActivityGetNextRecord", 0);
	if (*r) {
		memcpy(&kind, *r, 4);
		at = (size_t)(*r - buffer) + size_of[kind % KINDS];
	}
	if (valid - at < 8 || at > valid)
		return MAX_LIMIT;
	memcpy(&kind, buffer + at, 4);
	if (kind >= KINDS || !size_of[kind])
		return 21;
	if (valid - at < size_of[kind])
		return MAX_LIMIT;
	*r = buffer + at;
	return OK;
}

#ifndef FAKE_BARE
EXPORT int cuptiEnableCallback(unsigned on, void *s, unsigned domain, unsigned cbid)
{
	FAIL("EnableCallback", cbid);
	if (s != &c || domain > 6 || cbid >= CBIDS)
		return INVALID;
	SET(c.listening[domain][cbid], (unsigned char)on);
	return OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, unsigned stream, size_t *n)
{
	(void)context, (void)stream;
	FAIL("ActivityGetNumDroppedRecords", 0);
	*n = __atomic_exchange_n(&c.dropped, 0, __ATOMIC_SEQ_CST) + option("FAKE_DROPPED");
	return OK;
}

static void dump_device(struct shard *s)
{
	uint8_t *p = record(s, 8);

	if (!p)
		return;
	PUT64(16, (uint64_t)80 << 30);
	PUT32(44, 132);
	PUT32(104, 9);
	PUT32(108, 0);
	PUT32(112, 0);
	for (unsigned i = 0; i < 16; i++)
		p[120 + i] = (uint8_t)(0xa0 + i);
	PUT64(136, (uintptr_t) "Fake GPU");
}

EXPORT int cuptiActivityEnableAndDump(unsigned kind)
{
	struct shard *s = &c.shard[0];
	uint8_t *p;

	FAIL("ActivityEnableAndDump", kind);
	pthread_mutex_lock(&s->lock);
	if (kind == 8)
		dump_device(s);
	else if (kind == 9 && (p = record(s, 9)))
		PUT32(4, 1);
	pthread_mutex_unlock(&s->lock);
	return cuptiActivityEnable(kind);
}

EXPORT int cuptiActivitySetAttribute(unsigned attribute, size_t *size, void *value)
{
	(void)value;
	FAIL("ActivitySetAttribute", attribute);
	return attribute == 5 && *size != 1 ? INVALID : OK;
}

EXPORT int cuptiSetThreadIdType(unsigned type)
{
	FAIL("SetThreadIdType", type);
	SET(c.system_tids, type == 1);
	return OK;
}

EXPORT int cuptiGetTimestamp(uint64_t *t)
{
	FAIL("GetTimestamp", 0);
	*t = now();
	return OK;
}

EXPORT int cuptiGetCallbackName(unsigned domain, unsigned cbid, const char **name)
{
	FAIL("GetCallbackName", cbid);
	for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].domain == domain && calls[i].cbid == cbid) {
			*name = calls[i].name;
			return OK;
		}
	return INVALID;
}

EXPORT int cuptiGetResultString(unsigned result, const char **text)
{
	FAIL("GetResultString", 0);
	*text = result == 2 ? "CUPTI_ERROR_INVALID_DEVICE" : "CUPTI_ERROR_UNKNOWN";
	return OK;
}

EXPORT int cuptiFinalize(void)
{
	FAIL("Finalize", 0);
	SET(c.subscribed, 0);
	SET(c.told, NULL);
	return OK;
}

#if FAKE_VERSION >= 23
EXPORT int cuptiActivityEnableRuntimeApi(unsigned cbid, uint8_t on)
{
	FAIL("ActivityEnableRuntimeApi", cbid);
	if (cbid >= CBIDS)
		return INVALID;
	SET(c.single[RUNTIME][cbid], on);
	return OK;
}

EXPORT int cuptiActivityEnableDriverApi(unsigned cbid, uint8_t on)
{
	FAIL("ActivityEnableDriverApi", cbid);
	if (cbid >= CBIDS)
		return INVALID;
	SET(c.single[DRIVER][cbid], on);
	return OK;
}
#endif
#endif

/* For test programs: what is switched on. */
EXPORT void fake_cupti_state(char *p, size_t n)
{
	unsigned kinds = 0, single = 0;

	for (unsigned i = 0; i < KINDS; i++)
		kinds += GET(c.kinds[i]);
	for (unsigned i = 0; i < CBIDS; i++)
		single += GET(c.single[1][i]) + GET(c.single[2][i]);
	snprintf(p, n, "subscribed %d kinds %u single %u version %d", GET(c.subscribed), kinds,
	        single, FAKE_VERSION);
}
