/* SPDX-License-Identifier: Apache-2.0
 *
 * Histograms of durations. Welford's recurrence keeps the deviation, without differences of large
 * sums.
 */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define CELLS   ((size_t)1 << HIST_BITS)
#define OCTAVES (64 - HIST_BITS)

static unsigned octave_of(int64_t v)
{
	return v < (int64_t)CELLS ? 0 : 64 - HIST_BITS - (unsigned)__builtin_clzll((uint64_t)v);
}

static void count(struct hist *h, struct arena *a, int64_t v)
{
	unsigned o = octave_of(v);

	if (!h->octaves[o])
		h->octaves[o] = ARENA_ARRAY(a, CELLS, uint64_t);
	h->octaves[o][v >> (o ? o - 1 : 0) & (int64_t)(CELLS - 1)]++;
}

/* Stores the number. The array doubles when it is full. */
static void keep(struct hist *h, struct arena *a, int64_t v)
{
	size_t n = (size_t)h->n;

	if (n == 0)
		h->few = ARENA_ARRAY(a, HIST_FIRST, int64_t);
	else if (n >= HIST_FIRST && (n & (n - 1)) == 0)
		h->few = arena_grow(a, h->few, n * sizeof v, 2 * n * sizeof v);
	h->few[n] = v;
}

/* Moves the stored numbers into counters, because there are too many to store each. */
static void count_all(struct hist *h, struct arena *a)
{
	h->octaves = ARENA_ARRAY(a, OCTAVES, uint64_t *);
	for (size_t i = 0; i < h->n; i++)
		count(h, a, h->few[i]);
	h->few = NULL;
}

void hist_add(struct hist *h, struct arena *a, int64_t v)
{
	v = v < 0 ? 0 : v;
	double from = (double)v - h->mean;

	if (h->n == HIST_FEW)
		count_all(h, a);
	if (h->n < HIST_FEW)
		keep(h, a, v);
	else
		count(h, a, v);
	h->min = h->n && h->min < v ? h->min : v;
	h->max = h->max > v ? h->max : v;
	h->sum = num_add(h->sum, v);
	h->n++;
	h->mean += from / (double)h->n;
	h->squares += from * ((double)v - h->mean);
}

/* Returns the value in the middle of a cell. */
static int64_t middle(unsigned octave, size_t cell)
{
	if (!octave)
		return (int64_t)cell;
	unsigned shift = octave - 1;
	return (int64_t)((CELLS + cell) << shift) + (((int64_t)1 << shift) - 1) / 2;
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the stored number of the given rank, counted from 1. */
static int64_t kept(const struct hist *h, uint64_t rank)
{
	int64_t v[HIST_FEW];

	memcpy(v, h->few, (size_t)h->n * sizeof *v);
	qsort(v, (size_t)h->n, sizeof *v, by_number);
	return v[rank - 1];
}

int64_t hist_quantile(const struct hist *h, unsigned thousandths)
{
	uint64_t want = h->n / 1000 * thousandths + (h->n % 1000 * thousandths + 999) / 1000,
	         seen = 0;

	want = want ? want : 1;
	if (!h->octaves)
		return h->n ? kept(h, want) : 0;
	for (unsigned o = 0; o < OCTAVES; o++) {
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
