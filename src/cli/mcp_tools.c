/* SPDX-License-Identifier: Apache-2.0
 *
 * The tools, and the check of their arguments.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "base/num.h"
#include "base/sort.h"
#include "cli/mcp.h"

/* clang-format off */
const struct mcp_tool mcp_tools[] = {
#define TOOL(name_, title_, text_, required_, schema_) { #name_, title_, text_, schema_, required_, mcp_tool_##name_ },
#include "cli/mcp_tool.def"
#undef TOOL
};
/* clang-format on */
const size_t n_mcp_tools = sizeof mcp_tools / sizeof *mcp_tools;

/* ---- arguments ---- */

static bool is_type(const struct json_node *x, struct str type)
{
	int64_t v;

	if (str_eq(type, S("integer")))
		return x->type == JSON_NUMBER && str_find_char(x->text, '.') == SIZE_MAX &&
		       json_decimal(x->text, 0, &v) == JSON_NUMBER_GOOD;
	if (str_eq(type, S("array"))) {
		if (x->type != JSON_ARRAY)
			return x->type == JSON_STRING; /* a list with one text */
		for (const struct json_node *e = x->first; e; e = e->next)
			if (e->type != JSON_STRING)
				return false;
		return true;
	}
	return x->type == JSON_STRING;
}

static bool check_choice(
        struct mcp_call *c, const struct json_node *x, const struct json_node *choices)
{
	struct strs all = { 0 };

	for (const struct json_node *e = choices ? choices->first : NULL; e; e = e->next) {
		if (str_eq(e->text, x->text))
			return true;
		strs_add(c->a, &all, e->text);
	}
	return !choices || mcp_refuse(c, "argument '%.*s': '%.*s' is not one of %.*s", STR(x->key),
	                           STR(x->text), STR(strs_join(c->a, &all, S(", "))));
}

/* Returns the properties of a tool's arguments. */
static struct json_node *properties_of(const struct mcp_tool *tool, struct arena *a, struct err *e)
{
	return json_tree(a, str_fmt(a, "{%s}", tool->schema), e);
}

static bool check_argument(
        struct mcp_call *c, const struct json_node *x, const struct json_node *properties)
{
	const struct json_node *p = properties->first;
	struct strs names = { 0 };

	while (p && !str_eq(p->key, x->key)) {
		strs_add(c->a, &names, p->key);
		p = p->next;
	}
	if (!p)
		return mcp_refuse(c, "unknown argument '%.*s'; the arguments of %s are %.*s",
		        STR(x->key), c->tool->name, STR(strs_join(c->a, &names, S(", "))));
	struct str type = json_tree_text(p, "type");
	if (!is_type(x, type))
		return mcp_refuse(c, "argument '%.*s' must be %s%.*s%s", STR(x->key),
		        str_eq(type, S("string")) ? "a " : "an ", STR(type),
		        str_eq(type, S("array")) ? " of strings" : "");
	return check_choice(c, x, json_tree_find(p, "enum"));
}

static bool check_required(struct mcp_call *c)
{
	struct strs names = str_split(c->a, str_of(c->tool->required), ' ');

	for (size_t i = 0; i < names.n; i++)
		if (!json_tree_find(c->arguments, str_z(c->a, names.v[i])))
			return mcp_refuse(c, "argument '%.*s' of %s is missing", STR(names.v[i]),
			        c->tool->name);
	return true;
}

bool mcp_call_tool(struct mcp_call *c)
{
	const struct json_node *properties = properties_of(c->tool, c->a, &c->m->s->error);
	int64_t tokens = MCP_TOKENS;

	if (!properties)
		return false;
	if (c->arguments && c->arguments->type != JSON_OBJECT)
		return mcp_refuse(c, "arguments must be an object");
	for (const struct json_node *x = c->arguments ? c->arguments->first : NULL; x; x = x->next)
		if (!check_argument(c, x, properties))
			return false;
	if (!check_required(c))
		return false;
	mcp_number(c, "max_tokens", &tokens);
	if (tokens < MCP_TOKENS_LEAST || tokens > MCP_TOKENS_MOST)
		return mcp_refuse(c, "max_tokens must be between %d and %d", MCP_TOKENS_LEAST,
		        MCP_TOKENS_MOST);
	c->budget = (size_t)tokens;
	return c->tool->run(c);
}

void mcp_write_tools(struct json *j, struct arena *a)
{
	struct err e = { .a = a };

	json_array(j);
	for (size_t i = 0; i < n_mcp_tools; i++) {
		const struct mcp_tool *t = &mcp_tools[i];
		struct strs required = str_split(a, str_of(t->required), ' ');
		json_object(j);
		json_key(j, S("name"));
		json_string(j, str_of(t->name));
		json_key(j, S("title"));
		json_string(j, str_of(t->title));
		json_key(j, S("description"));
		json_string(j, str_of(t->text));
		json_key(j, S("inputSchema"));
		json_object(j);
		json_key(j, S("type"));
		json_string(j, S("object"));
		json_key(j, S("properties"));
		json_tree_write(properties_of(t, a, &e), j);
		if (required.n) {
			json_key(j, S("required"));
			json_array(j);
			for (size_t k = 0; k < required.n; k++)
				json_string(j, required.v[k]);
			json_array_end(j);
		}
		json_object_end(j);
		json_key(j, S("annotations"));
		json_object(j);
		json_key(j, S("readOnlyHint"));
		json_literal(j, S("true"));
		json_object_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

/* ---- making documents ---- */

static struct json_node *add_member(
        struct mcp_call *c, struct json_node *to, const char *key, enum json_type type)
{
	struct json_node *x = ARENA_NEW(c->a, struct json_node);

	*x = (struct json_node){ .type = type, .parent = to };
	if (key)
		x->key = str_of(key);
	*(to->last ? &to->last->next : &to->first) = x;
	to->last = x;
	to->n++;
	return x;
}

/* Adds a text; bytes that are not UTF-8 become \xNN. */
static void add_text(struct mcp_call *c, struct json_node *to, const char *key, struct str text)
{
	struct sb b = sb_in(c->a);

	if (!str_is_utf8(text)) {
		sb_put_utf8(&b, text);
		text = sb_str(&b);
	}
	add_member(c, to, key, JSON_STRING)->text = text;
}

static void add_number(struct mcp_call *c, struct json_node *to, const char *key, int64_t v)
{
	add_member(c, to, key, JSON_NUMBER)->text = str_fmt(c->a, "%lld", (long long)v);
}

static struct json_node *new_document(struct mcp_call *c)
{
	struct json_node *x = ARENA_NEW(c->a, struct json_node);

	x->type = JSON_OBJECT;
	return x;
}

static struct strs one_word(struct mcp_call *c, const char *word)
{
	struct strs v = { 0 };

	strs_add(c->a, &v, str_of(word));
	return v;
}

#define HEAD "schema tool sources options columns row_count"

/* ---- open ---- */

#define LIST_DEPTH 4
#define LIST_MOST  400 /* maximum number of examined folder entries */

struct listing {
	struct mcp_call *c;
	struct json_node *to;
	struct strs folders; /* folders that are not listed yet */
	VEC(unsigned) depth;
	size_t entries, unknown;
};

static void list_entry(struct listing *x, struct str path, unsigned depth)
{
	struct mcp_call *c = x->c;
	struct stat st;
	struct str real;

	x->entries++;
	if (!mcp_resolve(c->m, path, &real) || stat(str_z(c->a, real), &st))
		return; /* a link that leads outside, or a device */
	if (S_ISDIR(st.st_mode)) {
		if (depth < LIST_DEPTH) {
			strs_add(c->a, &x->folders, path);
			VEC_PUSH(c->a, &x->depth, depth + 1);
		}
		return;
	}
	const struct input *format = input_by_content(real, c->a->work);
	if (!format) {
		x->unknown++;
		return;
	}
	struct json_node *row = add_member(c, x->to, NULL, JSON_OBJECT);
	struct str first = c->m->allowed.v[0];
	bool below = str_starts(path, first) && path.n > first.n && path.p[first.n] == '/';
	add_text(c, row, "path", below ? str_sub(path, first.n + 1, SIZE_MAX) : path);
	add_text(c, row, "format", str_of(format->name));
	add_number(c, row, "bytes", st.st_size);
}

/* Lists the entries of a folder in the order of their names. */
static void list_folder(struct listing *x, struct str folder, unsigned depth)
{
	struct arena *a = x->c->a;
	DIR *d = opendir(str_z(a, folder));
	struct strs names = { 0 };

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			strs_add(a, &names, str_copy(a, str_of(e->d_name)));
	if (d)
		closedir(d);
	sort_list(a, &names);
	for (size_t i = 0; i < names.n && x->entries < LIST_MOST; i++)
		list_entry(x, str_fmt(a, "%.*s/%.*s", STR(folder), STR(names.v[i])), depth);
}

static bool list(struct mcp_call *c, const struct strs *folders)
{
	struct json_node *document = new_document(c);
	struct listing x = { .c = c };

	for (size_t i = 0; i < folders->n; i++) {
		strs_add(c->a, &x.folders, folders->v[i]);
		VEC_PUSH(c->a, &x.depth, 0);
	}
	struct json_node *allowed = add_member(c, document, "allowed", JSON_ARRAY);
	for (size_t i = 0; i < c->m->allowed.n; i++)
		add_text(c, allowed, NULL, c->m->allowed.v[i]);
	x.to = add_member(c, document, "profiles", JSON_ARRAY);
	for (size_t i = 0; i < x.folders.n; i++)
		list_folder(&x, x.folders.v[i], x.depth.v[i]);
	c->m->s->error = (struct err){ .a = &c->m->s->query_arena }; /* errors of omitted entries */
	add_number(c, document, "other_files", (int64_t)x.unknown);
	if (x.entries >= LIST_MOST)
		add_text(c, document, "note",
		        str_fmt(c->a, "only %d entries were looked at: name a folder below",
		                LIST_MOST));
	return mcp_write_document(c, document);
}

/* Adds the names of the views for which the input has rows. */
static void add_views(struct mcp_call *c, struct json_node *to, const struct mcp_file *f)
{
	static const char *const nodes = "op top scope graph code advise",
	                         *const traces = "kernels devices steps critical idle why roofline "
	                                         "flops phases op top scope code";
	struct json_node *list = add_member(c, to, "views", JSON_ARRAY);
	bool trace = f->s->model.traces.n || f->s->recording.n;
	struct strs names = str_split(c->a, str_of(trace ? traces : nodes), ' ');

	for (size_t i = 0; i < names.n; i++)
		add_text(c, list, NULL, names.v[i]);
}

bool mcp_tool_open(struct mcp_call *c)
{
	struct strs folders = c->m->allowed, words = one_word(c, "summary");
	struct str path = mcp_text(c, "path"), real;
	struct stat st;

	if (!path.n || str_eq(path, S(".")))
		return list(c, &folders);
	if (str_find_char(path, ',') == SIZE_MAX) {
		if (!mcp_resolve(c->m, path, &real))
			return false;
		folders = (struct strs){ &real, 1, 1 };
		if (stat(str_z(c->a, real), &st) == 0 && S_ISDIR(st.st_mode))
			return list(c, &folders);
	}
	struct mcp_file *f = mcp_open(c->m, path);
	struct json_node *summary = f ? mcp_document(c, f, NULL, &words) : NULL;
	struct json_node *document = new_document(c);
	if (!summary)
		return false;
	if (json_tree_find(summary, "verdict")) /* the trace is not too large */
		mcp_prepare_tables(c, f);
	add_text(c, document, "file", path);
	mcp_move(document, summary,
	        "formats verdict cause node_count parameters steps devices missing warnings");
	for (struct json_node *x = document->first; x; x = x->next)
		for (struct json_node *d = str_eq(x->key, S("devices")) ? x->first : NULL; d;
		        d = d->next)
			mcp_drop(d, "idle step");
	add_views(c, document, f);
	return mcp_write_document(c, document);
}

/* ---- other tools ---- */

bool mcp_tool_summary(struct mcp_call *c)
{
	struct strs words = one_word(c, "summary"), why = one_word(c, "why"),
	            advise = one_word(c, "advise");
	struct mcp_file *f = mcp_open(c->m, mcp_text(c, "file"));
	struct json_node *summary = f ? mcp_document(c, f, NULL, &words) : NULL;
	struct json_node *document = new_document(c), *causes = NULL;

	if (!summary)
		return false;
	mcp_drop(summary, HEAD " rows unused next");
	if (f->s->model.traces.n || f->s->recording.n)
		causes = mcp_document(c, f, NULL, &why);
	else if ((causes = mcp_document(c, f, NULL, &advise)) != NULL && causes->last)
		causes->last->key = S("advice"); /* rows */
	if (causes) {
		mcp_move(document, causes,
		        "verdict cause of step_ns window_ns model_error causes not_judged");
		if (json_tree_find(document, "verdict"))
			mcp_drop(summary, "verdict cause");
	}
	c->m->s->error = (struct err){ .a = &c->m->s->query_arena };
	mcp_move(document, summary,
	        "verdict cause formats steps step_time devices device_op_micros host_op_micros "
	        "requested_bytes ops nodes missing warnings node_count parameters float_ops "
	        "float_ops_coverage collectives");
	if (causes)
		mcp_move(document, causes, "advice");
	return mcp_write_document(c, document);
}

/* Returns the name of a row of an earlier answer, or the word itself. */
static struct str name_of_row(const struct mcp_file *f, struct str word)
{
	for (size_t i = 0; f->rows && i < MCP_ROWS_MAX; i++)
		if (f->rows[i].name && str_eq(str_of(f->rows[i].id), word))
			return str_of(f->rows[i].name);
	return word;
}

bool mcp_tool_peek(struct mcp_call *c)
{
	struct mcp_file *f = mcp_open(c->m, mcp_text(c, "file"));
	struct strs words = one_word(c, "peek");

	if (!f)
		return false;
	strs_add(c->a, &words, name_of_row(f, mcp_text(c, "name")));
	if (!words.v[1].n || words.v[1].p[0] == '-')
		return mcp_refuse(c, "argument 'name' must not be empty or begin with '-'");
	struct json_node *document = mcp_document(c, f, NULL, &words);
	if (!document)
		return false;
	mcp_drop(document, HEAD " rows");
	return mcp_write_document(c, document);
}

bool mcp_tool_what_if(struct mcp_call *c)
{
	struct mcp_file *f = mcp_open(c->m, mcp_text(c, "file"));
	struct strs words = one_word(c, "what-if"), changes = mcp_texts(c, "changes");

	if (!f)
		return false;
	for (size_t i = 0; i < changes.n; i++) {
		if (!what_if_is_change(changes.v[i]))
			return mcp_refuse(c,
			        "'%.*s' is not a change (examples: kernel:gemm*0.5, sync=0)",
			        STR(changes.v[i]));
		strs_add(c->a, &words, changes.v[i]);
	}
	struct json_node *document = mcp_document(c, f, NULL, &words);
	if (!document)
		return false;
	mcp_drop(document, HEAD " rows");
	return mcp_write_document(c, document);
}

bool mcp_tool_memory(struct mcp_call *c)
{
	struct mcp_file *f = mcp_open(c->m, mcp_text(c, "file"));
	struct strs words = one_word(c, "memory");
	struct json_node *document = f ? mcp_document(c, f, NULL, &words) : NULL;

	if (!document)
		return false;
	mcp_drop(document, HEAD " rows use by_kind live_at");
	return mcp_write_document(c, document);
}

/* Splits "PATH@STEP", unless a file has that name. */
static struct str split_step(struct mcp_call *c, struct str side, struct str *step)
{
	size_t at = str_rfind_char(side, '@');
	struct str real;

	*step = STR_NONE;
	if (at == SIZE_MAX || mcp_resolve(c->m, side, &real))
		return side;
	c->m->s->error = (struct err){ .a = &c->m->s->query_arena };
	*step = str_sub(side, at, SIZE_MAX);
	return str_sub(side, 0, at);
}

/* Renames the members of the two runs to the names of the arguments. */
static void name_runs(struct mcp_call *c, struct json_node *document)
{
	const struct str left = S("left_"), right = S("right_");

	for (struct json_node *x = document; x; x = mcp_next_node(x, document)) {
		bool before = str_starts(x->key, left);
		if (before || str_starts(x->key, right))
			x->key = str_fmt(c->a, "%s%.*s", before ? "before_" : "after_",
			        STR(str_sub(x->key, before ? left.n : right.n, SIZE_MAX)));
	}
}

/* True if an element of options is one of the options that name the sides. */
static bool names_sides(const struct mcp_call *c)
{
	struct strs options = mcp_texts(c, "options");

	for (size_t i = 0; i < options.n; i++)
		if (str_starts(options.v[i], S("--name")) || str_starts(options.v[i], S("--label")))
			return true;
	return false;
}

/* Checks the sides of view why, which compares the steps of two files. */
static bool check_runs(
        struct mcp_call *c, struct str before, struct str after, const struct str steps[2])
{
	if (steps[0].n || steps[1].n)
		return mcp_refuse(c, "view why compares mean steps; '%.*s' needs another view",
		        STR(mcp_text(c, steps[0].n ? "before" : "after")));
	if (str_eq(before, after))
		return mcp_refuse(c, "view why compares two files; both are the same");
	return true;
}

bool mcp_tool_compare(struct mcp_call *c)
{
	struct str steps[2], view = mcp_text(c, "view");
	struct str before = split_step(c, mcp_text(c, "before"), &steps[0]);
	struct str after = split_step(c, mcp_text(c, "after"), &steps[1]);
	struct strs words = { 0 };
	struct mcp_file *f, *other = NULL;

	if (str_eq(view, S("why"))) {
		if (!check_runs(c, before, after, steps))
			return false;
		f = mcp_open(c->m, str_fmt(c->a, "%.*s,%.*s", STR(before), STR(after)));
		strs_add(c->a, &words, S("why"));
		strs_add(c->a, &words, S("--as=runs"));
	} else {
		f = mcp_open(c->m, before);
		other = f ? mcp_open(c->m, after) : NULL;
		strs_add(c->a, &words, S("diff"));
		strs_add(c->a, &words, view.n ? view : S("op"));
		strs_add(c->a, &words, str_fmt(c->a, "before%.*s", STR(steps[0])));
		strs_add(c->a, &words, str_fmt(c->a, "after%.*s", STR(steps[1])));
		if (!names_sides(c))
			strs_add(c->a, &words, S("--names=before,after"));
		f = other ? f : NULL;
	}
	struct json_node *document = f ? mcp_document(c, f, other, &words) : NULL;
	if (!document)
		return false;
	mcp_drop(document, other ? HEAD " sides minuend subtrahend" : HEAD " rows");
	name_runs(c, document);
	return mcp_write_document(c, document);
}

/* Writes help about a topic. Blanks may replace underscores; otherwise each word is a topic. */
static bool write_help(struct mcp_call *c, struct str topic, struct sink *to)
{
	struct session *s = c->m->s;
	struct err error = s->error;
	struct strs words = str_split(c->a, topic, ' '), joined = { 0 };

	strs_add(c->a, &joined, str_replace_char(c->a, topic, ' ', '_'));
	if (words.n > 1 && help_write(s, &joined, to))
		return true;
	s->error = error;
	return help_write(s, &words, to);
}

bool mcp_tool_help(struct mcp_call *c)
{
	struct sink *to = sink_memory(c->a);
	struct json_node *document = new_document(c);
	struct strs lines;

	if (!write_help(c, mcp_text(c, "topic"), to))
		return false;
	sink_flush(to);
	lines = str_split(c->a, sink_text(to), '\n');
	struct json_node *list = add_member(c, document, "lines", JSON_ARRAY);
	for (size_t i = 0; i < lines.n; i++)
		add_text(c, list, NULL, lines.v[i]);
	return mcp_write_document(c, document);
}
