/* SPDX-License-Identifier: Apache-2.0
 *
 * See recordings.h.
 */
#include "trace/recordings.h"

#include "base/num.h"

static struct str text_of(struct spool_text t)
{
	return str_make(t.p, t.n);
}

void recording_facts_init(struct recording_facts *f)
{
	*f = (struct recording_facts){ 0 };
	process_identity_init(&f->who);
}

static void take_info(struct recording_facts *f, struct arena *a, const struct spool_info *info)
{
	struct str key = text_of(info->key), value = text_of(info->value);

	process_identity_take(&f->who, a, info);
	if (str_eq(key, S("launches")))
		f->compared = true;
	else if (str_eq(key, S("tfprof")))
		f->tfprof = str_copy(a, value);
	else if (str_eq(key, S("cupti")))
		num_parse_i64(value, &f->cupti);
	else if (str_eq(key, S("driver")))
		num_parse_i64(value, &f->driver);
}

static void take(struct recording_facts *f, struct arena *a, const struct spool_record *r)
{
	f->totals[r->kind] = num_add_u64(f->totals[r->kind], 1);
	f->ended = r->kind == SPOOL_END;
	switch (r->kind) {
	case SPOOL_INFO: take_info(f, a, &r->info); break;
	case SPOOL_LOST:
		f->lost[r->lost.why] = num_add_u64(f->lost[r->lost.why], r->lost.count);
		break;
	case SPOOL_GAP:
		f->gaps++;
		if (r->gap.to > r->gap.from)
			f->gap_ns = num_add_u64(f->gap_ns, r->gap.to - r->gap.from);
		break;
	case SPOOL_NOTE:
		if (f->notes.n < RECORDING_NOTES_MAX)
			strs_add(a, &f->notes, str_copy(a, text_of(r->note.text)));
		break;
	case SPOOL_SUM:
		f->summed[r->sum.what] = num_add_u64(f->summed[r->sum.what], r->sum.count);
		break;
	default: break;
	}
}

void recording_facts_take(struct recording_facts *f, struct arena *a, enum spool_event event,
        const struct spool_record *r, const struct spool_damage *d)
{
	spool_fault_take(&f->fault, event, r, d);
	if (event == SPOOL_EVENT_RECORD)
		take(f, a, r);
}

uint64_t recording_kernels(const struct recording_facts *f)
{
	return num_add_u64(num_add_u64(f->totals[SPOOL_KERNEL], f->summed[SPOOL_KERNEL]),
	        f->totals[SPOOL_GRAPH]);
}

uint64_t recording_copies(const struct recording_facts *f)
{
	uint64_t records = num_add_u64(f->totals[SPOOL_COPY], f->totals[SPOOL_SET]);

	return num_add_u64(records, num_add_u64(f->summed[SPOOL_COPY], f->summed[SPOOL_SET]));
}

static void put_lost(struct sb *b, uint64_t n, const char *what)
{
	sb_put(b, b->n ? S(", ") : S(""));
	sb_counted(b, n, str_of(what));
}

void recording_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged)
{
	static const char *const why[] = { [SPOOL_LOST_DROPPED] = "records dropped by CUPTI",
		[SPOOL_LOST_UNKNOWN] = "records of unknown kinds",
		[SPOOL_LOST_UNTIMED] = "records with impossible times",
		[SPOOL_LOST_RANGES] = "NVTX events lost",
		[SPOOL_LOST_WRITE] = "records not written",
		[SPOOL_LOST_KEPT] = "records kept back by CUPTI",
		[SPOOL_LOST_KERNELS] = "kernels launched but not recorded" };

	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		if (lost[i])
			put_lost(b, lost[i], why[i]);
	if (damaged)
		put_lost(b, damaged, "bytes damaged");
}
