/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations and calls are matched whatever their order, also where correlation ids wrap, and in
 * memory that does not depend on their number.
 */
#include "unit.h"

#include "trace/read/recording/recording_internal.h"

static uint64_t met, alone, wrong, launched;

/* An operation's start is the number of its call. */
static void found(void *user, const struct recorded_op *op, struct recorded_call *l)
{
	(void)user;
	met += l != NULL;
	alone += !l;
	wrong += l && l->start != op->start;
	if (l && !l->announced) {
		l->announced = true;
		launched++;
	}
}

static struct join *begin(struct arena *a)
{
	met = alone = wrong = launched = 0;
	return join_new(a, found, NULL);
}

static void call(struct join *j, uint64_t n, bool graph)
{
	join_call(
	        j, (uint32_t)n, &(struct recorded_call){ .start = n, .length = 1, .graph = graph });
}

static void operate(struct join *j, uint64_t n)
{
	join_op(j, (uint32_t)n, &(struct recorded_op){ .kind = SPOOL_KERNEL, .start = n });
}

/* Calls precede their operations by `ahead`, or follow them. */
static void run(struct arena *a, uint64_t from, uint64_t n, int64_t ahead)
{
	struct join *j = begin(a);

	for (uint64_t i = 0; i < n; i++) {
		call(j, from + i, false);
		if ((int64_t)i >= ahead)
			operate(j, from + i - (uint64_t)ahead);
	}
	for (uint64_t i = n - (uint64_t)ahead; i < n; i++)
		operate(j, from + i);
	join_finish(j);
	assert_int_equal(wrong, 0);
}

static void in_any_order(void **state)
{
	static const int64_t ahead[] = { 0, 1, 1000, 100000 };

	for (unsigned i = 0; i < 4; i++) {
		run(*state, 1, 300000, ahead[i]);
		assert_int_equal(met, 300000);
		assert_int_equal(launched, 300000);
		assert_int_equal(alone, 0);
	}
	struct join *j = begin(*state);
	for (uint64_t i = 1; i <= 50000; i++)
		operate(j, i);
	for (uint64_t i = 50000; i > 0; i--)
		call(j, i, false);
	assert_int_equal(met, 50000);
}

/* Correlation 0 means an operation without a call. */
static void around_the_end(void **state)
{
	run(*state, UINT32_MAX - 5000, 10000, 3000);
	assert_int_equal(met, 9999);
	assert_int_equal(alone, 1);
}

/* The call of a graph has many operations, another call has a few; a second record of a call is not
 * a second call. */
static void several_of_one(void **state)
{
	struct join *j = begin(*state);

	operate(j, 5);
	operate(j, 5);
	call(j, 5, true);
	for (unsigned i = 0; i < 100; i++)
		operate(j, 5);
	call(j, 6, false);
	operate(j, 6);
	operate(j, 6);
	call(j, 6, false);
	operate(j, 6);
	join_finish(j);
	assert_int_equal(met, 105);
	assert_int_equal(launched, 2);
}

/* Calls without operations, and operations without calls, are dropped. */
static void in_vain(void **state)
{
	struct join *j = begin(*state);

	for (uint64_t i = 1; i <= 3000000; i++) {
		if (i % 3)
			call(j, i, false);
		if (i % 3 != 1)
			operate(j, i);
	}
	join_finish(j);
	assert_int_equal(met, 1000000);
	assert_int_equal(alone, 1000000);
	assert_true(unit_account.peak < (size_t)400 << 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(in_any_order),
		unit_case(around_the_end),
		unit_case(several_of_one),
		unit_case(in_vain),
	};

	return unit_main(tests, argc, argv);
}
