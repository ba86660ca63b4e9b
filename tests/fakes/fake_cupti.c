/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUPTI without a GPU: libcupti.so.11.8, .12 and .13 for tests, distinguished by FAKE_VERSION. It
 * makes a record of each operation of the fake driver, with the sizes and offsets of that version
 * (from CUPTI's own headers, not from the collector's), and can be made to misbehave. This file has
 * the exported functions and the entry points for the driver.
 */
/* clang-format off */
/* The environment tells it how to misbehave:
 *   FAKE_FAIL=ActivityEnable:2[:10],...    a function returns that error [if its first number is that]
 *   FAKE_HANG=Subscribe                    a function does not return
 *   FAKE_UNREADABLE=50                     that record, and what follows it in its buffer, cannot be read
 *   FAKE_HOLDER=nsys                       another tool has the only place
 *   FAKE_FATAL=100                         fails after that number of launches
 *   FAKE_TIMES=zero|negative|huge|early    times of kernels
 *   FAKE_END=truncated|unknown|empty       how buffers end
 *   FAKE_CORRELATION=4294967290            the first one
 *   FAKE_UNCORRELATED=1                    none until whole kinds of calls are enabled
 *   FAKE_DROPPED=5                         at each question
 *   FAKE_BLOCK=10                          seconds that a forced flush takes
 *   FAKE_BURN=50                           milliseconds of processor time that a flush takes
 *   FAKE_MUTE=1                            launches, but no kernels
 *   FAKE_SHUFFLE=1                         buffers come back in another order
 *   FAKE_KERNEL_SIZE=160                   size of kernel records
 *   FAKE_API=12                            the version that it says it has
 *   FAKE_LATE=15                           milliseconds from a launch to its end; its record is incomplete so long
 *   FAKE_SERIAL=100                        kernels run one after the other, and take that many milliseconds or their own time
 *   FAKE_HIDE=1                            records are not seen in a buffer before it is handed over
 *   FAKE_THREADS=1                         each thread has a buffer of its own
 *   FAKE_EXIT=open|subscribe|launch        a handler of exit, set then, takes it down
 *   FAKE_EXIT_AT=11                        ... set at that launch, not at the first one
 *   FAKE_DEAD=silent|crash                 after that it returns success and does nothing, or crashes
 *   FAKE_CLOCK_OFFSET=-5000000000          ns that its clock is ahead of the day's
 *   FAKE_CLOCK_DRIFT=20                    millionths that its clock runs faster
 */
/* clang-format on */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cupti.h"

struct fake_cupti fake = {
	.client = { { .shard = { [0 ... SHARDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                                 .owner = &fake.client[0] } } },
	        { .shard = { [0 ... SHARDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                             .owner = &fake.client[1] } } } },
};

/* ---- entry points for the driver ---- */

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
		[FAKE_GET_DEVICE] = 16,
		[FAKE_GET_VERSION] = 2,
		[FAKE_BEGIN_CAPTURE] = 520,
		[FAKE_END_CAPTURE] = 521 };

	int runtime = op->what == FAKE_LAUNCH && op->kind == FAKE_BY_RUNTIME;

	*domain = op->what == FAKE_RESET || runtime ? RUNTIME : DRIVER;
	return runtime                                   ? 211
	       : op->what == FAKE_COPY && op->kind == 2  ? 278
	       : op->what == FAKE_COPY && op->kind == 10 ? 407
	                                                 : ids[op->what];
}

/* CUpti_CallbackData */
struct call_data {
	unsigned site;
	const char *function;
	const void *parameters;
	const void *result;
	const char *symbol;
	void *context;
	unsigned context_number;
	uint64_t *mine;
	unsigned correlation;
};

static void tell(const struct fake_op *op, unsigned domain, unsigned cbid, unsigned site)
{
	static const int success;
	/* Arguments of cuLaunchKernel. */
	const struct {
		void *before[5], *stream;
	} arguments = { .stream = (void *)(uintptr_t)op->stream };
	struct call_data d = { .site = site,
		.function = "",
		.parameters = &arguments,
		.result = site ? &success : NULL };

	for (struct fake_client *c = fake.client; c < fake.client + CLIENTS; c++) {
		callback *told = GET(c->told);

		if (told && GET(c->listening[domain][cbid]))
			told(GET(c->user), domain, cbid, &d);
	}
}

/* CUpti_ResourceData and the begin of CUpti_GraphData. The handle of a graph node is its id. */
static void tell_node(unsigned cbid, uint64_t id, uint64_t original)
{
	void *graph[4] = { NULL, NULL, (void *)(uintptr_t)id, (void *)(uintptr_t)original };
	void *resource[3] = { NULL, NULL, graph };

	for (struct fake_client *c = fake.client; c < fake.client + CLIENTS; c++) {
		callback *told = GET(c->told);

		if (told && GET(c->listening[RESOURCE][cbid]))
			told(GET(c->user), RESOURCE, cbid, resource);
	}
}

#define CREATED 1000 /* added to the number of a node in the captured graph */

/* The nodes of a graph that is captured: they are created one by one, and copied to the executable
 * graph, whose nodes the records have, when the capture ends. */
static void tell_capture(const struct fake_op *op)
{
	static _Atomic uint64_t nodes;

	if (op->what == FAKE_BEGIN_CAPTURE)
		nodes = 0;
	if (op->what == FAKE_LAUNCH && op->kind == FAKE_CAPTURED) {
		nodes = op->bytes;
		tell_node(13, CREATED + op->bytes, 0);
	}
	for (uint64_t i = 1; op->what == FAKE_END_CAPTURE && i <= nodes; i++) {
		tell_node(13, i, 0);
		tell_node(20, i, CREATED + i);
	}
}

EXPORT int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	FAIL("GetGraphNodeId", 0);
	*id = (uintptr_t)node;
	return OK;
}

static void count_launch(void)
{
	uint64_t n = __atomic_add_fetch(&fake.launches, 1, __ATOMIC_SEQ_CST);
	unsigned long fatal = fake_option("FAKE_FATAL");
	struct {
		int result;
		const char *message;
	} state = { 719, "the launch failed" };
	struct fake_client *c = fake.client;
	callback *told = GET(c->told);

	uint64_t first = fake_option("FAKE_EXIT_AT") ? fake_option("FAKE_EXIT_AT") : 1;

	if (n == first && fake_option_is("FAKE_EXIT", "launch"))
		fake_cupti_die_at_exit();
	if (!fatal || n != fatal)
		return;
	if (told && GET(c->listening[STATE][1]))
		told(GET(c->user), STATE, 1, &state);
	SET(fake.finalized, 1);
}

void fake_ran(const struct fake_op *op)
{
	unsigned domain, cbid = cbid_of(op, &domain);
	static __thread uint64_t entered;
	uint64_t at;

	if (GET(fake.finalized) || GET(fake.dead))
		return;
	if (op->entered) {
		tell(op, domain, cbid, 0);
		tell_capture(op);
		entered = fake_now();
		if (op->what == FAKE_UNLOAD)
			tell(op, RESOURCE, 7, 0);
		return;
	}
	/* Not the question for the version, which the collector asks now and then: tests know the
	 * numbers of their launches. */
	uint32_t step = op->what != FAKE_GET_VERSION;
	uint32_t correlation = __atomic_add_fetch(&fake.correlation, step, __ATOMIC_RELAXED);

	if (fake_option("FAKE_UNCORRELATED") && !GET(fake.client->kinds[DRIVER_CALLS]))
		correlation = 0;
	at = fake_now();
	for (struct fake_client *c = fake.client; c < fake.client + CLIENTS; c++) {
		struct shard *s = fake_shard(c);

		pthread_mutex_lock(&s->lock);
		if (fake_has_buffers(c)) {
			fake_put_call(s, domain, cbid, correlation, entered, at);
			fake_put_work(s, op, correlation, at);
		}
		pthread_mutex_unlock(&s->lock);
	}
	tell(op, domain, cbid, 1);
	if ((op->what == FAKE_LAUNCH && op->kind != FAKE_CAPTURED) || op->what == FAKE_GRAPH)
		count_launch();
}

/* ---- the functions ---- */

EXPORT int cuptiGetVersion(unsigned *v)
{
	FAIL("GetVersion", 0);
	*v = fake_option("FAKE_API") ? (unsigned)fake_option("FAKE_API") : FAKE_VERSION;
	return OK;
}

EXPORT int cuptiActivityRegisterCallbacks(requested *request, completed *complete)
{
	FAIL("ActivityRegisterCallbacks", 0);
	ALONE();
	SET(fake.client->request, request);
	SET(fake.client->complete, complete);
	return OK;
}

static int enable(struct fake_client *c, unsigned kind, int on)
{
	if (!fake_record_size(kind) || (kind == 51 && GET(fake.several) && !GET(fake.whole_graphs)))
		return INVALID;
	if (on)
		SET(fake.any_kind, 1);
	SET(c->kinds[kind], (unsigned char)on);
	return OK;
}

EXPORT int cuptiActivityEnable(unsigned kind)
{
	FAIL("ActivityEnable", kind);
	ALONE();
	return enable(fake.client, kind, 1);
}

EXPORT int cuptiActivityDisable(unsigned kind)
{
	ALONE();
	enable(fake.client, kind, 0);
	FAIL("ActivityDisable", kind);
	return OK;
}

static void burn(unsigned long ms)
{
	struct timespec t;
	long begin = 0, now;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000 + t.tv_nsec / 1000000;
		begin = begin ? begin : now;
	} while (now < begin + (long)ms);
}

/* If the calling thread holds the lock, a callback flushes where it must not: the test hangs. */
EXPORT int cuptiActivityFlushAll(unsigned forced)
{
	__atomic_add_fetch(&fake.flushes, 1, __ATOMIC_SEQ_CST);
	if (fake_option("FAKE_BURN"))
		burn(fake_option("FAKE_BURN"));
	if (forced && fake_option("FAKE_BLOCK"))
		sleep((unsigned)fake_option("FAKE_BLOCK"));
	FAIL("ActivityFlushAll", forced);
	if (GET(fake.finalized))
		return 999;
	if (!GET(fake.dead))
		fake_flush((int)forced, fake_option("FAKE_SHUFFLE") != 0);
	return OK;
}

static unsigned long unreadable; /* read once, as records are many */

__attribute__((constructor)) static void set_unreadable(void)
{
	unreadable = fake_option("FAKE_UNREADABLE");
}

int fake_next_record(uint8_t *buffer, size_t valid, uint8_t **r)
{
	static uint64_t reads;
	unsigned kind = 0;
	size_t at = 0;

	if (unreadable && __atomic_add_fetch(&reads, 1, __ATOMIC_SEQ_CST) == unreadable)
		return 9;
	if (*r) {
		memcpy(&kind, *r, 4);
		at = (size_t)(*r - buffer) + fake_record_size(kind);
	}
	if (valid - at < 8 || at > valid)
		return MAX_LIMIT;
	memcpy(&kind, buffer + at, 4);
	if (!fake_record_size(kind))
		return 21;
	if (valid - at < fake_record_size(kind))
		return MAX_LIMIT;
	*r = buffer + at;
	return OK;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **r)
{
	FAIL("ActivityGetNextRecord", 0);
	return fake_next_record(buffer, valid, r);
}

#ifndef FAKE_BARE
EXPORT int cuptiEnableCallback(unsigned on, void *s, unsigned domain, unsigned cbid)
{
	struct fake_client *c = fake_client_of(s);

	FAIL("EnableCallback", cbid);
	if (!c || domain > 6 || cbid >= CBIDS)
		return INVALID;
	SET(c->listening[domain][cbid], (unsigned char)on);
	return OK;
}

static int take_dropped(struct fake_client *c, size_t *n)
{
	*n = __atomic_exchange_n(&c->dropped, 0, __ATOMIC_SEQ_CST) + fake_option("FAKE_DROPPED");
	return OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, unsigned stream, size_t *n)
{
	(void)context, (void)stream;
	FAIL("ActivityGetNumDroppedRecords", 0);
	ALONE();
	return take_dropped(fake.client, n);
}

static int dump(struct fake_client *c, unsigned kind)
{
	struct shard *s = &c->shard[0];

	pthread_mutex_lock(&s->lock);
	if (kind == 8)
		fake_put_device(s);
	else if (kind == 9)
		fake_put_context(s);
	pthread_mutex_unlock(&s->lock);
	return enable(c, kind, 1);
}

EXPORT int cuptiActivityEnableAndDump(unsigned kind)
{
	FAIL("ActivityEnableAndDump", kind);
	ALONE();
	return dump(fake.client, kind);
}

EXPORT int cuptiActivitySetAttribute(unsigned attribute, size_t *size, void *value)
{
	(void)value;
	FAIL("ActivitySetAttribute", attribute);
	ALONE();
	return attribute == 5 && *size != 1 ? INVALID : OK;
}

EXPORT int cuptiSetThreadIdType(unsigned type)
{
	FAIL("SetThreadIdType", type);
	ALONE();
	SET(fake.client->system_tids, type == 1);
	return OK;
}

EXPORT int cuptiGetTimestamp(uint64_t *t)
{
	FAIL("GetTimestamp", 0);
	*t = fake_now();
	return OK;
}

static const struct {
	unsigned domain, cbid;
	const char *name;
} calls[] = {
	{ RUNTIME, 164, "cudaDeviceReset_v3020" },
	{ RUNTIME, 211, "cudaLaunchKernel_v7000" },
	{ RUNTIME, 3, "cudaGetDevice_v3020" },
	{ RUNTIME, 31, "cudaMemcpy_v3020" },
	{ RUNTIME, 214, "cudaLaunchKernel_ptsz_v7000" },
	{ RUNTIME, 269, "cudaLaunchCooperativeKernel_v9000" },
	{ RUNTIME, 311, "cudaGraphLaunch_v10000" },
	{ RUNTIME, 430, "cudaLaunchKernelExC_v11060" },
	{ RUNTIME, 505, "__cudaLaunchKernel_v13000" },
	{ RUNTIME, 506, "__cudaLaunchKernel_ptsz_v13000" },
	{ DRIVER, 307, "cuLaunchKernel" },
	{ DRIVER, 442, "cuLaunchKernel_ptsz" },
	{ DRIVER, 477, "cuLaunchCooperativeKernel" },
	{ DRIVER, 514, "cuGraphLaunch" },
	{ DRIVER, 652, "cuLaunchKernelEx" },
	{ DRIVER, 681, "cuKernelGetAttribute" },
	{ DRIVER, 385, "cuDevicePrimaryCtxGetState" },
	{ DRIVER, 276, "cuMemcpyHtoD_v2" },
	{ DRIVER, 278, "cuMemcpyDtoH_v2" },
	{ DRIVER, 407, "cuMemcpyPeer" },
	{ DRIVER, 267, "cuMemsetD8_v2" },
	{ DRIVER, 243, "cuMemAlloc_v2" },
	{ DRIVER, 245, "cuMemFree_v2" },
	{ DRIVER, 17, "cuCtxSynchronize" },
	{ DRIVER, 2, "cuDriverGetVersion" },
	{ DRIVER, 520, "cuStreamBeginCapture_v2" },
	{ DRIVER, 521, "cuStreamEndCapture" },
	{ DRIVER, 16, "cuCtxGetDevice" },
	{ DRIVER, 322, "cuCtxDestroy_v2" },
	{ DRIVER, 24, "cuModuleUnload" },
	{ DRIVER, 308, "cuProfilerStart" },
	{ DRIVER, 309, "cuProfilerStop" },
};

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

#if FAKE_VERSION >= 23
static int enable_call(struct fake_client *c, unsigned domain, unsigned cbid, uint8_t on)
{
	if (!c || cbid >= CBIDS)
		return INVALID;
	SET(c->single[domain][cbid], on);
	return OK;
}

EXPORT int cuptiActivityEnableRuntimeApi(unsigned cbid, uint8_t on)
{
	FAIL("ActivityEnableRuntimeApi", cbid);
	ALONE();
	return enable_call(fake.client, RUNTIME, cbid, on);
}

EXPORT int cuptiActivityEnableDriverApi(unsigned cbid, uint8_t on)
{
	FAIL("ActivityEnableDriverApi", cbid);
	ALONE();
	return enable_call(fake.client, DRIVER, cbid, on);
}
#endif
#endif

/* ---- functions with a client ---- */

#if MANY
/* Begins each of them. */
#define CLIENT(function, argument)                                                                 \
	struct fake_client *c = fake_client_of(s);                                                 \
	FAIL(function, argument);                                                                  \
	if (!c)                                                                                    \
		return INVALID;

EXPORT int cuptiActivityRegisterCallbacks_v2(void *s, requested_v2 *request, completed_v2 *complete)
{
	CLIENT("ActivityRegisterCallbacks_v2", 0)
	SET(c->request_v2, request);
	SET(c->complete_v2, complete);
	return OK;
}

EXPORT int cuptiActivityEnable_v2(void *s, unsigned kind, void *fields)
{
	CLIENT("ActivityEnable_v2", kind)
	return fields ? INVALID : enable(c, kind, 1);
}

EXPORT int cuptiActivityDisable_v2(void *s, unsigned kind, void *fields)
{
	CLIENT("ActivityDisable_v2", kind)
	return fields ? INVALID : enable(c, kind, 0);
}

EXPORT int cuptiActivityEnableAndDump_v2(void *s, unsigned kind, void *fields)
{
	CLIENT("ActivityEnableAndDump_v2", kind)
	return fields ? INVALID : dump(c, kind);
}

EXPORT int cuptiActivityGetNextRecord_v2(void *s, uint8_t *buffer, size_t valid, uint8_t **r)
{
	CLIENT("ActivityGetNextRecord_v2", 0)
	return fake_next_record(buffer, valid, r);
}

EXPORT int cuptiActivityGetNumDroppedRecords_v2(void *s, void *context, unsigned stream, size_t *n)
{
	CLIENT("ActivityGetNumDroppedRecords_v2", 0)
	(void)context, (void)stream;
	return take_dropped(c, n);
}

enum { ATTRIBUTE_ZEROED = 5, ATTRIBUTE_WHOLE_GRAPHS = 20, ATTRIBUTE_THREAD_IDS = 21 };

EXPORT int cuptiActivitySetAttribute_v2(void *s, unsigned attribute, size_t *size, void *value)
{
	CLIENT("ActivitySetAttribute_v2", attribute)
	switch (attribute) {
	case ATTRIBUTE_ZEROED: return *size == 1 ? OK : INVALID;
	case ATTRIBUTE_WHOLE_GRAPHS:
		if (*size != 1 || GET(fake.any_kind))
			return INVALID;
		SET(fake.whole_graphs, *(uint8_t *)value);
		return OK;
	case ATTRIBUTE_THREAD_IDS:
		if (*size != 4)
			return INVALID;
		SET(c->system_tids, *(uint32_t *)value == 1);
		return OK;
	default: return INVALID;
	}
}

EXPORT int cuptiActivityGetAttribute_v2(void *s, unsigned attribute, size_t *size, void *value)
{
	CLIENT("ActivityGetAttribute_v2", attribute)
	if (attribute != ATTRIBUTE_WHOLE_GRAPHS || *size != 1)
		return INVALID;
	*(uint8_t *)value = (uint8_t)GET(fake.whole_graphs);
	return OK;
}

EXPORT int cuptiActivityEnableRuntimeApi_v2(void *s, unsigned cbid, uint8_t on)
{
	CLIENT("ActivityEnableRuntimeApi_v2", cbid)
	return enable_call(c, RUNTIME, cbid, on);
}

EXPORT int cuptiActivityEnableDriverApi_v2(void *s, unsigned cbid, uint8_t on)
{
	CLIENT("ActivityEnableDriverApi_v2", cbid)
	return enable_call(c, DRIVER, cbid, on);
}

EXPORT int cuptiGetTimestamp_v2(void *s, uint64_t *t)
{
	CLIENT("GetTimestamp_v2", 0)
	(void)c;
	*t = fake_now();
	return OK;
}
#endif

/* For test programs: enabled kinds and counts; and the enabled single functions, as
 * "domain:number". */
EXPORT void fake_cupti_state(char *p, size_t n)
{
	const struct fake_client *c = fake.client;
	unsigned kinds = 0, single = 0;

	for (unsigned i = 0; i < KINDS; i++)
		kinds += GET(c->kinds[i]);
	for (unsigned i = 0; i < CBIDS; i++)
		single += GET(c->single[1][i]) + GET(c->single[2][i]);
	snprintf(p, n,
	        "subscribed %d kinds %u single %u version %d calls %d listening %d launches "
	        "%llu%s",
	        GET(c->subscribed), kinds, single, FAKE_VERSION, GET(c->kinds[DRIVER_CALLS]),
	        GET(c->listening[DRIVER][307]), (unsigned long long)GET(fake.launches),
	        GET(fake.hangs) ? " hangs" : "");
}

/* Flushes that have begun. */
EXPORT uint64_t fake_cupti_flushes(void)
{
	return GET(fake.flushes);
}

/* So many records were dropped. */
EXPORT void fake_cupti_drop(unsigned long n)
{
	__atomic_add_fetch(&fake.client->dropped, n, __ATOMIC_SEQ_CST);
}

EXPORT void fake_cupti_calls(char *p, size_t n)
{
	size_t used = 0;

	for (unsigned d = DRIVER; d <= RUNTIME; d++)
		for (unsigned i = 0; i < CBIDS && used < n; i++)
			if (GET(fake.client->single[d][i]))
				used += (size_t)snprintf(p + used, n - used, "%u:%u ", d, i);
}
