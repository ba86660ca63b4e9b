/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the process command line, one on each line of the input: flags, commands, options, files
 * (which are looked for, never opened).
 */
#include "lib/options.h"
#include "rig.h"

#define WORDS 64

struct words {
	int n;
	char *v[WORDS];
};

static bool parse(struct session *s, void *ctx)
{
	const struct words *w = ctx;
	struct request r;
	struct flags f;

	return flags_parse(s, w->n, (char **)w->v, &f) && cmd_parse(s, &f.words, &f.names, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *p = text, *end = text + size;
	struct words w = { .n = 1, .v = { "tfprof" } };
	struct session *s = session_new(FUZZ_LIMIT);

	if (!s || !text)
		abort();
	if (size)
		memcpy(text, data, size);
	*end = 0;
	while (w.n < WORDS && p < end) {
		char *next = memchr(p, '\n', (size_t)(end - p));
		w.v[w.n++] = p;
		p = next ? next + 1 : end;
		if (next)
			*next = 0;
	}
	session_guard(s, parse, &w);
	session_free(s);
	free(text);
	return 0;
}
