/* SPDX-License-Identifier: Apache-2.0
 *
 * diff --by=phase: the steps of a server in two runs, by phase.
 */
#include "export/table/phase_difference_out.h"
#include "lib/diff.h"
#include "lib/path_input.h"

/* Finds the phases of a side. Fails if there are none. */
static bool find_phases(struct session *s, const struct diff_side *x, const struct opts *o,
        struct phases *out, struct arena *a)
{
	struct path_input in;

	if (x->answer)
		return session_fail(
		        s, ERR_FAILED, "'%.*s' is text: it has no steps of a trace", STR(x->word));
	if (!path_input_open(x->s, o, &in))
		return diff_side_failed(s, x);
	trace_find_phases(in.t, &in.links, out, a);
	return out->list.n ||
	       session_fail(s, ERR_FAILED, "%.*s: no steps of an LLM server found (help phases)",
	               STR(x->word));
}

bool diff_by_phase(struct diff_sides *d, const struct diff_request *w, struct emit *to)
{
	struct session *s = d->s;
	struct phases runs[2];

	if (d->n != 2)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--by=phase: two sides expected");
	if (w->o.step >= 0 || w->o.steps.n)
		return session_fail(s, ERR_INVALID_ARGUMENT, "-step does not apply to --by=phase");
	for (size_t i = 0; i < d->n; i++)
		if (!find_phases(s, &d->v[i], &w->o, &runs[i], &s->query_arena))
			return false;
	bool swap = w->given.swap;
	return phase_difference_write(&runs[swap], &runs[!swap], &w->o, s->columns, to, &s->error);
}
