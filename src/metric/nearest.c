/* SPDX-License-Identifier: Apache-2.0
 *
 * The known word that a mistyped one was meant to be.
 */
#include "metric/opts.h"

#define WORD_MAX 40 /* longer words are not compared */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

/* Edits (insert, delete, replace) from a to b; both at most WORD_MAX long. */
static size_t distance(struct str a, struct str b)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t up = row[j];
			row[j] =
			        min3(up + 1, row[j - 1] + 1, diagonal + (a.p[i - 1] != b.p[j - 1]));
			diagonal = up;
		}
	}
	return row[b.n];
}

struct str nearest_word(struct str word, const struct str *candidates, size_t n)
{
	struct str best = STR_NONE;
	size_t limit = word.n < 4 ? 1 : word.n < 12 ? 2 : word.n / 4;

	if (word.n > WORD_MAX)
		return best;
	for (size_t i = 0; i < n; i++) {
		if (candidates[i].n > WORD_MAX)
			continue;
		size_t d = distance(word, candidates[i]);
		if (d <= limit && d < word.n) {
			best = candidates[i];
			limit = d - (d > 0);
			if (d == 0)
				break;
		}
	}
	return best;
}
