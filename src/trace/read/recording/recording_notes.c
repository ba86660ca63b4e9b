/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes about losses of a recording: lost and damaged records, operations without a step or a call,
 * gaps, clock changes. They are never omitted.
 */
#include <inttypes.h>

#include "base/fmt.h"
#include "trace/read/recording/recordings.h"

/* Kinds of notes. Each kind is one line, whatever the number of processes. */
enum {
	NOTE_CUT = 0x800,
	NOTE_ENDLESS,
	NOTE_CLOCK,
	NOTE_CLOCK_APART,
	NOTE_GAP,
	NOTE_SPOOL_STRING,
	NOTE_STEPLESS,
	NOTE_SAID
};

/* Returns the sum of a count over all processes. */
static uint64_t sum_at(const struct recordings *r, size_t at)
{
	uint64_t sum = 0, v;

	for (size_t i = 0; i < r->n; i++) {
		memcpy(&v, (const char *)&r->v[i] + at, sizeof v);
		sum = num_add_u64(sum, v);
	}
	return sum;
}
#define SUM_OF(r, field) sum_at((r), offsetof(struct recorded_process, field))

/* Appends a count and its text in the singular or plural (sb_plural). Appends nothing if the count
 * is 0. */
static void say(struct notes *to, uint64_t n, const char *text)
{
	struct sb b = sb_in(to->a);

	sb_plural(&b, text, n);
	note_count(to, n, "note: %" PRIu64 " %.*s\n", n, STR(sb_str(&b)));
}

static void say_clock(struct notes *to, const struct recorded_process *p)
{
	char text[CLOCK_MAP_TEXT];

	clock_map_text(text, &p->clock_map);
	note_kind(to, NOTE_CLOCK_APART, "%.*s: %s", STR(p->name), text);
}

/* Adds a note that the process did not close its recording. */
static void say_end(struct notes *to, const struct recorded_process *p)
{
	struct sb b = sb_in(to->a);

	recording_end_text(&b, &p->facts);
	note_kind(to, NOTE_ENDLESS, "%.*s has no end: the process %.*s", STR(p->name),
	        STR(sb_str(&b)));
}

static void say_process(struct notes *to, const struct recorded_process *p)
{
	const struct spool_damage *cut = &p->facts.fault.cut;

	if (cut->why)
		note_kind(to, NOTE_CUT,
		        "%.*s: byte %" PRIu64 ": %s; %" PRIu64 " bytes are left out", STR(p->name),
		        cut->at, cut->why, cut->skipped);
	if (!p->facts.ended)
		say_end(to, p);
	if (p->jumped)
		note_kind(to, NOTE_CLOCK,
		        "%.*s: the clock was changed by %+.3f s during the recording; later times "
		        "are corrected",
		        STR(p->name), (double)p->jump / 1e9);
	if (p->clock_map.apart)
		say_clock(to, p);
	if (p->facts.gaps)
		note_kind(to, NOTE_GAP,
		        "%.*s: nothing was recorded in %" PRIu64 " %s of time, together %.3f s",
		        STR(p->name), p->facts.gaps, p->facts.gaps == 1 ? "stretch" : "stretches",
		        (double)p->facts.gap_ns / 1e9);
	if (p->unknown_strings)
		note_kind(to, NOTE_SPOOL_STRING,
		        "%.*s: names were lost and are shown as name#<number>", STR(p->name));
	if (p->stepless)
		note_kind(to, NOTE_STEPLESS,
		        "%.*s: no work was launched within a step, so all work belongs to step 0",
		        STR(p->name));
	for (size_t i = 0; i < p->facts.notes.n; i++)
		note_kind(to,
		        NOTE_SAID +
		                (uint32_t)(hash_bytes(p->facts.notes.v[i].p, p->facts.notes.v[i].n)
		                           << 16),
		        "%.*s: %.*s", STR(p->name), STR(p->facts.notes.v[i]));
}

static void say_lost(const struct recordings *r, struct notes *to)
{
	static const char *const texts[SPOOL_LOST_WHY_N] = {
		"{record was dropped by CUPTI, which had no room for it|records were dropped by "
		"CUPTI, which had no room for them}",
		"{record is of a kind|records are of kinds} that the recorder does not know",
		"{record|records} had impossible times",
		"{record of ranges was|records of ranges were} dropped by the recorder",
		"{record|records} could not be written",
		"{record was|records were} withheld by CUPTI",
		"{kernel was launched, but its record is|kernels were launched, but their records "
		"are} missing",
		"{record|records} could not be read by CUPTI itself",
		"{name was|names were} shortened, or {shares|share} one with others",
		"{operation has|operations have} no time: {its|their} work had not ended, or could "
		"not be timed",
	};
	struct recording_losses all = { 0 };

	for (size_t i = 0; i < r->n; i++)
		recording_losses_add(&all, &r->v[i].facts.lost);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++) {
		struct sb b = sb_in(to->a);
		uint64_t n = all.n[i];

		if (!recording_is_bound(&all, i)) {
			say(to, n, texts[i]);
			continue;
		}
		sb_plural(&b, texts[i], n ? n : 2);
		if (n)
			note_count(to, n, "note: at least %" PRIu64 " %.*s\n", n, STR(sb_str(&b)));
		else
			note_line(to, "note: possibly, %.*s\n", STR(sb_str(&b)));
	}
}

/* Notes intervals and kinds of work that were not recorded. */
static void say_missing(const struct recordings *r, struct notes *to, uint64_t ops)
{
	uint64_t calls = SUM_OF(r, facts.totals[SPOOL_API]), unlaunched = SUM_OF(r, unlaunched);

	if (!ops)
		say(to, calls, "{call was|calls were} recorded, but no GPU operation");
	if (ops && !calls && unlaunched)
		note_line(to, "note: calls were not recorded: operations have no ranges and no CPU "
		              "time\n");
	else
		say(to, unlaunched,
		        "{operation has no record of the call that launched it|operations have no "
		        "record of the calls that launched them}");
}

/* Notes how much work of graphs is in the ranges in which the nodes were created. */
static void say_created(const struct recordings *r, struct notes *to)
{
	uint64_t n = SUM_OF(r, created_work);
	struct sb time = sb_in(to->a);

	fmt_time(&time, num_from_u64(SUM_OF(r, created_ns)));
	if (n)
		note_line(to,
		        "note: %" PRIu64 " kernel%s of graphs (%.*s): shown in the ranges in which "
		        "their nodes were created\n",
		        n, n == 1 ? "" : "s", STR(sb_str(&time)));
}

static void say_operations(const struct recordings *r, bool summed, struct notes *to)
{
	uint64_t ops = SUM_OF(r, facts.totals[SPOOL_KERNEL]) + SUM_OF(r, facts.totals[SPOOL_COPY]) +
	               SUM_OF(r, facts.totals[SPOOL_SET]) + SUM_OF(r, facts.totals[SPOOL_GRAPH]);
	bool steps = r->o->step_nvtx.n || r->o->step_kernel.n, found = false;

	say_missing(r, to, ops);
	say_created(r, to);
	say(to, SUM_OF(r, untimed),
	        "{operation has no time and is|operations have no time and are} left out");
	say(to, SUM_OF(r, outside),
	        "{operation is in no step and is left out; --keep-warmup makes it part "
	        "of|operations are in no step and are left out; --keep-warmup makes them} step 0");
	if (SUM_OF(r, facts.totals[SPOOL_SUM]))
		note_line(to, "note: a recording reached its size limit: after that, it has only "
		              "sums by name, and ranges do not start steps\n");
	note_count(to, summed ? ops : 0,
	        "note: %" PRIu64 " {operation is|operations are} summed by node and step; "
	        "--detail-steps=0-1 keeps the operations of steps 0 and 1 separate\n",
	        ops);
	say(to, r->names.too_long,
	        "{name has more than 4096 bytes and was|names have more than 4096 bytes and were} "
	        "not compared with the pattern of steps");
	for (size_t i = 0; i < r->n; i++)
		found |= r->v[i].steps_nvtx.n || r->v[i].steps_kernel.n;
	if (steps && !found)
		note_line(to, "note: no range, mark or kernel matches the options for steps\n");
}

/* Adds a note about each GPU that several processes shared. The times of such a process include
 * waits for the other processes. */
static void say_shared(const struct recordings *r, struct notes *to)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct recorded_process *p = &r->v[i];
		for (size_t k = 0; k < p->gpus.n; k++) {
			const struct recorded_gpu *g = &p->gpus.v[k];
			if (g->shared > 1)
				note_line(to,
				        "note: GPU %u was shared by %u processes: while they ran "
				        "at the same time, the times of one include waiting for "
				        "the others\n",
				        g->number, g->shared);
		}
	}
}

void recordings_say(const struct recordings *r, bool summed, struct notes *to)
{
	recordings_say_damage(r, to);
	for (size_t i = 0; i < r->n; i++)
		say_process(to, &r->v[i]);
	say_lost(r, to);
	say_operations(r, summed, to);
	say_shared(r, to);
}

/* ---- facts of the recordings as inputs ---- */

#define CUPTI_DATED 100000 /* later versions of CUPTI are encoded as xxyyzz */

/* Appends the known versions: "tfprof 0.1.0, CUPTI 13.0.1, driver for CUDA 13.0". */
static void put_producer(struct sb *b, const struct recording_facts *f)
{
	int64_t cupti = f->cupti, driver = f->driver;

	if (f->tfprof.n || cupti > 0)
		sb_fmt(b, "tfprof%s%.*s", f->tfprof.n ? " " : "", STR(f->tfprof));
	if (cupti >= CUPTI_DATED)
		sb_fmt(b, ", CUPTI %" PRId64 ".%" PRId64 ".%" PRId64, cupti / 10000,
		        cupti / 100 % 100, cupti % 100);
	else if (cupti > 0)
		sb_fmt(b, ", CUPTI %" PRId64, cupti);
	if (b->n && driver > 0)
		sb_fmt(b, ", driver for CUDA %" PRId64 ".%" PRId64, driver / 1000,
		        driver % 1000 / 10);
}

void recordings_describe(const struct recordings *r, struct src_facts *facts)
{
	struct sb first = sb_in(facts->a), next = sb_in(facts->a);
	uint64_t damaged = 0, cut = 0;
	bool others = false;

	for (size_t i = 0; i < r->n; i++) {
		const struct recording_facts *f = &r->v[i].facts;
		struct sb *to = i ? &next : &first;
		to->n = 0;
		put_producer(to, f);
		others |= i && !str_eq(sb_str(&first), sb_str(&next));
		damaged = num_add_u64(damaged, f->fault.bytes);
		cut = num_add_u64(cut, f->fault.cut.skipped);
	}
	if (others)
		sb_put(&first, first.n ? S(" and others") : S("several versions"));
	facts->producer = sb_str(&first);
	facts_count_unused(facts, S("operations without a time"), SUM_OF(r, untimed));
	facts_count_unused(facts, S("operations outside of steps"), SUM_OF(r, outside));
	facts_count_unused(facts, S("damaged bytes"), damaged);
	facts_count_unused(facts, S("bytes after the last complete block"), cut);
}
