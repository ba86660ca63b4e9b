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
#include "collect/launches.h"
#include "collect/system.h"
#include "collect/record_enable.h"
#include "collect/ring.h"

#define CLOCK_TRIES 3
#define PENDING_NS  200000000u /* time limit for unfinished work at the end of a session */
#define LOOK_NS     5000000u   /* interval between checks of this work */

/* States of detaching. CUPTI is detached when the next driver call ends. */
enum detaching { DETACH_NOT, DETACH_ARMED, DETACH_RUNS };

static struct {
	const struct accepted_by *accepted; /* the callback that CUPTI accepted, or NULL */
	_Atomic uint32_t fatal;             /* 0, or 1 + the error after which CUPTI failed */
	_Atomic unsigned detach;            /* enum detaching */
} session;
#define F cupti_client.f

/* Optional callbacks; without them recording is less complete. */
static const struct accepted_by {
	uint32_t domain, cbid;
	const char *what;
} accepted_by[] = { { CB_STATE, CB_STATE_FATAL, "fatal errors" },
	{ CB_RESOURCE, CB_RESOURCE_MODULE_UNLOAD, "unloaded modules" },
	{ CB_RESOURCE, CB_RESOURCE_NODE_CREATED, "created graph nodes" },
	{ CB_RESOURCE, CB_RESOURCE_NODE_CLONED, "created graph nodes" },
	{ CB_DRIVER, CBID_CTX_DESTROY, "ends of contexts" },
	{ CB_DRIVER, CBID_CTX_DESTROY_V2, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RELEASE, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RELEASE_V2, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RESET, "ends of contexts" },
	{ CB_DRIVER, CBID_PRIMARY_RESET_V2, "ends of contexts" },
	{ CB_RUNTIME, CBID_DEVICE_RESET, "ends of contexts" } };
#define HEARD_OF (sizeof accepted_by / sizeof *accepted_by)

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

/* Detaches CUPTI, if requested. This is the only place where it may be detached. */
static void leave(const struct cb_data *d)
{
	unsigned armed = DETACH_ARMED;

	if (d->site != CB_EXIT ||
	        atomic_load_explicit(&session.detach, memory_order_relaxed) != DETACH_ARMED ||
	        !atomic_compare_exchange_strong(&session.detach, &armed, DETACH_RUNS))
		return;
	F.Finalize();
	atomic_store(&session.detach, DETACH_NOT);
}

/* Records the creation of a graph node, or its copy. */
static void take_node(bool copied, const struct cb_resource *d)
{
	uint64_t id, original = 0;
	struct ring *r;

	if (!F.GetGraphNodeId || !d || !d->graph || F.GetGraphNodeId(d->graph->node, &id) || !id)
		return;
	if (copied && (F.GetGraphNodeId(d->graph->original, &original) || !original))
		return;
	if (record_enable_round() && (r = ring_mine()))
		ring_put(r, copied ? original : ticks_now(), id, 0, 0,
		        copied ? RING_COPY : RING_NODE);
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	int saved = errno;

	(void)user;
	if (domain == CB_STATE) {
		const struct cb_state *state = data;

		if (cbid == CB_STATE_FATAL) {
			atomic_store(&session.fatal, 1 + (state ? state->result : 0));
			launches_flag(SPOOL_COUNT_PART);
			wake_writer();
		}
	} else if (domain == CB_RESOURCE) {
		if (cbid == CB_RESOURCE_MODULE_UNLOAD)
			decode_forget_names();
		else if (record_enable_ours())
			take_node(cbid == CB_RESOURCE_NODE_CLONED, data);
	} else if (data && record_enable_ours()) {
		const struct cb_data *d = data;

		if (ends_context(domain, cbid)) {
			if (d->site == CB_ENTER)
				F.ActivityFlushAll(0);
		} else if (!atomic_load_explicit(&session.detach, memory_order_relaxed)) {
			cupti_count(domain, cbid, d);
		}
		leave(d);
	}
	errno = saved;
}

/* ---- start -------------------------------------------------------------------------------------
 */
static void failure(char *text, size_t n)
{
	uint32_t error = atomic_load(&session.fatal);

	if (error > 1)
		snprintf(text, n, "%s (%u)", cupti_error_text(error - 1), error - 1);
	else
		snprintf(text, n, "a fatal error");
}

/* Sets optional attributes; without them recording is less complete. */
static void adjust(void)
{
	uint8_t on = 1;

	cupti_set_thread_ids();
	cupti_set(CUPTI_ATTR_ZEROED_OUT, &on, sizeof on);
}

static void listen(void)
{
	session.accepted = NULL;
	for (unsigned i = 0; i < HEARD_OF; i++)
		if (F.EnableCallback && !F.EnableCallback(1, cupti_client.subscriber,
		                                accepted_by[i].domain, accepted_by[i].cbid))
			session.accepted = &accepted_by[i];
		else
			cupti_kinds_miss(accepted_by[i].what);
}

/* Records whether a graph launch produces one record or a record per node. */
static void flag_graphs(void)
{
	bool whole = cupti_kinds_has(ACT_GRAPH);
	uint32_t flags = launches_flags();

	if (flags & SPOOL_COUNT_ON && !(flags & SPOOL_COUNT_GRAPHS) == whole)
		launches_flag(SPOOL_COUNT_CHANGED);
	launches_flag(whole ? SPOOL_COUNT_GRAPHS : 0);
}

static bool open_library(char *why, size_t n)
{
	return F.Subscribe || cupti_open(&F, why, n);
}

/* Starts the counts. Launches made meanwhile may or may not be recorded. */
static void begin_count(void)
{
	if (cupti_count_begin())
		launches_flag(SPOOL_COUNT_ON);
	else
		launches_flag(SPOOL_COUNT_ON | SPOOL_COUNT_PART);
}

static const struct cupti_buffers buffers = { buffers_requested, buffers_completed,
	buffers_requested_v2, buffers_completed_v2 };

/* Completes a requested detach, because a session that starts while CUPTI is being detached would
 * lose its callbacks. */
static void end_detach(void)
{
	struct timespec t = { .tv_nsec = LOOK_NS };
	unsigned armed = DETACH_ARMED;

	if (atomic_compare_exchange_strong(&session.detach, &armed, DETACH_NOT)) {
		cupti_unsubscribe(); /* no launch has occurred since the last close */
		return;
	}
	while (atomic_load(&session.detach) == DETACH_RUNS)
		nanosleep(&t, NULL);
}

static bool enable_session(const struct plan *plan, char *why, size_t n)
{
	uint64_t before = launches_total(LAUNCH_KERNEL);
	uint32_t e;

	cupti_kinds_miss(NULL);
	end_detach();
	if (!cupti_subscribe(called, why, n))
		return false;
	/* Exit handlers that CUPTI has registered run before earlier ones; the collector's handler
	 * must be the last one registered. */
	exit_hook_renew();
	adjust();
	decode_use(plan->level == LEVEL_FULL);
	record_enable_open(DOOR_CUPTI);
	e = cupti_register(&buffers);
	if (e)
		snprintf(why, n, "cuptiActivityRegisterCallbacks failed: %s (%u)",
		        cupti_error_text(e), e);
	listen();
	begin_count();
	if (!e && cupti_kinds_enable(plan, why, n)) {
		flag_graphs();
		launches_doubt(launches_total(LAUNCH_KERNEL) - before);
		return true;
	}
	cupti_kinds_disable();
	record_enable_close(DOOR_CUPTI);
	cupti_unsubscribe();
	return false;
}

/* ---- while it runs -----------------------------------------------------------------------------
 */
static uint32_t flush(bool forced)
{
	return F.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
}

/* Returns the number of dropped records. CUPTI restarts its count with each call. */
static uint64_t dropped(uint32_t *error)
{
	size_t n = 0;

	*error = 0;
	if (cupti_client.several || F.ActivityGetNumDroppedRecords)
		*error = cupti_take_dropped(&n);
	return (*error ? 0 : n) + buffers_discarded(error);
}

static void read_clock(struct spool_clock *best)
{
	*best = (struct spool_clock){ .width = UINT64_MAX };
	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct spool_clock c = { 0 };
		uint64_t begin = process_raw_clock(), before = process_clock(), after;

		if (cupti_time(&c.cupti))
			c.cupti = 0;
		after = process_clock();
		c.width = process_raw_clock() - begin + 1;
		c.monotonic_raw = begin + c.width / 2;
		c.realtime = before + (uint64_t)((int64_t)(after - before) / 2);
		if (c.width < best->width)
			*best = c;
	}
}

static void put_facts(void (*put)(const char *key, const char *value))
{
	char text[24];

	snprintf(text, sizeof text, "%u", F.version);
	put("cupti", text);
	snprintf(text, sizeof text, "%d", F.driver);
	put("driver", text);
	put("libcupti", cupti_path());
}

/* ---- other clients -----------------------------------------------------------------------------
 */
static bool is_gone(void)
{
	const struct accepted_by *h = session.accepted;

	return h && F.EnableCallback(1, cupti_client.subscriber, h->domain, h->cbid);
}

static bool is_switched_off(void)
{
	uint32_t kinds[ACT_KINDS] = { 0 }, size = sizeof kinds, n = 0;

	void *whose = cupti_client.several ? cupti_client.subscriber : NULL; /* NULL: subscriber of
	                                                                        any client */

	if (!F.ActivityGetEnabledKinds || F.ActivityGetEnabledKinds(whose, kinds, &size, &n))
		return false;
	for (uint32_t i = 0; i < n && i < ACT_KINDS; i++)
		if (kinds[i] == ACT_KERNEL)
			return false;
	return true;
}

static bool failed(void)
{
	return atomic_load(&session.fatal);
}

static enum backend_state state(void)
{
	if (atomic_load(&session.fatal))
		return BACKEND_FAILED;
	if (is_gone())
		return BACKEND_GONE;
	return is_switched_off() ? BACKEND_OFF : BACKEND_RUNS;
}

static bool probe(void)
{
	return !cupti_dump(ACT_DEVICE);
}

static bool enable_again(const struct plan *plan, char *why, size_t n)
{
	if (cupti_client.subscriber && !is_gone()) {
		cupti_kinds_disable();
		cupti_unsubscribe();
	}
	cupti_kinds_forget();
	cupti_client.subscriber = NULL;
	record_enable_close(DOOR_CUPTI);
	return enable_session(plan, why, n);
}

/* ---- close -------------------------------------------------------------------------------------
 */
/* Flushes buffers until CUPTI has none left, or the time limit is reached. */
static void fetch(bool forced)
{
	struct timespec t = { .tv_nsec = LOOK_NS };

	for (uint64_t spent = 0; spent <= PENDING_NS; spent += LOOK_NS) {
		flush(forced);
		if (!pool_out())
			return;
		nanosleep(&t, NULL);
	}
}

static uint64_t disable(void)
{
	uint64_t launched = launches_total(LAUNCH_KERNEL);

	if (!failed()) {
		cupti_kinds_disable();
		fetch(false);
	}
	return launched;
}

static uint32_t close_session(bool last, uint64_t launched, bool *probed)
{
	bool ours = cupti_client.subscriber && !failed();
	uint32_t e = 0;

	*probed = false;
	if (ours) {
		/* A CUPTI that was shut down would count the probe as a dropped record. */
		*probed = !is_gone() && probe();
		e = flush(true);
		if (*probed)
			cupti_disable(ACT_DEVICE);
	}
	if (ours && !last) {
		launches_doubt(launches_total(LAUNCH_KERNEL) - launched);
		cupti_count_end();
	}
	record_enable_close(DOOR_CUPTI);
	/* A launch that was in progress during the flush may have written its records into a new
	 * buffer.
	 */
	if (ours && !e && pool_out())
		fetch(true);
	return e;
}

/* After a failure of CUPTI, only the delivered records are read. */
static void release(void)
{
	if (!failed())
		cupti_unsubscribe();
}

/* If the process has other clients, CUPTI stays in it. */
static void detach(void)
{
	if (!cupti_client.subscriber || failed())
		return;
	if (!F.Finalize || cupti_client.several) {
		cupti_unsubscribe();
		return;
	}
	cupti_count_begin();
	atomic_store(&session.detach, DETACH_ARMED);
}

const struct backend cupti_backend = {
	.name = "CUPTI",
	.open = open_library,
	.enable = enable_session,
	.enable_again = enable_again,
	.flush = flush,
	.decode = decode_buffer,
	.disable = disable,
	.close = close_session,
	.probe = probe,
	.detach = detach,
	.release = release,
	.fewer_calls = cupti_kinds_fewer_calls,
	.all_calls = cupti_kinds_all_calls,
	.failed = failed,
	.state = state,
	.counts = cupti_count_works,
	.failure = failure,
	.error = cupti_error_text,
	.dropped = dropped,
	.clock = read_clock,
	.facts = put_facts,
	.count = buffers_count,
	.missing = cupti_kinds_missing,
};
