/* SPDX-License-Identifier: Apache-2.0
 *
 * See record.h. Everything that the collector needs goes through the environment, so that it
 * reaches whatever the program starts; nothing here is needed once the program runs.
 */
#define _GNU_SOURCE 1
#include "app/record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/follow.h"
#include "app/recording.h"
#include "app/repl.h"
#include "base/fmt.h"
#include "base/map.h"
#include "base/num.h"
#include "io/spool_look.h"
#include "model/spools.h"

#define WAIT_MS  10000 /* for processes that outlive the program, unless --wait says so */
#define LOOK_MS  50    /* so often */
#define SAID_MAX 3     /* sentences of collectors that are passed on */

struct variable {
	const char *name;
	struct str value;
};

struct recorder {
	struct session *s;
	struct arena *a;
	struct record_words words;
	struct strs command;
	struct str folder, collector;
	bool made;            /* the folder */
	struct intern before; /* spools and logs that are none of ours */
	struct str chained;   /* the library for ranges that is called too */
	struct variable set[5];
	size_t n_set;
};

/* ---- words of a shell ---- */

/* As one word of a shell. */
static struct str quoted(struct arena *a, struct str word)
{
	struct sb b = sb_in(a);

	sb_char(&b, '\'');
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\'')
			sb_put(&b, S("'\\''"));
		else
			sb_char(&b, word.p[i]);
	sb_char(&b, '\'');
	return sb_str(&b);
}

/* The same where a person reads it: without quotes if it needs none. */
static struct str shown(struct arena *a, struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.p[i]) && !strchr("_./+-@%=:,", word.p[i]))
			return quoted(a, word);
	return word;
}

/* ---- before ---- */

static bool has_other(struct str library)
{
	return library.n && !recording_is_collector(library);
}

/* Refuses to push another profiler aside unless told to. */
static bool check_variables(struct recorder *r)
{
	struct str cuda = str_of(getenv(COLLECT_ENV_INJECT)),
	           nvtx = str_of(getenv(COLLECT_ENV_NVTX));

	if (cuda.n && !str_eq(cuda, S("none")) && !recording_is_collector(cuda) && !r->words.force)
		return session_fail(r->s, ERR_FAILED,
		        "%s=%.*s is set: another profiler would be pushed aside; unset it, or add "
		        "--force",
		        COLLECT_ENV_INJECT, STR(cuda));
	if (r->words.no_nvtx)
		return true;
	if (has_other(nvtx) && r->words.chain)
		r->chained = nvtx;
	else if (has_other(nvtx))
		note_line(&r->s->notes,
		        "tfprof: " COLLECT_ENV_NVTX "=%.*s is replaced by the collector; --chain "
		        "keeps both, --no-nvtx leaves it\n",
		        STR(nvtx));
	else if (r->words.chain)
		note_line(&r->s->notes, "tfprof: --chain: " COLLECT_ENV_NVTX
		                        " names no library to be called too\n");
	return true;
}

/* A recording within another one: the outer one will not see the program. */
static void say_nested(struct recorder *r)
{
	struct str outer = str_of(getenv(COLLECT_ENV_SESSION));

	if (outer.n && r->words.env < 0 && !str_eq(outer, r->folder))
		note_line(&r->s->notes,
		        "tfprof: a recording into '%.*s' is going on: this program is recorded "
		        "into '%.*s' instead\n",
		        STR(outer), STR(r->folder));
}

static void put_option(struct sb *b, const char *name, int64_t value)
{
	if (value >= 0)
		sb_fmt(b, "%s%s=%lld", b->n ? "," : "", name, (long long)value);
}

static void put_seconds(struct sb *b, const char *name, int64_t milliseconds)
{
	if (milliseconds >= 0)
		sb_fmt(b, "%s%s=%lld.%03d", b->n ? "," : "", name, (long long)milliseconds / 1000,
		        (int)(milliseconds % 1000));
}

static void put_choice(struct recorder *r, struct sb *b, const char *name, int value)
{
	struct strs words = word_choices(r->a, word_find(record_words, str_of(name)));

	if (value >= 0)
		sb_fmt(b, "%s%s=%.*s", b->n ? "," : "", name, STR(words.v[value]));
}

/* Orders that the folder holds already were given to an earlier recording. */
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

/* TFPROF_OPTS: what was given, the rest is the collector's to choose. */
static struct str collector_options(struct recorder *r)
{
	const struct record_words *w = &r->words;
	struct sb b = sb_in(r->a);

	put_choice(r, &b, COLLECT_OPT_LEVEL, w->level);
	put_choice(r, &b, COLLECT_OPT_GRAPHS, w->graphs);
	put_choice(r, &b, COLLECT_OPT_START, w->start);
	put_option(&b, COLLECT_OPT_MEM, w->mem ? 1 : -1);
	put_option(&b, COLLECT_OPT_SYNC, w->sync ? 1 : -1);
	put_seconds(&b, COLLECT_OPT_DELAY, w->delay);
	put_seconds(&b, COLLECT_OPT_DURATION, w->duration);
	put_option(&b, COLLECT_OPT_MAX_SIZE, w->max_size);
	put_option(&b, COLLECT_OPT_NVTX, w->no_nvtx ? 0 : -1);
	put_option(&b, COLLECT_OPT_STEP_SIGNAL, w->step_signal ? 1 : -1);
	put_option(&b, COLLECT_OPT_SELF_LIMIT, w->self_limit ? 1 : -1);
	put_option(&b, COLLECT_OPT_DETACH, w->detach ? 1 : -1);
	put_option(&b, COLLECT_OPT_VERBOSE, w->verbose ? 1 : -1);
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

/* What was said about steps becomes the default of whoever opens the recording. */
static bool keep_options(struct recorder *r)
{
	const struct record_words *w = &r->words;
	struct str path = str_fmt(r->a, "%.*s/" SPOOL_OPTIONS, STR(r->folder));
	struct sb b = sb_in(r->a);
	struct sink *to;

	if (w->step_nvtx.n)
		sb_fmt(&b, "--step-nvtx=%.*s\n", STR(w->step_nvtx));
	if (w->step_every > 0)
		sb_fmt(&b, "--step-every=%lld\n", (long long)w->step_every);
	if (!b.n)
		return true;
	if (!sink_file(&to, r->a, path, &r->s->error))
		return false;
	sink_put(to, sb_str(&b));
	return sink_close(to, &r->s->error);
}

/* What an earlier recording has left in the folder. */
static bool list_before(struct recorder *r, struct err *e)
{
	static const char *const ends[] = { SPOOL_SUFFIX, ".log" };
	struct strs files;

	intern_init(&r->before, r->a);
	for (size_t i = 0; i < 2; i++) {
		if (!recording_files(r->a, r->folder, str_of(ends[i]), &files, e))
			return false;
		for (size_t k = 0; k < files.n; k++)
			intern_add_kept(&r->before, files.v[k]);
	}
	return true;
}

static bool prepare(struct recorder *r)
{
	struct err *e = &r->s->error;

	struct spools_opts later = { .step_nvtx = r->words.step_nvtx };

	if (str_find_char(r->words.step_nvtx, '\n') != SIZE_MAX)
		return session_fail(
		        r->s, ERR_INVALID_ARGUMENT, "--step-nvtx: a pattern is one line");
	if (!spools_check(&later, r->a, e) || !check_variables(r))
		return false;
	if (!recording_collector(r->a, &r->collector))
		return session_fail(r->s, ERR_NOT_FOUND,
		        "the collector (%s) is neither beside the program nor in %s",
		        COLLECT_LIBRARY, recording_collector_place);
	if (!recording_make(r->a, r->words.folder, r->words.force, &r->folder, &r->made, e) ||
	        !keep_options(r) || !list_before(r, e))
		return false;
	say_nested(r);
	choose_variables(r);
	return true;
}

/* ---- instead: the variables for others ---- */

static void print_variables(struct recorder *r, struct sink *out)
{
	bool docker = r->words.env > 0;

	for (size_t i = 0; i < r->n_set; i++) {
		struct str pair = str_fmt(r->a, "%s=%.*s", r->set[i].name, STR(r->set[i].value));
		sink_put(out, docker ? S("-e ") : S("export "));
		if (docker) {
			sink_put(out, quoted(r->a, pair));
		} else {
			sink_fmt(out, "%s=", r->set[i].name);
			sink_put(out, quoted(r->a, r->set[i].value));
		}
		sink_put(out, docker ? S(" ") : S("\n"));
	}
	if (!docker)
		return;
	sink_put(out, S("-v "));
	sink_put(out, quoted(r->a, str_fmt(r->a, "%.*s:%.*s", STR(r->folder), STR(r->folder))));
	sink_put(out, S(" -v "));
	sink_put(out,
	        quoted(r->a, str_fmt(r->a, "%.*s:%.*s:ro", STR(r->collector), STR(r->collector))));
	sink_char(out, '\n');
}

/* ---- afterwards ---- */

static bool is_new(const struct recorder *r, struct str file)
{
	return intern_find(&r->before, file) == ID_NONE;
}

/* Is somebody still writing this spool? */
static bool is_open(struct recorder *r, struct str file)
{
	struct owner owner;
	struct spool_look look;
	struct err e = { .a = r->a };

	if (!is_new(r, file) || !recording_owner(r->a, file, &owner) ||
	        !recording_lives(r->a, &owner))
		return false;
	return !spool_look(r->a, file, &look, &e) || !look.ended;
}

/* How many processes still record. */
static size_t count_open(struct recorder *r)
{
	struct arena_mark m = arena_mark(r->a);
	struct err e = { .a = r->a };
	struct strs files;
	size_t n = 0;

	if (recording_files(r->a, r->folder, S(SPOOL_SUFFIX), &files, &e))
		for (size_t i = 0; i < files.n; i++)
			n += is_open(r, files.v[i]);
	arena_reset(r->a, m);
	return n;
}

/* Waits for those that the program has left behind. Looks less and less often: looking reads the
 * spools. */
static size_t wait_for_others(struct recorder *r)
{
	int64_t left = r->words.wait >= 0 ? r->words.wait : WAIT_MS, pause = LOOK_MS;
	size_t n;

	while ((n = count_open(r)) && left > 0) {
		pause = pause < left ? pause : left;
		if (!follow_wait(pause))
			break;
		left -= pause;
		pause += pause / 2;
	}
	return n;
}

struct summary {
	uint64_t processes, kernels, copies, bytes, damaged, lost[SPOOL_LOST_WHY_N];
	uint64_t unended; /* spools that nobody closed, nor will */
	struct strs said;
};

/* The first few sentences, each once. */
static void keep_said(struct recorder *r, struct summary *x, struct str text)
{
	for (size_t i = 0; i < x->said.n; i++)
		if (str_eq(x->said.v[i], text))
			return;
	if (text.n && x->said.n < SAID_MAX)
		strs_add(r->a, &x->said, text);
}

static void add(struct recorder *r, struct summary *x, struct str file)
{
	struct spool_look look;
	struct err e = { .a = r->a };

	x->processes++;
	if (!spool_look(r->a, file, &look, &e)) {
		keep_said(r, x, e.text);
		return;
	}
	x->kernels = num_add_u64(x->kernels, spool_look_kernels(&look));
	x->copies = num_add_u64(x->copies, spool_look_copies(&look));
	x->bytes += look.size;
	x->damaged += look.damaged;
	x->unended += !look.ended && !is_open(r, file);
	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		x->lost[i] = num_add_u64(x->lost[i], look.lost[i]);
	for (size_t i = 0; i < look.notes.n; i++)
		keep_said(r, x, look.notes.v[i]);
}

/* What collectors have written into their logs first. */
static void add_logs(struct recorder *r, struct summary *x)
{
	struct err e = { .a = r->a };
	struct str text;
	struct strs files;
	struct src *s;

	if (!recording_files(r->a, r->folder, S(".log"), &files, &e))
		return;
	for (size_t i = 0; i < files.n && x->said.n < SAID_MAX; i++) {
		if (!is_new(r, files.v[i]) || !src_open_file(&s, r->a, files.v[i], &e))
			continue;
		src_need(s, 1);
		text = str_make(s->p, (size_t)(s->end - s->p));
		text = str_copy(r->a, str_sub(text, 0, str_find_char(text, '\n')));
		src_close(s);
		keep_said(r, x, text);
	}
}

/* What was recorded, and what to type next. */
static void say_summary(struct recorder *r, const struct summary *x, size_t open)
{
	struct notes *to = &r->s->notes;
	struct sb size = sb_in(r->a), lost = sb_in(r->a);
	struct str dir = r->words.folder.n ? r->words.folder : str_base(r->folder);

	for (size_t i = 0; i < x->said.n; i++)
		note_line(to, "tfprof: %.*s\n", STR(x->said.v[i]));
	if (!x->processes) {
		note_line(to,
		        "tfprof: nothing was recorded: no process has started CUDA; see tfprof "
		        "doctor\n");
		return;
	}
	fmt_bytes(&size, (int64_t)x->bytes);
	spool_lost_text(&lost, x->lost, x->damaged);
	if (x->unended)
		sb_fmt(&lost,
		        "%s%llu process%s had not closed %s spool%s: what came last may be missing",
		        lost.n ? ", " : "", (unsigned long long)x->unended,
		        x->unended == 1 ? "" : "es", x->unended == 1 ? "its" : "their",
		        x->unended == 1 ? "" : "s");
	note_line(to, "tfprof: %llu process%s, %llu kernel%s, %llu cop%s, %.*s in %.*s; %.*s\n",
	        (unsigned long long)x->processes, x->processes == 1 ? "" : "es",
	        (unsigned long long)x->kernels, x->kernels == 1 ? "" : "s",
	        (unsigned long long)x->copies, x->copies == 1 ? "y" : "ies", STR(sb_str(&size)),
	        STR(dir), STR(lost.n ? sb_str(&lost) : S("nothing lost")));
	if (open)
		note_line(to, "tfprof: %zu of them still run%s and record%s\n", open,
		        open == 1 ? "s" : "", open == 1 ? "s" : "");
	dir = shown(r->a, dir);
	note_line(
	        to, "tfprof: next: tfprof gpu %.*s, tfprof op --spool=%.*s\n", STR(dir), STR(dir));
}

static void report(struct recorder *r, size_t open)
{
	struct err e = { .a = r->a };
	struct summary x = { 0 };
	struct strs files;

	if (!recording_files(r->a, r->folder, S(SPOOL_SUFFIX), &files, &e)) {
		note_line(&r->s->notes, "tfprof: %.*s\n", STR(e.text));
		return;
	}
	for (size_t i = 0; i < files.n; i++)
		if (is_new(r, files.v[i]))
			add(r, &x, files.v[i]);
	add_logs(r, &x);
	say_summary(r, &x, open);
}

/* ---- all of it ---- */

static bool run(struct recorder *r, int *status)
{
	char **argv = ARENA_ARRAY(r->a, r->command.n + 1, char *);
	struct follow f;

	for (size_t i = 0; i < r->command.n; i++)
		argv[i] = str_z(r->a, r->command.v[i]);
	for (size_t i = 0; i < r->n_set; i++)
		setenv(r->set[i].name, str_z(r->a, r->set[i].value), 1);
	repl_say(r->s, true, 0); /* before the program says something */
	bool ran = follow_run(&f, argv);
	*status = f.status;
	if (ran) {
		report(r, wait_for_others(r));
	} else {
		note_line(
		        &r->s->notes, "tfprof: cannot run '%s': %s\n", argv[0], strerror(f.error));
		if (r->made)
			recording_drop(r->a, r->folder);
	}
	follow_end(&f);
	return true;
}

bool record_run(struct program *p)
{
	struct recorder r = { .s = p->s, .a = &p->s->query_arena };
	struct words w = { .command = p->command, .into = &r.words };

	r.words.level = r.words.graphs = r.words.start = r.words.env = -1;
	r.words.delay = r.words.duration = r.words.wait = -1;
	r.words.step_every = r.words.max_size = -1;
	if (!words_read(p->s, p->words, &w))
		return false;
	r.command = w.rest;
	if (r.words.env < 0 && !r.command.n)
		return session_fail(p->s, ERR_INVALID_ARGUMENT,
		        "record needs a program to run: tfprof record [OPTIONS] -- PROGRAM "
		        "[WORDS]");
	if (r.words.env >= 0 && r.command.n)
		return session_fail(p->s, ERR_INVALID_ARGUMENT,
		        "record --env starts nothing: leave '%.*s' out", STR(r.command.v[0]));
	if (!prepare(&r))
		return false;
	if (r.words.env < 0)
		return run(&r, &p->status);
	print_variables(&r, p->out);
	return true;
}
