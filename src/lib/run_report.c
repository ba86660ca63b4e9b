/* SPDX-License-Identifier: Apache-2.0
 *
 * The command report: a page about files or, in a session with a loaded profile, about this one.
 */
#include "lib/report.h"
#include "export/page/html.h"

/* Adds the document of a part. Omits a part that fails, unless the call is cancelled. *first: the
 * first failure. */
static bool add_part(
        struct session *s, const struct report_part *part, struct html *h, struct err *first)
{
	struct arena_mark mark = arena_mark(&s->query_arena);
	struct sink *document = sink_memory(&s->query_arena);
	struct notes notes = s->notes;
	struct err error = s->error;

	bool ok = report_write(s, &part->words, document);
	if (ok) {
		html_document(h, part->name, &part->command);
		sink_put(h->json, sink_text(document));
	} else if (s->error.code == ERR_CANCELLED || s->error.code == ERR_RESOURCE) {
		return false;
	} else {
		err_copy(first, &s->error);
	}
	s->notes = notes;
	s->error = error;
	arena_reset(&s->query_arena, mark);
	return true;
}

static bool add_parts(struct session *s, struct report_parts *p, struct html *h, struct err *first)
{
	report_list(s, p);
	for (size_t i = 0; i < p->v.n; i++)
		if (!add_part(s, &p->v.v[i], h, first))
			return false;
	return true;
}

struct traces_request {
	struct report_parts parts;
	struct html *h;
	struct err *first;
};

static bool add_trace_parts(struct session *t, void *ctx)
{
	struct traces_request *x = ctx;

	return add_parts(t, &x->parts, x->h, x->first);
}

/* Adds the parts of each worker's own trace, one session after the other. */
static bool add_traces(struct session *s, struct html *h, struct err *first)
{
	struct traces_request x = { .h = h, .first = first };
	struct strs paths;
	struct guard guard;
	bool ok = true;

	report_trace_paths(s, &paths);
	for (size_t i = 0; ok && i < paths.n; i++) {
		struct session *t = report_trace_open(s, &paths, i, &x.parts);
		if (!t)
			return false;
		work_guard(&s->work, &guard, session_drop, t);
		ok = session_guard(t, add_trace_parts, &x);
		if (!ok)
			session_fail_as(s, &t->error);
		work_unguard(&s->work, &guard);
		session_free(t);
	}
	return ok;
}

static bool write_report(
        struct session *s, struct report_parts *p, struct str path, struct sink *out)
{
	struct scratch own;
	struct sink *file;
	struct html h;

	scratch_open(&own, &s->work);
	struct err first = { .a = &own.a };
	bool ok = sink_file(&file, &own.a, path, &s->error);
	if (ok) {
		html_begin(&h, file, &own.a);
		ok = add_parts(s, p, &h, &first) && add_traces(s, &h, &first);
		if (ok && !h.documents)
			ok = session_fail_as(s, &first);
		ok = ok && html_end(&h, &s->error) && sink_close(file, &s->error);
	}
	scratch_close(&own);
	if (!ok)
		return false;
	struct sb line = sb_in(&s->query_arena);
	sb_put_name(&line, path);
	sink_fmt(out, "wrote %.*s\n", STR(sb_str(&line)));
	return true;
}

/* ---- the page of the loaded profile ---- */

static void drop_arrays(void *session)
{
	struct session *s = session;

	s->arrays = false;
}

/* Writes the page of the session's own profile. Restores its options afterwards. */
static bool write_loaded(struct session *s, const struct opts *o, struct str path, struct sink *out)
{
	struct opts before = opts_copy(&s->sticky, &s->query_arena);
	struct report_parts parts = { 0 };
	struct guard g;

	if (!session_seal(s))
		return false;
	for (size_t i = 0; i < s->sources.n; i++)
		strs_add(&s->query_arena, &parts.files, s->sources.v[i].path);
	s->arrays = true;
	work_guard(&s->work, &g, drop_arrays, s);
	session_set(s, o);
	bool ok = write_report(s, &parts, path, out);
	session_set(s, &before);
	work_unguard(&s->work, &g);
	drop_arrays(s);
	return ok;
}

/* ---- the page of files ---- */

struct files_request {
	struct report_inputs in;
	const struct opts *o;
	struct str path;
	struct sink *out;
};

static bool write_files(struct session *s, void *ctx)
{
	const struct files_request *x = ctx;
	struct report_parts parts;

	return report_load(s, &x->in, x->o, &parts) && write_report(s, &parts, x->path, x->out);
}

/* Loads the files beside the loaded profile. */
static bool write_beside(struct session *s, struct files_request *x)
{
	struct session *part = session_new_part(s);
	struct guard g;

	if (!part)
		return session_fail(s, ERR_RESOURCE, "out of memory");
	work_guard(&s->work, &g, session_drop, part);
	part->threads = s->threads;
	part->parent_cancel = &s->cancel;
	bool ok = session_guard(part, write_files, x);
	if (!ok)
		session_fail_as(s, &part->error);
	note_append(&s->notes, &part->notes);
	work_unguard(&s->work, &g);
	session_free(part);
	return ok;
}

bool report_run(struct session *s, const struct request *r, struct sink *out)
{
	struct report_options words = { 0 };
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct option_words w = { .command = r->command, .into = &words, .opts = &o };
	struct files_request x = { .o = &o, .out = out };

	if (!report_words(s, r, &x.in.flags, &w))
		return false;
	x.in.files = w.rest;
	x.in.as = (enum files_as)words.as;
	x.path = words.file;
	if (s->loaded && !x.in.flags.n && !w.rest.n)
		return write_loaded(s, &o, words.file, out);
	return s->loaded || s->jobs ? write_beside(s, &x) : write_files(s, &x);
}
