/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes columns_of_NAME and titles_of_NAME of each table in the file TABLE_LIST, which a source
 * file defines before it includes this header. A table is a row
 *
 *   TABLE(name, "title", columns)
 *
 * and a column a row of the macros below: the name in data, the heading in text, the unit. The
 * function put_NAME of the source file adds the cells of a row, in the order of the columns.
 */
#include "export/table/table.h"

#define NUMBER(name, title, unit) COLUMN(name, title, COLUMN_INTEGER, unit)
#define REAL(name, title, unit)                                                                    \
	COLUMN(name, title, COLUMN_REAL, unit) /* in hundredths of the unit */
#define TEXT(name, title) COLUMN(name, title, COLUMN_TEXT, NULL)

#define COLUMN(name, title, type, unit) { S(name), type, unit },
#define TABLE(name, title, ...)                                                                    \
	static const struct column columns_of_##name[] = { TEXT_COLUMN("worker"), __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE

#define COLUMN(name, title, type, unit) title,
#define TABLE(name, title, ...)         static const char *const titles_of_##name[] = { NULL, __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE
