/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of op, a line for each type, and of code, a line for each shown line of Python (B§3).
 */
#include "base/fmt.h"
#include "base/sort.h"
#include "export/members.h"
#include "export/out.h"

#define NAME_WIDTH       25
#define CELL_WIDTH       30
#define OCCURRENCE_WIDTH 10

struct lines {
	const struct result *r;
	const struct query *q;
	struct arena *a;
	struct sb b; /* the line being made */
	struct sb cell;
	size_t fields;
	struct members members;
};

static void field(struct lines *l)
{
	if (l->fields++)
		sb_put(&l->b, S(", "));
}

/* Text at the right end of `width` columns. */
static void put_right(struct lines *l, struct str text, size_t width)
{
	field(l);
	if (text.n < width)
		sb_repeat(&l->b, ' ', width - text.n);
	sb_put(&l->b, text);
}

/* The words, joined. */
static void put_words(struct lines *l, const struct strs *words)
{
	field(l);
	for (size_t i = 0; i < words->n; i++) {
		if (i)
			sb_char(&l->b, '|');
		sb_put(&l->b, words->v[i]);
	}
}

/* The devices of the accounted nodes; quirk 11: that of a node without one is the empty word. */
static void put_devices(struct lines *l, uint32_t kept)
{
	const struct strs *devices = members_devices(&l->members, kept);

	if (devices->n || l->r->kind == VK_OP)
		put_words(l, devices);
}

/* ---- op ---- */

static double percent(int64_t part, int64_t whole)
{
	return 100.0 * (double)part / (double)whole;
}

/* "value (share of it and all below, own share)". Quirk 10: of memory, an own share of 0 makes both
 * 0. */
static void put_shares(struct lines *l, const struct metric *m, const struct entry *x)
{
	int64_t self = x->self->v[m->value], total = x->total->v[m->value],
	        root = l->r->root.v[m->value];
	bool any = (m->unit == UNIT_BYTES ? self : total) > 0;

	l->cell.n = 0;
	text_quantity(&l->cell, m->unit, self, m->in[VK_OP].suffix);
	sb_put(&l->cell, S(" ("));
	fmt_fixed2(&l->cell, any ? percent(total, root) : 0);
	sb_put(&l->cell, S("%, "));
	fmt_fixed2(&l->cell, any ? percent(self, root) : 0);
	sb_put(&l->cell, S("%)"));
	put_right(l, sb_str(&l->cell), CELL_WIDTH);
}

/* "runs|nodes"; each node counts once, however many patterns it matches. */
static void put_occurrence(struct lines *l, uint32_t kept)
{
	uint32_t n;
	const uint32_t *members = view_members(l->q, kept, &n);
	int64_t runs = 0;

	for (uint32_t i = 0; i < n; i++)
		if (view_matches(l->q, members[i]))
			runs = num_add(runs, l->q->tallies[members[i]].v[V_RUNS]);
	l->cell.n = 0;
	fmt_i64(&l->cell, runs);
	sb_char(&l->cell, '|');
	fmt_i64(&l->cell, view_nodes(l->q, kept));
	put_right(l, sb_str(&l->cell), OCCURRENCE_WIDTH);
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

static void put_groups(struct lines *l, const struct intern *lists, const struct group *groups)
{
	uint32_t *order = ARENA_ARRAY(lists->a, lists->n, uint32_t);

	for (uint32_t i = 0; i < lists->n; i++)
		order[i] = i;
	sort_strings(lists->a, order, lists->n, lists->strings);
	sort_stable(lists->a, order, lists->n, by_runs, groups);
	for (size_t i = 0; i < lists->n; i++) {
		const struct group *g = &groups[order[i]];
		sb_put(&l->b, S("\ninput_type: "));
		sb_put(&l->b, intern_str(lists, order[i]));
		sb_fmt(&l->b, "\t(run*%lld|defined*%lld)\texec_time: ", (long long)g->runs,
		        (long long)g->defined);
		fmt_micros(&l->b, g->micros);
	}
	sb_put(&l->b, S("\n\n"));
}

/* The input shapes of the accounted nodes, below the line: the most often run first. */
static void put_input_shapes(struct lines *l, uint32_t kept)
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
	put_groups(l, &lists, groups);
	scratch_close(&scratch);
}

static void put_type(
        struct lines *l, const struct entry *x, const enum metric_id *columns, size_t n)
{
	struct str name = view_name(l->q, x->kept);

	l->b.n = l->fields = 0;
	sb_put(&l->b, name);
	if (name.n < NAME_WIDTH)
		sb_repeat(&l->b, ' ', NAME_WIDTH - name.n);
	for (size_t c = 0; c < n; c++) {
		const struct metric *m = &metrics[columns[c]];
		switch (m->unit) {
		case UNIT_COUNT:
		case UNIT_TIME:
		case UNIT_BYTES: put_shares(l, m, x); break;
		case UNIT_OCCURRENCE: put_occurrence(l, x->kept); break;
		case UNIT_DEVICES: put_devices(l, x->kept); break;
		case UNIT_TYPES: put_words(l, members_types(&l->members, x->kept)); break;
		case UNIT_TEXT:
		case UNIT_INPUT_SHAPES:
		case UNIT_TENSOR:
		case UNIT_HIDDEN:
		case UNIT_PERCENT: break;
		}
	}
	for (size_t i = 0; i < l->r->n_extra && !l->r->empty; i++) {
		l->cell.n = 0;
		text_extra(&l->cell, l->r, &l->r->extra[i], (uint32_t)(x - l->r->shown));
		put_right(l, sb_str(&l->cell), CELL_WIDTH);
	}
	sb_char(&l->b, '\n');
	if (l->q->o->select.metrics & METRIC_BIT(M_INPUT_SHAPES))
		put_input_shapes(l, x->kept);
}

/* ---- code ---- */

static void put_line(
        struct lines *l, const struct entry *x, const enum metric_id *columns, size_t n)
{
	l->b.n = l->fields = 0;
	sb_repeat(&l->b, ' ', (size_t)2 * x->depth);
	sb_put(&l->b, view_name(l->q, x->kept));
	sb_put(&l->b, S(" ("));
	for (size_t c = 0; c < n; c++) {
		const struct metric *m = &metrics[columns[c]];
		if (m->in[VK_CODE].instead) {
			field(l);
			sb_put(&l->b, str_of(m->in[VK_CODE].instead));
		} else if (m->value != V_NONE) {
			field(l);
			text_pair(&l->b, m, VK_CODE, x);
		} else if (m->unit == UNIT_DEVICES) {
			put_devices(l, x->kept);
		} else if (m->unit == UNIT_TYPES) {
			put_words(l, members_types(&l->members, x->kept));
		} else if (m->unit == UNIT_PERCENT) {
			field(l);
			text_percent(&l->b, l->r, x, columns, n);
		}
	}
	for (size_t i = 0; i < l->r->n_extra; i++) {
		field(l);
		text_extra(&l->b, l->r, &l->r->extra[i], (uint32_t)(x - l->r->shown));
	}
	sb_put(&l->b, S(")\n"));
}

/* ---- both ---- */

void text_multi(const struct result *r, struct sink *to, struct arena *a)
{
	struct lines l = { .r = r, .q = r->q, .a = a, .b = sb_in(a), .cell = sb_in(a) };
	enum metric_id columns[M_N];
	size_t n = metric_columns(r->q->o->select.metrics, r->kind, columns);
	struct entry root = { .self = &r->root, .total = &r->root };

	members_init(&l.members, r->q, a);
	if (r->empty) { /* the bare root, and no legend */
		put_type(&l, &root, columns, n);
		sink_put(to, sb_str(&l.b));
		return;
	}
	text_legend(&l.b, r);
	sink_put(to, sb_str(&l.b));
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->kind == VK_OP)
			put_type(&l, &r->shown[i], columns, n);
		else
			put_line(&l, &r->shown[i], columns, n);
		sink_put(to, sb_str(&l.b));
	}
}
