/* SPDX-License-Identifier: Apache-2.0
 *
 * Completion: the words offered at each place, their order and common prefix; node names one level
 * at a time, also in a model with a million of them.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/prompt.h"

#define MANY 1000000

struct ask {
	struct str text;
	const char *expected; /* items followed by blanks; NULL: the first suffices */
	const char *shared;
	bool open, more;
	size_t n;
};

static const char small[] = "node { name: 'enc/a' op: 'MatMul' device: '/cpu:0' }\n"
                            "node { name: 'enc/b/c' op: 'Mul' }\n"
                            "node { name: 'enc/b/d' op: 'Mul' }\n"
                            "node { name: 'end' op: 'Add' }\n"
                            "node { name: '\303\251' op: 'Add' }\n"
                            "node { name: '\303\250' op: 'Add' }\n";

static bool load(struct session *s, void *text)
{
	struct input_from from = {
		.name = S("graph"), .bytes = *(struct str *)text, .memory = true
	};

	return session_load(s, ROLE_GRAPH, &from);
}

static struct session *loaded(struct str text)
{
	struct session *s = session_new(0);

	assert_non_null(s);
	if (!session_guard(s, load, &text))
		fail_msg("%.*s", STR(s->error.text));
	return s;
}

/* Completes and compares, inside the guard. */
static bool try(struct session *s, void *what)
{
	const struct ask *x = what;
	struct complete c;
	struct sb b = sb_in(&s->query_arena);

	assert_true(complete_line(s, x->text, &c));
	for (size_t i = 0; i < c.items.n; i++)
		sb_fmt(&b, "%.*s ", STR(c.items.v[i]));
	if (x->expected && !str_eq(sb_str(&b), str_of(x->expected)))
		fail_msg("'%.*s' gives %.*s", STR(x->text), STR(sb_str(&b)));
	if (x->shared && !str_eq(c.shared, str_of(x->shared)))
		fail_msg("'%.*s' shares %.*s", STR(x->text), STR(c.shared));
	if (x->n)
		assert_int_equal(c.items.n, x->n);
	assert_int_equal(c.more, x->more);
	assert_int_equal(c.open, x->open);
	return true;
}

static void all(struct session *s, struct ask *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_true(session_guard(s, try, &v[i]));
	session_free(s);
}

static void test_words(void **state)
{
	struct ask v[] = {
		{ S("sc"), "scope ", "scope", false, false, 1 },
		{ S("re"), "report reset ", "re", true, false, 2 },
		{ S("zz"), "", "", false, false, 0 },
		{ S("scope -max_d"), "-max_depth ", "-max_depth", false, false, 1 },
		{ S("scope -account_displayed_op_only "), "true false ", "", true, false, 2 },
		{ S("scope -select micros,accelerator_m"), "accelerator_micros ",
		        "accelerator_micros", false, false, 1 },
		{ S("scope -step "), "-1 ", "-1", false, false, 1 },
		{ S("scope -stats mean,p9"), "p95 p99 ", "p9", true, false, 2 },
		{ S("scope -output nd"), "ndjson ", "ndjson", false, false, 1 },
		{ S("help sco"), "scope ", "scope", false, false, 1 },
		{ S("help peak"), "peak_bytes ", "peak_bytes", false, false, 1 },
		{ S("help tim"), "timeline ", "timeline", false, false, 1 },
		{ S("help med"), "median ", "median", false, false, 1 },
		{ S("set -all"), "-all ", "-all", false, false, 1 },
		{ S("set --al"), "--all --align ", "--al", true, false, 2 },
		{ S("diff --mat"), "--match ", "--match", false, false, 1 },
		{ S("diff -mat"), "-match ", "-match", false, false, 1 },
		{ S("diff x --match "), "auto path ", "", true, false, 2 },
		{ S("diff --delta "), "", "", false, false, 0 },
		{ S("diff --match=a"), "auto ", "auto", false, false, 1 },
		{ S("op -by=module-"), "module-class ", "module-class", false, false, 1 },
		{ S("op -zz="), "", "", false, false, 0 },
		{ S("diff a b --gate step"), "step_time<+5% ", "step_time<+5%", false, false, 1 },
		{ S("diff a b --gate=total.mic"), "total.micros<+5% ", "total.micros<+5%", false,
		        false, 1 },
		{ S("op -output csv:"), "csv:outfile= csv:spreadsheet=1 ", "csv:", true, false, 2 },
		{ S("diff -select micros,par"), "params ", "params", false, false, 1 },
		{ S("diff --s"), NULL, "--s", true, false, 7 },
		{ S("diff --rename"), "--rename ", "--rename", false, false, 1 },
		{ S("checkpoint -o"), "-output -o ", "-o", true, false, 2 },
		{ S("checkpoint --output c"), "csv ", "csv", false, false, 1 },
		{ S("baseline s"), "save show ", "s", true, false, 2 },
		{ S("record --l"), "", "", false, false, 0 },
	};

	(void)state;
	all(loaded(str_of(small)), v, sizeof v / sizeof *v);
}

static void test_names(void **state)
{
	struct ask v[] = {
		{ S("scope -show_name_regexes en"), "enc/ end ", "en", true, false, 2 },
		{ S("scope -show_name_regexes enc/"), "enc/a enc/b/ ", "enc/", true, false, 2 },
		{ S("scope -show_name_regexes x,enc/b/"), "enc/b/c enc/b/d ", "enc/b/", true, false,
		        2 },
		{ S("graph -start_name_regexes end"), "end ", "end", false, false, 1 },
		{ S("graph -start_name_regexes \303"), "\303\250 \303\251 ", "", true, false, 2 },
		{ S("op -show_name_regexes M"), "MatMul Mul ", "M", true, false, 2 },
	};

	(void)state;
	all(loaded(str_of(small)), v, sizeof v / sizeof *v);
}

/* In a thousand scopes of a thousand names, each completion finds its few matches. */
static void test_million(void **state)
{
	struct ask v[] = {
		{ S("scope -show_name_regexes s"), NULL, "s", true, true, COMPLETE_MAX },
		{ S("scope -show_name_regexes s999"), "s999/ ", "s999/", true, false, 1 },
		{ S("scope -show_name_regexes s99"), NULL, "s99", true, false, 10 },
		{ S("scope -show_name_regexes s123/n45"), NULL, "s123/n45", true, false, 10 },
		{ S("scope -show_name_regexes s123/n456"), "s123/n456 ", "s123/n456", false, false,
		        1 },
		{ S("scope -show_name_regexes t"), "", "", false, false, 0 },
	};
	size_t room = (size_t)MANY * 32, n = 0;
	char *text = malloc(room);

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < MANY; i++)
		n += (size_t)snprintf(
		        text + n, room - n, "node{name:'s%03d/n%03d'}\n", i / 1000, i % 1000);
	struct session *s = loaded(str_make(text, n));
	all(s, v, sizeof v / sizeof *v);
	free(text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_million),
	};

	return unit_main(tests, argc, argv);
}
