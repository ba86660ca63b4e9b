/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that the quick checks on a GPU profile. It needs only the driver. The last line of
 * standard output is JSON with its results.
 *
 *   launches N driver|runtime       N empty kernels
 *   info                            time of initialisation, UUID and version of the driver
 *   mixed                           kernels, copies, allocations, ranges, two streams
 *   spins                           kernels of known length
 *   paced RATE                      launches per second until it is killed
 *   threads N LAUNCHES              N threads with LAUNCHES launches each
 *   graph NODES REPLAYS
 *   busy                            50 launches every millisecond until standard input ends
 *   timed empty|spin|graph N        seconds that the work takes
 *   deep N MS                       N kernels of MS ms, queued at once; runs until it is killed
 *   workers N LAUNCHES              N children, a launch per millisecond each; they end by _exit
 *   beside N end|last, visible MS   see client.c
 *   capture FOLDER, read FILE, refused, clock N    see raw.c
 */
#include "gpu.h"

#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../inject/nvtx_mini.h"

#define THREADS_MAX 1024
#define REPORT_NS   100000000u /* interval of progress reports */

static unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int launches(char **words)
{
	unsigned n = number(words[0]);

	if (!strcmp(words[1], "runtime")) {
		if (!gpu_runtime(n))
			puts("{\"missing\": \"a libcudart of CUDA 12.8 or newer\"}");
		return 0;
	}
	gpu_begin();
	gpu_launch(n, NULL);
	DO(cu.cuCtxSynchronize());
	return 0;
}

static int info(char **words)
{
	double begin = seconds();
	uint8_t uuid[16];
	int version;

	(void)words;
	gpu_begin();
	double end = seconds();
	gpu_launch(1, NULL);
	DO(cu.cuCtxSynchronize());
	DO(cu.cuDeviceGetUuid_v2(uuid, cu.device));
	DO(cu.cuDriverGetVersion(&version));
	printf("{\"seconds\": %.3f, \"driver\": %d, \"uuid\": \"GPU-", end - begin, version);
	for (unsigned i = 0; i < 16; i++)
		printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	puts("\"}");
	return 0;
}

static int mixed(char **words)
{
	void *stream;

	(void)words;
	gpu_begin();
	DO(cu.cuStreamCreate(&stream, 1));
	for (unsigned i = 0; i < 50; i++) {
		mini_push("step");
		mini_push("forward");
		gpu_launch(4, NULL);
		gpu_spin(20000, 1, stream);
		mini_pop();
		gpu_copies((size_t)1 << 20);
		DO(cu.cuCtxSynchronize());
		mini_pop();
	}
	return 0;
}

static int spins(char **words)
{
	(void)words;
	gpu_begin();
	for (uint64_t ns = 1000; ns <= 1000000000; ns *= 10) {
		gpu_spin(ns, 1, NULL);
		DO(cu.cuCtxSynchronize());
	}
	return 0;
}

/* Finds the status file of the collector's thread; the path is empty if there is no such thread. */
static void find_collector(char *path, size_t size)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	char name[32];

	*path = 0;
	while (tasks && !*path && (d = readdir(tasks))) {
		snprintf(path, size, "/proc/self/task/%.32s/comm", d->d_name);
		FILE *f = fopen(path, "r");
		if (f && fgets(name, sizeof name, f) && !strcmp(name, "tfprof\n"))
			snprintf(path, size, "/proc/self/task/%.32s/status", d->d_name);
		else
			*path = 0;
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
}

/* Returns how often the collector's thread has gone to sleep, which it does every 100 ms; 0 without
 * such a thread.
 */
static unsigned collector_rounds(void)
{
	static char path[96];
	char line[256];
	unsigned rounds = 0;

	if (!*path)
		find_collector(path, sizeof path);
	FILE *f = *path ? fopen(path, "r") : NULL;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "voluntary_ctxt_switches: %u", &rounds) == 1)
			break;
	if (f)
		fclose(f);
	return rounds;
}

/* Prints "LAUNCHES ROUNDS TIME" at intervals. */
static void report(uint64_t launched)
{
	static uint64_t next;
	uint64_t now = gpu_now();

	if (now < next)
		return;
	next = now + REPORT_NS;
	printf("%" PRIu64 " %u %" PRIu64 "\n", launched, collector_rounds(), now);
	fflush(stdout);
}

static int paced(char **words)
{
	uint64_t pause = 1000000000u / number(words[0]), n = 0;

	gpu_begin();
	for (uint64_t next = gpu_now(); next; next += pause) {
		uint64_t now = gpu_now();
		if (now < next) {
			struct timespec t = { 0, (long)(next - now) };
			nanosleep(&t, NULL);
		}
		gpu_launch(1, NULL);
		DO(cu.cuCtxSynchronize());
		report(++n);
	}
	return 0;
}

static unsigned each_launches;

static void *thread_main(void *unused)
{
	(void)unused;
	DO(cu.cuCtxSetCurrent(cu.context));
	gpu_launch(each_launches, NULL);
	return NULL;
}

static int threads(char **words)
{
	static pthread_t thread[THREADS_MAX];
	unsigned n = number(words[0]);

	each_launches = number(words[1]);
	gpu_begin();
	for (unsigned i = 0; i < n && i < THREADS_MAX; i++)
		gpu_must(pthread_create(&thread[i], NULL, thread_main, NULL), "pthread_create");
	for (unsigned i = 0; i < n && i < THREADS_MAX; i++)
		pthread_join(thread[i], NULL);
	DO(cu.cuCtxSynchronize());
	return 0;
}

static int graph(char **words)
{
	void *stream, *made;

	gpu_begin();
	made = gpu_graph(number(words[0]), &stream);
	for (unsigned i = 0; i < number(words[1]); i++)
		DO(cu.cuGraphLaunch(made, stream));
	DO(cu.cuCtxSynchronize());
	return 0;
}

static int busy(char **words)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	uint64_t n = 0;

	(void)words;
	gpu_begin();
	while (!poll(&in, 1, 0)) {
		gpu_launch(50, NULL);
		DO(cu.cuCtxSynchronize());
		report(n += 50);
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	printf("{\"launches\": %" PRIu64 "}\n", n);
	return 0;
}

/* Reports the launch of the first kernel, then the number of launches. */
static int deep(char **words)
{
	unsigned n = number(words[0]);

	gpu_begin();
	printf("%" PRIu64 "\n", gpu_now());
	fflush(stdout);
	gpu_spin((uint64_t)number(words[1]) * 1000000, n, NULL);
	printf("%u\n", n);
	fflush(stdout);
	while (pause())
		;
	return 0;
}

static int workers(char **words)
{
	unsigned n = number(words[0]);
	int status;

	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();
		if (!child) {
			gpu_begin();
			for (unsigned j = 0; j < number(words[1]); j++) {
				gpu_launch(1, NULL);
				nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
			}
			DO(cu.cuCtxSynchronize());
			_exit(0);
		}
		gpu_must(child < 0, "fork");
	}
	for (unsigned i = 0; i < n; i++)
		gpu_must(wait(&status) < 0 || status, "a worker");
	return 0;
}

static void *timed_graph, *timed_stream;

static void timed_work(const char *what, unsigned n)
{
	if (!strcmp(what, "graph"))
		for (unsigned i = 0; i < n; i++)
			DO(cu.cuGraphLaunch(timed_graph, timed_stream));
	else if (!strcmp(what, "spin"))
		gpu_spin(20000, n, NULL);
	else
		gpu_launch(n, NULL);
	DO(cu.cuCtxSynchronize());
}

static int timed(char **words)
{
	unsigned n = number(words[1]);

	gpu_begin();
	timed_graph = gpu_graph(100, &timed_stream);
	timed_work(words[0], n / 4 + 1);
	double begin = seconds();
	timed_work(words[0], n);
	printf("%.9f\n", seconds() - begin);
	return 0;
}

static int beside(char **words)
{
	return client_beside(number(words[0]), !strcmp(words[1], "last"));
}

static int visible(char **words)
{
	return client_visible(number(words[0]));
}

static int capture(char **words)
{
	return raw_capture(words[0]);
}

static int read_file(char **words)
{
	return raw_read(words[0]);
}

static int refused(char **words)
{
	(void)words;
	return cupti_refused();
}

static int clock_offsets(char **words)
{
	return cupti_clock(number(words[0]));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int words;
		int (*run)(char **words);
	} commands[] = {
		{ "launches", 2, launches },
		{ "info", 0, info },
		{ "mixed", 0, mixed },
		{ "spins", 0, spins },
		{ "paced", 1, paced },
		{ "threads", 2, threads },
		{ "graph", 2, graph },
		{ "busy", 0, busy },
		{ "timed", 2, timed },
		{ "deep", 2, deep },
		{ "workers", 2, workers },
		{ "beside", 2, beside },
		{ "visible", 1, visible },
		{ "capture", 1, capture },
		{ "read", 1, read_file },
		{ "refused", 0, refused },
		{ "clock", 1, clock_offsets },
	};

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name) && argc == commands[i].words + 2)
			return commands[i].run(argv + 2);
	fprintf(stderr, "the commands are in the first lines of program.c\n");
	return 2;
}
