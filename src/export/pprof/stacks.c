/* SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of an answer, for pprof. Also the output "folded": one line per stack, with frames
 * separated by semicolons, then the number.
 */
#include "export/out.h"

/* Rounds numbers to whole parts so that their sum is the rounded sum. */
static void round_values(const struct result *r, enum value v, int64_t *own)
{
	int64_t sum = 0, before = 0, parts = stacks_parts(r, v);

	for (uint32_t i = 0; i < r->n && view_has_fractions(r->q, v); i++) {
		sum = num_add(sum, own[i]);
		int64_t now = fraction_in(model_fraction(r->q->m, r->q->over, v, sum), parts);
		own[i] = num_sub(now, before);
		before = now;
	}
}

int64_t *stacks_values(const struct result *r, enum value v)
{
	int64_t *own = ARENA_ARRAY(r->q->a, r->n, int64_t);

	for (uint32_t i = 0; i < r->n; i++) {
		const struct entry *x = &r->shown[i];
		int64_t total = view_is(r->kind, VIEW_LIST) ? x->self->v[v] : x->total->v[v];
		own[i] = num_add(own[i], total);
		if (!view_is(r->kind, VIEW_LIST) && x->parent != ID_NONE)
			own[x->parent] = num_sub(own[x->parent], total);
	}
	round_values(r, v, own);
	return own;
}

struct str stacks_unit(const struct result *r, enum metric_id m)
{
	return stacks_parts(r, metrics[m].value) > 1 ? S("nanoseconds")
	                                             : str_of(metrics[m].pprof_unit);
}

enum metric_id stacks_metric(const struct opts *o)
{
	for (enum metric_id i = 0; i < M_N; i++)
		if (o->select.metrics == METRIC_BIT(i) && (metrics[i].uses & USE_PPROF))
			return i;
	return M_NONE;
}

uint32_t stacks_node(const struct result *r, uint32_t shown)
{
	const struct tree *t = r->q->tree;

	return t->node ? t->node[r->q->kept.at[r->shown[shown].kept]] : ID_NONE;
}

/* ---- folded ---- */

struct str folded_accepts(const struct view_ops *v, const struct query *q)
{
	(void)v;
	return stacks_metric(q->o) == M_NONE
	               ? S("-output folded writes one metric: name one, as in -select micros")
	               : STR_NONE;
}

/* Returns the name as a frame. In scope, the part that repeats the parent's name is left out. */
static struct str frame_name(const struct result *r, uint32_t shown)
{
	struct str name = view_name(r->q, r->shown[shown].kept), up;

	if (!view_is(r->kind, VIEW_PATHS) || !stacks_has_parent(r, shown))
		return name;
	up = view_name(r->q, r->shown[r->shown[shown].parent].kept);
	return str_starts(name, up) && name.n > up.n + 1 ? str_sub(name, up.n + 1, SIZE_MAX) : name;
}

/* Appends the name; semicolons, which separate frames, become colons. */
static void put_frame(struct sb *to, struct str name)
{
	size_t from = to->n;

	sb_put_name(to, name.n ? name : S("(no name)"));
	for (size_t i = from; i < to->n; i++)
		if (to->p[i] == ';')
			to->p[i] = ':';
}

static void put_stacks(const struct result *r, enum value v, struct sink *to)
{
	const int64_t *own = stacks_values(r, v);
	size_t *end = ARENA_ARRAY(r->q->a, r->n, size_t); /* length in bytes of the stack of each
	                                                     entry */
	struct sb stack = sb_in(r->q->a);

	for (uint32_t i = 0; i < r->n; i++) {
		if (i % 4096 == 4095)
			work_poll(r->q->a->work);
		if (!stacks_is_frame(r, i))
			continue;
		stack.n = 0;
		if (stacks_has_parent(r, i)) {
			stack.n = end[r->shown[i].parent]; /* entries come in pre-order */
			sb_char(&stack, ';');
		}
		put_frame(&stack, frame_name(r, i));
		end[i] = stack.n;
		if (own[i] <= 0)
			continue;
		sink_put(to, sb_str(&stack));
		sink_fmt(to, " %lld\n", (long long)own[i]);
	}
}

bool folded_write(const struct exported *x, struct emit *to, struct err *e)
{
	const struct result *r = x->of;
	const struct opts *o = r->q->o;
	struct sink *s = to->out;

	if (o->output.outfile.n && !sink_file(&s, to->a, o->output.outfile, e))
		return false;
	put_stacks(r, metrics[stacks_metric(o)].value, s);
	return s == to->out || (sink_close(s, e) && out_tell(&o->output, to));
}
