/* SPDX-License-Identifier: Apache-2.0
 *
 * N sides merged into one tree. An entry of the tree is one path on several sides: equal names
 * below the same entry. The numbers stay in the sides and are found through at[s][i]. Differences
 * and columns by worker are computed from this tree elsewhere.
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
	struct str *name; /* name on the first side that has the entry */
	uint32_t **at;    /* indexed by side, by entry: the side's entry, or ID_NONE */
};

/* Two names of one entry. */
struct alias {
	uint32_t entry;
	struct str name; /* name on the later side; the tree uses the name of the earlier side */
};

/* Merges sides of the same view and the same values. The sides must outlive the result. */
void compare_sides(struct compare *c, const struct side *const *sides, uint32_t n, struct arena *a);

/* Renumbers the entries after parent and at were changed. Entries whose parent is ID_NONE (except
 * the root) are dropped. Siblings keep their order; moved entries are sorted in. aliases has old
 * numbers; returns the aliases with new numbers, ascending, ended by ID_NONE. */
struct alias *compare_renumber(struct compare *c, const struct alias *aliases, size_t n);

static inline bool compare_has(const struct compare *c, uint32_t side, uint32_t i)
{
	return c->at[side][i] != ID_NONE;
}

/* Returns the first side that has the entry. compare_type returns its operation type there; empty
 * if no node defines it. */
uint32_t compare_first(const struct compare *c, uint32_t i);
struct str compare_type(const struct compare *c, uint32_t i);

/* Returns the numbers of entry i on a side, or NULL if the side lacks it. */
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

/* Returns the number of parts of a unit in which the sides store a value. */
static inline int64_t compare_parts(const struct compare *c, enum value v)
{
	return side_parts(c->side[0]->values.ticks_per_us, v);
}

/* ---- compare graph ---- */

/* Gives all sides of the graph view one structure. The position of a node there depends on the
 * other readers of its inputs, so the same node may have different parents on each side. Here every
 * node takes the position it has on the largest side that contains it; missing ancestors are
 * inserted on the other sides. Totals are recomputed. */

/* Replaces the sides, in a. The result does not depend on the order of the sides. */
void compare_graph(const struct side **sides, uint32_t n, struct arena *a);

/* ---- unmatched ---- */

/* Defined nodes that only the first or only the last side has, and possible reasons: names that
 * differ in case, or an additional scope around all names of one side. */

struct unmatched {
	struct strs first,
	        last;        /* names; names of one side that differ only in case are listed once */
	size_t n_case;       /* names of last that equal a name of first except for case */
	struct str one, two; /* the first two names that differ in case */
};

/* Finds the unmatched nodes. The result lives in a; the names belong to the sides. */
void unmatched_find(struct unmatched *l, const struct compare *c, struct arena *a);

/* Returns the scope that is a prefix of all names of one side and missing on the other side; empty
 * if there is none. */
struct str unmatched_prefix(const struct unmatched *l);

/* ---- match ---- */

/* Finds renamed scopes: an entry that only some sides have and an entry that only other sides have,
 * with the same parent and similar descendants. Then matches their children by name, and the
 * remaining children by type and position. Ambiguous cases stay unmatched. */

/* Joins renamed entries; *aliases lists the tops of renamed subtrees, ascending by entry and ended
 * by ID_NONE. Views without node names (op) are unchanged. */
void match_renamed(struct compare *c, struct alias **aliases, struct arena *a);

/* ---- similarity ----
 *
 * Similarity of two multisets of texts, by the hashes of the texts.
 */

struct signature {
	uint64_t *v;
	size_t n, cap;
};

void similarity_add(struct signature *s, struct arena *a, struct str text);
void similarity_end(struct signature *s, struct arena *a); /* must be called after the last
                                                              addition */

/* Returns the size of the common part divided by the size of the larger side, from 0 to 1. */
double similarity_share(const struct signature *a, const struct signature *b);

#endif
