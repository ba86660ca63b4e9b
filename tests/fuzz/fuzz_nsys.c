/* SPDX-License-Identifier: Apache-2.0
 *
 * Nsight Systems exports, read with slices and with sums only.
 */
#include "trace.h"
#include "trace/pass/ops.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

static void add_up(struct arena *a, struct str bytes)
{
	static const struct src_options summed = { .slices = SLICES_SUMMED };
	struct trace *t = trace_new(a);
	struct err e = { .a = a };
	struct trace_steps steps;
	struct trace_usage usage;
	struct trace_build *b;
	struct trace_ops ops;
	struct notes notes;
	struct src *s;

	notes_init(&notes, a);
	b = build_open(t, 0, &notes, a);
	if (!src_memory(&s, a, S("input"), bytes, &e))
		abort();
	src_keep(s);
	s->options = &summed;
	s->e = &e;
	if (read_nsys(s, b, a, &e) != (e.code == ERR_NONE))
		abort();
	if (!t->sums)
		return;
	t = trace_copy(t, a);
	trace_find_steps(t, &steps, a);
	trace_find_ops(t, NULL, &steps, TRACE_BY_PATH, &ops, a);
	trace_usage(t, &(struct usage_request){ .links = NULL }, &usage, a);
	for (size_t i = 0; i < ops.cells.n; i++)
		if (ops.cells.v[i].op >= ops.ops.n || ops.cells.v[i].step >= steps.steps.n)
			abort();
	for (size_t i = 0; i < usage.devices.n; i++)
		if (usage.devices.v[i].device >= t->devices.n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_within(add_up, data, size);
	return fuzz_trace(read_nsys, data, size);
}
