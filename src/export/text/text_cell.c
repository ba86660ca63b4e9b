/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells shared by the text outputs.
 */
#include <math.h>

#include "base/demangle.h"
#include "base/fmt.h"
#include "export/out.h"

void text_quantity(
        struct sb *b, const struct query *q, enum unit u, struct fraction f, const char *suffix)
{
	if (q->o->new_input)
		fmt_fraction_si(b, unit_quantity(u), f);
	else
		fmt_fraction(b, unit_quantity(u), f);
	sb_put(b, str_of(suffix));
}

void text_shape(struct sb *b, const struct model *m, uint32_t shape)
{
	size_t rank = model_rank(m, shape);

	for (size_t i = 0; i < rank; i++) {
		if (i)
			sb_char(b, 'x');
		fmt_i64(b, model_dim(m, shape, i));
	}
}

void text_types(struct sb *b, const struct model *m, uint32_t set)
{
	size_t n;
	const uint32_t *types = model_types(m, set, &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			sb_char(b, '|');
		sb_put(b, model_str(m, types[i]));
	}
}

void text_words(struct sb *b, const struct strs *words)
{
	for (size_t i = 0; i < words->n; i++) {
		if (i)
			sb_char(b, '|');
		sb_put(b, words->v[i]);
	}
}

struct str text_name(const struct result *r, struct str name, struct arena *a)
{
	bool reduce = r->q->m->parallel_times && !r->q->o->output.full_names;

	return reduce ? demangle_reduce(a, name, REDUCED_ARGUMENTS) : name;
}

void text_input(struct sb *b, const struct model *m, uint32_t node, uint32_t i)
{
	uint32_t shape = model_input_shape(m, i);

	fmt_i64(b, model_input_index(m, node, i));
	sb_char(b, ':');
	if (model_rank(m, shape))
		text_shape(b, m, shape);
	else
		sb_put(b, S("unknown"));
}

void text_inputs(struct sb *b, const struct model *m, uint32_t node, const char *between)
{
	for (uint32_t i = m->input0.v[node]; i < m->input0.v[node + 1]; i++) {
		if (i > m->input0.v[node])
			sb_put(b, str_of(between));
		text_input(b, m, node, i);
	}
}

void text_number(struct sb *b, const struct result *r, const struct metric *m,
        const struct tally *t, const char *suffix)
{
	if (tally_is_unknown(t, m->value)) {
		sb_fmt(b, "?%s", suffix);
		return;
	}
	if (tally_is_bound(t, m->value))
		sb_char(b, '~');
	else if (tally_lacks(t, m->value))
		sb_put(b, S("≥"));
	text_quantity(b, r->q, m->unit, view_value(r->q, t, m->value), suffix);
}

void text_pair(struct sb *b, const struct result *r, const struct metric *m, const struct entry *x)
{
	if (x->accounted)
		text_number(b, r, m, x->self, "");
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	text_number(b, r, m, x->total, metric_in(m, r->kind)->suffix);
}

uint32_t text_hidden_above(const struct result *r, const struct entry *x)
{
	const struct kept *k = &r->q->kept;
	uint32_t n = 0;

	if (x->parent == ID_NONE)
		return 0;
	for (uint32_t i = x->kept; !k->start[i]; n++) {
		i = k->parent[i];
		if (i == r->shown[x->parent].kept)
			return n;
	}
	return n;
}

static bool is_quantity(enum metric_id m)
{
	return metrics[m].value != V_NONE && metrics[m].unit != UNIT_OCCURRENCE;
}

double text_share(
        const struct result *r, const struct entry *x, const enum metric_id *columns, size_t n)
{
	enum metric_id of = r->q->o->order.by;

	for (size_t i = 0; i < n && !is_quantity(of); i++)
		of = columns[i];
	if (!is_quantity(of))
		of = M_MICROS;
	/* Types of the op view have no children: their own number counts. */
	const struct tally *part = view_is(r->kind, VIEW_LIST) ? x->self : x->total;
	int64_t root = r->root.v[metrics[of].value];
	return root > 0 ? 100.0 * (double)part->v[metrics[of].value] / (double)root : 0;
}

/* True if a number is 0 although some part of it is known. */
static bool is_zero(const struct tally *t, enum value v)
{
	return t->v[v] == 0 && !tally_lacks(t, v);
}

static bool is_all_zero(const struct result *r, enum value v)
{
	bool zero = is_zero(&r->root, v);

	for (uint32_t i = 0; i < r->n && zero; i++)
		zero = is_zero(r->shown[i].self, v) && is_zero(r->shown[i].total, v);
	return zero;
}

/* Leaves out the columns in which every shown number is 0, unless all columns are. */
static void leave_out(struct text_columns *c, const struct result *r, struct str *zero)
{
	struct strs names = { 0 };
	size_t n = 0;
	bool keep[M_N];

	for (size_t i = 0; i < c->n; i++) {
		const struct metric *m = &metrics[c->id[i]];
		keep[i] = m->value == V_NONE || !is_all_zero(r, m->value);
		n += keep[i];
		if (!keep[i])
			strs_add(r->q->a, &names, str_of(m->name));
	}
	if (!n || n == c->n)
		return;
	n = 0;
	for (size_t i = 0; i < c->n; i++)
		if (keep[i])
			c->id[n++] = c->id[i];
	c->n = n;
	*zero = strs_join(r->q->a, &names, S(", "));
}

struct str text_columns_init(struct text_columns *c, const struct result *r, const struct sink *to)
{
	struct str zero = STR_NONE;

	c->n = metric_columns(r->q->o->select.metrics, r->kind, c->id);
	c->share = M_NONE;
	for (size_t i = 0; i < c->n; i++) {
		enum metric_id m = c->id[i];
		if (!is_quantity(m) || r->root.v[metrics[m].value] <= 0)
			continue;
		if (c->share == M_NONE || m == r->q->o->order.by)
			c->share = m;
	}
	if (sink_takes_lines(to))
		leave_out(c, r, &zero);
	return zero;
}

void text_left_out(const struct result *r, struct str zero, struct sink *to)
{
	if (zero.n && !r->q->o->quiet)
		sink_sentence(
		        to, r->q->a, str_fmt(r->q->a, "(all zero, not shown: %.*s)", STR(zero)));
}

void text_rate(
        struct line *l, const struct result *r, const struct entry *x, const struct text_columns *c)
{
	/* Types of the op view have no entries below them: their own number counts. */
	const struct tally *of = view_is(r->kind, VIEW_LIST) ? x->self : x->total;

	l->whole = !view_is(r->kind, VIEW_LIST) && x->parent == ID_NONE;
	l->dim = !x->accounted && !l->whole;
	if (c->share == M_NONE)
		return;
	int64_t part = of->v[metrics[c->share].value], root = r->root.v[metrics[c->share].value];
	l->share = (double)part / (double)root;
	l->dim |= part <= 0;
}

void text_percent(struct sb *b, const struct result *r, const struct entry *x,
        const enum metric_id *columns, size_t n)
{
	fmt_fixed2(b, text_share(r, x, columns, n));
	sb_char(b, '%');
}

/* ---- columns other than metrics ---- */

/* Appends a column's name as a cell; every such cell except the first follows a bar. */
static void put_legend(struct line_build *b, unsigned column, bool bar, struct str name,
        enum vk kind, enum metric_id of)
{
	if (bar)
		sb_put(&b->text, S(" | "));
	line_cell_begin(b, column);
	sb_put(&b->text, name);
	if (of != M_NONE)
		sb_fmt(&b->text, " %s", metric_in(&metrics[of], kind)->legend);
	line_cell_end(b, false);
}

void text_legend(
        struct line_build *b, const struct result *r, const struct text_columns *c, struct sink *to)
{
	bool bar = false;

	line_begin(b, 0, S("node name"));
	sb_put(&b->text, S(" | "));
	for (unsigned i = 0; i < c->n; i++) {
		const char *legend = metric_in(&metrics[c->id[i]], r->kind)->legend;
		if (legend) {
			put_legend(b, i, bar, str_of(legend), r->kind, M_NONE);
			b->cells.v[b->cells.n - 1].key =
			        c->share == M_NONE ? !bar : c->id[i] == c->share;
		}
		bar |= legend != NULL;
	}
	for (unsigned i = 0; i < r->n_extra; i++)
		put_legend(b, (unsigned)c->n + i, true, r->extra[i].name, r->kind, r->extra[i].of);
	line_end(b, LINE_HEADING, to);
}

static void put_figure(struct sb *b, const struct query *q, const struct extra *x, union figure f)
{
	if (x->whole ? f.whole == FIGURE_NONE : isnan(f.real)) {
		sb_char(b, '-');
		return;
	}
	if (x->whole)
		text_quantity(b, q, x->unit, (struct fraction){ f.whole, 1 }, "");
	else if (x->unit == UNIT_PERCENT)
		fmt_fixed2(b, f.real);
	else if (x->unit == UNIT_TIME && q->o->new_input)
		fmt_time(b, num_from_real(f.real * 1000));
	else if (x->unit == UNIT_TIME)
		fmt_micros_real(b, f.real);
	else if (q->o->new_input)
		(x->unit == UNIT_BYTES ? fmt_si_bytes : fmt_si)(b, f.real);
	else if (x->unit == UNIT_BYTES)
		fmt_bytes_real(b, f.real);
	else
		fmt_count_real(b, f.real);
	if (x->unit == UNIT_PERCENT)
		sb_char(b, '%');
}

void text_extra(struct sb *b, const struct result *r, const struct extra *x, uint32_t i)
{
	if (x->words) {
		sb_put(b, x->words[i]);
		return;
	}
	if (x->total_only) {
		put_figure(b, r->q, x, x->total[i]);
		return;
	}
	if (r->shown[i].accounted)
		put_figure(b, r->q, x, x->own[i]);
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	put_figure(b, r->q, x, x->total[i]);
}

void text_end_row(struct line_build *b, bool fields, const struct result *r, const struct entry *x,
        const struct text_columns *c, struct sink *to)
{
	for (unsigned i = 0; i < r->n_extra; i++) {
		if (fields || i)
			sb_put(&b->text, S(", "));
		line_cell_begin(b, (unsigned)c->n + i);
		text_extra(&b->text, r, &r->extra[i], (uint32_t)(x - r->shown));
		line_cell_end(b, true);
	}
	sb_char(&b->text, ')');
	text_rate(&b->line, r, x, c);
	line_end(b, LINE_ROW, to);
}
