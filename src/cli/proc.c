/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads /proc, or a copy of it below TFPROF_ROOT.
 */
#include "cli/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"

#define STAT_START 20 /* field of the start time after the name, which ends in ')' */

const char *proc_root(void)
{
	const char *root = getenv("TFPROF_ROOT");

	return root ? root : "";
}

struct str proc_read(struct arena *a, const char *f, ...)
{
	struct sb path = sb_in(a), text = sb_in(a);
	ssize_t n = 1;
	va_list ap;

	sb_put(&path, str_of(proc_root()));
	va_start(ap, f);
	sb_vfmt(&path, f, ap);
	va_end(ap);
	int fd = open(str_z(a, sb_str(&path)), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd >= 0 && n && text.n < PROC_READ_MAX) {
		n = read(fd, sb_room(&text, 4096), 4096);
		if (n > 0)
			text.n += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	if (fd >= 0)
		close(fd);
	return sb_str(&text);
}

uint64_t proc_start(struct arena *a, int64_t pid)
{
	struct str text = proc_read(a, "/proc/%lld/stat", (long long)pid);
	size_t name = str_rfind_char(text, ')');
	int64_t start;

	if (name == SIZE_MAX)
		return 0;
	struct strs fields = str_split(a, str_sub(text, name + 1, SIZE_MAX), ' ');
	if (fields.n < STAT_START || !num_parse_i64(fields.v[STAT_START - 1], &start) || start <= 0)
		return 0;
	return str_eq(fields.v[0], S("Z")) ? 0 : (uint64_t)start;
}

struct str proc_variable(struct str environment, struct str name)
{
	while (environment.n) {
		size_t end = str_find_char(environment, '\0');
		struct str entry = str_sub(environment, 0, end);
		if (str_starts(entry, name) && entry.n > name.n && entry.p[name.n] == '=')
			return str_sub(entry, name.n + 1, SIZE_MAX);
		environment = end == SIZE_MAX ? STR_NONE : str_sub(environment, end + 1, SIZE_MAX);
	}
	return STR_NONE;
}

void proc_each(struct arena *a, bool (*f)(void *user, int64_t pid), void *user)
{
	DIR *d = opendir(str_z(a, str_fmt(a, "%s/proc", proc_root())));
	struct dirent *x;
	int64_t pid;

	while (d && (x = readdir(d)))
		if (x->d_name[0] >= '1' && x->d_name[0] <= '9' &&
		        num_parse_i64(str_of(x->d_name), &pid) && !f(user, pid))
			break;
	if (d)
		closedir(d);
}
