/* SPDX-License-Identifier: Apache-2.0
 *
 * Nesting by containment. Walks a track and reports where slices open and close. Only the open
 * slices are on a stack, so self times and enclosing slices need no memory per slice.
 *
 *   nest_init(&n, t, track, CATEGORY_BIT(CATEGORY_OP), arena);
 *   while ((what = nest_next(&n, &level)))
 *           if (what == NEST_CLOSE)
 *                   add(level->s.name, nest_self(level));
 */
#ifndef TFPROF_TRACE_NEST_H
#define TFPROF_TRACE_NEST_H

#include "trace/trace.h"

#define NEST_ALL UINT32_MAX

/* An open slice. If its depth is not 0, the previous level contains it. */
struct nest_level {
	struct slice s;
	int64_t children; /* total length of the direct children so far */
	uint32_t depth;
	uint32_t user; /* free for the caller, initially 0; kept while the slice is open */
};

enum nest_what { NEST_END, NEST_OPEN, NEST_CLOSE };

struct nest {
	const struct trace *t;
	struct arena *a;
	struct slice_iter it;
	uint32_t categories; /* CATEGORY_BITs of the categories that nest */
	bool have;           /* true: the next slice has been read */
	struct slice next;
	VEC(struct nest_level) stack;
	uint64_t overlaps; /* number of slices that begin inside another slice and end after it */
};

/* categories: CATEGORY_BITs of the categories that nest. Instants and samples are skipped. */
void nest_init(struct nest *n, const struct trace *t, uint32_t track, uint32_t categories,
        struct arena *a);

/* Returns the next opening or closing of a slice, in order of time. *level is valid until the next
 * call. */
enum nest_what nest_next(struct nest *n, struct nest_level **level);

/* For callers that process the slices one at a time, in track order: closes and returns the
 * innermost slice if it does not contain `next` (NULL: end of the track); returns NULL if `next`
 * can be opened. */
struct nest_level *nest_close(struct nest *n, const struct slice *next);
struct nest_level *nest_open(struct nest *n, const struct slice *s);

/* Returns the self time of a slice: its length minus the lengths of its direct children. */
static inline int64_t nest_self(const struct nest_level *level)
{
	return level->children < level->s.length ? level->s.length - level->children : 0;
}

/* Returns the innermost open slice of the given categories that contains a level, or NULL. */
const struct nest_level *nest_around(
        const struct nest *n, const struct nest_level *level, uint32_t categories);

/* Returns the categories that have one of the given flags, as CATEGORY_BITs. */
uint32_t nest_bits(unsigned category_flags);

#endif
