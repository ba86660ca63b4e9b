/* SPDX-License-Identifier: Apache-2.0
 *
 * The visible entries of a view. The whole result is computed once, in the order of a print; only
 * the lines on the screen are written.
 */
#include "cli/ui.h"

#include <math.h>

static const struct entry *entry_at(const struct ui_tree *t, size_t at)
{
	return &t->answer.r.shown[t->shown[at]];
}

static uint32_t tree_entry(const struct ui_tree *t, uint32_t shown)
{
	return t->answer.q.kept.at[t->answer.r.shown[shown].kept];
}

static bool is_list(const struct ui_tree *t)
{
	return view_is(t->answer.r.kind, VIEW_LIST);
}

/* True if the shown entry has entries below it. */
static bool has_children(const struct ui_tree *t, uint32_t shown)
{
	return !is_list(t) && t->answer.r.shown[shown].end > shown + 1;
}

/* Lists the entries all of whose ancestors are open. */
static void list_visible(struct ui_tree *t)
{
	const struct result *r = &t->answer.r;

	t->n = 0;
	for (uint32_t i = 0; i < r->n;) {
		t->shown[t->n++] = i;
		bool skip = has_children(t, i) && !t->open[tree_entry(t, i)];
		i = skip ? r->shown[i].end : i + 1;
	}
}

/* Opens a shown entry, and the entries below it as long as each has no siblings. */
static void open_chain(struct ui_tree *t, uint32_t i)
{
	const struct entry *v = t->answer.r.shown;

	while (has_children(t, i)) {
		t->open[tree_entry(t, i)] = true;
		if (v[i + 1].end != v[i].end)
			return;
		i++;
	}
}

bool ui_tree_load(struct session *s, const struct view_ops *v, const struct opts *o,
        const bool *open, size_t n, struct arena *a, struct ui_tree *t)
{
	struct sink *lines;
	struct ui_lines none = { 0 };

	if (!session_show(s, v, o, a, &t->answer))
		return false;
	ui_lines_begin(&none, 0, true, a, &lines);
	text_columns_init(&t->columns, &t->answer.r, lines);
	t->shown = ARENA_ARRAY(a, (size_t)t->answer.r.n + 1, uint32_t);
	t->open = ARENA_ARRAY(a, t->answer.q.tree->n, bool);
	if (open && n == t->answer.q.tree->n)
		memcpy(t->open, open, n);
	else if (t->answer.r.n)
		open_chain(t, 0);
	list_visible(t);
	return true;
}

/* ---- lines ---- */

void ui_tree_heading(const struct ui_tree *t, struct ui_lines *to, struct arena *a)
{
	struct line_build b;
	struct sink *lines;

	line_build_init(&b, a);
	ui_lines_begin(to, 0, true, a, &lines);
	text_legend(&b, &t->answer.r, &t->columns, lines);
	sink_flush(lines);
}

/* Returns the name without the name of the entry above, if names are paths. */
static struct str relative_name(const struct ui_tree *t, const struct entry *x, struct str name)
{
	if (!view_is(t->answer.r.kind, VIEW_PATHS) || x->parent == ID_NONE)
		return name;
	struct str above = view_name(&t->answer.q, t->answer.r.shown[x->parent].kept);
	if (above.n && name.n > above.n + 1 && str_starts(name, above) && name.p[above.n] == '/')
		return str_sub(name, above.n + 1, SIZE_MAX);
	return name;
}

void ui_tree_lines(const struct ui_tree *t, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a)
{
	const struct result *r = &t->answer.r;
	struct sink *lines;
	size_t first = to->v.n;

	if (from >= t->n)
		return;
	n = n > t->n - from ? t->n - from : n;
	ui_lines_begin(to, 0, utf8, a, &lines);
	(is_list(t) ? text_op_lines : text_tree_lines)(
	        r, &t->columns, t->shown + from, n, lines, a);
	sink_flush(lines);
	for (size_t i = 0; i < n && !is_list(t) && first + i < to->v.n; i++) {
		bool open = ui_tree_is_open(t, from + i), parent = ui_tree_is_parent(t, from + i);
		struct ui_line *l = &to->v.v[first + i];
		l->name = relative_name(t, entry_at(t, from + i), l->name);
		l->mark = !parent ? "  "
		          : utf8  ? (open ? "\xe2\x96\xbe " : "\xe2\x96\xb8 ")
		                  : (open ? "- " : "+ ");
	}
}

/* ---- opening and closing ---- */

bool ui_tree_is_parent(const struct ui_tree *t, size_t at)
{
	return at < t->n && has_children(t, t->shown[at]);
}

bool ui_tree_is_open(const struct ui_tree *t, size_t at)
{
	return ui_tree_is_parent(t, at) && t->open[tree_entry(t, t->shown[at])];
}

void ui_tree_toggle(struct ui_tree *t, size_t at)
{
	if (!ui_tree_is_parent(t, at))
		return;
	if (ui_tree_is_open(t, at))
		t->open[tree_entry(t, t->shown[at])] = false;
	else
		open_chain(t, t->shown[at]);
	list_visible(t);
}

void ui_tree_toggle_all(struct ui_tree *t, size_t at, bool open)
{
	if (!ui_tree_is_parent(t, at))
		return;
	for (uint32_t i = t->shown[at]; i < entry_at(t, at)->end; i++)
		t->open[tree_entry(t, i)] = open;
	list_visible(t);
}

/* Returns the position of a visible shown entry, found by bisection. */
static size_t position(const struct ui_tree *t, uint32_t shown)
{
	size_t from = 0, to = t->n;

	while (from + 1 < to) {
		size_t middle = from + (to - from) / 2;
		if (t->shown[middle] <= shown)
			from = middle;
		else
			to = middle;
	}
	return from;
}

size_t ui_tree_parent(const struct ui_tree *t, size_t at)
{
	if (is_list(t) || at >= t->n || entry_at(t, at)->parent == ID_NONE)
		return at;
	return position(t, entry_at(t, at)->parent);
}

struct str ui_tree_name(const struct ui_tree *t, size_t at)
{
	return at < t->n ? view_name(&t->answer.q, entry_at(t, at)->kept) : STR_NONE;
}

struct str ui_tree_subject(const struct ui_tree *t, size_t at)
{
	struct str name = ui_tree_name(t, at);

	return at < t->n && t->answer.q.m->traces.n ? relative_name(t, entry_at(t, at), name)
	                                            : name;
}

uint32_t ui_tree_entry(const struct ui_tree *t, size_t at)
{
	return at < t->n ? tree_entry(t, t->shown[at]) : 0;
}

size_t ui_tree_place(const struct ui_tree *t, uint32_t entry)
{
	for (size_t i = 0; i < t->n; i++)
		if (tree_entry(t, t->shown[i]) == entry)
			return i;
	return 0;
}

/* ---- search ---- */

static void open_above(struct ui_tree *t, uint32_t shown)
{
	const struct entry *v = t->answer.r.shown;

	while (!is_list(t) && v[shown].parent != ID_NONE) {
		shown = v[shown].parent;
		t->open[tree_entry(t, shown)] = true;
	}
	list_visible(t);
}

size_t ui_tree_search(struct ui_tree *t, size_t at, struct str text, bool backward)
{
	const struct result *r = &t->answer.r;
	uint32_t n = r->n, i = at < t->n ? t->shown[at] : 0;

	for (uint32_t tried = 0; tried < n; tried++) {
		i = backward ? (i ? i : n) - 1 : i + 1 == n ? 0 : i + 1;
		if (!ui_contains(view_name(&t->answer.q, r->shown[i].kept), text))
			continue;
		open_above(t, i);
		return position(t, i);
	}
	return SIZE_MAX;
}

/* ---- metrics ---- */

/* True if the files can have numbers of the metric. */
static bool has_numbers(struct session *s, const struct ui_tree *t, enum metric_id m)
{
	const unsigned uses = USE_SELECT | USE_ORDER;

	if ((metrics[m].uses & uses) != uses || metrics[m].value == V_NONE)
		return false;
	if (!(metrics[m].uses & USE_MEMORY) == session_has_snapshots(s))
		return false;
	if (!metric_in(&metrics[m], t->answer.r.kind)->rank)
		return false;
	if (m == M_CRITICAL_MICROS)
		return session_has_path(s);
	return m == M_FLOAT_OPS || t->answer.r.root.v[metrics[m].value] > 0;
}

enum metric_id ui_tree_next_metric(struct session *s, const struct ui_tree *t, enum metric_id now)
{
	enum metric_id m = now;

	for (int i = 0; i < M_N; i++) {
		m = m + 1 < M_N ? m + 1 : 0;
		if (has_numbers(s, t, m))
			return m;
	}
	return now;
}
