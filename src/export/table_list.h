/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes columns_of_NAME, titles_of_NAME and put_NAME (which adds a row) of each table in the file
 * TABLE_LIST, which a source file defines before it includes this header. A table is a row
 *
 *   TABLE(name, "title", (parameters of put_name; the last one is struct table *to), columns)
 *
 * and a column a row of the macros below: the name in data, the heading in text, the unit, and the
 * value, an expression of the parameters.
 */
#include "export/table.h"

#define NUMBER(name, title, unit, v) COLUMN(name, title, COLUMN_INTEGER, unit, table_number(to, v))
#define NUMBER_IF(name, title, unit, known, v)                                                     \
	COLUMN(name, title, COLUMN_INTEGER, unit, (known) ? table_number(to, v) : table_null(to))
#define COUNT(name, title, v) NUMBER(name, title, NULL, num_from_u64(v))
#define QUANTILE(name, title, h, thousandths)                                                      \
	NUMBER_IF(name, title, "ns", (h)->n, hist_quantile(h, thousandths))
/* v: in hundredths of the unit. */
#define REAL(name, title, unit, v) COLUMN(name, title, COLUMN_REAL, unit, table_number(to, v))
#define REAL_IF(name, title, unit, known, v)                                                       \
	COLUMN(name, title, COLUMN_REAL, unit, (known) ? table_number(to, v) : table_null(to))
#define TEXT(name, title, v) COLUMN(name, title, COLUMN_TEXT, NULL, table_text(to, v))
#define TEXT_IF(name, title, known, v)                                                             \
	COLUMN(name, title, COLUMN_TEXT, NULL, (known) ? table_text(to, v) : table_null(to))

#define COLUMN(name, title, type, unit, put) { S(name), type, unit },
#define TABLE(name, title, row, ...)                                                               \
	static const struct column columns_of_##name[] = { TEXT_COLUMN("worker"), __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE

#define COLUMN(name, title, type, unit, put) title,
#define TABLE(name, title, row, ...)                                                               \
	static const char *const titles_of_##name[] = { NULL, __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE

#define COLUMN(name, title, type, unit, put) put;
#define TABLE(name, title, row, ...)                                                               \
	static void put_##name row                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#include TABLE_LIST
#undef TABLE
