/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: start, one command or lines of commands, exit status: 0 success, 1 the command
 * failed, 2 usage error, 3 an input cannot be read or parsed.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/options.h"
#include "lib/command.h"
#include "cli/program.h"
#include "lib/term.h"
#include "cli/prompt.h"
#include "cli/recording.h"
#include "cli/ui.h"
#include "lib/session.h"
#include "base/par.h"
#include "model/input.h"

#define COLUMNS_MAX 10000 /* limit of --width */

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INPUT };

struct run {
	int argc;
	char **argv;
	struct sink *out;
	struct screen screen;
	struct flags flags;
	struct request request;
	bool loading;     /* true: the arguments are valid, and inputs are loading */
	bool reads;       /* true: an input may be faulty */
	int done;         /* exit status if nothing fails */
	bool alone;       /* true: no words and a terminal: start the prompt without a file */
	bool lines;       /* true: no command: read lines */
	bool screen_view; /* true: the command is ui */
};

/* Returns the exit status for the failed phase. */
static int status_of(const struct session *s, const struct run *r)
{
	switch (s->error.code) {
	case ERR_INVALID_ARGUMENT: return r->loading ? EXIT_INPUT : EXIT_USAGE;
	case ERR_FAILED: /* the file was read, but does not match the other inputs */
	case ERR_CANCELLED: return EXIT_FAILED;
	default: return r->reads ? EXIT_INPUT : EXIT_FAILED;
	}
}

/* Stores the arguments that were read as flags for inputs, before or after the command. */
static void keep_flags(struct session *s, struct run *r)
{
	const struct strs *words = &r->flags.words;

	for (size_t i = 1, k = 0; i < (size_t)r->argc; i++)
		if (k < words->n && words->v[k].p == r->argv[i])
			k++;
		else
			strs_add(&s->query_arena, &r->request.before, str_of(r->argv[i]));
}

/* Opens the output, and sets the session's width. */
static struct sink *begin_screen(struct session *s, struct run *r, const struct opts *o)
{
	struct sink *out = screen_begin(&r->screen, o);

	s->columns = screen_columns(&r->screen);
	return out;
}

/* Runs a command that reads its own files. */
static bool run_alone(struct session *s, struct run *r)
{
	struct input_watch before = s->watch;
	struct progress progress;
	const struct command *c = r->request.command;

	keep_flags(s, r);
	progress_begin(&progress, &s->watch);
	signals_catch(s);
	bool ok = c->run(s, &r->request, begin_screen(s, r, &s->sticky));
	progress_end(&progress);
	s->watch = before;
	r->reads = true;
	return ok;
}

/* Prints the short help about the first command among the words, or in general. */
static bool show_help(struct session *s, struct run *r, const struct strs *words)
{
	const struct command *c = NULL;
	struct strs none = { 0 };

	for (size_t i = 0; i < words->n && !c; i++)
		c = cmd_find(s, words->v[i]);

	if (!c)
		return help_write(s, &none, begin_screen(s, r, &s->sticky));
	help_write_short(s, c, begin_screen(s, r, &s->sticky));
	return true;
}

/* Runs a command that the library lacks. */
static bool run_program(struct session *s, struct run *r)
{
	struct sink *out = begin_screen(s, r, &s->sticky);

	keep_flags(s, r);
	bool ok = r->request.command->run(s, &r->request, out);
	r->done = s->exit_status;
	if (s->exit_signal)
		signals_end_by(s->exit_signal);
	r->reads = true;
	return ok;
}

static bool run_command(struct session *s, struct run *r)
{
	screen_fit(&r->screen, &r->request.opts);
	return request_run(s, &r->request, begin_screen(s, r, &r->request.opts));
}

/* Returns the sink for the original's sentences about loading. The sentences are dropped at a
 * prompt, before commands that the original lacks, and with -quiet. */
static struct sink *loading_sentences(struct session *s, const struct run *r)
{
	const struct command *c = r->request.command;

	if (r->request.opts.quiet || (c ? c->ours : isatty(STDIN_FILENO)))
		return sink_memory(&s->query_arena);
	if (output_rows[r->request.opts.output.kind].flags & OUT_EXTENSION)
		return sink_fd(&s->query_arena, STDERR_FILENO, S("standard error"));
	return r->out;
}

static bool load(struct session *s, struct run *r)
{
	struct progress p;

	if (r->request.command && r->request.command->keeps_attrs)
		session_keep_attrs(s);
	s->recording_later = r->request.command && r->request.command->reads_recording;
	if (!r->request.opts.quiet)
		progress_begin(&p, &s->watch);
	sink_flush(r->out);
	struct sink *say = loading_sentences(s, r);
	bool ok = flags_load(s, &r->flags, say);
	if (!r->request.opts.quiet)
		progress_end(&p);
	sink_flush(say);
	s->watch = (struct input_watch){ 0 };
	return ok;
}

static void take_comforts(struct session *s, struct run *r)
{
	const struct flags *f = &r->flags;

	r->screen.pager = !f->no_pager;
	r->screen.color = (enum term_color)f->color;
	r->screen.width = s->width = f->width < COLUMNS_MAX ? (unsigned)f->width : COLUMNS_MAX;
}

/* Replaces the words by the command ui. */
static void open_view(struct session *s, struct flags *f)
{
	struct strs words = { 0 };

	strs_add(&s->query_arena, &words, S("ui"));
	for (size_t i = 0; i < f->words.n; i++)
		strs_add(&s->query_arena, &words, f->words.v[i]);
	f->words = words;
}

/* Parses the words. Runs them and sets *done if no input must be loaded. */
static bool begin_words(struct session *s, struct run *r, bool *done)
{
	struct flags *f = &r->flags;

	*done = true;
	if (!flags_parse(s, r->argc, r->argv, f))
		return false;
	take_comforts(s, r);
	if (f->interactive)
		open_view(s, f);
	if (f->version)
		return version_write(s, &f->words, r->out);
	if (!f->help && !cmd_parse(s, &f->words, &f->names, &r->request)) {
		r->reads = r->request.no_file;
		return false;
	}
	r->request.opts.exact_names = true;
	r->alone = r->argc == 1 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (r->alone) {
		*done = false;
		return true;
	}
	if (f->help || r->argc == 1)
		return show_help(s, r, &f->words);
	const struct command *c = r->request.command;
	if (c && (c->own_words || c->run == run_help || !cmd_in_session(c)) &&
	        options_want_help(c, &r->request.topics))
		return show_help(s, r, &f->words);
	if (c && !cmd_in_session(c))
		return run_program(s, r);
	if (c && c->own_words)
		return run_alone(s, r);
	if (c && !c->needs_profile)
		return run_command(s, r);
	*done = false;
	return true;
}

/* Loads the inputs. */
static bool find_inputs(struct session *s, struct run *r)
{
	struct flags *f = &r->flags;

	const struct command *c = r->request.command;

	r->reads = true; /* memory is exhausted; the input need not be malformed */
	if (c && c->newest && !r->request.files.n && !flags_inputs(f)) {
		struct str newest;
		if (!recording_newest(&s->query_arena, &newest, &s->error))
			return false;
		strs_add(&s->query_arena, &r->request.files, newest);
	}
	if (!flags_sort(s, f, &r->request.files))
		return false;
	if (!flags_inputs(f) && f->checkpoint.n &&
	        (c ? c->run == run_summary : isatty(STDIN_FILENO)))
		return true;
	if (!flags_check_nodes(
	            s, f, c && c->run != run_summary ? c->name : NULL, r->request.files.n))
		return false;
	if (!flags_inputs(f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "no input: name a file, as in tfprof %s FILE", c ? c->name : "summary");
	if (!r->request.command && flags_use_stdin(s, f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "standard input is a profile, so it cannot be read for commands: give the "
		        "command as an argument");
	return true;
}

/* Runs a command that prints a table, for which it reads the recording. */
static bool run_table(struct session *s, struct run *r)
{
	struct progress progress;

	if (!r->request.opts.quiet)
		progress_begin(&progress, &s->watch);
	bool ok = run_command(s, r);
	if (!r->request.opts.quiet)
		progress_end(&progress);
	s->watch = (struct input_watch){ 0 };
	return ok;
}

/* Parses the words, loads the files, and runs the command, if any. */
static bool begin(struct session *s, void *ctx)
{
	struct run *r = ctx;
	bool done;

	if (!begin_words(s, r, &done))
		return false;
	if (done)
		return true;
	r->lines = r->alone;
	if (r->alone)
		return true;
	if (!find_inputs(s, r))
		return false;
	r->loading = true;
	if (!load(s, r))
		return false;
	r->reads = s->recording_later && s->recording.n;
	r->loading = false;
	r->lines = !r->request.command;
	r->screen_view = r->request.command && r->request.command->run == ui_run;
	if (!r->lines) {
		signals_catch(s);
		return r->reads ? run_table(s, r) : run_command(s, r);
	}
	session_set(s, &r->request.opts);
	return true;
}

static bool summary(struct session *s, void *ctx)
{
	struct run *r = ctx;

	return summary_write(s, isatty(STDIN_FILENO), begin_screen(s, r, &s->sticky));
}

/* Prints the summary of the inputs. Uses no pager, because the next output follows. */
static void say_summary(struct session *s, struct run *r)
{
	bool pager = r->screen.pager;

	r->screen.pager = false;
	bool ok = session_guard(s, summary, r);
	screen_end(&r->screen);
	r->screen.pager = pager;
	repl_say(s, ok, 0);
}

/* Runs the lines of standard input. On a terminal, the summary is printed first; a script gets only
 * its answers. If the input has no line, the summary is printed. */
static bool run_lines(struct session *s, struct run *r)
{
	bool person = isatty(STDIN_FILENO);
	struct jobs jobs;
	size_t lines;

	if (r->alone) {
		sink_put(r->out,
		        S("tfprof " TFPROF_VERSION ": load FILE loads a profile, a trace or a "
		          "recording; help lists the commands\n"));
		sink_flush(r->out);
	} else if (person) {
		say_summary(s, r);
	}
	bool begun = jobs_begin(&jobs, s, &r->flags);
	if (!begun)
		repl_say(s, false, 0);
	bool ok = begun && repl_run(&jobs, &r->screen, &lines);
	jobs_end(&jobs);
	if (ok && !person && !lines)
		say_summary(s, r);
	return ok;
}

static int finish(struct session *s, struct run *r, bool ok)
{
	int status = ok ? r->done : status_of(s, r);

	screen_end(&r->screen);
	sink_flush(r->out);
	repl_say(s, ok, 0);
	if (ok && r->lines && !run_lines(s, r))
		status = EXIT_FAILED;
	if (ok && r->screen_view && !ui_show(s, r->screen.color)) {
		repl_say(s, false, 0);
		status = EXIT_FAILED;
	}
	sink_flush(r->out);
	return status;
}

static unsigned threads(void)
{
	const char *z = getenv("TFPROF_THREADS");
	int32_t n;

	return z && num_parse_i32(str_of(z), &n) && n > 0 ? (unsigned)n : par_cpus();
}

/* Opens a dummy, on which every call fails, for each closed standard descriptor, so that no other
 * file gets its number. Programs that tfprof starts do not inherit the dummies. */
static void fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			/* cppcheck-suppress leakReturnValNotUsed ; it stays open until the end */
			(void)!open("/dev/null",
			        (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* Makes SIGPIPE end the program silently, as usual in a pipe. Returns the disposition inherited
 * from the parent. */
static void end_unread(void)
{
	spawn_restore_signals();
	raise(SIGPIPE);
}

int main(int argc, char **argv)
{
	struct session *s = session_new(0);
	struct run r = { .argc = argc, .argv = argv };
	struct work work = { 0 };
	struct account account = { 0 };
	struct arena a;

	fill_descriptors();
	spawn_ignore_signals();
	work.account = &account;
	if (!s || setjmp(work.escape)) {
		fputs("tfprof: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	s->threads = threads();
	s->more_commands = program_commands;
	arena_init(&a, &work);
	r.out = sink_fd(&a, STDOUT_FILENO, S("standard output"));
	screen_init(&r.screen, r.out, &work);
	screen_cancel(&r.screen, &s->cancel);
	int status = finish(s, &r, session_guard(s, begin, &r));
	struct err e = { .a = &a };
	if (!sink_close(r.out, &e)) {
		if (e.errnum == EPIPE)
			end_unread();
		fprintf(stderr, "tfprof: %.*s\n", STR(e.text));
		status = status ? status : EXIT_FAILED;
	}
	arena_free(&r.screen.a);
	arena_free(&a);
	signals_catch(NULL); /* the process is about to exit */
	session_free(s);
	signals_pass();
	return status;
}
