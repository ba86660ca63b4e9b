/* SPDX-License-Identifier: Apache-2.0
 *
 * Distinguishes damaged blocks from truncated ones.
 */
#include "io/recording_in.h"

#include <inttypes.h>

#include "base/num.h"

/* Stores the totals of an end record, which count the records before it. */
static void take_end(struct spool_fault *f, const struct spool_end *end)
{
	f->written = 1;
	for (unsigned i = 0; i < SPOOL_N; i++)
		f->written = (uint64_t)num_add((int64_t)f->written, num_from_u64(end->totals[i]));
}

void spool_fault_take(struct spool_fault *f, enum spool_event event, const struct spool_record *r,
        const struct spool_damage *d)
{
	if (event == SPOOL_EVENT_RECORD) {
		f->kept++;
		if (r->kind == SPOOL_END)
			take_end(f, &r->end);
	} else if (event == SPOOL_EVENT_DAMAGE && d->cut) {
		f->cut = *d;
	} else if (event == SPOOL_EVENT_DAMAGE) {
		if (!f->places++)
			f->first = *d;
		f->bytes += d->skipped;
		f->records += d->records;
	}
}

bool spool_fault_judge(const struct spool_fault *f, struct str name, bool others, struct err *e)
{
	if (!f->places)
		return true;
	err_set(err_at(e, name, f->first.at), ERR_DATA_LOSS, "%.*s: byte %" PRIu64 ": %s",
	        STR(name), f->first.at, f->first.why);
	e->partial = f->kept || others;
	return false;
}

void spool_fault_text(struct sb *b, const struct spool_fault *f, struct str name)
{
	uint64_t lost = !f->written ? f->records : f->written > f->kept ? f->written - f->kept : 0;

	sb_fmt(b, "%.*s: byte %" PRIu64 ": %s", STR(name), f->first.at, f->first.why);
	if (f->places > 1)
		sb_fmt(b, ", and damage in %" PRIu64 " more place%s", f->places - 1,
		        f->places == 2 ? "" : "s");
	sb_fmt(b, "; %" PRIu64 " record%s kept; lost are ", f->kept,
	        f->kept == 1 ? " is" : "s are");
	if (lost)
		sb_fmt(b, "%s%" PRIu64 " record%s, ", f->written ? "" : "at least ", lost,
		        lost == 1 ? "" : "s");
	sb_fmt(b, "%" PRIu64 " bytes", f->bytes);
}
