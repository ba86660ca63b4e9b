/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of servers and sparse attention: over a paged cache, with latent vectors (MLA), and
 * over keys that the program chooses. The lengths of sequences are in tensors, so the numbers of
 * pairs come from the annotation of the step, or from the shape of the list of chosen keys.
 */
#include "flops/flops_internal.h"

/* Counts attention over a paged cache. One call serves all requests of a step. The call does not
 * state whether a sliding window limits attention; if one does, the count is an upper bound. */
struct flops flops_paged_attention(const struct op_call *c)
{
	const struct paged_sums *p = c->prompts, *g = c->generation;
	int at = c->row->place[0];
	const struct op_tensor *q = call_input(c, at), *k = call_input(c, at + 1),
	                       *v = call_input(c, at + 2);

	if (!p || !g)
		return lacking(LACK_DATA, at);
	for (int i = 0; i < 3; i++)
		if (!call_input(c, at + i)->known)
			return lacking(LACK_SHAPE, at + i);
	if (q->rank != 3 || k->rank < 2 || v->rank < 2 || !q->dim[1])
		return lacking(LACK_SENSE, at);
	int64_t size = q->dim[2], value_size = v->dim[v->rank - 1],
	        pairs = num_add(num_sub(num_mul(2, p->qk), p->qq), num_mul(2, g->qk)),
	        queries = num_mul(num_add(p->q, g->q), num_mul(q->dim[1], q->width)),
	        keys = num_mul(num_add(p->k, g->k), num_mul(k->dim[k->rank - 2], k->width));
	struct flops f = COUNTED(c, q->dim[1], num_add(size, value_size), pairs > 0 ? pairs : 0);
	f.read = num_add(num_mul(queries, size), num_mul(keys, num_add(size, value_size)));
	f.written = num_mul(queries, value_size);
	return f;
}

/* Sums over the part of the requests that a call serves. */
struct served_work {
	int64_t pairs; /* twice the number of pairs; -1: unknown */
	int64_t keys;
};

/* Finds the part of the requests by the number of queries of a call. A server may call attention
 * for prompts and for generated tokens apart. */
static struct served_work served_by(const struct op_call *c, int64_t queries)
{
	const struct paged_sums *p = c->prompts, *g = c->generation;
	const int64_t prompts = num_sub(num_mul(2, p->qk), p->qq), generated = num_mul(2, g->qk);

	if (queries == num_add(p->q, g->q))
		return (struct served_work){ num_add(prompts, generated), num_add(p->k, g->k) };
	if (queries == g->q && queries != p->q)
		return (struct served_work){ generated, g->k };
	if (queries == p->q && queries != g->q)
		return (struct served_work){ prompts, p->k };
	return (struct served_work){ -1, 0 };
}

/* Counts attention over a cache whose layout is [blocks, heads, ...] or not known; the size of a
 * value is that of a query. */
struct flops flops_paged_part(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *q = call_input(c, place[0]), *k = call_input(c, place[0] + 1);
	bool decodes = place[1] & 1;

	if (!c->prompts || !c->generation)
		return lacking(LACK_DATA, place[0]);
	if (!q->known || !k->known)
		return lacking(LACK_SHAPE, q->known ? place[0] + 1 : place[0]);
	if (q->rank != 3 || k->rank < 3)
		return lacking(LACK_SENSE, place[0]);
	const struct served_work s =
	        decodes ? (struct served_work){ num_mul(2, c->generation->qk), c->generation->k }
	                : served_by(c, q->dim[0]);
	if (s.pairs < 0)
		return lacking(LACK_DATA, place[0]);
	struct flops f = COUNTED(c, q->dim[1], 2, q->dim[2], s.pairs);
	if (decodes && q->width && k->width) {
		int64_t queries = num_mul(q->elements, q->width);
		f.read =
		        num_add(queries, num_mul(num_mul(2, s.keys),
		                                 num_mul(num_mul(k->dim[1], q->dim[2]), k->width)));
		f.written = queries;
	}
	return f;
}

/* Returns the size of a value of attention with latent vectors: a setting, or the last dimension of
 * a result, [..., heads, size]; -1: unknown. */
static int64_t latent_value_size(const struct op_call *c, const struct op_tensor *q)
{
	const int *place = c->row->place;

	for (int i = place[2]; i >= 0 && i < place[2] + 2; i++) {
		const struct op_setting size = call_setting(c, i);
		if (size.n == 1 && !size.flag && size.v[0] > 0)
			return size.v[0];
	}
	for (unsigned i = c->n; place[2] < 0 && i-- > 1;) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && !t->list && t->rank > 2 &&
		        t->dim[t->rank - 2] == q->dim[q->rank - 2] && t->dim[t->rank - 1] > 1)
			return t->dim[t->rank - 1];
	}
	return -1;
}

/* Counts attention of queries that contain both parts: latent vectors and the rotary part. */
static struct flops whole_latent(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *q = call_input(c, place[0]),
	                       *chosen = call_input(c, place[3] ? place[3] : -1);

	if (!q->known)
		return lacking(LACK_SHAPE, place[0]);
	if (q->rank < 3)
		return lacking(LACK_SENSE, place[0]);
	int64_t size = latent_value_size(c, q), sizes = num_add(q->dim[q->rank - 1], size);
	if (size < 0)
		return lacking(place[2] < 0 ? LACK_SHAPE : LACK_SETTING,
		        place[2] < 0 ? place[0] : place[2]);
	if (size > q->dim[q->rank - 1])
		return lacking(LACK_SENSE, place[0]);
	if (chosen->known && chosen->rank == 3) {
		if (call_input(c, place[4] ? place[4] : -1)->known)
			return lacking(LACK_DATA, place[4]);
		return COUNTED(c, 2, q->elements / (q->dim[q->rank - 1] ? q->dim[q->rank - 1] : 1),
		        chosen->dim[2], sizes);
	}
	if (!c->generation)
		return lacking(LACK_DATA, place[0]);
	return COUNTED(c, 2, q->dim[q->rank - 2], sizes, c->generation->qk);
}

struct flops flops_paged_latent(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *q = call_input(c, place[0]), *rotary = call_input(c, place[1]);

	if (place[1] < 0)
		return whole_latent(c);
	if (!c->prompts || !c->generation)
		return lacking(LACK_DATA, place[0]);
	if (!q->known || !rotary->known)
		return lacking(LACK_SHAPE, q->known ? place[1] : place[0]);
	if (q->rank != 3 || rotary->rank != 3 || q->dim[1] != rotary->dim[1])
		return lacking(LACK_SENSE, place[0]);
	return COUNTED(
	        c, 2, q->dim[1], num_add(num_mul(2, q->dim[2]), rotary->dim[2]), c->generation->qk);
}

/* Returns the length of the blocks that keys are compressed from: the setting that fits the numbers
 * of queries and keys; 0: none. */
static int64_t block_length(const struct op_call *c, int64_t queries, int64_t keys)
{
	for (int i = 3; i < 5; i++) {
		const struct op_setting s = call_setting(c, i);
		if (s.n == 1 && s.v[0] > 0 && (queries + s.v[0] - 1) / s.v[0] == keys)
			return s.v[0];
	}
	return 0;
}

/* Counts attention over compressed keys (NSA), of which each stands for a block. A query sees the
 * blocks that end before it or with it. */
struct flops flops_blocks(const struct op_call *c)
{
	const struct op_tensor *q = call_input(c, 0), *k = call_input(c, 1), *v = call_input(c, 2);
	bool gradient = c->row->place[0] == 2;

	for (int i = 0; i < 3; i++)
		if (!call_input(c, i)->known)
			return lacking(LACK_SHAPE, i);
	if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dim[1] != v->dim[1])
		return lacking(LACK_SENSE, 1);
	int64_t block = block_length(c, q->dim[1], k->dim[1]);
	if (!block)
		return lacking(LACK_SETTING, 3);
	for (unsigned i = 3; i < c->n; i++)
		if (c->in[i].known && c->in[i].rank == 1)
			return lacking(LACK_DATA, (int)i); /* offsets of sequences in one tensor */
	int64_t whole = q->dim[1] / block, last = q->dim[1] % block + 1,
	        pairs = num_add(
	                num_mul(block, num_mul(whole, whole - 1) / 2), num_mul(whole, last)),
	        sizes = num_add(
	                num_mul(gradient ? 3 : 1, q->dim[3]), num_mul(gradient ? 2 : 1, v->dim[3])),
	        heads = num_mul(q->dim[0], q->dim[2]);
	struct flops f = COUNTED(c, 2, heads, pairs, sizes);
	if (gradient)
		f.recomputed = num_mul(num_mul(2, heads), num_mul(pairs, q->dim[3]));
	return f;
}
