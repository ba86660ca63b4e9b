/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of dependencies: builds its parts in order.
 */
#include "trace/pass/depend_internal.h"

static void add_tracks(struct depend_making *m, bool host)
{
	struct depend *d = m->d;

	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct trace_track *k = &d->t->tracks.v[i];
		struct depend_track *made = &d->tracks[i];
		if (track_is_device(k) == host)
			continue;
		*made = (struct depend_track){
			.first = (uint32_t)d->nodes.n, .process = k->process, .host = host
		};
		if (host ? !track_is_thread(k) : k->derived)
			continue;
		if (host)
			depend_add_thread(m, i);
		else
			depend_add_device(m, i);
		made->n = (uint32_t)d->nodes.n - made->first;
	}
}

void depend_build(const struct trace *t, const struct trace_links *links, int64_t from, int64_t to,
        struct depend *out, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct depend_making m = { .d = out, .a = a, .own = &own.a };
	*out = (struct depend){ .t = t, .links = links, .from = from, .to = to };
	out->classes = depend_classes(t, a);
	out->tracks = ARENA_ARRAY(a, t->tracks.n, struct depend_track);
	out->bases = ARENA_ARRAY(a, t->devices.n, struct idle_base);
	trace_bases(t, links, out->bases, m.own);
	m.work_classes = ARENA_ARRAY(m.own, t->events.n, uint8_t);
	m.raw_tracks = ARENA_ARRAY(m.own, t->tracks.n, struct depend_track);
	m.waits = ARENA_ARRAY(m.own, t->tracks.n, struct depend_waits);
	imap_init(&m.contexts, m.own);
	depend_find_copies(t, links, &m.copies, m.own);
	add_tracks(&m, false);
	add_tracks(&m, true);
	depend_find_launched(&m);
	depend_find_processes(&m);
	depend_find_bursts(&m);
	depend_find_syncs(&m);
	depend_find_unknown(&m);
	depend_find_waits(&m);
	depend_find_queue(&m);
	depend_find_lengths(&m);
	depend_cut_threads(&m);
	depend_find_calls(&m);
	depend_join_work(&m);
	depend_sort_edges(&m);
	scratch_close(&own);
}
