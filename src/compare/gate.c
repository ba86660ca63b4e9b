/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses gates. Patterns may contain any character, so a rule is parsed from its end: the last
 * comparison, and the last point before it.
 */
#include "compare/gate.h"

#include "trace/pass/serving.h"
#include "why/why.h"

#define STEP_NUMBER(id, metric) { #id, metric },
static const struct {
	const char *name;
	enum metric_id metric;
} step_numbers[STEP_CAUSES] = {
#include "compare/step_number.def"
};
#undef STEP_NUMBER

static bool fault(const struct gate *g, size_t at, struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID_ARGUMENT, "--gate '%.*s': column %zu: %s", STR(g->text),
	        at + 1, what);
}

/* Returns the column of the comparison operator; SIZE_MAX if there is none. */
static size_t find_compare(struct str s)
{
	size_t less = str_rfind_char(s, '<'), more = str_rfind_char(s, '>');

	if (less == SIZE_MAX)
		return more;
	return more == SIZE_MAX || less > more ? less : more;
}

/* Fails with a list of the metrics that rules accept. */
static bool no_metric(const struct gate *g, size_t at, struct err *e)
{
	struct strs names = { 0 };

	for (enum metric_id m = 0; m < M_N; m++)
		if (metrics[m].value != V_NONE)
			strs_add(e->a, &names, str_of(metrics[m].name));
	struct str all = strs_join(e->a, &names, S(", "));
	return err_set(e, ERR_INVALID_ARGUMENT,
	        "--gate '%.*s': column %zu: not a numeric metric; choose one of %.*s", STR(g->text),
	        at + 1, STR(all));
}

/* True if the number of a step is a part of the step time. */
static bool has_whole(const struct gate *g)
{
	return g->number >= STEP_CAUSES || g->number == STEP_idle ||
	       g->number == STEP_exposed_communication;
}

static bool read_limit(struct gate *g, size_t at, struct err *e)
{
	while (at < g->text.n && g->text.p[at] == ' ')
		at++;
	struct str limit = str_sub(g->text, at, SIZE_MAX);
	enum quantity unit = metric_quantity(g->metric);

	if (!limit.n)
		return fault(g, at, e, "a limit is missing, such as +5% or 20ms");
	g->change = limit.p[0] == '+' || limit.p[0] == '-';
	g->percent = str_ends(limit, S("%"));
	if (g->percent && !g->change && g->total && !has_whole(g))
		return fault(g, at, e, "a percentage is for changes: write +5% or -5%");
	if (g->share_named && !(g->percent && !g->change))
		return fault(g, at, e, "a share is missing, such as 10%");
	if (g->percent)
		return quantity_parse_share(limit, &g->share) ||
		       fault(g, at, e, "not a percentage, such as 5%");
	if (quantity_parse(limit, unit, &g->amount))
		return true;
	return fault(g, at, e, quantity_refusal(unit));
}

static bool read_subject(struct gate *g, struct str s, struct err *e)
{
	size_t colon = str_find_char(s, ':');

	if (str_eq(s, S("total"))) {
		g->total = true;
		g->view = view_with(VIEW_PATHS)->kind;
		return true;
	}
	for (enum vk k = 0; k < VK_N && colon != SIZE_MAX; k++) {
		if (!str_eq(str_sub(s, 0, colon), str_of(views[k].name)))
			continue;
		g->view = k;
		g->pattern = str_sub(s, colon + 1, SIZE_MAX);
		return g->pattern.n || fault(g, colon + 1, e, "a pattern is missing");
	}
	return fault(g, 0, e, "a rule begins with total, scope:, graph:, op: or code:");
}

/* Reads the name of a number of a step, with "_share" after the name of a part of the step time.
 * Returns false for any other word. */
static bool read_number(struct gate *g, struct str name)
{
	g->share_named = str_ends(name, S("_share"));
	if (g->share_named)
		name = str_sub(name, 0, name.n - (sizeof "_share" - 1));
	enum why_id cause = why_find_row(name);

	for (int i = 0; i < STEP_CAUSES; i++)
		if (str_eq(name, str_of(step_numbers[i].name))) {
			g->number = i;
			g->metric = step_numbers[i].metric;
		}
	if (g->number == STEP_NONE && cause != WHY_IDS) {
		g->number = STEP_CAUSES + (int)cause;
		g->metric = M_MICROS;
	}
	if (g->share_named && !has_whole(g))
		g->number = STEP_NONE;
	g->share_named &= g->number != STEP_NONE;
	g->total = g->number != STEP_NONE;
	g->view = view_with(VIEW_PATHS)->kind;
	return g->total;
}

/* Reads "phase:decode.step_time". A phase has no numbers for causes. */
static bool read_phase(struct gate *g, struct str left, struct err *e)
{
	size_t from = sizeof "phase:" - 1, point = str_find_char(left, '.');
	struct str name = str_sub(left, from, point == SIZE_MAX ? point : point - from);

	for (int i = 0; i < PHASE_N; i++)
		if (str_eq(name, str_of(serving_phases[i])))
			g->phase = i;
	if (g->phase < 0)
		return fault(
		        g, from, e, "not a phase: prefill, decode, mixed, speculative or other");
	if (point == SIZE_MAX || !read_number(g, str_sub(left, point + 1, SIZE_MAX)) ||
	        g->number >= STEP_CAUSES)
		return fault(g, point == SIZE_MAX ? left.n : point + 1, e,
		        "phases have step_time, idle, exposed_communication and kernels");
	return true;
}

bool gate_parse(struct gate *g, struct str text, struct err *e)
{
	*g = (struct gate){ .text = text, .number = STEP_NONE, .phase = -1 };
	size_t at = find_compare(text);
	if (at == SIZE_MAX || at == 0)
		return fault(g, at ? text.n : 0, e, "<, <=, > or >= is missing");
	g->less = text.p[at] == '<';
	g->equal = at + 1 < text.n && text.p[at + 1] == '=';
	struct str left = str_sub(text, 0, at);
	while (left.n && left.p[left.n - 1] == ' ')
		left.n--;
	if (str_starts(left, S("phase:")))
		return read_phase(g, left, e) && read_limit(g, at + 1 + g->equal, e);
	if (read_number(g, left))
		return read_limit(g, at + 1 + g->equal, e);
	size_t point = str_rfind_char(left, '.');
	if (point == SIZE_MAX)
		return fault(g, 0, e,
		        "a metric is missing, as in total.micros; without a point: "
		        "step_time, idle, exposed_communication, kernels or a cause of why");
	g->metric = metric_find(str_sub(left, point + 1, SIZE_MAX), 0);
	if (g->metric == M_NONE || metrics[g->metric].value == V_NONE)
		return no_metric(g, point + 1, e);
	return read_subject(g, str_sub(left, 0, point), e) && read_limit(g, at + 1 + g->equal, e);
}

bool gate_holds(const struct gate *g, int64_t parts, int64_t base, int64_t now, int64_t whole)
{
	double x = (double)now, limit = (double)g->amount * (double)parts;

	if (gate_is_share(g)) {
		limit = g->share * (double)whole;
		return x == limit ? g->equal : g->less ? x < limit : x > limit;
	}
	if (g->change)
		x -= (double)base;
	if (g->percent && base == 0 && now == 0) /* a percentage of 0 is 0 */
		return g->less ? g->share >= 0 : g->share <= 0;
	if (g->percent)
		limit = g->share * (double)(base < 0 ? -base : base);
	if (x == limit)
		return g->equal;
	return g->less ? x < limit : x > limit;
}
