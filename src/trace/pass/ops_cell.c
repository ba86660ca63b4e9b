/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of ops: their numbers in each step.
 */
#include "trace/pass/ops_internal.h"

/* Assigns the newest cell to the executions of its op and step. Cells share executions only if ops
 * are divided by call stack. */
static void add_runs(struct finding *x, uint32_t op, uint32_t step)
{
	uint64_t key = (uint64_t)x->base.v[op] << 32 | step;
	uint32_t i = (uint32_t)x->runs.n;

	if (x->by != TRACE_BY_STACK || imap_put(&x->runs_at, key, i, false))
		VEC_PUSH(x->a, &x->runs, ((struct op_runs){ 0 }));
	else
		imap_get(&x->runs_at, key, &i);
	VEC_PUSH(x->a, &x->runs_of, i);
}

struct op_runs *ops_runs_of(struct finding *x, const struct op_cell *c)
{
	return &x->runs.v[x->runs_of.v[c - x->to->cells.v]];
}

struct op_cell *ops_cell(struct finding *x, uint32_t op, uint32_t step, const struct slice *s)
{
	struct trace_ops *o = x->to;
	uint64_t key = (uint64_t)op << 32 | step;
	uint32_t i = x->last_cell.v[op];
	struct op_cell *c;

	if (i >= o->cells.n || o->cells.v[i].op != op || o->cells.v[i].step != step) {
		i = (uint32_t)o->cells.n;
		if (!imap_get(&x->cell_of, key, &i)) {
			imap_put(&x->cell_of, key, i, false);
			VEC_PUSH(o->a, &o->cells,
			        ((struct op_cell){ .op = op,
			                .step = step,
			                .start = s->start,
			                .end = slice_end(s) }));
			add_runs(x, op, step);
		}
		x->last_cell.v[op] = i;
	}
	c = &o->cells.v[i];
	c->start = s->start < c->start ? s->start : c->start;
	c->end = slice_end(s) > c->end ? slice_end(s) : c->end;
	return c;
}
