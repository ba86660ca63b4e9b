/* SPDX-License-Identifier: Apache-2.0
 *
 * A text answer of a view, of the original in any generation or of ours, read again: what stands
 * before the root is skipped, lines below it are nodes by name, indent and rounded numbers. The op
 * view has no root: its lines stand below the legend.
 */
#ifndef TFPROF_COMPARE_REPORT_READER_H
#define TFPROF_COMPARE_REPORT_READER_H

#include "io/src.h"
#include "compare/side.h"

#define ANSWER_HEAD ((size_t)64 << 10) /* bytes within which the first line has to stand */

struct answer_line {
	struct str name;
	uint32_t indent;
	bool accounted;
};

struct answer {
	struct str file;
	bool op; /* of the op view: names are types, and the root's numbers are not known */
	enum metric_id metric[M_N]; /* of each column with numbers, as the text has them */
	uint32_t columns;
	VEC(struct answer_line) lines; /* the root first */
	VEC(int64_t) self, total;      /* by line, then by column */
};

/* Is it one? head: the first bytes. */
bool answer_sniff(struct str head);

/* Reads all of one that answer_sniff knows; names are bytes in a. */
bool answer_read(struct answer *x, struct src *s, struct arena *a, struct err *e);

/* As a side, in a. False if the text lacks one of the metrics. */
bool answer_side(const struct answer *x, enum vk kind, const enum metric_id *metrics, uint32_t n,
        struct side *to, struct arena *a, struct err *e);

#endif
