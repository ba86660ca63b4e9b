/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of programs that replay CUDA or HIP graphs: idle devices before graphs start, graphs that
 * were captured for more tokens than a step has, and steps that fell back to single launches.
 */
#include "base/sort.h"
#include "trace/pass/serving.h"
#include "why/why_internal.h"

/* Returns the node of the call that launched the graph to which a piece of work belongs, or
 * ID_NONE. */
static uint32_t graph_call(const struct why_scene *s, uint32_t node)
{
	const struct depend *d = s->d;

	for (uint32_t k = d->first_edge[node]; k < d->first_edge[node + 1]; k++) {
		uint32_t from = d->edges[k].from;
		if (d->edges[k].kind == DEPEND_LAUNCH && why_launches_graph(s, from))
			return from;
	}
	return ID_NONE;
}

/* ---- starts of graphs ---- */

static int by_start(const void *depend, uint32_t a, uint32_t b)
{
	const struct depend *d = depend;
	const struct depend_node *x = &d->nodes.v[a], *y = &d->nodes.v[b];

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (a > b) - (a < b);
}

/* Adds the idle time before the first work of a graph: from the end of the launching call or of the
 * previous work, whichever is later. */
static void add_start(const struct why_scene *s, struct why_change *out, uint32_t node,
        uint32_t call, int64_t until)
{
	const struct depend_node *n = &s->d->nodes.v[node], *c = &s->d->nodes.v[call];
	const struct critical_window *window = why_window_around(s, node);
	int64_t from = c->end > until ? c->end : until;

	if (!window || until == INT64_MIN)
		return;
	from = from > window->from ? from : window->from;
	if (from >= n->start)
		return;
	if (!out->places.n)
		VEC_PUSH(out->a, &out->places,
		        ((struct why_place){ .kind = "call", .name = why_name(s, c->event) }));
	out->places.v[0].ticks = num_add(out->places.v[0].ticks, n->start - from);
	out->places.v[0].times++;
	out->cost = num_add(out->cost, n->start - from);
}

void why_find_graph_starts(const struct why_scene *s, struct why_change *out)
{
	const struct depend *d = s->d;
	const uint32_t *order = sort_order(out->a, d->nodes.n, by_start, d);
	int64_t *until = ARENA_ARRAY(out->a, s->t->devices.n, int64_t);
	bool *started = ARENA_ARRAY(out->a, d->nodes.n, bool);

	for (size_t i = 0; i < s->t->devices.n; i++)
		until[i] = INT64_MIN;
	for (size_t i = 0; s->t->replays.n && i < d->nodes.n; i++) {
		const struct depend_node *n = &d->nodes.v[order[i]];
		uint32_t call = n->host ? ID_NONE : graph_call(s, order[i]);
		int64_t *end = n->host ? NULL : &until[s->t->tracks.v[n->track].device];
		if (end && call != ID_NONE && !started[call]) {
			started[call] = true;
			add_start(s, out, order[i], call, *end);
		}
		if (end && n->end > *end)
			*end = n->end;
	}
	out->saved = out->cost / (int64_t)s->x->n_chosen;
	out->bound = true;
}

/* ---- steps of servers ---- */

/* Parses the annotation of a window's step. Returns false if it is not the annotation of an LLM
 * server. */
static bool read_step(
        const struct why_scene *s, const struct critical_window *w, struct serving_step *out)
{
	const struct trace_steps *marks = s->x->marks;

	return w->step != ID_NONE && marks->by == STEPS_BY_SERVING &&
	       serving_parse(trace_str(s->t, marks->steps.v[w->step].name), out);
}

/* Returns the number of tokens for which the graph that a call launches was captured; 0: unknown.
 */
static int64_t captured_size(const struct why_scene *s, uint32_t call)
{
	const struct trace_replay *v = s->t->replays.v;
	size_t i;
	int64_t at = s->d->nodes.v[call].start;

	BISECT(i, 0, s->t->replays.n, v[i].start < at);
	return i < s->t->replays.n && v[i].start == at ? v[i].batch : 0;
}

void why_find_graph_padding(const struct why_scene *s, struct why_change *out)
{
	struct serving_step step;

	for (uint32_t i = 0; s->t->replays.n && i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		const struct critical_window *window = n->host ? NULL : why_window_around(s, i);
		uint32_t call = window ? graph_call(s, i) : ID_NONE;
		if (call == ID_NONE || !read_step(s, window, &step))
			continue;
		int64_t size = captured_size(s, call);
		size = size > 0 ? size : step.padded;
		if (step.tokens > 0 && size > step.tokens)
			why_scale(s, out, i, (double)step.tokens / (double)size);
	}
	out->bound = true;
}

/* A step of an LLM server. */
struct eager_step {
	bool known, graphs, work;
	enum serving_phase phase;
	int64_t length;
};

/* Examines all steps of the trace, because -step may select only the step without graphs. */
static struct eager_step *find_steps(const struct why_scene *s, struct arena *a)
{
	const struct replay *x = s->x;
	struct eager_step *v = ARENA_ARRAY(a, x->n_windows, struct eager_step);
	struct serving_step named;

	for (size_t i = 0; i < x->n_windows; i++) {
		v[i].known = read_step(s, &x->windows[i], &named);
		if (v[i].known)
			v[i].phase = named.phase;
		v[i].length = num_sub(x->windows[i].to, x->windows[i].from);
	}
	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		if (x->steps[i] == ID_NONE)
			continue;
		struct eager_step *step = &v[x->steps[i]];
		step->work = true;
		step->graphs |= graph_call(s, i) != ID_NONE;
	}
	return v;
}

/* Returns the median length of the steps that replay graphs, for each phase; 0: none. */
static int64_t *graph_medians(const struct eager_step *v, size_t n, struct arena *a)
{
	int64_t *medians = ARENA_ARRAY(a, PHASE_N, int64_t);
	int64_t *lengths = ARENA_ARRAY(a, n, int64_t);

	for (size_t phase = 0; phase < PHASE_N; phase++) {
		size_t found = 0;
		for (size_t i = 0; i < n; i++)
			if (v[i].known && v[i].graphs && v[i].phase == phase)
				lengths[found++] = v[i].length;
		if (found)
			medians[phase] = lengths[keysort_new(a, found, lengths)[(found - 1) / 2]];
	}
	return medians;
}

void why_find_eager_steps(const struct why_scene *s, struct why_change *out)
{
	const struct replay *x = s->x;

	out->saved = 0;
	out->bound = true;
	if (!s->t->replays.n)
		return;
	const struct eager_step *v = find_steps(s, out->a);
	const int64_t *medians = graph_medians(v, x->n_windows, out->a);
	for (size_t i = 0; i < x->n_chosen; i++) {
		const struct eager_step *step = &v[x->chosen[i]];
		int64_t median =
		        step->known && step->work && !step->graphs ? medians[step->phase] : 0;
		if (!median || step->length <= median)
			continue;
		struct why_place place = { .kind = "step",
			.name = trace_str(s->t, x->marks->steps.v[x->chosen[i]].name),
			.ticks = step->length - median,
			.times = 1 };
		VEC_PUSH(out->a, &out->places, place);
		out->cost = num_add(out->cost, place.ticks);
	}
	if (x->n_chosen)
		out->saved = out->cost / (int64_t)x->n_chosen;
}
