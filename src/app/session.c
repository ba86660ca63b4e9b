/* SPDX-License-Identifier: Apache-2.0
 *
 * See session.h. Knows no command language and prints nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "app/session.h"

static void begin(struct session *s)
{
	arena_clear(&s->query_arena);
	notes_init(&s->notes, &s->query_arena);
	s->error = (struct err){ .a = &s->query_arena };
	s->work.account->stop = NULL;
	s->built_notes = 0;
}

static bool open_session(struct session *s, void *ctx)
{
	notes_init(&s->load_notes, &s->model_arena);
	s->model.a = &s->model_arena;
	s->ingest = ingest_open(&s->model, &s->load_notes, *(const bool *)ctx);
	opts_preset(&s->sticky, &s->opts_arena[0]);
	return true;
}

struct session *session_new(size_t limit)
{
	return session_new_keeping(limit, false);
}

/* A session that charges the account, or, if it is NULL, its own with this limit. */
static struct session *new_session(struct account *account, size_t limit, bool keep_attrs)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->work.account = account ? account : &s->account;
	session_limit(s, s->work.account->limit);
	s->threads = 1;
	arena_init(&s->model_arena, &s->work);
	arena_init(&s->tree_arena, &s->work);
	arena_init(&s->query_arena, &s->work);
	arena_init(&s->ckpt_arena, &s->work);
	arena_init(&s->opts_arena[0], &s->work);
	arena_init(&s->opts_arena[1], &s->work);
	if (!session_guard(s, open_session, &keep_attrs)) {
		session_free(s);
		return NULL;
	}
	session_limit(s, account ? account->limit : limit);
	return s;
}

struct session *session_new_keeping(size_t limit, bool keep_attrs)
{
	return new_session(NULL, limit, keep_attrs);
}

struct session *session_new_beside(struct session *first)
{
	struct session *s = new_session(first->work.account, 0, false);

	if (s)
		s->threads = first->threads;
	return s;
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
	arena_free(&s->query_arena);
	arena_free(&s->opts_arena[0]);
	arena_free(&s->opts_arena[1]);
	account_close(&s->account);
	free(s);
}

bool session_guard(struct session *s, bool (*f)(struct session *s, void *ctx), void *ctx)
{
	if (setjmp(s->work.escape)) {
		s->error = (struct err){ .code = ERR_RESOURCE, .text = str_of(s->exhausted) };
		if (work_stopped(&s->work))
			s->error = (struct err){ .code = ERR_CANCELLED,
				.text = S("the command was cancelled") };
		return false;
	}
	begin(s);
	return f(s, ctx);
}

bool session_fail(struct session *s, enum status code, const char *f, ...)
{
	struct sb b = sb_in(&s->query_arena);
	va_list ap;

	va_start(ap, f);
	sb_vfmt(&b, f, ap);
	va_end(ap);
	s->error = (struct err){ .a = &s->query_arena, .code = code, .text = sb_str(&b) };
	return false;
}

/* ---- loading ---- */

static bool check_usable(struct session *s)
{
	if (s->broken)
		return session_fail(
		        s, ERR_FAILED, "memory ended while the session was loading: close it");
	return true;
}

static const char *kind_of(unsigned role)
{
	return role == ROLE_GRAPH      ? "graph"
	       : role == ROLE_STEP     ? "run_meta"
	       : role == ROLE_OPLOG    ? "op_log"
	       : role == ROLE_BASELINE ? "baseline"
	                               : "profile";
}

static void add_source(struct session *s, const char *kind, struct str path, int64_t step)
{
	struct source x = { kind, str_copy(&s->model_arena, path), step };

	VEC_PUSH(&s->model_arena, &s->sources, x);
}

static const char CHECKPOINT[] = "checkpoint";

/* There is one at a time, the last one. */
static void drop_checkpoint(struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i].kind != CHECKPOINT)
			s->sources.v[n++] = s->sources.v[i];
	s->sources.n = n;
}

/* For an answer of a view of this kind, whose tree is there. */
static struct origin origin_of(const struct session *s, enum vk kind)
{
	return (struct origin){ .v = s->sources.v,
		.n = s->sources.n,
		.loading = &s->load_notes,
		.building = &s->tree_notes[kind],
		.built = s->built_notes };
}

/* Until the load ends well, the model may be in pieces. */
static void begin_load(struct session *s)
{
	s->broken = true;
	s->sealed = false;
}

static const struct input_watch *watch(const struct session *s)
{
	return s->watch.progress ? &s->watch : NULL;
}

/* Gives the nodes that the checkpoint has values of the type _checkpoint_variables; quirk 20: not
 * those of a ProfileProto. */
static bool mark_variables(struct session *s)
{
	struct ckpt_tensor t;
	struct ckpt_list *l;

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
	}
	if (s->error.code)
		ingest_undo(s->ingest);
	else
		ingest_commit(s->ingest);
	s->broken = false;
	return !s->error.code;
}

bool session_checkpoint(struct session *s, struct str path)
{
	if (!check_usable(s))
		return false;
	ckpt_close(s->ckpt);
	s->ckpt = NULL;
	drop_checkpoint(s);
	arena_clear(&s->ckpt_arena);
	if (!ckpt_open(&s->ckpt, &s->ckpt_arena, path, &s->error))
		return false;
	add_source(s, CHECKPOINT, path, 0);
	return mark_variables(s);
}

bool session_load(struct session *s, unsigned role, const struct input_from *from)
{
	if (!check_usable(s))
		return false;
	begin_load(s);
	bool ok = input_load(s->ingest, role, from, watch(s), &s->work, &s->error);
	s->broken = false;
	s->loaded |= ok;
	s->profiled |= ok && role == ROLE_PROFILE;
	if (ok)
		add_source(s, kind_of(role), from->name, 0);
	return ok && (role != ROLE_GRAPH || mark_variables(s));
}

bool session_load_spools(struct session *s, const struct spools *files, const struct spools_opts *o)
{
	const struct spools_watch w = { s->watch.progress, s->watch.user };
	struct scratch own;

	if (!check_usable(s))
		return false;
	begin_load(s);
	scratch_open(&own, &s->work);
	ingest_begin(s->ingest, &own.a);
	bool ok = spools_read(s->ingest, files, o, w.progress ? &w : NULL, &own.a, &s->error);
	if (ok)
		ingest_commit(s->ingest);
	else
		ingest_undo(s->ingest);
	scratch_close(&own);
	s->broken = false;
	s->loaded |= ok;
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

	if (!check_usable(s))
		return false;
	begin_load(s);
	bool ok = input_load_steps(s->ingest, &steps, &done, &s->work, &s->error);
	s->broken = false;
	s->loaded |= done > 0;
	for (size_t i = 0; i < done; i++)
		add_source(s, kind_of(ROLE_STEP), v[i].from.name, v[i].step);
	return ok;
}

static void add_worker_sources(struct session *s, const struct input_worker *w)
{
	if (w->profile.n)
		add_source(s, kind_of(ROLE_PROFILE), w->profile, 0);
	if (w->graph.n)
		add_source(s, kind_of(ROLE_GRAPH), w->graph, 0);
	if (w->oplog.n)
		add_source(s, kind_of(ROLE_OPLOG), w->oplog, 0);
	for (size_t i = 0; i < w->n_steps; i++)
		add_source(s, kind_of(ROLE_STEP), w->steps[i].from.name, w->steps[i].step);
}

bool session_load_workers(
        struct session *s, const struct strs *names, const struct input_worker *v, size_t n)
{
	const struct input_workers workers = {
		.v = v, .n = n, .threads = s->threads, .watch = watch(s)
	};
	size_t merged = 0;

	if (!check_usable(s))
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
	return ok && mark_variables(s);
}

/* ---- asking ---- */

/* From here on a cancelled call ends at once: the model is not touched any more. */
static void begin_query(struct session *s)
{
	s->work.account->stop = &s->cancel;
	work_poll(&s->work);
}

bool session_seal(struct session *s)
{
	if (!check_usable(s))
		return false;
	if (s->sealed)
		return true;
	s->broken = true;
	if (!ingest_seal(s->ingest, &s->error))
		return false;
	s->broken = false;
	s->sealed = true;
	arena_clear(&s->tree_arena);
	memset(s->built, 0, sizeof s->built);
	return true;
}

/* The tree of a view, built at first use. */
static const struct tree *tree_of(struct session *s, const struct view_ops *v)
{
	struct tree *t = &s->trees[v->kind];

	if (!s->built[v->kind]) {
		s->work.account->stop = NULL; /* it would end without its tree, for nothing */
		*t = (struct tree){ .kind = v->kind };
		notes_init(&s->tree_notes[v->kind], &s->tree_arena);
		v->build(&s->model, t, &s->tree_arena, &s->tree_notes[v->kind]);
		note_append(&s->notes, &s->tree_notes[v->kind]);
		if (s->tree_notes[v->kind].list.n)
			s->built_notes = s->notes.list.n;
		s->built[v->kind] = true;
		begin_query(s);
	}
	return t;
}

/* The graph timeline of the average is one of each step, and has no result. */
static bool has_result(const struct view_ops *v, const struct opts *o)
{
	return v != &view_graph || o->output.kind != OUT_TIMELINE || o->step >= 0;
}

bool session_answer(struct session *s, const struct view_ops *v, const struct opts *o,
        struct sink *out, struct sink *message)
{
	struct query q = { .m = &s->model, .o = o, .a = &s->query_arena, .notes = &s->notes };
	struct emit to = { .a = &s->query_arena, .out = out, .notes = &s->notes };
	struct result r = { 0 };

	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	begin_query(s);
	q.tree = tree_of(s, v);
	to.from = origin_of(s, v->kind);
	if (!out_accepts(v, &q, &s->error)) {
		if (message)
			result_write_refused(message);
		return false;
	}
	if (!view_run(v, &q, &r, &s->error))
		return false;
	if (s->ckpt && (o->select.metrics & METRIC_BIT(M_TENSOR_VALUE)))
		tensors_read(&r, s->ckpt, message != NULL);
	return out_write(&r, &to, &s->error) &&
	       (!message || !has_result(v, o) || result_write(&r, message, &s->error));
}

bool session_view(
        struct session *s, const struct view_ops *v, const struct opts *o, struct sink *out)
{
	return session_answer(s, v, o, out, NULL);
}

/* A query whose view has accounted. */
static bool account(struct session *s, const struct side_ask *ask, struct query *q)
{
	q->tree = tree_of(s, ask->view);
	if (!view_open(q, &s->error))
		return false;
	if (ask->per_run)
		side_per_run(q);
	ask->view->account(q);
	return true;
}

/* The numbers of one step. */
static bool fill_step(struct session *s, const struct side_ask *ask, uint32_t i, struct side *out,
        struct arena *scratch)
{
	struct opts o = *ask->o;
	struct query q = { .m = &s->model, .o = &o, .a = scratch, .notes = &s->notes };

	o.step = ask->steps[i];
	o.steps.n = 0;
	if (!account(s, ask, &q))
		return false;
	side_fill(out, &q, (i + 1) * ask->n, ask->n);
	view_close(&q);
	return true;
}

bool session_side(struct session *s, const struct side_ask *ask, struct side *out, struct arena *a)
{
	struct query q = { .m = &s->model, .o = ask->o, .notes = &s->notes };
	uint32_t n = ask->n * (ask->n_steps + 1);
	enum value *values = ARENA_ARRAY(a, n, enum value);
	struct scratch own;

	if (!session_need_steps(s, ask->o) || !session_seal(s))
		return false;
	begin_query(s);
	if (ask->view->kind == VK_CODE && !s->model.has_traces)
		return session_fail(s, ERR_FAILED,
		        "there are no call stacks: no op log or profile with traces is loaded");
	for (uint32_t i = 0; i < n; i++)
		values[i] = ask->values[i % ask->n];
	scratch_open(&own, &s->work);
	q.a = &own.a;
	bool ok = account(s, ask, &q);
	if (ok) {
		side_from_query(out, &q, &(struct side_values){ values, n }, a);
		ok = view_patterns_ok(&q, &s->error);
		view_close(&q);
	}
	for (uint32_t i = 0; i < ask->n_steps && ok; i++) {
		arena_clear(&own.a);
		ok = fill_step(s, ask, i, out, &own.a);
	}
	scratch_close(&own);
	return ok;
}

static const struct tree *tree_of_kind(void *user, enum vk kind)
{
	return tree_of(user, views[kind]);
}

bool session_one_worker(struct session *s)
{
	if (s->model.workers.n <= 1)
		return true;
	return session_fail(s, ERR_FAILED,
	        "a profile has the steps of one worker, and %zu are loaded: load one of them",
	        s->model.workers.n);
}

bool session_write_profile(struct session *s, struct str path)
{
	struct sink *to;

	if (!session_need_all(s, true) || !session_seal(s) || !session_one_worker(s) ||
	        !sink_file(&to, &s->query_arena, path, &s->error))
		return false;
	profile_write(&s->model, to, &s->query_arena, &s->notes); /* the sink knows what failed */
	return sink_close(to, &s->error);
}

static bool write_run(struct session *s, const struct step *step, struct str path)
{
	struct scratch own;
	struct sink *to;
	bool ok;

	scratch_open(&own, &s->work);
	ok = sink_file(&to, &s->query_arena, path, &s->error);
	if (ok) {
		run_write(&s->model, step, to, &own.a, &s->notes, &s->error);
		ok = sink_close(to, &s->error);
	}
	scratch_close(&own);
	return ok && !s->error.code;
}

bool session_write_runs(struct session *s, struct str path)
{
	struct arena *a = &s->query_arena;
	struct sink *to;
	bool ok = session_need_all(s, true) && session_seal(s) && session_one_worker(s);

	for (size_t i = 0; ok && i < s->model.steps.n; i++)
		ok = write_run(s, s->model.steps.v[i],
		        str_fmt(a, "%.*s_%lld", STR(path), (long long)s->model.steps.v[i]->id));
	if (!ok || !sink_file(&to, a, str_fmt(a, "%.*s_graph.pb", STR(path)), &s->error))
		return false;
	graph_write(&s->model, to, a);
	return sink_close(to, &s->error);
}

void session_keep_attrs(struct session *s)
{
	ingest_keep_attrs(s->ingest);
}

bool session_advise(struct session *s, unsigned checkers, struct advice *out)
{
	struct advise ask = { .m = &s->model,
		.a = &s->query_arena,
		.notes = &s->notes,
		.checkers = checkers,
		.tree = tree_of_kind,
		.user = s };

	if (!session_need_all(s, false) || !session_seal(s))
		return false;
	begin_query(s);
	tree_of(s, &view_code); /* what building it says comes first, as in the original */
	return advise_run(&ask, out, &s->error);
}

bool session_put_advice(
        struct session *s, const struct advice *advice, const struct opts *o, struct sink *out)
{
	struct emit to = {
		.a = &s->query_arena, .out = out, .notes = &s->notes, .from = origin_of(s, VK_CODE)
	};

	return data_advice(advice, o, &to, &s->error);
}

void session_set(struct session *s, const struct opts *o)
{
	unsigned next = !s->opts_now;

	arena_clear(&s->opts_arena[next]);
	s->sticky = opts_copy(o, &s->opts_arena[next]);
	s->opts_now = next;
}
