/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two samples by ranks. The distribution of Mann and Whitney's U is counted exactly for
 * small samples; for large ones it is close to a normal distribution.
 */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

#define EXACT_WORK 4000000 /* number of additions up to which the distribution is counted */
#define HALVINGS   100     /* number of bisection steps that find a bound */
#define BY_MAX     1e18

/* ---- the distribution of U ---- */

/* Counts the sets of n ranks out of n + m by the excess of their sum over the smallest sum. Returns
 * the probability of at least u for each u up to n * m. */
static double *count_tail(size_t n, size_t m, struct arena *a)
{
	size_t most = n * m;
	double *tail = ARENA_ARRAY(a, most + 1, double), all = 0;
	struct arena_mark mark = arena_mark(a);
	double *c = ARENA_ARRAY(a, (n + 1) * (most + 1), double);

	c[0] = 1;
	for (size_t rank = 0; rank < n + m; rank++) /* the k-th chosen rank is later than its
	                                               earliest rank by `above` */
		for (size_t k = rank < n ? rank + 1 : n; k > 0; k--) {
			double *to = c + k * (most + 1), *from = to - (most + 1);
			size_t above = rank - (k - 1);
			for (size_t u = above; above <= m && u <= most; u++)
				to[u] += from[u - above];
		}
	for (size_t u = most + 1; u-- > 0;)
		tail[u] = all += c[n * (most + 1) + u];
	for (size_t u = 0; u <= most; u++)
		tail[u] /= all;
	arena_reset(a, mark);
	return tail;
}

static const double *find_tail(struct shift_tails *t, size_t n, size_t m)
{
	size_t few = n < m ? n : m, many = n < m ? m : n;

	if ((double)(few + many) * (double)few * (double)few * (double)many > EXACT_WORK)
		return NULL;
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].few == few && t->v.v[i].many == many)
			return t->v.v[i].tail;
	struct shift_tail new = { few, many, count_tail(few, many, t->a) };
	VEC_PUSH(t->a, &t->v, new);
	return new.tail;
}

/* Returns the probability that U is u or more. */
static double u_tail(const struct shift *s, size_t u)
{
	double n = (double)s->x.n, m = (double)s->y.n;

	if (s->tail)
		return s->tail[u];
	if (s->x.n == 1 || s->y.n == 1)
		return (n * m - (double)u + 1) / (n * m + 1);
	return erfc(((double)u - 0.5 - n * m / 2) / sqrt(n * m * (n + m + 1) / 12) / sqrt(2)) / 2;
}

/* ---- the tests ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool is_constant(const struct shift_values *s)
{
	return s->v[0] == s->v[s->n - 1];
}

void shift_open(struct shift *s, struct shift_values x, struct shift_values y, bool relative,
        double level, struct shift_tails *tails)
{
	*s = (struct shift){ .x = x, .y = y, .relative = relative, .level = level };
	if (!x.n || !y.n)
		return;
	qsort(x.v, x.n, sizeof *x.v, by_value);
	qsort(y.v, y.n, sizeof *y.v, by_value);
	s->tail = find_tail(tails, x.n, y.n);
	if (u_tail(s, x.n * y.n) <= level / 2)
		s->test = SHIFT_RANKS;
	else if (x.n > 1 && y.n > 1)
		s->test = SHIFT_WELCH;
	s->constant = s->test && is_constant(&x) && is_constant(&y);
}

static double moved(const struct shift *s, size_t i, double by)
{
	return s->relative ? s->x.v[i] * (1 + by) : s->x.v[i] + by;
}

/* Counts the pairs in which y is above x, or below it. */
static size_t count_pairs(const struct shift *s, double by, bool above)
{
	size_t pairs = 0, at = 0;

	for (size_t i = 0; i < s->x.n; i++) {
		double x = moved(s, i, by);
		while (at < s->y.n && (above ? s->y.v[at] <= x : s->y.v[at] < x))
			at++;
		pairs += above ? s->y.n - at : at;
	}
	return pairs;
}

static double welch(const struct shift *s, double by, bool above)
{
	struct sample x = sample_of(s->x.v, s->x.n), y = sample_of(s->y.v, s->y.n);

	x.mean = s->relative ? x.mean * (1 + by) : x.mean + by;
	x.variance *= s->relative ? (1 + by) * (1 + by) : 1;
	return above ? welch_above(&x, &y) : welch_above(&y, &x);
}

static double probability(const struct shift *s, double by, bool above)
{
	if (s->test == SHIFT_RANKS)
		return u_tail(s, count_pairs(s, by, above));
	return s->test ? welch(s, by, above) : 1;
}

double shift_above(const struct shift *s, double by)
{
	return probability(s, by, true);
}

double shift_below(const struct shift *s, double by)
{
	return probability(s, by, false);
}

double shift_equal(const struct shift *s)
{
	return fmin(1, 2 * fmin(shift_above(s, 0), shift_below(s, 0)));
}

/* Returns the bound between the changes that the test rejects and those that it accepts. inside: a
 * change that it accepts; outside: a change that it rejects. */
static double find_bound(const struct shift *s, double inside, double outside, bool above)
{
	for (int i = 0; i < HALVINGS; i++) {
		double middle = inside + (outside - inside) / 2;
		if (probability(s, middle, above) <= s->level / 2)
			outside = middle;
		else
			inside = middle;
	}
	return inside;
}

/* Searches from an estimate outwards until the test rejects a change. */
static double search(const struct shift *s, double from, double step, bool above)
{
	double by = from, inside = from, least = s->relative ? -1 : -BY_MAX;

	while (fabs(by) < BY_MAX) {
		by = fmax(from + step, least);
		if (probability(s, by, above) <= s->level / 2)
			return find_bound(s, inside, by, above);
		if (by == least)
			return s->relative ? least : -INFINITY;
		inside = by;
		step *= 2;
	}
	return step > 0 ? INFINITY : -INFINITY;
}

/* Returns the value whose change the test does not reject. */
static double middle_of(const struct shift *s, const struct shift_values *x)
{
	if (s->test == SHIFT_WELCH)
		return sample_of(x->v, x->n).mean;
	return (x->v[(x->n - 1) / 2] + x->v[x->n / 2]) / 2;
}

bool shift_interval(const struct shift *s, double *low, double *high)
{
	if (!s->test)
		return false;
	double x = middle_of(s, &s->x), y = middle_of(s, &s->y);
	if (s->relative && x <= 0)
		return false;
	double middle = s->relative ? y / x - 1 : y - x, step = s->relative ? 1e-6 : x * 1e-6 + 1;
	*low = search(s, middle, -step, true);
	*high = search(s, middle, step, false);
	return true;
}

bool shift_possible(size_t n, size_t m, double level)
{
	size_t few = n < m ? n : m, many = n < m ? m : n;

	return few > 1 || (few && 1 / (double)(many + 1) <= level / 2);
}

size_t shift_least_steps(double level)
{
	double sets = 1; /* number of sets of n ranks out of 2 n */
	size_t n = 0;

	while (n < 100 && 2 / sets > level) {
		n++;
		sets *= 2 * (double)(2 * n - 1) / (double)n;
	}
	return n;
}
