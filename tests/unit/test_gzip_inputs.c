/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged gzip files of every format: no changed bit and no missing byte goes unnoticed, although
 * the readers of some formats do not read to the end of the data.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_rig.h"
#include "io/src.h"

#define TRACES  "testdata/traces/"
#define SMALL   "testdata/small/"
#define HEADER  10 /* bytes of a header without a name */
#define TRAILER 8  /* checksum and length */

static const char *const files[] = { TRACES "calls.json", TRACES "calls.pt.trace.json",
	TRACES "nsys.sqlite", TRACES "onnxruntime.json", TRACES "rocprof_results.json",
	TRACES "tensorrt_layers.json", TRACES "tensorrt_times.json", TRACES "trace.pftrace",
	TRACES "trace.xplane.pb", SMALL "views.graph.pbtxt", SMALL "views.op_log.pbtxt" };

/* How a file is loaded. */
struct result {
	int code;
	char said[4096]; /* error and notes */
};

static struct result load(struct str bytes, bool recover)
{
	struct tfp_config config = { .size = sizeof config, .flags = recover ? TFP_RECOVER : 0 };
	struct tfp_input in = { .size = sizeof in, .bytes = bytes.p, .bytes_size = bytes.n };
	struct result r;
	struct tfp_session *s;

	assert_int_equal(tfp_open(&s, &config), TFP_OK);
	r.code = tfp_add(s, TFP_ANY, &in);
	snprintf(r.said, sizeof r.said, "%s\n%s", tfp_error(s, NULL), tfp_notes(s, NULL));
	tfp_close(s);
	return r;
}

/* Reads a file and compresses it. */
static struct str packed(const char *path)
{
	struct sink *to = sink_memory(&unit_arena), *gz = gzip_sink(&unit_arena, to);
	struct err e = { .a = &unit_arena };
	static char bytes[64 << 10];
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	sink_put(gz, str_make(bytes, fread(bytes, 1, sizeof bytes, f)));
	assert_true(feof(f));
	fclose(f);
	assert_true(sink_close(gz, &e));
	return sink_text(to);
}

static void check_checksums(struct str gz)
{
	uint8_t *last = (uint8_t *)(uintptr_t)gz.p + gz.n - TRAILER;
	struct result whole = load(gz, false), damaged;

	assert_int_equal(whole.code, TFP_OK);
	assert_null(strstr(whole.said, "gzip"));
	for (size_t i = 0; i < TRAILER; i++) {
		last[i] ^= 1;
		damaged = load(gz, false);
		assert_int_equal(damaged.code, TFP_E_DATA_LOSS);
		if (!strstr(damaged.said, "does not match the data"))
			fail_msg("byte %zu of the trailer: %s", i, damaged.said);
		last[i] ^= 1;
	}
}

static void check_missing_bytes(struct str gz)
{
	for (size_t n = 1; n <= TRAILER + 2; n++) {
		struct result cut = load(str_sub(gz, 0, gz.n - n), false);
		assert_true(cut.code == TFP_OK || cut.code == TFP_E_DATA_LOSS);
		assert_non_null(strstr(cut.said, "gzip data"));
	}
}

/* Returns the data, or STR_NONE if they are damaged. */
static struct str unpacked(struct str gz)
{
	struct err e = { .a = &unit_arena };
	struct str bytes;
	struct src *s;

	return src_memory(&s, &unit_arena, S("in"), gz, &e) && src_all(s, &bytes) ? bytes
	                                                                          : STR_NONE;
}

/* A few bits lead to the same data: copies of zeros from another distance. */
static void check_flipped_bits(struct str gz)
{
	uint8_t *byte = (uint8_t *)(uintptr_t)gz.p;
	struct str whole = unpacked(gz);

	for (size_t i = HEADER; i < gz.n; i++) {
		byte[i] ^= (uint8_t)(1u << i % 8);
		struct result damaged = load(gz, false);
		assert_true(damaged.code == TFP_OK || damaged.code == TFP_E_DATA_LOSS);
		if (!strstr(damaged.said, "gzip data") && !str_eq(unpacked(gz), whole))
			fail_msg("bit %zu of byte %zu: %s", i % 8, i, damaged.said);
		byte[i] ^= (uint8_t)(1u << i % 8);
	}
}

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct str gz = packed(files[i]);
		check_checksums(gz);
		check_missing_bytes(gz);
		check_flipped_bits(gz);
	}
}

/* With TFP_RECOVER, readers that note damage read what can be unpacked. */
static void test_recovered(void **state)
{
	static const char *const names[] = { "calls.pt.trace.json", "onnxruntime.json",
		"rocprof_results.json", "trace.pftrace", "trace.xplane.pb" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct result r;
		char path[100];
		snprintf(path, sizeof path, TRACES "%s", names[i]);
		struct str gz = packed(path);
		((uint8_t *)(uintptr_t)gz.p)[gz.n - TRAILER] ^= 1;
		r = load(gz, true);
		assert_int_equal(r.code, TFP_OK);
		assert_non_null(strstr(r.said, "gzip data"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_damaged, unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(test_recovered, unit_setup, unit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
