/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of inputs and the way from a path to a reader. Steps are read a wave of files at a
 * time, each in an arena of its own, and folded when the wave is over: readers look names up in a
 * model that nobody changes meanwhile. Knows no message.
 */
#include "model/input_internal.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/par.h"
#include "io/pbtext.h"
#include "model/unsupported_format.h"
#include "model/sniff.h"
#include "model/trace_lower.h"
#include "trace/trace_read.h"

#define TEXT_LIKELY 50 /* from here on the text form's error is the one to tell */

/* Generated with the messages; all that this file needs of them. */
extern const ProtobufCMessageDescriptor tensorflow__graph_def__descriptor;
extern const ProtobufCMessageDescriptor tensorflow__run_metadata__descriptor;
extern const ProtobufCMessageDescriptor tensorflow__tfprof__op_log_proto__descriptor;
extern const ProtobufCMessageDescriptor tensorflow__tfprof__profile_proto__descriptor;

const struct input inputs[] = {
	{ "graph", "nodes", ROLE_GRAPH, true, 0, sniff_graph, read_graph, NULL, NULL,
	        &tensorflow__graph_def__descriptor },
	{ "run metadata", "executions", ROLE_STEP, false, 1, sniff_run, NULL, read_run, NULL,
	        &tensorflow__run_metadata__descriptor },
	{ "op log", "entries", ROLE_OPLOG, false, 0, sniff_oplog, read_oplog, NULL, NULL,
	        &tensorflow__tfprof__op_log_proto__descriptor },
	{ "profile", "nodes", ROLE_PROFILE, false, 0, sniff_profile, read_profile, NULL, NULL,
	        &tensorflow__tfprof__profile_proto__descriptor },
	{ "baseline", "entries", ROLE_BASELINE, false, 0, sniff_baseline, read_baseline, NULL, NULL,
	        NULL },
	{ "spool", "records", ROLE_SPOOL, false, 0, sniff_spool, read_spool, NULL, NULL, NULL },
	{ "XSpace", "planes", ROLE_TRACE, false, 0, sniff_xspace, NULL, NULL, read_xspace, NULL },
	{ "profile of ONNX Runtime", "events", ROLE_TRACE, false, 0, sniff_onnxruntime, NULL, NULL,
	        read_onnxruntime, NULL },
	{ "trace in JSON", "events", ROLE_TRACE, false, 0, sniff_chrome_json, NULL, NULL,
	        read_chrome_json, NULL },
};
const size_t n_inputs = sizeof inputs / sizeof *inputs;

/* ---- progress ---- */

/* Bytes done of all files of a load. */
struct watched {
	pthread_mutex_t lock; /* of what follows */
	const struct input_watch *watch;
	uint64_t done, total;
	bool cancelled;
};

/* One file's share. */
struct share {
	struct watched *all;
	uint64_t done;
};

static bool tick(void *user, uint64_t done, uint64_t size)
{
	struct share *s = user;
	struct watched *w = s->all;
	bool go;

	(void)size;
	pthread_mutex_lock(&w->lock);
	if (done > s->done) {
		w->done += done - s->done;
		s->done = done;
	}
	if (!w->cancelled)
		w->cancelled = !w->watch->progress(w->watch->user, w->done, w->total);
	go = !w->cancelled;
	pthread_mutex_unlock(&w->lock);
	return go;
}

bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size)
{
	struct stat st;
	int rc;

	if (str_eq(from->name, S("-")))
		rc = fstat(STDIN_FILENO, &st);
	else
		rc = stat(str_z(a, from->name), &st);
	*size = rc == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return rc == 0 && S_ISREG(st.st_mode);
}

static uint64_t from_size(struct arena *a, const struct input_from *from)
{
	uint64_t size = from->bytes.n;

	if (!from->memory)
		input_is_regular(a, from, &size);
	return size;
}

/* ---- one file ---- */

/* A file on its way into the model, or (to is NULL) into a batch. */
struct load {
	const struct input *in;
	const struct input_from *from;
	struct arena *a; /* of the file */
	struct ingest *to;
	const struct model *m;
	int64_t step;
	struct batch *batch;
	struct src *s;
	struct str head;    /* its first bytes */
	struct str warning; /* what was lost of it */
	struct share share;
};

static bool load_open(struct load *l, struct err *e)
{
	const struct input_from *from = l->from;

	if (!(from->memory ? src_memory(&l->s, l->a, from->name, from->bytes, e)
	                   : src_open(&l->s, l->a, from->name, e)))
		return false;
	if (l->share.all && l->share.all->watch)
		src_on_progress(l->s, tick, &l->share);
	return true;
}

/* Guard: takes back what a reader said before memory ended. */
static void drop_said(void *ingest)
{
	ingest_undo(ingest);
}

/* Does what was read of a damaged input count? */
static bool is_kept(struct src *s, bool ok, struct err *e)
{
	struct src_damage *d = s->damage;

	if (ok && e->code && d->kept)
		return true;
	e->partial = d->kept && e->code == ERR_DATA_LOSS;
	return ok && !e->code;
}

/* Reads s as a trace and makes a profile of it. */
static bool read_as_trace(struct load *l, struct src *s, struct err *e)
{
	struct trace *t = trace_new(ingest_model(l->to)->a);
	struct trace_build *b = build_open(t, ARG_BITS_ALL, ingest_notes(l->to), l->a);
	bool ok = l->in->read_trace(s, b, l->a, e);

	if (!ok && !s->damage->kept)
		return false;
	build_seal(b);
	trace_lower(t, l->to, l->a);
	ingest_keep_trace(l->to, t);
	return ok;
}

/* Reads s as the binary form. */
static bool load_binary(struct load *l, struct src *s, struct err *e)
{
	struct guard undo;
	bool ok;

	if (!l->to) {
		l->batch = batch_new(l->a, l->m, l->step, l->in->ticks_per_us);
		return is_kept(s, l->in->read_step(s, l->batch, e), e);
	}
	ingest_begin(l->to, l->a);
	work_guard(l->a->work, &undo, drop_said, l->to);
	ok = is_kept(
	        s, l->in->read_trace ? read_as_trace(l, s, e) : l->in->read(s, l->to, l->a, e), e);
	work_unguard(l->a->work, &undo);
	if (ok)
		ingest_commit(l->to);
	else
		ingest_undo(l->to);
	return ok;
}

/* The warning for an input of which only the beginning counts. */
static void load_warn(struct load *l, struct err *e)
{
	const struct src_damage *d = l->s->damage;
	struct sb b = sb_in(l->a);
	uint64_t bytes, at = d->at == UINT64_MAX ? src_at(l->s) : d->at;

	sb_fmt(&b, "warning: %.*s; %llu %s", STR(d->in_gzip.n ? d->in_gzip : e->text),
	        (unsigned long long)d->kept, l->in->records);
	if (l->in->role == ROLE_PROFILE)
		sb_fmt(&b, " and %llu steps", (unsigned long long)d->groups);
	sb_put(&b, S(" before it are kept; lost are "));
	if (d->lost)
		sb_fmt(&b, "at least %llu %s, ", (unsigned long long)d->lost, l->in->records);
	if (!d->in_gzip.n && src_rest(l->s, at, &bytes))
		sb_fmt(&b, "%llu bytes", (unsigned long long)bytes);
	else
		sb_fmt(&b, "all bytes from %llu on", (unsigned long long)at);
	if (d->missing && !d->in_gzip.n)
		sb_fmt(&b, "; %llu more are missing", (unsigned long long)d->missing);
	l->warning = sb_str(&b);
	*e = (struct err){ .a = e->a };
}

/* Translates the text form and reads the translation. */
static bool load_text(struct load *l, struct src *s, struct err *e)
{
	struct str text, wire;
	struct src *translated;

	/* An input without a size may be endless. */
	if (!src_size(s) && !pbtext_begins(l->in->text, l->head, s->name, l->a, e))
		return false;
	return src_all(s, &text) && pbtext_encode(l->in->text, text, s->name, l->a, &wire, e) &&
	       src_memory(&translated, l->a, s->name, wire, e) && load_binary(l, translated, e);
}

/* Tries one form; s->e is where a failing read puts its sentence. */
static bool load_form(struct load *l, bool as_text, struct err *e)
{
	bool ok;

	l->s->e = e;
	l->s->damage->recover = l->from->recover && !as_text;
	ok = as_text ? load_text(l, l->s, e) : load_binary(l, l->s, e);
	if (ok && (e->code || l->s->damage->in_gzip.n))
		load_warn(l, e);
	return ok;
}

/* Reads the first bytes, of damaged gzip data those that there are. */
static bool read_head(struct src *s)
{
	s->damage->recover = true;
	src_need(s, SNIFF_BYTES);
	return !src_failed(s);
}

/* A copy of the first bytes. */
static struct str load_head(struct load *l)
{
	struct str have = str_make(l->s->p, (size_t)(l->s->end - l->s->p));

	return str_copy(l->a, str_sub(have, 0, SNIFF_BYTES));
}

/* A trace is loaded where a profile is: the format that the content is most like. */
static const struct input *profile_or_trace(const struct load *l)
{
	const struct input *best = l->in;
	int points = l->in->sniff(l->head, l->from->name);

	for (size_t i = 0; i < n_inputs; i++) {
		int found =
		        inputs[i].role == ROLE_TRACE ? inputs[i].sniff(l->head, l->from->name) : 0;
		if (found > points) {
			points = found;
			best = &inputs[i];
		}
	}
	return best;
}

/* Tries the forms in the format's order, and tells the error of the likelier one. */
static bool load_forms(struct load *l, struct err *e)
{
	bool text_first = l->in->text_first;
	struct err first = { .a = e->a }, second = { .a = e->a };
	struct err *told = &first;
	int text;

	l->s->e = e;
	if (!read_head(l->s))
		return false;
	l->head = load_head(l);
	if (l->in->role == ROLE_PROFILE)
		l->in = profile_or_trace(l);
	if (l->s->damage->in_gzip.n && !l->from->recover && l->in->read_trace != read_chrome_json &&
	        l->in->read_trace != read_onnxruntime)
		return err_set(e, ERR_DATA_LOSS, "%.*s", STR(l->s->damage->in_gzip));
	text = l->in->text ? pbtext_sniff(l->head) : 0;
	if (text || (l->in->role & (ROLE_PROFILE | ROLE_SPOOL | ROLE_TRACE)))
		src_keep(l->s); /* it is gone over twice */
	if (!text)
		return load_form(l, false, e);
	if (load_form(l, text_first, &first))
		return true;
	if (!src_failed(l->s) && src_rewind(l->s)) {
		if (load_form(l, !text_first, &second))
			return true;
		if (src_failed(l->s) || (text >= TEXT_LIKELY) != text_first)
			told = &second;
	}
	e->partial = told->partial;
	return err_set(e, told->code, "%.*s", STR(told->text));
}

static const struct input *input_of(unsigned role)
{
	for (size_t i = 0; i < n_inputs; i++)
		if (inputs[i].role == role)
			return &inputs[i];
	return NULL;
}

/* The kind that the file seems to be of, if it cannot be of the one it is read as; else NULL. */
static const char *other_kind(struct load *l)
{
	unsigned role =
	        l->in->sniff(l->head, l->from->name) ? 0 : input_guess(l->head, l->from->name);

	return role ? input_of(role)->name : NULL;
}

/* Says what a file is, or seems to be, that could not be read. */
static void load_suspect(struct load *l, struct err *e)
{
	const struct unsupported_format *f = unsupported_format_find(l->head, l->from->name);
	const char *kind = other_kind(l);

	if (e->code != ERR_DATA_LOSS || (!f && !kind))
		return;
	struct str said = e->text;
	*e = (struct err){ .a = e->a };
	if (f)
		unsupported_format_refuse(f, l->from->name, e);
	else
		err_set(e, ERR_DATA_LOSS, "%.*s; it looks like a file of the kind '%s'", STR(said),
		        kind);
}

/* Says of a file that was read that there may be nothing in it, and why. */
static void load_doubt(struct load *l)
{
	const char *kind = other_kind(l);

	if (kind && !l->warning.n)
		l->warning = str_fmt(l->a, "note: '%.*s' looks like a file of the kind '%s'",
		        STR(l->from->name), kind);
}

static bool load_file(struct load *l, struct err *e)
{
	bool ok;

	if (!load_open(l, e))
		return false;
	ok = load_forms(l, e);
	if (ok)
		load_doubt(l);
	else
		load_suspect(l, e);
	l->s->e = e;
	src_close(l->s);
	return ok;
}

static void say_warning(struct ingest *to, const struct load *l)
{
	if (l->warning.n)
		note_line(ingest_notes(to), "%.*s\n", STR(l->warning));
}

bool input_load(struct ingest *to, unsigned role, const struct input_from *from,
        const struct input_watch *watch, struct work *work, struct err *e)
{
	struct watched all = { .watch = watch };
	struct scratch own;
	struct load l = { .in = input_of(role), .from = from, .a = &own.a, .to = to };
	bool ok;

	scratch_open(&own, work);
	pthread_mutex_init(&all.lock, NULL);
	all.total = from_size(&own.a, from);
	l.share.all = &all;
	ok = load_file(&l, e);
	pthread_mutex_destroy(&all.lock);
	say_warning(to, &l);
	scratch_close(&own);
	return ok;
}

/* ---- steps ---- */

struct job {
	struct arena a;
	struct load l;
	struct err e;
	bool open, ok; /* open: the arena holds something */
};

/* A load of steps: job i is in slot i % room. */
struct steps_load {
	const struct input_steps *steps;
	struct ingest *to;
	struct work *work; /* of the caller */
	struct err *e;
	struct watched all;
	struct job *jobs; /* [room] */
	size_t room;
	size_t *folded;
	bool ok;
};

static void read_step(void *ctx, size_t i, struct work *w)
{
	struct steps_load *v = ctx;
	struct job *j = &v->jobs[i % v->room];
	const struct input_step *step = &v->steps->v[i];

	arena_init(&j->a, w);
	j->open = true;
	j->e = (struct err){ .a = &j->a };
	j->l = (struct load){ .in = input_of(ROLE_STEP),
		.from = &step->from,
		.a = &j->a,
		.m = ingest_model(v->to),
		.step = step->step,
		.share = { .all = &v->all } };
	j->ok = load_file(&j->l, &j->e);
}

/* Folds what job i read. */
static bool fold_step(void *ctx, size_t i, bool escaped, struct pool *p)
{
	struct steps_load *v = ctx;
	struct job *j = &v->jobs[i % v->room];

	j->a.work = v->work; /* the job's own is gone */
	if (escaped)
		work_escape(v->work);
	ingest_beside(v->to, p);
	v->e->partial = j->e.partial;
	say_warning(v->to, &j->l);
	v->ok = j->ok ? ingest_fold(v->to, j->l.batch, v->e)
	              : err_set(v->e, j->e.code, "%.*s", STR(j->e.text));
	ingest_beside(v->to, NULL);
	arena_free(&j->a);
	j->open = false;
	*v->folded += v->ok;
	return v->ok && (!v->steps->folded || v->steps->folded(v->steps->user, i));
}

/* Guard, and the end: what was read and not folded goes. */
static void drop_steps(void *ctx)
{
	struct steps_load *v = ctx;

	ingest_beside(v->to, NULL);
	for (size_t i = 0; i < v->room; i++) {
		v->jobs[i].a.work = v->work;
		if (v->jobs[i].open)
			arena_free(&v->jobs[i].a);
	}
	pthread_mutex_destroy(&v->all.lock);
}

bool input_load_steps(struct ingest *to, const struct input_steps *steps, size_t *folded,
        struct work *work, struct err *e)
{
	static const struct par_ops ops = { read_step, fold_step, NULL };
	size_t threads = steps->threads < steps->n ? steps->threads : steps->n;
	struct steps_load v = { .steps = steps,
		.to = to,
		.work = work,
		.e = e,
		.room = PAR_ROOM(threads),
		.folded = folded,
		.ok = true };
	struct scratch own;
	struct guard free_jobs;

	*folded = 0;
	scratch_open(&own, work);
	v.jobs = ARENA_ARRAY(&own.a, v.room, struct job);
	v.all.watch = steps->watch;
	for (size_t i = 0; i < steps->n; i++)
		v.all.total += from_size(&own.a, &steps->v[i].from);
	pthread_mutex_init(&v.all.lock, NULL);
	work_guard(work, &free_jobs, drop_steps, &v);
	par_run(&ops, &v, steps->n, (unsigned)threads, work);
	work_unguard(work, &free_jobs);
	drop_steps(&v);
	scratch_close(&own);
	return v.ok;
}
