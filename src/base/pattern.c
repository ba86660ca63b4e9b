/* SPDX-License-Identifier: Apache-2.0
 *
 * Pattern lists over PCRE2, with the meaning RE2 gives to what it accepts: `.` is one UTF-8
 * character, so a text that is not UTF-8 matches nothing; \s and \v are rewritten; $ is the very
 * end. A pattern with \C is about bytes throughout.
 * Patterns that are a literal with or without .* around it are compared without PCRE2.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/pattern.h"

#include <pcre2.h>

#define RX_MATCH_LIMIT 30000000   /* steps of one match, below a second */
#define RX_BACK_WORK   1000000000 /* the same where a step may compare the whole text */
#define RX_HEAP_LIMIT  (64 << 10) /* KiB of backtracking state */
#define RX_NEST_LIMIT  1000       /* parentheses, as in RE2 */
#define RX_SHOWN       100        /* bytes of a text quoted in an error */

enum pattern_kind { RX_ENGINE, RX_EXACT, RX_PREFIX, RX_SUFFIX, RX_PART };

struct pattern {
	struct str pattern; /* as given */
	struct str literal; /* unless kind is RX_ENGINE */
	enum pattern_kind kind;
	bool bytes; /* matched as bytes, not as UTF-8 */
	bool back;  /* refers back to what a group matched; is interpreted, as that counts better */
	pcre2_code *code;
};

struct pattern_list {
	struct arena *a;
	struct pattern *v;
	size_t n;
	pcre2_compile_context *compiling;
	pcre2_match_context *matching;
	pcre2_match_data *data;
	struct guard guard;
	const struct pattern *failed; /* the first pattern that gave up, and why and where */
	int reason;
	size_t failed_n; /* length of the text */
	char failed_text[RX_SHOWN];
};

/* What stands for an escape that RE2 understands differently; empty for all others. Of a class
 * they become a part. */
static struct str escape_meaning(char c, bool in_class)
{
	switch (c) {
	case 's': return in_class ? S("\\t\\n\\f\\r[:blank:]") : S("[\\t\\n\\f\\r ]");
	case 'S': return in_class ? S("\\x0b[:^space:]") : S("[^\\t\\n\\f\\r ]");
	case 'v': return S("\\x0b");
	default: return STR_NONE;
	}
}

/* Length of the piece of a pattern at i that is copied as a whole: \Q...\E, or a named class. */
static size_t verbatim_length(struct str p, size_t i, bool in_class)
{
	struct str rest = str_sub(p, i, SIZE_MAX), end;
	size_t n;

	if (str_starts(rest, S("\\Q")))
		end = S("\\E");
	else if (in_class && str_starts(rest, S("[:")))
		end = S(":]");
	else
		return 0;
	n = str_find(str_sub(rest, 2, SIZE_MAX), end);
	if (n == SIZE_MAX)
		return end.p[0] == '\\' ? rest.n : 0;
	return n + 4;
}

/* Where in a pattern rewrite is. */
struct scan {
	struct str p;
	size_t i, n;     /* the piece at hand */
	bool in_class;   /* between [ and ] */
	bool after_set;  /* in a class, right behind a \s, \d, [:alpha:] or the like */
	size_t class_at; /* where the ] would be a member, not the end */
};

static char scan_char(const struct scan *s, size_t ahead)
{
	return ahead < s->p.n - s->i ? s->p.p[s->i + ahead] : '\0';
}

/* What stands for a backslash and the character behind it. */
static struct str rewrite_escape(struct scan *s)
{
	char c = scan_char(s, 1);
	struct str meaning = escape_meaning(c, s->in_class);

	s->n = 2;
	s->after_set = s->in_class && c && strchr("sSdDwW", c);
	return meaning.n ? meaning : str_sub(s->p, s->i, 2);
}

/* What stands for a single character. PCRE2 wants a literal hyphen behind a set escaped, and takes
 * [:a] [.a] [=a] for named classes. */
static struct str rewrite_char(struct scan *s)
{
	char c = scan_char(s, 0), next = scan_char(s, 1);
	bool hyphen = s->after_set && c == '-';

	s->n = 1;
	s->after_set = false;
	if (s->in_class) {
		s->in_class = c != ']' || s->i == s->class_at;
		return hyphen ? S("\\-") : str_sub(s->p, s->i, 1);
	}
	if (c != '[')
		return str_sub(s->p, s->i, 1);
	s->in_class = true;
	s->class_at = s->i + (next == '^' ? 2 : 1);
	return next == ':' || next == '.' || next == '=' ? S("[\\") : S("[");
}

/* The pattern in PCRE2's words; *bytes tells whether it has a \C. */
static struct str rewrite(struct arena *a, struct str p, bool *bytes)
{
	struct scan s = { .p = p };
	struct sb b = sb_in(a);

	*bytes = false;
	for (; s.i < p.n; s.i += s.n) {
		s.n = verbatim_length(p, s.i, s.in_class);
		if (s.n) {
			s.after_set = s.in_class && p.p[s.i] == '[';
			sb_put(&b, str_sub(p, s.i, s.n));
		} else if (p.p[s.i] == '\\' && s.i + 1 < p.n) {
			*bytes |= p.p[s.i + 1] == 'C';
			sb_put(&b, rewrite_escape(&s));
		} else {
			sb_put(&b, rewrite_char(&s));
		}
	}
	return sb_str(&b);
}

/* Finds out whether a pattern is [.*]literal[.*]. */
static void find_literal(struct arena *a, struct pattern *r)
{
	static const enum pattern_kind kinds[2][2] = { { RX_EXACT, RX_PREFIX },
		{ RX_SUFFIX, RX_PART } };
	struct str p = r->pattern;
	struct sb b = sb_in(a);
	bool before = str_starts(p, S(".*")), after = false;

	for (size_t i = before ? 2 : 0; i < p.n; i++) {
		char c = p.p[i];

		if (c == '.' && i + 2 == p.n && p.p[i + 1] == '*') {
			after = true;
			break;
		}
		if (c == '\\') {
			c = ++i < p.n ? p.p[i] : 'a';
			if (!memchr("/.-:+*?()[]{}|^$\\", c, 17))
				return;
		} else if (memchr(".[](){}*+?|^$", c, 13)) {
			return;
		}
		sb_char(&b, c);
	}
	r->literal = sb_str(&b);
	r->kind = kinds[before][after];
}

/* Compiles p; if that fails, *code and *offset say why and where. */
static pcre2_code *compile(
        const struct pattern_list *l, struct str p, bool bytes, int *code, size_t *offset)
{
	uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
	                   PCRE2_ALT_CIRCUMFLEX | (bytes ? PCRE2_NEVER_UTF : PCRE2_UTF);
	pcre2_code *c = pcre2_compile(
	        (PCRE2_SPTR)(p.n ? p.p : ""), p.n, options, code, offset, l->compiling);

	if (!c && *code == PCRE2_ERROR_HEAP_FAILED)
		work_escape(l->a->work);
	return c;
}

static bool refers_back(const pcre2_code *code)
{
	uint32_t most = 0;

	return pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &most) == 0 && most > 0;
}

/* Compiles pattern r; an error is reported at its place in the pattern as given. */
static bool compile_one(const struct pattern_list *l, struct pattern *r, struct err *e)
{
	struct arena_mark m = arena_mark(l->a);
	struct str text = rewrite(l->a, r->pattern, &r->bytes);
	PCRE2_UCHAR reason[256];
	pcre2_code *as_given;
	size_t offset, at;
	int code;

	r->code = compile(l, text, r->bytes, &code, &offset);
	arena_reset(l->a, m);
	if (r->code) {
		find_literal(l->a, r);
		r->back = refers_back(r->code);
		if (r->kind == RX_ENGINE && !r->back)
			pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE); /* else interpreted */
		return true;
	}
	pcre2_get_error_message(code, reason, sizeof reason);
	as_given = compile(l, r->pattern, r->bytes, &code, &at);
	if (as_given)
		pcre2_code_free(as_given);
	else
		offset = at;
	bool cut = r->pattern.n > RX_SHOWN;
	struct str shown = str_sub(r->pattern, 0, cut ? RX_SHOWN : r->pattern.n);
	bool glob = r->pattern.n && r->pattern.p[0] == '*';
	return err_set(e, ERR_INVALID_ARGUMENT, "pattern '%.*s%s': column %zu: %s%s", STR(shown),
	        cut ? "..." : "", offset + 1, (const char *)reason,
	        glob ? "; .* stands for any text" : "");
}

/* Closes what PCRE2 holds; the list then is empty. */
static void close_list(void *list)
{
	struct pattern_list *l = list;

	for (size_t i = 0; i < l->n; i++)
		pcre2_code_free(l->v[i].code);
	pcre2_match_data_free(l->data);
	pcre2_match_context_free(l->matching);
	pcre2_compile_context_free(l->compiling);
	l->data = NULL;
	l->matching = NULL;
	l->compiling = NULL;
	l->n = 0;
}

/* The contexts that carry the limits. */
static void open_contexts(struct pattern_list *l)
{
	l->compiling = pcre2_compile_context_create(NULL);
	l->matching = pcre2_match_context_create(NULL);
	l->data = pcre2_match_data_create(1, NULL);
	if (!l->compiling || !l->matching || !l->data)
		work_escape(l->a->work);
	pcre2_set_newline(l->compiling, PCRE2_NEWLINE_LF);
	pcre2_set_parens_nest_limit(l->compiling, RX_NEST_LIMIT);
	pcre2_set_heap_limit(l->matching, RX_HEAP_LIMIT);
}

bool pattern_compile(
        struct pattern_list **out, struct arena *a, const struct strs *patterns, struct err *e)
{
	struct pattern_list *l = ARENA_NEW(a, struct pattern_list);

	l->a = a;
	l->v = ARENA_ARRAY(a, patterns->n, struct pattern);
	work_guard(a->work, &l->guard, close_list, l);
	if (patterns->n)
		open_contexts(l);
	for (size_t i = 0; i < patterns->n; i++) {
		l->v[i].pattern = str_copy(a, patterns->v[i]);
		l->n = i + 1;
		if (!compile_one(l, &l->v[i], e)) {
			pattern_free(l);
			return false;
		}
	}
	*out = l;
	return true;
}

void pattern_free(struct pattern_list *l)
{
	if (!l)
		return;
	work_unguard(l->a->work, &l->guard);
	close_list(l);
}

bool pattern_is_all(const struct pattern_list *l)
{
	return l->n == 1 && str_eq(l->v[0].pattern, S(".*"));
}

bool pattern_is_empty(const struct pattern_list *l)
{
	return l->n == 0;
}

size_t pattern_count(const struct pattern_list *l)
{
	return l->n;
}

/* Runs the compiled pattern. The stack of compiled code is small: what exceeds it is interpreted.
 */
static bool run(struct pattern_list *l, const struct pattern *r, struct str text)
{
	PCRE2_SPTR p = (PCRE2_SPTR)(text.n ? text.p : "");
	uint32_t options = r->bytes ? 0 : PCRE2_NO_UTF_CHECK;

	work_poll(l->a->work); /* each match may take long, and there may be many */
	size_t steps = r->back ? RX_BACK_WORK / (text.n + 1) : RX_MATCH_LIMIT;
	pcre2_set_match_limit(
	        l->matching, steps < RX_MATCH_LIMIT ? (uint32_t)steps : RX_MATCH_LIMIT);
	int n = pcre2_match(r->code, p, text.n, 0, options, l->data, l->matching);

	if (n == PCRE2_ERROR_JIT_STACKLIMIT)
		n = pcre2_match(
		        r->code, p, text.n, 0, options | PCRE2_NO_JIT, l->data, l->matching);
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return n >= 0;
	if (n == PCRE2_ERROR_NOMEMORY)
		work_escape(l->a->work);
	l->failed = r;
	l->reason = n;
	l->failed_n = text.n;
	if (text.n)
		memcpy(l->failed_text, text.p, text.n < RX_SHOWN ? text.n : RX_SHOWN);
	return false;
}

/* Does the text begin, end, or begin and end as the literal demands? */
static bool literal_fits(const struct pattern *r, struct str text)
{
	switch (r->kind) {
	case RX_EXACT: return str_eq(text, r->literal);
	case RX_PREFIX: return str_starts(text, r->literal);
	case RX_SUFFIX: return str_ends(text, r->literal);
	case RX_PART: return str_contains(text, r->literal);
	default: return true;
	}
}

/* Does r match? is_utf8 remembers what has been found out about the text: -1 nothing. */
static bool match(struct pattern_list *l, const struct pattern *r, struct str text, int *is_utf8)
{
	if (l->failed || !literal_fits(r, text))
		return false;
	if (r->kind == RX_EXACT)
		return true;
	if (!r->bytes) {
		if (*is_utf8 < 0)
			*is_utf8 = str_is_utf8(text);
		if (!*is_utf8)
			return false;
	}
	/* The .* may stand for anything but a newline; the engine knows where one is allowed. */
	if (r->kind != RX_ENGINE && str_find_char(text, '\n') == SIZE_MAX)
		return true;
	return run(l, r, text);
}

bool pattern_match(struct pattern_list *l, struct str text)
{
	int is_utf8 = -1;

	for (size_t i = 0; i < l->n; i++) {
		if (match(l, &l->v[i], text, &is_utf8))
			return true;
	}
	return false;
}

bool pattern_match_one(struct pattern_list *l, size_t i, struct str text)
{
	int is_utf8 = -1;

	return match(l, &l->v[i], text, &is_utf8);
}

bool pattern_failed(const struct pattern_list *l, struct err *e)
{
	bool cut = l->failed_n > RX_SHOWN;
	struct str text = str_make(l->failed_text, cut ? RX_SHOWN : l->failed_n);
	PCRE2_UCHAR reason[256];

	if (!l->failed)
		return false;
	pcre2_get_error_message(l->reason, reason, sizeof reason);
	err_set(e, ERR_RESOURCE, "pattern '%.*s': gave up on '%.*s%s' (%zu bytes): %s",
	        STR(str_sub(l->failed->pattern, 0, RX_SHOWN)), STR(text), cut ? "..." : "",
	        l->failed_n, (const char *)reason);
	return true;
}
