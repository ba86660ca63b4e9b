/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a table as text, CSV, Markdown or JSON.
 */
#include "export/table/table.h"

#include <math.h>

#include "base/fmt.h"
#include "base/reduced_names.h"
#include "io/line.h"

#define NAME_MIN                                                                                   \
	24 /* columns that a name keeps when it is shortened, and two fifths of the line           \
	    */
#define WORD_MIN     14 /* columns that other texts keep */
#define APART_MIN    16 /* least room in which names can be told apart */
#define APART_BEFORE 8  /* bytes before the first difference that are shown */
#define FUNCTION_MIN                                                                               \
	12 /* columns that the function after a source line keeps; otherwise it is left out */

#define FRACTION_UNITS 10000

/* ---- cells ---- */

void table_number(struct table *x, int64_t v)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .number = v }));
}

void table_fraction(struct table *x, struct fraction f)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .number = f.v, .per = f.per }));
}

void table_text(struct table *x, struct str s)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .text = s }));
}

void table_null(struct table *x)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .null = true }));
}

void table_count(struct table *x, uint64_t v)
{
	table_number(x, num_from_u64(v));
}

void table_number_if(struct table *x, bool known, int64_t v)
{
	VEC_PUSH(x->a, &x->cells, ((struct table_cell){ .number = known ? v : 0, .null = !known }));
}

void table_sum(struct table *x, bool lacks, int64_t v)
{
	bool known = v > 0 || !lacks;

	VEC_PUSH(x->a, &x->cells,
	        ((struct table_cell){
	                .number = known ? v : 0, .null = !known, .mark = lacks ? "≥" : NULL }));
}

void table_fraction_if(struct table *x, bool known, int64_t v)
{
	VEC_PUSH(x->a, &x->cells,
	        ((struct table_cell){
	                .number = known ? v : 0, .per = FRACTION_UNITS, .null = !known }));
}

void table_mark(struct table *x, size_t n, const char *mark)
{
	for (size_t i = x->cells.n - n; i < x->cells.n; i++)
		x->cells.v[i].mark = mark;
}

void table_text_if(struct table *x, bool known, struct str s)
{
	VEC_PUSH(x->a, &x->cells,
	        ((struct table_cell){ .text = known ? s : STR_NONE, .null = !known }));
}

/* ---- text ---- */

int64_t table_share(int64_t part, int64_t all)
{
	return all > 0 ? (int64_t)((double)part * 10000 / (double)all + (part < 0 ? -0.5 : 0.5))
	               : 0;
}

void table_put_time(struct sb *b, int64_t ns)
{
	fmt_time(b, ns);
}

static bool has_unit(const struct column *k, const char *unit)
{
	return k->unit && strcmp(k->unit, unit) == 0;
}

/* Appends a number with a fraction. Fractions are times, counts or bytes. */
static void put_fraction(struct sb *b, const struct column *k, struct fraction f)
{
	if (has_unit(k, "us"))
		table_put_time(b, fraction_in(f, 1000));
	else
		fmt_fraction_si(b, has_unit(k, "bytes") ? QUANTITY_BYTES : QUANTITY_COUNT, f);
}

/* Appends a number of hundredths of a percent; ">1000x" for a number above that. */
static void put_percent(struct sb *b, int64_t hundredths)
{
	if (hundredths > 1000 * 100 * 100)
		sb_put(b, S(">1000x"));
	else
		sb_fmt(b, "%.2f%%", (double)hundredths / 100);
}

/* Appends bytes per second: 24.4GB/s. */
static void put_rate(struct sb *b, int64_t bytes)
{
	fmt_si_bytes(b, (double)bytes);
	sb_put(b, S("/s"));
}

static struct str text_cell(const struct table *x, size_t column, const struct table_cell *c)
{
	const struct column *k = &x->columns[column];
	struct sb b = sb_in(x->a);

	if (c->null)
		return str_of(x->empty ? x->empty : "-");
	if (c->mark)
		sb_put(&b, str_of(c->mark));
	if (k->type == COLUMN_TEXT)
		sb_put_name(&b, c->text);
	else if (has_unit(k, "fraction"))
		put_percent(&b, c->number);
	else if (c->per > 1)
		put_fraction(&b, k, (struct fraction){ c->number, c->per });
	else if (k->type == COLUMN_REAL && has_unit(k, "us"))
		table_put_time(&b, num_mul(c->number, 10));
	else if (k->type == COLUMN_REAL && has_unit(k, "percent"))
		put_percent(&b, c->number);
	else if (k->type == COLUMN_REAL)
		fmt_si(&b, (double)c->number / 100);
	else if (has_unit(k, "ns"))
		table_put_time(&b, c->number);
	else if (has_unit(k, "us"))
		table_put_time(&b, num_mul(c->number, 1000));
	else if (has_unit(k, "permille"))
		sb_fmt(&b, "%.1f%%", (double)c->number / 10);
	else if (has_unit(k, "thousandths"))
		sb_fmt(&b, "%.2f", (double)c->number / 1000);
	else if (has_unit(k, "bytes/s"))
		put_rate(&b, c->number);
	else if (has_unit(k, "flop") || has_unit(k, "flop/s") || has_unit(k, "count"))
		fmt_si(&b, (double)c->number);
	else if (k->unit)
		fmt_si_bytes(&b, (double)c->number);
	else
		fmt_i64(&b, c->number);
	return sb_str(&b);
}

/* Returns the heading of a column: its title, or its name without the unit. */
static struct str heading(const struct table *x, size_t column)
{
	struct str s = x->columns[column].name;

	if (x->titles && x->titles[column])
		return str_of(x->titles[column]);
	if (str_ends(s, S("_ns")))
		s = str_sub(s, 0, s.n - 3);
	if (str_ends(s, S("_micros")))
		s = str_sub(s, 0, s.n - 7);
	return str_replace_char(x->a, s, '_', ' ');
}

/* Returns "mm of type" for "<built-in method mm of type>". */
static struct str inside_builtin(struct str s)
{
	const struct str before = S("<built-in method ");

	return str_starts(s, before) && str_ends(s, S(">"))
	               ? str_sub(s, before.n, s.n - before.n - 1)
	               : s;
}

/* Replaces the middle of a text by "..." if the text does not fit. */
static struct str shorten_middle(struct arena *a, struct str s, size_t room)
{
	size_t head = room / 3, tail;

	if (s.n > room)
		s = inside_builtin(s);
	if (s.n <= room || room < 4)
		return s;
	tail = s.n - (room - head - 3);
	while (head && ((unsigned char)s.p[head] & 0xc0) == 0x80)
		head--;
	while (tail < s.n && ((unsigned char)s.p[tail] & 0xc0) == 0x80)
		tail++;
	return str_fmt(a, "%.*s...%.*s", STR(str_sub(s, 0, head)), STR(str_sub(s, tail, SIZE_MAX)));
}

/* Returns the length of the source line at the start of "model.py(36): forward" or "model.py:36
 * forward"; 0 if the text does not start with a line. */
static size_t source_line_end(struct str s)
{
	size_t blank = str_find_char(s, ' '), end = blank == SIZE_MAX ? s.n : blank, digits;
	bool bracket = end > 1 && s.p[end - 1] == ':' && s.p[end - 2] == ')';
	char before = bracket ? '(' : ':';

	end -= bracket;
	digits = end - bracket;
	while (digits && s.p[digits - 1] >= '0' && s.p[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < end - bracket && s.p[digits - 1] == before ? end : 0;
}

/* Shortens a source line with a function, whose line ends at `end`, to the available room: removes
 * the folders, then the middle or all of the function. */
static struct str shorten_line(struct arena *a, struct str s, size_t end, size_t room)
{
	struct str line = str_sub(s, 0, end);
	size_t folders = str_rfind_char(line, '/') + 1;
	struct str base = str_sub(s, folders, SIZE_MAX), function = str_sub(s, end, SIZE_MAX);

	line = str_sub(line, folders, SIZE_MAX);
	if (folders && base.n + 4 <= room)
		return str_fmt(a, ".../%.*s", STR(base));
	if (base.n <= room)
		return base;
	if (line.n + FUNCTION_MIN <= room)
		return str_fmt(
		        a, "%.*s%.*s", STR(line), STR(shorten_middle(a, function, room - line.n)));
	return shorten_middle(a, line, room);
}

struct str table_shorten(struct arena *a, struct str s, size_t room)
{
	size_t end;

	if (s.n <= room || room < 4)
		return s;
	end = source_line_end(s);
	return end ? shorten_line(a, s, end, room) : shorten_middle(a, s, room);
}

/* Returns the number of bytes of a cell that take no column of the terminal: all bytes of "≥" but
 * one. */
static size_t hidden_bytes(struct str s)
{
	return str_starts(s, S("≥")) ? S("≥").n - 1 : 0;
}

/* Appends a cell to a line, and the blanks before the next cell. */
static void put_padded(struct sb *line, struct str s, size_t width, bool text)
{
	size_t shown = s.n - hidden_bytes(s), pad = width > shown ? width - shown : 0;

	if (text)
		sb_put(line, s);
	for (size_t i = 0; i < pad; i++)
		sb_char(line, ' ');
	if (!text)
		sb_put(line, s);
	sb_put(line, S("  "));
}

/* Rows of text and the widths of their columns; a column of width 0 is left out. */
struct grid {
	const struct table *x;
	size_t rows;
	struct str *text; /* rows of cells, starting with the heading */
	size_t *width;
};

/* True if text shows the column: at least one cell is neither null nor an empty text. */
static bool has_values(const struct table *x, size_t column, size_t rows)
{
	bool any = rows == 0, text = x->columns[column].type == COLUMN_TEXT;

	for (size_t r = 0; r < rows && !any; r++) {
		const struct table_cell *c = &x->cells.v[r * x->n_columns + column];
		any = !c->null && (!text || c->text.n);
	}
	return any && heading(x, column).n;
}

/* Demangles and reduces the names of C++ functions in a column. */
static void reduce_column(struct grid *g, size_t column)
{
	const struct table *x = g->x;
	struct str *full = ARENA_ARRAY(x->a, g->rows, struct str);
	struct str *reduced = ARENA_ARRAY(x->a, g->rows, struct str);
	size_t n = x->n_columns, budget = DEMANGLE_BUDGET;

	for (size_t r = 0; r < g->rows; r++)
		full[r] = demangle(x->a, g->text[(r + 1) * n + column], &budget);
	reduce_names(x->a, full, reduced, g->rows);
	for (size_t r = 0; r < g->rows; r++)
		g->text[(r + 1) * n + column] = reduced[r];
}

static void make_grid(struct grid *g)
{
	const struct table *x = g->x;
	size_t n = x->n_columns;

	g->text = ARENA_ARRAY(x->a, (g->rows + 1) * n, struct str);
	g->width = ARENA_ARRAY(x->a, n, size_t);
	for (size_t c = 0; c < n; c++) {
		if (!has_values(x, c, g->rows))
			continue;
		g->text[c] = heading(x, c);
		for (size_t r = 0; r < g->rows; r++)
			g->text[(r + 1) * n + c] = text_cell(x, c, &x->cells.v[r * n + c]);
		if (x->columns[c].type == COLUMN_TEXT && !x->full_names)
			reduce_column(g, c);
		for (size_t r = 0; r <= g->rows; r++) {
			struct str s = g->text[r * n + c];
			if (s.n - hidden_bytes(s) > g->width[c])
				g->width[c] = s.n - hidden_bytes(s);
		}
	}
}

static size_t name_min(unsigned columns)
{
	size_t part = (size_t)columns * 2 / 5;

	return part > NAME_MIN ? part : NAME_MIN;
}

/* Returns the number of columns up to the last shown column. */
static size_t columns_end(const struct grid *g)
{
	size_t end = g->x->n_columns;

	while (end && !g->width[end - 1])
		end--;
	return end;
}

/* Returns the width of the table after its texts are shortened as far as possible. */
static size_t least_width(const struct grid *g, unsigned columns)
{
	size_t n = columns_end(g), used = 0;

	for (size_t c = 0; c < n; c++) {
		bool text = g->x->columns[c].type == COLUMN_TEXT;
		size_t most = c + 1 == n ? name_min(columns) : WORD_MIN;
		if (g->width[c])
			used += (text && g->width[c] > most ? most : g->width[c]) + 2;
	}
	return used > 2 ? used - 2 : 0;
}

/* Returns the next column to leave out: first the spare columns, then the numbers from the last to
 * the second; n_columns: none. */
static size_t next_drop(const struct grid *g)
{
	const struct column *v = g->x->columns;
	size_t n = g->x->n_columns, drop = n, last = n;
	unsigned numbers = 0;

	for (size_t c = 0; c < n; c++) {
		if (!g->width[c])
			continue;
		if (v[c].spare && (drop == n || v[c].spare > v[drop].spare))
			drop = c;
		if (v[c].type != COLUMN_TEXT && numbers++)
			last = c;
	}
	return drop < n ? drop : last;
}

/* Leaves out columns until the table fits. */
static void drop_columns(struct grid *g, unsigned columns)
{
	while (least_width(g, columns) > columns) {
		size_t drop = next_drop(g);
		if (drop == g->x->n_columns)
			return;
		g->width[drop] = 0;
	}
}

/* Writes the names of the columns that were left out. */
static void put_dropped(const struct grid *g, unsigned columns, struct sink *to)
{
	struct sb all = sb_in(g->x->a);

	for (size_t c = 0; c < g->x->n_columns; c++)
		if (!g->width[c] && g->text[c].n)
			sb_fmt(&all, "%s%.*s", all.n ? ", " : "(-wide also shows ",
			        STR(g->text[c]));
	if (all.n)
		sb_char(&all, ')');
	sink_wrap(to, sb_str(&all), columns, 0);
}

/* Shortens the columns of text before the last column, end - 1, the widest first, until the last
 * column has room. Returns the room of the last column. */
static size_t fit(struct grid *g, unsigned columns, size_t end)
{
	size_t used = 0, last = end ? g->width[end - 1] : 0;

	last = last < name_min(columns) ? last : name_min(columns);
	for (size_t c = 0; c + 1 < end; c++)
		used += g->width[c] ? g->width[c] + 2 : 0;
	while (used + last > columns) {
		size_t widest = end;
		for (size_t c = 0; c + 1 < end; c++)
			if (g->x->columns[c].type == COLUMN_TEXT && g->width[c] > WORD_MIN &&
			        (widest == end || g->width[c] > g->width[widest]))
				widest = c;
		if (widest == end)
			break;
		g->width[widest]--;
		used--;
	}
	return columns > used + last ? columns - used : last;
}

/* ---- names that look equal when they are shortened ---- */

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Shortens a text to its beginning and the part from `at` on. */
static struct str shorten_to(struct arena *a, struct str s, size_t at, size_t room)
{
	size_t head = room / 3, part = room - head - 3, end = s.n;

	at = at > head + APART_BEFORE ? at - APART_BEFORE : head;
	if (s.n - at > part)
		end = at + part - 3;
	else
		at = s.n - part;
	while (head && continues_character(s.p[head]))
		head--;
	while (at < end && continues_character(s.p[at]))
		at++;
	while (end > at && end < s.n && continues_character(s.p[end]))
		end--;
	return str_fmt(a, "%.*s...%.*s%s", STR(str_sub(s, 0, head)), STR(str_sub(s, at, end - at)),
	        end < s.n ? "..." : "");
}

/* The rows of a column, grouped by shortened text. */
struct alike {
	struct intern texts;
	uint32_t *text; /* indexed by row */
	size_t *first;  /* indexed by text: 1 + the first row */
	size_t *same;   /* indexed by text: number of bytes at the start that all whole texts have
	                   in common; SIZE_MAX: all are equal */
};

static size_t common_bytes(struct str a, struct str b)
{
	size_t i = 0;

	while (i < a.n && i < b.n && a.p[i] == b.p[i])
		i++;
	return i;
}

/* Finds the rows whose shortened texts are equal although their whole texts differ. Returns false
 * if there are none. */
static bool find_alike(
        const struct grid *g, const struct str *whole, const struct str *cut, struct alike *out)
{
	struct arena *a = g->x->a;
	bool any = false;

	out->text = ARENA_ARRAY(a, g->rows, uint32_t);
	out->first = ARENA_ARRAY(a, g->rows, size_t);
	out->same = ARENA_ARRAY(a, g->rows, size_t);
	intern_init(&out->texts, a);
	for (size_t r = 0; r < g->rows; r++) {
		uint32_t id = out->text[r] = intern_add_kept(&out->texts, cut[r]);
		if (!out->first[id]) {
			out->first[id] = 1 + r;
			out->same[id] = SIZE_MAX;
		}
		struct str first = whole[out->first[id] - 1];
		if (str_eq(whole[r], first))
			continue;
		size_t same = common_bytes(whole[r], first);
		out->same[id] = same < out->same[id] ? same : out->same[id];
		any = true;
	}
	return any;
}

/* Numbers texts that are still equal, in the order of their first rows: "name #2". */
static void number_alike(
        struct grid *g, const struct str *whole, struct str *cut, struct alike *of, size_t room)
{
	struct arena *a = g->x->a;
	size_t *used = ARENA_ARRAY(a, g->rows, size_t); /* indexed by text: numbers used */
	struct imap number;                             /* key: text and whole text */
	struct intern wholes;

	imap_init(&number, a);
	intern_init(&wholes, a);
	for (size_t r = 0; r < g->rows; r++) {
		uint32_t id = of->text[r], n;
		if (of->same[id] == SIZE_MAX)
			continue;
		uint64_t key = (uint64_t)id << 32 | intern_add_kept(&wholes, whole[r]);
		if (!imap_get(&number, key, &n)) {
			n = (uint32_t)++used[id];
			imap_put(&number, key, n, false);
		}
		struct str mark = str_fmt(a, " #%u", n);
		cut[r] = str_fmt(a, "%.*s%.*s",
		        STR(room > mark.n ? table_shorten(a, whole[r], room - mark.n) : cut[r]),
		        STR(mark));
	}
}

/* Shortens the texts of a column so that different texts stay different. Returns true if that
 * needed more than to shorten each by itself. */
static bool shorten_column(struct grid *g, size_t column, size_t room)
{
	size_t n = g->x->n_columns;
	struct str *whole = ARENA_ARRAY(g->x->a, g->rows, struct str);
	struct str *cut = ARENA_ARRAY(g->x->a, g->rows, struct str);
	struct alike alike;

	for (size_t r = 0; r < g->rows; r++) {
		whole[r] = g->text[(r + 1) * n + column];
		cut[r] = table_shorten(g->x->a, whole[r], hidden_bytes(whole[r]) + room);
	}
	bool any = room > APART_MIN && find_alike(g, whole, cut, &alike);
	for (size_t r = 0; r < g->rows && any; r++)
		if (alike.same[alike.text[r]] != SIZE_MAX)
			cut[r] = shorten_to(g->x->a, whole[r], alike.same[alike.text[r]], room);
	if (any && find_alike(g, whole, cut, &alike))
		number_alike(g, whole, cut, &alike, room);
	for (size_t r = 0; r < g->rows; r++)
		g->text[(r + 1) * n + column] = cut[r];
	return any;
}

void table_put_text(const struct table *x, size_t top, unsigned columns, struct sink *to)
{
	struct grid g = { .x = x, .rows = top && top < x->rows ? top : x->rows };
	size_t n = x->n_columns, room = 0;
	struct sb line = sb_in(x->a);

	make_grid(&g);
	if (columns)
		drop_columns(&g, columns);
	size_t end = columns_end(&g);
	if (columns)
		room = fit(&g, columns, end);
	bool apart = false;
	for (size_t c = 0; columns && c < end; c++)
		if (g.width[c] && x->columns[c].type == COLUMN_TEXT)
			apart |= shorten_column(&g, c, c + 1 == end ? room : g.width[c]);
	for (size_t r = 0; r <= g.rows; r++) {
		line.n = 0;
		for (size_t c = 0; c < n; c++) {
			struct str s = g.text[r * n + c];
			bool last = c + 1 == end;
			if (!g.width[c])
				continue;
			size_t most = hidden_bytes(s) + (last ? room : g.width[c]);
			if (columns)
				s = table_shorten(x->a, s, most);
			put_padded(&line, s, g.width[c], x->columns[c].type == COLUMN_TEXT);
		}
		while (line.n && line.p[line.n - 1] == ' ')
			line.n--;
		sink_put(to, sb_str(&line));
		sink_char(to, '\n');
	}
	put_dropped(&g, columns, to);
	if (apart)
		sink_wrap(to,
		        S("(names that would look equal show where they differ; -full_names shows "
		          "whole names)"),
		        columns, 0);
}

/* ---- lines ---- */

/* Returns the number of a cell; NAN for a text or a missing value. */
static double cell_value(const struct column *k, const struct table_cell *c)
{
	if (c->null || k->type == COLUMN_TEXT)
		return NAN;
	return c->per > 1 ? fraction_real((struct fraction){ c->number, c->per })
	                  : (double)c->number;
}

void table_put_lines(const struct table *x, size_t top, struct sink *to)
{
	struct grid g = { .x = x, .rows = top && top < x->rows ? top : x->rows };
	size_t n = x->n_columns;
	struct line_build b;

	make_grid(&g);
	line_build_init(&b, x->a);
	for (size_t r = 0; r <= g.rows; r++) {
		line_begin(&b, 0, STR_NONE);
		for (size_t c = 0; c < n; c++)
			if (g.width[c])
				line_cell(&b, (unsigned)c, g.text[r * n + c],
				        x->columns[c].type != COLUMN_TEXT,
				        r ? cell_value(&x->columns[c], &x->cells.v[(r - 1) * n + c])
				          : NAN);
		line_end(&b, r ? LINE_ROW : LINE_HEADING, to);
	}
}

/* ---- data ---- */

void table_put_rows(const struct table *x, size_t top, struct sheet *to)
{
	size_t n = x->n_columns, rows = top && top < x->rows ? top : x->rows;

	for (size_t i = 0; i < rows * n; i++) {
		const struct table_cell *c = &x->cells.v[i];
		if (c->null)
			sheet_null(to);
		else if (x->columns[i % n].type == COLUMN_TEXT)
			sheet_text(to, c->text);
		else if (c->per > 1)
			sheet_real(to, fraction_real((struct fraction){ c->number, c->per }));
		else if (x->columns[i % n].type == COLUMN_REAL)
			sheet_real(to, (double)c->number / 100);
		else
			sheet_i64(to, c->number);
	}
}

void table_put_member(struct document *d, const struct table *x, size_t top)
{
	struct sheet sheet;

	document_key(d, x->key);
	json_array(&d->j);
	sheet_open_json(&sheet, &d->j, x->a, x->columns, x->n_columns);
	table_put_rows(x, top, &sheet);
	sheet_close(&sheet);
	json_array_end(&d->j);
}

void table_put_document_rows(struct document *d, const struct table *x, size_t top)
{
	struct sheet sheet;

	document_i64(d, "row_count", num_from_u64(x->rows));
	document_rows(d, &sheet, x->columns, x->n_columns);
	table_put_rows(x, top, &sheet);
	document_rows_end(d, &sheet);
}

/* Describes the columns for the page, which shows them with the headings of text. */
static void put_headings(struct document *d, const struct table *x)
{
	document_key(d, x->key);
	json_array(&d->j);
	for (size_t i = 0; i < x->n_columns; i++) {
		json_object(&d->j);
		document_column(d, &x->columns[i]);
		document_text(d, "title", heading(x, i));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

/* Writes the number of rows and the columns of all tables, for the page. */
static void put_page_members(struct document *d, const struct table *x)
{
	document_i64(d, "row_count", num_from_u64(x->rows));
	document_key(d, "columns");
	json_object(&d->j);
	put_headings(d, x);
	for (size_t i = 0; i < x->n_sections; i++)
		if (!x->sections[i].text_only)
			put_headings(d, &x->sections[i]);
	json_object_end(&d->j);
}

static void write_json(const struct table *x, size_t top, struct sink *s, const struct emit *to)
{
	struct document d;

	document_open(&d, s, to, x->schema, x->version);
	if (x->members)
		x->members(&d, x->user);
	table_put_member(&d, x, top);
	for (size_t i = 0; i < x->n_sections; i++)
		if (!x->sections[i].text_only)
			table_put_member(&d, &x->sections[i], SIZE_MAX);
	if (to->arrays)
		put_page_members(&d, x);
	else
		table_put_document_rows(&d, x->rows_from ? x->rows_from : x, top);
	document_end(&d);
}

/* ---- forms ---- */

/* The table to write, and its limits. */
struct table_shown {
	const struct table *x;
	size_t top;
	unsigned columns;
	bool full_names;
};

static void put_text(const struct table_shown *t, const struct table *part, bool cells,
        unsigned columns, struct sink *to)
{
	struct table x = *part;

	x.full_names |= t->full_names;
	if (cells)
		table_put_lines(&x, t->top, to);
	else
		table_put_text(&x, t->top, columns, to);
	if (t->top && t->top < x.rows)
		sink_fmt(to, "(%zu of %zu rows; %s shows all)\n", t->top, x.rows,
		        x.all ? x.all : "--top=0");
}

/* Writes the lines above a table, wrapped for a terminal. */
static void put_lead(struct str lead, unsigned columns, struct sink *to)
{
	while (columns && lead.n) {
		size_t n = str_find_char(lead, '\n');
		sink_wrap(to, str_sub(lead, 0, n), columns, 0);
		if (!n)
			sink_char(to, '\n');
		lead = n == SIZE_MAX ? STR_NONE : str_sub(lead, n + 1, SIZE_MAX);
	}
	sink_put(to, lead);
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct table_shown *t = x->of;
	unsigned columns = s == to->out ? t->columns : 0;
	unsigned table_columns = t->full_names ? 0 : columns;

	(void)e;
	put_lead(t->x->lead, columns, s);
	put_text(t, t->x, to->cells, table_columns, s);
	for (const struct table *table = t->x->below; table; table = table->below) {
		sink_char(s, '\n');
		put_text(t, table, to->cells, table_columns, s);
	}
	for (size_t i = 0; i < t->x->n_sections; i++) {
		const struct table *section = &t->x->sections[i];
		if (!section->rows || section->data_only)
			continue;
		sink_fmt(s, "\n%s:\n", section->title);
		put_text(t, section, to->cells, table_columns, s);
	}
	return true;
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct table_shown *t = x->of;

	(void)e;
	write_json(t->x, t->top, s, to);
	return true;
}

void table_put_sheet(const struct table *x, size_t top, enum sheet_form form, struct sink *s)
{
	struct sheet sheet;

	sheet_open(&sheet, form, s, x->a, x->columns, x->n_columns);
	table_put_rows(x, top, &sheet);
	sheet_close(&sheet);
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	const struct table_shown *t = x->of;

	(void)to;
	(void)e;
	table_put_sheet(t->x, t->top, form, s);
	for (size_t i = 0; form == SHEET_MD && i < t->x->n_sections; i++) {
		const struct table *section = &t->x->sections[i];
		if (!section->rows || section->data_only)
			continue;
		sink_fmt(s, "\n## %s\n\n", section->title);
		table_put_sheet(section, t->top, form, s);
	}
	return true;
}

bool table_write(const struct table *x, size_t top, const struct output *o, unsigned columns,
        struct emit *to, struct err *e)
{
	struct table_shown shown = {
		.x = x, .top = top, .columns = columns, .full_names = o->full_names
	};
	struct exported all = { .kind = RESULT_GPU,
		.name = x->command ? x->command : x->key,
		.of = &shown,
		.output = o,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	if (top && top < x->rows && o->kind != OUT_JSON && out_is_data(o->kind))
		note_line(to->notes, "note: %zu of %zu rows are written; %s writes all\n", top,
		        x->rows, x->all ? x->all : "--top=0");
	return out_export(&all, to, e);
}
