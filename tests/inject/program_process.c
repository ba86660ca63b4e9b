/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the program about its process: children, descriptors, limits, loaded libraries, ways to
 * end, and the collector's cost.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
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
#include <unistd.h>

#include "program.h"

extern char **environ;

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
	char *words = argument[0] ? strdup(argument[0]) : NULL, *save = NULL;
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

static void do_say(void)
{
	printf("%s\n", argument[0]);
	fflush(stdout);
}

/* Prints the numbers of the open descriptors, except ours, which are high. */
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

/* Opens a file of the program under the numbers of the closed descriptors. */
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
			struct rlimit l;

			if (getrlimit((__rlimit_resource_t)limits[i].what, &l))
				wrong("getrlimit");
			l.rlim_cur = (rlim_t)number(1, 0);
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

/* Returns the processor time of our writer thread so far, ns. */
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

const struct word process_words[] = {
	{ "fork", do_fork },
	{ "fork-exec", do_fork_exec },
	{ "vfork", do_vfork },
	{ "spawn", do_spawn },
	{ "exec", do_exec },
	{ "say", do_say },
	{ "fds", do_fds },
	{ "close", do_close },
	{ "close-all", do_close_all },
	{ "reopen", do_reopen },
	{ "limit", do_limit },
	{ "dlclose", do_dlclose },
	{ "load", do_load },
	{ "exit", do_exit },
	{ "_exit", do__exit },
	{ "quick", do_quick },
	{ "abort", do_abort },
	{ "raise", do_raise },
	{ "pthread-exit", do_pthread_exit },
	{ "kilobytes", do_memory_use },
	{ "writer", do_writer },
	{ NULL, NULL },
};
