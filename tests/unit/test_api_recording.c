/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings through the public interface: a file, a folder with its own options, memory, and
 * refusals.
 */
#include "unit.h"

#define _GNU_SOURCE 1
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_rig.h"

#define SPOOL "testdata/small/train.tfspool"

static char bytes[1 << 16];
static size_t n_bytes;

static struct tfp_session *opened(void)
{
	struct tfp_session *s;

	assert_int_equal(tfp_open(&s, NULL), TFP_OK);
	return s;
}

/* Adds the recording with up to two options. */
static int add(struct tfp_session *s, const char *path, bool memory, const char *a, const char *b)
{
	struct tfp_str how[] = { { a, TFP_Z }, { b, TFP_Z } };
	struct tfp_input in = { .size = sizeof in,
		.path = path,
		.path_size = TFP_Z,
		.bytes = memory ? bytes : NULL,
		.bytes_size = n_bytes,
		.how = how,
		.n_how = b   ? 2
		         : a ? 1
		             : 0 };

	return tfp_add(s, TFP_SPOOL, &in);
}

static const char *scope(struct tfp_session *s)
{
	static struct got got;

	assert_int_equal(rig_line(s, "scope -max_depth 9 -select occurrence", &got), TFP_OK);
	return got.text;
}

static void test_from_a_file_and_from_memory(void **state)
{
	struct tfp_session *s = opened();
	char first[sizeof((struct got *)0)->text];

	(void)state;
	assert_int_equal(add(s, SPOOL, false, NULL, NULL), TFP_OK);
	assert_int_equal(tfp_steps(s, NULL, 0), 1);
	assert_non_null(strstr(scope(s), "ProfilerStep/forward/aten.linear/"));
	strcpy(first, scope(s));
	tfp_close(s);
	s = opened();
	assert_int_equal(add(s, NULL, true, NULL, NULL), TFP_OK);
	assert_string_equal(scope(s), first);
	tfp_close(s);
}

static void test_is_read_as_told(void **state)
{
	struct tfp_session *s = opened();

	(void)state;
	assert_int_equal(add(s, SPOOL, true, "step-nvtx=pytorch", "keep-warmup"), TFP_OK);
	assert_null(strstr(scope(s), "ProfilerStep"));
	assert_non_null(strstr(scope(s), "  forward/aten.linear/ampere_sgemm_128x64_tn"));
	tfp_close(s);
	s = opened();
	assert_int_equal(add(s, SPOOL, false, "step-nvtx=pytorch", "leaf=op"), TFP_OK);
	assert_non_null(strstr(scope(s), "  forward/aten.linear (1/1|1/1)\n"));
	assert_null(strstr(scope(s), "ampere"));
	assert_int_equal(add(s, SPOOL, false, NULL, NULL), TFP_E_INVALID_ARGUMENT);
	assert_non_null(strstr(tfp_error(s, NULL), "has steps of its own"));
	tfp_close(s);
}

static void test_a_folder_has_defaults(void **state)
{
	char folder[] = "/tmp/tfprof-spool-XXXXXX", path[64];
	struct tfp_session *s = opened();
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(add(s, folder, false, NULL, NULL), TFP_E_NOT_FOUND);
	snprintf(path, sizeof path, "%s/a.tfspool", folder);
	f = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n_bytes, f), n_bytes);
	fclose(f);
	snprintf(path, sizeof path, "%s/options", folder);
	f = fopen(path, "wb");
	fputs("--leaf=op\n--step-nvtx=pytorch\n", f);
	fclose(f);
	assert_int_equal(add(s, folder, false, NULL, NULL), TFP_OK);
	assert_null(strstr(scope(s), "ampere"));
	tfp_close(s);
	s = opened();
	assert_int_equal(add(s, folder, false, "leaf=kernel", NULL), TFP_OK);
	assert_non_null(strstr(scope(s), "  forward/aten.linear/ampere"));
	tfp_close(s);
	unlink(path);
	snprintf(path, sizeof path, "%s/a.tfspool", folder);
	unlink(path);
	rmdir(folder);
}

static void test_refusals(void **state)
{
	struct tfp_session *s = opened();

	(void)state;
	assert_int_equal(add(s, SPOOL, false, "leafs=op", NULL), TFP_E_INVALID_ARGUMENT);
	assert_string_equal(
	        tfp_error(s, NULL), "a recording has no option 'leafs'; did you mean 'leaf'?");
	assert_int_equal(add(s, SPOOL, false, "graph_path=x", NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(add(s, SPOOL, false, "leaf", NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(add(s, SPOOL, false, "keep-warmup=1", NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(add(s, SPOOL, false, "step-nvtx=(", NULL), TFP_E_INVALID_ARGUMENT);
	assert_int_equal(add(s, SPOOL, false, "job=none", NULL), TFP_E_NOT_FOUND);
	assert_int_equal(add(s, "/no/such", false, NULL, NULL), TFP_E_NOT_FOUND);
	assert_int_equal(rig_add(s, TFP_SPOOL, "no spool", 0), TFP_E_DATA_LOSS);
	assert_int_equal(tfp_steps(s, NULL, 0), 0);
	assert_int_equal(add(s, SPOOL, false, NULL, NULL), TFP_OK);
	tfp_close(s);
}

/* Structs of callers that were built before spools end before the new fields. */
static void test_an_older_input(void **state)
{
	struct tfp_session *s = opened();
	struct tfp_input in = { .size = offsetof(struct tfp_input, how),
		.path = SPOOL,
		.path_size = TFP_Z,
		.how = (const struct tfp_str *)(uintptr_t)1,
		.n_how = 1 };

	(void)state;
	assert_int_equal(tfp_add(s, TFP_SPOOL, &in), TFP_OK);
	tfp_close(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_a_file_and_from_memory),
		cmocka_unit_test(test_is_read_as_told),
		cmocka_unit_test(test_a_folder_has_defaults),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_an_older_input),
	};
	FILE *f = fopen(SPOOL, "rb");

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	n_bytes = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f)
		fclose(f);
	return n_bytes ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
