/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the program that wait, and words for the fake CUPTI. They poll for events instead of
 * sleeping, because a machine may be slow.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

#define PATIENCE 12000 /* number of polls, one every 10 ms, before giving up */

static void do_sleep(void)
{
	long ms = number(0, 1);
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Waits for input or the end of standard input. */
static void do_listen(void)
{
	getchar();
}

/* ---- for the collector ---- */

/* Returns the size of all recordings of the session, bytes. */
static long spooled(void)
{
	char pattern[4096];
	struct stat s;
	long n = 0;
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/*.tfspool", getenv("TFPROF_SESSION"));
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (size_t i = 0; i < g.gl_pathc; i++)
		n += stat(g.gl_pathv[i], &s) ? 0 : (long)s.st_size;
	globfree(&g);
	return n;
}

/* Reads a file of one of our threads; the text is empty if the thread has ended. */
static void read_task(const char *task, const char *file, char *text, size_t n)
{
	char path[512];

	snprintf(path, sizeof path, "/proc/self/task/%s/%s", task, file);
	FILE *f = fopen(path, "r");

	text[f ? fread(text, 1, n - 1, f) : 0] = 0;
	if (f)
		fclose(f);
}

/* Returns how often the collector's thread has gone to sleep, which it does after each round; -1
 * without such a thread. */
static long rounds(void)
{
	static const char mark[] = "\nvoluntary_ctxt_switches:";
	DIR *tasks = opendir("/proc/self/task");
	char text[8192];
	long n = -1;

	for (struct dirent *e; tasks && n < 0 && (e = readdir(tasks));) {
		read_task(e->d_name, "comm", text, sizeof text);
		if (strcmp(text, "tfprof\n"))
			continue;
		read_task(e->d_name, "status", text, sizeof text);
		const char *p = strstr(text, mark);

		n = p ? strtol(p + sizeof mark - 1, NULL, 10) : -1;
	}
	if (tasks)
		closedir(tasks);
	return n;
}

/* Waits until nothing has been written for a number of milliseconds, in which the collector's
 * thread has completed a round per 100 ms. */
static void do_settle(void)
{
	long ms = number(0, 300), quiet = 0, before = spooled(), now, begin = rounds(), n = begin;

	for (int i = 0; (quiet < ms || (n >= 0 && n < begin + ms / 100)) && i < PATIENCE; i++) {
		usleep(10000);
		now = spooled();
		n = rounds();
		quiet = now == before ? quiet + 10 : 0;
		begin = now == before ? begin : n;
		before = now;
	}
}

/* Counts the lines of the collector's log, and reads its text. */
static long read_log(char *text, size_t n)
{
	char path[4096];
	long lines = 0;

	snprintf(path, sizeof path, "%s/%d.log", getenv("TFPROF_SESSION"), (int)getpid());
	FILE *f = fopen(path, "r");

	text[f ? fread(text, 1, n - 1, f) : 0] = 0;
	if (f)
		fclose(f);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	return lines;
}

/* Launches a hundred kernels at intervals until the log of the collector contains a text, or any
 * text. */
static void do_until_log(void)
{
	char text[8192];

	for (int i = 0; i < PATIENCE; i++) {
		if (read_log(text, sizeof text) && strstr(text, argument[0] ? argument[0] : ""))
			return;
		launch(100, NULL);
		usleep(10000);
	}
	wrong("the log does not say what was awaited");
}

/* Waits until the log contains a text. */
static void do_await_log(void)
{
	char text[8192];

	for (int i = 0; i < PATIENCE; i++) {
		if (read_log(text, sizeof text) && strstr(text, argument[0]))
			return;
		usleep(10000);
	}
	wrong("the log does not say what was awaited");
}

/* Waits until the log has that number of lines. */
static void do_await_lines(void)
{
	char text[8192];

	for (int i = 0; read_log(text, sizeof text) < number(0, 1) && i < PATIENCE; i++)
		usleep(10000);
}

/* ---- the fake CUPTI ---- */

void *fake_cupti(const char *function)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
		"libcupti.so.11.8" };
	void *f = NULL;

	for (unsigned i = 0; i < 3 && !f; i++) {
		void *h = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);

		f = h ? dlsym(h, function) : NULL;
	}
	return f;
}

static void ask_cupti(const char *function, char *text, size_t n)
{
	void (*ask)(char *, size_t) = (void (*)(char *, size_t))fake_cupti(function);

	snprintf(text, n, "no CUPTI");
	if (ask)
		ask(text, n);
}

static void say_cupti(const char *function)
{
	char text[4000];

	ask_cupti(function, text, sizeof text);
	printf("%s\n", text);
	fflush(stdout);
}

static void do_state(void)
{
	say_cupti("fake_cupti_state");
}

static void do_calls(void)
{
	say_cupti("fake_cupti_calls");
}

/* Waits until the state of the fake contains a text. */
static void do_await(void)
{
	char text[4000] = "";

	for (int i = 0; !strstr(text, argument[0]) && i < PATIENCE; i++) {
		usleep(i ? 10000 : 0);
		ask_cupti("fake_cupti_state", text, sizeof text);
	}
}

/* Launches a kernel at intervals until the state of the fake contains a text. */
static void do_until(void)
{
	char text[4000] = "";

	for (int i = 0; !strstr(text, argument[0]) && i < PATIENCE; i++) {
		usleep(i ? 10000 : 0);
		launch(1, NULL);
		ask_cupti("fake_cupti_state", text, sizeof text);
	}
}

/* Passes a number to the fake. */
static void tell_cupti(const char *function)
{
	void (*tell)(unsigned long) = (void (*)(unsigned long))fake_cupti(function);

	if (!tell)
		wrong("there is no CUPTI to be told");
	tell((unsigned long)number(0, 0));
}

/* 1: another client takes the buffers; 0: it ends; 2: it ends and removes CUPTI from the process.
 */
static void do_steal(void)
{
	tell_cupti("fake_cupti_steal");
}

/* 1: another client shares CUPTI; 2: it also requests whole graphs; 0: it ends, and prints the
 * number of its kernels. */
static void do_share(void)
{
	long (*share)(unsigned long) = (long (*)(unsigned long))fake_cupti("fake_cupti_share");

	if (!share)
		wrong("there is no CUPTI to share");
	printf("share %ld\n", share((unsigned long)number(0, 0)));
	fflush(stdout);
}

/* CUPTI ends before the collector when the program exits. */
static void do_die(void)
{
	void (*die)(void) = (void (*)(void))fake_cupti("fake_cupti_die_at_exit");

	if (!die)
		wrong("there is no CUPTI to end");
	die();
}

/* Sets the number of dropped records for the next query. */
static void do_drop(void)
{
	tell_cupti("fake_cupti_drop");
}

const struct word wait_words[] = {
	{ "sleep", do_sleep },
	{ "listen", do_listen },
	{ "settle", do_settle },
	{ "until-log", do_until_log },
	{ "await-log", do_await_log },
	{ "await-lines", do_await_lines },
	{ "await", do_await },
	{ "until", do_until },
	{ "state", do_state },
	{ "calls", do_calls },
	{ "steal", do_steal },
	{ "share", do_share },
	{ "die", do_die },
	{ "drop", do_drop },
	{ NULL, NULL },
};
