/* SPDX-License-Identifier: Apache-2.0
 *
 * A difference as text, in the layout of the script used before 2020, with its rounding: three
 * digits, x and one decimal, and a blank after the difference if the divisor is 0.
 */
#include "base/fmt.h"
#include "export/out.h"
#include "io/line.h"

/* Returns the noun for a metric in a sentence. */
static const char *noun(enum metric_id m)
{
	switch (metrics[m].unit) {
	case UNIT_BYTES: return "memory";
	case UNIT_TIME: return "time";
	default: return metrics[m].name;
	}
}

/* Appends a share as Python prints it: 10.0%. */
static void put_share(struct sb *b, double share)
{
	size_t from = b->n;

	fmt_general(b, share * 100, 15);
	if (str_find_char(str_make(b->p + from, b->n - from), '.') == SIZE_MAX &&
	        str_find_char(str_make(b->p + from, b->n - from), 'e') == SIZE_MAX)
		sb_put(b, S(".0"));
	sb_char(b, '%');
}

static void put_quantity(struct sb *b, const struct diff_answer *x, enum metric_id m, int64_t v,
        int64_t parts, bool sign)
{
	if (x->legacy)
		fmt_quantity_legacy(b, metric_quantity(m), v, parts, sign);
	else
		fmt_quantity_in(b, metric_quantity(m), v, parts, sign);
}

static void put_least(struct sb *b, const struct diff_answer *x)
{
	const struct difference_request *request = x->d->request;

	for (uint32_t k = 0; k < request->n; k++) {
		enum metric_id m = request->metrics[k];
		if (!request->least[k])
			continue;
		sb_fmt(b, "minimum %s >= ", metrics[m].unit == UNIT_BYTES ? "size" : noun(m));
		put_quantity(b, x, m, request->least[k], 1, false);
		sb_put(b, S(" and "));
	}
}

static void put_head(const struct diff_answer *x, struct sb *b)
{
	const struct difference_request *request = x->d->request;
	struct str from = x->names->v[request->from], to = x->names->v[request->to];
	const char *what = request->columns == 1 ? noun(request->metrics[0]) : "value";

	sb_fmt(b, "Comparing %s files ", x->view->name);
	for (size_t i = 0; i < x->words->n; i++) {
		if (i)
			sb_put(b, S(", "));
		sb_put(b, x->words->v[i]);
		sb_put(b, S(" ("));
		sb_put(b, x->names->v[i]);
		sb_char(b, ')');
	}
	sb_put(b, S("\n - Showing nodes with "));
	put_least(b, x);
	sb_fmt(b, "relative difference in %s >= ", what);
	put_share(b, request->delta);
	sb_fmt(b,
	        " or such children\n - Showing absolute %s differences %s(%.*s) - %s(%.*s) and "
	        "relative %s differences %s(%.*s) / %s(%.*s)\n",
	        what, what, STR(from), what, STR(to), what, what, STR(from), what, STR(to));
	if (request->o->max_depth != INT32_MAX)
		sb_fmt(b, " - Showing nodes up to depth %d\n", request->o->max_depth);
	if (x->per_run)
		sb_put(b, S(" - The numbers of each node are divided by its runs\n"));
	sb_char(b, '\n');
}

/* Appends "x2.2", or ">1000x" for a larger factor, except in the older layout. */
static void put_factor(struct sb *b, double x, bool legacy)
{
	if (x > 1000 && !legacy)
		sb_put(b, S(">1000x"));
	else
		sb_fmt(b, "x%.1f", x);
}

/* Appends "x2.2", "new", "gone", "x∞" or nothing: the ratio of the two sides. */
static void put_ratio(struct sb *b, const struct diff_answer *a, uint32_t row, uint32_t k)
{
	const struct diff *d = a->d;
	const struct compare *c = d->request->c;
	bool new = d->row[row].state == DIFF_NEW, gone = d->row[row].state == DIFF_GONE;
	uint32_t entry = d->row[row].entry;
	double x = (double)diff_total(d, row, d->request->from, k),
	       y = (double)diff_total(d, row, d->request->to, k);

	if (!a->legacy && (new || gone)) {
		sb_put(b, new ? S("new") : S("gone"));
	} else if (!compare_has(c, d->request->to, entry)) {
		return;
	} else if (!compare_has(c, d->request->from, entry)) {
		sb_put(b, new ? S("new") : S("gone"));
	} else if (y == 0) {
		sb_put(b, x == 0 ? S("-") : S("x\xe2\x88\x9e"));
	} else {
		put_factor(b, x / y, a->legacy);
	}
}

void diff_name(struct sb *b, const struct diff *d, uint32_t row)
{
	uint32_t entry = d->row[row].entry;

	const struct alias *a = diff_alias(d, row);

	sb_put_name(b, entry ? d->request->c->name[entry] : ROOT_NAME);
	if (a) {
		sb_put(b, S(" => "));
		sb_put_name(b, a->name);
	}
}

/* Appends "(left:22.9ms right:16.2ms)": the numbers of all sides that have the node. */
static void put_sides(struct sb *b, const struct diff_answer *x, uint32_t row, uint32_t k)
{
	const struct compare *c = x->d->request->c;
	enum metric_id m = x->d->request->metrics[k];
	int64_t parts = diff_parts(x->d->request, k);
	bool any = false;

	if (x->d->request->columns > 1)
		sb_fmt(b, "%s ", metrics[x->d->request->metrics[k]].name);
	sb_char(b, '(');
	for (uint32_t s = 0; s < c->sides; s++) {
		if (!compare_has(c, s, x->d->row[row].entry))
			continue;
		if (any)
			sb_char(b, ' ');
		any = true;
		sb_put(b, x->names->v[s]);
		sb_char(b, ':');
		put_quantity(b, x, m, diff_total(x->d, row, s, k), parts, false);
	}
	sb_char(b, ')');
}

static void put_difference(struct sb *b, const struct diff_answer *x, uint32_t row, uint32_t k)
{
	const struct difference_request *request = x->d->request;

	put_quantity(b, x, request->metrics[k], diff_difference(x->d, row, k),
	        diff_parts(request, k), true);
}

void text_diff_numbers(struct sb *b, const struct diff_answer *x, uint32_t row, uint32_t k)
{
	sb_put(b, k ? S(", ") : S(" "));
	put_sides(b, x, row, k);
	sb_char(b, ' ');
	put_difference(b, x, row, k);
	sb_char(b, ' ');
	put_ratio(b, x, row, k);
}

/* Appends the cells of column k: the sides, their difference, their ratio. */
static void put_cells(struct line_build *b, const struct diff_answer *x, uint32_t row, uint32_t k)
{
	sb_put(&b->text, k ? S(", ") : S(" "));
	line_cell_begin(b, 3 * k);
	put_sides(&b->text, x, row, k);
	line_cell_end(b, true);
	sb_char(&b->text, ' ');
	line_cell_begin(b, 3 * k + 1);
	put_difference(&b->text, x, row, k);
	line_cell_end(b, true);
	sb_char(&b->text, ' ');
	line_cell_begin(b, 3 * k + 2);
	put_ratio(&b->text, x, row, k);
	line_cell_end(b, true);
}

/* Appends the line about the differences that are omitted as noise. */
static void put_noise(struct sb *b, const struct diff_answer *x)
{
	const struct difference_request *request = x->d->request;

	sb_fmt(b, "%llu smaller difference%s (", (unsigned long long)x->d->noise,
	        x->d->noise == 1 ? "" : "s");
	if (request->noise->steps) {
		sb_put(b, S("within the spread of the steps, level "));
		fmt_general(b, request->noise->level, 3);
	} else {
		sb_fmt(b, "under %g%% or %dus", NOISE_SHARE * 100, NOISE_MICROS);
	}
	sb_put(b, S("), sum "));
	fmt_quantity_in(b, metric_quantity(request->metrics[x->d->noise_column]), x->d->noise_sum,
	        diff_parts(request, x->d->noise_column), true);
	sb_put(b, S("; -all shows them"));
}

bool text_diff(const struct exported *out, struct sink *s, struct emit *to, struct err *e)
{
	const struct diff_answer *x = out->of;
	const struct difference_request *request = x->d->request;
	struct sb head = sb_in(to->a), name = sb_in(to->a);
	struct line_build b;

	(void)e;
	put_head(x, &head);
	struct strs lines = str_split(to->a, sb_str(&head), '\n');
	for (size_t i = 0; i < lines.n; i++)
		sink_sentence(s, to->a, lines.v[i]);
	sink_char(s, '\n');
	line_build_init(&b, to->a);
	uint32_t shown = x->top && x->top < x->d->n ? (uint32_t)x->top : x->d->n;
	for (uint32_t row = 0; row < shown; row++) {
		name.n = 0;
		if (x->legacy && !x->d->row[row].entry)
			sb_put(&name, S("_TfProfRoot")); /* the name that the original writes */
		else
			diff_name(&name, x->d, row);
		line_begin(&b, 2 * (size_t)x->d->row[row].depth, sb_str(&name));
		for (uint32_t k = 0; k < request->columns; k++)
			put_cells(&b, x, row, k);
		line_end(&b, LINE_ROW, s);
	}
	if (shown < x->d->n)
		sink_fmt(s, "(%u of %u rows; --top=0 shows all)\n", shown, x->d->n);
	name.n = 0;
	if (x->d->noise) {
		put_noise(&name, x);
		sink_char(s, '\n');
		sink_sentence(s, to->a, sb_str(&name));
	}
	return true;
}
