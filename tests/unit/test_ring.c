/* SPDX-License-Identifier: Apache-2.0
 *
 * ring: each pop belongs to its push if the ring is full, too deep, or in another round.
 */
#include "unit.h"

#include <pthread.h>

#include "collect/record_enable.h"
#include "collect/ring.h"

static unsigned pushes, pops, others;

static void take(void *unused, uint32_t tid, const struct ring_entry *e)
{
	(void)unused;
	(void)tid;
	pushes += e->kind == RING_PUSH;
	pops += e->kind == RING_POP;
	others += e->kind != RING_PUSH && e->kind != RING_POP;
}

static void drain(void)
{
	pushes = pops = others = 0;
	rings_drain(take, NULL);
}

static void push(struct ring *r, uint32_t round, uint16_t domain)
{
	if (ring_enter(r, round, domain))
		ring_put(r, 1, 0, 1, domain, RING_PUSH);
}

static void pop(struct ring *r, uint32_t round, uint16_t domain)
{
	if (ring_leave(r, round, domain))
		ring_put(r, 1, 0, 0, domain, RING_POP);
}

static void test_full(void **state)
{
	struct ring *r = ring_mine();
	uint64_t lost = rings_lost();

	(void)state;
	drain();
	for (unsigned i = 0; i < RING_ENTRIES; i++) {
		push(r, 1, 0);
		pop(r, 1, 0);
	}
	drain();
	assert_int_equal(pushes, pops);
	assert_true(pushes * 2 > RING_ENTRIES - 2 * RING_DEPTH - 4);
	assert_int_equal(pushes + rings_lost() - lost, RING_ENTRIES);
	/* The pops still fit if the ring is full and as many ranges as possible are open. */
	for (unsigned i = 0; i < RING_DEPTH; i++)
		push(r, 1, 0);
	for (unsigned i = 0; i < RING_ENTRIES; i++)
		ring_put(r, 1, 0, 1, 0, RING_MARK);
	for (unsigned i = 0; i < RING_DEPTH; i++)
		pop(r, 1, 0);
	drain();
	assert_int_equal(pushes, RING_DEPTH);
	assert_int_equal(pops, RING_DEPTH);
}

static void test_deep(void **state)
{
	struct ring *r = ring_mine();
	uint64_t deep = rings_too_deep();

	(void)state;
	drain();
	for (unsigned i = 0; i < RING_DEPTH + 50; i++)
		push(r, 1, (uint16_t)(i & 1));
	for (unsigned i = RING_DEPTH + 50; i-- > 0;)
		pop(r, 1, (uint16_t)(i & 1));
	pop(r, 1, 0); /* one more than fits */
	drain();
	assert_int_equal(pushes, RING_DEPTH);
	assert_int_equal(pops, RING_DEPTH);
	assert_int_equal(rings_too_deep() - deep, 50);
}

static void test_rounds(void **state)
{
	struct ring *r = ring_mine();

	(void)state;
	drain();
	push(r, 1, 0);
	push(r, 1, 0);
	pop(r, 2, 0); /* of the round before: its push is not in this round */
	push(r, 2, 0);
	pop(r, 2, 0);
	drain();
	assert_int_equal(pushes, 3);
	assert_int_equal(pops, 1);
}

static void *one(void *ring)
{
	struct ring *r = ring_mine();

	*(struct ring **)ring = r;
	push(r, 1, 0);
	return NULL;
}

/* The ring of a thread that has ended is emptied and given to the next thread. */
static void test_threads(void **state)
{
	struct ring *first, *second;
	pthread_t t;

	(void)state;
	drain();
	pthread_create(&t, NULL, one, &first);
	pthread_join(t, NULL);
	drain();
	assert_int_equal(pushes, 1);
	pthread_create(&t, NULL, one, &second);
	pthread_join(t, NULL);
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, ring_mine());
	drain();
	assert_int_equal(pushes, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_full), unit_case(test_deep),
		unit_case(test_rounds), unit_case(test_threads) };

	if (!record_enable_make() || !rings_make())
		return 1;
	return unit_main(tests, argc, argv);
}
