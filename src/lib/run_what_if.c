/* SPDX-License-Identifier: Apache-2.0
 *
 * The command what-if: the times after changes.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "export/table/what_if_out.h"
#include "why/why.h"

/* A request of what-if: changes, or a kind of names that are tried one by one. */
struct what_if_request {
	const struct replay_change *changes;
	size_t n_changes;
	enum why_id cause; /* cause of "cause:ID"; WHY_IDS: the changes are used */
	int each;          /* 0: none; otherwise 1 + enum replay_each */
	size_t top;
};

/* Reads the changes, or "cause:ID". */
static bool read_changes(struct session *s, const struct strs *words, struct what_if_request *out)
{
	struct arena *a = &s->query_arena;
	struct replay_change *changes = ARENA_ARRAY(a, words->n, struct replay_change);

	out->changes = changes;
	out->n_changes = words->n;
	out->cause = WHY_IDS;
	for (size_t i = 0; i < words->n; i++) {
		struct str word = words->v[i];
		if (!str_starts(word, S(WHAT_IF_CAUSE))) {
			if (!replay_parse(word, &changes[i], &s->error))
				return false;
			continue;
		}
		struct str id = str_sub(word, sizeof WHAT_IF_CAUSE - 1, SIZE_MAX);
		if (words->n > 1)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "'%.*s' cannot be combined with other changes", STR(word));
		out->cause = why_find_row(id);
		if (out->cause == WHY_IDS)
			return path_fail_cause(s, "cause:", id);
		changes[i] = (struct replay_change){ .text = word };
	}
	return true;
}

static bool read_what_if(
        struct session *s, const struct request *r, struct what_if_request *request)
{
	*request = (struct what_if_request){ .each = r->section > 0 ? r->section : 0,
		.top = (size_t)r->top };
	if (!request->each == !r->topics.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "what-if: %s expected, such as 'kernel:gemm*0.5' or host*0.5, or --each",
		        request->each ? "either changes or --each (not both)" : "a change");
	return read_changes(s, &r->topics, request);
}

bool what_if_is_change(struct str word)
{
	return replay_is_change(word) || str_starts(word, S(WHAT_IF_CAUSE));
}

bool check_what_if(struct session *s, const struct request *r)
{
	struct what_if_request request;

	return r->help || read_what_if(s, r, &request);
}

static bool write_each(struct session *s, const struct what_if *w,
        const struct what_if_request *request, const struct opts *o, struct emit *to)
{
	struct what_if_each each = {
		.of = w, .each = (enum replay_each)(request->each - 1), .top = request->top
	};

	each.v = replay_rank(
	        w->x, each.each, request->top, &each.n, &each.left_out, &s->query_arena);
	return what_if_write_each(&each, o, o->wide ? 0 : s->columns, to, &s->error);
}

/* Adds a note that changes of times, not of waits, found no time to change. */
static void note_unchanged(struct session *s, const struct what_if *w)
{
	for (size_t i = 0; i < w->n_changes; i++) {
		const struct replay_change *c = &w->changes[i];
		if (c->what == REPLAY_LAUNCH || c->what == REPLAY_SYNC || c->factor == 1)
			return;
	}
	if (!w->run.changed)
		note_line(&s->notes, "note: nothing changes: the trace has no such work\n");
}

/* Adds notes about what a change of all communication does not separate, or cannot know. */
static void note_communication(struct session *s, const struct what_if *w)
{
	const struct replay_change *c = NULL;

	for (size_t i = 0; i < w->n_changes; i++)
		if (w->changes[i].what == REPLAY_COMMUNICATION && w->changes[i].factor < 1)
			c = &w->changes[i];
	if (!c || !w->run.changed)
		return;
	note_line(&s->notes,
	        "note: an upper bound: a communication kernel also waits for the other ranks, and "
	        "%.*s shortens that wait too; 'why' with the files of all ranks separates them\n",
	        STR(c->text));
	if (!why_communication_is_waited_for(&w->x->depend, &s->query_arena))
		note_line(&s->notes, "note: the file does not say which work waits for most of the "
		                     "communication, so that work does not start earlier: the time "
		                     "saved may be too small\n");
}

bool run_what_if(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct replay x;
	const struct replay *replays[] = { &x };
	struct rank_group job;
	struct path_steps steps;
	struct path_input in;
	struct what_if_request request;

	if (!read_what_if(s, r, &request) || !path_input_open(s, o, &in) ||
	        !path_replay(s, &in, o, &x, &steps))
		return false;
	struct what_if w = { .x = &x,
		.changes = request.changes,
		.n_changes = request.n_changes,
		.error = replay_error(&x),
		.of = steps.of,
		.device = steps.device,
		.marked = steps.marked,
		.wall = steps.wall };
	path_note_unknown(s, &x.depend, x.depend.unknown_waits);
	if (request.each)
		return write_each(s, &w, &request, o, &to);
	rank_group_open(replays, 1, &job, a);
	bool named = request.cause == WHY_IDS;
	bool ok = named ? replay_run(&x, request.changes, request.n_changes, &w.run, a, &s->error)
	                : why_replay(&job, request.cause, &w.run, a, &s->error);
	if (ok && named)
		note_unchanged(s, &w);
	if (ok && named)
		note_communication(s, &w);
	w.overlaps = ok && replay_overlaps(&x, &w.run);
	return ok && what_if_write(&w, request.top, o, o->wide ? 0 : s->columns, &to, &s->error);
}
