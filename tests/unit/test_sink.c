/* SPDX-License-Identifier: Apache-2.0
 *
 * Sinks to memory, callbacks and descriptors: all bytes arrive in order, or an error is returned.
 */
#include "unit.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sink.h"

#define UNUSED void **state __attribute__((unused))

static struct err err;

static int setup(UNUSED)
{
	err = (struct err){ .a = &unit_arena };
	return unit_setup(state);
}

static void fails_with(bool result, const char *sentence)
{
	assert_false(result);
	assert_string_equal(str_z(&unit_arena, err.text), sentence);
	err.code = ERR_NONE;
}

static void memory(UNUSED)
{
	struct sink *s = sink_memory(&unit_arena);
	struct sb want = sb_in(&unit_arena);

	for (int i = 0; i < 30000; i++) {
		sink_fmt(s, "%d,", i);
		sink_char(s, 'x');
		sink_put(s, S("yz"));
		sb_fmt(&want, "%d,xyz", i);
	}
	sink_fmt(s, "%0*d", 100000, 7);
	sb_fmt(&want, "%0*d", 100000, 7);
	assert_true(str_eq(sink_text(s), sb_str(&want)));
	assert_int_equal(sink_size(s), want.n);
	assert_true(sink_close(s, &err));
}

static bool collect(void *user, const void *p, size_t n)
{
	sb_put(user, str_make(p, n));
	return true;
}

static void call(UNUSED)
{
	struct sb got = sb_in(&unit_arena), want = sb_in(&unit_arena);
	struct sink *s = sink_call(&unit_arena, collect, &got);

	sink_char(s, '<');
	sb_char(&want, '<');
	sb_repeat(&want, 'b', 200000); /* bypasses the buffer */
	sink_put(s, str_sub(sb_str(&want), 1, SIZE_MAX));
	for (int i = 0; i < 50000; i++) {
		sink_put(s, S("small"));
		sb_put(&want, S("small"));
	}
	for (int i = 0; i < 4; i++) {
		sink_char(s, 'a');
		sb_char(&want, 'a');
		sink_fmt(s, "%0*d", 70000 * i, 1);
		sb_fmt(&want, "%0*d", 70000 * i, 1);
	}
	assert_int_equal(sink_size(s), want.n);
	assert_true(sink_close(s, &err));
	assert_true(str_eq(sb_str(&got), sb_str(&want)));
}

static bool refuse(void *user, const void *p, size_t n)
{
	(void)user, (void)p, (void)n;
	return false;
}

static void refused(UNUSED)
{
	struct sink *s = sink_call(&unit_arena, refuse, NULL);

	sink_put(s, S("x"));
	fails_with(sink_close(s, &err), "cannot write: the receiver of the output failed");
}

static void broken_pipe(UNUSED)
{
	struct sink *s;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	s = sink_fd(&unit_arena, fds[1], S("pipe"));
	sink_put(s, S("x"));
	fails_with(sink_close(s, &err), "cannot write 'pipe': Broken pipe");
	assert_int_equal(close(fds[1]), 0); /* the sink did not open it */
}

static void on_alarm(int number)
{
	(void)number;
}

/* Reads slowly in a child process. Returns 0 if there are n bytes and byte i is i / 7. */
static int read_slowly(int fd, size_t n)
{
	uint8_t got[5000];
	size_t at = 0;
	ssize_t m;

	while ((m = read(fd, got, sizeof got)) > 0) {
		for (ssize_t i = 0; i < m; i++, at++)
			if (got[i] != (uint8_t)(at / 7))
				return 1;
		usleep(1000);
	}
	return at != n;
}

/* Signals cut writes short or end them with nothing written; all bytes arrive nevertheless. */
static void interrupted(UNUSED)
{
	const struct itimerval every = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = on_alarm }; /* without SA_RESTART */
	size_t n = 500000;
	uint8_t *p = arena_alloc(&unit_arena, n, 1);
	struct sink *s;
	int fds[2], status = 1;
	pid_t child;

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i / 7);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		_exit(read_slowly(fds[0], n));
	}
	close(fds[0]);
	sigaction(SIGALRM, &act, NULL);
	s = sink_fd(&unit_arena, fds[1], S("pipe"));
	setitimer(ITIMER_REAL, &every, NULL);
	sink_put(s, str_make(p, n));
	assert_true(sink_close(s, &err));
	setitimer(ITIMER_REAL, &never, NULL);
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Lines end at blanks; a word that is longer than a line ends at the last '/' that fits. */
static void wraps(UNUSED)
{
	struct sink *s = sink_memory(&unit_arena);

	sink_wrap(s, S("see /some/folder/of/a/long_name.py(30) and aaaaaaaaaabbbbbbbbbbc"), 20, 2);
	assert_str(sink_text(s), "see\n  /some/folder/of/a/\n  long_name.py(30)\n  and\n  "
	                         "aaaaaaaaaabbbbbbbb\n  bbc\n");
	assert_true(sink_close(s, &err));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, unit_teardown)
	const struct CMUnitTest tests[] = { TEST(memory), TEST(call), TEST(refused),
		TEST(broken_pipe), TEST(interrupted), TEST(wraps) };

	return unit_main(tests, argc, argv);
}
