/* SPDX-License-Identifier: Apache-2.0
 *
 * See launch_join.h. The correlations from the first reading are bits in pages. Pending launches
 * are in a hash table and are removed from it after their last work.
 */
#include "trace/pass/launch_join.h"

#define PAGE_BITS   10 /* log2 of the correlations per page */
#define PAGE_WORDS  ((size_t)1 << (PAGE_BITS - 6))
#define FIRST_SLOTS ((size_t)1 << 10)

enum { SEEN_CALL, SEEN_WORK, SEEN_MORE_WORK, SEEN_N };

struct launch_page {
	uint64_t bits[SEEN_N][PAGE_WORDS];
};

struct launch_page_key {
	int64_t page;
	uint64_t process;
};

/* A pending launch: its call, or work that precedes its call. */
struct launch_slot {
	int64_t correlation;
	uint32_t process; /* 1 + the process; 0: free */
	bool called;
	uint32_t first; /* 1 + index in waiting of the newest work without a call; 0: none */
	struct launched call;
};

struct waiting_work {
	struct slice s;
	uint32_t next; /* 1 + index of the next work of the same launch; 0: none */
};

struct launch_join {
	struct arena *a;
	struct intern page_of;
	VEC(struct launch_page *) pages;
	struct launch_page_key last_key;
	struct launch_page *last;
	struct launch_slot *v;
	size_t n, slots;
	VEC(struct waiting_work) waiting;
	uint32_t free;  /* 1 + index of the first unused element of waiting */
	uint32_t ready; /* 1 + index of the next work that launch_join_waiting returns */
};

struct launch_join *launch_join_new(struct arena *a)
{
	struct launch_join *j = ARENA_NEW(a, struct launch_join);

	j->a = a;
	intern_init(&j->page_of, a);
	j->slots = FIRST_SLOTS;
	j->v = ARENA_ARRAY(a, j->slots, struct launch_slot);
	return j;
}

/* ---- first reading: correlations ---- */

static struct launch_page *page_of(struct launch_join *j, uint32_t process, int64_t correlation)
{
	const struct launch_page_key key = { correlation >> PAGE_BITS, process };
	size_t before = j->page_of.n;

	if (j->last && j->last_key.page == key.page && j->last_key.process == key.process)
		return j->last;
	uint32_t i = intern_add(&j->page_of, str_make(&key, sizeof key));
	if (j->page_of.n != before)
		VEC_PUSH(j->a, &j->pages, ARENA_NEW(j->a, struct launch_page));
	j->last_key = key;
	j->last = j->pages.v[i];
	return j->last;
}

static uint64_t *word_of(struct launch_page *p, unsigned seen, int64_t correlation, uint64_t *bit)
{
	size_t i = (size_t)correlation & (((size_t)1 << PAGE_BITS) - 1);

	*bit = (uint64_t)1 << (i & 63);
	return &p->bits[seen][i >> 6];
}

static bool has_seen(struct launch_join *j, uint32_t process, int64_t correlation, unsigned seen)
{
	uint64_t bit, *word = word_of(page_of(j, process, correlation), seen, correlation, &bit);

	return *word & bit;
}

/* Sets a bit. Returns true if it was already set. */
static bool see(struct launch_join *j, uint32_t process, int64_t correlation, unsigned seen)
{
	uint64_t bit, *word = word_of(page_of(j, process, correlation), seen, correlation, &bit);
	bool was = *word & bit;

	*word |= bit;
	return was;
}

void launch_join_expect_call(struct launch_join *j, uint32_t process, int64_t correlation)
{
	if (correlation)
		see(j, process, correlation, SEEN_CALL);
}

void launch_join_expect_work(struct launch_join *j, uint32_t process, int64_t correlation)
{
	if (correlation && see(j, process, correlation, SEEN_WORK))
		see(j, process, correlation, SEEN_MORE_WORK);
}

/* ---- pending launches ---- */

static size_t home_of(const struct launch_join *j, uint32_t process, int64_t correlation)
{
	uint64_t h = ((uint64_t)correlation ^ (uint64_t)process << 48) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & (j->slots - 1);
}

/* Returns the slot of a key, or the free slot where it belongs. */
static struct launch_slot *slot_of(struct launch_join *j, uint32_t process, int64_t correlation)
{
	size_t i = home_of(j, process, correlation);

	while (j->v[i].process &&
	        (j->v[i].process != process + 1 || j->v[i].correlation != correlation))
		i = (i + 1) & (j->slots - 1);
	return &j->v[i];
}

static void enlarge(struct launch_join *j)
{
	struct launch_slot *old = j->v;
	size_t n = j->slots;

	j->slots *= 2;
	j->v = ARENA_ARRAY(j->a, j->slots, struct launch_slot);
	for (size_t i = 0; i < n; i++)
		if (old[i].process)
			*slot_of(j, old[i].process - 1, old[i].correlation) = old[i];
}

static struct launch_slot *add_slot(struct launch_join *j, uint32_t process, int64_t correlation)
{
	if (2 * j->n >= j->slots)
		enlarge(j);
	struct launch_slot *made = slot_of(j, process, correlation);
	*made = (struct launch_slot){ .correlation = correlation, .process = process + 1 };
	j->n++;
	return made;
}

/* Empties a slot, and moves the following slots of its probe chain to close the gap. */
static void remove_slot(struct launch_join *j, struct launch_slot *gone)
{
	size_t hole = (size_t)(gone - j->v), mask = j->slots - 1;

	j->n--;
	for (size_t i = (hole + 1) & mask; j->v[i].process; i = (i + 1) & mask) {
		size_t home = home_of(j, j->v[i].process - 1, j->v[i].correlation);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			j->v[hole] = j->v[i];
			hole = i;
		}
	}
	j->v[hole].process = 0;
}

/* Removes a launch whose only work has been read. A second record of its call is then ignored. */
static void end_launch(struct launch_join *j, struct launch_slot *s)
{
	uint32_t process = s->process - 1;
	uint64_t bit, *word;

	if (has_seen(j, process, s->correlation, SEEN_MORE_WORK))
		return;
	word = word_of(page_of(j, process, s->correlation), SEEN_WORK, s->correlation, &bit);
	*word &= ~bit;
	remove_slot(j, s);
}

/* ---- second reading ---- */

void launch_join_call(
        struct launch_join *j, uint32_t process, int64_t correlation, const struct launched *call)
{
	struct launch_slot *s;

	j->ready = 0;
	if (!correlation || !has_seen(j, process, correlation, SEEN_WORK))
		return;
	s = slot_of(j, process, correlation);
	if (!s->process)
		s = add_slot(j, process, correlation);
	if (s->called)
		return; /* nested in the call that is already stored */
	s->called = true;
	s->call = *call;
	j->ready = s->first;
	s->first = 0;
	if (j->ready)
		end_launch(j, s);
}

bool launch_join_waiting(struct launch_join *j, struct slice *work)
{
	struct waiting_work *w;
	uint32_t i = j->ready;

	if (!i)
		return false;
	w = &j->waiting.v[i - 1];
	*work = w->s;
	j->ready = w->next;
	w->next = j->free;
	j->free = i;
	return true;
}

static void keep_waiting(struct launch_join *j, struct launch_slot *s, const struct slice *work)
{
	struct waiting_work made = { *work, s->first };

	made.s.args = STR_NONE;
	if (!j->free) {
		VEC_PUSH(j->a, &j->waiting, made);
		s->first = (uint32_t)j->waiting.n;
		return;
	}
	s->first = j->free;
	j->free = j->waiting.v[s->first - 1].next;
	j->waiting.v[s->first - 1] = made;
}

enum launch_found launch_join_work(
        struct launch_join *j, uint32_t process, const struct slice *work, struct launched *call)
{
	struct launch_slot *s;

	if (!work->correlation || !has_seen(j, process, work->correlation, SEEN_CALL))
		return LAUNCH_NONE;
	s = slot_of(j, process, work->correlation);
	if (!s->process)
		s = add_slot(j, process, work->correlation);
	if (!s->called) {
		keep_waiting(j, s, work);
		return LAUNCH_LATER;
	}
	*call = s->call;
	end_launch(j, s);
	return LAUNCH_FOUND;
}
