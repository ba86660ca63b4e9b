/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of diff: [VIEW] SIDE SIDE... [NAME NAME...] and options, its own and those of
 * views.
 */
#include <unistd.h>

#include "lib/diff.h"
#include "lib/jobs.h"

/* True if the word names a loadable input or a loaded job, with or without a step. A list counts if
 * its first file exists. */
static bool is_side(struct session *s, struct str word)
{
	struct arena *a = &s->query_arena;
	struct str step;

	word = diff_side_path(s, word, &step);
	if (jobs_find(s->jobs, word))
		return true;
	struct strs parts = str_split(a, word, ',');
	return str_starts(word, S(BASELINE_PREFIX)) || access(str_z(a, word), F_OK) == 0 ||
	       (parts.n > 1 && access(str_z(a, parts.v[0]), F_OK) == 0);
}

/* Takes a word as a view, a side or a name, tried in this order. */
static void take_word(struct session *s, struct str word, struct diff_request *w, size_t *names)
{
	bool side = is_side(s, word);

	for (int k = 0; k < VK_N && !side && !*names; k++) {
		if (str_eq(word, str_of(views[k].name))) {
			w->given.view = k;
			return;
		}
	}
	strs_add(&s->query_arena, side && !*names ? &w->sides : &w->given.names, word);
	*names += !side;
}

/* Returns the first missing file of a list, or the word itself. */
static struct str missing_part(struct session *s, struct str word)
{
	struct str step;

	word = diff_side_path(s, word, &step);
	struct strs parts = str_split(&s->query_arena, word, ',');
	for (size_t i = 0; i < parts.n; i++)
		if (access(str_z(&s->query_arena, parts.v[i]), F_OK))
			return parts.v[i];
	return word;
}

/* Fails because sides are missing. At the prompt, the error names the loaded jobs and a line to
 * type. */
static bool fail_sides(struct session *s)
{
	struct arena *a = &s->query_arena;
	struct strs jobs = jobs_loaded(s->jobs, a);

	if (!jobs.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "diff compares two sides or more: files, folders, lists such as "
		        "graph.pbtxt,run_meta, or baseline:NAME; one side is enough for "
		        "--gate with a limit such as 'op:Conv2D.micros<30%%'");
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "diff compares two sides or more; loaded: %.*s; type: diff %.*s %.*s",
	        STR(strs_join(a, &jobs, S(", "))), STR(jobs.v[0]),
	        STR(jobs.n > 1 ? jobs.v[jobs.n - 1] : S("FILE")));
}

/* True if the word is a value of --of. */
static bool is_of(struct str word)
{
	const struct option *of = option_in(options_of("diff"), S("of"));
	int value;

	return of && option_choice(of->choices, word, &value);
}

/* Accepts one side if no gate limits a change. */
static bool check_one_side(struct session *s, const struct diff_request *w)
{
	for (size_t i = 0; i < w->gates.n; i++)
		if (w->gates.v[i].change)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "--gate '%.*s' limits a change, which needs two sides; without + "
			        "or -, a limit applies to one side, such as 'step_time<30ms'",
			        STR(w->gates.v[i].text));
	return true;
}

/* Takes the words after the sides that are not files as the names of the sides, if their number is
 * right. */
static bool check_names(struct session *s, struct diff_request *w)
{
	if (w->sides.n < 2 && w->given.names.n && is_of(w->given.names.v[0]))
		return session_fail(s, ERR_NOT_FOUND,
		        "file '%.*s' does not exist\n"
		        "hint: 'diff --of=%.*s A B' compares the %.*s of two runs",
		        STR(w->given.names.v[0]), STR(w->given.names.v[0]),
		        STR(w->given.names.v[0]));
	if (w->sides.n < 2 && w->given.names.n)
		return session_fail(s, ERR_NOT_FOUND,
		        s->jobs ? "'%.*s' is neither a file nor a loaded job; 'list' shows these"
		                : "file '%.*s' does not exist",
		        STR(missing_part(s, w->given.names.v[0])));
	if (w->sides.n == 1 && w->gates.n && !w->given.of && !w->given.by)
		return check_one_side(s, w);
	if (w->sides.n < 2)
		return fail_sides(s);
	if (w->sides.n > DIFF_SIDES_MAX)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "diff compares at most %d sides, not %zu", DIFF_SIDES_MAX, w->sides.n);
	if (w->given.names.n && w->given.names.n != w->sides.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is not a file, and %zu sides need %zu names, not %zu",
		        STR(w->given.names.v[0]), w->sides.n, w->sides.n, w->given.names.n);
	return true;
}

static bool is_given(const struct option_words *read, const char *name)
{
	size_t i = 0;

	while (i < read->given.n && !str_eq(read->given.v[i], str_of(name)))
		i++;
	return i < read->given.n;
}

static bool read_gates(struct session *s, struct diff_request *w)
{
	struct gate g;

	for (size_t i = 0; i < w->given.rules.n; i++) {
		if (!gate_parse(&g, w->given.rules.v[i], &s->error))
			return false;
		VEC_PUSH(&s->query_arena, &w->gates, g);
	}
	return true;
}

/* Reads the minima. Each is a size for values in bytes, and a time for values that are times. */
static bool read_min_sizes(struct session *s, struct diff_request *w)
{
	w->min_size = INT64_C(1000) * 1000;
	if (w->given.all)
		w->min_size = 0;
	for (size_t i = 0; i < w->given.min_sizes.n; i++) {
		struct str word = w->given.min_sizes.v[i];
		int64_t v;
		if (quantity_parse(word, QUANTITY_BYTES, &v) && v >= 0)
			w->min_size = v;
		else if (quantity_parse(word, QUANTITY_TIME, &v) && v >= 0)
			w->min_micros = v;
		else
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "--min_size: '%.*s' is %s, and %s", STR(word),
			        quantity_refusal(QUANTITY_BYTES), quantity_refusal(QUANTITY_TIME));
	}
	return true;
}

bool diff_read(struct session *s, const struct strs *words, struct diff_request *w)
{
	struct arena *a = &s->query_arena;
	struct option_words read = {
		.command = cmd_find(s, S("diff")), .into = &w->given, .opts = &w->o
	};
	size_t names = 0;

	*w = (struct diff_request){ .o = opts_copy(&s->sticky, a) };
	options_preset("diff", &w->given);
	w->given.top = -1;
	if (w->o.rename.n)
		strs_add(a, &w->given.rename, w->o.rename);
	if (!options_read(s, words, &read) || !read_gates(s, w) || !read_min_sizes(s, w))
		return false;
	if (w->given.level >= 1)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "--level must be a probability below 1");
	w->o.rename = strs_join(a, &w->given.rename, S(";"));
	for (size_t i = 0; i < w->given.labels.n; i++)
		strs_add(a, &w->given.names, w->given.labels.v[i]);
	for (size_t i = 0; i < read.rest.n; i++)
		take_word(s, read.rest.v[i], w, &names);
	w->select_given = is_given(&read, "select");
	if (w->given.all && !is_given(&read, "delta"))
		w->given.delta = 0;
	w->order_given = is_given(&read, "order_by");
	if (!is_given(&read, "max_depth"))
		w->o.max_depth = INT32_MAX;
	return check_names(s, w);
}
