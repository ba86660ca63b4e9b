/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells that the text outputs share.
 */
#include <math.h>

#include "base/fmt.h"
#include "export/out.h"

void text_quantity(struct sb *b, enum unit u, int64_t v, const char *suffix)
{
	if (u == UNIT_TIME)
		fmt_micros(b, v);
	else if (u == UNIT_BYTES)
		fmt_bytes(b, v);
	else
		fmt_count(b, v);
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

void text_pair(struct sb *b, const struct metric *m, enum vk kind, const struct entry *x)
{
	if (x->accounted)
		text_quantity(b, m->unit, x->self->v[m->value], "");
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	text_quantity(b, m->unit, x->total->v[m->value], m->in[kind].suffix);
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
	int64_t root = r->root.v[metrics[of].value], total = x->total->v[metrics[of].value];
	return root > 0 ? 100.0 * (double)total / (double)root : 0;
}

void text_percent(struct sb *b, const struct result *r, const struct entry *x,
        const enum metric_id *columns, size_t n)
{
	fmt_fixed2(b, text_share(r, x, columns, n));
	sb_char(b, '%');
}

/* ---- columns beyond the metrics ---- */

void text_legend(struct sb *b, const struct result *r)
{
	metric_legend(b, r->q->o->select.metrics, r->kind);
	if (r->n_extra)
		b->n--; /* its newline */
	for (size_t i = 0; i < r->n_extra; i++) {
		const struct extra *x = &r->extra[i];
		sb_put(b, S(" | "));
		sb_put(b, x->name);
		if (x->of != M_NONE)
			sb_fmt(b, " %s", metrics[x->of].in[r->kind].legend);
	}
	if (r->n_extra)
		sb_char(b, '\n');
}

static void put_figure(struct sb *b, const struct extra *x, union figure f)
{
	if (x->whole ? f.whole == FIGURE_NONE : isnan(f.real)) {
		sb_char(b, '-');
		return;
	}
	if (x->whole)
		text_quantity(b, x->unit, f.whole, "");
	else if (x->unit == UNIT_PERCENT)
		fmt_fixed2(b, f.real);
	else if (x->unit == UNIT_TIME)
		fmt_micros_real(b, f.real);
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
		put_figure(b, x, x->total[i]);
		return;
	}
	if (r->shown[i].accounted)
		put_figure(b, x, x->own[i]);
	else
		sb_put(b, S("--"));
	sb_char(b, '/');
	put_figure(b, x, x->total[i]);
}
