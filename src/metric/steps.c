/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses lists of steps.
 */
#include "metric/opts.h"

#include "base/sort.h"

static bool parse_range(struct str text, struct step_range *r)
{
	size_t dots = str_find(text, S(".."));

	if (dots == SIZE_MAX)
		return num_parse_i64(text, &r->from) && (r->to = r->from) >= 0;
	return num_parse_i64(str_sub(text, 0, dots), &r->from) &&
	       num_parse_i64(str_sub(text, dots + 2, SIZE_MAX), &r->to) && r->from >= 0 &&
	       r->from <= r->to;
}

static int by_from(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_range *v = ctx;

	return (v[a].from > v[b].from) - (v[a].from < v[b].from);
}

bool steps_parse(struct step_set *s, struct arena *a, struct str text, struct err *e)
{
	struct strs pieces = str_split(a, text, ',');
	struct step_set made = { .v = ARENA_ARRAY(a, pieces.n, struct step_range) };
	struct sb b = sb_in(a);

	for (; made.n < pieces.n; made.n++) {
		struct step_range *r = &made.v[made.n];
		if (!parse_range(pieces.v[made.n], r))
			break;
		sb_fmt(&b, "%s%lld", made.n ? "," : "", (long long)r->from);
		if (r->to != r->from)
			sb_fmt(&b, "..%lld", (long long)r->to);
	}
	if (!made.n || made.n < pieces.n)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-step: '%.*s' is neither a 64-bit integer nor a list of steps such as "
		        "0,2,5 "
		        "or 3..9, nor slowest, fastest or median",
		        STR(text));
	made.text = sb_str(&b);
	sort_array(a, made.v, made.n, sizeof *made.v, by_from);
	for (size_t i = 0; i < made.n; i++) {
		int64_t before = i ? made.v[i - 1].reach : 0;
		made.v[i].reach = made.v[i].to > before ? made.v[i].to : before;
	}
	*s = made;
	return true;
}

static const char *const rank_names[] = { [STEP_RANK_SLOWEST] = "slowest",
	[STEP_RANK_FASTEST] = "fastest",
	[STEP_RANK_MEDIAN] = "median" };

enum step_rank step_rank_of(struct str word)
{
	enum step_rank i = sizeof rank_names / sizeof *rank_names - 1;

	while (i != STEP_RANK_NONE && !str_eq(word, str_of(rank_names[i])))
		i--;
	return i;
}

const char *step_rank_name(enum step_rank rank)
{
	return rank_names[rank];
}

bool steps_has(const struct step_set *s, int64_t step)
{
	size_t i;

	BISECT(i, 0, s->n, s->v[i].from <= step);
	return i && s->v[i - 1].reach >= step;
}

#define ROW(id, ...) { __VA_ARGS__ },
const struct stat_row stat_rows[STATS_N] = {
#include "metric/stat.def"
};
#undef ROW

static unsigned find_stat(struct str word)
{
	for (unsigned i = 0; i < STATS_N; i++)
		if (str_eq(str_of(stat_rows[i].name), word))
			return STAT_BIT(i);
	return 0;
}

static bool unknown_stat(struct err *e, struct str word)
{
	struct strs known = { 0 };

	for (enum stat_id i = 0; i < STATS_N; i++)
		strs_add(e->a, &known, str_of(stat_rows[i].name));
	return unknown_word(e, "stats", word, &known);
}

bool stats_parse(unsigned *bits, const struct strs *words, struct err *e)
{
	unsigned found = 0;

	for (size_t i = 0; i < words->n; i++) {
		unsigned bit = find_stat(words->v[i]);
		if (!bit)
			return unknown_stat(e, words->v[i]);
		found |= bit;
	}
	*bits = found;
	return true;
}

void stats_names(struct sb *b, unsigned bits, const char *between)
{
	size_t n = 0;

	for (unsigned i = 0; i < STATS_N; i++)
		if (bits & STAT_BIT(i))
			sb_fmt(b, "%s%s", n++ ? between : "", stat_rows[i].name);
}
