/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads reports that a view printed. A line is "  name (own/total, own/total, ...)"; fields other
 * than a pair of numbers (devices, types, shapes) are skipped. The legend above the root names the
 * columns. The oldest format has no legend: there the unit identifies the column.
 */
#include "compare/side.h"

#include <assert.h>

/* Returns the start of the root's line. The old script's own reports spell it differently. */
static size_t find_root(struct str text)
{
	struct str root = S("_TFProfRoot (");

	for (size_t at = 0;;) {
		size_t hit = str_find(str_sub(text, at, SIZE_MAX), root);
		if (hit == SIZE_MAX)
			return SIZE_MAX;
		at += hit;
		if (at == 0 || text.p[at - 1] == '\n')
			return at;
		at += root.n;
	}
}

#define LEGEND S("node name | ")

/* Returns the position after the line of the legend. */
static size_t find_list(struct str text)
{
	size_t at = str_starts(text, LEGEND) ? 0 : str_find(text, S("\nnode name | "));

	if (at == SIZE_MAX)
		return SIZE_MAX;
	size_t end = str_find_char(str_sub(text, at + 1, SIZE_MAX), '\n');
	return end == SIZE_MAX ? SIZE_MAX : at + end + 2;
}

/* Returns the offset of the first node line; SIZE_MAX if there is none. Sets *op if the report has
 * no root. */
static size_t find_lines(struct str text, bool *op)
{
	size_t at = find_root(text);

	*op = at == SIZE_MAX;
	return *op ? find_list(text) : at;
}

bool answer_sniff(struct str head)
{
	bool op;

	return find_lines(str_sub(head, 0, ANSWER_HEAD), &op) != SIZE_MAX;
}

/* ---- columns ---- */

static enum metric_id by_legend(struct str legend)
{
	for (enum metric_id m = 0; m < M_N; m++)
		for (enum column_set c = 0; c < COLUMNS_N; c++)
			if (metrics[m].value != V_NONE && metrics[m].in[c].legend &&
			        str_eq(legend, str_of(metrics[m].in[c].legend)))
				return metrics[m].unit == UNIT_OCCURRENCE ? M_NONE : m;
	return M_NONE;
}

/* Reads "node name | a | b", the line above the root. */
static void read_legend(struct answer *x, struct str before)
{
	size_t at = str_rfind_char(str_sub(before, 0, before.n ? before.n - 1 : 0), '\n');
	struct str line = at == SIZE_MAX ? before : str_sub(before, at + 1, SIZE_MAX);
	struct str head = LEGEND;

	if (!str_starts(line, head))
		return;
	line = str_sub(line, head.n, line.n - head.n - (str_ends(line, S("\n")) ? 1 : 0));
	while (line.n) {
		size_t end = str_find(line, S(" | "));
		enum metric_id m = by_legend(str_sub(line, 0, end));
		if (m != M_NONE && x->columns < M_N)
			x->metric[x->columns++] = m;
		line = end == SIZE_MAX ? STR_NONE : str_sub(line, end + 3, SIZE_MAX);
	}
}

struct number_pair {
	bool accounted;
	int64_t self, total;
	enum metric_id likely;
};

/* Returns the kind of a printed number, determined by its unit. */
static enum quantity kind_of(struct str s)
{
	if (str_ends(s, S("B")))
		return QUANTITY_BYTES;
	return str_ends(s, S("s")) || str_ends(s, S("sec")) ? QUANTITY_TIME : QUANTITY_COUNT;
}

/* Reads "own/total suffix" or "--/total suffix". */
static bool read_pair(struct str field, struct number_pair *p)
{
	static const struct {
		const char *suffix;
		enum metric_id metric;
	} named[] = { { " params", M_PARAMS }, { " flops", M_FLOAT_OPS },
		{ " float_ops", M_FLOAT_OPS } };
	size_t slash = str_find_char(field, '/');

	p->likely = M_NONE;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		struct str suffix = str_of(named[i].suffix);
		if (!str_ends(field, suffix))
			continue;
		p->likely = named[i].metric;
		field.n -= suffix.n;
	}
	if (slash == SIZE_MAX || slash >= field.n)
		return false;
	struct str own = str_sub(field, 0, slash), all = str_sub(field, slash + 1, SIZE_MAX);
	enum quantity u = kind_of(all);
	if (p->likely == M_NONE && u == QUANTITY_COUNT)
		return false;
	if (p->likely == M_NONE)
		p->likely = u == QUANTITY_BYTES ? M_BYTES : M_MICROS;
	p->accounted = !str_eq(own, S("--"));
	p->self = 0;
	return (!p->accounted || quantity_parse(own, u, &p->self)) &&
	       quantity_parse(all, u, &p->total);
}

/* Determines the columns of a report without a legend from the units of the root's numbers. Three
 * times are the columns of micros. */
static bool guess_columns(struct answer *x, const struct number_pair *p, uint32_t n)
{
	uint32_t times = 0;

	for (uint32_t i = 0; i < n; i++) {
		enum metric_id m = p[i].likely;
		if (m == M_MICROS) {
			if (times > M_CPU_MICROS - M_MICROS)
				return false;
			m = (enum metric_id)(M_MICROS + times++);
		}
		for (uint32_t k = 0; k < i; k++)
			if (x->metric[k] == m)
				return false;
		x->metric[i] = m;
	}
	x->columns = n;
	return n > 0;
}

/* ---- lines ---- */

/* Reads the pairs of numbers of a line's fields. */
static uint32_t read_fields(struct str fields, struct number_pair *p)
{
	uint32_t n = 0;

	while (fields.n && n < M_N) {
		size_t end = str_find(fields, S(", "));
		n += read_pair(str_sub(fields, 0, end), &p[n]);
		fields = end == SIZE_MAX ? STR_NONE : str_sub(fields, end + 2, SIZE_MAX);
	}
	return n;
}

/* Returns the start of a line's fields: after the last " (" that is not part of the name. */
static size_t find_fields(struct str line)
{
	for (size_t i = line.n; i-- > 1;)
		if (line.p[i] == '(' && line.p[i - 1] == ' ')
			return i + 1;
	return SIZE_MAX;
}

static bool add_line(struct answer *x, const struct answer_line *line, const struct number_pair *p,
        struct arena *a)
{
	for (uint32_t i = 0; i < x->columns; i++) {
		VEC_PUSH(a, &x->self, p[i].self);
		VEC_PUSH(a, &x->total, p[i].total);
	}
	VEC_PUSH(a, &x->lines, *line);
	return true;
}

static bool read_line(struct answer *x, struct str line, struct arena *a)
{
	struct answer_line to = { .indent = 0 };
	size_t at = find_fields(line);
	struct number_pair p[M_N];

	if (at == SIZE_MAX || !str_ends(line, S(")")))
		return false;
	/* Names may be empty or begin with a blank, so the indent may grow by at most two columns
	 * per line. */
	size_t deepest = x->lines.n ? x->lines.v[x->lines.n - 1].indent + 2 : 0, most = at - 2;
	if (most > deepest)
		most = deepest;
	while (to.indent < most && line.p[to.indent] == ' ')
		to.indent++;
	to.name = str_sub(line, to.indent, at - 2 - to.indent);
	uint32_t n = read_fields(str_sub(line, at, line.n - at - 1), p);
	if (!x->lines.n && n != x->columns && !guess_columns(x, p, n))
		return false;
	if (n != x->columns)
		return false;
	for (uint32_t i = 0; i < n; i++)
		to.accounted |= p[i].accounted;
	return add_line(x, &to, p, a);
}

/* Reads "Type   value (share, own share), value ( ... ), words": numbers come first. */
static bool read_type(struct answer *x, struct str line, struct arena *a)
{
	size_t blank = str_find_char(line, ' ');
	struct answer_line to = { .name = str_sub(line, 0, blank), .indent = 2, .accounted = true };
	struct number_pair p[M_N];

	for (uint32_t i = 0; i < x->columns; i++) {
		line = blank == SIZE_MAX ? STR_NONE : str_sub(line, blank, SIZE_MAX);
		while (line.n && (line.p[0] == ' ' || line.p[0] == ','))
			line = str_sub(line, 1, SIZE_MAX);
		size_t open = str_find(line, S(" (")), unit = str_find_char(line, ' ');
		enum quantity u = metric_quantity(x->metric[i]);
		if (open == SIZE_MAX || !quantity_parse(str_sub(line, 0, unit), u, &p[i].self))
			return false;
		p[i].total = p[i].self;
		blank = str_find_char(line, ')');
		blank = blank == SIZE_MAX ? blank : blank + 1;
	}
	return add_line(x, &to, p, a);
}

static bool bad_line(const struct answer *x, size_t number, struct str line, struct err *e)
{
	return err_set(e, ERR_DATA_LOSS,
	        "'%.*s': line %zu is not a line of a view's text output: '%.*s'", STR(x->file),
	        number, STR(str_sub(line, 0, 80)));
}

/* Returns the line at the start of the text, without trailing blanks. */
static struct str take_line(struct str *text)
{
	size_t end = str_find_char(*text, '\n');
	struct str line = str_sub(*text, 0, end);

	*text = end == SIZE_MAX ? STR_NONE : str_sub(*text, end + 1, SIZE_MAX);
	while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' '))
		line.n--;
	return line;
}

static bool read_tree(
        struct answer *x, struct str text, size_t number, struct arena *a, struct err *e)
{
	for (; text.n; number++) {
		struct str line = take_line(&text);
		if (!line.n || (x->lines.n && line.p[0] != ' '))
			break; /* other text follows the report */
		if (str_find(line, S("...")) != SIZE_MAX && find_fields(line) == SIZE_MAX)
			continue; /* "...hidden 3...", or a gap where lines were removed by hand */
		if (!read_line(x, line, a))
			return bad_line(x, number, line, e);
	}
	return true;
}

/* Reads the lines of types, and skips blank lines and lines of inputs between them. */
static bool read_list(
        struct answer *x, struct str text, size_t number, struct arena *a, struct err *e)
{
	const struct answer_line root = { .name = ROOT_NAME };
	const struct number_pair none[M_N] = { 0 };
	bool behind = false;

	add_line(x, &root, none, a);
	for (; text.n; number++) {
		struct str line = take_line(&text);
		bool skip = !line.n || str_starts(line, S("input_type: "));
		if (!skip && !read_type(x, line, a))
			return behind || bad_line(x, number, line, e);
		behind = skip;
	}
	return true;
}

bool answer_read(struct answer *x, struct src *s, struct arena *a, struct err *e)
{
	struct str text;
	size_t number = 1;

	*x = (struct answer){ .file = s->name };
	if (!src_all(s, &text))
		return false;
	size_t at = find_lines(text, &x->op);
	assert(at != SIZE_MAX);
	for (size_t i = 0; i < at; i++)
		number += text.p[i] == '\n';
	read_legend(x, str_sub(text, 0, at));
	text = str_sub(text, at, SIZE_MAX);
	if (!(x->op ? read_list : read_tree)(x, text, number, a, e))
		return false;
	if (!x->columns)
		return err_set(
		        e, ERR_FAILED, "'%.*s' is text output without numbers", STR(s->name));
	return true;
}

/* ---- conversion to a side ---- */

/* Finds the column of each metric. */
static bool find_columns(const struct answer *x, const enum metric_id *wanted, uint32_t n,
        uint32_t *column, struct err *e)
{
	struct sb b = sb_in(e->a);

	for (uint32_t i = 0; i < x->columns; i++)
		sb_fmt(&b, "%s%s", i ? ", " : "", metrics[x->metric[i]].name);
	for (uint32_t k = 0; k < n; k++) {
		column[k] = 0;
		while (column[k] < x->columns && x->metric[column[k]] != wanted[k])
			column[k]++;
		if (column[k] == x->columns)
			return err_set(e, ERR_FAILED, "'%.*s' has no %s; it has %.*s", STR(x->file),
			        metrics[wanted[k]].name, STR(sb_str(&b)));
	}
	return true;
}

/* The open entries, outermost first, by indent. */
struct open {
	uint32_t entry, indent;
};

bool answer_side(const struct answer *x, enum vk kind, const enum metric_id *wanted, uint32_t n,
        int64_t ticks_per_us, struct side *to, struct arena *a, struct err *e)
{
	enum value *v = ARENA_ARRAY(a, n, enum value);
	struct side_values values = { .v = v, .n = n, .ticks_per_us = ticks_per_us };
	uint32_t column[M_N] = { 0 };
	VEC(struct open) open = { 0 };
	int64_t self[M_N], total[M_N];

	if (x->op != view_is(kind, VIEW_LIST))
		return err_set(e, ERR_FAILED,
		        "'%.*s' is text output of %s: it cannot be compared in %s", STR(x->file),
		        x->op ? "op" : "a tree view", views[kind].name);
	if (!find_columns(x, wanted, n, column, e))
		return false;
	for (uint32_t k = 0; k < n; k++)
		v[k] = metrics[wanted[k]].value;
	struct side_maker *w = side_begin(kind, &values, a);
	for (size_t i = 0; i < x->lines.n; i++) {
		const struct answer_line *l = &x->lines.v[i];
		uint32_t entry = 0;
		while (open.n && open.v[open.n - 1].indent >= l->indent)
			open.n--;
		if (i)
			entry = view_is(kind, VIEW_PATHS)
			                ? side_path(w, l->name)
			                : side_child(w, open.n ? open.v[open.n - 1].entry : 0,
			                          l->name);
		VEC_PUSH(a, &open, ((struct open){ entry, l->indent }));
		for (uint32_t k = 0; k < n; k++) {
			int64_t parts = side_parts(ticks_per_us, v[k]);
			self[k] = i ? num_mul(x->self.v[i * x->columns + column[k]], parts) : 0;
			total[k] = num_mul(x->total.v[i * x->columns + column[k]], parts);
		}
		side_add(w, entry, self, SIDE_NODE | (l->accounted ? SIDE_ACCOUNTED : 0));
		if (!x->op)
			side_set_total(w, entry, total);
	}
	side_end(w, to);
	return true;
}
