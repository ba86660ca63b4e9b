/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libraries for PyTorch, decompositions of matrices, and equations. The trace lists
 * only the inputs of a function of autograd that are tensors, numbers or flags, so the place of an
 * input depends on the number of earlier inputs that are None.
 */
#include "flops/flops_internal.h"

/* Returns the index of the first input from `from` on that is a matrix with `columns` columns (-1:
 * any number), or -1. */
static int next_matrix(const struct op_call *c, unsigned from, int64_t columns)
{
	for (unsigned i = from; i < c->n; i++) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && !t->list && t->rank == 2 && (columns < 0 || t->dim[1] == columns))
			return (int)i;
	}
	return -1;
}

/* Returns the index of the last input with rows of a given length, or -1. */
static int last_with_rows(const struct op_call *c, int64_t length)
{
	for (unsigned i = c->n; i-- > 1;) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && !t->list && t->rank > 1 && t->dim[t->rank - 1] == length)
			return (int)i;
	}
	return -1;
}

/* Returns the number of elements of a module's second weight, which has as many rows as the input
 * has columns; 0: the module has no second weight. Copies of the weights in float8 may follow each
 * weight. */
static int64_t second_weight(const struct op_call *c, unsigned first, int64_t columns)
{
	for (unsigned i = c->n; i-- > first + 1;) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && !t->list && t->rank == 2 && t->dim[0] == columns)
			return t->elements;
	}
	return 0;
}

/* Counts a module of Transformer Engine. A weight is [columns of the result, columns of the input].
 */
struct flops flops_module(const struct op_call *c)
{
	const int *place = c->row->place;
	int weight = next_matrix(c, 0, -1), input = 0;
	int64_t elements;

	if (!place[0]) {
		input = weight < 0 ? -1 : last_with_rows(c, c->in[weight].dim[1]);
	} else {
		const struct op_tensor *t = call_input(c, 0);
		weight = t->known && t->rank > 1 ? next_matrix(c, 1, t->dim[t->rank - 1]) : -1;
	}
	if (weight < 0 || input < 0)
		return lacking(LACK_SHAPE, weight < 0 ? weight : input);
	const struct op_tensor *x = &c->in[input], *w = &c->in[weight];
	int64_t columns = x->dim[x->rank - 1];
	elements = w->elements;
	if (place[0] == 2) {
		int64_t second = second_weight(c, (unsigned)weight, columns);
		if (!second)
			return lacking(LACK_SHAPE, weight + 1);
		elements = num_add(elements, second);
	}
	if (columns < 1)
		return lacking(LACK_SENSE, input);
	struct flops f = COUNTED(c, num_mul(2, place[1]), x->elements / columns, elements);
	f.type = x->type;
	return f;
}

struct flops flops_unstated(const struct op_call *c)
{
	return lacking(LACK_SETTING, c->row->place[0]);
}

/* Counts the scan of Mamba 2 over chunks: products inside each chunk (of which the second is
 * causal), the states of chunks, and the output from the previous state. The gradients repeat the
 * first product and the states of the forward pass. */
struct flops flops_chunks(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *x = call_input(c, place[0]), *b = call_input(c, place[1]);
	const struct op_setting length = call_setting(c, place[2]);
	int64_t chunk, inside, states, scores;

	if (!x->known || !b->known)
		return lacking(LACK_SHAPE, place[x->known ? 1 : 0]);
	if (length.n != 1)
		return lacking(LACK_SETTING, place[2]);
	if (x->rank != 4 || b->rank != 4 || x->dim[0] != b->dim[0] || x->dim[1] != b->dim[1] ||
	        length.v[0] < 1)
		return lacking(LACK_SENSE, place[1]);
	chunk = length.v[0] < x->dim[1] ? length.v[0] : x->dim[1];
	scores = num_mul(2, num_mul(chunk, b->elements));
	inside = num_mul(x->elements, num_add(chunk, 1));
	states = num_mul(2, num_mul(x->elements, b->dim[3]));
	int64_t all = num_add(num_add(scores, inside), num_mul(2, states)),
	        again = place[3] > 1 ? num_add(scores, states) : 0;
	struct flops f = COUNTED(c, num_add(num_mul(place[3], all), again));
	f.recomputed = again;
	f.type = x->type;
	return f;
}

/* ---- decompositions ---- */

/* Counts the leading terms of LAPACK's operation counts. */
struct flops flops_decomposition(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *t = call_input(c, place[0]);
	int64_t batch = 1, longer, shorter, flops;

	if (!t->known || t->rank < 2)
		return lacking(LACK_SHAPE, place[0]);
	for (unsigned i = 0; i + 2 < t->rank; i++)
		batch = num_mul(batch, t->dim[i]);
	longer = t->dim[t->rank - 2];
	shorter = t->dim[t->rank - 1];
	if (shorter > longer) {
		longer = shorter;
		shorter = t->dim[t->rank - 2];
	}
	flops = num_mul(num_add(num_mul(place[1], longer), num_mul(place[2], shorter)),
	        num_mul(shorter, shorter));
	if (num_stopped(flops))
		return lacking(LACK_RANGE, place[0]);
	flops = num_mul(batch, flops / 3);
	if (place[4]) {
		const struct op_tensor *right = call_input(c, place[3]);
		if (!right->known || !right->rank)
			return lacking(LACK_SHAPE, place[3]);
		flops = num_add(
		        flops, num_mul(place[4], num_mul(right->elements, t->dim[t->rank - 2])));
	}
	return num_stopped(flops) ? lacking(LACK_RANGE, place[0]) : COUNTED(c, flops);
}

/* ---- equations ---- */

#define LETTERS 128

/* Sizes of the letters of an equation; 0: the letter is not used. */
struct letters {
	int64_t size[LETTERS];
};

/* Reads the letters of one factor. Returns false if they contradict its shape or earlier
 * letters. */
static bool read_letters(struct str word, const struct op_tensor *t, struct letters *to)
{
	unsigned at = 0;

	for (size_t i = 0; i < word.n; i++) {
		unsigned char letter = (unsigned char)word.p[i];
		if (letter == ' ')
			continue;
		if (letter >= LETTERS || letter == '.' || at == t->rank)
			return false;
		int64_t size = t->dim[at++], *known = &to->size[letter];
		if (*known > 1 && size > 1 && *known != size)
			return false;
		*known = size > *known || !*known ? size : *known;
	}
	return at == t->rank;
}

/* Returns the product of the sizes of the letters that occur in at least one of two words. */
static int64_t product_of(const struct letters *l, const bool *used)
{
	int64_t n = 1;

	for (unsigned i = 0; i < LETTERS; i++)
		n = used[i] ? num_mul(n, l->size[i]) : n;
	return n;
}

static void use_letters(struct str word, bool *used)
{
	for (size_t i = 0; i < word.n; i++)
		used[(unsigned char)word.p[i] % LETTERS] |= word.p[i] != ' ';
}

/* Drops letters that neither a later factor nor the result has. */
static void drop_summed(struct str rest, bool *used)
{
	for (unsigned i = 0; i < LETTERS; i++)
		used[i] &= str_find_char(rest, (char)i) != SIZE_MAX;
}

/* Counts the products of an equation from left to right. */
struct flops flops_einsum(const struct op_call *c)
{
	struct letters sizes = { { 0 } };
	bool used[LETTERS] = { false };
	struct op_call factors = flops_read_list(c, (unsigned)c->row->place[0]);
	struct str equation = call_text(c, c->row->place[0] - 1);
	size_t arrow = str_find(equation, S("->"));
	struct str words = str_sub(equation, 0, arrow);
	int64_t flops = 0;

	if (!equation.n)
		return lacking(LACK_SETTING, c->row->place[0] - 1);
	if (!factors.n)
		return lacking(LACK_SHAPE, c->row->place[0]);
	for (unsigned pass = 0; pass < 2; pass++) {
		struct str rest = words;
		for (unsigned i = 0; i < factors.n; i++) {
			size_t comma = str_find_char(rest, ',');
			struct str word = str_sub(rest, 0, comma);
			if (!factors.in[i].known)
				return lacking(LACK_SHAPE, c->row->place[0]);
			if ((comma == SIZE_MAX) != (i + 1 == factors.n) ||
			        (!pass && !read_letters(word, &factors.in[i], &sizes)))
				return lacking(LACK_SENSE, c->row->place[0] - 1);
			rest = comma == SIZE_MAX ? STR_NONE : str_sub(rest, comma + 1, SIZE_MAX);
			if (!pass)
				continue;
			use_letters(word, used);
			if (i)
				flops = num_add(flops, num_mul(2, product_of(&sizes, used)));
			drop_summed(comma == SIZE_MAX
			                    ? str_sub(equation, arrow, SIZE_MAX)
			                    : str_sub(equation, (size_t)(rest.p - equation.p),
			                              SIZE_MAX),
			        used);
		}
	}
	return COUNTED(c, flops);
}
