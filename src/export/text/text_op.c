/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of op: a line for each type.
 */
#include "base/fmt.h"
#include "base/sort.h"
#include "export/out.h"

#define NAME_WIDTH       25
#define CELL_WIDTH       30
#define OCCURRENCE_WIDTH 10

struct lines {
	const struct result *r;
	const struct query *q;
	struct arena *a;
	struct line_build b;
	struct sb cell; /* buffer for a padded cell */
	size_t fields;
	bool narrow; /* a terminal shows the lines: cells have only one share */
	struct members members;
};

/* Appends the separator between two cells. */
static void field(struct lines *l)
{
	if (l->fields++)
		sb_put(&l->b.text, S(", "));
}

/* Appends a number as a cell, right-aligned in `width` columns. */
static void put_right(struct lines *l, unsigned column, struct str text, size_t width)
{
	size_t letters = str_letters(text);

	field(l);
	if (letters < width)
		sb_repeat(&l->b.text, ' ', width - letters);
	line_cell_begin(&l->b, column);
	sb_put(&l->b.text, text);
	line_cell_end(&l->b, true);
}

/* Appends a cell that contains the words. */
static void put_words(struct lines *l, unsigned column, const struct strs *words)
{
	field(l);
	line_cell_begin(&l->b, column);
	text_words(&l->b.text, words);
	line_cell_end(&l->b, false);
}

static double percent(int64_t part, int64_t whole)
{
	return 100.0 * (double)part / (double)whole;
}

/* True if the share of a row and all rows below it is meaningful, because the rows are sorted by a
 * number. The original always prints it. */
static bool has_cumulative(const struct query *q)
{
	const struct order *o = &q->o->order;

	return !q->o->bare_input || (o->by < M_N && metrics[o->by].value != V_NONE);
}

/* Appends "value (cumulative share, own share)"; the cumulative share includes all rows below.
 * Quirk 10: for memory, an own share of 0 makes both 0. */
static void put_shares(
        struct lines *l, unsigned column, const struct metric *m, const struct entry *x)
{
	int64_t self = x->self->v[m->value], total = x->total->v[m->value],
	        root = l->r->root.v[m->value];
	bool any = (m->unit == UNIT_BYTES ? self : total) > 0;

	l->cell.n = 0;
	text_number(&l->cell, l->r, m, x->self, metric_in(m, l->r->kind)->suffix);
	sb_put(&l->cell, S(" ("));
	if (!l->narrow && has_cumulative(l->q)) {
		fmt_fixed2(&l->cell, any ? percent(total, root) : 0);
		sb_put(&l->cell, S("%, "));
	}
	if (tally_is_unknown(x->self, m->value)) {
		sb_put(&l->cell, S("?)"));
	} else {
		fmt_fixed2(&l->cell, any ? percent(self, root) : 0);
		sb_put(&l->cell, S("%)"));
	}
	put_right(l, column, sb_str(&l->cell), CELL_WIDTH);
}

/* Appends a number of runs, with two decimals if it has a fraction and the original prints it. */
static void put_runs(struct sb *b, const struct query *q, struct fraction f)
{
	if (q->o->new_input)
		fmt_fraction_si(b, QUANTITY_COUNT, f);
	else if (f.per == 1 || f.v % f.per == 0)
		fmt_i64(b, f.v / f.per);
	else
		fmt_fixed2(b, fraction_real(f));
}

/* Appends "runs|nodes"; each node counts once, however many patterns match it. */
static void put_occurrence(struct lines *l, unsigned column, uint32_t kept)
{
	uint32_t n;
	const uint32_t *members = view_members(l->q, kept, &n);
	int64_t runs = 0;

	for (uint32_t i = 0; i < n; i++)
		if (view_matches(l->q, members[i]))
			runs = num_add(runs, l->q->tallies[members[i]].v[V_RUNS]);
	l->cell.n = 0;
	put_runs(&l->cell, l->q, model_fraction(l->q->m, l->q->over, V_RUNS, runs));
	sb_char(&l->cell, '|');
	fmt_i64(&l->cell, view_nodes(l->q, kept));
	put_right(l, column, sb_str(&l->cell), OCCURRENCE_WIDTH);
}

/* Nodes whose inputs have the same shapes. */
struct group {
	int64_t defined, runs, micros;
};

static int by_runs(const void *ctx, uint32_t a, uint32_t b)
{
	const struct group *g = ctx;

	return (g[a].runs < g[b].runs) - (g[a].runs > g[b].runs);
}

static void put_groups(const struct lines *l, struct sink *to, const struct intern *lists,
        const struct group *groups)
{
	const struct query *q = l->q;
	uint32_t *order = ARENA_ARRAY(lists->a, lists->n, uint32_t);

	for (uint32_t i = 0; i < lists->n; i++)
		order[i] = i;
	sort_strings(lists->a, order, lists->n, lists->strings);
	sort_stable(lists->a, order, lists->n, by_runs, groups);
	struct sb b = sb_in(lists->a);
	for (size_t i = 0; i < lists->n; i++) {
		const struct group *g = &groups[order[i]];
		sb_put(&b, S("\ninput_type: "));
		sb_put(&b, intern_str(lists, order[i]));
		sb_put(&b, S("\t(run*"));
		put_runs(&b, q, model_fraction(q->m, q->over, V_RUNS, g->runs));
		sb_fmt(&b, "|defined*%lld)\texec_time: ", (long long)g->defined);
		text_quantity(
		        &b, q, UNIT_TIME, model_fraction(q->m, q->over, V_MICROS, g->micros), "");
	}
	sb_put(&b, S("\n\n"));
	sink_put(to, sb_str(&b));
}

/* Appends the input shapes of the accounted nodes, below the line: the most frequent first. */
static void put_input_shapes(struct lines *l, uint32_t kept, struct sink *to)
{
	uint32_t n, count = l->q->kept.nodes[kept];
	const uint32_t *members = view_members(l->q, kept, &n);
	struct scratch scratch;
	struct intern lists;

	if (!count)
		return;
	scratch_open(&scratch, l->a->work);
	intern_init(&lists, &scratch.a);
	struct group *groups = ARENA_ARRAY(&scratch.a, count, struct group);
	struct sb list = sb_in(&scratch.a);
	for (uint32_t i = 0; i < n; i++) {
		if (!view_matches(l->q, members[i]))
			continue;
		list.n = 0;
		text_inputs(&list, l->q->m, members[i], ",\t");
		struct group *g = &groups[intern_add(&lists, sb_str(&list))];
		g->defined++;
		g->runs = num_add(g->runs, l->q->tallies[members[i]].v[V_RUNS]);
		g->micros = num_add(g->micros, l->q->tallies[members[i]].v[V_MICROS]);
	}
	put_groups(l, to, &lists, groups);
	scratch_close(&scratch);
}

static void put_type(
        struct lines *l, const struct entry *x, const struct text_columns *c, struct sink *to)
{
	struct str name = text_name(l->r, view_name(l->q, x->kept), l->a);

	l->fields = 0;
	line_begin(&l->b, 0, name);
	if (name.n < NAME_WIDTH)
		sb_repeat(&l->b.text, ' ', NAME_WIDTH - name.n);
	for (unsigned i = 0; i < c->n; i++) {
		const struct metric *m = &metrics[c->id[i]];
		switch (m->unit) {
		case UNIT_COUNT:
		case UNIT_TIME:
		case UNIT_BYTES: put_shares(l, i, m, x); break;
		case UNIT_OCCURRENCE: put_occurrence(l, i, x->kept); break;
		/* Quirk 11: a node without a device has the empty word. */
		case UNIT_DEVICES: put_words(l, i, members_devices(&l->members, x->kept)); break;
		case UNIT_TYPES: put_words(l, i, members_types(&l->members, x->kept)); break;
		case UNIT_TEXT:
		case UNIT_INPUT_SHAPES:
		case UNIT_TENSOR:
		case UNIT_HIDDEN: break;
		case UNIT_PERCENT:
			l->cell.n = 0;
			text_percent(&l->cell, l->r, x, c->id, c->n);
			put_right(l, i, sb_str(&l->cell), OCCURRENCE_WIDTH);
			break;
		}
	}
	for (size_t i = 0; i < l->r->n_extra && !l->r->empty; i++) {
		l->cell.n = 0;
		text_extra(&l->cell, l->r, &l->r->extra[i], (uint32_t)(x - l->r->shown));
		put_right(l, (unsigned)(c->n + i), sb_str(&l->cell), CELL_WIDTH);
	}
	if (!l->r->empty)
		text_rate(&l->b.line, l->r, x, c);
	line_end(&l->b, LINE_ROW, to);
	if (l->q->o->select.metrics & METRIC_BIT(M_INPUT_SHAPES))
		put_input_shapes(l, x->kept, to);
}

void text_op(const struct result *r, struct sink *to, struct arena *a)
{
	struct lines l = { .r = r, .q = r->q, .a = a, .cell = sb_in(a) };
	l.narrow = sink_takes_lines(to) && !r->q->o->wide && r->q->o->new_input;
	struct entry root = { .self = &r->root, .total = &r->root };
	struct text_columns c;

	line_build_init(&l.b, a);
	struct str zero = text_columns_init(&c, r, to);
	members_init(&l.members, r->q, a);
	if (r->empty) { /* the root alone, without legend */
		put_type(&l, &root, &c, to);
		return;
	}
	text_legend(&l.b, r, &c, to);
	for (uint32_t i = 0; i < r->n; i++)
		put_type(&l, &r->shown[i], &c, to);
	text_left_out(r, zero, to);
}

void text_op_lines(const struct result *r, const struct text_columns *c, const uint32_t *shown,
        size_t n, struct sink *to, struct arena *a)
{
	struct lines l = { .r = r, .q = r->q, .a = a, .cell = sb_in(a) };

	line_build_init(&l.b, a);
	members_init(&l.members, r->q, a);
	for (size_t i = 0; i < n; i++)
		put_type(&l, &r->shown[shown[i]], c, to);
}
