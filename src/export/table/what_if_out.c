/* SPDX-License-Identifier: Apache-2.0
 *
 * Times before and after, per step: of the step, of its parts on each device, and of the critical
 * path by kind.
 */
#include "export/table/what_if_out.h"

#include <math.h>

#include "export/table/critical_out.h"
#include "export/table/table.h"

const char *const what_if_each_names[EACH_N] = { "kernel", "op", "line" };

static const struct column part_columns[] = { TEXT_COLUMN("device"), TEXT_COLUMN("part"),
	NUMBER_COLUMN("before_ns", "ns"), NUMBER_COLUMN("after_ns", "ns") };
static const char *const part_titles[] = { "device", "part", "before", "after" };
static const struct column path_columns[] = { TEXT_COLUMN("kind"), NUMBER_COLUMN("before_ns", "ns"),
	NUMBER_COLUMN("after_ns", "ns") };
static const char *const path_titles[] = { "critical path", "before", "after" };
static const struct column change_columns[] = { TEXT_COLUMN("change"),
	REAL_COLUMN("factor", NULL) };
static const struct column each_columns[] = { TEXT_COLUMN("change"), NUMBER_COLUMN("time_ns", "ns"),
	NUMBER_COLUMN("halved_ns", "ns"), NUMBER_COLUMN("removed_ns", "ns"),
	REAL_COLUMN("removed_share", "percent") };
static const char *const each_titles[] = { "name", "its time", "saved if halved",
	"saved if removed", "of the step" };

/* ---- rows ---- */

/* Adds the parts of a sum, per step, so that the rounded parts add up to the rounded sum. */
struct part_sum {
	const struct trace *t;
	int64_t so_far, per;
};

static int64_t next_part(struct part_sum *s, int64_t ticks)
{
	int64_t before = trace_ns(s->t, s->so_far / s->per);

	s->so_far = num_add(s->so_far, ticks);
	return trace_ns(s->t, s->so_far / s->per) - before;
}

static void fill_device(struct table *to, const struct what_if *w, const struct replay_part *before,
        const struct replay_part *after, bool data)
{
	static const char *const names[] = { "compute", "exposed communication", "exposed copy",
		"idle" };
	const struct trace *t = w->x->depend.t;
	const int64_t was[] = { before->compute, before->communication, before->copy,
		before->idle };
	const int64_t is[] = { after->compute, after->communication, after->copy, after->idle };
	struct part_sum a = { t, 0, (int64_t)w->x->n_chosen }, b = a;

	for (size_t i = 0; i < N_COLUMNS(names); i++) {
		int64_t from = next_part(&a, was[i]), until = next_part(&b, is[i]);
		if (!data && !was[i] && !is[i])
			continue;
		table_text(to, trace_device_label(t, before->device, to->a));
		table_text(to, str_replace_char(to->a, str_of(names[i]), ' ', data ? '_' : ' '));
		table_number(to, from);
		table_number(to, until);
		to->rows++;
	}
}

static void fill_parts(struct table *to, const struct what_if *w, bool data)
{
	size_t n;
	const struct replay_part *before = replay_partition(w->x, &w->x->recorded, &n, to->a);
	const struct replay_part *after = replay_partition(w->x, &w->run, &n, to->a);

	for (size_t i = 0; i < n; i++)
		fill_device(to, w, &before[i], &after[i], data);
}

static void fill_path(struct table *to, const struct what_if *w, bool data)
{
	int64_t was[CRITICAL_KINDS], is[CRITICAL_KINDS];
	struct part_sum a = { w->x->depend.t, 0, (int64_t)w->x->n_chosen }, b = a;

	replay_sum_paths(w->x, &w->x->recorded, was);
	replay_sum_paths(w->x, &w->run, is);
	for (size_t i = 0; i < CRITICAL_KINDS; i++) {
		int64_t before = next_part(&a, was[i]), after = next_part(&b, is[i]);
		if (!was[i] && !is[i])
			continue;
		table_text(to, str_of(data ? critical_names[i] : critical_texts[i]));
		table_number(to, before);
		table_number(to, after);
		to->rows++;
	}
}

static void fill_changes(struct table *to, const struct what_if *w)
{
	for (size_t i = 0; i < w->n_changes; i++, to->rows++) {
		table_text(to, w->changes[i].text);
		table_number(to, (int64_t)(w->changes[i].factor * 100 + 0.5));
	}
}

/* ---- the answer ---- */

static int64_t before_ns(const struct what_if *w)
{
	return trace_ns(w->x->depend.t, w->x->recorded.after);
}

static int64_t after_ns(const struct what_if *w)
{
	return trace_ns(w->x->depend.t, w->run.after);
}

static void put_percent(struct sb *b, int64_t hundredths)
{
	int64_t tenths = ((hundredths < 0 ? -hundredths : hundredths) + 5) / 10;

	sb_fmt(b, "%lld.%lld%%", (long long)(tenths / 10), (long long)(tenths % 10));
}

/* Writes the reliability of the answer. */
static void put_error(struct sb *b, const struct what_if *w)
{
	sb_fmt(b, "model error ");
	put_percent(b, (int64_t)(w->error * 10000 + 0.5));
	sb_fmt(b, " (of an unchanged step, replayed without waits of unknown cause)\n\n");
}

static void put_what(struct sb *b, const struct what_if *w)
{
	const char *its = w->x->n_chosen == 1 ? "its" : "their";

	sb_fmt(b, "%.*s", STR(w->of));
	if (w->device)
		sb_fmt(b, " by %s device work", its);
	if (!w->marked) {
		critical_put_extent(b, " ", w->x->depend.t, &w->x->windows[0], w->wall);
		return;
	}
	sb_fmt(b, w->device ? "; by %s marks " : " by %s marks ", its);
	table_put_time(b, w->wall);
}

/* Returns a heading such as "host*0.5: 176 ms becomes 150 ms, 14.8% less". */
static struct str lead_of(const struct what_if *w, struct arena *a)
{
	struct sb b = { .a = a };
	int64_t before = before_ns(w), after = after_ns(w);

	if (replay_is_rough(w->x, w->error) || w->overlaps)
		sb_fmt(&b, "Rough estimate: ");
	for (size_t i = 0; i < w->n_changes; i++)
		sb_fmt(&b, "%s%.*s", i ? " " : "", STR(w->changes[i].text));
	sb_fmt(&b, ": ");
	table_put_time(&b, before);
	sb_fmt(&b, " becomes ");
	table_put_time(&b, after);
	if (before > 0 && before != after) {
		sb_fmt(&b, ", ");
		sb_fmt(&b, "%.1f%%", 100 * fabs((double)(before - after)) / (double)before);
		sb_fmt(&b, after < before ? " less" : " more");
	}
	sb_fmt(&b, "\n");
	put_what(&b, w);
	sb_fmt(&b, "\n");
	if (w->overlaps)
		sb_fmt(&b, "device work overlaps that ran one after the other:\n"
		           "the file does not name waits between streams\n");
	put_error(&b, w);
	return sb_str(&b);
}

struct what_if_shown {
	const struct what_if *w;
	const struct table *changes, *path;
};

static void put_common(struct document *d, const struct what_if *w)
{
	document_text(d, "of", w->of);
	document_i64(d, "steps", num_from_u64(w->x->n_chosen));
	document_i64(d, "before_ns", before_ns(w));
	document_i64(d, "step_ns", w->wall);
	if (w->marked)
		document_i64(d, "marks_ns", w->wall);
	document_i64(d, "unknown_waits", num_from_u64(w->x->depend.unknown_waits));
	document_fraction(d, "model_error",
	        (struct fraction){ (int64_t)(w->error * 1000000 + 0.5), 1000000 });
}

static void put_members(struct document *d, const void *user)
{
	const struct what_if_shown *shown = user;

	put_common(d, shown->w);
	document_i64(d, "after_ns", after_ns(shown->w));
	document_key(d, "more_overlap");
	json_literal(&d->j, shown->w->overlaps ? S("true") : S("false"));
	table_put_member(d, shown->changes, 0);
	table_put_member(d, shown->path, 0);
}

bool what_if_write(const struct what_if *w, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e)
{
	bool data = out_is_data(o->output.kind);
	struct table parts = { .a = to->a,
		.key = "partition",
		.command = "what-if",
		.schema = "tfprof/what-if",
		.version = 2,
		TABLE_COLUMNS(part_columns, part_titles) };
	struct table path = { .a = to->a,
		.key = "path",
		.command = "what-if",
		.title = "path",
		TABLE_COLUMNS(path_columns, path_titles) };
	struct table *first = &parts;
	struct table changes = { .a = to->a,
		.key = "changes",
		.columns = change_columns,
		.n_columns = N_COLUMNS(change_columns) };
	const struct what_if_shown shown = { w, &changes, &path };

	fill_parts(&parts, w, data);
	fill_path(&path, w, data);
	if (data) {
		fill_changes(&changes, w);
		parts.members = put_members;
		parts.user = &shown;
	} else {
		first = parts.rows ? &parts : &path; /* without devices there are no parts */
		first->lead = lead_of(w, to->a);
		parts.below = &path;
	}
	return table_write(first, top, &o->output, columns, to, e);
}

/* ---- single changes ---- */

static void put_each_members(struct document *d, const void *user)
{
	const struct what_if_each *w = user;

	put_common(d, w->of);
	document_text(d, "each", str_of(what_if_each_names[w->each]));
	document_i64(d, "left_out", num_from_u64(w->left_out));
}

static struct str each_lead(const struct what_if_each *w, struct arena *a)
{
	struct sb b = { .a = a };

	if (replay_is_rough(w->of->x, w->of->error))
		sb_fmt(&b, "Rough estimate: ");
	sb_fmt(&b, "savings by changing one %s, per step of ", what_if_each_names[w->each]);
	table_put_time(&b, before_ns(w->of));
	sb_fmt(&b, "\n");
	put_what(&b, w->of);
	sb_fmt(&b, "\n");
	if (w->left_out)
		sb_fmt(&b, "%zu that mostly contain others are left out\n", w->left_out);
	put_error(&b, w->of);
	return sb_str(&b);
}

bool what_if_write_each(const struct what_if_each *w, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e)
{
	bool data = out_is_data(o->output.kind);
	const struct trace *t = w->of->x->depend.t;
	struct table x = { .a = to->a,
		.key = "savings",
		.command = "what-if",
		.schema = "tfprof/what-if",
		.version = 2,
		TABLE_COLUMNS(each_columns, each_titles) };

	for (size_t i = 0; i < w->n; i++, x.rows++) {
		struct str name = w->v[i].name;
		table_text(
		        &x, data ? str_fmt(to->a, "%s:%.*s", what_if_each_names[w->each], STR(name))
		                 : name);
		table_number(&x, trace_ns(t, w->v[i].total));
		table_number(&x, trace_ns(t, w->v[i].halved));
		table_number(&x, trace_ns(t, w->v[i].removed));
		table_number(&x, table_share(w->v[i].removed, w->of->x->recorded.after));
	}
	if (data) {
		x.members = put_each_members;
		x.user = w;
	} else {
		x.lead = each_lead(w, to->a);
	}
	return table_write(&x, 0, &o->output, columns, to, e);
}
