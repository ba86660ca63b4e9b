/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes cells as CSV, Markdown, JSON lines or rows of a document.
 */
#include "export/data/sheet.h"

#include <assert.h>
#include <math.h>

#include "base/fmt.h"

static bool is_number(enum column_type type)
{
	return type == COLUMN_INTEGER || type == COLUMN_REAL;
}

/* Writes a UTF-8 text as a cell of the form CSV, SPREADSHEET (csv.c) or MD (md.c). CSV: quoted by
 * RFC 4180; control bytes other than tab, CR and LF are written as \xNN. SPREADSHEET: as CSV, with
 * an apostrophe before text that begins like a formula. MD: Markdown syntax is escaped; control
 * bytes are written as \xNN. */
static void put_text(enum sheet_form form, struct sink *to, struct str s)
{
	if (form == SHEET_MD)
		md_text(to, s);
	else
		csv_text(to, s, form == SHEET_SPREADSHEET);
}

/* Writes the names of the columns, and in Markdown the line below them. */
static void put_head(struct sheet *t)
{
	bool md = t->form == SHEET_MD;

	for (size_t i = 0; i < t->n; i++) {
		sink_put(t->to, md ? S("| ") : i ? S(",") : STR_NONE);
		put_text(t->form, t->to, t->columns[i].name);
		sink_put(t->to, md ? S(" ") : STR_NONE);
	}
	sink_put(t->to, md ? S("|\n") : S("\n"));
	for (size_t i = 0; i < t->n && md; i++)
		sink_put(t->to, is_number(t->columns[i].type) ? S("| ---: ") : S("| --- "));
	if (md)
		sink_put(t->to, S("|\n"));
}

/* Escapes the names of workers and files that are not UTF-8. */
static const struct column *clean_names(const struct column *columns, size_t n, struct arena *a)
{
	struct column *clean = ARENA_ARRAY(a, n, struct column);

	for (size_t i = 0; i < n; i++) {
		struct sb b = sb_in(a);
		clean[i] = columns[i];
		sb_put_utf8(&b, columns[i].name);
		clean[i].name = sb_str(&b);
	}
	return clean;
}

void sheet_open(struct sheet *t, enum sheet_form form, struct sink *to, struct arena *a,
        const struct column *columns, size_t n)
{
	*t = (struct sheet){ .form = form, .to = to, .n = n, .text = sb_in(a) };
	t->columns = clean_names(columns, n, a);
	t->json = &t->own;
	if (form == SHEET_CELLS)
		cells_put_head(to, t->columns, n);
	else if (form != SHEET_NDJSON && form != SHEET_JSON && form != SHEET_ARRAYS)
		put_head(t);
}

void sheet_open_json(
        struct sheet *t, struct json *j, struct arena *a, const struct column *columns, size_t n)
{
	sheet_open(t, SHEET_JSON, j->to, a, columns, n);
	t->json = j;
}

void sheet_open_arrays(
        struct sheet *t, struct json *j, struct arena *a, const struct column *columns, size_t n)
{
	bool *real = ARENA_ARRAY(a, n, bool);

	sheet_open(t, SHEET_ARRAYS, j->to, a, columns, n);
	for (size_t i = 0; i < n; i++)
		real[i] = columns[i].type == COLUMN_REAL;
	t->json = j;
	t->arrays = ARENA_NEW(a, struct arrays);
	arrays_init(t->arrays, a, real, n);
}

/* Writes the text before a cell. */
static void begin_cell(struct sheet *t)
{
	switch (t->form) {
	case SHEET_CSV:
	case SHEET_SPREADSHEET:
		if (t->at)
			sink_char(t->to, ',');
		break;
	case SHEET_MD: sink_put(t->to, S("| ")); break;
	case SHEET_NDJSON:
	case SHEET_JSON:
		if (t->at == 0) {
			if (t->form == SHEET_NDJSON)
				json_init(t->json, t->to);
			else
				json_line(t->json);
			json_object(t->json);
		}
		json_key(t->json, t->columns[t->at].name);
		break;
	case SHEET_CELLS: break;
	case SHEET_ARRAYS: break;
	}
}

/* Writes the text after a cell, and after the row. */
static void end_cell(struct sheet *t)
{
	bool last = ++t->at == t->n;

	if (t->form == SHEET_MD)
		sink_char(t->to, ' ');
	if (!last)
		return;
	t->at = 0;
	if (t->form == SHEET_MD)
		sink_char(t->to, '|');
	if (t->form == SHEET_NDJSON || t->form == SHEET_JSON)
		json_object_end(t->json);
	if (t->form != SHEET_JSON && t->form != SHEET_CELLS && t->form != SHEET_ARRAYS)
		sink_char(t->to, '\n');
}

static bool is_json(const struct sheet *t)
{
	return t->form == SHEET_NDJSON || t->form == SHEET_JSON;
}

void sheet_text(struct sheet *t, struct str s)
{
	assert(t->columns[t->at].type == COLUMN_TEXT);
	begin_cell(t);
	if (t->arrays) {
		arrays_text(t->arrays, s);
	} else if (t->form == SHEET_CELLS) {
		cells_put_text(t->to, s);
	} else if (is_json(t)) {
		json_bytes(t->json, &t->text, s);
	} else {
		if (!str_is_utf8(s)) {
			t->text.n = 0;
			sb_put_utf8(&t->text, s);
			s = sb_str(&t->text);
		}
		put_text(t->form, t->to, s);
	}
	end_cell(t);
}

void sheet_path(struct sheet *t, uint32_t *id, struct str s)
{
	if (!t->arrays) {
		sheet_text(t, s);
		return;
	}
	begin_cell(t);
	arrays_path(t->arrays, id, s);
	end_cell(t);
}

void sheet_list(struct sheet *t, const struct strs *v)
{
	assert(t->columns[t->at].type == COLUMN_LIST);
	begin_cell(t);
	if (t->arrays) {
		arrays_list(t->arrays, v);
	} else if (t->form == SHEET_CELLS) {
		cells_put_list(t->to, v);
	} else if (is_json(t)) {
		json_array(t->json);
		for (size_t i = 0; i < v->n; i++)
			json_bytes(t->json, &t->text, v->v[i]);
		json_array_end(t->json);
	} else {
		t->text.n = 0;
		for (size_t i = 0; i < v->n; i++) {
			if (i)
				sb_char(&t->text, '|');
			sb_put_utf8(&t->text, v->v[i]);
		}
		if (v->n)
			put_text(t->form, t->to, sb_str(&t->text));
	}
	end_cell(t);
}

void sheet_i64(struct sheet *t, int64_t v)
{
	assert(t->columns[t->at].type == COLUMN_INTEGER);
	begin_cell(t);
	if (t->arrays) {
		arrays_i64(t->arrays, v);
	} else if (t->form == SHEET_CELLS) {
		cells_put_i64(t->to, v);
	} else if (is_json(t)) {
		json_i64(t->json, v);
	} else {
		t->text.n = 0;
		fmt_i64(&t->text, v);
		sink_put(t->to, sb_str(&t->text));
	}
	end_cell(t);
}

void sheet_real(struct sheet *t, double v)
{
	assert(t->columns[t->at].type == COLUMN_REAL);
	begin_cell(t);
	if (t->form == SHEET_CELLS) {
		cells_put_real(t->to, v);
		end_cell(t);
		return;
	}
	t->text.n = 0;
	if (isfinite(v))
		fmt_real(&t->text, v);
	else if (is_json(t))
		sb_put(&t->text, S("null"));
	if (t->arrays)
		arrays_real(t->arrays, v);
	else if (is_json(t))
		json_literal(t->json, sb_str(&t->text));
	else
		sink_put(t->to, sb_str(&t->text));
	end_cell(t);
}

void sheet_bool(struct sheet *t, bool v)
{
	struct str word = v ? S("true") : S("false");

	assert(t->columns[t->at].type == COLUMN_BOOL);
	begin_cell(t);
	if (t->arrays)
		arrays_i64(t->arrays, v);
	else if (t->form == SHEET_CELLS)
		cells_put_i64(t->to, v);
	else if (is_json(t))
		json_literal(t->json, word);
	else
		sink_put(t->to, word);
	end_cell(t);
}

void sheet_null(struct sheet *t)
{
	begin_cell(t);
	if (t->arrays)
		arrays_i64(t->arrays, ARRAYS_NULL);
	else if (t->form == SHEET_CELLS)
		cells_put_null(t->to);
	else if (is_json(t))
		json_literal(t->json, S("null"));
	end_cell(t);
}

void sheet_close(struct sheet *t)
{
	assert(t->at == 0);
	if (t->arrays)
		arrays_write(t->arrays, t->json);
}
