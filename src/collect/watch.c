/* SPDX-License-Identifier: Apache-2.0
 *
 * Silence is ambiguous: an idle program, or another profiler that has put its callbacks in the
 * place of ours. So after a while of it launches are counted by callbacks, which cost nothing while
 * there are none. If there are, and still no record comes, the records go elsewhere.
 */
#include "collect/watch.h"

#include "collect/cupti.h"
#include "collect/decode.h"
#include "collect/process.h"
#include "collect/store.h"

#define FEW          100u /* records or launches about which nothing is said */
#define PERCENT_LOST 1u
#define PERCENT_CPU  5u
#define SPAN                                                                                       \
	2u /* silences: over so long it is judged what recording costs, and whether kernels come   \
	    */

static struct {
	enum { HEARD, ASKED, GAP } state;
	uint64_t silence, heard_at, heard_clock; /* when records came last */
	uint64_t launch_at;                      /* when a launch was seen in silence, 0: none */
	uint64_t cpu, span_at, span_dropped;     /* when the span began */
	uint64_t first_launch_at;
	uint64_t dropped;
	bool any, told_untimed, told_dropped, told_cpu, told_no_kernels, all_calls;
} watch;

void watch_begin(uint64_t silence_ns)
{
	watch.state = HEARD;
	watch.silence = silence_ns;
	watch.any = false;
	watch.all_calls = false;
	watch.heard_at = watch.span_at = process_ticks();
	watch.cpu = process_thread_cpu();
	watch.launch_at = watch.first_launch_at = watch.span_dropped = 0;
}

static void end_gap(void)
{
	static const char why[] = "another profiler took the records of CUPTI";
	struct spool_record r = { .kind = SPOOL_GAP };

	r.gap = (struct spool_gap){ watch.heard_clock, process_clock(),
		store_name(names_add(why, sizeof why - 1)) };
	store_put(&r);
}

static void heard(uint64_t now)
{
	if (watch.state == ASKED)
		cupti_count_launches(false);
	if (watch.state == GAP) {
		end_gap();
		store_note("records come again");
	}
	watch.state = HEARD;
	watch.any = true;
	watch.heard_at = now;
	watch.heard_clock = process_clock();
	watch.launch_at = 0;
}

void watch_tick(uint64_t now, bool came)
{
	if (came) {
		heard(now);
	} else if (watch.state == HEARD && watch.any && now - watch.heard_at >= watch.silence) {
		watch.state = ASKED;
		cupti_count_launches(true);
	} else if (watch.state == ASKED && !watch.launch_at && cupti_launches()) {
		watch.launch_at = now;
	} else if (watch.state == ASKED && watch.launch_at &&
	           now - watch.launch_at >= watch.silence) {
		watch.state = GAP;
		cupti_count_launches(false);
		store_note("the program launches kernels, but no record of them comes: another "
		           "profiler has taken the place of this one");
	}
}

/* Says something once when a count is more than its share of a whole. */
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
	        "were dropped: CUPTI had no room for them");
	if (n->uncorrelated && !watch.all_calls) {
		watch.all_calls = true;
		cupti_all_calls();
	}
	if (n->launches && !watch.first_launch_at)
		watch.first_launch_at = now;
	if (n->launches >= FEW && !n->kernels && !watch.told_no_kernels &&
	        now - watch.first_launch_at >= SPAN * watch.silence) {
		watch.told_no_kernels = true;
		store_note(
		        "%llu launches were recorded but no kernel: CUPTI %u may not know this GPU",
		        (unsigned long long)n->launches, cupti_functions()->version);
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
		store_note("writing what is recorded takes %llu %% of a processor",
		        (unsigned long long)(used * 100 / span));
	}
	watch.cpu = cpu;
	watch.span_at = now;
	watch.span_dropped = 0;
	return costly || drops;
}

void watch_end(void)
{
	if (watch.state == GAP)
		end_gap();
	watch.state = HEARD;
}
