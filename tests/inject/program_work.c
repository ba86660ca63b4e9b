/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the program that launch work, in one or several threads, with ranges around it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../fakes/fake_cuda.h"
#include "nvtx_mini.h"
#include "program.h"

void module_ranges(void);

/* ---- work ---- */

static void *stream; /* of launches */

void launch(long n, const char *name)
{
	static const char *const names[] = { "_Z6matmulPfS_S_i", "_Z7softmaxPfi",
		"_ZN2at6native4reluEPf", "sgemm_128x128" };

	for (long i = 0; i < n; i++) {
		errno = EDOM;
		cuLaunchKernel(name ? name : names[i % 4], (unsigned)(i % 4 + 1), 2, 1, 128, 1, 1,
		        0, stream, NULL, NULL);
		if (errno != EDOM)
			wrong("a launch changed errno");
	}
}

static void do_init(void)
{
	sigset_t before, after;

	sigemptyset(&before);
	sigemptyset(&after);
	sigprocmask(SIG_SETMASK, NULL, &before);
	errno = EDOM;
	if (cuInit(0))
		wrong("cuInit failed");
	if (errno != EDOM)
		wrong("cuInit changed errno");
	sigprocmask(SIG_SETMASK, NULL, &after);
	if (memcmp(&before, &after, 8))
		wrong("cuInit changed the blocked signals");
}

static void do_launch(void)
{
	launch(number(0, 1), argument[1]);
}

/* Kernels with long names, each at a different address, because CUPTI keeps the names until it
 * ends. */
static void do_names(void)
{
	size_t length = (size_t)number(1, 20);

	for (long i = 0; i < number(0, 1); i++) {
		char *text = malloc(length + 24);

		if (!text)
			wrong("no memory");
		memset(text, 'n', length);
		sprintf(text + length, "%ld", i);
		launch(1, text);
	}
}

static void do_graph(void)
{
	for (long i = 0; i < number(0, 1); i++)
		cuGraphLaunch((void *)number(1, 10), NULL);
}

/* Makes a graph of the launches from here on. */
static void do_capture(void)
{
	stream = (void *)13;
	cuStreamBeginCapture_v2(stream, 0);
}

static void do_captured(void)
{
	void *graph;

	cuStreamEndCapture(stream, &graph);
	stream = NULL;
	if ((long)(intptr_t)graph != number(0, 0))
		wrong("other launches were captured");
}

static void do_copies(void)
{
	for (long i = 0; i < number(0, 1); i++) {
		cuMemcpyHtoD_v2(0, NULL, (size_t)number(1, 4096));
		cuMemcpyDtoH_v2(NULL, 0, (size_t)number(1, 4096));
		cuMemcpyPeer(0, NULL, 0, NULL, (size_t)number(1, 4096));
		cuMemsetD8_v2(0, 0, (size_t)number(1, 4096));
	}
}

static void do_memory(void)
{
	uint64_t p;

	for (long i = 0; i < number(0, 1); i++) {
		cuMemAlloc_v2(&p, (size_t)number(1, 1 << 20));
		cuMemFree_v2(p);
	}
}

static void do_sync(void)
{
	cuCtxSynchronize();
}

static void do_device(void)
{
	int device;

	for (long i = 0; i < number(0, 1); i++)
		cuCtxGetDevice(&device);
}

static void do_destroy(void)
{
	cuCtxDestroy_v2(NULL);
}

static void do_reset(void)
{
	cudaDeviceReset();
}

static void do_unload(void)
{
	cuModuleUnload(NULL);
}

static void do_profiler(void)
{
	cuProfilerStart();
	cuProfilerStop();
}

/* ---- threads ---- */

#define THREADS 1024

static void *launcher(void *n)
{
	mini_push("thread");
	launch((long)(intptr_t)n, NULL);
	mini_pop();
	return NULL;
}

static pthread_barrier_t together;

/* Launches when all threads have started, and ends after all have launched. */
static void *at_once(void *n)
{
	pthread_barrier_wait(&together);
	launcher(n);
	pthread_barrier_wait(&together);
	return NULL;
}

static _Atomic long begun; /* of the threads that do not end */

static void *endless(void *pause_us)
{
	for (bool first = true;; first = false) {
		mini_push("endless");
		launch(10, NULL);
		mini_pop();
		begun += first;
		usleep((useconds_t)(intptr_t)pause_us);
	}
	return NULL;
}

static void threads(long at_once, long rounds, void *(*work)(void *), long n)
{
	static pthread_t t[THREADS];

	for (long r = 0; r < rounds; r++) {
		for (long i = 0; i < at_once && i < THREADS; i++)
			if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)n))
				wrong("no thread");
		for (long i = 0; i < at_once && i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
}

static void do_threads(void)
{
	threads(number(0, 4), 1, launcher, number(1, 100));
}

static void do_threads_at_once(void)
{
	pthread_barrier_init(&together, NULL, (unsigned)number(0, 4));
	threads(number(0, 4), 1, at_once, number(1, 100));
}

/* Launches N kernels, one every MS milliseconds. */
static void do_rate(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (long i = 0; i < number(0, 1); i++) {
		launch(1, NULL);
		t.tv_nsec += number(1, 1) * 1000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void do_churn(void)
{
	threads(4, number(0, 10), launcher, number(1, 10));
}

static void do_background(void)
{
	pthread_t t;

	begun = 0;
	for (long i = 0; i < number(0, 1); i++)
		if (pthread_create(&t, NULL, endless, (void *)number(1, 200)))
			wrong("no thread");
	while (begun < number(0, 1))
		usleep(1000);
}

static _Atomic uint64_t *counted; /* launches so far, then by the flushes that had begun */
#define COUNTED_FLUSHES 20000u

static void *counter(void *unused)
{
	uint64_t (*flushes)(void) = NULL, n;

	(void)unused;
	for (;;) {
		launch(1, NULL);
		if (!flushes)
			flushes = (uint64_t(*)(void))fake_cupti("fake_cupti_flushes");
		n = flushes ? flushes() : 0;
		if (n >= COUNTED_FLUSHES)
			return NULL;
		counted[0]++;
		counted[1 + n] = counted[0];
		usleep(1000); /* so rarely that no buffer becomes full */
	}
}

/* Launches without end, and counts the launches in a file that remains after the process. */
static void do_counted(void)
{
	size_t n = (1 + COUNTED_FLUSHES) * sizeof *counted;
	int fd = open(argument[0], O_RDWR | O_CREAT, 0600);
	pthread_t t;

	if (fd < 0 || ftruncate(fd, (off_t)n))
		wrong("no file to count in");
	counted = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counted == MAP_FAILED || pthread_create(&t, NULL, counter, NULL))
		wrong("no thread");
}

/* Ends before the writer has read any record. */
static void *named(void *i)
{
	char name[16];

	snprintf(name, sizeof name, "worker-%d", (int)(intptr_t)i);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&together);
	if (argument[1])
		mini_push(argument[1]);
	else
		launch(1, NULL);
	return NULL;
}

static long late;

static void launch_late(void)
{
	launch(late, NULL);
}

/* Launches in an exit handler, which runs after the handlers that are registered later. */
static void do_late(void)
{
	late = number(0, 1);
	atexit(launch_late);
}

static void do_named_threads(void)
{
	long n = number(0, 4);
	pthread_t t[64];

	pthread_barrier_init(&together, NULL, (unsigned)n);
	for (long i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[i], NULL, named, (void *)(intptr_t)i))
			wrong("no thread");
	for (long i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
}

static int later_ms, later_status;

static void *leave_later(void *unused)
{
	(void)unused;
	usleep((useconds_t)later_ms * 1000);
	exit(later_status);
}

static void do_exit_later(void)
{
	pthread_t t;

	later_ms = (int)number(0, 100);
	later_status = (int)number(1, 0);
	if (pthread_create(&t, NULL, leave_later, NULL))
		wrong("no thread");
}

static void *leaver(void *code)
{
	exit((int)(intptr_t)code);
}

static void do_thread_exit(void)
{
	pthread_t t;

	pthread_create(&t, NULL, leaver, (void *)number(0, 0));
	pthread_join(t, NULL);
}

static void *leave_inside(void *unused)
{
	(void)unused;
	mini_push("left inside");
	pthread_exit(NULL);
}

/* ---- ranges ---- */

static void do_push(void)
{
	mini_push(argument[0]);
}

static void do_pop(void)
{
	for (long i = 0; i < number(0, 1); i++)
		mini_pop();
}

static void do_mark(void)
{
	mini_mark(argument[0]);
}

static void do_deep(void)
{
	long n = number(0, 1000);

	for (long i = 0; i < n; i++)
		mini_push("deep");
	for (long i = 0; i < n; i++)
		mini_pop();
}

static void *ender(void *id)
{
	mini_end(*(uint64_t *)id);
	return NULL;
}

/* Ranges with wide names of a given length, which differ only in the last character. */
static void do_wide(void)
{
	size_t n = (size_t)number(0, 1);
	wchar_t *text = calloc(n + 1, sizeof *text);

	if (!text)
		wrong("no memory");
	for (size_t i = 0; i < n; i++)
		text[i] = 0xe4;
	for (wchar_t last = L'a'; last < L'a' + number(1, 2); last++) {
		text[n - 1] = last;
		mini_push_w(text);
		mini_pop();
	}
	free(text);
}

static void do_ranges(void)
{
	void *domain = mini_domain("TSL");
	void *string = mini_string(domain, "Thunk:#name=dot.1,hlo_op=fusion.6#");
	uint64_t id = mini_start("started here");
	pthread_t t;

	module_ranges();
	mini_domain_push(domain, MINI_EVENT(3, string));
	mini_domain_pop(domain);
	mini_push_w(L"wide \u00e4\u20ac\U0001f600");
	mini_pop();
	mini_push_ex(MINI_EVENT(1, "with event"));
	mini_pop();
	mini_push_ex(MINI_EVENT(3, (void *)16)); /* not one of our strings */
	mini_pop();
	mini_push_ex(NULL);
	mini_pop();
	mini_push(NULL);
	mini_pop();
	mini_thread((uint32_t)gettid(), "named by NVTX");
	pthread_create(&t, NULL, ender, &id);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, leave_inside, NULL);
	pthread_join(t, NULL);
	mini_pop(); /* one more than pushed */
}

static double pairs(long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++) {
		mini_push("forward");
		mini_pop();
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
}

static void do_pairs(void)
{
	pairs(number(0, 1000));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Measures the cost of a pair while the writer is not behind: the median over bursts with pauses
 * between them.
 */
static void do_cost(void)
{
	enum { BURSTS = 101, PAIRS = 1000 };
	struct timespec pause = { 0, 2000000 };
	double ns[BURSTS];

	for (int i = 0; i < 10; i++)
		pairs(PAIRS);
	for (int i = 0; i < BURSTS; i++) {
		nanosleep(&pause, NULL);
		ns[i] = pairs(PAIRS) / PAIRS;
	}
	qsort(ns, BURSTS, sizeof *ns, compare);
	printf("ns per pair: %.1f\n", ns[BURSTS / 2]);
}

const struct word work_words[] = {
	{ "init", do_init },
	{ "launch", do_launch },
	{ "names", do_names },
	{ "graph", do_graph },
	{ "capture", do_capture },
	{ "captured", do_captured },
	{ "copies", do_copies },
	{ "memory", do_memory },
	{ "sync", do_sync },
	{ "device", do_device },
	{ "destroy", do_destroy },
	{ "reset", do_reset },
	{ "unload", do_unload },
	{ "profiler", do_profiler },
	{ "threads", do_threads },
	{ "threads-at-once", do_threads_at_once },
	{ "rate", do_rate },
	{ "late", do_late },
	{ "churn", do_churn },
	{ "background", do_background },
	{ "counted", do_counted },
	{ "named-threads", do_named_threads },
	{ "exit-later", do_exit_later },
	{ "thread-exit", do_thread_exit },
	{ "push", do_push },
	{ "pop", do_pop },
	{ "mark", do_mark },
	{ "deep", do_deep },
	{ "ranges", do_ranges },
	{ "wide", do_wide },
	{ "pairs", do_pairs },
	{ "cost", do_cost },
	{ NULL, NULL },
};
