/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the cells of a sheet again. The bytes are our own, so nothing is checked.
 */
#include "export/arrow/arrow.h"

#include "base/bits.h"

static size_t get_size(struct cells *c)
{
	uint64_t n = 0;

	varint_get(&c->p, c->end, &n);
	return (size_t)n;
}

static struct str get_sized(struct cells *c)
{
	size_t n = get_size(c);
	struct str s = str_make(c->p, n);

	c->p += n;
	return s;
}

void cells_open(struct cells *c, struct str bytes, struct arena *a)
{
	*c = (struct cells){ .p = (const uint8_t *)bytes.p };
	c->end = c->p + bytes.n;
	c->n = bytes.n ? get_size(c) : 0;
	c->columns = ARENA_ARRAY(a, c->n, struct column);
	for (size_t i = 0; i < c->n; i++) {
		c->columns[i].type = (enum column_type) * c->p++;
		c->columns[i].name = get_sized(c);
		size_t unit = get_size(c);
		c->columns[i].unit = unit ? (const char *)c->p : NULL;
		c->p += unit;
	}
}

static void take_number(struct cells *c, struct arrow_build *to, enum column_type type)
{
	int64_t v;
	double real;

	memcpy(&v, c->p, sizeof v);
	memcpy(&real, c->p, sizeof real);
	c->p += sizeof v;
	if (type == COLUMN_REAL)
		arrow_real(to, real);
	else if (type == COLUMN_BOOL)
		arrow_bool(to, v != 0);
	else
		arrow_i64(to, v);
}

static void take_list(struct cells *c, struct arrow_build *to, struct arena *scratch)
{
	struct arena_mark m = arena_mark(scratch);
	struct strs v = { 0 };

	for (size_t n = get_size(c); n; n--)
		strs_add(scratch, &v, get_sized(c));
	arrow_list(to, &v);
	arena_reset(scratch, m);
}

void cells_fill(struct cells *c, struct arrow_build *to, struct arena *scratch)
{
	while (c->p < c->end && !arrow_full(to)) {
		for (size_t i = 0; i < c->n; i++) {
			switch (*c->p++) {
			case CELL_NUMBER: take_number(c, to, c->columns[i].type); break;
			case CELL_TEXT: arrow_text(to, get_sized(c)); break;
			case CELL_LIST: take_list(c, to, scratch); break;
			default: arrow_null(to);
			}
		}
	}
}
