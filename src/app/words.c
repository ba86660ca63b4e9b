/* SPDX-License-Identifier: Apache-2.0
 *
 * See words.h.
 */
#include "app/words.h"

#include "app/cmd.h"
#include "app/ctl.h"
#include "app/doctor.h"
#include "app/gpu.h"
#include "app/record.h"

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
#include "app/word.def"
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

static const struct word *find(const struct word *table, struct str name)
{
	for (; table->name; table++)
		if (str_eq(str_of(table->name), name))
			return table;
	return NULL;
}

static bool unknown(struct session *s, const struct words *w, struct str word, struct str name)
{
	struct arena *a = &s->query_arena;
	struct strs names = { 0 };
	struct sb all = sb_in(a);

	for (const struct word *x = w->table; x->name; x++) {
		strs_add(a, &names, str_of(x->name));
		sb_put(&all, x == w->table ? S("") : S(", "));
		sb_fmt(&all, "%s%s", x->name[1] ? "--" : "-", x->name);
	}
	struct str near = nearest_word(name, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "%s has no option '%.*s'; did you mean '%s%.*s'?", w->command, STR(word),
		        near.n > 1 ? "--" : "-", STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s has no option '%.*s'; it has %.*s",
	        w->command, STR(word), STR(sb_str(&all)));
}

/* ---- values ---- */

static bool set_choice(struct arena *a, const struct word *x, struct str value, int *at)
{
	struct strs choices = str_split(a, str_of(x->value), '|');

	for (size_t i = 0; i < choices.n; i++) {
		if (str_eq(choices.v[i], value)) {
			*at = (int)i;
			return true;
		}
	}
	return false;
}

/* "3", "0.5": as milliseconds. */
static bool set_seconds(struct str value, int64_t *at)
{
	size_t point = str_find_char(value, '.');
	struct str part = point == SIZE_MAX ? STR_NONE : str_sub(value, point + 1, 3);
	int64_t whole = 0, milli = 0;

	if (!num_parse_i64(str_sub(value, 0, point), &whole) || whole < 0 || whole > INT32_MAX)
		return false;
	for (size_t i = 0; i < 3; i++) {
		char c = i < part.n ? part.p[i] : '0';
		if (c < '0' || c > '9')
			return false;
		milli = milli * 10 + (c - '0');
	}
	*at = whole * 1000 + milli;
	return true;
}

struct str words_choice(struct arena *a, const struct word *table, const char *name, int i)
{
	struct strs choices = str_split(a, str_of(find(table, str_of(name))->value), '|');

	return i >= 0 && (size_t)i < choices.n ? choices.v[i] : STR_NONE;
}

static bool set(struct session *s, const struct words *w, const struct word *x, struct str value)
{
	void *at = (char *)w->into + x->at;
	const char *is = "";
	bool ok = true;

	switch (x->type) {
	case WORD_SWITCH: *(bool *)at = true; return true;
	case WORD_TEXT: *(struct str *)at = value; return true;
	case WORD_CHOICE:
		ok = set_choice(&s->query_arena, x, value, at);
		is = "none of";
		break;
	case WORD_COUNT:
		ok = num_parse_i64(value, at) && *(int64_t *)at > 0;
		is = "no number above 0:";
		break;
	case WORD_SECONDS:
		ok = set_seconds(value, at);
		is = "no number of seconds, such as 3 or 0.5:";
		break;
	case WORD_SIZE:
		ok = num_parse_size(value, at);
		is = "no number of bytes, such as 500M or 2G:";
		break;
	}
	if (ok)
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT, "'%.*s' is %s %s%s=%s", STR(value), is,
	        x->name[1] ? "--" : "-", x->name, x->value);
}

/* ---- words ---- */

/* Takes the option at words->v[*i] and, where it has one, its value behind it. */
static bool take(struct session *s, const struct strs *words, size_t *i, const struct words *w)
{
	struct str name, value;
	bool has_value;

	cmd_option_word(words->v[*i], &name, &value, &has_value);
	const struct word *x = find(w->table, name);
	if (!x)
		return unknown(s, w, words->v[*i], name);
	if (!x->value && has_value)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s takes no value", x->name);
	if (x->value && !has_value && x->alone) {
		*(int *)((char *)w->into + x->at) = 0;
		return true;
	}
	if (x->value && !has_value) {
		if (*i + 1 == words->n)
			return session_fail(s, ERR_INVALID_ARGUMENT, "%s%s needs a value",
			        x->name[1] ? "--" : "-", x->name);
		value = words->v[++*i];
	}
	return set(s, w, x, value);
}

bool words_read(struct session *s, const struct strs *words, struct words *w)
{
	struct str name, value;
	bool has_value, options = true;

	for (size_t i = 0; i < words->n; i++) {
		if (options && str_eq(words->v[i], S("--"))) {
			options = false;
		} else if (options && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!take(s, words, &i, w))
				return false;
		} else {
			strs_add(&s->query_arena, &w->rest, words->v[i]);
			options &= !w->first;
		}
	}
	return true;
}
