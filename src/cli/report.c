/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof report.
 */
#include "cli/program.h"
#include "cli/report.h"
#include "export/page/html.h"

/* Adds the document of a part. A part that fails is omitted, unless the call is cancelled. *first:
 * the first failure. */
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

static bool write(struct session *s, struct report_parts *p, struct str path, struct sink *out)
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

bool report_run(struct session *s, const struct request *r, struct sink *out)
{
	struct report_options words = { 0 };
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct option_words w = { .command = r->command, .into = &words, .opts = &o };
	struct strs flags = { 0 };
	struct report_parts parts;

	return report_words(s, r, &flags, &w) && report_load(s, &flags, &w.rest, &o, &parts) &&
	       write(s, &parts, words.file, out);
}
