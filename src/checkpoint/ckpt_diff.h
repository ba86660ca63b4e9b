/* SPDX-License-Identifier: Apache-2.0
 *
 * Two checkpoints side by side, tensor by tensor in the order of names.
 */
#ifndef TFPROF_CHECKPOINT_CKPT_DIFF_H
#define TFPROF_CHECKPOINT_CKPT_DIFF_H

#include "checkpoint/ckpt.h"

enum ckpt_differs { DIFF_NONE, DIFF_ONLY_A, DIFF_ONLY_B, DIFF_DTYPE, DIFF_SHAPE, DIFF_VALUES };

struct ckpt_diff {
	enum ckpt_differs what;
	const struct ckpt_tensor *a, *b; /* NULL: missing */
	int64_t differing;               /* values */
	double absolute, relative; /* the largest absolute difference; infinite if only one value is
	                              a number */
};

/* Calls put for every tensor, also for equal ones; scratch is reset after each. Returns false if *e
 * is filled. */
bool ckpt_compare(struct ckpt *a, struct ckpt *b, struct arena *scratch,
        void (*put)(void *user, const struct ckpt_diff *d), void *user, struct err *e);

#endif
