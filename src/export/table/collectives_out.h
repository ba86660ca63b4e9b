/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of "collectives" as text and as data (docs/schema/collectives.json).
 */
#ifndef TFPROF_EXPORT_COLLECTIVES_OUT_H
#define TFPROF_EXPORT_COLLECTIVES_OUT_H

#include "export/out.h"
#include "trace/pass/collectives.h"

/* Writes the answer. top: maximum number of rows of each table in text; 0: all. columns: width of
 * the terminal; 0: texts stay whole. */
bool collectives_write(const struct collectives *x, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e);

#endif
