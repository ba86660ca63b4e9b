/* SPDX-License-Identifier: Apache-2.0
 *
 * Skips values without looking at their parts: only quotes and brackets count.
 */
#include "io/json_in.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns the first quote or backslash, or end. */
static inline const char *find_quote(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

	for (; end - p >= 16; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned mask = (unsigned)_mm_movemask_epi8(
		        _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)));
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* Returns the first quote or bracket, or end. */
static inline const char *find_nested(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), lower = _mm_set1_epi8(' ');
	const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');

	for (; end - p >= 16; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i y = _mm_or_si128(x, lower); /* '[' becomes '{', ']' becomes '}' */
		unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(x, quote),
		        _mm_or_si128(_mm_cmpeq_epi8(y, open), _mm_cmpeq_epi8(y, close))));
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && *p != '"' && (*p | ' ') != '{' && (*p | ' ') != '}')
		p++;
	return p;
}

/* State while skipping a value, which may continue in another window. */
struct json_skip {
	unsigned depth;
	bool in_string, begun;
};

/* Returns true when the value has ended, just before *p. Otherwise *p is the end of the window, or
 * the bracket that is nested too deeply. Never stops inside an escape. */
static bool skip_on(struct json_skip *k, const char **p, const char *end)
{
	const char *q = *p;

	while (q < end) {
		if (k->in_string) {
			q = find_quote(q, end);
			if (end - q < 2 && (q == end || *q == '\\'))
				break;
			k->in_string = *q == '\\';
			q += 1 + k->in_string;
			if (!k->in_string && !k->depth)
				goto done;
			continue;
		}
		if (k->depth) {
			q = find_nested(q, end);
			if (q == end)
				break;
		}
		switch (*q) {
		case '"': k->in_string = k->begun = true; break;
		case '{':
		case '[':
			if (k->depth == JSON_IN_DEPTH_MAX)
				goto out;
			k->depth++;
			k->begun = true;
			break;
		case '}':
		case ']':
			if (!k->depth)
				goto done;
			if (!--k->depth) {
				q++;
				goto done;
			}
			break;
		case ',': goto done;
		default:
			if (k->begun && json_is_blank(*q))
				goto done;
			k->begun |= !json_is_blank(*q);
		}
		q++;
	}
out:
	*p = q;
	return false;
done:
	*p = q;
	return true;
}

static bool skip_stop(struct json_in *j, const char *p)
{
	return json_stop_at(
	        j, p, p < j->end && (*p == '{' || *p == '[') ? JSON_STOP_DEEP : JSON_STOP_MORE);
}

bool json_in_skip(struct json_in *j)
{
	struct json_skip k = { .depth = 0 };
	int next = json_in_peek(j);
	struct json_value v;

	if (next != '"' && next != '{' && next != '[')
		return json_in_value(j, &v);
	const char *p = j->p;
	if (!skip_on(&k, &p, j->end))
		return skip_stop(j, p);
	j->p = p;
	return true;
}

bool json_in_skip_item(struct json_in *j)
{
	struct json_skip k = { .depth = 0 };
	const char *p = j->p;

	while (!skip_on(&k, &p, j->end)) {
		if (skip_stop(j, p) || j->stop == JSON_STOP_DEEP)
			return false;
		json_in_take(j);
		j->stop = JSON_STOP_MORE;
		if (!json_in_more(j)) {
			j->stop = JSON_STOP_MORE;
			return false;
		}
		p = j->p;
	}
	j->p = p;
	json_in_take(j);
	j->stop = k.begun ? JSON_STOP_NONE : JSON_STOP_BAD;
	return k.begun;
}
