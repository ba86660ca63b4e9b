/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of peek: the names that match, and the lists around the only one.
 */
#ifndef TFPROF_EXPORT_PEEK_OUT_H
#define TFPROF_EXPORT_PEEK_OUT_H

#include "export/table/table.h"
#include "view/peek.h"

/* Options of the answer. */
struct peek_request {
	enum metric_id metric; /* metric that orders the rows */
	size_t top;            /* maximum number of rows in each list; 0: all */
	int section;           /* index of the choice of --table; 0: all */
	unsigned columns;      /* width of the terminal; 0: none */
};

/* Writes the answer in the selected output. */
bool peek_write(const struct peek *p, const struct peek_request *request, const struct output *o,
        struct emit *to, struct err *e);

#endif
