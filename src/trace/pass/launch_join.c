/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins device work to its calls. The correlations from the first reading are bits in pages.
 */
#include "trace/pass/launch_join.h"

#include "trace/pass/pending.h"

#define PAGE_BITS   10 /* log2 of the correlations per page */
#define PAGE_WORDS  ((size_t)1 << (PAGE_BITS - 6))
#define FIRST_SLOTS ((size_t)1 << 10)

enum { SEEN_CALL, SEEN_WORK, SEEN_MORE_WORK, SEEN_N };

struct launch_page {
	uint64_t number;
	uint64_t bits[SEEN_N][PAGE_WORDS];
};

struct launch_page_key {
	int64_t page;
	uint64_t process;
};

/* A pending launch: its call, or work that precedes its call. */
struct stored_launch {
	struct pending_launch head;
	struct launched call; /* valid if called */
	bool called;
};

struct launch_join {
	struct arena *a;
	struct intern page_of;
	VEC(struct launch_page *) pages;
	struct launch_page_key last_key;
	struct launch_page *last;
	struct pending_table pending; /* table of struct stored_launch and struct slice */
	struct pending_launch ready;  /* list of the work that launch_join_waiting returns */
};

struct launch_join *launch_join_new(struct arena *a)
{
	struct launch_join *j = ARENA_NEW(a, struct launch_join);

	j->a = a;
	intern_init(&j->page_of, a);
	pending_init(
	        &j->pending, a, FIRST_SLOTS, sizeof(struct stored_launch), sizeof(struct slice));
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
	if (j->page_of.n != before) {
		struct launch_page *made = ARENA_NEW(j->a, struct launch_page);
		made->number = i;
		VEC_PUSH(j->a, &j->pages, made);
	}
	j->last_key = key;
	j->last = j->pages.v[i];
	return j->last;
}

/* Returns the key of a launch: 1 + its index in the pages. */
static uint64_t key_of(struct launch_join *j, uint32_t process, int64_t correlation)
{
	uint64_t place = (uint64_t)correlation & (((uint64_t)1 << PAGE_BITS) - 1);

	return 1 + (page_of(j, process, correlation)->number << PAGE_BITS | place);
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

/* Sets a bit. Returns true if the bit was already set. */
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

/* ---- second reading ---- */

/* Returns the pending launch of a correlation. Adds it if it does not exist. */
static struct stored_launch *launch_of(struct launch_join *j, uint32_t process, int64_t correlation)
{
	uint64_t key = key_of(j, process, correlation);
	struct stored_launch *s = pending_find(&j->pending, key);

	if (s->head.key)
		return s;
	if (pending_is_full(&j->pending)) {
		pending_grow(&j->pending);
		s = pending_find(&j->pending, key);
	}
	pending_add(&j->pending, s, key);
	return s;
}

/* Removes a launch whose only work has been read. A second record of its call is ignored. */
static void end_launch(
        struct launch_join *j, struct stored_launch *s, uint32_t process, int64_t correlation)
{
	uint64_t bit, *word;

	if (has_seen(j, process, correlation, SEEN_MORE_WORK))
		return;
	word = word_of(page_of(j, process, correlation), SEEN_WORK, correlation, &bit);
	*word &= ~bit;
	pending_remove(&j->pending, s);
}

void launch_join_call(
        struct launch_join *j, uint32_t process, int64_t correlation, const struct launched *call)
{
	struct stored_launch *s;

	j->ready = (struct pending_launch){ .key = 0 };
	if (!correlation || !has_seen(j, process, correlation, SEEN_WORK))
		return;
	s = launch_of(j, process, correlation);
	if (s->called)
		return; /* nested in the call that is already stored */
	s->called = true;
	s->call = *call;
	j->ready = s->head;
	s->head.first = s->head.last = 0;
	if (j->ready.first)
		end_launch(j, s, process, correlation);
}

bool launch_join_waiting(struct launch_join *j, struct slice *work)
{
	return pending_take(&j->pending, &j->ready, work);
}

enum launch_found launch_join_work(
        struct launch_join *j, uint32_t process, const struct slice *work, struct launched *call)
{
	struct stored_launch *s;
	struct slice kept = *work;

	if (!work->correlation || !has_seen(j, process, work->correlation, SEEN_CALL))
		return LAUNCH_NONE;
	s = launch_of(j, process, work->correlation);
	if (!s->called) {
		kept.args = STR_NONE;
		pending_wait(&j->pending, &s->head, &kept);
		return LAUNCH_LATER;
	}
	*call = s->call;
	end_launch(j, s, process, work->correlation);
	return LAUNCH_FOUND;
}
