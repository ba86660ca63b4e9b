/* SPDX-License-Identifier: Apache-2.0
 *
 * Many intervals of time, kept in about eight bytes each, and one walk over all of them in the
 * order of their beginnings. They come in almost in that order; batches of them are sorted and
 * packed.
 *
 *   run: first start, then for each interval the distance from the start before it,
 *        length << SPAN_BITS | class, and the tag, as varints
 */
#ifndef TFPROF_VIEW_SPANS_H
#define TFPROF_VIEW_SPANS_H

#include "base/str.h"
#include "base/vec.h"

#define SPAN_BITS  3         /* of a class */
#define SPAN_BATCH (1 << 17) /* intervals that are sorted at a time */

struct span {
	uint64_t start, length;
	uint64_t tag;   /* the caller's */
	unsigned class; /* below 1 << SPAN_BITS */
};

struct spans {
	VEC(struct span) batch; /* in the scratch arena */
	VEC(struct str) runs;
	uint64_t n;
};

/* Adds an interval. A batch that is full is packed into a; the next is begun in scratch. */
void spans_add(struct spans *s, struct arena *a, struct arena *scratch, struct span x);

/* Packs what is left. From then on the scratch arena may be reset. */
void spans_end(struct spans *s, struct arena *a);

/* A walk over several of them. */
struct span_walk {
	struct arena *a;
	VEC(struct span_cursor) heap; /* the one that begins first on top */
};
void span_walk_begin(struct span_walk *w, struct arena *a);
void span_walk_add(struct span_walk *w, const struct spans *s, unsigned owner);

/* The next interval and whose it is; false: that was all. */
bool span_walk_next(struct span_walk *w, struct span *x, unsigned *owner);

#endif
