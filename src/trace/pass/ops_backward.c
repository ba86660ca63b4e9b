/* SPDX-License-Identifier: Apache-2.0
 *
 * Backward passes of PyTorch: the ops of a backward pass run on threads of their own, where no
 * module is open. Each has the sequence number of its forward op, and is put into the module of
 * that op.
 */
#include "flops/flops.h"
#include "trace/pass/ops_internal.h"

/* sequence number that forward ops of several modules or threads share */
#define AMBIGUOUS 0u

static bool groups_by_module(enum trace_by by)
{
	return by == TRACE_BY_PATH || by == TRACE_BY_MODULE || by == TRACE_BY_MODULE_CLASS ||
	       by == TRACE_BY_KERNEL || by == TRACE_BY_CATEGORY || by == TRACE_BY_STACK ||
	       by == TRACE_BY_CALLS;
}

void ops_find_backward(struct finding *x)
{
	const struct trace *t = x->to->t;
	const uint64_t keys = ARG_BIT(ARG_SEQUENCE) | ARG_BIT(ARG_FORWARD_THREAD);
	bool modules = false;

	for (size_t i = 0; i < t->events.n && !modules; i++)
		modules = t->events.v[i].category == CATEGORY_MODULE;
	x->backward = modules && (t->keys & keys) == keys && groups_by_module(x->by);
}

bool ops_has_number(const struct trace *t, const struct slice *s, int64_t *number, bool *backward)
{
	int64_t thread;

	if (s->form != SLICE_COMPLETE || s->category != CATEGORY_OP ||
	        !slice_has_int(t, s, ARG_SEQUENCE, number) || *number < 0)
		return false;
	*backward = slice_has_int(t, s, ARG_FORWARD_THREAD, &thread) && thread;
	return true;
}

bool ops_is_backward(const struct finding *x, uint32_t track)
{
	struct slice_iter it = trace_slices_if(x->to->t, track, CATEGORY_BIT(CATEGORY_OP));
	int64_t number;
	bool backward;

	for (struct slice s; slice_next(&it, &s);)
		if (ops_has_number(x->to->t, &s, &number, &backward) && backward)
			return true;
	return false;
}

static uint64_t key_of(const struct finding *x, const struct slice *s, int64_t number)
{
	const struct trace *t = x->to->t;
	uint32_t process = t->tracks.v[s->track].process;

	return (uint64_t)number * (t->processes.n + 1) +
	       (process == ID_NONE ? t->processes.n : process);
}

/* Stores the module of a forward op. Ops with one number nearly always belong to one module. */
static void keep_module(struct finding *x, uint64_t key, uint32_t op)
{
	uint32_t known;

	if (imap_get(&x->module_of, key, &known))
		op = known == op ? op : AMBIGUOUS;
	imap_put(&x->module_of, key, op, true);
}

/* ---- functions of autograd ---- The inputs of a gradient op are gradients of the function's
 * results. What the gradient op recomputes depends on the inputs of the function, which has the
 * same sequence number. */

static uint64_t function_key(
        const struct finding *x, const struct slice *s, struct str name, int64_t number)
{
	uint64_t parts[2] = { key_of(x, s, number), hash_bytes(name.p, name.n) };

	return hash_bytes(parts, sizeof parts);
}

static struct str function_of(struct str gradient)
{
	return str_sub(gradient, 0, gradient.n - S("Backward").n);
}

void ops_find_functions(struct finding *x)
{
	const struct trace *t = x->to->t;
	bool *wanted = ARENA_ARRAY(x->a, t->strings.n, bool), any = false;
	bool *gradients = ARENA_ARRAY(x->a, t->strings.n, bool);
	int64_t number;
	bool backward;

	for (size_t i = 0; i < t->events.n; i++) {
		struct str name = trace_str(t, t->events.v[i].name);
		uint32_t function;
		if (str_starts(name, S("autograd::engine::evaluate_function: "))) {
			gradients[t->events.v[i].name] = true;
			x->gradients = gradients;
		}
		if (!str_ends(name, S("Backward")) || !flops_reads_forward(name))
			continue;
		function = intern_find(&t->strings, function_of(name));
		if (function != ID_NONE)
			any = wanted[function] = true;
	}
	for (uint32_t track = 0; any && track < t->tracks.n; track++) {
		struct slice_iter it = trace_slices(t, track);
		for (struct slice s; slice_next(&it, &s);)
			if (wanted[s.name] && ops_has_number(t, &s, &number, &backward) &&
			        !backward)
				imap_put(&x->forward_of,
				        function_key(x, &s, trace_str(t, s.name), number), s.event,
				        true);
	}
}

bool ops_find_function(const struct finding *x, const struct slice *gradient, uint32_t *event)
{
	struct str name = trace_str(x->to->t, gradient->name);
	int64_t number;

	return x->forward_of.n && slice_has_int(x->to->t, gradient, ARG_SEQUENCE, &number) &&
	       number >= 0 &&
	       imap_get(
	               &x->forward_of, function_key(x, gradient, function_of(name), number), event);
}

uint32_t ops_around(struct finding *x, const struct nest *n, const struct nest_level *level)
{
	uint32_t around = level->depth ? level[-1].user : 0, module;
	const struct nest_level *in;
	int64_t number;
	bool backward;

	if (!x->backward || !ops_has_number(x->to->t, &level->s, &number, &backward))
		return around;
	in = nest_around(n, level, CATEGORY_BIT(CATEGORY_MODULE));
	if (!backward && in)
		keep_module(x, key_of(x, &level->s, number), in->user);
	if (!backward || in || nest_around(n, level, CATEGORY_BIT(CATEGORY_OP)) ||
	        !imap_get(&x->module_of, key_of(x, &level->s, number), &module) ||
	        module == AMBIGUOUS)
		return around;
	return module;
}

/* ---- repeated forward passes ---- To save memory, a program may drop the results of a forward
 * pass, and compute them again in the backward pass (torch.utils.checkpoint). */

/* Ops inside the gradient of a function have no sequence number, unless the program computes
 * gradients of gradients; ops of a repeated forward pass have one. Gradients of gradients call
 * their ops directly, so an op counts as repeated only if it is inside another op, such as
 * aten::linear, or inside the gradient of a checkpoint. */
void ops_find_again(const struct finding *x, const struct slice *s,
        const struct flops_level *around, struct flops_level *level)
{
	int64_t number;
	bool backward = false;

	if (!x->gradients || (!(around && around->gradient) && !x->gradients[s->name]))
		return;
	level->gradient = true;
	if (x->gradients[s->name])
		return;
	level->checkpoint = around->checkpoint;
	level->forward = around->forward;
	level->again = around->forward;
	if (!ops_has_number(x->to->t, s, &number, &backward))
		return;
	if (backward) {
		level->checkpoint =
		        str_starts(trace_str(x->to->t, s->name), S("CheckpointFunction"));
		level->forward = level->again = false;
		return;
	}
	level->again |= level->checkpoint;
	level->forward = true;
}
