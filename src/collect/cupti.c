/* SPDX-License-Identifier: Apache-2.0
 *
 * One session at a time. The callbacks run in the program's threads: they take no lock, allocate
 * nothing and leave errno alone. CUPTI's records of ranges, its timestamp callback, external
 * correlations and the kernel kind that serialises are not used.
 */
#include "collect/cupti.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/decode.h"
#include "collect/record_enable.h"
#include "collect/pool.h"
#include "collect/threads.h"
#include "collect/wake.h"

#define OUR_NAME  "tfprof"
#define CBID_MOST 2048u
#define DISCARDS  4u
#define DISCARD   (16u << 10)

static struct {
	struct cupti f;
	void *subscriber;
	uint64_t enabled; /* kinds, a bit each */
	bool single_calls;
	char missing[128];
	_Atomic uint32_t fatal; /* 0, or 1 + what CUPTI's state became */
	_Atomic bool detach;
	_Atomic uint64_t discarded, launches;
	_Atomic uint32_t discards_out;
} session;

/* What CUPTI fills when the pool is empty and it cannot do without; its content is lost. */
static _Alignas(8) uint8_t discards[DISCARDS][DISCARD];

const struct cupti *cupti_functions(void)
{
	return &session.f;
}

const char *cupti_missing(void)
{
	return session.missing;
}

/* ---- buffers -----------------------------------------------------------------------------------
 */
static uint8_t *take_discard(size_t *size)
{
	uint32_t out = atomic_load(&session.discards_out);

	for (;;) {
		unsigned i = (unsigned)__builtin_ctz(~out);

		if (i >= DISCARDS) /* all are out: two threads share one, and what it holds is lost
		                      anyway */
			i = 0;
		if (atomic_compare_exchange_weak(&session.discards_out, &out, out | 1u << i)) {
			*size = DISCARD;
			return discards[i];
		}
	}
}

static void give_discard(uint8_t *p, size_t valid)
{
	union rec *r = NULL;
	uint64_t n = 0;

	while (valid && valid <= DISCARD && !session.f.ActivityGetNextRecord(p, valid, &r))
		n++;
	atomic_fetch_add(&session.discarded, n);
	memset(p, 0, DISCARD);
	atomic_fetch_and(&session.discards_out, ~(1u << (size_t)(p - discards[0]) / DISCARD));
}

static bool is_discard(const uint8_t *p)
{
	return p >= discards[0] && p < discards[0] + sizeof discards;
}

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	int saved = errno;

	*most = 0;
	*buffer = NULL;
	if (record_enable_is_open(DOOR_CUPTI)) {
		threads_see(); /* the first record in it is mostly this thread's */
		*buffer = pool_take();
	}
	*size = *buffer ? pool_bytes() : 0;
	/* Older versions may crash when they get none. */
	if (!*buffer && session.f.version < CUPTI_API_12_9)
		*buffer = take_discard(size);
	errno = saved;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int saved = errno;

	(void)context, (void)stream, (void)size;
	if (buffer && is_discard(buffer))
		give_discard(buffer, valid);
	else if (buffer && record_enable_ours() && pool_put(buffer, valid))
		wake_writer();
	errno = saved;
}

/* ---- callbacks ---------------------------------------------------------------------------------
 */
static bool ends_context(uint32_t domain, uint32_t cbid)
{
	if (domain == CB_RUNTIME)
		return cbid == CBID_DEVICE_RESET;
	return cbid == CBID_CTX_DESTROY || cbid == CBID_CTX_DESTROY_V2 ||
	       cbid == CBID_PRIMARY_RELEASE || cbid == CBID_PRIMARY_RELEASE_V2 ||
	       cbid == CBID_PRIMARY_RESET || cbid == CBID_PRIMARY_RESET_V2;
}

/* CUPTI may be left for good only from here. */
static void leave(const struct cb_data *d)
{
	if (d->site == CB_EXIT && session.f.Finalize && atomic_exchange(&session.detach, false))
		session.f.Finalize();
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	int saved = errno;

	(void)user;
	if (domain == CB_STATE) {
		if (cbid == CB_STATE_FATAL) {
			atomic_store(&session.fatal, 1);
			wake_writer();
		}
	} else if (domain == CB_RESOURCE) {
		if (cbid == CB_RESOURCE_MODULE_UNLOAD)
			decode_forget_names();
	} else if (data && record_enable_ours()) {
		const struct cb_data *d = data;

		if (ends_context(domain, cbid)) {
			if (d->site == CB_ENTER)
				session.f.ActivityFlushAll(0);
		} else if (d->site == CB_ENTER) {
			atomic_fetch_add_explicit(&session.launches, 1, memory_order_relaxed);
		}
		leave(d);
	}
	errno = saved;
}

const char *cupti_failure(void)
{
	return atomic_load(&session.fatal) ? "a fatal error" : NULL;
}

/* ---- start -------------------------------------------------------------------------------------
 */
static const char *text_of(uint32_t error)
{
	const char *text = NULL;

	if (session.f.GetResultString && !session.f.GetResultString(error, &text) && text)
		return text;
	return "an unknown error";
}

static bool fail(char *why, size_t n, const char *function, uint32_t error)
{
	snprintf(why, n, "cupti%s failed: %s (%u)", function, text_of(error), error);
	return false;
}

/* Subscribes with our name, or tells the name of who has the only place; "" if CUPTI does not say.
 */
static uint32_t subscribe_v2(char *holder)
{
	struct subscriber_params p = { .size = SUBSCRIBER_PARAMS_SIZE,
		.name = OUR_NAME,
		.holder = holder,
		.holder_size = SUBSCRIBER_HOLDER_SIZE };

	holder[0] = 0;
	return session.f.Subscribe_v2(&session.subscriber, called, NULL, &p);
}

/* From 13.2 on, who subscribes by the newer function may have to use only such; so there it is
 * asked for the name alone. */
static bool subscribe(char *why, size_t n)
{
	char holder[SUBSCRIBER_HOLDER_SIZE + 1] = "";
	bool v2 = session.f.Subscribe_v2 && session.f.version < CUPTI_API_13_2;
	uint32_t e =
	        v2 ? subscribe_v2(holder) : session.f.Subscribe(&session.subscriber, called, NULL);

	if (v2 && e && e != CUPTI_E_MULTIPLE_SUBSCRIBERS && e != CUPTI_E_NOT_INITIALIZED)
		e = session.f.Subscribe(&session.subscriber, called, NULL);
	if (!e)
		return true;
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS && !v2 && session.f.Subscribe_v2 &&
	        !subscribe_v2(holder)) {
		session.f.Unsubscribe(
		        session.subscriber); /* it has become free just now: too late */
		holder[0] = 0;
	}
	holder[SUBSCRIBER_HOLDER_SIZE] = 0;
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS)
		snprintf(why, n, "another profiler has CUPTI%s%s", holder[0] ? ": " : "", holder);
	else if (e == CUPTI_E_NOT_INITIALIZED && !session.f.driver)
		snprintf(why, n, "CUPTI %u does not work without a driver", session.f.version);
	else if (e == CUPTI_E_NOT_INITIALIZED)
		snprintf(why, n, "CUPTI %u does not work with this driver, which is of CUDA %d.%d",
		        session.f.version, session.f.driver / 1000, session.f.driver % 1000 / 10);
	else
		fail(why, n, "Subscribe", e);
	return false;
}

/* Settings without which recording works, if not as well. */
static void adjust(void)
{
	uint8_t on = 1;
	size_t size = sizeof on;

	if (session.f.SetThreadIdType)
		session.f.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	if (session.f.ActivitySetAttribute)
		session.f.ActivitySetAttribute(CUPTI_ATTR_ZEROED_OUT, &size, &on);
}

static void listen(void)
{
	static const struct {
		uint32_t domain, cbid;
	} wanted[] = { { CB_STATE, CB_STATE_FATAL }, { CB_RESOURCE, CB_RESOURCE_MODULE_UNLOAD },
		{ CB_DRIVER, CBID_CTX_DESTROY }, { CB_DRIVER, CBID_CTX_DESTROY_V2 },
		{ CB_DRIVER, CBID_PRIMARY_RELEASE }, { CB_DRIVER, CBID_PRIMARY_RELEASE_V2 },
		{ CB_DRIVER, CBID_PRIMARY_RESET }, { CB_DRIVER, CBID_PRIMARY_RESET_V2 },
		{ CB_RUNTIME, CBID_DEVICE_RESET } };

	for (unsigned i = 0; session.f.EnableCallback && i < sizeof wanted / sizeof *wanted; i++)
		session.f.EnableCallback(1, session.subscriber, wanted[i].domain, wanted[i].cbid);
}

static uint32_t enable(uint32_t kind)
{
	uint32_t e = session.f.ActivityEnable(kind);

	if (!e)
		session.enabled |= (uint64_t)1 << kind;
	return e;
}

/* Enables a kind that the profile would be wrong without. */
static bool need(uint32_t kind, char *why, size_t n)
{
	uint32_t e = enable(kind);

	return !e || fail(why, n, "ActivityEnable", e);
}

/* Enables one that it can do without. */
static void want(uint32_t kind, const char *name)
{
	size_t used = strlen(session.missing);

	if (enable(kind))
		snprintf(session.missing + used, sizeof session.missing - used, "%s%s",
		        used ? ", " : "", name);
}

/* Switches single functions on; false where this CUPTI cannot, or one refuses. */
static bool single_calls(uint32_t domain, uint32_t (*set)(uint32_t, uint8_t), uint8_t on)
{
	bool any = false;

	for (uint32_t i = 1; i < CBID_MOST; i++) {
		const char *name = NULL;

		if (session.f.GetCallbackName(domain, i, &name) || !name || !decode_wants(name))
			continue;
		if (set(i, on) && on)
			return false;
		any = true;
	}
	return any;
}

static bool enable_calls(enum plan_level level, char *why, size_t n)
{
	struct cupti *f = &session.f;

	session.single_calls = false;
	if (level == LEVEL_KERNELS)
		return true;
	if (level == LEVEL_LAUNCHES && f->ActivityEnableRuntimeApi && f->ActivityEnableDriverApi &&
	        f->GetCallbackName) {
		session.single_calls = true;
		if (single_calls(CB_RUNTIME, f->ActivityEnableRuntimeApi, 1) &&
		        single_calls(CB_DRIVER, f->ActivityEnableDriverApi, 1))
			return true;
	}
	return need(ACT_RUNTIME, why, n) && need(ACT_DRIVER, why, n);
}

static bool enable_all(const struct plan *plan, char *why, size_t n)
{
	if (!need(plan->graph_level ? ACT_GRAPH : ACT_KERNEL, why, n))
		return false;
	/* Graph launches and single kernels are both wanted; only the nodes of graphs are not. */
	if (plan->graph_level && !need(ACT_KERNEL, why, n))
		return false;
	if (!need(ACT_MEMCPY, why, n) || !need(ACT_MEMSET, why, n) ||
	        !enable_calls(plan->level, why, n))
		return false;
	want(ACT_MEMCPY_PEER, "copies between devices");
	if (plan->overhead)
		want(ACT_OVERHEAD, "overheads");
	if (plan->memory)
		want(ACT_MEMORY, "memory");
	if (plan->sync)
		want(ACT_SYNC, "synchronisation");
	for (uint32_t kind = ACT_DEVICE; kind <= ACT_CONTEXT; kind++)
		if (!session.f.ActivityEnableAndDump || session.f.ActivityEnableAndDump(kind))
			want(kind, kind == ACT_DEVICE ? "devices" : "contexts");
		else
			session.enabled |= (uint64_t)1 << kind;
	return true;
}

static void disable_all(void)
{
	for (uint32_t kind = 0; kind < ACT_KINDS; kind++)
		if (session.enabled >> kind & 1)
			session.f.ActivityDisable(kind);
	session.enabled = 0;
	cupti_no_calls();
}

bool cupti_start(const struct plan *plan, char *why, size_t n)
{
	uint32_t e;

	session.missing[0] = 0;
	if (atomic_exchange(&session.detach, false)) /* no launch has come since the last stop */
		session.f.Unsubscribe(session.subscriber);
	session.subscriber = NULL;
	if (!session.f.Subscribe && !cupti_open(&session.f, why, n))
		return false;
	if (!subscribe(why, n))
		return false;
	adjust();
	decode_use(&session.f, plan->level == LEVEL_FULL);
	record_enable_open(DOOR_CUPTI);
	e = session.f.ActivityRegisterCallbacks(requested, completed);
	if (e)
		fail(why, n, "ActivityRegisterCallbacks", e);
	listen();
	if (!e && enable_all(plan, why, n))
		return true;
	disable_all();
	record_enable_close(DOOR_CUPTI);
	session.f.Unsubscribe(session.subscriber);
	session.subscriber = NULL;
	return false;
}

/* ---- while it runs -----------------------------------------------------------------------------
 */
void cupti_flush(bool forced)
{
	session.f.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
}

uint64_t cupti_dropped(void)
{
	size_t n = 0;

	/* The count begins anew with each call. */
	if (!session.f.ActivityGetNumDroppedRecords ||
	        session.f.ActivityGetNumDroppedRecords(NULL, 0, &n))
		n = 0;
	return n + atomic_exchange(&session.discarded, 0);
}

uint64_t cupti_clock(void)
{
	uint64_t t = 0;

	return session.f.GetTimestamp && !session.f.GetTimestamp(&t) ? t : 0;
}

void cupti_all_calls(void)
{
	if (session.single_calls) {
		want(ACT_RUNTIME, "calls of the runtime");
		want(ACT_DRIVER, "calls of the driver");
	}
	session.single_calls = false;
}

void cupti_no_calls(void)
{
	for (uint32_t kind = ACT_DRIVER; kind <= ACT_RUNTIME; kind++)
		if (session.enabled >> kind & 1)
			session.f.ActivityDisable(kind);
	session.enabled &= ~((uint64_t)1 << ACT_DRIVER | (uint64_t)1 << ACT_RUNTIME);
	if (session.single_calls) {
		single_calls(CB_RUNTIME, session.f.ActivityEnableRuntimeApi, 0);
		single_calls(CB_DRIVER, session.f.ActivityEnableDriverApi, 0);
	}
	session.single_calls = false;
}

void cupti_count_launches(bool on)
{
	const struct cupti *f = &session.f;
	const char *name;

	atomic_store(&session.launches, 0);
	for (uint32_t i = 1; f->EnableCallback && f->GetCallbackName && i < CBID_MOST; i++)
		if (!f->GetCallbackName(CB_DRIVER, i, &name) && name && strstr(name, "Launch") &&
		        decode_wants(name))
			f->EnableCallback(on, session.subscriber, CB_DRIVER, i);
}

uint64_t cupti_launches(void)
{
	return atomic_load(&session.launches);
}

/* ---- stop --------------------------------------------------------------------------------------
 */
void cupti_stop(uint64_t patience_ns, bool detach)
{
	struct timespec t = { .tv_sec = (time_t)(patience_ns / 1000000000u),
		.tv_nsec = (long)(patience_ns % 1000000000u) };

	if (cupti_failure())
		session.subscriber = NULL;
	if (!session.subscriber) {
		record_enable_close(DOOR_CUPTI);
		return;
	}
	disable_all();
	cupti_flush(false);
	if (patience_ns)
		nanosleep(&t, NULL);
	cupti_flush(true);
	record_enable_close(DOOR_CUPTI);
	if (detach && session.f.Finalize) {
		/* The next launch takes CUPTI out of the process. */
		atomic_store(&session.detach, true);
		cupti_count_launches(true);
		return;
	}
	session.f.Unsubscribe(session.subscriber);
	session.subscriber = NULL;
}
