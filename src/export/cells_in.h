/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads cells (cells.h) and puts them into batches.
 */
#ifndef TFPROF_EXPORT_CELLS_IN_H
#define TFPROF_EXPORT_CELLS_IN_H

#include "export/arrow.h"

struct cells {
	const uint8_t *p, *end;
	struct column *columns;
	size_t n;
};

/* Reads the columns; they live in a, their names in the given bytes. */
void cells_open(struct cells *c, struct str bytes, struct arena *a);

/* Puts rows until the batch is full or the cells end. */
void cells_fill(struct cells *c, struct arrow_build *to, struct arena *scratch);

#endif
