/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduces a list of names in rounds: each round shows one template argument more, and only the
 * names that still look like a different name take part in the next round.
 */
#include "base/reduced_names.h"

#include "base/map.h"

#define ARGUMENTS_MAX 12 /* after this number of template arguments, all are shown */

struct name_rounds {
	struct arena *a;
	const struct str *full;
	struct str *reduced;
	size_t n;
	bool *open; /* indexed by name: true if the name takes part in the next round */
};

/* Reduces the names of a round, and closes those that differ. Returns true if some do not. */
static bool reduce_round(struct name_rounds *x, size_t arguments)
{
	size_t *first = ARENA_ARRAY(x->a, x->n, size_t); /* indexed by text: 1 + its first name */
	bool *alike = ARENA_ARRAY(x->a, x->n, bool);     /* indexed by text */
	uint32_t *id = ARENA_ARRAY(x->a, x->n, uint32_t);
	struct intern texts;
	bool any = false;

	intern_init(&texts, x->a);
	for (size_t i = 0; i < x->n; i++) {
		if (!x->open[i])
			continue;
		x->reduced[i] = demangle_reduce(x->a, x->full[i], arguments);
		id[i] = intern_add_kept(&texts, x->reduced[i]);
		if (!first[id[i]])
			first[id[i]] = 1 + i;
		alike[id[i]] |= !str_eq(x->full[i], x->full[first[id[i]] - 1]);
	}
	for (size_t i = 0; i < x->n; i++) {
		x->open[i] = x->open[i] && alike[id[i]];
		any |= x->open[i];
	}
	return any;
}

void reduce_names(struct arena *a, const struct str *full, struct str *reduced, size_t n)
{
	struct name_rounds x = {
		.a = a, .full = full, .reduced = reduced, .n = n, .open = ARENA_ARRAY(a, n, bool)
	};
	size_t arguments = REDUCED_ARGUMENTS;

	for (size_t i = 0; i < n; i++)
		x.open[i] = true;
	while (reduce_round(&x, arguments) && arguments <= ARGUMENTS_MAX)
		arguments = arguments < ARGUMENTS_MAX ? arguments + 1 : SIZE_MAX;
	for (size_t i = 0; i < n; i++)
		if (x.open[i])
			reduced[i] = full[i];
}
