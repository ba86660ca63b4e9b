/* SPDX-License-Identifier: Apache-2.0
 *
 * The row "timeline" of the outputs: of a view, of each step of a graph, of a difference.
 */
#include "export/out.h"
#include "export/timeline/timeline.h"

struct str timeline_accepts(const struct view_ops *v, const struct query *q)
{
	(void)q;
	return view_is(v->kind, VIEW_LIST)
	               ? S("op view doesn't support timeline yet. Consider graph/scope/code view.")
	               : STR_NONE;
}

/* Draws the view of a step. A step with the id of the average cannot be drawn. */
static bool write_step(const struct query *of, const struct step *step, struct arena *a,
        struct emit *to, struct err *e)
{
	struct opts o = *of->o;
	struct query q = { .m = of->m, .o = &o, .a = a, .notes = of->notes, .tree = of->tree };
	struct result r;

	if (step->id < 0) {
		note_line(of->notes,
		        "Must specify -step option to generate timeline in graph view.\n");
		return true;
	}
	o.step = step->id;
	o.steps.n = 0;
	o.stats = 0;
	o.by = BY_NONE;
	q.only = step;
	q.one_of_many = of->n_steps > 1;
	return view_run(&views[of->tree->kind], &q, &r, e) && view_rename(&q, e) &&
	       timeline_graph(&r, to, e);
}

bool timeline_steps(const struct query *q, struct emit *to, struct err *e)
{
	struct scratch own;
	bool ok = true;

	scratch_open(&own, q->a->work);
	for (size_t i = 0; i < q->n_steps && ok; i++) {
		ok = write_step(q, q->steps[i], &own.a, to, e);
		arena_clear(&own.a);
	}
	scratch_close(&own);
	return ok;
}

bool timeline_write(const struct exported *x, struct emit *to, struct err *e)
{
	const struct result *r = x->of;

	if (x->kind == RESULT_DIFF)
		return timeline_diff(x->of, to, e);
	if ((r->q->m->traces.n || r->q->recording) && !view_is(r->kind, VIEW_TRACES))
		return timeline_tracks(r, to, e);
	return view_is(r->kind, VIEW_EDGES) ? timeline_graph(r, to, e) : timeline_tree(r, to, e);
}
