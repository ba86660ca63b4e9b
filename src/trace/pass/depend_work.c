/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of devices, and the edges that lead to them.
 */
#include "trace/pass/depend_internal.h"

#include "base/sort.h"

/* ---- nodes ---- */

/* Returns the class of device work. launch may be NULL. */
static uint8_t class_of(struct depend_making *m, uint32_t event, const struct launch *launch)
{
	uint8_t *known = &m->work_classes[event];

	if (!*known)
		*known = (uint8_t)(1 + usage_class_of(m->d->t, event));
	return *known - 1 == USAGE_COMPUTE && launch && launch->collective ? USAGE_COMMUNICATION
	                                                                   : (uint8_t)(*known - 1);
}

static void add_work(struct depend_making *m, const struct slice *s)
{
	struct depend *d = m->d;
	const struct launch *launch = link_launch(d->links, s);
	uint32_t site = slice_site(d->t, s);
	struct depend_node made = { .start = s->start,
		.end = slice_end(s),
		.event = s->event,
		.slice = s->number,
		.context = ID_NONE,
		.launch = launch ? 1 + (uint32_t)(launch - d->links->launches.v) : 0,
		.track = s->track,
		.class = class_of(m, s->event, launch) };

	if (made.end < d->from || made.start > d->to)
		return;
	if (site != ID_NONE)
		VEC_PUSH(m->own, &m->captured,
		        ((struct depend_captured){ (uint32_t)d->nodes.n, site }));
	VEC_PUSH(m->a, &d->nodes, made);
}

/* Returns 1 + the index of the launch of a node on a line; 0: unknown. Only nodes of ONNX Runtime
 * have one. */
static uint32_t line_launch(const struct depend *d, const struct depend_node *n)
{
	struct slice s;

	if (d->t->source != TRACE_ONNXRUNTIME)
		return 0;
	trace_slice(d->t, n->slice, &s);
	const struct launch *launch = link_launch(d->links, &s);
	return launch ? 1 + (uint32_t)(launch - d->links->launches.v) : 0;
}

/* Adds the self times of the ops of a line. These ops nest; other lines repeat their time. */
static void add_line(struct depend_making *m, uint32_t track)
{
	struct depend *d = m->d;
	struct depend_track *raw = &m->raw_tracks[track];

	depend_add_thread(m, track);
	for (uint32_t i = raw->first; i < raw->first + raw->n; i++) {
		struct depend_node n = m->raw.v[i];
		if (n.event == ID_NONE ||
		        !(trace_category_flags[d->t->events.v[n.event].category] & CATEGORY_WORK))
			continue;
		n.host = false;
		n.class = class_of(m, n.event, NULL);
		n.launch = line_launch(d, &n);
		VEC_PUSH(m->a, &d->nodes, n);
	}
	m->raw.n = raw->first;
	raw->n = 0;
}

void depend_add_device(struct depend_making *m, uint32_t track)
{
	struct slice_iter it = trace_slices(m->d->t, track);

	if (m->d->t->tracks.v[track].kind == TRACK_LINE) {
		add_line(m, track);
		return;
	}
	for (struct slice s; slice_next(&it, &s) && s.start <= m->d->to;)
		if (slice_is_work(m->d->t, &s))
			add_work(m, &s);
}

/* Finds the latest possible launch time of work. A stream runs work in the order of the launches,
 * so work without a recorded launch was launched no later than the next work on its stream. */
void depend_find_launched(struct depend_making *m)
{
	const struct depend *d = m->d;

	m->launched = ARENA_ARRAY(m->own, d->nodes.n, int64_t);
	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		int64_t next = INT64_MAX;
		for (uint32_t j = k->first + k->n; !k->host && j-- > k->first;) {
			const struct launch *l = depend_launch(d, &d->nodes.v[j]);
			int64_t at = l ? l->start : d->nodes.v[j].start;
			m->launched[j] = next = at < next ? at : next;
		}
	}
}

/* ---- calls ---- */

/* Returns the context of a captured site below the context of the call that launched the graph. */
static uint32_t context_of_site(struct depend_making *m, uint32_t around, uint32_t site)
{
	const struct trace *t = m->d->t;
	VEC(uint32_t) way = { .n = 0 };

	for (; site != ID_NONE; site = t->sites.v[site].parent)
		VEC_PUSH(m->own, &way, t->sites.v[site].event);
	while (way.n)
		around = depend_add_context(m, around, way.v[--way.n]);
	return around;
}

/* Assigns the work of graphs to the ops that were captured. */
static void find_captured(struct depend_making *m)
{
	struct imap known; /* key: context of the call and site; value: context */

	imap_init(&known, m->own);
	for (size_t i = 0; i < m->captured.n; i++) {
		const struct depend_captured *c = &m->captured.v[i];
		struct depend_node *n = &m->d->nodes.v[c->node];
		uint64_t key = (uint64_t)(n->context + 1) << 32 | c->site;
		if (imap_get(&known, key, &n->context))
			continue;
		n->context = context_of_site(m, n->context, c->site);
		imap_put(&known, key, n->context, false);
	}
}

/* Returns the number of nodes of a track that start before a time. from: a lower bound of the
 * result, close to it if the calls are in order. */
static uint32_t count_before(
        const struct depend *d, const struct depend_track *k, uint32_t from, int64_t at)
{
	const struct depend_node *v = &d->nodes.v[k->first];
	uint32_t step = 1, end;

	while (k->n - from >= step && v[from + step - 1].start < at) {
		from += step;
		step *= 2;
	}
	end = k->n - from < step ? k->n : from + step;
	BISECT(from, from, end, v[from].start < at);
	return from;
}

/* Finds the node with which each call that launched work begins. */
void depend_find_calls(struct depend_making *m)
{
	struct depend *d = m->d;
	uint32_t *near = ARENA_ARRAY(m->own, d->t->tracks.n, uint32_t);

	m->calls = ARENA_ARRAY(m->own, d->links->launches.n, uint32_t);
	for (size_t i = 0; i < d->links->launches.n; i++) {
		const struct launch *l = &d->links->launches.v[i];
		uint32_t track = trace_track_of(d->t, l->slice), at;
		const struct depend_track *k = &d->tracks[track];
		m->calls[i] = ID_NONE;
		if (l->start < d->from || l->start > d->to || !k->n)
			continue;
		if (near[track] && d->nodes.v[k->first + near[track] - 1].start >= l->start)
			near[track] = 0;
		near[track] = count_before(d, k, near[track], l->start);
		at = k->first + near[track];
		if (near[track] < k->n && d->nodes.v[at].slice == l->slice)
			m->calls[i] = at;
	}
	for (size_t i = 0; i < d->nodes.n; i++) {
		struct depend_node *n = &d->nodes.v[i];
		if (n->launch && m->calls[n->launch - 1] != ID_NONE)
			n->context = d->nodes.v[m->calls[n->launch - 1]].context;
	}
	find_captured(m);
}

/* ---- edges ---- */

/* A predecessor of work. */
struct candidate {
	int64_t at;
	uint32_t from;
	enum depend_kind kind;
};

struct candidates {
	VEC(struct candidate) v;
};

static int64_t distance(
        const struct depend *d, const struct depend_node *n, const struct candidate *c)
{
	int64_t x = num_sub(num_add(c->at, depend_base(d, n, c->kind)), n->start);

	return x < 0 ? num_sub(0, x) : x;
}

/* Returns the index of the predecessor that best explains the start of a piece of work. */
static size_t best_of(
        const struct depend *d, const struct depend_node *n, const struct candidates *x)
{
	size_t best = 0;

	for (size_t i = 1; i < x->v.n; i++)
		if (distance(d, n, &x->v.v[i]) < distance(d, n, &x->v.v[best]))
			best = i;
	return best;
}

/* Adds the edges of a piece of work. The predecessor that best explains its start is binding. */
static void join(struct depend_making *m, uint32_t node, const struct candidates *x)
{
	const struct depend *d = m->d;
	const struct depend_node *n = &d->nodes.v[node];
	size_t best = best_of(d, n, x);

	for (size_t i = 0; i < x->v.n; i++) {
		const struct candidate *c = &x->v.v[i];
		int64_t slack = num_sub(n->start, c->at), base = depend_base(d, n, c->kind);
		struct depend_made made = { { i == best || slack < base ? slack : base, c->from,
			                            (uint8_t)c->kind, i == best },
			node };
		VEC_PUSH(m->own, &m->edges, made);
	}
}

/* Adds the previous work of the stream as a candidate, unless the two overlap by more than half:
 * then the track is not a queue. */
static void add_before(struct depend_making *m, uint32_t node, struct candidates *x)
{
	const struct depend_node *n = &m->d->nodes.v[node], *b = n - 1;

	if (node == m->d->tracks[n->track].first)
		return;
	if (n->start < b->start + (b->end - b->start) / 2)
		m->d->dropped++;
	else
		VEC_PUSH(m->own, &x->v, ((struct candidate){ b->end, node - 1, DEPEND_STREAM }));
}

static void add_call(struct depend_making *m, uint32_t node, struct candidates *x)
{
	const struct depend_node *n = &m->d->nodes.v[node];
	uint32_t call = n->launch ? m->calls[n->launch - 1] : ID_NONE;

	if (call == ID_NONE)
		return;
	if (m->d->nodes.v[call].start > n->start)
		m->d->dropped++;
	else
		VEC_PUSH(m->own, &x->v,
		        ((struct candidate){ m->d->nodes.v[call].start, call, DEPEND_LAUNCH }));
}

/* ---- waits for events ---- */

/* The waits of a stream for events, in the order in which they were issued. */
struct stream_waits {
	VEC(struct depend_sync) v;
	size_t next; /* next element of `waits`, and of the unknown waits of its process */
	size_t told;
};

static int by_issue(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_sync *x = v;

	return (x[a].issued > x[b].issued) - (x[a].issued < x[b].issued);
}

static struct stream_waits *waits_by_stream(struct depend_making *m)
{
	struct stream_waits *v = ARENA_ARRAY(m->own, m->d->t->tracks.n, struct stream_waits);

	for (size_t i = 0; i < m->syncs.n; i++)
		if (m->syncs.v[i].waits != ID_NONE)
			VEC_PUSH(m->own, &v[m->syncs.v[i].waits].v, m->syncs.v[i]);
	for (size_t i = 0; i < m->d->t->tracks.n; i++)
		sort_array(m->own, v[i].v.v, v[i].v.n, sizeof(struct depend_sync), by_issue);
	return v;
}

/* Adds the work for which a stream had to wait as a candidate. */
static void add_event(struct depend_making *m, uint32_t node, uint32_t from, struct candidates *x)
{
	const struct depend_node *v = m->d->nodes.v;

	if (from == ID_NONE)
		return;
	if (v[from].end > v[node].start || from == node)
		m->d->dropped++;
	else
		VEC_PUSH(m->own, &x->v, ((struct candidate){ v[from].end, from, DEPEND_EVENT }));
}

/* Guesses the work that a stream waited for, if the file does not name it: the last-ending work
 * among the work launched earlier on the other streams of the device (same_device) or on other
 * devices. ID_NONE: none. */
static uint32_t likely_work(
        const struct depend_making *m, uint32_t node, int64_t launched, bool same_device)
{
	const struct depend *d = m->d;
	const struct depend_node *n = &d->nodes.v[node];
	const struct depend_process *p = depend_process_of(m, n->track);
	uint32_t found = ID_NONE, device = d->t->tracks.v[n->track].device;

	for (size_t i = 0; i < p->streams.n; i++) {
		uint32_t track = p->streams.v[i], work;
		if (track == n->track || (d->t->tracks.v[track].device == device) != same_device)
			continue;
		work = depend_on_stream(m, track, n->start, launched);
		if (work != ID_NONE &&
		        (found == ID_NONE || d->nodes.v[work].end > d->nodes.v[found].end))
			found = work;
	}
	return found;
}

/* Adds the likely work of a device if it best explains the start of the node. */
static void add_likely(struct depend_making *m, uint32_t node, int64_t launched, bool same_device,
        struct candidates *x)
{
	size_t known = x->v.n;

	add_event(m, node, likely_work(m, node, launched, same_device), x);
	if (best_of(m->d, &m->d->nodes.v[node], x) < known)
		x->v.n = known;
}

/* Adds the work that a node has to wait for because of event waits issued since the previous launch
 * on its stream. */
static void add_events(
        struct depend_making *m, uint32_t node, struct stream_waits *w, struct candidates *x)
{
	const struct depend_node *n = &m->d->nodes.v[node];
	const struct launch *l = depend_launch(m->d, n);

	for (; l && w->next < w->v.n && w->v.v[w->next].issued <= l->start; w->next++) {
		const struct depend_sync *s = &w->v.v[w->next];
		int64_t until = s->until < s->issued ? s->until : s->issued;
		if (s->stream != ID_NONE)
			add_event(m, node, depend_on_stream(m, s->stream, INT64_MAX, until), x);
		else if (m->d->unknown_waits) {
			add_event(m, node, likely_work(m, node, until, true), x);
			add_likely(m, node, until, false, x);
		}
	}
}

/* Assumes that a call between the previous launch and this one made this stream wait, if the call's
 * stream is unknown and this best explains the start of the work. */
static void add_told(
        struct depend_making *m, uint32_t node, struct stream_waits *w, struct candidates *x)
{
	const struct depend_node *n = &m->d->nodes.v[node];
	const struct depend_process *p = depend_process_of(m, n->track);
	const struct launch *l = depend_launch(m->d, n);
	size_t told = w->told;

	while (l && w->told < p->told.n && p->told.v[w->told] <= l->start)
		w->told++;
	if (w->told == told || !x->v.n)
		return;
	add_likely(m, node, p->told.v[w->told - 1], true, x);
	add_likely(m, node, p->told.v[w->told - 1], false, x);
}

/* Adds all edges that lead to device work. */
void depend_join_work(struct depend_making *m)
{
	struct stream_waits *waits = waits_by_stream(m);
	struct candidates x = { .v = { .n = 0 } };

	for (uint32_t i = 0; i < m->d->nodes.n; i++) {
		const struct depend_node *n = &m->d->nodes.v[i];
		if (n->host)
			continue;
		x.v.n = 0;
		add_call(m, i, &x);
		add_before(m, i, &x);
		add_events(m, i, &waits[n->track], &x);
		add_told(m, i, &waits[n->track], &x);
		if (!x.v.n && !n->launch) {
			uint32_t other = depend_last_work(
			        m, depend_process_of(m, n->track), INT64_MIN, n->start, ID_NONE);
			if (other != ID_NONE && other != i)
				VEC_PUSH(m->own, &x.v,
				        ((struct candidate){
				                m->d->nodes.v[other].end, other, DEPEND_OTHER }));
		}
		if (x.v.n)
			join(m, i, &x);
	}
}
