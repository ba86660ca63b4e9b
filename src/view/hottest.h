/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a view as a flat list by one of their own numbers, the largest first.
 */
#ifndef TFPROF_VIEW_HOTTEST_H
#define TFPROF_VIEW_HOTTEST_H

#include "view/view.h"

struct hottest {
	enum value of;
	uint32_t *kept; /* entries of the query's struct kept */
	uint32_t n;
	int64_t total; /* of all accounted entries, including those hidden by names or devices */
};

/* Lists the accounted entries of a query between view_open and view_close whose own number is above
 * 0: in scope and graph the nodes, in op the types. Equal ones are in the order of their names.
 * False if a pattern gave up. Everything is in the query's arena. */
bool view_hottest(struct query *q, enum value of, struct hottest *out, struct err *e);

#endif
