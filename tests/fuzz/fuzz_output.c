/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of options: the first byte chooses the option, the rest is the value. An accepted value is
 * printed and set again; a refused one has a sentence. The printed form of -output is accepted and
 * prints the same again. It may differ from the typed form: a doubled '=' counts as one, and of two
 * files the last counts (a ':' in a name stays: only the first one ends the type). Lists lose a
 * pair of quotes each time, as in the original, so they may differ.
 */
#include "metric/opts.h"
#include "rig.h"

static void check(struct arena *a, struct str bytes)
{
	const struct option *row = view_options;
	struct err e = { .a = a };
	struct opts o;

	for (uint8_t i = (uint8_t)bytes.p[0]; i; i--)
		row = option_next(row) ? option_next(row) : view_options;
	opts_preset(&o, a);
	if (opts_set(&o, a, row, str_sub(bytes, 1, SIZE_MAX), &e)) {
		struct sb b = sb_in(a);
		opts_value(&b, &o, row);
		if (!opts_set(&o, a, row, sb_str(&b), &e) && row->type == OPT_OUTPUT)
			abort();
		struct sb again = sb_in(a);
		opts_value(&again, &o, row);
		if (row->type == OPT_OUTPUT && !str_eq(sb_str(&b), sb_str(&again)))
			abort();
	} else if (!e.text.n) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return size ? fuzz_within(check, data, size) : 0;
}
