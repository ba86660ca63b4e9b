/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of operations other than convolutions and pooling. An unknown dimension is -1.
 */
#include "model/infer_internal.h"

/* ---- helpers ---- */

void infer_put_words(struct imap *to, const struct model *m, const char *words, uint32_t value)
{
	for (const char *word = words; *word;) {
		size_t n = strcspn(word, " ");
		uint32_t id = intern_find(&m->strings, (struct str){ word, n });
		if (id != ID_NONE)
			imap_put(to, id, value, false);
		word += n + (word[n] == ' ');
	}
}

int64_t infer_elements(const struct fact_shape *s, unsigned from, unsigned to)
{
	int64_t n = 1;

	for (unsigned i = from; i < to && i < s->rank; i++)
		n = n < 0 || s->dim[i] < 0 ? -1 : num_mul(n, s->dim[i]);
	return n;
}

bool infer_axis(int64_t given, unsigned rank, unsigned *axis)
{
	if (given < -(int64_t)rank || given >= (int64_t)rank)
		return false;
	*axis = (unsigned)(given < 0 ? given + rank : given);
	return true;
}

/* Appends a dimension. A shape with too many dimensions becomes unknown. */
static void add_dim(struct fact_shape *s, int64_t v)
{
	if (s->rank < FACTS_RANK_MAX)
		s->dim[s->rank++] = v < 0 ? -1 : v;
	else
		s->known = false;
}

static struct fact_shape scalar(void)
{
	return (struct fact_shape){ .known = true };
}

/* Reads a single element. */
static bool element(const struct fact_list *v, int64_t *to)
{
	if (v->n != 1)
		return false;
	*to = v->v[0];
	return true;
}

static struct fact_shape shape_of_values(const struct fact_list *v)
{
	struct fact_shape to = { .known = v->n > 0 };

	for (unsigned i = 0; i < v->n; i++)
		add_dim(&to, v->v[i]);
	return to;
}

/* ---- the shape of an input ---- */

struct fact_shape infer_no_shape(const struct infer_op *o)
{
	(void)o;
	return infer_unknown();
}

struct fact_shape infer_same(const struct infer_op *o)
{
	return *infer_in(o, 0);
}

struct fact_shape infer_second(const struct infer_op *o)
{
	return *infer_in(o, 1);
}

struct fact_shape infer_at_slot(const struct infer_op *o)
{
	return *infer_in(o, o->slot);
}

struct fact_shape infer_assigned(const struct infer_op *o)
{
	return *infer_in(o, !infer_in(o, 0)->known);
}

/* Returns the first known input, because the other input may come from a later part of a loop. */
struct fact_shape infer_merge(const struct infer_op *o)
{
	for (unsigned i = 0; i < o->n; i++)
		if (infer_in(o, i)->known)
			return *infer_in(o, i);
	return infer_unknown();
}

struct fact_shape infer_selected(const struct infer_op *o)
{
	return *infer_in(o, infer_in(o, 1)->known ? 1 : 2);
}

struct fact_shape infer_scalar(const struct infer_op *o)
{
	(void)o;
	return scalar();
}

struct fact_shape infer_as_first_value(const struct infer_op *o)
{
	return shape_of_values(infer_values(o, 0));
}

struct fact_shape infer_as_second_value(const struct infer_op *o)
{
	return shape_of_values(infer_values(o, 1));
}

/* ---- sources ---- */

struct fact_shape infer_placeholder(const struct infer_op *o)
{
	struct fact_shape s = facts_shape(o->facts, "shape");

	if (!s.known)
		s = *infer_in(o, 0);
	if (s.known && s.rank && s.dim[0] < 0 && o->batch > 0)
		s.dim[0] = o->batch;
	return s;
}

struct fact_shape infer_variable(const struct infer_op *o)
{
	return facts_shape(o->facts, "shape");
}

struct fact_shape infer_constant(const struct infer_op *o)
{
	struct fact_list values;

	return facts_constant(o->facts, &values);
}

/* ---- elementwise ---- */

/* Broadcasts two shapes. A dimension that is unknown in one shape equals the dimension of the other
 * shape, unless that is 1. */
static struct fact_shape broadcast(
        const struct fact_shape *x, const struct fact_shape *y, unsigned leave_out)
{
	struct fact_shape out = { .known = x->known && y->known };
	unsigned rank = x->rank > y->rank ? x->rank : y->rank;

	if (!out.known || x->rank < leave_out || y->rank < leave_out)
		return infer_unknown();
	for (unsigned i = 0; i < rank - leave_out; i++) {
		int64_t a = i + x->rank < rank ? 1 : x->dim[i + x->rank - rank],
		        b = i + y->rank < rank ? 1 : y->dim[i + y->rank - rank];
		if (a >= 0 && b >= 0 && a != b && a != 1 && b != 1)
			return infer_unknown();
		add_dim(&out, a == 1 ? b : b == 1 || b < 0 ? a : b);
	}
	return out;
}

struct fact_shape infer_broadcast(const struct infer_op *o)
{
	struct fact_shape out = o->n ? o->in[0].shape : infer_unknown();
	unsigned inputs = o->n < 3 ? o->n : 3;

	for (unsigned i = 1; i < inputs; i++)
		if (i < 2 || infer_in(o, i)->known) /* further inputs are control inputs */
			out = broadcast(&out, infer_in(o, i), 0);
	return out;
}

/* ---- products ---- */

static bool is_set(const struct infer_op *o, const char *name)
{
	return facts_number(o->facts, name, 0) != 0;
}

static struct fact_shape product(const struct infer_op *o, bool left, bool right)
{
	const struct fact_shape *x = infer_in(o, 0), *y = infer_in(o, 1);
	struct fact_shape out = broadcast(x, y, 2);

	if (!out.known || x->rank < 2 || y->rank < 2)
		return infer_unknown();
	int64_t inner = x->dim[x->rank - (left ? 2 : 1)], other = y->dim[y->rank - (right ? 1 : 2)];
	if (inner >= 0 && other >= 0 && inner != other)
		return infer_unknown();
	add_dim(&out, x->dim[x->rank - (left ? 1 : 2)]);
	add_dim(&out, y->dim[y->rank - (right ? 2 : 1)]);
	return out;
}

struct fact_shape infer_matmul(const struct infer_op *o)
{
	if (infer_in(o, 0)->rank > 2 || infer_in(o, 1)->rank > 2)
		return infer_unknown();
	return product(o, is_set(o, "transpose_a"), is_set(o, "transpose_b"));
}

struct fact_shape infer_batch_matmul(const struct infer_op *o)
{
	return product(o, is_set(o, "adj_x"), is_set(o, "adj_y"));
}

/* Returns the size that a letter of an equation has in an input; -1 if it is unknown. */
static int64_t size_of_letter(const struct infer_op *o, struct str inputs, char letter)
{
	unsigned input = 0, at = 0;
	int64_t size = -1;

	for (size_t i = 0; i < inputs.n; i++) {
		const struct fact_shape *s = infer_in(o, input);
		if (inputs.p[i] == ',') {
			input++;
			at = 0;
		} else {
			if (inputs.p[i] == letter && s->known && at < s->rank && s->dim[at] > size)
				size = s->dim[at];
			at++;
		}
	}
	return size;
}

/* Computes an equation. Equations with "..." are not computed. */
struct fact_shape infer_einsum(const struct infer_op *o)
{
	struct str equation = facts_text(o->facts, "equation");
	size_t arrow = str_find(equation, S("->"));
	struct fact_shape out = scalar();

	if (arrow == SIZE_MAX || str_contains(equation, S(".")))
		return infer_unknown();
	for (size_t i = arrow + 2; i < equation.n; i++)
		add_dim(&out, size_of_letter(o, str_sub(equation, 0, arrow), equation.p[i]));
	return out;
}

/* ---- reductions ---- */

struct fact_shape infer_reduction(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0), *axes = infer_in(o, 1);
	const struct fact_list *over = infer_values(o, 1);
	bool keep = is_set(o, "keep_dims"), reduced[FACTS_RANK_MAX] = { false };
	struct fact_shape out = scalar();
	unsigned axis;

	if (!in->known || (!over->n && infer_elements(axes, 0, axes->rank) != 0))
		return infer_unknown();
	for (unsigned i = 0; i < over->n; i++) {
		if (!infer_axis(over->v[i], in->rank, &axis))
			return infer_unknown();
		reduced[axis] = true;
	}
	for (unsigned i = 0; i < in->rank; i++)
		if (!reduced[i] || keep)
			add_dim(&out, reduced[i] ? 1 : in->dim[i]);
	return out;
}

struct fact_shape infer_arg(const struct infer_op *o)
{
	struct fact_shape out = scalar();
	const struct fact_shape *in = infer_in(o, 0);
	int64_t given;
	unsigned axis;

	if (!in->known || !element(infer_values(o, 1), &given) ||
	        !infer_axis(given, in->rank, &axis))
		return infer_unknown();
	for (unsigned i = 0; i < in->rank; i++)
		if (i != axis)
			add_dim(&out, in->dim[i]);
	return out;
}

/* Returns the first dimension of the input: losses have a number for each row. */
struct fact_shape infer_rows(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	struct fact_shape out = scalar();

	if (!in->known || !in->rank)
		return infer_unknown();
	add_dim(&out, in->dim[0]);
	return out;
}

struct fact_shape infer_channels(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	struct fact_shape out = scalar();

	if (!in->known || in->rank < 2)
		return infer_unknown();
	add_dim(&out,
	        in->dim[str_starts(facts_text(o->facts, "data_format"), S("NC")) ? 1
	                                                                         : in->rank - 1]);
	return out;
}

struct fact_shape infer_top(const struct infer_op *o)
{
	struct fact_shape out = *infer_in(o, 0);
	int64_t k;

	if (!out.known || !out.rank || !element(infer_values(o, 1), &k) || k < 0)
		return infer_unknown();
	out.dim[out.rank - 1] = k;
	return out;
}

/* ---- other arrangements of the same elements ---- */

struct fact_shape infer_reshape(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0), *given = infer_in(o, 1);
	struct fact_shape out = shape_of_values(infer_values(o, 1));
	int64_t all = in->known ? infer_elements(in, 0, in->rank) : -1, others = 1;
	unsigned open = 0, at = 0;

	if (given->known && infer_elements(given, 0, given->rank) == 0)
		return scalar();
	for (unsigned i = 0; i < out.rank; i++) {
		if (out.dim[i] >= 0) {
			others = num_mul(others, out.dim[i]);
		} else {
			open++;
			at = i;
		}
	}
	if (open == 1 && all >= 0 && others > 0 && all % others == 0)
		out.dim[at] = all / others;
	return out;
}

struct fact_shape infer_squeeze(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	const struct fact_list over = facts_list(o->facts, "squeeze_dims");
	bool removed[FACTS_RANK_MAX] = { false };
	struct fact_shape out = scalar();
	unsigned axis;

	if (!in->known)
		return infer_unknown();
	for (unsigned i = 0; i < over.n; i++) {
		if (!infer_axis(over.v[i], in->rank, &axis))
			return infer_unknown();
		removed[axis] = true;
	}
	for (unsigned i = 0; i < in->rank; i++) {
		if (!over.n && in->dim[i] < 0)
			return infer_unknown();
		if (!(over.n ? removed[i] : in->dim[i] == 1))
			add_dim(&out, in->dim[i]);
	}
	return out;
}

/* Inserts a dimension. axis: its position, which may be negative. */
static struct fact_shape insert(const struct fact_shape *in, int64_t given, int64_t size)
{
	struct fact_shape out = scalar();
	unsigned axis;

	if (!in->known || !infer_axis(given, in->rank + 1, &axis))
		return infer_unknown();
	for (unsigned i = 0; i <= in->rank; i++) {
		if (i == axis)
			add_dim(&out, size);
		if (i < in->rank)
			add_dim(&out, in->dim[i]);
	}
	return out;
}

struct fact_shape infer_expand(const struct infer_op *o)
{
	int64_t axis;

	return element(infer_values(o, 1), &axis) ? insert(infer_in(o, 0), axis, 1)
	                                          : infer_unknown();
}

struct fact_shape infer_transpose(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	const struct fact_list *order = infer_values(o, 1);
	struct fact_shape out = scalar();

	if (!in->known || (in->rank && order->n != in->rank))
		return infer_unknown();
	for (unsigned i = 0; i < order->n; i++) {
		if (order->v[i] < 0 || order->v[i] >= (int64_t)in->rank)
			return infer_unknown();
		add_dim(&out, in->dim[order->v[i]]);
	}
	return out;
}

/* ---- parts of tensors ---- */

static struct fact_shape concat(const struct infer_op *o, unsigned first, unsigned axis_at)
{
	int64_t n = facts_number(o->facts, "N", 0), given;
	struct fact_shape out = *infer_in(o, first);
	unsigned axis;

	if (n < 1 || n > INFER_INPUTS_MAX || !out.known ||
	        !element(infer_values(o, axis_at), &given) || !infer_axis(given, out.rank, &axis))
		return infer_unknown();
	for (unsigned i = first + 1; i < first + n; i++) {
		const struct fact_shape *in = infer_in(o, i);
		if (!in->known || in->rank != out.rank)
			return infer_unknown();
		for (unsigned d = 0; d < out.rank; d++)
			if (d == axis)
				out.dim[d] = out.dim[d] < 0 || in->dim[d] < 0
				                     ? -1
				                     : num_add(out.dim[d], in->dim[d]);
			else if (out.dim[d] < 0)
				out.dim[d] = in->dim[d];
	}
	return out;
}

struct fact_shape infer_concat(const struct infer_op *o)
{
	return concat(o, 0, (unsigned)facts_number(o->facts, "N", 0) % (INFER_INPUTS_MAX + 1));
}

struct fact_shape infer_concat_first(const struct infer_op *o)
{
	return concat(o, 1, 0);
}

struct fact_shape infer_pack(const struct infer_op *o)
{
	return insert(
	        infer_in(o, 0), facts_number(o->facts, "axis", 0), facts_number(o->facts, "N", -1));
}

struct fact_shape infer_unpack(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	struct fact_shape out = scalar();
	unsigned axis;

	if (!in->known || !infer_axis(facts_number(o->facts, "axis", 0), in->rank, &axis))
		return infer_unknown();
	for (unsigned i = 0; i < in->rank; i++)
		if (i != axis)
			add_dim(&out, in->dim[i]);
	return out;
}

struct fact_shape infer_split(const struct infer_op *o)
{
	struct fact_shape out = *infer_in(o, 1);
	int64_t parts = facts_number(o->facts, "num_split", 0), given;
	unsigned axis;

	if (!out.known || parts < 1 || !element(infer_values(o, 0), &given) ||
	        !infer_axis(given, out.rank, &axis) || out.dim[axis] % parts)
		return infer_unknown();
	out.dim[axis] = out.dim[axis] < 0 ? -1 : out.dim[axis] / parts;
	return out;
}

/* Computes an output of SplitV: one part may have the size -1, which means the rest. */
struct fact_shape infer_split_part(const struct infer_op *o)
{
	const struct fact_list *sizes = infer_values(o, 1);
	struct fact_shape out = *infer_in(o, 0);
	int64_t given, rest;
	unsigned axis;

	if (!out.known || !element(infer_values(o, 2), &given) ||
	        !infer_axis(given, out.rank, &axis))
		return infer_unknown();
	rest = out.dim[axis];
	out.dim[axis] = o->slot < sizes->n ? sizes->v[o->slot] : -1;
	if (o->slot >= sizes->n || out.dim[axis] != -1 || rest < 0)
		return out;
	for (unsigned i = 0; i < sizes->n; i++)
		if (i != o->slot)
			rest = sizes->v[i] < 0 ? -1 : num_sub(rest, sizes->v[i]);
	out.dim[axis] = rest;
	return out;
}

struct fact_shape infer_slice(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	const struct fact_list *begin = infer_values(o, 1), *size = infer_values(o, 2);
	struct fact_shape out = *in;

	if (!in->known || size->n != in->rank)
		return infer_unknown();
	for (unsigned i = 0; i < in->rank; i++) {
		if (size->v[i] != -1)
			out.dim[i] = size->v[i];
		else if (begin->n != in->rank || in->dim[i] < begin->v[i] || begin->v[i] < 0)
			out.dim[i] = -1;
		else
			out.dim[i] = in->dim[i] - begin->v[i];
	}
	return out;
}

/* The masks and bounds of a strided slice. */
struct strided {
	int64_t begin_mask, end_mask, shrink, fresh, ellipsis;
	const struct fact_list *begin, *end, *step;
};

/* Returns the elements of a range of a dimension; -1: unknown. */
static int64_t range_size(const struct strided *s, unsigned i, int64_t size)
{
	int64_t step, from, to;

	if (size < 0 || i >= s->step->n || i >= s->begin->n || i >= s->end->n)
		return -1;
	step = s->step->v[i];
	if (step == 0 || step == INFER_OPEN || s->begin->v[i] == INFER_OPEN ||
	        s->end->v[i] == INFER_OPEN)
		return -1;
	from = s->begin->v[i] < 0 ? num_add(s->begin->v[i], size) : s->begin->v[i];
	to = s->end->v[i] < 0 ? num_add(s->end->v[i], size) : s->end->v[i];
	if (step < 0) { /* the same range from its end */
		from = s->begin_mask >> i & 1 || from >= size ? size - 1 : from;
		to = s->end_mask >> i & 1 || to < -1 ? -1 : to;
		return from <= to ? 0 : (from - to - 1) / -step + 1;
	}
	from = s->begin_mask >> i & 1 || from < 0 ? 0 : from;
	to = s->end_mask >> i & 1 || to > size ? size : to;
	return to <= from ? 0 : (to - from - 1) / step + 1;
}

struct fact_shape infer_strided_slice(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0), *given = infer_in(o, 1);
	const struct strided s = { facts_number(o->facts, "begin_mask", 0),
		facts_number(o->facts, "end_mask", 0),
		facts_number(o->facts, "shrink_axis_mask", 0),
		facts_number(o->facts, "new_axis_mask", 0),
		facts_number(o->facts, "ellipsis_mask", 0), infer_values(o, 1), infer_values(o, 2),
		infer_values(o, 3) };
	int64_t n = given->known && given->rank == 1 ? given->dim[0] : -1;
	struct fact_shape out = scalar();
	unsigned at = 0;

	if (!in->known || n < 0 || n > FACTS_VALUES_MAX || (s.step->n && s.step->n != n))
		return infer_unknown();
	int64_t rest = in->rank - n;
	for (unsigned i = 0; i < n; i++)
		rest += (s.fresh | s.ellipsis) >> i & 1;
	for (unsigned i = 0; i < n; i++) {
		if (s.ellipsis >> i & 1) {
			for (; rest > 0; rest--)
				add_dim(&out, at < in->rank ? in->dim[at++] : -1);
		} else if (s.fresh >> i & 1) {
			add_dim(&out, 1);
		} else if (at >= in->rank) {
			return infer_unknown();
		} else {
			if (!(s.shrink >> i & 1))
				add_dim(&out, range_size(&s, i, in->dim[at]));
			at++;
		}
	}
	while (at < in->rank)
		add_dim(&out, in->dim[at++]);
	return out;
}

struct fact_shape infer_gather(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0), *rows = infer_in(o, 1);
	int64_t given = 0, batch = facts_number(o->facts, "batch_dims", 0);
	struct fact_shape out = scalar();
	unsigned axis;

	element(infer_values(o, 2), &given);
	if (!in->known || !rows->known || batch < 0 || batch > (int64_t)rows->rank ||
	        !infer_axis(given, in->rank, &axis) || batch > (int64_t)axis)
		return infer_unknown();
	for (unsigned i = 0; i < axis; i++)
		add_dim(&out, in->dim[i]);
	for (unsigned i = (unsigned)batch; i < rows->rank; i++)
		add_dim(&out, rows->dim[i]);
	for (unsigned i = axis + 1; i < in->rank; i++)
		add_dim(&out, in->dim[i]);
	return out;
}

/* ---- larger tensors ---- */

struct fact_shape infer_tile(const struct infer_op *o)
{
	const struct fact_list *times = infer_values(o, 1);
	struct fact_shape out = *infer_in(o, 0);

	if (!out.known || times->n != out.rank)
		return infer_unknown();
	for (unsigned i = 0; i < out.rank; i++)
		out.dim[i] =
		        out.dim[i] < 0 || times->v[i] < 0 ? -1 : num_mul(out.dim[i], times->v[i]);
	return out;
}

struct fact_shape infer_pad(const struct infer_op *o)
{
	const struct fact_list *around = infer_values(o, 1);
	struct fact_shape out = *infer_in(o, 0);

	if (!out.known || around->n != 2 * out.rank)
		return infer_unknown();
	for (unsigned i = 0; i < out.rank; i++) {
		int64_t more = num_add(around->v[2 * i], around->v[2 * i + 1]);
		out.dim[i] = out.dim[i] < 0 || more < 0 ? -1 : num_add(out.dim[i], more);
	}
	return out;
}

struct fact_shape infer_one_hot(const struct infer_op *o)
{
	int64_t depth;

	if (!element(infer_values(o, 1), &depth))
		depth = -1;
	return insert(infer_in(o, 0), facts_number(o->facts, "axis", -1), depth);
}

/* ---- tensors of integers ---- */

struct fact_shape infer_shape_of(const struct infer_op *o)
{
	const struct fact_shape *in = infer_in(o, 0);
	struct fact_shape out = scalar();

	if (!in->known)
		return infer_unknown();
	add_dim(&out, in->rank);
	return out;
}

struct fact_shape infer_range(const struct infer_op *o)
{
	struct fact_shape out = scalar();
	int64_t from, to, step;

	if (!element(infer_values(o, 0), &from) || !element(infer_values(o, 1), &to) ||
	        !element(infer_values(o, 2), &step) || step < 1 || from == INFER_OPEN ||
	        to == INFER_OPEN)
		return infer_unknown();
	int64_t room = num_sub(to, from);
	add_dim(&out, room <= 0 ? 0 : (room - 1) / step + 1);
	return out;
}
