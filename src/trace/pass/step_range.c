/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides by their names which ranges are steps.
 */
#include "trace/pass/step_range.h"

#include "base/num.h"

/* Words that are accepted instead of a pattern. */
static const struct {
	const char *word, *pattern;
} presets[] = {
	{ "pytorch", STEP_RANGE_TORCH "[0-9]+" },
	{ "optimizer", "Optimizer\\.step#.*" },
	{ "xla", "XlaModule:#.*" },
};

bool step_range_compile(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e)
{
	struct strs one = { 0 };

	*out = NULL;
	if (!pattern.n)
		return true;
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (str_eq(pattern, str_of(presets[i].word)))
			pattern = str_of(presets[i].pattern);
	strs_add(a, &one, pattern);
	return pattern_compile(out, a, &one, e);
}

bool step_range_matches(struct pattern_list *pattern, struct str name)
{
	return pattern && name.n <= STEP_RANGE_NAME && pattern_match(pattern, name);
}

int64_t step_range_number(struct str name)
{
	struct str digits = str_sub(name, str_stem(name), SIZE_MAX);
	int64_t number;

	return digits.n && num_parse_i64(digits, &number) ? number : -1;
}

bool step_range_is_common(struct str name)
{
	static const char *const words[] = { "step", "train_step", "training_step", "iteration",
		"iter", "profilerstep" };
	struct str word = { name.p, str_stem(name) };

	if (word.n == name.n)
		return false;
	while (word.n && str_find_char(S(" _#:=-"), word.p[word.n - 1]) != SIZE_MAX)
		word.n--;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq_lower(word, words[i]))
			return step_range_number(name) >= 0;
	return false;
}
