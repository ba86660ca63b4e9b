/* SPDX-License-Identifier: Apache-2.0
 *
 * The command code. With -source, it prints the source lines of the profile with their times, as
 * pprof's list does. A file is read only below -source_path.
 */
#include "lib/command.h"

#include <stdlib.h>

#include "base/sort.h"
#include "export/out.h"

#define CONTEXT    3                    /* lines shown before and after a line with time */
#define LINES_TOP  20                   /* default number of lines with time */
#define NUMBER     9                    /* columns of a number */
#define FILE_BYTES ((uint64_t)16 << 20) /* larger source files are not read */
#define TAB        4

/* A line of a source file that the profile names. */
struct source_line {
	uint32_t file; /* string of the model */
	int32_t line;
	uint32_t text; /* the line as the profile has it: string of the model, or ID_NONE */
	int64_t own, total;
	uint32_t rank; /* of the chosen lines: order of the file, by its line with the most time */
};

struct source_list {
	struct session *s;
	const struct view_answer *x;
	struct arena *a;
	enum metric_id metric;
	VEC(struct source_line) lines;
	struct imap at;    /* file << 32 | line -> index of lines + 1 */
	struct str folder; /* the resolved -source_path */
	size_t missing;    /* files that are not below it */
};

/* ---- times of lines ---- */

static uint64_t key_of(const struct frame *f)
{
	return (uint64_t)f->file << 32 | (uint32_t)f->line;
}

/* Reads the frame of a kept entry; false for an entry without a source line. */
static bool frame_of(const struct source_list *l, uint32_t kept, struct frame *f)
{
	const struct query *q = &l->x->q;
	uint32_t frame = q->tree->frame[q->kept.at[kept]];

	if (!kept || frame == ID_NONE)
		return false;
	*f = model_frame(q->m, frame);
	return f->file != ID_NONE && f->line > 0 && frame_is_placed(q->m, f);
}

/* True if an entry above is the same line: its total includes this one. */
static bool is_below_itself(const struct source_list *l, uint32_t kept, uint64_t key)
{
	const struct kept *k = &l->x->q.kept;
	struct frame f;

	for (uint32_t i = kept; i && !k->start[i];) {
		i = k->parent[i];
		if (frame_of(l, i, &f) && key_of(&f) == key)
			return true;
	}
	return false;
}

/* Finds or adds a line. Valid until the next line is added. */
static struct source_line *line_at(struct source_list *l, const struct frame *f)
{
	uint32_t at = 0;

	if (!imap_get(&l->at, key_of(f), &at)) {
		VEC_PUSH(l->a, &l->lines,
		        ((struct source_line){
		                .file = f->file, .line = f->line, .text = f->source }));
		at = (uint32_t)l->lines.n;
		imap_put(&l->at, key_of(f), at, false);
	}
	return &l->lines.v[at - 1];
}

static void add_total(struct source_list *l, uint32_t kept, const struct entry *x)
{
	struct frame f;

	if (!frame_of(l, kept, &f))
		return;
	struct source_line *to = line_at(l, &f);
	if (!is_below_itself(l, kept, key_of(&f)))
		to->total = num_add(to->total, x->total->v[metrics[l->metric].value]);
}

/* Adds an entry's own number to its line. A function without a source line, such as a built-in of
 * Python, belongs to the line that called it. */
static void add_own(struct source_list *l, const struct entry *x)
{
	const struct kept *k = &l->x->q.kept;
	struct frame f;

	for (uint32_t i = x->kept; x->accounted && i; i = k->parent[i]) {
		if (frame_of(l, i, &f)) {
			struct source_line *to = line_at(l, &f);
			to->own = num_add(to->own, x->self->v[metrics[l->metric].value]);
			return;
		}
		if (k->start[i])
			return;
	}
}

/* Adds up the shown entries, and those that share their lines. */
static void add_lines(struct source_list *l)
{
	for (uint32_t i = 1; i < l->x->r.n; i++) {
		const struct entry *x = &l->x->r.shown[i];
		if (i % 4096 == 0)
			work_poll(l->a->work);
		for (uint32_t k = x->kept - x->folded; k <= x->kept; k++)
			add_total(l, k, x);
		add_own(l, x);
	}
}

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct source_line *x = v;

	if (x[a].own != x[b].own)
		return (x[a].own < x[b].own) - (x[a].own > x[b].own);
	return (x[a].total < x[b].total) - (x[a].total > x[b].total);
}

/* Orders by file, the one with the most time in a line first, then by line. */
static int by_place(const void *v, uint32_t a, uint32_t b)
{
	const struct source_line *x = v;

	if (x[a].rank != x[b].rank)
		return (x[a].rank > x[b].rank) - (x[a].rank < x[b].rank);
	return (x[a].line > x[b].line) - (x[a].line < x[b].line);
}

/* ---- files ---- */

/* Returns the resolved path; p NULL if nothing is there. */
static struct str resolve(struct arena *a, struct str path)
{
	char *z = realpath(str_z(a, path), NULL);
	struct str found = z ? str_copy(a, str_of(z)) : STR_NONE;

	free(z);
	return found;
}

/* Reads the file that ends a path of the profile and lies below the folder, links resolved. */
static bool read_below(struct source_list *l, struct str tail, struct str *text)
{
	struct err e = { .a = l->a };
	struct str path = resolve(l->a, str_fmt(l->a, "%.*s/%.*s", STR(l->folder), STR(tail)));
	struct src *in;

	if (!path.p || !str_starts(path, l->folder) ||
	        (l->folder.n > 1 && path.p[l->folder.n] != '/'))
		return false;
	if (!src_open_file(&in, l->a, path, &e))
		return false;
	in->e = &e;
	bool ok = src_size(in) <= FILE_BYTES && src_all(in, text);
	src_close(in);
	return ok;
}

/* Finds the file of a path in the profile: the whole path below the folder, then without its first
 * folders, one after the other. */
static bool find_file(struct source_list *l, struct str path, struct str *text)
{
	for (;;) {
		if (path.n && path.p[0] != '/' && read_below(l, path, text))
			return true;
		size_t slash = str_find_char(path, '/');
		if (slash == SIZE_MAX)
			return false;
		path = str_sub(path, slash + 1, SIZE_MAX);
	}
}

/* Splits a text into its lines. */
static struct strs lines_of(struct arena *a, struct str text)
{
	struct strs v = { 0 };

	while (text.n) {
		size_t end = str_find_char(text, '\n');
		struct str line = str_sub(text, 0, end);
		text = end == SIZE_MAX ? STR_NONE : str_sub(text, end + 1, SIZE_MAX);
		strs_add(a, &v, str_ends(line, S("\r")) ? str_sub(line, 0, line.n - 1) : line);
	}
	return v;
}

/* ---- text ---- */

/* Appends a number, aligned to the right; x NULL: blanks. */
static void put_number(const struct source_list *l, struct sb *b, const int64_t *x)
{
	struct sb number = sb_in(l->a);
	const struct query *q = &l->x->q;
	const struct metric *m = &metrics[l->metric];

	if (x && *x)
		text_quantity(&number, q, m->unit, model_fraction(q->m, q->over, m->value, *x), "");
	else if (x)
		sb_char(&number, '.');
	sb_repeat(b, ' ', number.n < NUMBER ? NUMBER - number.n : 0);
	sb_put(b, sb_str(&number));
	sb_char(b, ' ');
}

/* Appends source text without control characters, cut at the width of the terminal. */
static void put_source(const struct source_list *l, struct sb *b, struct str text)
{
	unsigned columns = l->x->columns.wide ? 0 : l->s->columns;
	size_t room = !columns ? SIZE_MAX : columns > b->n ? columns - b->n : 0, used = 0;

	for (size_t i = 0; i < text.n && used < room; i++) {
		unsigned char c = (unsigned char)text.p[i];
		size_t width = c == '\t' ? TAB : (c & 0xc0) != 0x80;
		if (used + width > room)
			return;
		if (c == '\t')
			sb_repeat(b, ' ', TAB);
		else
			sb_char(b, c < 0x20 || c == 0x7f ? '?' : text.p[i]);
		used += width;
	}
}

/* Writes a line; x NULL: a line without time. */
static void put_line(const struct source_list *l, const struct source_line *x, int64_t number,
        struct str text, struct sink *out)
{
	struct sb b = sb_in(l->a);

	put_number(l, &b, x ? &x->own : NULL);
	put_number(l, &b, x ? &x->total : NULL);
	sb_fmt(&b, "%6lld  ", (long long)number);
	put_source(l, &b, text);
	while (b.n && b.p[b.n - 1] == ' ')
		b.n--;
	sb_char(&b, '\n');
	sink_put(out, sb_str(&b));
}

/* Writes n lines of a file with the lines around them, or their text in the profile if the file
 * cannot be read. */
static void put_lines(
        struct source_list *l, const struct source_line *v, size_t n, struct sink *out)
{
	const struct model *m = l->x->q.m;
	struct str text = STR_NONE;
	bool found = find_file(l, model_str(m, v->file), &text);
	struct strs source = lines_of(l->a, text);
	int64_t done = 0, end = (int64_t)source.n; /* lines up to `done` are written */

	l->missing += !found;
	for (size_t i = 0; i < n; i++) {
		int64_t line = v[i].line, from = line - CONTEXT, until = line + CONTEXT;
		if (from > done + 1 && done)
			sink_put(out, S("  ...\n"));
		for (from = from > done ? from : done + 1; from < line && from <= end; from++)
			put_line(l, NULL, from, source.v[from - 1], out);
		put_line(l, &v[i], line,
		        line <= end            ? source.v[line - 1]
		        : v[i].text != ID_NONE ? model_str(m, v[i].text)
		                               : STR_NONE,
		        out);
		if (i + 1 < n && v[i + 1].line <= until)
			until = v[i + 1].line - 1;
		for (done = line; done < until && done < end; done++)
			put_line(l, NULL, done + 1, source.v[done], out);
	}
}

/* Writes the chosen lines, file by file. */
static void put_files(struct source_list *l, struct sink *out)
{
	const struct source_line *v = l->lines.v;

	for (size_t i = 0, end; i < l->lines.n; i = end) {
		struct sb b = sb_in(l->a);
		for (end = i; end < l->lines.n && v[end].file == v[i].file;)
			end++;
		sb_put(&b, i ? S("\n") : STR_NONE);
		sb_put_name(&b, model_str(l->x->q.m, v[i].file));
		sb_fmt(&b, " (%s)\n%*s %*s   line\n", metrics[l->metric].name, NUMBER, "own",
		        NUMBER, "total");
		sink_put(out, sb_str(&b));
		put_lines(l, v + i, end - i, out);
	}
}

static bool as_text(const struct exported *x, struct sink *out, struct emit *to, struct err *e)
{
	struct source_list *l = (struct source_list *)x->of;

	(void)to;
	(void)e;
	put_files(l, out);
	return true;
}

/* Keeps the n lines with the most time, ordered by file and number. */
static void choose_lines(struct source_list *l, size_t n)
{
	const uint32_t *order = sort_order(l->a, l->lines.n, by_time, l->lines.v);
	struct source_line *chosen = ARENA_ARRAY(l->a, n, struct source_line);

	struct imap ranks; /* key: file */

	imap_init(&ranks, l->a);
	for (size_t i = 0; i < n; i++) {
		chosen[i] = l->lines.v[order[i]];
		chosen[i].rank = (uint32_t)i;
		if (!imap_get(&ranks, chosen[i].file, &chosen[i].rank))
			imap_put(&ranks, chosen[i].file, chosen[i].rank, false);
	}
	sort_array(l->a, chosen, n, sizeof *chosen, by_place);
	l->lines.v = chosen;
	l->lines.n = n;
}

/* Writes the lines with the most time. */
static bool write_lines(
        struct session *s, const struct view_ops *v, const struct opts *o, struct sink *out)
{
	struct arena *a = &s->query_arena;
	struct emit to = session_emit(s, v->kind, out);
	struct opts all = *o;
	struct view_answer x;
	struct source_list l = { .s = s, .x = &x, .a = a };
	struct str folder = o->source_path.n ? o->source_path : S(".");
	struct exported e = { .kind = RESULT_VIEW,
		.name = v->name,
		.of = &l,
		.output = &o->output,
		.text = as_text };

	if (o->output.kind != OUT_STDOUT && o->output.kind != OUT_FILE)
		return session_fail(s, ERR_INVALID_ARGUMENT, "-source prints text only");
	l.folder = resolve(a, folder);
	if (!l.folder.p)
		return session_fail(
		        s, ERR_NOT_FOUND, "-source_path: '%.*s' does not exist", STR(folder));
	if (!o->depth_given)
		all.max_depth = INT32_MAX;
	all.top = 0;
	if (!session_show(s, v, &all, a, &x))
		return false;
	l.metric = o->order.given && metrics[o->order.by].value != V_NONE ? x.columns.order.by
	                                                                  : session_main_metric(s);
	imap_init(&l.at, a);
	add_lines(&l);
	size_t all_lines = l.lines.n, top = o->top < 0 ? LINES_TOP : (size_t)o->top;
	if (!all_lines)
		return session_fail(s, ERR_FAILED, "the call stacks have no source lines");
	choose_lines(&l, top && top < all_lines ? top : all_lines);
	if (!out_export(&e, &to, &s->error))
		return false;
	if (l.lines.n < all_lines)
		note_line(&s->notes, "(%zu of %zu lines; -n 0 shows all)\n", l.lines.n, all_lines);
	note_count(&s->notes, l.missing,
	        "note: %zu source {file is|files are} not below -source_path '%.*s': "
	        "-source_path=DIR names the folder of the sources\n",
	        l.missing, STR(folder));
	return true;
}

bool run_code(struct session *s, const struct request *r, struct sink *out)
{
	return r->opts.source ? write_lines(s, r->command->view, &r->opts, out)
	                      : run_view(s, r, out);
}
