/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h: the tables as text or as sheets.
 */
#include "export/gpu_tables.h"

#include "base/sort.h"

/* Units of columns, as export/table.c knows them. */
static const char *const units[] = { [GPU_NS] = "ns",
	[GPU_BYTES] = "bytes",
	[GPU_RATE] = "bytes/s",
	[GPU_PERMILLE] = "permille",
	[GPU_THOUSANDTHS] = "thousandths" };

/* The place of a row: its worker's rows and its number among them. */
struct row_at {
	const struct table_cell *cells;
	struct str worker;
};

static int by_first_number(const void *rows, uint32_t a, uint32_t b)
{
	const struct row_at *x = (const struct row_at *)rows + a,
	                    *y = (const struct row_at *)rows + b;

	return (x->cells->number < y->cells->number) - (x->cells->number > y->cells->number);
}

/* Adds the rows of several workers, each with its worker. Rows by time stay in that order. */
static void fill_workers(
        const struct gpu_workers *all, const struct gpu_table *t, size_t n_columns, struct table *x)
{
	VEC(struct row_at) rows = { .n = 0 };

	for (size_t i = 0; i < all->n; i++) {
		struct table part = { .a = x->a };
		t->rows(all->v[i].u, &part);
		for (size_t k = 0; k + n_columns <= part.cells.n; k += n_columns)
			VEC_PUSH(
			        x->a, &rows, ((struct row_at){ &part.cells.v[k], all->v[i].name }));
	}
	const uint32_t *order = sort_order(x->a, rows.n, by_first_number, rows.v);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row_at *row =
		        &rows.v[t->columns[0].unit == GPU_NS ? order[i] : (uint32_t)i];
		table_text(x, row->worker);
		for (size_t k = 0; k < n_columns; k++)
			VEC_PUSH(x->a, &x->cells, row->cells[k]);
	}
}

/* Makes the table with all its rows; in the arena of the first worker. */
static struct table fill(const struct gpu_workers *all, const struct gpu_table *t)
{
	struct arena *a = all->v[0].u->a;
	struct column *columns = ARENA_ARRAY(a, GPU_COLUMNS_MAX + 1, struct column);
	const char **titles = ARENA_ARRAY(a, GPU_COLUMNS_MAX + 1, const char *);
	struct table x = { .a = a, .key = t->name, .columns = columns, .titles = titles };
	bool named = all->v[0].name.p;

	if (named) {
		columns[0] = (struct column){ S("worker"), COLUMN_TEXT, NULL };
		titles[0] = "worker";
	}
	for (; x.n_columns < GPU_COLUMNS_MAX && t->columns[x.n_columns].name; x.n_columns++) {
		const struct gpu_column *c = &t->columns[x.n_columns];
		bool text = c->unit == GPU_TEXT;
		columns[x.n_columns + named] =
		        (struct column){ str_of(c->name), text ? COLUMN_TEXT : COLUMN_INTEGER,
			        c->unit == GPU_COUNT ? NULL : units[c->unit] };
		titles[x.n_columns + named] = c->title;
	}
	if (named)
		fill_workers(all, t, x.n_columns++, &x);
	else
		t->rows(all->v[0].u, &x);
	x.rows = x.cells.n / x.n_columns;
	return x;
}

void gpu_tables_text(
        const struct gpu_workers *all, bool traces, size_t top, unsigned columns, struct sink *to)
{
	struct arena *a = all->v[0].u->a;

	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct arena_mark m = arena_mark(a);
		if (!gpu_tables[i].apart && (gpu_tables[i].traces || !traces)) {
			struct table x = fill(all, &gpu_tables[i]);
			if (x.rows) {
				sink_fmt(to, "%s:\n", gpu_tables[i].title);
				table_put_text(&x, top, columns, to);
				gpu_put_rest(x.rows, top, to);
				sink_char(to, '\n');
			}
		}
		arena_reset(a, m);
	}
}

void gpu_put_rest(size_t rows, size_t top, struct sink *to)
{
	if (rows > top)
		sink_fmt(to, "and %zu more: --top=%zu\n", rows - top, rows);
}

/* ---- sheets ---- */

void gpu_tables_json(const struct gpu_workers *all, bool traces, size_t top, struct document *d)
{
	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct sheet sheet;
		if (gpu_tables[i].apart || (traces && !gpu_tables[i].traces))
			continue;
		struct table x = fill(all, &gpu_tables[i]);
		document_key(d, x.key);
		json_array(&d->j);
		sheet_open_json(&sheet, &d->j, x.a, x.columns, x.n_columns);
		table_put_rows(&x, top, &sheet);
		sheet_close(&sheet);
		json_array_end(&d->j);
	}
}

void gpu_tables_sheet(const struct gpu_use *u, const struct gpu_table *table, size_t top,
        enum sheet_form form, struct sink *to)
{
	const struct gpu_workers one = { &(struct gpu_worker){ .u = u }, 1 };
	bool first = true;

	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct sheet sheet;
		if (table && table != &gpu_tables[i])
			continue;
		struct table x = fill(&one, &gpu_tables[i]);
		if (!table && !x.rows)
			continue;
		if (!table)
			sink_fmt(to, "%s## %s\n\n", first ? "" : "\n", gpu_tables[i].title);
		sheet_open(&sheet, form, to, u->a, x.columns, x.n_columns);
		table_put_rows(&x, top, &sheet);
		sheet_close(&sheet);
		first = false;
	}
}
