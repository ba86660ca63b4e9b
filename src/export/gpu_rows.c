/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_tables.h: the tables as text or as sheets.
 */
#include "export/gpu_tables.h"

/* Units of columns, as export/table.c knows them. */
static const char *const units[] = { [GPU_NS] = "ns",
	[GPU_BYTES] = "bytes",
	[GPU_RATE] = "bytes/s",
	[GPU_PERMILLE] = "permille",
	[GPU_THOUSANDTHS] = "thousandths" };

/* Makes the table with all its rows; in u->a. */
static struct table fill(const struct gpu_use *u, const struct gpu_table *t)
{
	struct column *columns = ARENA_ARRAY(u->a, GPU_COLUMNS_MAX, struct column);
	const char **titles = ARENA_ARRAY(u->a, GPU_COLUMNS_MAX, const char *);
	struct table x = { .a = u->a, .key = t->name, .columns = columns, .titles = titles };

	for (; x.n_columns < GPU_COLUMNS_MAX && t->columns[x.n_columns].name; x.n_columns++) {
		const struct gpu_column *c = &t->columns[x.n_columns];
		bool text = c->unit == GPU_TEXT;
		columns[x.n_columns] =
		        (struct column){ str_of(c->name), text ? COLUMN_TEXT : COLUMN_INTEGER,
			        c->unit == GPU_COUNT ? NULL : units[c->unit] };
		titles[x.n_columns] = c->title;
	}
	t->rows(u, &x);
	x.rows = x.cells.n / x.n_columns;
	return x;
}

void gpu_tables_text(
        const struct gpu_use *u, bool traces, size_t top, unsigned columns, struct sink *to)
{
	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct arena_mark m = arena_mark(u->a);
		if (!gpu_tables[i].apart && (gpu_tables[i].traces || !traces)) {
			struct table x = fill(u, &gpu_tables[i]);
			if (x.rows) {
				sink_fmt(to, "%s:\n", gpu_tables[i].title);
				table_put_text(&x, top, columns, to);
				gpu_put_rest(x.rows, top, to);
				sink_char(to, '\n');
			}
		}
		arena_reset(u->a, m);
	}
}

void gpu_put_rest(size_t rows, size_t top, struct sink *to)
{
	if (rows > top)
		sink_fmt(to, "and %zu more: --top=%zu\n", rows - top, rows);
}

/* ---- sheets ---- */

void gpu_tables_json(const struct gpu_use *u, bool traces, size_t top, struct document *d)
{
	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct sheet sheet;
		if (gpu_tables[i].apart || (traces && !gpu_tables[i].traces))
			continue;
		struct table x = fill(u, &gpu_tables[i]);
		document_key(d, x.key);
		json_array(&d->j);
		sheet_open_json(&sheet, &d->j, u->a, x.columns, x.n_columns);
		table_put_rows(&x, top, &sheet);
		sheet_close(&sheet);
		json_array_end(&d->j);
	}
}

void gpu_tables_sheet(const struct gpu_use *u, const struct gpu_table *table, size_t top,
        enum sheet_form form, struct sink *to)
{
	bool first = true;

	for (size_t i = 0; i < gpu_tables_n; i++) {
		struct sheet sheet;
		if (table && table != &gpu_tables[i])
			continue;
		struct table x = fill(u, &gpu_tables[i]);
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
