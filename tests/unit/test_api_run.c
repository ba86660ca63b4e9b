/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: options and answers, as a caller sees them.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "api_rig.h"

static void test_answers(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got text = { 0 }, message = { 0 };
	struct tfp_run run = { .size = sizeof run,
		.text = rig_take,
		.text_user = &text,
		.result = rig_take,
		.result_user = &message };

	(void)state;
	assert_string_equal(tfp_error(s, NULL), "");
	assert_int_equal(tfp_run_line(s, API_VIEW, TFP_Z, &run), TFP_OK);
	assert_non_null(strstr(text.text, API_SHOWN));
	assert_memory_equal(message.text, "\n\13_TFProfRoot", 13);
	assert_int_equal(tfp_run(s, "scope", TFP_Z, NULL), TFP_OK);
	run.size = offsetof(struct tfp_run, result); /* an older caller */
	message.n = 0;
	assert_int_equal(tfp_run(s, "scopeXX", 5, &run), TFP_OK);
	assert_int_equal(message.n, 0);
	tfp_close(s);
}

static int set(
        struct tfp_session *s, const char *name, const char *one, const char *two, unsigned flags)
{
	struct tfp_str v[2] = { { one, TFP_Z }, { two, TFP_Z } };

	return tfp_set(s, name, TFP_Z, v, two ? 2 : one ? 1 : 0, flags);
}

static void test_options(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got got;

	(void)state;
	assert_int_equal(set(s, "show_name_regexes", "a,b{0,1}", "a/b", 0), TFP_OK);
	assert_int_equal(
	        set(s, "select", "float_ops", "no_such_metric", 0), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(set(s, "select", "params", "no_such_metric", TFP_LENIENT), TFP_OK);
	assert_int_equal(set(s, "order_by", "", NULL, TFP_LENIENT), TFP_OK);
	assert_int_equal(set(s, "max_depth", "4", "5", 0), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(set(s, "min_micros", NULL, NULL, 0), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(set(s, "max_dept", "4", NULL, 0), TFP_E_INVALID_ARGUMENT);
	assert_non_null(strstr(tfp_error(s, NULL), "max_depth"));
	assert_int_equal(rig_line(s, "", &got), TFP_OK);
	assert_non_null(strstr(got.text, "-show_name_regexes          a,b{0,1},a/b\n"));
	assert_non_null(strstr(got.text, "-select                     no_such_metric,params\n"));
	assert_int_equal(rig_line(s, "scope", &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/0 params)\n  a/b (0/0 params)\n"));
	assert_int_equal(tfp_reset(s), TFP_OK);
	assert_int_equal(rig_line(s, "", &got), TFP_OK);
	assert_non_null(strstr(got.text, "-show_name_regexes          .*\n"));
	assert_int_equal(rig_line(s, "set -max_depth 1", &got), TFP_OK);
	assert_int_equal(rig_line(s, API_VIEW, &got), TFP_OK);
	assert_null(strstr(got.text, "a/b"));
	tfp_close(s);
}

static void test_banners(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got got = { 0 };
	struct tfp_run run = {
		.size = sizeof run, .flags = TFP_BANNERS, .text = rig_take, .text_user = &got
	};
	const char *end = "\n======================End of Report==========================\n";

	(void)state;
	assert_int_equal(tfp_run_line(s, API_VIEW, TFP_Z, &run), TFP_OK);
	assert_memory_equal(got.text,
	        "\n=========================Options============================="
	        "\n-max_depth                  10\n",
	        93);
	assert_non_null(
	        strstr(got.text, "-output                     stdout:\n\n==================Model "
	                         "Analysis Report======================\n\nDoc:\n"));
	assert_string_equal(got.text + got.n - strlen(end), end);
	memset(&got, 0, sizeof got);
	assert_int_equal(tfp_run_line(s, "scope -output none", TFP_Z, &run), TFP_OK);
	assert_int_equal(got.n, 0);
	tfp_close(s);
}

static void test_advise(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct tfp_str names[] = { { "OperationChecker", TFP_Z }, { "JobChecker", TFP_Z } };
	struct got text = { 0 }, message = { 0 };
	struct tfp_run run = { .size = sizeof run,
		.text = rig_take,
		.text_user = &text,
		.result = rig_take,
		.result_user = &message,
		.checkers = names,
		.n_checkers = 2 };

	(void)state;
	assert_int_equal(tfp_run(s, "advise", TFP_Z, &run), TFP_OK);
	assert_string_equal(text.text, "\nOperationChecker:\n");
	assert_memory_equal(message.text, "\n\24\n\20OperationChecker\22\0", 22);
	names[0].data = "NoChecker";
	assert_int_equal(tfp_run(s, "advise", TFP_Z, &run), TFP_E_INVALID_ARGUMENT);
	tfp_close(s);
}

static void test_cancel(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got text = { 0 }, message = { 0 };
	struct tfp_run run = { .size = sizeof run,
		.text = rig_take,
		.text_user = &text,
		.result = rig_take,
		.result_user = &message };

	(void)state;
	tfp_cancel(s); /* nothing is in progress */
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_OK);
	text = message = (struct got){ .cancel = s };
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_E_CANCELLED);
	assert_int_equal(text.calls, 1);
	assert_int_equal(message.calls, 0);
	text = (struct got){ .answer = 1 };
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_E_CANCELLED);
	text = message = (struct got){ 0 };
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_OK);
	assert_true(message.n > 0);
	tfp_close(s);
}

/* Data come to the same callback; lists of steps and statistics are lists of values too. */
static void test_data(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got got = { 0 };
	struct tfp_run run = { .size = sizeof run, .text = rig_take, .text_user = &got };

	(void)state;
	assert_int_equal(set(s, "output", "ndjson", NULL, 0), TFP_OK);
	assert_int_equal(set(s, "stats", "n", "mean", 0), TFP_OK);
	assert_int_equal(set(s, "step", "3", "4..9", 0), TFP_OK);
	assert_int_equal(set(s, "show_name_regexes", "a/b", NULL, 0), TFP_OK);
	assert_int_equal(set(s, "select", "cpu_micros", NULL, 0), TFP_OK);
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_OK);
	assert_non_null(strstr(got.text, "{\"path\":\"a/b\",\"parent\":\"_TFProfRoot\","));
	assert_non_null(strstr(got.text, "\"own_cpu_micros\":7,\"total_cpu_micros\":7,"
	                                 "\"own_cpu_micros_mean\":7,\"total_cpu_micros_mean\":7,"
	                                 "\"own_n\":1,\"total_n\":1}\n"));
	assert_int_equal(set(s, "output", "json", NULL, 0), TFP_OK);
	got.n = 0;
	assert_int_equal(tfp_run(s, "advise", TFP_Z, &run), TFP_OK);
	assert_non_null(strstr(got.text, "\"schema\":{\"name\":\"tfprof/advice\",\"version\":1}"));
	got = (struct got){ .answer =
		                    1 }; /* a callback that returned an error is not called again */
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_E_CANCELLED);
	assert_int_equal(set(s, "stats", "mode", NULL, 0), TFP_E_INVALID_ARGUMENT);
	tfp_close(s);
}

/* Words of a command are used literally, also blanks in them. */
static void test_words(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct got got = { 0 };
	const struct tfp_str words[] = { { "-show_name_regexes", TFP_Z }, { "a|x y", TFP_Z },
		{ "-output=csv", TFP_Z } };
	struct tfp_run run = { sizeof run, .text = rig_take, .text_user = &got, .words = words,
		.n_words = 3 };

	(void)state;
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_OK);
	assert_non_null(strstr(got.text, "\na,"));
	assert_null(strstr(got.text, "a/b"));
	got = (struct got){ 0 };
	run.n_words = 1;
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_E_INVALID_ARGUMENT);
	run.size = offsetof(struct tfp_run, words); /* an older caller */
	assert_int_equal(tfp_run(s, "scope", TFP_Z, &run), TFP_OK);
	tfp_close(s);
}

/* The error of a damaged input names the input and the byte; other errors have no place. */
static void test_place_of_error(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct tfp_input in = { sizeof in, .path = "x.pb", .path_size = TFP_Z, .bytes = "\x0a\x7f",
		.bytes_size = 2 };
	int64_t offset = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(tfp_add(s, TFP_STEP, &in), TFP_E_DATA_LOSS);
	assert_string_equal(tfp_error_file(s, &n, &offset), "x.pb");
	assert_int_equal(n, 4);
	assert_non_null(strstr(tfp_error(s, NULL), "byte 2"));
	assert_int_equal(offset, 2);
	assert_int_equal(tfp_run(s, "no_command", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT);
	assert_null(tfp_error_file(s, &n, &offset));
	assert_int_equal(n, 0);
	assert_int_equal(offset, -1);
	assert_int_equal(tfp_write_profile(s, "/no/such/x", TFP_Z, NULL, NULL), TFP_E_NOT_FOUND);
	assert_string_equal(tfp_error_file(s, NULL, &offset), "/no/such/x");
	assert_int_equal(offset, -1);
	assert_int_equal(tfp_run(s, "scope", TFP_Z, NULL), TFP_OK);
	assert_null(tfp_error_file(s, NULL, NULL));
	tfp_close(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_banners),
		cmocka_unit_test(test_advise),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_place_of_error),
	};

	return unit_main(tests, argc, argv);
}
