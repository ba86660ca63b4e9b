/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands that print tables of a trace: devices, kernels, steps, phases, roofline.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "export/out.h"
#include "export/table/trace_tables.h"
#include "lib/graph_calls.h"

/* Finds the calls of a graph that is loaded with times and without a trace. False: there are none.
 */
static bool find_graph(
        struct session *s, struct trace_table_request *request, struct worker_traces *to)
{
	struct arena *a = &s->query_arena;

	if (request->which != TABLE_ROOFLINE || request->roofline.by == ROOF_BY_PHASE ||
	        s->model.traces.n || s->recording.n || !s->model.steps.n)
		return false;
	session_begin_query(s);
	struct graph_calls *graph = ARENA_NEW(a, struct graph_calls);
	struct model_trace *trace = ARENA_NEW(a, struct model_trace);
	*graph = graph_calls_find(s, true);
	trace->t = graph->ops.t;
	request->roofline.calls = &graph->ops;
	*to = (struct worker_traces){ .v = trace, .n = 1, .names = ARENA_NEW(a, struct strs) };
	return graph->ops.calls.n > 0;
}

/* Writes a table of the loaded traces or recording in the selected output. Sets request->columns.
 */
static bool write_table(struct session *s, struct trace_table_request *request,
        const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct worker_traces all = { 0 };

	bool chosen = opts_names_steps(o) && request->which != TABLE_ROOFLINE &&
	              request->which != TABLE_PHASES;
	uint64_t wants = chosen ? ARG_BITS_ALL : trace_table_wants(request->which);

	request->columns = o->wide ? 0 : s->columns;
	if (request->which == TABLE_ROOFLINE && !session_need_steps(s, o))
		return false;
	if (!session_seal(s))
		return false;
	if (request->which == TABLE_DEVICES && !path_one_step(s, o))
		return false;
	if (request->which == TABLE_ROOFLINE && request->roofline.by == ROOF_BY_PHASE &&
	        !s->model.traces.n && !s->recording.n)
		return session_fail(s, ERR_FAILED,
		        "--by=phase: a trace of a server of LLMs was expected\n"
		        "hint: --by=module groups the nodes of a graph by their scopes, "
		        "--by=kernel shows each node");
	if (!find_graph(s, request, &all) &&
	        !session_find_traces(s, wants, request->which == TABLE_DEVICES && !chosen, &all))
		return false;
	if (chosen && !session_need_slices(s))
		return false;
	all.links = all.n == 1 ? path_kept_links(s, all.v[0].t) : NULL;
	if (chosen && request->which == TABLE_DEVICES)
		note_line(&s->notes,
		        "note: with -step, only the times of the devices and the causes of idle "
		        "time are shown; kernels -step and op -step show the work that the step "
		        "launched, also if it ran after the end of the step\n");
	uint64_t summed = 0;
	for (size_t i = 0; i < all.n && request->which == TABLE_DEVICES; i++)
		summed += all.v[i].t->sums ? all.v[i].t->n_slices : 0;
	if (summed)
		note_line(&s->notes,
		        "note: files over %llu MiB have only the first table: only sums of their "
		        "slices (%llu) are kept\n",
		        TRACE_KEPT_MAX >> 20, (unsigned long long)summed);
	return trace_table_write(&all, request, o, &to, &s->error);
}

static bool run_table(
        struct session *s, enum trace_table which, const struct request *r, struct sink *out)
{
	struct trace_table_request request = { .which = which, .top = (size_t)r->top };

	if (which == TABLE_KERNELS)
		request.by_phase = r->section > 0;
	else
		request.section = r->section;

	return write_table(s, &request, &r->opts, out);
}

bool run_devices(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_DEVICES, r, out);
}

bool run_kernels(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_KERNELS, r, out);
}

/* Writes the steps of a profile without a trace. */
static bool write_model_steps(struct session *s, const struct request *r, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	const struct trace_table_request request = { .which = TABLE_STEPS,
		.top = (size_t)r->top,
		.columns = r->opts.wide ? 0 : s->columns };
	struct facts f;

	session_begin_query(s);
	facts_find(&s->model, NULL, NULL, &f, &s->query_arena);
	return model_steps_write(&f, &s->model.workers, &request, &r->opts, &to, &s->error);
}

bool run_steps(struct session *s, const struct request *r, struct sink *out)
{
	if (!session_need_steps(s, &r->opts) || !session_seal(s))
		return false;
	if (model_is_sampled(&s->model))
		return session_fail(s, ERR_FAILED,
		        "samples of pprof have no times at which they were taken, so no steps\n"
		        "hint: 'top' and 'code' show what was sampled");
	if (!s->model.traces.n && !s->recording.n && s->model.steps.n)
		return write_model_steps(s, r, out);
	return run_table(s, TABLE_STEPS, r, out);
}

bool run_phases(struct session *s, const struct request *r, struct sink *out)
{
	return run_table(s, TABLE_PHASES, r, out);
}

bool run_roofline(struct session *s, const struct request *r, struct sink *out)
{
	struct trace_table_request request = { .which = TABLE_ROOFLINE,
		.top = (size_t)r->top,
		.roofline = { .by = r->section > 0 ? (enum roof_by)r->section : ROOF_BY_OP,
		        .peak_flops = (double)r->peak_flops,
		        .peak_bytes = (double)r->peak_bandwidth } };

	return write_table(s, &request, &r->opts, out);
}
