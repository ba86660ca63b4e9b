/* SPDX-License-Identifier: Apache-2.0
 *
 * The sorted lists of types, devices and shapes that rows contain.
 */
#include "export/out.h"

#include "base/sort.h"

void members_init(struct members *x, const struct query *q, struct arena *a)
{
	const struct model *m = q->m;

	*x = (struct members){ .q = q, .a = a };
	x->sets_seen = ARENA_ARRAY(a, m->type0.n, uint32_t);
	x->devices_seen = ARENA_ARRAY(a, m->devices.n + 1, uint32_t);
}

void members_again(struct members *x)
{
	const struct model *m = x->q->m;

	memset(x->sets_seen, 0, m->type0.n * sizeof *x->sets_seen);
	memset(x->devices_seen, 0, (m->devices.n + 1) * sizeof *x->devices_seen);
	if (x->types_seen)
		memset(x->types_seen, 0, m->strings.n * sizeof *x->types_seen);
}

/* True for the first call with a given stamp. */
static bool first_time(uint32_t *seen, uint32_t stamp)
{
	bool first = *seen != stamp;

	*seen = stamp;
	return first;
}

/* Sorts the words. */
static const struct strs *sorted(struct members *x)
{
	struct arena_mark mark;
	struct str *copy;

	if (x->words.n < 2)
		return &x->words;
	x->order.n = 0;
	for (uint32_t i = 0; i < x->words.n; i++)
		VEC_PUSH(x->a, &x->order, i);
	mark = arena_mark(x->a);
	copy = ARENA_ARRAY(x->a, x->words.n, struct str);
	memcpy(copy, x->words.v, x->words.n * sizeof *copy);
	sort_strings(x->a, x->order.v, x->order.n, copy);
	for (size_t i = 0; i < x->words.n; i++)
		x->words.v[i] = copy[x->order.v[i]];
	arena_reset(x->a, mark);
	return &x->words;
}

const struct strs *members_types(struct members *x, uint32_t kept)
{
	const struct model *m = x->q->m;
	uint32_t n;
	const uint32_t *members = view_members(x->q, kept, &n);

	if (!x->types_seen) /* allocated on demand, because it is as long as the list of strings */
		x->types_seen = ARENA_ARRAY(x->a, m->strings.n, uint32_t);
	x->words.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t set = m->nodes.v[members[i]].types;
		size_t n_types;
		if (!view_matches(x->q, members[i]) || !first_time(&x->sets_seen[set], kept + 1))
			continue;
		const uint32_t *types = model_types(m, set, &n_types);
		for (size_t k = 0; k < n_types; k++)
			if (first_time(&x->types_seen[types[k]], kept + 1))
				strs_add(x->a, &x->words, model_str(m, types[k]));
	}
	return sorted(x);
}

const struct strs *members_devices(struct members *x, uint32_t kept)
{
	const struct model *m = x->q->m;
	uint32_t n, none = (uint32_t)m->devices.n;
	const uint32_t *members = view_members(x->q, kept, &n);

	x->words.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = m->nodes.v[members[i]].device;
		if (view_matches(x->q, members[i]) &&
		        first_time(&x->devices_seen[d == ID_NONE ? none : d], kept + 1))
			strs_add(x->a, &x->words, device_name(m, d));
	}
	return sorted(x);
}
