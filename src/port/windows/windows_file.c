/* SPDX-License-Identifier: Apache-2.0
 *
 * Files by path and by descriptor. Open files can be renamed and removed, as on other systems.
 */
#include "port/windows/windows_internal.h"

#undef open
#undef read
#undef write
#undef pipe

#define RENAME_TRIES                                                                               \
	20 /* another program, such as a virus scanner, may hold the file for a moment */
#define RENAME_WAIT 10                           /* milliseconds */
#define TICKS_1970  UINT64_C(116444736000000000) /* 100 ns since 1601 */

HANDLE port_handle(int fd)
{
	HANDLE h = fd < 0 ? INVALID_HANDLE_VALUE : (HANDLE)_get_osfhandle(fd);

	if (h == INVALID_HANDLE_VALUE || h == (HANDLE)-2) {
		errno = EBADF;
		return INVALID_HANDLE_VALUE;
	}
	return h;
}

/* ---- folders by descriptor ---- */

/* Returns the path of an open file, from malloc. */
static wchar_t *path_of(HANDLE h)
{
	DWORD n = GetFinalPathNameByHandleW(h, NULL, 0, 0);
	wchar_t *path = n ? malloc(((size_t)n + 1) * sizeof *path) : NULL;

	if (!path || !GetFinalPathNameByHandleW(h, path, n + 1, 0)) {
		free(path);
		port_fail();
		return NULL;
	}
	return path;
}

/* Returns a path as UTF-16, from malloc. Relative paths start in the folder. */
static wchar_t *inside(int folder, const char *path)
{
	wchar_t *name = port_wide_path(path), *top, *whole;
	HANDLE h;

	if (!name || folder == AT_FDCWD || *name == L'\\' || (*name && name[1] == L':'))
		return name;
	h = port_handle(folder);
	top = h == INVALID_HANDLE_VALUE ? NULL : path_of(h);
	size_t n = top ? wcslen(top) : 0;
	whole = top ? malloc((n + wcslen(name) + 2) * sizeof *whole) : NULL;
	if (whole) {
		wcscpy(whole, top);
		wcscpy(whole + n, L"\\");
		wcscat(whole, name);
	}
	free(top);
	free(name);
	return whole;
}

/* ---- open ---- */

static int descriptor(HANDLE h, int flags)
{
	int fd;

	if (h == INVALID_HANDLE_VALUE)
		return port_fail();
	fd = _open_osfhandle((intptr_t)h, _O_BINARY | _O_NOINHERIT | (flags & _O_APPEND));
	if (fd < 0) {
		CloseHandle(h);
		errno = EMFILE;
	}
	return fd;
}

/* True if the path must not be opened: a link with O_NOFOLLOW, or not a folder with O_DIRECTORY. */
static bool is_refused(const wchar_t *path, int flags)
{
	DWORD a = GetFileAttributesW(path);

	if (a == INVALID_FILE_ATTRIBUTES)
		return false;
	if ((flags & O_NOFOLLOW) && (a & FILE_ATTRIBUTE_REPARSE_POINT))
		errno = ELOOP;
	else if ((flags & O_DIRECTORY) && !(a & FILE_ATTRIBUTE_DIRECTORY))
		errno = ENOTDIR;
	else if ((a & FILE_ATTRIBUTE_DIRECTORY) && (flags & (O_WRONLY | O_RDWR)))
		errno = EISDIR;
	else
		return false;
	return true;
}

static int open_wide(const wchar_t *path, int flags)
{
	DWORD access = flags & O_RDWR     ? GENERIC_READ | GENERIC_WRITE
	               : flags & O_WRONLY ? GENERIC_WRITE
	                                  : GENERIC_READ;
	DWORD how = (flags & O_CREAT) && (flags & O_EXCL) ? CREATE_NEW
	            : flags & O_CREAT                     ? OPEN_ALWAYS
	            : flags & O_TRUNC                     ? TRUNCATE_EXISTING
	                                                  : OPEN_EXISTING;

	if (is_refused(path, flags))
		return -1;
	if ((flags & (O_CREAT | O_TRUNC | O_EXCL)) == (O_CREAT | O_TRUNC))
		how = CREATE_ALWAYS;
	if (flags & O_APPEND)
		access = FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
	return descriptor(
	        CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
	                NULL, how, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, NULL),
	        flags);
}

int port_openat(int folder, const char *path, int flags, ...)
{
	wchar_t *wide = inside(folder, path);
	int fd = wide ? open_wide(wide, flags) : -1;

	free(wide);
	return fd;
}

int port_open(const char *path, int flags, ...)
{
	return port_openat(AT_FDCWD, path, flags);
}

FILE *port_fopen(const char *path, const char *mode)
{
	const int flags = *mode == 'w'   ? O_WRONLY | O_CREAT | O_TRUNC
	                  : *mode == 'a' ? O_WRONLY | O_CREAT | O_APPEND
	                                 : O_RDONLY;
	int fd = port_open(path, flags);
	FILE *f = fd < 0 ? NULL : _fdopen(fd, *mode == 'w' ? "wb" : *mode == 'a' ? "ab" : "rb");

	if (fd >= 0 && !f)
		_close(fd);
	return f;
}

int port_pipe(int ends[2])
{
	return _pipe(ends, 65536, _O_BINARY | _O_NOINHERIT);
}

int port_fcntl(int fd, int command, ...)
{
	HANDLE h = port_handle(fd), copy;

	if (h == INVALID_HANDLE_VALUE)
		return -1;
	if (command != F_DUPFD_CLOEXEC)
		return 0;
	if (!DuplicateHandle(GetCurrentProcess(), h, GetCurrentProcess(), &copy, 0, FALSE,
	            DUPLICATE_SAME_ACCESS))
		return port_fail();
	return descriptor(copy, 0);
}

/* ---- read, write ---- */

static DWORD at_most(size_t n)
{
	return n < 0x40000000 ? (DWORD)n : 0x40000000;
}

ssize_t port_read(int fd, void *p, size_t n)
{
	HANDLE h = port_handle(fd);
	DWORD got = 0;

	if (h == INVALID_HANDLE_VALUE)
		return -1;
	if (ReadFile(h, p, at_most(n), &got, NULL))
		return (ssize_t)got;
	return GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_HANDLE_EOF
	               ? 0
	               : port_fail();
}

ssize_t port_pread(int fd, void *p, size_t n, int64_t at)
{
	OVERLAPPED where = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
	HANDLE h = port_handle(fd);
	DWORD got = 0;

	if (h == INVALID_HANDLE_VALUE)
		return -1;
	if (ReadFile(h, p, at_most(n), &got, &where))
		return (ssize_t)got;
	return GetLastError() == ERROR_HANDLE_EOF ? 0 : port_fail();
}

ssize_t port_write(int fd, const void *p, size_t n)
{
	HANDLE h = port_handle(fd);
	DWORD done = 0;

	if (h == INVALID_HANDLE_VALUE)
		return -1;
	return WriteFile(h, p, at_most(n), &done, NULL) ? (ssize_t)done : port_fail();
}

int64_t port_lseek(int fd, int64_t at, int from)
{
	LARGE_INTEGER offset = { .QuadPart = from == SEEK_DATA ? 0 : at }, to;
	HANDLE h = port_handle(fd);

	if (h == INVALID_HANDLE_VALUE)
		return -1;
	if (GetFileType(h) != FILE_TYPE_DISK) {
		errno = ESPIPE;
		return -1;
	}
	if (from == SEEK_DATA) { /* holes count as data */
		if (!GetFileSizeEx(h, &to))
			return port_fail();
		if (at < to.QuadPart)
			return at;
		errno = ENXIO;
		return -1;
	}
	return SetFilePointerEx(h, offset, &to, (DWORD)from) ? to.QuadPart : port_fail();
}

/* ---- status ---- */

static struct timespec time_of(FILETIME t)
{
	uint64_t ticks = (uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime;

	ticks = ticks > TICKS_1970 ? ticks - TICKS_1970 : 0;
	return (struct timespec){ .tv_sec = (time_t)(ticks / 10000000),
		.tv_nsec = (long)(ticks % 10000000 * 100) };
}

static int status_of(HANDLE h, struct port_stat *st)
{
	BY_HANDLE_FILE_INFORMATION x;
	LARGE_INTEGER size;

	*st = (struct port_stat){ .st_nlink = 1 };
	switch (GetFileType(h)) {
	case FILE_TYPE_DISK: break;
	case FILE_TYPE_PIPE: st->st_mode = S_IFIFO | 0600; return 0;
	default: st->st_mode = S_IFCHR | 0600; return 0;
	}
	if (!GetFileInformationByHandle(
	            h, &x)) { /* perhaps inherited with the right to read only */
		st->st_mode = S_IFREG | 0644;
		if (!GetFileSizeEx(h, &size))
			return port_fail();
		st->st_size = size.QuadPart;
		return 0;
	}
	st->st_mode =
	        x.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0755 : S_IFREG | 0644;
	st->st_dev = x.dwVolumeSerialNumber;
	st->st_ino = (uint64_t)x.nFileIndexHigh << 32 | x.nFileIndexLow;
	st->st_nlink = x.nNumberOfLinks;
	st->st_size = (int64_t)((uint64_t)x.nFileSizeHigh << 32 | x.nFileSizeLow);
	st->st_atim = time_of(x.ftLastAccessTime);
	st->st_mtim = time_of(x.ftLastWriteTime);
	st->st_ctim = time_of(x.ftCreationTime);
	return 0;
}

int port_fstat(int fd, struct port_stat *st)
{
	HANDLE h = port_handle(fd);

	return h == INVALID_HANDLE_VALUE ? -1 : status_of(h, st);
}

/* True for a symbolic link or a junction; other reparse points, such as files in a cloud, are
 * files. */
static bool is_link(const wchar_t *path)
{
	WIN32_FIND_DATAW x;
	HANDLE h = FindFirstFileW(path, &x);

	if (h == INVALID_HANDLE_VALUE)
		return false;
	FindClose(h);
	return (x.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
	       (x.dwReserved0 == IO_REPARSE_TAG_SYMLINK ||
	               x.dwReserved0 == IO_REPARSE_TAG_MOUNT_POINT);
}

int port_fstatat(int folder, const char *path, struct port_stat *st, int flags)
{
	wchar_t *wide = inside(folder, path);
	bool link = wide && (flags & AT_SYMLINK_NOFOLLOW) && is_link(wide);
	HANDLE h = wide ? CreateFileW(wide, FILE_READ_ATTRIBUTES,
	                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
	                          OPEN_EXISTING,
	                          FILE_FLAG_BACKUP_SEMANTICS |
	                                  (link ? FILE_FLAG_OPEN_REPARSE_POINT : 0),
	                          NULL)
	                : INVALID_HANDLE_VALUE;
	int rc = -1;

	if (h != INVALID_HANDLE_VALUE) {
		rc = status_of(h, st);
		CloseHandle(h);
		if (link)
			st->st_mode = S_IFLNK | 0777;
	} else if (wide) {
		port_fail();
	}
	free(wide);
	return rc;
}

int port_stat(const char *path, struct port_stat *st)
{
	return port_fstatat(AT_FDCWD, path, st, 0);
}

int port_lstat(const char *path, struct port_stat *st)
{
	return port_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int port_faccessat(int folder, const char *path, int mode, int flags)
{
	wchar_t *wide = inside(folder, path);
	DWORD a = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
	int rc = 0;

	(void)flags;
	if (a == INVALID_FILE_ATTRIBUTES) {
		rc = wide ? port_fail() : -1;
	} else if ((mode & W_OK) && (a & FILE_ATTRIBUTE_READONLY) &&
	           !(a & FILE_ATTRIBUTE_DIRECTORY)) { /* folders can be written all the same */
		errno = EACCES;
		rc = -1;
	}
	free(wide);
	return rc;
}

int port_access(const char *path, int mode)
{
	return port_faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- folders' entries ---- */

int port_unlinkat(int folder, const char *path, int flags)
{
	wchar_t *wide = inside(folder, path);
	int rc = wide && DeleteFileW(wide) ? 0 : wide ? port_fail() : -1;

	(void)flags;
	free(wide);
	return rc;
}

int port_unlink(const char *path)
{
	return port_unlinkat(AT_FDCWD, path, 0);
}

int port_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	wchar_t *a = inside(from_folder, from), *b = a ? inside(to_folder, to) : NULL;
	bool ok = false;

	for (int i = 0; b && !ok && i < RENAME_TRIES; i++) {
		ok = MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING);
		if (ok || (GetLastError() != ERROR_ACCESS_DENIED &&
		                  GetLastError() != ERROR_SHARING_VIOLATION))
			break;
		Sleep(RENAME_WAIT);
	}
	int rc = ok ? 0 : b ? port_fail() : -1;
	free(a);
	free(b);
	return rc;
}

int port_rename(const char *from, const char *to)
{
	return port_renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* New folders and files get the rights of their folder. */
int port_mkdirat(int folder, const char *path, mode_t mode)
{
	wchar_t *wide = inside(folder, path);
	int rc = wide && CreateDirectoryW(wide, NULL) ? 0 : wide ? port_fail() : -1;

	(void)mode;
	free(wide);
	return rc;
}

int port_mkdir(const char *path, mode_t mode)
{
	return port_mkdirat(AT_FDCWD, path, mode);
}

/* Links are resolved by the system only: no path is reported as a link. */
ssize_t port_readlink(const char *path, char *to, size_t n)
{
	(void)path;
	(void)to;
	(void)n;
	errno = EINVAL;
	return -1;
}

/* Removes the mark of paths without a limit, and sets '/' between the parts. */
static char *plain_path(const wchar_t *path)
{
	char *z;

	if (wcsncmp(path, L"\\\\?\\UNC\\", 8) == 0)
		z = port_narrow(path + 6);
	else
		z = port_narrow(wcsncmp(path, L"\\\\?\\", 4) == 0 ? path + 4 : path);
	if (z && path[0] == L'\\' && path[1] == L'\\' && path[4] == L'U')
		z[0] = '\\';
	for (char *p = z; p && *p; p++)
		if (*p == '\\')
			*p = '/';
	return z;
}

char *port_realpath(const char *path, char *to)
{
	wchar_t *wide = port_wide_path(path), *final;
	HANDLE h = wide ? CreateFileW(wide, FILE_READ_ATTRIBUTES,
	                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
	                          OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
	                : INVALID_HANDLE_VALUE;
	char *z = NULL, *found = NULL;

	if (h != INVALID_HANDLE_VALUE) {
		final = path_of(h);
		CloseHandle(h);
		z = final ? plain_path(final) : NULL;
		free(final);
	} else if (wide) {
		port_fail();
	}
	free(wide);
	if (z && !to)
		return z;
	if (z && strlen(z) < PATH_MAX)
		found = strcpy(to, z);
	else if (z)
		errno = ENAMETOOLONG;
	free(z);
	return found;
}

/* ---- rights ---- */

/* The file belongs to one process until it is closed. */
int port_flock(int fd, int what)
{
	OVERLAPPED all = { 0 };
	HANDLE h = port_handle(fd);

	(void)what;
	if (h == INVALID_HANDLE_VALUE)
		return -1;
	return LockFileEx(h, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0x40000000, &all) ? 0 : port_fail();
}

int port_fchmod(int fd, mode_t mode)
{
	(void)fd;
	(void)mode;
	return 0;
}

int port_fchown(int fd, uid_t uid, gid_t gid)
{
	(void)fd;
	(void)uid;
	(void)gid;
	return 0;
}

/* All files have this owner: rights are those of access control lists. */
uid_t port_geteuid(void)
{
	return 0;
}
