/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that all JSON documents share.
 */
#include "export/data/document.h"

#include "base/fmt.h"

#include "model/input.h"

/* Writes a key. Members of the document itself start a new line. */
void document_key(struct document *d, const char *name)
{
	if (d->j.depth == 1)
		json_line(&d->j);
	json_key(&d->j, str_of(name));
}

void document_word(struct document *d, struct str s)
{
	json_bytes(&d->j, &d->scratch, s);
}

void document_text(struct document *d, const char *name, struct str value)
{
	document_key(d, name);
	document_word(d, value);
}

void document_i64(struct document *d, const char *name, int64_t value)
{
	document_key(d, name);
	json_i64(&d->j, value);
}

void document_fraction(struct document *d, const char *name, struct fraction value)
{
	document_key(d, name);
	d->scratch.n = 0;
	if (value.per == 1)
		fmt_i64(&d->scratch, value.v);
	else
		fmt_real(&d->scratch, fraction_real(value));
	json_literal(&d->j, sb_str(&d->scratch));
}

void document_begin(
        struct document *d, struct sink *to, struct arena *a, const char *schema, int64_t version)
{
	*d = (struct document){ .a = a, .scratch = sb_in(a) };
	json_init(&d->j, to);
	json_object(&d->j);
	document_key(d, "schema");
	json_object(&d->j);
	document_text(d, "name", str_of(schema));
	document_i64(d, "version", version);
	json_object_end(&d->j);
	document_key(d, "tool");
	json_object(&d->j);
	document_text(d, "name", S("tfprof"));
	document_text(d, "version", S(TFPROF_VERSION));
	json_object_end(&d->j);
}

void document_end(struct document *d)
{
	json_line(&d->j);
	json_object_end(&d->j);
	sink_char(d->j.to, '\n');
	json_done(&d->j);
}

void document_sources(struct document *d, const struct origin *from)
{
	document_key(d, "sources");
	json_array(&d->j);
	for (size_t i = 0; i < from->n; i++) {
		const struct source *s = &from->v[i];
		json_object(&d->j);
		document_text(d, "kind", str_of(s->is->id));
		document_text(d, "path", s->path);
		if (s->is->role == ROLE_STEP)
			document_i64(d, "step", s->step);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_list(struct document *d, const struct strs *v)
{
	json_array(&d->j);
	for (size_t i = 0; i < v->n; i++)
		document_word(d, v->v[i]);
	json_array_end(&d->j);
}

/* Writes lists as arrays, numbers and booleans unchanged, and other values as the user typed
 * them. */
static void put_option(struct document *d, const struct opts *o, const struct option *row)
{
	struct sb b = sb_in(d->a);
	struct strs words;

	json_key(&d->j, str_of(row->name));
	opts_value(&b, o, row);
	switch (row->type) {
	case OPT_I32:
	case OPT_I64:
	case OPT_BOOL: json_literal(&d->j, sb_str(&b)); break;
	case OPT_PATTERNS: put_list(d, (const struct strs *)((const char *)o + row->at)); break;
	case OPT_SELECT:
	case OPT_STATS:
		words = str_split(d->a, sb_str(&b), ',');
		put_list(d, &words);
		break;
	default: document_word(d, sb_str(&b)); break;
	}
}

void document_options(struct document *d, const struct opts *o)
{
	document_key(d, "options");
	json_object(&d->j);
	for (const struct option *row = view_options; row; row = option_next(row))
		put_option(d, o, row);
	json_object_end(&d->j);
}

static void put_notes(struct document *d, const struct notes *n, size_t from, unsigned about)
{
	for (size_t i = from; n && i < n->list.n; i++)
		if (about & NOTE_BIT(n->list.v[i].about))
			document_word(d, note_text(d->a, &n->list.v[i]));
}

void document_warnings(struct document *d, const struct origin *from, const struct notes *command)
{
	document_key(d, "warnings");
	json_array(&d->j);
	put_notes(d, from->loading, 0, from->about);
	put_notes(d, from->building, 0, NOTES_ALL);
	put_notes(d, command, from->built, NOTES_ALL);
	json_array_end(&d->j);
}

void document_open(struct document *d, struct sink *s, const struct emit *to, const char *schema,
        int64_t version)
{
	document_begin(d, s, to->a, schema, version);
	document_sources(d, &to->from);
	document_warnings(d, &to->from, to->notes);
}

void document_column(struct document *d, const struct column *column)
{
	static const char *const types[] = { [COLUMN_TEXT] = "string",
		[COLUMN_LIST] = "array",
		[COLUMN_INTEGER] = "integer",
		[COLUMN_REAL] = "number",
		[COLUMN_BOOL] = "boolean" };

	document_text(d, "name", column->name);
	document_text(d, "type", str_of(types[column->type]));
	if (column->unit)
		document_text(d, "unit", str_of(column->unit));
}

static void put_columns(struct document *d, const struct column *columns, size_t n)
{
	document_key(d, "columns");
	json_array(&d->j);
	for (size_t i = 0; i < n; i++) {
		json_object(&d->j);
		document_column(d, &columns[i]);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

void document_rows(struct document *d, struct sheet *rows, const struct column *columns, size_t n)
{
	put_columns(d, columns, n);
	if (d->arrays) {
		sheet_open_arrays(rows, &d->j, d->a, columns, n);
		return;
	}
	document_key(d, "rows");
	json_array(&d->j);
	sheet_open_json(rows, &d->j, d->a, columns, n);
}

void document_rows_end(struct document *d, struct sheet *rows)
{
	sheet_close(rows);
	if (d->arrays)
		return;
	json_line(&d->j);
	json_array_end(&d->j);
}
