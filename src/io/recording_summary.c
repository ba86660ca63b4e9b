/* SPDX-License-Identifier: Apache-2.0
 *
 * See recording_summary.h.
 */
#include "io/recording_summary.h"

#include "base/num.h"
#include "io/block_decode.h"

static struct str text_of(struct spool_text t)
{
	return str_make(t.p, t.n);
}

static void take(struct arena *a, struct recording_summary *l, const struct spool_record *r)
{
	l->kinds[r->kind] = num_add_u64(l->kinds[r->kind], 1);
	l->ended = r->kind == SPOOL_END;
	switch (r->kind) {
	case SPOOL_INFO:
		process_identity_take(&l->who, a, &r->info);
		l->compared |= str_eq(text_of(r->info.key), S("launches"));
		break;
	case SPOOL_LOST:
		if (r->lost.why < SPOOL_LOST_WHY_N)
			l->lost[r->lost.why] = num_add_u64(l->lost[r->lost.why], r->lost.count);
		break;
	case SPOOL_NOTE:
		if (l->notes.n < SPOOL_NOTES_MAX)
			strs_add(a, &l->notes, str_copy(a, text_of(r->note.text)));
		break;
	case SPOOL_SUM:
		if (r->sum.what < SPOOL_N)
			l->kinds[r->sum.what] = num_add_u64(l->kinds[r->sum.what], r->sum.count);
		break;
	default: break;
	}
}

/* Reads all records of s. */
static bool take_all(struct arena *a, struct arena *scratch, struct recording_summary *l,
        struct src *s, struct err *e)
{
	struct block_decoder *g = ARENA_NEW(scratch, struct block_decoder);
	struct spool_damage damage;
	struct spool_record r;
	enum spool_event event;

	block_decode_init(g, s, scratch, e);
	while ((event = block_decode(g, &r, &damage)) < SPOOL_EVENT_END) {
		if (event == SPOOL_EVENT_RECORD)
			take(a, l, &r);
		else if (!damage.cut)
			l->damaged += damage.skipped;
	}
	l->size = src_at(s);
	return event == SPOOL_EVENT_END;
}

bool recording_summary(struct arena *a, struct str path, struct recording_summary *l, struct err *e)
{
	struct scratch scratch;
	struct src *s;

	*l = (struct recording_summary){ 0 };
	process_identity_init(&l->who);
	scratch_open(&scratch, a->work);
	bool ok = src_open_file(&s, &scratch.a, path, e);
	if (ok) {
		ok = take_all(a, &scratch.a, l, s, e);
		src_close(s);
	}
	scratch_close(&scratch);
	return ok;
}

uint64_t recording_summary_kernels(const struct recording_summary *l)
{
	return num_add_u64(l->kinds[SPOOL_KERNEL], l->kinds[SPOOL_GRAPH]);
}

uint64_t recording_summary_copies(const struct recording_summary *l)
{
	return num_add_u64(l->kinds[SPOOL_COPY], l->kinds[SPOOL_SET]);
}

void spool_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged)
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
			sb_fmt(b, "%s%llu %s", b->n ? ", " : "", (unsigned long long)lost[i],
			        why[i]);
	if (damaged)
		sb_fmt(b, "%s%llu byte%s damaged", b->n ? ", " : "", (unsigned long long)damaged,
		        damaged == 1 ? "" : "s");
}
