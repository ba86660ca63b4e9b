/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a result into rows of typed cells.
 */
#include "export/out.h"

#include "view/step_columns.h"

enum what {
	CELL_WORKER,
	CELL_PATH,
	CELL_PARENT,
	CELL_DEPTH,
	CELL_FILE,
	CELL_LINE,
	CELL_FUNCTION,
	CELL_GRADIENT,
	CELL_TYPE,
	CELL_TYPES,
	CELL_DEVICE,
	CELL_ACCOUNTED,
	CELL_NODES,
	CELL_OWN,
	CELL_TOTAL,
	CELL_PERCENT,
	CELL_INPUTS,
	CELL_TENSOR,
	CELL_HIDDEN,
	CELL_EXTRA_OWN,
	CELL_EXTRA_TOTAL,
	CELL_EXTRA_WORDS
};
struct row_cell {
	enum what what;
	enum value value; /* valid for OWN and TOTAL */
	const struct extra *extra;
};

/* ---- columns ---- */

static const char *unit_name(enum unit u)
{
	switch (u) {
	case UNIT_TIME: return "us";
	case UNIT_BYTES: return "bytes";
	case UNIT_PERCENT: return "percent";
	case UNIT_COUNT:
	case UNIT_OCCURRENCE: return "count";
	default: return NULL;
	}
}

static void add(struct rows *x, const char *name, enum column_type type, enum what what)
{
	VEC_PUSH(x->a, &x->columns, ((struct column){ str_of(name), type, NULL, 0 }));
	VEC_PUSH(x->a, &x->cells, (struct row_cell){ .what = what });
}

/* The numbers of an entry: own, total and, in op (which has no tree), the cumulative sum of the
 * list. */
static const struct own_or_total {
	const char *prefix;
	bool total[2]; /* [0]: true if it is the total, not the own number; [1]: in op */
	bool op_only;
} numbers[] = { { "own", { false, false }, false }, { "total", { true, false }, false },
	{ "cumulative", { true, true }, true } };
#define NUMBERS (sizeof numbers / sizeof *numbers)

static bool has_number(const struct rows *x, size_t i)
{
	return !numbers[i].op_only || view_is(x->r->kind, VIEW_LIST);
}

static bool is_total(const struct rows *x, size_t i)
{
	return numbers[i].total[view_is(x->r->kind, VIEW_LIST)];
}

static void add_numbers(struct rows *x, const char *name, enum unit unit, enum value v)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		if (!has_number(x, i))
			continue;
		struct column c = { str_fmt(x->a, "%s_%s", numbers[i].prefix, name),
			view_has_fractions(x->r->q, v) ? COLUMN_REAL : COLUMN_INTEGER,
			unit_name(unit), 0 };
		VEC_PUSH(x->a, &x->columns, c);
		VEC_PUSH(x->a, &x->cells,
		        ((struct row_cell){
		                .what = is_total(x, i) ? CELL_TOTAL : CELL_OWN, .value = v }));
	}
}

static void add_metric(struct rows *x, enum metric_id id)
{
	const struct metric *m = &metrics[id];
	bool nodes = view_is(x->r->kind, VIEW_NODES);

	if (m->value != V_NONE)
		add_numbers(x, m->name, m->unit, m->value);
	if (m->unit == UNIT_OCCURRENCE)
		add_numbers(x, "definitions", UNIT_COUNT, V_DEFINITIONS);
	if (m->value == V_FLOAT_OPS)
		add_numbers(x, "uncounted", UNIT_COUNT, V_UNCOUNTED);
	if (m->unit == UNIT_PERCENT)
		add(x, m->name, COLUMN_REAL, CELL_PERCENT);
	if (m->unit == UNIT_INPUT_SHAPES && nodes)
		add(x, m->name, COLUMN_LIST, CELL_INPUTS);
	if (m->unit == UNIT_TENSOR && x->r->tensors)
		add(x, m->name, COLUMN_TEXT, CELL_TENSOR);
}

/* Returns "own_micros_mean", or "own_n" for a column without metric. */
static void add_extra(struct rows *x, const struct extra *extra)
{
	if (extra->words) {
		struct str name = str_replace_char(x->a, extra->name, ' ', '_');
		VEC_PUSH(x->a, &x->columns, ((struct column){ name, COLUMN_TEXT, NULL, 0 }));
		VEC_PUSH(x->a, &x->cells,
		        ((struct row_cell){ .what = CELL_EXTRA_WORDS, .extra = extra }));
		return;
	}
	struct str of =
	        extra->of == M_NONE ? STR_NONE : str_fmt(x->a, "%s_", metrics[extra->of].name);
	enum column_type type = extra->whole ? COLUMN_INTEGER : COLUMN_REAL;

	for (size_t i = 0; i < NUMBERS; i++) {
		if (!has_number(x, i))
			continue;
		struct column c = { str_fmt(x->a, "%s_%.*s%.*s", numbers[i].prefix, STR(of),
			                    STR(extra->name)),
			type, unit_name(extra->unit), 0 };
		VEC_PUSH(x->a, &x->columns, c);
		VEC_PUSH(x->a, &x->cells,
		        ((struct row_cell){
		                .what = is_total(x, i) ? CELL_EXTRA_TOTAL : CELL_EXTRA_OWN,
		                .extra = extra }));
	}
}

static void add_place(struct rows *x)
{
	if (x->by_worker)
		add(x, "worker", COLUMN_TEXT, CELL_WORKER);
	add(x, "path", COLUMN_TEXT, CELL_PATH);
	add(x, "parent", COLUMN_TEXT, CELL_PARENT);
	add(x, "depth", COLUMN_INTEGER, CELL_DEPTH);
	if (view_is(x->r->kind, VIEW_TRACES)) {
		add(x, "file", COLUMN_TEXT, CELL_FILE);
		add(x, "line", COLUMN_INTEGER, CELL_LINE);
		add(x, "function", COLUMN_TEXT, CELL_FUNCTION);
		add(x, "gradient", COLUMN_BOOL, CELL_GRADIENT);
	}
	add(x, "type", COLUMN_TEXT, CELL_TYPE);
	add(x, "types", COLUMN_LIST, CELL_TYPES);
	add(x, "device", COLUMN_LIST, CELL_DEVICE);
	add(x, "accounted", COLUMN_BOOL, CELL_ACCOUNTED);
	if (!view_is(x->r->kind, VIEW_NODES))
		add(x, "nodes", COLUMN_INTEGER, CELL_NODES);
}

void rows_open(struct rows *x, const struct result *r, struct arena *a)
{
	unsigned select = r->q->o->select.metrics;

	*x = (struct rows){ .r = r, .a = a, .by_worker = workers_in_rows(r->q->o) };
	x->n_metrics = metric_columns(select, r->kind, x->metrics);
	members_init(&x->members, r->q, a);
	add_place(x);
	for (size_t i = 0; i < x->n_metrics; i++)
		add_metric(x, x->metrics[i]);
	if (view_is(r->kind, VIEW_EDGES) && (select & METRIC_BIT(M_NUM_HIDDEN_OPS)))
		add(x, metrics[M_NUM_HIDDEN_OPS].name, COLUMN_INTEGER, CELL_HIDDEN);
	for (size_t i = 0; i < r->n_extra; i++)
		add_extra(x, &r->extra[i]);
}

/* ---- cells ---- */

static uint32_t tree_entry(const struct rows *x, uint32_t i)
{
	return x->r->q->kept.at[x->r->shown[i].kept];
}

/* Returns the path of the shown entry i. */
static struct str find_path(struct rows *x, uint32_t i)
{
	const struct tree *t = x->r->q->tree;
	uint32_t at = tree_entry(x, i);
	struct strs lines = { 0 };

	if (!view_is(t->kind, VIEW_TRACES) || at == 0)
		return t->name[at];
	for (; at; at = t->parent[at])
		strs_add(x->row, &lines, t->name[at]);
	for (size_t k = 0; k < lines.n / 2; k++) { /* the outermost first */
		struct str inner = lines.v[k];
		lines.v[k] = lines.v[lines.n - 1 - k];
		lines.v[lines.n - 1 - k] = inner;
	}
	return strs_join(x->row, &lines, S("/"));
}

/* Writes the path of the shown entry i. In a list, a path may equal a type. */
static void put_path(struct rows *x, struct sheet *to, uint32_t i)
{
	bool kept = to->arrays && !view_is(x->r->kind, VIEW_LIST);

	if (kept && !x->paths)
		x->paths = ARENA_ARRAY(x->a, x->r->n, uint32_t);
	if (kept)
		sheet_path(to, &x->paths[i], x->paths[i] ? STR_NONE : find_path(x, i));
	else
		sheet_text(to, find_path(x, i));
}

static void put_parent(struct rows *x, struct sheet *to, uint32_t i)
{
	uint32_t up = x->r->shown[i].parent;

	if (view_is(x->r->kind, VIEW_LIST) || up == ID_NONE)
		sheet_null(to);
	else
		put_path(x, to, up);
}

static void put_frame(struct rows *x, struct sheet *to, enum what what, uint32_t at)
{
	const struct query *q = x->r->q;
	uint32_t frame = q->tree->frame[at];
	struct frame f = frame == ID_NONE ? (struct frame){ .file = ID_NONE, .function = ID_NONE }
	                                  : model_frame(q->m, frame);
	uint32_t id = what == CELL_FILE ? f.file : f.function;
	bool placed = frame != ID_NONE && frame_is_placed(q->m, &f);

	if (what == CELL_LINE && placed)
		sheet_i64(to, f.line);
	else if (what == CELL_LINE || id == ID_NONE || (what == CELL_FILE && !placed))
		sheet_null(to);
	else
		sheet_text(to, model_str(q->m, id));
}

/* Returns the graph node of a tree entry; ID_NONE if it has no node or several. */
static uint32_t entry_node(const struct rows *x, uint32_t at)
{
	const struct tree *t = x->r->q->tree;

	return t->node ? t->node[at] : ID_NONE;
}

static void put_type(struct rows *x, struct sheet *to, uint32_t at)
{
	const struct model *m = x->r->q->m;
	uint32_t node = entry_node(x, at);

	if (view_is(x->r->kind, VIEW_LIST))
		sheet_text(to, x->r->q->tree->name[at]);
	else if (node == ID_NONE)
		sheet_null(to);
	else
		sheet_text(to, model_str(m, m->nodes.v[node].op));
}

static void put_types(struct rows *x, struct sheet *to, uint32_t kept, uint32_t at)
{
	const struct model *m = x->r->q->m;
	uint32_t node = entry_node(x, at);
	struct strs words = { 0 };
	size_t n = 0;

	if (x->r->q->kept.nodes) {
		sheet_list(to, members_types(&x->members, kept));
		return;
	}
	const uint32_t *types = node == ID_NONE ? NULL : model_types(m, m->nodes.v[node].types, &n);
	if (node == ID_NONE)
		strs_add(x->row, &words, view_made_up_type(x->r->kind));
	for (size_t i = 0; i < n; i++)
		strs_add(x->row, &words, model_str(m, types[i]));
	sheet_list(to, &words);
}

static void put_device(struct rows *x, struct sheet *to, uint32_t kept, uint32_t at)
{
	const struct model *m = x->r->q->m;
	uint32_t node = entry_node(x, at);
	struct strs words = { 0 };

	if (x->r->q->kept.nodes) {
		words = *members_devices(&x->members, kept);
		if (words.n &&
		        !words.v[0].n) /* the empty string (nodes without a device) sorts first */
			words = (struct strs){ words.v + 1, words.n - 1, 0 };
	} else if (node != ID_NONE && m->nodes.v[node].device != ID_NONE) {
		strs_add(x->row, &words, device_name(m, m->nodes.v[node].device));
	}
	sheet_list(to, &words);
}

static void put_inputs(struct rows *x, struct sheet *to, uint32_t at)
{
	const struct model *m = x->r->q->m;
	uint32_t node = entry_node(x, at);
	struct strs words = { 0 };

	uint32_t i = node == ID_NONE ? 0 : m->input0.v[node];
	for (; node != ID_NONE && i < m->input0.v[node + 1]; i++) {
		struct sb b = sb_in(x->row);
		text_input(&b, m, node, i);
		strs_add(x->row, &words, sb_str(&b));
	}
	sheet_list(to, &words);
}

static void put_extra(struct sheet *to, const struct extra *x, union figure f)
{
	if (!x->whole)
		sheet_real(to, f.real);
	else if (f.whole == FIGURE_NONE)
		sheet_null(to);
	else
		sheet_i64(to, f.whole);
}

/* Writes a number of an entry or, with by_worker, the number of the row's worker. Writes null if no
 * part of it is known, or if no part of the entry ran there. */
static void put_number(struct sheet *to, const struct rows *x, bool own, uint32_t i, enum value v)
{
	const struct entry *e = &x->r->shown[i];
	const struct tally *t = own ? e->self : e->total;

	const struct query *q = x->r->q;

	if (x->by_worker)
		t = own ? &x->numbers.own[i] : &x->numbers.total[i];
	if (tally_is_unknown(t, v) || (x->by_worker && !workers_has(&x->numbers.total[i], v)))
		sheet_null(to);
	else if (view_has_fractions(q, v))
		sheet_real(to, fraction_real(model_fraction(
		                       q->m, x->by_worker ? x->over : q->over, v, t->v[v])));
	else
		sheet_i64(to, t->v[v]);
}

static void put_cell(struct rows *x, struct sheet *to, const struct row_cell *c, uint32_t i)
{
	const struct result *r = x->r;
	const struct entry *e = &r->shown[i];
	uint32_t at = tree_entry(x, i);

	switch (c->what) {
	case CELL_WORKER: sheet_text(to, r->q->m->workers.v[x->worker]); break;
	case CELL_PATH: put_path(x, to, i); break;
	case CELL_PARENT: put_parent(x, to, i); break;
	case CELL_DEPTH: sheet_i64(to, view_is(r->kind, VIEW_LIST) ? 0 : e->depth); break;
	case CELL_FILE:
	case CELL_LINE:
	case CELL_FUNCTION: put_frame(x, to, c->what, at); break;
	case CELL_GRADIENT: sheet_bool(to, r->q->tree->gradient[at]); break;
	case CELL_TYPE: put_type(x, to, at); break;
	case CELL_TYPES: put_types(x, to, e->kept, at); break;
	case CELL_DEVICE: put_device(x, to, e->kept, at); break;
	case CELL_ACCOUNTED: sheet_bool(to, e->accounted); break;
	case CELL_NODES: sheet_i64(to, view_nodes(r->q, e->kept)); break;
	case CELL_OWN: put_number(to, x, true, i, c->value); break;
	case CELL_TOTAL: put_number(to, x, false, i, c->value); break;
	case CELL_PERCENT: sheet_real(to, text_share(r, e, x->metrics, x->n_metrics)); break;
	case CELL_INPUTS: put_inputs(x, to, at); break;
	case CELL_TENSOR: sheet_text(to, r->tensors[i].text); break;
	case CELL_HIDDEN: sheet_i64(to, text_hidden_above(r, e)); break;
	case CELL_EXTRA_WORDS: sheet_text(to, c->extra->words[i]); break;
	case CELL_EXTRA_OWN: put_extra(to, c->extra, c->extra->own[i]); break;
	case CELL_EXTRA_TOTAL: put_extra(to, c->extra, c->extra->total[i]); break;
	}
}

static void write_all(struct rows *x, struct sheet *to)
{
	struct scratch own;

	scratch_open(&own, x->a->work);
	/* cppcheck-suppress autoVariables ; not used after this function */
	x->row = &own.a;
	for (uint32_t i = 0; i < x->r->n; i++) {
		if (i % 4096 == 4095)
			work_poll(x->a->work);
		for (size_t c = 0; c < x->cells.n; c++)
			put_cell(x, to, &x->cells.v[c], i);
		arena_clear(x->row);
	}
	scratch_close(&own);
}

/* Writes one worker after the other; workers without a selected step have no rows. */
static void write_workers(struct rows *x, struct sheet *to)
{
	const struct query *q = x->r->q;
	struct scratch own;

	scratch_open(&own, x->a->work);
	for (x->worker = 0; x->worker < q->m->workers.n; x->worker++) {
		struct tally *tallies = workers_tallies(q, x->worker, &x->over, &own.a);
		if (tallies) {
			x->numbers = view_recompute(x->r, tallies, &own.a);
			members_again(&x->members);
			if (q->o->stats)
				stats_of_worker(x->r, x->worker);
			write_all(x, to);
		}
		arena_clear(&own.a);
	}
	scratch_close(&own);
}

void rows_write(struct rows *x, struct sheet *to)
{
	if (x->by_worker)
		write_workers(x, to);
	else
		write_all(x, to);
}
