/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a spool from lines of text, for tests:
 *   spool_write FILE PID <LINES       times are ns behind 1700000000 s; ids of strings count from 1
 *
 *   info KEY VALUE                    string TEXT
 *   device ID UUID-BYTE NAME          kernel START LENGTH NAME DEVICE STREAM CORRELATION
 *   copy KIND START LENGTH BYTES DEVICE    set START LENGTH BYTES DEVICE
 *   api NAME TID START LENGTH CORRELATION  sync TYPE START LENGTH
 *   graph START LENGTH GRAPH DEVICE   lost WHY COUNT    gap FROM TO WHY    note TEXT
 *   sum KIND NAME DEVICE COUNT SUM MIN MAX BYTES
 *   many N NAMES                      launches and kernels, back to back with gaps, of so many
 * names sleep MS                          what came so far is written first end
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/spool_put.h"

#define BASE 1700000000000000000u

static struct spool_put enc;
static uint8_t block[1 << 20];
static uint32_t strings;
static int out;

static void flush(void)
{
	size_t n = spool_put_finish(&enc);

	if (n && write(out, block, n) != (ssize_t)n) {
		perror("spool_write");
		exit(1);
	}
	spool_put_begin(&enc, block, sizeof block, BASE);
}

static void put(struct spool_record r)
{
	if (spool_put(&enc, &r))
		return;
	flush();
	spool_put(&enc, &r);
}

static struct spool_text text(const char *z)
{
	return (struct spool_text){ z, strlen(z) };
}

static void many(uint64_t n, uint32_t names)
{
	uint64_t t = BASE + 1000, x = 88172645463325252u;
	char name[80];
	uint32_t first = strings + 1;

	for (uint32_t i = 0; i < names; i++) {
		snprintf(name, sizeof name, "_ZN2at6native10kernel_%03uIfEEvPT_", i);
		put((struct spool_record){
		        .kind = SPOOL_STRING, .string = { ++strings, text(name) } });
	}
	put((struct spool_record){
	        .kind = SPOOL_STRING, .string = { ++strings, text("cudaLaunchKernel") } });
	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		uint64_t length = 2000 + x % 3000;
		put((struct spool_record){ .kind = SPOOL_API,
		        .api = { t - 900, 700 + x % 90, (uint32_t)i, strings, 77, 0 } });
		put((struct spool_record){ .kind = SPOOL_KERNEL,
		        .kernel = { .start = t,
		                .length = length,
		                .correlation = (uint32_t)i,
		                .name = first + (uint32_t)(x >> 20) % names,
		                .at = { 0, 1, 7 },
		                .grid = { 4, 1, 1 },
		                .block = { 128, 1, 1 } } });
		t += length + x / 7 % 1500;
	}
}

#define IS(word, count) (!strcmp(verb, word) && got >= 1 + (count))

static void take(const char *line)
{
	char verb[32], w[6][4096];
	uint64_t n[8] = { 0 };
	int got = sscanf(line,
	        "%31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	        " %" SCNu64 " %" SCNu64,
	        verb, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]);
	uint32_t m[8];

	for (unsigned i = 0; i < 8; i++)
		m[i] = (uint32_t)n[i];
	if (IS("kernel", 6))
		put((struct spool_record){ .kind = SPOOL_KERNEL,
		        .kernel = { .start = n[0] ? BASE + n[0] : 0,
		                .length = n[1],
		                .name = m[2],
		                .at = { m[3], 1, m[4] },
		                .correlation = m[5] } });
	else if (IS("copy", 5))
		put((struct spool_record){ .kind = SPOOL_COPY,
		        .copy = { .kind = (uint8_t)n[0],
		                .start = BASE + n[1],
		                .length = n[2],
		                .bytes = n[3],
		                .at = { m[4], 1, 7 } } });
	else if (IS("set", 4))
		put((struct spool_record){ .kind = SPOOL_SET,
		        .set = { .start = BASE + n[0],
		                .length = n[1],
		                .bytes = n[2],
		                .at = { m[3], 1, 7 } } });
	else if (IS("api", 5))
		put((struct spool_record){
		        .kind = SPOOL_API, .api = { BASE + n[2], n[3], m[4], m[0], m[1], 0 } });
	else if (IS("sync", 3))
		put((struct spool_record){ .kind = SPOOL_SYNC,
		        .sync = { .type = (uint8_t)n[0], .start = BASE + n[1], .length = n[2] } });
	else if (IS("graph", 4))
		put((struct spool_record){ .kind = SPOOL_GRAPH,
		        .graph = { .start = BASE + n[0],
		                .length = n[1],
		                .graph = m[2],
		                .at = { m[3], 1, 7 } } });
	else if (IS("sum", 8))
		put((struct spool_record){ .kind = SPOOL_SUM,
		        .sum = { (enum spool_kind)n[0], m[1], m[2], 0, BASE, BASE, n[3], n[4], n[5],
		                n[6], n[7] } });
	else if (IS("lost", 2))
		put((struct spool_record){
		        .kind = SPOOL_LOST, .lost = { (enum spool_lost_why)n[0], n[1] } });
	else if (IS("gap", 3))
		put((struct spool_record){
		        .kind = SPOOL_GAP, .gap = { BASE + n[0], BASE + n[1], m[2] } });
	else if (IS("device", 3)) {
		struct spool_record r = { .kind = SPOOL_DEVICE, .device = { .id = m[0] } };
		memset(r.device.uuid, (int)n[1], 16);
		r.device.name = m[2];
		put(r);
	} else if (sscanf(line, "info %4095s %4095[^\n]", w[0], w[1]) == 2)
		put((struct spool_record){
		        .kind = SPOOL_INFO, .info = { text(w[0]), text(w[1]) } });
	else if (sscanf(line, "string %4095[^\n]", w[0]) == 1)
		put((struct spool_record){
		        .kind = SPOOL_STRING, .string = { ++strings, text(w[0]) } });
	else if (sscanf(line, "note %4095[^\n]", w[0]) == 1)
		put((struct spool_record){ .kind = SPOOL_NOTE, .note = { text(w[0]) } });
	else if (IS("many", 2))
		many(n[0], m[1]);
	else if (IS("sleep", 1)) {
		flush();
		usleep(m[0] * 1000);
	} else if (IS("end", 0))
		put((struct spool_record){ .kind = SPOOL_END });
	else {
		fprintf(stderr, "spool_write: cannot read: %s", line);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char line[8192];

	if (argc != 3) {
		fputs("usage: spool_write FILE PID <LINES\n", stderr);
		return 2;
	}
	out = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (out < 0) {
		perror(argv[1]);
		return 1;
	}
	spool_put_init(&enc, (uint32_t)strtoul(argv[2], NULL, 10));
	spool_put_begin(&enc, block, sizeof block, BASE);
	while (fgets(line, sizeof line, stdin))
		if (line[0] != '\n')
			take(line);
	flush();
	return 0;
}
