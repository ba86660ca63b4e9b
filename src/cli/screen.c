/* SPDX-License-Identifier: Apache-2.0
 *
 * Receives the rows of an answer and writes them to the terminal.
 */
#include "cli/screen.h"

#define TAKEN       60 /* columns of a terminal that are reserved for a name and the metrics */
#define WORKER      12 /* columns for a worker */
#define WORKERS_MIN 2
#define WORKERS_MAX 8

#include <stdlib.h>

void screen_init(struct screen *s, struct sink *plain, struct work *work)
{
	*s = (struct screen){ .plain = plain, .pager = true };
	arena_init(&s->a, work);
	layout_init(&s->layout, work);
}

void screen_cancel(struct screen *s, const atomic_bool *cancel)
{
	s->a.work->account->cancel = cancel;
}

/* Starts PAGER, split into words; by default less, with options that keep colours and do not page
 * short texts. */
static bool start_pager(struct screen *s)
{
	const char *name = getenv("PAGER");
	struct strs words = str_split(&s->a, str_of(name ? name : "less"), ' ');
	struct err e = { .a = &s->a };

	if (!words.n || str_eq(words.v[0], S("cat")))
		return false;
	if (!spawn_start(&s->child, &words, getenv("LESS") ? NULL : "LESS=FRX", &e))
		return false;
	s->to_pager = sink_fd(&s->a, s->child.fd, s->child.name);
	return true;
}

/* Writes the held lines, into a pager if they fill more than a screen. */
static bool let_go(struct screen *s)
{
	struct sink *to;

	if (!s->paging && s->pager && s->layout.term.smart &&
	        s->held_lines >= s->layout.term.rows && !s->gave_up) {
		s->paging = start_pager(s);
		s->gave_up = !s->paging;
	}
	to = s->paging ? s->to_pager : s->plain;
	sink_put(to, sb_str(&s->held));
	sink_flush(to);
	s->held.n = 0;
	s->held_lines = 0;
	return sink_ok(to);
}

/* Returns the number of terminal rows that the lines since `from` take. */
static size_t rows_of(const struct screen *s, size_t from)
{
	size_t columns = s->layout.term.columns, wide = 0, rows = 0;

	for (size_t i = from; i < s->held.n; i++) { /* colour codes take no columns */
		if (s->held.p[i] == '\n') {
			rows += columns && wide > columns ? (wide - 1) / columns + 1 : 1;
			wide = 0;
		} else if (s->held.p[i] == '\033') {
			while (i < s->held.n && s->held.p[i] != 'm')
				i++;
		} else {
			wide += ((unsigned char)s->held.p[i] & 0xc0) != 0x80;
		}
	}
	return rows;
}

/* Counts the rows added to the held text, and shows it once it fills a screen. */
static bool added(struct screen *s, size_t from)
{
	s->held_lines += rows_of(s, from);
	if (s->stop && atomic_load(s->stop))
		return false;
	if (s->paging || s->gave_up ? s->held.n >= 4096 : s->held_lines >= s->layout.term.rows)
		return let_go(s);
	return true;
}

static bool take_line(void *user, const struct line *line)
{
	struct screen *s = user;
	size_t from = s->held.n;

	layout_line(&s->layout, line, &s->held);
	return added(s, from);
}

static bool take(void *user, const void *p, size_t n)
{
	struct screen *s = user;
	struct str text = str_make(p, n);

	while (text.n) {
		size_t end = str_find_char(text, '\n'), from = s->held.n;
		sb_put(&s->line, str_sub(text, 0, end));
		if (end == SIZE_MAX)
			return true;
		layout_text(&s->layout, sb_str(&s->line), &s->held);
		s->line.n = 0;
		if (!added(s, from))
			return false;
		text = str_sub(text, end + 1, SIZE_MAX);
	}
	return true;
}

/* Returns the properties of the output. The width that the user wants replaces that of the
 * terminal. */
static struct term look(const struct screen *s)
{
	struct term t = term_look(s->color);

	if (s->width) {
		t.columns = s->width;
		t.utf8 = term_is_utf8();
	}
	return t;
}

unsigned screen_columns(const struct screen *s)
{
	return s->layout.term.tty || s->width ? s->layout.term.columns : 0;
}

void screen_fit(const struct screen *s, struct opts *o)
{
	struct term t = look(s);
	unsigned n = t.columns > TAKEN ? (t.columns - TAKEN) / WORKER : 0;

	if ((t.tty || s->width) && o->output.kind == OUT_STDOUT && t.columns &&
	        o->max_workers < 0 && n < WORKERS_MAX)
		o->max_workers = n < WORKERS_MIN ? WORKERS_MIN : n;
}

struct sink *screen_begin(struct screen *s, const struct opts *o)
{
	layout_begin(&s->layout, look(s), o->wide || o->output.full_names, o->bars);
	if (!s->layout.term.tty && !s->layout.term.color &&
	        !(s->width && o->output.kind == OUT_STDOUT))
		return s->now = s->plain;
	sink_flush(s->plain);
	s->line = sb_in(&s->a);
	s->held = sb_in(&s->a);
	s->held_lines = 0;
	s->paging = false;
	s->gave_up = s->layout.term.rows == 0;
	return s->now = sink_lines(&s->a, take, take_line, s);
}

void screen_end(struct screen *s)
{
	struct err e = { .a = &s->a };
	bool stopped = s->stop && atomic_load(s->stop);

	if (!s->now)
		return;
	if (s->now == s->plain) {
		sink_flush(s->plain);
	} else {
		sink_flush(s->now);
		sink_drop(s->now);
		size_t from = s->held.n;
		if (!stopped)
			layout_end(&s->layout, &s->held);
		s->held_lines += rows_of(s, from);
		if (s->line.n && !stopped) { /* a last line without newline */
			layout_text(&s->layout, sb_str(&s->line), &s->held);
			s->held.n--;
		}
		if (!stopped)
			let_go(s);
		if (s->paging)
			spawn_wait(&s->child, &e);
		arena_clear(&s->a);
	}
	s->now = NULL;
}
