/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products, and ops that consist of them: mixtures of experts, recurrent cells.
 */
#include "flops/flops_internal.h"

/* A factor as [batch, rows, columns]. A vector that is the left factor is a row. */
struct factor {
	int64_t batch, rows, columns;
};

static struct factor factor_of(const struct op_tensor *t, bool left)
{
	struct factor f = { 1, 1, 1 };

	if (t->rank == 1) {
		*(left ? &f.columns : &f.rows) = t->dim[0];
	} else if (t->rank > 1) {
		f.rows = t->dim[t->rank - 2];
		f.columns = t->dim[t->rank - 1];
		for (unsigned i = 0; i + 2 < t->rank; i++)
			f.batch = num_mul(f.batch, t->dim[i]);
	}
	return f;
}

static bool is_factor(const struct op_tensor *t)
{
	return t->known && !t->list && t->rank > 0;
}

/* Counts a product. The batches of the factors must be equal, or one factor must be used for all
 * batches of the other. */
static struct flops product(const struct op_call *c, int left, int right, bool transposed)
{
	const struct op_tensor *x = call_input(c, left), *y = call_input(c, right);
	struct factor a, b;

	if (!is_factor(x) || !is_factor(y))
		return lacking(LACK_SHAPE, is_factor(x) ? right : left);
	a = factor_of(x, true);
	b = factor_of(y, false);
	if (transposed && y->rank > 1) {
		int64_t rows = b.rows;
		b.rows = b.columns;
		b.columns = rows;
	}
	if (a.columns != b.rows || (a.batch != b.batch && a.batch != 1 && b.batch != 1))
		return lacking(LACK_SENSE, right);
	int64_t batch = a.batch > b.batch ? a.batch : b.batch;
	struct flops f =
	        COUNTED(c, 2, batch, a.rows, b.columns, num_mul(a.columns, x->paired ? 2 : 1));
	add_bytes(&f, c, num_mul(batch, num_mul(a.rows, b.columns)), left);
	return f;
}

struct flops flops_product(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *x = call_input(c, place[0]);

	/* ONNX Runtime does not list a factor that it has packed; the result has the columns of
	 * that factor */
	if (is_factor(x) && c->n == (unsigned)place[0] + 1 && c->output.known) {
		struct flops f = COUNTED(c, 2, c->output.elements, x->dim[x->rank - 1]);
		add_bytes(&f, c, -1, place[0]);
		return f;
	}
	return product(c, place[0], place[1] ? place[1] : place[0] + 1, false);
}

/* Counts a product whose setting lists the summed dimensions of the left factor. */
struct flops flops_contraction(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *left = call_input(c, place[0]);
	const struct op_setting over = call_setting(c, place[1]);
	int64_t sums = 1;

	if (!left->known || !c->output.known)
		return lacking(LACK_SHAPE, place[0]);
	if (!c->values.n)
		return lacking(LACK_SETTING, place[1]);
	for (unsigned i = 0; i < over.n; i++) {
		if (over.v[i] < 0 || over.v[i] >= (int64_t)left->rank)
			return lacking(LACK_SENSE, place[1]);
		sums = num_mul(sums, left->dim[over.v[i]]);
	}
	struct flops f = COUNTED(c, 2, c->output.elements, sums);
	add_bytes(&f, c, c->output.elements, place[0]);
	return f;
}

/* Counts a product whose result and length of the sums are known. */
struct flops flops_sums(const struct op_call *c)
{
	const struct op_setting length = call_setting(c, c->row->place[0]);

	if (!c->output.known)
		return lacking(LACK_SHAPE, 0);
	if (length.n != 1 || length.v[0] < 1)
		return lacking(LACK_SETTING, c->row->place[0]);
	return COUNTED(c, 2, c->output.elements, length.v[0]);
}

/* Counts a product whose left factor, possibly transposed, has the rows of the result. */
struct flops flops_gemm(const struct op_call *c)
{
	const struct op_tensor *left = call_input(c, c->row->place[0]);

	if (!left->known || !c->output.known)
		return lacking(LACK_SHAPE, c->row->place[0]);
	if (left->rank != 2 || c->output.rank != 2 || !c->output.dim[0] ||
	        left->elements % c->output.dim[0])
		return lacking(LACK_SENSE, c->row->place[0]);
	struct flops f = COUNTED(
	        c, 2, c->output.dim[0], c->output.dim[1], left->elements / c->output.dim[0]);
	add_bytes(&f, c, c->output.elements, c->row->place[0]);
	return f;
}

struct flops flops_product_transposed(const struct op_call *c)
{
	const int *place = c->row->place;
	bool third = place[1] && call_input(c, place[1])->rank == 2;

	return product(c, place[0], third ? place[1] : place[0] + 1, true);
}

/* Counts a grouped product, which divides the rows of one factor, the columns of the other, or the
 * summed dimension into groups. The sizes of the groups are in a tensor, but the total does not
 * depend on them. */
struct flops flops_grouped(const struct op_call *c)
{
	const struct op_tensor *x = call_input(c, 0), *y = call_input(c, 1);
	struct factor a, b;

	if (!is_factor(x) || !is_factor(y))
		return lacking(LACK_SHAPE, is_factor(x) ? 1 : 0);
	a = factor_of(x, true);
	b = factor_of(y, false);
	if (x->rank > 3 || y->rank > 3 || a.columns != b.rows)
		return lacking(LACK_SENSE, 1);
	if (x->rank == 3 && y->rank == 3)
		return product(c, 0, 1, false);
	struct flops f = COUNTED(c, 2, a.rows, b.columns, a.columns);
	add_bytes(&f, c, -1, 0);
	return f;
}

struct flops flops_outer(const struct op_call *c)
{
	int at = c->row->place[0];
	const struct op_tensor *x = call_input(c, at), *y = call_input(c, at + 1);

	if (!is_factor(x) || !is_factor(y))
		return lacking(LACK_SHAPE, is_factor(x) ? at + 1 : at);
	if (x->rank != 1 || y->rank != 1)
		return lacking(LACK_SENSE, at);
	struct flops f = COUNTED(c, c->row->place[1], x->dim[0], y->dim[0]);
	add_bytes(&f, c, num_mul(x->dim[0], y->dim[0]), at);
	return f;
}

/* Counts a product whose right factor is packed, with several elements in each stored element. Its
 * number of columns is a setting, or a dimension of another input, such as the scales. */
struct flops flops_packed(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *x = call_input(c, place[0]), *other = call_input(c, place[1]);
	const struct op_setting setting = call_setting(c, place[1]);
	int64_t columns, length;

	if (!is_factor(x) || (place[2] >= 0 && !is_factor(other)))
		return lacking(LACK_SHAPE, is_factor(x) ? place[1] : place[0]);
	if (place[2] < 0 && setting.n != 1)
		return lacking(LACK_SETTING, place[1]);
	length = x->dim[x->rank - 1];
	if (!length || (place[2] >= 0 && (unsigned)place[2] >= other->rank))
		return lacking(LACK_SENSE, place[1]);
	columns = place[2] < 0 ? setting.v[0] : other->dim[place[2]];
	if (columns < 0)
		return lacking(LACK_SENSE, place[1]);
	struct flops f = COUNTED(
	        c, 2, x->elements / length, columns, num_mul(length, place[3] ? place[3] : 1));
	if (place[3] == 2)
		f.type = NUMBERS_F4;
	add_bytes(&f, c, num_mul(x->elements / length, columns), place[0]);
	return f;
}

/* Counts a product with a factor that stores two of four elements; the others are 0. Devices skip
 * the products with these zeros. */
struct flops flops_sparse(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *stored = call_input(c, place[0]), *other = call_input(c, place[1]);

	if (!is_factor(stored) || !is_factor(other))
		return lacking(LACK_SHAPE, place[is_factor(stored)]);
	int64_t length = other->dim[place[2] ? other->rank - 1 : 0];
	if (stored->rank != 2 || (other->rank != 2 && !place[2]) || !length ||
	        num_mul(2, stored->dim[1]) != length)
		return lacking(LACK_SENSE, place[1]);
	int64_t columns = other->elements / length;
	struct flops f = COUNTED(c, 2, stored->dim[0], columns, stored->dim[1]);
	add_bytes(&f, c, num_mul(stored->dim[0], columns), place[1]);
	return f;
}

/* Counts a product with such a sparse factor in the form of cuSPARSELt: one tensor contains the
 * stored elements and, for each 16 elements of the factor, one element (of two bytes) or two (of
 * one byte) with their positions. */
struct flops flops_compressed(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *x = call_input(c, place[0]), *other = call_input(c, place[1]);
	int64_t parts = x->width == 2 ? 9 : 10;

	if (!is_factor(x) || !is_factor(other) || (x->width != 1 && x->width != 2))
		return lacking(LACK_SHAPE, place[is_factor(x) && x->width]);
	if (other->rank != 2 || x->elements % parts)
		return lacking(LACK_SENSE, place[0]);
	struct flops f = COUNTED(c, 2, num_mul(x->elements / parts, 8), other->dim[1]);
	add_bytes(&f, c, -1, place[1]);
	return f;
}

/* Counts 9 operations for each element and state: the decay (3), the state (3), the input (1), and
 * the output (2). */
struct flops flops_scan(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *x = call_input(c, place[0]), *states = call_input(c, place[1]);

	if (!x->known || !states->known)
		return lacking(LACK_SHAPE, x->known ? place[1] : place[0]);
	if (states->rank != 2)
		return lacking(LACK_SENSE, place[1]);
	struct flops f = COUNTED(c, 9 * (place[2] ? place[2] : 1), x->elements, states->dim[1]);
	add_bytes(&f, c, x->elements, place[0]);
	return f;
}

/* Counts a recurrence whose state is a matrix for each head, with a row for each element of a key
 * and a column for each element of a value. */
struct flops flops_states(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *key = call_input(c, place[0]), *value = call_input(c, place[1]);

	if (!is_factor(key) || !is_factor(value))
		return lacking(LACK_SHAPE, is_factor(key) ? place[1] : place[0]);
	if (key->rank != 4 || value->rank != 4 || key->dim[0] != value->dim[0] ||
	        key->dim[1] != value->dim[1])
		return lacking(LACK_SENSE, place[1]);
	struct flops f = COUNTED(c, place[2], value->elements, key->dim[3]);
	add_bytes(&f, c, value->elements, place[1]);
	return f;
}

struct flops flops_distance(const struct op_call *c)
{
	const struct op_tensor *x = call_input(c, 0), *y = call_input(c, 1);

	if (!is_factor(x) || !is_factor(y))
		return lacking(LACK_SHAPE, is_factor(x) ? 1 : 0);
	struct factor a = factor_of(x, true), b = factor_of(y, true);
	if (a.columns != b.columns)
		return lacking(LACK_SENSE, 1);
	struct flops f = COUNTED(c, 3, a.batch, a.rows, b.rows, a.columns);
	add_bytes(&f, c, num_mul(a.batch, num_mul(a.rows, b.rows)), 0);
	return f;
}

/* Returns the number of experts of each token: dimension 1 of tokens that are already copied for
 * each expert, the number of columns of a table with a row for each token, or a setting; -1: none
 * of these. */
static int64_t experts_of_token(const struct op_call *c, const struct op_tensor *tokens)
{
	const int *place = c->row->place;
	const struct op_tensor *chosen = call_input(c, place[3]);
	const struct op_setting setting = call_setting(c, place[3]);

	if (tokens->rank == 3)
		return tokens->dim[1];
	if (place[4])
		return setting.n == 1 ? setting.v[0] : -1;
	return chosen->rank == 2 && chosen->dim[0] == tokens->dim[0] ? chosen->dim[1] : -1;
}

/* Returns the stored elements of the weights of an expert; -1: the shapes do not fit. */
static int64_t expert_weights(const struct op_tensor *first, const struct op_tensor *second)
{
	if (first->rank != 3 || !first->dim[0] || !first->dim[2])
		return -1;
	if (second && (second->rank != 3 || second->dim[0] != first->dim[0]))
		return -1;
	return num_add(first->elements, second ? second->elements : 0) / first->dim[0];
}

/* Counts a mixture of experts, or one of its two products. The weights are [experts, columns, size
 * of a token] and [experts, size of a token, ...]. If their last dimension is shorter than a
 * token, each stored element contains several elements. */
struct flops flops_experts(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *tokens = call_input(c, place[0]), *first = call_input(c, place[1]),
	                       *second = place[2] < 0 ? NULL : call_input(c, place[2]);
	int64_t each = experts_of_token(c, tokens), stored = expert_weights(first, second);

	for (unsigned i = 0; i < 4 - (unsigned)place[4]; i++)
		if (place[i] >= 0 && !is_factor(call_input(c, place[i])))
			return lacking(LACK_SHAPE, place[i]);
	if (place[4] && each < 0)
		return lacking(LACK_SETTING, place[3]);
	if (each < 0 || tokens->rank < 2 || tokens->rank > 3 || stored < 0)
		return lacking(LACK_SENSE, place[1]);
	int64_t size = tokens->dim[tokens->rank - 1], shorter = first->dim[2];
	if (size % shorter)
		return lacking(LACK_SENSE, place[1]);
	const struct op_setting ranks = call_setting(c, place[5] ? place[5] : -1);
	if (ranks.n && ranks.v[0] > 1)
		return lacking(LACK_DATA, place[3]);
	struct flops f = COUNTED(c, 2, tokens->dim[0], each, num_mul(size / shorter, stored));
	add_bytes(&f, c, second ? tokens->elements : -1, place[0]);
	return f;
}

/* Counts a recurrent cell: each step multiplies the input and the state of each sequence by the
 * weights. */
static struct flops recurrent(const struct op_call *c, int64_t times)
{
	const int *place = c->row->place;
	const struct op_tensor *in = call_input(c, place[0]);
	int64_t weights = 0;

	if (!in->known || in->rank != 3)
		return lacking(LACK_SHAPE, place[0]);
	for (unsigned i = 1; i < 3; i++) {
		const struct op_tensor *w = call_input(c, place[i]);
		if (place[i] < 0)
			continue;
		if (!w->known)
			return lacking(LACK_SHAPE, place[i]);
		weights = num_add(weights, w->list ? w->weights : w->elements);
	}
	struct flops f = COUNTED(c, num_mul(2, times), in->dim[0], in->dim[1], weights);
	add_bytes(&f, c, -1, 0);
	return f;
}

struct flops flops_recurrent(const struct op_call *c)
{
	return recurrent(c, 1);
}

/* Counts two gradients: of the input and state, and of the weights. */
struct flops flops_recurrent_gradient(const struct op_call *c)
{
	return recurrent(c, 2);
}
