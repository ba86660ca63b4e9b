/* SPDX-License-Identifier: Apache-2.0
 *
 * A session: what is loaded, and the queries on it. Independent of the command language; does not
 * print.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/session.h"
#include "io/paths.h"
#include "model/graph_flops.h"
#include "trace/trace_build.h"

static void begin(struct session *s)
{
	arena_clear(&s->query_arena);
	notes_init(&s->notes, &s->query_arena);
	s->error = (struct err){ .a = &s->query_arena };
	s->work.account->stop = NULL;
	s->work.account->cancel = s->parent_cancel ? s->parent_cancel : &s->cancel;
	s->built_notes = 0;
	s->work.pattern_work = 0;
}

static bool open_session(struct session *s, void *ctx)
{
	(void)ctx;
	notes_init(&s->load_notes, &s->model_arena);
	s->notes_wanted = NOTES_ALL;
	s->model.a = &s->model_arena;
	s->forest.m = &s->model;
	s->ingest = ingest_open(&s->model, &s->load_notes, false);
	ingest_set_options(s->ingest, &s->reading);
	opts_preset(&s->sticky, &s->opts_arena[0]);
	return true;
}

/* Creates a session that charges the given account. If it is NULL, the session charges an account
 * of its own with the given limit, which may be part of another account. */
static struct session *new_session(struct account *account, size_t limit, struct account *parent)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->account.parent = parent;
	s->work.account = account ? account : &s->account;
	session_limit(s, s->work.account->limit);
	s->threads = 1;
	arena_init(&s->model_arena, &s->work);
	arena_init(&s->tree_arena, &s->work);
	arena_init(&s->regroup_arena, &s->work);
	arena_init(&s->path_arena, &s->work);
	arena_init(&s->query_arena, &s->work);
	arena_init(&s->ckpt_arena, &s->work);
	arena_init(&s->opts_arena[0], &s->work);
	arena_init(&s->opts_arena[1], &s->work);
	if (!session_guard(s, open_session, NULL)) {
		session_free(s);
		return NULL;
	}
	session_limit(s, account ? account->limit : limit);
	return s;
}

struct session *session_new(size_t limit)
{
	return new_session(NULL, limit, NULL);
}

struct session *session_new_sharing(struct session *first)
{
	struct session *s = new_session(first->work.account, 0, NULL);

	if (s) {
		s->threads = first->threads;
		s->more_commands = first->more_commands;
	}
	return s;
}

struct session *session_new_part(struct session *whole)
{
	struct account *c = whole->work.account;

	return new_session(NULL, c->limit, c->parent ? c->parent : c);
}

void session_limit(struct session *s, size_t limit)
{
	s->work.account->limit = limit;
	if (limit)
		snprintf(s->exhausted, sizeof s->exhausted,
		        "the memory limit of %zu bytes is reached", limit);
	else
		snprintf(s->exhausted, sizeof s->exhausted, "out of memory");
}

void session_free(struct session *s)
{
	if (!s)
		return;
	ckpt_close(s->ckpt);
	arena_free(&s->ckpt_arena);
	arena_free(&s->model_arena);
	arena_free(&s->tree_arena);
	arena_free(&s->regroup_arena);
	arena_free(&s->path_arena);
	arena_free(&s->query_arena);
	arena_free(&s->opts_arena[0]);
	arena_free(&s->opts_arena[1]);
	account_close(&s->account);
	free(s);
}

void session_drop(void *session)
{
	session_free(session);
}

/* Returns true while loading may continue. */
static bool not_cancelled(void *session, uint64_t done, uint64_t total)
{
	struct session *s = session;

	(void)done;
	(void)total;
	return !atomic_load(&s->cancel);
}

struct input_watch session_not_cancelled(struct session *s)
{
	return (struct input_watch){ not_cancelled, s };
}

/* Calls f with each arena of the session. */
static void each_arena(struct session *s, void (*f)(struct arena *))
{
	struct arena *const all[] = { &s->model_arena, &s->ckpt_arena, &s->tree_arena,
		&s->regroup_arena, &s->path_arena, &s->query_arena, &s->opts_arena[0],
		&s->opts_arena[1] };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		f(all[i]);
}

bool session_guard(struct session *s, bool (*f)(struct session *s, void *ctx), void *ctx)
{
	if (setjmp(s->work.escape)) {
		each_arena(s, arena_close);
		s->error = (struct err){ .code = ERR_RESOURCE, .text = str_of(s->exhausted) };
		if (work_stopped(&s->work))
			s->error = (struct err){ .code = ERR_CANCELLED,
				.text = S("the command was cancelled") };
		return false;
	}
	begin(s);
	bool ok = f(s, ctx);
	work_end(&s->work);
#ifdef TFPROF_TEST
	each_arena(s, arena_check);
#endif
	return ok;
}

bool session_fail(struct session *s, enum status code, const char *f, ...)
{
	struct sb b = sb_in(&s->query_arena);
	va_list ap;

	va_start(ap, f);
	sb_vfmt_message(&b, f, ap);
	va_end(ap);
	s->error = (struct err){ .a = &s->query_arena, .code = code, .text = sb_str(&b) };
	return false;
}

bool session_fail_text(struct session *s, enum status code, struct str text)
{
	s->error = (struct err){ .a = &s->query_arena };
	return err_text(&s->error, code, text);
}

/* ---- loading ---- */

bool session_usable(struct session *s)
{
	if (s->broken)
		return session_fail(
		        s, ERR_FAILED, "the session ran out of memory while loading: close it");
	return true;
}

/* Fails if inputs cannot be added. */
static bool may_load(struct session *s)
{
	if (atomic_load(&s->readers))
		return session_fail(s, ERR_FAILED,
		        "nothing can be added while an Arrow stream of the session is open: "
		        "release the stream first");
	return session_usable(s);
}

static void add_source(struct session *s, unsigned role, struct str path, int64_t step)
{
	struct source x = { input_role(role), str_copy(&s->model_arena, path), step };

	VEC_PUSH(&s->model_arena, &s->sources, x);
}

bool session_has_source(const struct session *s, unsigned role)
{
	for (size_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i].is->role == role)
			return true;
	return false;
}

/* Drops the checkpoint. There is at most one, the one given last. */
static void drop_checkpoint(struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i].is->role != ROLE_CHECKPOINT)
			s->sources.v[n++] = s->sources.v[i];
	s->sources.n = n;
}

/* Begins loading: the model may be incomplete until it succeeds. */
static void begin_load(struct session *s)
{
	s->broken = true;
	s->sealed = false;
}

static const struct input_watch *watch(const struct session *s)
{
	return s->watch.progress ? &s->watch : NULL;
}

/* Assigns the type _checkpoint_variables to nodes with values in the checkpoint, except the nodes
 * of a ProfileProto (quirk 20). */
static bool mark_variables(struct session *s)
{
	struct ckpt_tensor t;
	struct ckpt_list *l;
	uint64_t foreign = 0;

	if (!s->ckpt || s->profiled || !s->loaded)
		return true;
	begin_load(s);
	l = ckpt_list(s->ckpt, &s->ckpt_arena, &s->error);
	ingest_begin(s->ingest, &s->model_arena);
	uint32_t type = ingest_string(s->ingest, S("_checkpoint_variables"));
	for (;;) {
		struct arena_mark m = arena_mark(&s->query_arena);
		if (!ckpt_next(l, &s->query_arena, &t))
			break;
		uint32_t node = model_find(&s->model, t.name);
		arena_reset(&s->query_arena, m);
		if (node != ID_NONE)
			ingest_add_type(s->ingest, node, type);
		foreign += node == ID_NONE;
	}
	if (s->error.code)
		ingest_undo(s->ingest);
	else
		ingest_commit(s->ingest);
	ingest_set_unused(s->ingest, S("checkpoint"), S("tensors without a node"), foreign);
	s->broken = false;
	return !s->error.code;
}

bool session_add_type(struct session *s, const uint32_t *nodes, size_t n, struct str type)
{
	if (!may_load(s))
		return false;
	begin_load(s);
	ingest_begin(s->ingest, &s->query_arena);
	uint32_t id = ingest_string(s->ingest, type);
	for (size_t i = 0; i < n; i++)
		ingest_add_type(s->ingest, nodes[i], id);
	ingest_commit(s->ingest);
	s->broken = false;
	return true;
}

/* Stores the writer and version of a checkpoint. */
static void keep_checkpoint(struct session *s, struct str path)
{
	uint64_t version = ckpt_version(s->ckpt);
	struct src_facts facts = { .a = &s->query_arena };

	if (version)
		facts.producer = str_fmt(facts.a, "TensorFlow, %s version %llu",
		        ckpt_is_bundle(s->ckpt) ? "bundle" : "slice table",
		        (unsigned long long)version);
	ingest_file(s->ingest, path, S("checkpoint"), &facts);
}

bool session_checkpoint(struct session *s, struct str path)
{
	if (!may_load(s))
		return false;
	ckpt_close(s->ckpt);
	s->ckpt = NULL;
	drop_checkpoint(s);
	arena_clear(&s->ckpt_arena);
	if (!ckpt_open(&s->ckpt, &s->ckpt_arena, path, &s->error))
		return false;
	add_source(s, ROLE_CHECKPOINT, path, 0);
	keep_checkpoint(s, path);
	return mark_variables(s);
}

/* Lists the execution traces that accompany traces as sources. */
static void add_calls(struct session *s)
{
	for (size_t i = 0; i < s->reading.n_calls; i++)
		add_source(s, ROLE_GRAPH, s->reading.calls[i].path, 0);
}

bool session_load(struct session *s, unsigned role, const struct input_from *from)
{
	if (!may_load(s))
		return false;
	begin_load(s);
	bool ok = input_load(s->ingest, role, from, watch(s), &s->work, &s->error);
	s->broken = false;
	if (ok && !from->memory && path_is_empty(&s->query_arena, from->name))
		note_line(&s->load_notes, "note: '%.*s' is empty\n", STR(from->name));
	s->loaded |= ok;
	s->profiled |= ok && role == ROLE_PROFILE;
	if (ok)
		add_source(s, role, from->name, 0);
	if (ok && role == ROLE_PROFILE)
		add_calls(s);
	return ok && (role != ROLE_GRAPH || mark_variables(s));
}

/* Stores the recording: data that the model lacks is read from its files on demand. */
static void keep_recording(
        struct session *s, const struct recording_set *files, const struct recording_options *o)
{
	struct arena *a = &s->model_arena;
	struct recording_options *to = &s->recording_options;

	if (files->v[0].given)
		return;
	s->recording = *files;
	s->recording.v = ARENA_ARRAY(a, files->n, struct recording_file);
	for (size_t i = 0; i < files->n; i++)
		s->recording.v[i].path = str_copy(a, files->v[i].path);
	s->recording.control = str_copy(a, files->control);
	s->recording.options = str_copy(a, files->options);
	*to = *o;
	to->step_nvtx = str_copy(a, o->step_nvtx);
	to->step_kernel = str_copy(a, o->step_kernel);
	to->process = str_copy(a, o->process);
	to->job = str_copy(a, o->job);
	to->gpu = str_copy(a, o->gpu);
	to->detail_steps = str_copy(a, o->detail_steps);
}

bool session_load_spools(struct session *s, struct str path, const struct recording_set *files,
        const struct recording_options *o)
{
	const struct recording_watch w = { s->watch.progress, s->watch.user };
	struct src_facts facts = { 0 };
	struct scratch own;

	if (!may_load(s))
		return false;
	begin_load(s);
	bool joined = s->reading.graph_capture.n && !files->v[0].given;
	if (s->recording_later && !joined && !files->v[0].given) {
		s->loaded = true;
		s->broken = false;
		add_source(s, ROLE_SPOOL, path, 0);
		keep_recording(s, files, o);
		return true;
	}
	scratch_open(&own, &s->work);
	ingest_begin(s->ingest, &own.a);
	facts.a = &own.a;
	const struct recording_watch *watched = w.progress ? &w : NULL;
	const struct graph_source graphs = { path, s->reading.graph_capture };
	bool ok = joined ? recording_lower_graphs(
	                           s->ingest, files, o, watched, &graphs, &own.a, &s->error)
	                 : recording_lower(
	                           s->ingest, files, o, watched, NULL, &facts, &own.a, &s->error);
	if (ok) {
		ingest_new_input(s->ingest);
		ingest_parallel_times(s->ingest);
		ingest_file(s->ingest, path, S("GPU recording"), &facts);
	}
	if (ok)
		ingest_commit(s->ingest);
	else
		ingest_undo(s->ingest);
	scratch_close(&own);
	s->broken = false;
	s->loaded |= ok;
	if (ok) {
		add_source(s, ROLE_SPOOL, path, 0);
		if (!joined) /* the trace is kept */
			keep_recording(s, files, o);
	}
	return ok;
}

bool session_load_steps(struct session *s, const struct input_step *v, size_t n,
        bool (*folded)(void *user, size_t i), void *user)
{
	struct input_steps steps = { .v = v,
		.n = n,
		.threads = s->threads,
		.folded = folded,
		.user = user,
		.watch = watch(s) };
	size_t done = 0;

	if (!may_load(s))
		return false;
	begin_load(s);
	bool ok = input_load_steps(s->ingest, &steps, &done, &s->work, &s->error);
	s->broken = false;
	s->loaded |= done > 0;
	for (size_t i = 0; i < done; i++)
		add_source(s, ROLE_STEP, v[i].from.name, v[i].step);
	return ok;
}

static void add_worker_sources(struct session *s, const struct input_worker *w)
{
	if (w->profile.n)
		add_source(s, ROLE_PROFILE, w->profile, 0);
	if (w->graph.n)
		add_source(s, ROLE_GRAPH, w->graph, 0);
	if (w->oplog.n)
		add_source(s, ROLE_OPLOG, w->oplog, 0);
	for (size_t i = 0; i < w->n_steps; i++)
		add_source(s, ROLE_STEP, w->steps[i].from.name, w->steps[i].step);
}

bool session_load_workers(
        struct session *s, const struct strs *names, const struct input_worker *v, size_t n)
{
	const struct input_workers workers = {
		.v = v, .n = n, .threads = s->threads, .watch = watch(s)
	};
	size_t merged = 0;

	if (!may_load(s))
		return false;
	begin_load(s);
	bool ok = input_load_workers(s->ingest, &workers, &merged, &s->work, &s->error);
	if (merged && names)
		ingest_workers(s->ingest, names);
	s->broken = false;
	s->loaded |= merged > 0;
	for (size_t i = 0; i < merged; i++) {
		s->profiled |= v[i].profile.n > 0;
		add_worker_sources(s, &v[i]);
	}
	if (ok)
		add_calls(s);
	return ok && mark_variables(s);
}

void session_keep_attrs(struct session *s)
{
	ingest_keep_attrs(s->ingest);
	ingest_keep_notes(s->ingest);
}

void session_set(struct session *s, const struct opts *o)
{
	unsigned next = !s->opts_now;

	arena_clear(&s->opts_arena[next]);
	s->sticky = opts_copy(o, &s->opts_arena[next]);
	s->opts_now = next;
}

/* ---- queries ---- */

void session_begin_query(struct session *s)
{
	s->work.account->stop = &s->cancel;
	work_poll(&s->work);
}

bool session_seal(struct session *s)
{
	if (!session_usable(s))
		return false;
	if (s->sealed)
		return true;
	s->broken = true;
	if (!ingest_seal(s->ingest, &s->error))
		return false;
	s->broken = false;
	s->sealed = true;
	s->changes++;
	arena_clear(&s->tree_arena);
	s->recording_trace = NULL;
	memset(s->forest.built, 0, sizeof s->forest.built);
	arena_clear(&s->regroup_arena);
	s->regrouped.by = BY_NONE;
	s->regrouped.path = false;
	arena_clear(&s->path_arena);
	s->kept = NULL;
	return true;
}

/* ---- graphs without an op log ---- */

static bool asks_for_trained(const struct opts *o)
{
	for (size_t i = 0; i < o->account.n; i++)
		if (str_contains(o->account.v[i], S(TYPE_TRAINABLE)))
			return true;
	return false;
}

/* True if no loaded input states types and float operations of nodes. */
static bool graph_alone(const struct session *s)
{
	return session_has_source(s, ROLE_GRAPH) && !session_has_source(s, ROLE_OPLOG) &&
	       !session_has_source(s, ROLE_PROFILE);
}

/* Adds a note that nothing is accounted, with a suggestion. */
static void note_unknown(struct session *s, size_t variables)
{
	if (variables)
		note_line(&s->notes,
		        "note: no variable has the type " TYPE_TRAINABLE ", which an op log or a "
		        "MetaGraphDef gives; the graph has %zu variable%s: -account_type_regexes "
		        "'Var.*'\n",
		        variables, variables == 1 ? "" : "s");
	else if (s->bare_files || s->columns)
		note_line(&s->notes, "note: no node has the type " TYPE_TRAINABLE
		                     ": the graph has no variables\n");
}

bool session_need_types(struct session *s, const struct opts *o)
{
	uint32_t *nodes;
	size_t all;

	if (!asks_for_trained(o) || !graph_alone(s) || model_knows_trained(&s->model))
		return true;
	size_t n = model_trained(&s->model, &nodes, &all, &s->query_arena);
	/* A command line of the original gets the original's answer. */
	if (!n || !s->bare_files || atomic_load(&s->readers)) {
		note_unknown(s, all);
		return true;
	}
	if (!session_add_type(s, nodes, n, S(TYPE_TRAINABLE)))
		return false;
	note_line(&s->notes,
	        "note: no op log names the trainable variables; counted as trainable: %s (%zu of "
	        "%zu)\n",
	        n < all ? "variables that an optimizer updates" : "all variables", n, all);
	return session_seal(s);
}

/* Sets the float operations of the nodes. A node that calls functions has those of their nodes. */
static bool set_flops(struct session *s, const struct graph_flops *f)
{
	int64_t *sum = ARENA_ARRAY(&s->query_arena, s->model.nodes.n, int64_t);

	if (!may_load(s))
		return false;
	begin_load(s);
	ingest_begin(s->ingest, &s->query_arena);
	for (uint32_t i = 0; i < f->m->nodes.n; i++) {
		uint32_t node = f->owner ? f->owner[i] : i;
		if (f->state[i] == NODE_LACKS_DATA || f->state[i] == NODE_REPEATS)
			ingest_set_uncounted(s->ingest, node);
		sum[node] = num_add(sum[node], f->v[i]);
	}
	for (uint32_t i = 0; i < s->model.nodes.n; i++)
		if (sum[i])
			ingest_set_float_ops(s->ingest, i, sum[i]);
	ingest_commit(s->ingest);
	s->broken = false;
	s->computes_flops = true;
	return true;
}

bool session_has_flops(const struct session *s)
{
	for (size_t i = 0; i < s->model.nodes.n; i++)
		if (s->model.nodes.v[i].float_ops || s->model.nodes.v[i].flags & NODE_UNCOUNTED)
			return true;
	return false;
}

void session_note_flops(struct session *s, const struct opts *o)
{
	if (o->select.metrics != METRIC_BIT(M_FLOAT_OPS) || !graph_alone(s) ||
	        session_has_flops(s) || s->bare_files)
		return;
	note_line(&s->notes,
	        "note: a graph has no float operations; an op log has them: write_op_log in the "
	        "Python package tfprof creates one for --op_log_path\n");
}

#define LOST_SHOWN 3

/* Adds notes about the sources of shapes, and about missing shapes. */
static void note_shapes(struct session *s, const struct graph_flops *f)
{
	size_t computed = graph_shapes_computed(f->shapes), n;
	const struct lost_shapes *lost =
	        graph_shapes_lost(f->shapes, f->state, NODE_LACKS_DATA, &n);
	struct sb ops = sb_in(&s->query_arena);

	if (computed)
		note_line(&s->notes,
		        "note: the file does not state the output shapes of %zu node%s; they are "
		        "computed from placeholders, variables and constants\n",
		        computed, computed == 1 ? "" : "s");
	if (f->loops)
		note_line(&s->notes, "note: the file does not state how often %s; %s\n",
		        f->loops == 1 ? "a loop runs"
		                      : str_z(&s->query_arena, str_fmt(&s->query_arena,
		                                                       "%zu loops run", f->loops)),
		        f->loops == 1 ? "its operations count once"
		                      : "their operations count once");
	if (!f->unknown)
		return;
	for (size_t i = 0; i < n && i < LOST_SHOWN; i++) {
		sb_put(&ops, i ? S(", ") : STR_NONE);
		sb_put_name(&ops, lost[i].op);
		sb_put(&ops, S(" ("));
		sb_put_name(&ops, lost[i].first);
		sb_char(&ops, ')');
	}
	note_line(&s->notes, "note: %zu node%s not counted: 'flops' lists the reasons%s%.*s%s\n",
	        f->unknown, f->unknown == 1 ? " is" : "s are",
	        n ? "; shapes are not known after: " : "", STR(sb_str(&ops)),
	        s->assume_batch ? "" : "; --assume_batch=N gives an unknown first dimension");
}

bool session_need_flops(struct session *s, const struct opts *o)
{
	if (!(o->select.metrics & METRIC_BIT(M_FLOAT_OPS)) || !graph_alone(s) ||
	        session_has_flops(s))
		return true;
	/* A command line of the original gets the original's answer. */
	if (!s->bare_files || atomic_load(&s->readers))
		return true;
	const struct graph_flops f =
	        model_flops(&s->model, s->assume_batch, false, &s->query_arena);
	if (f.counted + f.unknown && !set_flops(s, &f))
		return false;
	if (f.onnx)
		note_line(&s->notes,
		        "note: float operations are computed from the shapes of %zu of %zu "
		        "operators: 'flops' lists the rest\n",
		        f.counted, f.onnx);
	else if (f.counted + f.unknown)
		note_line(&s->notes,
		        "note: without an op log, float operations come from TensorFlow's own "
		        "statistics: %zu node%s counted, other nodes are 0\n",
		        f.counted, f.counted == 1 ? "" : "s");
	if (!f.onnx)
		note_shapes(s, &f);
	return session_seal(s);
}

/* ---- deferred files ---- */

static struct input_step *copy_steps(struct arena *a, const struct input_step *v, size_t n)
{
	struct input_step *to = ARENA_ARRAY(a, n, struct input_step);

	for (size_t i = 0; i < n; i++) {
		to[i] = v[i];
		to[i].from.name = str_copy(a, v[i].from.name);
	}
	return to;
}

void session_load_later(struct session *s, const struct input_step *v, size_t n)
{
	s->later = copy_steps(&s->model_arena, v, n);
	s->n_later = n;
}

bool session_keep_older(struct session *s, const struct input_worker *v, size_t n)
{
	struct arena *a = &s->model_arena;

	s->older = ARENA_ARRAY(a, n, struct input_worker);
	s->n_older = n;
	for (size_t i = 0; i < n; i++) {
		s->older[i] = v[i];
		s->older[i].name = str_copy(a, v[i].name);
		s->older[i].profile = str_copy(a, v[i].profile);
		s->older[i].steps = copy_steps(a, v[i].steps, v[i].n_steps);
	}
	return true;
}

/* Counts a loaded step. Steps are loaded one after the other and never twice. */
static bool count_folded(void *user, size_t i)
{
	size_t *n = user;

	*n = i + 1;
	return true;
}

/* True if the steps that the options name are loaded or deferred. */
static bool knows_steps(struct session *s, const struct opts *o)
{
	struct imap later;
	uint32_t place;

	imap_init(&later, &s->query_arena);
	for (size_t i = 0; i < s->n_later; i++)
		imap_put(&later, (uint64_t)s->later[i].step, 0, false);
	for (size_t i = 0; i < o->steps.n; i++) {
		int64_t step = o->steps.v[i].from;
		if (step == o->steps.v[i].to && !model_step(&s->model, step) &&
		        !imap_get(&later, (uint64_t)step, &place))
			return false;
	}
	return o->step < 0 || model_step(&s->model, o->step) ||
	       imap_get(&later, (uint64_t)o->step, &place);
}

/* Loads the deferred files of missing steps, all at once and only once. */
static bool load_older(struct session *s)
{
	size_t n = s->n_older;

	s->n_older = 0;
	return n == 0 || session_load_workers(s, NULL, s->older, n);
}

/* Loads the deferred steps that the options select (NULL: all steps). Also loads all if a step is
 * missing, because the sentence lists the existing steps. */
static bool load_later(struct session *s, const struct opts *o)
{
	struct input_step *now, *left = s->later;
	size_t n = 0, seen = 0, folded = 0;

	if (s->n_later == 0)
		return true;
	if (o && !knows_steps(s, o))
		o = NULL;
	now = ARENA_ARRAY(&s->query_arena, s->n_later, struct input_step);
	for (size_t i = 0; i < s->n_later; i++)
		if (!o || opts_has_step(o, s->later[i].step))
			now[n++] = s->later[i];
	if (n == 0)
		return true;
	bool ok = session_load_steps(s, now, n, count_folded, &folded);
	for (size_t i = 0; i < s->n_later; i++)
		if ((o && !opts_has_step(o, s->later[i].step)) || seen++ >= folded)
			*left++ = s->later[i];
	s->n_later = (size_t)(left - s->later);
	return ok;
}

/* Loads the steps that the options need. Older files are needed for a missing step and for a range,
 * which may include their steps. */
bool session_need_steps(struct session *s, const struct opts *o)
{
	bool older = !knows_steps(s, o);

	for (size_t i = 0; i < o->steps.n; i++)
		older |= o->steps.v[i].from != o->steps.v[i].to;
	return load_later(s, o) && (!older || load_older(s));
}

bool session_need_all(struct session *s, bool older)
{
	return load_later(s, NULL) && (!older || load_older(s));
}
