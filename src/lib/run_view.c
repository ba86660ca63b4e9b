/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands scope, graph, op and code.
 */
#include "lib/command.h"

#include "base/bits.h"
#include "base/sort.h"
#include "export/out.h"
#include "export/table/coverage_out.h"

#define ROWS_SHOWN 20 /* default number of rows of op for traces */

/* Fails for the graph view of a trace without a compiled program. Timelines use its tracks instead.
 */
static bool has_graph(struct session *s, const struct view_ops *v, const struct opts *o)
{
	if (!view_is(v->kind, VIEW_EDGES) || !s->model.traces.n || s->model.inputs.n ||
	        o->output.kind == OUT_TIMELINE)
		return true;
	if (s->model.traces.v[0].t->source == TRACE_KINETO)
		return session_fail(s, ERR_FAILED,
		        "the trace has no graph: PyTorch writes edges to the execution trace of "
		        "the same run\n"
		        "hint: give this file too (ExecutionTraceObserver of torch.profiler); "
		        "'scope' shows the ops of the trace");
	return session_fail(s, ERR_FAILED,
	        "the trace has no graph, because it contains no compiled program (HLO); 'scope' "
	        "shows its ops");
}

/* Sets the default columns and order of inputs that have memory and no times. */
static void set_memory_columns(struct opts *o, enum metric_id memory)
{
	enum output_kind kind = o->output.kind;

	if (o->select.preset) {
		o->select.metrics = METRIC_BIT(memory);
		if (kind != OUT_PPROF && kind != OUT_FOLDED)
			o->select.metrics |=
			        memory == M_LIVE_BYTES
			                ? METRIC_BIT(M_ALLOCATED_BYTES) | METRIC_BIT(M_ALLOCATIONS)
			                : METRIC_BIT(M_BYTES);
	}
	if (!o->order.given)
		o->order = (struct order){ .word = str_of(metrics[memory].name), .by = memory };
}

/* Sets the default columns of a trace: device time, host self time and, except in code, calls. Text
 * shows both times instead of their sum, and nothing is ordered by the sum. */
static struct opts with_columns(
        const struct session *s, const struct view_ops *v, const struct opts *o)
{
	enum output_kind kind = o->output.kind;
	unsigned *columns;
	struct opts to = *o;

	to.new_input = s->model.new_input || s->recording.n;
	to.bare_input = s->bare_files;
	columns = &to.select.metrics;
	enum metric_id memory = session_wants_memory(o) ? M_LIVE_BYTES : session_memory_metric(s);
	if (memory != M_NONE) {
		set_memory_columns(&to, memory);
		return to;
	}
	if (!s->model.parallel_times)
		return to;
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
	static const enum metric_id of_traces[] = { M_KERNELS, M_BYTES_ACCESSED };

	for (size_t i = 0; i < sizeof of_traces / sizeof *of_traces; i++)
		if (!s->model.traces.n && o->select.metrics & METRIC_BIT(of_traces[i]))
			note_line(&s->notes, "note: only traces have numbers for %s\n",
			        metrics[of_traces[i]].name);
	if (!session_has_path(s) && o->select.metrics & METRIC_BIT(M_CRITICAL_MICROS))
		note_line(&s->notes, "note: only traces, and a recording that is loaded alone, "
		                     "have numbers for critical_micros\n");
}

/* Adds a note about the share of the device time for which float operations are known. */
static void note_coverage(struct session *s, const struct opts *o)
{
	struct sb b = sb_in(&s->query_arena);

	/* A command line of the original gets the original's answer. */
	if (!(o->select.metrics & METRIC_BIT(M_FLOAT_OPS)) ||
	        (!s->model.traces.n && !s->bare_files))
		return;
	const struct flops_coverage all = session_coverage(s);
	if (!all.all_ns)
		return;
	sb_put(&b, S("note: float operations are "));
	coverage_put_known(&b, &all);
	note_line(&s->notes, "%.*s\n", STR(sb_str(&b)));
}

/* Adds a note if columns of times or memory are selected and no step is loaded, unless the original
 * knows the command line. */
static void note_steps(struct session *s, const struct opts *o)
{
	bool any = false;

	for (enum metric_id i = 0; i < M_N; i++)
		any |= o->select.metrics & METRIC_BIT(i) && metrics[i].value < V_RUNS &&
		       !(metrics[i].uses & USE_MEMORY);
	if (any && session_has_snapshots(s))
		note_line(&s->notes, "note: memory snapshots have only numbers for live_bytes, "
		                     "allocated_bytes and allocations\n");
	else if (any && !s->model.steps.n && (s->bare_files || s->columns))
		note_line(&s->notes, "note: no step is loaded: times and memory are 0%s\n",
		        session_has_source(s, ROLE_GRAPH) && !s->model.new_input
		                ? " (--run_meta_path adds a step)"
		                : "");
}

/* Returns false for the graph timeline of the average, which writes one file per step and has no
 * result. */
static bool has_result(const struct view_ops *v, const struct opts *o)
{
	return !view_is(v->kind, VIEW_EDGES) || o->output.kind != OUT_TIMELINE || o->step >= 0;
}

/* Adds a note about the reason for an empty answer, unless a depth of 1 was requested, or the
 * original knows the command line. */
static void note_nothing(struct session *s, const struct result *r)
{
	static const char *const by[HIDDEN_N] = { "-start_name_regexes leaves", NULL,
		"-trim_name_regexes leaves", "a -min_ option leaves", NULL,
		"-show_name_regexes, -hide_name_regexes or -device_regexes leave" };
	enum hidden_by most = HIDDEN_DEPTH;

	for (enum hidden_by i = 0; i < HIDDEN_N; i++)
		if (by[i] && r->hidden[i] > (by[most] ? r->hidden[most] : 0))
			most = i;
	if (!(s->bare_files || s->columns) || r->n > 1 || !by[most])
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

/* Adds a note about the nodes of a TensorFlow graph that only a cycle leads to, unless the original
 * supports the command line. */
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
		text_quantity(b, r->q, m->unit, view_value(r->q, &r->deep, m->value), "");
		sb_fmt(b, " of %s", m->name);
		return;
	}
}

/* Adds a note about the rows of a text, or the entries of a file for another program, below
 * -max_depth. For texts, only rows that the preset hides are noted. For an output and inputs of the
 * original, notes are added only on a terminal. */
static void note_cut(struct session *s, const struct result *r)
{
	const struct opts *o = r->q->o;
	const struct output_row *row = &output_rows[o->output.kind];
	uint32_t n = r->hidden[HIDDEN_DEPTH];
	struct sb numbers = sb_in(&s->query_arena);

	if (r->hidden[HIDDEN_TOP] && !(row->flags & OUT_ROWS) && o->output.kind != OUT_NONE)
		note_line(&s->notes, "note: %u more %s (-n 0 shows all)\n", r->hidden[HIDDEN_TOP],
		        r->hidden[HIDDEN_TOP] == 1 ? "row" : "rows");
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

bool session_show(struct session *s, const struct view_ops *v, const struct opts *o,
        struct arena *a, struct view_answer *x)
{
	struct query *q = &x->q;

	*x = (struct view_answer){ .q.o = o };
	if (!session_query(s, v, q) || !has_graph(s, v, o))
		return false;
	x->columns = with_columns(s, v, o);
	note_columns(s, o);
	bool by_column = view_is(v->kind, VIEW_LIST) || view_is(v->kind, VIEW_PATHS);
	opts_complete(&x->columns, v->kind,
	        s->bare_files || (by_column && opts_use_ours(&x->columns, a)),
	        x->columns.new_input && view_is(v->kind, VIEW_LIST));
	q->o = &x->columns;
	q->a = a;
	q->fold = x->columns.new_input && view_is(v->kind, VIEW_TRACES);
	if (!view_run(v, q, &x->r, &s->error)) {
		note_stacks(s, v);
		return false;
	}
	note_nothing(s, &x->r);
	note_cycles(s, &x->r);
	note_steps(s, &x->columns);
	note_coverage(s, &x->columns);
	session_note_averages(s, &x->columns);
	session_note_flops(s, &x->columns);
	return true;
}

/* Limits the rows of op in text about a trace, as those of other tables, unless the user chose a
 * limit. */
static void limit_rows(struct opts *o, const struct view_ops *v)
{
	if (o->new_input && view_is(v->kind, VIEW_LIST) && o->output.kind == OUT_STDOUT &&
	        o->top < 0 && !o->depth_given && o->order.by != M_NAME)
		o->top = ROWS_SHOWN;
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
	        !(q.recording = session_recording_trace(s, ARG_BITS_ALL)))
		return false;
	if (o->output.kind == OUT_TIMELINE && !session_need_slices(s))
		return false;
	columns = with_columns(s, v, o);
	note_columns(s, o);
	bool by_column = view_is(v->kind, VIEW_LIST) || view_is(v->kind, VIEW_PATHS);
	opts_complete(&columns, v->kind,
	        s->bare_files || (by_column && opts_use_ours(&columns, &s->query_arena)),
	        columns.new_input && (message || view_is(v->kind, VIEW_LIST)));
	if (!message)
		limit_rows(&columns, v);
	q.o = o = &columns;
	q.fold = columns.new_input && !message && view_is(v->kind, VIEW_TRACES) &&
	         (o->output.kind == OUT_STDOUT || o->output.kind == OUT_FILE);
	struct emit to = session_emit_of(
	        s, q.m == &s->model ? &s->forest : &s->regrouped.forest, v->kind, out);
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
	session_note_averages(s, o);
	session_note_flops(s, o);
	if (s->ckpt && (o->select.metrics & METRIC_BIT(M_TENSOR_VALUE)))
		tensors_read(&r, s->ckpt, message != NULL);
	return out_write(&r, &to, &s->error) &&
	       (!message || !has_result(v, o) || result_write(&r, message, &s->error));
}

/* ---- command ---- */

/* Adds the original's sentences about the old option of 2016. */
static void take_dump_to_file(struct session *s, struct opts *o)
{
	if (!o->dump_to_file.n)
		return;
	note_line(&s->notes,
	        "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>\n");
	note_line(&s->notes, "-output %s is overwritten with -output file:outfile=%.*s\n",
	        output_rows[o->output.kind].name, STR(o->dump_to_file));
	o->output = (struct output){ .kind = OUT_FILE, .outfile = o->dump_to_file };
}

bool run_view(struct session *s, const struct request *r, struct sink *out)
{
	const struct view_ops *v = r->command->view;
	struct opts o = r->opts;

	take_dump_to_file(s, &o);
	if (o.source)
		return session_fail(s, ERR_INVALID_ARGUMENT, "-source: only code has source lines");
	if (!session_answer(s, v, &o, out, r->message))
		return false;
	if (!o.viz || (o.output.kind != OUT_STDOUT && o.output.kind != OUT_FILE))
		return true;
	o.output = (struct output){ .kind = OUT_TIMELINE, .outfile = str_of(v->name) };
	return session_answer(s, v, &o, out, NULL);
}
