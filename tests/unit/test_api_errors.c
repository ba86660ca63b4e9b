/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences of the public interface that the program never says; tests/errors/errors.list names
 * this file.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "api_rig.h"

#define UNUSED void **state __attribute__((unused))

static void assert_says(int code, int wanted, const char *sentence)
{
	size_t n;

	assert_string_equal(tfp_error(rig_session, &n), sentence);
	assert_int_equal(n, strlen(sentence));
	assert_int_equal(code, wanted);
	assert_int_equal(tfp_error_code(rig_session), wanted);
}

/* ---- loading ---- */

static void inputs(UNUSED)
{
	struct tfp_input in = { .size = 1 },
	                 path = { .size = sizeof path, .path = "a", .path_size = TFP_Z };
	size_t added = 7;

	assert_says(tfp_add(rig_session, TFP_GRAPH, &in), TFP_E_INVALID_ARGUMENT,
	        "the input has no size: set it to sizeof");
	in.size = offsetof(struct tfp_input, path_size) + 1;
	assert_says(tfp_add(rig_session, TFP_GRAPH, &in), TFP_E_INVALID_ARGUMENT,
	        "the input has no size: set it to sizeof");
	assert_says(tfp_add(rig_session, TFP_GRAPH, NULL), TFP_E_INVALID_ARGUMENT,
	        "the input has no size: set it to sizeof");
	assert_says(tfp_add_steps(rig_session, &in, 1, &added), TFP_E_INVALID_ARGUMENT,
	        "an input has no size: set it to sizeof");
	assert_int_equal(added, 0);
	assert_says(tfp_add(rig_session, 3, &path), TFP_E_INVALID_ARGUMENT,
	        "input kind 3 does not exist");
	assert_says(rig_add(rig_session, TFP_STEP, API_STEP, -1), TFP_E_INVALID_ARGUMENT,
	        "a step is 0 or more, not -1");
	assert_says(rig_add(rig_session, TFP_CHECKPOINT, "", 0), TFP_E_INVALID_ARGUMENT,
	        "a checkpoint is several files: it needs a path");
}

static void workers_come_first(UNUSED)
{
	struct tfp_str paths[] = { { "testdata/recorded/mlp_0/profile.pb", TFP_Z },
		{ "testdata/recorded/rnn_0/profile.pb", TFP_Z } };

	assert_says(tfp_add_paths(rig_session, paths, 2), TFP_E_FAILED,
	        "workers have to be loaded before everything else, "
	        "'testdata/recorded/mlp_0/profile.pb' among them");
}

static int stop(void *user, uint64_t done, uint64_t total)
{
	(void)user, (void)done, (void)total;
	return 1;
}

static void stopped_loading(UNUSED)
{
	struct tfp_config config = { .size = sizeof config, .progress = stop };
	char *graph = rig_large_graph();

	tfp_close(rig_session);
	assert_int_equal(tfp_open(&rig_session, &config), TFP_OK);
	assert_says(rig_add(rig_session, TFP_GRAPH, graph, 0), TFP_E_CANCELLED,
	        "reading 'memory' was cancelled");
	free(graph);
}

/* ---- options, asking ---- */

static void options(UNUSED)
{
	struct tfp_str two[] = { { "1", TFP_Z }, { "2", TFP_Z } };

	assert_says(tfp_set(rig_session, "max_depth", TFP_Z, two, 2, 0), TFP_E_INVALID_ARGUMENT,
	        "-max_depth takes one value, not 2");
	assert_says(tfp_set(rig_session, "max_depth", TFP_Z, two, 0, 0), TFP_E_INVALID_ARGUMENT,
	        "-max_depth takes one value, not 0");
}

static void commands(UNUSED)
{
	struct tfp_str checker = { "NoChecker", TFP_Z };
	struct tfp_run none = { .size = 1 },
	               advise = { .size = sizeof advise, .checkers = &checker, .n_checkers = 1 };

	assert_says(tfp_run(rig_session, "scope", TFP_Z, &none), TFP_E_INVALID_ARGUMENT,
	        "struct tfp_run has no size: set it to sizeof");
	assert_says(tfp_run_line(rig_session, "scope", TFP_Z, &none), TFP_E_INVALID_ARGUMENT,
	        "struct tfp_run has no size: set it to sizeof");
	assert_says(tfp_run(rig_session, "advise", TFP_Z, &advise), TFP_E_INVALID_ARGUMENT,
	        "unknown checker 'NoChecker'");
	assert_says(tfp_run(rig_session, "help", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT,
	        "'help' is not a view; views are scope, graph, op, code, advise");
	assert_says(tfp_run_line(rig_session, "quit", TFP_Z, NULL), TFP_E_INVALID_ARGUMENT,
	        "'quit' is available only in the program");
}

static void what_is_not_loaded(UNUSED)
{
	assert_says(tfp_run_line(rig_session, "code", TFP_Z, NULL), TFP_E_STEP,
	        "call stacks are missing: load an op log, or a profile with call stacks");
	assert_says(tfp_run_line(rig_session, "scope -step 4", TFP_Z, NULL), TFP_E_STEP,
	        "step 4 is not loaded; available steps: 3");
}

static void stopped_output(UNUSED)
{
	struct got enough = { .answer = 1 };
	struct tfp_run run = { .size = sizeof run, .text = rig_take, .text_user = &enough };

	assert_says(tfp_run_line(rig_session, API_VIEW, TFP_Z, &run), TFP_E_CANCELLED,
	        "cancelled: the receiver of the output stopped");
}

/* ---- callbacks ---- */

/* Tries to use the session; stores the result. */
static int use(void *user, const void *bytes, size_t n)
{
	int *codes = user;
	double coverage;

	(void)bytes, (void)n;
	codes[0] = tfp_run_line(rig_session, API_VIEW, TFP_Z, NULL);
	assert_string_equal(tfp_error(rig_session, NULL),
	        "the session is in use: a callback may only call tfp_cancel and tfp_close");
	codes[1] = tfp_coverage(rig_session, &coverage);
	codes[2] = (int)tfp_steps(rig_session, NULL, 0);
	return 0;
}

static int use_progress(void *user, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return use(user, NULL, 0);
}

static int close_it(void *user, const void *bytes, size_t n)
{
	(void)user, (void)bytes, (void)n;
	tfp_close(rig_session);
	return 0;
}

static void used_by_a_callback(UNUSED)
{
	int codes[3] = { 0 };
	struct tfp_run run = { .size = sizeof run, .text = use, .text_user = codes };
	struct tfp_config config = {
		.size = sizeof config, .progress = use_progress, .user = codes
	};

	assert_says(tfp_run_line(rig_session, API_VIEW, TFP_Z, &run), TFP_OK, "");
	assert_int_equal(codes[0], TFP_E_FAILED);
	assert_int_equal(codes[1], TFP_E_FAILED);
	assert_int_equal(codes[2], 0);
	assert_int_equal(tfp_steps(rig_session, NULL, 0), 1);
	tfp_close(rig_session);
	assert_int_equal(tfp_open(&rig_session, &config), TFP_OK);
	codes[0] = codes[2] = 7;
	assert_says(rig_add(rig_session, TFP_STEP, API_STEP, 3), TFP_OK, "");
	assert_int_equal(codes[0], TFP_E_FAILED);
	assert_int_equal(codes[2], 0);
}

static void closed_by_a_callback(UNUSED)
{
	struct tfp_run run = { .size = sizeof run, .text = close_it, .result = close_it };

	tfp_run_line(rig_session, API_VIEW, TFP_Z, &run);
	rig_session = NULL;
}

static void nowhere_to_go(UNUSED)
{
	assert_int_equal(tfp_open(NULL, NULL), TFP_E_INVALID_ARGUMENT);
	assert_says(tfp_coverage(rig_session, NULL), TFP_OK, "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { IN_SESSION(inputs), IN_SESSION(workers_come_first),
		IN_SESSION(stopped_loading), IN_SESSION(options), IN_SESSION(commands),
		IN_SESSION(what_is_not_loaded), IN_SESSION(stopped_output),
		IN_SESSION(used_by_a_callback), IN_SESSION(closed_by_a_callback),
		IN_SESSION(nowhere_to_go) };

	return unit_main(tests, argc, argv);
}
