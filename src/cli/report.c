/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof report.
 */
#include "cli/program.h"
#include "cli/report.h"
#include "export/html.h"

/* Adds the document of a part; one that fails is left out, unless the call itself is cancelled.
 * *first keeps the first failure. */
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
		err_set(first, s->error.code, "%.*s", STR(s->error.text));
	}
	s->notes = notes;
	s->error = error;
	arena_reset(&s->query_arena, mark);
	return true;
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
		report_list(s, p);
		for (size_t i = 0; ok && i < p->v.n; i++)
			ok = add_part(s, &p->v.v[i], &h, &first);
		if (ok && !h.documents)
			ok = session_fail_as(s, &first);
		ok = ok && html_end(&h, &s->error) && sink_close(file, &s->error);
	}
	scratch_close(&own);
	if (ok)
		sink_fmt(out, "wrote %.*s\n", STR(path));
	return ok;
}

bool report_run(struct session *s, const struct request *r, struct sink *out)
{
	struct report_options words = { 0 };
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct option_words w = { .command = r->command, .into = &words, .opts = &o };
	struct strs flags = { 0 }, rest = { 0 };
	struct report_parts parts;

	options_preset("report", &words);
	report_flags(s, &r->before, &flags, &rest);
	rest = (struct strs){ 0 };
	report_flags(s, &r->topics, &flags, &rest);
	return options_read(s, &rest, &w) && html_available(&s->error) &&
	       report_load(s, &flags, &w.rest, &o, &parts) && write(s, &parts, words.file, out);
}
