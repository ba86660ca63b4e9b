/* SPDX-License-Identifier: Apache-2.0
 *
 * A difference as csv, md, ndjson and json: a row for each shown entry. Numbers that a side lacks
 * are null, and so is a ratio with a divisor of 0; `state` says why.
 *
 *   path, renamed, parent, depth, state | for each metric: own_ and total_ of each side, then
 *   difference_ and ratio_, and p_ of times: the significance, where sides have steps
 */
#include <math.h>

#include "base/fmt.h"
#include "export/out.h"
#include "export/data/document.h"

#define DIFF_SCHEMA  "tfprof/diff"
#define DIFF_VERSION 1

struct diff_columns {
	VEC(struct column) v;
	struct arena *a;
};

static void add(struct diff_columns *c, struct str name, enum column_type type, const char *unit)
{
	VEC_PUSH(c->a, &c->v, ((struct column){ name, type, unit, 0 }));
}

static const char *unit_of(enum metric_id m)
{
	return metrics[m].unit == UNIT_BYTES ? "bytes" : metrics[m].unit == UNIT_TIME ? "us" : NULL;
}

/* True if steps can show how significant the differences of a metric are. */
static bool has_test(const struct difference_request *request, uint32_t k)
{
	return request->test && metrics[request->metrics[k]].unit == UNIT_TIME;
}

static enum column_type number_type(const struct difference_request *request, uint32_t k)
{
	return diff_parts(request, k) > 1 ? COLUMN_REAL : COLUMN_INTEGER;
}

static void put_number(
        const struct difference_request *request, uint32_t k, int64_t v, struct sheet *to)
{
	int64_t parts = diff_parts(request, k);

	if (parts > 1)
		sheet_real(to, fraction_real((struct fraction){ v, parts }));
	else
		sheet_i64(to, v);
}

static void make_columns(const struct diff_answer *x, struct diff_columns *c)
{
	const struct difference_request *request = x->d->request;

	add(c, S("path"), COLUMN_TEXT, NULL);
	add(c, S("renamed"), COLUMN_TEXT, NULL);
	add(c, S("parent"), COLUMN_TEXT, NULL);
	add(c, S("depth"), COLUMN_INTEGER, NULL);
	add(c, S("state"), COLUMN_TEXT, NULL);
	for (uint32_t k = 0; k < request->columns; k++) {
		const char *name = metrics[request->metrics[k]].name,
		           *unit = unit_of(request->metrics[k]);
		enum column_type type = number_type(request, k);
		for (uint32_t s = 0; s < request->c->sides; s++) {
			struct str side = x->names->v[s];
			add(c, str_fmt(c->a, "own_%s_%.*s", name, STR(side)), type, unit);
			add(c, str_fmt(c->a, "total_%s_%.*s", name, STR(side)), type, unit);
		}
		add(c, str_fmt(c->a, "difference_%s", name), type, unit);
		add(c, str_fmt(c->a, "ratio_%s", name), COLUMN_REAL, NULL);
		if (has_test(request, k))
			add(c, str_fmt(c->a, "p_%s", name), COLUMN_REAL, NULL);
	}
}

static void put_probability(const struct diff *d, uint32_t entry, uint32_t k, struct sheet *to)
{
	const struct compare *c = d->request->c;
	double p;

	if (noise_probability(d->request->test, c->sides - 1, entry, k, &p))
		sheet_real(to, p);
	else
		sheet_null(to);
}

static void put_metric(const struct diff *d, uint32_t row, uint32_t k, struct sheet *to)
{
	const struct difference_request *request = d->request;
	uint32_t entry = d->row[row].entry;
	int64_t y = diff_total(d, row, request->to, k);

	for (uint32_t s = 0; s < request->c->sides; s++) {
		bool there = compare_has(request->c, s, entry);
		if (there)
			put_number(request, k, diff_self(d, row, s, k), to);
		else
			sheet_null(to);
		if (there)
			put_number(request, k, diff_total(d, row, s, k), to);
		else
			sheet_null(to);
	}
	put_number(request, k, diff_difference(d, row, k), to);
	if (y && compare_has(request->c, request->from, entry) &&
	        compare_has(request->c, request->to, entry))
		sheet_real(to, (double)diff_total(d, row, request->from, k) / (double)y);
	else
		sheet_null(to);
	if (has_test(request, k))
		put_probability(d, entry, k, to);
}

/* Returns the name of the entry on the last side. The name is empty if that side lacks the
 * entry. */
static struct str last_name(const struct compare *c, uint32_t entry)
{
	uint32_t s = c->sides - 1;

	return compare_has(c, s, entry) ? side_given(c->side[s], c->at[s][entry]) : STR_NONE;
}

static void put_rows(const struct diff *d, struct sheet *to)
{
	const struct compare *c = d->request->c;

	for (uint32_t row = 0; row < d->n; row++) {
		const struct diff_row *x = &d->row[row];
		struct str last = last_name(c, x->entry);
		sheet_text(to, c->name[x->entry]);
		if (last.n && !str_eq(last, c->name[x->entry]))
			sheet_text(to, last);
		else
			sheet_null(to);
		if (x->parent == ID_NONE)
			sheet_null(to);
		else
			sheet_text(to, c->name[d->row[x->parent].entry]);
		sheet_i64(to, x->depth);
		sheet_text(to, str_of(diff_state_name(x->state)));
		for (uint32_t k = 0; k < d->request->columns; k++)
			put_metric(d, row, k, to);
	}
}

static void put_sides(const struct diff_answer *x, struct document *doc)
{
	const struct difference_request *request = x->d->request;

	document_key(doc, "sides");
	json_array(&doc->j);
	for (size_t s = 0; s < x->words->n; s++) {
		json_object(&doc->j);
		document_text(doc, "name", x->names->v[s]);
		document_text(doc, "path", x->words->v[s]);
		json_object_end(&doc->j);
	}
	json_array_end(&doc->j);
	document_text(doc, "minuend", x->names->v[request->from]);
	document_text(doc, "subtrahend", x->names->v[request->to]);
	document_text(doc, "per", x->per_run ? S("run") : S("step"));
	document_key(doc, "delta");
	doc->scratch.n = 0;
	fmt_real(&doc->scratch, request->delta);
	json_literal(&doc->j, sb_str(&doc->scratch));
	document_i64(doc, "min_size", x->min_size);
	document_key(doc, "noise");
	if (request->noise) {
		json_object(&doc->j);
		document_text(doc, "test", request->noise->steps ? S("ranks") : S("floor"));
		document_i64(doc, "differences", (int64_t)x->d->noise);
		document_fraction(doc, "difference_micros",
		        (struct fraction){
		                x->d->noise_sum, diff_parts(request, x->d->noise_column) });
		json_object_end(&doc->j);
	} else {
		json_literal(&doc->j, S("null"));
	}
	document_key(doc, "level");
	if (request->test) {
		doc->scratch.n = 0;
		fmt_real(&doc->scratch, request->test->level);
		json_literal(&doc->j, sb_str(&doc->scratch));
	} else {
		json_literal(&doc->j, S("null"));
	}
	document_key(doc, "nodes");
	json_object(&doc->j);
	document_i64(doc, "both", (int64_t)x->d->both);
	document_i64(doc, "gone", (int64_t)x->d->only[0]);
	document_i64(doc, "new", (int64_t)x->d->only[1]);
	document_i64(doc, "renamed", (int64_t)x->d->aliases);
	json_object_end(&doc->j);
}

static void put_bound(struct document *doc, double v)
{
	if (isinf(v)) {
		json_literal(&doc->j, S("null"));
		return;
	}
	doc->scratch.n = 0;
	fmt_real(&doc->scratch, v);
	json_literal(&doc->j, sb_str(&doc->scratch));
}

/* Writes the result of the steps' test for a gate; null without a test. */
static void put_gate_test(const struct gate_result *g, struct document *doc)
{
	document_key(doc, "test");
	if (!g->steps[0]) {
		json_literal(&doc->j, S("null"));
		return;
	}
	json_object(&doc->j);
	document_key(doc, "steps");
	json_array(&doc->j);
	json_i64(&doc->j, (int64_t)g->steps[0]);
	json_i64(&doc->j, (int64_t)g->steps[1]);
	json_array_end(&doc->j);
	document_key(doc, "interval");
	json_array(&doc->j);
	put_bound(doc, g->low);
	put_bound(doc, g->high);
	json_array_end(&doc->j);
	document_key(doc, "smallest_change");
	put_bound(doc, g->detects);
	json_object_end(&doc->j);
}

static void put_gates(const struct diff_answer *x, struct document *doc)
{
	document_key(doc, "gates");
	json_array(&doc->j);
	for (size_t i = 0; i < x->n_gates; i++) {
		const struct gate_result *g = &x->gates[i];
		json_object(&doc->j);
		document_text(doc, "rule", g->rule);
		document_text(doc, "result", str_of(gate_verdict_name(g->verdict)));
		document_key(doc, "holds");
		json_literal(&doc->j, g->verdict == GATE_HOLDS ? S("true") : S("false"));
		document_text(doc, "text", g->text);
		put_gate_test(g, doc);
		document_key(doc, "steps_needed");
		if (g->needed)
			json_i64(&doc->j, (int64_t)g->needed);
		else
			json_literal(&doc->j, S("null"));
		json_object_end(&doc->j);
	}
	json_array_end(&doc->j);
}

static void put_document(
        const struct diff_answer *x, struct diff_columns *c, struct emit *to, struct sink *s)
{
	struct document doc;
	struct sheet rows;

	document_begin(&doc, s, to->a, DIFF_SCHEMA, DIFF_VERSION);
	doc.arrays = to->arrays;
	document_text(&doc, "view", str_of(x->view->name));
	put_sides(x, &doc);
	document_options(&doc, x->d->request->o);
	document_warnings(&doc, &to->from, to->notes);
	put_gates(x, &doc);
	document_rows(&doc, &rows, c->v.v, c->v.n);
	put_rows(x->d, &rows);
	document_rows_end(&doc, &rows);
	document_end(&doc);
}

bool document_diff(const struct exported *out, struct sink *s, struct emit *to, struct err *e)
{
	struct diff_columns c = { .a = to->a };

	(void)e;
	make_columns(out->of, &c);
	put_document(out->of, &c, to, s);
	return true;
}

bool rows_diff(const struct exported *out, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	const struct diff_answer *x = out->of;
	struct diff_columns c = { .a = to->a };
	struct sheet sheet;

	(void)e;
	make_columns(x, &c);
	sheet_open(&sheet, form, s, to->a, c.v.v, c.v.n);
	put_rows(x->d, &sheet);
	sheet_close(&sheet);
	return true;
}
