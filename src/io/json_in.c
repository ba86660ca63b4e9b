/* SPDX-License-Identifier: Apache-2.0
 *
 * The tokenizer. All functions except json_in_more and json_in_skip_item work on the window alone,
 * so the common paths have no bookkeeping: an item that reaches the end of the window stops and is
 * read again. Strings are scanned 16 bytes at a time if the processor can.
 */
#include "io/json_in.h"

#include "base/map.h"
#include "base/num.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns the first character that is not a blank, or end. */
static inline const char *skip_blanks(const char *p, const char *end)
{
	if (p < end && !json_is_blank(*p))
		return p;
	if (end - p >= 2 && !json_is_blank(p[1]))
		return p + 1;
#ifdef __SSE2__
	const __m128i blank = _mm_set1_epi8(' '), line = _mm_set1_epi8('\n');
	const __m128i tab = _mm_set1_epi8('\t'), cr = _mm_set1_epi8('\r');
	for (; end - p >= 16; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i a = _mm_or_si128(_mm_cmpeq_epi8(x, blank), _mm_cmpeq_epi8(x, line));
		__m128i b = _mm_or_si128(_mm_cmpeq_epi8(x, tab), _mm_cmpeq_epi8(x, cr));
		unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(a, b));
		if (mask != 0xffff)
			return p + __builtin_ctz(~mask);
	}
#endif
	while (p < end && json_is_blank(*p))
		p++;
	return p;
}

/* Returns the first quote, backslash, control character or byte beyond ASCII, or end. */
static inline const char *find_odd(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i blank = _mm_set1_epi8(' ');

	for (; end - p >= 16; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* The comparison is signed, so bytes beyond ASCII are also less than a blank. */
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(x, blank),
		        _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(odd);
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && *p != '"' && *p != '\\' && (uint8_t)*p >= 0x20 && (uint8_t)*p < 0x80)
		p++;
	return p;
}

static size_t count_lines(const char *p, const char *end)
{
	size_t n = 0;

#ifdef __SSE2__
	const __m128i line = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
	while (end - p >= 16) {
		__m128i sums = zero; /* per column of 16; a column counts to 255 at most */
		ptrdiff_t blocks = (end - p) / 16;
		const char *stop = p + 16 * (blocks > 255 ? 255 : blocks);
		for (; p < stop; p += 16)
			sums = _mm_sub_epi8(sums,
			        _mm_cmpeq_epi8(
			                _mm_loadu_si128((const __m128i *)(const void *)p), line));
		sums = _mm_sad_epu8(sums, zero);
		n += (size_t)_mm_cvtsi128_si32(sums) +
		     (size_t)_mm_cvtsi128_si32(_mm_unpackhi_epi64(sums, sums));
	}
#endif
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

/* Counts the lines before p in one pass, which is faster than counting the lines of each item. */
static void count_to(struct json_in *j, const char *p)
{
	j->lines += count_lines(j->counted, p);
	j->counted = p;
}

static void begin_item(struct json_in *j)
{
	j->p = (const char *)j->s->p;
	j->end = (const char *)j->s->end;
	j->stop = JSON_STOP_NONE;
	j->fresh = false;
	j->depth = 0;
	j->flaws = 0;
}

bool json_in_open(struct json_in *j, struct src *s)
{
	struct str head;

	*j = (struct json_in){ .s = s };
	src_need(s, 4);
	head = str_make(s->p, (size_t)(s->end - s->p));
	begin_item(j);
	j->counted = j->p;
	if (src_failed(s))
		return false;
	if (str_starts(head, S("\xff\xfe")) || str_starts(head, S("\xfe\xff")) ||
	        (head.n >= 4 && (!head.p[0] || !head.p[1])))
		return json_stop_at(j, head.p, JSON_STOP_WIDE);
	if (str_starts(head, S("\xef\xbb\xbf")))
		j->p += 3;
	json_in_take(j);
	return true;
}

bool json_in_open_utf8(struct json_in *j, struct src *s)
{
	return json_in_open(j, s) ||
	       (!json_in_failed(j) &&
	               err_set(err_at(s->e, s->name, 0), ERR_DATA_LOSS,
	                       "%.*s: unsupported encoding UTF-16 or UTF-32 (byte 0): UTF-8 was "
	                       "expected\nhint: 'iconv -f UTF-16 -t UTF-8 FILE' converts it",
	                       STR(s->name)));
}

bool json_in_more(struct json_in *j)
{
	size_t have = (size_t)(j->s->end - j->s->p);
	size_t more = have > SRC_WINDOW / 2 ? have : SRC_WINDOW / 2;
	size_t at = (size_t)(j->p - (const char *)j->s->p);
	bool more_came;

	if (j->stop != JSON_STOP_MORE || have >= JSON_IN_ITEM_MAX)
		return false;
	count_to(j, (const char *)j->s->p);
	more_came = src_need(j->s, have + more) || (size_t)(j->s->end - j->s->p) > have;
	j->counted = (const char *)j->s->p; /* the window may have moved */
	if (more_came) {
		begin_item(j);
	} else {
		j->p = (const char *)j->s->p + at;
		j->end = (const char *)j->s->end;
	}
	return more_came;
}

static __attribute__((noinline, cold)) void count_flaws(struct json_in *j)
{
	const char *item = (const char *)j->s->p;

	for (unsigned k = 0; k < JSON_FLAW_N; k++) {
		struct json_flaw_count *f = &j->found[k];
		if (!(j->flaws >> k & 1) || f->items++)
			continue;
		f->at = j->flaw_at[k];
		f->line = json_in_line(j, item + (f->at - src_at(j->s)));
	}
}

void json_in_take(struct json_in *j)
{
	if (j->flaws)
		count_flaws(j);
	j->s->p = (const uint8_t *)j->p;
	begin_item(j);
}

void json_in_again(struct json_in *j)
{
	begin_item(j);
}

uint64_t json_in_at(const struct json_in *j, const char *p)
{
	return src_at(j->s) + (uint64_t)(p - (const char *)j->s->p);
}

uint64_t json_in_line(struct json_in *j, const char *p)
{
	count_to(j, (const char *)j->s->p);
	return j->lines + 1 + count_lines(j->counted, p);
}

bool json_in_failed(const struct json_in *j)
{
	return src_failed(j->s);
}

void json_in_flaw(struct json_in *j, enum json_flaw flaw, const char *at)
{
	if (!(j->flaws >> flaw & 1))
		j->flaw_at[flaw] = json_in_at(j, at);
	j->flaws |= 1u << flaw;
}

int json_in_peek(struct json_in *j)
{
	j->p = skip_blanks(j->p, j->end);
	if (j->p < j->end)
		return (uint8_t)*j->p;
	json_stop_at(j, j->p, JSON_STOP_MORE);
	return -1;
}

bool json_in_enter(struct json_in *j)
{
	if (j->depth == JSON_IN_DEPTH_MAX)
		return json_stop_at(j, j->p, JSON_STOP_DEEP);
	j->depth++;
	j->fresh = true;
	j->p++;
	return true;
}

/* True if the backslash at p begins an escape. */
static bool is_escape(const char *p, const char *end)
{
	if (end - p < 2 || p[1] != 'u')
		return end - p >= 2 && p[1] && strchr("\"\\/bfnrt", p[1]);
	for (int i = 2; i < 6; i++)
		if (p + i >= end || char_hex(p[i]) < 0)
			return false;
	return true;
}

bool json_in_check(struct json_in *j, struct str text)
{
	const char *p = text.p, *end = p + text.n, *bad = NULL;
	bool high = false, control = false;

	for (; p < end; p++) {
		high |= (uint8_t)*p >= 0x80;
		control |= (uint8_t)*p < 0x20;
		if (*p != '\\')
			continue;
		if (!is_escape(p, end))
			bad = p;
		p += end - p > 1;
	}
	high = high && !str_is_utf8(text);
	if (bad)
		json_in_flaw(j, JSON_FLAW_ESCAPE, bad);
	if (control)
		json_in_flaw(j, JSON_FLAW_CONTROL, text.p);
	if (high)
		json_in_flaw(j, JSON_FLAW_UTF8, text.p);
	return !bad && !control && !high;
}

/* Moves to the next entry of a container. Expects a comma unless it is the first entry. Returns
 * false at the end of the container, or with a stop. */
static inline bool next_in(struct json_in *j, char close)
{
	const char *p = skip_blanks(j->p, j->end), *comma = NULL;

	if (p < j->end && *p == ',' && !j->fresh) {
		comma = p++;
		p = skip_blanks(p, j->end);
	} else if (p < j->end && *p != close && !j->fresh) {
		return json_stop_at(j, p, JSON_STOP_BAD);
	}
	if (p == j->end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	j->fresh = false;
	j->p = p;
	if (*p != close)
		return true;
	if (comma)
		json_in_flaw(j, JSON_FLAW_COMMA, comma);
	j->p++;
	j->depth--;
	j->stop = JSON_STOP_NONE;
	return false;
}

/* Finishes a string that contains characters other than plain ones. p: the first of them. */
static bool read_odd_string(struct json_in *j, const char *p, struct json_value *v)
{
	bool high = false;

	v->plain = false;
	for (; p < j->end && *p != '"'; p = find_odd(p, j->end)) {
		if (*p == '\\')
			p++;
		else if ((uint8_t)*p < 0x20)
			json_in_flaw(j, JSON_FLAW_CONTROL, p);
		else
			high = true;
		if (p < j->end)
			p++;
	}
	if (p == j->end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	v->text.n = (size_t)(p - v->text.p);
	if (high && !str_is_utf8(v->text))
		json_in_flaw(j, JSON_FLAW_UTF8, v->text.p);
	j->p = p + 1;
	return true;
}

/* Reads a string. p is after its opening quote. */
static inline bool read_string(struct json_in *j, const char *p, struct json_value *v)
{
	const char *q = find_odd(p, j->end);

	v->type = JSON_STRING;
	v->text = str_make(p, (size_t)(q - p));
	v->plain = true;
	if (q == j->end)
		return json_stop_at(j, q, JSON_STOP_MORE);
	if (*q != '"')
		return read_odd_string(j, q, v);
	j->p = q + 1;
	return true;
}

/* True if the text at p, which has JSON_MEMBER_MAX bytes, begins with a member. */
static inline bool is_member(const struct json_member *m, const char *p)
{
#ifdef __SSE2__
	const __m128i *a = (const __m128i *)(const void *)m->text;
	const __m128i *b = (const __m128i *)(const void *)p;
	__m128i low = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
	__m128i high = _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
	unsigned same = (unsigned)_mm_movemask_epi8(low) | (unsigned)_mm_movemask_epi8(high) << 16;

	return (uint64_t)~same << (JSON_MEMBER_MAX - m->n) << 32 == 0;
#else
	return memcmp(m->text, p, m->n) == 0;
#endif
}

/* Reads a member that followed the last member before. */
static inline bool read_known(struct json_in *j, struct str *key)
{
	const uint8_t *next = j->members[j->member].next;

	if (j->end - j->p < JSON_MEMBER_MAX)
		return false;
	for (int i = 0; i < 4 && next[i]; i++) {
		struct json_member *m = &j->members[next[i]];
		if (m->fresh != j->fresh || !is_member(m, j->p))
			continue;
		*key = str_make(j->p + m->key_at, m->key_n);
		j->p += m->n;
		j->fresh = false;
		j->member = next[i];
		return true;
	}
	return false;
}

/* Returns the place that a member has or gets; for a new place, n is 0. */
static uint8_t member_place(struct json_in *j, const struct json_member *made)
{
	size_t places = sizeof j->members / sizeof *j->members - 1;
	uint64_t hash = hash_bytes(made->text, sizeof made->text);
	uint8_t at = 0;

	for (unsigned i = 0; i < 8; i++) {
		at = (uint8_t)(1 + (hash + i) % places);
		const struct json_member *m = &j->members[at];
		if (!m->n || (m->fresh == made->fresh &&
		                     memcmp(m->text, made->text, sizeof m->text) == 0))
			return at;
	}
	j->members[at].n = 0;
	return at;
}

/* Stores the text of the member from here up to p, and that it followed the last member. */
static void remember(struct json_in *j, const char *from, struct str key, bool fresh)
{
	struct json_member made = { .n = (uint8_t)(j->p - from),
		.key_at = (uint8_t)(key.p - from),
		.key_n = (uint8_t)key.n,
		.fresh = fresh };
	uint8_t at, *next = j->members[j->member].next;

	if (j->p - from > JSON_MEMBER_MAX || !json_in_check(j, key)) {
		j->member = 0;
		*json_in_user(j) = 0;
		return;
	}
	memcpy(made.text, from, made.n);
	at = member_place(j, &made);
	if (!memchr(next, at, sizeof made.next)) {
		memmove(next + 1, next, sizeof made.next - 1);
		*next = at;
	}
	if (!j->members[at].n)
		j->members[at] = made;
	j->member = at;
}

/* Reads a member that has not followed the last member before. */
static __attribute__((noinline)) bool read_member(struct json_in *j, struct str *key)
{
	const char *p, *q, *end = j->end, *from = j->p;
	bool fresh = j->fresh;

	if (!next_in(j, '}'))
		return false;
	if (*j->p != '"')
		return json_stop_at(j, j->p, JSON_STOP_BAD);
	p = j->p + 1;
	for (q = p; q < end && *q != '"'; q++)
		q += *q == '\\' && q + 1 < end;
	*key = str_make(p, (size_t)(q - p));
	p = q == end ? end : skip_blanks(q + 1, end);
	if (p == end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	if (*p != ':')
		return json_stop_at(j, p, JSON_STOP_BAD);
	j->p = p + 1;
	while (j->p < end && *j->p == ' ')
		j->p++;
	remember(j, from, *key, fresh);
	return true;
}

bool json_in_member(struct json_in *j, struct str *key)
{
	return read_known(j, key) || read_member(j, key);
}

bool json_in_element(struct json_in *j)
{
	return next_in(j, ']');
}

static inline bool is_letter(char c)
{
	return (uint8_t)((c | 0x20) - 'a') < 26;
}

static inline bool in_number(char c)
{
	static const bool is[256] = { ['0' ... '9'] = true,
		['.'] = true,
		['-'] = true,
		['+'] = true,
		['e'] = true,
		['E'] = true };

	return is[(uint8_t)c];
}

/* True if the word equals one of the given words, ignoring case. */
static bool is_word(struct str s, const char *word)
{
	size_t i = 0;

	while (i < s.n && word[i] && (s.p[i] | 0x20) == word[i])
		i++;
	return i == s.n && !word[i];
}

/* Reads true, false, null, or a non-finite number with or without sign. */
static bool read_word(struct json_in *j, const char *p, struct json_value *v)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = { { "true", JSON_TRUE }, { "false", JSON_FALSE }, { "null", JSON_NULL },
		{ "nan", JSON_NONFINITE }, { "inf", JSON_NONFINITE },
		{ "infinity", JSON_NONFINITE } };
	bool sign = *p == '-' || *p == '+';
	const char *from = p + sign;
	struct str word;

	for (p = from; p < j->end && is_letter(*p); p++)
		;
	if (p == j->end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	word = str_make(from, (size_t)(p - from));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(word, words[i].word) && (!sign || words[i].type == JSON_NONFINITE)) {
			if (words[i].type == JSON_NONFINITE)
				json_in_flaw(j, JSON_FLAW_NONFINITE, from - sign);
			*v = (struct json_value){ words[i].type, true, word };
			j->p = p;
			return true;
		}
	return json_stop_at(j, from - sign, JSON_STOP_BAD);
}

bool json_in_scalar(struct json_in *j, struct json_value *v)
{
	return json_in_value(j, v) && (v->type > JSON_ARRAY || json_in_skip(j));
}

bool json_in_value(struct json_in *j, struct json_value *v)
{
	const char *p = skip_blanks(j->p, j->end), *from = p;

	if (p == j->end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	if (*p == '"')
		return read_string(j, p + 1, v);
	if (*p == '{' || *p == '[') {
		*v = (struct json_value){ *p == '{' ? JSON_OBJECT : JSON_ARRAY, true, S("") };
		j->p = p;
		return true;
	}
	if (is_letter(*p) || !in_number(*p))
		return read_word(j, p, v);
	while (p < j->end && in_number(*p))
		p++;
	if (p == j->end)
		return json_stop_at(j, p, JSON_STOP_MORE);
	if (is_letter(*p))
		return read_word(j, from, v);
	v->type = JSON_NUMBER;
	v->plain = true;
	v->text = str_make(from, (size_t)(p - from));
	if (*from == '0' && v->text.n > 1 && char_is_digit(from[1]))
		json_in_flaw(j, JSON_FLAW_ZERO, from);
	j->p = p;
	return true;
}

/* ---- skipping ---- Values are skipped without examining their parts: only quotes and brackets
 * count, and these must match. */

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

/* State while skipping a value, which may continue in another window. */
struct json_skip {
	unsigned depth;
	bool in_string, begun, bad;
	uint64_t braces; /* one bit for each of the innermost 64 open brackets, set for a brace;
	                    innermost lowest */
	uint64_t outer[JSON_IN_DEPTH_MAX / 64]; /* bits of the brackets around them */
};

static inline void open_bracket(struct json_skip *k, char c)
{
	if (k->depth % 64 == 0)
		k->outer[k->depth / 64] = k->braces;
	k->braces = k->braces << 1 | (c == '{');
	k->depth++;
}

/* Returns false if a bracket of the other kind is open. */
static inline bool close_bracket(struct json_skip *k, char c)
{
	if ((k->braces & 1) != (c == '}'))
		return false;
	k->depth--;
	k->braces = k->depth % 64 == 0 ? k->outer[k->depth / 64] : k->braces >> 1;
	return true;
}

/* Skips blocks of 16 bytes inside brackets. Stops after the last bracket of the value, or where
 * skip_on has to look at single bytes: near the end, at a backslash, at a bracket that does not
 * match or that is nested too deeply. */
static inline const char *skip_blocks(struct json_skip *k, const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
	unsigned inside = k->in_string ? 0xffff : 0;

	for (; end - p >= 16; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* '[' becomes '{', ']' becomes '}' */
		__m128i y = _mm_or_si128(x, _mm_set1_epi8(' '));
		unsigned text = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, quote));
		unsigned mask = (unsigned)_mm_movemask_epi8(
		        _mm_or_si128(_mm_cmpeq_epi8(y, open), _mm_cmpeq_epi8(y, close)));

		if (_mm_movemask_epi8(_mm_cmpeq_epi8(x, slash)))
			break;
		text ^= text << 1; /* a bit is set if the quotes up to it are an odd number */
		text ^= text << 2;
		text ^= text << 4;
		text ^= text << 8;
		text = (text ^ inside) & 0xffff;
		for (mask &= ~text; mask; mask &= mask - 1) {
			const char *at = p + __builtin_ctz(mask);
			bool opens = (*at | ' ') == '{', good = k->depth < JSON_IN_DEPTH_MAX;

			if (opens && good)
				open_bracket(k, *at);
			else if (!opens)
				good = close_bracket(k, *at);
			if (!good || !k->depth) {
				k->in_string = false;
				return good ? at + 1 : at;
			}
		}
		inside = text >> 15 ? 0xffff : 0;
	}
	k->in_string = inside != 0;
#else
	(void)k;
	(void)end;
#endif
	return p;
}

/* Returns the first quote or bracket, or end. */
static inline const char *find_nested(const char *p, const char *end)
{
	while (p < end && *p != '"' && (*p | ' ') != '{' && (*p | ' ') != '}')
		p++;
	return p;
}

/* Skips a string up to its end or past an escape. Returns false if the window ends before that. */
static bool skip_string(struct json_skip *k, const char **p, const char *end)
{
	const char *q = *p = find_quote(*p, end);

	if (end - q < 2 && (q == end || *q == '\\'))
		return false;
	k->in_string = *q == '\\';
	*p += 1 + k->in_string;
	return true;
}

/* Returns true when the value has ended, just before *p. Otherwise *p is the end of the window, the
 * bracket that is nested too deeply, or (k->bad) the place where the value is malformed. Never
 * stops inside an escape. */
static bool skip_on(struct json_skip *k, const char **p, const char *end)
{
	const char *q = *p;

	while (q < end) {
		if (k->depth) {
			q = skip_blocks(k, q, end);
			if (!k->depth)
				goto done;
		}
		if (k->in_string) {
			if (!skip_string(k, &q, end))
				break;
			if (!k->in_string && !k->depth)
				goto done;
			continue;
		}
		if (k->depth) {
			q = find_nested(q, end);
			if (q == end)
				break;
		} else if (k->begun && (*q == '"' || *q == '{' || *q == '[')) {
			k->bad = true;
			break;
		}
		switch (*q) {
		case '"': k->in_string = k->begun = true; break;
		case '{':
		case '[':
			if (k->depth == JSON_IN_DEPTH_MAX)
				goto out;
			open_bracket(k, *q);
			k->begun = true;
			break;
		case '}':
		case ']':
			if (!k->depth)
				goto done;
			k->bad = !close_bracket(k, *q);
			if (k->bad)
				goto out;
			q += !k->depth;
			if (!k->depth)
				goto done;
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

static bool skip_stop(struct json_in *j, const struct json_skip *k, const char *p)
{
	return json_stop_at(j, p,
	        k->bad                                   ? JSON_STOP_BAD
	        : p < j->end && (*p == '{' || *p == '[') ? JSON_STOP_DEEP
	                                                 : JSON_STOP_MORE);
}

bool json_in_skip(struct json_in *j)
{
	int next = json_in_peek(j);
	struct json_value v;
	struct json_skip k; /* the brackets are set when used */

	if (next != '"' && next != '{' && next != '[')
		return json_in_value(j, &v);
	const char *p = j->p;
	k.depth = 0;
	k.braces = 0;
	k.in_string = k.begun = k.bad = false;
	if (!skip_on(&k, &p, j->end))
		return skip_stop(j, &k, p);
	j->p = p;
	return true;
}

bool json_in_skip_item(struct json_in *j)
{
	struct json_skip k = { .depth = 0 };
	const char *p = j->p;

	while (!skip_on(&k, &p, j->end)) {
		if (skip_stop(j, &k, p) || j->stop != JSON_STOP_MORE)
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
