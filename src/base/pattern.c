/* SPDX-License-Identifier: Apache-2.0
 *
 * Pattern lists over PCRE2 with RE2's meaning: `.` is one UTF-8 character, so text that is not
 * valid UTF-8 matches nothing; \s and \v are rewritten; $ is the very end. A pattern with \C
 * matches bytes throughout. Patterns of literals and .* alone are compared without PCRE2.
 */
#include "base/pattern.h"

#include "base/pattern_engine.h"

#define RX_SHOWN 100 /* maximum bytes of a text that an error quotes */

enum pattern_kind { RX_ENGINE, RX_EXACT, RX_PREFIX, RX_SUFFIX, RX_PART, RX_PIECES };

struct pattern {
	struct str pattern; /* pattern as the user wrote it */
	struct str literal; /* used by RX_EXACT to RX_PART */
	struct strs pieces; /* used by RX_PIECES: two or more literals with .* between them */
	bool before, after; /* true: a .* before the first literal, and after the last literal */
	enum pattern_kind kind;
	bool bytes; /* true: matched as bytes, not as UTF-8 */
	struct engine_code code;
};

struct pattern_list {
	struct arena *a;
	struct pattern *v;
	size_t n;
	struct engine engine; /* closed while the list has no patterns */
	struct guard guard;
	const struct pattern *failed; /* the first pattern that failed, the reason and the text */
	int reason;
	size_t failed_n; /* length of the text */
	char failed_text[RX_SHOWN];
};

/* Returns the PCRE2 text for an escape that RE2 interprets differently; empty for all other
 * escapes. Inside a class, the text becomes a part of the class. */
static struct str escape_meaning(char c, bool in_class)
{
	switch (c) {
	case 's': return in_class ? S("\\t\\n\\f\\r[:blank:]") : S("[\\t\\n\\f\\r ]");
	case 'S': return in_class ? S("\\x0b[:^space:]") : S("[^\\t\\n\\f\\r ]");
	case 'v': return S("\\x0b");
	default: return STR_NONE;
	}
}

/* Returns the length of the piece at i that is copied as a whole: \Q...\E, or a named class. */
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

/* State of the rewriting of a pattern. */
struct scan {
	struct str p;
	size_t i, n;     /* the current piece */
	bool in_class;   /* true: between [ and ] */
	bool after_set;  /* true: in a class, directly after \s, \d, [:alpha:] or similar */
	size_t class_at; /* position where ] would be a member instead of the end */
};

static char scan_char(const struct scan *s, size_t ahead)
{
	return ahead < s->p.n - s->i ? s->p.p[s->i + ahead] : '\0';
}

/* Appends the PCRE2 text for a backslash and the character after it. */
static struct str rewrite_escape(struct scan *s)
{
	char c = scan_char(s, 1);
	struct str meaning = escape_meaning(c, s->in_class);

	s->n = 2;
	s->after_set = s->in_class && c && strchr("sSdDwW", c);
	return meaning.n ? meaning : str_sub(s->p, s->i, 2);
}

/* Appends the PCRE2 text for a single character. PCRE2 needs an escaped literal hyphen after a
 * set, and takes [:a] [.a] [=a] for named classes. */
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

/* Returns the pattern in PCRE2's syntax; sets *bytes if it contains \C. */
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

/* Reads one literal of a pattern, from *i up to a .* or the end, without backslashes. Returns false
 * if anything else follows. Sets *any if a .* ended it; then *i is after the .*. */
static bool take_literal(struct str p, size_t *i, struct sb *b, bool *any)
{
	for (*any = false; *i < p.n; ++*i) {
		char c = p.p[*i];

		if (c == '.' && *i + 1 < p.n && p.p[*i + 1] == '*') {
			*i += 2;
			*any = true;
			return true;
		}
		if (c == '\\') {
			c = ++*i < p.n ? p.p[*i] : 'a';
			if (!memchr("/.-:+*?()[]{}|^$\\", c, 17))
				return false;
		} else if (memchr(".[](){}*+?|^$", c, 13)) {
			return false;
		}
		sb_char(b, c);
	}
	return true;
}

/* Stores the literals of a pattern that consists of literals and .* alone. */
static void find_literals(struct arena *a, struct pattern *r)
{
	static const enum pattern_kind kinds[2][2] = { { RX_EXACT, RX_PREFIX },
		{ RX_SUFFIX, RX_PART } };
	struct strs pieces = { 0 };
	bool any = true;

	r->before = str_starts(r->pattern, S(".*"));
	for (size_t i = r->before ? 2 : 0; any;) {
		struct sb b = sb_in(a);
		if (!take_literal(r->pattern, &i, &b, &any))
			return;
		r->after = !b.n && !any && (pieces.n || r->before);
		if (b.n || !any)
			strs_add(a, &pieces, sb_str(&b));
	}
	pieces.n -= r->after && pieces.n > 1;
	r->literal = pieces.v[0];
	r->pieces = pieces;
	r->kind = pieces.n > 1 ? RX_PIECES : kinds[r->before][r->after];
}

/* Compiles pattern r. Reports an error at its position in the given pattern. */
static bool compile_one(struct pattern_list *l, struct pattern *r, struct err *e)
{
	struct str text = rewrite(l->a, r->pattern, &r->bytes);
	uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
	                   PCRE2_ALT_CIRCUMFLEX | (r->bytes ? PCRE2_NEVER_UTF : PCRE2_UTF);
	struct engine_code as_given;
	size_t offset, at;
	int code, other;

	if (engine_compile(&l->engine, &r->code, text, options, &code, &offset)) {
		find_literals(l->a, r);
		return true;
	}
	if (engine_compile(&l->engine, &as_given, r->pattern, options, &other, &at))
		engine_drop(&l->engine, &as_given);
	else
		offset = at;
	bool cut = r->pattern.n > RX_SHOWN;
	struct str shown = str_sub(r->pattern, 0, cut ? RX_SHOWN : r->pattern.n);
	bool glob = r->pattern.n && r->pattern.p[0] == '*';
	return err_set(e, ERR_INVALID_ARGUMENT, "pattern '%.*s%s': column %zu: %.*s%s", STR(shown),
	        cut ? "..." : "", offset + 1, STR(engine_reason(l->a, code)),
	        glob ? "; .* stands for any text" : "");
}

/* Closes the PCRE2 objects and empties the list. */
static void close_list(void *list)
{
	struct pattern_list *l = list;

	for (size_t i = 0; i < l->n; i++)
		engine_drop(&l->engine, &l->v[i].code);
	engine_close(&l->engine);
	l->n = 0;
}

bool pattern_compile(
        struct pattern_list **out, struct arena *a, const struct strs *patterns, struct err *e)
{
	struct pattern_list *l = ARENA_NEW(a, struct pattern_list);

	l->a = a;
	l->v = ARENA_ARRAY(a, patterns->n, struct pattern);
	if (patterns->n)
		engine_open(&l->engine, a, &l->guard, close_list, l);
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

/* The pattern is first compiled alone, so that an error shows it as it was given. */
bool pattern_compile_within(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e)
{
	struct strs one = { 0 };

	strs_add(a, &one, pattern);
	if (!pattern_compile(out, a, &one, e))
		return false;
	pattern_free(*out);
	one.v[0] = str_fmt(a, "(?s:.*)(?:%.*s)(?s:.*)", STR(pattern));
	return pattern_compile(out, a, &one, e);
}

void pattern_free(struct pattern_list *l)
{
	if (!l)
		return;
	arena_unguard(l->a, &l->guard);
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

/* State of one match. */
struct attempt {
	const struct pattern_list *l;
	const struct pattern *r;
	struct str text;
};

static int attempt_run(void *attempt, const pcre2_code *code, uint32_t options)
{
	const struct attempt *t = attempt;

	return pcre2_match(code, (PCRE2_SPTR)(t->text.n ? t->text.p : ""), t->text.n, 0,
	        options | (t->r->bytes ? 0 : PCRE2_NO_UTF_CHECK), t->l->engine.data,
	        t->l->engine.matching);
}

/* Runs the compiled pattern. */
static bool run(struct pattern_list *l, struct pattern *r, struct str text)
{
	struct attempt attempt = { l, r, text };
	const struct engine_run how = { attempt_run, &attempt, text.n };
	int n = engine_run(&l->engine, &r->code, &how);

	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return n >= 0;
	l->failed = r;
	l->reason = n;
	l->failed_n = text.n;
	if (text.n)
		memcpy(l->failed_text, text.p, text.n < RX_SHOWN ? text.n : RX_SHOWN);
	return false;
}

/* True if the pieces occur in order. Each piece is matched as early as possible, so one pass
 * suffices. */
static bool pieces_fit(const struct pattern *r, struct str text)
{
	const struct strs *p = &r->pieces;
	struct str last = p->v[p->n - 1];
	size_t from = 0, to = p->n - !r->after;

	if ((!r->before && !str_starts(text, p->v[0])) || (!r->after && !str_ends(text, last)))
		return false;
	for (size_t i = 0; i < to; i++) {
		size_t at = str_find(str_sub(text, from, SIZE_MAX), p->v[i]);
		if (at == SIZE_MAX)
			return false;
		from += at + p->v[i].n;
	}
	return r->after || from <= text.n - last.n;
}

/* True if the text begins, ends, or begins and ends with the literal, as the pattern requires. */
static bool literal_fits(const struct pattern *r, struct str text)
{
	switch (r->kind) {
	case RX_EXACT: return str_eq(text, r->literal);
	case RX_PREFIX: return str_starts(text, r->literal);
	case RX_SUFFIX: return str_ends(text, r->literal);
	case RX_PART: return str_contains(text, r->literal);
	case RX_PIECES: return pieces_fit(r, text);
	default: return true;
	}
}

/* True if r matches. is_utf8 caches whether the text is UTF-8; -1: not checked yet. */
static bool match(struct pattern_list *l, struct pattern *r, struct str text, int *is_utf8)
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
	/* .* matches anything except a newline; the engine decides where a newline is allowed. */
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

	if (!l->failed)
		return false;
	if (l->reason == PCRE2_ERROR_CALLOUT)
		err_set(e, ERR_CANCELLED, "pattern '%.*s': matching was cancelled",
		        STR(str_sub(l->failed->pattern, 0, RX_SHOWN)));
	else
		err_set(e, ERR_RESOURCE,
		        "pattern '%.*s': gave up matching '%.*s%s' (%zu bytes): %.*s",
		        STR(str_sub(l->failed->pattern, 0, RX_SHOWN)), STR(text), cut ? "..." : "",
		        l->failed_n, STR(engine_reason(l->a, l->reason)));
	return true;
}
