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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account account = { .limit = FUZZ_LIMIT };
	struct work work = { .account = &account };
	struct arena a;

	if (!size)
		return 0;
	arena_init(&a, &work);
	if (!setjmp(work.escape)) {
		const struct option *row = view_options;
		for (uint8_t i = data[0]; i; i--)
			row = option_next(row) ? option_next(row) : view_options;
		struct err e = { .a = &a };
		struct opts o;
		opts_preset(&o, &a);
		if (opts_set(&o, &a, row, str_make(data + 1, size - 1), &e)) {
			struct sb b = sb_in(&a);
			opts_value(&b, &o, row);
			if (!opts_set(&o, &a, row, sb_str(&b), &e) && row->type == OPT_OUTPUT)
				abort();
			struct sb again = sb_in(&a);
			opts_value(&again, &o, row);
			if (row->type == OPT_OUTPUT && !str_eq(sb_str(&b), sb_str(&again)))
				abort();
		} else if (!e.text.n) {
			abort();
		}
	}
	arena_free(&a);
	return 0;
}
