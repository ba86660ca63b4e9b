/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the segments of both critical paths, and pairs the sums.
 */
#include "why/run_difference.h"

#include "base/sort.h"
#include "why/why_internal.h"

/* State of adding the parts of one run to the answer. */
struct run_parts {
	const struct why_scene *scene;
	const uint8_t *owners; /* indexed by node: enum why_id */
	struct run_difference *to;
	struct intern keys; /* keys of the parts of both runs */
	struct arena *a;
};

/* Returns the cause of a segment, or WHY_IDS. */
static enum why_id owner_of(const struct run_parts *p, const struct critical_segment *x)
{
	if (x->kind == CRITICAL_LAUNCH)
		return WHY_launch_bound;
	if (x->track == ID_NONE)
		return WHY_IDS;
	uint32_t node = replay_node_at(p->scene->d, x->track, x->start);
	return node == ID_NONE ? WHY_IDS : (enum why_id)p->owners[node];
}

/* True if one of the runs reports the cause. */
static bool is_cause(const struct run_difference *x, enum why_id id)
{
	for (size_t i = 0; i < x->causes.n; i++)
		if (x->causes.v[i].id == id)
			return true;
	return false;
}

/* Returns the index of the part of a segment. */
static uint32_t part_of(struct run_parts *p, const struct critical_segment *x)
{
	const struct why_scene *s = p->scene;
	struct run_part made = { .cause = owner_of(p, x), .kind = x->kind };
	struct sb key = sb_in(p->a);

	if (!is_cause(p->to, made.cause))
		made.cause = WHY_IDS;
	if (x->event != ID_NONE && s->t->events.v[x->event].category == CATEGORY_STEP)
		made.name = S("(step)"); /* names of step marks contain numbers */
	else if (x->event != ID_NONE)
		made.name = why_name(s, x->event);
	sb_fmt(&key, "%d %d ", made.cause, made.cause == WHY_IDS ? (int)x->kind : 0);
	sb_put(&key, made.name);
	uint32_t i = intern_add(&p->keys, sb_str(&key));
	if (i == p->to->parts.n) {
		made.name = str_copy(p->a, made.name);
		VEC_PUSH(p->a, &p->to->parts, made);
	}
	return i;
}

/* Adds the parts of the paths of a run. */
static void add_run(struct run_parts *p, int run, struct arena *own)
{
	const struct replay *x = p->scene->x;
	VEC(int64_t) ticks = { .n = 0 };
	int64_t so_far = 0, n = x->n_chosen > 1 ? (int64_t)x->n_chosen : 1;

	for (size_t i = 0; i < x->n_chosen; i++) {
		struct critical path;
		replay_path(x, &x->recorded, i, &path, own);
		for (size_t k = 0; k < path.segments.n; k++) {
			const struct critical_segment *seg = &path.segments.v[k];
			uint32_t part = part_of(p, seg);
			while (ticks.n <= part)
				VEC_PUSH(own, &ticks, 0);
			ticks.v[part] = num_add(ticks.v[part], seg->end - seg->start);
		}
	}
	for (size_t i = 0; i < ticks.n; i++) { /* rounded so that they add up */
		int64_t before = trace_ns(p->scene->t, so_far / n);
		so_far = num_add(so_far, ticks.v[i]);
		p->to->parts.v[i].ns[run] = trace_ns(p->scene->t, so_far / n) - before;
	}
	p->to->ns[run] = trace_ns(p->scene->t, so_far / n);
}

static int64_t size_of(int64_t difference)
{
	return difference < 0 ? -difference : difference;
}

static int by_difference(const void *v, uint32_t a, uint32_t b)
{
	const struct run_part *x = (const struct run_part *)v + a,
	                      *y = (const struct run_part *)v + b;
	int64_t p = size_of(num_sub(x->ns[RUN_RIGHT], x->ns[RUN_LEFT]));
	int64_t q = size_of(num_sub(y->ns[RUN_RIGHT], y->ns[RUN_LEFT]));

	return (p < q) - (p > q);
}

/* Sums the parts by cause; sums parts without a cause by kind. */
static void add_sums(struct run_difference *x, struct arena *a)
{
	uint32_t by_cause[WHY_IDS] = { 0 }, by_kind[CRITICAL_KINDS] = { 0 }; /* 1 + index */

	for (size_t i = 0; i < x->parts.n; i++) {
		const struct run_part *p = &x->parts.v[i];
		uint32_t *at = p->cause == WHY_IDS ? &by_kind[p->kind] : &by_cause[p->cause];
		if (!*at) {
			VEC_PUSH(a, &x->sums,
			        ((struct run_part){ p->cause, p->kind, STR_NONE, { 0 } }));
			*at = (uint32_t)x->sums.n;
		}
		for (int run = 0; run < RUNS_N; run++)
			x->sums.v[*at - 1].ns[run] =
			        num_add(x->sums.v[*at - 1].ns[run], p->ns[run]);
	}
}

/* ---- causes ---- */

/* Stores the time that removing a cause saves in a run. Returns true if the run reports the
 * cause. */
static bool find_saved(const struct why *x, enum why_id id, int run, struct run_cause *out)
{
	out->judged[run] = !why_gap_of(x, id).p;
	for (size_t i = 0; i < x->found.n; i++)
		if (x->found.v[i].id == id) {
			out->ns[run] = trace_ns(x->x->depend.t, x->found.v[i].saved);
			return i < x->reported;
		}
	return false;
}

static void find_causes(struct run_difference *x, struct arena *a)
{
	for (int i = 0; i < WHY_IDS; i++) {
		struct run_cause c = { .id = (enum why_id)i };
		bool reported = false;
		for (int run = 0; run < RUNS_N; run++)
			reported |= find_saved(x->runs[run], c.id, run, &c);
		if (reported)
			VEC_PUSH(a, &x->causes, c);
	}
}

void run_difference_find(const struct why *left, const struct why *right,
        struct run_difference *out, struct arena *a)
{
	struct why_scene scenes[RUNS_N];
	struct scratch own;

	*out = (struct run_difference){ .runs = { left, right } };
	find_causes(out, a);
	scratch_open(&own, a->work);
	struct run_parts parts = { .to = out, .a = a };
	intern_init(&parts.keys, &own.a);
	for (int run = 0; run < RUNS_N; run++) {
		why_scene_open(&scenes[run], out->runs[run]->job, 0, &own.a);
		parts.scene = &scenes[run];
		parts.owners = why_node_owners(&scenes[run], NULL, &own.a);
		add_run(&parts, run, &own.a);
	}
	out->common = run_common_share(scenes, &own.a);
	scratch_close(&own);
	sort_array(a, out->parts.v, out->parts.n, sizeof *out->parts.v, by_difference);
	add_sums(out, a);
	sort_array(a, out->sums.v, out->sums.n, sizeof *out->sums.v, by_difference);
}
