/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads one file: finds its format and its form (binary or text), calls the reader, and writes the
 * messages about damage and other formats. Independent of protobuf messages.
 */
#include "model/input.h"

#include "io/pb.h"
#include "model/sniff.h"
#include "model/read/read.h"
#include "trace/pass/step_guess.h"
#include "trace/pass/trace_steps.h"
#include "trace/trace_build.h"

#define TEXT_LIKELY 50 /* from this confidence on, the error for the text form is reported */

/* ---- progress ---- */

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

uint64_t input_size(struct arena *a, const struct input_from *from)
{
	uint64_t size = from->bytes.n;

	if (!from->memory)
		input_is_regular(a, from, &size);
	return size;
}

/* ---- one file ---- */

static bool load_open(struct load *l, struct err *e)
{
	const struct input_from *from = l->from;

	if (!(from->memory ? src_memory(&l->s, l->a, from->name, from->bytes, e)
	                   : src_open(&l->s, l->a, from->name, e)))
		return false;
	if (l->to && ingest_options(l->to))
		l->s->options = ingest_options(l->to);
	if (l->share.all && l->share.all->watch)
		src_on_progress(l->s, tick, &l->share);
	return true;
}

/* Reverts the additions of a reader if memory is exhausted; a guard. */
static void undo_load(void *ingest)
{
	ingest_undo(ingest);
}

/* True if the part of an input before its damage counts. */
static bool is_kept(struct src *s, bool ok, struct err *e)
{
	struct src_damage *d = s->damage;

	if (ok && e->code && d->kept)
		return true;
	e->partial = d->kept && e->code == ERR_DATA_LOSS;
	return ok && !e->code;
}

#define GUESSED "guessed: " /* prefix of the names of guessed steps */

/* Guesses the steps of a trace that has no step marks, with the user's settings. */
static void guess_steps(struct src *s, struct trace_build *b, struct notes *notes, struct arena *a)
{
	const struct trace *t = build_trace(b);
	struct trace_steps steps;
	struct step_guess g = { .calls = 0 };

	trace_find_steps(t, &steps, a);
	if (steps.by == STEPS_UNKNOWN && !t->sums)
		g = step_guess_of(t, a);
	if (!g.calls) {
		note_line(notes, "note: %.*s: --guess-steps is not used: %s\n", STR(s->name),
		        steps.by != STEPS_UNKNOWN ? "the trace marks its steps"
		        : t->sums                 ? "only sums of the file are kept"
		                                  : "no sequence of calls repeats");
		return;
	}
	struct str first = trace_str(t, g.first), last = trace_str(t, g.last);
	struct str name = g.calls > 1 ? str_fmt(a, GUESSED "%.*s ... %.*s", STR(first), STR(last))
	                              : str_fmt(a, GUESSED "%.*s", STR(first));
	for (size_t i = 0; i < g.times; i++)
		build_guess(b, &(struct trace_guess){
		                       g.starts[i], g.starts[i + 1], build_string(b, name) });
	note_line(notes,
	        "note: %.*s: the %zu steps are guessed, because none is marked: each is a "
	        "repetition of %zu call%s ('%.*s'), which may be a part of a step\n",
	        STR(s->name), g.times, g.calls, g.calls == 1 ? "" : "s",
	        STR(str_sub(name, sizeof GUESSED - 1, SIZE_MAX)));
}

/* True if the trace has an event, a count of events or a program. The span of PyTorch's profiler,
 * which it writes even if the model did not run, is not an event of the model. */
static bool has_events(const struct trace *t)
{
	if (t->sums || t->nodes.n)
		return true;
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n &&
		        (t->source != TRACE_KINETO ||
		                t->tracks.v[i].categories & ~CATEGORY_BIT(CATEGORY_OTHER)))
			return true;
	return false;
}

/* Reads s as a trace, and makes a profile of the trace. Refuses a trace without slices and
 * programs: the file has no events, or has a format that only resembles this one. */
static bool read_as_trace(struct load *l, struct src *s, struct err *e)
{
	struct trace *t = trace_new(ingest_model(l->to)->a);
	struct trace_build *b =
	        build_open(t, ARG_BITS_ALL & ~ARG_BIT(ARG_LAUNCHED), ingest_notes(l->to), l->a);

	const struct graph_source graphs = { s->name, s->options->graph_capture };

	t->bytes = src_size(s);
	bool ok = l->in->read_trace(s, b, l->a, e);
	t->bytes = t->bytes ? t->bytes : src_at(s);
	if (!ok)
		return false;
	build_seal(b);
	if (!t->sums && !graph_join(&graphs, b, l->a, e))
		return false;
	if (s->options->guess_steps)
		guess_steps(s, b, ingest_notes(l->to), l->a);
	if (!has_events(t)) {
		s->damage->kept = 0;
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: no events: a file in the format '%s' with at least one event was "
		        "expected",
		        STR(s->name), l->in->name);
	}
	l->format = str_of(trace_source_names[t->source]);
	src_count_unused(l->s, S("ends without a begin"), t->unopened);
	src_count_unused(l->s, S("slices over the limit"), t->dropped_slices);
	src_count_unused(l->s, S("arguments over the limit"), t->dropped_args);
	if (t->producer != ID_NONE)
		src_set_producer(l->s, trace_str(t, t->producer));
	struct model_trace kept = { .t = t };
	trace_lower(t, TRACE_BY_PATH, false, l->to, &kept, l->a);
	ingest_keep_trace(l->to, &kept);
	return true;
}

/* Reads s in the binary form, up to the end of the file. */
static bool load_binary(struct load *l, struct src *s, struct err *e)
{
	struct guard undo;
	bool ok;

	if (!l->to) {
		l->batch = batch_new(l->a, l->m, l->step, l->in->ticks_per_us);
		return is_kept(s, l->in->read_step(s, l->batch, e) && src_finish(l->s), e);
	}
	ingest_begin(l->to, l->a);
	work_guard(l->a->work, &undo, undo_load, l->to);
	ok = l->in->read_trace ? read_as_trace(l, s, e) : l->in->read(s, l->to, l->a, e);
	ok = is_kept(s, ok && src_finish(l->s), e);
	work_unguard(l->a->work, &undo);
	if (ok)
		ingest_commit(l->to);
	else
		ingest_undo(l->to);
	return ok;
}

/* Returns the warning for an input that counts only up to its damage. */
static struct str damage_text(struct load *l, struct err *e)
{
	const struct src_damage *d = l->s->damage;
	struct sb b = sb_in(l->a);
	uint64_t bytes, at = d->at == UINT64_MAX ? src_at(l->s) : d->at;

	sb_fmt(&b, "warning: %.*s; ", STR(d->in_gzip.n ? d->in_gzip : e->text));
	if (d->in_gzip.n && !d->kept) { /* the reader does not count records */
		sb_put(&b, S("the data before it were read and may be wrong"));
		return sb_str(&b);
	}
	sb_counted(&b, d->kept, str_of(l->in->records));
	if (l->in->groups) {
		sb_put(&b, S(" and "));
		sb_counted(&b, d->groups, str_of(l->in->groups));
	}
	sb_plural(&b, " before it {is|are} kept; lost ", l->in->groups ? 2 : d->kept);
	bool rest = !d->in_gzip.n && src_rest(l->s, at, &bytes);
	sb_plural(&b, "{is|are} ", rest && !d->lost ? bytes : 2);
	if (d->lost) {
		sb_put(&b, S("at least "));
		sb_counted(&b, d->lost, str_of(l->in->records));
		sb_put(&b, S(", "));
	}
	if (rest)
		sb_counted(&b, bytes, S("bytes"));
	else
		sb_fmt(&b, "all bytes from %llu on", (unsigned long long)at);
	if (d->missing && !d->in_gzip.n)
		sb_fmt(&b, "; %llu more are missing", (unsigned long long)d->missing);
	return sb_str(&b);
}

/* Translates the text form, and reads the translation. */
static bool load_text(struct load *l, struct src *s, struct err *e)
{
	struct str text, wire;
	struct src *translated;

	/* An input without a size may be endless. */
	if (!src_size(s) && !pbtext_begins(l->in->text, l->head, s->name, l->a, e))
		return false;
	if (!src_all(s, &text) || !pbtext_encode(l->in->text, text, s->name, l->a, &wire, e) ||
	        !src_memory(&translated, l->a, s->name, wire, e))
		return false;
	translated->facts = s->facts;
	return load_binary(l, translated, e);
}

/* Tries one form. A failing read stores its error in s->e. */
static bool load_form(struct load *l, bool as_text, struct err *e)
{
	bool ok;

	*l->s->facts = (struct src_facts){ .a = l->s->facts->a };
	l->s->e = e;
	l->s->damage->recover = l->from->recover && !as_text;
	ok = as_text ? load_text(l, l->s, e) : load_binary(l, l->s, e);
	if (ok && (e->code || l->s->damage->in_gzip.n)) {
		l->warning = damage_text(l, e);
		*e = (struct err){ .a = e->a };
	}
	return ok;
}

/* Reads the first bytes. Reads truncated gzip data up to its end. */
static bool read_head(struct src *s)
{
	s->damage->recover = true;
	src_need(s, SNIFF_BYTES);
	return !src_failed(s);
}

/* Returns a copy of the first bytes. */
static struct str load_head(struct load *l)
{
	struct str have = str_make(l->s->p, (size_t)(l->s->end - l->s->p));

	return str_copy(l->a, str_sub(have, 0, SNIFF_BYTES));
}

/* Tries the forms in the order of the format. Reports the error of the likelier form. */
static bool load_forms(struct load *l, struct err *e)
{
	struct err first = { .a = e->a }, second = { .a = e->a };
	struct err *told = &first;
	bool text_first;
	int text;

	l->s->e = e;
	if (!read_head(l->s))
		return false;
	l->head = load_head(l);
	const struct unsupported_format *other =
	        l->head.n ? input_unsupported(l->head, l->from->name) : NULL;
	if (other)
		return unsupported_format_refuse(other, l->from->name, e);
	l->in = input_as(l->role, l->head, l->from->name);
	if (l->s->damage->in_gzip.n && !l->from->recover &&
	        !(l->in->flags & INPUT_MENDS && l->s->damage->truncated)) {
		e->partial = l->in->flags & INPUT_MENDS;
		err_at(e, l->from->name, l->s->damage->in_gzip_at);
		return err_text(e, ERR_DATA_LOSS, l->s->damage->in_gzip);
	}
	text_first = l->in->flags & INPUT_TEXT_FIRST;
	text = l->in->text ? pbtext_sniff(l->head) : 0;
	if (text || l->in->flags & INPUT_TWICE)
		src_keep(l->s);
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
	return err_copy(e, told);
}

/* Returns the name of the format that the file seems to have, if the file cannot have the format as
 * which it is read; otherwise NULL. */
static const char *other_kind(struct load *l)
{
	const struct input *other;

	if (!l->in || l->in->sniff(l->head, l->from->name))
		return NULL;
	other = input_guess(l->head, l->from->name);
	return other ? other->name : NULL;
}

/* Adds to the error the format that an unreadable file appears to have. */
static void load_suspect(struct load *l, struct err *e)
{
	const char *kind = other_kind(l);

	if (e->code != ERR_DATA_LOSS || !kind)
		return;
	struct str said = e->text;
	*e = (struct err){ .a = e->a };
	err_set(e, ERR_DATA_LOSS, "%.*s; it looks like a file in the format '%s'", STR(said), kind);
}

/* Adds a note about the reason why a readable file may have no data. */
static void load_doubt(struct load *l)
{
	const char *kind = other_kind(l);

	if (kind && !l->warning.n)
		l->warning = str_fmt(l->a, "note: '%.*s' looks like a file in the format '%s'",
		        STR(l->from->name), kind);
}

bool input_load_file(struct load *l, struct err *e)
{
	bool ok;

	if (!load_open(l, e))
		return false;
	ok = l->loaded = load_forms(l, e);
	if (ok)
		load_doubt(l);
	else
		load_suspect(l, e);
	l->s->e = e;
	src_close(l->s);
	return ok;
}

void input_report(struct ingest *to, const struct load *l)
{
	struct str calls;

	if (l->warning.n)
		note_line(ingest_notes(to), "%.*s\n", STR(l->warning));
	if (!l->loaded)
		return;
	calls = l->in->read_trace ? src_calls_path(l->s) : STR_NONE;
	if (!(l->in->flags & INPUT_ORIGINAL))
		ingest_new_input(to);
	ingest_file(to, l->from->name, l->format.n ? l->format : str_of(l->in->name), l->s->facts);
	if (calls.n)
		ingest_file(to, calls, S("PyTorch execution trace"), &(struct src_facts){ 0 });
}

bool input_load(struct ingest *to, unsigned role, const struct input_from *from,
        const struct input_watch *watch, struct work *work, struct err *e)
{
	struct watched all = { .watch = watch };
	struct scratch own;
	struct load l = { .role = role, .from = from, .a = &own.a, .to = to };
	bool ok;

	scratch_open(&own, work);
	pthread_mutex_init(&all.lock, NULL);
	all.total = input_size(&own.a, from);
	l.share.all = &all;
	ok = input_load_file(&l, e);
	pthread_mutex_destroy(&all.lock);
	input_report(to, &l);
	scratch_close(&own);
	return ok;
}
