/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing, defaults and dump of the options, all from the tables.
 */
#include <stddef.h>

#include "metric/opts.h"

#define ROW(id, name, keys, required, flags, takes, others, accepts, write, help)                  \
	{ name, keys, required, flags, help },
const struct output_row output_rows[OUT_N] = {
#include "metric/output.def"
};
#undef ROW

/* The file name endings that select an output. */
#define ENDINGS ".csv, .json, .ndjson, .md, .html, .folded or .pb.gz"

#define LEAST(example)          "show only nodes with at least N, such as " example
#define VIEWS(type, field, ...) OPTION_ROW(SCOPE_VIEWS, type, opts, field, __VA_ARGS__)
#define MINIMUM(id, name, unit, uses)                                                              \
	{ SCOPE_VIEWS, "min_" name, OPT_I64,                                                       \
		offsetof(struct opts, min) + M_##id * sizeof(int64_t), "0",                        \
		(uses)&USE_MIN ? 0 : OPTION_HIDDEN, "N", NULL,                                     \
		(unit) == UNIT_BYTES  ? LEAST(BYTES_EXAMPLE)                                       \
		: (unit) == UNIT_TIME ? LEAST(TIME_EXAMPLE)                                        \
		                      : LEAST(COUNT_EXAMPLE) },
const struct option view_options[] = {
#include "metric/option.def"
	{ .name = NULL }
};

const struct option *view_option(struct str name)
{
	if (str_eq(name, S("q")))
		name = S("quiet");
	else if (str_eq(name, S("n")))
		name = S("top");
	return option_in(view_options, name);
}

bool option_is_list(const struct option *row)
{
	return row->type == OPT_PATTERNS || row->type == OPT_SELECT || row->type == OPT_STEPS ||
	       row->type == OPT_STATS;
}

/* ---- setting ---- */

static struct strs copy_list(struct arena *a, const struct strs *v)
{
	struct strs to = { 0 };

	for (size_t i = 0; i < v->n; i++)
		strs_add(a, &to, str_copy(a, v->v[i]));
	return to;
}

static bool unknown_metric(struct err *e, const char *option, struct str word, unsigned use)
{
	struct strs known = { 0 };

	for (enum metric_id i = 0; i < M_N; i++)
		if (metrics[i].uses & use)
			strs_add(e->a, &known, str_of(metrics[i].name));
	struct str meant = nearest_metric(word, use);
	if (meant.n)
		return unknown_word_near(e, option, word, meant, &known);
	return unknown_word(e, option, word, &known);
}

static bool set_order(
        struct order *to, struct arena *a, struct str word, bool strict, struct err *e)
{
	struct order o = { .word = str_copy(a, word),
		.by = metric_find(word, USE_ORDER),
		.none = word.n == 0,
		.given = true };

	/* The original's help lists "depth", but only its library accepts the name. */
	if (o.by == M_NONE) {
		if (strict && !o.none && !str_eq(word, S("depth")))
			return unknown_metric(e, "order_by", word, USE_ORDER);
		o.by = M_NAME;
	}
	*to = o;
	return true;
}

static bool set_select(
        struct select *to, struct arena *a, const struct strs *items, bool strict, struct err *e)
{
	struct select s = { 0 };

	for (size_t i = 0; i < items->n; i++) {
		enum metric_id m = metric_find(items->v[i], USE_SELECT);
		if (m != M_NONE)
			s.metrics |= METRIC_BIT(m);
		else if (strict)
			return unknown_metric(e, "select", items->v[i], USE_SELECT);
		else
			strs_add(a, &s.unknown, str_copy(a, items->v[i]));
	}
	*to = s;
	return true;
}

static bool find_output(struct str name, enum output_kind *kind, struct err *e)
{
	struct strs known = { 0 };

	if (str_eq(name, S("text"))) /* names that other commands use for this output */
		name = S("stdout");
	for (enum output_kind i = 0; i < OUT_N; i++) {
		if (str_eq(str_of(output_rows[i].name), name)) {
			*kind = i;
			return true;
		}
		strs_add(e->a, &known, str_of(output_rows[i].name));
	}
	struct str near = nearest_word(name, known.v, known.n),
	           all = strs_join(e->a, &known, S(", "));
	if (near.n)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-output: unknown type '%.*s'; did you mean '%.*s'? Valid types are %.*s",
		        STR(name), STR(near), STR(all));
	if (str_find_char(name, '.') != SIZE_MAX)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-output: unknown type '%.*s'; put the file after the type, as in "
		        "csv:outfile=FILE. Valid types are %.*s",
		        STR(name), STR(all));
	return err_set(e, ERR_INVALID_ARGUMENT,
	        "-output: unknown type '%.*s'; valid types are %.*s", STR(name), STR(all));
}

static bool unknown_key(const struct output_row *row, struct str key, struct err *e)
{
	struct str has = row->keys & KEY_SPREADSHEET ? S("its options are outfile and spreadsheet")
	                 : row->keys & KEY_OUTFILE   ? S("its only option is outfile")
	                                             : S("it has no options");

	return unknown_option(e, str_fmt(e->a, "-output: %s", row->name), key, STR_NONE, has);
}

/* Reads one key=value of an output. A doubled '=' counts as one. */
static bool set_output_key(struct output *o, struct arena *a, struct str piece, struct err *e)
{
	struct strs parts = str_split(a, piece, '=');
	const struct output_row *row = &output_rows[o->kind];

	if (parts.n < 2)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-output: '%.*s' is not key=value, as in %s:outfile=FILE", STR(piece),
		        row->name);
	struct strs rest = { parts.v + 1, parts.n - 1, 0 };
	struct str value = strs_join(a, &rest, S("="));
	if (str_eq(parts.v[0], S("outfile")) && row->keys & KEY_OUTFILE) {
		o->outfile = value;
		return true;
	}
	if (!str_eq(parts.v[0], S("spreadsheet")) || !(row->keys & KEY_SPREADSHEET))
		return unknown_key(row, parts.v[0], e);
	o->spreadsheet = str_eq(value, S("1"));
	return o->spreadsheet || str_eq(value, S("0")) ||
	       err_set(e, ERR_INVALID_ARGUMENT, "-output: spreadsheet: '%.*s' is not 0 or 1",
	               STR(value));
}

static bool set_output(struct output *to, struct arena *a, struct str value, struct err *e)
{
	struct output o = *to;
	size_t colon = str_find_char(value, ':');
	struct str type = colon == SIZE_MAX ? value : str_sub(value, 0, colon);

	if (value.n == 0)
		return true;
	if (!find_output(type, &o.kind, e))
		return false;
	if (output_rows[o.kind].flags & OUT_ROWS)
		o.outfile = STR_NONE;
	o.spreadsheet = false;
	struct str rest = colon == SIZE_MAX ? STR_NONE : str_sub(value, colon + 1, SIZE_MAX);
	struct strs pieces = str_split(a, rest, ',');
	for (size_t i = 0; i < pieces.n; i++)
		if (!set_output_key(&o, a, pieces.v[i], e))
			return false;
	*to = o;
	return true;
}

/* True unless the output needs a file and none is given. */
static bool has_file(const struct output *o, struct err *e)
{
	const char *name = output_rows[o->kind].name;

	if (!(output_rows[o->kind].required & KEY_OUTFILE) || o->outfile.n)
		return true;
	return err_set(
	        e, ERR_INVALID_ARGUMENT, "-output: %s needs a file: %s:outfile=FILE", name, name);
}

/* Finds the type of output for the ending of a file's name: text if the ending is unknown. Fails if
 * the ending belongs to a format that is not written. */
static bool kind_by_name(struct str file, enum output_kind *kind, struct err *e)
{
	static const struct {
		const char *ending;
		enum output_kind kind;
	} rows[] = { { ".csv", OUT_CSV }, { ".json", OUT_JSON }, { ".ndjson", OUT_NDJSON },
		{ ".md", OUT_MD }, { ".html", OUT_HTML }, { ".folded", OUT_FOLDED },
		{ ".pb.gz", OUT_PPROF } };
	static const char *const tables[] = { ".parquet", ".arrow", ".feather", ".orc", ".avro",
		".xlsx", ".xls", ".ods", ".h5", ".hdf5", ".pkl" };
	static const char *const others[] = { ".tsv", ".xml", ".yaml", ".yml", ".sqlite", ".db",
		".pdf", ".png", ".svg", ".gz", ".zst", ".zip" };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_ends(file, str_of(rows[i].ending))) {
			*kind = rows[i].kind;
			return true;
		}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (str_ends(file, str_of(tables[i])))
			return err_set(e, ERR_INVALID_ARGUMENT,
			        "-o: %.*s: %s is not a format that tfprof writes: " ENDINGS
			        " expected\n"
			        "hint: the Python package converts answers to tables of pyarrow "
			        "and "
			        "pandas, which write such files: to_arrow(), to_pandas()",
			        STR(file), tables[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (str_ends(file, str_of(others[i])))
			return err_set(e, ERR_INVALID_ARGUMENT,
			        "-o: %.*s: %s is not a format that tfprof writes: " ENDINGS
			        " expected\n"
			        "hint: other endings, such as .txt, are text; -output states the "
			        "type",
			        STR(file), others[i]);
	*kind = OUT_FILE;
	return true;
}

bool opts_place_output(struct opts *o, struct err *e)
{
	struct output *to = &o->output;

	if (o->file.n && to->kind == OUT_STDOUT && !kind_by_name(o->file, &to->kind, e))
		return false;
	if (o->file.n && !(output_rows[to->kind].keys & KEY_OUTFILE))
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-o: the output %s cannot be written to a file",
		        output_rows[to->kind].name);
	if (o->file.n)
		to->outfile = o->file;
	to->named = o->file.n > 0;
	return has_file(to, e);
}

static bool bad_value(struct err *e, const struct option *row, struct str value, const char *is)
{
	return err_set(e, ERR_INVALID_ARGUMENT, "-%s: '%.*s' is %s", row->name, STR(value), is);
}

/* Sets the steps. Parses a single number like the original. */
static bool set_steps(struct opts *o, struct arena *a, struct str value, struct err *e)
{
	struct step_set steps = { 0 };
	enum step_rank rank = step_rank_of(value);
	int64_t one = -1;

	if (rank == STEP_RANK_NONE && !num_parse_i64(value, &one) &&
	        !steps_parse(&steps, a, value, e))
		return false;
	o->step = steps.n ? -1 : one;
	o->steps = steps;
	o->rank = rank;
	return true;
}

static bool set_moment(const struct option *row, struct str value, struct arena *a,
        struct moment *to, struct err *e)
{
	int kind;
	struct moment made = { .kind = MOMENT_TIME, .text = str_copy(a, value) };

	if (option_choice(row->choices, value, &kind))
		made.kind = (enum moment_kind)kind;
	else if (!quantity_parse_time(value, QUANTITY_US, QUANTITY_NS, &made.ns) || made.ns < 0)
		return bad_value(e, row, value, "not peak, oom, end or a time, such as 5ms");
	*to = made;
	return true;
}

static bool set_choice(const struct option *row, struct str value, int *to, struct err *e)
{
	struct strs choices = str_split(e->a, str_of(row->choices), '|');

	return option_choice(row->choices, value, to) ||
	       err_set(e, ERR_INVALID_ARGUMENT, "-%s: '%.*s' is not one of %.*s", row->name,
	               STR(value), STR(strs_join(e->a, &choices, S(", "))));
}

/* Sets a number, which may have a unit: for -min_METRIC, the unit of the metric. */
static bool set_i64(const struct option *row, struct str value, int64_t *to, struct err *e)
{
	struct str name = str_of(row->name);
	enum metric_id m = str_starts(name, S("min_"))
	                           ? metric_find(str_sub(name, 4, SIZE_MAX), USE_MIN)
	                           : M_NONE;
	enum quantity q = m == M_NONE ? QUANTITY_COUNT : metric_quantity(m);

	if (num_parse_i64(value, to) || quantity_parse(value, q, to))
		return true;
	return bad_value(e, row, value, quantity_refusal(q));
}

static bool set_i32(const struct option *row, struct str value, int32_t *to, struct err *e)
{
	int64_t v;

	if (num_parse_i32(value, to))
		return true;
	if (!quantity_parse(value, QUANTITY_COUNT, &v) || v < INT32_MIN || v > INT32_MAX)
		return bad_value(
		        e, row, value, "not a whole number from -2147483648 to 2147483647");
	*to = (int32_t)v;
	return true;
}

static bool set_output_of(struct opts *o, struct arena *a, struct str value, struct err *e)
{
	struct output to = o->output;

	if (!set_output(&to, a, str_copy(a, value), e) || (!o->file_later && !has_file(&to, e)))
		return false;
	o->output = to;
	return true;
}

bool opts_set(
        struct opts *o, struct arena *a, const struct option *row, struct str value, struct err *e)
{
	void *at = (char *)o + row->at;

	switch (row->type) {
	case OPT_I32: o->depth_given = true; return set_i32(row, value, at, e);
	case OPT_I64: return set_i64(row, value, at, e);
	case OPT_BOOL:
		if (!option_truth(value, at))
			return bad_value(e, row, value, "not true or false");
		return true;
	case OPT_ORDER: return set_order(at, a, str_strip_quotes(value), true, e);
	case OPT_OUTPUT: return set_output_of(o, a, value, e);
	case OPT_STRING: *(struct str *)at = str_copy(a, str_strip_quotes(value)); return true;
	case OPT_STEPS: return set_steps(o, a, str_strip_quotes(value), e);
	case OPT_MOMENT: return set_moment(row, value, a, at, e);
	case OPT_CHOICE: return set_choice(row, value, at, e);
	default: break;
	}
	struct strs items = str_split(a, str_copy(a, str_strip_quotes(value)), ',');
	return opts_set_list(o, a, row, &items, true, e);
}

bool opts_set_list(struct opts *o, struct arena *a, const struct option *row,
        const struct strs *items, bool strict, struct err *e)
{
	void *at = (char *)o + row->at;

	if (row->type == OPT_SELECT)
		return set_select(at, a, items, strict, e);
	if (row->type == OPT_STATS)
		return stats_parse(at, items, e);
	if (row->type == OPT_STEPS && items->n > 1)
		return set_steps(o, a, strs_join(a, items, S(",")), e);
	if (row->type == OPT_PATTERNS) {
		*(struct strs *)at = copy_list(a, items);
		return true;
	}
	struct str one = items->n ? items->v[0] : STR_NONE;
	if (items->n > 1)
		return err_set(e, ERR_INVALID_ARGUMENT, "-%s takes one value, not %zu", row->name,
		        items->n);
	if (row->type == OPT_ORDER)
		return set_order(at, a, one, strict, e);
	return opts_set(o, a, row, one, e);
}

void opts_preset(struct opts *o, struct arena *a)
{
	struct err e = { .a = a };

	memset(o, 0, sizeof *o);
	o->output.kind = OUT_STDOUT;
	for (const struct option *row = view_options; row; row = option_next(row))
		opts_set(o, a, row, str_of(row->preset), &e);
	o->select.preset = true;
	o->order.given = o->depth_given = false;
}

bool opts_use_ours(const struct opts *o, struct arena *a)
{
	if (o->new_input || output_rows[o->output.kind].flags & OUT_EXTENSION)
		return true;
	for (const struct option *row = view_options; row; row = option_next(row)) {
		struct sb b = sb_in(a);
		if ((row->flags & (OPTION_EXTENSION | OPTION_OF_2016)) != OPTION_EXTENSION)
			continue;
		opts_value(&b, o, row);
		if (!str_eq(sb_str(&b), str_of(row->preset)))
			return true;
	}
	return false;
}

/* Orders by the view's first column that has an order. */
static void order_by_column(struct opts *o, enum vk view)
{
	enum metric_id column[M_N];
	size_t n = metric_columns(o->select.metrics, view, column);

	for (size_t i = 0; i < n; i++) {
		const struct metric *m = &metrics[column[i]];
		if (!(m->uses & USE_ORDER) || metric_in(m, view)->order_on == ON_NOTHING)
			continue;
		o->order.by = column[i];
		o->order.word = str_of(m->name);
		return;
	}
}

void opts_complete(struct opts *o, enum vk view, bool by_column, bool whole)
{
	if (!o->order.given && by_column)
		order_by_column(o, view);
	if (!o->depth_given &&
	        (whole || o->top >= 0 || output_rows[o->output.kind].flags & OUT_WHOLE))
		o->max_depth = INT32_MAX;
}

int64_t opts_op_depth(const struct opts *o, struct arena *a)
{
	return (int64_t)o->max_depth - (o->depth_given && opts_use_ours(o, a));
}

bool opts_has_step(const struct opts *o, int64_t step)
{
	return o->steps.n ? steps_has(&o->steps, step) : o->step < 0 || o->step == step;
}

bool opts_names_steps(const struct opts *o)
{
	return o->step >= 0 || o->steps.n || o->rank != STEP_RANK_NONE;
}

struct opts opts_copy(const struct opts *o, struct arena *a)
{
	struct opts c = *o;

	c.order.word = str_copy(a, o->order.word);
	c.account = copy_list(a, &o->account);
	c.start = copy_list(a, &o->start);
	c.trim = copy_list(a, &o->trim);
	c.show = copy_list(a, &o->show);
	c.hide = copy_list(a, &o->hide);
	c.select.unknown = copy_list(a, &o->select.unknown);
	c.output.outfile = str_copy(a, o->output.outfile);
	c.devices = copy_list(a, &o->devices);
	c.workers = copy_list(a, &o->workers);
	c.steps.text = str_copy(a, o->steps.text);
	c.steps.v = ARENA_ARRAY(a, o->steps.n, struct step_range);
	if (o->steps.n)
		memcpy(c.steps.v, o->steps.v, o->steps.n * sizeof *c.steps.v);
	c.at.text = str_copy(a, o->at.text);
	c.dump_to_file = str_copy(a, o->dump_to_file);
	c.file = str_copy(a, o->file);
	c.rename = str_copy(a, o->rename);
	return c;
}

/* ---- showing ---- */

static void put_list(struct sb *b, const struct strs *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			sb_char(b, ',');
		sb_put(b, v->v[i]);
	}
}

static void put_select(struct sb *b, const struct select *s)
{
	struct str names[M_N];
	enum metric_id order[M_N];
	size_t n = metric_sorted(s->metrics, order);
	struct strs all = { 0 };

	for (size_t i = 0; i < n; i++)
		names[i] = str_of(metrics[order[i]].name);
	for (size_t i = 0, j = 0; i < n || j < s->unknown.n;) {
		bool known = j == s->unknown.n || (i < n && str_cmp(names[i], s->unknown.v[j]) < 0);
		strs_add(b->a, &all, known ? names[i++] : s->unknown.v[j++]);
	}
	put_list(b, &all);
}

void opts_value(struct sb *b, const struct opts *o, const struct option *row)
{
	const void *at = (const char *)o + row->at;

	switch (row->type) {
	case OPT_I32: sb_fmt(b, "%d", *(const int32_t *)at); break;
	case OPT_I64: sb_fmt(b, "%lld", (long long)*(const int64_t *)at); break;
	case OPT_BOOL: sb_put(b, *(const bool *)at ? S("true") : S("false")); break;
	case OPT_ORDER: sb_put(b, ((const struct order *)at)->word); break;
	case OPT_PATTERNS: put_list(b, at); break;
	case OPT_STRING: sb_put(b, *(const struct str *)at); break;
	case OPT_MOMENT: sb_put(b, ((const struct moment *)at)->text); break;
	case OPT_SELECT: put_select(b, at); break;
	case OPT_CHOICE: sb_put(b, option_choice_at(row->choices, *(const int *)at)); break;
	case OPT_STATS: stats_names(b, *(const unsigned *)at, ","); break;
	case OPT_STEPS:
		if (o->rank != STEP_RANK_NONE)
			sb_put(b, str_of(step_rank_name(o->rank)));
		else if (o->steps.n)
			sb_put(b, o->steps.text);
		else
			sb_fmt(b, "%lld", (long long)o->step);
		break;
	case OPT_OUTPUT:
		sb_fmt(b, "%s:", output_rows[o->output.kind].name);
		if (o->output.outfile.n)
			sb_put(b, S("outfile="));
		sb_put(b, o->output.outfile);
		break;
	default: break; /* no option of a view has this type */
	}
}

void opts_dump_one(struct sb *b, const struct opts *o, const struct option *row)
{
	sb_fmt(b, "-%-27s", row->name);
	opts_value(b, o, row);
	sb_char(b, '\n');
}

static bool is_preset(const struct opts *o, const struct option *row, struct arena *a)
{
	struct sb b = sb_in(a);

	opts_value(&b, o, row);
	struct str now = sb_str(&b);
	if (row->type == OPT_OUTPUT)
		return str_eq(now, S("stdout:"));
	return str_eq(now, str_of(row->preset));
}

bool opts_dump_set(struct sb *b, const struct opts *o)
{
	bool any = false;

	for (const struct option *row = view_options; row; row = option_next(row)) {
		if (is_preset(o, row, b->a))
			continue;
		opts_dump_one(b, o, row);
		any = true;
	}
	return any;
}

static void dump(struct sb *b, const struct opts *o, unsigned without)
{
	for (const struct option *row = view_options; row; row = option_next(row))
		if (!(row->flags & without))
			opts_dump_one(b, o, row);
}

void opts_dump(struct sb *b, const struct opts *o)
{
	dump(b, o, OPTION_EXTENSION);
}

void opts_dump_all(struct sb *b, const struct opts *o)
{
	dump(b, o, 0);
}
