/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the segments of both critical paths, and pairs the sums.
 */
#include "why/run_difference.h"

#include "base/sort.h"
#include "why/why_internal.h"

/* The parts of one run, before they are added to the answer. */
struct run_parts {
	const struct why_scene *scene;
	struct run_difference *to;
	struct intern keys; /* of the parts of both runs */
	struct arena *a;
};

/* Returns the cause that owns a segment of a thread, or WHY_IDS. */
static enum why_id owner_of(const struct why_scene *s, const struct critical_segment *x)
{
	if (x->track == ID_NONE || !s->d->tracks[x->track].host)
		return WHY_IDS;
	uint32_t node = replay_node_at(s->d, x->track, x->start);
	return node == ID_NONE ? WHY_IDS : why_owner(s, node);
}

/* Returns the index of the part of a segment. */
static uint32_t part_of(struct run_parts *p, const struct critical_segment *x)
{
	const struct why_scene *s = p->scene;
	struct run_part made = { .cause = owner_of(s, x), .kind = x->kind };
	struct sb key = sb_in(p->a);

	if (x->event != ID_NONE && s->t->events.v[x->event].category == CATEGORY_STEP)
		made.name = S("(step)"); /* marks of steps have numbers in their names */
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

/* ---- causes ---- */

/* Sets the time that a cause saves in a run. True if the run reports the cause. */
static bool find_saved(const struct why *x, enum why_id id, int run, struct run_cause *out)
{
	out->judged[run] = true;
	for (size_t i = 0; i < x->gaps.n; i++)
		out->judged[run] &= x->gaps.v[i].id != id;
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
	struct scratch own;

	*out = (struct run_difference){ .runs = { left, right } };
	scratch_open(&own, a->work);
	struct run_parts parts = { .to = out, .a = a };
	intern_init(&parts.keys, &own.a);
	for (int run = 0; run < RUNS_N; run++) {
		struct why_scene scene;
		why_scene_open(&scene, out->runs[run]->job, 0, &own.a);
		parts.scene = &scene;
		add_run(&parts, run, &own.a);
	}
	scratch_close(&own);
	sort_array(a, out->parts.v, out->parts.n, sizeof *out->parts.v, by_difference);
	find_causes(out, a);
}
