/* SPDX-License-Identifier: Apache-2.0
 *
 * The use of memory as text and as data.
 */
#ifndef TFPROF_EXPORT_MEMORY_OUT_H
#define TFPROF_EXPORT_MEMORY_OUT_H

#include "export/out.h"
#include "view/memory_use.h"

/* Writes a row for each allocator, and at most top owners (0: all) of what is allocated at the
 * peak, in the options' output. columns: as of trace_table_write. */
bool memory_write(const struct memory_use *use, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
