/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of a session: views, sides, advice, profiles.
 */
#include "lib/session.h"

#include "base/bits.h"
#include "base/sort.h"

#include "export/table/coverage_out.h"
#include "export/table/trace_tables.h"
#include "export/out.h"
#include "trace/read/recording/recordings.h"
#include "model/read/read.h"

/* Returns the origin of an answer of a view whose tree exists; VK_N: without view. */
static struct origin origin_of(const struct session *s, const struct forest *f, enum vk kind)
{
	return (struct origin){ .v = s->sources.v,
		.n = s->sources.n,
		.loading = &s->load_notes,
		.building = kind < VK_N ? &f->notes[kind] : NULL,
		.built = s->built_notes };
}

/* Fails for the graph view of a trace without a compiled program. Timelines use its tracks instead.
 */
static bool has_graph(struct session *s, const struct view_ops *v, const struct opts *o)
{
	if (!view_is(v->kind, VIEW_EDGES) || !s->model.traces.n || s->model.inputs.n ||
	        o->output.kind == OUT_TIMELINE)
		return true;
	return session_fail(s, ERR_FAILED,
	        "the trace has no graph, because it contains no compiled program (HLO); 'scope' "
	        "shows "
	        "its ops");
}

/* Sets the default columns of a trace: device time, host self time and, except in code, calls. Text
 * has both times instead of their sum, and the sum orders nothing. */
static struct opts with_columns(
        const struct session *s, const struct view_ops *v, const struct opts *o)
{
	enum output_kind kind = o->output.kind;
	unsigned *columns;
	struct opts to = *o;

	to.new_input = s->model.new_input || s->recording.n;
	if (!s->model.parallel_times)
		return to;
	columns = &to.select.metrics;
	if (o->select.preset && kind != OUT_PPROF && kind != OUT_FOLDED)
		*columns = METRIC_BIT(M_ACCELERATOR_MICROS) | METRIC_BIT(M_SELF_MICROS) |
		           (view_is(v->kind, VIEW_TRACES) ? 0 : METRIC_BIT(M_OCCURRENCE));
	if ((kind == OUT_STDOUT || kind == OUT_FILE) && *columns & METRIC_BIT(M_MICROS))
		*columns = (*columns & ~METRIC_BIT(M_MICROS)) | metrics[M_MICROS].brings;
	if (o->order.by == M_MICROS)
		to.order.by = view_time_metric(&s->model);
	return to;
}

/* Notes that only traces have some of the columns. */
static void note_columns(struct session *s, const struct opts *o)
{
	static const enum metric_id of_traces[] = { M_KERNELS, M_BYTES_ACCESSED,
		M_CRITICAL_MICROS };

	for (size_t i = 0; i < sizeof of_traces / sizeof *of_traces; i++)
		if (!s->model.traces.n && o->select.metrics & METRIC_BIT(of_traces[i]))
			note_line(&s->notes, "note: only traces have numbers for %s\n",
			        metrics[of_traces[i]].name);
}

/* Adds a note about the share of the device time for which float operations are known. */
static void note_coverage(struct session *s, const struct opts *o)
{
	struct flops_coverage all = { .counts = false };
	struct sb b = sb_in(&s->query_arena);

	if (!(o->select.metrics & METRIC_BIT(M_FLOAT_OPS)))
		return;
	for (size_t i = 0; i < s->model.traces.n; i++) {
		const struct flops_coverage *c = s->model.traces.v[i].coverage;
		if (!c || !c->counts)
			continue;
		int64_t known = num_add(all.known_ns, c->known_ns);
		int64_t time = num_add(all.all_ns, c->all_ns);
		if (!all.counts)
			all = *c;
		else
			all.uncounted = 0; /* of several workers, the sum alone */
		all.known_ns = known;
		all.all_ns = time;
	}
	if (!all.all_ns)
		return;
	sb_put(&b, S("note: float operations are "));
	coverage_put_share(&b, &all);
	if (all.uncounted) {
		sb_put(&b, S("; not counted: "));
		coverage_put_rest(&b, &all, ", ");
	}
	note_line(&s->notes, "%.*s\n", STR(sb_str(&b)));
}

/* Adds a note if columns of times or memory are selected and no step is loaded, unless the original
 * knows the command line. */
static void note_steps(struct session *s, const struct opts *o)
{
	bool any = false;

	for (enum metric_id i = 0; i < M_N; i++)
		any |= o->select.metrics & METRIC_BIT(i) && metrics[i].value < V_RUNS;
	if (any && !s->model.steps.n && (s->bare_files || s->columns))
		note_line(&s->notes, "note: no step is loaded: times and memory are 0%s\n",
		        session_has_source(s, ROLE_GRAPH) && !s->model.new_input
		                ? " (--run_meta_path adds a step)"
		                : "");
}

/* ---- queries ---- */

static struct emit emit_of(
        struct session *s, const struct forest *f, enum vk kind, struct sink *out)
{
	return (struct emit){ .a = &s->query_arena,
		.out = out,
		.notes = &s->notes,
		.person = s->columns > 0 && !s->sticky.quiet,
		.from = origin_of(s, f, kind),
		.arrays = s->arrays };
}

struct emit session_emit(struct session *s, enum vk kind, struct sink *out)
{
	return emit_of(s, &s->forest, kind, out);
}

/* The graph timeline of the average writes one file per step and has no result. */
static bool has_result(const struct view_ops *v, const struct opts *o)
{
	return !view_is(v->kind, VIEW_EDGES) || o->output.kind != OUT_TIMELINE || o->step >= 0;
}

/* Adds a note why the answer is empty, unless a depth of 1 was requested. */
static void note_nothing(struct session *s, const struct result *r)
{
	static const char *const by[HIDDEN_N] = { "-start_name_regexes leaves", NULL,
		"-trim_name_regexes leaves", "a -min_ option leaves",
		"-show_name_regexes, -hide_name_regexes or -device_regexes leave" };
	enum hidden_by most = HIDDEN_DEPTH;

	for (enum hidden_by i = 0; i < HIDDEN_N; i++)
		if (by[i] && r->hidden[i] > (by[most] ? r->hidden[most] : 0))
			most = i;
	if (!s->columns || r->n > 1 || !by[most])
		return;
	bool pattern = most == HIDDEN_START || most == HIDDEN_NAME;
	note_line(&s->notes, "note: nothing to show: %s out %u %s%s\n", by[most], r->hidden[most],
	        r->hidden[most] == 1 ? "entry" : "entries",
	        pattern ? "; a pattern must match a whole name: .*MatMul.* finds MatMul anywhere"
	                : "");
}

/* Adds a note on how to record call stacks, unless the original knows the command line. */
static void note_stacks(struct session *s, const struct view_ops *v)
{
	if (!view_is(v->kind, VIEW_TRACES) || s->model.has_traces || !(s->bare_files || s->columns))
		return;
	note_line(&s->notes,
	        s->model.traces.n
	                ? "note: a profiler records call stacks only on request (PyTorch: "
	                  "with_stack=True)\n"
	                : "note: call stacks come from an op log: --op_log_path\n");
}

/* Adds a note about the nodes of a graph of TensorFlow that only a cycle leads to, unless the
 * original knows the command line. */
static void note_cycles(struct session *s, const struct result *r)
{
	const struct query *q = r->q;
	int64_t us = 0;

	if (!view_is(r->kind, VIEW_EDGES) || q->m->new_input || !(s->bare_files || s->columns) ||
	        !q->tallies)
		return;
	for (size_t i = 0; i < q->m->nodes.n; i++)
		us = num_add(us, q->tallies[i].v[V_MICROS]);
	for (uint32_t i = 1; i < q->tree->n; i++)
		us = num_sub(us, q->tallies[q->tree->node[i]].v[V_MICROS]);
	note_count(&s->notes, q->m->nodes.n + 1 - q->tree->n,
	        "note: %zu {node|nodes} with %lld us, reachable only through a cycle {is|are} left "
	        "out: scope shows {it|them}\n",
	        q->m->nodes.n + 1 - q->tree->n, (long long)us);
}

/* Appends the largest of the hidden numbers' metrics that the answer shows: ", 3.10ms of micros".
 */
static void put_deep(struct sb *b, const struct result *r)
{
	enum metric_id column[M_N];
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, column);

	for (size_t i = 0; i < n; i++) {
		const struct metric *m = &metrics[column[i]];
		if (m->value == V_NONE || m->unit == UNIT_OCCURRENCE)
			continue;
		sb_put(b, S(", "));
		text_quantity(b, m->unit, view_value(r->q, &r->deep, m->value), "");
		sb_fmt(b, " of %s", m->name);
		return;
	}
}

/* Adds a note about the rows of a text, or the entries of a file for another program, below
 * -max_depth. Texts note only what the preset leaves out; with an output and inputs of the original
 * there are no notes, except for a person. */
static void note_cut(struct session *s, const struct result *r)
{
	const struct opts *o = r->q->o;
	const struct output_row *row = &output_rows[o->output.kind];
	uint32_t n = r->hidden[HIDDEN_DEPTH];
	struct sb numbers = sb_in(&s->query_arena);

	if (!n || row->flags & OUT_ROWS)
		return;
	if (!(row->flags & OUT_WHOLE)) {
		put_deep(&numbers, r);
		if (!o->depth_given && o->output.kind != OUT_NONE && (o->new_input || s->columns))
			note_line(&s->notes, "note: %u more %s%.*s (-max_depth %d)\n", n,
			        n == 1 ? "row" : "rows", STR(sb_str(&numbers)), (int)o->max_depth);
	} else if (row->flags & OUT_EXTENSION || s->bare_files || s->columns) {
		note_line(&s->notes, "note: %u %s below -max_depth %d %s left out of the %s\n", n,
		        n == 1 ? "entry" : "entries", (int)o->max_depth, n == 1 ? "is" : "are",
		        o->output.kind == OUT_FOLDED ? "stacks" : row->name);
	}
}

/* Returns the loaded recording as a trace with the wanted arguments (ARG_BIT), or NULL. A trace
 * with all arguments is made at first use and kept; any other lives until the next query. */
static const struct trace *trace_of_recording(struct session *s, uint64_t wants)
{
	struct recording_options how = s->recording_options;
	const struct recording_watch watch = { s->watch.progress, s->watch.user };
	const struct recording_request request = {
		.wants = wants, .watch = watch.progress ? &watch : NULL, .say = s->recording_later
	};

	if (s->recording_trace)
		return s->recording_trace;
	struct trace *t = trace_new(wants == ARG_BITS_ALL ? &s->tree_arena : &s->query_arena);
	how.step_implied = true;
	if (!recording_trace(t, &s->recording, &how, &request, &s->notes, &s->error))
		return NULL;
	if (wants == ARG_BITS_ALL)
		s->recording_trace = t;
	return t;
}

bool session_answer(struct session *s, const struct view_ops *v, const struct opts *o,
        struct sink *out, struct sink *message)
{
	struct query q = { .o = o };
	struct result r = { 0 };
	struct opts columns;

	if (!session_query(s, v, &q) || !has_graph(s, v, o))
		return false;
	if (o->output.kind == OUT_TIMELINE && s->recording.n &&
	        !(q.recording = trace_of_recording(s, ARG_BITS_ALL)))
		return false;
	if (o->output.kind == OUT_TIMELINE && !session_need_slices(s))
		return false;
	columns = with_columns(s, v, o);
	note_columns(s, o);
	opts_complete(&columns, v->kind,
	        view_is(v->kind, VIEW_LIST) || view_is(v->kind, VIEW_PATHS),
	        columns.new_input && (message || view_is(v->kind, VIEW_LIST)), &s->query_arena);
	q.o = o = &columns;
	q.fold = columns.new_input && !message && view_is(v->kind, VIEW_TRACES) &&
	         (o->output.kind == OUT_STDOUT || o->output.kind == OUT_FILE);
	struct emit to =
	        emit_of(s, q.m == &s->model ? &s->forest : &s->regrouped.forest, v->kind, out);
	if (!out_accepts(v, &q, &s->error)) {
		if (message)
			result_write_refused(message);
		return false;
	}
	if (!view_run(v, &q, &r, &s->error)) {
		note_stacks(s, v);
		return false;
	}
	note_nothing(s, &r);
	note_cut(s, &r);
	note_cycles(s, &r);
	note_steps(s, o);
	note_coverage(s, o);
	session_note_flops(s, o);
	if (s->ckpt && (o->select.metrics & METRIC_BIT(M_TENSOR_VALUE)))
		tensors_read(&r, s->ckpt, message != NULL);
	return out_write(&r, &to, &s->error) &&
	       (!message || !has_result(v, o) || result_write(&r, message, &s->error));
}

/* Makes a query whose view has accounted. */
static bool account(struct session *s, const struct side_request *request, struct query *q)
{
	if (!session_group(s, request->view, q) || !view_open(q, &s->error))
		return false;
	if (request->per_run)
		side_per_run(q);
	request->view->account(q);
	return true;
}

/* Returns the numbers of one step. */
static bool fill_step(struct session *s, const struct side_request *request, uint32_t i,
        struct side *out, struct arena *scratch)
{
	struct opts o = *request->o;
	struct query q = { .o = &o, .a = scratch, .notes = &s->notes };

	o.step = request->steps[i];
	o.steps.n = 0;
	if (!account(s, request, &q))
		return false;
	side_fill(out, &q, (i + 1) * request->n, request->n);
	view_close(&q);
	return true;
}

bool session_side(
        struct session *s, const struct side_request *request, struct side *out, struct arena *a)
{
	struct query q = { .o = request->o, .notes = &s->notes };
	uint32_t n = request->n * (request->n_steps + 1);
	enum value *values = ARENA_ARRAY(a, n, enum value);
	struct scratch own;

	if (!session_need_steps(s, request->o) || !session_seal(s))
		return false;
	session_begin_query(s);
	if (view_is(request->view->kind, VIEW_TRACES) && !s->model.has_traces)
		return session_fail(s, ERR_FAILED,
		        "call stacks are missing: load an op log, or a profile with call stacks");
	for (uint32_t i = 0; i < n; i++)
		values[i] = request->values[i % request->n];
	scratch_open(&own, &s->work);
	q.a = &own.a;
	bool ok = account(s, request, &q);
	if (ok) {
		const struct side_values made = { values, n, request->ticks_per_us,
			model_ticks(&s->model) > 1 };
		side_from_query(out, &q, &made, a);
		ok = view_patterns_ok(&q, &s->error);
		view_close(&q);
	}
	for (uint32_t i = 0; i < request->n_steps && ok; i++) {
		arena_clear(&own.a);
		ok = fill_step(s, request, i, out, &own.a);
	}
	if (ok && value_stopped(out->total, n))
		view_note_stopped(&s->notes);
	scratch_close(&own);
	return ok;
}

bool session_one_worker(struct session *s)
{
	if (s->model.workers.n <= 1)
		return true;
	return session_fail(s, ERR_FAILED,
	        "a profile contains the steps of one worker, but %zu are loaded: load one of them",
	        s->model.workers.n);
}

bool session_write_profile(struct session *s, struct str path)
{
	struct sink *to;

	if (!session_need_all(s, true) || !session_seal(s) || !session_one_worker(s) ||
	        !sink_file(&to, &s->query_arena, path, &s->error))
		return false;
	profile_write(&s->model, to, &s->query_arena, &s->notes); /* the sink has the error */
	return sink_close(to, &s->error);
}

static bool write_run(struct session *s, const struct step *step, struct str path)
{
	struct scratch own;
	struct sink *to;
	bool ok;

	scratch_open(&own, &s->work);
	ok = sink_file(&to, &own.a, path, &s->error);
	if (ok) {
		run_write(&s->model, step, to, &own.a, &s->notes, &s->error);
		ok = sink_close(to, &s->error);
	}
	scratch_close(&own);
	return ok && !s->error.code;
}

struct str session_run_graph(struct session *s, struct str path)
{
	return str_fmt(&s->query_arena, "%.*s_graph.pb", STR(path));
}

bool session_write_runs(struct session *s, struct str path)
{
	struct arena *a = &s->query_arena;
	struct sink *to;
	bool ok = session_need_all(s, true) && session_seal(s) && session_one_worker(s);

	for (size_t i = 0; ok && i < s->model.steps.n; i++)
		ok = write_run(s, s->model.steps.v[i],
		        str_fmt(a, "%.*s_%lld", STR(path), (long long)s->model.steps.v[i]->id));
	if (!ok || !sink_file(&to, a, session_run_graph(s, path), &s->error))
		return false;
	graph_write(&s->model, to, a);
	return sink_close(to, &s->error);
}

bool session_advise(struct session *s, unsigned checkers, struct advice *out)
{
	struct advise request = { .m = &s->model,
		.a = &s->query_arena,
		.notes = &s->notes,
		.checkers = checkers,
		.no_zeros = s->bare_files,
		.tree = session_tree,
		.user = s };

	if (!session_need_all(s, false) || !session_seal(s))
		return false;
	session_begin_query(s);
	/* The notes of this view come first, as in the original. */
	session_tree(s, view_with(VIEW_TRACES)->kind);
	return advise_run(&request, out, &s->error);
}

bool session_put_advice(
        struct session *s, const struct advice *advice, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, view_with(VIEW_TRACES)->kind, out);

	return data_advice(advice, o, &to, &s->error);
}

/* Notes how many workers have no trace. */
static void note_traceless(struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->model.traces.n; i++)
		n += !i || s->model.traces.v[i].worker != s->model.traces.v[i - 1].worker;
	n = n < s->model.workers.n ? s->model.workers.n - n : 0;
	note_count(&s->notes, n, "note: %zu of %zu workers {has|have} no trace and no rows\n", n,
	        s->model.workers.n);
}

/* Reads the loaded recording for the tables of `devices`. The result lives until the next query. */
static struct device_use *read_devices(struct session *s)
{
	struct recording_options *how = ARENA_NEW(&s->query_arena, struct recording_options);
	struct device_use *u = ARENA_NEW(&s->query_arena, struct device_use);
	const struct recording_watch watch = { s->watch.progress, s->watch.user };
	const struct device_request request = { watch.progress ? &watch : NULL,
		s->recording_later };

	*how = s->recording_options;
	how->step_implied = true;
	return device_use_read(
	               u, &s->recording, how, &request, &s->query_arena, &s->notes, &s->error)
	               ? u
	               : NULL;
}

/* Collects the loaded traces, or makes the trace of the loaded recording. devices: for the tables
 * of `devices`. */
static bool find_traces(struct session *s, uint64_t wants, bool devices, struct worker_traces *to)
{
	if (!session_seal(s))
		return false;
	if (!s->model.traces.n && !s->recording.n)
		return session_fail(s, ERR_FAILED,
		        "neither a trace nor a recording is loaded: 'summary' shows the steps and "
		        "devices of other profiles");
	session_begin_query(s);
	*to = (struct worker_traces){ s->model.traces.v, s->model.traces.n, &s->model.workers,
		NULL };
	if (s->recording.n) {
		struct model_trace *x = ARENA_NEW(&s->query_arena, struct model_trace);
		struct device_use *use = devices ? read_devices(s) : NULL;
		if (devices)
			x->t = use ? use->t : NULL;
		else
			x->t = trace_of_recording(s, wants);
		*to = (struct worker_traces){ x, 1, &s->model.workers, use };
		return x->t != NULL;
	}
	note_traceless(s);
	return true;
}

bool session_trace_table(struct session *s, struct trace_table_request *request,
        const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct worker_traces all = { 0 };

	request->columns = o->wide ? 0 : s->columns;
	if (!find_traces(
	            s, trace_table_wants(request->which), request->which == TABLE_DEVICES, &all))
		return false;
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

const struct model_trace *session_traces(struct session *s, size_t *n)
{
	struct worker_traces all = { 0 };

	if (!find_traces(s, ARG_BITS_ALL, false, &all))
		return NULL;
	*n = all.n;
	return all.v;
}

const struct trace *session_one_trace(struct session *s)
{
	size_t n;
	const struct model_trace *v = session_traces(s, &n);

	if (!v || n == 1)
		return v ? v->t : NULL;
	session_fail(s, ERR_FAILED, "several traces are loaded: name only one file");
	return NULL;
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
	return request->at != MEMORY_AT_OOM || use->ooms.n ||
	       session_fail(s, ERR_FAILED, "--at=oom: no out-of-memory error is recorded");
}

/* Adds the pools of all traces if they are snapshots; otherwise returns false. */
static bool add_snapshots(
        struct session *s, const struct memory_request *request, struct memory_use *use)
{
	size_t n = 0;
	const struct model_trace *v = session_traces(s, &n);

	if (!v)
		return false;
	for (size_t i = 0; i < n; i++)
		if (v[i].t->source != TRACE_SNAPSHOT)
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

bool session_memory(struct session *s, const struct memory_request *request, size_t top,
        const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct memory_use use = { 0 };
	const struct trace *t = NULL;

	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	bool snapshots = s->model.traces.n && !s->recording.n && add_snapshots(s, request, &use);
	if (!snapshots &&
	        (request->diff || request->by > MEMORY_BY_AUTO || request->at != MEMORY_AT_PEAK))
		return session_fail(
		        s, ERR_FAILED, "--by, --at and --diff need PyTorch memory snapshots");
	if (!snapshots && (s->recording.n || s->model.traces.n)) {
		if (!(t = session_one_trace(s)))
			return false;
		memory_use_trace(t, &use, &s->query_arena);
	} else if (!snapshots) {
		session_begin_query(s);
		memory_use_model(&s->model, o, &use, &s->query_arena);
	}
	if (request->diff && s->model.traces.n != 2)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--diff: two snapshots expected");
	if (!use.pools.n)
		return session_fail(s, ERR_FAILED, "no allocations are recorded");
	return check_snapshot(s, request, &use) &&
	       memory_write(&use, top, o, o->wide ? 0 : s->columns, &to, &s->error);
}

bool session_slices(struct session *s, const struct slices_request *request, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);

	if (!session_one_trace(s) || !session_need_slices(s))
		return false;
	slices_write(session_one_trace(s), request, &to, out);
	return true;
}

/* ---- models and trees ---- */

/* Returns the tree of a view, built at first use. */
static const struct tree *tree_of(struct session *s, struct forest *f, const struct view_ops *v)
{
	struct tree *t = &f->trees[v->kind];
	struct arena *a = f == &s->forest ? &s->tree_arena : &s->regroup_arena;

	if (!f->built[v->kind]) {
		s->work.account->stop = NULL; /* a cancel here would lose the tree */
		*t = (struct tree){ .kind = v->kind };
		notes_init(&f->notes[v->kind], a);
		v->build(f->m, t, a, &f->notes[v->kind]);
		note_append(&s->notes, &f->notes[v->kind]);
		if (f->notes[v->kind].list.n)
			s->built_notes = s->notes.list.n;
		f->built[v->kind] = true;
		session_begin_query(s);
	}
	return t;
}

/* ---- slices ---- */

bool session_need_slices(struct session *s)
{
	const struct input_watch watch = { s->watch.progress, s->watch.user };

	for (size_t i = 0; i < s->model.traces.n; i++) {
		struct model_trace *x = &s->model.traces.v[i];
		if (!x->t->sums)
			continue;
		const struct trace *t =
		        input_slices(x->t, &s->reading, &watch, s->model.a, &s->error);
		if (!t)
			return false;
		x->t = t;
	}
	return true;
}

/* ---- other nodes ---- */

/* The nodes that a query needs. */
struct regrouping {
	enum by by;
	bool path; /* with their time on the critical path */
};

/* Adds the nodes of a worker's trace that a query needs. */
static bool add_regrouped(struct session *s, const struct model_trace *x,
        const struct regrouping *how, struct ingest *to)
{
	enum trace_by by = how->by < BY_MODULE
	                           ? TRACE_BY_PATH
	                           : (enum trace_by)(TRACE_BY_MODULE + (how->by - BY_MODULE));
	bool alone = s->model.traces.n == 1, ok = true;
	struct ingest *in = to;
	struct scratch own;

	scratch_open(&own, &s->work);
	if (!alone) {
		struct model *m = ARENA_NEW(&own.a, struct model);
		m->a = &own.a;
		in = ingest_open(m, &s->regrouped.notes, false);
	}
	ingest_begin(in, &own.a);
	trace_lower(x->t, by, how->path, in, NULL, &own.a);
	ingest_commit(in);
	if (!alone)
		ok = ingest_merge(
		        to, in, x->worker, false, s->model.workers.v[x->worker], &s->error);
	if (ok)
		ingest_keep_trace(to, &(struct model_trace){ .t = x->t, .worker = x->worker });
	scratch_close(&own);
	return ok;
}

/* Makes a model of the traces with the nodes that a query needs. */
static bool regroup(struct session *s, const struct regrouping *how)
{
	struct regrouped *r = &s->regrouped;
	struct ingest *in;

	arena_clear(&s->regroup_arena);
	*r = (struct regrouped){ .model = { .a = &s->regroup_arena, .new_input = true } };
	r->forest.m = &r->model;
	notes_init(&r->notes, &s->regroup_arena);
	in = ingest_open(&r->model, &r->notes, false);
	for (size_t i = 0; i < s->model.traces.n; i++)
		if (!add_regrouped(s, &s->model.traces.v[i], how, in))
			return false;
	r->model.workers = s->model.workers;
	if (!ingest_seal(in, &s->error))
		return false;
	r->by = how->by;
	r->path = how->path;
	return true;
}

/* True if the view shows call stacks. Traces have a call stack for each call; a node of the model
 * has only one. */
static bool wants_stacks(const struct session *s, const struct view_ops *v)
{
	return view_is(v->kind, VIEW_TRACES) && s->model.has_traces;
}

static bool wants_path(const struct opts *o)
{
	return o->select.metrics & METRIC_BIT(M_CRITICAL_MICROS) ||
	       o->order.by == M_CRITICAL_MICROS;
}

static struct forest *regrouped_forest(struct session *s, const struct regrouping *how)
{
	const struct regrouped *r = &s->regrouped;

	if ((r->by != how->by || r->path != how->path) &&
	        (!session_need_slices(s) || !regroup(s, how)))
		return NULL;
	return &s->regrouped.forest;
}

/* Returns the model that answers with these options, and its trees; NULL with an error. */
static struct forest *forest_of(struct session *s, const struct view_ops *v, const struct opts *o)
{
	bool traces = s->model.traces.n && s->model.traces.n == s->model.files.n;
	struct regrouping how = { o->by, traces && wants_path(o) };
	if (o->by < BY_MODULE) {
		how.by = traces && wants_stacks(s, v) ? BY_STACK : BY_NONE;
		return how.by || how.path ? regrouped_forest(s, &how) : &s->forest;
	}
	const char *by = option_choice_at(view_option(S("by"))->choices, (int)o->by).p;
	int n = (int)strcspn(by, "|");
	if (!view_is(v->kind, VIEW_PATHS) && !view_is(v->kind, VIEW_LIST)) {
		session_fail(s, ERR_INVALID_ARGUMENT,
		        "-by %.*s works in the views scope and op, not in %s", n, by, v->name);
		return NULL;
	}
	if (!s->model.traces.n) {
		session_fail(s, ERR_FAILED, "-by %.*s needs a trace, but none is loaded", n, by);
		return NULL;
	}
	return regrouped_forest(s, &how);
}

/* ---- queries ---- */

bool session_group(struct session *s, const struct view_ops *v, struct query *q)
{
	struct forest *forest = forest_of(s, v, q->o);

	if (!forest)
		return false;
	q->m = forest->m;
	q->tree = tree_of(s, forest, v);
	return true;
}

bool session_query(struct session *s, const struct view_ops *v, struct query *q)
{
	if (!session_need_steps(s, q->o) || !session_seal(s) || !session_need_types(s, q->o) ||
	        !session_need_flops(s, q->o))
		return false;
	session_begin_query(s);
	q->a = &s->query_arena;
	q->notes = &s->notes;
	return session_group(s, v, q);
}

const struct tree *session_tree(void *user, enum vk kind)
{
	struct session *s = user;

	return tree_of(s, &s->forest, &views[kind]);
}
