/* SPDX-License-Identifier: Apache-2.0
 *
 * A request to the command serve: target, host, origin and fetch site, one on each line. For any
 * input, only the server's own host, origin and token are accepted, and words contain no NUL.
 */
#include "cli/serve.h"
#include "rig.h"

#define PORT  8080
#define TOKEN "0123456789abcdef0123456789abcdef"

static bool check(struct session *s, void *ctx)
{
	struct str *lines = ctx;
	struct serve_request r = { .reads = true,
		.target = lines[0],
		.host = lines[1],
		.origin = lines[2],
		.fetch_site = lines[3] };
	struct serve_task task;

	int status = serve_check(&r, TOKEN, PORT, &s->query_arena, &task);
	if (status != 200)
		return true;
	if (!str_starts(r.target, S("/" TOKEN "/")) || task.words.n > SERVE_WORDS_MAX ||
	        !str_ends(r.host, S(":8080")) || (r.origin.n && !str_ends(r.origin, S(":8080"))))
		abort();
	for (size_t i = 0; i < task.words.n; i++)
		if (memchr(task.words.v[i].p, 0, task.words.v[i].n))
			abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = session_new(FUZZ_LIMIT);
	struct str left = str_make(data, size), lines[4] = { STR_NONE };

	if (!s)
		abort();
	for (size_t i = 0; i < 4; i++) {
		size_t end = str_find_char(left, '\n');
		lines[i] = str_sub(left, 0, end);
		left = end == SIZE_MAX ? STR_NONE : str_sub(left, end + 1, SIZE_MAX);
	}
	session_guard(s, check, lines);
	session_free(s);
	return 0;
}
