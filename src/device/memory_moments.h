/* SPDX-License-Identifier: Apache-2.0
 *
 * The live set over time: of each part of the time, the largest rows at the moment of its largest
 * use.
 */
#ifndef TFPROF_DEVICE_MEMORY_MOMENTS_H
#define TFPROF_DEVICE_MEMORY_MOMENTS_H

#include "device/memory_use.h"

/* True if -at names the peak of a pool by the text that its column `at` shows. The text is rounded,
 * so the time that it states may be before or after the peak. */
bool memory_is_peak_text(const struct moment *at, const struct memory_pool *p, struct arena *a);

#define MEMORY_MOMENT_ROWS 20 /* of a moment; the others are counted */

/* The moments of a pool, whose use over time is known. */
struct memory_moments {
	struct memory_pool *p;
	struct arena *a;
	struct imap place; /* owner -> index in p->moment_owners */
	size_t next;       /* use from which on the next moment is searched */
	size_t chosen;     /* the use that is the next moment, or SIZE_MAX */
};

/* The pool must not move until the last call. */
void memory_moments_open(
        struct memory_moments *m, struct memory_pool *p, struct arena *a, struct arena *scratch);

/* True if the next moment has this index in p->use. */
static inline bool memory_moments_is(const struct memory_moments *m, size_t use)
{
	return m->chosen == use;
}

/* Adds the next moment, at which n owners have their bytes and buffers; of them, those of a pool
 * count, or all with pool ID_NONE. */
void memory_moments_put(
        struct memory_moments *m, const struct memory_owner *v, size_t n, uint32_t pool);

#endif
