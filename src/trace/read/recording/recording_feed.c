/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recording: opens it, decodes it, and makes its times continuous if the clock was set
 * meanwhile. CUPTI's times follow the system's clock; the recording also has readings of a clock
 * that cannot be set. Only this file calls the decoder.
 */
#include "trace/read/recording/recording_internal.h"

/* Reports progress: the bytes of all files and passes together. */
static bool tick(void *user, uint64_t done, uint64_t size)
{
	const struct recordings *r = user;

	(void)size;
	return r->watch->progress(r->watch->user, r->done + done, r->total);
}

bool feed_open(struct recording_feed *f, struct recordings *r, struct recorded_process *p)
{
	struct arena *a = &f->scratch.a;

	*f = (struct recording_feed){ .r = r, .p = p, .s = p->file->given, .own = !p->file->given };
	scratch_open(&f->scratch, r->a->work);
	if (f->own ? !src_open_file(&f->s, a, p->file->path, r->e) : !src_rewind(f->s)) {
		scratch_close(&f->scratch);
		return err_set(r->e, ERR_IO, "%.*s: cannot be read a second time", STR(p->name));
	}
	f->s->e = r->e;
	if (f->own && r->watch)
		src_on_progress(f->s, tick, r);
	f->get = ARENA_NEW(a, struct block_decoder);
	block_decode_init(f->get, f->s, a, r->e);
	return true;
}

void feed_close(struct recording_feed *f)
{
	f->r->done += src_raw_at(f->s);
	if (f->own)
		src_close(f->s);
	scratch_close(&f->scratch);
}

/* True if the time, corrected by the offset of reading i, is between the clock readings before and
 * after i. */
static bool fits(const struct recorded_process *p, size_t i, uint64_t time)
{
	uint64_t at = time - (uint64_t)p->clocks.v[i].offset;
	uint64_t from = p->clocks.v[i ? i - 1 : 0].monotonic;
	uint64_t to = p->clocks.v[i + 1 < p->clocks.n ? i + 1 : i].monotonic;

	return at >= from && at <= to;
}

/* Returns the time as if the clock had not been set since the first reading. Records are written to
 * the file later than their times, so the readings around their position are tried. */
static uint64_t continuous(const struct recording_feed *f, uint64_t time)
{
	const struct recorded_process *p = f->p;
	/* A recording that is still being written may have more readings now than in the first
	 * pass. */
	size_t last = p->clocks.n - 1, here = f->epoch ? f->epoch - 1 : 0, i;

	if (!time)
		return 0;
	i = here = here < last ? here : last;
	if (!fits(p, here, time)) {
		if (here + 1 < p->clocks.n && fits(p, here + 1, time))
			i = here + 1;
		else if (here && fits(p, here - 1, time))
			i = here - 1;
	}
	return time - ((uint64_t)p->clocks.v[i].offset - (uint64_t)p->clocks.v[0].offset);
}

/* Converts a time measured by CUPTI. */
static uint64_t of_cupti(const struct recording_feed *f, uint64_t time)
{
	const struct recorded_process *p = f->p;

	if (p->clock_map.apart)
		return clock_map_time(&p->clock_map, time);
	return p->jumped && p->clocks.n ? continuous(f, time) : time;
}

/* Converts a time measured by the recorder. */
static uint64_t of_system(const struct recording_feed *f, uint64_t time)
{
	return f->p->jumped && f->p->clocks.n ? continuous(f, time) : time;
}

static void fix_times(const struct recording_feed *f, struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_KERNEL: r->kernel.start = of_cupti(f, r->kernel.start); break;
	case SPOOL_API: r->api.start = of_cupti(f, r->api.start); break;
	case SPOOL_RANGE: r->range.time = of_system(f, r->range.time); break;
	case SPOOL_NODE:
		if (!r->node.original)
			r->node.time = of_system(f, r->node.time);
		break;
	case SPOOL_COPY: r->copy.start = of_cupti(f, r->copy.start); break;
	case SPOOL_SET: r->set.start = of_cupti(f, r->set.start); break;
	case SPOOL_MEMORY: r->memory.time = of_cupti(f, r->memory.time); break;
	case SPOOL_SYNC: r->sync.start = of_cupti(f, r->sync.start); break;
	case SPOOL_GRAPH: r->graph.start = of_cupti(f, r->graph.start); break;
	case SPOOL_OVERHEAD: r->overhead.start = of_cupti(f, r->overhead.start); break;
	case SPOOL_MARK: /* the marks include calls of cuProfilerStart and cuProfilerStop */
		r->mark.time = (r->mark.what == SPOOL_STEP ? of_system : of_cupti)(f, r->mark.time);
		break;
	case SPOOL_SUM:
		r->sum.from = of_cupti(f, r->sum.from);
		r->sum.to = of_cupti(f, r->sum.to);
		break;
	default: break;
	}
}

enum spool_event feed_next(struct recording_feed *f, struct spool_record *r, struct spool_damage *d)
{
	enum spool_event event = block_decode(f->get, r, d);

	if (event != SPOOL_EVENT_RECORD || !(f->p->jumped || f->p->clock_map.apart))
		return event;
	if (r->kind == SPOOL_CLOCK)
		f->epoch++;
	else
		fix_times(f, r);
	return event;
}

struct str recording_string(const struct recording_feed *f, uint32_t id)
{
	struct str s = block_decode_string(f->get, id);

	if (s.p)
		return s;
	if (!id)
		return S("unnamed");
	f->p->unknown_strings = true;
	return str_fmt(f->get->a, "name#%u", id);
}
