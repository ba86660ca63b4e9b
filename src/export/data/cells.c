/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes the cells of a sheet, which become Arrow batches.
 */
#include "export/data/sheet.h"

#include "base/bits.h"

static void put_size(struct sink *to, size_t n)
{
	uint8_t buffer[VARINT_MAX];
	const uint8_t *end = varint_put(buffer, n);

	sink_put(to, str_make(buffer, (size_t)(end - buffer)));
}

static void put_sized(struct sink *to, struct str s)
{
	put_size(to, s.n);
	sink_put(to, s);
}

void cells_put_head(struct sink *to, const struct column *columns, size_t n)
{
	put_size(to, n);
	for (size_t i = 0; i < n; i++) {
		sink_char(to, (char)columns[i].type);
		put_sized(to, columns[i].name);
		put_size(to, columns[i].unit ? 1 + strlen(columns[i].unit) : 0);
		sink_put(to, str_of(columns[i].unit));
		if (columns[i].unit)
			sink_char(to, '\0');
	}
}

void cells_put_null(struct sink *to)
{
	sink_char(to, CELL_NULL);
}

void cells_put_i64(struct sink *to, int64_t v)
{
	sink_char(to, CELL_NUMBER);
	sink_put(to, str_make(&v, sizeof v));
}

void cells_put_real(struct sink *to, double v)
{
	sink_char(to, CELL_NUMBER);
	sink_put(to, str_make(&v, sizeof v));
}

void cells_put_text(struct sink *to, struct str s)
{
	sink_char(to, CELL_TEXT);
	put_sized(to, s);
}

void cells_put_list(struct sink *to, const struct strs *v)
{
	sink_char(to, CELL_LIST);
	put_size(to, v->n);
	for (size_t i = 0; i < v->n; i++)
		put_sized(to, v->v[i]);
}
