/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of threads and devices, and the searches that replace stored edges.
 */
#include "trace/pass/depend.h"

#include "base/sort.h"

/* ---- classes of events ---- */

/* True if a name has a word, in any case, between other characters than letters. */
static bool has_word(struct str name, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= name.n; i++) {
		size_t k = 0;
		while (k < n && (name.p[i + k] | 0x20) == word[k])
			k++;
		bool left = i == 0 || !char_is_letter(name.p[i - 1]);
		bool right = i + n == name.n || !char_is_letter(name.p[i + n]);
		if (k == n && left && right)
			return true;
	}
	return false;
}

static bool is_waiting(struct str name)
{
	static const char *const words[] = { "wait", "poll", "join", "acquire" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

static bool is_loader(struct str name)
{
	return str_contains(name, S("DataLoader")) &&
	       (str_contains(name, S("__next__")) || str_contains(name, S("_next_data")));
}

static enum depend_class class_of_call(struct str name)
{
	if (str_contains(name, S("Synchronize")))
		return DEPEND_BLOCKS;
	if (str_contains(name, S("Async")))
		return str_contains(name, S("Memcpy")) ? DEPEND_COPIES : DEPEND_PLAIN;
	if (str_contains(name, S("Memcpy")))
		return DEPEND_COPIES;
	return str_ends(name, S("Free")) || str_ends(name, S("MemFree_v2")) ? DEPEND_BLOCKS
	                                                                    : DEPEND_PLAIN;
}

static enum depend_class class_of(const struct trace *t, const struct trace_event *e)
{
	struct str name = trace_str(t, e->name);

	if (is_loader(name))
		return DEPEND_LOADS;
	if (e->category == CATEGORY_CALL) {
		enum depend_class class = class_of_call(name);
		if (class != DEPEND_PLAIN)
			return class;
	}
	return trace_category_flags[e->category] & CATEGORY_WORK && e->category != CATEGORY_OP
	               ? DEPEND_PLAIN
	       : is_waiting(name) ? DEPEND_WAITS
	                          : DEPEND_PLAIN;
}

/* ---- threads ---- */

/* An open slice of a thread. */
struct open_level {
	int64_t end;
	uint32_t event, slice, frame;
	bool loads; /* it is, or is inside, a wait for the data loader */
};

struct thread_walk {
	struct depend *d;
	struct arena *a, *own;
	VEC(struct open_level) open;
	int64_t at; /* end of the nodes so far */
	bool any;
};

static void add_node(struct thread_walk *w, const struct open_level *s, int64_t end)
{
	struct depend *d = w->d;
	int64_t from = w->at > d->from ? w->at : d->from, to = end < d->to ? end : d->to;

	if (end > w->at)
		w->at = end;
	if (to <= from)
		return;
	struct depend_node made = {
		.start = from, .end = to, .event = ID_NONE, .slice = ID_NONE, .frame = ID_NONE
	};
	if (s) {
		made.event = s->event;
		made.slice = s->slice;
		made.frame = s->frame;
		made.launch = s->loads;
	}
	VEC_PUSH(w->a, &d->nodes, made);
}

static void close_until(struct thread_walk *w, int64_t at)
{
	while (w->open.n && w->open.v[w->open.n - 1].end <= at) {
		add_node(w, &w->open.v[w->open.n - 1], w->open.v[w->open.n - 1].end);
		w->open.n--;
	}
}

/* Makes a slice fit into the innermost open one, by cutting the smaller excess. */
static void cut_overlap(struct thread_walk *w, int64_t start, int64_t *end)
{
	while (w->open.n && *end > w->open.v[w->open.n - 1].end) {
		struct open_level *top = &w->open.v[w->open.n - 1];
		int64_t beyond = num_sub(*end, top->end), inside = num_sub(top->end, start);
		w->d->cut++;
		w->d->cut_ticks = num_add(w->d->cut_ticks, beyond < inside ? beyond : inside);
		if (beyond <= inside) {
			*end = top->end;
			return;
		}
		add_node(w, top, start);
		w->open.n--;
	}
}

static void open_level(struct thread_walk *w, const struct slice *s)
{
	const struct open_level *top;
	int64_t end = slice_end(s);

	close_until(w, s->start);
	cut_overlap(w, s->start, &end);
	top = w->open.n ? &w->open.v[w->open.n - 1] : NULL;
	if (top || w->any)
		add_node(w, top, s->start);
	else
		w->at = s->start;
	w->any = true;
	struct open_level made = { .end = end,
		.event = s->event,
		.slice = s->number,
		.frame = s->category == CATEGORY_FRAME ? s->event
		         : top                         ? top->frame
		                                       : ID_NONE,
		.loads = (top && top->loads) || w->d->classes[s->event] == DEPEND_LOADS };
	VEC_PUSH(w->own, &w->open, made);
}

static void add_thread(struct depend *d, uint32_t track, struct arena *a)
{
	struct slice_iter it = trace_slices(d->t, track);
	struct scratch own;

	scratch_open(&own, a->work);
	struct thread_walk w = { .d = d, .a = a, .own = &own.a };
	for (struct slice s; slice_next(&it, &s) && s.start < d->to;)
		if (s.form == SLICE_COMPLETE && s.length > 0)
			open_level(&w, &s);
	close_until(&w, INT64_MAX);
	scratch_close(&own);
}

/* ---- devices ---- */

static void add_work(struct depend *d, const struct slice *s, struct arena *a)
{
	const struct launch *launch = link_launch(d->links, s);
	struct depend_node made = { .start = s->start,
		.end = slice_end(s),
		.event = s->event,
		.slice = s->number,
		.frame = ID_NONE,
		.launch = launch ? 1 + (uint32_t)(launch - d->links->launches.v) : 0 };

	if (made.end >= d->from && made.start <= d->to)
		VEC_PUSH(a, &d->nodes, made);
}

/* Adds the self times of the ops of a line, which nest. */
static void add_line(struct depend *d, uint32_t track, struct arena *a)
{
	size_t first = d->nodes.n, n = first;

	add_thread(d, track, a);
	for (size_t i = first; i < d->nodes.n; i++)
		if (d->nodes.v[i].event != ID_NONE)
			d->nodes.v[n++] = d->nodes.v[i];
	d->nodes.n = n;
	for (size_t i = first; i < n; i++)
		d->nodes.v[i].launch = 0;
}

static void add_stream(struct depend *d, uint32_t track, struct arena *a)
{
	struct slice_iter it = trace_slices(d->t, track);

	for (struct slice s; slice_next(&it, &s) && s.start <= d->to;)
		if (slice_is_work(d->t, &s))
			add_work(d, &s, a);
}

/* ---- bursts ---- */

/* Keeps the bursts of a thread in which device work was launched. launched: starts of its launches,
 * ascending. */
static void add_bursts(
        struct depend *d, uint32_t track, const int64_t *launched, size_t n, struct arena *a)
{
	struct depend_track *k = &d->tracks[track];
	size_t at = 0;

	k->bursts = (uint32_t)d->bursts.n;
	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		if (d->nodes.v[i].event == ID_NONE)
			continue;
		struct depend_burst b = { d->nodes.v[i].start, d->nodes.v[i].end, track };
		for (; i + 1 < k->first + k->n && d->nodes.v[i + 1].event != ID_NONE; i++)
			b.end = d->nodes.v[i + 1].end;
		while (at < n && launched[at] < b.start)
			at++;
		if (at < n && launched[at] <= b.end)
			VEC_PUSH(a, &d->bursts, b);
	}
	k->n_bursts = (uint32_t)d->bursts.n - k->bursts;
}

struct launch_time {
	int64_t start;
	uint32_t track;
};

static int by_track_and_start(const void *v, uint32_t a, uint32_t b)
{
	const struct launch_time *x = (const struct launch_time *)v + a,
	                         *y = (const struct launch_time *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static void find_bursts(struct depend *d, struct arena *a)
{
	struct scratch own;
	VEC(struct launch_time) v = { .n = 0 };

	scratch_open(&own, a->work);
	for (size_t i = 0; i < d->links->launches.n; i++) {
		const struct launch *x = &d->links->launches.v[i];
		if (x->start >= d->from && x->start <= d->to)
			VEC_PUSH(&own.a, &v,
			        ((struct launch_time){ x->start, trace_track_of(d->t, x->slice) }));
	}
	sort_array(&own.a, v.v, v.n, sizeof *v.v, by_track_and_start);
	int64_t *starts = ARENA_ARRAY(&own.a, v.n, int64_t);
	for (size_t i = 0; i < v.n; i++)
		starts[i] = v.v[i].start;
	for (size_t i = 0, n; i < v.n; i = n) {
		for (n = i + 1; n < v.n && v.v[n].track == v.v[i].track; n++)
			;
		add_bursts(d, v.v[i].track, starts + i, n - i, a);
	}
	scratch_close(&own);
}

/* ---- base lengths of edges ---- */

struct samples {
	VEC(int64_t) latencies, gaps;
	int64_t least;
};

static void sample_track(
        const struct depend *d, const struct depend_track *k, struct samples *s, struct arena *a)
{
	int64_t until = INT64_MIN;

	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		const struct depend_node *n = &d->nodes.v[i];
		if (n->launch) {
			const struct launch *l = &d->links->launches.v[n->launch - 1];
			int64_t latency = num_sub(n->start, l->start);
			if (latency >= 0 && latency < s->least)
				s->least = latency;
			if (latency >= 0 && l->start >= until)
				VEC_PUSH(a, &s->latencies, latency);
			else if (until != INT64_MIN && n->start >= until)
				VEC_PUSH(a, &s->gaps, num_sub(n->start, until));
		}
		until = n->end > until ? n->end : until;
	}
}

static void find_bases(struct depend *d, struct arena *a)
{
	d->bases = ARENA_ARRAY(a, d->t->devices.n, struct depend_base);
	for (uint32_t i = 0; i < d->t->devices.n; i++) {
		struct samples s = { .least = INT64_MAX };
		struct scratch own;
		scratch_open(&own, a->work);
		for (uint32_t k = 0; k < d->t->tracks.n; k++)
			if (d->t->tracks.v[k].device == i)
				sample_track(d, &d->tracks[k], &s, &own.a);
		sort_array(&own.a, s.latencies.v, s.latencies.n, sizeof(int64_t), sort_ascending);
		sort_array(&own.a, s.gaps.v, s.gaps.n, sizeof(int64_t), sort_ascending);
		d->bases[i].latency = s.latencies.n          ? s.latencies.v[s.latencies.n / 10]
		                      : s.least == INT64_MAX ? 0
		                                             : s.least;
		d->bases[i].gap = s.gaps.n ? s.gaps.v[s.gaps.n / 2] : 0;
		scratch_close(&own);
	}
}

/* ---- processes ---- */

static struct depend_process *process_of(const struct depend *d, uint32_t track)
{
	uint32_t process = d->tracks[track].process;

	return &d->processes[process == ID_NONE ? d->t->processes.n : process];
}

static int by_node_end(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_node *n = v;

	return (n[a].end > n[b].end) - (n[a].end < n[b].end);
}

static int by_burst_end(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_burst *x = (const struct depend_burst *)v + a,
	                          *y = (const struct depend_burst *)v + b;

	return (x->end > y->end) - (x->end < y->end);
}

static void find_processes(struct depend *d, struct arena *a)
{
	size_t n = d->t->processes.n + 1;

	d->processes = ARENA_ARRAY(a, n, struct depend_process);
	for (uint32_t i = 0; i < d->t->tracks.n; i++)
		if (!d->tracks[i].host)
			process_of(d, i)->n_work += d->tracks[i].n;
		else
			process_of(d, i)->n_bursts += d->tracks[i].n_bursts;
	for (size_t i = 0; i < n; i++) {
		d->processes[i].work = ARENA_ARRAY(a, d->processes[i].n_work, uint32_t);
		d->processes[i].bursts =
		        ARENA_ARRAY(a, d->processes[i].n_bursts, struct depend_burst);
		d->processes[i].n_work = d->processes[i].n_bursts = 0;
	}
	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		struct depend_process *p = process_of(d, i);
		for (uint32_t j = 0; !k->host && j < k->n; j++)
			p->work[p->n_work++] = k->first + j;
		for (uint32_t j = 0; k->host && j < k->n_bursts; j++)
			p->bursts[p->n_bursts++] = d->bursts.v[k->bursts + j];
	}
	for (size_t i = 0; i < n; i++) {
		struct depend_process *p = &d->processes[i];
		sort_stable(a, p->work, p->n_work, by_node_end, d->nodes.v);
		sort_array(a, p->bursts, p->n_bursts, sizeof *p->bursts, by_burst_end);
	}
}

/* ---- all ---- */

void depend_build(const struct trace *t, const struct trace_links *links, int64_t from, int64_t to,
        struct depend *out, struct arena *a)
{
	*out = (struct depend){ .t = t, .links = links, .from = from, .to = to };
	out->classes = ARENA_ARRAY(a, t->events.n, uint8_t);
	for (size_t i = 0; i < t->events.n; i++)
		out->classes[i] = (uint8_t)class_of(t, &t->events.v[i]);
	out->tracks = ARENA_ARRAY(a, t->tracks.n, struct depend_track);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		struct depend_track *made = &out->tracks[i];
		*made = (struct depend_track){ .first = (uint32_t)out->nodes.n,
			.process = k->process };
		made->host = !track_is_device(k);
		if (k->derived || k->kind == TRACK_COUNTER)
			continue;
		if (made->host)
			add_thread(out, i, a);
		else if (k->kind == TRACK_LINE)
			add_line(out, i, a);
		else
			add_stream(out, i, a);
		made->n = (uint32_t)out->nodes.n - made->first;
	}
	find_bursts(out, a);
	find_bases(out, a);
	find_processes(out, a);
}

/* ---- searches ---- */

uint32_t depend_before(const struct depend *d, uint32_t track, int64_t at)
{
	const struct depend_track *k = &d->tracks[track];
	uint32_t low = 0, high = k->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (d->nodes.v[k->first + mid].start < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? k->first + low - 1 : ID_NONE;
}

uint32_t depend_track_of(const struct depend *d, uint32_t node)
{
	return trace_track_of(d->t, d->nodes.v[node].slice);
}

uint32_t depend_last_work(
        const struct depend *d, uint32_t track, int64_t after, int64_t until, uint32_t call)
{
	const struct depend_process *p = process_of(d, track);
	uint32_t low = 0, high = p->n_work;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (d->nodes.v[p->work[mid]].end <= until)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0) {
		const struct depend_node *n = &d->nodes.v[p->work[low]];
		if (n->end <= after)
			return ID_NONE;
		if (call == ID_NONE ||
		        (n->launch && d->links->launches.v[n->launch - 1].slice == call))
			return p->work[low];
	}
	return ID_NONE;
}

const struct depend_burst *depend_last_burst(
        const struct depend *d, uint32_t track, int64_t start, int64_t after, int64_t until)
{
	const struct depend_process *p = process_of(d, track);
	uint32_t low = 0, high = p->n_bursts;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (p->bursts[mid].end <= until)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && p->bursts[low].end > after)
		if (p->bursts[low].track != track && p->bursts[low].start >= start)
			return &p->bursts[low];
	return NULL;
}

/* Returns the burst of a track that starts at a time; NULL if none does. */
static const struct depend_burst *burst_at(const struct depend *d, uint32_t track, int64_t at)
{
	const struct depend_track *k = &d->tracks[track];
	const struct depend_burst *v = d->bursts.v + k->bursts;
	uint32_t low = 0, high = k->n_bursts;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (v[mid].start < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->n_bursts && v[low].start == at ? &v[low] : NULL;
}

uint32_t depend_enclosing(const struct depend *d, uint32_t track, int64_t at)
{
	const struct depend_burst *burst = burst_at(d, track, at);
	uint32_t found = ID_NONE;
	int64_t start = INT64_MIN;

	for (uint32_t i = 0; burst && i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		uint32_t node = i == track || !k->host || k->process != d->tracks[track].process
		                        ? ID_NONE
		                        : depend_before(d, i, at);
		if (node == ID_NONE || d->nodes.v[node].event == ID_NONE ||
		        d->nodes.v[node].end < burst->end)
			continue;
		if (d->nodes.v[node].start > start) {
			start = d->nodes.v[node].start;
			found = i;
		}
	}
	return found;
}
