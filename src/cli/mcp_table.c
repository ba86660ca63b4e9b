/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool table: rows of a view, filtered, sorted and paged. Rows come from cells (sheet.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/pattern.h"
#include "base/sort.h"
#include "cli/mcp.h"
#include "export/data/sheet.h"

#define LIMIT     50  /* default value of limit */
#define LETTERS   600 /* maximum bytes of a text in a row of default columns */
#define VALUES    10  /* maximum number of values that are listed after an = that no row has */
#define LISTED    60  /* maximum bytes of such a value */
#define TAIL_LEFT 60  /* tokens that are reserved for the end of the answer */

struct mcp_table {
	struct arena *a;
	struct cells cells;       /* contains the columns; their names have units */
	struct str *names;        /* names of the columns, with their units */
	struct cell_value *v;     /* cells, row by row */
	size_t n;                 /* number of rows */
	uint32_t *order;          /* order of the shown rows */
	size_t matched;           /* number of rows that pass the filter */
	struct str *ids;          /* ids of all rows */
	bool *shown;              /* indexed by column */
	VEC(uint32_t) zero, more; /* columns without values, and columns that are left out */
	VEC(uint32_t) unmet;      /* columns that the filter compares with a value no row has */
};

static const struct cell_value *cell(const struct mcp_table *t, uint32_t row, size_t column)
{
	return &t->v[row * t->cells.n + column];
}

static double number(const struct mcp_table *t, const struct cell_value *x, size_t column)
{
	return t->cells.columns[column].type == COLUMN_REAL ? x->real : (double)x->i;
}

/* ---- reading ---- */

static void read_rows(struct mcp_table *t)
{
	VEC(struct cell_value) v = { 0 };
	struct cell_value x;

	while (cells_take(&t->cells, &x))
		VEC_PUSH(t->a, &v, x);
	t->v = v.v;
	t->n = t->cells.n ? v.n / t->cells.n : 0;
	t->names = ARENA_ARRAY(t->a, t->cells.n, struct str);
	for (size_t i = 0; i < t->cells.n; i++)
		t->names[i] = mcp_name(t->a, t->cells.columns[i].name, t->cells.columns[i].unit);
}

/* True for columns of integers that name a row. */
static bool names_row(struct str name)
{
	static const char *const names[] = { "step", "gpu", "rank", "stream", "start_ns",
		"sequence" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

/* Makes the ids: a hash of the texts of a row, followed by a number for repeated texts. */
static void make_ids(struct mcp_table *t)
{
	struct sb b = sb_in(t->a);
	struct intern seen;
	VEC(unsigned) times = { 0 };

	intern_init(&seen, t->a);
	t->ids = ARENA_ARRAY(t->a, t->n, struct str);
	for (uint32_t r = 0; r < t->n; r++) {
		b.n = 0;
		for (size_t i = 0; i < t->cells.n; i++) {
			const struct cell_value *x = cell(t, r, i);
			if (x->kind == CELL_TEXT)
				sb_put(&b, x->text);
			else if (x->kind == CELL_NUMBER && names_row(t->names[i]))
				fmt_i64(&b, x->i);
			sb_char(&b, '\n');
		}
		struct str id = str_fmt(t->a, "r%08x", (unsigned)hash_bytes(b.p, b.n));
		uint32_t at = intern_add(&seen, id);
		if (at == times.n)
			VEC_PUSH(t->a, &times, 0);
		t->ids[r] =
		        ++times.v[at] == 1 ? id : str_fmt(t->a, "%.*s-%u", STR(id), times.v[at]);
	}
}

static bool find_column(struct mcp_call *c, const struct mcp_table *t, struct str name, size_t *out)
{
	struct strs names = { 0 };

	for (*out = 0; *out < t->cells.n; ++*out)
		if (str_eq(t->names[*out], name) || str_eq(t->cells.columns[*out].name, name))
			return true;
	for (size_t i = 0; i < t->cells.n; i++)
		strs_add(t->a, &names, t->names[i]);
	return mcp_refuse(c, "unknown column '%.*s'; the columns are %.*s", STR(name),
	        STR(strs_join(t->a, &names, S(", "))));
}

/* ---- filter ---- */

enum operator{ MATCHES, DIFFERS, EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST };
struct condition {
	size_t column; /* SIZE_MAX: any text */
	enum operator op;
	struct pattern_list *pattern;
	struct str text;
	double value;
	bool is_number;
};

/* Returns the operator at the start of a text, and its length. */
static bool read_operator(struct str s, enum operator* op, size_t *n)
{
	static const struct {
		const char *text;
		enum operator op;
	} rows[] = { { "!~", DIFFERS }, { "!=", UNEQUAL }, { "<=", AT_MOST }, { ">=", AT_LEAST },
		{ "==", EQUAL }, { "~", MATCHES }, { "=", EQUAL }, { "<", LESS },
		{ ">", GREATER } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		*op = rows[i].op;
		*n = strlen(rows[i].text);
		if (str_starts(s, str_of(rows[i].text)))
			return true;
	}
	return false;
}

static struct str trim(struct str s)
{
	while (s.n && char_is_blank(s.p[0]))
		s = str_sub(s, 1, SIZE_MAX);
	while (s.n && char_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool read_number(struct arena *a, struct str s, double *out)
{
	const char *z = str_z(a, s);
	char *end;

	*out = strtod(z, &end); /* the locale of the program is C */
	return s.n && !*end;
}

/* Reads "COLUMN OPERATOR VALUE", or a pattern for any text. */
static bool read_condition(
        struct mcp_call *c, const struct mcp_table *t, struct str given, struct condition *out)
{
	size_t n = 0, length = 0;

	*out = (struct condition){ .column = SIZE_MAX, .op = MATCHES };
	given = trim(given);
	while (n < given.n &&
	        (char_is_letter(given.p[n]) || char_is_digit(given.p[n]) || given.p[n] == '_'))
		n++;
	struct str rest = trim(str_sub(given, n, SIZE_MAX));
	if (n && read_operator(rest, &out->op, &length)) {
		if (!find_column(c, t, str_sub(given, 0, n), &out->column))
			return false;
		out->text = trim(str_sub(rest, length, SIZE_MAX));
	} else {
		out->op = MATCHES;
		out->text = given;
	}
	out->is_number = read_number(t->a, out->text, &out->value);
	if (out->op >= LESS && !out->is_number)
		return mcp_refuse(c, "filter '%.*s': a number is expected after %s", STR(given),
		        "the operator");
	if (out->op > DIFFERS)
		return true;
	if (pattern_compile_within(&out->pattern, t->a, out->text, &c->m->s->error))
		return true;
	c->refused = true;
	return false;
}

static bool matches(const struct condition *x, struct cell_value value)
{
	if (value.kind == CELL_TEXT)
		return pattern_match(x->pattern, value.text);
	while (value.kind == CELL_LIST && value.n)
		if (pattern_match(x->pattern, cell_list_take(&value)))
			return true;
	return false;
}

static bool equals(const struct mcp_table *t, const struct condition *x,
        const struct cell_value *value, size_t column)
{
	if (value->kind == CELL_TEXT)
		return str_eq(value->text, x->text);
	if (value->kind == CELL_NUMBER && t->cells.columns[column].type == COLUMN_BOOL)
		return str_eq(x->text, value->i ? S("true") : S("false"));
	return value->kind == CELL_NUMBER && x->is_number && number(t, value, column) == x->value;
}

static bool holds(const struct mcp_table *t, const struct condition *x, uint32_t row)
{
	if (x->column == SIZE_MAX) {
		for (size_t i = 0; i < t->cells.n; i++)
			if (matches(x, *cell(t, row, i)))
				return true;
		return false;
	}
	const struct cell_value *v = cell(t, row, x->column);
	double value = v->kind == CELL_NUMBER ? number(t, v, x->column) : 0;
	switch (x->op) {
	case MATCHES: return matches(x, *v);
	case DIFFERS: return !matches(x, *v);
	case EQUAL: return equals(t, x, v, x->column);
	case UNEQUAL: return !equals(t, x, v, x->column);
	case LESS: return v->kind == CELL_NUMBER && value < x->value;
	case AT_MOST: return v->kind == CELL_NUMBER && value <= x->value;
	case GREATER: return v->kind == CELL_NUMBER && value > x->value;
	default: return v->kind == CELL_NUMBER && value >= x->value;
	}
}

/* True if a condition compares a column, which is not in t->unmet yet, with a value no row has. */
static bool is_unmet(const struct mcp_table *t, const struct condition *x)
{
	if (x->op != EQUAL)
		return false;
	for (size_t i = 0; i < t->unmet.n; i++)
		if (t->unmet.v[i] == x->column)
			return false;
	for (uint32_t r = 0; r < t->n; r++)
		if (holds(t, x, r))
			return false;
	return true;
}

static bool filter(struct mcp_call *c, struct mcp_table *t)
{
	struct strs given = mcp_texts(c, "filter");
	struct condition *v = ARENA_ARRAY(t->a, given.n, struct condition);
	bool failed = false;

	t->order = ARENA_ARRAY(t->a, t->n, uint32_t);
	for (size_t i = 0; i < given.n; i++)
		if (!read_condition(c, t, given.v[i], &v[i]))
			return false;
	for (uint32_t r = 0; r < t->n; r++) {
		size_t i = 0;
		while (i < given.n && holds(t, &v[i], r))
			i++;
		if (i == given.n)
			t->order[t->matched++] = r;
	}
	for (size_t i = 0; i < given.n; i++) {
		if (!t->matched && is_unmet(t, &v[i]))
			VEC_PUSH(t->a, &t->unmet, (uint32_t)v[i].column);
		failed |= v[i].pattern && pattern_failed(v[i].pattern, &c->m->s->error);
		if (v[i].pattern)
			pattern_free(v[i].pattern);
	}
	return !failed;
}

/* ---- order ---- */

struct sorting {
	const struct mcp_table *t;
	size_t column;
	bool down;
};

/* Compares two rows; rows without a value come last. */
static int compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct sorting *x = ctx;
	const struct cell_value *l = cell(x->t, x->t->order[a], x->column);
	const struct cell_value *r = cell(x->t, x->t->order[b], x->column);
	int order;

	if (!l->kind || !r->kind)
		return !l->kind - !r->kind;
	if (l->kind == CELL_NUMBER && r->kind == CELL_NUMBER) {
		double p = number(x->t, l, x->column), q = number(x->t, r, x->column);
		order = (p > q) - (p < q);
	} else {
		order = str_cmp(l->text, r->text);
	}
	return x->down ? -order : order;
}

/* Returns the column by which rows of nodes are sorted: the first total that is not 0 everywhere.
 */
static size_t main_column(const struct mcp_table *t)
{
	for (size_t i = 0; i < t->cells.n; i++)
		for (uint32_t r = 0; r < t->n && str_starts(t->names[i], S("total_")); r++)
			if (cell(t, r, i)->kind == CELL_NUMBER && number(t, cell(t, r, i), i) != 0)
				return i;
	return SIZE_MAX;
}

static bool sort(struct mcp_call *c, struct mcp_table *t, bool nodes)
{
	struct str given = mcp_text(c, "sort");
	struct sorting x = { .t = t, .column = SIZE_MAX };

	if (given.n) {
		x.down = given.p[0] == '-';
		if (!find_column(c, t, x.down ? str_sub(given, 1, SIZE_MAX) : given, &x.column))
			return false;
	} else if (nodes) {
		x.column = main_column(t);
		x.down = true;
	}
	if (x.column == SIZE_MAX)
		return true;
	const uint32_t *by = sort_order(t->a, t->matched, compare, &x);
	uint32_t *sorted = ARENA_ARRAY(t->a, t->matched, uint32_t);
	for (size_t i = 0; i < t->matched; i++)
		sorted[i] = t->order[by[i]];
	t->order = sorted;
	return true;
}

/* ---- columns ---- */

static bool has_value(const struct mcp_table *t, size_t column)
{
	for (size_t i = 0; i < t->matched; i++) {
		const struct cell_value *x = cell(t, t->order[i], column);
		if (x->kind == CELL_TEXT || (x->kind == CELL_LIST && x->n) ||
		        (x->kind == CELL_NUMBER && number(t, x, column) != 0))
			return true;
	}
	return false;
}

/* Chooses the columns: the columns that the call names, or all columns that have values, without
 * lists, flags and sums that depend on the order. */
static bool choose_columns(struct mcp_call *c, struct mcp_table *t)
{
	struct strs given = mcp_texts(c, "columns");
	size_t column;

	t->shown = ARENA_ARRAY(t->a, t->cells.n, bool);
	for (size_t i = 0; i < given.n; i++) {
		if (!find_column(c, t, given.v[i], &column))
			return false;
		t->shown[column] = true;
	}
	for (uint32_t i = 0; !given.n && i < t->cells.n; i++) {
		enum column_type type = t->cells.columns[i].type;
		if (type == COLUMN_LIST || type == COLUMN_BOOL ||
		        str_ends(t->names[i], S("_definitions")) ||
		        str_starts(t->names[i], S("cumulative_")))
			VEC_PUSH(t->a, &t->more, i);
		else if (!has_value(t, i))
			VEC_PUSH(t->a, &t->zero, i);
		else
			t->shown[i] = true;
	}
	return true;
}

/* ---- writing ---- */

static void write_text(struct mcp_call *c, struct json *j, struct str text, bool whole)
{
	struct sb b = sb_in(c->a);

	if (!whole && text.n > LETTERS)
		text = str_fmt(c->a, "%.*s...", STR(str_sub(text, 0, LETTERS)));
	json_bytes(j, &b, text);
}

static void write_cell(
        struct mcp_call *c, const struct mcp_table *t, struct json *j, uint32_t row, size_t column)
{
	struct cell_value x = *cell(t, row, column);
	enum column_type type = t->cells.columns[column].type;
	struct sb b = sb_in(c->a);
	bool whole = mcp_texts(c, "columns").n > 0;

	if (x.kind == CELL_TEXT) {
		write_text(c, j, x.text, whole);
	} else if (x.kind == CELL_LIST) {
		json_array(j);
		while (x.n)
			json_bytes(j, &b, cell_list_take(&x));
		json_array_end(j);
	} else if (x.kind == CELL_NULL) {
		json_literal(j, S("null"));
	} else if (type == COLUMN_REAL) {
		fmt_real(&b, x.real);
		json_literal(j, sb_str(&b));
	} else if (type == COLUMN_BOOL) {
		json_literal(j, x.i ? S("true") : S("false"));
	} else {
		json_i64(j, x.i);
	}
}

/* Returns a row as JSON. */
static struct str row_text(struct mcp_call *c, const struct mcp_table *t, uint32_t row)
{
	struct sink *to = sink_memory(c->a);
	struct json j;

	json_init(&j, to);
	json_object(&j);
	json_key(&j, S("id"));
	json_string(&j, t->ids[row]);
	for (size_t i = 0; i < t->cells.n; i++) {
		if (!t->shown[i] || cell(t, row, i)->kind == CELL_NULL)
			continue;
		json_key(&j, t->names[i]);
		write_cell(c, t, &j, row, i);
	}
	json_object_end(&j);
	sink_flush(to);
	return sink_text(to);
}

/* Returns the name of a row, for use with peek. */
static struct str name_of(const struct mcp_table *t, uint32_t row)
{
	static const char *const names[] = { "path", "name", "op", "place", "type" };

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		for (size_t i = 0; i < t->cells.n; i++)
			if (str_eq(t->cells.columns[i].name, str_of(names[k])) &&
			        cell(t, row, i)->kind == CELL_TEXT)
				return cell(t, row, i)->text;
	return STR_NONE;
}

/* Stores the name of a row that is shown. */
static void remember(struct mcp_file *f, const struct mcp_table *t, uint32_t row)
{
	struct str name = name_of(t, row);

	if (!f->rows)
		f->rows = calloc(MCP_ROWS_MAX, sizeof *f->rows);
	char *copy = f->rows && name.n ? malloc(name.n + 1) : NULL;
	if (!copy)
		return;
	memcpy(copy, name.p, name.n);
	copy[name.n] = 0;
	struct mcp_row *to = &f->rows[f->n_rows++ % MCP_ROWS_MAX];
	free(to->name);
	to->name = copy;
	snprintf(to->id, sizeof to->id, "%.*s", STR(t->ids[row]));
}

static void write_columns(
        const struct mcp_table *t, struct json *j, const char *key, const uint32_t *v, size_t n)
{
	if (!n)
		return;
	json_key(j, str_of(key));
	json_array(j);
	for (size_t i = 0; i < n; i++)
		json_string(j, t->names[v[i]]);
	json_array_end(j);
}

static bool is_among(const struct strs *v, struct str s)
{
	for (size_t i = 0; i < v->n; i++)
		if (str_eq(v->v[i], s))
			return true;
	return false;
}

/* Finds the different texts of a column. Returns false if they are many or long, or not texts. */
static bool find_values(const struct mcp_table *t, uint32_t column, struct strs *out)
{
	for (uint32_t r = 0; r < t->n; r++) {
		const struct cell_value *x = cell(t, r, column);
		if (x->kind != CELL_TEXT || x->text.n > LISTED)
			return false;
		if (is_among(out, x->text))
			continue;
		if (out->n == VALUES)
			return false;
		strs_add(t->a, out, x->text);
	}
	return out->n;
}

/* Writes the values of the columns whose wanted value no row has. */
static void write_values(struct mcp_call *c, const struct mcp_table *t, struct json *j)
{
	bool begun = false;

	for (size_t i = 0; i < t->unmet.n; i++) {
		struct strs values = { 0 };
		if (!find_values(t, t->unmet.v[i], &values))
			continue;
		if (!begun) {
			json_key(j, S("values"));
			json_object(j);
		}
		begun = true;
		json_key(j, t->names[t->unmet.v[i]]);
		json_array(j);
		for (size_t k = 0; k < values.n; k++)
			write_text(c, j, values.v[k], true);
		json_array_end(j);
	}
	if (begun)
		json_object_end(j);
}

static void write_count(struct json *j, const char *key, size_t n)
{
	json_key(j, str_of(key));
	json_i64(j, (int64_t)n);
}

/* Writes the rows from `offset` on, up to the limit and the budget. Returns their number. */
static size_t write_rows(struct mcp_call *c, struct mcp_file *f, const struct mcp_table *t,
        struct json *j, size_t offset, size_t limit)
{
	size_t used = mcp_tokens(sink_text(c->out)) + TAIL_LEFT, n = 0;
	struct sink *next = sink_memory(c->a);
	struct json own;

	json_init(&own, next);
	json_object(&own);
	mcp_write_next(c, &own, "offset", (int64_t)t->n);
	json_object_end(&own);
	sink_flush(next);
	used += mcp_tokens(sink_text(next));
	json_key(j, S("rows"));
	json_array(j);
	for (; n < limit && offset + n < t->matched; n++) {
		struct str row = row_text(c, t, t->order[offset + n]);
		used += mcp_tokens(row) + 1;
		if (used > c->budget && n)
			break;
		json_literal(j, row);
		remember(f, t, t->order[offset + n]);
	}
	json_array_end(j);
	return n;
}

static bool write_table(struct mcp_call *c, struct mcp_file *f, const struct mcp_table *t,
        struct str notes, size_t offset, size_t limit)
{
	struct json j;

	json_init(&j, c->out);
	json_object(&j);
	json_key(&j, S("view"));
	json_string(&j, mcp_text(c, "view"));
	write_count(&j, "total", t->matched);
	if (t->matched < t->n)
		write_count(&j, "without_filter", t->n);
	write_values(c, t, &j);
	write_count(&j, "offset", offset);
	if (notes.n) {
		json_key(&j, S("notes"));
		write_text(c, &j, notes, false);
	}
	write_columns(t, &j, "all_zero", t->zero.v, t->matched ? t->zero.n : 0);
	write_columns(t, &j, "more_columns", t->more.v, t->more.n);
	sink_flush(c->out);
	size_t n = write_rows(c, f, t, &j, offset, limit);
	bool left = offset + n < t->matched;
	write_count(&j, "shown", n);
	json_key(&j, S("truncated"));
	json_literal(&j, left ? S("true") : S("false"));
	if (left)
		mcp_write_next(c, &j, "offset", (int64_t)(offset + n));
	json_object_end(&j);
	return true;
}

/* ---- the tool ---- */

/* Runs a command so that its cells contain all rows. */
static bool run_whole(struct mcp_call *c, struct mcp_file *f, const struct command *command,
        struct mcp_result *out)
{
	struct strs words = { 0 };

	strs_add(c->a, &words, str_of(command->name));
	if (command->table)
		strs_add(c->a, &words, S("--top=0"));
	if (command->run == run_top) {
		strs_add(c->a, &words, S("-n"));
		strs_add(c->a, &words, S("0"));
	}
	if (command->view) {
		strs_add(c->a, &words, S("-max_depth"));
		strs_add(c->a, &words, S("1000000"));
	}
	return mcp_run(c, f, NULL, &words, true, out);
}

void mcp_prepare_tables(struct mcp_call *c, struct mcp_file *f)
{
	static const char *const slow[] = { "devices", "idle", "critical" };
	struct mcp_result unused;

	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
		run_whole(c, f, cmd_find(f->s, str_of(slow[i])), &unused);
	c->m->s->error = (struct err){ .a = &c->m->s->query_arena };
}

bool mcp_tool_table(struct mcp_call *c)
{
	struct mcp_file *f = mcp_open(c->m, mcp_text(c, "file"));
	struct mcp_table t = { .a = c->a };
	struct mcp_result r;
	int64_t limit = LIMIT, offset = 0;

	if (!f)
		return false;
	const struct command *command = cmd_find(f->s, mcp_text(c, "view"));
	mcp_number(c, "limit", &limit);
	mcp_number(c, "offset", &offset);
	if (limit < 1 || offset < 0)
		return mcp_refuse(c, "limit must be at least 1, and offset at least 0");
	if (!run_whole(c, f, command, &r))
		return false;
	cells_open(&t.cells, r.bytes, t.a);
	read_rows(&t);
	make_ids(&t);
	return filter(c, &t) && sort(c, &t, command && command->view) && choose_columns(c, &t) &&
	       write_table(c, f, &t, r.notes, (size_t)offset, (size_t)limit);
}
