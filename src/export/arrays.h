/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as parallel arrays, one for each column, and one table of strings: what a page reads instead
 * of one object per row. Members of the document that is open (docs/schema/arrays.json):
 *
 *   count      rows
 *   shared     for each string, UTF-16 units that it has in common with the string before it
 *   rest       for each string, the units after those
 *   lists      arrays of strings' indices
 *   arrays     one array per column: numbers, 0 and 1, or indices; null is null. A column of equal
 *              values is that value alone; one that is mostly equal to an earlier column is
 *              {base: column, rows: differences from row to row, values: of those rows};
 *              one with small differences from row to row is {steps: those}
 */
#ifndef TFPROF_EXPORT_ARRAYS_H
#define TFPROF_EXPORT_ARRAYS_H

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "io/json_out.h"

#define ARRAYS_NULL INT64_MIN /* a cell without a value; a real one is written as null, too */

struct arrays {
	struct arena *a;
	size_t n_columns;
	const bool *real;   /* of each column: its cells are bits of a double */
	VEC(int64_t) cells; /* row by row */
	struct intern strings, lists;
	struct sb text;
	VEC(uint32_t) ids; /* of the list at hand */
};

void arrays_init(struct arrays *x, struct arena *a, const bool *real, size_t n_columns);

/* The next cell. */
void arrays_i64(struct arrays *x, int64_t v);
void arrays_real(struct arrays *x, double v);
void arrays_text(struct arrays *x, struct str s); /* any bytes; invalid UTF-8 as \xNN */
void arrays_list(struct arrays *x, const struct strs *v);

/* Writes the members into the object that is open. */
void arrays_write(const struct arrays *x, struct json *j);

#endif
