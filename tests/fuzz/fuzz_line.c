/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of commands on an empty model: words, numbers, lists, patterns, -output. A line that would
 * write a file is left out.
 */
#include "rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = session_new(FUZZ_LIMIT);
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;
	struct str rest = str_make(data, size);

	if (!s || setjmp(work.escape))
		abort();
	arena_init(&a, &work);
	while (rest.n) {
		size_t end = str_find_char(rest, '\n');
		struct str line = str_sub(rest, 0, end);
		rest = end == SIZE_MAX ? STR_NONE : str_sub(rest, end + 1, SIZE_MAX);
		if (!str_contains(line, S("outfile")) && !str_contains(line, S("dump")) &&
		        !str_contains(line, S("viz")) && !str_contains(line, S("save")))
			fuzz_answer(s, &a, line);
	}
	session_free(s);
	arena_free(&a);
	return 0;
}
