/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof record. Passes everything the collector needs through the environment, so that it reaches
 * every process the program starts; this process is not needed while the program runs.
 */
#define _GNU_SOURCE 1
#include "cli/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/spawn.h"
#include "cli/recording.h"
#include "cli/prompt.h"

struct variable {
	const char *name;
	struct str value;
};

struct recorder {
	struct session *s;
	struct arena *a;
	struct record_options words;
	struct strs command;
	struct str folder, collector;
	bool made; /* true: the folder was created by this command */
	struct record_report report;
	struct str chained; /* another library that receives ranges, too */
	struct variable set[5];
	size_t n_set;
};

/* ---- checks ---- */

static bool has_other(struct str library)
{
	return library.n && !recording_is_collector(library);
}

/* Refuses to replace another profiler unless forced. */
static bool check_variables(struct recorder *r)
{
	struct str cuda = str_of(getenv(COLLECT_ENV_INJECT)),
	           nvtx = str_of(getenv(COLLECT_ENV_NVTX));

	if (cuda.n && !str_eq(cuda, S("none")) && !recording_is_collector(cuda) && !r->words.force)
		return session_fail(r->s, ERR_FAILED,
		        "%s=%.*s is set: another profiler would be replaced; unset it, or add "
		        "--force",
		        COLLECT_ENV_INJECT, STR(cuda));
	if (r->words.no_nvtx)
		return true;
	if (has_other(nvtx) && r->words.chain)
		r->chained = nvtx;
	else if (has_other(nvtx))
		note_line(&r->s->notes,
		        "tfprof: " COLLECT_ENV_NVTX "=%.*s is replaced with the collector; --chain "
		        "keeps both, --no-nvtx keeps only this one\n",
		        STR(nvtx));
	else if (r->words.chain)
		note_line(&r->s->notes, "tfprof: --chain: " COLLECT_ENV_NVTX
		                        " names no library to be called too\n");
	return true;
}

/* Notes that the program is recorded into this folder only, if an outer `record` is running. */
static void say_nested(struct recorder *r)
{
	struct str outer = str_of(getenv(COLLECT_ENV_SESSION));

	if (outer.n && r->words.env < 0 && !str_eq(outer, r->folder))
		note_line(&r->s->notes,
		        "tfprof: a recording into '%.*s' is still running: this program is "
		        "recorded into '%.*s' instead\n",
		        STR(outer), STR(r->folder));
}

static void put_option(struct sb *b, const char *name, bool given, int64_t value)
{
	if (given)
		sb_fmt(b, "%s%s=%lld", b->n ? "," : "", name, (long long)value);
}

static void put_seconds(struct sb *b, const char *name, int64_t ns)
{
	if (ns)
		sb_fmt(b, "%s%s=%lld.%03d", b->n ? "," : "", name, (long long)(ns / QUANTITY_S),
		        (int)(ns % QUANTITY_S / QUANTITY_MS));
}

/* Appends a choice under the collector's name for it. */
static void put_choice(struct sb *b, const char *name, int value)
{
	const struct option *row = option_in(options_of("record"), str_of(name));

	if (value >= 0)
		sb_fmt(b, "%s%s=%.*s", b->n ? "," : "", name,
		        STR(option_choice_at(row->choices, value)));
}

/* Commands already in the folder belong to an earlier recording. */
static void put_since(struct recorder *r, struct sb *b)
{
	struct timespec now;
	struct stat st;

	if (lstat(str_z(r->a, str_fmt(r->a, "%.*s/" SPOOL_CONTROL, STR(r->folder))), &st) != 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	sb_fmt(b, "%s" COLLECT_OPT_SINCE "=%lld.%09ld", b->n ? "," : "", (long long)now.tv_sec,
	        now.tv_nsec);
}

/* Writes TFPROF_OPTS with the given options; the collector chooses the others. */
static struct str collector_options(struct recorder *r)
{
	const struct record_options *w = &r->words;
	struct sb b = sb_in(r->a);

	put_choice(&b, COLLECT_OPT_LEVEL, w->level);
	put_choice(&b, COLLECT_OPT_GRAPHS, w->graphs);
	put_choice(&b, COLLECT_OPT_START, w->start);
	put_option(&b, COLLECT_OPT_MEM, w->mem, 1);
	put_option(&b, COLLECT_OPT_SYNC, w->sync, 1);
	put_seconds(&b, COLLECT_OPT_DELAY, w->delay);
	put_seconds(&b, COLLECT_OPT_DURATION, w->duration);
	put_option(&b, COLLECT_OPT_MAX_SIZE, w->max_size > 0, w->max_size);
	put_option(&b, COLLECT_OPT_NVTX, w->no_nvtx, 0);
	put_option(&b, COLLECT_OPT_STEP_SIGNAL, w->step_signal, 1);
	put_option(&b, COLLECT_OPT_SELF_LIMIT, w->self_limit, 1);
	put_option(&b, COLLECT_OPT_DETACH, w->detach, 1);
	put_option(&b, COLLECT_OPT_VERBOSE, w->verbose, 1);
	put_since(r, &b);
	return sb_str(&b);
}

static void set(struct recorder *r, const char *name, struct str value)
{
	r->set[r->n_set++] = (struct variable){ name, value };
}

static void choose_variables(struct recorder *r)
{
	set(r, COLLECT_ENV_INJECT, r->collector);
	if (!r->words.no_nvtx)
		set(r, COLLECT_ENV_NVTX, r->collector);
	if (r->chained.n)
		set(r, COLLECT_ENV_CHAIN, r->chained);
	set(r, COLLECT_ENV_SESSION, r->folder);
	set(r, COLLECT_ENV_OPTS, collector_options(r));
}

/* Options about steps become the defaults for readers of the recording. */
static bool keep_options(struct recorder *r)
{
	const struct record_options *w = &r->words;
	struct str path = str_fmt(r->a, "%.*s/" SPOOL_OPTIONS, STR(r->folder));
	struct sb b = sb_in(r->a);
	struct sink *to;

	if (w->step_nvtx.n)
		sb_fmt(&b, "--step-nvtx=%.*s\n", STR(w->step_nvtx));
	if (w->step_every > 0)
		sb_fmt(&b, "--step-every=%lld\n", (long long)(w->step_every / QUANTITY_MS));
	if (!b.n)
		return true;
	if (!sink_file(&to, r->a, path, &r->s->error))
		return false;
	sink_put(to, sb_str(&b));
	return sink_close(to, &r->s->error);
}

static bool prepare(struct recorder *r)
{
	struct err *e = &r->s->error;
	struct recording_options later = { .step_nvtx = r->words.step_nvtx };

	if (str_find_char(r->words.step_nvtx, '\n') != SIZE_MAX)
		return session_fail(r->s, ERR_INVALID_ARGUMENT,
		        "--step-nvtx: a pattern cannot contain a line break");
	if (!recording_options_check(&later, r->a, e) || !check_variables(r))
		return false;
	if (!recording_collector(r->a, &r->collector))
		return session_fail(r->s, ERR_NOT_FOUND,
		        "the collector (%s) is neither beside the program nor in %s; tfprof doctor "
		        "says more",
		        COLLECT_LIBRARY, recording_collector_place);
	if (!recording_make(r->a, r->words.folder, r->words.force, &r->folder, &r->made, e) ||
	        !keep_options(r) || !record_report_begin(&r->report, r->a, r->folder, e))
		return false;
	say_nested(r);
	choose_variables(r);
	return true;
}

/* ---- --print-env: variables for other launchers ---- */

static struct str as_exports(const struct recorder *r)
{
	struct sb b = sb_in(r->a);

	for (size_t i = 0; i < r->n_set; i++) {
		sb_fmt(&b, "export %s=", r->set[i].name);
		sb_put_shell(&b, r->set[i].value);
		sb_char(&b, '\n');
	}
	return sb_str(&b);
}

/* Writes options for docker run. In the container, the folder and the collector have the same
 * paths. */
static struct str as_docker_options(const struct recorder *r)
{
	struct sb b = sb_in(r->a);

	for (size_t i = 0; i < r->n_set; i++) {
		sb_put(&b, S("-e "));
		sb_put_shell(&b, str_fmt(r->a, "%s=%.*s", r->set[i].name, STR(r->set[i].value)));
		sb_char(&b, ' ');
	}
	sb_put(&b, S("-v "));
	sb_put_shell(&b, str_fmt(r->a, "%.*s:%.*s", STR(r->folder), STR(r->folder)));
	sb_put(&b, S(" -v "));
	sb_put_shell(&b, str_fmt(r->a, "%.*s:%.*s:ro", STR(r->collector), STR(r->collector)));
	sb_char(&b, '\n');
	return sb_str(&b);
}

/* ---- the command ---- */

static bool run(struct recorder *r)
{
	char **argv = ARENA_ARRAY(r->a, r->command.n + 1, char *);
	struct follow f;

	for (size_t i = 0; i < r->command.n; i++)
		argv[i] = str_z(r->a, r->command.v[i]);
	for (size_t i = 0; i < r->n_set; i++)
		setenv(r->set[i].name, str_z(r->a, r->set[i].value), 1);
	repl_say(r->s, true, 0); /* must precede the output of the program */
	bool ran = follow_run(&f, argv);
	r->s->exit_status = f.status;
	r->s->exit_signal = f.signal;
	if (ran) {
		record_report_ended(&r->report, f.pid, f.ended);
		record_report_end(&r->report, r->words.wait / QUANTITY_MS,
		        r->words.folder.n ? r->words.folder : str_base(r->folder), &r->s->notes);
	} else {
		note_line(
		        &r->s->notes, "tfprof: cannot run '%s': %s\n", argv[0], strerror(f.error));
		if (r->made)
			recording_drop(r->a, r->folder);
	}
	follow_end(&f);
	return true;
}

bool record_run(struct session *s, const struct request *r, struct sink *out)
{
	struct recorder rec = { .s = s, .a = &s->query_arena };
	struct option_words w = { .command = r->command, .into = &rec.words };

	options_preset("record", &rec.words);
	if (!options_read(s, &r->topics, &w))
		return false;
	rec.command = w.rest;
	if (rec.words.env < 0 && !rec.command.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "record needs a program to run: tfprof record [OPTIONS] -- PROGRAM "
		        "[WORDS]");
	if (rec.words.env >= 0 && rec.command.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "record --env does not start a program: remove '%.*s'",
		        STR(rec.command.v[0]));
	if (!prepare(&rec))
		return false;
	if (rec.words.env < 0)
		return run(&rec);
	sink_put(out, rec.words.env > 0 ? as_docker_options(&rec) : as_exports(&rec));
	return true;
}
