/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores the values of options. The collector links this file, so it depends on base/num.c only.
 */
#include "base/option.h"

const struct option *option_next(const struct option *row)
{
	const char *scope = row->scope;

	for (row++; row->name && strcmp(row->scope, scope) == 0; row++)
		if (!(row->flags & OPTION_HIDDEN))
			return row;
	return NULL;
}

/* True if the names are equal. '-' equals '_'. */
static bool is_name(struct str a, struct str b)
{
	bool same = a.n == b.n;

	for (size_t i = 0; same && i < a.n; i++)
		same = (a.p[i] == '-' ? '_' : a.p[i]) == (b.p[i] == '-' ? '_' : b.p[i]);
	return same;
}

const struct option *option_in(const struct option *first, struct str name)
{
	for (; first; first = option_next(first))
		if (is_name(str_of(first->name), name))
			return first;
	return NULL;
}

struct str option_choice_at(const char *choices, int i)
{
	for (const char *p = choices; p && i >= 0; i--) {
		const char *end = strchr(p, '|');
		if (!i)
			return end ? str_make(p, (size_t)(end - p)) : str_of(p);
		p = end ? end + 1 : NULL;
	}
	return STR_NONE;
}

bool option_choice(const char *choices, struct str word, int *i)
{
	struct str have;

	for (int k = 0; (have = option_choice_at(choices, k)).p; k++) {
		if (str_eq(have, word)) {
			*i = k;
			return true;
		}
	}
	return false;
}

/* True if s is one of five words, ignoring case. */
static bool is_one_of(struct str s, const char *const words[5])
{
	for (int i = 0; i < 5; i++) {
		struct str w = str_of(words[i]);
		size_t k = 0;

		if (w.n != s.n)
			continue;
		while (k < s.n && (s.p[k] >= 'A' && s.p[k] <= 'Z' ? s.p[k] + 32 : s.p[k]) == w.p[k])
			k++;
		if (k == s.n)
			return true;
	}
	return false;
}

bool option_truth(struct str s, bool *out)
{
	static const char *const yes[] = { "true", "t", "yes", "y", "1" };
	static const char *const no[] = { "false", "f", "no", "n", "0" };

	if (is_one_of(s, yes))
		*out = true;
	else if (is_one_of(s, no))
		*out = false;
	else
		return false;
	return true;
}

/* Stores a number if it is at least `least`; otherwise returns `below`, the reason for the refusal.
 */
static const char *set_least(int64_t n, int64_t least, const char *below, int64_t *to)
{
	if (n < least)
		return below;
	*to = n;
	return NULL;
}

/* Stores a time in nanoseconds. */
static const char *set_time(
        struct str value, int64_t bare, int64_t least, const char *below, int64_t *to)
{
	int64_t n;

	return quantity_parse_time(value, bare, QUANTITY_NS, &n) ? set_least(n, least, below, to)
	                                                         : quantity_refusal(QUANTITY_TIME);
}

static const char *set_number(
        struct str value, enum quantity q, int64_t least, const char *below, int64_t *to)
{
	int64_t n;

	return quantity_parse(value, q, &n) ? set_least(n, least, below, to) : quantity_refusal(q);
}

static bool set_share(struct str value, double *to)
{
	double v;

	if (!quantity_parse_share(value, &v) || v < 0)
		return false;
	*to = v;
	return true;
}

const char *option_set_plain(const struct option *row, struct str value, void *in)
{
	void *at = (char *)in + row->at;

	switch (row->type) {
	case OPT_SWITCH: *(bool *)at = true; return NULL;
	case OPT_BOOL: return option_truth(value, at) ? NULL : "not true or false";
	case OPT_CHOICE: return option_choice(row->choices, value, at) ? NULL : "not one of ";
	case OPT_COUNT: return set_number(value, QUANTITY_COUNT, 1, "not above 0", at);
	case OPT_ROWS: return set_number(value, QUANTITY_COUNT, 0, "below 0", at);
	case OPT_SIZE: return set_number(value, QUANTITY_BYTES, 0, "below 0", at);
	case OPT_LIMIT: return set_number(value, QUANTITY_BYTES, 1, "not above 0", at);
	case OPT_SECONDS: return set_time(value, QUANTITY_S, 0, "below 0", at);
	case OPT_MILLISECONDS: return set_time(value, QUANTITY_MS, QUANTITY_MS, "below 1ms", at);
	case OPT_SHARE: return set_share(value, at) ? NULL : "not a share, such as 0.1 or 10%";
	default: return "not a plain value";
	}
}
