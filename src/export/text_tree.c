/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of scope and graph: one line for each shown node (B§3).
 */
#include "base/fmt.h"
#include "export/out.h"
#include "export/tensor.h"

struct lines {
	const struct result *r;
	const struct query *q;
	struct sb b; /* the line being made */
	size_t fields;
	uint32_t *steps_in; /* num_hidden_ops: further indents of each entry; else NULL */
};

static void field(struct lines *l)
{
	if (l->fields++)
		sb_put(&l->b, S(", "));
}

/* "run/total run|1/total defined" */
static void put_occurrence(struct lines *l, const struct entry *x)
{
	struct sb *b = &l->b;

	field(l);
	if (x->accounted)
		fmt_count(b, x->self->v[V_RUNS]);
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	fmt_count(b, x->total->v[V_RUNS]);
	sb_put(b, x->accounted ? S("|1/") : S("|--/"));
	fmt_count(b, x->total->v[V_DEFINITIONS]);
}

static uint32_t entry_node(const struct lines *l, const struct entry *x)
{
	return l->q->tree->node[l->q->kept.at[x->kept]];
}

static void put_text(struct lines *l, enum unit unit, uint32_t node)
{
	const struct model *m = l->q->m;
	struct sb *b = &l->b;

	if (unit == UNIT_DEVICES) {
		if (node == ID_NONE || m->nodes.v[node].device == ID_NONE)
			return;
		field(l);
		sb_put(b, device_name(m, m->nodes.v[node].device));
	} else if (unit == UNIT_TYPES) {
		field(l);
		if (node == ID_NONE)
			sb_put(b, view_made_up_type(l->r->kind));
		else
			text_types(b, m, m->nodes.v[node].types);
	} else if (unit == UNIT_INPUT_SHAPES) {
		field(l);
		if (node != ID_NONE)
			text_inputs(b, m, node, "|");
	}
}

static void put_shape(struct lines *l, uint32_t node)
{
	uint32_t shape = node == ID_NONE ? ID_NONE : l->q->m->nodes.v[node].shape;

	if (model_rank(l->q->m, shape)) {
		field(l);
		text_shape(&l->b, l->q->m, shape);
	}
}

/* Blanks for the depth; above them, if it is asked for, how many nodes are hidden there. */
static void put_indent(struct lines *l, const struct entry *x)
{
	size_t i = (size_t)(x - l->r->shown), depth = x->depth;
	uint32_t hidden = 0;

	if (l->steps_in && x->parent != ID_NONE) {
		hidden = text_hidden_above(l->r, x);
		depth += l->steps_in[x->parent];
		l->steps_in[i] = l->steps_in[x->parent] + (hidden > 0);
	}
	if (hidden) {
		sb_repeat(&l->b, ' ', 2 * depth++);
		sb_fmt(&l->b, "...hidden %u...\n", hidden);
	}
	sb_repeat(&l->b, ' ', 2 * depth);
}

static void put_entry(
        struct lines *l, const struct entry *x, const enum metric_id *columns, size_t n)
{
	uint32_t node = entry_node(l, x);

	l->b.n = 0;
	l->fields = 0;
	put_indent(l, x);
	sb_put(&l->b, view_name(l->q, x->kept));
	sb_put(&l->b, S(" ("));
	for (size_t c = 0; c < n; c++) {
		const struct metric *m = &metrics[columns[c]];
		if (columns[c] == M_PARAMS)
			put_shape(l, node);
		if (m->unit == UNIT_OCCURRENCE) {
			put_occurrence(l, x);
		} else if (m->value != V_NONE) {
			field(l);
			text_pair(&l->b, m, l->r->kind, x);
		} else if (m->unit == UNIT_PERCENT) {
			field(l);
			text_percent(&l->b, l->r, x, columns, n);
		} else {
			put_text(l, m->unit, node);
		}
	}
	for (size_t i = 0; i < l->r->n_extra; i++) {
		field(l);
		text_extra(&l->b, l->r, &l->r->extra[i], (uint32_t)(x - l->r->shown));
	}
	sb_put(&l->b, S(")\n"));
}

void text_tree(const struct result *r, struct sink *to, struct arena *a)
{
	struct lines l = { .r = r, .q = r->q, .b = sb_in(a) };
	enum metric_id columns[M_N];
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, columns);

	if (r->kind == VK_GRAPH && (r->q->o->select.metrics & METRIC_BIT(M_NUM_HIDDEN_OPS)))
		l.steps_in = ARENA_ARRAY(a, r->n, uint32_t);
	text_legend(&l.b, r);
	sink_put(to, sb_str(&l.b));
	for (uint32_t i = 0; i < r->n; i++) {
		put_entry(&l, &r->shown[i], columns, n);
		sink_put(to, sb_str(&l.b));
		if (r->tensors)
			sink_put(to, r->tensors[i].text);
	}
}
