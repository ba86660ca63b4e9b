/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of checkpoint tensors: as the text behind a node's line and as the message in a result
 * (B§9.2).
 */
#ifndef TFPROF_EXPORT_TENSOR_H
#define TFPROF_EXPORT_TENSOR_H

#include "checkpoint/ckpt.h"
#include "view/view.h"

/* Text of a shown entry; empty if it has no tensor. In the query's arena. */
struct shown_tensor {
	struct str text;    /* ends in a newline */
	struct str message; /* bytes of a TFProfTensorProto, if they were asked for */
};

/* Looks up every shown entry of scope and graph but the root, and keeps what is found in
 * r->tensors. Tensors that are not there, or not readable, are notes, in the order in which the
 * original finds them. False only if cancelled. */
void tensors_read(struct result *r, struct ckpt *c, bool messages);

/* Appends one tensor. limit: number of values in the text, one line counts the others; negative:
 * no limit. */
struct tensor_want {
	int64_t limit;
	bool message;
};
bool tensor_read(struct ckpt *c, const struct ckpt_tensor *t, const struct tensor_want *want,
        struct arena *a, struct shown_tensor *out, struct err *e);

/* ---- figures of a tensor, gathered piece by piece (tensor_stats.c) ---- */
struct tensor_stats {
	int64_t n, zeros, nans, infinities; /* finite ones: n - nans - infinities */
	double min, max, mean, m2;
	size_t shortest, longest; /* of strings */
};
void tensor_stats_add(struct tensor_stats *s, const struct dtype *d, const struct ckpt_values *v);
/* One line. */
void tensor_stats_put(struct sb *b, const struct dtype *d, const struct tensor_stats *s);

#endif
