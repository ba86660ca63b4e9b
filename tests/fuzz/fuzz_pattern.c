/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of patterns (the first line, with commas between them) on names (the other lines). A
 * pattern that compiles gives the same answer twice, or gives up with a sentence.
 */
#include "base/pattern.h"
#include "rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make(data, size);
	size_t end = str_find_char(text, '\n');
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct err e = { 0 };
	struct pattern_list *l;
	struct strs patterns;
	struct arena a;

	arena_init(&a, &work);
	e.a = &a;
	if (!setjmp(work.escape)) {
		patterns = str_split(&a, str_sub(text, 0, end), ',');
		if (pattern_compile(&l, &a, &patterns, &e)) {
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
	arena_free(&a);
	return 0;
}
