/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "checkpoint": lists, verifies and compares checkpoints.
 */

#include <inttypes.h>

#include "lib/options.h"
#include "base/fmt.h"
#include "export/data/document.h"
#include "io/paths.h"

struct tensor_listing {
	struct session *s;
	struct sink *out;
	struct checkpoint_options words;
	struct opts o;
	struct strs paths;
	struct ckpt *a, *b; /* b is NULL for a list of a */
	bool rows_of_sheet; /* true: rows are written to the sheet; false: to text */
	struct sheet sheet;
	struct pattern_list *show;
	size_t rows;
	int64_t params;
	uint64_t bytes;
};

/* ---- rows ---- */

#define SHAPE 2 /* index of the shape among the cells */
struct ckpt_cell {
	const char *name; /* label in text */
	struct str text;  /* empty: no value */
	enum { CKPT_TEXT, CKPT_INTEGER, CKPT_REAL } type;
	double real;
};

static struct str number(struct tensor_listing *k, uint64_t v)
{
	return str_fmt(&k->s->query_arena, "%" PRIu64, v);
}

static struct str shape(struct tensor_listing *k, const struct ckpt_tensor *t)
{
	struct sb b = sb_in(&k->s->query_arena);

	for (uint32_t d = 0; t && d < t->rank; d++) {
		if (d)
			sb_char(&b, 'x');
		fmt_i64(&b, t->dims[d]);
	}
	return sb_str(&b);
}

static void put_cells(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	int64_t v;

	for (size_t i = 0; i < n; i++)
		if (c[i].type == CKPT_INTEGER && num_parse_i64(c[i].text, &v))
			sheet_i64(&k->sheet, v);
		else if (c[i].type == CKPT_REAL && c[i].text.n)
			sheet_real(&k->sheet, c[i].real);
		else if (c[i].text.n || i == SHAPE)
			sheet_text(&k->sheet, c[i].text);
		else
			sheet_null(&k->sheet);
}

/* Writes name, type and shape, then the known values with their labels. On a terminal, a line that
 * is too long is wrapped between values. */
static void put_text(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	size_t columns = k->o.wide ? 0 : k->s->columns, used = 0;
	struct sb b = sb_in(&k->s->query_arena);

	for (size_t i = 0; i < n; i++) {
		if (i && i != SHAPE && c[i].text.n == 0)
			continue;
		b.n = 0;
		if (i > SHAPE)
			sb_fmt(&b, "%s ", c[i].name);
		sb_put(&b, i == SHAPE && c[i].text.n == 0 ? S("scalar") : c[i].text);
		bool wraps = i && columns && used + 2 + b.n > columns;
		if (i)
			sink_put(k->out, wraps ? S("\n  ") : S("  "));
		used = wraps ? 2 + b.n : used + (i ? 2 : 0) + b.n;
		sink_put(k->out, sb_str(&b));
	}
	sink_char(k->out, '\n');
}

static void put_row(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	if (k->rows_of_sheet)
		put_cells(k, c, n);
	else
		put_text(k, c, n);
	k->rows++;
}

static bool shows(struct tensor_listing *k, struct str name)
{
	return !k->show || pattern_match(k->show, name);
}

static struct str files(const struct tensor_listing *k, const struct ckpt *c)
{
	return str_counted(
	        &k->s->query_arena, ckpt_shards(c), ckpt_is_bundle(c) ? S("shards") : S("tables"));
}

/* Writes the line below all tensors. */
static void put_totals(struct tensor_listing *k, const struct ckpt *c)
{
	struct arena *a = &k->s->query_arena;

	sink_fmt(k->out, "%.*s, %.*s, %.*s, %.*s\n", STR(str_counted(a, k->rows, S("tensors"))),
	        STR(str_counted(a, (uint64_t)k->params, S("params"))),
	        STR(str_counted(a, k->bytes, S("bytes"))), STR(files(k, c)));
}

/* ---- the list ---- */

static void put_tensor(struct tensor_listing *k, struct ckpt *c, const struct ckpt_tensor *t)
{
	struct arena *a = &k->s->query_arena;
	bool whole = ckpt_is_bundle(c) && !t->n_slices;
	uint64_t bytes = ckpt_bytes(c, t, a);
	struct str none = STR_NONE, params = number(k, (uint64_t)t->elements);
	struct ckpt_cell cells[] = {
		{ "name", t->name, CKPT_TEXT, 0 },
		{ "dtype", str_of(t->type->name), CKPT_TEXT, 0 },
		{ "shape", shape(k, t), CKPT_TEXT, 0 },
		{ "params", params, CKPT_INTEGER, 0 },
		{ "bytes", bytes || t->type->size ? number(k, bytes) : none, CKPT_INTEGER, 0 },
		{ "slices",
		        t->n_slices > 1 || (t->n_slices && ckpt_is_bundle(c))
		                ? number(k, t->n_slices)
		                : none,
		        CKPT_INTEGER, 0 },
		{ "shard",
		        whole                                    ? number(k, t->shard)
		        : t->n_slices == 1 && !ckpt_is_bundle(c) ? number(k, t->slices[0].file)
		                                                 : none,
		        CKPT_INTEGER, 0 },
		{ "offset", whole ? number(k, t->at) : none, CKPT_INTEGER, 0 },
		{ "checksum",
		        whole               ? str_fmt(a, "%08" PRIx32 " not tested", t->crc)
		        : ckpt_is_bundle(c) ? S("of its slices, not tested")
		                            : S("of its blocks, not tested"),
		        CKPT_TEXT, 0 },
	};

	put_row(k, cells, sizeof cells / sizeof *cells);
	k->params = num_add(k->params, t->elements);
	k->bytes += bytes;
}

static bool list(struct tensor_listing *k, struct ckpt *c)
{
	struct arena *a = &k->s->query_arena;
	struct ckpt_list *l = ckpt_list(c, a, &k->s->error);
	struct ckpt_tensor t;

	for (;;) {
		struct arena_mark m = arena_mark(a);
		if (!ckpt_next(l, a, &t))
			break;
		if (shows(k, t.name))
			put_tensor(k, c, &t);
		arena_reset(a, m);
	}
	if (k->s->error.code || (k->show && pattern_failed(k->show, &k->s->error)))
		return false;
	if (!k->rows_of_sheet)
		put_totals(k, c);
	return true;
}

/* ---- verifying ---- */

static bool verify(struct tensor_listing *k, struct ckpt *c)
{
	struct session *s = k->s;
	struct ckpt_watch watch = { s->watch.progress, s->watch.user };

	bool ok = ckpt_verify(c, &watch, &s->query_arena, &s->error);
	if (ok)
		sink_fmt(k->out, "%.*s: every checksum of %.*s%s matches\n", STR(ckpt_path(c)),
		        STR(files(k, c)), ckpt_is_bundle(c) ? " and the index" : "");
	else if (s->error.code != ERR_CANCELLED)
		s->error.code = ERR_FAILED; /* the checkpoint is damaged: exit status 1 */
	return ok;
}

/* ---- comparing ---- */

static void put_diff(void *user, const struct ckpt_diff *d)
{
	static const char *const says[] = { [DIFF_ONLY_A] = "only in the first",
		[DIFF_ONLY_B] = "only in the second",
		[DIFF_DTYPE] = "dtype",
		[DIFF_SHAPE] = "shape",
		[DIFF_VALUES] = "values" };
	struct tensor_listing *k = user;
	struct arena *a = &k->s->query_arena;
	const struct ckpt_tensor *t = d->a ? d->a : d->b, *u = d->a && d->b ? d->b : NULL;

	if (d->what == DIFF_NONE || !shows(k, t->name))
		return;
	struct str none = STR_NONE;
	bool values = d->what == DIFF_VALUES, numbers = values && t->type->size;
	struct ckpt_cell cells[] = {
		{ "name", t->name, CKPT_TEXT, 0 },
		{ "dtype", str_of(t->type->name), CKPT_TEXT, 0 },
		{ "shape", shape(k, t), CKPT_TEXT, 0 },
		{ "differs", str_of(says[d->what]), CKPT_TEXT, 0 },
		/* NOLINTNEXTLINE: such a difference has both sides */
		{ "other dtype", d->what == DIFF_DTYPE ? str_of(u->type->name) : none, CKPT_TEXT,
		        0 },
		{ "other shape", d->what == DIFF_SHAPE ? shape(k, u) : none, CKPT_TEXT, 0 },
		{ "differing values", values ? number(k, (uint64_t)d->differing) : none,
		        CKPT_INTEGER, 0 },
		{ "largest absolute", numbers ? str_fmt(a, "%g", d->absolute) : none, CKPT_REAL,
		        d->absolute },
		{ "largest relative", numbers ? str_fmt(a, "%g", d->relative) : none, CKPT_REAL,
		        d->relative },
	};
	put_row(k, cells, sizeof cells / sizeof *cells);
}

static bool compare(struct tensor_listing *k, struct ckpt *a, struct ckpt *b)
{
	struct session *s = k->s;

	if (!ckpt_compare(a, b, &s->query_arena, put_diff, k, &s->error))
		return false;
	if (!k->rows && !k->rows_of_sheet)
		sink_put(k->out, S("the checkpoints are equal\n"));
	return true;
}

/* ---- forms ---- */

static const struct column list_columns[] = { TEXT_COLUMN("name"), TEXT_COLUMN("dtype"),
	TEXT_COLUMN("shape"), NUMBER_COLUMN("params", NULL), NUMBER_COLUMN("bytes", "bytes"),
	NUMBER_COLUMN("slices", NULL), NUMBER_COLUMN("shard", NULL), NUMBER_COLUMN("offset", NULL),
	TEXT_COLUMN("checksum") };
static const struct column diff_columns[] = { TEXT_COLUMN("name"), TEXT_COLUMN("dtype"),
	TEXT_COLUMN("shape"), TEXT_COLUMN("differs"), TEXT_COLUMN("other_dtype"),
	TEXT_COLUMN("other_shape"), NUMBER_COLUMN("differing_values", NULL),
	REAL_COLUMN("largest_absolute", NULL), REAL_COLUMN("largest_relative", NULL) };

#define N_COLUMNS (sizeof list_columns / sizeof *list_columns)
_Static_assert(sizeof diff_columns == sizeof list_columns, "both tables have as many columns");

static struct tensor_listing *listing_of(const struct exported *x)
{
	return (struct tensor_listing *)(uintptr_t)x->of;
}

static const struct column *columns_of(const struct tensor_listing *k)
{
	return k->b ? diff_columns : list_columns;
}

static bool answer(struct tensor_listing *k)
{
	return k->b ? compare(k, k->a, k->b) : list(k, k->a);
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct tensor_listing *k = listing_of(x);

	(void)to;
	(void)e;
	k->out = s;
	return answer(k);
}

/* Writes the rows into the document; it ends with the totals. */
static bool put_document(struct tensor_listing *k, struct sink *s, const struct emit *to)
{
	struct document d;

	document_open(&d, s, to, "tfprof/checkpoint", 1);
	document_key(&d, "checkpoints");
	json_array(&d.j);
	for (size_t i = 0; i < k->paths.n; i++)
		document_word(&d, k->paths.v[i]);
	json_array_end(&d.j);
	document_rows(&d, &k->sheet, columns_of(k), N_COLUMNS);
	bool ok = answer(k);
	if (!ok)
		return false;
	document_rows_end(&d, &k->sheet);
	document_i64(&d, "row_count", num_from_u64(k->rows));
	if (!k->b) {
		document_i64(&d, "params", k->params);
		document_i64(&d, "bytes", num_from_u64(k->bytes));
	}
	document_end(&d);
	return true;
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct tensor_listing *k = listing_of(x);
	struct source sources[2];
	struct emit with = *to;
	struct scratch own; /* the rows reset the arena of the query */

	(void)e;
	for (size_t i = 0; i < k->paths.n; i++)
		sources[i] =
		        (struct source){ .is = input_role(ROLE_CHECKPOINT), .path = k->paths.v[i] };
	with.from = (struct origin){ .v = sources, .n = k->paths.n };
	k->rows_of_sheet = true;
	scratch_open(&own, to->a->work);
	with.a = &own.a;
	bool ok = put_document(k, s, &with);
	scratch_close(&own);
	return ok;
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct tensor_listing *k = listing_of(x);
	struct scratch own; /* the rows reset the arena of the query */
	bool ok;

	(void)e;
	k->rows_of_sheet = true;
	scratch_open(&own, to->a->work);
	sheet_open(&k->sheet, form, s, &own.a, columns_of(k), N_COLUMNS);
	ok = answer(k);
	if (ok)
		sheet_close(&k->sheet);
	scratch_close(&own);
	return ok;
}

static bool export(struct tensor_listing *k)
{
	struct emit to = { .a = &k->s->query_arena, .out = k->out, .notes = &k->s->notes };
	struct exported x = { .kind = RESULT_CHECKPOINT,
		.name = "checkpoint",
		.of = k,
		.output = &k->o.output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	if (!out_export(&x, &to, &k->s->error))
		return false;
	return !k->b || !k->rows ||
	       session_fail(k->s, ERR_FAILED, "%zu %s", k->rows,
	               k->rows == 1 ? "tensor differs" : "tensors differ");
}

/* True if a word is a name of what the command does, and not of a checkpoint. */
static bool is_verb(const struct tensor_listing *k, struct str word)
{
	struct arena *a = &k->s->query_arena;

	return (str_eq(word, S("list")) || str_eq(word, S("verify")) ||
	               str_eq(word, S("compare"))) &&
	       !path_exists(a, word) && !path_exists(a, str_fmt(a, "%.*s.index", STR(word)));
}

static bool read_words(struct tensor_listing *k, const struct request *r)
{
	struct option_words w = { .command = r->command, .into = &k->words, .opts = &k->o };

	opts_preset(&k->o, &k->s->query_arena);
	if (!options_read(k->s, &r->topics, &w))
		return false;
	k->paths = w.rest;
	for (size_t i = 0; i < k->paths.n; i++)
		k->paths.v[i] = ckpt_whole(&k->s->query_arena, k->paths.v[i]);
	if (k->paths.n && is_verb(k, k->paths.v[0]))
		return session_fail(k->s, ERR_INVALID_ARGUMENT,
		        "checkpoint '%.*s' does not exist\n"
		        "hint: 'checkpoint FILE' lists a checkpoint, 'checkpoint --verify FILE' "
		        "verifies it, 'checkpoint FILE FILE' compares two",
		        STR(k->paths.v[0]));
	if (k->paths.n < 1 || k->paths.n > 2 || (k->words.verify && k->paths.n == 2))
		return session_fail(k->s, ERR_INVALID_ARGUMENT,
		        "checkpoint takes one checkpoint, or two to compare%s",
		        k->words.verify ? "; --verify takes one" : "");
	return strs_is_one(&k->o.show, S(".*")) ||
	       pattern_compile(&k->show, &k->s->query_arena, &k->o.show, &k->s->error);
}

bool checkpoint_run(struct session *s, const struct request *r, struct sink *out)
{
	struct tensor_listing k = { .s = s, .out = out };
	bool ok;

	if (!read_words(&k, r))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): read_words returns at least one path
	 */
	ok = ckpt_open(&k.a, &s->ckpt_arena, k.paths.v[0], &s->error) &&
	     (k.paths.n < 2 || ckpt_open(&k.b, &s->ckpt_arena, k.paths.v[1], &s->error));
	if (!ok && k.words.verify && s->error.code == ERR_DATA_LOSS)
		s->error.code = ERR_FAILED;
	ok = ok && (k.words.verify ? verify(&k, k.a) : export(&k));
	ckpt_close(k.a);
	ckpt_close(k.b);
	if (k.show)
		pattern_free(k.show);
	return ok;
}
