/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "checkpoint": lists, verifies and compares checkpoints.
 */

#include <inttypes.h>

#include "lib/options.h"
#include "base/fmt.h"
#include "io/paths.h"

enum form { FORM_TEXT, FORM_ROWS, FORM_DOCUMENT };

struct tensor_listing {
	struct session *s;
	struct sink *out;
	struct checkpoint_options words;
	struct opts o;
	struct strs paths;
	struct ckpt *a, *b; /* b NULL: list a */
	enum form form;
	struct sheet sheet; /* of FORM_ROWS */
	struct pattern_list *show;
	struct json json;
	size_t rows;
	int64_t params;
	uint64_t bytes;
};

/* ---- rows ---- */

#define SHAPE 2 /* index of the shape among the cells */
struct ckpt_cell {
	const char *name;
	struct str text;
	bool number;
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

static void put_json(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	int64_t v;

	json_object(&k->json);
	for (size_t i = 0; i < n; i++) {
		if (c[i].text.n == 0 && c[i].number)
			continue;
		json_key(&k->json, str_of(c[i].name));
		if (c[i].number && num_parse_i64(c[i].text, &v))
			json_i64(&k->json, v);
		else
			json_string(&k->json, c[i].text);
	}
	json_object_end(&k->json);
}

static void put_cells(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	int64_t v;

	for (size_t i = 0; i < n; i++)
		if (c[i].number && num_parse_i64(c[i].text, &v))
			sheet_i64(&k->sheet, v);
		else if (c[i].text.n)
			sheet_text(&k->sheet, c[i].text);
		else
			sheet_null(&k->sheet);
}

/* Writes name, type and shape, then the values that are known, with their labels. */
static void put_text(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && i != SHAPE && c[i].text.n == 0)
			continue;
		if (i)
			sink_put(k->out, S("  "));
		if (i > SHAPE)
			sink_fmt(k->out, "%s ", c[i].name);
		sink_put(k->out, i == SHAPE && c[i].text.n == 0 ? S("scalar") : c[i].text);
	}
	sink_char(k->out, '\n');
}

static void put_row(struct tensor_listing *k, const struct ckpt_cell *c, size_t n)
{
	switch (k->form) {
	case FORM_TEXT: put_text(k, c, n); break;
	case FORM_ROWS: put_cells(k, c, n); break;
	case FORM_DOCUMENT: put_json(k, c, n); break;
	}
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

/* Puts the line below all tensors. */
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
		{ "name", t->name, false },
		{ "dtype", str_of(t->type->name), false },
		{ "shape", shape(k, t), false },
		{ "params", params, true },
		{ "bytes", bytes || t->type->size ? number(k, bytes) : none, true },
		{ "slices",
		        t->n_slices > 1 || (t->n_slices && ckpt_is_bundle(c))
		                ? number(k, t->n_slices)
		                : none,
		        true },
		{ "shard",
		        whole                                    ? number(k, t->shard)
		        : t->n_slices == 1 && !ckpt_is_bundle(c) ? number(k, t->slices[0].file)
		                                                 : none,
		        true },
		{ "offset", whole ? number(k, t->at) : none, true },
		{ "checksum",
		        whole               ? str_fmt(a, "%08" PRIx32 " not tested", t->crc)
		        : ckpt_is_bundle(c) ? S("of its slices, not tested")
		                            : S("of its blocks, not tested"),
		        false },
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
	if (k->form == FORM_TEXT)
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
		{ "name", t->name, false },
		{ "dtype", str_of(t->type->name), false },
		{ "shape", shape(k, t), false },
		{ "differs", str_of(says[d->what]), false },
		/* NOLINTNEXTLINE: such a difference has both sides */
		{ "other dtype", d->what == DIFF_DTYPE ? str_of(u->type->name) : none, false },
		{ "other shape", d->what == DIFF_SHAPE ? shape(k, u) : none, false },
		{ "differing values", values ? number(k, (uint64_t)d->differing) : none, true },
		{ "largest absolute", numbers ? str_fmt(a, "%g", d->absolute) : none, false },
		{ "largest relative", numbers ? str_fmt(a, "%g", d->relative) : none, false },
	};
	put_row(k, cells, sizeof cells / sizeof *cells);
}

static bool compare(struct tensor_listing *k, struct ckpt *a, struct ckpt *b)
{
	struct session *s = k->s;

	if (!ckpt_compare(a, b, &s->query_arena, put_diff, k, &s->error))
		return false;
	if (!k->rows && k->form == FORM_TEXT)
		sink_put(k->out, S("the checkpoints are equal\n"));
	return true;
}

/* ---- forms ---- */

static const struct column list_columns[] = { TEXT_COLUMN("name"), TEXT_COLUMN("dtype"),
	TEXT_COLUMN("shape"), NUMBER_COLUMN("params", NULL), NUMBER_COLUMN("bytes", "bytes"),
	NUMBER_COLUMN("slices", NULL), NUMBER_COLUMN("shard", NULL), NUMBER_COLUMN("offset", NULL),
	TEXT_COLUMN("checksum") };
static const struct column diff_columns[] = { TEXT_COLUMN("name"), TEXT_COLUMN("dtype"),
	TEXT_COLUMN("shape"), TEXT_COLUMN("differs"), TEXT_COLUMN("other dtype"),
	TEXT_COLUMN("other shape"), NUMBER_COLUMN("differing values", NULL),
	TEXT_COLUMN("largest absolute"), TEXT_COLUMN("largest relative") };

static struct tensor_listing *ask_of(const struct exported *x, enum form form, struct sink *s)
{
	struct tensor_listing *k = (struct tensor_listing *)(uintptr_t)x->of;

	k->form = form;
	k->out = s;
	return k;
}

static bool answer(struct tensor_listing *k)
{
	return k->b ? compare(k, k->a, k->b) : list(k, k->a);
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	(void)to;
	(void)e;
	return answer(ask_of(x, FORM_TEXT, s));
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct tensor_listing *k = ask_of(x, FORM_DOCUMENT, s);

	(void)to;
	(void)e;
	json_init(&k->json, s);
	json_array(&k->json);
	if (!answer(k))
		return false;
	json_array_end(&k->json);
	sink_char(s, '\n');
	return true;
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct tensor_listing *k = ask_of(x, FORM_ROWS, s);
	struct scratch own; /* the rows reset the arena of the query */
	bool ok;

	(void)e;
	scratch_open(&own, to->a->work);
	sheet_open(&k->sheet, form, s, &own.a, k->b ? diff_columns : list_columns,
	        sizeof list_columns / sizeof *list_columns);
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

static bool read_words(struct tensor_listing *k, const struct request *r)
{
	struct option_words w = { .command = r->command, .into = &k->words, .opts = &k->o };

	opts_preset(&k->o, &k->s->query_arena);
	if (!options_read(k->s, &r->topics, &w))
		return false;
	k->paths = w.rest;
	for (size_t i = 0; i < k->paths.n; i++)
		k->paths.v[i] = ckpt_whole(&k->s->query_arena, k->paths.v[i]);
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
