/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens files in folders that others can write. The rule is the kernel's for links
 * (fs.protected_symlinks), which the kernel applies only to links it follows itself: files of the
 * folder's owner and of the current user are trusted.
 */
#include "io/sink.h"

#include <sys/stat.h>
#include <unistd.h>

/* True if the folder is sticky and world-writable. */
static bool is_shared(const struct stat *folder)
{
	return (folder->st_mode & S_ISVTX) && (folder->st_mode & S_IWOTH);
}

bool shared_check(const char *path, struct arena *a, struct err *e)
{
	struct str name = str_of(path);
	size_t slash = str_rfind_char(name, '/');
	const char *folder = slash == SIZE_MAX ? "." : str_z(a, str_sub(name, 0, slash + 1));
	struct stat it, in;

	if (lstat(path, &it) || S_ISREG(it.st_mode) || S_ISDIR(it.st_mode) ||
	        it.st_uid == geteuid() || stat(folder, &in) || !is_shared(&in) ||
	        it.st_uid == in.st_uid)
		return true;
	return err_set(e, ERR_PERMISSION,
	        "cannot write '%s': another user put a %s there, in a folder that all share", path,
	        S_ISLNK(it.st_mode) ? "link" : "device or a pipe");
}
