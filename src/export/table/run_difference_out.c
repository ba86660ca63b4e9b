/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the difference of two runs as text and as data.
 */
#include "export/table/run_difference_out.h"

#include "export/table/table.h"

#define NAME_MAX_COLUMNS 40 /* of a name in the sentence */

static const struct column part_columns[] = { TEXT_COLUMN("cause"), TEXT_COLUMN("kind"),
	TEXT_COLUMN("name"), NUMBER_COLUMN("left_ns", "ns"), NUMBER_COLUMN("right_ns", "ns"),
	NUMBER_COLUMN("difference_ns", "ns") };
static const char *const part_titles[] = { "cause", "on the critical path", "name", "first run",
	"second run", "difference" };
static const struct column cause_columns[] = { TEXT_COLUMN("cause"), NUMBER_COLUMN("left_ns", "ns"),
	NUMBER_COLUMN("right_ns", "ns") };
static const char *const cause_titles[] = { "a step is shorter without", "first run",
	"second run" };

static int64_t difference(const int64_t *ns)
{
	return num_sub(ns[RUN_RIGHT], ns[RUN_LEFT]);
}

static void fill_part(struct table *to, const struct run_part *p, bool data)
{
	bool owned = p->cause != WHY_IDS;

	table_text_if(to, owned, str_of(owned ? why_rows[p->cause].id : ""));
	table_text(to, str_of(data ? critical_names[p->kind] : critical_texts[p->kind]));
	table_text_if(to, p->name.n > 0, p->name);
	table_number(to, p->ns[RUN_LEFT]);
	table_number(to, p->ns[RUN_RIGHT]);
	table_number(to, difference(p->ns));
	to->rows++;
}

/* Adds a row for the parts that are not shown. */
static void fill_rest(struct table *to, const struct run_difference *x, size_t from)
{
	int64_t ns[RUNS_N] = { 0 };

	for (size_t i = from; i < x->parts.n; i++)
		for (int run = 0; run < RUNS_N; run++)
			ns[run] = num_add(ns[run], x->parts.v[i].ns[run]);
	table_null(to);
	table_text(to, str_fmt(to->a, "(%zu more; --top=0 shows all)", x->parts.n - from));
	table_null(to);
	table_number(to, ns[RUN_LEFT]);
	table_number(to, ns[RUN_RIGHT]);
	table_number(to, difference(ns));
	to->rows++;
}

static void fill_parts(struct table *to, const struct run_difference *x, size_t top, bool data)
{
	size_t shown = data || !top || top > x->parts.n ? x->parts.n : top;

	for (size_t i = 0; i < shown; i++)
		fill_part(to, &x->parts.v[i], data);
	if (shown < x->parts.n)
		fill_rest(to, x, shown);
}

static void fill_causes(struct table *to, const struct run_difference *x)
{
	for (size_t i = 0; i < x->causes.n; i++, to->rows++) {
		const struct run_cause *c = &x->causes.v[i];
		table_text(to, str_of(why_rows[c->id].id));
		for (int run = 0; run < RUNS_N; run++)
			table_number_if(to, c->judged[run], c->ns[run]);
	}
}

/* Names the part with the largest difference, if that is half of the difference or more. */
static void put_largest(struct sb *b, const struct run_difference *x, struct arena *a)
{
	const struct run_part *p = x->parts.v;
	int64_t part = x->parts.n ? difference(p->ns) : 0, all = difference(x->ns);

	if (!all || (double)part / (double)all < 0.5)
		return;
	sb_fmt(b, ", mostly ");
	if (p->cause != WHY_IDS)
		sb_fmt(b, "%s", why_rows[p->cause].id);
	else if (p->name.n)
		sb_put_name(b, table_shorten(a, p->name, NAME_MAX_COLUMNS));
	else
		sb_fmt(b, "%s", critical_texts[p->kind]);
	sb_fmt(b, " (%s", part > 0 ? "+" : "");
	table_put_time(b, part);
	sb_fmt(b, ")");
}

/* "A step of the second run takes 3.2 ms longer: 11.2 ms instead of 8.0 ms (+40.0%)". */
static struct str sentence(const struct run_difference *x, struct arena *a)
{
	int64_t more = difference(x->ns);
	struct sb b = sb_in(a);

	sb_fmt(&b, "%s of the second run takes ",
	        why_is_per_step(x->runs[RUN_RIGHT]) ? "A step" : "The path");
	if (more) {
		table_put_time(&b, more < 0 ? -more : more);
		sb_fmt(&b, more < 0 ? " less: " : " longer: ");
	} else {
		sb_fmt(&b, "as long: ");
	}
	table_put_time(&b, x->ns[RUN_RIGHT]);
	sb_fmt(&b, " instead of ");
	table_put_time(&b, x->ns[RUN_LEFT]);
	sb_fmt(&b, " (%+.1f%%)", (double)table_share(more, x->ns[RUN_LEFT]) / 100);
	put_largest(&b, x, a);
	return sb_str(&b);
}

static struct str lead_of(const struct run_difference_page *p, struct arena *a)
{
	struct sb b = sb_in(a);

	sb_put(&b, sentence(p->x, a));
	sb_fmt(&b, "\nfirst run: %.*s; second run: %.*s%s\n\n", STR(p->of[RUN_LEFT]),
	        STR(p->of[RUN_RIGHT]), p->assumed ? "; two ranks of one job? --as=ranks" : "");
	return sb_str(&b);
}

struct run_difference_shown {
	const struct run_difference_page *page;
	const struct table *causes;
};

static void put_members(struct document *d, const void *user)
{
	const struct run_difference_shown *shown = user;
	const struct run_difference *x = shown->page->x;

	document_text(d, "verdict", sentence(x, d->a));
	document_text(d, "left_of", shown->page->of[RUN_LEFT]);
	document_text(d, "right_of", shown->page->of[RUN_RIGHT]);
	document_i64(d, "left_ns", x->ns[RUN_LEFT]);
	document_i64(d, "right_ns", x->ns[RUN_RIGHT]);
	document_i64(d, "difference_ns", difference(x->ns));
	table_put_member(d, shown->causes, 0);
}

bool run_difference_write(const struct run_difference_page *page, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e)
{
	bool data = out_is_data(o->output.kind);
	struct table parts = { .a = to->a,
		.key = "parts",
		.schema = "tfprof/why-runs",
		TABLE_COLUMNS(part_columns, part_titles) };
	struct table causes = {
		.a = to->a, .key = "causes", TABLE_COLUMNS(cause_columns, cause_titles)
	};
	const struct run_difference_shown shown = { page, &causes };

	fill_parts(&parts, page->x, top, data);
	fill_causes(&causes, page->x);
	if (data) {
		parts.members = put_members;
		parts.user = &shown;
	} else {
		parts.lead = lead_of(page, to->a);
		parts.below = causes.rows ? &causes : NULL;
	}
	return table_write(&parts, 0, &o->output, columns, to, e);
}
