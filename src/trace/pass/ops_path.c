/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of ops on the critical paths of the steps. On a thread, a part of a path belongs to the
 * innermost op that is open then; in device work, to the op of the work.
 */
#include "base/sort.h"
#include "trace/pass/ops_internal.h"
#include "trace/pass/replay.h"

/* ---- the paths ---- */

static int by_track_and_start(const void *v, uint32_t a, uint32_t b)
{
	const struct path_part *x = (const struct path_part *)v + a,
	                       *y = (const struct path_part *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_slice(const void *v, uint32_t a, uint32_t b)
{
	const struct path_part *x = (const struct path_part *)v + a,
	                       *y = (const struct path_part *)v + b;

	return (x->slice > y->slice) - (x->slice < y->slice);
}

static void add_path(void *user, const struct critical *path)
{
	struct finding *x = user;

	for (size_t i = 0; i < path->segments.n; i++) {
		const struct critical_segment *s = &path->segments.v[i];
		struct path_part made = { .start = s->start,
			.ticks = s->end - s->start,
			.track = s->track,
			.slice = s->slice,
			.step = path->window.step == ID_NONE ? 0 : path->window.step,
			.kind = (uint8_t)s->kind };
		struct path_parts *to = s->slice == ID_NONE ? &x->critical->rest
		                        : track_is_device(&x->to->t->tracks.v[s->track])
		                                ? &x->critical->work
		                                : &x->critical->host;
		VEC_PUSH(x->a, &to->v, made);
	}
}

void ops_find_path(struct finding *x)
{
	x->critical = ARENA_NEW(x->a, struct ops_path);
	replay_each_path(x->to->t, x->links, x->steps, add_path, x);
	struct path_parts *host = &x->critical->host, *work = &x->critical->work;
	sort_array(x->a, host->v.v, host->v.n, sizeof *host->v.v, by_track_and_start);
	sort_array(x->a, work->v.v, work->v.n, sizeof *work->v.v, by_slice);
}

/* ---- ops ---- */

void ops_path_thread(struct finding *x, uint32_t track)
{
	const struct path_parts *host = &x->critical->host;
	size_t i;

	BISECT(i, 0, host->v.n, host->v.v[i].track < track);
	x->critical_at = i;
}

void ops_path_host(struct finding *x, uint32_t track, const struct nest_level *level, int64_t until)
{
	struct path_part *v = x->critical->host.v.v;
	size_t n = x->critical->host.v.n, i = x->critical_at;

	for (; i < n && v[i].track == track && v[i].start < until; i++)
		v[i].op = level ? level->user : 0;
	x->critical_at = i;
}

void ops_path_work(struct finding *x, const struct slice *s, uint32_t op)
{
	struct path_parts *work = &x->critical->work;
	size_t i;

	BISECT(i, 0, work->v.n, work->v.v[i].slice < s->number);
	for (; i < work->v.n && work->v.v[i].slice == s->number; i++)
		work->v.v[i].op = 1 + op;
}

/* Adds a part to its op, or to the op with the name of its kind. */
static void add_part(struct finding *x, const struct path_part *p)
{
	const struct slice at = { .start = p->start, .length = p->ticks };
	uint32_t op = p->op - 1;

	if (!p->op) {
		x->longer.n = 0;
		sb_fmt(&x->longer, "(%s)", critical_texts[p->kind]);
		op = ops_named(x, sb_str(&x->longer), sb_str(&x->longer));
	}
	struct op_cell *c = ops_cell(x, op, p->step, &at);
	c->critical = num_add(c->critical, p->ticks);
}

void ops_end_path(struct finding *x)
{
	const struct path_parts *all[] = { &x->critical->host, &x->critical->work,
		&x->critical->rest };

	if (!x->to->cells.n)
		return; /* no op ran, so there is no cell for the time */
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		for (size_t i = 0; i < all[k]->v.n; i++)
			add_part(x, &all[k]->v.v[i]);
}
