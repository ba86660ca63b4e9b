/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of a tensor whose values are streamed: mean and deviation of each piece are computed
 * in two passes and then combined, which keeps precision for large sums.
 */
#include <math.h>

#include "base/fmt.h"
#include "export/out.h"

static void add_strings(struct tensor_stats *s, const struct ckpt_values *v)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t n = v->strings[i].n;
		if (s->n++ == 0 || n < s->shortest)
			s->shortest = n;
		if (n > s->longest)
			s->longest = n;
	}
}

/* Combines the statistics with those of a piece of n finite values. */
static void join(struct tensor_stats *s, int64_t have, int64_t n, double mean, double m2)
{
	double all = (double)(have + n), shift = mean - s->mean;

	s->mean += shift * ((double)n / all);
	s->m2 += m2 + shift * shift * ((double)have * ((double)n / all));
}

void tensor_stats_add(struct tensor_stats *s, const struct dtype *d, const struct ckpt_values *v)
{
	int64_t have = s->n - s->nans - s->infinities, n = 0;
	double sum = 0, m2 = 0, mean;

	if (d->kind == DTYPE_STRING) {
		add_strings(s, v);
		return;
	}
	s->n += (int64_t)v->n;
	for (size_t i = 0; i < v->n; i++) {
		double x = dtype_double(d, v->bytes + i * d->size);
		s->nans += isnan(x) != 0;
		s->infinities += isinf(x) != 0;
		s->zeros += x == 0;
		if (!isfinite(x))
			continue;
		if (have + n == 0 || x < s->min)
			s->min = x;
		if (have + n == 0 || x > s->max)
			s->max = x;
		sum += x;
		n++;
	}
	if (n == 0)
		return;
	mean = sum / (double)n;
	for (size_t i = 0; i < v->n; i++) {
		double x = dtype_double(d, v->bytes + i * d->size);
		if (isfinite(x))
			m2 += (x - mean) * (x - mean);
	}
	join(s, have, n, mean, m2);
}

static void put(struct sb *b, const char *name, double x)
{
	sb_fmt(b, ", %s ", name);
	fmt_general(b, x, 6);
}

void tensor_stats_put(struct sb *b, const struct dtype *d, const struct tensor_stats *s)
{
	int64_t finite = s->n - s->nans - s->infinities;

	sb_counted(b, (uint64_t)s->n, S("values"));
	if (d->kind == DTYPE_STRING) {
		if (s->n)
			sb_fmt(b, ", of %zu to %zu bytes", s->shortest, s->longest);
		sb_char(b, '\n');
		return;
	}
	if (finite) {
		put(b, "min", s->min);
		put(b, "max", s->max);
		put(b, "mean", s->mean);
		put(b, "standard deviation", sqrt(s->m2 / (double)finite));
	}
	sb_fmt(b, ", %lld zeros, %lld NaN, %lld infinite%s\n", (long long)s->zeros,
	        (long long)s->nans, (long long)s->infinities,
	        d->kind == DTYPE_COMPLEX ? " (real parts)" : "");
}
