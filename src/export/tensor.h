/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of checkpoint tensors: the text after a node's line, and the message in a result.
 */
#ifndef TFPROF_EXPORT_TENSOR_H
#define TFPROF_EXPORT_TENSOR_H

#include "checkpoint/ckpt.h"
#include "view/view.h"

/* Text of a shown entry; empty if it has no tensor. In the query's arena. */
struct shown_tensor {
	struct str text;    /* ends in a newline */
	struct str message; /* bytes of a TFProfTensorProto, if requested */
};

/* Looks up every shown entry of scope and graph except the root, and stores found tensors in
 * r->tensors. Tensors that are missing or unreadable cause notes, in the original's order. False
 * only if cancelled. */
void tensors_read(struct result *r, struct ckpt *c, bool messages);

/* Appends one tensor. limit: number of values in the text, one line counts the omitted ones;
 * negative: no limit. */
struct tensor_want {
	int64_t limit;
	bool message;
};
bool tensor_read(struct ckpt *c, const struct ckpt_tensor *t, const struct tensor_want *want,
        struct arena *a, struct shown_tensor *out, struct err *e);

/* ---- statistics of a tensor, collected piece by piece (tensor_stats.c) ---- */
struct tensor_stats {
	int64_t n, zeros, nans, infinities; /* finite values: n - nans - infinities */
	double min, max, mean, m2;
	size_t shortest, longest; /* of strings */
};
void tensor_stats_add(struct tensor_stats *s, const struct dtype *d, const struct ckpt_values *v);
/* Appends one line. */
void tensor_stats_put(struct sb *b, const struct dtype *d, const struct tensor_stats *s);

#endif
