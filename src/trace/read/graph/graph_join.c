/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which capture each launch of a graph replays, and gives its work the places of the
 * captured calls (trace_build.h). Kernel names decide; the order of launches decides only among
 * captures with the same names, and a note says so.
 */
#include "trace/read/graph/graph_internal.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "trace/pass/serving.h"

/* The capture that a launch replays. */
struct launch_fit {
	uint32_t capture; /* index of the capture, or ID_NONE */
	int64_t size;     /* number of tokens in the captured batch; 0: unknown */
	bool by_order;    /* true: several captures have the same names, and the order of launches
	                     decided */
	bool ambiguous;   /* true: several captures have the same names, and the order of launches
	                     does not decide */
};

/* A step of a server: an annotation around launches. */
struct served_step {
	uint32_t process;
	int64_t start, end;
	int64_t tokens, requests; /* numbers including padding; not positive: unknown */
};

/* Numbers of launches and of pieces of their work, and the time of that work. */
struct graph_tally {
	uint64_t launches, work;
	int64_t time;
};

struct graph_joining {
	struct trace_build *b;
	const struct trace *t;
	struct arena *a;
	struct graph_replays replays;
	struct captures captures;
	VEC(struct served_step) served; /* sorted by start */
	struct imap same_places; /* key: capture and capture; value 1: their calls have the same
	                            places */
	struct imap known;       /* key: pattern and capture; value: index in pairings */
	VEC(struct graph_pairing) pairings;
	struct launch_fit *fits;
	struct graph_places places;
	uint32_t **site_of; /* indexed by track, then by slice of the track: 1 + site; 0: none */
	struct graph_tally by_how[PAIR_HOWS], ordered, ambiguous, missing, refused, created, region;
	uint64_t lost;           /* number of captured calls without work */
	uint32_t first_refused;  /* a launch, or ID_NONE */
	uint32_t closest;        /* the capture whose first calls agree longest, or ID_NONE */
	size_t differ;           /* position at which it differs */
	int64_t too_large;       /* size of a step that is larger than all captures; 0: none */
	bool too_large_requests; /* true: the size counts requests */
};

/* ---- steps of servers ---- */

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct served_step *x = (const struct served_step *)v + a,
	                         *y = (const struct served_step *)v + b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1)
	                            : (x->end < y->end) - (x->end > y->end);
}

static void find_served(struct graph_joining *x)
{
	const struct trace *t = x->t;
	struct serving_step step;

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice s; slice_next(&it, &s);)
			if (s.form == SLICE_COMPLETE && s.category == CATEGORY_STEP &&
			        serving_parse(trace_str(t, s.name), &step) &&
			        (step.tokens > 0 || step.requests > 0))
				VEC_PUSH(x->a, &x->served,
				        ((struct served_step){ t->tracks.v[i].process, s.start,
				                slice_end(&s),
				                step.padded ? step.padded : step.tokens,
				                step.padded ? step.padded : step.requests }));
	}
	sort_array(x->a, x->served.v, x->served.n, sizeof *x->served.v, by_start);
}

/* Returns the step around each launch as 1 + its index (0: none). For nested steps, this is the
 * outer step. */
static uint32_t *find_steps(struct graph_joining *x)
{
	uint32_t *step_of = ARENA_ARRAY(x->a, x->replays.launches.n, uint32_t);
	size_t first = 0;

	for (size_t i = 0; i < x->replays.launches.n; i++) {
		const struct graph_launch *l = &x->replays.launches.v[i];
		while (first < x->served.n && x->served.v[first].end <= l->start)
			first++;
		for (size_t k = first; k < x->served.n && x->served.v[k].start <= l->start; k++)
			if (x->served.v[k].process == l->process && x->served.v[k].end > l->start) {
				step_of[i] = (uint32_t)k + 1;
				break;
			}
	}
	return step_of;
}

/* ---- captures ---- */

static const struct capture *capture_at(const struct graph_joining *x, uint32_t i)
{
	return &x->captures.list.v[i];
}

/* Returns the smallest batch of a file or capture that a step fits into, among the batches that
 * count requests or among the batches that count tokens. Returns 0 if no file or capture states its
 * batch, or the size of the step is unknown; -1 if all batches are too small. */
static int64_t batch_for(
        const struct graph_joining *x, const struct served_step *step, bool requests)
{
	int64_t best = 0, size = !step ? 0 : requests ? step->requests : step->tokens;
	bool any = false;

	for (size_t i = 0; size > 0 && i < x->captures.files.n; i++) {
		const struct capture_file *f = &x->captures.files.v[i];
		if (f->requests != requests || f->batch <= 0)
			continue;
		any = true;
		if (f->batch >= size && (!best || f->batch < best))
			best = f->batch;
	}
	for (size_t i = 0; size > 0 && i < x->captures.list.n; i++) {
		const struct capture *c = capture_at(x, (uint32_t)i);
		if (c->requests != requests || c->batch <= 0)
			continue;
		any = true;
		if (c->batch >= size && (!best || c->batch < best))
			best = c->batch;
	}
	return best ? best : any ? -1 : 0;
}

/* True if a launch may need a file. */
static bool is_needed(
        const struct graph_joining *x, const struct capture_file *f, const uint32_t *step_of)
{
	if (!f->batch)
		return true;
	for (size_t i = 0; i < x->replays.launches.n; i++) {
		int64_t batch =
		        step_of[i] ? batch_for(x, &x->served.v[step_of[i] - 1], f->requests) : 0;
		if (!batch || batch == f->batch)
			return true;
	}
	return false;
}

/* Finds the batches of files whose name does not state a batch, so that only the files that a step
 * needs are read: servers write a file for each of about fifty sizes. */
static void find_batches(struct graph_joining *x)
{
	for (size_t i = 0; x->served.n && x->captures.files.n > 1 && i < x->captures.files.n; i++) {
		struct capture_file *f = &x->captures.files.v[i];
		if (!f->batch && !f->recording)
			f->batch = graph_find_batch(f->path, x->a->work);
	}
}

static bool read_files(struct graph_joining *x, const struct graph_source *from,
        const uint32_t *step_of, struct err *e)
{
	find_batches(x);
	for (uint32_t i = 0; i < x->captures.files.n; i++) {
		struct capture_file *f = &x->captures.files.v[i];
		struct err own = { .a = x->a };
		if (!is_needed(x, f, step_of) ||
		        graph_read_captures(&x->captures, i, x->b, x->a, &own))
			continue;
		if (from->capture.n || own.code == ERR_CANCELLED)
			return err_copy(e, &own);
		note_line(build_notes(x->b), "note: %.*s\n", STR(own.text));
	}
	return true;
}

/* ---- pairs ---- */

static const struct graph_pairing *pairing_of(
        struct graph_joining *x, uint32_t launch, uint32_t capture)
{
	const struct graph_launch *l = &x->replays.launches.v[launch];
	const struct capture *c = capture_at(x, capture);
	uint32_t i = (uint32_t)x->pairings.n;

	if (imap_get(&x->known, (uint64_t)l->pattern << 32 | capture, &i))
		return &x->pairings.v[i];
	uint32_t *work = ARENA_ARRAY(x->a, l->n, uint32_t),
	         *streams = ARENA_ARRAY(x->a, l->n, uint32_t);
	int64_t *nodes = ARENA_ARRAY(x->a, l->n, int64_t);
	struct imap stream_of;
	imap_init(&stream_of, x->a);
	for (uint32_t k = 0; k < l->n; k++) {
		const struct graph_work *w = &x->replays.work.v[l->first + k];
		streams[k] = (uint32_t)stream_of.n;
		if (!imap_get(&stream_of, w->track, &streams[k]))
			imap_put(&stream_of, w->track, streams[k], false);
		work[k] = w->token;
		nodes[k] = w->node;
	}
	const struct pairing_request request = { work, streams, nodes, l->n, stream_of.n,
		x->captures.calls.v + c->first, c->n, c->cut, c->named };
	struct graph_pairing made;
	graph_pair(&request, &made, x->a);
	imap_put(&x->known, (uint64_t)l->pattern << 32 | capture, i, false);
	VEC_PUSH(x->a, &x->pairings, made);
	return &x->pairings.v[i];
}

static bool is_exact(enum pair_how how)
{
	return how == PAIR_ORDER || how == PAIR_NODES || how == PAIR_STREAMS;
}

/* Captures that a launch may replay, in the order in which they were captured. */
struct capture_choice {
	const uint32_t *v;
	size_t n;
	bool ordered;    /* true: there are as many as launches, and the n-th launch replays the
	                    n-th of them */
	bool same_size;  /* true: all known token counts of their captures are equal */
	uint32_t placed; /* the capture that the order of launches implies, or ID_NONE */
};

/* True if two sites have the same names up to the outermost level. */
static bool is_same_site(
        const struct capture_file *f, uint32_t site, const struct capture_file *g, uint32_t other)
{
	while (site != ID_NONE && other != ID_NONE && (f != g || site != other)) {
		uint32_t a = f->t->events.v[f->sites.v[site].event].name,
		         b = g->t->events.v[g->sites.v[other].event].name;
		if (f == g ? a != b : !str_eq(trace_str(f->t, a), trace_str(g->t, b)))
			return false;
		site = f->sites.v[site].parent;
		other = g->sites.v[other].parent;
	}
	return site == other || (site == ID_NONE && other == ID_NONE);
}

/* True if each call of a capture has the same ops and modules as the same call of another capture
 * with as many calls. */
static bool are_same_places(struct graph_joining *x, uint32_t capture, uint32_t other)
{
	const struct capture *c = capture_at(x, capture), *d = capture_at(x, other);
	uint64_t key = (uint64_t)capture << 32 | other;
	uint32_t same = 1;

	if (imap_get(&x->same_places, key, &same))
		return same;
	for (uint32_t i = 0; same && i < c->n; i++)
		same = is_same_site(&x->captures.files.v[c->file],
		        x->captures.calls.v[c->first + i].site, &x->captures.files.v[d->file],
		        x->captures.calls.v[d->first + i].site);
	imap_put(&x->same_places, key, same, false);
	return same;
}

/* True if the number of calls does not distinguish candidates without names: several of them have
 * as many calls as the launch has work, but different ops and modules. */
static bool is_uncertain(
        struct graph_joining *x, uint32_t launch, const struct capture_choice *from)
{
	uint32_t first = ID_NONE;

	for (size_t i = 0; i < from->n; i++) {
		if (pairing_of(x, launch, from->v[i])->how != PAIR_COUNT)
			continue;
		if (first == ID_NONE)
			first = from->v[i];
		else if (!are_same_places(x, first, from->v[i]))
			return true;
	}
	return false;
}

/* Chooses among the candidates: first by exact names, then by the fewest unpaired calls and
 * kernels. Among equals, only the order of launches decides. */
static struct launch_fit choose(
        struct graph_joining *x, uint32_t launch, const struct capture_choice *from)
{
	struct launch_fit fit = { .capture = ID_NONE };
	size_t equals = 0, best = SIZE_MAX;
	bool placed = false, uncertain = is_uncertain(x, launch, from);

	for (size_t i = 0; i < from->n; i++) {
		const struct graph_pairing *p = pairing_of(x, launch, from->v[i]);
		if (p->how == PAIR_NONE ||
		        (p->how == PAIR_COUNT && uncertain && from->v[i] != from->placed))
			continue;
		size_t cost = is_exact(p->how) ? 0 : 1 + p->missing;
		if (cost > best)
			continue;
		if (cost < best) {
			best = cost;
			equals = 0;
			placed = false;
			fit.capture = ID_NONE;
		}
		equals++;
		if (fit.capture == ID_NONE || from->v[i] == from->placed)
			fit.capture = from->v[i];
		placed |= from->v[i] == from->placed;
	}
	fit.by_order = equals > 1 && placed;
	fit.ambiguous = equals > 1 && !placed;
	return fit;
}

/* Finds the captures that the launches of a step may replay; NULL: all of them. */
static void find_candidates(
        struct graph_joining *x, const struct served_step *step, struct capture_choice *to)
{
	int64_t batch[2] = { batch_for(x, step, false), batch_for(x, step, true) };
	uint32_t *v = ARENA_ARRAY(x->a, x->captures.list.n, uint32_t);

	*to = (struct capture_choice){ .v = v, .placed = ID_NONE, .same_size = true };
	for (unsigned i = 0; step && i < 2; i++)
		if (batch[i] < 0) {
			int64_t size = i ? step->requests : step->tokens;
			x->too_large_requests = size > x->too_large ? i > 0 : x->too_large_requests;
			x->too_large = size > x->too_large ? size : x->too_large;
		}
	for (uint32_t i = 0; i < x->captures.list.n; i++) {
		const struct capture *c = capture_at(x, i);
		int64_t fits = batch[c->requests];
		if (c->batch && fits && c->batch != fits)
			continue;
		if (to->n && c->batch != capture_at(x, v[0])->batch)
			to->same_size = false;
		v[to->n++] = i;
	}
}

/* Stores the first launch that matches no capture, and the capture whose first calls agree
 * longest. */
static void refuse(struct graph_joining *x, uint32_t launch, const struct capture_choice *from)
{
	if (x->first_refused != ID_NONE)
		return;
	x->first_refused = launch;
	for (size_t i = 0; i < from->n; i++) {
		const struct graph_pairing *p = pairing_of(x, launch, from->v[i]);
		if (x->closest != ID_NONE && p->differ <= x->differ)
			continue;
		x->closest = from->v[i];
		x->differ = p->differ;
	}
}

/* Marks launches that replay the same capture as other launches of their step: if captures are
 * missing, such a launch may replay a missing capture with the same names. */
static void mark_shared(struct graph_joining *x, const uint32_t *launches, size_t n,
        const struct capture_choice *from)
{
	uint32_t *uses = ARENA_ARRAY(x->a, x->captures.list.n, uint32_t);

	for (size_t i = 0; i < n; i++)
		if (x->fits[launches[i]].capture != ID_NONE)
			uses[x->fits[launches[i]].capture]++;
	for (size_t i = 0; i < n; i++) {
		struct launch_fit *fit = &x->fits[launches[i]];
		if (fit->capture != ID_NONE && uses[fit->capture] > 1 &&
		        (!from->ordered || fit->capture != from->v[i % from->n]))
			fit->ambiguous = true;
	}
}

/* Returns the number of tokens of a step that fills a capture; 0: unknown. In a step of a capture
 * for requests, all requests have the same number of tokens. */
static int64_t captured_tokens(const struct capture *c, const struct served_step *step)
{
	if (!c->requests || !step)
		return c->batch;
	return step->tokens > 0 && step->requests > 0
	               ? num_mul(c->batch, step->tokens) / step->requests
	               : 0;
}

/* Pairs the launches of a step or, without steps, all launches of a process. A single capture is
 * used for all of them. */
static void fit_step(
        struct graph_joining *x, const uint32_t *launches, size_t n, const struct served_step *step)
{
	struct capture_choice from;
	bool cut = false, refused = false;

	find_candidates(x, step, &from);
	for (size_t i = 0; i < from.n; i++)
		cut |= capture_at(x, from.v[i])->cut;
	from.ordered = from.n && from.same_size && (step ? n == from.n : n % from.n == 0);
	for (size_t i = 0; i < n; i++) {
		from.placed = from.ordered || (from.n == 1 && !cut) ? from.v[i % from.n] : ID_NONE;
		struct launch_fit *fit = &x->fits[launches[i]];
		*fit = choose(x, launches[i], &from);
		if (fit->capture != ID_NONE)
			fit->size = captured_tokens(capture_at(x, fit->capture), step);
		if (fit->capture == ID_NONE) {
			refuse(x, launches[i], &from);
			refused = true;
		}
	}
	if (from.ordered || cut || refused || (from.n > 1 && step))
		mark_shared(x, launches, n, &from);
}

/* Launches by process and step. */
struct stepped {
	uint32_t process, step, launch;
};

static int by_step(const void *v, uint32_t a, uint32_t b)
{
	const struct stepped *x = (const struct stepped *)v + a, *y = (const struct stepped *)v + b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->launch > y->launch) - (x->launch < y->launch);
}

static void fit_all(struct graph_joining *x, const uint32_t *step_of)
{
	size_t n = x->replays.launches.n;
	struct stepped *v = ARENA_ARRAY(x->a, n, struct stepped);
	uint32_t *launches = ARENA_ARRAY(x->a, n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct stepped){ x->replays.launches.v[i].process, step_of[i], i };
	sort_array(x->a, v, n, sizeof *v, by_step);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].process == v[i].process && v[end].step == v[i].step;
		        end++)
			launches[end - i] = v[end].launch;
		fit_step(x, launches, end - i, v[i].step ? &x->served.v[v[i].step - 1] : NULL);
	}
}

/* ---- places ---- */

static void set_site(struct graph_joining *x, const struct graph_work *w, uint32_t site)
{
	if (!x->site_of[w->track])
		x->site_of[w->track] = ARENA_ARRAY(x->a, x->t->tracks.v[w->track].n, uint32_t);
	x->site_of[w->track][w->slice] = 1 + site;
}

static void count(struct graph_tally *to, const struct graph_work *w)
{
	to->work++;
	to->time = num_add(to->time, w->length);
}

/* Creates the site of a graph without a capture: the graph itself. */
static uint32_t site_of_graph(struct graph_joining *x, const struct graph_kind *kind)
{
	uint32_t n = x->replays.launches.v[kind->launch].n;
	struct str name =
	        str_fmt(x->a, "graph %u (%u kernel%s)", kind->graph.number, n, n == 1 ? "" : "s");

	return build_site(
	        x->b, ID_NONE, build_event(x->b, CATEGORY_OP, build_string(x->b, name)), true);
}

static uint32_t site_of_call(struct graph_joining *x, const struct capture *c, uint32_t call)
{
	uint32_t site = x->captures.calls.v[c->first + call].site;

	return site == ID_NONE ? ID_NONE
	                       : graph_import_site(&x->captures, c->file, site, x->b, x->a);
}

/* A launch while the places of its work are determined. */
struct placed_launch {
	const struct graph_launch *l;
	const struct capture *c; /* the matching capture and its pairing; NULL: none */
	const struct graph_pairing *p;
	uint32_t *graph; /* 1 + the site of the graph itself; 0: not created yet */
};

/* Returns 1 + the index of the captured call of a piece of work; 0: none. */
static uint32_t call_of(const struct placed_launch *v, uint32_t i)
{
	return v->p ? v->p->call[i] : 0;
}

/* Returns 1 + the site of a piece of work: the site where its node was created, otherwise of the
 * captured call, otherwise of the region, otherwise of the graph. Sets *to to the tally that counts
 * the work. */
static uint32_t find_place(
        struct graph_joining *x, struct placed_launch *v, uint32_t i, struct graph_tally **to)
{
	uint32_t work = v->l->first + i, site = x->places.created[work];

	*to = &x->created;
	if (!site && call_of(v, i)) {
		*to = &x->by_how[v->p->how];
		site = 1 + site_of_call(x, v->c, call_of(v, i) - 1);
	}
	if (!site) {
		*to = &x->region;
		site = x->places.region[work];
	}
	if (!site) {
		*to = v->p ? &x->missing : &x->refused;
		if (!*v->graph)
			*v->graph = 1 + site_of_graph(x, &x->replays.kinds.v[v->l->kind]);
		site = *v->graph;
	}
	return site;
}

/* Stores the site of each piece of work of a launch. */
static void place(struct graph_joining *x, uint32_t launch, uint32_t *graph)
{
	const struct launch_fit *fit = &x->fits[launch];
	struct placed_launch v = { .l = &x->replays.launches.v[launch], .graph = graph };
	uint64_t refused = x->refused.work;
	struct graph_tally *to;

	if (fit->capture != ID_NONE) {
		v.c = capture_at(x, fit->capture);
		v.p = pairing_of(x, launch, fit->capture);
		x->by_how[v.p->how].launches++;
		x->lost += v.c->n > v.l->n ? v.c->n - v.l->n : 0;
	}
	x->ordered.launches += fit->by_order;
	for (uint32_t i = 0; i < v.l->n; i++) {
		const struct graph_work *w = &x->replays.work.v[v.l->first + i];
		set_site(x, w, find_place(x, &v, i, &to) - 1);
		count(to, w);
		if (call_of(&v, i) && (v.p->ambiguous[i] || fit->ambiguous))
			count(&x->ambiguous, w);
		if (fit->by_order)
			count(&x->ordered, w);
	}
	x->refused.launches += x->refused.work > refused;
	build_replay(x->b, &(struct trace_replay){ v.l->start, v.l->kind, fit->size });
}

static void place_all(struct graph_joining *x)
{
	const struct graph_replays *r = &x->replays;
	uint32_t *graphs = ARENA_ARRAY(x->a, r->kinds.n, uint32_t);

	x->site_of = ARENA_ARRAY(x->a, x->t->tracks.n, uint32_t *);
	for (size_t i = 0; i < r->kinds.n; i++)
		build_graph(x->b, &r->kinds.v[i].graph);
	for (uint32_t i = 0; i < r->launches.n; i++)
		place(x, i, &graphs[r->launches.v[i].kind]);
	for (uint32_t i = 0; i < x->t->tracks.n; i++)
		if (x->site_of[i])
			build_number(x->b, i, ARG_SITE, x->site_of[i]);
}

/* ---- notes ---- */

static const char *const how_texts[PAIR_HOWS] = {
	[PAIR_ORDER] = "the kernels and their order are equal",
	[PAIR_NODES] = "the kernels are equal, in the order of their graph nodes",
	[PAIR_STREAMS] = "the kernels are equal, and in order on each of several streams",
	[PAIR_CUT] = "the capture is truncated; its calls have the names of the first kernels",
	[PAIR_NAMES] =
	        "the kernels are equal in another order; kernels of one name are taken in order",
	[PAIR_LOST] = "some captured calls have no kernel; the others are in order",
	[PAIR_COUNT] = "unconfirmed: the capture has no kernel names, but the same number of calls",
};

/* Returns the time of work as text: "150ms". */
static struct str time_text(const struct graph_joining *x, const struct graph_tally *v)
{
	struct sb b = sb_in(x->a);

	fmt_time(&b, trace_ns(x->t, v->time));
	return sb_str(&b);
}

/* Adds a note about launches and the time of their work. */
static void note_tally(struct graph_joining *x, const struct graph_tally *v, const char *text)
{
	if (v->launches)
		note_line(build_notes(x->b),
		        "note: graph capture: %llu launch%s (%llu kernels, %.*s): %s\n",
		        (unsigned long long)v->launches, v->launches == 1 ? "" : "es",
		        (unsigned long long)v->work, STR(time_text(x, v)), text);
}

static void note_work(struct graph_joining *x, const struct graph_tally *v, const char *text)
{
	if (v->work)
		note_line(build_notes(x->b), "note: graph capture: %llu kernel%s (%.*s) %s\n",
		        (unsigned long long)v->work, v->work == 1 ? "" : "s", STR(time_text(x, v)),
		        text);
}

static struct str token_name(const struct graph_joining *x, uint32_t token)
{
	return token == TOKEN_COPY    ? S("a copy")
	       : token == TOKEN_SET   ? S("a memset")
	       : token < TOKEN_KERNEL ? trace_str(x->t, token)
	                              : S("a kernel without a name");
}

#define NAME_SHOWN 60 /* maximum number of bytes of a kernel's name in a note */

/* Returns the reason why some launches match no capture. */
static struct str why_refused(const struct graph_joining *x)
{
	const struct graph_launch *l = &x->replays.launches.v[x->first_refused];
	const struct capture *c = x->closest == ID_NONE ? NULL : capture_at(x, x->closest);

	if (!c && x->too_large)
		return str_fmt(x->a, "a step has %lld %s, more than every capture",
		        (long long)x->too_large, x->too_large_requests ? "requests" : "tokens");
	if (!c)
		return S("no capture is in the file");
	if (!c->named && c->n == l->n)
		return str_fmt(x->a,
		        "several captures have the %u kernels of graph %u, but no names of kernels",
		        l->n, l->kind + 1);
	if (x->differ == l->n || x->differ == c->n || !c->named)
		return str_fmt(x->a, "graph %u has %u kernels, the nearest capture %u calls",
		        l->kind + 1, l->n, c->n);
	uint32_t work = x->replays.work.v[l->first + x->differ].token,
	         call = x->captures.calls.v[c->first + x->differ].token;
	return str_fmt(x->a, "kernel %zu of graph %u is '%.*s', but '%.*s' in the nearest capture",
	        x->differ + 1, l->kind + 1, STR(str_sub(token_name(x, work), 0, NAME_SHOWN)),
	        STR(str_sub(token_name(x, call), 0, NAME_SHOWN)));
}

/* Adds a note about the amount of work whose places the trace itself states. */
static void note_places(struct graph_joining *x)
{
	const struct {
		const struct graph_tally *v;
		const char *text;
	} rows[] = { { &x->created, "the ranges in which their nodes were created" },
		{ &x->region, "the regions that the program named" } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].v->work)
			note_line(build_notes(x->b),
			        "note: %llu kernel%s of graphs (%.*s): shown in %s\n",
			        (unsigned long long)rows[i].v->work,
			        rows[i].v->work == 1 ? "" : "s", STR(time_text(x, rows[i].v)),
			        rows[i].text);
}

/* Adds notes about the captures, and about work that they do not explain. */
static void note_captures(struct graph_joining *x, struct notes *to)
{
	to->about = NOTE_OPS;
	if (!x->captures.path.n) {
		if (!x->refused.work)
			return;
		note_line(to,
		        "note: %.*s of device work in %llu launch%s of %zu graph%s have no ops "
		        "in the file: a trace of the capture adds them (--graph-capture, "
		        "docs/GRAPHS.md)\n",
		        STR(time_text(x, &x->refused)), (unsigned long long)x->refused.launches,
		        x->refused.launches == 1 ? "" : "es", (size_t)x->replays.kinds.n,
		        x->replays.kinds.n == 1 ? "" : "s");
		return;
	}
	for (unsigned how = PAIR_ORDER; how < PAIR_HOWS; how++) {
		to->about = how <= PAIR_STREAMS ? NOTE_FILES : NOTE_OPS; /* certain: no caveat */
		note_tally(x, &x->by_how[how], how_texts[how]);
	}
	to->about = NOTE_OPS;
	note_tally(x, &x->ordered,
	        "several captures have the same kernels: the order of launches decided");
	note_work(x, &x->ambiguous,
	        "are ambiguous: another captured call of the same name is possible");
	note_work(x, &x->missing, "have no captured op: they are shown as their graph");
	note_count(to, x->lost,
	        "note: graph capture: %llu captured {call has|calls have} no kernel\n",
	        (unsigned long long)x->lost);
	if (x->first_refused != ID_NONE)
		note_tally(x, &x->refused,
		        str_z(x->a, str_fmt(x->a, "without a matching capture in '%.*s': %.*s",
		                            STR(x->captures.path), STR(why_refused(x)))));
}

static void add_notes(struct graph_joining *x)
{
	struct notes *to = build_notes(x->b);

	to->about = NOTE_FILES;
	note_places(x);
	note_captures(x, to);
	to->about = NOTE_NUMBERS;
}

bool graph_join(
        const struct graph_source *from, struct trace_build *b, struct arena *a, struct err *e)
{
	struct graph_joining x = {
		.b = b, .t = build_trace(b), .first_refused = ID_NONE, .closest = ID_NONE
	};
	struct scratch own;
	bool ok = true;

	scratch_open(&own, a->work);
	x.a = &own.a;
	imap_init(&x.known, x.a);
	imap_init(&x.same_places, x.a);
	graph_find_replays(x.t, &x.replays, x.a);
	if (x.replays.launches.n) {
		graph_find_places(&x.replays, b, &x.places, x.a);
		find_served(&x);
		const uint32_t *step_of = find_steps(&x);
		x.fits = ARENA_ARRAY(x.a, x.replays.launches.n, struct launch_fit);
		ok = graph_find_files(from, x.t, &x.captures, x.a, e) &&
		     read_files(&x, from, step_of, e);
		if (ok) {
			fit_all(&x, step_of);
			place_all(&x);
			add_notes(&x);
		}
	} else if (from->capture.n) {
		note_line(build_notes(b),
		        "note: %.*s: no graph is launched, so --graph-capture "
		        "is not used\n",
		        STR(from->name));
	}
	scratch_close(&own);
	return ok;
}
