/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: links device work to the call that launched it, by process and correlation, and to the
 * innermost op around that call on its thread. If no op contains the call, the op with the work's
 * external id counts, else the innermost annotation, module or frame around the call.
 */
#ifndef TFPROF_TRACE_LINK_H
#define TFPROF_TRACE_LINK_H

#include "trace/trace.h"

/* ---- nest ----
 *
 * Pass: nesting by containment. Walks a track and reports where slices open and close, with an
 * explicit stack, so that self times and enclosing slices are known without memory for each slice.
 *
 *   nest_init(&n, t, track, NEST_BIT(CATEGORY_OP), arena);
 *   while ((what = nest_next(&n, &level)))
 *           if (what == NEST_CLOSE)
 *                   add(level->s.name, nest_self(level));
 */

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

/* ---- link ---- */

/* A call with a correlation. */
struct launch {
	int64_t start;
	uint32_t slice; /* number of its slice */
	uint32_t op;    /* number of the innermost op around it, or ID_NONE */
	uint32_t scope; /* number of the innermost slice of any other level around it, or ID_NONE */
};

struct trace_links {
	const struct trace *t;
	VEC(struct launch) launches;
	struct imap *by_correlation; /* by process; the last one is for tracks without a process */
	struct imap *by_external; /* ops by external id; made when a launch has no op around it */
	bool externals;
};

/* Walks all threads; out lives in a. */
void trace_link(const struct trace *t, struct trace_links *out, struct arena *a);

/* Returns the launch of device work, or NULL if the file has none. */
const struct launch *link_launch(const struct trace_links *l, const struct slice *work);

/* The number of the slice that device work with that launch, which may be NULL, is attributed to:
 * an op, else what contains the launch; ID_NONE if there is none. */
uint32_t link_op(
        const struct trace_links *l, const struct slice *work, const struct launch *launch);

#endif
