/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of patterns (the first line, with commas between them) on names (the other lines). A
 * pattern that compiles gives the same answer twice, or gives up with a sentence.
 */
#include "base/pattern.h"
#include "rig.h"

static void check(struct arena *a, struct str text)
{
	size_t end = str_find_char(text, '\n');
	struct err e = { .a = a };
	struct pattern_list *l;
	struct strs patterns;

	patterns = str_split(a, str_sub(text, 0, end), ',');
	if (pattern_compile(&l, a, &patterns, &e)) {
		while (end != SIZE_MAX) {
			text = str_sub(text, end + 1, SIZE_MAX);
			end = str_find_char(text, '\n');
			struct str name = str_sub(text, 0, end);
			bool once = pattern_match(l, name);
			if (!pattern_failed(l, &e) && once != pattern_match(l, name) &&
			        !pattern_failed(l, &e))
				abort();
		}
		pattern_free(l);
	} else if (!e.text.n) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_within(check, data, size);
}
