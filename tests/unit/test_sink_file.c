/* SPDX-License-Identifier: Apache-2.0
 *
 * Sinks to named files: after a failure, the old file is kept and no other file remains.
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"

#define UNUSED void **state __attribute__((unused))

static struct err err;
static char dir[] = "/tmp/test_sink_XXXXXX";

static int setup(UNUSED)
{
	err = (struct err){ .a = &unit_arena };
	assert_int_equal(chdir(dir), 0);
	return unit_setup(state);
}

/* Empties the folder. Returns the number of names it had. */
static int clear(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			n += unlink(e->d_name) == 0;
	closedir(d);
	return n;
}

static int teardown(UNUSED)
{
	assert_null(unit_work.guards);
	clear();
	return unit_teardown(state);
}

static struct sink *open_file(const char *path)
{
	struct sink *s = NULL;

	assert_true(sink_file(&s, &unit_arena, str_of(path), &err));
	return s;
}

static void write_file(const char *path, const char *text)
{
	struct sink *s = open_file(path);

	sink_put(s, str_of(text));
	assert_true(sink_close(s, &err));
}

static void holds(const char *path, const char *text)
{
	char got[256] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	got[fread(got, 1, sizeof got - 1, f)] = 0;
	fclose(f);
	assert_string_equal(got, text);
}

static void fails_with(bool result, const char *sentence)
{
	assert_false(result);
	assert_string_equal(str_z(&unit_arena, err.text), sentence);
	err.code = ERR_NONE;
}

static void files(UNUSED)
{
	struct sink *s;
	struct stat st;

	umask(027);
	write_file("new", "first");
	holds("new", "first");
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	chmod("new", 0604);
	s = open_file("new");
	sink_put(s, S("second"));
	sink_flush(s);
	holds("new", "first"); /* until closed */
	assert_true(sink_close(s, &err));
	holds("new", "second");
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_int_equal(clear(), 1);
}

static void links(UNUSED)
{
	struct stat st;
	struct sink *s;

	write_file("target", "old");
	assert_int_equal(symlink("target", "one") + symlink("one", "two"), 0);
	write_file("two", "new");
	holds("target", "new");
	assert_true(lstat("two", &st) == 0 && S_ISLNK(st.st_mode));
	assert_int_equal(symlink("not yet", "three"), 0);
	write_file("three", "made");
	holds("not yet", "made");
	assert_int_equal(mkdir("sub", 0700) + symlink("../target", "sub/four"), 0);
	write_file("sub/four", "newer");
	holds("target", "newer");
	assert_int_equal(unlink("sub/four") + rmdir("sub"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	fails_with(sink_file(&s, &unit_arena, S("loop"), &err),
	        "cannot write 'loop': Too many levels of symbolic links");
}

static void dropped(UNUSED)
{
	struct sink *s;
	int next = dup(0);

	close(next);
	write_file("f", "old");
	s = open_file("f");
	sink_put(s, S("new"));
	sink_drop(s);
	s = open_file("f");
	assert_non_null(s);
	arena_close(&unit_arena); /* as when memory is exhausted */
	holds("f", "old");
	assert_int_equal(dup(0), next); /* no descriptor stays open */
	close(next);
	assert_int_equal(clear(), 1);
}

static void refusals(UNUSED)
{
	struct sink *s;

	fails_with(sink_file(&s, &unit_arena, S("no/x"), &err),
	        "cannot write 'no/x': No such file or directory");
	fails_with(sink_file(&s, &unit_arena, S("."), &err), "cannot write '.': Is a directory");
	fails_with(sink_file(&s, &unit_arena, S(""), &err),
	        "cannot write '': No such file or directory");
	fails_with(
	        sink_file(&s, &unit_arena, S("a\0b"), &err), "cannot write 'a': a NUL in its name");
	assert_int_equal(clear(), 0);
}

/* The longest names that a folder accepts, in ASCII and in characters of three bytes. */
static void long_names(UNUSED)
{
	struct sb name = sb_in(&unit_arena);
	struct sink *s;

	sb_repeat(&name, 'n', 255);
	write_file(str_z(&unit_arena, sb_str(&name)), "long");
	holds(str_z(&unit_arena, sb_str(&name)), "long");
	for (name.n = 0; name.n < 255;)
		sb_put(&name, S("\xe2\x82\xac"));
	write_file(str_z(&unit_arena, sb_str(&name)), "long");
	sb_char(&name, 'x');
	fails_with(sink_file(&s, &unit_arena, sb_str(&name), &err),
	        str_z(&unit_arena, str_fmt(&unit_arena, "cannot write '%.*s': File name too long",
	                                   STR(sb_str(&name)))));
	assert_int_equal(clear(), 2);
}

/* Two writers of one file do not disturb each other: the last one to close wins. Names are not cut
 * within a character. */
static void at_the_same_time(UNUSED)
{
	struct sb name = sb_in(&unit_arena);
	struct sink *one, *two;
	struct dirent *e;
	DIR *d;

	for (sb_char(&name, 'x'); name.n < 253;)
		sb_put(&name, S("\xe2\x82\xac"));
	one = open_file(str_z(&unit_arena, sb_str(&name)));
	two = open_file(str_z(&unit_arena, sb_str(&name)));
	d = opendir(".");
	while ((e = readdir(d)) != NULL)
		assert_true(str_is_utf8(str_of(e->d_name)));
	closedir(d);
	sink_put(one, S("one"));
	sink_put(two, S("two"));
	assert_true(sink_close(two, &err) && sink_close(one, &err));
	holds(str_z(&unit_arena, sb_str(&name)), "one");
	assert_int_equal(clear(), 1);
}

static void full_device(UNUSED)
{
	struct sink *s = open_file("/dev/full");

	sink_put(s, S("x"));
	assert_true(sink_ok(s));
	sink_flush(s);
	assert_false(sink_ok(s));
	sink_put(s, S("after"));
	sink_fmt(s, "%d", 1);
	sink_char(s, 'c');
	fails_with(sink_close(s, &err), "cannot write '/dev/full': No space left on device");
}

/* If the file may not grow, the old file stays and no other file remains. */
static void full_disk(UNUSED)
{
	struct rlimit old, limit;
	struct sink *s;

	write_file("f", "old");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){ 100000, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	s = open_file("f");
	sink_fmt(s, "%0*d", 300000, 1);
	fails_with(sink_close(s, &err), "cannot write 'f': File too large");
	setrlimit(RLIMIT_FSIZE, &old);
	holds("f", "old");
	assert_int_equal(clear(), 1);
}

/* Failures that occur only after everything is written. */
static void rename_fails(UNUSED)
{
	struct sink *s = open_file("f");

	sink_put(s, S("text"));
	assert_int_equal(mkdir("f", 0700), 0);
	fails_with(sink_close(s, &err), "cannot write 'f': Is a directory");
	assert_int_equal(rmdir("f"), 0);
	assert_int_equal(clear(), 0);
}

/* Descriptors and pipes are written directly, at their current position. */
static void direct(UNUSED)
{
	int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0666);
	char got[8];

	assert_int_equal(write(fd, "head ", 5), 5);
	write_file(str_z(&unit_arena, str_fmt(&unit_arena, "/dev/fd/%d", fd)), "tail");
	assert_int_equal(write(fd, "!", 1), 1);
	holds("out", "head tail!");
	close(fd);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR);
	write_file("fifo", "through");
	assert_int_equal(read(fd, got, 8), 7);
	close(fd);
	assert_int_equal(clear(), 2);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = { TEST(files), TEST(links), TEST(dropped), TEST(refusals),
		TEST(long_names), TEST(at_the_same_time), TEST(full_device), TEST(full_disk),
		TEST(rename_fails), TEST(direct) };

	return unit_main_in(dir, tests, argc, argv);
}
