/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: inputs that are recognised by their content, and differences of sessions.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "api_rig.h"

#define EXAMPLE "testdata/example/"

static struct tfp_session *opened(void)
{
	struct tfp_session *s;

	assert_int_equal(tfp_open(&s, NULL), TFP_OK);
	return s;
}

static int add_files(struct tfp_session *s, const char *one, const char *two, const char *three)
{
	struct tfp_str v[] = { { one, TFP_Z }, { two, TFP_Z }, { three, TFP_Z } };

	return tfp_add_files(s, v, three ? 3 : two ? 2 : 1);
}

static void test_files_are_sorted(void **state)
{
	struct tfp_session *s = opened();
	struct got got;

	(void)state;
	assert_int_equal(
	        add_files(s, EXAMPLE "run_meta_0", EXAMPLE "tfprof_log", EXAMPLE "graph.pbtxt"),
	        TFP_OK);
	assert_int_equal(tfp_steps(s, NULL, 0), 1);
	assert_int_equal(rig_line(s, "top -n 1", &got), TFP_OK);
	assert_non_null(strstr(got.text, "input/DecodeJpeg"));
	assert_int_equal(add_files(s, EXAMPLE "profile_100", NULL, NULL), TFP_E_INVALID_ARGUMENT);
	assert_non_null(strstr(
	        tfp_error(s, NULL), "files of any kind have to be added before everything else"));
	tfp_close(s);
	s = opened();
	assert_int_equal(add_files(s, "/no/such", NULL, NULL), TFP_E_NOT_FOUND);
	assert_int_equal(add_files(s, EXAMPLE "README.md", NULL, NULL), TFP_E_DATA_LOSS);
	assert_int_equal(add_files(s, EXAMPLE "profile_100", NULL, NULL), TFP_OK);
	tfp_close(s);
}

static void test_any(void **state)
{
	struct tfp_session *s = opened();
	struct tfp_input in = {
		.size = sizeof in, .path = "testdata/traces/trace.xplane.pb", .path_size = TFP_Z
	};
	double coverage = 0;
	struct got got;

	(void)state;
	assert_int_equal(tfp_add(s, TFP_ANY, &in), TFP_OK);
	assert_int_equal(tfp_coverage(s, &coverage), TFP_OK);
	assert_true(coverage > 0 && coverage <= 1);
	tfp_close(s);
	s = opened();
	assert_int_equal(rig_add(s, TFP_ANY, API_STEP, 5), TFP_OK); /* run metadata in memory */
	assert_int_equal(rig_line(s, "scope -select micros -step 5", &got), TFP_OK);
	assert_non_null(strstr(got.text, API_SHOWN));
	tfp_close(s);
	s = opened();
	assert_int_equal(rig_add(s, TFP_ANY, "\x89PNG\r\n", 0), TFP_E_DATA_LOSS);
	tfp_close(s);
}

static int diff(struct tfp_session *a, struct tfp_session *b, const char *one, const char *two,
        struct got *got)
{
	struct tfp_str words[] = { { one, TFP_Z }, { two, TFP_Z } };
	struct tfp_run run = { .size = sizeof run, .text = rig_take, .text_user = got };

	memset(got, 0, sizeof *got);
	return tfp_diff(a, b, words, two ? 2 : one ? 1 : 0, &run);
}

static void test_difference(void **state)
{
	struct tfp_session *a = rig_loaded(0), *b = rig_loaded(0);
	struct got got;

	(void)state;
	assert_int_equal(rig_add(b, TFP_STEP, API_STEP, 3), TFP_OK); /* added twice: times double */
	assert_int_equal(diff(a, b, "-output=csv", "-select=cpu_micros", &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot,")); /* 12us -> 24us */
	assert_non_null(strstr(got.text, ",12,"));
	assert_int_equal(diff(b, a, "-output=csv", "-select=cpu_micros", &got), TFP_OK);
	assert_non_null(strstr(got.text, ",-12,"));
	assert_int_equal(diff(a, b, "-all", "--gate=total.micros<1us", &got), TFP_E_FAILED);
	assert_non_null(strstr(tfp_error(a, NULL), "1 of 1 gate fails"));
	assert_true(got.n > 0);
	assert_int_equal(diff(a, a, "left@3", "right@slowest", &got), TFP_OK);
	assert_non_null(strstr(tfp_notes(a, NULL), "the slowest step is 3"));
	assert_int_equal(diff(a, b, "left@9", NULL, &got), TFP_E_STEP);
	assert_int_equal(diff(a, b, "--gate=x", NULL, &got), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(diff(a, NULL, NULL, NULL, &got), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(rig_line(a, API_VIEW, &got), TFP_OK); /* both can still be used */
	assert_int_equal(rig_line(b, API_VIEW, &got), TFP_OK);
	assert_int_equal(rig_line(b, "list", &got), TFP_E_INVALID_ARGUMENT);
	tfp_close(b);
	tfp_close(a);
}

/* During a call both sessions are in use. */
static int use_other(void *other, const void *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	return tfp_run(other, "scope", TFP_Z, NULL) != TFP_E_FAILED;
}

static void test_in_use(void **state)
{
	struct tfp_session *a = rig_loaded(0), *b = rig_loaded(0);
	struct tfp_run run = { .size = sizeof run, .text = use_other, .text_user = b };
	struct tfp_str all = { "-all", TFP_Z };

	(void)state;
	assert_int_equal(tfp_diff(a, b, &all, 1, &run), TFP_OK);
	run.text_user = a;
	assert_int_equal(tfp_diff(a, b, &all, 1, &run), TFP_OK);
	tfp_close(a);
	tfp_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_sorted),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_in_use),
	};

	return unit_main(tests, argc, argv);
}
