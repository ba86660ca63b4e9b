/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures tasks inside one session, and prints a line of JSON for each task. bench.py repeats the
 * runs, computes medians, prints tables and compares with limits.
 *
 *   bench -x PROGRAM WORD...             a whole process, from start to end
 *   bench [-a] [-t THREADS] [-o FOLDER] TASK...
 *     graph=F oplog=F steps=F,F,... profile=F workers=F,F,...  load
 *     scope graph op code  view, no output
 *     scope+ graph+ op+ code+  view to a file            seal advise memcpy
 *     NAME/KIND                view NAME to output KIND, first step
 *     NAME/stats               view NAME with statistics over the steps, no output
 *     NAME/by                  view NAME with columns by worker, no output
 *     rows=F                   the rows of op of a profile, read as cells by the public interface
 *     write=F                  the profile; with -a before the tasks, with attributes of nodes
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/session.h"
#include "tfprof/tfprof.h"

struct bench {
	struct session *s;
	const char *folder; /* for output files */
	char *task, *value; /* value: after '=', '+' or '/' */
	char kind;          /* that character, or 0 */
	uint64_t bytes;     /* read or written by the task */
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU seconds that the kernel took for the process: clearing pages, writing. */
static double kernel_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec * 1e-6;
}

/* A line of /proc/self/status, in bytes. */
static long long status_bytes(const char *name)
{
	char line[256];
	long long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)))
			kib = atoll(line + strlen(name));
	if (f)
		fclose(f);
	return kib * 1024;
}

/* Makes the peak the present. */
static void reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (f) {
		fputs("5", f);
		fclose(f);
	}
}

static uint64_t file_size(const char *path)
{
	FILE *f = fopen(path, "r");
	long long n = 0;

	if (f && !fseek(f, 0, SEEK_END))
		n = ftell(f);
	if (f)
		fclose(f);
	return (uint64_t)n;
}

static bool load(struct bench *b, unsigned role)
{
	b->bytes = file_size(b->value);
	return session_load(b->s, role, &(struct input_from){ .name = str_of(b->value) });
}

static bool load_steps(struct bench *b)
{
	struct strs files = str_split(&b->s->query_arena, str_of(b->value), ',');
	struct input_step *v = ARENA_ARRAY(&b->s->query_arena, files.n, struct input_step);

	for (size_t i = 0; i < files.n; i++) {
		v[i] = (struct input_step){ .from = { .name = files.v[i] }, .step = (int64_t)i };
		b->bytes += file_size(str_z(&b->s->query_arena, files.v[i]));
	}
	return session_load_steps(b->s, v, files.n, NULL, NULL);
}

static bool load_workers(struct bench *b)
{
	struct str words[] = { str_of(b->value) };
	struct strs list = { words, 1, 1 };
	struct sources src;

	if (!sources_find(b->s, &list, &src))
		return false;
	for (size_t i = 0; i < src.paths.n; i++)
		b->bytes += file_size(str_z(&b->s->query_arena, src.paths.v[i]));
	return sources_load(b->s, &src, false);
}

static bool write_profile(struct bench *b)
{
	struct session *s = b->s;
	struct sink *to;

	if (!session_seal(s) || !sink_file(&to, &s->query_arena, str_of(b->value), &s->error))
		return false;
	profile_write(&s->model, to, &s->query_arena, &s->notes);
	b->bytes = sink_size(to);
	return sink_close(to, &s->error);
}

static bool set(struct bench *b, struct opts *o, const char *name, struct str value)
{
	const struct option *row = view_option(str_of(name));

	return row && opts_set(o, &b->s->query_arena, row, value, &b->s->error);
}

/* The command of a profile of everything, as long as it can get. */
static bool view(struct bench *b)
{
	struct arena *a = &b->s->query_arena;
	struct opts *o = ARENA_NEW(a, struct opts);
	struct str kind = b->kind == '/' ? str_of(b->value) : S("file");
	struct str path = str_fmt(a, "%s/%s.%.*s", b->folder, b->task, STR(kind));
	bool stats = str_eq(kind, S("stats")), by = str_eq(kind, S("by"));
	bool files = b->kind && !stats && !by;
	struct str output =
	        files ? str_fmt(a, "%.*s:outfile=%.*s", STR(kind), STR(path)) : S("none");

	opts_preset(o, a);
	if (!set(b, o, "max_depth", S("10000")) || !set(b, o, "start_name_regexes", S(".*")) ||
	        !set(b, o, "account_type_regexes", S(".*")) ||
	        !set(b, o, "show_name_regexes", S(".*")) || !set(b, o, "order_by", S("micros")) ||
	        !set(b, o, "output", output) ||
	        !set(b, o, "select",
	                str_eq(kind, S("pprof")) ? S("micros")
	                                         : S("micros,bytes,params,float_ops")))
		return false;
	if (by          ? !set(b, o, "by", S("worker"))
	        : stats ? !set(b, o, "stats", S("mean,cv,n"))
	                : b->kind == '/' && !str_eq(kind, S("pprof")) && !set(b, o, "step", S("0")))
		return false;
	for (size_t i = 0; i < VK_N; i++) {
		if (strcmp(b->task, views[i].name) != 0)
			continue;
		if (!session_answer(b->s, &views[i], o, sink_memory(a), NULL))
			return false;
		b->bytes = files ? file_size(str_z(a, path)) : 0;
		return true;
	}
	return session_fail(b->s, ERR_INVALID_ARGUMENT, "no task is called '%s'", b->task);
}

/* How fast this machine moves memory. */
static bool copy_memory(struct bench *b)
{
	size_t n = (size_t)64 << 20;
	char *from = malloc(n), *to = malloc(n);

	if (!from || !to)
		exit(1);
	memset(from, 1, n);
	memset(to, 2, n);
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < 4; i++) {
		memcpy(to, from, n);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	printf("{\"task\": \"memcpy\", \"cpu\": %.6f, \"bytes\": %zu}\n",
	        seconds(CLOCK_PROCESS_CPUTIME_ID) - start, 4 * n);
	b->bytes = 4 * n;
	free(from);
	free(to);
	return true;
}

/* Reads the rows of a profile as a program does, and adds their numbers. Only the walk is timed. */
static bool walk_rows(struct bench *b)
{
	struct tfp_str file = { b->value, TFP_Z };
	struct tfp_rows *rows = NULL;
	struct tfp_session *s;
	const struct tfp_cell *row;
	struct tfp_column column = { .size = sizeof column };
	size_t columns = 0, n = 0;
	double sum = 0;

	if (tfp_open(&s, NULL) || tfp_add_files(s, &file, 1) ||
	        tfp_rows_open(s, "scope -max_depth 1000000", TFP_Z, NULL, &rows)) {
		fprintf(stderr, "bench: rows: %s\n", tfp_error(s, NULL));
		return false;
	}
	while (!tfp_rows_column(rows, columns, &column))
		columns++;
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (; (row = tfp_rows_next(rows)) != NULL; n++)
		for (size_t i = 0; i < columns; i++)
			sum += row[i].real + (double)row[i].text.size;
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
	printf("{\"task\": \"rows\", \"cpu\": %.6f, \"rows\": %zu, \"cells\": %zu, \"sum\": "
	       "%.0f}\n",
	        cpu, n, n * columns, sum);
	tfp_rows_close(rows);
	tfp_close(s);
	return n > 0;
}

static bool run_task(struct session *s, void *ctx)
{
	struct bench *b = ctx;
	struct advice advice;

	if (b->kind == '=') {
		if (!strcmp(b->task, "graph"))
			return load(b, ROLE_GRAPH);
		if (!strcmp(b->task, "oplog"))
			return load(b, ROLE_OPLOG);
		if (!strcmp(b->task, "profile"))
			return load(b, ROLE_PROFILE);
		if (!strcmp(b->task, "workers"))
			return load_workers(b);
		return !strcmp(b->task, "write") ? write_profile(b) : load_steps(b);
	}
	if (!strcmp(b->task, "seal"))
		return session_seal(s);
	if (!strcmp(b->task, "advise"))
		return session_advise(s, CHECK_ALL, -1, &advice);
	return view(b);
}

/* Runs one task and prints its cost: peak memory of the process, memory held afterwards, memory
 * before the task. */
static bool measure(struct bench *b)
{
	reset_peak();
	long long before = status_bytes("VmRSS:");
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	double kernel = kernel_seconds();

	if (!session_guard(b->s, run_task, b)) {
		fprintf(stderr, "bench: %s: %.*s\n", b->task, STR(b->s->error.text));
		return b->s->error.code == ERR_UNIMPLEMENTED;
	}
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	kernel = kernel_seconds() - kernel;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	printf("{\"task\": \"%s%s%s%s\", \"cpu\": %.6f, \"kernel\": %.6f, \"wall\": %.6f, "
	       "\"bytes\": %llu, \"before\": %lld, \"peak\": %lld, \"held\": %lld, \"nodes\": "
	       "%zu}\n",
	        b->kind == '=' && strcmp(b->task, "write") ? "load " : "", b->task,
	        b->kind == '+'   ? "+"
	        : b->kind == '/' ? "/"
	                         : "",
	        b->kind == '/' ? b->value : "", cpu, kernel, wall, (unsigned long long)b->bytes,
	        before, status_bytes("VmHWM:"), status_bytes("VmRSS:"), b->s->model.nodes.n);
	fflush(stdout);
	return true;
}

/* Runs a program with its output thrown away. Done here, as a child begins with the peak of its
 * parent and this one is small. */
static int run_program(char **words)
{
	double wall = seconds(CLOCK_MONOTONIC);
	struct rusage use;
	int status, null = open("/dev/null", O_RDWR);
	pid_t child = fork();

	if (child == 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv(words[0], words);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &use) < 0 || status != 0) {
		fprintf(stderr, "bench: %s did not run\n", words[0]);
		return 1;
	}
	printf("{\"task\": \"start\", \"cpu\": %.6f, \"wall\": %.6f, \"peak\": %lld}\n",
	        (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	                (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6,
	        seconds(CLOCK_MONOTONIC) - wall, (long long)use.ru_maxrss * 1024);
	return 0;
}

static bool do_task(struct bench *b, char *word)
{
	char *mark = strpbrk(word, "=+/");

	b->task = word;
	b->value = mark ? mark + 1 : word;
	b->kind = mark ? *mark : 0;
	b->bytes = 0;
	if (mark)
		*mark = 0;
	if (!strcmp(word, "rows"))
		return walk_rows(b);
	return !strcmp(word, "memcpy") ? copy_memory(b) : measure(b);
}

int main(int argc, char **argv)
{
	struct bench b = { .folder = "." };
	bool keep_attrs = false;
	unsigned threads = 1;
	int c;

	if (argc > 2 && !strcmp(argv[1], "-x"))
		return run_program(argv + 2);
	while ((c = getopt(argc, argv, "at:o:")) != -1) {
		if (c == 'a')
			keep_attrs = true;
		else if (c == 't')
			threads = (unsigned)atoi(optarg);
		else if (c == 'o')
			b.folder = optarg;
		else
			return 2;
	}
	b.s = session_new(0);
	if (!b.s)
		return 1;
	if (keep_attrs)
		session_keep_attrs(b.s);
	b.s->threads = threads;
	for (int i = optind; i < argc; i++)
		if (!do_task(&b, argv[i]))
			return 1;
	session_free(b.s);
	return 0;
}
