/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the scopes and nodes with the largest times.
 */
#include "export/summary_out.h"

static enum column_type number_type(const struct query *q, enum value v)
{
	return view_has_fractions(q, v) ? COLUMN_REAL : COLUMN_INTEGER;
}

/* Adds a column. title: its heading in text; "": no heading; NULL: its name. */
static void add_column(struct hottest_table *t, struct str name, enum column_type type,
        const char *unit, const char *title)
{
	t->columns[t->x.n_columns] = (struct column){ name, type, unit, 0 };
	t->titles[t->x.n_columns++] = title;
}

/* Returns the heading of a time that is shown beside another time, or NULL. */
static const char *time_title(const struct hottest *h, enum value of)
{
	if (h->other == V_NONE)
		return NULL;
	return of == V_CPU_MICROS ? "host" : "device";
}

/* Adds the time beside the metric, and its share. Text omits a column of zeros. */
static void add_other(struct hottest_table *t, const struct query *q, const struct hottest *h)
{
	const char *name = h->other == V_CPU_MICROS ? "self_micros" : "accelerator_micros";
	bool zero = h->other_total <= 0;
	struct arena *a = t->x.a;

	add_column(t, str_fmt(a, "own_%s", name), number_type(q, h->other), "us",
	        zero ? "" : time_title(h, h->other));
	add_column(t, str_fmt(a, "share_%s", name), COLUMN_REAL, "percent",
	        zero                       ? ""
	        : h->other == V_CPU_MICROS ? "host share"
	                                   : "device share");
	t->columns[t->x.n_columns - 1].spare = 3;
}

/* Returns the heading of the numbers of calls. Profiles of pprof count something else. */
static const char *calls_title(const struct model *m)
{
	if (!model_is_sampled(m))
		return NULL;
	return str_contains(m->files.v[0].format, S("samples/count")) ? "samples" : "count";
}

/* Returns the heading of the mean per call. The mean per sample of a time is only the period of the
 * samples. */
static const char *mean_title(const struct query *q, const struct hottest *h)
{
	const char *calls = calls_title(q->m);

	if (calls && strcmp(calls, "samples") == 0)
		return "";
	return h->other == V_NONE ? NULL : "mean";
}

static void add_columns(struct hottest_table *t, const struct query *q, const struct hottest *h,
        enum metric_id id, bool brief)
{
	static const char *const units[] = { [UNIT_TIME] = "us", [UNIT_BYTES] = "bytes" };
	const struct metric *m = &metrics[id];
	const char *unit = m->unit == UNIT_TIME || m->unit == UNIT_BYTES ? units[m->unit] : "count";
	const char *name = h->of == V_DEFINITIONS ? "definitions" : m->name;
	struct arena *a = t->x.a;

	add_column(
	        t, str_fmt(a, "own_%s", name), number_type(q, h->of), unit, time_title(h, h->of));
	add_column(t, S("share"), COLUMN_REAL, "percent", NULL);
	add_column(t, S("cumulative_share"), COLUMN_REAL, "percent", brief ? "" : "sum");
	t->columns[t->x.n_columns - 1].spare = 2;
	if (h->other != V_NONE)
		add_other(t, q, h);
	add_column(t, S("calls"), number_type(q, V_RUNS), NULL, calls_title(q->m));
	t->columns[t->x.n_columns - 1].spare = 1;
	add_column(t, str_fmt(a, "mean_%s", name), COLUMN_REAL, unit, mean_title(q, h));
	t->columns[t->x.n_columns - 1].spare = 4;
	t->type = t->x.n_columns;
	add_column(t, S("type"), COLUMN_TEXT, NULL, brief ? "" : "type");
	add_column(t, S("device"), COLUMN_TEXT, NULL, "");
	add_column(t, S("path"), COLUMN_TEXT, NULL,
	        view_is(q->tree->kind, VIEW_LIST)     ? "operation type"
	        : view_is(q->tree->kind, VIEW_TRACES) ? "line"
	                                              : "node");
}

/* Returns the ratio part / whole in hundredths of a percent. */
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
	if (h->other != V_NONE) {
		struct fraction other = view_value(q, own, h->other);
		put_number(x, other);
		table_number(x, share(other.v, h->other_total));
	}
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

/* True if the type of each row is its name, as it is for source lines. */
static bool types_are_names(const struct table *x, size_t type, size_t rows)
{
	const struct table_cell *row = x->cells.v;
	size_t i = 0;

	for (; i < rows && str_eq(row[type].text, row[x->n_columns - 1].text); i++)
		row += x->n_columns;
	return i == rows;
}

void hottest_fill(struct hottest_table *t, const struct query *q, const struct hottest *h,
        enum metric_id m, size_t top, bool brief)
{
	size_t rows = top && top < h->n ? top : h->n;
	int64_t sum = 0;

	*t = (struct hottest_table){ .x = { .a = q->a, .rows = h->n } };
	t->x.columns = t->columns;
	t->x.titles = t->titles;
	add_columns(t, q, h, m, brief);
	for (size_t i = 0; i < rows; i++) {
		sum = num_sum(sum, view_self(q, h->kept[i])->v[h->of]);
		put_row(&t->x, q, h, h->kept[i], sum);
	}
	if (types_are_names(&t->x, t->type, rows))
		t->titles[t->type] = "";
}
