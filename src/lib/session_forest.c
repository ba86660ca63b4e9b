/* SPDX-License-Identifier: Apache-2.0
 *
 * The models of a session and their trees: the loaded model, and for -by a second model that groups
 * the slices of the trace differently. Trees are built at first use.
 */
#include "lib/session.h"

#include "model/read.h"

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

/* Adds the nodes of a worker's trace that -by selects. */
static bool add_regrouped(
        struct session *s, const struct model_trace *x, enum by by, struct ingest *to)
{
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
	trace_lower(x->t, (enum trace_by)(TRACE_BY_MODULE + (by - BY_MODULE)), in, NULL, &own.a);
	ingest_commit(in);
	if (!alone)
		ok = ingest_merge(
		        to, in, x->worker, false, s->model.workers.v[x->worker], &s->error);
	if (ok)
		ingest_keep_trace(to, &(struct model_trace){ .t = x->t, .worker = x->worker });
	scratch_close(&own);
	return ok;
}

/* Makes a model of the traces with the nodes that -by selects. */
static bool regroup(struct session *s, enum by by)
{
	struct regrouped *r = &s->regrouped;
	struct ingest *in;

	arena_clear(&s->regroup_arena);
	*r = (struct regrouped){ .model = { .a = &s->regroup_arena, .new_input = true } };
	r->forest.m = &r->model;
	notes_init(&r->notes, &s->regroup_arena);
	in = ingest_open(&r->model, &r->notes, false);
	for (size_t i = 0; i < s->model.traces.n; i++)
		if (!add_regrouped(s, &s->model.traces.v[i], by, in))
			return false;
	r->model.workers = s->model.workers;
	if (!ingest_seal(in, &s->error))
		return false;
	r->by = by;
	return true;
}

/* True if the view shows call stacks and all files are traces. Traces have a call stack for each
 * call; a node of the model has only one. */
static bool wants_stacks(const struct session *s, const struct view_ops *v)
{
	return view_is(v->kind, VIEW_TRACES) && s->model.has_traces && s->model.traces.n &&
	       s->model.traces.n == s->model.files.n;
}

static struct forest *regrouped_forest(struct session *s, enum by by)
{
	if (s->regrouped.by != by && (!session_need_slices(s) || !regroup(s, by)))
		return NULL;
	return &s->regrouped.forest;
}

/* Returns the model that answers with these options, and its trees; NULL with an error. */
static struct forest *forest_of(struct session *s, const struct view_ops *v, const struct opts *o)
{
	if (o->by < BY_MODULE)
		return wants_stacks(s, v) ? regrouped_forest(s, BY_STACK) : &s->forest;
	const char *by = option_choice_at(view_option(S("by"))->choices, (int)o->by).p;
	int n = (int)strcspn(by, "|");
	if (!view_is(v->kind, VIEW_PATHS) && !view_is(v->kind, VIEW_LIST)) {
		session_fail(s, ERR_INVALID_ARGUMENT,
		        "-by %.*s is for the views scope and op, not for %s", n, by, v->name);
		return NULL;
	}
	if (!s->model.traces.n) {
		session_fail(s, ERR_FAILED,
		        "-by %.*s groups the slices of a trace: no trace is loaded", n, by);
		return NULL;
	}
	return regrouped_forest(s, o->by);
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
	if (!session_need_steps(s, q->o) || !session_seal(s) || !session_need_types(s, q->o))
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
