/* SPDX-License-Identifier: Apache-2.0
 *
 * The hottest entries of a view as a table: own number, share, cumulative share, calls, mean.
 */
#ifndef TFPROF_EXPORT_HOTTEST_OUT_H
#define TFPROF_EXPORT_HOTTEST_OUT_H

#include "export/table.h"
#include "view/facts.h"

#define HOTTEST_COLUMNS 8

struct hottest_table {
	struct table x; /* key and schema are the caller's to set */
	struct column columns[HOTTEST_COLUMNS];
};

/* Makes the table of the first top rows (0: all) of h, by the metric m, whose value is h->of.
 * brief: text has only number, share, calls, mean and name. q names the entries. */
void hottest_fill(struct hottest_table *t, const struct query *q, const struct hottest *h,
        enum metric_id m, size_t top, bool brief);

#endif
