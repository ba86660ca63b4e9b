/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a name in the trees of scope and code, and the entries around it.
 *
 * A name can be at several places. Below a place with the name, further places with it do not count
 * again: only the outermost places add up.
 */
#include "view/peek.h"

#include "base/sort.h"
#include "trace/pass/ops.h"

const char *const peek_kinds[PEEK_KINDS] = { "op", "module", "kernel", "call", "node", "scope",
	"type", "line" };

#define NO_CALLER "(outermost)"

/* A tree with the name and the numbers of each entry. */
struct peek_tree {
	const struct tree *t;
	struct intern names;
	uint32_t *name;       /* indexed by entry: id in names */
	enum peek_kind *kind; /* indexed by entry */
	struct tally *own, *total;
	bool *outermost; /* indexed by entry: true if no entry above has its name */
};

struct peeking {
	const struct query *scope, *code;
	const struct model *m;
	struct arena *a;
	enum value of, other;
	struct peek_tree scopes, lines;
	uint32_t *entry_of; /* indexed by node: its entry of scopes, or ID_NONE */
	uint8_t *inside;    /* indexed by node: enum inside */
	struct peek *out;
};

enum inside { OUTSIDE, BELOW, ITSELF };

/* ---- trees ---- */

static bool is_kernel(const struct peeking *x, uint32_t node)
{
	return x->m->parallel_times && node != ID_NONE && x->scope->tallies[node].v[V_KERNELS] > 0;
}

/* Returns the name in a path of a trace, "module/op/kernel". The name of an op with a call stack is
 * followed by a key of the stack. A kernel has no key if its stack equals the stack of its op. */
static struct str last_level(const struct peeking *x, const struct tree *t, uint32_t i)
{
	uint32_t up = t->parent[i], node = t->node[i];
	struct str name = up ? str_sub(t->name[i], t->name[up].n + 1, SIZE_MAX) : t->name[i];
	size_t hash = str_rfind_char(name, '#');
	int32_t stack;

	if (node == ID_NONE || x->m->nodes.v[node].frame == ID_NONE || hash == SIZE_MAX ||
	        (is_kernel(x, node) && !num_parse_i32(str_sub(name, hash + 1, SIZE_MAX), &stack)))
		return name;
	return str_sub(name, 0, hash);
}

static enum peek_kind kind_of(const struct peeking *x, uint32_t node, struct str name)
{
	if (!x->m->parallel_times)
		return node == ID_NONE ? PEEK_SCOPE : PEEK_NODE;
	if (is_kernel(x, node))
		return PEEK_KERNEL;
	if (node == ID_NONE)
		return str_starts(name, S("nn.Module: ")) ? PEEK_MODULE : PEEK_SCOPE;
	return str_eq(model_str(x->m, x->m->nodes.v[node].op), S(OPS_CALL)) ? PEEK_CALL
	       : str_starts(name, S("nn.Module: "))                         ? PEEK_MODULE
	                                                                    : PEEK_OP;
}

static void open_tree(struct peek_tree *p, const struct tree *t, struct arena *a)
{
	p->t = t;
	intern_init(&p->names, a);
	p->name = ARENA_ARRAY(a, t->n, uint32_t);
	p->kind = ARENA_ARRAY(a, t->n, enum peek_kind);
	p->own = ARENA_ARRAY(a, t->n, struct tally);
	p->total = ARENA_ARRAY(a, t->n, struct tally);
	p->outermost = ARENA_ARRAY(a, t->n, bool);
}

/* Adds up the totals, and finds the outermost entries. */
static void close_tree(struct peek_tree *p, struct arena *a)
{
	uint32_t *end = ARENA_ARRAY(a, p->names.n, uint32_t); /* indexed by name: end of its last
	                                                         outermost entry */

	for (uint32_t i = p->t->n; i-- > 0;) {
		tally_add(&p->total[i], &p->own[i]);
		if (i)
			tally_add(&p->total[p->t->parent[i]], &p->total[i]);
	}
	for (uint32_t i = 1; i < p->t->n; i++) {
		p->outermost[i] = i >= end[p->name[i]];
		if (p->outermost[i])
			end[p->name[i]] = p->t->end[i];
	}
}

static void read_scopes(struct peeking *x)
{
	struct peek_tree *p = &x->scopes;
	const struct tree *t = x->scope->tree;

	open_tree(p, t, x->a);
	x->entry_of = ARENA_ARRAY(x->a, x->m->nodes.n, uint32_t);
	memset(x->entry_of, 0xff, x->m->nodes.n * sizeof *x->entry_of);
	for (uint32_t i = 1; i < t->n; i++) {
		struct str name = x->m->parallel_times ? last_level(x, t, i) : t->name[i];
		p->name[i] = intern_add_kept(&p->names, name);
		p->kind[i] = kind_of(x, t->node[i], name);
		if (p->kind[i] == PEEK_KERNEL && p->kind[t->parent[i]] == PEEK_SCOPE)
			p->kind[t->parent[i]] = PEEK_OP; /* XSpace: only its kernels have times */
		if (t->node[i] == ID_NONE)
			continue;
		p->own[i] = x->scope->tallies[t->node[i]];
		x->entry_of[t->node[i]] = i;
	}
	close_tree(p, x->a);
}

static void read_lines(struct peeking *x)
{
	struct peek_tree *p = &x->lines;
	const struct tree *t = x->code->tree;

	open_tree(p, t, x->a);
	for (uint32_t i = 1; i < t->n; i++) {
		p->name[i] = intern_add_kept(&p->names, t->name[i]);
		p->kind[i] = PEEK_LINE;
	}
	for (uint32_t node = 0; node < x->m->nodes.n; node++)
		if (t->entry_of[node] != ID_NONE)
			tally_add(&p->own[t->entry_of[node]], &x->scope->tallies[node]);
	close_tree(p, x->a);
}

/* ---- rows ---- */

static struct peek_row *row_of(
        struct peeking *x, struct peek_rows *to, struct str name, enum peek_kind kind)
{
	uint32_t id = intern_add_kept(&to->names, name);

	if (id == to->v.n)
		VEC_PUSH(x->a, &to->v, ((struct peek_row){ .name = name, .kind = kind }));
	return &to->v.v[id];
}

/* Adds an entry of a tree to the row of its name. */
static void add_entry(
        struct peeking *x, struct peek_rows *to, const struct peek_tree *p, uint32_t i)
{
	struct peek_row *r = row_of(x, to, intern_str(&p->names, p->name[i]), p->kind[i]);

	tally_add(&r->total, &p->total[i]);
	tally_add(&r->own, &p->own[i]);
}

static void add_node(struct peeking *x, struct peek_rows *to, struct str name, enum peek_kind kind,
        uint32_t node)
{
	struct peek_row *r = row_of(x, to, name, kind);

	tally_add(&r->total, &x->scope->tallies[node]);
	tally_add(&r->own, &x->scope->tallies[node]);
}

struct row_order {
	const struct peek_row *v;
	enum value of, other;
};

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const struct row_order *o = ctx;
	const struct peek_row *x = &o->v[a], *y = &o->v[b];
	enum value of = o->of;

	if (x->total.v[of] == y->total.v[of] && o->other != V_NONE)
		of = o->other;
	if (x->total.v[of] != y->total.v[of])
		return x->total.v[of] < y->total.v[of] ? 1 : -1;
	return str_cmp(x->name, y->name);
}

static void sort_rows(struct peeking *x, struct peek_rows *rows)
{
	const struct row_order order = { rows->v.v, x->of, x->other };
	uint32_t *place = sort_order(x->a, rows->v.n, by_number, &order);
	struct peek_row *sorted = ARENA_ARRAY(x->a, rows->v.n, struct peek_row);

	for (size_t i = 0; i < rows->v.n; i++)
		sorted[i] = rows->v.v[place[i]];
	rows->v.v = sorted;
}

/* ---- names ---- */

/* The names that a text selects. */
struct name_match {
	struct str text;
	struct pattern_list *pattern; /* NULL: only whole names match */
};

static bool matches(const struct name_match *m, struct str name)
{
	return m->pattern ? pattern_match(m->pattern, name) : str_eq(name, m->text);
}

/* True if the name has already been found with another kind. */
static bool is_taken(const struct peeking *x, struct str name, enum peek_kind kind)
{
	uint32_t id = intern_find(&x->out->names.names, name);

	return id != ID_NONE && x->out->names.v.v[id].kind != kind &&
	       (kind == PEEK_TYPE || kind == PEEK_LINE);
}

static void match_tree(struct peeking *x, const struct peek_tree *p, const struct name_match *m)
{
	bool *hit = ARENA_ARRAY(x->a, p->names.n, bool);

	for (uint32_t i = 0; i < p->names.n; i++)
		hit[i] = matches(m, intern_str(&p->names, i)) &&
		         !(p == &x->lines && is_taken(x, intern_str(&p->names, i), PEEK_LINE));
	for (uint32_t i = 1; i < p->t->n; i++)
		if (p->outermost[i] && hit[p->name[i]])
			add_entry(x, &x->out->names, p, i);
}

/* Adds the op types of nodes. A trace has ops instead. */
static void match_types(struct peeking *x, const struct name_match *m)
{
	uint8_t *hit = ARENA_ARRAY(x->a, x->m->strings.n, uint8_t); /* 1: yes, 2: no */

	if (x->m->parallel_times)
		return;
	for (uint32_t node = 0; node < x->m->nodes.n; node++) {
		uint32_t op = x->m->nodes.v[node].op;
		if (op == ID_NONE)
			continue;
		if (!hit[op])
			hit[op] = matches(m, model_str(x->m, op)) &&
			                          !is_taken(x, model_str(x->m, op), PEEK_TYPE)
			                  ? 1
			                  : 2;
		if (hit[op] == 1)
			add_node(x, &x->out->names, model_str(x->m, op), PEEK_TYPE, node);
	}
}

/* Looks for whole names first: among entries, then types, then lines. */
static bool match_whole(struct peeking *x, const struct name_match *m)
{
	match_tree(x, &x->scopes, m);
	if (!x->out->names.v.n)
		match_types(x, m);
	if (!x->out->names.v.n && x->lines.t)
		match_tree(x, &x->lines, m);
	return x->out->names.v.n > 0;
}

static bool match_names(struct peeking *x, struct str text, struct err *e)
{
	struct name_match m = { .text = text };

	if (match_whole(x, &m))
		return true;
	if (!pattern_compile_within(&m.pattern, x->a, text, e))
		return false;
	match_tree(x, &x->scopes, &m);
	match_types(x, &m);
	if (x->lines.t)
		match_tree(x, &x->lines, &m);
	bool ok = !pattern_failed(m.pattern, e);
	pattern_free(m.pattern);
	return ok;
}

/* Adds the names of a tree to the numbers of names by kind. */
static void count_tree(struct peeking *x, const struct peek_tree *p)
{
	bool *counted = ARENA_ARRAY(x->a, p->names.n, bool);

	for (uint32_t i = 1; i < p->t->n; i++) {
		x->out->searched[p->kind[i]] += !counted[p->name[i]];
		counted[p->name[i]] = true;
	}
}

/* Counts the names that were compared. */
static void count_names(struct peeking *x)
{
	bool *counted = ARENA_ARRAY(x->a, x->m->strings.n, bool);

	count_tree(x, &x->scopes);
	for (uint32_t node = 0; node < x->m->nodes.n && !x->m->parallel_times; node++) {
		uint32_t op = x->m->nodes.v[node].op;
		if (op == ID_NONE)
			continue;
		x->out->searched[PEEK_TYPE] += !counted[op];
		counted[op] = true;
	}
	if (x->lines.t)
		count_tree(x, &x->lines);
}

/* ---- lists ---- */

static struct peek_rows *list(struct peeking *x, enum peek_list which)
{
	return &x->out->lists[which];
}

static const struct peek_row *subject(const struct peeking *x)
{
	return &x->out->subject;
}

/* True if nothing ran in an entry and below it. Such an entry of a trace only names a place. */
static bool is_idle(const struct peeking *x, const struct peek_tree *p, uint32_t i)
{
	const int64_t *v = p->total[i].v;

	return x->m->parallel_times && !v[V_RUNS] && !v[V_KERNELS] && !v[V_ACCELERATOR_MICROS] &&
	       !v[V_CPU_MICROS];
}

/* Adds the entries directly above and below an entry. */
static void add_around(struct peeking *x, const struct peek_tree *p, uint32_t i)
{
	uint32_t up = p->t->parent[i];
	struct peek_row *caller = row_of(x, list(x, PEEK_CALLERS),
	        up ? intern_str(&p->names, p->name[up]) : S(NO_CALLER), p->kind[up]);

	tally_add(&caller->total, &p->total[i]);
	tally_add(&caller->own, &p->own[i]);
	for (uint32_t c = i + 1; c < p->t->end[i]; c = p->t->end[c])
		if (p->kind[c] != PEEK_KERNEL && !is_idle(x, p, c))
			add_entry(x, list(x, PEEK_CALLEES), p, c);
}

/* Marks the nodes of the outermost entries with the subject's name, and of all entries below
 * them. */
static void mark_tree(struct peeking *x, const struct peek_tree *p)
{
	uint32_t id = intern_find(&p->names, subject(x)->name);
	uint8_t *below = ARENA_ARRAY(x->a, p->t->n, uint8_t);

	for (uint32_t i = 1; i < p->t->n; i++) {
		if (below[i] == OUTSIDE && p->name[i] == id) {
			memset(below + i, BELOW, p->t->end[i] - i);
			add_around(x, p, i);
		}
		if (p->name[i] == id)
			below[i] = ITSELF;
		if (p->t->node && p->t->node[i] != ID_NONE)
			x->inside[p->t->node[i]] = below[i];
	}
	for (uint32_t node = 0; !p->t->node && node < x->m->nodes.n; node++)
		if (p->t->entry_of[node] != ID_NONE)
			x->inside[node] = below[p->t->entry_of[node]];
}

static void mark_type(struct peeking *x)
{
	for (uint32_t node = 0; node < x->m->nodes.n; node++)
		if (str_eq(model_str(x->m, x->m->nodes.v[node].op), subject(x)->name))
			x->inside[node] = ITSELF;
}

/* Adds a node of the subject to its line. Counts only the runs of the subject itself. */
static void add_to_line(struct peeking *x, uint32_t node)
{
	uint32_t line = x->lines.t ? view_line_of(x->m, x->lines.t, node) : ID_NONE;

	if (line == ID_NONE)
		return;
	struct peek_row *r = row_of(x, list(x, PEEK_LINES), x->lines.t->name[line], PEEK_LINE);
	struct tally t = x->scope->tallies[node];
	tally_add(&r->total, &t);
	if (x->inside[node] == ITSELF)
		tally_add(&r->own, &t);
}

/* Adds a kernel or a driver call of a line to the op around it, of whose time it is a part. */
static void add_to_op(struct peeking *x, uint32_t node)
{
	uint32_t up = x->scopes.t->parent[x->entry_of[node]];
	struct tally t = x->scope->tallies[node];

	t.v[V_RUNS] = 0;
	if (up)
		tally_add(&row_of(x, list(x, PEEK_OPS),
		                  intern_str(&x->scopes.names, x->scopes.name[up]),
		                  x->scopes.kind[up])
		                   ->total,
		        &t);
}

/* Adds a node of the subject to the lists of kernels, lines and ops. */
static void add_member(struct peeking *x, uint32_t node)
{
	uint32_t entry = x->entry_of[node];
	enum peek_kind kind = subject(x)->kind;

	if (entry == ID_NONE)
		return;
	struct str name = intern_str(&x->scopes.names, x->scopes.name[entry]);
	bool kernel = x->scopes.kind[entry] == PEEK_KERNEL;
	if (kernel)
		add_node(x, list(x, PEEK_KERNEL_LIST), name, PEEK_KERNEL, node);
	if (kind == PEEK_LINE && (kernel || x->scopes.kind[entry] == PEEK_CALL))
		add_to_op(x, node);
	else if (!kernel && (kind == PEEK_LINE || kind == PEEK_TYPE))
		add_node(x, list(x, PEEK_OPS), name, x->scopes.kind[entry], node);
	if (kind != PEEK_LINE)
		add_to_line(x, node);
}

/* Adds the nodes connected by edge i of a node: inputs of the subject, and readers of it. */
static void add_edge(struct peeking *x, uint32_t node, uint32_t from)
{
	bool in = x->inside[node] != OUTSIDE, out = x->inside[from] != OUTSIDE;

	if (in && !out)
		add_node(x, list(x, PEEK_INPUTS), node_name(x->m, from), PEEK_NODE, from);
	else if (out && !in)
		add_node(x, list(x, PEEK_READERS), node_name(x->m, node), PEEK_NODE, node);
}

/* Adds each neighbour once, whatever the number of edges. */
static void add_edges(struct peeking *x)
{
	const struct model *m = x->m;
	struct imap have;

	imap_init(&have, x->a);
	for (uint32_t node = 0; node < m->nodes.n; node++)
		for (uint32_t i = m->input0.v[node]; i < m->input0.v[node + 1]; i++) {
			uint32_t from = m->inputs.v[i];
			if (from & INPUT_UNKNOWN || x->inside[node] == x->inside[from])
				continue;
			bool in = x->inside[node] != OUTSIDE;
			if (imap_put(&have, (uint64_t)in << 32 | (in ? from : node), 0, false))
				add_edge(x, node, from);
		}
}

/* ---- steps ---- */

/* True if the runs of a node count as runs of the subject. The driver calls of a line are parts of
 * its ops. */
static bool counts_runs(const struct peeking *x, uint32_t node)
{
	uint32_t entry = x->entry_of[node];

	return subject(x)->kind != PEEK_LINE || entry == ID_NONE ||
	       x->scopes.kind[entry] != PEEK_CALL;
}

static void add_step(struct peeking *x, const struct step *s)
{
	struct peek_step made = { .id = s->id, .worker = s->worker };
	int64_t ticks = model_ticks(x->m);

	for (uint32_t c = 0; c < s->n_cells; c++) {
		enum inside in = (enum inside)x->inside[s->cell_node[c]];
		if (in != OUTSIDE)
			step_tally(s, c, ticks, &made.total);
		if (in == ITSELF && counts_runs(x, s->cell_node[c]))
			made.runs = num_sum(made.runs, s->cell_runs[c]);
	}
	VEC_PUSH(x->a, &x->out->steps, made);
}

static void add_steps(struct peeking *x)
{
	for (size_t i = 0; i < x->m->steps.n; i++) {
		const struct step *s = x->m->steps.v[i];
		work_poll(x->a->work);
		if (opts_has_step(x->scope->o, s->id) &&
		        (!s->excluded_from_average || opts_names_steps(x->scope->o)))
			add_step(x, s);
	}
}

/* ---- the subject ---- */

/* Adds up the runs of the subject: the runs of all entries with its name, including inner
 * entries. */
static void add_runs(struct peeking *x)
{
	int64_t *runs = &x->out->subject.own.v[V_RUNS];

	*runs = 0;
	for (uint32_t node = 0; node < x->m->nodes.n; node++)
		if (x->inside[node] == ITSELF && counts_runs(x, node))
			*runs = num_sum(*runs, x->scope->tallies[node].v[V_RUNS]);
}

static void look_around(struct peeking *x)
{
	x->out->found = true;
	x->out->subject = x->out->names.v.v[0];
	x->inside = ARENA_ARRAY(x->a, x->m->nodes.n, uint8_t);
	if (subject(x)->kind == PEEK_TYPE)
		mark_type(x);
	else
		mark_tree(x, subject(x)->kind == PEEK_LINE ? &x->lines : &x->scopes);
	for (uint32_t i = 0; i < x->m->by_name.n; i++)
		if (x->inside[x->m->by_name.v[i]] != OUTSIDE)
			add_member(x, x->m->by_name.v[i]);
	if (list(x, PEEK_CALLERS)->v.n == 1 &&
	        str_eq(list(x, PEEK_CALLERS)->v.v[0].name, S(NO_CALLER)))
		list(x, PEEK_CALLERS)->v.n = 0;
	if (subject(x)->kind == PEEK_KERNEL)
		list(x, PEEK_KERNEL_LIST)->v.n = 0;
	if (x->m->inputs.n && subject(x)->kind != PEEK_LINE)
		add_edges(x);
	add_runs(x);
	add_steps(x);
	for (enum peek_list i = 0; i < PEEK_LISTS; i++)
		sort_rows(x, list(x, i));
}

bool peek_find(const struct query *scope, const struct query *code, struct str text, enum value of,
        enum value other, struct peek *out, struct err *e)
{
	struct peeking x = { .scope = scope,
		.code = code,
		.m = scope->m,
		.a = scope->a,
		.of = of,
		.other = other,
		.out = out };

	*out = (struct peek){ .scope = scope, .code = code };
	intern_init(&out->names.names, x.a);
	for (enum peek_list i = 0; i < PEEK_LISTS; i++)
		intern_init(&out->lists[i].names, x.a);
	read_scopes(&x);
	if (code->tree)
		read_lines(&x);
	out->all = x.scopes.total[0];
	if (!match_names(&x, text, e))
		return false;
	sort_rows(&x, &out->names);
	if (!out->names.v.n)
		count_names(&x);
	if (out->names.v.n == 1)
		look_around(&x);
	return true;
}
