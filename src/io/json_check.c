/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks containers that are kept as text, from bracket to bracket.
 */
#include "io/json_in.h"

/* A container while it is checked. */
struct checking {
	struct json_in *j;
	const char *p, *end;
	unsigned depth;
	uint64_t braces[JSON_IN_DEPTH_MAX / 64]; /* one bit for each open bracket, set for a
	                                            brace */
};

/* Moves to the next character that is not a blank. Returns true if it equals c. */
static bool comes(struct checking *k, char c)
{
	while (k->p < k->end && json_is_blank(*k->p))
		k->p++;
	return k->p < k->end && *k->p == c;
}

static bool take(struct checking *k, char c)
{
	bool is = comes(k, c);

	k->p += is;
	return is;
}

static bool take_string(struct checking *k)
{
	const char *from;

	if (!take(k, '"'))
		return false;
	for (from = k->p; k->p < k->end && *k->p != '"'; k->p++)
		k->p += *k->p == '\\' && k->p + 1 < k->end;
	json_in_check(k->j, str_make(from, (size_t)(k->p - from)));
	return take(k, '"');
}

static size_t take_digits(struct checking *k)
{
	const char *from = k->p;

	while (k->p < k->end && char_is_digit(*k->p))
		k->p++;
	return (size_t)(k->p - from);
}

static bool take_number(struct checking *k)
{
	bool zero;

	take(k, '-');
	zero = k->p < k->end && *k->p == '0';
	size_t n = take_digits(k);
	if (!n || (zero && n > 1))
		return false;
	if (k->p < k->end && *k->p == '.' && (k->p++, !take_digits(k)))
		return false;
	if (k->p == k->end || (*k->p | ' ') != 'e')
		return true;
	k->p++;
	k->p += k->p < k->end && (*k->p == '-' || *k->p == '+');
	return take_digits(k) > 0;
}

bool json_is_number(struct str text)
{
	struct checking k = { .p = text.p, .end = text.p + text.n };

	return take_number(&k) && k.p == k.end;
}

static bool take_scalar(struct checking *k)
{
	static const char *const words[] = { "true", "false", "null", "NaN", "Infinity",
		"-Infinity" };

	if (comes(k, '"'))
		return take_string(k);
	if (k->p < k->end && char_is_digit(*k->p))
		return take_number(k);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (str_starts(str_make(k->p, (size_t)(k->end - k->p)), str_of(words[i]))) {
			k->p += strlen(words[i]);
			return true;
		}
	}
	return take_number(k);
}

static bool in_object(const struct checking *k)
{
	return k->braces[(k->depth - 1) / 64] >> (k->depth - 1) % 64 & 1;
}

/* Reads an opening bracket. Returns false for other text. */
static bool open_container(struct checking *k)
{
	bool brace = comes(k, '{');
	uint64_t bit = UINT64_C(1) << k->depth % 64, *word = &k->braces[k->depth / 64];

	if (!brace && !comes(k, '['))
		return false;
	*word = brace ? *word | bit : *word & ~bit;
	k->depth++;
	k->p++;
	return true;
}

/* Reads the key of a member of an object. Nothing precedes the elements of an array. */
static bool take_key(struct checking *k)
{
	return !in_object(k) || (take_string(k) && take(k, ':'));
}

static bool close_container(struct checking *k)
{
	if (!take(k, in_object(k) ? '}' : ']'))
		return false;
	k->depth--;
	return true;
}

/* Skips a value and all brackets that close after it, so that a value or the end comes next. */
static bool take_value(struct checking *k)
{
	if (k->depth < JSON_IN_DEPTH_MAX && open_container(k)) {
		if (!close_container(k))
			return take_key(k);
	} else if (!take_scalar(k)) {
		return false;
	}
	while (k->depth && close_container(k))
		;
	return !k->depth || (take(k, ',') && take_key(k));
}

void json_in_check_container(struct json_in *j, struct str text)
{
	struct checking k = { .j = j, .p = text.p, .end = text.p + text.n };

	do
		if (!take_value(&k)) {
			json_in_flaw(j, JSON_FLAW_PART, k.p < k.end ? k.p : text.p);
			return;
		}
	while (k.depth);
}
