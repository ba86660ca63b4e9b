/* SPDX-License-Identifier: Apache-2.0
 *
 * The history file: its mode, its limit, and several sessions that write at once.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/prompt.h"

static char folder[] = "/tmp/tfprof-history-XXXXXX";

static struct str file(const char *name)
{
	return str_fmt(&unit_arena, "%s/%s", folder, name);
}

static void test_keeps(void **state)
{
	struct str path = file("keeps");
	struct stat st;

	(void)state;
	history_add(&unit_arena, path, S("scope | less"));
	history_add(&unit_arena, path, S("op"));
	struct strs lines = history_read(&unit_arena, path);
	assert_int_equal(lines.n, 2);
	assert_true(str_eq(lines.v[0], S("scope | less")));
	assert_int_equal(stat(str_z(&unit_arena, path), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_cuts(void **state)
{
	struct str path = file("cuts");

	(void)state;
	for (int i = 0; i < 2 * HISTORY_MAX + 5; i++)
		history_add(&unit_arena, path, str_fmt(&unit_arena, "set -step %d", i));
	assert_int_equal(history_read(&unit_arena, path).n, HISTORY_MAX);
	struct strs lines = history_read(&unit_arena, path);
	assert_int_equal(lines.n, HISTORY_MAX);
	assert_true(str_eq(lines.v[HISTORY_MAX - 1],
	        str_fmt(&unit_arena, "set -step %d", 2 * HISTORY_MAX + 4)));
}

/* A file with two links is not written: the other name may be any file of the user. */
static void test_hard_link(void **state)
{
	struct str path = file("hard"), target = file("hard-target");
	FILE *f = fopen(str_z(&unit_arena, target), "w");

	(void)state;
	assert_true(f && fputs("mine\n", f) >= 0 && fclose(f) == 0);
	assert_int_equal(link(str_z(&unit_arena, target), str_z(&unit_arena, path)), 0);
	history_add(&unit_arena, path, S("scope"));
	assert_int_equal(history_read(&unit_arena, path).n, 0);
	unlink(str_z(&unit_arena, path));
	assert_int_equal(history_read(&unit_arena, target).n, 1);
}

/* A link, or a file of another user, is left unchanged. */
static void test_links(void **state)
{
	struct str path = file("link"), target = file("target");
	FILE *f = fopen(str_z(&unit_arena, target), "w");

	(void)state;
	assert_true(f && fputs("mine\n", f) >= 0 && fclose(f) == 0);
	assert_int_equal(symlink(str_z(&unit_arena, target), str_z(&unit_arena, path)), 0);
	history_add(&unit_arena, path, S("scope"));
	assert_int_equal(history_read(&unit_arena, path).n, 0);
	assert_int_equal(history_read(&unit_arena, target).n, 1);
	unlink(str_z(&unit_arena, path));
}

/* Four processes write whole lines and read (so cut) in between; no line is broken. */
static void test_shared(void **state)
{
	struct str path = file("shared");

	(void)state;
	for (int p = 0; p < 4; p++) {
		if (fork())
			continue;
		for (int i = 0; i < 400; i++) {
			history_add(&unit_arena, path,
			        str_fmt(&unit_arena, "begin %d of %d end", i, p));
			if (i % 100 == 99)
				history_read(&unit_arena, path);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	struct strs lines = history_read(&unit_arena, path);
	assert_true(lines.n >= HISTORY_MAX);
	for (size_t i = 0; i < lines.n; i++)
		assert_true(str_starts(lines.v[i], S("begin ")) && str_ends(lines.v[i], S(" end")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_hard_link),
		cmocka_unit_test(test_shared),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (setjmp(unit_work.escape) || !mkdtemp(folder))
		return 1;
	arena_init(&unit_arena, &unit_work);
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	for (const char *const *n = (const char *const[]){ "keeps", "cuts", "shared", "target",
	             "hard-target", NULL };
	        *n; n++)
		unlink(str_z(&unit_arena, file(*n)));
	rmdir(folder);
	arena_free(&unit_arena);
	return r;
}
