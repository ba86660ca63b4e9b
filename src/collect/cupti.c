/* SPDX-License-Identifier: Apache-2.0
 *
 * One session at a time. The callbacks run in the program's threads: they take no lock, allocate
 * nothing and preserve errno. CUPTI's range records, its timestamp callback, external correlations
 * and the serialising kernel kind are not used.
 */
#include "collect/cupti.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/pool.h"
#include "collect/decode.h"
#include "collect/system.h"
#include "collect/record_enable.h"

#define CBID_MOST   2048u
#define CLOCK_TRIES 3
#define PENDING_NS  200000000u /* time for unfinished work at the end of a session */
#define LOOK_NS     5000000u   /* interval between checks whether it has finished */

static struct {
	struct cupti f;
	void *subscriber;
	uint64_t enabled; /* enabled kinds, one bit each */
	bool single_calls;
	const struct heard_of *heard; /* the callback that CUPTI accepted, or NULL */
	char missing[256];
	_Atomic uint32_t fatal; /* 0, or 1 + the error after which CUPTI failed */
	_Atomic bool detach;
	_Atomic uint64_t launches;
} session;

/* Optional callbacks; without them recording is less complete. */
static const struct heard_of {
	uint32_t domain, cbid;
	const char *what;
} heard_of[] = { { CB_STATE, CB_STATE_FATAL, "fatal errors" },
	{ CB_RESOURCE, CB_RESOURCE_MODULE_UNLOAD, "unloaded modules" },
	{ CB_DRIVER, CBID_CTX_DESTROY, "ends of contexts" },
	{ CB_DRIVER, CBID_CTX_DESTROY_V2, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RELEASE, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RELEASE_V2, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RESET, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RESET_V2, "ends of contexts" },
	{ CB_RUNTIME, CBID_DEVICE_RESET, "ends of contexts" } };
#define HEARD_OF (sizeof heard_of / sizeof *heard_of)

/* Names of the enabled kinds in messages. */
static const char *const kind_names[ACT_KINDS] = {
	[ACT_MEMCPY] = "copies",
	[ACT_MEMSET] = "memsets",
	[ACT_DRIVER] = "calls of the driver",
	[ACT_RUNTIME] = "calls of the runtime",
	[ACT_DEVICE] = "devices",
	[ACT_CONTEXT] = "contexts",
	[ACT_KERNEL] = "kernels",
	[ACT_OVERHEAD] = "overheads",
	[ACT_MEMCPY_PEER] = "copies between devices",
	[ACT_SYNC] = "synchronisation",
	[ACT_MEMORY] = "memory",
	[ACT_GRAPH] = "launches of whole graphs",
};

const struct cupti *cupti_functions(void)
{
	return &session.f;
}

const char *cupti_missing(void)
{
	return session.missing;
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

/* The only place from which CUPTI may be detached. */
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
		const struct cb_state *state = data;

		if (cbid == CB_STATE_FATAL) {
			atomic_store(&session.fatal, 1 + (state ? state->result : 0));
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

/* ---- start -------------------------------------------------------------------------------------
 */
bool cupti_failed(void)
{
	return atomic_load(&session.fatal);
}

void cupti_failure(char *text, size_t n)
{
	uint32_t error = atomic_load(&session.fatal);

	if (error > 1)
		snprintf(text, n, "%s (%u)", cupti_error_text(&session.f, error - 1), error - 1);
	else
		snprintf(text, n, "a fatal error");
}

/* Adds to the list of refused items, without duplicates. */
static void add_missing(const char *what)
{
	size_t used = strlen(session.missing);

	if (!strstr(session.missing, what))
		snprintf(session.missing + used, sizeof session.missing - used, "%s%s",
		        used ? ", " : "", what);
}

/* Sets optional attributes; without them recording is less complete. */
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
	session.heard = NULL;
	for (unsigned i = 0; i < HEARD_OF; i++)
		if (session.f.EnableCallback && !session.f.EnableCallback(1, session.subscriber,
		                                        heard_of[i].domain, heard_of[i].cbid))
			session.heard = &heard_of[i];
		else
			add_missing(heard_of[i].what);
}

static uint32_t enable(uint32_t kind)
{
	uint32_t e = session.f.ActivityEnable(kind);

	if (!e)
		session.enabled |= (uint64_t)1 << kind;
	return e;
}

/* Enables a kind without which the profile would be wrong. */
static bool need(uint32_t kind, char *why, size_t n)
{
	uint32_t e = enable(kind);

	if (e)
		snprintf(why, n, "CUPTI refuses to record %s (kind %u): %s (%u)", kind_names[kind],
		        kind, cupti_error_text(&session.f, e), e);
	return !e;
}

/* Enables an optional kind. */
static void want(uint32_t kind)
{
	char what[64];

	if (!enable(kind))
		return;
	snprintf(what, sizeof what, "%s (kind %u)", kind_names[kind], kind);
	add_missing(what);
}

/* Enables or disables single functions; false if this CUPTI cannot, or refuses one. */
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
	/* If whole graphs are refused, their nodes are recorded. */
	if (plan->graph_level)
		want(ACT_GRAPH);
	if (!need(ACT_KERNEL, why, n) || !need(ACT_MEMCPY, why, n) || !need(ACT_MEMSET, why, n) ||
	        !enable_calls(plan->level, why, n))
		return false;
	want(ACT_MEMCPY_PEER);
	if (plan->overhead)
		want(ACT_OVERHEAD);
	if (plan->memory)
		want(ACT_MEMORY);
	if (plan->sync)
		want(ACT_SYNC);
	for (uint32_t kind = ACT_DEVICE; kind <= ACT_CONTEXT; kind++)
		if (!session.f.ActivityEnableAndDump || session.f.ActivityEnableAndDump(kind))
			want(kind);
		else
			session.enabled |= (uint64_t)1 << kind;
	return true;
}

/* Disables calls first, so every recorded call has its kernel. */
static void disable_all(void)
{
	cupti_no_calls();
	for (uint32_t kind = 0; kind < ACT_KINDS; kind++)
		if (session.enabled >> kind & 1)
			session.f.ActivityDisable(kind);
	session.enabled = 0;
}

bool cupti_start(const struct plan *plan, char *why, size_t n)
{
	uint32_t e;

	session.missing[0] = 0;
	if (atomic_exchange(&session.detach, false)) /* no launch since the last stop */
		session.f.Unsubscribe(session.subscriber);
	session.subscriber = NULL;
	if (!session.f.Subscribe && !cupti_open(&session.f, why, n))
		return false;
	if (!cupti_subscribe(&session.f, &session.subscriber, called, why, n))
		return false;
	adjust();
	decode_use(&session.f, plan->level == LEVEL_FULL);
	buffers_use(&session.f);
	record_enable_open(DOOR_CUPTI);
	e = session.f.ActivityRegisterCallbacks(buffers_requested, buffers_completed);
	if (e)
		snprintf(why, n, "cuptiActivityRegisterCallbacks failed: %s (%u)",
		        cupti_error_text(&session.f, e), e);
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
uint32_t cupti_flush(bool forced)
{
	return session.f.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
}

uint64_t cupti_dropped(void)
{
	size_t n = 0;

	/* The count restarts with each call. */
	if (!session.f.ActivityGetNumDroppedRecords ||
	        session.f.ActivityGetNumDroppedRecords(NULL, 0, &n))
		n = 0;
	return n + buffers_discarded();
}

void cupti_clock(struct spool_clock *best)
{
	*best = (struct spool_clock){ .width = UINT64_MAX };
	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct spool_clock c = { 0 };
		uint64_t begin = process_raw_clock(), before = process_clock(), after;

		if (!session.f.GetTimestamp || session.f.GetTimestamp(&c.cupti))
			c.cupti = 0;
		after = process_clock();
		c.width = process_raw_clock() - begin + 1;
		c.monotonic_raw = begin + c.width / 2;
		c.realtime = before + (uint64_t)((int64_t)(after - before) / 2);
		if (c.width < best->width)
			*best = c;
	}
}

void cupti_all_calls(void)
{
	if (session.single_calls) {
		want(ACT_RUNTIME);
		want(ACT_DRIVER);
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

/* ---- other clients -----------------------------------------------------------------------------
 */
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

bool cupti_is_gone(void)
{
	const struct heard_of *h = session.heard;

	return h && session.f.EnableCallback(1, session.subscriber, h->domain, h->cbid);
}

bool cupti_is_switched_off(void)
{
	uint32_t kinds[ACT_KINDS] = { 0 }, size = sizeof kinds, n = 0;

	if (!session.f.ActivityGetEnabledKinds ||
	        session.f.ActivityGetEnabledKinds(NULL, kinds, &size, &n))
		return false;
	for (uint32_t i = 0; i < n && i < ACT_KINDS; i++)
		if (kinds[i] == ACT_KERNEL)
			return false;
	return true;
}

bool cupti_start_again(const struct plan *plan, char *why, size_t n)
{
	if (session.subscriber && !cupti_is_gone()) {
		disable_all();
		session.f.Unsubscribe(session.subscriber);
	}
	session.enabled = 0;
	session.single_calls = false;
	session.subscriber = NULL;
	record_enable_close(DOOR_CUPTI);
	return cupti_start(plan, why, n);
}

/* ---- stop --------------------------------------------------------------------------------------
 */
/* Flushes complete buffers until CUPTI has none left, or the time limit is reached. */
static void fetch(void)
{
	struct timespec t = { .tv_nsec = LOOK_NS };

	for (uint64_t spent = 0; spent <= PENDING_NS; spent += LOOK_NS) {
		cupti_flush(false);
		if (!pool_out())
			return;
		nanosleep(&t, NULL);
	}
}

uint32_t cupti_stop(bool detach)
{
	uint32_t e = 0;

	if (cupti_failed())
		session.subscriber = NULL;
	if (!session.subscriber) {
		record_enable_close(DOOR_CUPTI);
		return 0;
	}
	disable_all();
	fetch();
	e = cupti_flush(true);
	record_enable_close(DOOR_CUPTI);
	if (detach && session.f.Finalize) {
		/* The next launch detaches CUPTI from the process. */
		atomic_store(&session.detach, true);
		cupti_count_launches(true);
		return e;
	}
	session.f.Unsubscribe(session.subscriber);
	session.subscriber = NULL;
	return e;
}
