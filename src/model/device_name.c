/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses device names. No pattern engine: the rules are fixed.
 */
#include "model/model.h"

#define STREAMS S("stream:all")

/* True if the whole name is ".../" + one of gpu, cpu, device:gpu, device:cpu + ":<digits>", on one
 * line. */
static bool is_canonical(struct str name)
{
	static const char *const words[] = { "device:gpu", "gpu", "device:cpu", "cpu" };
	size_t n = str_stem(name);

	if (n == name.n || n == 0 || name.p[n - 1] != ':')
		return false;
	struct str head = { name.p, n - 1 };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct str word = str_of(words[i]);
		if (str_ends(head, word) && head.n > word.n && head.p[head.n - word.n - 1] == '/')
			return memchr(head.p, '\n', head.n) == NULL;
	}
	return false;
}

unsigned device_kind(struct str name)
{
	return (str_contains(name, STREAMS) ? DEVICE_ACCELERATOR : 0u) |
	       (is_canonical(name) ? DEVICE_CANONICAL : 0u) |
	       (str_contains(name, S("gpu")) ? DEVICE_GPU : 0u) |
	       (str_contains(name, S("cpu")) ? DEVICE_CPU : 0u);
}

struct str device_host(struct arena *a, struct str name)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < name.n;) {
		struct str rest = { name.p + i, name.n - i };
		if (str_starts(rest, S("gpu:")) && rest.n > 4 && char_is_digit(rest.p[4])) {
			sb_put(&b, S("cpu:0"));
			for (i += 4; i < name.n && char_is_digit(name.p[i]);)
				i++;
		} else {
			sb_char(&b, name.p[i++]);
		}
	}
	return sb_str(&b);
}
