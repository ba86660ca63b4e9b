/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the difference of two runs as text and as data.
 */
#include "export/table/run_difference_out.h"

#include "base/demangle.h"
#include "export/table/table.h"
#include "export/table/why_out.h"

#define NAME_MAX_COLUMNS 40 /* maximum width of a name in the sentence */

static const struct column part_columns[] = { NUMBER_COLUMN("difference_ns", "ns"),
	NUMBER_COLUMN("left_ns", "ns"), NUMBER_COLUMN("right_ns", "ns"), TEXT_COLUMN("cause"),
	TEXT_COLUMN("kind"), TEXT_COLUMN("name") };
static const char *const part_titles[] = { "change", "first", "second", "cause or kind", "",
	"name" };
static const struct column sum_columns[] = { TEXT_COLUMN("cause"), TEXT_COLUMN("kind"),
	NUMBER_COLUMN("left_ns", "ns"), NUMBER_COLUMN("right_ns", "ns"),
	NUMBER_COLUMN("difference_ns", "ns") };
static const char *const sum_titles[] = { "cause or kind", "", "first run", "second run",
	"difference" };
static const struct column cause_columns[] = { TEXT_COLUMN("cause"), NUMBER_COLUMN("left_ns", "ns"),
	NUMBER_COLUMN("right_ns", "ns") };
static const char *const cause_titles[] = { "cause", "first run", "second run" };

static int64_t difference(const int64_t *ns)
{
	return num_sub(ns[RUN_RIGHT], ns[RUN_LEFT]);
}

/* Adds a part. In text, a part without a cause shows its kind instead. */
static void fill_part(struct table *to, const struct run_part *p, bool data)
{
	const char *kind = data ? critical_names[p->kind] : critical_texts[p->kind];
	bool owned = p->cause != WHY_IDS;

	table_number(to, difference(p->ns));
	table_number(to, p->ns[RUN_LEFT]);
	table_number(to, p->ns[RUN_RIGHT]);
	table_text_if(to, owned || !data, str_of(owned ? why_rows[p->cause].id : kind));
	table_text(to, str_of(kind));
	table_text_if(to, p->name.n > 0, p->name);
	to->rows++;
}

/* Adds a row for the parts that are not shown. */
static void fill_rest(struct table *to, const struct run_difference *x, size_t from)
{
	int64_t ns[RUNS_N] = { 0 };

	for (size_t i = from; i < x->parts.n; i++)
		for (int run = 0; run < RUNS_N; run++)
			ns[run] = num_add(ns[run], x->parts.v[i].ns[run]);
	table_number(to, difference(ns));
	table_number(to, ns[RUN_LEFT]);
	table_number(to, ns[RUN_RIGHT]);
	table_null(to);
	table_null(to);
	table_text(to, str_fmt(to->a, "(%zu more: --top=0)", x->parts.n - from));
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

static void fill_sum(struct table *to, struct str cause, struct str kind, const int64_t *ns)
{
	table_text_if(to, cause.n > 0, cause);
	table_text_if(to, kind.n > 0, kind);
	table_number(to, ns[RUN_LEFT]);
	table_number(to, ns[RUN_RIGHT]);
	table_number(to, difference(ns));
	to->rows++;
}

/* Adds the sums by cause, and by kind for time without a cause. In text, the last row is the total.
 */
static void fill_sums(struct table *to, const struct run_difference *x, bool data)
{
	for (size_t i = 0; i < x->sums.n; i++) {
		const struct run_part *p = &x->sums.v[i];
		if (p->cause != WHY_IDS)
			fill_sum(to, str_of(why_rows[p->cause].id), STR_NONE, p->ns);
		else if (data)
			fill_sum(to, STR_NONE, str_of(critical_names[p->kind]), p->ns);
		else
			fill_sum(to, str_of(critical_texts[p->kind]), STR_NONE, p->ns);
	}
	if (!data)
		fill_sum(to, why_is_per_step(x->runs[RUN_RIGHT]) ? S("step") : S("path"), STR_NONE,
		        x->ns);
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

/* ---- the sentence ---- */

#define SHOWN_PARTS_MAX 3
#define SIMILAR         10     /* shown parts are at least 1 / 10 of the largest part */
#define NEARLY          4      /* minimum ratio to the difference of parts that nearly cancel out */
#define SAME            0.0005 /* steps that differ by a smaller share take as long */
#define MENTIONED       0.01   /* parts of steps that take as long are named from this share on */

static int64_t size_of(int64_t difference_ns)
{
	return difference_ns < 0 ? -difference_ns : difference_ns;
}

/* True if a time is at least the share of a step. */
static bool is_share_of(double share, int64_t ns, int64_t step_ns)
{
	return (double)ns >= share * (double)step_ns && ns > 0;
}

/* Appends a part such as "waiting for compute (+52.9ms)". */
static void put_part(struct sb *b, const struct run_part *p, struct arena *a)
{
	int64_t part = difference(p->ns);

	if (p->cause != WHY_IDS)
		sb_fmt(b, "%s", why_rows[p->cause].id);
	else if (p->name.n)
		sb_put_name(b, table_shorten(a, demangle_reduce(a, p->name, REDUCED_ARGUMENTS),
		                       NAME_MAX_COLUMNS));
	else
		sb_fmt(b, "%s%s", p->kind <= CRITICAL_COPY ? "waiting for " : "",
		        critical_texts[p->kind]);
	sb_fmt(b, " (%s", part > 0 ? "+" : "");
	table_put_time(b, part);
	sb_fmt(b, ")");
}

/* Returns the sum of the longer or of the shorter parts, whichever is smaller. This amount cancels
 * out. */
static int64_t cancelled(const struct run_difference *x)
{
	int64_t longer = 0, shorter = 0;

	for (size_t i = 0; i < x->sums.n; i++) {
		int64_t part = difference(x->sums.v[i].ns);
		longer = num_add(longer, part > 0 ? part : 0);
		shorter = num_sub(shorter, part < 0 ? part : 0);
	}
	return longer < shorter ? longer : shorter;
}

/* Returns the number of sums that are named because their size is similar to the largest sum. */
static size_t count_shown(const struct run_difference *x)
{
	size_t n = 0;

	while (n < x->sums.n && n < SHOWN_PARTS_MAX &&
	        size_of(difference(x->sums.v[n].ns)) >
	                size_of(difference(x->sums.v[0].ns)) / SIMILAR)
		n++;
	return n;
}

/* Names the parts that make up the difference: the parts that cancel out, if they are larger than
 * the difference, otherwise the largest part, if it is most of the difference. */
static void put_parts(struct sb *b, const struct run_difference *x, struct arena *a)
{
	int64_t all = difference(x->ns), apart = cancelled(x), size = size_of(all);
	bool cause = x->sums.n && x->sums.v[0].cause != WHY_IDS;
	const struct run_part *p = cause ? x->sums.v : x->parts.v;

	if (apart > size) {
		size_t n = count_shown(x);
		for (size_t i = 0; i < n; i++) {
			sb_fmt(b, !i ? "; " : i + 1 < n ? ", " : " and ");
			put_part(b, &x->sums.v[i], a);
		}
		sb_fmt(b, apart / NEARLY > size ? " nearly cancel" : " partly cancel");
	} else if (all && x->parts.n && (double)difference(p->ns) / (double)all > 0.5) {
		sb_fmt(b, ", mostly ");
		put_part(b, p, a);
	}
}

/* Appends the lengths of two runs that do not both have steps, because their lengths are not
 * lengths of steps. */
static void put_lengths(struct sb *b, const struct run_difference *x)
{
	bool left = why_is_per_step(x->runs[RUN_LEFT]), right = why_is_per_step(x->runs[RUN_RIGHT]);

	sb_fmt(b, left || right ? "Only the %s run has steps: " : "%sNo steps are marked: ",
	        left    ? "first"
	        : right ? "second"
	                : "");
	sb_fmt(b, "the lengths ");
	table_put_time(b, x->ns[RUN_LEFT]);
	sb_fmt(b, " and ");
	table_put_time(b, x->ns[RUN_RIGHT]);
	sb_fmt(b, left || right ? " cannot be compared"
	                        : " can be compared only if both recordings do the same work");
}

static bool have_steps(const struct run_difference *x)
{
	return why_is_per_step(x->runs[RUN_LEFT]) && why_is_per_step(x->runs[RUN_RIGHT]);
}

/* True if both runs have device work, but hardly any in common. */
static bool are_unlike(const struct run_difference *x)
{
	return x->common < RUN_COMMON_LEAST && x->runs[RUN_LEFT]->busy > 0 &&
	       x->runs[RUN_RIGHT]->busy > 0;
}

/* Appends that the runs do different work, and the lengths of their steps. */
static void put_unlike(struct sb *b, const struct run_difference *x)
{
	sb_fmt(b,
	        "The runs probably do different work: kernels and ops that both have take %.1f%% "
	        "of their device time. %s takes ",
	        x->common * 100, have_steps(x) ? "A step" : "The examined part");
	table_put_time(b, x->ns[RUN_LEFT]);
	sb_fmt(b, " in the first run and ");
	table_put_time(b, x->ns[RUN_RIGHT]);
	sb_fmt(b, " in the second");
}

/* Returns a sentence such as "A step of the second run takes 3.2 ms longer: 11.2 ms instead of 8.0
 * ms (+40.0%)". */
static struct str sentence(const struct run_difference *x, struct arena *a)
{
	int64_t more = difference(x->ns);
	struct sb b = sb_in(a);

	if (are_unlike(x)) {
		put_unlike(&b, x);
		return sb_str(&b);
	}
	if (!have_steps(x)) {
		put_lengths(&b, x);
		return sb_str(&b);
	}
	if (!is_share_of(SAME, size_of(more), x->ns[RUN_LEFT])) {
		sb_fmt(&b, "A step takes as long in both runs: ");
		table_put_time(&b, x->ns[RUN_RIGHT]);
		if (is_share_of(MENTIONED, cancelled(x), x->ns[RUN_LEFT]))
			put_parts(&b, x, a);
		return sb_str(&b);
	}
	sb_fmt(&b, "A step of the second run takes ");
	table_put_time(&b, size_of(more));
	sb_fmt(&b, more < 0 ? " less: " : " longer: ");
	table_put_time(&b, x->ns[RUN_RIGHT]);
	sb_fmt(&b, " instead of ");
	table_put_time(&b, x->ns[RUN_LEFT]);
	sb_fmt(&b, " (%+.1f%%)", (double)table_share(more, x->ns[RUN_LEFT]) / 100);
	put_parts(&b, x, a);
	return sb_str(&b);
}

/* Appends a time of both runs. shares: shares of their lengths. */
static void put_both(struct sb *b, const struct run_difference *x, const double shares[RUNS_N])
{
	for (int run = 0; run < RUNS_N; run++) {
		table_put_time(b, (int64_t)(shares[run] * (double)x->ns[run]));
		sb_fmt(b, run             ? " in the second"
		          : have_steps(x) ? " per step in the first run and "
		                          : " in the first run and ");
	}
}

/* Describes the compute of the devices, also where the path does not wait for it. */
static struct str compute_text(const struct run_difference *x, struct arena *a)
{
	struct sb b = sb_in(a);

	sb_fmt(&b, "devices compute for ");
	put_both(
	        &b, x, (const double[]){ x->runs[RUN_LEFT]->compute, x->runs[RUN_RIGHT]->compute });
	sb_fmt(&b, "; the tables count compute only while the critical path waits for it");
	return sb_str(&b);
}

/* Describes the communication of the devices without compute; empty if it is short in both runs. */
static struct str communication_text(const struct run_difference *x, struct arena *a)
{
	const double shares[RUNS_N] = { x->runs[RUN_LEFT]->communication,
		x->runs[RUN_RIGHT]->communication };
	struct sb b = sb_in(a);

	if (shares[RUN_LEFT] < MENTIONED && shares[RUN_RIGHT] < MENTIONED)
		return STR_NONE;
	sb_fmt(&b, "exposed communication takes ");
	put_both(&b, x, shares);
	return sb_str(&b);
}

static struct str lead_of(const struct run_difference_page *p, unsigned columns, struct arena *a)
{
	struct sink *to = sink_memory(a);

	sink_wrap(to, sentence(p->x, a), columns, 2);
	sink_wrap(to,
	        str_fmt(a, "first run: %.*s%s; second run: %.*s%s%s", STR(p->of[RUN_LEFT]),
	                p->device[RUN_LEFT] ? " by device work" : "", STR(p->of[RUN_RIGHT]),
	                p->device[RUN_RIGHT] ? " by device work" : "",
	                p->assumed ? " (if the files are two ranks of one job, use --as=ranks)"
	                           : ""),
	        columns, 2);
	sink_wrap(to, compute_text(p->x, a), columns, 2);
	if (communication_text(p->x, a).n)
		sink_wrap(to, communication_text(p->x, a), columns, 2);
	sink_fmt(to, "\nTime on the critical path%s by cause, or by kind if there is none:\n",
	        why_is_per_step(p->x->runs[RUN_RIGHT]) ? " of a step" : "");
	return sink_text(to);
}

static void put_members(struct document *d, const void *user)
{
	const struct run_difference_page *page = user;
	const struct run_difference *x = page->x;

	document_text(d, "verdict", sentence(x, d->a));
	document_text(d, "left_of", page->of[RUN_LEFT]);
	document_text(d, "right_of", page->of[RUN_RIGHT]);
	document_i64(d, "left_ns", x->ns[RUN_LEFT]);
	document_i64(d, "right_ns", x->ns[RUN_RIGHT]);
	document_i64(d, "difference_ns", difference(x->ns));
	document_fraction(d, "common_share",
	        (struct fraction){ (int64_t)(x->common * 1000000 + 0.5), 1000000 });
}

enum { SHOWN_SUMS, SHOWN_PARTS, SHOWN_CAUSES, SHOWN_N };

/* Orders the tables: text begins with the sums; data outputs have a row for each part. */
static void order_tables(const struct table *all, bool data, struct table *shown)
{
	shown[0] = all[data ? SHOWN_PARTS : SHOWN_SUMS];
	shown[1] = all[data ? SHOWN_SUMS : SHOWN_PARTS];
	shown[2] = all[SHOWN_CAUSES];
	shown[0].sections = shown + 1;
	shown[0].n_sections = SHOWN_N - 1;
}

bool run_difference_write(const struct run_difference_page *page, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e)
{
	bool data = out_is_data(o->output.kind);
	unsigned width = columns ? columns : WHY_PLAIN_COLUMNS;
	struct table shown[SHOWN_N],
	        all[SHOWN_N] = { [SHOWN_SUMS] = { .key = "by_cause",
		                         .title = "By cause, or by kind if there is none",
		                         TABLE_COLUMNS(sum_columns, sum_titles) },
		        [SHOWN_PARTS] = { .key = "parts",
		                .title = "Ops, kernels and calls on the critical path",
		                TABLE_COLUMNS(part_columns, part_titles) },
		        [SHOWN_CAUSES] = { .key = "causes",
		                .title = have_steps(page->x) ? "A step is shorter without these "
		                                               "causes, which do not add up"
		                                             : "The runs are shorter without these "
		                                               "causes, which do not add up",
		                TABLE_COLUMNS(cause_columns, cause_titles) } };

	for (size_t i = 0; i < SHOWN_N; i++)
		all[i].a = to->a;
	fill_sums(&all[SHOWN_SUMS], page->x, data);
	fill_parts(&all[SHOWN_PARTS], page->x, top, data);
	fill_causes(&all[SHOWN_CAUSES], page->x);
	order_tables(all, data, shown);
	shown[0].command = "why";
	shown[0].schema = "tfprof/why-runs";
	shown[0].version = 2;
	shown[0].lead = data ? STR_NONE : lead_of(page, width, to->a);
	shown[0].members = put_members;
	shown[0].user = page;
	return table_write(&shown[0], 0, &o->output, o->wide ? 0 : data ? columns : width, to, e);
}
