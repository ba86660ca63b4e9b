/* SPDX-License-Identifier: Apache-2.0
 *
 * The input window: a file, a pipe and memory give the same bytes, with and without gzip.
 */
#include "src_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/gz.h"

enum way { FILE_PLAIN, FILE_GZIP, PIPE_PLAIN, PIPE_GZIP, MEMORY_PLAIN, MEMORY_GZIP, WAYS };

static struct str text, packed;
static pid_t writer;

static int setup(UNUSED)
{
	struct sink *to, *gz;
	char *p;

	src_setup(state);
	p = arena_alloc(&unit_arena, SIZE, 1);
	for (size_t i = 0; i < SIZE; i++)
		p[i] = (char)(i * 2654435761u >> 20);
	text = str_make(p, SIZE);
	to = sink_memory(&unit_arena);
	gz = gzip_sink(&unit_arena, to);
	sink_put(gz, text);
	sink_close(gz, &err);
	packed = sink_text(to);
	return 0;
}

/* A child writes the bytes to a pipe in small pieces. */
static struct src *open_pipe(struct str bytes)
{
	struct str name;
	struct src *s;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	writer = fork();
	if (writer == 0) {
		close(fd[0]);
		for (size_t n; bytes.n; bytes = str_sub(bytes, n, SIZE_MAX)) {
			n = bytes.n < 4099 ? bytes.n : 4099;
			if (write(fd[1], bytes.p, n) < 0)
				break;
		}
		_exit(0);
	}
	name = str_fmt(&unit_arena, "/dev/fd/%d", fd[0]);
	assert_true(src_open(&s, &unit_arena, name, &err));
	close(fd[0]);
	close(fd[1]);
	return s;
}

static struct src *open_way(enum way way)
{
	struct str bytes = way % 2 ? packed : text;
	struct src *s = NULL;

	writer = 0;
	if (way <= FILE_GZIP) {
		put_file(bytes);
		assert_true(src_open(&s, &unit_arena, str_of(path), &err));
	} else if (way <= PIPE_GZIP) {
		s = open_pipe(bytes);
	} else {
		assert_true(src_memory(&s, &unit_arena, S("memory"), bytes, &err));
	}
	return s;
}

static void close_way(struct src *s)
{
	src_close(s);
	if (writer)
		waitpid(writer, NULL, 0);
	assert_int_equal(err.code, ERR_NONE);
}

static void is_at(const struct src *s, size_t at, size_t n)
{
	assert_int_equal(src_at(s), at);
	assert_true((size_t)(s->end - s->p) >= n);
	assert_memory_equal(s->p, text.p + at, n);
}

static void needs_and_skips(UNUSED)
{
	struct src *s;
	size_t at;

	for (int way = 0; way < WAYS; way++) {
		s = open_way((enum way)way);
		for (at = 0; at + 70000 < SIZE; at += 60000) {
			assert_true(src_need(s, 50000));
			is_at(s, at, 50000);
			s->p += 50000;
			assert_true(src_skip(s, 10000));
		}
		assert_true(src_need(s, SIZE - at));
		is_at(s, at, SIZE - at);
		assert_false(src_need(s, SIZE - at + 1));
		is_at(s, at, SIZE - at);
		assert_true(src_skip(s, SIZE - at));
		assert_false(src_need(s, 1) || src_failed(s));
		close_way(s);
	}
}

static void large_values_and_skips(UNUSED)
{
	struct src *s;

	for (int way = 0; way < WAYS; way++) {
		s = open_way((enum way)way);
		assert_true(src_need(s, 10) && src_skip(s, SRC_WINDOW + 77));
		assert_true(src_need(s, 5) && src_need(s, 2 * SRC_WINDOW));
		is_at(s, SRC_WINDOW + 77, 2 * SRC_WINDOW);
		assert_true(src_skip(s, 2 * SRC_WINDOW));
		is_at(s, 3 * SRC_WINDOW + 77, 0);
		assert_false(src_skip(s, SIZE - 3 * SRC_WINDOW - 77 + 1));
		assert_false(src_skip(s, UINT64_MAX));
		assert_int_equal(src_at(s), SIZE);
		close_way(s);
	}
}

static void whole(UNUSED)
{
	struct str all = STR_NONE;
	struct src *s;

	for (int way = 0; way < WAYS; way++) {
		s = open_way((enum way)way);
		assert_true(src_need(s, 100));
		s->p += 100;
		assert_true(src_all(s, &all));
		assert_true(str_eq(all, str_sub(text, 100, SIZE_MAX)));
		assert_int_equal(src_at(s), SIZE);
		close_way(s);
	}
}

static void rewinds(UNUSED)
{
	struct src *s;

	for (int way = 0; way < WAYS; way++) {
		s = open_way((enum way)way);
		for (size_t n = 10000; n <= SRC_WINDOW; n += 110000) {
			assert_true(src_need(s, n) && src_skip(s, n));
			assert_true(src_rewind(s) && src_need(s, 100));
			is_at(s, 0, 100);
		}
		assert_true(src_skip(s, SRC_WINDOW) && src_need(s, SRC_WINDOW));
		assert_int_equal(src_rewind(s), way != PIPE_PLAIN && way != PIPE_GZIP);
		assert_true(src_need(s, SRC_WINDOW));
		is_at(s, way == PIPE_PLAIN || way == PIPE_GZIP ? SRC_WINDOW : 0, SRC_WINDOW);
		assert_true(src_skip(s, SIZE - src_at(s)));
		close_way(s);
	}
}

/* A request far beyond the end costs no more memory than the input. */
static void false_lengths(UNUSED)
{
	struct src *s;

	for (int way = 0; way < WAYS; way++) {
		s = open_way((enum way)way);
		unit_account.peak = unit_account.used;
		assert_false(src_need(s, INT32_MAX));
		is_at(s, 0, SIZE);
		assert_true(unit_account.peak - unit_account.used < 4 * SIZE);
		close_way(s);
	}
}

static void sizes(UNUSED)
{
	struct src *s = open_way(FILE_PLAIN);

	assert_int_equal(src_size(s), SIZE);
	assert_true(src_raw_at(s) > 0 && src_raw_at(s) <= SRC_WINDOW);
	close_way(s);
	s = open_way(FILE_GZIP);
	assert_int_equal(src_size(s), 0);
	assert_true(src_skip(s, SIZE));
	assert_false(src_need(s, 1));
	assert_int_equal(src_raw_at(s), packed.n);
	close_way(s);
	s = open_way(PIPE_PLAIN);
	assert_int_equal(src_size(s), 0);
	close_way(s);
}

/* Kept input can be read again, whatever its size. */
static void kept_pipe(UNUSED)
{
	struct str all = STR_NONE;
	struct src *s = open_pipe(text);

	assert_true(src_need(s, 100));
	src_keep(s);
	assert_true(src_skip(s, 2 * SRC_WINDOW) && src_need(s, SRC_WINDOW) && src_rewind(s));
	assert_true(src_all(s, &all) && str_eq(all, text));
	assert_true(src_rewind(s) && src_at(s) == 0);
	src_close(s);
	waitpid(writer, NULL, 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, src_teardown)
	const struct CMUnitTest tests[] = { TEST(needs_and_skips), TEST(large_values_and_skips),
		TEST(whole), TEST(rewinds), TEST(false_lengths), TEST(sizes), TEST(kept_pipe) };

	return unit_main_in(dir, tests, argc, argv);
}
