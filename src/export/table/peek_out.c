/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of peek. All lists have the same columns: a time, its share of the subject's time, the
 * other time (host time beside device time, device time beside host time), runs and a name.
 */
#include "export/table/peek_out.h"

#define COLUMNS_MAX 8
#define STEPS_TABLE PEEK_LISTS
#define TABLES      (PEEK_LISTS + 1)

/* Indexed by list: its key in documents, and its titles for traces and for other profiles. */
static const struct {
	const char *key, *of_trace, *of_nodes;
} list_names[TABLES] = {
	[PEEK_CALLERS] = { "callers", "called by", "inside" },
	[PEEK_CALLEES] = { "callees", "calls", "contains" },
	[PEEK_INPUTS] = { "inputs", "reads from", "reads from" },
	[PEEK_READERS] = { "readers", "read by", "read by" },
	[PEEK_OPS] = { "ops", "ops", "nodes" },
	[PEEK_KERNEL_LIST] = { "kernels", "kernels", "kernels" },
	[PEEK_LINES] = { "lines", "lines", "lines" },
	[STEPS_TABLE] = { "steps", "steps", "steps" },
};

/* A table with its columns. */
struct peek_table {
	struct table x;
	struct column columns[COLUMNS_MAX];
	const char *titles[COLUMNS_MAX];
};

struct peek_writer {
	const struct peek *p;
	const struct query *q;
	struct arena *a;
	enum metric_id metric;
	enum value of, other;
	struct str other_name;
};

/* ---- columns ---- */

static void add_column(struct peek_table *t, struct str name, enum column_type type,
        const char *unit, const char *title)
{
	t->columns[t->x.n_columns] = (struct column){ name, type, unit, 0 };
	t->titles[t->x.n_columns++] = title;
}

static void begin(struct peek_table *t, struct arena *a, const char *key)
{
	*t = (struct peek_table){ .x = { .a = a, .key = key } };
	t->x.columns = t->columns;
	t->x.titles = t->titles;
}

/* Returns the type of a number's column. over: number of steps by which sums are divided. */
static enum column_type number_type(const struct peek_writer *w, int64_t over, enum value v)
{
	return model_fraction(w->q->m, over, v, 0).per > 1 ? COLUMN_REAL : COLUMN_INTEGER;
}

static const char *time_title(const struct peek_writer *w, enum value of)
{
	return w->other == V_NONE ? NULL : of == V_CPU_MICROS ? "host" : "device";
}

/* Adds the columns for numbers. over: number of steps by which sums are divided. */
static void add_numbers(const struct peek_writer *w, struct peek_table *t, int64_t over, bool share)
{
	const struct metric *m = &metrics[w->metric];
	const char *unit = m->unit == UNIT_TIME ? "us" : m->unit == UNIT_BYTES ? "bytes" : "count";

	add_column(t, str_of(m->name), number_type(w, over, w->of), unit, time_title(w, w->of));
	if (share)
		add_column(t, S("share"), COLUMN_REAL, "percent", NULL);
	if (w->other != V_NONE)
		add_column(t, w->other_name, number_type(w, over, w->other), "us",
		        time_title(w, w->other));
	add_column(t, S("runs"), number_type(w, over, V_RUNS), NULL, NULL);
}

/* ---- rows ---- */

static void put_fraction(struct table *x, struct fraction f)
{
	if (f.per > 1)
		table_fraction(x, f);
	else
		table_number(x, f.v);
}

/* True if the rows of a list are not parts of the subject. */
static bool is_neighbour(enum peek_list which)
{
	return which == PEEK_INPUTS || which == PEEK_READERS;
}

/* Appends the numbers of a row. whole: the number of which the row is a share, or NULL. */
static void put_row(const struct peek_writer *w, struct table *x, const struct peek_row *r,
        const struct tally *whole)
{
	bool none = whole && w->other != V_NONE && whole->v[w->of] <= 0;
	enum value share = none ? w->other : w->of;

	put_fraction(x, view_value(w->q, &r->total, w->of));
	if (whole)
		table_number(x, table_share(r->total.v[share], whole->v[share]));
	if (w->other != V_NONE)
		put_fraction(x, view_value(w->q, &r->total, w->other));
	if (r->own.v[V_RUNS] > 0)
		put_fraction(x, view_value(w->q, &r->own, V_RUNS));
	else
		table_null(x);
	table_text(x, r->name);
	x->rows++;
}

/* Hides a number in text if it is 0 in all rows and there is another one. column: its index. */
static void hide_zeros(const struct peek_writer *w, struct peek_table *t, size_t column)
{
	bool any = false;

	for (size_t r = 0; r < t->x.rows; r++)
		any |= t->x.cells.v[r * t->x.n_columns + column].number != 0;
	if (w->other != V_NONE && !any)
		t->titles[column] = "";
}

static void fill_names(const struct peek_writer *w, struct peek_table *t)
{
	begin(t, w->a, "names");
	add_column(t, S("kind"), COLUMN_TEXT, NULL, NULL);
	add_numbers(w, t, w->q->over, true);
	add_column(t, S("name"), COLUMN_TEXT, NULL, NULL);
	for (size_t i = 0; i < w->p->names.v.n; i++) {
		const struct peek_row *r = w->p->found ? &w->p->subject : &w->p->names.v.v[i];
		table_text(&t->x, str_of(peek_kinds[r->kind]));
		put_row(w, &t->x, r, &w->p->all);
	}
}

static void fill_list(const struct peek_writer *w, struct peek_table *t, enum peek_list which)
{
	const struct peek_rows *rows = &w->p->lists[which];

	begin(t, w->a, list_names[which].key);
	add_numbers(w, t, w->q->over, !is_neighbour(which));
	add_column(t, S("name"), COLUMN_TEXT, NULL, NULL);
	for (size_t i = 0; i < rows->v.n; i++)
		put_row(w, &t->x, &rows->v.v[i], is_neighbour(which) ? NULL : &w->p->subject.total);
	if (w->p->subject.total.v[w->of] <= 0) /* then shares are those of the other number */
		hide_zeros(w, t, 0);
	hide_zeros(w, t, t->x.n_columns - 3); /* before runs and name */
}

static void fill_steps(const struct peek_writer *w, struct peek_table *t)
{
	const struct model *m = w->q->m;

	begin(t, w->a, list_names[STEPS_TABLE].key);
	if (m->workers.n)
		add_column(t, S("worker"), COLUMN_TEXT, NULL, NULL);
	add_column(t, S("step"), COLUMN_INTEGER, NULL, NULL);
	add_numbers(w, t, 1, false);
	for (size_t i = 0; i < w->p->steps.n; i++, t->x.rows++) {
		const struct peek_step *s = &w->p->steps.v[i];
		if (m->workers.n)
			table_text(&t->x, m->workers.v[s->worker]);
		table_number(&t->x, s->id);
		put_fraction(&t->x, model_fraction(m, 1, w->of, s->total.v[w->of]));
		if (w->other != V_NONE)
			put_fraction(&t->x, model_fraction(m, 1, w->other, s->total.v[w->other]));
		table_number_if(&t->x, w->p->subject.own.v[V_RUNS] > 0, s->runs);
	}
	if (w->p->subject.total.v[w->of] <= 0)
		hide_zeros(w, t, m->workers.n ? 2 : 1);
}

/* ---- the answer ---- */

/* Adds notes about the lists that the file cannot have. */
static void note_missing(const struct peek_writer *w, struct notes *notes)
{
	const struct model *m = w->q->m;

	if (!w->p->code->tree)
		note_line(notes, "note: no lines: a profiler records call stacks only on request "
		                 "(PyTorch: with_stack=True)\n");
	if (!m->parallel_times)
		note_line(notes, "note: no kernels: only traces and recordings have them\n");
	else if (w->p->all.v[V_KERNELS] <= 0)
		note_line(notes, "note: no kernels: the file has no device work\n");
	if (!m->steps.n)
		note_line(notes, "note: no steps: the files have no times\n");
}

static void fill_all(const struct peek_writer *w, struct peek_table *tables, struct table *sections)
{
	for (int i = 0; i < TABLES; i++) {
		if (i == STEPS_TABLE)
			fill_steps(w, &tables[i]);
		else
			fill_list(w, &tables[i], (enum peek_list)i);
		tables[i].x.title =
		        w->q->m->parallel_times ? list_names[i].of_trace : list_names[i].of_nodes;
		sections[i] = tables[i].x;
	}
}

static void put_subject(struct document *d, const void *user)
{
	const struct peek *p = user;

	if (p->found)
		document_text(d, "name", p->subject.name);
}

bool peek_write(const struct peek *p, const struct peek_request *request, const struct output *o,
        struct emit *to, struct err *e)
{
	const struct metric *m = &metrics[request->metric];
	struct peek_writer w = {
		.p = p, .q = p->scope, .a = to->a, .metric = request->metric, .of = m->value
	};
	struct peek_table names, tables[TABLES];
	struct table sections[TABLES];

	w.other = view_other_time(w.q->m, w.of);
	w.other_name = str_of(
	        metrics[w.other == V_CPU_MICROS ? M_SELF_MICROS : M_ACCELERATOR_MICROS].name);
	fill_names(&w, &names);
	names.x.schema = "tfprof/peek";
	names.x.version = 1;
	names.x.command = "peek";
	names.x.members = put_subject;
	names.x.user = p;
	if (p->scope->n_steps > 1)
		names.x.lead = str_fmt(to->a, "mean of %zu steps:\n", p->scope->n_steps);
	fill_all(&w, tables, sections);
	if (p->found && request->section <= 0)
		note_missing(&w, to->notes);
	if (p->names.v.n > 1)
		note_line(to->notes,
		        "note: %zu names match: give one of them to see what is around it\n",
		        p->names.v.n);
	if (request->section > 0) {
		struct table one = sections[request->section - 1];
		one.schema = names.x.schema;
		one.version = names.x.version;
		one.command = names.x.command;
		one.members = put_subject;
		one.user = p;
		return table_write(&one, request->top, o, request->columns, to, e);
	}
	names.x.sections = sections;
	names.x.n_sections = TABLES;
	return table_write(&names.x, request->top, o, request->columns, to, e);
}
