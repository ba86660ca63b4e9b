/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that are written in an open folder.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"

/* A file is created in the open folder, even if the path of the folder now leads elsewhere. */
static void inside(void **state)
{
	struct err err = { .a = *state };
	struct sink *s;
	char text[2] = "";
	int folder, fd;

	assert_int_equal(mkdir("d", 0700) | mkdir("trap", 0700), 0);
	folder = open("d", O_RDONLY | O_DIRECTORY);
	assert_int_equal(rename("d", "moved") | symlink("trap", "d"), 0);
	for (int i = 0; i < 2; i++) { /* a new file, and an existing file */
		assert_true(sink_file_inside(&s, *state, folder, S("f"), S("d/f"), &err));
		sink_fmt(s, "%d", i);
		assert_true(sink_close(s, &err));
	}
	fd = open("moved/f", O_RDONLY);
	assert_int_equal(read(fd, text, 2), 1);
	assert_int_equal(text[0], '1');
	close(fd);
	assert_int_equal(rmdir("trap"), 0);
	assert_int_equal(symlinkat("../out", folder, "link"), 0);
	assert_false(sink_file_inside(&s, *state, folder, S("link"), S("d/link"), &err));
	assert_string_equal(
	        str_z(*state, err.text), "cannot write 'd/link': it is not a regular file");
	assert_int_equal(
	        unlink("d") | unlink("moved/f") | unlink("moved/link") | rmdir("moved"), 0);
	close(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(inside) };
	char dir[] = "/tmp/tfprof-inside-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	int rc = unit_main(tests, argc, argv);
	rmdir(dir);
	return rc;
}
