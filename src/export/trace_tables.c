/* SPDX-License-Identifier: Apache-2.0
 *
 * See trace_tables.h. A table is columns and a list of cells, row by row; writers know no pass.
 */
#include "export/trace_tables.h"

#include "base/fmt.h"
#include "export/document.h"
#include "trace/ops.h"
#include "trace/usage.h"

#define VERSION  1
#define NAME_MIN 24 /* a name in text is cut to no less */

/* A number or a text; what it is says the column. */
struct table_cell {
	int64_t number;
	struct str text;
};

struct table {
	const struct trace *t;
	struct arena *a;
	const char *key, *schema;
	const struct column *columns;
	size_t n_columns, rows;
	VEC(struct table_cell) cells;
};

/* ---- tables ---- */

#define TEXT(name)                                                                                 \
	{                                                                                          \
		S(name), COLUMN_TEXT, NULL                                                         \
	}
#define NUMBER(name, of)                                                                           \
	{                                                                                          \
		S(name), COLUMN_INTEGER, of                                                        \
	}
static const struct column device_columns[] = { TEXT("device"), TEXT("kind"),
	NUMBER("span_ns", "ns"), NUMBER("busy_ns", "ns"), NUMBER("idle_ns", "ns"),
	NUMBER("compute_busy_ns", "ns"), NUMBER("communication_busy_ns", "ns"),
	NUMBER("copy_busy_ns", "ns"), NUMBER("communication_compute_overlap_ns", "ns"),
	NUMBER("copy_bytes", "bytes"), NUMBER("slices", NULL), NUMBER("sum_ns", "ns"),
	NUMBER("host_wait_ns", "ns"), NUMBER("kernel_wait_ns", "ns"),
	NUMBER("other_wait_ns", "ns") };
static const struct column kernel_columns[] = { NUMBER("total_ns", "ns"), NUMBER("count", NULL),
	NUMBER("mean_ns", "ns"), NUMBER("min_ns", "ns"), NUMBER("max_ns", "ns"),
	{ S("share"), COLUMN_REAL, "percent" }, TEXT("category"), TEXT("device"), TEXT("op"),
	TEXT("name") };
static const struct column step_columns[] = { NUMBER("step", NULL), NUMBER("start_ns", "ns"),
	NUMBER("duration_ns", "ns"), NUMBER("busy_ns", "ns"), NUMBER("idle_ns", "ns"),
	NUMBER("compute_busy_ns", "ns"), NUMBER("communication_busy_ns", "ns"),
	NUMBER("copy_busy_ns", "ns"), NUMBER("communication_compute_overlap_ns", "ns"),
	NUMBER("slices", NULL), TEXT("name") };

static void put_number(struct table *x, int64_t v)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .number = v }));
}

static void put_ticks(struct table *x, int64_t v)
{
	put_number(x, trace_ns(x->t, v));
}

static void put_text(struct table *x, struct str s)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .text = s }));
}

static void fill_devices(struct table *x, const struct trace_links *links)
{
	const struct trace *t = x->t;
	struct trace_usage usage;

	trace_usage(t, links, &usage, x->a);
	for (size_t i = 0; i < usage.devices.n; i++, x->rows++) {
		const struct device_usage *u = &usage.devices.v[i];
		int64_t span = trace_ns(t, num_sub(u->end, u->start)), busy = trace_ns(t, u->busy);
		put_text(x, trace_device_label(t, u->device, x->a));
		put_text(x, str_of(trace_device_kinds[t->devices.v[u->device].kind]));
		put_number(x, span);
		put_number(x, busy);
		put_number(x, num_sub(span, busy));
		put_ticks(x, u->by_class[USAGE_COMPUTE]);
		put_ticks(x, u->by_class[USAGE_COMMUNICATION]);
		put_ticks(x, u->by_class[USAGE_COPY]);
		put_ticks(x, u->overlap);
		put_number(x, u->copy_bytes);
		put_number(x, num_from_u64(u->slices));
		put_ticks(x, u->sum);
		for (int k = 0; k < IDLE_N; k++)
			put_ticks(x, u->idle_why[k]);
	}
}

static void fill_kernels(
        struct table *x, const struct trace_links *links, const struct trace_steps *steps)
{
	const struct trace *t = x->t;
	struct trace_ops ops;
	int64_t all = 0;

	trace_find_ops(t, links, steps, &ops, x->a);
	for (size_t i = 0; i < ops.kernels.n; i++)
		all = num_add(all, ops.kernels.v[i].total);
	for (size_t i = 0; i < ops.kernels.n; i++, x->rows++) {
		const struct kernel_row *k = &ops.kernels.v[i];
		put_ticks(x, k->total);
		put_number(x, num_from_u64(k->count));
		put_ticks(x, k->total / (int64_t)k->count);
		put_ticks(x, k->min);
		put_ticks(x, k->max);
		put_number(x, all ? (int64_t)(1e4 * (double)k->total / (double)all + 0.5) : 0);
		put_text(x, str_of(trace_category_names[k->category]));
		put_text(x, trace_device_label(t, k->device, x->a));
		put_text(x, intern_str(&ops.strings, ops.ops.v[k->op].name));
		put_text(x, trace_str(t, k->name));
	}
}

static void fill_steps(struct table *x, const struct trace_steps *steps)
{
	const struct trace *t = x->t;
	struct step_usage *usage = ARENA_ARRAY(x->a, steps->steps.n, struct step_usage);

	usage_by_step(t, steps, usage, x->a);
	for (size_t i = 0; i < steps->steps.n; i++, x->rows++) {
		const struct trace_step *s = &steps->steps.v[i];
		const struct step_usage *u = &usage[i];
		int64_t length = trace_ns(t, num_sub(s->end, s->start)),
		        busy = trace_ns(t, u->busy);
		put_number(x, s->id);
		put_ticks(x, s->start);
		put_number(x, length);
		put_number(x, busy);
		put_number(x, num_sub(length, busy));
		put_ticks(x, u->by_class[USAGE_COMPUTE]);
		put_ticks(x, u->by_class[USAGE_COMMUNICATION]);
		put_ticks(x, u->by_class[USAGE_COPY]);
		put_ticks(x, u->overlap);
		put_number(x, num_from_u64(u->slices));
		put_text(x,
		        steps->by == STEPS_UNKNOWN ? S("steps: unknown") : trace_str(t, s->name));
	}
}

static void fill(struct table *x, enum trace_table which)
{
	struct trace_links links;
	struct trace_steps steps;

	trace_link(x->t, &links, x->a);
	trace_find_steps(x->t, &steps, x->a);
	switch (which) {
	case TABLE_DEVICES:
		x->key = "devices";
		x->schema = "tfprof/devices";
		x->columns = device_columns;
		x->n_columns = sizeof device_columns / sizeof *device_columns;
		fill_devices(x, &links);
		break;
	case TABLE_KERNELS:
		x->key = "kernels";
		x->schema = "tfprof/kernels";
		x->columns = kernel_columns;
		x->n_columns = sizeof kernel_columns / sizeof *kernel_columns;
		fill_kernels(x, &links, &steps);
		break;
	case TABLE_STEPS:
		x->key = "steps";
		x->schema = "tfprof/steps";
		x->columns = step_columns;
		x->n_columns = sizeof step_columns / sizeof *step_columns;
		fill_steps(x, &steps);
		break;
	}
}

/* ---- text ---- */

static void text_time(struct sb *b, int64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = (double)ns;
	size_t u = 0;

	for (; u < 3 && (v >= 999.5 || v <= -999.5); u++)
		v /= 1000;
	sb_fmt(b, "%.*f%s", !u || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, units[u]);
}

static struct str text_cell(const struct table *x, size_t column, const struct table_cell *c)
{
	const struct column *k = &x->columns[column];
	struct sb b = sb_in(x->a);

	if (k->type == COLUMN_TEXT)
		sb_put_name(&b, c->text);
	else if (k->type == COLUMN_REAL)
		sb_fmt(&b, "%.2f%%", (double)c->number / 100);
	else if (k->unit && str_eq(str_of(k->unit), S("ns")))
		text_time(&b, c->number);
	else if (k->unit)
		fmt_bytes(&b, c->number);
	else
		fmt_i64(&b, c->number);
	return sb_str(&b);
}

/* The name of a column without its unit, as a heading. */
static struct str heading(const struct table *x, size_t column)
{
	struct str s = x->columns[column].name;

	if (str_ends(s, S("_ns")))
		s = str_sub(s, 0, s.n - 3);
	if (str_ends(s, S("_busy")))
		s = str_sub(s, 0, s.n - 5);
	if (str_eq(s, S("communication_compute_overlap")))
		s = S("overlap");
	return str_replace_char(x->a, s, '_', ' ');
}

static void put_padded(struct sink *to, struct str s, size_t width, bool text, bool last)
{
	size_t pad = width > s.n ? width - s.n : 0;

	if (text) {
		sink_put(to, s);
		for (size_t i = 0; i < pad && !last; i++)
			sink_char(to, ' ');
	} else {
		for (size_t i = 0; i < pad; i++)
			sink_char(to, ' ');
		sink_put(to, s);
	}
	sink_put(to, last ? S("\n") : S("  "));
}

static void write_text(const struct table *x, size_t top, unsigned columns, struct sink *to)
{
	size_t n = x->n_columns, rows = top && top < x->rows ? top : x->rows, used = 0;
	struct str *text = ARENA_ARRAY(x->a, (rows + 1) * n, struct str);
	size_t *width = ARENA_ARRAY(x->a, n, size_t);

	for (size_t c = 0; c < n; c++) {
		text[c] = heading(x, c);
		for (size_t r = 0; r < rows; r++)
			text[(r + 1) * n + c] = text_cell(x, c, &x->cells.v[r * n + c]);
		for (size_t r = 0; r <= rows; r++)
			width[c] = text[r * n + c].n > width[c] ? text[r * n + c].n : width[c];
		used += c + 1 < n ? width[c] + 2 : 0;
	}
	size_t room = columns > used + NAME_MIN ? columns - used : NAME_MIN;
	for (size_t r = 0; r <= rows; r++)
		for (size_t c = 0; c < n; c++) {
			struct str s = text[r * n + c];
			if (columns && c + 1 == n && s.n > room)
				s = str_sub(s, 0, room);
			put_padded(to, s, width[c], x->columns[c].type == COLUMN_TEXT, c + 1 == n);
		}
	if (rows < x->rows)
		sink_fmt(to, "(%zu of %zu rows; --top=0 shows all)\n", rows, x->rows);
}

/* ---- data ---- */

static void put_rows(const struct table *x, size_t top, struct sheet *to)
{
	size_t n = x->n_columns, rows = top && top < x->rows ? top : x->rows;

	for (size_t i = 0; i < rows * n; i++) {
		const struct table_cell *c = &x->cells.v[i];
		switch (x->columns[i % n].type) {
		case COLUMN_TEXT: sheet_text(to, c->text); break;
		case COLUMN_REAL: sheet_real(to, (double)c->number / 100); break;
		default: sheet_i64(to, c->number);
		}
	}
}

static void write_json(const struct table *x, size_t top, struct sink *s, const struct emit *to)
{
	struct document d;
	struct sheet sheet;

	document_begin(&d, s, to->a, x->schema, VERSION);
	document_sources(&d, &to->from);
	document_warnings(&d, &to->from, to->notes);
	document_i64(&d, "rows", num_from_u64(x->rows));
	document_key(&d, x->key);
	json_array(&d.j);
	sheet_open_json(&sheet, &d.j, to->a, x->columns, x->n_columns);
	put_rows(x, top, &sheet);
	sheet_close(&sheet);
	json_array_end(&d.j);
	document_end(&d);
}

/* ---- forms ---- */

/* The table to write, and its limits. */
struct shown {
	struct table x;
	size_t top;
	unsigned columns;
};

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct shown *t = x->of;

	(void)e;
	write_text(&t->x, t->top, s == to->out ? t->columns : 0, s);
	return true;
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct shown *t = x->of;

	(void)e;
	write_json(&t->x, t->top, s, to);
	return true;
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	const struct shown *t = x->of;
	struct sheet sheet;

	(void)e;
	sheet_open(&sheet, form, s, to->a, t->x.columns, t->x.n_columns);
	put_rows(&t->x, t->top, &sheet);
	sheet_close(&sheet);
	return true;
}

bool trace_table_write(const struct trace *t, enum trace_table which, size_t top,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e)
{
	struct shown shown = { .x = { .t = t, .a = to->a }, .top = top, .columns = columns };
	struct exported x = { .kind = RESULT_GPU,
		.of = &shown,
		.output = &o->output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	fill(&shown.x, which);
	x.name = shown.x.key;
	return out_export(&x, to, e);
}
