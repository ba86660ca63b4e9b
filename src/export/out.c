/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the rows of output.def to what writes them.
 */
#include "export/out.h"

#include <assert.h>

#include "export/pprof.h"
#include "export/timeline.h"

/* ---- refusals ---- */

/* The original's sentence about a view that cannot feed the output; empty: it can. */
static struct str refusal(const struct view_ops *v, const struct query *q)
{
	const struct opts *o = q->o;

	if (o->output.kind == OUT_PROFILE)
		return S("A profile is written by the command convert.");
	if (o->output.kind == OUT_GITHUB || o->output.kind == OUT_JUNIT)
		return S("Annotations and JUnit reports are written by the command diff.");
	if (o->output.kind == OUT_RUN_META)
		return S("Run metadata are written by the command convert.");
	if (o->output.kind == OUT_TIMELINE && v->kind == VK_OP)
		return S("op view doesn't support timeline yet. Consider graph/scope/code view.");
	if (o->output.kind != OUT_PPROF)
		return STR_NONE;
	if (v->kind != VK_CODE)
		return S("Only 'code' view supports pprof output now.");
	struct strs names = { 0 };
	for (enum metric_id i = 0; i < M_N; i++)
		if (o->select.metrics & METRIC_BIT(i))
			strs_add(q->a, &names, str_of(metrics[i].name));
	for (size_t i = 0; i < o->select.unknown.n; i++)
		strs_add(q->a, &names, o->select.unknown.v[i]);
	if (names.n != 1)
		return S("Can only select 1 attribute for pprof output.");
	if (pprof_metric(o) == M_NONE)
		return str_fmt(q->a, "pprof doesn't support -select=%.*s", STR(names.v[0]));
	return STR_NONE;
}

bool out_accepts(const struct view_ops *v, const struct query *q, struct err *e)
{
	struct str why = refusal(v, q);

	if (!why.n || (q->o->step >= 0 && !model_step(q->m, q->o->step)) ||
	        (v->kind == VK_CODE && !q->m->has_traces))
		return true;
	note_line(q->notes, "%.*s\n", STR(why));
	return err_set(e, ERR_STEP, "%.*s", STR(why));
}

/* ---- outputs ---- */

/* Quirk 22: an earlier output's file is still named where the answer goes to standard output. */
bool out_begin(struct sink **s, const struct output *o, struct emit *to, struct err *e)
{
	*s = to->out;
	return !o->outfile.n || o->kind == OUT_STDOUT || sink_file(s, to->a, o->outfile, e);
}

bool out_end(struct sink *s, const struct emit *to, struct err *e)
{
	return s == to->out || sink_close(s, e);
}

static void put_text(const struct result *r, struct sink *to, struct arena *a)
{
	doc_write(to, a, r->q);
	switch (r->kind) {
	case VK_SCOPE:
	case VK_GRAPH: text_tree(r, to, a); break;
	case VK_OP:
	case VK_CODE: text_multi(r, to, a); break;
	case VK_N: break;
	}
}

static bool write_text(const struct result *r, struct emit *to, struct err *e)
{
	struct sink *s;

	if (!out_begin(&s, &r->q->o->output, to, e))
		return false;
	put_text(r, s, to->a);
	return out_end(s, to, e);
}

static bool write_none(const struct result *r, struct emit *to, struct err *e)
{
	(void)r;
	(void)to;
	(void)e;
	return true;
}

/* The view of a step, drawn. A step whose id is taken for the average cannot be. */
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
	return view_run(views[VK_GRAPH], &q, &r, e) && view_rename(&q, e) &&
	       timeline_graph(&r, to, e);
}

/* The graphs of an average: one file for each step that is in it. */
static bool write_steps(const struct query *q, struct emit *to, struct err *e)
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

static bool write_timeline(const struct result *r, struct emit *to, struct err *e)
{
	if (r->q->m->traces.n && r->kind != VK_CODE)
		return timeline_tracks(r, to, e);
	return r->kind == VK_GRAPH ? timeline_graph(r, to, e) : timeline_tree(r, to, e);
}

static bool (*const writers[OUT_N])(const struct result *, struct emit *, struct err *) = {
	[OUT_CSV] = data_write,
	[OUT_FILE] = write_text,
	[OUT_JSON] = data_write,
	[OUT_MD] = data_write,
	[OUT_NDJSON] = data_write,
	[OUT_NONE] = write_none,
	[OUT_PPROF] = pprof_write,
	[OUT_STDOUT] = write_text,
	[OUT_TIMELINE] = write_timeline,
};

bool out_write(const struct result *r, struct emit *to, struct err *e)
{
	enum output_kind kind = r->q->o->output.kind;

	assert(writers[kind]); /* the others are refused by out_accepts */
	if (kind == OUT_TIMELINE && r->kind == VK_GRAPH && !r->q->m->traces.n &&
	        (r->q->o->step < 0 || !r->q->step))
		return write_steps(r->q, to, e);
	struct query shown = *r->q;
	struct result renamed = *r;
	renamed.q = &shown;
	return view_rename(&shown, e) && writers[kind](&renamed, to, e);
}
