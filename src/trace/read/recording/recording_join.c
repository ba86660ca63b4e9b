/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches operations with the calls that launched them, by correlation id. Either record may be
 * first, usually close to the other. Unmatched records are kept in a hash table and removed when
 * matched, so memory depends on the disorder of the records, not on their number. Correlation ids
 * wrap at 2^32, so an id is interpreted as the value that is nearest to the latest one.
 */
#include "trace/read/recording/recordings.h"

#include "base/sort.h"
#include "trace/pass/pending.h"

/* Number of correlation ids after which a record stays unmatched. */
#define JOIN_REACH   ((uint64_t)1 << 20)
#define JOIN_SLOTS   ((size_t)1 << 12) /* initial number; a power of two */
#define JOIN_MATCHED ((size_t)1 << 15) /* number of remembered matched calls; a power of two */

struct waiting {
	struct pending_launch head;
	struct recorded_call launch; /* valid if called */
	bool called;
};

/* A call that has an operation. More operations, and a second record of the call, may follow. */
struct matched {
	uint64_t key;
	struct recorded_call launch;
};

struct join {
	struct arena *a;
	void (*found)(void *user, const struct recorded_op *op, struct recorded_call *l);
	void *user;
	uint64_t latest;              /* the latest correlation */
	struct pending_table waiting; /* table of struct waiting and struct recorded_op */
	struct matched *matched;
};

struct join *join_new(struct arena *a,
        void (*found)(void *user, const struct recorded_op *op, struct recorded_call *l),
        void *user)
{
	struct join *j = ARENA_NEW(a, struct join);

	j->a = a;
	j->found = found;
	j->user = user;
	j->latest = (uint64_t)1 << 32;
	pending_init(
	        &j->waiting, a, JOIN_SLOTS, sizeof(struct waiting), sizeof(struct recorded_op));
	j->matched = ARENA_ARRAY(a, JOIN_MATCHED, struct matched);
	return j;
}

/* Returns the correlation extended by the number of its wraps. */
static uint64_t key_of(struct join *j, uint32_t correlation)
{
	uint64_t key = j->latest + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)j->latest);

	if (key > j->latest)
		j->latest = key;
	return key;
}

/* Removes a matched call, unless it is the launch of a graph, which has many operations. */
static void drop(struct join *j, struct waiting *w)
{
	if (w->launch.graph)
		return;
	j->matched[w->head.key & (JOIN_MATCHED - 1)] = (struct matched){ w->head.key, w->launch };
	pending_remove(&j->waiting, w);
}

/* Returns the matched call with that key, or NULL. */
static struct recorded_call *find_matched(struct join *j, uint64_t key)
{
	struct matched *m = &j->matched[key & (JOIN_MATCHED - 1)];

	return m->key == key ? &m->launch : NULL;
}

/* Passes on all operations that wait for a call. */
static void match(struct join *j, struct waiting *w, struct recorded_call *l)
{
	struct recorded_op op;

	while (pending_take(&j->waiting, &w->head, &op))
		j->found(j->user, &op, l);
}

/* Passes on, in order and without a call, the operations below the key, which cannot be matched any
 * more. */
static void give_up(struct join *j, uint64_t below)
{
	struct scratch s;
	VEC(uint64_t) keys = { 0 };

	scratch_open(&s, j->a->work);
	for (size_t i = 0; i < j->waiting.slots; i++) {
		uint64_t key = ((struct waiting *)pending_at(&j->waiting, i))->head.key;
		if (key && key < below)
			VEC_PUSH(&s.a, &keys, key);
	}
	sort_array(&s.a, keys.v, keys.n, sizeof *keys.v, sort_ascending);
	for (size_t i = 0; i < keys.n; i++) {
		struct waiting *w = pending_find(&j->waiting, keys.v[i]);
		match(j, w, NULL);
		pending_remove(&j->waiting, w);
	}
	scratch_close(&s);
}

/* Makes room by giving up unmatched entries and, if that is not enough, by doubling the table. */
static void make_room(struct join *j)
{
	give_up(j, j->latest > JOIN_REACH ? j->latest - JOIN_REACH : 0);
	if (j->waiting.n > j->waiting.slots / 8 * 3)
		pending_grow(&j->waiting);
}

/* Returns the entry of a key. Creates the entry if needed. */
static struct waiting *entry_of(struct join *j, uint64_t key)
{
	struct waiting *w = pending_find(&j->waiting, key);

	if (w->head.key)
		return w;
	if (pending_is_full(&j->waiting)) {
		make_room(j);
		w = pending_find(&j->waiting, key);
	}
	pending_add(&j->waiting, w, key);
	return w;
}

void join_call(struct join *j, uint32_t correlation, const struct recorded_call *l)
{
	uint64_t key = key_of(j, correlation);
	struct waiting *w;

	if (find_matched(j, key))
		return;
	w = entry_of(j, key);
	/* If two calls have the same id, the outer call counts: the runtime call around the driver
	 * call. */
	if (!w->called || l->start < w->launch.start)
		w->launch = *l;
	w->called = true;
	if (!w->head.first)
		return;
	match(j, w, &w->launch);
	drop(j, w);
}

void join_op(struct join *j, uint32_t correlation, const struct recorded_op *op)
{
	struct recorded_call *l = NULL;
	struct waiting *w;
	uint64_t key;

	if (!correlation) {
		j->found(j->user, op, NULL);
		return;
	}
	key = key_of(j, correlation);
	l = find_matched(j, key);
	if (l) {
		j->found(j->user, op, l);
		return;
	}
	w = entry_of(j, key);
	if (!w->called) {
		pending_wait(&j->waiting, &w->head, op);
		return;
	}
	j->found(j->user, op, &w->launch);
	drop(j, w);
}

void join_finish(struct join *j)
{
	give_up(j, UINT64_MAX);
}
