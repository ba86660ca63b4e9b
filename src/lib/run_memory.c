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

/* Notes and errors of the use in a memory snapshot. */
static bool check_snapshot(
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
	if (use->lacks_step)
		return session_fail(
		        s, ERR_FAILED, "the snapshot has none of the steps given with -step");
	return request->at.kind != MOMENT_OOM || use->ooms.n ||
	       session_fail(s, ERR_FAILED, "-at oom: no out-of-memory error is recorded");
}

/* Adds the pools of all snapshots. */
static bool add_snapshots(
        struct session *s, const struct memory_request *request, struct memory_use *use)
{
	size_t n = 0;
	const struct model_trace *v = session_traces(s, &n);

	if (!v)
		return false;
	use->several = n > 1;
	for (size_t i = 0; i < n; i++) {
		use->worker = n > 1 ? s->model.workers.v[v[i].worker] : STR_NONE;
		memory_use_snapshot(v[i].t, request, use, &s->query_arena);
	}
	if (request->diff && n == 2)
		memory_compare(use, &s->query_arena);
	if (n > 1)
		memory_compare_ranks(use, &s->query_arena);
	return true;
}

bool run_memory(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	struct memory_use use = { 0 };
	const struct trace *t = NULL;
	const struct memory_request request = read_memory(r);

	if (!session_need_steps(s, o) || !session_seal(s) || !session_has_moment(s, o))
		return false;
	bool snapshots = session_has_snapshots(s) && add_snapshots(s, &request, &use);
	if (!snapshots && (request.diff || request.by > MEMORY_BY_AUTO))
		return session_fail(s, ERR_FAILED, "--by and --diff need PyTorch memory snapshots");
	if (!snapshots && (s->recording.n || s->model.traces.n)) {
		if (!(t = session_one_trace(s)))
			return false;
		memory_use_trace(t, &use, &s->query_arena);
	} else if (!snapshots) {
		session_begin_query(s);
		memory_use_model(&s->model, o, &use, &s->query_arena);
	}
	if (request.diff && s->model.traces.n != 2)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--diff: two snapshots expected");
	if (!use.pools.n)
		return session_fail(s, ERR_FAILED, "no allocations are recorded");
	return check_snapshot(s, &request, &use) &&
	       memory_write(&use, (size_t)r->top, o, o->wide ? 0 : s->columns, &to, &s->error);
}
