/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads parts of a file. A guard closes the file when work ends early; the next read opens it
 * again.
 */
#include "io/sstable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

void rfile_init(struct rfile *f, struct arena *a, struct str path)
{
	*f = (struct rfile){ .path = path, .a = a, .fd = -1 };
}

/* Guard: closes the file. */
static void rfile_drop(void *what)
{
	struct rfile *f = what;

	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

bool rfile_open(struct rfile *f, struct arena *scratch, struct err *e)
{
	struct stat st = { 0 };

	if (f->fd >= 0)
		return true;
	const char *path = str_z(scratch, f->path);
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return err_system(e, "cannot open", f->path, errno);
	int why = fstat(fd, &st) != 0   ? errno
	          : S_ISREG(st.st_mode) ? 0
	          : S_ISDIR(st.st_mode) ? EISDIR
	                                : EINVAL;
	if (why) {
		close(fd);
		return err_system(e, "cannot open", f->path, why);
	}
	f->fd = fd;
	f->size = (uint64_t)st.st_size;
	arena_guard(f->a, &f->guard, rfile_drop, f);
	return true;
}

bool rfile_read(
        struct rfile *f, uint64_t at, void *p, size_t n, struct arena *scratch, struct err *e)
{
	if (!rfile_open(f, scratch, e))
		return false;
	if (at > f->size || n > f->size - at)
		return err_set(err_at(e, f->path, at), ERR_DATA_LOSS,
		        "%.*s: byte %" PRIu64 ": %zu bytes are needed, the file has %" PRIu64,
		        STR(f->path), at, n, f->size);
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, (char *)p + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(e, "cannot read", f->path, errno);
		if (got == 0)
			return err_set(err_at(e, f->path, at + done), ERR_DATA_LOSS,
			        "%.*s: byte %" PRIu64 ": the file became shorter while it was read",
			        STR(f->path), at + done);
		done += (size_t)got;
	}
	return true;
}

void rfile_close(struct rfile *f)
{
	if (f->fd < 0)
		return;
	arena_unguard(f->a, &f->guard);
	rfile_drop(f);
}
