/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: sessions, loading, errors, threads, as a caller sees them.
 */
#include "unit.h"

#define _GNU_SOURCE 1
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_rig.h"

static void test_knows_what_is_loaded(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	int64_t steps[2] = { 0, -7 };
	double coverage = 0;

	(void)state;
	assert_int_equal(tfp_steps(s, NULL, 0), 1);
	assert_int_equal(tfp_steps(s, steps, 1), 1);
	assert_int_equal(steps[0], 3);
	assert_int_equal(steps[1], -7);
	assert_string_equal(tfp_device(s, 0, NULL), "/cpu:0");
	assert_null(tfp_device(s, 1, NULL));
	assert_int_equal(tfp_coverage(s, &coverage), TFP_OK);
	assert_true(coverage > 0);
	tfp_close(s);
}

static void test_errors_leave_it_usable(void **state)
{
	struct tfp_session *s = rig_loaded(0);
	struct tfp_input in = { .size = sizeof in, .path = "/no/such", .path_size = TFP_Z };
	struct got got;

	(void)state;
	assert_int_equal(tfp_add(s, TFP_GRAPH, &in), TFP_E_NOT_FOUND);
	assert_string_equal(
	        tfp_error(s, NULL), "cannot open '/no/such': No such file or directory");
	assert_int_equal(tfp_error_code(s), TFP_E_NOT_FOUND);
	assert_int_equal(rig_add(s, TFP_STEP, "step_stats {", 4), TFP_E_DATA_LOSS);
	assert_int_equal(rig_add(s, TFP_STEP, API_STEP, -1), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(rig_add(s, TFP_CHECKPOINT, "", 0), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(rig_add(s, 77, "", 0), TFP_E_INVALID_ARGUMENT);
	in.size = 0;
	assert_int_equal(tfp_add(s, TFP_GRAPH, &in), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(tfp_run(s, "scop", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT);
	assert_non_null(strstr(tfp_error(s, NULL), "did you mean 'scope'?"));
	assert_int_equal(tfp_run(s, "set", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(rig_line(s, "scope -step 9", &got), TFP_E_STEP);
	assert_string_equal(
	        tfp_notes(s, NULL), "Options -step=9 not found.\nAvailable steps: 3 \n");
	assert_int_equal(rig_line(s, API_VIEW, &got), TFP_OK);
	assert_non_null(strstr(got.text, API_SHOWN));
	assert_string_equal(tfp_notes(s, NULL), "");
	assert_string_equal(tfp_code_name(TFP_E_DATA_LOSS), "DATA_LOSS");
	assert_string_equal(tfp_code_name(-3), "UNKNOWN");
	tfp_close(s);
}

static void test_profiles(void **state)
{
	struct tfp_session *s = rig_loaded(TFP_KEEP_ATTRS), *again;
	struct got got = { 0 }, file;
	struct tfp_input in = { .size = sizeof in, .path = "api.profile", .path_size = TFP_Z };

	(void)state;
	assert_int_equal(tfp_write_profile(s, NULL, 0, rig_take, &got), TFP_OK);
	assert_int_equal(tfp_write_profile(s, "/no/folder/p", TFP_Z, NULL, NULL), TFP_E_NOT_FOUND);
	assert_int_equal(tfp_write_profile(s, in.path, TFP_Z, NULL, NULL), TFP_OK);
	assert_int_equal(tfp_open(&again, NULL), TFP_OK);
	assert_int_equal(tfp_add(again, TFP_PROFILE, &in), TFP_OK);
	unlink(in.path);
	assert_int_equal(rig_line(again, API_VIEW, &file), TFP_OK);
	assert_non_null(strstr(file.text, API_SHOWN));
	tfp_close(again);
	assert_int_equal(tfp_open(&again, NULL), TFP_OK);
	in.bytes = got.text;
	in.bytes_size = got.n;
	assert_int_equal(tfp_add(again, TFP_PROFILE, &in), TFP_OK);
	assert_int_equal(rig_line(again, API_VIEW, &file), TFP_OK);
	assert_non_null(strstr(file.text, API_SHOWN));
	tfp_close(again);
	tfp_close(s);
}

/* A session that could not be opened can be passed to every function. */
static void test_no_session(void **state)
{
	struct tfp_input in = { .size = sizeof in };
	int64_t step = -7;
	double coverage;

	(void)state;
	assert_int_equal(tfp_add(NULL, TFP_GRAPH, &in), TFP_E_MEMORY);
	assert_int_equal(tfp_add_steps(NULL, &in, 1, NULL), TFP_E_MEMORY);
	assert_int_equal(tfp_coverage(NULL, &coverage), TFP_E_MEMORY);
	assert_int_equal(tfp_set(NULL, "step", TFP_Z, NULL, 0, 0), TFP_E_MEMORY);
	assert_int_equal(tfp_reset(NULL), TFP_E_MEMORY);
	assert_int_equal(tfp_run(NULL, "scope", TFP_Z, NULL), TFP_E_MEMORY);
	assert_int_equal(tfp_run_line(NULL, "scope", TFP_Z, NULL), TFP_E_MEMORY);
	assert_int_equal(tfp_write_profile(NULL, "f", TFP_Z, NULL, NULL), TFP_E_MEMORY);
	assert_int_equal(tfp_steps(NULL, &step, 1), 0);
	assert_null(tfp_device(NULL, 0, NULL));
	tfp_cancel(NULL);
	tfp_close(NULL);
}

struct watched {
	unsigned calls, stop_at;
	uint64_t done, total;
};

static int watch(void *user, uint64_t done, uint64_t total)
{
	struct watched *w = user;

	assert_true(done >= w->done && done <= total);
	w->done = done;
	w->total = total;
	return ++w->calls == w->stop_at;
}

static void test_progress(void **state)
{
	char *graph = rig_large_graph();
	struct watched w = { 0 };
	struct tfp_config config = { .size = sizeof config, .progress = watch, .user = &w };
	struct tfp_session *s;

	(void)state;
	assert_int_equal(tfp_open(&s, &config), TFP_OK);
	w.stop_at = 2;
	assert_int_equal(rig_add(s, TFP_GRAPH, graph, 0), TFP_E_CANCELLED);
	assert_int_equal(w.calls, 2);
	w = (struct watched){ 0 };
	assert_int_equal(rig_add(s, TFP_GRAPH, graph, 0), TFP_OK);
	assert_true(w.calls > 3 && w.done == w.total && w.total == strlen(graph));
	tfp_close(s);
	free(graph);
}

static void test_memory_limit(void **state)
{
	char *graph = rig_large_graph();
	struct tfp_config config = { .size = sizeof config, .memory_limit = 1000000 };
	struct tfp_session *s;

	(void)state;
	assert_int_equal(tfp_open(&s, &config), TFP_OK);
	assert_int_equal(rig_add(s, TFP_GRAPH, graph, 0), TFP_E_MEMORY);
	assert_string_equal(tfp_error(s, NULL), "the memory limit of 1000000 bytes is reached");
	assert_int_equal(tfp_run(s, "scope", TFP_Z, NULL), TFP_E_FAILED);
	tfp_close(s);
	config.memory_limit = 1;
	assert_int_equal(tfp_open(&s, &config), TFP_OK);
	assert_int_equal(rig_add(s, TFP_GRAPH, graph, 0), TFP_E_MEMORY);
	assert_string_equal(tfp_error(s, NULL), "the memory limit of 1 bytes is reached");
	tfp_close(s);
	free(graph);
}

static int see_locale(void *user, const void *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	*(locale_t *)user = uselocale((locale_t)0);
	return 0;
}

static void test_locale_of_the_caller(void **state)
{
	locale_t before = uselocale((locale_t)0),
	         own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	struct tfp_session *s = rig_loaded(0);
	locale_t inside = own;
	struct tfp_run run = { .size = sizeof run, .text = see_locale, .text_user = &inside };

	(void)state;
	uselocale(own);
	assert_int_equal(tfp_run_line(s, API_VIEW, TFP_Z, &run), TFP_OK);
	assert_true(uselocale(before) == own);
	assert_true(inside != own);
	freelocale(own);
	tfp_close(s);
}

/* One thread with a session of its own; steps are read by more. */
static void *use_session(void *unused)
{
	struct tfp_session *s = rig_loaded(0);
	struct tfp_input in[3];
	struct got got;
	size_t added;

	for (int i = 0; i < 3; i++)
		in[i] = (struct tfp_input){ .size = sizeof *in,
			.path = "s",
			.path_size = 1,
			.bytes = API_STEP,
			.bytes_size = sizeof API_STEP - 1,
			.step = 10 + i };
	in[2].bytes_size = 12;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(tfp_add_steps(s, in, 3, &added), TFP_E_DATA_LOSS);
		assert_int_equal(added, 2);
		assert_int_equal(rig_line(s, "scope -step 3 -select micros", &got), TFP_OK);
		assert_non_null(strstr(got.text, API_SHOWN));
	}
	tfp_close(s);
	return unused;
}

static void test_threads(void **state)
{
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, use_session, NULL), 0);
	use_session(NULL);
	pthread_join(other, NULL);
}

/* The list of libraries ends, and a smaller struct is filled as far as it goes. */
static void test_libraries(void **state)
{
	struct tfp_library x = { .size = sizeof x };
	size_t n = 0;

	(void)state;
	for (; tfp_library(n, &x) == TFP_OK; n++) {
		assert_true(x.name[0] && x.size == sizeof x && (x.available || !x.version[0]));
		if (strcmp(x.name, "pcre2") == 0)
			assert_non_null(strstr(x.feature, "JIT"));
	}
	assert_int_equal(n, 7);
	assert_int_equal(tfp_library(n, &x), TFP_E_NOT_FOUND);
	x = (struct tfp_library){ .size = offsetof(struct tfp_library, version), .version = "?" };
	assert_int_equal(tfp_library(0, &x), TFP_OK);
	assert_string_equal(x.name, "protobuf-c");
	assert_string_equal(x.version, "?");
	x.size = sizeof(size_t);
	assert_int_equal(tfp_library(0, &x), TFP_E_INVALID_ARGUMENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_knows_what_is_loaded),
		cmocka_unit_test(test_errors_leave_it_usable),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_no_session),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_locale_of_the_caller),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_libraries),
	};

	return unit_main(tests, argc, argv);
}
