/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the cells of a sheet into batches.
 */
#include "export/arrow/arrow.h"

static void put_number(struct arrow_build *to, const struct cell_value *x, enum column_type type)
{
	if (type == COLUMN_REAL)
		arrow_real(to, x->real);
	else if (type == COLUMN_BOOL)
		arrow_bool(to, x->i != 0);
	else
		arrow_i64(to, x->i);
}

static void put_list(struct arrow_build *to, struct cell_value *x, struct arena *scratch)
{
	struct arena_mark m = arena_mark(scratch);
	struct strs v = { 0 };

	while (x->n)
		strs_add(scratch, &v, cell_list_take(x));
	arrow_list(to, &v);
	arena_reset(scratch, m);
}

void cells_fill(struct cells *c, struct arrow_build *to, struct arena *scratch)
{
	struct cell_value x;

	while ((c->at || !arrow_full(to)) && c->p < c->end) {
		enum column_type type = c->columns[c->at].type;
		cells_take(c, &x);
		switch (x.kind) {
		case CELL_NUMBER: put_number(to, &x, type); break;
		case CELL_TEXT: arrow_text(to, x.text); break;
		case CELL_LIST: put_list(to, &x, scratch); break;
		default: arrow_null(to);
		}
	}
}
