/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the cells of a sheet again. tfprof itself wrote the bytes, so nothing is checked.
 */
#include "export/data/sheet.h"

#include "base/bits.h"

static size_t get_size(const uint8_t **p, const uint8_t *end)
{
	uint64_t n = 0;

	varint_get(p, end, &n);
	return (size_t)n;
}

static struct str get_sized(const uint8_t **p, const uint8_t *end)
{
	size_t n = get_size(p, end);
	struct str s = str_make(*p, n);

	*p += n;
	return s;
}

void cells_open(struct cells *c, struct str bytes, struct arena *a)
{
	*c = (struct cells){ .p = (const uint8_t *)bytes.p };
	c->end = c->p + bytes.n;
	c->n = bytes.n ? get_size(&c->p, c->end) : 0;
	c->columns = ARENA_ARRAY(a, c->n, struct column);
	for (size_t i = 0; i < c->n; i++) {
		c->columns[i].type = (enum column_type) * c->p++;
		c->columns[i].name = get_sized(&c->p, c->end);
		size_t unit = get_size(&c->p, c->end);
		c->columns[i].unit = unit ? (const char *)c->p : NULL;
		c->p += unit;
	}
}

static void take_number(struct cells *c, struct cell_value *to)
{
	if (c->columns[c->at].type == COLUMN_REAL)
		memcpy(&to->real, c->p, sizeof to->real);
	else
		memcpy(&to->i, c->p, sizeof to->i);
	c->p += sizeof to->i;
}

/* Takes the texts of a list in their encoded form. */
static void take_list(struct cells *c, struct cell_value *to)
{
	const uint8_t *begin;

	to->n = get_size(&c->p, c->end);
	begin = c->p;
	for (size_t i = 0; i < to->n; i++)
		get_sized(&c->p, c->end);
	to->text = str_make(begin, (size_t)(c->p - begin));
}

bool cells_take(struct cells *c, struct cell_value *to)
{
	if (c->p == c->end)
		return false;
	*to = (struct cell_value){ .kind = *c->p++ };
	if (to->kind == CELL_NUMBER)
		take_number(c, to);
	else if (to->kind == CELL_TEXT)
		to->text = get_sized(&c->p, c->end);
	else if (to->kind == CELL_LIST)
		take_list(c, to);
	if (++c->at == c->n)
		c->at = 0;
	return true;
}

struct str cell_list_take(struct cell_value *list)
{
	const uint8_t *p = (const uint8_t *)list->text.p, *end = p + list->text.n;
	struct str s = get_sized(&p, end);

	list->text = str_make(p, (size_t)(end - p));
	list->n--;
	return s;
}
