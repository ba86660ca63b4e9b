/* SPDX-License-Identifier: Apache-2.0
 *
 * A result as rows of a sheet: which columns it has and what stands in them. Numbers are integers
 * in base units. Knows no form of output.
 *
 *   -by worker: worker | path, parent, depth | code: file, line, function, gradient | type, types,
 * device, accounted | op, code: nodes | own_ and total_ (op: cumulative_ too) of each metric | what
 * -stats and others add
 *
 * path is unique in an answer, or with -by worker among the rows of a worker: of scope and graph
 * the name of the node, of op the type, of code the lines from the outermost on, joined by '/'.
 */
#ifndef TFPROF_EXPORT_ROWS_H
#define TFPROF_EXPORT_ROWS_H

#include "export/sheet.h"
#include "view/view.h"

/* ---- members ---- */

/* Types and devices of the graph nodes of an entry of op or code, without duplicates, in byte
 * order. Independent of the output format. */

struct members {
	const struct query *q;
	struct arena *a;
	/* by id: 1 + the last entry that listed it */
	uint32_t *sets_seen, *types_seen, *devices_seen;
	struct strs words; /* of the last question */
	VEC(uint32_t) order;
};

void members_init(struct members *x, const struct query *q, struct arena *a);

/* Call before the entries are processed again. */
void members_again(struct members *x);

/* Returns the words of the accounted nodes of a kept entry, valid until the next call. A node
 * without a device has the empty word. */
const struct strs *members_types(struct members *x, uint32_t kept);
const struct strs *members_devices(struct members *x, uint32_t kept);

struct row_cell;
struct rows {
	const struct result *r;
	struct arena *a;
	struct members members;
	enum metric_id metrics[M_N]; /* the columns of the view */
	size_t n_metrics;
	VEC(struct column) columns; /* of the sheet */
	VEC(struct row_cell) cells; /* content of each column */
	struct arena *row;          /* of the current row */
	bool by_worker;             /* each worker has separate rows */
	uint32_t worker;            /* then: the worker of the row, and its numbers */
	struct recompute_values numbers;
};

void rows_open(struct rows *x, const struct result *r, struct arena *a);
void rows_write(struct rows *x, struct sheet *to);

#endif
