/* SPDX-License-Identifier: Apache-2.0
 *
 * The command ui: panels, keys and the lines around the page.
 */
#include "cli/ui.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/program.h"

#define PANELS_MAX  12
#define PANEL_KEYS  9
#define SEARCH_MAX  200 /* maximum length in bytes */
#define FRAME       4   /* number of lines around the page */
#define FRAME_SMALL 2
#define TABS_FROM   10 /* minimum number of lines of a screen with a title and tabs */

#define KEY_ESC    27
#define KEY_CTRL_F 6
#define KEY_CTRL_B 2
#define KEY_CTRL_L 12
#define KEY_CTRL_U 21

/* A page that the user opened: its number of panels, and the typed text. */
struct ui {
	struct session *s;
	enum term_color color;
	struct ui_place place;
	unsigned rows; /* rows of the screen */
	struct ui_page panel[PANELS_MAX];
	size_t n, now;
	struct ui_page *page; /* the page on the screen */
	bool typing, computing, quit;
	char search[SEARCH_MAX];
	size_t search_n;
	char message[200];
	unsigned key;
};

static const struct ui_panel views_of_files[] = {
	[VK_SCOPE] = { "scope", NULL, "peek %" },
	[VK_GRAPH] = { "graph", NULL, "peek %" },
	[VK_OP] = { "op", NULL, "peek %" },
	[VK_CODE] = { "code", NULL, "peek %" },
};
static const enum vk order_of_views[] = { VK_SCOPE, VK_OP, VK_CODE, VK_GRAPH };

static const struct ui_panel of_traces[] = {
	{ "why", "cause", "why --cause %" },
	{ "kernels", NULL, "peek %" },
	{ "steps", "step", "why -step %" },
	{ "devices", "device", "idle" },
	{ "memory", NULL, NULL },
	{ "summary", NULL, NULL },
};
static const struct ui_panel of_profiles[] = {
	{ "advise", NULL, NULL },
	{ "memory", NULL, NULL },
	{ "summary", NULL, NULL },
};
static const struct ui_panel of_snapshots[] = {
	{ "memory", NULL, NULL },
	{ "summary", NULL, NULL },
};
static const struct ui_panel details = { "details", NULL, NULL };
#define COUNT(x) (sizeof(x) / sizeof *(x))

static const char *const help[] = {
	"Keys of the full-screen view",
	"",
	"Tab, 1 to 9        other panel; Shift-Tab: the one before",
	"arrows, h j k l    move; in a tree, right opens an entry",
	"                   and left closes it",
	"PgUp PgDn          move by screens",
	"Home End, g G      first and last line",
	"Enter, Space       open or close an entry of a tree; for a",
	"                   row of a table and the last entry of a",
	"                   tree, show the details: the places and",
	"                   commands of a cause, the callers, kernels",
	"                   and steps of a kernel or op, the causes",
	"                   of a step",
	"p                  details of any entry of a tree",
	"+ -                open, close all entries below an entry",
	"Esc, Backspace     back to the previous page",
	"s                  sort by the next column",
	"m                  add the next metric to a tree, sort by it",
	"/ n N              search a name; next, previous. Small",
	"                   letters in the text find both cases",
	"< >                scroll columns and long lines",
	"Ctrl-L             draw the screen again",
	"Ctrl-Z             stop; the shell continues with fg",
	"q                  quit",
	"",
	"Signs: \xe2\x80\xa6 or ... for letters that are left out; \xe2\x80\xb9 \xe2\x80\xba",
	"or < > for columns beside the screen.",
};

/* ---- pages ---- */

static void add_panel(struct ui *u, const struct ui_panel *panel, const struct view_ops *view)
{
	if (u->n == PANELS_MAX)
		return;
	struct ui_page *p = &u->panel[u->n++];
	ui_page_init(p, u->s);
	p->panel = panel;
	p->view = view;
	strs_add(&p->words_arena, &p->words, str_of(panel->name));
}

static void add_panels(struct ui *u, const struct ui_panel *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_panel(u, &v[i], NULL);
}

static bool add_all_panels(struct session *s, void *ctx)
{
	struct ui *u = ctx;
	const struct model *m = &s->model;
	bool snapshots;

	if (!session_seal(s))
		return false;
	snapshots = session_has_snapshots(s);
	for (size_t i = 0; i < COUNT(order_of_views); i++) {
		enum vk kind = order_of_views[i];
		if ((view_is(kind, VIEW_EDGES) && !m->inputs.n) ||
		        (view_is(kind, VIEW_TRACES) && !m->has_traces && !snapshots))
			continue;
		add_panel(u, &views_of_files[kind], &views[kind]);
	}
	if (snapshots)
		add_panels(u, of_snapshots, COUNT(of_snapshots));
	else if (m->traces.n || s->recording.n)
		add_panels(u, of_traces, COUNT(of_traces));
	else
		add_panels(u, of_profiles, COUNT(of_profiles));
	u->page = &u->panel[0];
	return true;
}

/* Closes the page above a panel. Returns false if the page is a panel. */
static bool close_page(struct ui *u)
{
	struct ui_page *p = u->page;

	if (!p->below)
		return false;
	u->page = p->below;
	ui_page_free(p);
	free(p);
	return true;
}

static void show_panel(struct ui *u, size_t i)
{
	if (i >= u->n)
		return;
	while (close_page(u))
		;
	u->now = i;
	u->page = &u->panel[i];
}

/* Shows a page above the current page. Returns NULL if memory is exhausted. */
static struct ui_page *push_page(struct ui *u)
{
	struct ui_page *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	ui_page_init(p, u->s);
	p->panel = &details;
	p->below = u->page;
	u->page = p;
	return p;
}

/* Opens the row at the cursor with a command. % in its words is replaced by the name of the row. */
static void open_row(struct ui *u, const char *command, struct str subject)
{
	struct ui_page *p = subject.n ? push_page(u) : NULL;

	if (!p)
		return;
	p->subject = str_copy(&p->words_arena, subject);
	struct strs words = str_split(&p->words_arena, str_of(command), ' ');
	for (size_t i = 0; i < words.n; i++) {
		/* A name may look like an option, so it is inserted after the line is parsed. */
		bool name = str_eq(words.v[i], S("%")) && !str_eq(words.v[0], S("peek"));
		strs_add(&p->words_arena, &p->words, name ? p->subject : words.v[i]);
	}
}

static void show_help(struct ui *u)
{
	struct ui_page *p = u->page->words.n ? push_page(u) : NULL;

	for (size_t i = 0; p && i < COUNT(help); i++) {
		struct ui_line line = { .kind = UI_TEXT, .name = str_of(help[i]), .share = -1 };
		VEC_PUSH(&p->a, &p->lines.v, line);
	}
	if (p) {
		p->loaded = true;
		p->width = u->place.columns;
	}
}

/* ---- the frame ---- */

static void put_word(struct sb *b, struct str word)
{
	if (b->n)
		sb_char(b, ' ');
	sb_put_word(b, word);
}

/* Appends the command that prints the page. base: true to omit the folder of the file. */
static void put_command(struct ui *u, bool base, struct sb *b)
{
	const struct ui_page *p = u->page;

	put_word(b, S("tfprof"));
	for (size_t i = 0; i < p->words.n; i++)
		put_word(b, str_eq(p->words.v[i], S("%")) ? p->subject : p->words.v[i]);
	if (p->order < M_N)
		sb_fmt(b, " -order_by %s", metrics[p->order].name);
	if (u->s->sources.n)
		put_word(b, base ? str_base(u->s->sources.v[0].path) : u->s->sources.v[0].path);
	if (u->s->sources.n > 1)
		sb_fmt(b, " (and %zu more)", u->s->sources.n - 1);
}

static void draw_title(struct ui *u, struct arena *a)
{
	struct sb b = sb_in(a);

	if (u->page->words.n) {
		put_command(u, false, &b);
		bool fits = letters_width(sb_str(&b), u->place.utf8) <= u->place.columns;
		b.n = fits ? b.n : 0;
		if (!fits)
			put_command(u, true, &b);
	} else {
		sb_put(&b, S("tfprof " TFPROF_VERSION ": help"));
	}
	ui_draw_text(0, sb_str(&b), &u->place, UI_BAR, a);
}

/* Returns the width of the tabs from one panel to another, columns. */
static size_t tabs_width(const struct ui *u, size_t from, size_t to)
{
	size_t all = 0;

	for (size_t i = from; i <= to; i++)
		all += strlen(u->panel[i].panel->name) + (i < PANEL_KEYS ? 4 : 2);
	return all;
}

/* Draws the names of the panels. On a narrow terminal, draws only the names next to the current
 * panel. */
static void draw_tabs(struct ui *u, struct arena *a)
{
	unsigned room = u->place.columns, x = 0;
	size_t from = 0;

	if (tabs_width(u, 0, u->n - 1) > room)
		while (from < u->now && tabs_width(u, from, u->now) + 4 > room)
			from++;
	if (from)
		ui_screen_put(1, x++, u->place.utf8 ? S("\xe2\x80\xb9") : S("<"), UI_DIM);
	for (size_t i = from; i < u->n; i++) {
		const char *name = u->panel[i].panel->name;
		struct str text = i < PANEL_KEYS ? str_fmt(a, " %zu %s ", i + 1, name)
		                                 : str_fmt(a, " %s ", name);
		if (x + text.n + (i + 1 < u->n ? 1 : 0) > room) {
			ui_screen_put(1, x, u->place.utf8 ? S("\xe2\x80\xba") : S(">"), UI_DIM);
			return;
		}
		ui_screen_put(1, x, text, i == u->now ? UI_CURSOR : UI_PLAIN);
		x += (unsigned)text.n;
	}
}

/* Draws the position, and a message or the complete name at the cursor. */
static void draw_status(struct ui *u, unsigned y, struct arena *a)
{
	const struct ui_page *p = u->page;
	size_t n, row = ui_page_row(p, &n);
	struct sb b = sb_in(a);

	if (u->typing) {
		sb_fmt(&b, "/%.*s_", (int)u->search_n, u->search);
		ui_draw_text(y, sb_str(&b), &u->place, UI_PLAIN, a);
		return;
	}
	if (row && !u->computing)
		sb_fmt(&b, "%zu of %zu  ", row, n);
	if (u->computing)
		sb_put(&b, S("computing (Ctrl-C stops it)"));
	else if (u->message[0])
		sb_put(&b, str_of(u->message));
	else
		sb_put(&b, ui_page_kind(p, p->at) == UI_ROW ? ui_page_name(p, p->at) : STR_NONE);
	ui_draw_text(y, sb_str(&b), &u->place, UI_PLAIN, a);
}

static void draw_keys(struct ui *u, unsigned y, struct arena *a)
{
	static const char *const of_tree[] = { "q quit", "? keys", "Enter open", "/ search",
		"s sort", "m metric", "p peek", "Tab panel", "+ all", "< > columns" };
	static const char *const of_rows[] = { "q quit", "? keys", "Enter details", "/ search",
		"s sort", "Tab panel", "< > columns" };
	static const char *const of_lines[] = { "q quit", "? keys", "/ search", "s sort",
		"Tab panel", "< > columns" };
	static const char *const of_details[] = { "q quit", "? keys", "Esc back", "/ search",
		"Tab panel", "< > columns" };
	const struct ui_page *p = u->page;
	const char *const *v = of_lines;
	size_t n = COUNT(of_lines);
	struct sb b = sb_in(a);

	if (p->below) {
		v = of_details;
		n = COUNT(of_details);
	} else if (p->tree) {
		v = of_tree;
		n = COUNT(of_tree);
	} else if (p->panel->opens) {
		v = of_rows;
		n = COUNT(of_rows);
	}
	for (size_t i = 0; i < n && b.n + strlen(v[i]) + 2 <= u->place.columns; i++)
		sb_fmt(&b, "%s%s", b.n ? "  " : "", v[i]);
	ui_draw_text(y, sb_str(&b), &u->place, UI_BAR, a);
}

/* ---- drawing ---- */

/* Draws the reason why a page has no answer. */
static void draw_failure(struct ui *u, struct arena *a)
{
	struct str left = u->page->note;
	unsigned y = u->place.y, end = y + u->place.rows;

	if (!left.n)
		left = u->page->failed ? S("there is no answer") : S("");
	while (left.n && y < end) {
		struct str part = letters_break(left, u->place.columns, u->place.utf8);
		ui_draw_text(y++, part, &u->place, UI_PLAIN, a);
		left = str_sub(left, part.n + 1, SIZE_MAX);
	}
}

static bool draw(struct session *s, void *ctx)
{
	struct ui *u = ctx;
	struct arena *a = &s->query_arena;
	unsigned rows = u->rows;

	ui_screen_clear();
	if (rows < UI_ROWS_MIN || u->place.columns < UI_COLUMNS_MIN) {
		ui_screen_put(0, 0, S("too small"), UI_PLAIN);
		ui_screen_update();
		return true;
	}
	if (rows >= TABS_FROM) {
		draw_title(u, a);
		draw_tabs(u, a);
	}
	if (u->page->loaded)
		ui_draw_page(u->page, &u->place, a);
	else
		draw_failure(u, a);
	draw_status(u, rows - 2, a);
	draw_keys(u, rows - 1, a);
	ui_screen_update();
	return true;
}

static void measure(struct ui *u)
{
	unsigned frame;

	ui_screen_size(&u->rows, &u->place.columns);
	frame = u->rows >= TABS_FROM ? FRAME : FRAME_SMALL;
	u->place.y = u->rows >= TABS_FROM ? 2 : 0;
	u->place.rows = u->rows > frame ? u->rows - frame : 1;
}

static bool load(struct session *s, void *ctx)
{
	struct ui *u = ctx;

	ui_page_load(s, u->page, u->place.columns, u->place.utf8);
	return true;
}

static void say(struct ui *u, const char *what, struct str text)
{
	snprintf(u->message, sizeof u->message, "%s%.*s", what, STR(text));
}

/* Computes the page on the screen, if it has not been computed, and draws it. */
static void show(struct ui *u)
{
	struct ui_page *p = u->page;

	measure(u);
	if (p->words.n && !ui_page_ready(u->s, p, u->place.columns)) {
		bool loaded = p->loaded;
		p->loaded = false;
		u->computing = true;
		session_guard(u->s, draw, u);
		u->computing = false;
		p->loaded = loaded;
		ui_screen_busy(true);
		if (!session_guard(u->s, load, u)) { /* memory is exhausted, or the user stopped the
			                                command */
			ui_page_fail(p, u->s->error.text);
		}
		ui_screen_busy(false);
		if (p->loaded && p->note.n)
			say(u, "", p->note);
	}
	session_guard(u->s, draw, u);
}

/* ---- keys ---- */

static void search(struct ui *u, bool backward)
{
	struct str text = str_make(u->search, u->search_n);

	if (!text.n)
		say(u, "search with /", S(""));
	else if (!ui_page_search(u->page, text, backward))
		say(u, "not found: ", text);
}

/* Removes the last character of the text. */
static void take_back(struct ui *u)
{
	while (u->search_n && ((unsigned char)u->search[u->search_n - 1] & 0xc0) == 0x80)
		u->search_n--;
	u->search_n -= u->search_n > 0;
}

/* Appends a character in UTF-8. */
static void type(struct ui *u, unsigned c)
{
	char *p = u->search + u->search_n;

	if (u->search_n + 4 > SEARCH_MAX || c < ' ' || c >= UI_KEY)
		return;
	if (c < 0x80) {
		p[0] = (char)c;
		u->search_n += 1;
	} else if (c < 0x800) {
		p[0] = (char)(0xc0 | c >> 6);
		p[1] = (char)(0x80 | (c & 0x3f));
		u->search_n += 2;
	} else if (c < 0x10000) {
		p[0] = (char)(0xe0 | c >> 12);
		p[1] = (char)(0x80 | (c >> 6 & 0x3f));
		p[2] = (char)(0x80 | (c & 0x3f));
		u->search_n += 3;
	} else {
		p[0] = (char)(0xf0 | c >> 18);
		p[1] = (char)(0x80 | (c >> 12 & 0x3f));
		p[2] = (char)(0x80 | (c >> 6 & 0x3f));
		p[3] = (char)(0x80 | (c & 0x3f));
		u->search_n += 4;
	}
}

static void type_key(struct ui *u)
{
	switch (u->key) {
	case '\n':
		u->typing = false;
		search(u, false);
		break;
	case KEY_ESC: u->typing = false; break;
	case UI_BACK: take_back(u); break;
	case KEY_CTRL_U: u->search_n = 0; break;
	default: type(u, u->key);
	}
}

/* Moves the cursor by lines. */
static void move(struct ui *u, size_t lines, bool up)
{
	struct ui_page *p = u->page;
	size_t n = ui_page_size(p), most = n ? n - 1 : 0;

	if (up)
		p->at -= lines < p->at ? lines : p->at;
	else
		p->at = lines < most - p->at ? p->at + lines : most;
}

static void move_left(struct ui *u)
{
	struct ui_page *p = u->page;

	if (!p->tree)
		p->skip -= p->skip > 0;
	else if (ui_tree_is_open(p->tree, p->at))
		ui_tree_toggle(p->tree, p->at);
	else
		p->at = ui_tree_parent(p->tree, p->at);
}

static void move_right(struct ui *u)
{
	struct ui_page *p = u->page;

	if (!p->tree)
		p->skip++;
	else if (ui_tree_is_parent(p->tree, p->at) && !ui_tree_is_open(p->tree, p->at))
		ui_tree_toggle(p->tree, p->at);
	else if (ui_tree_is_parent(p->tree, p->at))
		p->at++;
}

static void open_here(struct ui *u, bool toggle)
{
	struct ui_page *p = u->page;

	if (toggle && p->tree && ui_tree_is_parent(p->tree, p->at)) {
		ui_tree_toggle(p->tree, p->at);
		return;
	}
	struct str subject = ui_page_subject(p, &u->s->query_arena);
	if (subject.n)
		open_row(u, p->panel->opens, subject);
	else
		say(u, "nothing is behind this line", S(""));
}

/* True if the key moves the cursor. */
static bool move_key(struct ui *u)
{
	size_t screen = u->place.rows > 3 ? u->place.rows - 2 : 1;

	switch (u->key) {
	case UI_UP:
	case 'k': move(u, 1, true); return true;
	case UI_DOWN:
	case 'j': move(u, 1, false); return true;
	case UI_PAGE_UP:
	case KEY_CTRL_B: move(u, screen, true); return true;
	case UI_PAGE_DOWN:
	case KEY_CTRL_F: move(u, screen, false); return true;
	case UI_HOME:
	case 'g': u->page->at = 0; return true;
	case UI_END:
	case 'G': move(u, SIZE_MAX, false); return true;
	case UI_LEFT:
	case 'h': move_left(u); return true;
	case UI_RIGHT:
	case 'l': move_right(u); return true;
	case '<': u->page->skip -= u->page->skip > 0; return true;
	case '>': u->page->skip++; return true;
	default: return false;
	}
}

static void sort_key(struct ui *u, bool metric)
{
	struct ui_page *p = u->page;
	struct str name =
	        metric ? ui_page_metric(u->s, p) : ui_page_sort(u->s, p, &u->s->query_arena);

	if (name.n)
		say(u, "sorted by ", name);
	else
		say(u, metric ? "no other metric has numbers here" : "nothing to sort here", S(""));
}

static void panel_key(struct ui *u)
{
	if (u->key == '\t')
		show_panel(u, (u->now + 1) % u->n);
	else if (u->key == UI_BACKTAB)
		show_panel(u, (u->now + u->n - 1) % u->n);
	else if (u->key >= '1' && u->key <= '9')
		show_panel(u, u->key - '1');
}

static bool press(struct session *s, void *ctx)
{
	struct ui *u = ctx;

	(void)s;
	u->message[0] = 0;
	if (u->typing) {
		type_key(u);
		return true;
	}
	if (!move_key(u))
		switch (u->key) {
		case 'q': u->quit = true; break;
		case '?': show_help(u); break;
		case '\n': open_here(u, true); break;
		case ' ': open_here(u, true); break;
		case 'p': open_here(u, false); break;
		case '+':
		case '*':
		case '-':
			if (u->page->tree)
				ui_tree_toggle_all(u->page->tree, u->page->at, u->key != '-');
			break;
		case '/':
			u->typing = true;
			u->search_n = 0;
			break;
		case 'n':
		case 'N': search(u, u->key == 'N'); break;
		case 's':
		case 'm': sort_key(u, u->key == 'm'); break;
		case KEY_ESC:
		case UI_BACK: close_page(u); break;
		default: panel_key(u);
		}
	return true;
}

/* ---- the command ---- */

bool ui_check(struct session *s, const struct request *r)
{
	(void)r;
	return ui_screen_possible(&s->error);
}

/* Only checks the request: the view opens after the call, because each of its commands is a
 * call. */
bool ui_run(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	session_set(s, &r->opts);
	return true;
}

static bool open_screen(struct session *s, void *ctx)
{
	const struct ui *u = ctx;

	return ui_screen_open(s, u->color, &s->error);
}

bool ui_show(struct session *s, enum term_color color)
{
	struct ui u = { .s = s, .color = color, .place.utf8 = term_look(TERM_AUTO).utf8 };
	unsigned columns = s->columns;
	bool ok = session_guard(s, add_all_panels, &u) && session_guard(s, open_screen, &u);

	while (ok && !u.quit) {
		show(&u);
		u.key = ui_screen_key();
		u.quit = u.key == UI_QUIT;
		if (u.key == KEY_CTRL_L)
			u.key = UI_REDRAW;
		if (u.key != UI_REDRAW && !u.quit && !session_guard(s, press, &u))
			say(&u, "", s->error.text);
	}
	while (u.page && close_page(&u))
		;
	ui_screen_close();
	for (size_t i = 0; i < u.n; i++)
		ui_page_free(&u.panel[i]);
	s->columns = columns;
	s->cells = false;
	return ok;
}
