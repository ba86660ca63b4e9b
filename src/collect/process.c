/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads /proc with plain system calls.
 */
#define _GNU_SOURCE
#include "collect/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define ARGV_MAX  8192u
#define VALUE_MAX 1024u

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t process_clock(void)
{
	return clock_of(CLOCK_REALTIME);
}

uint64_t process_ticks(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

uint64_t process_raw_clock(void)
{
	return clock_of(CLOCK_MONOTONIC_RAW);
}

uint64_t process_thread_cpu(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

size_t process_file(const char *path, char *p, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	p[0] = 0;
	if (fd < 0)
		return 0;
	while (have < n - 1) {
		ssize_t got = read(fd, p + have, n - 1 - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	close(fd);
	p[have] = 0;
	return have;
}

/* Returns field `index` of a stat file, numbered as in proc(5), from 3 on; NULL if it is
 * missing. */
static const char *stat_field(const char *path, char *buffer, size_t n, int index)
{
	if (!process_file(path, buffer, n))
		return NULL;
	char *p = strrchr(buffer, ')'); /* the name may contain any character */

	for (int i = 2; p && i < index; i++)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : NULL;
}

unsigned long long process_start_ticks(void)
{
	char buffer[1024];
	const char *p = stat_field("/proc/self/stat", buffer, sizeof buffer, 22);

	return p ? strtoull(p, NULL, 10) : 0;
}

void process_host(char *p, size_t n)
{
	struct utsname u;

	snprintf(p, n, "%s", uname(&u) ? "host" : u.nodename);
	if (!p[0])
		snprintf(p, n, "host");
	for (; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ' || *p == 127)
			*p = '_';
}

/* ---- facts -------------------------------------------------------------------------------------
 */
static void put_number(process_fact *put, void *user, const char *key, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)v);

	put(user, key, text, (size_t)n);
}

static void put_link(process_fact *put, void *user, const char *key, const char *path)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof text);

	if (n > 0)
		put(user, key, text, (size_t)n);
}

/* Returns the start time of the process, ns since 1970: boot time plus ticks. */
static uint64_t start_time(void)
{
	uint64_t boot = clock_of(CLOCK_REALTIME) - clock_of(CLOCK_BOOTTIME);
	long hertz = sysconf(_SC_CLK_TCK);

	return hertz > 0 ? boot + process_start_ticks() * (1000000000u / (uint64_t)hertz) : 0;
}

/* True if a variable contains the rank, size or name of a job. */
static bool is_rank(const char *name, size_t n)
{
	static const char *const whole[] = { "RANK", "LOCAL_RANK", "WORLD_SIZE", "TFPROF_JOB",
		"CUDA_VISIBLE_DEVICES", "TORCHELASTIC_RUN_ID", "OMPI_MCA_ess_base_jobid",
		"PMIX_NAMESPACE", "PMIX_RANK" };
	static const char *const begin[] = { "OMPI_COMM_WORLD_", "PMI_", "SLURM_JOB_ID",
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_JOB_NAME",
		"SLURM_NODEID" };

	for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++)
		if (strlen(whole[i]) == n && !memcmp(name, whole[i], n))
			return true;
	for (unsigned i = 0; i < sizeof begin / sizeof *begin; i++)
		if (strlen(begin[i]) <= n && !memcmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}

static void put_environment(process_fact *put, void *user)
{
	char key[160];

	for (char **e = environ; e && *e; e++) {
		const char *equals = strchr(*e, '=');

		if (!equals || !is_rank(*e, (size_t)(equals - *e)))
			continue;
		if ((size_t)snprintf(key, sizeof key, "env.%.*s", (int)(equals - *e), *e) <
		        sizeof key)
			put(user, key, equals + 1, strnlen(equals + 1, VALUE_MAX));
	}
}

void process_facts(process_fact *put, void *user)
{
	char text[ARGV_MAX];
	struct stat s;
	size_t n;

	put_number(put, user, "pid", (uint64_t)getpid());
	put_number(put, user, "ppid", (uint64_t)getppid());
	if (!stat("/proc/self/ns/pid", &s))
		put_number(put, user, "pidns", s.st_ino);
	put_number(put, user, "start", start_time());
	process_host(text, 65);
	put(user, "host", text, strlen(text));
	put_link(put, user, "exe", "/proc/self/exe");
	put_link(put, user, "cwd", "/proc/self/cwd");
	n = process_file("/proc/self/cmdline", text, sizeof text);
	while (n && !text[n - 1])
		n--;
	put(user, "argv", text, n);
	put_environment(put, user);
}

/* ---- threads -----------------------------------------------------------------------------------
 */
bool process_thread_name(uint32_t tid, char *p, size_t n)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%lu/comm", (unsigned long)tid);
	size_t have = process_file(path, p, n);

	while (have && p[have - 1] == '\n')
		p[--have] = 0;
	return have;
}

bool process_runs(int thread)
{
	char path[64], buffer[1024];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
	const char *state = stat_field(path, buffer, sizeof buffer, 3);

	return state && *state == 'R';
}

bool process_is_last_thread(void)
{
	char buffer[1024];
	struct stat s;

	/* Each thread has a folder; the folder of an ended main thread remains until the process
	 * ends. */
	if (stat("/proc/self/task", &s) || s.st_nlink > 4)
		return false;
	if (s.st_nlink < 4)
		return true;
	const char *state = stat_field("/proc/self/stat", buffer, sizeof buffer, 3);

	return state && *state == 'Z';
}
