/* SPDX-License-Identifier: Apache-2.0
 *
 * Many intervals of time, stored in about eight bytes each, and one iteration over all of them in
 * the order of their starts. They are added almost in that order; batches are sorted and packed.
 *
 *   run: first start, then for each interval the distance from the previous start,
 *        length << SPAN_BITS | class, and the tag, as varints
 */
#ifndef TFPROF_VIEW_SPANS_H
#define TFPROF_VIEW_SPANS_H

#include "base/str.h"
#include "base/vec.h"

#define SPAN_BITS  3         /* bits of a class */
#define SPAN_BATCH (1 << 17) /* intervals sorted per batch */

struct span {
	uint64_t start, length;
	uint64_t tag;   /* any number of the caller */
	unsigned class; /* below 1 << SPAN_BITS */
};

struct spans {
	VEC(struct span) batch; /* in the scratch arena */
	VEC(struct str) runs;
	uint64_t n;
};

/* Adds an interval. A full batch is packed into a; the next one begins in scratch. */
void spans_add(struct spans *s, struct arena *a, struct arena *scratch, struct span x);

/* Packs the last batch. The scratch arena may be reset afterwards. */
void spans_end(struct spans *s, struct arena *a);

/* An iteration over several of them. */
struct span_walk {
	struct arena *a;
	VEC(struct span_cursor) heap; /* a heap, earliest start on top */
};
void span_walk_begin(struct span_walk *w, struct arena *a);
void span_walk_add(struct span_walk *w, const struct spans *s, unsigned owner);

/* Returns the next interval and its owner; false at the end. */
bool span_walk_next(struct span_walk *w, struct span *x, unsigned *owner);

#endif
