/* SPDX-License-Identifier: Apache-2.0
 *
 * See hist.h. The deviation is kept by Welford's recurrence: no difference of large sums.
 */
#include "base/hist.h"

#include <math.h>

#include "base/num.h"

#define CELLS ((size_t)1 << HIST_BITS)

static unsigned octave_of(int64_t v)
{
	return v < (int64_t)CELLS ? 0 : 64 - HIST_BITS - (unsigned)__builtin_clzll((uint64_t)v);
}

void hist_add(struct hist *h, struct arena *a, int64_t v)
{
	v = v < 0 ? 0 : v;
	unsigned o = octave_of(v);
	double from = (double)v - h->mean;

	if (!h->octaves[o])
		h->octaves[o] = ARENA_ARRAY(a, CELLS, uint64_t);
	h->octaves[o][v >> (o ? o - 1 : 0) & (int64_t)(CELLS - 1)]++;
	h->min = h->n && h->min < v ? h->min : v;
	h->max = h->max > v ? h->max : v;
	h->sum = num_add(h->sum, v);
	h->n++;
	h->mean += from / (double)h->n;
	h->squares += from * ((double)v - h->mean);
}

/* The middle of a cell. */
static int64_t middle(unsigned octave, size_t cell)
{
	if (!octave)
		return (int64_t)cell;
	unsigned shift = octave - 1;
	return (int64_t)((CELLS + cell) << shift) + (((int64_t)1 << shift) - 1) / 2;
}

int64_t hist_quantile(const struct hist *h, unsigned thousandths)
{
	uint64_t want = h->n / 1000 * thousandths + (h->n % 1000 * thousandths + 999) / 1000,
	         seen = 0;

	want = want ? want : 1;
	for (unsigned o = 0; o < sizeof h->octaves / sizeof *h->octaves; o++) {
		for (size_t c = 0; h->octaves[o] && c < CELLS; c++) {
			seen += h->octaves[o][c];
			if (seen >= want) {
				int64_t v = middle(o, c);
				return v < h->min ? h->min : v > h->max ? h->max : v;
			}
		}
	}
	return 0;
}

double hist_deviation(const struct hist *h)
{
	return h->n ? sqrt(h->squares / (double)h->n) : 0;
}
