/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the names that a query shows (-rename): of nodes, op types, lines of code and source
 * files. The query gets shallow copies of its model and tree; patterns and order have used the
 * original names. The view op groups by the new types, which its patterns and order then use.
 */
#include "base/pattern.h"
#include "view/view.h"

struct renaming {
	struct pattern_subst *rules;
	struct arena *a;
	VEC(struct str) strings; /* strings of the model, then the new strings */
	uint32_t *to;            /* indexed by string id: 1 + the new id; 0: not requested yet */
	struct intern made;      /* the new texts, sorted by id */
	const struct model *m;
};

/* Returns the id of the new text of a string. */
static bool rename_string(struct renaming *x, uint32_t *id, struct err *e)
{
	struct str name;

	if (*id == ID_NONE)
		return true;
	if (!x->to[*id]) {
		struct str old = x->strings.v[*id];
		if (!pattern_subst_apply(x->rules, old, x->a, &name, e))
			return false;
		uint32_t known = str_eq(old, name) ? *id : intern_find(&x->m->strings, name);
		if (known == ID_NONE) {
			known = (uint32_t)x->m->strings.n + intern_add_kept(&x->made, name);
			if (known == x->strings.n)
				VEC_PUSH(x->a, &x->strings, name);
		}
		x->to[*id] = known + 1;
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

/* Begins to rename strings of a model. */
static bool begin(struct renaming *x, const struct query *q, struct err *e)
{
	const struct model *m = q->m;

	*x = (struct renaming){ .a = q->a, .m = m };
	x->to = ARENA_ARRAY(x->a, m->strings.n, uint32_t);
	intern_init(&x->made, x->a);
	for (size_t i = 0; i < m->strings.n; i++)
		VEC_PUSH(x->a, &x->strings, m->strings.strings[i]);
	return pattern_subst_compile(&x->rules, q->a, q->o->rename, e);
}

/* Assigns the new strings to the copy of the model. */
static void end(struct renaming *x, struct model *m)
{
	pattern_subst_free(x->rules);
	m->strings.strings = x->strings.v;
	m->strings.n = x->strings.n;
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
	struct renaming x;

	if (!q->o->rename.n)
		return true;
	if (!begin(&x, q, e))
		return false;
	*m = *q->m;
	*t = *q->tree;
	bool ok = rename_nodes(&x, m, e) && rename_files(&x, m, e) &&
	          (q->types_renamed || rename_tree(&x, t, e));
	end(&x, m);
	q->m = m;
	q->tree = t;
	return ok;
}

/* Renames the operation types of nodes. */
static bool rename_types(struct renaming *x, struct model *m, struct err *e)
{
	struct node *nodes = ARENA_ARRAY(x->a, m->nodes.n, struct node);

	for (size_t i = 0; i < m->nodes.n; i++) {
		nodes[i] = m->nodes.v[i];
		if (!rename_string(x, &nodes[i].op, e))
			return false;
	}
	m->nodes.v = nodes;
	return true;
}

bool view_rename_types(struct query *q, struct err *e)
{
	struct model *m = ARENA_NEW(q->a, struct model);
	struct tree *t = ARENA_NEW(q->a, struct tree);
	struct renaming x;

	if (!q->o->rename.n)
		return true;
	if (!begin(&x, q, e))
		return false;
	*m = *q->m;
	bool ok = rename_types(&x, m, e);
	end(&x, m);
	if (!ok)
		return false;
	*t = (struct tree){ .kind = q->tree->kind };
	view_op_build(m, t, q->a, q->notes);
	q->m = m;
	q->tree = t;
	q->types_renamed = true;
	return true;
}
