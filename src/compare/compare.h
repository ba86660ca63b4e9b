/* SPDX-License-Identifier: Apache-2.0
 *
 * N sides as one tree. An entry of the tree is what has the same path on several sides: the same
 * name below the same entry. Numbers stay with the sides; at[s][i] says where. Knows no difference:
 * columns by worker and diff are made of it.
 *
 *   side 0   root | a | a/x         tree   root | a | a/x | a/y | b
 *   side 1   root | a | a/y | b     at[0]  0      1   2     NONE  NONE
 *                                   at[1]  0      1   NONE  2     3
 */
#ifndef TFPROF_COMPARE_COMPARE_H
#define TFPROF_COMPARE_COMPARE_H

#include "compare/side.h"

struct compare {
	struct arena *a;
	const struct side **side;
	uint32_t sides;
	uint32_t n; /* entries, in pre-order; 0 is the root; siblings in byte order */
	uint32_t *parent, *end;
	struct str *name; /* on the first side that has it */
	uint32_t **at;    /* by side, by entry: the side's entry, or ID_NONE */
};

/* Two names of one entry. */
struct alias {
	uint32_t entry;
	struct str name; /* on the later side; its name in the tree is that of the earlier */
};

/* Merges sides of one kind and of the same values. The sides outlive the result. */
void compare_sides(struct compare *c, const struct side *const *sides, uint32_t n, struct arena *a);

/* Numbers anew after parent and at were changed; entries whose parent is ID_NONE (but the root) are
 * dropped. Siblings keep their order, those that came in by the change stand among them. The
 * aliases are about the old numbers; returned are those about the new ones, ascending and ended by
 * ID_NONE. */
struct alias *compare_renumber(struct compare *c, const struct alias *aliases, size_t n);

static inline bool compare_has(const struct compare *c, uint32_t side, uint32_t i)
{
	return c->at[side][i] != ID_NONE;
}

/* The first side that has the entry, and its operation type there; empty: no node defines it. */
uint32_t compare_first(const struct compare *c, uint32_t i);
struct str compare_type(const struct compare *c, uint32_t i);

/* The numbers of entry i on a side, or NULL where it has no such entry. */
static inline const int64_t *compare_total(const struct compare *c, uint32_t side, uint32_t i)
{
	const struct side *s = c->side[side];
	uint32_t at = c->at[side][i];

	return at == ID_NONE ? NULL : s->total + (size_t)at * s->values.n;
}

static inline const int64_t *compare_self(const struct compare *c, uint32_t side, uint32_t i)
{
	const struct side *s = c->side[side];
	uint32_t at = c->at[side][i];

	return at == ID_NONE ? NULL : s->self + (size_t)at * s->values.n;
}

#endif
