/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h: rows as text or as a sheet.
 */
#include "base/fmt.h"
#include "export/gpu_out.h"
#include "export/gpu_tables.h"

struct gpu_rows {
	struct arena *a;
	const struct gpu_table *table;
	size_t n, at;        /* columns; the next cell's */
	struct sheet *sheet; /* NULL: cells are kept for the text */
	struct strs cells;
	size_t rows, limit; /* given; to be written */
};

static size_t column_count(const struct gpu_table *t)
{
	size_t n = 0;

	while (n < GPU_COLUMNS_MAX && t->columns[n].name)
		n++;
	return n;
}

static void begin_rows(
        struct gpu_rows *r, const struct gpu_use *u, const struct gpu_table *t, size_t limit)
{
	*r = (struct gpu_rows){ .a = u->a, .table = t, .n = column_count(t), .limit = limit };
}

static void end_cell(struct gpu_rows *r)
{
	if (++r->at == r->n) {
		r->at = 0;
		r->rows++;
	}
}

static struct str number_text(struct gpu_rows *r, int64_t v)
{
	struct sb b = sb_in(r->a);

	switch (r->table->columns[r->at].unit) {
	case GPU_NS: return str_of(gpu_time_text(r->a, (double)v));
	case GPU_BYTES: fmt_bytes(&b, v); return sb_str(&b);
	case GPU_PERMILLE: return str_fmt(r->a, "%.1f%%", (double)v / 10);
	case GPU_RATE: return str_fmt(r->a, "%.2f GB/s", (double)v / 1e9);
	case GPU_THOUSANDTHS: return str_fmt(r->a, "%.2f", (double)v / 1000);
	default: return str_fmt(r->a, "%lld", (long long)v);
	}
}

void gpu_put(struct gpu_rows *r, int64_t v)
{
	if (r->rows >= r->limit)
		;
	else if (r->sheet)
		sheet_i64(r->sheet, v);
	else
		strs_add(r->a, &r->cells, number_text(r, v));
	end_cell(r);
}

void gpu_put_null(struct gpu_rows *r)
{
	if (r->rows >= r->limit)
		;
	else if (r->sheet)
		sheet_null(r->sheet);
	else
		strs_add(r->a, &r->cells, S("-"));
	end_cell(r);
}

void gpu_put_text(struct gpu_rows *r, struct str s)
{
	struct sb b = sb_in(r->a);

	if (r->rows >= r->limit) {
		;
	} else if (r->sheet) {
		sheet_text(r->sheet, s);
	} else {
		sb_put_name(&b, s);
		strs_add(r->a, &r->cells, sb_str(&b));
	}
	end_cell(r);
}

/* ---- text ---- */

/* Numbers stand to the right of their column, texts to the left. */
static void put_line(
        struct gpu_rows *r, const struct str *cells, const size_t *widths, struct sink *to)
{
	for (size_t i = 0; i < r->n; i++) {
		int pad = (int)(widths[i] - (cells[i].n < widths[i] ? cells[i].n : widths[i]));
		bool text = r->table->columns[i].unit == GPU_TEXT;
		sink_put(to, i ? S("  ") : STR_NONE);
		if (!text)
			sink_fmt(to, "%*s", pad, "");
		sink_put(to, cells[i]);
		if (text && i + 1 < r->n)
			sink_fmt(to, "%*s", pad, "");
	}
	sink_char(to, '\n');
}

static void put_text_table(struct gpu_rows *r, unsigned columns, struct sink *to)
{
	struct str heads[GPU_COLUMNS_MAX];
	size_t widths[GPU_COLUMNS_MAX], before = 0;

	for (size_t i = 0; i < r->n; i++) {
		heads[i] = str_of(r->table->columns[i].title);
		widths[i] = heads[i].n;
	}
	for (size_t i = 0; i < r->cells.n; i++)
		if (r->cells.v[i].n > widths[i % r->n])
			widths[i % r->n] = r->cells.v[i].n;
	for (size_t i = 0; i + 1 < r->n; i++)
		before += widths[i] + 2;
	for (size_t i = r->n - 1; columns && i < r->cells.n; i += r->n)
		r->cells.v[i] =
		        gpu_shorten(r->a, r->cells.v[i], columns > before ? columns - before : 0);
	sink_fmt(to, "%s:\n", r->table->title);
	put_line(r, heads, widths, to);
	for (size_t i = 0; i < r->cells.n; i += r->n)
		put_line(r, r->cells.v + i, widths, to);
	if (r->rows > r->limit)
		sink_fmt(to, "and %zu more: --top=%zu\n", r->rows - r->limit, r->rows);
	sink_char(to, '\n');
}

void gpu_tables_text(const struct gpu_use *u, size_t top, unsigned columns, struct sink *to)
{
	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct arena_mark m = arena_mark(u->a);
		struct gpu_rows r;
		if (gpu_tables[i].apart)
			continue;
		begin_rows(&r, u, &gpu_tables[i], top);
		gpu_tables[i].rows(u, &r);
		if (r.rows)
			put_text_table(&r, columns, to);
		arena_reset(u->a, m);
	}
}

/* ---- sheets ---- */

static struct column *sheet_columns(const struct gpu_rows *r)
{
	struct column *c = ARENA_ARRAY(r->a, r->n, struct column);

	for (size_t i = 0; i < r->n; i++) {
		const struct gpu_column *x = &r->table->columns[i];
		c[i] = (struct column){ str_of(x->name),
			x->unit == GPU_TEXT ? COLUMN_TEXT : COLUMN_INTEGER, NULL };
	}
	return c;
}

void gpu_tables_json(const struct gpu_use *u, size_t top, struct document *d)
{
	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct sheet sheet;
		struct gpu_rows r;
		if (gpu_tables[i].apart)
			continue;
		begin_rows(&r, u, &gpu_tables[i], top);
		r.sheet = &sheet;
		document_key(d, gpu_tables[i].name);
		json_array(&d->j);
		sheet_open_json(&sheet, &d->j, u->a, sheet_columns(&r), r.n);
		gpu_tables[i].rows(u, &r);
		sheet_close(&sheet);
		json_array_end(&d->j);
	}
}

static void put_sheet(const struct gpu_use *u, const struct gpu_table *t, size_t top,
        enum sheet_form form, struct sink *to)
{
	struct sheet sheet;
	struct gpu_rows r;

	begin_rows(&r, u, t, top);
	r.sheet = &sheet;
	sheet_open(&sheet, form, to, u->a, sheet_columns(&r), r.n);
	t->rows(u, &r);
	sheet_close(&sheet);
}

static bool is_empty(const struct gpu_use *u, const struct gpu_table *t)
{
	struct arena_mark m = arena_mark(u->a);
	struct gpu_rows r;

	begin_rows(&r, u, t, 0);
	t->rows(u, &r);
	arena_reset(u->a, m);
	return !r.rows;
}

void gpu_tables_sheet(const struct gpu_use *u, const struct gpu_table *table, size_t top,
        enum sheet_form form, struct sink *to)
{
	bool first = true;

	if (table) {
		put_sheet(u, table, top, form, to);
		return;
	}
	for (size_t i = 0; i < gpu_tables_n; i++) {
		if (is_empty(u, &gpu_tables[i]))
			continue;
		sink_fmt(to, "%s## %s\n\n", first ? "" : "\n", gpu_tables[i].title);
		put_sheet(u, &gpu_tables[i], top, form, to);
		first = false;
	}
}
