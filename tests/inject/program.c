/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that does what its words say, one after the other: the program under observation in the
 * tests of the collector. "launch:100" launches a hundred kernels; the table at the end lists all
 * words. It checks by itself that errno, signals and descriptors are what they would be without a
 * collector.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../fakes/fake_cuda.h"
#include "nvtx_mini.h"

void module_ranges(void);
static void run(char *word);

extern char **environ;
static char *argument[3]; /* what is behind the colons */
static const char *self;

static long number(int i, long otherwise)
{
	return argument[i] ? strtol(argument[i], NULL, 0) : otherwise;
}

static void wrong(const char *what)
{
	dprintf(STDOUT_FILENO, "WRONG: %s\n", what);
	_exit(99);
}

/* ---- work --------------------------------------------------------------------------------------
 */
static void launch(long n, const char *name)
{
	static const char *const names[] = { "_Z6matmulPfS_S_i", "_Z7softmaxPfi",
		"_ZN2at6native4reluEPf", "sgemm_128x128" };

	for (long i = 0; i < n; i++) {
		errno = EDOM;
		cuLaunchKernel(name ? name : names[i % 4], (unsigned)(i % 4 + 1), 2, 1, 128, 1, 1,
		        0, NULL, NULL, NULL);
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

/* Kernels with long names, each at an address of its own: CUPTI keeps them as long as it runs. */
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

/* ---- threads -----------------------------------------------------------------------------------
 */
static void *launcher(void *n)
{
	mini_push("thread");
	launch((long)(intptr_t)n, NULL);
	mini_pop();
	return NULL;
}

static void *endless(void *unused)
{
	(void)unused;
	for (;;) {
		mini_push("endless");
		launch(10, NULL);
		mini_pop();
		usleep(200);
	}
	return NULL;
}

static void threads(long at_once, long rounds, void *(*work)(void *), long n)
{
	pthread_t t[64];

	for (long r = 0; r < rounds; r++) {
		for (long i = 0; i < at_once && i < 64; i++)
			if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)n))
				wrong("no thread");
		for (long i = 0; i < at_once && i < 64; i++)
			pthread_join(t[i], NULL);
	}
}

static void do_threads(void)
{
	threads(number(0, 4), 1, launcher, number(1, 100));
}

static void do_churn(void)
{
	threads(4, number(0, 10), launcher, number(1, 10));
}

static void do_background(void)
{
	pthread_t t;

	for (long i = 0; i < number(0, 1); i++)
		if (pthread_create(&t, NULL, endless, NULL))
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

/* ---- ranges ------------------------------------------------------------------------------------
 */
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
	mini_push_ex(MINI_EVENT(3, (void *)16)); /* no string of ours */
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
	mini_pop(); /* one too many */
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

/* What a pair costs where the writer keeps up: the median of bursts with pauses between. */
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

/* ---- the process -------------------------------------------------------------------------------
 */
static void reap(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	        WEXITSTATUS(status))
		wrong("a child failed");
}

/* Runs the words between '+' in a child. */
static void do_fork(void)
{
	char *rest = argument[0] ? argument[0] : NULL;
	char *words = rest ? strdup(rest) : NULL, *save = NULL;
	pid_t child = fork();

	if (!child) {
		for (char *w = words ? strtok_r(words, "+", &save) : NULL; w;
		        w = strtok_r(NULL, "+", &save)) {
			for (char *p = w; *p; p++)
				if (*p == '=')
					*p = ':';
			run(w);
		}
		exit(0);
	}
	free(words);
	reap(child);
}

static void do_fork_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl(self, self, "init", argument[0] ? argument[0] : "launch", NULL);
		_exit(98);
	}
	reap(child);
}

static void do_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(98);
	}
	reap(child);
}

static void do_spawn(void)
{
	char *words[] = { (char *)"true", NULL };
	pid_t child;

	if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ))
		wrong("posix_spawn failed");
	reap(child);
}

static void do_exec(void)
{
	execl(self, self, "init", "launch:7", "say:second", NULL);
	wrong("exec failed");
}

static void do_sleep(void)
{
	long ms = number(0, 1);
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void do_say(void)
{
	printf("%s\n", argument[0]);
	fflush(stdout);
}

/* The numbers of the descriptors that are open, but for ours of a high number. */
static void do_fds(void)
{
	printf("fds");
	for (int i = 0; i < 100; i++)
		if (fcntl(i, F_GETFD) >= 0)
			printf(" %d", i);
	printf("\n");
	fflush(stdout);
}

static void do_close(void)
{
	close((int)number(0, 0));
}

static void do_close_all(void)
{
	for (int i = 3; i < 1024; i++)
		close(i);
}

/* Fills the numbers that were closed with a file of the program's own. */
static void do_reopen(void)
{
	int fd;

	while ((fd = open(argument[0], O_RDWR | O_CREAT, 0600)) >= 0 && fd < 300)
		;
}

static void do_limit(void)
{
	static const struct {
		const char *name;
		int what;
	} limits[] = { { "NOFILE", RLIMIT_NOFILE }, { "FSIZE", RLIMIT_FSIZE }, { "AS", RLIMIT_AS },
		{ "NPROC", RLIMIT_NPROC } };

	for (unsigned i = 0; i < 4; i++)
		if (!strcmp(argument[0], limits[i].name)) {
			struct rlimit l = { (rlim_t)number(1, 0), (rlim_t)number(1, 0) };

			if (setrlimit((__rlimit_resource_t)limits[i].what, &l))
				wrong("setrlimit");
		}
}

static void do_dlclose(void)
{
	void *h = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);

	for (int i = 0; h && i < 5; i++)
		dlclose(h);
}

static void do_load(void)
{
	if (!dlopen(argument[0], RTLD_NOW))
		wrong(dlerror());
}

static void do_state(void)
{
	void (*state)(char *, size_t) = NULL;
	char text[200] = "no CUPTI";
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
		"libcupti.so.11.8" };

	for (unsigned i = 0; i < 3 && !state; i++) {
		void *h = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);

		state = h ? (void (*)(char *, size_t))dlsym(h, "fake_cupti_state") : NULL;
	}
	if (state)
		state(text, sizeof text);
	printf("%s\n", text);
	fflush(stdout);
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

static void do_abort(void)
{
	abort();
}

static void do_raise(void)
{
	raise((int)number(0, 0));
}

static void do_pthread_exit(void)
{
	fflush(stdout);
	pthread_exit(NULL);
}

/* Processor time of our writer thread so far, ns. */
static void do_writer(void)
{
	char path[64], name[32];

	for (pid_t tid = getpid(); tid < getpid() + 100; tid++) {
		snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
		FILE *f = fopen(path, "r");

		if (!f)
			continue;
		bool ours = fgets(name, sizeof name, f) && !strcmp(name, "tfprof\n");

		fclose(f);
		snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
		if (!ours || !(f = fopen(path, "r")))
			continue;
		if (fscanf(f, "%31s", name) == 1)
			printf("writer ns: %s\n", name);
		fclose(f);
	}
}

static void do_memory_use(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("kilobytes: %ld\n", u.ru_maxrss);
	fflush(stdout);
}

/* ---- words -------------------------------------------------------------------------------------
 */
static const struct {
	const char *name;
	void (*act)(void);
} words[] = {
	{ "init", do_init },
	{ "launch", do_launch },
	{ "names", do_names },
	{ "graph", do_graph },
	{ "copies", do_copies },
	{ "memory", do_memory },
	{ "sync", do_sync },
	{ "device", do_device },
	{ "destroy", do_destroy },
	{ "reset", do_reset },
	{ "unload", do_unload },
	{ "profiler", do_profiler },
	{ "threads", do_threads },
	{ "churn", do_churn },
	{ "background", do_background },
	{ "thread-exit", do_thread_exit },
	{ "push", do_push },
	{ "pop", do_pop },
	{ "mark", do_mark },
	{ "deep", do_deep },
	{ "ranges", do_ranges },
	{ "pairs", do_pairs },
	{ "cost", do_cost },
	{ "fork", do_fork },
	{ "fork-exec", do_fork_exec },
	{ "vfork", do_vfork },
	{ "spawn", do_spawn },
	{ "exec", do_exec },
	{ "sleep", do_sleep },
	{ "say", do_say },
	{ "fds", do_fds },
	{ "close", do_close },
	{ "close-all", do_close_all },
	{ "reopen", do_reopen },
	{ "limit", do_limit },
	{ "dlclose", do_dlclose },
	{ "load", do_load },
	{ "state", do_state },
	{ "exit", do_exit },
	{ "_exit", do__exit },
	{ "quick", do_quick },
	{ "abort", do_abort },
	{ "raise", do_raise },
	{ "pthread-exit", do_pthread_exit },
	{ "kilobytes", do_memory_use },
	{ "writer", do_writer },
};

static void run(char *word)
{
	char *copy = strdup(word), *save = NULL, *name = copy ? strtok_r(copy, ":", &save) : NULL;

	for (int i = 0; i < 3; i++)
		argument[i] = strtok_r(NULL, ":", &save);
	for (unsigned i = 0; name && i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i].name, name)) {
			words[i].act();
			free(copy);
			return;
		}
	wrong(word);
}

int main(int argc, char **argv)
{
	self = argv[0];
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
