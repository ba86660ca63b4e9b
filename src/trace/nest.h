/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: nesting by containment. Walks a track and reports where slices open and close, with an
 * explicit stack, so that self times and enclosing slices are known without memory for each slice.
 *
 *   nest_init(&n, t, track, NEST_BIT(CATEGORY_OP), arena);
 *   while ((what = nest_next(&n, &level)))
 *           if (what == NEST_CLOSE)
 *                   add(level->s.name, nest_self(level));
 */
#ifndef TFPROF_TRACE_NEST_H
#define TFPROF_TRACE_NEST_H

#include "trace/trace.h"

#define NEST_BIT(category) (1u << (category))
#define NEST_ALL           UINT32_MAX

/* An open slice. The slice that contains it is the previous level, if its depth is not 0. */
struct nest_level {
	struct slice s;
	int64_t children; /* total length of the slices directly inside, so far */
	uint32_t depth;
	uint32_t user; /* for the caller, initially 0; kept while the slice is open */
};

enum nest_what { NEST_END, NEST_OPEN, NEST_CLOSE };

struct nest {
	const struct trace *t;
	struct arena *a;
	struct slice_iter it;
	uint32_t categories; /* categories that count */
	bool have;           /* the next slice has been read */
	struct slice next;
	VEC(struct nest_level) stack;
	uint64_t overlaps; /* slices that begin inside another and end after it: not nested */
};

/* categories: NEST_BITs of those that count; instants and samples never do. */
void nest_init(struct nest *n, const struct trace *t, uint32_t track, uint32_t categories,
        struct arena *a);

/* Returns the next opening or closing, by time. *level is valid until the next call. */
enum nest_what nest_next(struct nest *n, struct nest_level **level);

/* Returns its length without the slices directly inside. */
static inline int64_t nest_self(const struct nest_level *level)
{
	return level->children < level->s.length ? level->s.length - level->children : 0;
}

/* Returns the innermost open slice around a level with one of these categories, or NULL. */
const struct nest_level *nest_around(
        const struct nest *n, const struct nest_level *level, uint32_t categories);

/* Categories with a flag, as NEST_BITs. */
uint32_t nest_bits(unsigned category_flags);

#endif
