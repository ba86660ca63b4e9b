/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the rows of output.def to what writes them.
 */
#include "export/out.h"

#include "export/diff_out.h"
#include "export/timeline.h"

static const struct export_row {
	unsigned takes;     /* RESULT_ bits */
	const char *others; /* the sentence for views, where those are not taken */
	struct str (*accepts)(const struct view_ops *v, const struct query *q);
	bool (*write)(const struct exported *x, struct emit *to, struct err *e);
} exports[OUT_N] = {
#define ROW(id, name, keys, required, flags, takes, others, accepts, write, help)                  \
	[OUT_##id] = { takes, others, accepts, write },
#include "metric/output.def"
#undef ROW
};

/* ---- refusals ---- */

struct str accepts_all(const struct view_ops *v, const struct query *q)
{
	(void)v;
	(void)q;
	return STR_NONE;
}

struct str timeline_accepts(const struct view_ops *v, const struct query *q)
{
	(void)q;
	return v->kind == VK_OP
	               ? S("op view doesn't support timeline yet. Consider graph/scope/code view.")
	               : STR_NONE;
}

bool out_accepts(const struct view_ops *v, const struct query *q, struct err *e)
{
	const struct export_row *row = &exports[q->o->output.kind];
	struct str why = row->takes & RESULT_VIEW ? row->accepts(v, q) : str_of(row->others);

	if (!why.n || (q->o->step >= 0 && !model_step(q->m, q->o->step)) ||
	        (v->kind == VK_CODE && !q->m->has_traces))
		return true;
	note_line(q->notes, "%.*s\n", STR(why));
	return err_set(e, ERR_STEP, "%.*s", STR(why));
}

/* ---- forms that many results have ---- */

/* Opens where the output goes: its file, else to->out. Quirk 22: an earlier output's file is still
 * named where the answer goes to standard output. */
static bool begin(struct sink **s, const struct output *o, struct emit *to, struct err *e)
{
	*s = to->out;
	return !o->outfile.n || o->kind == OUT_STDOUT || sink_file(s, to->a, o->outfile, e);
}

static bool end(struct sink *s, const struct emit *to, struct err *e)
{
	return s == to->out || sink_close(s, e);
}

bool out_text(const struct exported *x, struct emit *to, struct err *e)
{
	struct sink *s;

	return begin(&s, x->output, to, e) && x->text(x, s, to, e) && end(s, to, e);
}

bool out_document(const struct exported *x, struct emit *to, struct err *e)
{
	struct sink *s;

	return begin(&s, x->output, to, e) && x->document(x, s, to, e) && end(s, to, e);
}

bool out_rows(const struct exported *x, struct emit *to, struct err *e)
{
	enum output_kind kind = x->output->kind;
	enum sheet_form form = kind == OUT_CSV  ? SHEET_CSV
	                       : kind == OUT_MD ? SHEET_MD
	                                        : SHEET_NDJSON;
	struct sink *s;

	return begin(&s, x->output, to, e) && x->rows(x, form, s, to, e) && end(s, to, e);
}

bool out_model(const struct exported *x, struct emit *to, struct err *e)
{
	return x->files(x, to, e);
}

bool out_nothing(const struct exported *x, struct emit *to, struct err *e)
{
	(void)x;
	(void)to;
	(void)e;
	return true;
}

bool out_export(const struct exported *x, struct emit *to, struct err *e)
{
	const struct export_row *row = &exports[x->output->kind];

	if (!(row->takes & x->kind))
		return err_set(e, ERR_INVALID_ARGUMENT, "%s cannot write %s", x->name,
		        output_rows[x->output->kind].name);
	return row->write(x, to, e);
}

/* ---- views ---- */

static bool view_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct result *r = x->of;

	(void)e;
	doc_write(s, to->a, r->q);
	switch (r->kind) {
	case VK_SCOPE:
	case VK_GRAPH: text_tree(r, s, to->a); break;
	case VK_OP:
	case VK_CODE: text_multi(r, s, to->a); break;
	case VK_N: break;
	}
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

bool timeline_write(const struct exported *x, struct emit *to, struct err *e)
{
	const struct result *r = x->of;

	if (x->kind == RESULT_DIFF)
		return timeline_diff(x->of, to, e);
	if (r->q->m->traces.n && r->kind != VK_CODE)
		return timeline_tracks(r, to, e);
	return r->kind == VK_GRAPH ? timeline_graph(r, to, e) : timeline_tree(r, to, e);
}

bool out_write(const struct result *r, struct emit *to, struct err *e)
{
	const struct opts *o = r->q->o;

	if (o->output.kind == OUT_TIMELINE && r->kind == VK_GRAPH && !r->q->m->traces.n &&
	        (o->step < 0 || !r->q->step))
		return write_steps(r->q, to, e);
	struct query shown = *r->q;
	struct result renamed = *r;
	struct exported x = { .kind = RESULT_VIEW,
		.name = views[r->kind]->name,
		.of = &renamed,
		.output = &o->output,
		.text = view_text,
		.rows = data_rows,
		.document = data_document };
	renamed.q = &shown;
	return view_rename(&shown, e) && out_export(&x, to, e);
}
