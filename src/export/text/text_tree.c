/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of scope, graph and code: a line for each shown node or Python line.
 */
#include "base/fmt.h"
#include "export/out.h"

struct tree_lines {
	const struct result *r;
	const struct query *q;
	struct arena *a;
	struct line_build b;
	size_t fields;
	struct members members; /* for code */
	uint32_t *steps_in; /* num_hidden_ops: additional indents of each entry; otherwise NULL */
};

static void field(struct tree_lines *l, unsigned column)
{
	if (l->fields++)
		sb_put(&l->b.text, S(", "));
	line_cell_begin(&l->b, column);
}

/* Appends "run/total run|1/total defined". */
static void put_occurrence(struct tree_lines *l, const struct entry *x)
{
	struct sb *b = &l->b.text;

	if (x->accounted)
		text_quantity(b, l->q, UNIT_COUNT, view_value(l->q, x->self, V_RUNS), "");
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	text_quantity(b, l->q, UNIT_COUNT, view_value(l->q, x->total, V_RUNS), "");
	sb_put(b, x->accounted ? S("|1/") : S("|--/"));
	text_quantity(b, l->q, UNIT_COUNT, (struct fraction){ x->total->v[V_DEFINITIONS], 1 }, "");
}

static uint32_t entry_node(const struct tree_lines *l, const struct entry *x)
{
	return l->q->tree->node[l->q->kept.at[x->kept]];
}

/* Appends a cell that contains the words. */
static void put_words(struct tree_lines *l, unsigned column, const struct strs *words)
{
	field(l, column);
	text_words(&l->b.text, words);
	line_cell_end(&l->b, false);
}

/* Appends the devices or types of the accounted nodes of a Python line as a cell. */
static void put_line_text(struct tree_lines *l, enum unit unit, uint32_t kept, unsigned column)
{
	const struct strs *devices;

	if (unit == UNIT_TYPES) {
		put_words(l, column, members_types(&l->members, kept));
	} else if (unit == UNIT_DEVICES) {
		devices = members_devices(&l->members, kept);
		if (devices->n)
			put_words(l, column, devices);
	}
}

/* Appends the device, types or input shapes of a node as a cell. */
static void put_node_text(struct tree_lines *l, enum unit unit, uint32_t node, unsigned column)
{
	const struct model *m = l->q->m;
	struct sb *b = &l->b.text;

	if (unit == UNIT_DEVICES) {
		if (node == ID_NONE || m->nodes.v[node].device == ID_NONE)
			return;
		field(l, column);
		sb_put(b, device_name(m, m->nodes.v[node].device));
	} else if (unit == UNIT_TYPES) {
		field(l, column);
		if (node == ID_NONE)
			sb_put(b, view_made_up_type(l->r->kind));
		else
			text_types(b, m, m->nodes.v[node].types);
	} else if (unit == UNIT_INPUT_SHAPES) {
		field(l, column);
		if (node != ID_NONE)
			text_inputs(b, m, node, "|");
	} else {
		return;
	}
	line_cell_end(&l->b, false);
}

/* Appends the shape of a variable before its number of parameters, in the same cell. */
static void put_shape(struct tree_lines *l, const struct entry *x)
{
	uint32_t node = entry_node(l, x);
	uint32_t shape = node == ID_NONE ? ID_NONE : l->q->m->nodes.v[node].shape;

	if (model_rank(l->q->m, shape)) {
		text_shape(&l->b.text, l->q->m, shape);
		sb_put(&l->b.text, S(", "));
	}
}

/* Returns the depth of an entry's line. If num_hidden_ops is selected, writes above it the number
 * of nodes hidden between the entry and its parent. */
static size_t depth_of(struct tree_lines *l, const struct entry *x, struct sink *to)
{
	size_t i = (size_t)(x - l->r->shown), depth = x->depth;
	uint32_t hidden = 0;

	if (l->steps_in && x->parent != ID_NONE) {
		hidden = text_hidden_above(l->r, x);
		depth += l->steps_in[x->parent];
		l->steps_in[i] = l->steps_in[x->parent] + (hidden > 0);
	}
	if (hidden) {
		for (size_t k = 0; k < 2 * depth; k++)
			sink_char(to, ' ');
		sink_fmt(to, "...hidden %u...\n", hidden);
		depth++;
	}
	return depth;
}

static void put_metric(
        struct tree_lines *l, const struct entry *x, const struct text_columns *c, unsigned i)
{
	const struct metric *m = &metrics[c->id[i]];
	const char *instead = metric_in(m, l->r->kind)->instead;
	bool node = view_is(l->r->kind, VIEW_NODES);
	struct sb *b = &l->b.text;

	if (!instead && m->unit != UNIT_OCCURRENCE && m->value == V_NONE &&
	        m->unit != UNIT_PERCENT) {
		if (node)
			put_node_text(l, m->unit, entry_node(l, x), i);
		else
			put_line_text(l, m->unit, x->kept, i);
		return;
	}
	field(l, i);
	if (node && c->id[i] == M_PARAMS)
		put_shape(l, x);
	if (instead)
		sb_put(b, str_of(instead));
	else if (m->unit == UNIT_OCCURRENCE)
		put_occurrence(l, x);
	else if (m->value != V_NONE)
		text_pair(b, l->r, m, x);
	else
		text_percent(b, l->r, x, c->id, c->n);
	line_cell_end(&l->b, true);
}

/* Returns the name of an entry. For a folded chain of lines, returns the first and the last
 * name. */
static struct str entry_name(struct tree_lines *l, const struct entry *x)
{
	struct str name = text_name(l->r, view_name(l->q, x->kept), l->a), first;

	if (!x->folded)
		return name;
	first = text_name(l->r, view_name(l->q, x->first), l->a);
	if (x->folded == 1)
		return str_fmt(l->a, "%.*s > %.*s", STR(first), STR(name));
	return str_fmt(l->a, "%.*s > (%u %s) > %.*s", STR(first), x->folded - 1,
	        x->folded == 2 ? "line" : "lines", STR(name));
}

static void put_entry(
        struct tree_lines *l, const struct entry *x, const struct text_columns *c, struct sink *to)
{
	size_t depth = depth_of(l, x, to);

	line_begin(&l->b, 2 * depth, entry_name(l, x));
	l->fields = 0;
	sb_put(&l->b.text, S(" ("));
	for (unsigned i = 0; i < c->n; i++)
		put_metric(l, x, c, i);
	text_end_row(&l->b, l->fields > 0, l->r, x, c, to);
}

void text_tree(const struct result *r, struct sink *to, struct arena *a)
{
	struct tree_lines l = { .r = r, .q = r->q, .a = a };
	struct text_columns c;

	line_build_init(&l.b, a);
	struct str zero = text_columns_init(&c, r, to);
	if (!view_is(r->kind, VIEW_NODES))
		members_init(&l.members, r->q, a);
	if (view_is(r->kind, VIEW_EDGES) &&
	        (r->q->o->select.metrics & METRIC_BIT(M_NUM_HIDDEN_OPS)))
		l.steps_in = ARENA_ARRAY(a, r->n, uint32_t);
	text_legend(&l.b, r, &c, to);
	for (uint32_t i = 0; i < r->n; i++) {
		put_entry(&l, &r->shown[i], &c, to);
		if (r->tensors)
			sink_put(to, r->tensors[i].text);
	}
	text_left_out(r, zero, to);
}

void text_tree_lines(const struct result *r, const struct text_columns *c, const uint32_t *shown,
        size_t n, struct sink *to, struct arena *a)
{
	struct tree_lines l = { .r = r, .q = r->q, .a = a };

	line_build_init(&l.b, a);
	if (!view_is(r->kind, VIEW_NODES))
		members_init(&l.members, r->q, a);
	for (size_t i = 0; i < n; i++)
		put_entry(&l, &r->shown[shown[i]], c, to);
}
