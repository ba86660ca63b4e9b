/* SPDX-License-Identifier: Apache-2.0
 *
 * names: each text is stored once, whichever thread adds it, also if there are too many texts.
 */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/names.h"

static struct name *add(const char *text)
{
	return names_add(text, strlen(text));
}

static void test_once(void **state)
{
	struct name *a = add("matmul"), *empty = add("");

	(void)state;
	assert_ptr_equal(add("matmul"), a);
	assert_ptr_not_equal(add("matmu"), a);
	assert_string_equal(a->text, "matmul");
	assert_int_equal(a->length, 6);
	assert_ptr_equal(add(""), empty);
	assert_ptr_equal(names_add("a\0b", 3), names_add("a\0b", 3));
	assert_ptr_not_equal(names_add("a\0b", 3), names_add("a\0c", 3));
	assert_ptr_equal(names_at(names_number(a)), a);
	assert_true(names_has(a));
	assert_false(names_has(NULL) || names_has(&empty) || names_has((char *)a + 1));
	/* A table that is created again keeps its names, but not the writer's marks. */
	a->spool_id = 5;
	assert_true(names_make());
	assert_ptr_equal(add("matmul"), a);
	assert_int_equal(a->spool_id, 0);
}

static void test_long(void **state)
{
	size_t n = NAME_LONGEST + 100;
	char *text = malloc(n);

	(void)state;
	memset(text, 'x', n);
	struct name *e = names_add(text, n);

	assert_int_equal(e->length, NAME_LONGEST);
	assert_int_equal(names_lost(), 1);
	assert_ptr_equal(names_add(text, n), e);
	/* Names that differ in their last byte are different names. */
	text[n - 1] = 'y';
	assert_ptr_not_equal(names_add(text, n), e);
	assert_int_equal(names_lost(), 2);
	/* A name is not cut within a character. */
	memcpy(text + NAME_LONGEST - 18, "\xe2\x82\xac", 3);
	assert_int_equal(names_add(text, n)->length, NAME_LONGEST - 1);
	free(text);
}

enum { THREADS = 4, TEXTS = 2000 };
static struct name *seen[THREADS][TEXTS];

static void *race(void *which)
{
	char text[32];

	for (int i = 0; i < TEXTS; i++) {
		snprintf(text, sizeof text, "kernel_%d", i);
		seen[(intptr_t)which][i] = add(text);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t t[THREADS];

	(void)state;
	for (intptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, race, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(seen[0], seen[i], sizeof seen[0]);
}

static struct name *range(const char *text)
{
	return names_add_range(text, strlen(text));
}

/* A hundred thousand names stay different. When the block is nearly full, names that differ in the
 * number at their end share one entry, and are counted. */
static void test_numbers(void **state)
{
	static char text[2000];
	struct name *e;
	uint32_t n = 0;

	(void)state;
	uint64_t before = names_lost();
	for (n = 0; n < 100000; n++) {
		snprintf(text, sizeof text, "iteration %u", n);
		e = range(text);
		assert_int_equal(e->length, strlen(text));
		assert_string_equal(e->text, text);
	}
	assert_int_equal(names_lost(), before);
	memset(text, 'z', sizeof text - 9);
	do {
		snprintf(text + sizeof text - 9, 9, "%08u", n++);
		e = range(text);
	} while (names_lost() == before && n < 1 << 20);
	assert_int_equal(e->length, sizeof text - 8);
	assert_int_equal(e->text[sizeof text - 9], '#');
	snprintf(text + sizeof text - 9, 9, "%08u", n);
	assert_ptr_equal(range(text), e);
	assert_int_equal(names_lost(), before + 2);
	assert_int_equal(range("iteration 4711")->length, strlen("iteration 4711"));
	assert_string_equal(range("iteration 4711111")->text, "iteration #");
}

/* With too many names, first the texts are lost, then the identities, and nothing else. */
static void test_full(void **state)
{
	static char text[4096];
	struct name *first = add("before"), *late, *lost = names_at(0);
	uint32_t n = 0;

	(void)state;
	memset(text, 'y', sizeof text);
	do {
		n += (uint32_t)snprintf(text, 16, "%08x", n);
		late = names_add(text, sizeof text);
	} while (late != lost && late->length != NAME_NO_TEXT && n < 1 << 20);
	assert_int_equal(late->length, NAME_NO_TEXT);
	assert_ptr_equal(names_add(text, sizeof text), late);
	assert_true(names_lost() > 0);
	assert_ptr_equal(add("before"), first);
	for (n = 0; n < 1 << 18; n++) {
		snprintf(text, 16, "%08xabcdefg", n);
		late = names_add(text, 15);
	}
	assert_ptr_equal(late, lost);
	assert_int_equal(names_number(late), 0);
	assert_ptr_equal(add("before"), first);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_once), unit_case(test_long),
		unit_case(test_threads), unit_case(test_numbers), unit_case(test_full) };

	if (!names_make())
		return 1;
	return unit_main(tests, argc, argv);
}
