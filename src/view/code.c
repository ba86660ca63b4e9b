/* SPDX-License-Identifier: Apache-2.0
 *
 * The code view: nodes by the lines of Python that created them. Gradient nodes are below
 * the node whose gradient they compute, in a separate branch. Nodes without a call stack are left
 * out, as in the original; for inputs that the original cannot read, they are below an entry of
 * their own, so the view has all numbers.
 */
#include "base/fmt.h"
#include "view/view.h"

#define NO_STACK     S("(no call stack)")
#define FUNCTION_MAX 20 /* longer names are truncated */
#define FUNCTION_CUT 17

enum { PLAIN, GRADIENT, BRANCHES };

/* The tree under construction. A child is identified by its parent and its name. The entries of a
 * stack's frames are cached, so a repeated stack costs one lookup. */
struct code_lines {
	const struct model *m;
	struct arena *a; /* arena for scratch data */
	struct tree_nodes nodes;
	struct intern names;       /* lives in the tree's arena */
	VEC(uint32_t) name, frame; /* indexed by entry */
	VEC(bool) gradient;
	uint32_t *entry_at[BRANCHES]; /* indexed by frame of the model; 0: not created yet */
	VEC(uint32_t) path;           /* frames, innermost first */
	struct imap child;            /* key: parent << 32 | name; value: entry */
	struct sb text;
};

/* Writes "file.py:12:function" with shortened function names. A frame without names becomes "none".
 * A function without a source file, such as a built-in method of Python, is shown by its full name
 * only, so that different functions remain different entries. */
static struct str trace_name(struct code_lines *l, const struct frame *f, bool gradient)
{
	struct sb *b = &l->text;
	struct str file = f->file == ID_NONE ? S("none") : model_str(l->m, f->file);
	struct str function = f->function == ID_NONE ? S("none") : model_str(l->m, f->function);
	bool placed = frame_is_placed(l->m, f) || !function.n;
	bool whole = !placed || function.n < FUNCTION_MAX;

	b->n = 0;
	if (placed) {
		sb_put(b, str_base(file));
		sb_char(b, ':');
		fmt_i64(b, f->line);
		sb_char(b, ':');
	}
	sb_put(b, str_sub(function, 0, whole ? function.n : FUNCTION_CUT));
	if (!whole)
		sb_put(b, S("..."));
	if (gradient)
		sb_put(b, GRADIENT_SUFFIX);
	return sb_str(b);
}

static uint32_t add_entry(
        struct code_lines *l, uint32_t parent, uint32_t name, uint32_t frame, bool gradient)
{
	VEC_PUSH(l->a, &l->nodes.parent, parent);
	VEC_PUSH(l->a, &l->name, name);
	VEC_PUSH(l->a, &l->frame, frame);
	VEC_PUSH(l->a, &l->gradient, gradient);
	return (uint32_t)l->nodes.parent.n - 1;
}

static uint32_t find_child(struct code_lines *l, uint32_t parent, uint32_t frame, bool gradient)
{
	struct frame f = model_frame(l->m, frame);
	uint32_t name = intern_add(&l->names, trace_name(l, &f, gradient)), entry;
	uint64_t key = (uint64_t)parent << 32 | name;

	if (imap_get(&l->child, key, &entry))
		return entry;
	entry = add_entry(l, parent, name, frame, gradient);
	imap_put(&l->child, key, entry, false);
	return entry;
}

/* Returns the entry of a stack's innermost frame. Creates it and its ancestors if needed. */
static uint32_t find_stack(struct code_lines *l, uint32_t frame, bool gradient)
{
	uint32_t *entry_at = l->entry_at[gradient], at = 0;

	l->path.n = 0;
	for (; frame != ID_NONE && !entry_at[frame]; frame = model_frame(l->m, frame).parent)
		VEC_PUSH(l->a, &l->path, frame);
	if (frame != ID_NONE)
		at = entry_at[frame];
	while (l->path.n) {
		frame = l->path.v[--l->path.n];
		at = entry_at[frame] = find_child(l, at, frame, gradient);
	}
	return at;
}

/* Quirk 23: true if the node has a name like the gradient of another node. If "_grad/" is too early
 * in the name, the rest of the name is taken as the other node. */
static bool find_forward(struct str name, struct str *forward)
{
	size_t prefix = str_find(name, S("gradients/"));
	size_t suffix = prefix == SIZE_MAX ? SIZE_MAX : str_find(name, S("_grad/"));

	if (suffix == SIZE_MAX)
		return false;
	prefix += S("gradients/").n;
	if (prefix == suffix)
		return false;
	*forward = str_sub(name, prefix, suffix > prefix ? suffix - prefix : SIZE_MAX);
	return true;
}

/* Finds the forward node of each gradient node: forward[gradient node] is 1 + that node. */
struct gradients {
	uint32_t *forward;
	bool *wanted;
	struct intern missing; /* names of missing forward nodes */
};

static bool has_place(const struct model *m, uint32_t node)
{
	struct str forward;

	return node != ID_NONE && m->nodes.v[node].frame != ID_NONE &&
	       !find_forward(node_name(m, node), &forward);
}

/* Adds all nodes, in name order, of inputs that the original cannot read. */
static void add_all(struct code_lines *l, uint32_t *entry)
{
	const struct model *m = l->m;
	uint32_t none = 0;

	for (size_t i = 0; i < m->by_name.n; i++) {
		uint32_t node = m->by_name.v[i], frame = m->nodes.v[node].frame;
		if (frame == ID_NONE && !none)
			none = add_entry(
			        l, 0, intern_add_kept(&l->names, NO_STACK), ID_NONE, false);
		entry[node] = frame == ID_NONE ? none : find_stack(l, frame, PLAIN);
	}
}

/* Adds plain nodes in name order, and collects the gradients. */
static void add_plain(struct code_lines *l, struct gradients *g, uint32_t *entry)
{
	const struct model *m = l->m;

	for (size_t i = 0; i < m->by_name.n; i++) {
		uint32_t node = m->by_name.v[i], of;
		struct str forward;
		entry[node] = ID_NONE;
		if (m->nodes.v[node].frame == ID_NONE)
			continue;
		if (!find_forward(node_name(m, node), &forward)) {
			entry[node] = find_stack(l, m->nodes.v[node].frame, PLAIN);
		} else if (has_place(m, of = model_find(m, forward))) {
			g->forward[node] = of + 1;
			g->wanted[of] = true;
		} else {
			intern_add_kept(&g->missing, forward);
		}
	}
}

/* Adds branches in name order of the forward nodes, then all their gradients. */
static void add_gradients(struct code_lines *l, const struct gradients *g, uint32_t *entry)
{
	const struct model *m = l->m;

	for (size_t i = 0; i < m->by_name.n; i++)
		if (g->wanted[m->by_name.v[i]])
			find_stack(l, m->nodes.v[m->by_name.v[i]].frame, GRADIENT);
	for (uint32_t node = 0; node < m->nodes.n; node++)
		if (g->forward[node])
			entry[node] =
			        find_stack(l, m->nodes.v[g->forward[node] - 1].frame, GRADIENT);
}

/* Sorts the entries. entry: the entry of each node in order of creation; becomes the index in the
 * tree. */
static void finish(struct code_lines *l, struct tree *t, uint32_t *entry, struct arena *a)
{
	uint32_t *order = tree_order(t, &l->nodes, NULL, a);
	uint32_t *place = ARENA_ARRAY(l->a, t->n, uint32_t);

	t->name = ARENA_ARRAY(a, t->n, struct str);
	t->frame = ARENA_ARRAY(a, t->n, uint32_t);
	t->gradient = ARENA_ARRAY(a, t->n, bool);
	for (uint32_t k = 0; k < t->n; k++) {
		place[order[k]] = k;
		t->name[k] = intern_str(&l->names, l->name.v[order[k]]);
		t->frame[k] = l->frame.v[order[k]];
		t->gradient[k] = l->gradient.v[order[k]];
	}
	for (uint32_t i = 0; i < l->m->nodes.n; i++)
		if (entry[i] != ID_NONE)
			entry[i] = place[entry[i]];
	t->entry_of = entry;
	tree_members(t, l->m, a);
}

void view_code_build(const struct model *m, struct tree *t, struct arena *a, struct notes *notes)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct code_lines l = {
		.m = m, .a = &own.a, .nodes = { .a = &own.a }, .text = sb_in(&own.a)
	};
	struct gradients g = { .forward = ARENA_ARRAY(&own.a, m->nodes.n, uint32_t),
		.wanted = ARENA_ARRAY(&own.a, m->nodes.n, bool) };
	uint32_t *entry = ARENA_ARRAY(a, m->nodes.n, uint32_t);
	intern_init(&l.names, a);
	intern_init(&g.missing, &own.a);
	imap_init(&l.child, &own.a);
	for (int branch = 0; branch < BRANCHES; branch++)
		l.entry_at[branch] = ARENA_ARRAY(&own.a, m->frames.n, uint32_t);
	add_entry(&l, ID_NONE, intern_add_kept(&l.names, ROOT_NAME), ID_NONE, false);
	if (m->new_input) {
		add_all(&l, entry);
	} else {
		add_plain(&l, &g, entry);
		add_gradients(&l, &g, entry);
	}
	finish(&l, t, entry, a);
	if (g.missing.n)
		note_line(notes, "%zu gradient nodes not accounted\n", g.missing.n);
	scratch_close(&own);
}

void view_code_account(struct query *q)
{
	view_keep_members(q);
	view_sum(q);
}

bool view_code_show(struct query *q, struct result *r, struct err *e)
{
	if (!q->m->has_traces) {
		note_line(q->notes, "No code trace information\n");
		return err_set(e, ERR_STEP,
		        "call stacks are missing: load an op log, or a profile with call stacks");
	}
	if (q->o->displayed_only) /* Quirk 35 */
		note_line(q->notes, "Note: code view ignores account_displayed_op_only\n");
	view_code_account(q);
	if (!view_walk(q, r, true, e))
		return false;
	for (uint32_t i = 0; i < r->n && (q->o->select.metrics & METRIC_BIT(M_TENSOR_VALUE)); i++)
		note_line(q->notes, "code view has no tensor value to show\n");
	return true;
}
