/* SPDX-License-Identifier: Apache-2.0
 *
 * Subscribers, what they have enabled, and the calls of the driver; the functions of CUPTI. Before
 * 13.3 there is one subscriber, and records are of the process.
 */
#define _GNU_SOURCE
#include "cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHARED_INIT                                                                                \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .full_end = &shared.full,                       \
		.pending_end = &shared.pending                                                     \
	}

struct subscriber subscribers[CLIENTS];
struct activity shared = SHARED_INIT;
int several;
_Atomic int down;

/* ---- habits ---- */

#define HABITS 32

static struct {
	char name[16], text[32];
	unsigned long value;
} habits[HABITS];

__attribute__((constructor)) static void read_habits(void)
{
	const char *text = getenv("LOSSES_CUPTI");

	for (int i = 0; text && *text && i < HABITS; i++) {
		if (sscanf(text, "%15[^=]=%31[^,]", habits[i].name, habits[i].text) < 1)
			break;
		habits[i].value = strtoul(habits[i].text, NULL, 10);
		text = strchr(text, ',');
		text = text ? text + 1 : NULL;
	}
}

unsigned long habit(const char *name)
{
	for (int i = 0; i < HABITS && *habits[i].name; i++)
		if (!strcmp(habits[i].name, name))
			return habits[i].value;
	return 0;
}

int refused(const char *function)
{
	for (int i = 0; i < HABITS && *habits[i].name; i++) {
		if (strcmp(habits[i].text, function))
			continue;
		while (!strcmp(habits[i].name, "hang"))
			pause();
		return UNKNOWN;
	}
	return down && !habit("silent") ? DOWN : OK;
}

#define REFUSE(function)                                                                           \
	do {                                                                                       \
		int error_ = refused(function);                                                    \
		if (error_)                                                                        \
			return error_;                                                             \
	} while (0)

/* ---- end of CUPTI ---- */

static void take_down(void)
{
	down = 1;
	abandon(&shared);
	for (int i = 0; i < CLIENTS; i++)
		if (subscribers[i].used && subscribers[i].activity != &shared)
			abandon(subscribers[i].activity);
}

void die_at_exit(const char *event, uint64_t n)
{
	static _Atomic int armed;

	if (habit(event) && n >= habit(event) && !armed++)
		atexit(take_down);
}

/* ---- calls of the driver ---- */

struct callback_data {
	uint32_t site;
	const char *function;
	const void *params;
	const uint32_t *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *user;
	uint32_t correlation;
};

static void watch(struct call *c)
{
	static _Thread_local uint64_t began[3];
	int counted = 0;

	if (down)
		return;
	if (c->site == ENTER)
		began[c->domain] = clock_now();
	for (int i = 0; c->site == EXIT && i < CLIENTS; i++) {
		struct activity *a = several ? subscribers[i].activity : i ? NULL : &shared;

		if (!a || !a->client)
			continue;
		put_work(a, c);
		put_call(a, c, began[c->domain]);
	}
	for (int i = 0; i < CLIENTS; i++) {
		struct subscriber *s = &subscribers[i];
		struct callback_data d = { .site = (uint32_t)c->site,
			.function = c->function,
			.params = c->params,
			.result = &c->result,
			.symbol = c->kernel,
			.context_id = 1,
			.correlation = c->correlation };

		if (!s->used || !s->on[c->domain][c->cbid])
			continue;
		s->told(s->user, (uint32_t)c->domain, (uint32_t)c->cbid, &d);
		counted |= c->kernels > 0;
	}
	TRUE_COUNT(COUNTED, counted);
	if (c->site == EXIT && c->kernels)
		die_at_exit("die", losses_truth()[LAUNCHED]);
}

static void watch_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
	void **at = driver ? dlsym(driver, "losses_watch") : NULL;

	if (at)
		__atomic_store_n(at, (void *)watch, __ATOMIC_RELEASE);
}

/* ---- subscribers ---- */

struct params {
	size_t size;
	const char *name;
	char *holder;
	size_t holder_size;
	uint8_t more;
};

static int subscribe(struct subscriber **out, callback *told, void *user, int handles)
{
	int i = 0;

	if (!out)
		return INVALID;
	if (subscribers[0].used && several != handles)
		return ALREADY;
	if (handles) {
		while (i < CLIENTS && subscribers[i].used)
			i++;
	} else if (subscribers[0].used && !habit("displace")) {
		return ALREADY;
	}
	if (i == CLIENTS)
		return ALREADY;
	several = handles;
	memset(subscribers[i].on, 0, sizeof subscribers[i].on);
	subscribers[i].told = told;
	subscribers[i].user = user;
	subscribers[i].activity = &shared;
	if (handles) {
		struct activity *a = calloc(1, sizeof *a);

		if (!a)
			abort();
		*a = (struct activity){ .lock = PTHREAD_MUTEX_INITIALIZER };
		a->full_end = &a->full;
		a->pending_end = &a->pending;
		subscribers[i].activity = a;
	}
	TRUE_COUNT(CLIENTS_NOW, !subscribers[i].used);
	subscribers[i].used = 1;
	*out = &subscribers[i];
	watch_driver();
	start_worker();
	TRUE_COUNT(SUBSCRIBED, 1);
	return OK;
}

EXPORTED int cuptiSubscribe(struct subscriber **out, callback *told, void *user)
{
	REFUSE("Subscribe");
	return subscribe(out, told, user, 0);
}

#if VERSION >= 130000
EXPORTED int cuptiSubscribe_v2(
        struct subscriber **out, callback *told, void *user, const struct params *p)
{
	int handles = VERSION >= 130300 && p && p->size > offsetof(struct params, more) && p->more;
	int error;

	REFUSE("Subscribe_v2");
	error = subscribe(out, told, user, handles);
	if (error == ALREADY && p && p->holder && p->holder_size)
		snprintf(p->holder, p->holder_size, "CUPTI for somebody");
	return error;
}
#endif

EXPORTED int cuptiUnsubscribe(struct subscriber *s)
{
	REFUSE("Unsubscribe");
	if (!s || !s->used)
		return INVALID;
	s->used = 0;
	losses_truth()[CLIENTS_NOW]--;
	if (several)
		s->activity->client = NULL;
	return OK;
}

EXPORTED int cuptiEnableCallback(uint32_t on, struct subscriber *s, uint32_t domain, uint32_t cbid)
{
	REFUSE("EnableCallback");
	if (!s || !s->used || domain >= DOMAINS || cbid >= CBIDS)
		return INVALID;
	s->on[domain][cbid] = on != 0;
	return OK;
}

EXPORTED int cuptiFinalize(void)
{
	REFUSE("Finalize");
	flush(&shared, 1);
	memset(shared.kinds, 0, sizeof shared.kinds);
	memset(shared.single, 0, sizeof shared.single);
	for (int i = 0; i < CLIENTS; i++)
		subscribers[i].used = 0;
	losses_truth()[CLIENTS_NOW] = 0;
	shared.client = NULL;
	return OK;
}

/* ---- activities ---- */

static int registered(struct activity *a, struct client c)
{
	static struct client recorder; /* the first that has registered */
	struct client *own = malloc(sizeof *own);

	if (!own)
		abort();
	pthread_mutex_lock(&a->lock);
	if (!recorder.request && !recorder.request2)
		recorder = c;
	*own = c;
	own->first = c.request == recorder.request && c.request2 == recorder.request2;
	a->client = own; /* the former is still used by its buffers */
	pthread_mutex_unlock(&a->lock);
	return OK;
}

EXPORTED int cuptiActivityRegisterCallbacks(request_1 *request, complete_1 *complete)
{
	REFUSE("ActivityRegisterCallbacks");
	if (!request || !complete)
		return INVALID;
	if (several)
		return INVALID_OPERATION;
	return registered(&shared, (struct client){ .request = request, .complete = complete });
}

static int enable(struct activity *a, uint32_t kind, int on)
{
	if (kind >= KINDS)
		return INVALID;
	a->kinds[kind] = (unsigned char)on;
	if (kind == KERNEL && (a == &shared || !a->client || a->client->first))
		losses_truth()[STOPPED] = !on;
	return OK;
}

EXPORTED int cuptiActivityEnable(uint32_t kind)
{
	REFUSE("ActivityEnable");
	return several ? INVALID_OPERATION : enable(&shared, kind, 1);
}

EXPORTED int cuptiActivityDisable(uint32_t kind)
{
	REFUSE("ActivityDisable");
	return several ? INVALID_OPERATION : enable(&shared, kind, 0);
}

static int dump(struct activity *a, uint32_t kind)
{
	if (kind == DEVICE && a->client)
		put_device(a);
	return enable(a, kind, 1);
}

EXPORTED int cuptiActivityEnableAndDump(uint32_t kind)
{
	REFUSE("ActivityEnableAndDump");
	return several ? INVALID_OPERATION : dump(&shared, kind);
}

/* A flush during which the program begins to leave. */
static void meet(uint64_t n)
{
	if (!habit("meet") || n != habit("meet"))
		return;
	losses_truth()[IN_FLUSH] = 1;
	for (int i = 0; i < 2000 && !losses_truth()[LEAVING]; i++)
		usleep(1000);
}

EXPORTED int cuptiActivityFlushAll(uint32_t forced)
{
	uint64_t n = ++losses_truth()[FLUSHES];
	int error = OK;

	REFUSE("ActivityFlushAll");
	die_at_exit("dieon", n);
	if (habit("flushfail") && n >= habit("flushfail"))
		return UNKNOWN;
	meet(n);
	if (down)
		return OK;
	for (int i = 0; several && i < CLIENTS; i++)
		if (subscribers[i].used)
			error = flush(subscribers[i].activity, forced & 1);
	return several ? error : flush(&shared, forced & 1);
}

/* ---- records ---- */

/* The position that cannot be read. */
static _Atomic(uint8_t *) bad;

void readable(const uint8_t *buffer, size_t size)
{
	if (bad >= buffer && bad < buffer + size)
		bad = NULL;
}

/* The number of records from a position on. */
static unsigned records_from(const uint8_t *at, const uint8_t *end)
{
	unsigned n = 0;

	for (size_t size; at + 4 <= end; at += size) {
		size = size_of(*(const uint32_t *)(const void *)at);
		if (!size)
			break;
		n++;
	}
	return n;
}

static int next_record(uint8_t *buffer, size_t valid, uint8_t **record)
{
	static _Atomic uint64_t read;
	uint8_t *at = *record ? *record + size_of(*(uint32_t *)(void *)*record) : buffer;
	size_t size = at + 4 <= buffer + valid ? size_of(*(uint32_t *)(void *)at) : 0;

	if (!size || at + size > buffer + valid)
		return MAX_LIMIT;
	if (at == bad)
		return habit("nexts") ? (int)habit("nexts") : UNKNOWN;
	if (refused("ActivityGetNextRecord")) {
		bad = at; /* asked again, it is not counted again */
		TRUE_COUNT(UNREAD, records_from(at, buffer + valid));
		return UNKNOWN;
	}
	if (habit("next") && ++read == habit("next")) {
		bad = at;
		TRUE_COUNT(UNREAD, records_from(at, buffer + valid));
		return (int)habit("nexts");
	}
	*record = at;
	return OK;
}

EXPORTED int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
	return buffer && record ? next_record(buffer, valid, record) : INVALID;
}

static int take_dropped(struct activity *a, size_t *dropped)
{
	static _Atomic uint64_t calls;

	if (habit("uncounted") && ++calls >= habit("uncounted"))
		return UNKNOWN;
	if (!dropped)
		return INVALID;
	*dropped = __atomic_exchange_n(&a->dropped, 0, __ATOMIC_SEQ_CST);
	return OK;
}

EXPORTED int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	REFUSE("ActivityGetNumDroppedRecords");
	return several ? INVALID_OPERATION : take_dropped(&shared, dropped);
}

EXPORTED int cuptiActivitySetAttribute(uint32_t which, size_t *size, void *value)
{
	(void)which, (void)size, (void)value;
	REFUSE("ActivitySetAttribute");
	return OK;
}

EXPORTED int cuptiSetThreadIdType(uint32_t type)
{
	(void)type;
	return refused("SetThreadIdType");
}

EXPORTED int cuptiGetTimestamp(uint64_t *at)
{
	REFUSE("GetTimestamp");
	*at = clock_now();
	return OK;
}

EXPORTED int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return OK;
}

EXPORTED int cuptiGetResultString(uint32_t result, const char **text)
{
	*text = result == UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OF_SOME_KIND";
	return OK;
}

EXPORTED int cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
	static const struct {
		uint32_t domain, cbid;
		const char *name;
	} names[] = { { 1, 2, "cuDriverGetVersion" }, { 1, 17, "cuCtxSynchronize" },
		{ 1, 276, "cuMemcpyHtoD_v2" }, { 1, 307, "cuLaunchKernel" },
		{ 1, 442, "cuLaunchKernel_ptsz" }, { 1, 497, "cuStreamEndCapture" },
		{ 1, 514, "cuGraphLaunch" }, { 1, 539, "cuStreamBeginCapture_v2" },
		{ 1, 652, "cuLaunchKernelEx" }, { 2, 211, "cudaLaunchKernel_v7000" },
		{ 2, 311, "cudaGraphLaunch_v10000" } };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].domain == domain && names[i].cbid == cbid) {
			*name = names[i].name;
			return OK;
		}
	if (domain < 1 || domain > 2 || cbid < 1 || cbid > 800)
		return INVALID;
	*name = domain == DRIVER_API ? "cuGetProcAddress" : "cudaGetDevice";
	return OK;
}

#if VERSION >= 24
static int enable_call(struct activity *a, int domain, uint32_t cbid, uint8_t on)
{
	if (cbid >= CBIDS)
		return INVALID;
	a->single[domain][cbid] = on;
	return OK;
}

EXPORTED int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t on)
{
	REFUSE("ActivityEnableRuntimeApi");
	return enable_call(&shared, RUNTIME_API, cbid, on);
}

EXPORTED int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on)
{
	REFUSE("ActivityEnableDriverApi");
	return enable_call(&shared, DRIVER_API, cbid, on);
}
#endif

/* ---- functions for several subscribers ---- */

#if VERSION >= 130200
EXPORTED int cuptiActivityGetEnabledKinds(
        struct subscriber *s, uint32_t *kinds, uint32_t *size, uint32_t *n)
{
	struct activity *a = s ? s->activity : &shared;
	uint32_t most = size ? *size : 0, count = 0;

	for (uint32_t k = 0; k < KINDS; k++)
		if (a->kinds[k]) {
			if (kinds && count < most)
				kinds[count] = k;
			count++;
		}
	*n = count;
	return OK;
}
#endif

#if VERSION >= 130300
#define OWN(s) ((s) && (s)->used && several ? (s)->activity : NULL)

EXPORTED int cuptiActivityRegisterCallbacks_v2(
        struct subscriber *s, request_2 *request, complete_2 *complete)
{
	REFUSE("ActivityRegisterCallbacks_v2");
	return !OWN(s) || !request || !complete
	               ? INVALID
	               : registered(OWN(s),
	                         (struct client){ .request2 = request, .complete2 = complete });
}

EXPORTED int cuptiActivityEnable_v2(struct subscriber *s, uint32_t kind, void *fields)
{
	(void)fields;
	REFUSE("ActivityEnable_v2");
	return OWN(s) ? enable(OWN(s), kind, 1) : INVALID;
}

EXPORTED int cuptiActivityDisable_v2(struct subscriber *s, uint32_t kind, void *fields)
{
	(void)fields;
	return OWN(s) ? enable(OWN(s), kind, 0) : INVALID;
}

EXPORTED int cuptiActivityEnableAndDump_v2(struct subscriber *s, uint32_t kind, void *fields)
{
	(void)fields;
	REFUSE("ActivityEnableAndDump_v2");
	return OWN(s) ? dump(OWN(s), kind) : INVALID;
}

EXPORTED int cuptiActivityGetNextRecord_v2(
        struct subscriber *s, uint8_t *buffer, size_t valid, uint8_t **record)
{
	(void)s;
	return buffer && record ? next_record(buffer, valid, record) : INVALID;
}

EXPORTED int cuptiActivityGetNumDroppedRecords_v2(
        struct subscriber *s, void *context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	REFUSE("ActivityGetNumDroppedRecords");
	return OWN(s) ? take_dropped(OWN(s), dropped) : INVALID;
}

EXPORTED int cuptiActivitySetAttribute_v2(
        struct subscriber *s, uint32_t which, size_t *size, void *value)
{
	(void)which, (void)size, (void)value;
	return OWN(s) ? OK : INVALID;
}

EXPORTED int cuptiActivityEnableRuntimeApi_v2(struct subscriber *s, uint32_t cbid, uint8_t on)
{
	return OWN(s) ? enable_call(OWN(s), RUNTIME_API, cbid, on) : INVALID;
}

EXPORTED int cuptiActivityEnableDriverApi_v2(struct subscriber *s, uint32_t cbid, uint8_t on)
{
	return OWN(s) ? enable_call(OWN(s), DRIVER_API, cbid, on) : INVALID;
}

EXPORTED int cuptiGetTimestamp_v2(struct subscriber *s, uint64_t *at)
{
	REFUSE("GetTimestamp");
	*at = clock_now();
	return OWN(s) ? OK : INVALID;
}
#endif
