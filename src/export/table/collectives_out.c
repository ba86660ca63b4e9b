/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of collectives: problems, groups, and the calls that have not ended. In text, a
 * sentence about the first problem precedes them.
 */
#include "export/table/collectives_out.h"

#define TABLE_LIST "export/table/collectives_table.def"
#include "export/table/table_list.h"

/* ---- the verdict ---- */

/* Appends "collective 5 of group 0 (default_pg)". */
static void put_place(struct sb *b, const struct collectives *x, const struct collective_problem *p)
{
	const struct collective_group *g = &x->groups.v[p->group];

	if (p->kind != PROBLEM_PEER)
		sb_fmt(b, "collective %lld of ", (long long)p->seq);
	sb_put(b, S("group "));
	sb_put_name(b, g->name);
	if (g->description.n) {
		sb_put(b, S(" ("));
		sb_put_name(b, g->description);
		sb_char(b, ')');
	}
}

static struct str verdict(const struct collectives *x, struct arena *a)
{
	const struct collective_problem *p = x->problems.n ? x->problems.v : NULL;
	struct sb b = sb_in(a);

	if (x->ranks.n == 1 && (!p || p->kind == PROBLEM_RUNNING))
		return str_fmt(a,
		        "Only the dump of one rank is loaded, so nothing is compared: %zu calls in "
		        "%zu %s.\n\n",
		        x->calls.n, x->groups.n, x->groups.n == 1 ? "group" : "groups");
	if (!p || p->kind == PROBLEM_RUNNING)
		return str_fmt(a,
		        "The ranks called the same collectives: %zu calls in %zu %s, from the "
		        "dumps of %zu ranks.\n\n",
		        x->calls.n, x->groups.n, x->groups.n == 1 ? "group" : "groups", x->ranks.n);
	if (p->kind == PROBLEM_MISSING) {
		bool many = str_find_char(p->ranks, ',') != SIZE_MAX ||
		            str_find_char(p->ranks, '-') != SIZE_MAX;
		sb_fmt(&b, "%s %.*s %s not called ", many ? "Ranks" : "Rank", STR(p->ranks),
		        many ? "have" : "has");
		put_place(&b, x, p);
	} else {
		sb_fmt(&b, "%s: ", collective_problem_texts[p->kind]);
		*b.p = (char)(*b.p - 'a' + 'A');
		put_place(&b, x, p);
	}
	sb_put(&b, S(", "));
	sb_put_name(&b, p->op);
	sb_char(&b, '\n');
	if (p->detail.n) {
		sb_put(&b, S("  "));
		sb_put_name(&b, p->detail);
		sb_char(&b, '\n');
	}
	sb_char(&b, '\n');
	return sb_str(&b);
}

/* ---- a row of each table ---- */

static void put_problems(
        struct table *to, const struct collectives *x, const struct collective_problem *p)
{
	const struct collective_group *g = &x->groups.v[p->group];

	table_text(to, collective_problem_names[p->kind]);
	table_text(to, g->name);
	table_text_if(to, g->description.n, g->description);
	table_number_if(to, p->kind != PROBLEM_PEER, p->seq);
	table_number_if(to, p->last > p->seq, p->last);
	table_text(to, p->op);
	table_text_if(to, p->ranks.n, p->ranks);
	table_text_if(to, p->others.n, p->others);
	table_text_if(to, p->detail.n, p->detail);
	table_text_if(to, p->line.n, p->line);
}

static void put_groups(struct table *to, const struct collective_group *g)
{
	table_text(to, g->name);
	table_text_if(to, g->description.n, g->description);
	table_count(to, g->members.n);
	table_count(to, g->dumps);
	table_number_if(to, g->completed >= 0, g->completed);
	table_number_if(to, g->all >= 0, g->all);
	table_number_if(to, g->any >= 0, g->any);
	table_count(to, g->problems);
}

/* Adds a call that has not ended. now: the time of the latest call of any rank, up to which the age
 * of a call is counted. */
static void put_running(
        struct table *to, const struct collectives *x, const struct collective_call *c, int64_t now)
{
	table_number(to, x->ranks.v[c->rank]);
	table_text(to, x->groups.v[c->group].name);
	table_number_if(to, !c->p2p, c->seq);
	table_text(to, c->name);
	table_text(to, str_of(call_states[c->state]));
	table_number(to, num_sub(now, c->created));
	table_text_if(to, c->input_sizes.n, c->input_sizes);
	table_text_if(to, c->input_types.n, c->input_types);
	table_text_if(to, c->output_sizes.n, c->output_sizes);
	table_text_if(to, c->output_types.n, c->output_types);
	table_text_if(to, c->line.n, c->line);
}

/* ---- tables ---- */

/* Sets the columns of a table, without the column for the worker. */
#define OPEN(x, name)                                                                              \
	((x)->columns = columns_of_##name + 1, (x)->titles = titles_of_##name + 1,                 \
	        (x)->n_columns = N_COLUMNS(columns_of_##name) - 1)

static void fill_running(struct table *to, const struct collectives *x)
{
	int64_t now = INT64_MIN;

	for (size_t i = 0; i < x->calls.n; i++)
		now = x->calls.v[i].created > now ? x->calls.v[i].created : now;
	for (size_t i = 0; i < x->calls.n; i++)
		if (!call_has_ended(&x->calls.v[i])) {
			put_running(to, x, &x->calls.v[i], now);
			to->rows++;
		}
}

bool collectives_write(const struct collectives *x, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e)
{
	struct table sections[2] = { { .a = to->a, .key = "groups", .title = "Process groups" },
		{ .a = to->a, .key = "running", .title = "Calls that have not ended" } };
	struct table problems = { .a = to->a,
		.key = "problems",
		.command = "collectives",
		.schema = "tfprof/collectives",
		.version = 2,
		.lead = verdict(x, to->a),
		.sections = sections,
		.n_sections = 2 };

	OPEN(&problems, problems);
	OPEN(&sections[0], groups);
	OPEN(&sections[1], running);
	for (; problems.rows < x->problems.n; problems.rows++)
		put_problems(&problems, x, &x->problems.v[problems.rows]);
	for (; sections[0].rows < x->groups.n; sections[0].rows++)
		put_groups(&sections[0], &x->groups.v[sections[0].rows]);
	fill_running(&sections[1], x);
	return table_write(&problems, top, &o->output, o->wide ? 0 : columns, to, e);
}
