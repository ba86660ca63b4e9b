/* SPDX-License-Identifier: Apache-2.0
 *
 * Removes each cause in a replay, and ranks the causes by what the step would be shorter.
 */
#include "base/sort.h"
#include "why/why_internal.h"

#define CAUSE(name, ...) { .id = #name, __VA_ARGS__ },
const struct why_row why_rows[WHY_IDS] = {
#include "why/cause.def"
};
#undef CAUSE

enum why_id why_find_row(struct str id)
{
	for (int i = 0; i < WHY_IDS; i++)
		if (str_eq(id, str_of(why_rows[i].id)))
			return (enum why_id)i;
	return WHY_IDS;
}

/* ---- one cause ---- */

static struct why_change change_of(const struct why_scene *s, enum why_id id, struct arena *a)
{
	struct why_change c = { .a = a, .saved = INT64_MIN };

	intern_init(&c.names, a);
	if (why_rows[id].lacks)
		c.reason = str_of(why_rows[id].lacks);
	else
		why_rows[id].find(s, &c);
	return c;
}

static int by_ticks(const void *v, uint32_t a, uint32_t b)
{
	const struct why_place *x = (const struct why_place *)v + a,
	                       *y = (const struct why_place *)v + b;

	return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

/* Keeps what was found in the arena of the answer. */
static void add_finding(
        struct why *out, enum why_id id, const struct why_change *c, int64_t saved, struct arena *a)
{
	int64_t n = (int64_t)out->x->n_chosen;
	struct why_finding f = { .id = id,
		.cost = c->cost / n,
		.saved = saved,
		.bound = c->bound,
		.assumed = c->assumed };

	for (size_t i = 0; i < c->places.n; i++) {
		struct why_place place = c->places.v[i];
		place.ticks /= n;
		place.name = str_copy(a, place.name);
		VEC_PUSH(a, &f.places, place);
	}
	sort_array(a, f.places.v, f.places.n, sizeof *f.places.v, by_ticks);
	VEC_PUSH(a, &out->found, f);
}

static void examine(const struct why_scene *s, enum why_id id, struct why *out, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct why_change c = change_of(s, id, &own.a);
	if (c.reason.p) {
		VEC_PUSH(a, &out->gaps, ((struct why_gap){ id, c.reason }));
	} else if (c.saved != INT64_MIN) {
		if (c.saved > 0)
			add_finding(out, id, &c, c.saved, a);
	} else if (c.plan.lengths || c.plan.unblocked) {
		struct replay_run run;
		replay_plan_run(out->x, &c.plan, &run, &own.a);
		int64_t saved = num_sub(out->x->recorded.after, run.after);
		if (saved > 0)
			add_finding(out, id, &c, saved, a);
	}
	scratch_close(&own);
}

bool why_replay(const struct replay *x, enum why_id id, struct replay_run *out, struct arena *a,
        struct err *e)
{
	struct why_scene s;

	why_scene_open(&s, x, a);
	struct why_change c = change_of(&s, id, a);
	if (c.reason.p || c.saved != INT64_MIN)
		return err_set(e, ERR_INVALID_ARGUMENT, "cause:%s cannot be replayed: %.*s",
		        why_rows[id].id, STR(c.reason.p ? c.reason : S("it compares whole steps")));
	replay_plan_run(x, &c.plan, out, a);
	return true;
}

/* ---- all causes ---- */

static int by_saved(const void *v, uint32_t a, uint32_t b)
{
	const struct why_finding *x = (const struct why_finding *)v + a,
	                         *y = (const struct why_finding *)v + b;

	return (x->saved < y->saved) - (x->saved > y->saved);
}

/* Graph launches without recorded work: the device did more than the file says. */
static struct str check_graphs(const struct why_scene *s, struct arena *a)
{
	uint64_t empty = 0, all = 0;

	for (size_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (!n->host || n->event == ID_NONE ||
		        !str_contains(why_name(s, n->event), S("GraphLaunch")))
			continue;
		all++;
		empty += !s->launches[i];
	}
	return empty * 2 > all
	               ? str_fmt(a,
	                         "%llu of %llu graph launches have no recorded work, so the "
	                         "device did more than the file says",
	                         (unsigned long long)empty, (unsigned long long)all)
	               : STR_NONE;
}

static bool has_work(const struct depend *d)
{
	return d->nodes.n && !d->nodes.v[0].host;
}

/* Sets the shares of the chosen windows for which devices were busy, and computed. */
static void find_shares(const struct replay *x, struct why *out, struct arena *a)
{
	size_t n;
	const struct replay_part *v = replay_partition(x, &x->recorded, &n, a);
	double compute = 0, moving = 0, idle = 0;

	for (size_t i = 0; i < n; i++) {
		compute += (double)v[i].compute;
		moving += (double)v[i].communication + (double)v[i].copy;
		idle += (double)v[i].idle;
	}
	double all = compute + moving + idle;
	out->compute = all > 0 ? compute / all : 0;
	out->busy = all > 0 ? (compute + moving) / all : 0;
}

/* Returns why there can be no verdict, or nothing. */
static struct str find_doubt(const struct why_scene *s, const struct why *out, struct arena *a)
{
	int64_t best = out->reported ? out->found.v[0].saved : 0;

	if (!has_work(s->d))
		return S("the file has no device work");
	if (out->step <= 0)
		return S("the window has no length");
	struct str graphs = check_graphs(s, a);
	if (graphs.p)
		return graphs;
	if (out->unknown > best && (double)out->unknown > (double)out->step * WHY_UNKNOWN_SHARE)
		return str_fmt(a,
		        "for %.1f%% of the critical path, the file does not say what it waited for",
		        (double)out->unknown * 100 / (double)out->step);
	if (!out->reported && 1 - out->compute > WHY_UNKNOWN_SHARE)
		return str_fmt(a,
		        "devices compute for %.1f%% of the time, and no cause that could be judged "
		        "explains the rest",
		        out->compute * 100);
	return STR_NONE;
}

static int64_t unknown_time(const struct replay *x, struct arena *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < x->n_chosen; i++) {
		struct critical path = { 0 };
		critical_walk(&x->depend, &x->recorded.times, &x->recorded.windows[i],
		        x->recorded.ends[i], &path, a);
		sum = num_add(sum, path.kinds[CRITICAL_UNKNOWN]);
	}
	return x->n_chosen ? sum / (int64_t)x->n_chosen : 0;
}

void why_find(const struct replay *x, struct why *out, struct arena *a)
{
	struct scratch own;
	struct why_scene s;

	*out = (struct why){ .x = x, .step = x->recorded.after, .error = replay_error(x) };
	scratch_open(&own, a->work);
	why_scene_open(&s, x, &own.a);
	out->unknown = unknown_time(x, &own.a);
	find_shares(x, out, &own.a);
	for (int i = 0; i < WHY_IDS; i++)
		examine(&s, (enum why_id)i, out, a);
	sort_array(a, out->found.v, out->found.n, sizeof *out->found.v, by_saved);
	while (out->reported < out->found.n &&
	        (double)out->found.v[out->reported].saved > (double)out->step * WHY_LEAST_SHARE)
		out->reported++;
	out->no_verdict = find_doubt(&s, out, a);
	scratch_close(&own);
}
