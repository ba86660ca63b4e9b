/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the means of two samples. The tail of Student's distribution is the regularised
 * incomplete beta function, computed by its continued fraction (modified Lentz).
 */
#include "base/statistics.h"

#include <math.h>

#define STEPS_MAX 300
#define ACCURACY  1e-12
#define TINY      1e-300

struct sample sample_of(const double *v, size_t n)
{
	struct sample s = { .n = n };

	for (size_t i = 0; i < n; i++)
		s.mean += v[i] / (double)n;
	for (size_t i = 0; i < n && n > 1; i++)
		s.variance += (v[i] - s.mean) * (v[i] - s.mean) / (double)(n - 1);
	return s;
}

static double away_from_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* Returns the continued fraction of I_x(a, b), for x below (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		f *= c * d;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		f *= c * d;
		if (fabs(c * d - 1) < ACCURACY)
			break;
	}
	return f;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double beta(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x >= 1;
	double front =
	        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(x, a, b) / a;
	return 1 - front * fraction(1 - x, b, a) / b;
}

/* Returns P(T > t) with df degrees of freedom. */
static double upper_tail(double t, double df)
{
	double half = beta(df / (df + t * t), df / 2, 0.5) / 2;

	return t > 0 ? half : 1 - half;
}

double welch_above(const struct sample *a, const struct sample *b)
{
	double difference = b->mean - a->mean;

	if (a->n < 2 || b->n < 2)
		return 1;
	double ea = a->variance / (double)a->n, eb = b->variance / (double)b->n, error = ea + eb;
	if (!(error > 0))
		return difference > 0 ? 0 : 1;
	double df = error * error / (ea * ea / (double)(a->n - 1) + eb * eb / (double)(b->n - 1));
	if (!(df >= 1))
		df = 1;
	double p = upper_tail(difference / sqrt(error), df);
	return p < 0 ? 0 : p > 1 ? 1 : p;
}
