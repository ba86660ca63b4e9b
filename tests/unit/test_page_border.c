/* SPDX-License-Identifier: Apache-2.0
 *
 * Readers never read after the last byte of memory: every prefix of small inputs is loaded from the
 * end of a page that is followed by an unreadable one, and so is each JSON file with each of its
 * values replaced.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api_rig.h"

#define TRACES  "testdata/traces/"
#define MEMORY  "testdata/memory/"
#define SMALL   "testdata/small/"
#define LARGEST ((size_t)64 << 10) /* a multiple of all page sizes */

static const char *const files[] = { TRACES "calls.json", TRACES "calls.pt.trace.json",
	TRACES "onnxruntime.json", TRACES "rocprof_results.json", TRACES "tensorrt_layers.json",
	TRACES "tensorrt_times.json", TRACES "trace.pftrace", TRACES "trace.xplane.pb",
	TRACES "cpu.pb.gz", MEMORY "snapshot.pickle", SMALL "train.tfspool",
	SMALL "views.graph.pbtxt", SMALL "views.op_log.pbtxt", SMALL "views.run_meta_0.pbtxt" };

/* Values of all types where numbers, texts and lists are expected. */
static const char *const texts[] = {
	"{\"traceEvents\":[],\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3,\"world_size\":[4]"
	"},"
	"\"baseTimeNanoseconds\":\"5\",\"deviceProperties\":[{\"id\":{},\"name\":\"\\u00e4\","
	"\"totalGlobalMem\":1e9},7]}",
	"[{\"ph\":\"M\",\"name\":\"tfprof_trace\",\"pid\":1,\"args\":{\"source\":2,\"ticks_per_"
	"us\":"
	"1000000}},{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1.5,\"args\":{\"a\":-2,\"b\":NaN}}"
	","
	"{\"ph\":\"B\",\"name\":\"\\ud83d\\ude00\",\"tid\":[1],\"pid\":{},\"ts\":2},"
	"{\"ph\":\"X\",\"ts\":1,\"dur\":null,\"cat\":\"cpu_op\",\"args\":{\"Input "
	"Dims\":[[1,2],[]],"
	"\"External id\":\"4\"}},]",
	"{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":[1]},\"agents\":[{\"id\":7,\"type\":"
	"\"2\"},3],"
	"\"kernel_symbols\":[{\"kernel_id\":{},\"kernel_name\":5}],\"strings\":{\"buffer_records\":"
	"["
	"{\"kind\":[],\"operations\":[{},[],1,null,\"\\n\"]},2],\"marker_api\":[{\"key\":[]}]},"
	"\"buffer_records\":{\"hip_api\":[{\"kind\":0,\"operation\":0,\"thread_id\":{\"a\":1},"
	"\"start_timestamp\":10,\"end_timestamp\":\"20\",\"stream_id\":{\"handle\":[]}}],\"x\":[1]}"
	"}]}",
	"{\"Layers\":[{\"Name\":3,\"LayerType\":[],\"Inputs\":[{\"Name\":true,\"Dimensions\":[1,"
	"\"2\"]},"
	"\"t\"],\"Outputs\":{}},\"plain\",null],\"Bindings\":[]}",
	"[{\"count\":3},{\"name\":[],\"timeMs\":{},\"averageMs\":\"1\",\"percentage\":1e1}]",
	"{\"schema\":\"1.1.0-chakra.0.0.4\",\"pid\":[2],\"time\":\"t\",\"nodes\":[{\"id\":1,"
	"\"name\":{},"
	"\"ctrl_deps\":\"0\",\"inputs\":{\"values\":[],\"shapes\":3,\"types\":null},\"outputs\":[],"
	"\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":[5]},6]},4]}",
};

struct page {
	uint8_t *base;
	uint8_t *end; /* the first unreadable byte */
	size_t size;
};

static struct page page_open(void)
{
	size_t border = (size_t)sysconf(_SC_PAGESIZE);
	struct page p = { .size = LARGEST + border };

	p.base = mmap(NULL, p.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p.base != MAP_FAILED);
	p.end = p.base + LARGEST;
	assert_int_equal(mprotect(p.end, border, PROT_NONE), 0);
	return p;
}

/* Loads the last n bytes before the border; true if they are accepted. */
static bool load_last(struct page p, size_t n)
{
	struct tfp_input in = { .size = sizeof in, .bytes = p.end - n, .bytes_size = n };
	struct tfp_session *s;
	bool accepted;

	assert_int_equal(tfp_open(&s, NULL), TFP_OK);
	accepted = tfp_add(s, TFP_ANY, &in) == TFP_OK;
	tfp_close(s);
	return accepted;
}

/* Loads every prefix; returns how many of them are accepted. */
static size_t load_prefixes(struct page p, const void *bytes, size_t n)
{
	size_t accepted = 0;

	assert_in_range(n, 1, LARGEST);
	for (size_t part = 0; part <= n; part++) {
		memcpy(p.end - part, bytes, part);
		accepted += load_last(p, part);
	}
	return accepted;
}

/* Returns the end of the JSON value at p. */
static const char *value_end(const char *p, const char *end)
{
	int depth = 0;

	for (bool text = false; p < end; p++) {
		if (text && *p == '\\')
			p++;
		else if (*p == '"')
			text = !text;
		else if (!text && (*p == '{' || *p == '['))
			depth++;
		else if (!text && depth == 0 && strchr(",]} \n", *p))
			return p;
		else if (!text && (*p == '}' || *p == ']'))
			depth--;
	}
	return end;
}

/* Loads the document once for each of its values, with another value in its place. */
static size_t load_replaced(struct page p, const char *bytes, size_t n, const char *with)
{
	const char *end = bytes + n;
	size_t replaced = 0, size = strlen(with);

	for (const char *at = bytes + 1; at < end; at++) {
		const char *before = at - 1, *after;
		if (strchr(" \n,:]}", *at))
			continue;
		while (before > bytes && strchr(" \n", *before))
			before--;
		after = value_end(at, end);
		if (strchr(":[,", *before) && *after != ':') {
			uint8_t *to = p.end - (end - after) - size - (at - bytes);
			memcpy(to, bytes, (size_t)(at - bytes));
			memcpy(to + (at - bytes), with, size);
			memcpy(p.end - (end - after), after, (size_t)(end - after));
			load_last(p, (size_t)(p.end - to));
			replaced++;
		}
		if (*at != '{' && *at != '[')
			at = after;
	}
	return replaced;
}

static size_t read_file(const char *path, uint8_t *bytes)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, LARGEST, f);
	fclose(f);
	return n;
}

static void test_files(void **state)
{
	struct page p = page_open();
	static uint8_t bytes[LARGEST];

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		size_t n = read_file(files[i], bytes);
		assert_true(load_prefixes(p, bytes, n) > 0);
	}
	munmap(p.base, p.size);
}

static void test_values_of_every_kind(void **state)
{
	struct page p = page_open();

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_true(load_prefixes(p, texts[i], strlen(texts[i])) <= strlen(texts[i]));
	munmap(p.base, p.size);
}

/* Replaces each value of each JSON file with a value of another type. */
static void test_replaced_values(void **state)
{
	static const char *const others[] = { "{}", "[]", "[{}]", "-7e99", "\"\\u00e4\"", "null" };
	struct page p = page_open();
	static uint8_t bytes[LARGEST];

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (!strstr(files[i], ".json"))
			continue;
		size_t n = read_file(files[i], bytes);
		for (size_t k = 0; k < sizeof others / sizeof *others; k++)
			assert_true(load_replaced(p, (char *)bytes, n, others[k]) > 10);
	}
	munmap(p.base, p.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_values_of_every_kind),
		cmocka_unit_test(test_replaced_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
