/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a printed report of a view, by any version of the original or by tfprof. Text before the
 * root is skipped; the lines below it are nodes with name, indent and rounded numbers. The op view
 * has no root: its lines follow the legend.
 */
#ifndef TFPROF_COMPARE_REPORT_READER_H
#define TFPROF_COMPARE_REPORT_READER_H

#include "io/src.h"
#include "compare/side.h"

#define ANSWER_HEAD ((size_t)64 << 10) /* the first line must lie within that many bytes */

struct answer_line {
	struct str name;
	uint32_t indent;
	bool accounted;
};

struct answer {
	struct str file;
	bool op; /* a report of the op view: names are types, and the root's numbers are unknown */
	enum metric_id metric[M_N]; /* units of the number columns, as printed */
	uint32_t columns;
	VEC(struct answer_line) lines; /* the root first */
	VEC(int64_t) self, total;      /* by line, then by column */
};

/* True if head, the first bytes of a file, is a report. */
bool answer_sniff(struct str head);

/* Reads a whole report that answer_sniff recognises; names are copied to a. */
bool answer_read(struct answer *x, struct src *s, struct arena *a, struct err *e);

/* Converts it to a side, in a. False if the report lacks one of the metrics. */
bool answer_side(const struct answer *x, enum vk kind, const enum metric_id *metrics, uint32_t n,
        struct side *to, struct arena *a, struct err *e);

#endif
