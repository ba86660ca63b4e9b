/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time by cause and place, as text and as data (docs/schema/idle.json).
 */
#ifndef TFPROF_EXPORT_IDLE_OUT_H
#define TFPROF_EXPORT_IDLE_OUT_H

#include "export/out.h"
#include "trace/pass/idle_place.h"

struct idle_page {
	const struct idle_report *report;
	struct str step; /* "step 7"; p is NULL for the whole trace */
};

/* Writes the answer. top: maximum number of places of each cause in text; 0: all. columns: width of
 * the terminal; 0: names stay whole. */
bool idle_write(const struct idle_page *page, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
