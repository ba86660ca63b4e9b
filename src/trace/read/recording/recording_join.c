/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches operations with the calls that launched them, by correlation id. Either record may be
 * first, usually close to the other. Unmatched records are kept in a hash table and removed when
 * matched, so memory depends on the disorder of the records, not on their number. Correlation ids
 * wrap at 2^32: they are taken as near to the latest as possible.
 */
#include "trace/read/recording/recordings.h"

#include "base/sort.h"

/* Correlation ids after which a record stays unmatched. */
#define JOIN_REACH ((uint64_t)1 << 20)
#define JOIN_SLOTS ((size_t)1 << 12) /* to begin with; a power of two */
#define JOIN_MET   ((size_t)1 << 15) /* remembered matched calls; a power of two */

struct waiting {
	uint64_t key;                /* 0: free */
	struct recorded_call launch; /* if called */
	bool called;
	uint32_t first, last; /* 1 + operations that wait for the call */
};

/* A call that has met its operation. There may be more of them, and of the call a second record. */
struct met {
	uint64_t key;
	struct recorded_call launch;
};

struct join {
	struct arena *a;
	void (*found)(void *user, const struct recorded_op *op, struct recorded_call *l);
	void *user;
	uint64_t latest; /* correlation */
	struct waiting *v;
	size_t n, slots;
	struct met *met;
	VEC(struct recorded_op) ops;
	uint32_t free; /* 1 + the first unused one of ops */
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
	j->slots = JOIN_SLOTS;
	j->v = ARENA_ARRAY(a, j->slots, struct waiting);
	j->met = ARENA_ARRAY(a, JOIN_MET, struct met);
	return j;
}

/* The correlation with the turns it has made. */
static uint64_t key_of(struct join *j, uint32_t correlation)
{
	uint64_t key = j->latest + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)j->latest);

	if (key > j->latest)
		j->latest = key;
	return key;
}

static size_t home_of(const struct join *j, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (j->slots - 1);
}

/* The place of a key, or the free one where it would be. */
static struct waiting *find(struct join *j, uint64_t key)
{
	size_t i = home_of(j, key);

	while (j->v[i].key && j->v[i].key != key)
		i = (i + 1) & (j->slots - 1);
	return &j->v[i];
}

/* Frees a slot and moves up the entries displaced by it. */
static void free_place(struct join *j, struct waiting *w)
{
	size_t gap = (size_t)(w - j->v), i = gap, mask = j->slots - 1;

	j->n--;
	for (;;) {
		i = (i + 1) & mask;
		if (!j->v[i].key)
			break;
		if (((i - home_of(j, j->v[i].key)) & mask) < ((i - gap) & mask))
			continue;
		j->v[gap] = j->v[i];
		gap = i;
	}
	j->v[gap].key = 0;
}

/* The call has met its operation: it waits no more, but for the launch of a graph. */
static void drop(struct join *j, struct waiting *w)
{
	if (w->launch.graph)
		return;
	j->met[w->key & (JOIN_MET - 1)] = (struct met){ w->key, w->launch };
	free_place(j, w);
}

/* The call of that key that has met already, or NULL. */
static struct recorded_call *met(struct join *j, uint64_t key)
{
	struct met *m = &j->met[key & (JOIN_MET - 1)];

	return m->key == key ? &m->launch : NULL;
}

/* Hands out all operations that wait here. */
static void meet(struct join *j, struct waiting *w, struct recorded_call *l)
{
	uint32_t i = w->first;

	w->first = w->last = 0;
	while (i) {
		struct recorded_op op = j->ops.v[i - 1];
		j->ops.v[i - 1].next = j->free;
		j->free = i;
		i = op.next;
		j->found(j->user, &op, l);
	}
}

static int by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const struct waiting *v = ctx;

	return v[a].key < v[b].key ? -1 : v[a].key > v[b].key;
}

/* Operations below the key cannot be matched any more: they are returned in order, without a call.
 */
static void give_up(struct join *j, uint64_t below)
{
	struct scratch s;
	VEC(uint32_t) v = { 0 };

	scratch_open(&s, j->a->work);
	for (uint32_t i = 0; i < j->slots; i++)
		if (j->v[i].key && j->v[i].key < below)
			VEC_PUSH(&s.a, &v, i);
	sort_stable(&s.a, v.v, v.n, by_key, j->v);
	for (size_t i = 0; i < v.n; i++) {
		meet(j, &j->v[v.v[i]], NULL);
		j->v[v.v[i]].key = 0;
	}
	scratch_close(&s);
	j->n -= v.n;
}

/* Makes room: first by giving up unmatched entries, then, if that is not enough, by doubling. */
static void rebuild(struct join *j)
{
	struct waiting *stay;
	struct scratch s;
	size_t n = 0, slots = j->slots;

	give_up(j, j->latest > JOIN_REACH ? j->latest - JOIN_REACH : 0);
	scratch_open(&s, j->a->work);
	stay = ARENA_ARRAY(&s.a, j->n, struct waiting);
	for (size_t i = 0; i < slots; i++)
		if (j->v[i].key)
			stay[n++] = j->v[i];
	if (n > slots / 8 * 3) {
		j->slots *= 2;
		j->v = ARENA_ARRAY(j->a, j->slots, struct waiting);
	} else {
		memset(j->v, 0, slots * sizeof *j->v);
	}
	for (size_t i = 0; i < n; i++)
		*find(j, stay[i].key) = stay[i];
	scratch_close(&s);
}

/* Returns the slot of a key, created if needed. */
static struct waiting *place_of(struct join *j, uint64_t key)
{
	struct waiting *w = find(j, key);

	if (w->key)
		return w;
	if (j->n >= j->slots / 2) {
		rebuild(j);
		w = find(j, key);
	}
	*w = (struct waiting){ .key = key };
	j->n++;
	return w;
}

void join_call(struct join *j, uint32_t correlation, const struct recorded_call *l)
{
	uint64_t key = key_of(j, correlation);
	struct waiting *w;

	if (met(j, key))
		return;
	w = place_of(j, key);
	/* Of two calls the outer one counts: the runtime's around the driver's. */
	if (!w->called || l->start < w->launch.start)
		w->launch = *l;
	w->called = true;
	if (!w->first)
		return;
	meet(j, w, &w->launch);
	drop(j, w);
}

/* Appends an operation to the unmatched operations of a call. */
static void queue(struct join *j, struct waiting *w, const struct recorded_op *op)
{
	uint32_t i = j->free;

	if (i) {
		j->free = j->ops.v[i - 1].next;
	} else {
		VEC_PUSH(j->a, &j->ops, ((struct recorded_op){ 0 }));
		i = (uint32_t)j->ops.n;
	}
	j->ops.v[i - 1] = *op;
	j->ops.v[i - 1].next = 0;
	if (w->last)
		j->ops.v[w->last - 1].next = i;
	else
		w->first = i;
	w->last = i;
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
	l = met(j, key);
	if (l) {
		j->found(j->user, op, l);
		return;
	}
	w = place_of(j, key);
	if (!w->called) {
		queue(j, w, op);
		return;
	}
	j->found(j->user, op, &w->launch);
	drop(j, w);
}

void join_finish(struct join *j)
{
	give_up(j, UINT64_MAX);
}
