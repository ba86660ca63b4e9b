/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages of the full-screen view: runs their commands, and keeps what they print.
 */
#include "cli/ui.h"

#include <stdio.h>

#define ALL_LEVELS "1000000000"
#define FROM_NAME  "%" /* in the words of a page, stands for the name of the opened row */

void ui_page_init(struct ui_page *p, struct session *s)
{
	*p = (struct ui_page){ .order = M_N, .sort = SIZE_MAX };
	arena_init(&p->words_arena, &s->work);
	arena_init(&p->a, &s->work);
	arena_init(&p->kept, &s->work);
}

void ui_page_free(struct ui_page *p)
{
	arena_free(&p->words_arena);
	arena_free(&p->a);
	arena_free(&p->kept);
}

bool ui_page_ready(const struct session *s, const struct ui_page *p, unsigned columns)
{
	if (p->failed)
		return true;
	return p->loaded && (p->tree ? p->changes == s->changes : p->width == columns);
}

void ui_page_drop(struct ui_page *p)
{
	if (p->tree) {
		size_t n = p->tree->answer.q.tree->n;
		arena_clear(&p->kept);
		p->open = ARENA_ARRAY(&p->kept, n, bool);
		memcpy(p->open, p->tree->open, n);
		p->n_open = n;
		p->entry = ui_tree_entry(p->tree, p->at);
	}
	p->tree = NULL;
	p->lines = (struct ui_lines){ 0 };
	p->blocks = NULL;
	p->loaded = p->failed = false;
	p->note = STR_NONE;
	arena_clear(&p->a);
}

void ui_page_fail(struct ui_page *p, struct str reason)
{
	p->tree = NULL;
	p->lines = (struct ui_lines){ 0 };
	p->blocks = NULL;
	arena_close(&p->a);
	snprintf(p->reason, sizeof p->reason, "%.*s", STR(reason));
	p->note = str_of(p->reason);
	p->loaded = false;
	p->failed = true;
}

/* ---- running ---- */

/* Returns the words of the command, with the options of the page. */
static struct strs full_words(struct session *s, const struct ui_page *p)
{
	struct arena *a = &s->query_arena;
	struct strs words = { 0 };
	struct sb names = sb_in(a);

	for (size_t i = 0; i < p->words.n; i++)
		strs_add(a, &words, p->words.v[i]);
	const struct command *c = cmd_find(s, words.v[0]);
	if (c && c->table && !c->view)
		strs_add(a, &words, S("--top=0"));
	if (!p->view)
		return words;
	if (!s->sticky.depth_given) {
		strs_add(a, &words, S("-max_depth"));
		strs_add(a, &words, S(ALL_LEVELS));
	}
	for (enum metric_id i = 0; i < M_N; i++)
		if (p->select & METRIC_BIT(i))
			sb_fmt(&names, "%s%s", names.n ? "," : "", metrics[i].name);
	if (p->select) {
		strs_add(a, &words, S("-select"));
		strs_add(a, &words, sb_str(&names));
	}
	if (p->order < M_N) {
		strs_add(a, &words, S("-order_by"));
		strs_add(a, &words, str_of(metrics[p->order].name));
	}
	return words;
}

static bool run(struct session *s, struct ui_page *p, unsigned columns, bool utf8)
{
	struct strs words = full_words(s, p);
	struct sink *out;
	struct request r;

	if (!cmd_parse(s, &words, NULL, &r))
		return false;
	for (size_t i = 0; i < r.topics.n; i++)
		if (str_eq(r.topics.v[i], S(FROM_NAME)))
			r.topics.v[i] = p->subject;
	if (p->view) {
		p->tree = ARENA_NEW(&p->a, struct ui_tree);
		return ui_tree_load(s, p->view, &r.opts, p->open, p->n_open, &p->a, p->tree);
	}
	struct ui_capture *c = ui_lines_begin(&p->lines, columns, utf8, &p->a, &out);
	bool ok = request_run(s, &r, out);
	sink_flush(out);
	ui_lines_end(c);
	return ok;
}

/* ---- blocks ---- */

static size_t text_width(struct str text, bool utf8)
{
	return letters_width(text, utf8);
}

/* Finds the column with the names: the first column if it is a text, otherwise the last column,
 * otherwise the first text. */
static size_t name_column(const struct ui_line *heading)
{
	size_t n = heading->n;

	while (n && !heading->cells[n - 1].text.n)
		n--;
	if (heading->name.n || !n)
		return SIZE_MAX;
	size_t first = 0, text = 0;
	while (!heading->cells[first].text.n)
		first++;
	while (text < n && (heading->cells[text].number || !heading->cells[text].text.n))
		text++;
	if (text > first && !heading->cells[n - 1].number)
		return n - 1;
	return text < n ? text : SIZE_MAX;
}

static void measure(struct ui_block *b, const struct ui_line *l, bool utf8)
{
	size_t name = l->indent + text_width(l->name, utf8);

	b->name = name > b->name ? name : b->name;
	b->shares |= l->kind == UI_ROW && l->share >= 0;
	for (size_t i = 0; i < l->n && i < b->n; i++) {
		size_t width = text_width(l->cells[i].text, utf8);
		b->number[i] |= l->cells[i].number;
		if (i != b->name_column && width > b->width[i])
			b->width[i] = width;
	}
}

/* Measures the tables of an answer. The cell in the column of names becomes the name of its
 * line. */
static void find_blocks(struct ui_page *p, bool utf8)
{
	size_t n = 0;

	p->blocks = ARENA_ARRAY(&p->a, (size_t)p->lines.blocks + 1, struct ui_block);
	for (size_t i = 0; i < p->lines.v.n; i++)
		n = p->lines.v.v[i].n > n ? p->lines.v.v[i].n : n;
	for (size_t i = 0; i < p->lines.v.n; i++) {
		struct ui_line *l = &p->lines.v.v[i];
		struct ui_block *b = &p->blocks[l->block];
		if (l->kind == UI_TEXT)
			continue;
		if (l->kind == UI_HEADING || !b->width) {
			b->name_column = name_column(l);
			b->n = n;
			b->width = ARENA_ARRAY(&p->a, n, size_t);
			b->number = ARENA_ARRAY(&p->a, n, bool);
		}
		if (b->name_column < l->n)
			l->name = l->cells[b->name_column].text;
		measure(b, l, utf8);
	}
}

/* ---- loading ---- */

static void keep_note(struct session *s, struct ui_page *p, bool ok)
{
	struct str text = ok ? notes_text(&s->query_arena, &s->notes) : s->error.text;

	if (!ok && s->error.code == ERR_STEP)
		text = notes_text(&s->query_arena, &s->notes);
	p->note = str_copy(&p->a, str_sub(text, 0, str_find_char(text, '\n')));
}

/* Appends the notes of the command to its lines. */
static void add_notes(struct ui_page *p, struct session *s, unsigned columns, bool utf8)
{
	struct str left = notes_text(&s->query_arena, &s->notes);
	struct sink *out;
	struct ui_capture *c = ui_lines_begin(&p->lines, columns, utf8, &p->a, &out);

	if (left.n)
		sink_char(out, '\n');
	while (left.n) {
		size_t end = str_find_char(left, '\n');
		sink_sentence(out, &s->query_arena, str_sub(left, 0, end));
		left = end == SIZE_MAX ? STR_NONE : str_sub(left, end + 1, SIZE_MAX);
	}
	sink_flush(out);
	ui_lines_end(c);
	p->note = STR_NONE;
}

/* Returns the position of the first row of a table; 0 if there is none. */
static size_t first_row(const struct ui_page *p)
{
	for (size_t i = 0; i < p->lines.v.n; i++)
		if (p->lines.v.v[i].kind == UI_ROW)
			return i;
	return 0;
}

/* Adds a note that the metric that the user chose is not shown because it is 0 everywhere. */
static void note_zero(struct ui_page *p)
{
	const struct ui_tree *t = p->tree;
	bool shown = p->order >= M_N || metrics[p->order].value == V_NONE;

	for (size_t i = 0; i < t->columns.n; i++)
		shown |= t->columns.id[i] == p->order;
	if (!shown)
		p->note = str_fmt(&p->a, "%s is 0 everywhere", metrics[p->order].name);
}

void ui_page_load(struct session *s, struct ui_page *p, unsigned columns, bool utf8)
{
	bool again = p->loaded;
	size_t at = p->at;

	ui_page_drop(p);
	s->columns = columns;
	s->cells = true;
	p->failed = true; /* reset if the load succeeds */
	bool ok = run(s, p, columns, utf8);
	s->cells = false;
	keep_note(s, p, ok);
	if (!ok)
		p->tree = NULL;
	p->failed = !ok;
	p->loaded = ok;
	p->width = columns;
	p->changes = s->changes;
	if (!ok)
		return;
	if (p->tree) {
		p->at = ui_tree_place(p->tree, p->entry);
		note_zero(p);
		return;
	}
	add_notes(p, s, columns, utf8);
	find_blocks(p, utf8);
	p->at = again ? at : first_row(p);
}

/* ---- lines ---- */

size_t ui_page_size(const struct ui_page *p)
{
	return p->tree ? p->tree->n : p->lines.v.n;
}

void ui_page_lines(const struct ui_page *p, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a)
{
	if (p->tree)
		ui_tree_lines(p->tree, from, n, utf8, to, a);
	for (size_t i = from; !p->tree && i < p->lines.v.n && i < from + n; i++)
		VEC_PUSH(a, &to->v, p->lines.v.v[i]);
}

enum ui_kind ui_page_kind(const struct ui_page *p, size_t at)
{
	return p->tree ? UI_ROW : at < p->lines.v.n ? p->lines.v.v[at].kind : UI_TEXT;
}

const struct ui_line *ui_page_heading(const struct ui_page *p, size_t at, struct arena *a)
{
	struct ui_lines *own;

	if (p->tree) {
		own = ARENA_NEW(a, struct ui_lines);
		ui_tree_heading(p->tree, own, a);
		return own->v.n ? &own->v.v[0] : NULL;
	}
	if (at >= p->lines.v.n || p->lines.v.v[at].kind == UI_TEXT)
		return NULL;
	for (size_t i = at + 1; i-- > 0;)
		if (p->lines.v.v[i].kind == UI_HEADING)
			return &p->lines.v.v[i];
	return NULL;
}

size_t ui_page_row(const struct ui_page *p, size_t *rows)
{
	size_t at = 0;

	*rows = p->tree ? p->tree->n : 0;
	if (p->tree)
		return p->at + 1;
	if (ui_page_kind(p, p->at) != UI_ROW)
		return 0;
	for (size_t i = 0; i < p->lines.v.n; i++)
		if (p->lines.v.v[i].kind == UI_ROW &&
		        p->lines.v.v[i].block == p->lines.v.v[p->at].block) {
			++*rows;
			at = i == p->at ? *rows : at;
		}
	return at;
}

struct str ui_page_name(const struct ui_page *p, size_t at)
{
	if (p->tree)
		return ui_tree_name(p->tree, at);
	return at < p->lines.v.n ? p->lines.v.v[at].name : STR_NONE;
}

struct str ui_page_subject(const struct ui_page *p, struct arena *a)
{
	const char *column = p->panel ? p->panel->column : NULL;
	const struct ui_line *heading = ui_page_heading(p, p->at, a);

	if (!p->panel || !p->panel->opens || ui_page_kind(p, p->at) != UI_ROW)
		return STR_NONE;
	if (p->tree)
		return ui_tree_subject(p->tree, p->at);
	if (!column)
		return ui_page_name(p, p->at);
	const struct ui_line *l = &p->lines.v.v[p->at];
	for (size_t i = 0; heading && i < l->n && i < heading->n; i++)
		if (str_eq(heading->cells[i].text, str_of(column)))
			return l->cells[i].text;
	return STR_NONE;
}

/* ---- order ---- */

/* Sorts a tree by the next of its columns; after the last column, by name. */
static struct str sort_tree(struct ui_page *p)
{
	const struct ui_tree *t = p->tree;
	enum metric_id now = t->answer.q.o->order.by;
	size_t i = 0;

	while (i < t->columns.n && t->columns.id[i] != now)
		i++;
	for (i = i < t->columns.n ? i + 1 : 0; i < t->columns.n; i++)
		if (metrics[t->columns.id[i]].uses & USE_ORDER &&
		        metric_in(&metrics[t->columns.id[i]], t->answer.r.kind)->order_on)
			break;
	p->order = i < t->columns.n ? t->columns.id[i] : M_NAME;
	ui_page_drop(p);
	return str_of(metrics[p->order].name);
}

struct str ui_page_sort(struct session *s, struct ui_page *p, struct arena *scratch)
{
	if (p->tree)
		return sort_tree(p);
	const struct ui_line *heading = ui_page_heading(p, p->at, scratch);
	if (!heading || !p->blocks)
		return STR_NONE;
	size_t n = heading->n, i = p->sort < n ? p->sort + 1 : 0;
	while (i < n && !heading->cells[i].text.n)
		i++;
	p->sort = i < n ? i : SIZE_MAX;
	ui_lines_sort(&p->lines, heading->block, p->sort, &s->query_arena);
	return i < n ? heading->cells[i].text : S("the order of the answer");
}

struct str ui_page_metric(struct session *s, struct ui_page *p)
{
	if (!p->tree)
		return STR_NONE;
	enum metric_id now = p->tree->answer.q.o->order.by;
	enum metric_id next = ui_tree_next_metric(s, p->tree, now);
	if (next == now)
		return STR_NONE;
	if (!p->select)
		p->select = p->tree->answer.columns.select.metrics;
	p->select |= METRIC_BIT(next);
	p->order = next;
	ui_page_drop(p);
	return str_of(metrics[next].name);
}

/* ---- search ---- */

static bool line_contains(const struct ui_line *l, struct str text)
{
	bool any = ui_contains(l->name, text);

	for (size_t i = 0; i < l->n && !any; i++)
		any = !l->cells[i].number && ui_contains(l->cells[i].text, text);
	return any;
}

bool ui_page_search(struct ui_page *p, struct str text, bool backward)
{
	size_t n = ui_page_size(p), i = p->at;

	if (!text.n || !n)
		return false;
	if (p->tree) {
		i = ui_tree_search(p->tree, p->at, text, backward);
		p->at = i == SIZE_MAX ? p->at : i;
		return i != SIZE_MAX;
	}
	for (size_t tried = 0; tried < n; tried++) {
		i = backward ? (i ? i : n) - 1 : i + 1 == n ? 0 : i + 1;
		const struct ui_line *l = &p->lines.v.v[i];
		if (l->kind != UI_HEADING && line_contains(l, text)) {
			p->at = i;
			return true;
		}
	}
	return false;
}
