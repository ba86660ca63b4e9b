/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the rows of output.def to their functions.
 */
#include "export/out.h"

#include "export/page/html.h"

static const struct export_row {
	unsigned takes;     /* RESULT_ bits */
	const char *others; /* sentence for refused views */
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

bool out_accepts(const struct view_ops *v, const struct query *q, struct err *e)
{
	const struct export_row *row = &exports[q->o->output.kind];
	struct str why = row->takes & RESULT_VIEW ? row->accepts(v, q) : str_of(row->others);

	if (!why.n || (q->o->step >= 0 && !model_step(q->m, q->o->step)) ||
	        (view_is(v->kind, VIEW_TRACES) && !q->m->has_traces))
		return true;
	note_line(q->notes, "%.*s\n", STR(why));
	return err_text(e, ERR_STEP, why);
}

/* ---- forms common to many results ---- */

/* Opens the destination of the output: its file, otherwise to->out. Quirk 22: an earlier output's
 * file is still named when the answer goes to standard output. */
static bool begin(struct sink **s, const struct output *o, struct emit *to, struct err *e)
{
	*s = to->out;
	return !o->outfile.n || o->kind == OUT_STDOUT || sink_file(s, to->a, o->outfile, e);
}

static bool end(struct sink *s, const struct output *o, const struct emit *to, struct err *e)
{
	return s == to->out || (sink_close(s, e) && out_tell(o, to));
}

bool out_tell(const struct output *o, const struct emit *to)
{
	if (to->person && (o->named || output_rows[o->kind].flags & OUT_EXTENSION))
		sink_fmt(to->out, "written to %.*s\n", STR(o->outfile));
	return true;
}

bool out_text(const struct exported *x, struct emit *to, struct err *e)
{
	struct sink *s;

	return begin(&s, x->output, to, e) && x->text(x, s, to, e) && end(s, x->output, to, e);
}

bool out_document(const struct exported *x, struct emit *to, struct err *e)
{
	struct sink *s;

	return begin(&s, x->output, to, e) && x->document(x, s, to, e) && end(s, x->output, to, e);
}

bool out_html(const struct exported *x, struct emit *to, struct err *e)
{
	struct strs words = { 0 };
	struct emit with = *to;
	struct sink *s;
	struct html h;

	if (!html_available(e) || !begin(&s, x->output, to, e))
		return false;
	strs_add(to->a, &words, str_of(x->name));
	with.arrays = true;
	html_begin(&h, s, to->a);
	html_document(&h, x->name, &words);
	return x->document(x, h.json, &with, e) && html_end(&h, e) && end(s, x->output, to, e);
}

bool out_rows(const struct exported *x, struct emit *to, struct err *e)
{
	enum output_kind kind = x->output->kind;
	enum sheet_form csv = x->output->spreadsheet ? SHEET_SPREADSHEET : SHEET_CSV;
	enum sheet_form form = x->output->cells  ? SHEET_CELLS
	                       : kind == OUT_CSV ? csv
	                       : kind == OUT_MD  ? SHEET_MD
	                                         : SHEET_NDJSON;
	struct sink *s;

	return begin(&s, x->output, to, e) && x->rows(x, form, s, to, e) &&
	       end(s, x->output, to, e);
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

	if (!(row->takes & x->kind) && !x->output->cells)
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
	if (view_is(r->kind, VIEW_LIST))
		text_op(r, s, to->a);
	else
		text_tree(r, s, to->a);
	return true;
}

bool out_write(const struct result *r, struct emit *to, struct err *e)
{
	const struct opts *o = r->q->o;

	if (o->output.kind == OUT_TIMELINE && view_is(r->kind, VIEW_EDGES) && !r->q->m->traces.n &&
	        !r->q->recording && (o->step < 0 || !r->q->step)) {
		if (!r->q->m->steps.n && o->bare_input)
			note_line(r->q->notes,
			        "note: no timeline is written, because no step is loaded\n");
		return timeline_steps(r->q, to, e);
	}
	struct query shown = *r->q;
	struct result renamed = *r;
	struct exported x = { .kind = RESULT_VIEW,
		.name = views[r->kind].name,
		.of = &renamed,
		.output = &o->output,
		.text = view_text,
		.rows = data_rows,
		.document = data_document };
	renamed.q = &shown;
	return view_rename(&shown, e) && out_export(&x, to, e);
}
