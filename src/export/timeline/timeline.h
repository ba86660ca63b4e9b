/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the timelines: the trace file, streamed to the file and never held in memory.
 */
#ifndef TFPROF_EXPORT_TIMELINE_H
#define TFPROF_EXPORT_TIMELINE_H

#include "export/out.h"
#include "trace/pass/critical.h"

/* ---- idset ----
 *
 * Sets of ids below a bound, as bits. idset_place returns the rank of a member in ascending order,
 * so an array with one element per member needs only about one additional bit per id.
 */

#define IDSET_WORD 64

struct idset {
	struct idset_word {
		uint64_t bits;
		uint32_t before; /* number of members in previous words */
	} * word;
	size_t n_words;
	uint32_t n;
};

/* Makes an empty set for ids below `bound`. */
static inline struct idset idset_new(struct arena *a, size_t bound)
{
	size_t n = bound / IDSET_WORD + 1;

	return (struct idset){ ARENA_ARRAY(a, n, struct idset_word), n, 0 };
}

static inline void idset_add(struct idset *s, uint32_t id)
{
	s->word[id / IDSET_WORD].bits |= (uint64_t)1 << id % IDSET_WORD;
}

/* Must be called once, after the last idset_add and before the first idset_place. */
static inline void idset_count(struct idset *s)
{
	for (size_t i = 0; i < s->n_words; i++) {
		s->word[i].before = s->n;
		s->n += (uint32_t)__builtin_popcountll(s->word[i].bits);
	}
}

static inline bool idset_has(const struct idset *s, uint32_t id)
{
	return s->word[id / IDSET_WORD].bits >> id % IDSET_WORD & 1;
}

/* Returns the rank of an id among the members, from 0; UINT32_MAX if the id is not a member. */
static inline uint32_t idset_place(const struct idset *s, uint32_t id)
{
	const struct idset_word *w = &s->word[id / IDSET_WORD];
	uint64_t bit = (uint64_t)1 << id % IDSET_WORD;

	if (!(w->bits & bit))
		return UINT32_MAX;
	return w->before + (uint32_t)__builtin_popcountll(w->bits & (bit - 1));
}

/* ---- bittree ----
 *
 * Sets of numbers as bits, with a tree of summary bits above them: the next member is found in at
 * most BITTREE_LEVELS steps in each direction.
 */

#define BITTREE_LEVELS 6 /* enough for 64^6 bits */
#define BITTREE_WORD   64

/* Every level has one additional word, so a search may start at the end. */
struct bittree {
	uint64_t *level[BITTREE_LEVELS]; /* bit k of level i + 1 is set if word k of level i is not
	                                    0 */
};

/* Makes an empty set with room for n bits. */
static inline void bittree_init(struct bittree *b, size_t n, struct arena *a)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		n = n / BITTREE_WORD + 1;
		b->level[i] = ARENA_ARRAY(a, n, uint64_t);
	}
}

static inline void bittree_set(struct bittree *b, size_t at)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		uint64_t *word = &b->level[i][at / BITTREE_WORD], had = *word;
		*word |= (uint64_t)1 << at % BITTREE_WORD;
		if (had)
			return;
		at /= BITTREE_WORD;
	}
}

static inline void bittree_clear(struct bittree *b, size_t at)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		uint64_t *word = &b->level[i][at / BITTREE_WORD];
		*word &= ~((uint64_t)1 << at % BITTREE_WORD);
		if (*word)
			return;
		at /= BITTREE_WORD;
	}
}

/* Returns the first set bit at or after `at`, or SIZE_MAX. */
static inline size_t bittree_next(const struct bittree *b, size_t at)
{
	int i = 0;

	for (; i < BITTREE_LEVELS; i++) {
		uint64_t word = b->level[i][at / BITTREE_WORD] >> at % BITTREE_WORD;
		if (word) {
			at += (size_t)__builtin_ctzll(word);
			break;
		}
		at = at / BITTREE_WORD + 1;
	}
	if (i == BITTREE_LEVELS)
		return SIZE_MAX;
	while (i-- > 0)
		at = at * BITTREE_WORD + (size_t)__builtin_ctzll(b->level[i][at]);
	return at;
}

struct trace_writer {
	struct sink *file;
	struct str path;
	struct sb text; /* buffer for composed names */
	bool quiet;     /* true: the written file is not reported */
	bool first;     /* true: the innermost list is still empty */
	int64_t parts;  /* unit of times: 1 / parts microseconds; a power of ten */
};

bool trace_open(struct trace_writer *t, const struct query *q, struct err *e);
/* Begins a trace in the file with exactly this path. */
bool trace_open_at(struct trace_writer *t, struct arena *a, struct str path, struct err *e);
/* Renames the file to its path and reports it. */
bool trace_close(struct trace_writer *t, struct emit *to, struct err *e);

/* Adds a row of the timeline, which is shown as a process. */
void trace_process(struct trace_writer *t, struct str name, int64_t pid);

/* A box. op: true if the name is also written as "op". */
struct region {
	int64_t pid, tid, start, length;
	struct str name;
	bool op;
};
void trace_region(struct trace_writer *t, const struct region *r);

/* One end of an arrow. */
struct flow_end {
	int64_t id, pid, tid, at;
	struct str source; /* name of the source node */
	bool start;
};
void trace_flow(struct trace_writer *t, const struct flow_end *f);

/* Calls for a counter: begin, then its values in byte order of their keys, then end. */
void trace_counter(struct trace_writer *t);
void trace_counter_text(struct trace_writer *t, struct str key, struct str value);
void trace_counter_number(struct trace_writer *t, struct str key, int64_t value);
void trace_counter_end(struct trace_writer *t, struct str name, int64_t pid, int64_t at);

/* Converts times of a step to microseconds of the trace. */
static inline int64_t timeline_us(const struct step *s, int64_t ticks)
{
	return num_add(s->base_us, step_us(s, ticks));
}

/* ---- graph ---- */

/* Memory of accelerators (timeline_mem.c). Each device has two rows, whose process ids start at
 * pid. Order of calls: name rows, read cells, write counters. */
struct trace_mem {
	const struct model *m;
	const struct step *s;
	struct arena *a;
	const uint32_t *cell; /* drawn cells in the order in which they are shown; valid until they
	                         are read */
	uint32_t n_cells;
	uint32_t *device; /* model devices other than CPUs, sorted by name */
	uint32_t n_devices;
	uint32_t *of;         /* indexed by model device: 1 + index in device, or 0 */
	uint32_t *at, *named; /* cells of device i sorted by name: named[at[i]] .. named[at[i +
	                         1]] */
	struct points { /* indexed by device: bytes in use for which counters are written, sorted by
		           time */
		VEC(int64_t) time, bytes;
		int64_t most;       /* number of all recorded values */
		size_t allocations; /* number of allocations recorded with these values */
	} * points;
};
void trace_mem_init(
        struct trace_mem *x, const struct result *r, const uint32_t *cell, uint32_t n_cells);
void trace_mem_rows(const struct trace_mem *x, struct trace_writer *t, int64_t pid);
/* Reads the cells. cells: the nodes of the step. */
void trace_mem_read(struct trace_mem *x, const struct idset *cells);
void trace_mem_counters(
        const struct trace_mem *x, struct trace_writer *t, int64_t pid, struct sink *say);

/* Functions that out.c calls. */
bool timeline_tree(const struct result *r, struct emit *to, struct err *e);   /* scope, code */
bool timeline_graph(const struct result *r, struct emit *to, struct err *e);  /* draws one step */
bool timeline_tracks(const struct result *r, struct emit *to, struct err *e); /* draws a trace */

/* Draws the window and the path of a critical path into the file of the output. */
bool timeline_path(const struct critical *path, struct str title, const struct opts *o,
        struct emit *to, struct err *e);

/* ---- lanes ---- */

/* Assigns overlapping intervals to lanes: each gets the first free lane. */

/* Zero-initialised except for the arena: no lanes yet. */
struct lanes {
	struct arena *a;
	int64_t *free; /* [2 * cap], a tree: the time when each lane becomes free, lane i at cap + i
	                */
	size_t cap, n;
};

/* Returns the first lane that is free at start, or a new lane, and occupies it until end. Lengths
 * may be 0; starts must ascend. */
size_t lanes_take(struct lanes *l, int64_t start, int64_t end);

#endif
