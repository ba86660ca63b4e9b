/* SPDX-License-Identifier: Apache-2.0
 *
 * Determines how much of the device work of two runs is the same, by the names of kernels and ops.
 */
#include "base/demangle.h"
#include "trace/pass/work_function.h"
#include "why/run_difference.h"
#include "why/why_internal.h"

/* Shares of the device time of each run, by name. */
struct run_shares {
	struct intern names;
	VEC(double) of[RUNS_N]; /* indexed by name */
	struct arena *a;
};

static void add_share(struct run_shares *x, int run, struct str name, double share)
{
	uint32_t id = intern_add(&x->names, name);

	for (int i = 0; i < RUNS_N; i++)
		while (x->of[i].n <= id)
			VEC_PUSH(x->a, &x->of[i], 0);
	x->of[run].v[id] += share;
}

/* Returns a name without the number that a compiler appends: "fusion.12", "triton_poi_fused_3". */
static struct str without_number(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n > 1 && n < name.n && (name.p[n - 1] == '.' || name.p[n - 1] == '_')
	               ? str_sub(name, 0, n - 1)
	               : name;
}

/* Returns the event of the op that launched a piece of device work, or ID_NONE. */
static uint32_t op_around(const struct why_scene *s, const struct depend_node *n)
{
	for (const struct depend_context *c = depend_context(s->d, n); c;
	        c = c->parent == ID_NONE ? NULL : &s->d->contexts.v[c->parent])
		if (s->t->events.v[c->event].category == CATEGORY_OP)
			return c->event;
	return ID_NONE;
}

/* Adds the shares of the kernels of a run, or of the ops that launched them. */
static void add_run(struct run_shares *x, int run, const struct why_scene *s, bool by_op)
{
	const struct trace *t = s->t;
	int64_t *ticks = ARENA_ARRAY(x->a, t->events.n, int64_t), all = 0;
	size_t budget = DEMANGLE_BUDGET;

	for (size_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host)
			continue;
		uint32_t event = by_op ? op_around(s, n) : n->event;
		all = num_add(all, n->end - n->start);
		if (event != ID_NONE)
			ticks[event] = num_add(ticks[event], n->end - n->start);
	}
	for (uint32_t i = 0; i < t->events.n; i++) {
		struct str name = why_name(s, i);
		if (!ticks[i])
			continue;
		if (!by_op)
			name = without_number(
			        work_function(name, t->events.v[i].category, x->a, &budget));
		add_share(x, run, name, (double)ticks[i] / (double)all);
	}
}

static double common_by(const struct why_scene *runs, bool by_op, struct arena *a)
{
	struct run_shares x = { .a = a };
	double common = 0;

	intern_init(&x.names, a);
	for (int run = 0; run < RUNS_N; run++)
		add_run(&x, run, &runs[run], by_op);
	for (size_t i = 0; i < x.of[RUN_LEFT].n; i++) {
		double left = x.of[RUN_LEFT].v[i], right = x.of[RUN_RIGHT].v[i];
		common += left < right ? left : right;
	}
	return common;
}

double run_common_share(const struct why_scene *runs, struct arena *a)
{
	double kernels = common_by(runs, false, a), ops = common_by(runs, true, a);

	return kernels > ops ? kernels : ops;
}
