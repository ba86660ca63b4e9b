/* SPDX-License-Identifier: Apache-2.0
 *
 * The command advise.
 */
#include "lib/command.h"

#include "export/out.h"

bool session_advise(struct session *s, unsigned checkers, int64_t top, struct advice *out)
{
	struct advise request = { .m = &s->model,
		.recording = s->recording.n ? &s->recording : NULL,
		.recording_options = &s->recording_options,
		.a = &s->query_arena,
		.notes = &s->notes,
		.checkers = checkers,
		.rows = top < 0                   ? 0
		        : top && top < UINT32_MAX ? (uint32_t)top
		                                  : UINT32_MAX,
		.no_zeros = s->bare_files,
		.tree = session_tree,
		.user = s };

	if (!session_need_all(s, false) || !session_seal(s))
		return false;
	session_begin_query(s);
	/* The notes of this view come first, as in the original. */
	session_tree(s, view_with(VIEW_TRACES)->kind);
	return advise_run(&request, out, &s->error);
}

/* Adds a note if no checker reports anything about files that the original does not read. */
static void note_nothing(struct session *s, const struct advice *advice)
{
	size_t n = 0;

	for (enum checker_id i = 0; i < CHECK_N; i++)
		n += advice->reports[i].n;
	if (!n && s->model.new_input)
		note_line(&s->notes, "note: nothing to report: the checkers need times of "
		                     "operations or devices\n");
}

/* True if the inputs are traces or recordings, with or without files that complete them, and the
 * original does not read any of these files. */
static bool has_only_traces(const struct session *s)
{
	size_t n = 0;

	while (n < s->model.files.n && !input_is_original(s->model.files.v[n].format))
		n++;
	return s->recording.n || (s->model.traces.n && n == s->model.files.n);
}

static bool write_rows(
        struct session *s, const struct advice *advice, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, view_with(VIEW_TRACES)->kind, out);

	return data_advice(advice, o, &to, &s->error);
}

bool run_advise(struct session *s, const struct request *r, struct sink *out)
{
	struct advice advice;

	if (!session_seal(s))
		return false;
	if (has_only_traces(s) && r->checkers == CHECK_ALL && !r->message) {
		struct request why = *r;
		if (r->opts.top >= 0)
			why.top = r->opts.top;
		return run_why(s, &why, out);
	}

	/* Options are parsed but have no effect, as in the original, except with outputs that the
	 * original lacks. */
	unsigned checkers = r->checkers;
	if (checkers == CHECK_ALL && (s->bare_files || s->model.traces.n))
		checkers |= CHECK_OURS;
	if (!session_advise(s, checkers, r->opts.top, &advice))
		return false;
	note_nothing(s, &advice);
	if (!out_is_data(r->opts.output.kind))
		text_advice(&advice, &s->query_arena, out);
	else if (!write_rows(s, &advice, &r->opts, out))
		return false;
	if (r->message)
		advice_write(&advice, r->message, &s->query_arena);
	return true;
}
