/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of several workers. The parts about times show one trace, so each trace is loaded in a
 * separate session.
 */
#include "lib/report.h"

void report_trace_paths(struct session *s, struct strs *paths)
{
	*paths = (struct strs){ 0 };
	if (s->model.workers.n < 2 || s->recording.n || s->sources.n != s->model.workers.n)
		return;
	for (size_t i = 0; i < s->sources.n && paths->n < REPORT_TRACES; i++)
		if (input_is_trace(s->sources.v[i].path, &s->work))
			strs_add(&s->query_arena, paths, s->sources.v[i].path);
}

struct trace_load {
	struct report_inputs in;
	struct report_parts *parts;
	size_t slices;
};

static bool load(struct session *t, void *ctx)
{
	const struct trace_load *x = ctx;

	if (!report_load(t, &x->in, &t->sticky, x->parts))
		return false;
	x->parts->one_trace = true;
	x->parts->slices = x->slices;
	return report_try(t, x->parts);
}

struct session *report_trace_open(
        struct session *s, const struct strs *paths, size_t i, struct report_parts *parts)
{
	struct trace_load x = { .in.files = { &paths->v[i], 1, 0 },
		.parts = parts,
		.slices = SLICES_SHOWN / paths->n };
	struct session *t = session_new_part(s);
	struct guard guard;

	if (!t)
		work_escape(&s->work);
	work_guard(&s->work, &guard, session_drop, t);
	t->threads = s->threads;
	t->parent_cancel = &s->cancel;
	session_set(t, &s->sticky);
	bool ok = session_guard(t, load, &x);
	if (!ok)
		session_fail_as(s, &t->error);
	work_unguard(&s->work, &guard);
	if (ok)
		return t;
	session_free(t);
	return NULL;
}
