/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds which parts of nodes of threads are waits: for device work, or for another thread.
 */
#include "trace/pass/depend_internal.h"

#include "base/sort.h"

/* Returns the number of works or bursts of a process that end at or before a time. */
static uint32_t work_until(
        const struct depend_making *m, const struct depend_process *p, int64_t at)
{
	uint32_t i;

	BISECT(i, 0, p->n_work, m->d->nodes.v[p->work[i]].end <= at);
	return i;
}

static size_t bursts_until(
        const struct depend_making *m, const struct depend_process *p, int64_t at)
{
	size_t i;

	BISECT(i, 0, p->bursts.n, m->bursts.v[p->bursts.v[i]].end <= at);
	return i;
}

uint32_t depend_last_work(const struct depend_making *m, const struct depend_process *p,
        int64_t after, int64_t until, uint32_t call)
{
	for (uint32_t i = work_until(m, p, until); i-- > 0;) {
		const struct depend_node *n = &m->d->nodes.v[p->work[i]];
		const struct launch *l = depend_launch(m->d, n);
		if (n->end <= after)
			return ID_NONE;
		if (call == ID_NONE ? !l || l->start < until : l && l->slice == call)
			return p->work[i];
	}
	return ID_NONE;
}

/* Returns the last-ending burst of another thread that ended after `after` and at or before
 * `until`, or ID_NONE. */
static uint32_t last_burst(
        const struct depend_making *m, uint32_t track, int64_t after, int64_t until)
{
	const struct depend_process *p = depend_process_of(m, track);

	for (size_t i = bursts_until(m, p, until); i-- > 0;) {
		const struct depend_burst *b = &m->bursts.v[p->bursts.v[i]];
		if (b->end <= after)
			return ID_NONE;
		if (b->track != track)
			return p->bursts.v[i];
	}
	return ID_NONE;
}

uint32_t depend_on_stream(
        const struct depend_making *m, uint32_t stream, int64_t until, int64_t launched)
{
	const struct depend_track *k = &m->d->tracks[stream];
	const struct depend_node *v = m->d->nodes.v + k->first;
	uint32_t i;

	BISECT(i, 0, k->n, m->launched[k->first + i] <= launched);
	for (; i && v[i - 1].end > until; i--)
		work_poll(m->own->work);
	return i ? k->first + i - 1 : ID_NONE;
}

/* Returns the work that the file names for a blocking call, or NULL. */
static const struct depend_sync *sync_of(const struct depend_making *m, const struct depend_node *n)
{
	uint32_t process = m->d->tracks[n->track].process, i;
	struct slice s;

	if (!m->syncs.n || n->slice == ID_NONE)
		return NULL;
	trace_slice(m->d->t, n->slice, &s);
	if (!s.correlation ||
	        !imap_get(&m->syncs_at, (uint64_t)process << 40 ^ (uint64_t)s.correlation, &i))
		return NULL;
	return &m->syncs.v[i];
}

/* Makes a call wait for all earlier work of the process. */
static void wait_for_all(struct depend_making *m, const struct depend_node *n)
{
	const struct depend_process *p = depend_process_of(m, n->track);

	for (size_t i = 0; i < p->streams.n; i++) {
		uint32_t work = depend_on_stream(m, p->streams.v[i], n->end, n->start);
		if (work != ID_NONE)
			depend_put_wait(m, n, work, ID_NONE);
	}
}

static void wait_for_work(struct depend_making *m, const struct depend_node *n, enum depend_class c)
{
	const struct depend_process *p = depend_process_of(m, n->track);
	const struct depend_sync *sync = c == DEPEND_BLOCKS ? sync_of(m, n) : NULL;
	uint32_t work;

	if (c == DEPEND_ALL) {
		wait_for_all(m, n);
		return;
	}
	if (c == DEPEND_COPIES && !depend_copy_waits(m->d->t, n->event, n->slice, &m->copies))
		return;
	if (sync && sync->stream != ID_NONE)
		work = depend_on_stream(
		        m, sync->stream, n->end, sync->until < n->start ? sync->until : n->start);
	else
		work = depend_last_work(
		        m, p, n->start, n->end, c == DEPEND_COPIES ? n->slice : ID_NONE);
	if (work != ID_NONE && c == DEPEND_FULL)
		depend_put_room(m, n, work);
	else if (work != ID_NONE)
		depend_put_wait(m, n, work, ID_NONE);
}

/* Makes a slice named "wait" wait for whatever ended last during the slice: a burst of another
 * thread or device work. */
static void wait_for_any(struct depend_making *m, const struct depend_node *n)
{
	uint32_t burst = last_burst(m, n->track, n->start, n->end);
	uint32_t work =
	        depend_last_work(m, depend_process_of(m, n->track), n->start, n->end, ID_NONE);

	if (burst != ID_NONE &&
	        (work == ID_NONE || m->bursts.v[burst].end > m->d->nodes.v[work].end))
		depend_put_wait(m, n, ID_NONE, burst);
	else if (work != ID_NONE)
		depend_put_wait(m, n, work, ID_NONE);
}

/* Makes the gap before a burst that no other thread contains wait for the burst of another thread
 * that ended last in the gap. */
static void wait_in_gap(struct depend_making *m, const struct depend_burst *b)
{
	uint32_t i = depend_find(m->raw.v, &m->raw_tracks[b->track], b->start);
	uint32_t burst = i == ID_NONE || m->raw.v[i].event != ID_NONE
	                         ? ID_NONE
	                         : last_burst(m, b->track, m->raw.v[i].start, b->start);

	if (burst != ID_NONE)
		depend_put_wait(m, &m->raw.v[i], ID_NONE, burst);
}

void depend_find_waits(struct depend_making *m)
{
	bool *contained = ARENA_ARRAY(m->own, m->bursts.n, bool);

	for (size_t i = 0; i < m->to_bursts.n; i++)
		contained[m->to_bursts.v[i].burst] = true;
	for (size_t i = 0; i < m->bursts.n; i++)
		if (!contained[i])
			wait_in_gap(m, &m->bursts.v[i]);
	for (size_t i = 0; i < m->raw.n; i++) {
		const struct depend_node *n = &m->raw.v[i];
		enum depend_class class =
		        n->event == ID_NONE ? DEPEND_PLAIN : m->d->classes[n->event];
		if (class == DEPEND_WAITS)
			wait_for_any(m, n);
		else if (class != DEPEND_PLAIN && class != DEPEND_LOADS)
			wait_for_work(m, n, class);
	}
}

/* ---- synchronisations in the file ---- */

/* Returns the stream with a given number for which a stream waits, or ID_NONE. It is a stream of
 * the same device. If that is the waiting stream itself, it is the stream with this number on the
 * device that got work of the process last before the event was recorded. */
static uint32_t awaited_stream(
        const struct depend_making *m, uint32_t waits, int64_t id, int64_t recorded)
{
	const struct depend *d = m->d;
	const struct depend_process *p = depend_process_of(m, waits);
	uint32_t found = ID_NONE;
	int64_t latest = INT64_MIN;

	for (size_t i = 0; i < p->streams.n; i++) {
		uint32_t track = p->streams.v[i];
		const struct trace_track *k = &d->t->tracks.v[track];
		if (k->kind != TRACK_STREAM || k->id != id || track == waits)
			continue;
		if (k->device == d->t->tracks.v[waits].device)
			return track;
		uint32_t work = depend_on_stream(m, track, INT64_MAX, recorded);
		if (work != ID_NONE && m->launched[work] > latest) {
			latest = m->launched[work];
			found = track;
		}
	}
	return found;
}

/* True for a slice that marks a call as waiting for the work of its stream. */
static bool is_stream_sync(const struct depend *d, const struct slice *s)
{
	struct str name = trace_str(d->t, s->name);

	return str_eq(name, S("Stream Sync")) || str_eq(name, S("stream synchronize"));
}

/* Reads a synchronisation slice: its stream, and the time before which the awaited work was
 * launched. */
static bool read_sync(const struct depend_making *m, const struct slice *s, struct depend_sync *out)
{
	const struct depend *d = m->d;
	struct slice record = { .track = s->track };
	const struct launch *call;
	int64_t stream;

	*out = (struct depend_sync){ .stream = ID_NONE, .waits = ID_NONE, .until = INT64_MAX };
	if (!slice_has_int(d->t, s, ARG_WAIT_STREAM, &stream) || stream < 0) {
		if (!is_stream_sync(d, s))
			return false;
		out->stream = s->track;
		return true;
	}
	if (slice_has_int(d->t, s, ARG_WAIT_RECORD, &record.correlation)) {
		call = record.correlation > 0 ? link_launch(d->links, &record) : NULL;
		if (call)
			out->until = call->start;
	}
	out->stream = awaited_stream(m, s->track, stream, out->until);
	return out->stream != ID_NONE;
}

/* Returns the time of the call to which a synchronisation slice belongs. */
static int64_t issued_at(const struct depend *d, const struct slice *s)
{
	const struct launch *call = link_launch(d->links, s);

	return call ? call->start : s->start;
}

void depend_find_syncs(struct depend_making *m)
{
	const struct depend *d = m->d;

	imap_init(&m->syncs_at, m->own);
	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		struct slice_iter it = trace_slices_if(d->t, i, CATEGORY_BIT(CATEGORY_SYNC));
		if (d->tracks[i].host || d->t->tracks.v[i].derived)
			continue;
		for (struct slice s; slice_next(&it, &s) && s.start <= d->to;) {
			struct depend_sync sync;
			bool waits = slice_is_event_wait(d->t, &s);
			if (s.category != CATEGORY_SYNC || !s.correlation ||
			        (!read_sync(m, &s, &sync) && !waits))
				continue;
			if (waits) {
				sync.waits = i;
				sync.issued = issued_at(d, &s);
			}
			imap_put(&m->syncs_at,
			        (uint64_t)d->tracks[i].process << 40 ^ (uint64_t)s.correlation,
			        (uint32_t)m->syncs.n, false);
			VEC_PUSH(m->own, &m->syncs, sync);
		}
	}
}

/* Adds the calls that make a stream wait for an event to their processes, in order of time. */
static void find_told(struct depend_making *m)
{
	const struct trace *t = m->d->t;

	for (size_t i = 0; i < m->raw.n; i++) {
		const struct depend_node *n = &m->raw.v[i];
		if (n->event == ID_NONE || t->events.v[n->event].category != CATEGORY_CALL ||
		        !str_contains(
		                trace_str(t, t->events.v[n->event].name), S("StreamWaitEvent")))
			continue;
		VEC_PUSH(m->own, &depend_process_of(m, n->track)->told, n->start);
		m->d->unknown_waits++;
	}
	for (size_t i = 0; i <= t->processes.n; i++)
		sort_array(m->own, m->processes[i].told.v, m->processes[i].told.n,
		        sizeof *m->processes[i].told.v, sort_ascending);
}

/* Finds the calls that make a stream wait for an event, unless the file names the awaited work of
 * some of them. */
void depend_find_unknown(struct depend_making *m)
{
	bool streams = false;

	for (size_t i = 0; i < m->syncs.n; i++) {
		if (m->syncs.v[i].waits != ID_NONE && m->syncs.v[i].stream != ID_NONE)
			return;
		streams |= m->syncs.v[i].waits != ID_NONE;
	}
	find_told(m);
	for (size_t i = 0; streams && i <= m->d->t->processes.n; i++)
		m->processes[i].told.n =
		        0; /* the syncs also name the waiting stream, so the calls are not needed */
}
