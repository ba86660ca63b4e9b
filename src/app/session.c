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
}

static bool open_session(struct session *s, void *ctx)
{
	(void)ctx;
	notes_init(&s->load_notes, &s->model_arena);
	s->model.a = &s->model_arena;
	s->ingest = ingest_open(&s->model, &s->load_notes, false);
	opts_preset(&s->sticky, &s->opts_arena[0]);
	return true;
}

struct session *session_new(size_t limit)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->account.limit = limit;
	if (limit)
		snprintf(s->exhausted, sizeof s->exhausted,
		        "the memory limit of %zu bytes is reached", limit);
	else
		snprintf(s->exhausted, sizeof s->exhausted, "out of memory");
	s->work.account = &s->account;
	s->threads = 1;
	arena_init(&s->model_arena, &s->work);
	arena_init(&s->tree_arena, &s->work);
	arena_init(&s->query_arena, &s->work);
	arena_init(&s->opts_arena[0], &s->work);
	arena_init(&s->opts_arena[1], &s->work);
	if (session_guard(s, open_session, NULL))
		return s;
	session_free(s);
	return NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	arena_free(&s->model_arena);
	arena_free(&s->tree_arena);
	arena_free(&s->query_arena);
	arena_free(&s->opts_arena[0]);
	arena_free(&s->opts_arena[1]);
	free(s);
}

bool session_guard(struct session *s, bool (*f)(struct session *s, void *ctx), void *ctx)
{
	if (setjmp(s->work.escape)) {
		s->error = (struct err){ NULL, ERR_RESOURCE, str_of(s->exhausted) };
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
	s->error = (struct err){ &s->query_arena, code, sb_str(&b) };
	return false;
}

/* ---- loading ---- */

static bool check_usable(struct session *s)
{
	if (s->broken)
		return session_fail(
		        s, ERR_FAILED, "memory ended while this session was loading: close it");
	return true;
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

bool session_load(struct session *s, unsigned role, const struct input_from *from)
{
	if (!check_usable(s))
		return false;
	begin_load(s);
	bool ok = input_load(s->ingest, role, from, watch(s), &s->work, &s->error);
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
	return ok;
}

/* ---- asking ---- */

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
		*t = (struct tree){ .kind = v->kind };
		v->build(&s->model, t, &s->tree_arena, &s->notes);
		s->built[v->kind] = true;
	}
	return t;
}

bool session_view(
        struct session *s, const struct view_ops *v, const struct opts *o, struct sink *out)
{
	struct query q = { .m = &s->model, .o = o, .a = &s->query_arena, .notes = &s->notes };
	struct emit to = { .a = &s->query_arena, .out = out, .notes = &s->notes };
	struct result r;

	if (!session_seal(s))
		return false;
	q.tree = tree_of(s, v);
	return view_run(v, &q, &r, &s->error) && out_write(&r, &to, &s->error);
}

static const struct tree *tree_of_kind(void *user, enum vk kind)
{
	return tree_of(user, views[kind]);
}

bool session_advise(struct session *s, unsigned checkers, struct advice *out)
{
	struct advise ask = { .m = &s->model,
		.a = &s->query_arena,
		.notes = &s->notes,
		.checkers = checkers,
		.tree = tree_of_kind,
		.user = s };

	if (!session_seal(s))
		return false;
	tree_of(s, &view_code); /* what building it says comes first, as in the original */
	return advise_run(&ask, out, &s->error);
}

void session_set(struct session *s, const struct opts *o)
{
	unsigned next = !s->opts_now;

	arena_clear(&s->opts_arena[next]);
	s->sticky = opts_copy(o, &s->opts_arena[next]);
	s->opts_now = next;
}
