/* SPDX-License-Identifier: Apache-2.0
 *
 * Silence is ambiguous: an idle program; long work, so that CUPTI holds the buffers with its
 * records; or another client, whose callbacks have replaced ours or which has finalised CUPTI. If
 * the program launches while no record arrives, the content of the buffers shows whether CUPTI
 * still writes into them; if not, CUPTI is requested to write a record that must arrive. CUPTI is
 * never forced to return buffers while the program runs, as work in progress would lose its times.
 * What was lost is known from the counts of launches, whatever the reason.
 *
 * The other client is never disturbed. Recording starts again when it is done: when it has
 * finalised CUPTI, when CUPTI reports that kernels are no longer recorded, or when the program has
 * launched nothing for that long.
 */
#include "collect/writer.h"

#include "collect/pool.h"
#include "collect/launches.h"
#include "collect/decode.h"
#include "collect/system.h"
#include "collect/store.h"

#define FEW          100u /* number of records or launches that are too few to judge */
#define PERCENT_LOST 1u
#define PERCENT_CPU  5u
#define PROBE_NS     200000000u /* time within which a probe must arrive */
/* Number of silences over which the cost of recording, and missing kernels, are judged. */
#define SPAN 2u

static struct {
	const struct backend *gpu;
	enum { RECEIVED, ASKED, PROBED, GAP } state;
	uint64_t silence, record_at, record_clock; /* time of the last records */
	uint64_t record_launches;                  /* number of launches until then */
	uint64_t launch_at;                 /* time of a launch while no records arrived; 0: none */
	size_t written;                     /* number of bytes in CUPTI's buffers at the last
	                                       check */
	uint64_t gap_launches, gap_seen_at; /* number of launches, and the time of their last
	                                       change */
	uint64_t try_at;                    /* earliest time of the next start */
	bool gone;                          /* true: CUPTI was finalised */
	uint64_t cpu, span_at, span_dropped; /* start of the judged period */
	uint64_t first_launch_at;
	uint64_t dropped;
	bool told_untimed, told_dropped, told_cpu, told_no_kernels, all_calls;
} watch;

/* Returns the number of launches since the process began. */
static uint64_t launches(void)
{
	return launches_total(LAUNCH_KERNEL) + launches_total(LAUNCH_GRAPH);
}

void watch_begin(const struct backend *gpu, uint64_t silence_ns)
{
	watch.gpu = gpu;
	watch.state = RECEIVED;
	watch.silence = silence_ns;
	watch.gone = false;
	watch.all_calls = false;
	watch.record_at = watch.span_at = process_ticks();
	watch.record_clock = process_clock();
	watch.record_launches = launches();
	watch.cpu = process_thread_cpu();
	watch.launch_at = watch.first_launch_at = watch.span_dropped = 0;
	decode_earliest_begin();
}

/* ---- gaps --------------------------------------------------------------------------------------
 */
static void end_gap(void)
{
	static const char taken[] = "another profiler took the records of CUPTI",
	                  down[] = "another profiler shut CUPTI down";
	struct spool_record r = { .kind = SPOOL_GAP };
	struct name *why =
	        watch.gone ? names_add(down, sizeof down - 1) : names_add(taken, sizeof taken - 1);

	r.gap = (struct spool_gap){ watch.record_clock, process_clock(), store_name(why) };
	store_put(&r);
}

static void begin_gap(uint64_t now)
{
	watch.state = GAP;
	watch.gap_launches = launches();
	watch.gap_seen_at = now;
	watch.try_at = now;
	/* The next start may change which launches are counted. */
	store_note(watch.gone ? "another profiler has taken CUPTI out of the process"
	                      : "the program launches kernels, but CUPTI delivers no records: the "
	                        "kernels take long, or another profiler has replaced this one");
}

static void note_records(uint64_t now)
{
	/* Records that reach back to the start of the silence arrived late, so none is missing. */
	if (watch.state == GAP && decode_earliest() > watch.record_clock + watch.silence) {
		end_gap();
		store_note("CUPTI delivers records again");
	} else if (watch.state == GAP) {
		store_note("the records were late; none is missing");
	}
	watch.state = RECEIVED;
	watch.record_at = now;
	watch.record_clock = process_clock();
	watch.record_launches = launches();
	watch.launch_at = 0;
}

/* Processes launches during silence that no record follows. */
static void doubt(uint64_t now)
{
	if (pool_written() != watch.written) {
		/* The records are in the buffers, which CUPTI delivers when they are full. */
		watch.state = RECEIVED;
		watch.record_at = now;
	} else {
		watch.state = PROBED;
		watch.gap_seen_at = now;
		if (watch.gpu->probe())
			watch.gpu->flush(false);
	}
}

static void ask(void)
{
	watch.state = ASKED;
	watch.launch_at = 0;
	watch.written = pool_written();
}

/* True if the other client has finished. */
static bool is_done(uint64_t now)
{
	uint64_t n = launches();

	if (n != watch.gap_launches)
		watch.gap_seen_at = now;
	watch.gap_launches = n;
	if (now < watch.try_at)
		return false;
	return watch.gone || watch.gpu->state() == BACKEND_OFF ||
	       now - watch.gap_seen_at >= watch.silence;
}

/* Processes the state of a session that was shut down. Launches are no longer counted, so this is
 * done at once. */
void watch_look(enum backend_state state, bool last)
{
	if (state != BACKEND_GONE || watch.state == GAP)
		return;
	launches_flag(SPOOL_COUNT_PART);
	if (last) { /* CUPTI's own exit handler may have done this */
		store_note("%s was shut down before the recording ended", watch.gpu->name);
		return;
	}
	watch.gone = true;
	begin_gap(process_ticks());
}

bool watch_tick(uint64_t now, bool came)
{
	if (came) {
		note_records(now);
		decode_earliest_begin();
		return false;
	}
	switch (watch.state) {
	case RECEIVED:
		if (now - watch.record_at >= watch.silence)
			ask();
		break;
	case ASKED:
		if (!watch.launch_at && launches() != watch.record_launches)
			watch.launch_at = now;
		else if (watch.launch_at && now - watch.launch_at >= watch.silence)
			doubt(now);
		break;
	case PROBED:
		if (pool_written() != watch.written) { /* the probe is in a buffer of the
			                                  collector */
			watch.state = RECEIVED;
			watch.record_at = now;
		} else if (now - watch.gap_seen_at >= PROBE_NS) {
			begin_gap(now);
		}
		break;
	case GAP: return is_done(now);
	}
	return false;
}

void watch_started_again(uint64_t now, bool ok)
{
	if (!ok) {
		watch.try_at = now + watch.silence;
		return;
	}
	end_gap();
	store_note("recording has restarted");
	watch.state = RECEIVED;
	watch.gone = false;
	watch.record_at = now;
	watch.record_clock = process_clock();
	watch.record_launches = launches();
}

/* ---- losses and costs --------------------------------------------------------------------------
 */
/* Adds a note, once, when a count exceeds its permitted share. */
static void tell_share(bool *told, uint64_t part, uint64_t whole, const char *what)
{
	if (*told || whole < FEW || part * 100 <= whole * PERCENT_LOST)
		return;
	*told = true;
	store_note("%llu of %llu records %s", (unsigned long long)part, (unsigned long long)whole,
	        what);
}

static void check_records(uint64_t now)
{
	const struct decode_counts *n = decode_counts();

	tell_share(&watch.told_untimed, n->untimed, n->timed + n->untimed, "have impossible times");
	tell_share(&watch.told_dropped, watch.dropped, n->records + watch.dropped,
	        pool_were_short() ? "were dropped: all buffers of the recorder were in use"
	                          : "were dropped: CUPTI had no room for them");
	if (n->uncorrelated && !watch.all_calls) {
		watch.all_calls = true;
		watch.gpu->all_calls();
	}
	uint64_t launched = launches();

	if (launched && !watch.first_launch_at)
		watch.first_launch_at = now;
	if (launched >= FEW && n->records >= FEW && !n->kernels && !watch.told_no_kernels &&
	        now - watch.first_launch_at >= SPAN * watch.silence) {
		watch.told_no_kernels = true;
		store_note("%llu kernels were launched but none was recorded: this %s may not know "
		           "this GPU",
		        (unsigned long long)launched, watch.gpu->name);
	}
}

bool watch_check(uint64_t now, uint64_t dropped)
{
	uint64_t cpu = process_thread_cpu(), used = cpu - watch.cpu, span = now - watch.span_at;

	watch.dropped += dropped;
	watch.span_dropped += dropped;
	check_records(now);
	if (span < SPAN * watch.silence)
		return false;
	bool costly = used * 100 > span * PERCENT_CPU, drops = watch.span_dropped;
	if (costly && !watch.told_cpu) {
		watch.told_cpu = true;
		store_note("writing the recording takes %llu %% of a processor",
		        (unsigned long long)(used * 100 / span));
	}
	watch.cpu = cpu;
	watch.span_at = now;
	watch.span_dropped = 0;
	return costly || drops;
}

bool watch_end(void)
{
	bool taken = watch.state == GAP;

	if (taken)
		end_gap();
	watch.state = RECEIVED;
	return taken;
}
