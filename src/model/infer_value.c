/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of small tensors of integers. An element that is not known is INFER_OPEN.
 */
#include "model/infer_internal.h"

static const struct fact_list none;

static struct fact_list one(int64_t v)
{
	return (struct fact_list){ .n = 1, .v = { v } };
}

static void add_value(struct fact_list *to, int64_t v)
{
	if (to->n < FACTS_VALUES_MAX)
		to->v[to->n++] = v;
}

struct fact_list infer_no_value(const struct infer_op *o)
{
	(void)o;
	return none;
}

struct fact_list infer_same_value(const struct infer_op *o)
{
	return *infer_values(o, 0);
}

struct fact_list infer_value_at_slot(const struct infer_op *o)
{
	return *infer_values(o, o->slot);
}

/* Returns the number of elements of a container. */
struct fact_list infer_count_value(const struct infer_op *o)
{
	return o->count < 0 ? none : one(o->count);
}

struct fact_list infer_constant_value(const struct infer_op *o)
{
	struct fact_list values;

	facts_constant(o->facts, &values);
	return values;
}

struct fact_list infer_shape_value(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, o->slot);
	struct fact_list to = none;

	for (unsigned i = 0; in->known && i < in->rank; i++)
		add_value(&to, in->dim[i] < 0 ? INFER_OPEN : in->dim[i]);
	return to;
}

struct fact_list infer_rank_value(const struct infer_op *o)
{
	return infer_in(o, 0)->known ? one(infer_in(o, 0)->rank) : none;
}

struct fact_list infer_size_value(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	int64_t n = in->known ? infer_elements(in, 0, in->rank) : -1;

	return n < 0 ? none : one(n);
}

/* Computes the product of the elements of a vector. */
struct fact_list infer_product_value(const struct infer_op *o)
{
	const struct fact_list *in = infer_values(o, 0);
	int64_t n = 1;

	if (!in->n || infer_in(o, 0)->rank != 1 || infer_values(o, 1)->n != 1)
		return none;
	for (unsigned i = 0; i < in->n; i++)
		n = n == INFER_OPEN || in->v[i] == INFER_OPEN ? INFER_OPEN : num_mul(n, in->v[i]);
	return one(n);
}

/* Computes the elements of two inputs, one of which may be a single number. */
static struct fact_list both(const struct infer_op *o, int64_t (*compute)(int64_t, int64_t))
{
	const struct fact_list *x = infer_values(o, 0), *y = infer_values(o, 1);
	struct fact_list to = { .n = x->n > y->n ? x->n : y->n };

	if (!x->n || !y->n || (x->n != y->n && x->n != 1 && y->n != 1))
		return none;
	for (unsigned i = 0; i < to.n; i++) {
		int64_t a = x->v[x->n == 1 ? 0 : i], b = y->v[y->n == 1 ? 0 : i];
		to.v[i] = a == INFER_OPEN || b == INFER_OPEN ? INFER_OPEN : compute(a, b);
	}
	return to;
}

struct fact_list infer_sum_value(const struct infer_op *o)
{
	return both(o, num_add);
}

struct fact_list infer_difference_value(const struct infer_op *o)
{
	return both(o, num_sub);
}

struct fact_list infer_multiple_value(const struct infer_op *o)
{
	return both(o, num_mul);
}

struct fact_list infer_concat_value(const struct infer_op *o)
{
	int64_t n = facts_number(o->facts, "N", 0);
	struct fact_list to = none;

	for (unsigned i = 0; i < n && i < INFER_INPUTS_MAX; i++) {
		const struct fact_list *in = infer_values(o, i);
		if (!in->n || infer_in(o, i)->rank != 1 || to.n + in->n > FACTS_VALUES_MAX)
			return none;
		for (unsigned k = 0; k < in->n; k++)
			add_value(&to, in->v[k]);
	}
	return to;
}

/* Computes a vector packed from scalars. */
struct fact_list infer_pack_value(const struct infer_op *o)
{
	int64_t n = facts_number(o->facts, "N", 0);
	struct fact_list to = none;

	if (n < 1 || n > FACTS_VALUES_MAX)
		return none;
	for (unsigned i = 0; i < n; i++) {
		bool known = infer_values(o, i)->n == 1 && infer_in(o, i)->rank == 0;
		add_value(&to, known ? infer_values(o, i)->v[0] : INFER_OPEN);
	}
	return to;
}

struct fact_list infer_strided_value(const struct infer_op *o)
{
	const struct fact_list *in = infer_values(o, 0), *begin = infer_values(o, 1),
	                       *end = infer_values(o, 2), *step = infer_values(o, 3);
	int64_t from, to;
	struct fact_list out = none;

	if (!in->n || infer_in(o, 0)->rank != 1 || begin->n != 1 || end->n != 1 || step->n != 1 ||
	        step->v[0] != 1 || begin->v[0] == INFER_OPEN || end->v[0] == INFER_OPEN ||
	        facts_number(o->facts, "new_axis_mask", 0) ||
	        facts_number(o->facts, "ellipsis_mask", 0))
		return none;
	from = begin->v[0] < 0 ? num_add(begin->v[0], in->n) : begin->v[0];
	to = end->v[0] < 0 ? num_add(end->v[0], in->n) : end->v[0];
	if (facts_number(o->facts, "shrink_axis_mask", 0))
		return from >= 0 && from < in->n ? one(in->v[from]) : none;
	from = facts_number(o->facts, "begin_mask", 0) ? 0 : from;
	to = facts_number(o->facts, "end_mask", 0) || to > in->n ? in->n : to;
	for (int64_t i = from < 0 ? 0 : from; i < to; i++)
		add_value(&out, in->v[i]);
	return out;
}

struct fact_list infer_gather_value(const struct infer_op *o)
{
	const struct fact_list *in = infer_values(o, 0), *rows = infer_values(o, 1);
	struct fact_list to = none;

	if (infer_in(o, 0)->rank != 1)
		return none;
	for (unsigned i = 0; i < rows->n; i++) {
		if (rows->v[i] < 0 || rows->v[i] >= in->n)
			return none;
		add_value(&to, in->v[rows->v[i]]);
	}
	return to;
}

/* Lists the dimensions over which the gradient of an input of a broadcast is summed. */
struct fact_list infer_gradient_axes(const struct infer_op *o)
{
	const struct fact_list *x = infer_values(o, o->slot), *y = infer_values(o, !o->slot);
	unsigned rank = x->n > y->n ? x->n : y->n;
	struct fact_list to = none;

	for (unsigned i = 0; i < rank; i++) {
		int64_t a = i + x->n < rank ? 1 : x->v[i + x->n - rank],
		        b = i + y->n < rank ? 1 : y->v[i + y->n - rank];
		if (a == INFER_OPEN || b == INFER_OPEN)
			return none;
		if (a == 1 && (b != 1 || i + x->n < rank))
			add_value(&to, i);
	}
	return to;
}

/* Computes lists of dimensions. Their lengths are known if the elements of both shapes are. */
static struct fact_shape gradient_axes(const struct infer_op *o, uint32_t slot)
{
	const struct fact_shape *x = infer_in(o, 0), *y = infer_in(o, 1);
	struct infer_op of = { .n = 2, .in = { o->in[0], o->in[1] }, .slot = slot };
	bool known = true;

	for (unsigned i = 0; i < 2; i++) {
		const struct fact_list *v = infer_values(o, i);
		known &= infer_in(o, i)->known && infer_in(o, i)->rank == 1 &&
		         infer_in(o, i)->dim[0] == v->n;
		for (unsigned k = 0; k < v->n; k++)
			known &= v->v[k] != INFER_OPEN;
	}
	if (!known || !x->known || !y->known)
		return infer_unknown();
	return (struct fact_shape){
		.known = true, .rank = 1, .dim = { infer_gradient_axes(&of).n }
	};
}

struct fact_shape infer_gradient_axes_of_first(const struct infer_op *o)
{
	return gradient_axes(o, 0);
}

struct fact_shape infer_gradient_axes_of_second(const struct infer_op *o)
{
	return gradient_axes(o, 1);
}

struct fact_list infer_range_value(const struct infer_op *o)
{
	const struct fact_shape s = infer_range(o);
	struct fact_list to = none;

	for (int64_t i = 0; s.known && s.dim[0] <= FACTS_VALUES_MAX && i < s.dim[0]; i++)
		add_value(&to,
		        num_add(infer_values(o, 0)->v[0], num_mul(i, infer_values(o, 2)->v[0])));
	return to;
}
