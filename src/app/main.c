/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: start, one command or lines of commands, exit status.
 *   0 done   1 the command failed   2 wrong words   3 an input that cannot be read or parsed
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/cmd.h"
#include "app/flags.h"
#include "app/help.h"
#include "app/repl.h"
#include "base/par.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INPUT };

struct run {
	int argc;
	char **argv;
	struct sink *out;
	struct flags flags;
	struct request request;
	int status; /* if what comes next fails */
	bool lines; /* no command: read lines */
};

static void print_version(struct sink *out)
{
	sink_fmt(out, "tfprof %s\n", TFPROF_VERSION);
	sink_fmt(out, "libedit %s, snappy %s\n", HAVE_LIBEDIT ? "yes" : "no",
	        HAVE_SNAPPY ? "yes" : "no");
}

/* Words, then files. False with r->status set. */
static bool begin(struct session *s, void *ctx)
{
	struct run *r = ctx;
	struct flags *f = &r->flags;

	r->status = EXIT_USAGE;
	if (!flags_parse(s, r->argc, r->argv, f))
		return false;
	if (f->version || f->help || (r->argc == 1)) {
		if (f->version)
			print_version(r->out);
		else
			help_usage(s, r->out);
		return true;
	}
	if (!cmd_parse(s, &f->words, &f->names, &r->request))
		return false;
	const struct command *c = r->request.command;
	if (c && !c->needs_profile)
		return c->run(s, &r->request, r->out);
	if (!flags_inputs(f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "no input: give --profile_path=FILE, or --graph_path=FILE and "
		        "--run_meta_path=FILE");
	if (!c && flags_use_stdin(s, f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "an input from standard input needs the command on the command line");
	r->status = EXIT_INPUT;
	if (!flags_load(s, f, r->out))
		return false;
	r->lines = !c;
	r->status = EXIT_FAILED;
	if (c)
		return c->run(s, &r->request, r->out);
	session_set(s, &r->request.opts);
	return true;
}

static int finish(struct session *s, struct run *r, bool ok)
{
	int status = EXIT_DONE;

	if (!ok)
		status = r->status != EXIT_INPUT && s->error.code == ERR_INVALID_ARGUMENT
		                 ? EXIT_USAGE
		                 : r->status;

	sink_flush(r->out);
	repl_say(s, ok, 0);
	if (ok && r->lines && !repl_run(s, r->out))
		status = EXIT_FAILED;
	sink_flush(r->out);
	return status;
}

static unsigned threads(void)
{
	const char *z = getenv("TFPROF_THREADS");
	int32_t n;

	return z && num_parse_i32(str_of(z), &n) && n > 0 ? (unsigned)n : par_cpus();
}

int main(int argc, char **argv)
{
	struct session *s = session_new(0);
	struct run r = { .argc = argc, .argv = argv };
	struct work work = { 0 };
	struct account account = { 0 };
	struct arena a;

	signal(SIGPIPE, SIG_IGN);
	work.account = &account;
	if (!s || setjmp(work.escape)) {
		fputs("tfprof: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	s->threads = threads();
	arena_init(&a, &work);
	r.out = sink_fd(&a, STDOUT_FILENO, S("standard output"));
	int status = finish(s, &r, session_guard(s, begin, &r));
	struct err e = { .a = &a };
	if (!sink_close(r.out, &e)) {
		fprintf(stderr, "tfprof: %.*s\n", STR(e.text));
		status = status ? status : EXIT_FAILED;
	}
	arena_free(&a);
	session_free(s);
	return status;
}
