/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: two matrix products for each pair of a query and a key that may see each other, five
 * for the gradients, one of which repeats the scores of the forward pass. Softmax is not counted.
 */
#include "flops/flops_internal.h"

/* Query, key and value of a call. */
struct heads {
	int64_t batch, heads, queries, keys, query_size, value_size;
};

/* Alignments of a causal mask: the first query with the first key, or the last query with the last
 * key. */
enum { CAUSAL_FIRST = 1, CAUSAL_LAST = 2 };

static int64_t square(int64_t v)
{
	return v > 0 ? num_mul(v, v) : 0;
}

/* Returns the limit in a setting. A negative number means no limit. */
static int64_t limit_of(const struct op_setting *s, unsigned at, int64_t none)
{
	return s->n > at && !s->flag && s->v[at] >= 0 && s->v[at] < none ? s->v[at] : none;
}

/* Reads a window: one setting with two numbers, or two settings. */
static void read_window(const struct op_call *c, int place, int64_t *before, int64_t *after)
{
	const struct op_setting first = call_setting(c, place), second = call_setting(c, place + 1);
	bool both = first.n > 1;

	*before = limit_of(&first, 0, *before);
	*after = limit_of(both ? &first : &second, both, *after);
}

/* Returns twice the number of pairs if the last query sees the last key. `before` and `after` are
 * the numbers of keys that a query sees before and after its own. */
static int64_t twice_near_pairs(const struct heads *h, int64_t before, int64_t after)
{
	int64_t all = num_mul(2, num_mul(h->queries, h->keys)),
	        early = num_sub(h->keys, num_add(before, 1)), late = num_sub(h->queries, after);

	all = num_sub(all, num_sub(square(early), square(num_sub(early, h->queries))));
	return num_sub(all, num_sub(square(late), square(num_sub(late, h->keys))));
}

/* Returns the place of the setting `causal`. Functions of autograd do not list inputs that are
 * None, so the place varies: it is the first input that is True or False. */
static int causal_place(const struct op_call *c)
{
	int i = 0;

	if (c->row->place[1] >= 0)
		return c->row->place[1];
	while (i < CALL_INPUTS_MAX && !call_setting(c, i).flag)
		i++;
	return i;
}

/* Returns twice the number of pairs. */
static int64_t twice_pairs(const struct op_call *c, const struct heads *h)
{
	const int *place = c->row->place;
	int at = causal_place(c);
	const struct op_setting setting = call_setting(c, at);
	int64_t causal = setting_at(&setting, 0), before = h->keys, after = h->queries;

	if (causal == CAUSAL_FIRST && !place[4]) {
		int64_t shorter = h->queries < h->keys ? h->queries : h->keys;
		return num_add(num_mul(shorter, shorter),
		        num_mul(2, num_mul(h->queries - shorter, h->keys)));
	}
	if (place[4] > 0)
		read_window(c, place[4], &before, &after);
	else if (str_starts(call_text(c, at + 1), S("[")))
		read_window(c, at + 1, &before, &after);
	return twice_near_pairs(h, before, causal ? 0 : after);
}

/* Reads sequences that are packed in one tensor, [positions, heads, size], with their lengths in
 * another tensor. The lengths are known if the longest length times the number of sequences is the
 * total: then all sequences have this length. The inputs are the offsets of the queries, the
 * offsets of the keys, and the longest length of each. */
static struct flops read_packed(const struct op_call *c, struct heads *to)
{
	const int *place = c->row->place;
	const struct op_tensor *q = call_input(c, place[0]), *k = call_input(c, place[0] + 1),
	                       *v = call_input(c, place[0] + 2), *offsets = call_input(c, place[3]);
	int longest_at = place[5] ? place[5] : place[3] + 2;
	const struct op_setting longest = call_setting(c, longest_at),
	                        longest_keys = call_setting(c, longest_at + 1);
	unsigned at = q->rank - 3; /* a dimension of 1 may precede the others */

	if (place[3] < 0 || !offsets->known || offsets->rank != 1 || longest.n != 1 ||
	        longest_keys.n != 1 || offsets->dim[0] < 2)
		return lacking(LACK_DATA, place[3] < 0 ? place[0] : place[3]);
	if (q->rank < 3 || q->rank > 4 || k->rank != q->rank || v->rank != q->rank ||
	        (at && (q->dim[0] != 1 || k->dim[0] != 1)) || q->dim[at + 2] != k->dim[at + 2] ||
	        !k->dim[at + 1] || q->dim[at + 1] % k->dim[at + 1])
		return lacking(LACK_DATA, place[3]);
	int64_t n = offsets->dim[0] - 1;
	if (num_mul(n, longest.v[0]) != q->dim[at] || num_mul(n, longest_keys.v[0]) != k->dim[at])
		return lacking(LACK_DATA, place[3]);
	*to = (struct heads){ n, q->dim[at + 1], longest.v[0], longest_keys.v[0], q->dim[at + 2],
		v->dim[at + 2] };
	return (struct flops){ .lack = LACK_NOTHING };
}

static struct flops read_heads(const struct op_call *c, struct heads *to)
{
	const int *place = c->row->place;
	const struct op_tensor *q = call_input(c, place[0]), *k = call_input(c, place[0] + 1),
	                       *v = call_input(c, place[0] + 2);
	int at = place[2], positions = 3 - at;

	for (int i = 0; i < 3; i++)
		if (!call_input(c, place[0] + i)->known)
			return lacking(LACK_SHAPE, place[0] + i);
	if (q->rank == 3 || call_input(c, place[3])->known)
		return read_packed(c, to);
	if (q->rank != 4 || k->rank != 4 || v->rank != 4 || q->dim[3] != k->dim[3] ||
	        q->dim[0] != k->dim[0] || k->dim[0] != v->dim[0] ||
	        k->dim[positions] != v->dim[positions] || k->dim[at] != v->dim[at] || !k->dim[at] ||
	        q->dim[at] % k->dim[at])
		return lacking(LACK_SENSE, place[0] + 1);
	*to = (struct heads){ q->dim[0], q->dim[at], q->dim[positions], k->dim[positions],
		q->dim[3], v->dim[3] };
	return (struct flops){ .lack = LACK_NOTHING };
}

/* Counts the products with queries or keys, and with values, for each pair. */
static struct flops count(const struct op_call *c, int64_t queries, int64_t values)
{
	struct heads h = { .batch = 0 };
	struct flops f = read_heads(c, &h);

	if (f.lack)
		return f;
	if (!c->values.n)
		return lacking(LACK_SETTING, c->row->place[1]);
	int64_t pairs = twice_pairs(c, &h);
	f = COUNTED(c, h.batch, h.heads, pairs,
	        num_add(num_mul(queries, h.query_size), num_mul(values, h.value_size)));
	add_bytes(&f, c, num_mul(num_mul(h.batch, h.heads), num_mul(h.queries, h.value_size)),
	        c->row->place[0]);
	if (queries > 1)
		f.recomputed = num_mul(num_mul(h.batch, h.heads), num_mul(pairs, h.query_size));
	return f;
}

struct flops flops_attention(const struct op_call *c)
{
	return count(c, 1, 1);
}

/* Counts five products for each pair: three have the size of a query (the scores again, the
 * gradients of queries and of keys), two the size of a value (the gradients of probabilities and of
 * values). */
struct flops flops_attention_gradient(const struct op_call *c)
{
	return count(c, 3, 2);
}
