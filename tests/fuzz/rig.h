/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the fuzz targets. Their property: for any bytes, no crash, no leak, no undefined
 * behaviour, memory within the limit; an input that loads answers every command, and the same
 * command twice gives equal bytes.
 */
#ifndef TFPROF_TESTS_FUZZ_RIG_H
#define TFPROF_TESTS_FUZZ_RIG_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/options.h"

#define FUZZ_LIMIT ((size_t)512 << 20) /* memory limit of a session, bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls check with the bytes and an arena within the limit. Returns 0, also if the memory was
 * exhausted. */
static inline int fuzz_within(
        void (*check)(struct arena *a, struct str bytes), const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct arena a;

	arena_init(&a, &work);
	if (!setjmp(work.escape))
		check(&a, str_make(data, size));
	arena_free(&a);
	return 0;
}

static const char *const FUZZ_COMMANDS[] = {
	"scope -max_depth 40 -select "
	"micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes",
	"graph -step 0 -order_by bytes -select bytes,peak_bytes,residual_bytes,output_bytes "
	"-min_bytes 1",
	"op -order_by occurrence -select "
	"micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes",
	"code -max_depth 40 -order_by micros -select micros,bytes,occurrence",
	"scope -account_type_regexes .*Const.*,.*Op -show_name_regexes .*a.* "
	"-account_displayed_op_only",
	"advise",
	"flops --top=0",
	"scope -max_depth 40 -output timeline:outfile=@t",
	"graph -step 0 -max_depth 40 -output timeline:outfile=@t",
	"graph -max_depth 40 -output timeline:outfile=@t",
	"code -max_depth 40 -output timeline:outfile=@t",
	"code -max_depth 40 -select micros,bytes -output pprof:outfile=@p",
	"graph -max_depth 40 -select occurrence -output file:outfile=@f",
	"convert -output profile:outfile=@c",
};

static char fuzz_folder_name[] = "/dev/shm/tfprof-fuzz-XXXXXX/";

static inline void fuzz_leave(void)
{
	DIR *d = opendir(fuzz_folder_name);

	for (struct dirent *x; d && (x = readdir(d));)
		unlinkat(dirfd(d), x->d_name, 0);
	if (d)
		closedir(d);
	rmdir(fuzz_folder_name);
}

/* A folder in memory for files that targets write, with a trailing slash. Commands refer to it as
 * "@". */
static inline const char *fuzz_folder(void)
{
	static bool made;

	if (!made) {
		fuzz_folder_name[sizeof fuzz_folder_name - 2] = 0;
		if (!mkdtemp(fuzz_folder_name) || atexit(fuzz_leave))
			abort();
		fuzz_folder_name[sizeof fuzz_folder_name - 2] = '/';
	}
	made = true;
	return fuzz_folder_name;
}

/* Puts bytes into a file. */
static inline struct str fuzz_file(struct arena *a, const char *name, const uint8_t *p, size_t n)
{
	struct str path = str_fmt(a, "%s%s", fuzz_folder(), name);
	FILE *f = fopen(str_z(a, path), "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		abort();
	return path;
}

struct fuzz_request {
	struct str line;
	struct sink *out;
};

static bool fuzz_line(struct session *s, void *ctx)
{
	const struct fuzz_request *a = ctx;
	struct request r;

	return cmd_parse_line(s, a->line, &r) && cmd_run(s, &r, a->out);
}

/* Returns the bytes that a line prints. */
static inline struct str fuzz_answer(struct session *s, struct arena *a, struct str line)
{
	size_t at = str_find_char(line, '@');
	struct fuzz_request request = { line, sink_memory(a) };

	if (at != SIZE_MAX)
		request.line = str_fmt(a, "%.*s%s%.*s", (int)at, line.p, fuzz_folder(),
		        (int)(line.n - at - 1), line.p + at + 1);

	session_guard(s, fuzz_line, &request);
	return sink_text(request.out);
}

struct fuzz_load {
	unsigned role;
	struct input_from from;
};

static bool fuzz_load_one(struct session *s, void *ctx)
{
	const struct fuzz_load *l = ctx;
	struct input_step step = { .from = l->from };

	if (l->role == ROLE_STEP)
		return session_load_steps(s, &step, 1, NULL, NULL);
	return session_load(s, l->role, &l->from);
}

/* Loads the bytes in a role and runs everything twice. A refused input is tried again up to its
 * damage. */
static inline void fuzz_bytes(unsigned role, const uint8_t *data, size_t size)
{
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct fuzz_load l = { role,
		{ .name = S("input"), .bytes = str_make(data, size), .memory = true } };
	struct arena a;
	bool loaded = false;

	if (setjmp(work.escape))
		abort();
	arena_init(&a, &work);
	for (int times = 0; times < 2 && !loaded; times++) {
		struct session *s = session_new(FUZZ_LIMIT);
		if (!s)
			abort();
		if (size % 2)
			session_keep_attrs(s);
		l.from.recover = times == 1;
		loaded = session_guard(s, fuzz_load_one, &l);
		for (size_t i = 0; loaded && i < sizeof FUZZ_COMMANDS / sizeof *FUZZ_COMMANDS;
		        i++) {
			struct str once = fuzz_answer(s, &a, str_of(FUZZ_COMMANDS[i]));
			if (!str_eq(once, fuzz_answer(s, &a, str_of(FUZZ_COMMANDS[i]))))
				abort();
		}
		session_free(s);
	}
	arena_free(&a);
}

#endif
