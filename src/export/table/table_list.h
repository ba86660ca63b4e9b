/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes columns_of_NAME and titles_of_NAME of each table in the file TABLE_LIST, which a source
 * file defines before it includes this header. A table is a row
 *
 *   TABLE(name, "title", columns)
 *
 * and a column a row of the macros below: the name in data, the heading in text, the unit. Text
 * that is too wide leaves out the columns SPARE, those with the largest numbers first. The function
 * put_NAME of the source file adds the cells of a row, in the order of the columns.
 */
#include "export/table/table.h"

#define NUMBER(name, title, unit)         SPARE(0, name, title, INTEGER, unit)
#define REAL(name, title, unit)           SPARE(0, name, title, REAL, unit) /* in hundredths of the unit */
#define TEXT(name, title)                 SPARE(0, name, title, TEXT, NULL)
#define SPARE(n, name, title, type, unit) COLUMN(n, name, title, COLUMN_##type, unit)

#define COLUMN(n, name, title, type, unit) { S(name), type, unit, n },
#define TABLE(name, title, ...)                                                                    \
	static const struct column columns_of_##name[] = { TEXT_COLUMN("worker"), __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE

#define COLUMN(n, name, title, type, unit) title,
#define TABLE(name, title, ...)            static const char *const titles_of_##name[] = { NULL, __VA_ARGS__ };
#include TABLE_LIST
#undef COLUMN
#undef TABLE
