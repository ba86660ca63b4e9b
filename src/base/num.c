/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers from text. The whole text must be consumed; the locale does not matter. Knows nothing of
 * options: the caller writes the sentence for a refused value.
 */
#include "base/num.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trim(struct str s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool num_parse_i64(struct str s, int64_t *out)
{
	bool minus;
	int64_t v = 0;

	s = trim(s);
	minus = s.n && s.p[0] == '-';
	if (minus || (s.n && s.p[0] == '+'))
		s = str_sub(s, 1, SIZE_MAX);
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		int digit = s.p[i] - '0';

		if (digit < 0 || digit > 9)
			return false;
		/* Counts downwards, because the negative range is larger. */
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
			return false;
	}
	if (!minus && v == INT64_MIN)
		return false;
	*out = minus ? v : -v;
	return true;
}

bool num_parse_i32(struct str s, int32_t *out)
{
	int64_t v;

	if (!num_parse_i64(s, &v) || v < INT32_MIN || v > INT32_MAX)
		return false;
	*out = (int32_t)v;
	return true;
}
