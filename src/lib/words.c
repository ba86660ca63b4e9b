/* SPDX-License-Identifier: Apache-2.0
 *
 * See words.h.
 */
#include "lib/words.h"

#include "lib/checkpoint.h"
#include "lib/diff_internal.h"
#include "base/quantity.h"

#define TIME_MAX ((int64_t)INT32_MAX * 1000) /* milliseconds */

#define WORDS(command) const struct word command##_words[] = {
#define WORD(command, t, field, name_, value_, help_, ...)                                         \
	{ .name = name_,                                                                           \
		.value = value_,                                                                   \
		.help = help_,                                                                     \
		.type = WORD_##t,                                                                  \
		.at = offsetof(struct command##_words, field),                                     \
		__VA_ARGS__ },
#define WORDS_END                                                                                  \
	{                                                                                          \
		.name = NULL                                                                       \
	}                                                                                          \
	}                                                                                          \
	;
/* clang-format off */
#include "lib/word.def"
/* clang-format on */
#undef WORDS
#undef WORD
#undef WORDS_END

void word_usage(struct sb *b, const struct word *w)
{
	bool letter = w->name[1] == '\0';

	sb_fmt(b, "%s%s", letter ? "-" : "--", w->name);
	if (w->value)
		sb_fmt(b, "%s%s%s%s", w->alone ? "[" : "", letter ? " " : "=", w->value,
		        w->alone ? "]" : "");
}

const struct word *word_find(const struct word *table, struct str name)
{
	for (; table && table->name; table++)
		if (str_eq(str_of(table->name), name))
			return table;
	return NULL;
}

struct strs word_choices(struct arena *a, const struct word *w)
{
	return str_split(a, str_of(w->value), '|');
}

static const char *dashes(const struct word *w)
{
	return w->name[1] ? "--" : "-";
}

static bool unknown(struct session *s, const struct words *w, struct str word, struct str name)
{
	const struct command *c = w->command;
	struct arena *a = &s->query_arena;
	struct strs names = { 0 };
	struct option rows[OPTIONS_MAX];
	size_t n = w->opts ? option_rows(rows) : 0;
	struct sb all = sb_in(a);

	for (const struct word *x = c->words; x->name; x++) {
		strs_add(a, &names, str_of(x->name));
		sb_fmt(&all, "%s%s%s", all.n ? ", " : "", dashes(x), x->name);
	}
	for (size_t i = 0; i < n; i++)
		strs_add(a, &names, str_of(rows[i].name));
	struct str near = nearest_word(name, names.v, names.n);
	const struct word *own = word_find(c->words, near);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "%s has no option '%.*s'; did you mean '%s%.*s'?", c->name, STR(word),
		        own ? dashes(own) : "-", STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s has no option '%.*s'; it has %.*s%s",
	        c->name, STR(word), STR(all.n ? sb_str(&all) : S("none")),
	        n ? " and those of the views" : "");
}

/* ---- values ---- */

static bool set_choice(struct arena *a, const struct word *x, struct str value, int *at)
{
	struct strs choices = word_choices(a, x);

	for (size_t i = 0; i < choices.n; i++) {
		if (str_eq(choices.v[i], value)) {
			*at = (int)i;
			return true;
		}
	}
	return false;
}

/* Reads a time in milliseconds; without a unit the value counts in `bare`. */
static bool set_time(struct str value, int64_t bare, int64_t least, int64_t *at)
{
	return quantity_parse_time(value, bare, QUANTITY_MS, at) && *at >= least && *at <= TIME_MAX;
}

/* Reads an amount of bytes. */
static bool set_bytes(struct str value, int64_t least, int64_t *at)
{
	return quantity_parse(value, QUANTITY_BYTES, at) && *at >= least;
}

/* What the value is, if it is not this; else NULL. */
static const char *set(struct arena *a, const struct word *x, struct str value, void *at)
{
	switch (x->type) {
	case WORD_SWITCH: *(bool *)at = true; break;
	case WORD_TEXT: *(struct str *)at = value; return value.n ? NULL : "empty:";
	case WORD_TEXTS: strs_add(a, at, value); break;
	case WORD_LIST:
		*(struct strs *)at = str_split(a, value, ',');
		return ((struct strs *)at)->n ? NULL : "no list, such as A,B:";
	case WORD_CHOICE: return set_choice(a, x, value, at) ? NULL : "none of";
	case WORD_COUNT:
		return quantity_parse(value, QUANTITY_COUNT, at) && *(int64_t *)at > 0
		               ? NULL
		               : "not a number above 0:";
	case WORD_SECONDS:
		return set_time(value, QUANTITY_S, 0, at) ? NULL
		                                          : "not a time such as 3, 0.5 or 20ms:";
	case WORD_MILLISECONDS:
		return set_time(value, QUANTITY_MS, 1, at)
		               ? NULL
		               : "not a time of 1ms or more, such as 20ms:";
	case WORD_SIZE:
		return set_bytes(value, 1, at) ? NULL : "not a size above 0, such as 500M or 2Gi:";
	case WORD_QUANTITY: return set_bytes(value, 0, at) ? NULL : "not a size, such as 1MB:";
	case WORD_SHARE:
		return quantity_parse_share(value, at) && *(double *)at >= 0
		               ? NULL
		               : "not a share, such as 0.1 or 10%:";
	}
	return NULL;
}

/* ---- words ---- */

/* An option of one letter with its value right behind it, such as -oDIR. */
static const struct word *find_attached(
        const struct word *table, struct str word, struct str *value, bool *has_value)
{
	const struct word *x = word_find(table, str_sub(word, 1, 1));

	if (!x || !x->value)
		return NULL;
	*value = str_sub(word, 2, SIZE_MAX);
	*has_value = true;
	return x;
}

bool words_take(struct session *s, const struct strs *words, size_t *i, struct words *w)
{
	struct arena *a = &s->query_arena;
	struct str name, value;
	struct sb usage = sb_in(a);
	struct option row;
	bool has_value;

	cmd_option_word(words->v[*i], &name, &value, &has_value);
	const struct word *x = word_find(w->command->words, name);
	if (!x && w->opts && option_find(name, &row)) {
		strs_add(a, &w->given, name);
		return cmd_check_option(s, w->command, &row) &&
		       cmd_set_option(s, &row, words, i, has_value, value, w->opts);
	}
	if (!x)
		x = find_attached(w->command->words, words->v[*i], &value, &has_value);
	if (!x)
		return unknown(s, w, words->v[*i], name);
	void *at = (char *)w->into + x->at;
	word_usage(&usage, x);
	if (!x->value && has_value)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s takes no value", x->name);
	if (x->alone && !has_value) {
		*(int *)at = 0;
		return true;
	}
	if (x->value && !has_value) {
		if (*i + 1 == words->n)
			return session_fail(s, ERR_INVALID_ARGUMENT, "%s%s needs a value: %.*s",
			        dashes(x), x->name, STR(sb_str(&usage)));
		value = words->v[++*i];
	}
	if (!w->command->program) /* there the shell has done it */
		value = str_strip_quotes(value);
	const char *is = set(a, x, value, at);
	return !is || session_fail(s, ERR_INVALID_ARGUMENT, "'%.*s' is %s %.*s", STR(value), is,
	                      STR(sb_str(&usage)));
}

bool words_read(struct session *s, const struct strs *words, struct words *w)
{
	struct str name, value;
	bool has_value, options = true;

	for (size_t i = 0; i < words->n; i++) {
		if (options && str_eq(words->v[i], S("--"))) {
			options = false;
		} else if (options && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!words_take(s, words, &i, w))
				return false;
		} else {
			strs_add(&s->query_arena, &w->rest, words->v[i]);
			options &= !w->command->starts;
		}
	}
	return true;
}

bool words_want_help(const struct command *c, const struct strs *words)
{
	struct str name, value;
	bool has_value, is_value = false; /* the word is that of the option before it */

	for (size_t i = 0; i < words->n && !str_eq(words->v[i], S("--")); i++) {
		if (str_eq(words->v[i], S("--help")) || str_eq(words->v[i], S("-h")))
			return true;
		bool option = cmd_option_word(words->v[i], &name, &value, &has_value);
		if (c->starts && !option && !is_value)
			return false;
		const struct word *x = option && !has_value ? word_find(c->words, name) : NULL;
		is_value = x && x->value && !x->alone;
	}
	return false;
}
