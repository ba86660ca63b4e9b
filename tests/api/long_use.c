/* SPDX-License-Identifier: Apache-2.0
 *
 * Long use: opens, queries and closes sessions many times, and passes one session from thread to
 * thread, while a signal handler cancels calls at random times. At the end, memory and descriptors
 * must be as after the first thousand rounds. long_use PROFILE ROUNDS     of a thousand or fewer
 * nothing is measured
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <tfprof/tfprof.h>

#define SETTLED 1000         /* rounds until all memory has reached its size */
#define SLACK   (4096 << 10) /* bytes that the C library may keep */

static struct tfp_session *volatile now;
static const char *profile;
static unsigned long cancelled;

static void on_alarm(int number)
{
	(void)number;
	tfp_cancel(now);
}

static int drop(void *arg, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)arg += n;
	return 0;
}

static int is_wrong(int code)
{
	cancelled += code == TFP_E_CANCELLED;
	return code && code != TFP_E_CANCELLED;
}

/* Makes one call of a session, on any thread. */
static void *ask(void *arg)
{
	size_t got = 0;
	struct tfp_run run = { .size = sizeof run, .text = drop, .text_user = &got };

	(void)arg;
	return is_wrong(tfp_run_line(now, "scope -select bytes,micros", TFP_Z, &run)) ? &cancelled
	                                                                              : NULL;
}

/* Returns nonzero if a call failed. */
static int live(unsigned long round)
{
	struct tfp_input in = { .size = sizeof in, .path = profile, .path_size = TFP_Z };
	struct tfp_session *s;
	pthread_t t;
	void *failed = NULL;

	if (tfp_open(&s, NULL))
		return 1;
	now = s;
	int wrong = is_wrong(tfp_add(s, TFP_PROFILE, &in)) || ask(NULL);
	if (!wrong && round % 16 == 0 && !pthread_create(&t, NULL, ask, NULL)) {
		pthread_join(t, &failed);
		wrong = failed || ask(NULL);
	}
	if (wrong)
		fprintf(stderr, "round %lu: %s\n", round, tfp_error(s, NULL));
	now = NULL;
	tfp_close(s);
	return wrong;
}

static long held(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 700 }, { 0, 700 } };
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	long memory = 0;
	int files = 0;

	if (argc != 3)
		return 2;
	profile = argv[1];
	sigemptyset(&a.sa_mask);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned long i = 0, n = strtoul(argv[2], NULL, 10); i < n; i++) {
		if (i == SETTLED) {
			memory = held();
			files = descriptors();
		}
		if (live(i))
			return 1;
	}
	int flat = !files || (held() <= memory + SLACK && descriptors() == files);
	printf("%s: %ld kB, then %ld; %d descriptors, then %d; cancelled: %s\n",
	        flat ? "flat" : "grows", memory >> 10, held() >> 10, files, descriptors(),
	        cancelled ? "yes" : "never");
	return !flat || !cancelled;
}
