/* SPDX-License-Identifier: Apache-2.0
 *
 * See summary_out.h.
 */
#include "export/summary_out.h"

enum { OWN, SHARE, SUM, CALLS, MEAN, TYPE, DEVICE, PATH };

static enum column_type number_type(const struct query *q, enum value v)
{
	return view_has_fractions(q, v) ? COLUMN_REAL : COLUMN_INTEGER;
}

static void name_columns(
        struct hottest_table *t, const struct query *q, enum metric_id id, enum value of)
{
	static const char *const units[] = { [UNIT_TIME] = "us", [UNIT_BYTES] = "bytes" };
	const struct metric *m = &metrics[id];
	const char *unit = m->unit == UNIT_TIME || m->unit == UNIT_BYTES ? units[m->unit] : "count";
	struct arena *a = t->x.a;
	struct column *c = t->columns;

	const char *name = of == V_DEFINITIONS ? "definitions" : m->name;
	c[OWN] = (struct column){ str_fmt(a, "own_%s", name), number_type(q, of), unit };
	c[SHARE] = (struct column){ S("share"), COLUMN_REAL, "percent" };
	c[SUM] = (struct column){ S("cumulative_share"), COLUMN_REAL, "percent" };
	c[CALLS] = (struct column){ S("calls"), number_type(q, V_RUNS), NULL };
	c[MEAN] = (struct column){ str_fmt(a, "mean_%s", name), COLUMN_REAL, unit };
	c[TYPE] = (struct column){ S("type"), COLUMN_TEXT, NULL };
	c[DEVICE] = (struct column){ S("device"), COLUMN_TEXT, NULL };
	c[PATH] = (struct column){ S("path"), COLUMN_TEXT, NULL };
}

/* Returns part of whole in hundredths of a percent. */
static int64_t share(int64_t part, int64_t whole)
{
	return whole > 0 ? num_from_real(1e4 * (double)part / (double)whole + 0.5) : 0;
}

static void put_number(struct table *x, struct fraction f)
{
	if (f.per > 1)
		table_fraction(x, f);
	else
		table_number(x, f.v);
}

static void put_row(
        struct table *x, const struct query *q, const struct hottest *h, uint32_t kept, int64_t sum)
{
	const struct tally *own = view_self(q, kept);
	const struct model *m = q->m;
	struct fraction v = view_value(q, own, h->of), calls = view_value(q, own, V_RUNS);
	uint32_t node = q->tree->node ? q->tree->node[q->kept.at[kept]] : ID_NONE;
	bool recorded = h->of < V_RECORDED && h->of != V_RUNS;

	put_number(x, v);
	table_number(x, share(v.v, h->total));
	table_number(x, share(sum, h->total));
	if (calls.v > 0)
		put_number(x, calls);
	else
		table_null(x);
	if (calls.v > 0 && recorded)
		table_number(x, num_from_real(1e2 * fraction_real(v) / fraction_real(calls) + 0.5));
	else
		table_null(x);
	if (node == ID_NONE) {
		table_null(x);
		table_null(x);
	} else {
		uint32_t device = m->nodes.v[node].device;
		table_text(x, model_str(m, m->nodes.v[node].op));
		if (device == ID_NONE)
			table_null(x);
		else
			table_text(x, device_name(m, device));
	}
	table_text(x, view_name(q, kept));
}

void hottest_fill(struct hottest_table *t, const struct query *q, const struct hottest *h,
        enum metric_id m, size_t top, bool brief)
{
	size_t rows = top && top < h->n ? top : h->n;
	int64_t sum = 0;

	*t = (struct hottest_table){
		.x = { .a = q->a, .n_columns = HOTTEST_COLUMNS, .rows = h->n }
	};
	t->x.columns = t->columns;
	t->x.titles = t->titles;
	t->titles[SUM] = brief ? "" : "sum";
	t->titles[TYPE] = brief ? "" : "type";
	t->titles[DEVICE] = "";
	t->titles[PATH] = view_is(q->tree->kind, VIEW_LIST) ? "operation type" : "node";
	name_columns(t, q, m, h->of);
	for (size_t i = 0; i < rows; i++) {
		sum = num_sum(sum, view_self(q, h->kept[i])->v[h->of]);
		put_row(&t->x, q, h, h->kept[i], sum);
	}
}
