/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a trace as text.
 */
#include "chrome_rig.h"

#include <stdlib.h>

struct trace *chrome_trace;
struct notes chrome_notes;
struct err chrome_err;
static struct arena scratch;

void chrome_drop(void)
{
	if (scratch.work)
		arena_free(&scratch);
}

bool chrome_read(struct str text, uint64_t wants, struct arena *a)
{
	struct trace_build *b;
	struct src *s;
	bool good;

	chrome_drop();
	arena_init(&scratch, a->work);
	chrome_err = (struct err){ .a = a };
	notes_init(&chrome_notes, a);
	chrome_trace = trace_new(a);
	b = build_open(chrome_trace, wants, &chrome_notes, &scratch);
	if (!src_memory(&s, &scratch, S("in.json"), text, &chrome_err))
		abort();
	good = read_chrome_json(s, b, &scratch, &chrome_err);
	if (good != (chrome_err.code == ERR_NONE))
		abort();
	build_seal(b);
	return good;
}

static void put_track(struct sb *out, const struct trace_track *k)
{
	if (k->device != ID_NONE)
		sb_fmt(out, "gpu%d.%d", (int)chrome_trace->devices.v[k->device].index, (int)k->id);
	else if (k->name != ID_NONE && k->id == 0)
		sb_fmt(out, "%d.'%.*s'", (int)chrome_trace->processes.v[k->process].pid,
		        STR(trace_str(chrome_trace, k->name)));
	else
		sb_fmt(out, "%d.%d", (int)chrome_trace->processes.v[k->process].pid, (int)k->id);
}

static void put_args(struct sb *out, struct str args)
{
	for (struct argument x; argument_next(&args, &x);) {
		sb_fmt(out, " %s=", argument_names[x.key]);
		if (x.type == ARG_TEXT)
			sb_fmt(out, "'%.*s'", STR(trace_str(chrome_trace, x.text)));
		else
			sb_fmt(out, "%lld", (long long)x.i);
	}
}

/* Returns the slices as text, in the order of tracks. */
struct str chrome_dumped(struct arena *a)
{
	struct sb out = sb_in(a);

	for (uint32_t k = 0; k < chrome_trace->tracks.n; k++) {
		struct slice_iter i = trace_slices(chrome_trace, k);
		for (struct slice s; slice_next(&i, &s);) {
			put_track(&out, &chrome_trace->tracks.v[k]);
			sb_fmt(&out, " %s%s %.*s %lld", s.form == SLICE_INSTANT ? "!" : "",
			        trace_category_names[s.category],
			        STR(trace_str(chrome_trace, s.name)), (long long)s.start);
			if (s.form == SLICE_COMPLETE)
				sb_fmt(&out, "+%lld", (long long)s.length);
			if (s.correlation)
				sb_fmt(&out, " c%lld", (long long)s.correlation);
			put_args(&out, s.args);
			put_args(&out, chrome_trace->events.v[s.event].args);
			sb_char(&out, '\n');
		}
	}
	return sb_str(&out);
}
