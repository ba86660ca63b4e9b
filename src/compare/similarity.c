/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the share of hashes that two signatures have in common.
 */
#include "compare/compare.h"

#include "base/sort.h"

void similarity_add(struct signature *s, struct arena *a, struct str text)
{
	VEC_PUSH(a, s, hash_bytes(text.p, text.n));
}

static int by_hash(const void *ctx, uint32_t a, uint32_t b)
{
	const uint64_t *v = ctx;

	return (v[a] > v[b]) - (v[a] < v[b]);
}

void similarity_end(struct signature *s, struct arena *a)
{
	sort_array(a, s->v, s->n, sizeof *s->v, by_hash);
}

double similarity_share(const struct signature *a, const struct signature *b)
{
	size_t i = 0, k = 0, both = 0, most = a->n > b->n ? a->n : b->n;

	while (i < a->n && k < b->n) {
		uint64_t x = a->v[i], y = b->v[k];
		both += x == y;
		i += x <= y;
		k += y <= x;
	}
	return most ? (double)both / (double)most : 0;
}
