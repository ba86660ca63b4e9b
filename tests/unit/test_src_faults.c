/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of the input window: damage, refusals, cancelling, files without a size.
 */
#include "src_rig.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/gz.h"

/* SIZE zeros. */
static struct str zeros(void)
{
	return str_make(arena_alloc(&unit_arena, SIZE, 1), SIZE);
}

static struct str pack(struct str bytes)
{
	struct sink *to = sink_memory(&unit_arena), *gz = gzip_sink(&unit_arena, to);

	sink_put(gz, bytes);
	assert_true(sink_close(gz, &err));
	return sink_text(to);
}

static void fails_with(const char *sentence, enum status code)
{
	assert_string_equal(str_z(&unit_arena, err.text), sentence);
	assert_int_equal(err.code, code);
	err = (struct err){ .a = &unit_arena };
}

static void damaged_gzip(UNUSED)
{
	struct str packed = pack(zeros());
	char *copy = arena_copy(&unit_arena, packed.p, packed.n);
	struct src *s;

	src_memory(&s, &unit_arena, S("x.gz"), str_sub(packed, 0, packed.n - 1), &err);
	assert_true(src_skip(s, SIZE));
	assert_false(src_need(s, 1));
	assert_true(src_failed(s) && !src_rewind(s));
	fails_with(str_z(&unit_arena, str_fmt(&unit_arena,
	                                      "x.gz: byte %zu: the gzip data cannot be "
	                                      "unpacked: it ends in the middle",
	                                      packed.n - 1)),
	        ERR_DATA_LOSS);
	copy[packed.n - 6] ^= 1; /* the sum */
	src_memory(&s, &unit_arena, S("x.gz"), str_make(copy, packed.n), &err);
	assert_false(src_skip(s, SIZE + 1));
	assert_true(src_failed(s) && err.code == ERR_DATA_LOSS);
}

static void cannot_open(UNUSED)
{
	struct src *s;

	assert_false(src_open(&s, &unit_arena, str_of(dir), &err));
	fails_with(
	        str_z(&unit_arena, str_fmt(&unit_arena, "cannot open '%s': it is a folder", dir)),
	        ERR_INVALID_ARGUMENT);
	assert_false(src_open(&s, &unit_arena, S("/nowhere/x"), &err));
	fails_with("cannot open '/nowhere/x': No such file or directory", ERR_NOT_FOUND);
	assert_false(src_open(&s, &unit_arena, S("a\0b"), &err));
	fails_with("cannot open 'a': a NUL in its name", ERR_INVALID_ARGUMENT);
	assert_false(src_open(&s, &unit_arena, S("/proc/self/mem"), &err));
	fails_with("cannot read '/proc/self/mem': Input/output error", ERR_IO);
}

/* A path that must be a regular file never blocks. */
static void only_files(UNUSED)
{
	struct str pipe = str_fmt(&unit_arena, "%s/pipe", dir);
	struct src *s;

	assert_int_equal(mkfifo(str_z(&unit_arena, pipe), 0600), 0);
	assert_false(src_open_file(&s, &unit_arena, pipe, &err));
	fails_with(str_z(&unit_arena,
	                   str_fmt(&unit_arena, "cannot open '%.*s': it is not a regular file",
	                           STR(pipe))),
	        ERR_IO);
	unlink(str_z(&unit_arena, pipe));
	assert_false(src_open_file(&s, &unit_arena, S("/dev/zero"), &err));
	fails_with("cannot open '/dev/zero': it is not a regular file", ERR_IO);
	assert_false(src_open_file(&s, &unit_arena, str_of(dir), &err));
	fails_with(
	        str_z(&unit_arena, str_fmt(&unit_arena, "cannot open '%s': it is a folder", dir)),
	        ERR_IO);
	put_file(S("text"));
	assert_true(src_open_file(&s, &unit_arena, str_of(path), &err));
	assert_true(src_need(s, 4));
	src_close(s);
}

static bool tick(void *user, uint64_t done, uint64_t size)
{
	assert_int_equal(size, SIZE);
	*(uint64_t *)user = done;
	return done <= 2 * SRC_WINDOW;
}

static void progress(UNUSED)
{
	struct str all = STR_NONE;
	uint64_t done = 0;
	struct src *s;

	put_file(zeros());
	assert_true(src_open(&s, &unit_arena, str_of(path), &err));

	src_on_progress(s, tick, &done);
	assert_true(src_need(s, SRC_WINDOW + 1));
	assert_int_equal(done, 2 * SRC_WINDOW);
	assert_false(src_all(s, &all));
	assert_true(src_failed(s) && err.code == ERR_CANCELLED);
	src_close(s);
}

/* Memory is provided in pieces if there is a progress callback, and can still be read as a whole.
 */
static void progress_in_memory(UNUSED)
{
	struct str all = STR_NONE, bytes = zeros();
	uint64_t done = 0;
	struct src *s;

	src_memory(&s, &unit_arena, S("memory"), bytes, &err);
	assert_true(src_size(s) == SIZE && src_raw_at(s) == SIZE);
	src_on_progress(s, tick, &done);
	assert_true(src_raw_at(s) == 0 && src_need(s, SRC_WINDOW + 1));
	assert_int_equal(done, 2 * SRC_WINDOW);
	assert_int_equal(src_at(s), 0);
	assert_ptr_equal(s->p, bytes.p);
	assert_false(src_all(s, &all));
	assert_int_equal(err.code, ERR_CANCELLED);
}

/* A skip in a file reads nothing; when work ends early, the file gets closed. */
static void seeks_and_guard(UNUSED)
{
	struct src *s;
	int next = dup(0);

	close(next);
	put_file(zeros());
	assert_true(src_open(&s, &unit_arena, str_of(path), &err));
	assert_true(src_skip(s, SIZE - 1) && src_raw_at(s) == SIZE - 1);
	assert_false(src_skip(s, 2));
	assert_int_equal(src_at(s), SIZE);
	assert_true(src_rewind(s) && src_need(s, SIZE));
	arena_close(&unit_arena); /* as when memory is exhausted */
	assert_int_equal(dup(0), next);
	close(next);
	src_close(s);
}

/* Standard input in the middle of a file, and files of unknown size. */
static void odd_files(UNUSED)
{
	struct str all = STR_NONE;
	struct src *s;
	int old = dup(0);

	put_file(S("0123456789"));
	assert_non_null(freopen(path, "r", stdin));
	assert_int_equal(lseek(0, 4, SEEK_SET), 4);
	assert_true(src_open(&s, &unit_arena, S("-"), &err));
	assert_true(src_skip(s, 1) && src_size(s) == 6 && src_all(s, &all));
	assert_true(str_eq(all, S("56789")));
	assert_string_equal(str_z(&unit_arena, s->name), "standard input");
	src_close(s);
	assert_int_equal(dup2(old, 0), 0);
	close(old);
	assert_true(src_open(&s, &unit_arena, S("/proc/self/status"), &err));
	assert_true(src_skip(s, 5) && src_need(s, 1) && src_all(s, &all) && all.n > 100);
	src_close(s);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, src_setup, src_teardown)
	const struct CMUnitTest tests[] = { TEST(damaged_gzip), TEST(cannot_open), TEST(only_files),
		TEST(progress), TEST(progress_in_memory), TEST(seeks_and_guard), TEST(odd_files) };

	return unit_main_in(dir, tests, argc, argv);
}
