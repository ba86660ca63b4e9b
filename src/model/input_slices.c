/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the slices of a trace that has only sums.
 */
#include "model/input.h"
#include "trace/trace_build.h"

/* Forwards the progress of one file. */
static bool tick(void *user, uint64_t done, uint64_t size)
{
	const struct input_watch *w = user;

	return w->progress(w->user, done, size);
}

static bool read_slices(struct src *s, struct trace *t, struct arena *a, struct err *e)
{
	struct notes known; /* dropped, because the first load reported the notes */

	notes_init(&known, a);
	s->e = e;
	struct trace_build *b = build_open(t, ARG_BITS_ALL, &known, a);
	if (!read_nsys(s, b, a, e)) /* the only reader that stores sums */
		return false;
	build_seal(b);
	return true;
}

const struct trace *input_slices(const struct trace *of, const struct src_options *options,
        const struct input_watch *watch, struct arena *a, struct err *e)
{
	struct src_options kept = *options;
	struct trace *t = trace_new(a);
	struct scratch own;
	struct src *s;

	kept.slices = SLICES_KEPT;
	scratch_open(&own, a->work);
	bool ok = src_open(&s, &own.a, of->sums->path, e);
	if (ok) {
		s->options = &kept;
		if (watch && watch->progress)
			src_on_progress(s, tick, (void *)(uintptr_t)watch);
		ok = read_slices(s, t, &own.a, e);
		src_close(s);
	}
	scratch_close(&own);
	return ok ? t : NULL;
}
