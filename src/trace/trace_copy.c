/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a trace from the arena of its reader to a longer-lived arena.
 */
#include "trace/pass/ops.h"
#include "trace/pass/usage.h"
#include "trace/trace_internal.h"

#define COPY_ITEMS(a, to, from)                                                                    \
	do {                                                                                       \
		(to)->v = NULL;                                                                    \
		(to)->n = (to)->cap = 0;                                                           \
		VEC_ROOM(a, to, (from)->n);                                                        \
		if ((from)->n)                                                                     \
			memcpy((to)->v, (from)->v, (from)->n * sizeof *(to)->v);                   \
		(to)->n = (from)->n;                                                               \
	} while (0)

static void copy_blocks(struct trace_track *to, const struct trace_track *from, struct arena *a)
{
	COPY_ITEMS(a, &to->blocks, &from->blocks);
	for (size_t i = 0; i < to->blocks.n; i++) {
		struct slice_block *b = &to->blocks.v[i];
		b->bytes = (uint8_t *)arena_copy(a, b->bytes, b->cap);
	}
}

static struct intern copy_strings(const struct intern *from, struct arena *a)
{
	struct intern to;

	intern_init(&to, a);
	for (uint32_t i = 0; i < from->n; i++)
		intern_add(&to, intern_str(from, i));
	return to;
}

static const struct trace_steps *copy_steps(
        const struct trace_steps *from, const struct trace *t, struct arena *a)
{
	struct trace_steps *to = ARENA_NEW(a, struct trace_steps);

	*to = *from;
	to->t = t;
	COPY_ITEMS(a, &to->steps, &from->steps);
	COPY_ITEMS(a, &to->intervals, &from->intervals);
	imap_init(&to->by_id, a);
	for (uint32_t i = 0; i < to->steps.n; i++)
		imap_put(&to->by_id, zigzag(to->steps.v[i].id), i, false);
	return to;
}

static const struct trace_ops *copy_ops(
        const struct trace_ops *from, const struct trace *t, struct arena *a)
{
	struct trace_ops *to = ARENA_NEW(a, struct trace_ops);

	*to = *from;
	to->t = t;
	to->a = a;
	to->strings = copy_strings(&from->strings, a);
	to->frames = copy_strings(&from->frames, a);
	COPY_ITEMS(a, &to->ops, &from->ops);
	COPY_ITEMS(a, &to->cells, &from->cells);
	COPY_ITEMS(a, &to->kernels, &from->kernels);
	imap_init(&to->op_of_record, a); /* only traces with record function ids have entries */
	return to;
}

static const struct trace_sums *copy_sums(
        const struct trace_sums *from, const struct trace *t, struct arena *a)
{
	struct trace_sums *to = ARENA_NEW(a, struct trace_sums);
	struct trace_usage *usage = ARENA_NEW(a, struct trace_usage);
	size_t steps = from->steps->steps.n;
	struct step_usage *by_step = ARENA_ARRAY(a, steps, struct step_usage);

	COPY_ITEMS(a, &usage->devices, &from->usage->devices);
	if (steps)
		memcpy(by_step, from->by_step, steps * sizeof *by_step);
	*to = (struct trace_sums){ .steps = copy_steps(from->steps, t, a),
		.ops = copy_ops(from->ops, t, a),
		.usage = usage,
		.by_step = by_step,
		.path = str_copy(a, from->path) };
	return to;
}

struct trace *trace_copy(const struct trace *t, struct arena *a)
{
	struct trace *to = ARENA_NEW(a, struct trace);

	*to = *t;
	to->a = a;
	to->strings = copy_strings(&t->strings, a);
	COPY_ITEMS(a, &to->processes, &t->processes);
	COPY_ITEMS(a, &to->devices, &t->devices);
	COPY_ITEMS(a, &to->tracks, &t->tracks);
	COPY_ITEMS(a, &to->events, &t->events);
	COPY_ITEMS(a, &to->nodes, &t->nodes);
	COPY_ITEMS(a, &to->inputs, &t->inputs);
	COPY_ITEMS(a, &to->program_memory, &t->program_memory);
	COPY_ITEMS(a, &to->buffers, &t->buffers);
	COPY_ITEMS(a, &to->sites, &t->sites);
	COPY_ITEMS(a, &to->graphs, &t->graphs);
	COPY_ITEMS(a, &to->replays, &t->replays);
	COPY_ITEMS(a, &to->guesses, &t->guesses);
	for (size_t i = 0; i < to->tracks.n; i++)
		copy_blocks(&to->tracks.v[i], &t->tracks.v[i], a);
	for (size_t i = 0; i < to->events.n; i++)
		to->events.v[i].args = str_copy(a, to->events.v[i].args);
	for (size_t i = 0; i < to->nodes.n; i++)
		to->nodes.v[i].args = str_copy(a, to->nodes.v[i].args);
	if (t->sums)
		to->sums = copy_sums(t->sums, to, a);
	return to;
}
