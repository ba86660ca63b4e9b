/* SPDX-License-Identifier: Apache-2.0
 *
 * See session.h. Independent of the command language; does not print.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/session.h"
#include "io/paths.h"

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
	s->model.a = &s->model_arena;
	s->forest.m = &s->model;
	s->ingest = ingest_open(&s->model, &s->load_notes, false);
	ingest_set_options(s->ingest, &s->reading);
	opts_preset(&s->sticky, &s->opts_arena[0]);
	return true;
}

/* Creates a session that charges the account or, if it is NULL, an account of its own with this
 * limit, which may be part of another one. */
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

struct session *session_new_beside(struct session *first)
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

/* True while loading may continue. */
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
		&s->regroup_arena, &s->query_arena, &s->opts_arena[0], &s->opts_arena[1] };

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
		        s, ERR_FAILED, "memory ended while the session was loading: close it");
	return true;
}

/* Fails if nothing can be added. */
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

/* There is at most one checkpoint, the last one given. */
static void drop_checkpoint(struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i].is->role != ROLE_CHECKPOINT)
			s->sources.v[n++] = s->sources.v[i];
	s->sources.n = n;
}

/* The model may be incomplete until loading succeeds. */
static void begin_load(struct session *s)
{
	s->broken = true;
	s->sealed = false;
}

static const struct input_watch *watch(const struct session *s)
{
	return s->watch.progress ? &s->watch : NULL;
}

/* Gives nodes with values in the checkpoint the type _checkpoint_variables, except those of a
 * ProfileProto (quirk 20). */
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
	if (s->recording_later && !files->v[0].given) {
		s->loaded = true;
		s->broken = false;
		add_source(s, ROLE_SPOOL, path, 0);
		keep_recording(s, files, o);
		return true;
	}
	scratch_open(&own, &s->work);
	ingest_begin(s->ingest, &own.a);
	facts.a = &own.a;
	bool ok = recording_lower(
	        s->ingest, files, o, w.progress ? &w : NULL, &facts, &own.a, &s->error);
	if (ok) {
		ingest_new_input(s->ingest);
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
	ingest_keep_said(s->ingest);
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
	arena_clear(&s->tree_arena);
	s->recording_trace = NULL;
	memset(s->forest.built, 0, sizeof s->forest.built);
	arena_clear(&s->regroup_arena);
	s->regrouped.by = BY_NONE;
	return true;
}
