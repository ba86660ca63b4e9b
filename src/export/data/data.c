/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers as data: csv, md and ndjson are the rows alone, json is a document around them
 * (docs/schema/).
 */
#include "export/data/document.h"
#include "view/step_columns.h"

enum { NOTE_TOO_DEEP = 0x710 }; /* kind of note */

#define VIEW_SCHEMA   "tfprof/view"
#define ADVICE_SCHEMA "tfprof/advice"
#define VERSION       1 /* version of both schemas; new members do not increase it */

bool out_is_data(enum output_kind kind)
{
	return output_rows[kind].flags & OUT_ROWS;
}

/* ---- views ---- */

static void put_steps(struct document *d, const struct query *q)
{
	const struct model *m = q->m;
	struct sb b = sb_in(d->a);
	struct imap used;
	uint32_t place;

	imap_init(&used, d->a);
	for (size_t i = 0; i < q->n_steps; i++)
		imap_put(&used, (uint64_t)q->steps[i]->id, 0, true);
	opts_value(&b, q->o, view_option(S("step")));
	document_key(d, "steps");
	json_object(&d->j);
	document_text(d, "asked", sb_str(&b));
	document_key(d, "used");
	json_array(&d->j);
	for (size_t i = 0; i < m->step_ids.n; i++)
		if (imap_get(&used, (uint64_t)m->step_ids.v[i], &place))
			json_i64(&d->j, m->step_ids.v[i]);
	json_array_end(&d->j);
	document_key(d, "loaded");
	json_array(&d->j);
	for (size_t i = 0; i < m->step_ids.n; i++)
		json_i64(&d->j, m->step_ids.v[i]);
	json_array_end(&d->j);
	json_object_end(&d->j);
}

/* Counts the entries, and the hidden entries by reason. */
static void put_truncation(struct document *d, const struct result *r)
{
	static const char *const names[HIDDEN_N] = { [HIDDEN_START] = "start",
		[HIDDEN_DEPTH] = "max_depth",
		[HIDDEN_TRIM] = "trim",
		[HIDDEN_MIN] = "min",
		[HIDDEN_TOP] = "top",
		[HIDDEN_NAME] = "patterns" };

	document_key(d, "truncation");
	json_object(&d->j);
	document_i64(d, "entries", (int64_t)r->q->kept.n - view_is(r->kind, VIEW_LIST));
	document_i64(d, "shown", r->n);
	document_key(d, "hidden_by");
	json_object(&d->j);
	for (int i = 0; i < HIDDEN_N; i++)
		document_i64(d, names[i], r->hidden[i]);
	json_object_end(&d->j);
	json_object_end(&d->j);
}

/* Writes a total of the root; null if no part of it is known. */
static void put_total(struct document *d, const char *key, const struct result *r, enum value v)
{
	if (!tally_is_unknown(&r->root, v)) {
		document_fraction(d, key, view_value(r->q, &r->root, v));
		return;
	}
	document_key(d, key);
	json_literal(&d->j, S("null"));
}

/* Writes the totals of the root, which op does not show as a row. */
static void put_totals(struct document *d, const struct rows *x)
{
	document_key(d, "total");
	json_object(&d->j);
	for (size_t i = 0; i < x->n_metrics; i++) {
		const struct metric *m = &metrics[x->metrics[i]];
		if (m->value != V_NONE)
			put_total(d, m->name, x->r, m->value);
		if (m->value == V_FLOAT_OPS)
			put_total(d, "uncounted", x->r, V_UNCOUNTED);
	}
	json_object_end(&d->j);
}

/* Lists the workers of the steps; none for a single file. */
static void put_workers(struct document *d, const struct query *q)
{
	document_key(d, "workers");
	json_array(&d->j);
	for (size_t i = 0; i < q->m->workers.n; i++)
		if (workers_chosen(q, i))
			document_word(d, q->m->workers.v[i]);
	json_array_end(&d->j);
}

static void put_document(struct rows *x, struct emit *to, struct sink *s)
{
	const struct query *q = x->r->q;
	struct document d;
	struct sheet rows;

	document_begin(&d, s, to->a, VIEW_SCHEMA, VERSION);
	d.arrays = to->arrays;
	document_text(&d, "view", str_of(views[x->r->kind].name));
	document_sources(&d, &to->from);
	put_steps(&d, q);
	put_workers(&d, q);
	document_options(&d, q->o);
	document_warnings(&d, &to->from, to->notes);
	put_truncation(&d, x->r);
	put_totals(&d, x);
	document_rows(&d, &rows, x->columns.v, x->columns.n);
	rows_write(x, &rows);
	document_rows_end(&d, &rows);
	document_end(&d);
}

/* Adds a note about the depth, for kinds that have no error of their own. */
static void note_depth(const struct result *r, struct notes *notes)
{
	unsigned n = r->hidden[HIDDEN_DEPTH];

	if (n)
		note_kind(notes, NOTE_TOO_DEEP, "%u %s below -max_depth %d %s not among the rows",
		        n, n == 1 ? "entry" : "entries", (int)r->q->o->max_depth,
		        n == 1 ? "is" : "are");
}

bool data_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct rows rows;

	(void)e;
	rows_open(&rows, x->of, to->a);
	put_document(&rows, to, s);
	return true;
}

bool data_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct sheet sheet;
	struct rows rows;

	(void)e;
	rows_open(&rows, x->of, to->a);
	note_depth(x->of, to->notes);
	sheet_open(&sheet, form, s, to->a, rows.columns.v, rows.columns.n);
	rows_write(&rows, &sheet);
	sheet_close(&sheet);
	return true;
}

/* ---- advice ---- */

static void put_reports(const struct advice *advice, struct sheet *to)
{
	for (enum checker_id i = 0; i < CHECK_N; i++) {
		for (size_t k = 0; advice->asked[i] && k < advice->reports[i].n; k++) {
			sheet_text(to, str_of(advise_name(i)));
			sheet_text(to, advice->reports[i].v[k]);
		}
	}
}

static const struct column advice_columns[] = { TEXT_COLUMN("checker"), TEXT_COLUMN("report") };

static bool advice_document(
        const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct document d;
	struct sheet sheet;

	(void)e;
	document_open(&d, s, to, ADVICE_SCHEMA, VERSION);
	document_rows(&d, &sheet, advice_columns, 2);
	put_reports(x->of, &sheet);
	document_rows_end(&d, &sheet);
	document_end(&d);
	return true;
}

static bool advice_rows(const struct exported *x, enum sheet_form form, struct sink *s,
        struct emit *to, struct err *e)
{
	struct sheet sheet;

	(void)e;
	sheet_open(&sheet, form, s, to->a, advice_columns, 2);
	put_reports(x->of, &sheet);
	sheet_close(&sheet);
	return true;
}

bool data_advice(const struct advice *advice, const struct opts *o, struct emit *to, struct err *e)
{
	struct exported x = { .kind = RESULT_ADVICE,
		.name = "advise",
		.of = advice,
		.output = &o->output,
		.rows = advice_rows,
		.document = advice_document };

	return out_export(&x, to, e);
}
