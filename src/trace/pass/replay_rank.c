/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks single changes by the time that they save. Removing work cannot save more than its time, so
 * names are tried in descending order of their times, until no remaining name can be among the
 * best.
 */
#include "trace/pass/replay_internal.h"

#include "base/sort.h"

#define OWN_LEAST 10 /* a name contains others if its own time is below 1/OWN_LEAST of its time */

/* A name with its total time and its self time. chosen: the part of the total that starts in the
 * chosen windows. */
struct ranked {
	struct str name;
	int64_t total, own, chosen;
	uint32_t last; /* context that was counted last, so that a name inside itself counts once */
};

struct name_ranking {
	const struct replay *x;
	enum replay_each each;
	struct arena *a;
	struct intern names; /* key: name; value: index in v */
	VEC(struct ranked) v;
	uint32_t *of_event;              /* indexed by event: index in v, or ID_NONE */
	struct critical_window *windows; /* the chosen windows, sorted by start */
};

static int by_from(const void *v, uint32_t a, uint32_t b)
{
	const struct critical_window *x = v;

	return (x[a].from > x[b].from) - (x[a].from < x[b].from);
}

static void order_windows(struct name_ranking *r)
{
	size_t n = r->x->n_chosen;

	r->windows = ARENA_ARRAY(r->a, n, struct critical_window);
	for (size_t i = 0; i < n; i++)
		r->windows[i] = r->x->recorded.windows[i];
	sort_array(r->a, r->windows, n, sizeof *r->windows, by_from);
}

/* True if a node starts in a chosen window. */
static bool is_chosen(const struct name_ranking *r, const struct depend_node *n)
{
	size_t i;

	BISECT(i, 0, r->x->n_chosen, r->windows[i].from <= n->start);
	return i && n->start < r->windows[i - 1].to;
}

static void add_time(struct ranked *to, const struct depend_node *n, bool chosen)
{
	to->total = num_add(to->total, n->end - n->start);
	if (chosen)
		to->chosen = num_add(to->chosen, n->end - n->start);
}

static bool names_event(enum replay_each each, const struct trace_event *e)
{
	return each == EACH_KERNEL
	               ? e->category == CATEGORY_KERNEL || e->category == CATEGORY_COMMUNICATION ||
	                         e->category == CATEGORY_OP
	       : each == EACH_OP ? e->category == CATEGORY_OP
	                         : e->category == CATEGORY_FRAME;
}

/* Returns "train.py:88" for a frame, otherwise the name. */
static struct str name_of(struct name_ranking *r, const struct trace_event *e)
{
	struct str name = trace_str(r->x->depend.t, e->name);
	struct replay_line line;

	if (r->each != EACH_LINE)
		return name;
	return replay_line_of(name, &line)
	               ? str_fmt(r->a, "%.*s:%lld", STR(line.file), (long long)line.line)
	               : S("");
}

static void find_names(struct name_ranking *r)
{
	const struct trace *t = r->x->depend.t;

	intern_init(&r->names, r->a);
	r->of_event = ARENA_ARRAY(r->a, t->events.n, uint32_t);
	for (size_t i = 0; i < t->events.n; i++) {
		struct str name =
		        names_event(r->each, &t->events.v[i]) ? name_of(r, &t->events.v[i]) : S("");
		r->of_event[i] = ID_NONE;
		if (!name.n)
			continue;
		r->of_event[i] = intern_add(&r->names, name);
		if (r->of_event[i] == r->v.n)
			VEC_PUSH(r->a, &r->v, ((struct ranked){ .name = name, .last = ID_NONE }));
	}
}

/* Adds the time of a node to the names around it. */
static void add_times(struct name_ranking *r, uint32_t node)
{
	const struct depend *d = &r->x->depend;
	const struct depend_node *n = &d->nodes.v[node];
	bool innermost = true, chosen = is_chosen(r, n);

	if (r->each == EACH_KERNEL) {
		uint32_t name = n->host || n->class == USAGE_COPY ? ID_NONE : r->of_event[n->event];
		if (name != ID_NONE) {
			add_time(&r->v.v[name], n, chosen);
			r->v.v[name].own = r->v.v[name].total;
		}
		return;
	}
	for (uint32_t c = n->context; c != ID_NONE; c = d->contexts.v[c].parent) {
		uint32_t name = r->of_event[d->contexts.v[c].event];
		if (name == ID_NONE)
			continue;
		struct ranked *k = &r->v.v[name];
		if (innermost)
			k->own = num_add(k->own, n->end - n->start);
		innermost = false;
		if (k->last != node)
			add_time(k, n, chosen);
		k->last = node;
	}
}

static int by_total(const void *v, uint32_t a, uint32_t b)
{
	const struct ranked *x = v;

	return (x[a].total < x[b].total) - (x[a].total > x[b].total);
}

static int by_removed(const void *v, uint32_t a, uint32_t b)
{
	const struct replay_saving *x = v;

	return (x[a].removed < x[b].removed) - (x[a].removed > x[b].removed);
}

/* Returns the time that a factor for one name saves. */
static int64_t saved(struct name_ranking *r, uint32_t name, double factor, struct replay_run *run,
        struct arena *a)
{
	static const enum replay_target targets[EACH_N] = { REPLAY_KERNEL, REPLAY_OP, REPLAY_LINE };
	struct replay_change c = { .what = targets[r->each],
		.text = r->v.v[name].name,
		.pattern = r->v.v[name].name,
		.factor = factor };
	struct err e = { .a = a };
	struct replay_factors f;

	if (!replay_factors(r->x, &c, 1, &f, a, &e))
		return 0;
	replay_times(r->x, &f, run);
	return num_sub(r->x->recorded.after, replay_measure(r->x, run, a));
}

/* Inserts a name into the list of the best names; v has room for top + 1. */
static size_t insert(
        struct replay_saving *v, size_t n, size_t top, struct replay_saving s, struct arena *a)
{
	v[n++] = s;
	sort_array(a, v, n, sizeof *v, by_removed);
	return n > top ? top : n;
}

static void try_names(
        struct name_ranking *r, size_t top, struct replay_saving *out, size_t *n, struct arena *a)
{
	struct replay_run run;

	replay_begin(r->x, &run, a);
	for (uint32_t i = 0; i < r->v.n; i++) {
		const struct ranked *k = &r->v.v[i];
		int64_t most = k->total / (int64_t)r->x->n_chosen;
		struct arena_mark mark = arena_mark(a);
		if (*n == top && most <= out[top - 1].removed)
			return;
		struct replay_saving s = { .name = k->name,
			.total = k->chosen / (int64_t)r->x->n_chosen };
		s.removed = saved(r, i, 0, &run, a);
		s.halved = saved(r, i, 0.5, &run, a);
		arena_reset(a, mark);
		*n = insert(out, *n, top, s, a);
	}
}

struct replay_saving *replay_rank(const struct replay *x, enum replay_each each, size_t top,
        size_t *n, size_t *left_out, struct arena *a)
{
	struct replay_saving *out;
	struct scratch own;
	size_t kept = 0;

	scratch_open(&own, a->work);
	struct name_ranking r = { .x = x, .each = each, .a = &own.a };
	find_names(&r);
	order_windows(&r);
	for (uint32_t i = 0; i < x->depend.nodes.n; i++)
		add_times(&r, i);
	*n = *left_out = 0;
	for (size_t i = 0; i < r.v.n; i++) {
		if (r.v.v[i].own > r.v.v[i].total / OWN_LEAST)
			r.v.v[kept++] = r.v.v[i];
		else
			*left_out += r.v.v[i].total > 0;
	}
	r.v.n = kept;
	sort_array(&own.a, r.v.v, r.v.n, sizeof *r.v.v, by_total);
	top = top && top < kept ? top : kept;
	out = ARENA_ARRAY(a, top + 1, struct replay_saving);
	if (top && x->n_chosen)
		try_names(&r, top, out, n, &own.a);
	for (size_t i = 0; i < *n; i++)
		out[i].name = str_copy(a, out[i].name);
	scratch_close(&own);
	return out;
}
