/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of a session, its models and their trees, from which answers are computed.
 */
#include "lib/session.h"

#include "base/fmt.h"
#include "device/memory_use.h"
#include "export/table/trace_tables.h"
#include "export/out.h"
#include "lib/graph_calls.h"
#include "trace/read/recording/recordings.h"
#include "model/read/read.h"
#include "view/facts.h"
#include "view/step_columns.h"

#define WORKERS_LISTED 8 /* maximum number of names in a sentence */

/* ---- outputs ---- */

/* Returns the inputs of an answer, and the notes of loading them and of building the view's tree,
 * which must exist. VK_N: the answer needs no tree. */
static struct origin origin_of(const struct session *s, const struct forest *f, enum vk kind)
{
	return (struct origin){ .v = s->sources.v,
		.n = s->sources.n,
		.loading = &s->load_notes,
		.about = s->notes_wanted,
		.building = kind < VK_N ? &f->notes[kind] : NULL,
		.built = s->built_notes };
}

struct emit session_emit_of(
        struct session *s, const struct forest *f, enum vk kind, struct sink *out)
{
	return (struct emit){ .a = &s->query_arena,
		.out = out,
		.notes = &s->notes,
		.person = s->columns > 0 && !s->sticky.quiet,
		.from = origin_of(s, f, kind),
		.arrays = s->arrays,
		.cells = s->cells };
}

struct emit session_emit(struct session *s, enum vk kind, struct sink *out)
{
	return session_emit_of(s, &s->forest, kind, out);
}

/* ---- traces ---- */

const struct trace *session_recording_trace(struct session *s, uint64_t wants)
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

/* Adds a note with the number of workers without a trace. */
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

bool session_find_traces(struct session *s, uint64_t wants, bool devices, struct worker_traces *to)
{
	if (!session_seal(s))
		return false;
	if (!s->model.traces.n && !s->recording.n)
		return session_fail(s, ERR_FAILED,
		        "the loaded files contain neither a trace nor a recording\nhint: %s",
		        s->model.steps.n && !model_is_sampled(&s->model)
		                ? "for other profiles, 'summary' shows the devices, "
		                  "'steps' the steps and 'advise' what to look at first"
		                : "'summary' shows what the files contain");
	session_begin_query(s);
	*to = (struct worker_traces){
		.v = s->model.traces.v, .n = s->model.traces.n, .names = &s->model.workers
	};
	if (s->recording.n) {
		struct model_trace *x = ARENA_NEW(&s->query_arena, struct model_trace);
		struct device_use *use = devices ? read_devices(s) : NULL;
		if (devices)
			x->t = use ? use->t : NULL;
		else
			x->t = session_recording_trace(s, wants);
		*to = (struct worker_traces){
			.v = x, .n = 1, .names = &s->model.workers, .recorded = use
		};
		return x->t != NULL;
	}
	note_traceless(s);
	return true;
}

const struct model_trace *session_traces(struct session *s, size_t *n)
{
	struct worker_traces all = { 0 };

	if (!session_find_traces(s, ARG_BITS_ALL, false, &all))
		return NULL;
	*n = all.n;
	return all.v;
}

/* Fails because several traces are loaded. o: NULL if none can be selected. chosen: the selected
 * workers, or NULL: all. */
static const struct trace *fail_several(struct session *s, const struct opts *o, const bool *chosen)
{
	const struct strs *names = &s->model.workers;
	struct sb b = sb_in(&s->query_arena);
	size_t listed = 0;

	if (!o) {
		session_fail(s, ERR_FAILED, "several traces are loaded: name only one file");
		return NULL;
	}

	for (size_t i = 0; i < names->n; i++)
		if ((!chosen || chosen[i]) && listed++ < WORKERS_LISTED)
			sb_fmt(&b, "%s%.*s", listed > 1 ? ", " : "", STR(names->v[i]));
	if (listed > WORKERS_LISTED)
		sb_fmt(&b, " and %zu more", listed - WORKERS_LISTED);
	session_fail(s, ERR_FAILED,
	        "several traces are %s: name only one file, or select its worker\n"
	        "hint: -worker_regexes=NAME selects a worker; NAME is one of %.*s",
	        chosen ? "selected" : "loaded", STR(sb_str(&b)));
	return NULL;
}

const struct trace *session_one_trace(struct session *s, const struct opts *o)
{
	const struct model_trace *v, *found = NULL;
	bool *chosen = NULL;
	size_t n;

	if (!(v = session_traces(s, &n)) ||
	        (o && !workers_match(&s->model.workers, o, &chosen, &s->query_arena, &s->error)))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (chosen && !chosen[v[i].worker])
			continue;
		if (found)
			return fail_several(s, o, chosen);
		found = &v[i];
	}
	if (!found)
		session_fail(s, ERR_FAILED, "-worker_regexes: the selected worker has no trace");
	return found ? found->t : NULL;
}

bool session_rank_step(struct session *s, struct opts *o)
{
	enum step_rank rank = o->rank;
	size_t n;

	if (rank == STEP_RANK_NONE)
		return true;
	o->rank = STEP_RANK_NONE;
	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	const struct step_time *v = facts_steps(&s->model, s->recording.n ? &s->recording : NULL,
	        &s->recording_options, &n, &s->query_arena);
	if (!n)
		return session_fail(
		        s, ERR_FAILED, "no steps are loaded: '%s' needs one", step_rank_name(rank));
	o->step = v[rank == STEP_RANK_SLOWEST   ? n - 1
	            : rank == STEP_RANK_FASTEST ? 0
	                                        : (n - 1) / 2]
	                  .id;
	note_line(&s->notes, "the %s step is %lld\n", step_rank_name(rank), (long long)o->step);
	return true;
}

void session_note_averages(struct session *s, const struct opts *o)
{
	size_t steps = 0, workless = 0;

	for (size_t i = 0; i < s->model.traces.n; i++) {
		steps += s->model.traces.v[i].steps;
		workless += s->model.traces.v[i].workless;
	}
	if (!opts_names_steps(o))
		note_count(&s->notes, workless,
		        "note: the numbers are means of all %zu steps; %zu of them {has|have} no "
		        "device work, and steps, why and summary leave {it|them} out (-step "
		        "chooses)\n",
		        steps, workless);
}

/* Returns the coverage of a graph with times whose nodes have float operations. */
static struct flops_coverage graph_coverage(struct session *s)
{
	struct flops_coverage none = { .counts = false };
	struct flops_sums sums;

	if (!s->model.steps.n || !session_has_flops(s))
		return none;
	const struct graph_calls graph = graph_calls_find(s, false);
	if (!graph.ops.calls.n)
		return none;
	flops_sums_find(&sums, &graph.ops, &s->query_arena);
	return *flops_coverage_of(&sums, &s->query_arena);
}

struct flops_coverage session_coverage(struct session *s)
{
	struct flops_coverage all = { .counts = false };

	if (!s->model.traces.n)
		return graph_coverage(s);
	for (size_t i = 0; i < s->model.traces.n; i++) {
		const struct flops_coverage *c = s->model.traces.v[i].coverage;
		if (!c || !c->counts)
			continue;
		int64_t known = num_add(all.known_ns, c->known_ns);
		int64_t time = num_add(all.all_ns, c->all_ns);
		if (!all.counts)
			all = *c;
		else
			all.uncounted = 0; /* rows of several workers are not added up */
		all.known_ns = known;
		all.all_ns = time;
	}
	return all;
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

bool session_slices(struct session *s, const struct slices_request *request, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);

	if (!session_one_trace(s, NULL) || !session_need_slices(s))
		return false;
	slices_write(session_one_trace(s, NULL), request, &to, out);
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

/* ---- other nodes ---- */

/* The nodes that a query needs. */
struct regrouping {
	enum by by;
	bool path;            /* true: with their time on the critical path */
	bool memory;          /* the live set, */
	const struct opts *o; /* at the peak of the step that -step selects */
	struct memory_found found;
};

/* Adds the nodes of a worker that a query needs: of its trace or, for the live set, of the steps of
 * the worker if x->t is NULL. */
static bool add_regrouped(struct session *s, const struct model_trace *x, bool alone,
        struct regrouping *how, struct ingest *to)
{
	enum trace_by by = how->by < BY_MODULE
	                           ? TRACE_BY_PATH
	                           : (enum trace_by)(TRACE_BY_MODULE + (how->by - BY_MODULE));
	struct ingest *in = to;
	bool ok = true;
	struct scratch own;

	scratch_open(&own, &s->work);
	if (!alone) {
		struct model *m = ARENA_NEW(&own.a, struct model);
		m->a = &own.a;
		in = ingest_open(m, &s->regrouped.notes, false);
	}
	ingest_begin(in, &own.a);
	if (how->memory)
		memory_lower(&(struct memory_source){ x->t, &s->model, x->worker }, how->o,
		        how->by == BY_STACK, in, &how->found, &own.a);
	else
		trace_lower(x->t, by, how->path, in, NULL, &own.a);
	ingest_commit(in);
	if (!alone)
		ok = ingest_merge(
		        to, in, x->worker, false, s->model.workers.v[x->worker], &s->error);
	if (ok && x->t)
		ingest_keep_trace(to, &(struct model_trace){ .t = x->t, .worker = x->worker });
	scratch_close(&own);
	return ok;
}

/* True if only a recording is loaded. */
static bool is_recording(const struct session *s)
{
	return s->recording.n && s->sources.n == 1;
}

/* Adds the nodes of the recording with their time on the critical path. */
static bool add_recorded_path(struct session *s, struct ingest *to)
{
	const struct recording_watch watch = { s->watch.progress, s->watch.user };
	const struct trace *t = session_recording_trace(s, ARG_BITS_ALL);
	struct recording_options how = s->recording_options;
	struct src_facts facts = { 0 };
	struct scratch own;

	if (!t)
		return false;
	how.step_implied = true; /* as for the trace */
	scratch_open(&own, &s->work);
	ingest_begin(to, &own.a);
	facts.a = &own.a;
	bool ok = recording_lower(to, &s->recording, &how, watch.progress ? &watch : NULL, t,
	        &facts, &own.a, &s->error);
	if (ok) {
		ingest_parallel_times(to);
		ingest_commit(to);
	} else {
		ingest_undo(to);
	}
	scratch_close(&own);
	return ok;
}

/* Adds the live set of a recording, or of the steps of each worker. */
static bool add_stepwise(struct session *s, struct regrouping *how, struct ingest *to)
{
	struct model_trace x = { .t = NULL };
	size_t workers = s->model.workers.n ? s->model.workers.n : 1;

	if (s->recording.n && !(x.t = session_recording_trace(s, ARG_BITS_ALL)))
		return false;
	for (; x.worker < (x.t ? 1 : workers); x.worker++)
		if (!add_regrouped(s, &x, x.t || workers == 1, how, to))
			return false;
	return true;
}

bool session_check_moment(struct session *s, const struct moment *at, int64_t length, size_t ooms)
{
	struct sb asked = sb_in(&s->query_arena), last = sb_in(&s->query_arena);

	if (at->kind == MOMENT_OOM && !ooms)
		return session_fail(s, ERR_FAILED, "-at oom: no out-of-memory error is recorded");
	if (at->kind != MOMENT_TIME || at->ns <= length)
		return true;
	fmt_time(&asked, at->ns);
	fmt_time(&last, length);
	/* The last entry is also accepted as this message shows its time. */
	return str_eq(sb_str(&asked), sb_str(&last)) ||
	       session_fail(s, ERR_FAILED,
	               "-at: %.*s is after the last entry, which is %.*s after the first entry",
	               STR(at->text), STR(sb_str(&last)));
}

/* Fails if a query for the live set has found no allocations, or not the moment. */
static bool has_allocations(struct session *s, const struct regrouping *how)
{
	if (!how->memory)
		return true;
	if (how->o->at.kind == MOMENT_OOM && !how->found.ooms)
		return session_check_moment(s, &how->o->at, 0, 0);
	if (!how->found.pools && !session_has_snapshots(s))
		return session_fail(s, ERR_FAILED, NO_ALLOCATIONS);
	return session_check_moment(s, &how->o->at, how->found.length, how->found.ooms);
}

/* Makes a model of the traces with the nodes that a query needs. */
static bool regroup(struct session *s, struct regrouping *how)
{
	struct regrouped *r = &s->regrouped;
	struct ingest *in;

	s->changes++;
	arena_clear(&s->regroup_arena);
	*r = (struct regrouped){ .model = { .a = &s->regroup_arena, .new_input = true } };
	r->forest.m = &r->model;
	notes_init(&r->notes, &s->regroup_arena);
	in = ingest_open(&r->model, &r->notes, false);
	if (how->path && is_recording(s) && !add_recorded_path(s, in))
		return false;
	for (size_t i = 0; i < s->model.traces.n; i++)
		if (!add_regrouped(s, &s->model.traces.v[i], s->model.traces.n == 1, how, in))
			return false;
	if (how->memory && !s->model.traces.n && !add_stepwise(s, how, in))
		return false;
	if (!has_allocations(s, how))
		return false;
	r->model.workers = s->model.workers;
	if (!ingest_seal(in, &s->error))
		return false;
	r->by = how->by;
	r->path = how->path;
	r->memory = how->memory;
	r->step = how->memory ? how->o->step : 0;
	r->at = how->memory ? how->o->at.kind : MOMENT_PEAK;
	r->at_ns = how->memory ? how->o->at.ns : 0;
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

bool session_has_path(const struct session *s)
{
	bool traces = s->model.traces.n && s->model.traces.n == s->model.files.n;

	return traces || is_recording(s);
}

/* True if the regrouped model has the nodes that a query needs. */
static bool is_regrouped(const struct regrouped *r, const struct regrouping *how)
{
	return r->by == how->by && r->path == how->path && r->memory == how->memory &&
	       (!how->memory || (r->step == how->o->step && r->at == how->o->at.kind &&
	                                r->at_ns == how->o->at.ns));
}

static struct forest *regrouped_forest(struct session *s, struct regrouping *how)
{
	if (!is_regrouped(&s->regrouped, how) && (!session_need_slices(s) || !regroup(s, how)))
		return NULL;
	return &s->regrouped.forest;
}

bool session_has_snapshots(const struct session *s)
{
	for (size_t i = 0; i < s->model.traces.n; i++)
		if (s->model.traces.v[i].t->source != TRACE_SNAPSHOT)
			return false;
	return s->model.traces.n && s->model.traces.n == s->model.files.n && !s->recording.n;
}

bool session_has_metric(struct session *s, enum metric_id m)
{
	return !(metrics[m].uses & USE_MEMORY) || s->model.traces.n || s->model.steps.n ||
	       s->recording.n ||
	       session_fail(s, ERR_FAILED,
	               "%s needs allocations: no step, trace or snapshot is loaded",
	               metrics[m].name);
}

bool session_wants_memory(const struct opts *o)
{
	for (enum metric_id i = 0; i < M_N; i++)
		if (metrics[i].uses & USE_MEMORY &&
		        (o->select.metrics & METRIC_BIT(i) || o->order.by == i))
			return true;
	return false;
}

bool session_has_moment(struct session *s, const struct opts *o)
{
	if (o->at.kind == MOMENT_PEAK)
		return true;
	if (!session_has_snapshots(s) && !session_wants_memory(o))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "-at selects the moment of the live set: -select live_bytes shows it");
	return !opts_names_steps(o) ||
	       session_fail(s, ERR_INVALID_ARGUMENT,
	               "-at cannot be combined with -step, which shows the peak of a step");
}

/* Fails if the options name a metric that the loaded files cannot have. */
static bool has_metrics(struct session *s, const struct opts *o)
{
	for (enum metric_id i = 0; i < M_N; i++)
		if ((o->select.metrics & METRIC_BIT(i) || o->order.by == i) &&
		        !session_has_metric(s, i))
			return false;
	return true;
}

/* Fails if the options select numbers that are not those of the live set, for inputs that have
 * both. */
static bool has_only_memory(struct session *s, const struct opts *o)
{
	if (session_has_snapshots(s) || o->select.preset)
		return true;
	for (enum metric_id i = 0; i < M_N; i++)
		if (o->select.metrics & METRIC_BIT(i) && metrics[i].value != V_NONE &&
		        !(metrics[i].uses & USE_MEMORY))
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "%s cannot be selected together with live_bytes, allocated_bytes "
			        "or allocations",
			        metrics[i].name);
	return true;
}

/* Returns the model of the live set, together with its trees. On failure, sets s->error and returns
 * NULL. */
static struct forest *memory_forest(
        struct session *s, const struct view_ops *v, const struct opts *o)
{
	if (!has_metrics(s, o) || !has_only_memory(s, o))
		return NULL;
	if (o->by >= BY_MODULE) {
		session_fail(s, ERR_FAILED,
		        "-by groups slices, which have no live bytes; 'memory --by' groups "
		        "memory");
		return NULL;
	}
	if (o->steps.n) {
		session_fail(s, ERR_INVALID_ARGUMENT,
		        "the views show the live set of one step; 'memory -step' accepts "
		        "several");
		return NULL;
	}
	if (view_is(v->kind, VIEW_EDGES)) {
		session_fail(s, ERR_INVALID_ARGUMENT,
		        "the live set has no graph: scope, code and op show it");
		return NULL;
	}
	return regrouped_forest(
	        s, &(struct regrouping){ .by = view_is(v->kind, VIEW_TRACES) ? BY_STACK : BY_NONE,
	                   .memory = true,
	                   .o = o });
}

/* Returns the model that a view needs with these options, together with its trees. On failure, sets
 * s->error and returns NULL. */
static struct forest *forest_of(struct session *s, const struct view_ops *v, const struct opts *o)
{
	bool traces = s->model.traces.n && s->model.traces.n == s->model.files.n;
	struct regrouping how = { .by = o->by, .path = wants_path(o) && session_has_path(s) };
	if (!session_has_moment(s, o))
		return NULL;
	if (session_wants_memory(o) || (session_has_snapshots(s) && !view_is(v->kind, VIEW_EDGES)))
		return memory_forest(s, v, o);
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
		session_fail(s, ERR_FAILED, "-by %.*s needs a trace, but none is loaded%s", n, by,
		        o->by == BY_SOURCE && s->model.has_traces
		                ? "; 'top -by source' ranks the lines of other profiles"
		                : "");
		return NULL;
	}
	return regrouped_forest(s, &how);
}

/* Returns the model of peek, together with its trees. On failure, sets s->error and returns NULL.
 */
static struct forest *calls_forest(struct session *s, const struct opts *o)
{
	bool traces = s->model.traces.n && s->model.traces.n == s->model.files.n;

	if (session_has_snapshots(s) || session_wants_memory(o))
		return memory_forest(s, view_with(VIEW_TRACES), o);
	return traces ? regrouped_forest(s, &(struct regrouping){ .by = BY_CALLS, .o = o })
	              : &s->forest;
}

/* ---- queries ---- */

bool session_group(struct session *s, const struct view_ops *v, struct query *q)
{
	struct forest *forest = forest_of(s, v, q->o);

	if (!forest)
		return false;
	q->m = forest->m;
	q->tree = tree_of(s, forest, v);
	return !view_is(v->kind, VIEW_LIST) || view_rename_types(q, &s->error);
}

/* Loads and computes what a query needs. */
static bool prepare(struct session *s, struct query *q)
{
	if (!session_need_steps(s, q->o) || !session_seal(s) || !session_need_types(s, q->o) ||
	        !session_need_flops(s, q->o))
		return false;
	session_begin_query(s);
	q->a = &s->query_arena;
	q->notes = &s->notes;
	return true;
}

bool session_query(struct session *s, const struct view_ops *v, struct query *q)
{
	return prepare(s, q) && session_group(s, v, q);
}

bool session_query_calls(struct session *s, struct query *scope, struct query *code)
{
	struct forest *forest = prepare(s, scope) ? calls_forest(s, scope->o) : NULL;

	if (!forest)
		return false;
	scope->m = forest->m;
	scope->tree = tree_of(s, forest, view_with(VIEW_PATHS));
	*code = *scope;
	code->tree = forest->m->has_traces ? tree_of(s, forest, view_with(VIEW_TRACES)) : NULL;
	return true;
}

enum metric_id session_memory_metric(const struct session *s)
{
	if (session_has_snapshots(s))
		return M_LIVE_BYTES;
	enum value v = memory_heap_value(&s->model);
	return v == V_BYTES ? M_BYTES : v == V_RESIDUAL_BYTES ? M_RESIDUAL_BYTES : M_NONE;
}

enum metric_id session_main_metric(const struct session *s)
{
	enum metric_id memory = session_memory_metric(s);

	if (memory != M_NONE)
		return memory;
	return s->model.steps.n || s->n_later ? view_time_metric(&s->model) : M_PARAMS;
}

const struct tree *session_tree(void *user, enum vk kind)
{
	struct session *s = user;

	return tree_of(s, &s->forest, &views[kind]);
}
