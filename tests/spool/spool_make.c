/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes recordings for tests and benchmarks.
 *
 *   spool_make OUT <SCRIPT          one record per line: "kernel name=gemm start=100 length=5"
 *   spool_make OUT big KERNELS      steps of 1000 launches, like a training program
 *   spool_make - time RECORDS       encodes records and prints the time as JSON
 *
 * Numbers in a script are decimal. Texts may be in double quotes. Fields that are not given are 0.
 * Names are added to the strings when they first occur. "block" starts a block; "#" starts a
 * comment. io/block_format.h has the numbers of kinds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/block_format.h"

#define STRINGS_MAX 4096
#define PAIRS_MAX   32

static FILE *out;
static struct block_encoder put;
static uint8_t buffer[(size_t)1 << 20];
static char *strings[STRINGS_MAX];
static unsigned n_strings;

static struct {
	char *key, *value;
} pairs[PAIRS_MAX];
static unsigned n_pairs;

static void flush(uint64_t base)
{
	size_t n = block_encode_finish(&put);

	if (fwrite(buffer, 1, n, out) != n)
		exit(1);
	block_encode_begin(&put, buffer, sizeof buffer, base);
}

static void add(const struct spool_record *r, uint64_t time)
{
	if (block_encode(&put, r))
		return;
	flush(time);
	if (!block_encode(&put, r))
		abort();
}

static struct spool_text text_of(const char *z)
{
	return (struct spool_text){ z, strlen(z) };
}

/* Returns the id of a string, which is written before its first use. */
static uint32_t intern(const char *z, uint64_t time)
{
	unsigned i = 0;

	if (!*z)
		return 0;
	while (i < n_strings && strcmp(strings[i], z) != 0)
		i++;
	if (i == n_strings) {
		if (i == STRINGS_MAX)
			exit(1);
		strings[n_strings++] = strdup(z);
		add(&(struct spool_record){ .kind = SPOOL_STRING,
		            .string = { i + 1, text_of(strings[i]) } },
		        time);
	}
	return i + 1;
}

/* ---- scripts ---- */

static const char *value(const char *key)
{
	for (unsigned i = 0; i < n_pairs; i++)
		if (!strcmp(pairs[i].key, key))
			return pairs[i].value;
	return "";
}

static uint64_t number(const char *key)
{
	return strtoull(value(key), NULL, 10);
}

static uint32_t number32(const char *key)
{
	return (uint32_t)number(key);
}

static uint32_t number_or(const char *key, uint32_t otherwise)
{
	return *value(key) ? number32(key) : otherwise;
}

static uint32_t name(const char *key)
{
	return intern(value(key), number("start"));
}

/* Splits a line in place. Returns its first word. */
static char *parse(char *line)
{
	char *word = strtok(line, " \t\n"), *p = word ? word + strlen(word) + 1 : NULL;

	n_pairs = 0;
	while (p && *p && n_pairs < PAIRS_MAX) {
		p += strspn(p, " \t\n");
		char *equals = strchr(p, '=');
		if (!*p || !equals)
			break;
		*equals = 0;
		pairs[n_pairs].key = p;
		char *from = equals + 1, *end;
		if (*from == '"') {
			end = strchr(++from, '"');
			if (!end)
				exit(1);
		} else {
			end = from + strcspn(from, " \t\n");
		}
		pairs[n_pairs++].value = from;
		p = *end ? end + 1 : end;
		*end = 0;
	}
	return word;
}

static struct spool_where where(void)
{
	return (struct spool_where){ number32("device"), number32("context"), number32("stream") };
}

static void uuid(uint8_t *to, const char *key)
{
	memcpy(to, value(key), strnlen(value(key), 16));
}

/* Writes records of the host: allocations, synchronisations, calls, overhead. */
static struct spool_record host_record(const char *word)
{
	uint64_t start = number("start"), length = number("length"), bytes = number("bytes");
	uint32_t correlation = number32("correlation");

	if (!strcmp(word, "memory"))
		return (struct spool_record){ .kind = SPOOL_MEMORY,
			.memory = { .time = start,
			        .address = number("address"),
			        .bytes = bytes,
			        .correlation = correlation,
			        .freed = number("freed") != 0,
			        .memory = (uint8_t)number("memory"),
			        .at = where() } };
	if (!strcmp(word, "overhead"))
		return (struct spool_record){ .kind = SPOOL_OVERHEAD,
			.overhead = { start, length, number32("kind"), number32("tid") } };
	if (!strcmp(word, "sync"))
		return (struct spool_record){ .kind = SPOOL_SYNC,
			.sync = { .start = start,
			        .length = length,
			        .correlation = correlation,
			        .type = (uint8_t)number("type"),
			        .context = number32("context"),
			        .stream = number32("stream") } };
	if (!strcmp(word, "api"))
		return (struct spool_record){ .kind = SPOOL_API,
			.api = { start, length, correlation, name("name"), number32("tid"),
			        number32("result") } };
	return (struct spool_record){ .kind = SPOOL_NONE };
}

static struct spool_record operation(const char *word)
{
	uint64_t start = number("start"), length = number("length"), bytes = number("bytes");
	uint32_t correlation = number32("correlation"), graph = number32("graph");

	if (!strcmp(word, "kernel"))
		return (struct spool_record){ .kind = SPOOL_KERNEL,
			.kernel = { .start = start,
			        .length = length,
			        .correlation = correlation,
			        .name = name("name"),
			        .at = where(),
			        .graph = graph,
			        .graph_node = number("node"),
			        .grid = { number_or("grid", 1), 1, 1 },
			        .block = { number_or("block", 128), 1, 1 },
			        .registers = number32("registers"),
			        .dynamic_shared = number32("shared") } };
	if (!strcmp(word, "copy"))
		return (struct spool_record){ .kind = SPOOL_COPY,
			.copy = { .start = start,
			        .length = length,
			        .bytes = bytes,
			        .correlation = correlation,
			        .kind = (uint8_t)number("kind"),
			        .from = (uint8_t)number("from"),
			        .to = (uint8_t)number("to"),
			        .at = where(),
			        .graph = graph } };
	if (!strcmp(word, "set"))
		return (struct spool_record){ .kind = SPOOL_SET,
			.set = { .start = start,
			        .length = length,
			        .bytes = bytes,
			        .correlation = correlation,
			        .at = where(),
			        .graph = graph } };
	if (!strcmp(word, "graph"))
		return (struct spool_record){ .kind = SPOOL_GRAPH,
			.graph = { start, length, correlation, where(), graph } };
	return host_record(word);
}

static struct spool_record range(const char *word)
{
	static const char *const ops[] = { "push", "pop", "start", "stop", "mark" };

	for (unsigned i = 0; i < 5; i++)
		if (!strcmp(word, ops[i]))
			return (struct spool_record){ .kind = SPOOL_RANGE,
				.range = { .op = (enum spool_range_op)i,
				        .time = number("start"),
				        .tid = number32("tid"),
				        .domain = name("domain"),
				        .name = name("name"),
				        .id = number("id") } };
	return (struct spool_record){ .kind = SPOOL_NONE };
}

static struct spool_record fact(const char *word)
{
	struct spool_record r = { .kind = SPOOL_NONE };

	if (!strcmp(word, "info")) {
		r.kind = SPOOL_INFO;
		r.info = (struct spool_info){ text_of(value("key")), text_of(value("value")) };
	} else if (!strcmp(word, "clock")) {
		r.kind = SPOOL_CLOCK;
		r.clock = (struct spool_clock){ number("realtime"), number("monotonic"),
			number(*value("cupti") ? "cupti" : "realtime"), number("width") };
	} else if (!strcmp(word, "gpu")) {
		r.kind = SPOOL_DEVICE;
		r.device = (struct spool_device){ .id = number32("id"),
			.name = name("name"),
			.memory = number("memory"),
			.major = number32("major"),
			.minor = number32("minor") };
		uuid(r.device.uuid, "uuid");
		uuid(r.device.mig_uuid, "mig");
	} else if (!strcmp(word, "step")) {
		r.kind = SPOOL_MARK;
		r.mark = (struct spool_mark){ (enum spool_mark_what)number("what"), number("start"),
			name("label") };
	} else if (!strcmp(word, "sum")) {
		r.kind = SPOOL_SUM;
		r.sum = (struct spool_sum){ (enum spool_kind)number("what"), name("name"),
			number32("device"), name("scope"), number("start"), number("to"),
			number("count"), number("sum"), number("min"), number("max"),
			number("bytes") };
	} else if (!strcmp(word, "lost")) {
		r.kind = SPOOL_LOST;
		r.lost = (struct spool_lost){ (enum spool_lost_why)number("why"), number("count"),
			number("bound") != 0 };
	} else if (!strcmp(word, "gap")) {
		r.kind = SPOOL_GAP;
		r.gap = (struct spool_gap){ number("start"), number("to"), name("why") };
	} else if (!strcmp(word, "note")) {
		r.kind = SPOOL_NOTE;
		r.note.text = text_of(value("text"));
	} else if (!strcmp(word, "end")) {
		r.kind = SPOOL_END;
		r.end.time = number("start");
	}
	return r;
}

static void script(void)
{
	static char line[65536];

	while (fgets(line, sizeof line, stdin)) {
		char *word = parse(line);
		struct spool_record r;
		if (!word || *word == '#')
			continue;
		if (!strcmp(word, "block")) {
			flush(number("start"));
			continue;
		}
		r = operation(word);
		if (!r.kind)
			r = range(word);
		if (!r.kind)
			r = fact(word);
		if (!r.kind) {
			fprintf(stderr, "what is '%s'?\n", word);
			exit(2);
		}
		add(&r, number("start"));
	}
}

/* ---- large recordings ---- */

#define OPS    40
#define LAUNCH "cudaLaunchKernel"

/* Calls and kernels are written in runs, as if from separate buffers. */
static void big(uint64_t kernels)
{
	const uint64_t t0 = 1700000000000000000;
	char text[64];
	uint32_t ids[OPS], launch = intern(LAUNCH, t0), step = intern("ProfilerStep#0", t0);
	struct spool_record r = { .kind = SPOOL_INFO };

	r.info = (struct spool_info){ text_of("pid"), text_of("4711") };
	add(&r, t0);
	for (unsigned i = 0; i < OPS; i++) {
		snprintf(text, sizeof text, "_ZN3net%zukernel_%02uIfEEvPT_i", strlen("kernel_00"),
		        i);
		ids[i] = intern(text, t0);
	}
	for (uint64_t from = 0; from < kernels; from += 1000) {
		uint64_t n = kernels - from < 1000 ? kernels - from : 1000, at = t0 + from * 12000;
		r = (struct spool_record){ .kind = SPOOL_RANGE,
			.range = { SPOOL_PUSH, at - 500, 1, 0, step, 0 } };
		add(&r, at);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t jitter = (from + i) * 2654435761u >> 7 & 2047;
			r = (struct spool_record){ .kind = SPOOL_API,
				.api = { at + i * 12000 + jitter, 4000 + jitter,
				        (uint32_t)(from + i + 1), launch, 1, 0 } };
			add(&r, at);
		}
		r = (struct spool_record){ .kind = SPOOL_RANGE,
			.range = { SPOOL_POP, at + n * 12000 - 1000, 1, 0, 0, 0 } };
		add(&r, at);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t jitter = (from + i) * 2246822519u >> 9 & 4095;
			r = (struct spool_record){ .kind = SPOOL_KERNEL,
				.kernel = { .start = at + i * 12000 + 6000 + jitter,
				        .length = 5000 + jitter,
				        .correlation = (uint32_t)(from + i + 1),
				        .name = ids[(from + i) % OPS],
				        .at = { 0, 1, 7 },
				        .grid = { 64 + (uint32_t)(i % 3) * 32, 1, 1 },
				        .block = { 256, 1, 1 },
				        .registers = 32 } };
			add(&r, at);
		}
	}
	r = (struct spool_record){ .kind = SPOOL_END, .end = { .time = t0 } };
	add(&r, t0);
}

/* ---- time ---- */

/* Encodes alternating calls and kernels that were made before; finished blocks are discarded. */
static void take_time(uint64_t records)
{
	static struct spool_record r[4096];
	const unsigned n = sizeof r / sizeof *r;
	const uint64_t t0 = 1700000000000000000;
	struct timespec from, to;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i += 2) {
		uint64_t at = t0 + i * 6000, jitter = i * 2654435761u >> 7 & 2047;
		r[i] = (struct spool_record){ .kind = SPOOL_API,
			.api = { at + jitter, 4000 + jitter, i / 2 + 1, 1, 11, 0 } };
		r[i + 1] = (struct spool_record){ .kind = SPOOL_KERNEL,
			.kernel = { .start = at + 9000 + jitter,
			        .length = 5000 + jitter,
			        .correlation = i / 2 + 1,
			        .name = 2 + i / 2 % OPS,
			        .at = { 0, 1, 7 },
			        .grid = { 64 + i % 3 * 32, 1, 1 },
			        .block = { 256, 1, 1 },
			        .registers = 32 } };
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint64_t i = 0; i < records; i++) {
		if (block_encode(&put, &r[i % n]))
			continue;
		bytes += block_encode_finish(&put);
		block_encode_begin(&put, buffer, sizeof buffer, t0);
		block_encode(&put, &r[i % n]);
	}
	bytes += block_encode_finish(&put);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
	printf("{\"ns\": %.3f, \"bytes\": %.3f}\n", ns / (double)records,
	        (double)bytes / (double)records);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[2], "time")) {
		block_encode_init(&put, 4711);
		block_encode_begin(&put, buffer, sizeof buffer, 1700000000000000000);
		take_time(strtoull(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 2 || !(out = fopen(argv[1], "wb")))
		return 2;
	block_encode_init(&put, 4711);
	block_encode_begin(&put, buffer, sizeof buffer, 1700000000000000000);
	if (argc == 4 && !strcmp(argv[2], "big"))
		big(strtoull(argv[3], NULL, 10));
	else
		script();
	flush(0);
	return fclose(out) != 0;
}
