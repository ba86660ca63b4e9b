/* SPDX-License-Identifier: Apache-2.0
 *
 * Substitution rules as sed writes them. Like pattern.c and pattern_engine.c, this file calls
 * PCRE2.
 */
#include "base/pattern.h"

#include "base/pattern_engine.h"

#define SUBST_NAME_MAX ((size_t)1 << 20) /* maximum size of a resulting name, bytes */
#define SUBST_TOO_LONG PCRE2_ERROR_TOOMANYREPLACE

struct rule {
	struct str text, replacement; /* pattern as given; replacement in PCRE2's syntax */
	bool all;
	struct engine_code code;
	pcre2_match_data *data; /* has room for the pattern's groups */
};

struct pattern_subst {
	struct arena *a;
	VEC(struct rule) v;
	struct engine engine;
	struct sb made[2]; /* two buffers for a name: each rule reads one and writes the other */
	struct guard guard;
};

static void close_rules(void *rules)
{
	struct pattern_subst *l = rules;

	for (size_t i = 0; i < l->v.n; i++)
		pcre2_match_data_free(l->v.v[i].data);
	for (size_t i = 0; i < l->v.n; i++)
		engine_drop(&l->engine, &l->v.v[i].code);
	engine_close(&l->engine);
	l->v.n = 0;
}

/* Returns the part of a rule from `from` up to the next separator without a backslash before it. */
static bool take_part(struct str rule, size_t *from, struct sb *part)
{
	char at = rule.p[1];

	for (size_t i = *from; i < rule.n; i++) {
		if (rule.p[i] == at) {
			*from = i + 1;
			return true;
		}
		if (rule.p[i] == '\\' && i + 1 < rule.n && rule.p[i + 1] == at)
			i++;
		else if (rule.p[i] == '\\' && i + 1 < rule.n)
			sb_char(part, rule.p[i++]);
		sb_char(part, rule.p[i]);
	}
	return false;
}

/* Rewrites \1 as ${1}, and quotes all text that PCRE2 would not read literally. */
static struct str translate(struct arena *a, struct str r)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < r.n; i++) {
		char c = r.p[i], next = i + 1 < r.n ? r.p[i + 1] : '\0';
		bool digit = next >= '0' && next <= '9';

		if ((c == '\\' || c == '$') && digit)
			sb_fmt(&b, "${%c}", r.p[++i]);
		else if (c == '\\' && next)
			sb_put(&b, r.p[++i] == '$' ? S("$$") : str_sub(r, i, 1));
		else
			sb_put(&b, c == '$' ? S("$$") : str_sub(r, i, 1));
	}
	return sb_str(&b);
}

/* Returns the flags from `from` up to the ; or the end. */
static bool take_flags(struct str rules, size_t *from, struct rule *r, uint32_t *options)
{
	for (; *from < rules.n; ++*from) {
		if (rules.p[*from] == 'g')
			r->all = true;
		else if (rules.p[*from] == 'i')
			*options |= PCRE2_CASELESS;
		else
			return rules.p[*from] == ';';
	}
	return true;
}

/* Removes the first rule from the text. */
static bool compile_rule(struct pattern_subst *l, struct rule *r, struct str *rules, struct err *e)
{
	struct sb pattern = sb_in(l->a), replacement = sb_in(l->a);
	uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY;
	size_t at = 2, column;
	int code;

	if (rules->n < 4 || rules->p[0] != 's' || rules->p[1] == '\\' ||
	        !take_part(*rules, &at, &pattern) || !take_part(*rules, &at, &replacement) ||
	        !take_flags(*rules, &at, r, &options))
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-rename: '%.*s' is not s/PATTERN/REPLACEMENT/ with an optional g or i",
		        STR(*rules));
	r->text = str_sub(*rules, 0, at);
	*rules = str_sub(*rules, at + (at < rules->n), SIZE_MAX);
	r->replacement = translate(l->a, sb_str(&replacement));
	if (!engine_compile(&l->engine, &r->code, sb_str(&pattern), options, &code, &column))
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-rename: '%.*s': column %zu of the pattern: %.*s", STR(r->text),
		        column + 1, STR(engine_reason(l->a, code)));
	r->data = pcre2_match_data_create_from_pattern(r->code.plain, l->engine.general);
	if (!r->data)
		work_escape(l->a->work);
	return true;
}

bool pattern_subst_compile(
        struct pattern_subst **out, struct arena *a, struct str rules, struct err *e)
{
	struct pattern_subst *l = ARENA_NEW(a, struct pattern_subst);

	l->a = a;
	l->made[0] = l->made[1] = sb_in(a);
	engine_open(&l->engine, a, &l->guard, close_rules, l);
	while (rules.n) {
		VEC_PUSH(a, &l->v, (struct rule){ .all = false });
		if (!compile_rule(l, &l->v.v[l->v.n - 1], &rules, e)) {
			pattern_subst_free(l);
			return false;
		}
	}
	*out = l;
	return true;
}

void pattern_subst_free(struct pattern_subst *l)
{
	if (!l)
		return;
	arena_unguard(l->a, &l->guard);
	close_rules(l);
}

/* State of one substitution. */
struct substitution {
	struct pattern_subst *l;
	const struct rule *r;
	struct str text;
	struct sb *made;
};

/* Writes the new name to `made`. Returns the number of replacements, or PCRE2's error. */
static int change_run(void *change, const pcre2_code *code, uint32_t options)
{
	const struct substitution *x = change;
	struct str text = x->text, with = x->r->replacement;
	PCRE2_SIZE room = text.n + with.n + 64;
	int n = PCRE2_ERROR_NOMEMORY;

	options |= PCRE2_SUBSTITUTE_EXTENDED | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH |
	           PCRE2_SUBSTITUTE_UNSET_EMPTY | PCRE2_SUBSTITUTE_UNKNOWN_UNSET |
	           (x->r->all ? PCRE2_SUBSTITUTE_GLOBAL : 0);
	for (int round = 0; round < 2 && n == PCRE2_ERROR_NOMEMORY; round++) {
		if (room > SUBST_NAME_MAX)
			return SUBST_TOO_LONG;
		x->made->n = 0;
		char *to = sb_room(x->made, ++room);
		n = pcre2_substitute(code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0, options,
		        x->r->data, x->l->engine.matching, (PCRE2_SPTR)(with.n ? with.p : ""),
		        with.n, (PCRE2_UCHAR *)to, &room);
		if (n == PCRE2_ERROR_NOMEMORY && room == PCRE2_UNSET)
			return n; /* memory is exhausted, not the room */
	}
	if (n > 0)
		x->made->n = room;
	return n == PCRE2_ERROR_NOMEMORY ? SUBST_TOO_LONG : n;
}

/* Applies one rule. If it matches, *text becomes the new text in `made`. */
static bool apply_rule(
        struct pattern_subst *l, struct rule *r, struct str *text, struct sb *made, struct err *e)
{
	struct substitution change = { l, r, *text, made };
	const struct engine_run how = { change_run, &change, text->n };
	int n = engine_run(&l->engine, &r->code, &how);

	if (n > 0)
		*text = sb_str(made);
	/* Text that is not UTF-8 matches nothing. */
	if (n >= 0 || (n <= PCRE2_ERROR_UTF8_ERR1 && n >= PCRE2_ERROR_UTF8_ERR21))
		return true;
	return err_set(e, n == PCRE2_ERROR_CALLOUT ? ERR_CANCELLED : ERR_RESOURCE,
	        "-rename: '%.*s' gave up matching a name of %zu bytes", STR(r->text), text->n);
}

bool pattern_subst_apply(
        struct pattern_subst *l, struct str text, struct arena *a, struct str *out, struct err *e)
{
	struct str now = text;

	for (size_t i = 0; i < l->v.n; i++)
		if (!apply_rule(l, &l->v.v[i], &now, &l->made[now.p == l->made[0].p], e))
			return false;
	*out = now.p == text.p ? text : str_copy(a, now);
	return true;
}
