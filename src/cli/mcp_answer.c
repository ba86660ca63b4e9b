/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs commands for calls of tools, and cuts their documents to a number of tokens.
 */
#include <stdlib.h>

#include "base/num.h"
#include "cli/mcp.h"
#include "lib/jobs.h"

/* ---- arguments ---- */

bool mcp_refuse(struct mcp_call *c, const char *f, ...)
{
	struct sb b = sb_in(c->a);
	va_list ap;

	va_start(ap, f);
	sb_vfmt_message(&b, f, ap);
	va_end(ap);
	c->refused = true;
	return session_fail_text(c->m->s, ERR_INVALID_ARGUMENT, sb_str(&b));
}

struct str mcp_text(const struct mcp_call *c, const char *name)
{
	return json_tree_text(c->arguments, name);
}

bool mcp_number(const struct mcp_call *c, const char *name, int64_t *out)
{
	const struct json_node *x = json_tree_find(c->arguments, name);

	return x && json_decimal(x->text, 0, out) == JSON_NUMBER_GOOD;
}

struct strs mcp_texts(const struct mcp_call *c, const char *name)
{
	const struct json_node *x = json_tree_find(c->arguments, name);
	struct strs v = { 0 };

	if (x && x->type == JSON_STRING)
		strs_add(c->a, &v, x->text);
	for (x = x && x->type == JSON_ARRAY ? x->first : NULL; x; x = x->next)
		strs_add(c->a, &v, x->text);
	return v;
}

/* ---- running commands ---- */

struct running {
	struct strs words;
	struct session *other; /* the second side of diff, or NULL */
	bool cells;
	struct mcp_result out; /* lives in the query arena of the session */
};

struct command_line {
	const struct request *r;
	struct sink *to;
};

static bool run_diff(struct session *q, void *arg)
{
	const struct command_line *x = arg;

	return x->r->command->run(q, x->r, x->to);
}

static bool run(struct session *q, void *ctx)
{
	struct running *x = ctx;
	static const struct str sides[] = { S("before"), S("after") };
	struct sink *to = sink_memory(&q->query_arena);
	struct request r;
	struct command_line line = { &r, to };

	if (!cmd_parse(q, &x->words, NULL, &r))
		return false;
	if (!r.command || !(r.command->needs_profile || x->other) || r.command->keeps_attrs)
		return session_fail(
		        q, ERR_INVALID_ARGUMENT, "'%.*s' is not a view", STR(x->words.v[0]));
	r.opts.output =
	        (struct output){ .kind = x->cells ? OUT_NDJSON : OUT_JSON, .cells = x->cells };
	r.opts.dump_to_file = STR_NONE;
	r.opts.viz = false;
	bool ok =
	        x->other ? jobs_run_sides(q, x->other, sides, run_diff, &line) : cmd_run(q, &r, to);
	sink_flush(to);
	x->out.bytes = sink_text(to);
	if (!ok && (q->error.code != ERR_FAILED || !x->out.bytes.n)) /* a gate may fail */
		return false;
	x->out.notes = notes_text(&q->query_arena, &q->notes);
	return true;
}

/* True if the word is an option that chooses the output. */
static bool chooses_output(struct str word)
{
	static const char *const names[] = { "output", "o", "dump_to_file", "viz" };
	size_t dashes = 0;

	while (dashes < word.n && word.p[dashes] == '-')
		dashes++;
	struct str name = str_sub(word, dashes, SIZE_MAX);
	name = str_sub(name, 0, str_find_char(name, '='));
	for (size_t i = 0; dashes && i < sizeof names / sizeof *names; i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

static struct str join_words(
        struct arena *a, const struct strs *words, const struct mcp_file *other)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < words->n; i++) {
		sb_put(&b, words->v[i]);
		sb_char(&b, '\0');
	}
	if (other)
		sb_put(&b, str_of(other->key));
	return sb_str(&b);
}

static bool take_kept(const struct mcp_file *f, struct str words, struct mcp_result *out)
{
	for (const struct mcp_kept *x = f->kept; x; x = x->next) {
		if (!str_eq(str_make(x->bytes, x->words), words))
			continue;
		out->bytes = str_make(x->bytes + x->words, x->n);
		out->notes = str_make(x->bytes + x->words + x->n, x->notes);
		return true;
	}
	return false;
}

/* Stores an answer for later calls. If memory is exhausted, the next call computes it again. */
static void keep(struct mcp_file *f, struct str words, struct mcp_result *r)
{
	size_t n = words.n + r->bytes.n + r->notes.n;
	struct mcp_kept *x = n <= MCP_ANSWERS_MAX ? malloc(sizeof *x + n) : NULL;

	if (!x)
		return;
	if (f->kept_bytes + n > MCP_ANSWERS_MAX) {
		for (struct mcp_kept *old = f->kept, *next; old; old = next) {
			next = old->next;
			free(old);
		}
		f->kept = NULL;
		f->kept_bytes = 0;
	}
	*x = (struct mcp_kept){ f->kept, words.n, r->bytes.n, r->notes.n };
	memcpy(x->bytes, words.p, words.n);
	if (r->bytes.n)
		memcpy(x->bytes + words.n, r->bytes.p, r->bytes.n);
	if (r->notes.n)
		memcpy(x->bytes + words.n + r->bytes.n, r->notes.p, r->notes.n);
	f->kept = x;
	f->kept_bytes += n;
}

bool mcp_run(struct mcp_call *c, struct mcp_file *f, struct mcp_file *other,
        const struct strs *words, bool cells, struct mcp_result *out)
{
	struct mcp *m = c->m;
	struct running x = { .other = other ? other->s : NULL, .cells = cells };
	struct strs options = mcp_texts(c, "options");

	for (size_t i = 0; i < words->n; i++)
		strs_add(c->a, &x.words, words->v[i]);
	for (size_t i = 0; i < options.n; i++) {
		if (chooses_output(options.v[i]))
			return mcp_refuse(c,
			        "option '%.*s' is refused: tools write no files and always answer "
			        "in JSON",
			        STR(options.v[i]));
		strs_add(c->a, &x.words, options.v[i]);
	}
	if (other) {
		strs_add(c->a, &x.words, S("-output"));
		strs_add(c->a, &x.words, S("json"));
	}
	struct str key = join_words(c->a, &x.words, other);
	if (take_kept(f, key, out))
		return true;
	if (m->lines)
		mcp_lines_set_session(m->lines, f->s);
	bool ok = session_guard(f->s, run, &x);
	if (m->lines)
		mcp_lines_set_session(m->lines, NULL);
	if (!ok)
		return session_fail_as(m->s, &f->s->error);
	*out = x.out;
	keep(f, key, out);
	return true;
}

struct json_node *mcp_document(
        struct mcp_call *c, struct mcp_file *f, struct mcp_file *other, const struct strs *words)
{
	struct mcp_result r;

	if (!mcp_run(c, f, other, words, false, &r))
		return NULL;
	if (!r.bytes.n) { /* the command returned only a sentence */
		session_fail_text(c->m->s, ERR_FAILED,
		        r.notes.n ? str_copy(c->a, r.notes) : S("the input has no such rows"));
		return NULL;
	}
	return json_tree(c->a, r.bytes, &c->m->s->error);
}

/* ---- trees ---- */

static bool is_named(const struct json_node *x, const char *names)
{
	struct str all = str_of(names);
	bool found = false;

	while (all.n && !found) {
		size_t end = str_find_char(all, ' ');
		found = str_eq(x->key, str_sub(all, 0, end));
		all = end == SIZE_MAX ? STR_NONE : str_sub(all, end + 1, SIZE_MAX);
	}
	return found;
}

/* Moves the members for which `takes` is true from one object to the end of another. */
static void split(struct json_node *from, struct json_node *to,
        bool (*takes)(const struct json_node *x, const char *names), const char *names)
{
	struct json_node *x = from->first;

	from->first = from->last = NULL;
	from->n = 0;
	for (struct json_node *next; x; x = next) {
		struct json_node *in = takes(x, names) ? to : from;
		next = x->next;
		x->next = NULL;
		if (!in)
			continue;
		*(in->last ? &in->last->next : &in->first) = x;
		in->last = x;
		in->n++;
		x->parent = in;
	}
}

void mcp_drop(struct json_node *object, const char *names)
{
	split(object, NULL, is_named, names);
}

void mcp_move(struct json_node *to, struct json_node *from, const char *names)
{
	split(from, to, is_named, names);
}

static bool is_null(const struct json_node *x, const char *names)
{
	(void)names;
	return x->type == JSON_NULL;
}

struct json_node *mcp_next_node(struct json_node *x, const struct json_node *root)
{
	if (x->first)
		return x->first;
	while (x != root && !x->next)
		x = x->parent;
	return x == root ? NULL : x->next;
}

struct str mcp_name(struct arena *a, struct str name, const char *unit)
{
	struct str percent = S("share");

	if (!unit && (str_eq(name, percent) || str_starts(name, S("share_")) ||
	                     str_ends(name, S("_share"))))
		unit = "percent";
	if (!unit || strcmp(unit, "us") == 0 || strcmp(unit, "flop") == 0 ||
	        strcmp(unit, "count") == 0 || str_contains(name, str_of(unit)) ||
	        str_ends(name, S("_per_second")))
		return name; /* such names have a unit: own_micros, float_ops, flops_per_second */
	if (strcmp(unit, "flop/B") == 0)
		unit = "flops_per_byte";
	return str_fmt(a, "%.*s_%s", STR(name), unit);
}

/* Removes members that are null, and gives names their units. */
static void tidy(struct json_node *document, struct arena *a)
{
	for (struct json_node *x = document; x; x = mcp_next_node(x, document)) {
		if (x->type == JSON_OBJECT)
			split(x, NULL, is_null, NULL);
		if (x->type == JSON_NUMBER)
			x->key = mcp_name(a, x->key, NULL);
	}
}

/* ---- tokens ---- */

enum letter { LETTER, DIGIT, BLANK, OTHER, BEYOND };

static enum letter letter_of(char c)
{
	if (char_is_letter(c))
		return LETTER;
	if (char_is_digit(c))
		return DIGIT;
	return c == ' ' ? BLANK : (uint8_t)c < 0x80 ? OTHER : BEYOND;
}

size_t mcp_tokens(struct str text)
{
	/* Characters per token in runs of each kind, measured by tests/mcp/tokens_run.py. */
	static const size_t most[] = { 5, 3, 1, 2, 1 };
	size_t n = 0;

	for (size_t i = 0, end; i < text.n; i = end) {
		enum letter kind = letter_of(text.p[i]);
		for (end = i + 1; end < text.n && letter_of(text.p[end]) == kind;)
			end++;
		if (kind != BLANK || end - i > 1) /* a blank belongs to the word after it */
			n += (end - i + most[kind] - 1) / most[kind];
	}
	return n;
}

/* ---- cutting ---- */

/* Shortens all lists to `most` elements, and texts to `letters` bytes. */
static void cut(struct json_node *document, size_t most, size_t letters, struct arena *a)
{
	for (struct json_node *x = document; x; x = mcp_next_node(x, document)) {
		struct json_node *e = x->first;
		for (size_t i = 1; x->type == JSON_ARRAY && e && i < most; i++)
			e = e->next;
		if (x->type == JSON_ARRAY && e)
			e->next = NULL;
		if (x->type == JSON_STRING && x->text.n > letters)
			x->text = str_fmt(a, "%.*s...", STR(str_sub(x->text, 0, letters)));
	}
}

/* Returns the names of the members around a list: "causes.where". */
static struct str path_of(const struct json_node *x, struct arena *a)
{
	struct str path = x->key;

	while ((x = x->parent) != NULL)
		if (x->key.n)
			path = path.n ? str_fmt(a, "%.*s.%.*s", STR(x->key), STR(path)) : x->key;
	return path;
}

struct cut_list {
	struct str path;
	size_t shown, total;
};

/* Writes the number of shown elements of each list, unless all are shown. */
static bool write_cuts(struct json_node *document, struct json *j, struct arena *a)
{
	VEC(struct cut_list) v = { 0 };

	for (struct json_node *x = document; x; x = mcp_next_node(x, document)) {
		size_t shown = 0, i = 0;
		if (x->type != JSON_ARRAY)
			continue;
		for (const struct json_node *e = x->first; e; e = e->next)
			shown++;
		struct str path = path_of(x, a);
		while (i < v.n && !str_eq(v.v[i].path, path))
			i++;
		if (i == v.n)
			VEC_PUSH(a, &v, ((struct cut_list){ .path = path }));
		v.v[i].shown += shown;
		v.v[i].total += x->n;
	}
	bool any = false;
	for (size_t i = 0; i < v.n; i++) {
		if (v.v[i].shown == v.v[i].total)
			continue;
		if (!any) {
			json_key(j, S("cut"));
			json_object(j);
		}
		any = true;
		json_key(j, v.v[i].path);
		json_object(j);
		json_key(j, S("shown"));
		json_i64(j, (int64_t)v.v[i].shown);
		json_key(j, S("total"));
		json_i64(j, (int64_t)v.v[i].total);
		json_object_end(j);
	}
	if (any)
		json_object_end(j);
	return any;
}

void mcp_write_next(const struct mcp_call *c, struct json *j, const char *number, int64_t value)
{
	json_key(j, S("next"));
	json_object(j);
	json_key(j, S("tool"));
	json_string(j, str_of(c->tool->name));
	json_key(j, S("arguments"));
	json_object(j);
	for (const struct json_node *x = c->arguments ? c->arguments->first : NULL; x;
	        x = x->next) {
		if (str_eq(x->key, str_of(number)))
			continue;
		json_key(j, x->key);
		json_tree_write(x, j);
	}
	json_key(j, str_of(number));
	json_i64(j, value);
	json_object_end(j);
	json_object_end(j);
}

/* The steps taken to make an answer fit. */
struct fitting {
	size_t wanted;       /* tokens of the whole answer */
	bool clipped;        /* true: lists or texts are cut */
	struct strs omitted; /* names of the omitted members */
};

/* Returns the answer as JSON, in a. */
static struct str write_cut(
        struct mcp_call *c, struct json_node *document, const struct fitting *f, struct arena *a)
{
	struct sink *to = sink_memory(a);
	struct json j;

	json_init(&j, to);
	json_object(&j);
	for (const struct json_node *x = document->first; x; x = x->next) {
		json_key(&j, x->key);
		json_tree_write(x, &j);
	}
	bool any = write_cuts(document, &j, a) || f->clipped;
	if (f->omitted.n) {
		json_key(&j, S("omitted"));
		json_array(&j);
		for (size_t i = 0; i < f->omitted.n; i++)
			json_string(&j, f->omitted.v[i]);
		json_array_end(&j);
	}
	json_key(&j, S("truncated"));
	json_literal(&j, any ? S("true") : S("false"));
	if (any && f->wanted > c->budget)
		mcp_write_next(c, &j, "max_tokens",
		        (int64_t)(f->wanted < MCP_TOKENS_MOST ? f->wanted : MCP_TOKENS_MOST));
	json_object_end(&j);
	sink_flush(to);
	return sink_text(to);
}

/* Removes the last member of an object. Returns its name. */
static struct str drop_last(struct json_node *object)
{
	struct json_node *x = object->first, *last = object->last;

	if (x == last) {
		object->first = object->last = NULL;
	} else {
		while (x->next != last)
			x = x->next;
		x->next = NULL;
		object->last = x;
	}
	object->n--;
	return last->key;
}

bool mcp_write_document(struct mcp_call *c, struct json_node *document)
{
	static const struct {
		size_t most, letters;
	} steps[] = { { 100, 2000 }, { 50, 1000 }, { 20, 500 }, { 10, 300 }, { 5, 200 }, { 3, 160 },
		{ 2, 120 }, { 1, 100 } };
	size_t n = sizeof steps / sizeof *steps;
	struct fitting f = { .clipped = false };

	tidy(document, c->a);
	struct str text = write_cut(c, document, &f, c->a);
	f.wanted = mcp_tokens(text);
	for (size_t i = 0; i < n && mcp_tokens(text) > c->budget; i++) {
		f.clipped = true;
		cut(document, steps[i].most, steps[i].letters, c->a);
		text = write_cut(c, document, &f, c->a);
	}
	while (mcp_tokens(text) > c->budget && document->n > 1) {
		strs_add(c->a, &f.omitted, drop_last(document));
		text = write_cut(c, document, &f, c->a);
	}
	sink_put(c->out, text);
	return true;
}
