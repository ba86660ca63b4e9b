/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of diff: [VIEW] SIDE SIDE... [NAME NAME...] and options, its own and those of views.
 */
#include <unistd.h>

#include "app/baseline.h"
#include "app/diff_internal.h"
#include "metric/quantity.h"

const struct own_option diff_options[] = {
	{ "view", "VIEW", "scope (the default), graph, op or code; the bare word says it too" },
	{ "delta", "SHARE", "show what differs by more than this: 0.1, or 10% (the default)" },
	{ "min_size", "SIZE", "of bytes, show what some side has this much of (1MB by default)" },
	{ "names", "A,B,...", "what the sides are called; also as words behind them" },
	{ "swap", NULL, "show the last side without the first, not the first without the last" },
	{ "rename", "s/A/B/", "rename nodes before they are matched; may be given again" },
	{ "match", "auto|path", "path: do not look for scopes that were renamed" },
	{ "per", "step|run", "run: numbers of each node divided by how often it ran" },
	{ "gate", "RULE",
	        "fail if it does not hold, such as total.micros<+5%; may be given again" },
	{ "level", "P", "how sure a gate has to be where steps vary (0.05)" },
	{ NULL, NULL, NULL },
};

static bool bad(struct session *s, struct str name, struct str value, const char *want)
{
	return session_fail(
	        s, ERR_INVALID_ARGUMENT, "--%.*s: '%.*s' is not %s", STR(name), STR(value), want);
}

/* 0.1 or 10%. */
static bool read_share(struct str s, double *v)
{
	bool percent = str_ends(s, S("%"));

	if (!quantity_parse_real(str_sub(s, 0, s.n - percent), v))
		return false;
	*v /= percent ? 100 : 1;
	return *v >= 0;
}

static bool set_view(struct session *s, struct str name, struct diff_words *w)
{
	for (enum vk k = 0; k < VK_N; k++) {
		if (str_eq(name, str_of(views[k]->name))) {
			w->view = views[k];
			return true;
		}
	}
	return bad(s, S("view"), name, "scope, graph, op or code");
}

/* One of two words. */
static bool choose(struct session *s, struct str name, struct str value, const char *off,
        const char *on, bool *to)
{
	if (!str_eq(value, str_of(off)) && !str_eq(value, str_of(on)))
		return bad(s, name, value,
		        str_z(&s->query_arena, str_fmt(&s->query_arena, "%s or %s", off, on)));
	*to = str_eq(value, str_of(on));
	return true;
}

static bool add_gate(struct session *s, struct str value, struct diff_words *w)
{
	struct gate g;

	if (!gate_parse(&g, str_copy(&s->query_arena, value), &s->error))
		return false;
	VEC_PUSH(&s->query_arena, &w->gates, g);
	return true;
}

static bool set_own(struct session *s, struct str name, struct str value, struct diff_words *w)
{
	struct arena *a = &s->query_arena;

	if (str_eq(name, S("view")))
		return set_view(s, value, w);
	if (str_eq(name, S("delta")))
		return read_share(value, &w->delta) || bad(s, name, value, "a share: 0.1 or 10%");
	if (str_eq(name, S("level")))
		return (read_share(value, &w->level) && w->level < 1) ||
		       bad(s, name, value, "a probability below 1");
	if (str_eq(name, S("min_size")))
		return quantity_parse(value, UNIT_BYTES, &w->min_size) ||
		       bad(s, name, value, "a size, such as 1MB");
	if (str_eq(name, S("match")))
		return choose(s, name, value, "auto", "path", &w->by_path);
	if (str_eq(name, S("per")))
		return choose(s, name, value, "step", "run", &w->per_run);
	if (str_eq(name, S("names"))) {
		w->names = str_split(a, value, ',');
		return w->names.n || bad(s, name, value, "a list of names");
	}
	if (str_eq(name, S("rename")))
		w->o.rename = w->o.rename.n ? str_fmt(a, "%.*s;%.*s", STR(w->o.rename), STR(value))
		                            : str_copy(a, value);
	else if (str_eq(name, S("gate")))
		return add_gate(s, value, w);
	return true;
}

static const struct own_option *find_own(struct str name)
{
	const struct own_option *o = diff_options;

	while (o->name && !str_eq(name, str_of(o->name)))
		o++;
	return o->name ? o : NULL;
}

static void note_given(struct diff_words *w, struct str name)
{
	w->select_given |= str_eq(name, S("select"));
	w->depth_given |= str_eq(name, S("max_depth"));
	w->order_given |= str_eq(name, S("order_by"));
}

static bool unknown(struct session *s, struct str word, struct str name)
{
	struct strs own = { 0 };

	for (const struct own_option *o = diff_options; o->name; o++)
		strs_add(&s->query_arena, &own, str_of(o->name));
	return cmd_unknown_option(s, word, name, &own);
}

/* Takes the option at words[*i]. */
static bool take_option(
        struct session *s, const struct strs *words, size_t *i, struct diff_words *w)
{
	struct str name, value;
	const struct own_option *own;
	struct option row;
	bool has_value;

	cmd_option_word(words->v[*i], &name, &value, &has_value);
	own = find_own(name);
	if (own && !own->value) {
		w->swap = true;
		return true;
	}
	if (own) {
		if (!has_value && *i + 1 == words->n)
			return session_fail(s, ERR_INVALID_ARGUMENT, "--%s needs a value: --%s %s",
			        own->name, own->name, own->value);
		return set_own(s, name, str_strip_quotes(has_value ? value : words->v[++*i]), w);
	}
	if (!option_find(name, &row))
		return unknown(s, words->v[*i], name);
	if (row.type == OPT_STATS || row.type == OPT_BY)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "-%s: diff does not show that", row.name);
	note_given(w, name);
	return cmd_set_option(s, &row, words, i, has_value, value, &w->o);
}

/* Is there something of that name to load? A list is if its first file is there. */
static bool is_side(struct session *s, struct str word)
{
	struct arena *a = &s->query_arena;
	struct strs parts = str_split(a, word, ',');

	return str_starts(word, S(BASELINE_PREFIX)) || access(str_z(a, word), F_OK) == 0 ||
	       (parts.n > 1 && access(str_z(a, parts.v[0]), F_OK) == 0);
}

static bool take_word(struct session *s, struct str word, struct diff_words *w, size_t *words)
{
	bool side = is_side(s, word);

	for (enum vk k = 0; k < VK_N && !side && !*words; k++) {
		if (str_eq(word, str_of(views[k]->name))) {
			w->view = views[k];
			return true;
		}
	}
	strs_add(&s->query_arena, side && !*words ? &w->sides : &w->names, word);
	*words += !side;
	return true;
}

/* The first part of a list that is no file, or the word itself. */
static struct str missing_part(struct session *s, struct str word)
{
	struct strs parts = str_split(&s->query_arena, word, ',');

	for (size_t i = 0; i < parts.n; i++)
		if (access(str_z(&s->query_arena, parts.v[i]), F_OK))
			return parts.v[i];
	return word;
}

/* Words behind the sides that are no files are their names, if there are as many. */
static bool check_names(struct session *s, struct diff_words *w)
{
	if (w->sides.n < 2 && w->names.n)
		return session_fail(s, ERR_NOT_FOUND, "there is no file '%.*s'",
		        STR(missing_part(s, w->names.v[0])));
	if (w->sides.n < 2)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "diff compares two sides or more: files, folders, lists such as "
		        "graph.pbtxt,run_meta, or baseline:NAME");
	if (w->sides.n > DIFF_SIDES_MAX)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "diff compares at most %d sides, not "
		        "%zu",
		        DIFF_SIDES_MAX, w->sides.n);
	if (w->names.n && w->names.n != w->sides.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is no file, and %zu %s not name %zu sides", STR(w->names.v[0]),
		        w->names.n, w->names.n == 1 ? "word does" : "words do", w->sides.n);
	return true;
}

bool diff_read_words(struct session *s, const struct strs *words, struct diff_words *w)
{
	struct str name, value;
	bool has_value;
	size_t names = 0;

	*w = (struct diff_words){ .view = &view_scope,
		.delta = 0.1,
		.level = 0.05,
		.min_size = 1000000,
		.o = opts_copy(&s->sticky, &s->query_arena) };
	for (size_t i = 0; i < words->n; i++) {
		if (cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!take_option(s, words, &i, w))
				return false;
		} else if (!take_word(s, words->v[i], w, &names)) {
			return false;
		}
	}
	if (!w->depth_given)
		w->o.max_depth = INT32_MAX;
	return check_names(s, w);
}
