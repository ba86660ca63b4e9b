/* SPDX-License-Identifier: Apache-2.0
 *
 * A session starts on a separate thread, because a vendor function may not return; until that
 * thread has ended, no other vendor function is called.
 */
#include "collect/writer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "collect/decode.h"
#include "collect/launches.h"
#include "collect/pool.h"
#include "collect/ring.h"
#include "collect/store.h"
#include "collect/system.h"

#define SECOND_NS   1000000000u
#define START_NS    2000000000u /* a start that takes longer is reported */
#define FLUSH_FIRST 20000000u

static struct {
	const struct backend *gpu;
	struct plan *plan;
	/* Used by the thread that starts a session, until it sets `start`; then by the writer. */
	_Atomic unsigned start; /* enum session_state */
	char why[512];
	struct spool_clock begun; /* clocks when the session started */
	bool used_gpu;
	/* Used by the writer only. */
	enum session_state state;
	uint64_t asked, next_flush, flush_step;
	uint64_t launched; /* number of launches at the last flush */
	uint64_t lost_ranges, lost_kept, dropped, lost_names;
	uint32_t dropped_error;
	bool told_start;
} session;

void session_reset(const struct backend *gpu, struct plan *plan)
{
	memset(&session, 0, sizeof session);
	session.gpu = gpu;
	session.plan = plan;
}

bool session_was_used(void)
{
	return session.used_gpu;
}

enum session_state session_state(void)
{
	return session.state;
}

uint64_t session_next_flush(void)
{
	return session.next_flush;
}

void session_wait(uint64_t ns)
{
	uint64_t now = process_ticks(), end = session.asked + ns;

	if (now < end)
		wake_started_wait(end - now);
	/* Checks now whether launches can be counted, because another client may take the callbacks
	 * later. The writer may already have taken over the result of the start. */
	if (atomic_load(&session.start) != SESSION_STARTS)
		session.gpu->counts();
}

void session_retry(void)
{
	if (session.state == SESSION_FAILED && !session.gpu->failed())
		session.state = SESSION_OFF;
}

bool session_failed(void)
{
	return session.gpu->failed();
}

/* Sets a flag if launches are no longer counted. stolen: another client has taken records. */
static void doubt_counts(enum backend_counts is, bool stolen)
{
	if (is == BACKEND_STOPPED || (is == BACKEND_UNSURE && stolen))
		launches_flag(SPOOL_COUNT_PART);
}

void session_look(void)
{
	if (session.state != SESSION_ON)
		return;
	doubt_counts(session.gpu->counts(), false);
	watch_look(session.gpu->state(), false);
}

void session_end(void)
{
	if (session.state == SESSION_STARTS) {
		launches_flag(SPOOL_COUNT_PART);
		if (!session.told_start)
			store_note("no GPU work is recorded: %s has not started yet",
			        session.gpu->name);
	}
	launches_flag(SPOOL_COUNT_ON);
}

void session_fewer_calls(void)
{
	session.gpu->fewer_calls();
}

/* ---- start and stop ----------------------------------------------------------------------------
 */
static void *start(void *unused)
{
	bool ok = session.gpu->enable(session.plan, session.why, sizeof session.why);

	(void)unused;
	if (ok)
		session.gpu->clock(&session.begun);
	atomic_store(&session.start, ok ? SESSION_ON : SESSION_FAILED);
	wake_started();
	wake_writer();
	return NULL;
}

/* Starts a session. The result is stored in session.start, the reason of a failure in
 * session.why. */
void session_begin(void)
{
	session.used_gpu = true;
	session.asked = process_ticks();
	wake_starting();
	atomic_store(&session.start, SESSION_STARTS);
	if (!session.gpu->open(session.why, sizeof session.why)) {
		atomic_store(&session.start, SESSION_FAILED);
		wake_started();
	} else if (!thread_make(start, "tfprof start")) {
		start(NULL);
	}
}

static void put_clock(const struct spool_clock *c)
{
	struct spool_record r = { .kind = SPOOL_CLOCK, .clock = *c };

	if (r.clock.cupti)
		decode_clock((int64_t)(r.clock.cupti - r.clock.realtime));
	store_put(&r);
}

void session_clocks(void)
{
	struct spool_clock c;

	if (session.state != SESSION_ON) /* this function may be the one that does not return */
		return;
	session.gpu->clock(&c);
	put_clock(&c);
}

static void put_fact(const char *key, const char *value)
{
	store_info(key, value, strlen(value));
}

/* Reports once that the start takes longer than it may block the program. */
static void tell_start(uint64_t now)
{
	if (session.told_start || now - session.asked < START_NS)
		return;
	session.told_start = true;
	launches_flag(SPOOL_COUNT_PART);
	store_note(
	        "no GPU work is recorded: %s has not started within 2 seconds", session.gpu->name);
}

/* Schedules a flush soon after a pause, and then at growing intervals, because a short process may
 * end without calling the collector's exit handler. */
static void flush_soon(uint64_t now)
{
	session.flush_step =
	        FLUSH_FIRST < session.plan->flush_ns ? FLUSH_FIRST : session.plan->flush_ns;
	session.next_flush = now + session.flush_step;
}

/* Flushes if a flush is due. */
void session_flush(uint64_t now, bool asked)
{
	uint64_t launched = launches_total(LAUNCH_KERNEL) + launches_total(LAUNCH_GRAPH);

	if (session.state != SESSION_ON || (!asked && now < session.next_flush))
		return;
	session.gpu->flush(false);
	/* A handler that the library may have registered in the meantime must run after the
	 * collector's handler. */
	exit_hook_renew();
	session.flush_step *= 2;
	if (session.flush_step > session.plan->flush_ns)
		session.flush_step = session.plan->flush_ns;
	if (launched == session.launched)
		flush_soon(now);
	else
		session.next_flush = now + session.flush_step;
	session.launched = launched;
}

/* Takes over the result of a start, if it is available, and records it. */
void session_adopt(uint64_t now)
{
	enum session_state is = (enum session_state)atomic_load(&session.start);

	if (is == SESSION_OFF)
		return;
	session.state = is;
	if (is == SESSION_STARTS) {
		tell_start(now);
		return;
	}
	atomic_store(&session.start, SESSION_OFF);
	if (session.state == SESSION_FAILED) {
		launches_flag(SPOOL_COUNT_PART);
		store_note("no GPU work is recorded: %s", session.why);
	}
	if (session.state != SESSION_ON)
		return;
	session.gpu->counts();
	if (session.told_start)
		store_note("%s has started after %llu seconds; recording begins here",
		        session.gpu->name, (unsigned long long)((now - session.asked) / SECOND_NS));
	session.gpu->facts(put_fact);
	if (*session.gpu->missing())
		store_note("%s does not report %s", session.gpu->name, session.gpu->missing());
	put_clock(&session.begun);
	watch_begin(session.gpu, session.plan->silence_ns);
	flush_soon(now);
}

/* Collects the data of the program's threads. Returns true if CUPTI has returned a buffer. */
bool session_drain(void)
{
	uint64_t before = decode_counts()->records;

	for (struct pool_buffer *b = pool_drain(), *next; b; b = next) {
		next = b->next;
		session.gpu->decode(b->data, b->valid);
		pool_give(b);
	}
	ticks_read();
	rings_drain(decode_entry, NULL);
	return decode_counts()->records != before;
}

/* Records the losses since the last call, except `probes` records. */
static uint64_t put_dropped(uint64_t probes)
{
	uint32_t error = 0;
	uint64_t n = session.gpu->dropped(&error);

	n -= n < probes ? n : probes;

	if (!error) {
		store_lost(SPOOL_LOST_DROPPED, n);
	} else if (n || error != session.dropped_error) {
		store_lost_least(SPOOL_LOST_DROPPED, n);
		if (error != session.dropped_error)
			store_note("%s does not report how many records it dropped: %s (%u)",
			        session.gpu->name, session.gpu->error(error), error);
	}
	session.dropped_error = error;
	return n;
}

static void put_names(void)
{
	uint64_t n = names_lost();

	if (n && !session.lost_names)
		store_note("too many different names, or names that are too long: from here on, "
		           "some are shortened or share one name");
	if (n != session.lost_names)
		store_lost_least(SPOOL_LOST_NAMES, n - session.lost_names);
	session.lost_names = n;
}

/* Records the losses. probes: number of requested records that did not arrive. */
bool session_losses(uint64_t probes)
{
	uint64_t ranges = rings_lost() + rings_too_deep();

	store_lost(SPOOL_LOST_RANGES, ranges - session.lost_ranges);
	session.lost_ranges = ranges;
	put_names();
	if (session.state != SESSION_ON)
		return false;
	uint64_t dropped = put_dropped(probes);

	session.dropped += dropped;
	return watch_check(process_ticks(), dropped);
}

/* Records the number of records that were not returned at the end of a session, with the reason.
 * missed: true if a probe did not arrive. */
static void put_kept(bool failed, uint32_t error, bool missed)
{
	uint64_t kept = pool_kept(session.gpu->count);
	char text[160], name[96];

	if (kept && missed)
		kept--; /* the record of the probe */

	if (failed) {
		session.gpu->failure(name, sizeof name);
		snprintf(text, sizeof text, "%s failed: %s", session.gpu->name, name);
	} else if (error) {
		snprintf(text, sizeof text, "the last flush of %s failed: %s (%u)",
		        session.gpu->name, session.gpu->error(error), error);
	} else if (pool_out()) {
		snprintf(text, sizeof text, "%s did not hand over all buffers", session.gpu->name);
	} else if (missed) {
		snprintf(text, sizeof text,
		        "records of %s no longer reach the recorder: another profiler has taken "
		        "them",
		        session.gpu->name);
	} else {
		return;
	}
	kept -= session.lost_kept < kept ? session.lost_kept : kept;
	if (kept)
		store_note("%s; at least %llu records are lost", text, (unsigned long long)kept);
	else
		store_note("%s; the last records may be lost", text);
	store_lost_least(SPOOL_LOST_KEPT, kept);
	session.lost_kept += kept;
}

/* Sets SPOOL_COUNT_PART if threads have launched work after `seen` launches were counted, or if
 * launches are no longer counted. */
static void doubt_late_launches(uint64_t seen)
{
	launches_end();
	if (launches_total(LAUNCH_KERNEL) + launches_total(LAUNCH_GRAPH) != seen)
		launches_flag(SPOOL_COUNT_PART);
	doubt_counts(session.gpu->counts(), false);
}

/* Ends the session. last: true if the process ends. */
void session_stop(bool last)
{
	const struct backend *gpu = session.gpu;
	enum backend_counts counts = BACKEND_COUNTS;
	uint64_t seen = launches_total(LAUNCH_KERNEL) + launches_total(LAUNCH_GRAPH);
	bool failed, probed, taken;

	if (session.state != SESSION_ON)
		return;
	failed = gpu->failed();
	if (!failed) {
		counts = gpu->counts();
		watch_look(gpu->state(), last);
		session_clocks();
	}
	uint64_t launched = gpu->disable();

	session_drain();
	uint64_t devices = decode_counts()->devices, unread = decode_counts()->unread;
	uint32_t error = gpu->close(last, launched, &probed);

	session_drain();
	taken = watch_end();
	bool missed = probed && decode_counts()->devices == devices,
	     dropped = missed && pool_were_short();

	missed = missed && !dropped && decode_counts()->unread == unread;
	doubt_counts(counts, missed || taken);
	if (last && !failed)
		doubt_late_launches(seen);
	put_kept(failed, error, missed && !taken);
	session_losses(dropped);
	if (!last)
		(session.plan->detach ? gpu->detach : gpu->release)();
	session.state = failed ? SESSION_FAILED : SESSION_OFF;
}

/* Starts again after another client has ended the session. */
void session_again(uint64_t now)
{
	bool ok = session.gpu->enable_again(session.plan, session.why, sizeof session.why);

	watch_started_again(now, ok);
	if (!ok)
		return;
	exit_hook_renew();
	session_clocks();
}
