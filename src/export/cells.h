/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells as bytes, which the sheet form SHEET_CELLS writes and arrow.h reads, so that the rows of
 * any result can be kept in memory and turned into batches later. Only for this process: nothing of
 * it is ever a file.
 *
 *   number of columns | for each: type, size of name, name, 1 + size of unit, unit | cells
 *   cell: 0 null | 1 number, 8 bytes | 2 text, size, bytes | 3 list, number of texts, each with
 * size
 */
#ifndef TFPROF_EXPORT_CELLS_H
#define TFPROF_EXPORT_CELLS_H

#include "base/str.h"
#include "io/sink.h"

/* ---- column ----
 *
 * A column of rows that are data: its name, its type and its unit.
 */

enum column_type { COLUMN_TEXT, COLUMN_LIST, COLUMN_INTEGER, COLUMN_REAL, COLUMN_BOOL };

struct column {
	struct str name;
	enum column_type type;
	const char *unit; /* NULL: none; numbers are not scaled by it */
};

/* ---- cells ---- */

enum { CELL_NULL, CELL_NUMBER, CELL_TEXT, CELL_LIST };

void cells_put_head(struct sink *to, const struct column *columns, size_t n);
void cells_put_null(struct sink *to);
void cells_put_i64(struct sink *to, int64_t v);
void cells_put_real(struct sink *to, double v);
void cells_put_text(struct sink *to, struct str s);
void cells_put_list(struct sink *to, const struct strs *v);

#endif
