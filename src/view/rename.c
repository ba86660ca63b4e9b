/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the names that a query shows (-rename): of nodes, op types, lines of code and source
 * files. The query gets shallow copies of its model and tree; patterns and order have used the
 * original names.
 */
#include "base/pattern.h"
#include "view/view.h"

struct renaming {
	struct pattern_subst *rules;
	struct arena *a;
	VEC(struct str) strings; /* the model's, and the new ones */
	uint32_t *to;            /* indexed by string id: 1 + the new id; 0: not requested yet */
};

/* Returns the id of a string's new text. */
static bool rename_string(struct renaming *x, uint32_t *id, struct err *e)
{
	struct str name;

	if (*id == ID_NONE)
		return true;
	if (!x->to[*id]) {
		struct str old = x->strings.v[*id];
		if (!pattern_subst_apply(x->rules, old, x->a, &name, e))
			return false;
		x->to[*id] = str_eq(old, name) ? *id + 1 : (uint32_t)x->strings.n + 1;
		if (!str_eq(old, name))
			VEC_PUSH(x->a, &x->strings, name);
	}
	*id = x->to[*id] - 1;
	return true;
}

static bool rename_nodes(struct renaming *x, struct model *m, struct err *e)
{
	struct node *nodes = ARENA_ARRAY(x->a, m->nodes.n, struct node);

	for (size_t i = 0; i < m->nodes.n; i++) {
		nodes[i] = m->nodes.v[i];
		if (!rename_string(x, &nodes[i].name, e))
			return false;
	}
	m->nodes.v = nodes;
	return true;
}

static bool rename_files(struct renaming *x, struct model *m, struct err *e)
{
	struct str *strings = ARENA_ARRAY(x->a, m->frames.n, struct str);
	struct frame *frames = ARENA_ARRAY(x->a, m->frames.n, struct frame);

	for (uint32_t i = 0; i < m->frames.n; i++) {
		frames[i] = model_frame(m, i);
		if (!rename_string(x, &frames[i].file, e))
			return false;
		strings[i] = str_make((const char *)&frames[i], sizeof frames[i]);
	}
	m->frames.strings = strings;
	return true;
}

static bool rename_model(struct renaming *x, struct model *m, struct err *e)
{
	x->to = ARENA_ARRAY(x->a, m->strings.n, uint32_t);
	for (size_t i = 0; i < m->strings.n; i++)
		VEC_PUSH(x->a, &x->strings, m->strings.strings[i]);
	if (!rename_nodes(x, m, e) || !rename_files(x, m, e))
		return false;
	m->strings.strings = x->strings.v;
	m->strings.n = x->strings.n;
	return true;
}

static bool rename_tree(struct renaming *x, struct tree *t, struct err *e)
{
	struct str *names = ARENA_ARRAY(x->a, t->n, struct str);

	names[0] = t->name[0];
	for (uint32_t i = 1; i < t->n; i++) {
		if (!pattern_subst_apply(x->rules, t->name[i], x->a, &names[i], e))
			return false;
	}
	t->name = names;
	return true;
}

bool view_rename(struct query *q, struct err *e)
{
	struct model *m = ARENA_NEW(q->a, struct model);
	struct tree *t = ARENA_NEW(q->a, struct tree);
	struct renaming x = { .a = q->a };

	if (!q->o->rename.n)
		return true;
	*m = *q->m;
	*t = *q->tree;
	q->m = m;
	q->tree = t;
	if (!pattern_subst_compile(&x.rules, q->a, q->o->rename, e))
		return false;
	bool ok = rename_model(&x, m, e) && rename_tree(&x, t, e);
	pattern_subst_free(x.rules);
	return ok;
}
