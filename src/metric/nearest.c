/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the known word nearest to a mistyped one.
 */
#include "metric/metric.h"

#define WORD_MAX  40 /* longer words are not compared */
#define BEGUN_MIN 3  /* shorter words would be prefixes of too many words */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

/* Lower-cases a character and maps '-' to '_'. */
static char folded(char c)
{
	return c == '-' ? '_' : char_lower(c);
}

/* Returns the number of edits (insert, delete, replace, swap neighbours) from a to b. Both have at
 * most WORD_MAX bytes. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *free = before;
		before = above;
		above = row;
		row = free;
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			char x = folded(a.p[i - 1]), y = folded(b.p[j - 1]);
			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == folded(b.p[j - 2]) && y == folded(a.p[i - 2]) &&
			        before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return row[b.n];
}

/* Returns the only candidate with a given prefix; an empty text if the word is too short. */
static struct str begun_word(struct str word, const struct str *candidates, size_t n)
{
	struct str found = STR_NONE;

	for (size_t i = 0; i < n && word.n >= BEGUN_MIN; i++) {
		if (!str_starts(candidates[i], word))
			continue;
		if (found.n)
			return STR_NONE;
		found = candidates[i];
	}
	return found;
}

struct str nearest_word(struct str word, const struct str *candidates, size_t n)
{
	struct str best = STR_NONE;
	size_t limit = word.n < 6 ? 1 : word.n < 12 ? 2 : word.n / 4;

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
	return best.n ? best : begun_word(word, candidates, n);
}

struct str nearest_metric(struct str word, unsigned use)
{
	static const struct {
		const char *word;
		enum metric_id m;
	} meant[] = {
		{ "time", M_MICROS },
		{ "duration", M_MICROS },
		{ "memory", M_BYTES },
		{ "size", M_BYTES },
		{ "flops", M_FLOAT_OPS },
		{ "parameters", M_PARAMS },
		{ "count", M_OCCURRENCE },
		{ "type", M_OP_TYPES },
		{ "shape", M_INPUT_SHAPES },
	};

	for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
		if (str_eq(word, str_of(meant[i].word)) && (metrics[meant[i].m].uses & use))
			return str_of(metrics[meant[i].m].name);
	return STR_NONE;
}

bool unknown_word_near(struct err *e, const char *option, struct str word, struct str near,
        const struct strs *known)
{
	struct str all = strs_join(e->a, known, S(", "));

	if (near.n)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-%s: '%.*s' is unknown; did you mean '%.*s'? Valid values are %.*s",
		        option, STR(word), STR(near), STR(all));
	return err_set(e, ERR_INVALID_ARGUMENT, "-%s: '%.*s' is unknown. Valid values are %.*s",
	        option, STR(word), STR(all));
}

bool unknown_option(
        struct err *e, struct str owner, struct str word, struct str near, struct str has)
{
	struct str what = owner.n ? str_fmt(e->a, "%.*s has no", STR(owner)) : S("unknown");

	if (near.n)
		return err_set(e, ERR_INVALID_ARGUMENT, "%.*s option '%.*s'; did you mean '%.*s'?",
		        STR(what), STR(word), STR(near));
	return err_set(e, ERR_INVALID_ARGUMENT, "%.*s option '%.*s'; %.*s", STR(what), STR(word),
	        STR(has));
}

bool unknown_word(struct err *e, const char *option, struct str word, const struct strs *known)
{
	return unknown_word_near(e, option, word, nearest_word(word, known->v, known->n), known);
}
