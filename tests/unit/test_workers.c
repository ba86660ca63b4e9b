/* SPDX-License-Identifier: Apache-2.0
 *
 * Workers of one model: a single worker answers like its files alone, columns have the same
 * numbers; several jobs.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include "cli/prompt.h"
#include "lib/options.h"
#include "lib/jobs.h"

#define DATA    "testdata/recorded/mlp_0/"
#define WORKERS 3

static struct input_step steps[WORKERS] = { { { .name = { DATA "run_meta_0.pb", 37 } }, 4 },
	{ { .name = { DATA "run_meta_1.pb", 37 } }, 4 },
	{ { .name = { DATA "run_meta_2.pb", 37 } }, 4 } };

/* Loads the worker *ctx, or all of them. */
static bool load(struct session *s, void *ctx)
{
	struct input_worker v[WORKERS];
	struct str words[] = { S("w0"), S("w1"), S("w2") };
	struct strs names = { words, WORKERS, WORKERS };
	int only = *(int *)ctx;

	for (uint32_t i = 0; i < WORKERS; i++)
		v[i] = (struct input_worker){ .name = words[i],
			.graph = S(DATA "graph.pb"),
			.oplog = S(DATA "op_log.pb"),
			.steps = &steps[i],
			.n_steps = 1,
			.worker = only < 0 ? i : 0 };
	if (only < 0)
		return session_load_workers(s, &names, v, WORKERS);
	names.n = 0;
	return session_load_workers(s, &names, v + only, 1);
}

static struct session *loaded(int only, unsigned threads)
{
	struct session *s = session_new(0);

	assert_non_null(s);
	s->threads = threads;
	if (!session_guard(s, load, &only))
		fail_msg("%.*s", STR(s->error.text));
	return s;
}

struct answered_line {
	const char *words;
	struct str text;
};

static bool run(struct session *s, void *ctx)
{
	struct answered_line *l = ctx;
	struct sink *out = sink_memory(&s->query_arena);
	struct request r;

	if (!cmd_parse_line(s, str_of(l->words), &r) || !cmd_run(s, &r, out))
		return false;
	l->text = sink_text(out);
	return true;
}

static struct str ask(struct session *s, const char *words)
{
	struct answered_line l = { words, STR_NONE };

	if (!session_guard(s, run, &l))
		fail_msg("%s: %.*s", words, STR(s->error.text));
	return l.text;
}

static void each_answers_as_it_does_alone(void **state)
{
	static const char *const asked[] = {
		"scope -max_depth 100 -select micros,bytes,params,float_ops,occurrence",
		"graph -max_depth 100 -order_by micros", "op -select micros,occurrence,device",
		"code -max_depth 100 -select micros,bytes",
		"scope -account_displayed_op_only -min_micros 3 -step 4",
		"op -order_by micros -output csv", "scope -output ndjson -stats mean,p95,n"
	};
	struct session *all = loaded(-1, 2);

	(void)state;
	for (int w = 0; w < WORKERS; w++) {
		struct session *one = loaded(w, 1);
		for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
			char base[150], words[200];
			snprintf(base, sizeof base, "%s%s", asked[i],
			        strstr(asked[i], "-order_by") ? "" : " -order_by name");
			snprintf(words, sizeof words, "%s -worker_regexes w%d", base, w);
			struct str alone = ask(one, base), among = ask(all, words);
			if (!str_eq(alone, among))
				fail_msg("%s:\n%.*s\nalone:\n%.*s", words, STR(among), STR(alone));
		}
		session_free(one);
	}
	session_free(all);
}

static void threads_change_nothing(void **state)
{
	static const char words[] = "scope -by worker -select micros,bytes -max_depth 100";
	struct session *one = loaded(-1, 1), *many = loaded(-1, 8);

	(void)state;
	struct str a = ask(one, words), b = ask(many, words);
	assert_true(a.n > 1000 && str_eq(a, b));
	session_free(one);
	session_free(many);
}

/* Returns a column of a CSV row; the columns that are read contain no commas. */
static int64_t cell(struct arena *a, struct str row, size_t column)
{
	struct sb b = sb_in(a);
	int64_t v = -1;

	for (size_t i = 0; i < row.n && row.p[i] != '\r'; i++, column -= i && row.p[i - 1] == ',')
		if (column == 0 && row.p[i] != ',')
			sb_char(&b, row.p[i]);
	num_parse_i64(sb_str(&b), &v);
	return v;
}

static void columns_agree_with_rows(void **state)
{
	struct session *s = loaded(-1, 2);

	(void)state;
	struct str text = ask(s, "scope -by worker -select cpu_micros -max_depth 1");
	const char *at = strstr(str_z(&s->model_arena, text), "_TFProfRoot (--/");
	assert_non_null(at);
	struct str rows = str_copy(&s->model_arena,
	        ask(s, "scope -by worker -select cpu_micros -max_depth 1 -output csv"));
	struct strs lines = str_split(&s->model_arena, rows, '\n');
	assert_int_equal(lines.n, 1 + WORKERS);
	for (uint32_t w = 0; w < WORKERS; w++) {
		assert_true(str_starts(lines.v[1 + w], str_fmt(&s->model_arena, "w%u,", w)));
		assert_true(cell(&s->model_arena, lines.v[1 + w], 9) > 400);
	}
	assert_non_null(strstr(at, ", w0, 406us, 85.40ms, "));
	session_free(s);
}

/* ---- jobs ---- */

static bool begin_use(struct session *s, void *ctx)
{
	struct complete c;

	(void)ctx;
	if (!complete_line(s, S("use "), &c))
		return false;
	assert_int_equal(c.items.n, 2);
	assert_true(str_eq(c.items.v[0], S("graph.pb")) && str_eq(c.items.v[1], S("b")));
	assert_true(complete_line(s, S("load x=testdata/recorded/mlp_0/gra"), &c));
	assert_int_equal(c.items.n, 1);
	assert_true(str_ends(c.items.v[0], S("mlp_0/graph.pb")));
	return true;
}

static void jobs_share_an_account(void **state)
{
	struct session *first = loaded(0, 1);
	struct flags f = { .graph = S(DATA "graph.pb") };
	struct jobs j;

	(void)state;
	assert_true(jobs_begin(&j, first, &f));
	assert_true(jobs_name(&j).n == 0);
	size_t before = first->account.used;
	assert_true(str_starts(ask(first, "load b=" DATA "profile.pb"), S("b: 189 nodes")));
	struct session *b = jobs_next(&j, first);
	assert_ptr_not_equal(b, first);
	assert_true(str_eq(jobs_name(&j), S("b")));
	assert_true(first->account.used > before + 100000);
	assert_int_equal(b->account.used, 0);
	ask(b, "set -max_depth 7");
	assert_true(session_guard(b, begin_use, NULL));
	ask(b, "use graph.pb");
	assert_ptr_equal(jobs_next(&j, b), first);
	assert_int_equal(first->sticky.max_depth, 7);
	session_limit(first, first->account.used + 200000);
	struct answered_line l = { "load c=" DATA "profile.pb", STR_NONE };
	assert_false(session_guard(first, run, &l));
	assert_int_equal(first->error.code, ERR_RESOURCE);
	assert_ptr_equal(jobs_next(&j, first), first);
	assert_int_equal(j.list.n, 2);
	session_limit(first, 0);
	assert_true(str_starts(ask(first, "list"), S("* graph.pb  189 nodes, steps 4\n  b")));
	jobs_end(&j);
	session_free(first);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answers_as_it_does_alone),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(columns_agree_with_rows),
		cmocka_unit_test(jobs_share_an_account),
	};

	return unit_main(tests, argc, argv);
}
