/* SPDX-License-Identifier: Apache-2.0
 *
 * The command memory.
 */
#include "lib/command.h"

#include "export/table/trace_tables.h"

static struct memory_request read_memory(const struct request *r)
{
	return (struct memory_request){ .diff = r->diff,
		.by = r->section > 0 ? (enum memory_by)r->section : MEMORY_BY_AUTO,
		.over_time = r->opts.output.kind == OUT_JSON,
		.at = r->opts.at,
		.steps = opts_names_steps(&r->opts) ? &r->opts : NULL };
}

/* Adds a note if pools had their peaks outside of the file, which states only the number. */
static void note_peaks(
        struct session *s, const struct memory_request *request, const struct memory_use *use)
{
	size_t n = 0;

	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		n += p->use.n && p->peak > p->use.v[p->most].bytes;
	}
	if (request->at.kind == MOMENT_PEAK && !request->steps)
		note_count(&s->notes, n,
		        "note: the {peak of one pool|peaks of %zu pools} without a time {is|are} "
		        "not in the file: live is the largest use that is\n",
		        n);
}

/* Adds the notes about the use of memory, and finds the data that the answer lacks. */
static bool check_use(
        struct session *s, const struct memory_request *request, const struct memory_use *use)
{
	note_count(&s->notes, use->wrong_blocks,
	        "note: %llu {block is|blocks are} in use at the end although the entries free "
	        "{it|them}: the entries count\n",
	        (unsigned long long)use->wrong_blocks);
	note_count(&s->notes, use->lost_blocks,
	        "note: %llu {allocation is|allocations are} never freed and {is|are} no block at "
	        "the end: the entries count\n",
	        (unsigned long long)use->lost_blocks);
	note_peaks(s, request, use);
	if (use->lacks_step)
		return session_fail(
		        s, ERR_FAILED, "the file has none of the steps given with -step");
	if (!use->pools.n)
		return session_fail(s, ERR_FAILED, NO_ALLOCATIONS);
	return session_check_moment(s, &request->at, use->length, use->ooms.n);
}

/* Adds the pools of all traces and recordings. */
static bool add_traces(
        struct session *s, const struct memory_request *request, struct memory_use *use)
{
	size_t n = 0;
	const struct model_trace *v = session_traces(s, &n);

	if (!v)
		return false;
	use->several = n > 1;
	for (size_t i = 0; i < n; i++) {
		use->worker = n > 1 ? s->model.workers.v[v[i].worker] : STR_NONE;
		memory_use_trace(v[i].t, request, use, &s->query_arena);
	}
	return true;
}

/* Adds the pools of the steps of a profile. */
static void add_steps(struct session *s, const struct memory_request *request, const struct opts *o,
        struct memory_use *use)
{
	session_begin_query(s);
	use->several = s->model.workers.n > 1;
	use->names_paths = true;
	memory_use_model(&s->model, request, o, use, &s->query_arena);
}

/* Returns the number of workers whose pools were added. */
static size_t count_workers(const struct memory_use *use)
{
	size_t n = 0;

	for (size_t i = 0; i < use->pools.n; i++)
		n += !i || !str_eq(use->pools.v[i].worker, use->pools.v[i - 1].worker);
	return n;
}

bool run_memory(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	const struct memory_request request = read_memory(r);
	struct memory_use use = { .by_kind = request.by == MEMORY_BY_KIND };

	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	if (o->at.kind != MOMENT_PEAK && request.steps)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "-at cannot be combined with -step, which shows the peak of a step");
	if (!s->recording.n && !s->model.traces.n)
		add_steps(s, &request, o, &use);
	else if (!add_traces(s, &request, &use))
		return false;
	if (!check_use(s, &request, &use))
		return false;
	memory_sort_pools(&use, &s->query_arena);
	memory_sort_segments(&use, &s->query_arena);
	size_t workers = count_workers(&use);
	if (request.diff && workers != 2)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--diff: two snapshots, traces or profiles expected");
	if (workers == 2)
		memory_compare(&use, &s->query_arena);
	if (use.several)
		memory_compare_ranks(&use, &s->query_arena);
	return memory_write(&use, (size_t)r->top, o, o->wide ? 0 : s->columns, &to, &s->error);
}
