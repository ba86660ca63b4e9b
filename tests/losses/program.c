/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses the GPU as its arguments say, as in "init launch:100 thief:both:40 exit:3".
 * "+" separates the words of a child.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../inject/nvtx_mini.h"
#include "driver.h"
#include "thief.h"

#define PATIENCE 30000 /* polls of 1 ms until the program no longer waits for the recorder */

static char *argument[4]; /* behind the word, separated by colons */

static long number(int i, long otherwise)
{
	return argument[i] ? strtol(argument[i], NULL, 0) : otherwise;
}

static void fail(const char *what)
{
	fprintf(stderr, "program: %s\n", what);
	_exit(97);
}

/* ---- events at a certain launch ---- */

static _Atomic long launches;
static long end_at, end_how, steal_at, restore_at;

static void event(void)
{
	long n = ++launches;

	if (steal_at && n == steal_at)
		thief_comes();
	if (restore_at && n == restore_at)
		thief_goes();
	if (end_at && n == end_at) {
		if (end_how < 0)
			raise((int)-end_how);
		else
			_exit((int)end_how);
	}
}

static void launch(const char *kernel, void *stream, long i)
{
	if (i % 4)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
	else
		cudaLaunchKernel(kernel, stream);
	event();
}

/* ---- words ---- */

static void do_init(void)
{
	cuInit(0);
}

static void do_launch(void)
{
	for (long i = 0; i < number(0, 1); i++)
		launch(argument[1] ? argument[1] : "kernel", (void *)(16 * number(2, 0)), i);
}

static void *launcher(void *n)
{
	for (long i = 0; i < (long)(intptr_t)n; i++)
		launch("threaded", (void *)16, i);
	return NULL;
}

static pthread_t running[512];
static long n_running;

/* Threads that launch, and go on while the program does the next words. */
static void do_threads(void)
{
	for (long i = 0; i < number(0, 1) && n_running < 512; i++)
		if (pthread_create(
		            &running[n_running++], NULL, launcher, (void *)(intptr_t)number(1, 1)))
			fail("no thread");
}

static void do_join(void)
{
	while (n_running)
		pthread_join(running[--n_running], NULL);
}

/* Ranges with different names and a kernel in each: one name with numbers, or names without. */
static void do_ranges(void)
{
	char name[64];

	for (long i = 0; i < number(0, 1); i++) {
		snprintf(name, sizeof name,
		        number(1, 0) ? "%lx of the iterations" : "iteration %ld", i);
		mini_push(name);
		launch("in_range", NULL, i);
		mini_pop();
	}
	TRUE_COUNT(RANGE_NAMES, number(0, 1));
}

/* Kernels with different names that are long and differ at their ends. */
static void do_kernels(void)
{
	size_t length = (size_t)number(1, 20);

	for (long i = 0; i < number(0, 1); i++) {
		char *name = malloc(length + 24); /* CUPTI keeps it as long as it runs */

		if (!name)
			fail("no memory");
		memset(name, 'k', length);
		snprintf(name + length, 24, "%ld", i);
		launch(name, NULL, i);
	}
	TRUE_COUNT(KERNEL_NAMES, number(0, 1));
}

static void do_graph(void)
{
	for (long i = 0; i < number(0, 1); i++)
		cuGraphLaunch((void *)number(1, 3), NULL);
}

static void do_capture(void)
{
	void *graph;

	cuStreamBeginCapture_v2((void *)32, 0);
	for (long i = 0; i < number(0, 1); i++)
		cuLaunchKernel("captured", 1, 1, 1, 32, 1, 1, 0, (void *)32, NULL, NULL);
	cuStreamEndCapture((void *)32, &graph);
	for (long i = 0; i < number(1, 0); i++)
		cuGraphLaunch(graph, (void *)32);
}

static void do_copies(void)
{
	for (long i = 0; i < number(0, 1); i++)
		cuMemcpyHtoD_v2(0, NULL, 4096);
}

static void do_sync(void)
{
	cuCtxSynchronize();
}

/* Waits for some flushes of the recorder, if there is one. */
static void do_flushes(void)
{
	uint64_t until = losses_truth()[FLUSHES] + (uint64_t)number(0, 1);

	for (int i = 0;
	        i < PATIENCE && losses_truth()[SUBSCRIBED] && losses_truth()[FLUSHES] < until; i++)
		usleep(1000);
}

static void do_thief(void)
{
	thief_kind(argument[0]);
	steal_at = number(1, 0);
	restore_at = number(2, 0);
	if (!steal_at)
		thief_comes();
}

static void do_end_at(void)
{
	end_at = number(0, 0);
	end_how = number(1, 0);
}

/* Stops or starts the recording, and waits until that has happened. */
static void do_ctl(void)
{
	char line[8192];
	uint64_t off = !strcmp(argument[0], "stop");

	snprintf(line, sizeof line, "LD_LIBRARY_PATH= '%s' ctl '%s' %s >/dev/null 2>&1",
	        getenv("LOSSES_TFPROF"), getenv("TFPROF_SESSION"), argument[0]);
	if (system(line))
		return;
	for (int i = 0;
	        i < PATIENCE && losses_truth()[SUBSCRIBED] && losses_truth()[STOPPED] != off; i++)
		usleep(1000);
}

static void do_limit(void)
{
	struct rlimit l = { (rlim_t)number(0, 0), (rlim_t)number(0, 0) };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &l);
}

static void run(char *word);

static void run_all(char *words)
{
	char *save = NULL;

	for (char *w = strtok_r(words, "+", &save); w; w = strtok_r(NULL, "+", &save)) {
		for (char *p = w; *p; p++)
			if (*p == '=')
				*p = ':';
		run(w);
	}
}

/* A child that does some words; the program waits for it, or at its end. */
static void do_fork(void)
{
	char *words = strdup(argument[0]);
	pid_t child = fork();
	int status;

	if (child < 0 || !words)
		fail("no child");
	if (!child) {
		n_running = 0;
		run_all(words);
		exit(0);
	}
	free(words);
	waitpid(child, &status, 0);
}

static char *self;

/* A child that begins anew with some words. */
static void do_exec(void)
{
	char *words[64] = { self }, *save = NULL;
	int n = 1;

	for (char *w = strtok_r(argument[0], "+", &save); w && n < 63;
	        w = strtok_r(NULL, "+", &save)) {
		for (char *p = w; *p; p++)
			if (*p == '=')
				*p = ':';
		words[n++] = w;
	}
	execv(self, words);
	fail("exec failed");
}

/* ---- ends ---- */

static long late_launches;

static void launch_late(void)
{
	for (long i = 0; i < late_launches; i++)
		launch("late", NULL, i);
}

static void do_late(void)
{
	late_launches = number(0, 1);
	atexit(launch_late);
}

static void do_exit(void)
{
	exit((int)number(0, 0));
}

static void do__exit(void)
{
	_exit((int)number(0, 0));
}

static void do_quick(void)
{
	quick_exit((int)number(0, 0));
}

static void do_raise(void)
{
	raise((int)number(0, 0));
}

static void *leave(void *status)
{
	exit((int)(intptr_t)status);
}

static void do_thread_exit(void)
{
	pthread_t t;

	pthread_create(&t, NULL, leave, (void *)number(0, 0));
	pthread_join(t, NULL);
}

/* Leaves while a flush is under way. */
static void do_exit_in_flush(void)
{
	for (int i = 0; i < PATIENCE && losses_truth()[SUBSCRIBED] && !losses_truth()[IN_FLUSH];
	        i++)
		usleep(1000);
	losses_truth()[LEAVING] = 1;
	exit((int)number(0, 0));
}

static const struct {
	const char *name;
	void (*act)(void);
} table[] = { { "init", do_init }, { "launch", do_launch }, { "threads", do_threads },
	{ "join", do_join }, { "ranges", do_ranges }, { "kernels", do_kernels },
	{ "graph", do_graph }, { "capture", do_capture }, { "copies", do_copies },
	{ "sync", do_sync }, { "flushes", do_flushes }, { "thief", do_thief },
	{ "end-at", do_end_at }, { "ctl", do_ctl }, { "limit", do_limit }, { "fork", do_fork },
	{ "exec", do_exec }, { "late", do_late }, { "exit", do_exit }, { "_exit", do__exit },
	{ "quick", do_quick }, { "raise", do_raise }, { "thread-exit", do_thread_exit },
	{ "exit-in-flush", do_exit_in_flush } };

static void run(char *word)
{
	char *save = NULL, *name = strtok_r(word, ":", &save);

	for (int i = 0; i < 4; i++)
		argument[i] = strtok_r(NULL, ":", &save);
	for (size_t i = 0; name && i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name)) {
			table[i].act();
			return;
		}
	fail(name ? name : "an empty word");
}

int main(int n, char **words)
{
	self = words[0];
	for (int i = 1; i < n; i++)
		run(words[i]);
	return 0;
}
