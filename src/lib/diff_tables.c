/* SPDX-License-Identifier: Apache-2.0
 *
 * diff --of: the rows of a command, such as kernels, in two runs. The command runs on both sides;
 * its rows are matched by the columns that name them.
 */
#include "base/map.h"
#include "base/sort.h"
#include "export/table/table.h"
#include "lib/api_internal.h"
#include "lib/diff.h"

enum { SIDES = 2, KEYS_MAX = 2, NUMBERS_MAX = 6 };
#define ROWS_SHOWN 20 /* number of rows in text, unless --top is given */

/* A comparison: the command, the columns that name a row, and the numbers to compare. */
struct compared_table {
	const char *command;
	const char *keys[KEYS_MAX], *numbers[NUMBERS_MAX];
	const char *unit;
	bool by_size; /* true: the largest difference comes first; false: rows keep the command's
	                 order */
	bool total;   /* true: the numbers of all rows may be added up */
};
static const struct compared_table tables[] = {
	[DIFF_OF_KERNELS] = { "kernels", { "name" }, { "total_ns" }, "ns", true, true },
	[DIFF_OF_STEPS] = { "steps", { "step" }, { "duration_ns", "compute_busy_ns", "idle_ns" },
	        "ns", false, false },
	[DIFF_OF_DEVICES] = { "devices", { "device" },
	        { "window_ns", "busy_ns", "compute_busy_ns", "exposed_communication_ns",
	                "exposed_copy_ns", "idle_ns" },
	        "ns", false, false },
	[DIFF_OF_MEMORY] = { "memory", { "device", "allocator" },
	        { "peak_bytes", "live_bytes", "allocated_bytes", "reserved_bytes" }, "bytes", false,
	        false },
};

/* A number of a kernel, step, device or allocator on both sides. */
struct matched_row {
	struct str keys[KEYS_MAX], number;
	int64_t v[SIDES];
	bool known[SIDES];
};

struct matching {
	const struct compared_table *table;
	struct arena *a;
	struct intern ids;
	VEC(struct matched_row) all;
	int64_t total[SIDES];
};

/* ---- matching ---- */

/* Returns the index of a column among names, or n. */
static size_t place_of(const char *const *names, size_t n, struct str column)
{
	size_t i = 0;

	while (i < n && names[i] && !str_eq(str_of(names[i]), column))
		i++;
	return i < n && names[i] ? i : n;
}

static struct str key_text(struct arena *a, const struct cell_value *v)
{
	if (v->kind == CELL_NUMBER)
		return str_fmt(a, "%lld", (long long)v->i);
	return v->kind == CELL_TEXT ? str_copy(a, v->text) : STR_NONE;
}

/* Adds a number of a row. Numbers of rows with equal names are added up. */
static void add_number(
        struct matching *m, const struct matched_row *row, size_t number, int64_t v, int side)
{
	struct sb id = sb_in(m->a);

	for (size_t i = 0; i < KEYS_MAX; i++)
		sb_fmt(&id, "%zu:%.*s", row->keys[i].n, STR(row->keys[i]));
	sb_fmt(&id, "%zu", number);
	uint32_t at = intern_add(&m->ids, sb_str(&id));
	if (at == m->all.n) {
		VEC_PUSH(m->a, &m->all, *row);
		m->all.v[at].number = str_of(m->table->numbers[number]);
	}
	struct matched_row *to = &m->all.v[at];
	to->v[side] = num_add(to->v[side], v);
	to->known[side] = true;
	m->total[side] = num_add(m->total[side], v);
}

/* Adds the rows of a side, as cells. */
static void add_rows(struct matching *m, struct str bytes, int side)
{
	const struct compared_table *t = m->table;
	struct cells cells;
	struct cell_value v;
	struct matched_row row = { .number = STR_NONE };
	int64_t numbers[NUMBERS_MAX] = { 0 };
	bool known[NUMBERS_MAX] = { false };

	cells_open(&cells, bytes, m->a);
	for (size_t c = 0; cells_take(&cells, &v); c = (c + 1) % cells.n) {
		struct str column = cells.columns[c].name;
		size_t key = place_of(t->keys, KEYS_MAX, column);
		size_t number = place_of(t->numbers, NUMBERS_MAX, column);
		if (key < KEYS_MAX)
			row.keys[key] = key_text(m->a, &v);
		if (number < NUMBERS_MAX) {
			known[number] = v.kind == CELL_NUMBER;
			numbers[number] = v.i;
		}
		if (c + 1 < cells.n)
			continue;
		for (size_t i = 0; i < NUMBERS_MAX; i++)
			if (known[i])
				add_number(m, &row, i, numbers[i], side);
	}
}

/* Runs the command on a side. */
static bool add_side(struct session *s, struct matching *m, const struct diff_side *x, int side)
{
	struct strs words = { 0 };
	struct str bytes;

	if (x->answer)
		return session_fail(s, ERR_FAILED, "'%.*s' is text: it has no rows of %s",
		        STR(x->word), m->table->command);
	strs_add(m->a, &words, str_of(m->table->command));
	strs_add(m->a, &words, S("--top=0"));
	if (!api_run_cells(x->s, &words, &bytes))
		return diff_side_failed(s, x);
	add_rows(m, bytes, side);
	return true;
}

/* ---- the answer ---- */

static int64_t size_of(const struct matched_row *x)
{
	int64_t more = num_sub(x->v[1], x->v[0]);

	return more < 0 ? num_sub(0, more) : more;
}

/* Orders by the size of the difference, largest first. */
static int by_size(const void *ctx, uint32_t a, uint32_t b)
{
	const struct matched_row *v = ctx;
	int64_t x = size_of(&v[a]), y = size_of(&v[b]);

	return (x < y) - (x > y);
}

/* Returns the name of a number without its unit: "idle" for "idle_ns". */
static struct str without_unit(struct arena *a, struct str name)
{
	size_t unit = str_rfind_char(name, '_');

	name = str_sub(name, 0, unit == SIZE_MAX ? name.n : unit);
	if (str_eq(name, S("compute_busy")))
		name = S("compute");
	return str_replace_char(a, name, '_', ' ');
}

static void put_row(struct table *to, const struct matching *m, const struct matched_row *x)
{
	int64_t more = num_sub(x->v[1], x->v[0]);
	bool both = x->known[0] && x->known[1];

	for (int side = 0; side < SIDES; side++)
		table_number_if(to, x->known[side], x->v[side]);
	table_number(to, more);
	table_number_if(to, both && x->v[0] > 0, table_share(more, x->v[0]));
	if (m->table->numbers[1])
		table_text(to, without_unit(m->a, x->number));
	for (size_t i = KEYS_MAX; i-- > 0;)
		if (m->table->keys[i])
			table_text_if(to, x->keys[i].n > 0, x->keys[i]);
	to->rows++;
}

/* Sets the columns: both sides, difference, change, name of the number, names of the row. */
static void set_columns(struct table *to, const struct matching *m, const struct strs *names)
{
	const struct compared_table *t = m->table;
	struct column *c = ARENA_ARRAY(m->a, 5 + KEYS_MAX, struct column);
	const char **titles = ARENA_ARRAY(m->a, 5 + KEYS_MAX, const char *);
	const struct str sides[SIDES] = { S("left_"), S("right_") };
	size_t n = 0;

	for (int side = 0; side < SIDES; side++) {
		titles[n] = str_z(m->a, names->v[side]);
		c[n++] = (struct column){ str_fmt(m->a, "%.*s%s", STR(sides[side]), t->unit),
			COLUMN_INTEGER, t->unit, 0 };
	}
	titles[n] = "difference";
	c[n++] = (struct column){ str_fmt(m->a, "difference_%s", t->unit), COLUMN_INTEGER, t->unit,
		0 };
	c[n++] = (struct column)REAL_COLUMN("change", "percent");
	if (t->numbers[1])
		c[n++] = (struct column)TEXT_COLUMN("number");
	for (size_t i = KEYS_MAX; i-- > 0;)
		if (t->keys[i])
			c[n++] = (struct column){ str_of(t->keys[i]), COLUMN_TEXT, NULL, 0 };
	to->columns = c;
	to->titles = titles;
	to->n_columns = n;
}

/* Returns a sentence such as "all kernels: A 31.4ms, B 30.0ms, -1.40ms (-4.5%)". Returns an empty
 * text if the numbers of the rows have no meaningful sum. */
static struct str lead_of(const struct matching *m, const struct strs *names)
{
	struct sb b = { .a = m->a };
	int64_t more = num_sub(m->total[1], m->total[0]);

	if (!m->table->total)
		return STR_NONE;
	sb_fmt(&b, "all %s: ", m->table->command);
	for (int side = 0; side < SIDES; side++) {
		sb_put_name(&b, names->v[side]);
		sb_char(&b, ' ');
		table_put_time(&b, m->total[side]);
		sb_put(&b, S(", "));
	}
	sb_fmt(&b, more > 0 ? "+" : "");
	table_put_time(&b, more);
	if (m->total[0] > 0)
		sb_fmt(&b, " (%+.1f%%)", (double)table_share(more, m->total[0]) / 100);
	sb_put(&b, S("\n\n"));
	return sb_str(&b);
}

static void put_command(struct document *d, const void *command)
{
	document_text(d, "of", str_of(command));
}

bool diff_of_tables(struct diff_sides *d, const struct diff_request *w, const struct strs *names,
        struct emit *to)
{
	struct session *s = d->s;
	struct matching m = { .table = &tables[w->given.of], .a = to->a };
	struct table x = {
		.a = to->a, .command = "diff", .schema = "tfprof/diff-rows", .version = 1
	};
	unsigned columns = w->o.wide ? 0 : s->columns;

	if (d->n != SIDES)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--of: two sides expected");
	if (w->o.step >= 0 || w->o.steps.n || d->v[0].step.n || d->v[1].step.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--of compares all steps: -step and "
		        "FILE@STEP do not apply");
	intern_init(&m.ids, m.a);
	for (int side = 0; side < SIDES; side++)
		if (!add_side(s, &m, &d->v[w->given.swap ? 1 - side : side], side))
			return false;
	uint32_t *order = ARENA_ARRAY(m.a, m.all.n, uint32_t);
	for (uint32_t i = 0; i < m.all.n; i++)
		order[i] = i;
	if (m.table->by_size)
		sort_stable(m.a, order, m.all.n, by_size, m.all.v);
	struct strs shown = { 0 };
	for (int side = 0; side < SIDES; side++)
		strs_add(m.a, &shown, names->v[w->given.swap ? 1 - side : side]);
	x.key = "differences";
	x.members = put_command;
	x.user = m.table->command;
	x.lead = lead_of(&m, &shown);
	set_columns(&x, &m, &shown);
	for (size_t i = 0; i < m.all.n; i++)
		put_row(&x, &m, &m.all.v[order[i]]);
	size_t top = w->given.top < 0 ? ROWS_SHOWN : (size_t)w->given.top;
	return table_write(&x, out_is_data(w->o.output.kind) && w->given.top < 0 ? 0 : top,
	        &w->o.output, columns, to, &s->error);
}
