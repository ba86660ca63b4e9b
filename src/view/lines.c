/* SPDX-License-Identifier: Apache-2.0
 *
 * The source lines of nodes: from the call paths of the view code, a list in which each line has
 * one entry.
 */
#include "view/view.h"

#define NO_LINE S("(no source)") /* as in traces */

uint32_t view_line_of(const struct model *m, const struct tree *code, uint32_t node)
{
	uint32_t first = code->entry_of[node];

	if (first == ID_NONE || m->nodes.v[node].frame == ID_NONE)
		return ID_NONE;
	for (uint32_t i = first; i; i = code->parent[i]) {
		struct frame f = model_frame(m, code->frame[i]);
		if (frame_is_placed(m, &f))
			return i;
	}
	return first;
}

/* Returns the name of a line: of a gradient, the line of the forward node. */
static struct str line_name(const struct tree *code, uint32_t entry)
{
	struct str name = code->name[entry];

	return code->gradient[entry] ? str_sub(name, 0, name.n - GRADIENT_SUFFIX.n) : name;
}

struct tree *view_lines(const struct model *m, const struct tree *code, struct arena *a)
{
	struct tree *t = ARENA_NEW(a, struct tree);
	uint32_t *frame = ARENA_ARRAY(a, code->n + 2, uint32_t); /* indexed by line */
	struct tree_nodes nodes = { .a = a };
	struct intern names;

	intern_init(&names, a);
	intern_add(&names, ROOT_NAME);
	frame[0] = ID_NONE;
	t->kind = code->kind;
	t->entry_of = ARENA_ARRAY(a, m->nodes.n, uint32_t);
	for (uint32_t node = 0; node < m->nodes.n; node++) {
		uint32_t line = view_line_of(m, code, node), before = (uint32_t)names.n;
		uint32_t id = intern_add(&names, line == ID_NONE ? NO_LINE : line_name(code, line));
		if (id == before)
			frame[id] = line == ID_NONE ? ID_NONE : code->frame[line];
		t->entry_of[node] = id;
	}
	for (size_t i = 0; i < names.n; i++)
		VEC_PUSH(a, &nodes.parent, i ? 0 : ID_NONE);
	tree_order(t, &nodes, NULL, a); /* the order of creation */
	t->name = names.strings;
	t->frame = frame;
	t->gradient = ARENA_ARRAY(a, names.n, bool);
	tree_members(t, m, a);
	return t;
}
