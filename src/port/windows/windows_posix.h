/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of POSIX that the sources use and that the C library of Windows lacks, or has with
 * another meaning. The compiler includes this file before each source file of a build for Windows,
 * so that the sources are the same on all systems.
 *
 * Paths are UTF-8 and have '/' between their parts; '\' is accepted too. Descriptors are those of
 * the C library, always in binary mode and not inherited. Functions set errno as in POSIX.
 */
#ifndef TFPROF_PORT_WINDOWS_POSIX_H
#define TFPROF_PORT_WINDOWS_POSIX_H

#define __USE_MINGW_ANSI_STDIO 1
#define _FILE_OFFSET_BITS      64

/* Headers whose functions are replaced below. */
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <locale.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PORT_SYSTEM      "Windows" /* in messages */
#define PATH_OTHER_SLASH '\\'      /* also separates the parts of a path (io/paths.c) */
#ifndef NAME_MAX
#define NAME_MAX 255
#endif
#undef PATH_MAX
#define PATH_MAX 4096
#ifndef PIPE_BUF
#define PIPE_BUF 4096
#endif

#ifndef EDQUOT
#define EDQUOT 1133
#endif

/* ---- files ---- */

#define O_CLOEXEC   0 /* nothing is inherited */
#define O_NOCTTY    0
#define O_NONBLOCK  0x01000000
#define O_NOFOLLOW  0x02000000
#define O_DIRECTORY 0x04000000

#undef S_ISLNK
#define S_IFLNK    0xa000
#define S_ISLNK(m) (((m)&0xf000) == S_IFLNK)
#define S_ISVTX    0
#ifndef S_IRWXG
#define S_IRWXG 070
#define S_IRWXO 07
#define S_IWOTH 02
#endif
#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EACCESS          0x200
#define F_GETFD             1
#define F_SETFD             2
#define FD_CLOEXEC          1
#define F_DUPFD_CLOEXEC     1030
#define SEEK_DATA           3
#define LOCK_EX             2

typedef unsigned port_id;
#define uid_t port_id
#define gid_t port_id

struct port_stat {
	uint64_t st_dev, st_ino;
	unsigned st_mode, st_nlink;
	uid_t st_uid;
	gid_t st_gid;
	int64_t st_size;
	struct timespec st_atim, st_mtim, st_ctim;
};

#define st_mtime st_mtim.tv_sec

int port_open(const char *path, int flags, ...);
int port_openat(int folder, const char *path, int flags, ...);
ssize_t port_read(int fd, void *p, size_t n);
ssize_t port_write(int fd, const void *p, size_t n);
ssize_t port_pread(int fd, void *p, size_t n, int64_t at);
int64_t port_lseek(int fd, int64_t at, int from);
int port_stat(const char *path, struct port_stat *st);
int port_lstat(const char *path, struct port_stat *st);
int port_fstat(int fd, struct port_stat *st);
int port_fstatat(int folder, const char *path, struct port_stat *st, int flags);
int port_access(const char *path, int mode);
int port_faccessat(int folder, const char *path, int mode, int flags);
int port_unlink(const char *path);
int port_unlinkat(int folder, const char *path, int flags);
int port_rename(const char *from, const char *to);
int port_renameat(int from_folder, const char *from, int to_folder, const char *to);
int port_mkdir(const char *path, mode_t mode);
int port_mkdirat(int folder, const char *path, mode_t mode);
ssize_t port_readlink(const char *path, char *to, size_t n);
char *port_realpath(const char *path, char *to);
int port_fcntl(int fd, int command, ...);
int port_pipe(int ends[2]);
int port_flock(int fd, int what);
int port_isatty(int fd);
int port_fchmod(int fd, mode_t mode);
int port_fchown(int fd, uid_t uid, gid_t gid);
uid_t port_geteuid(void);
FILE *port_fopen(const char *path, const char *mode);
ssize_t port_getline(char **line, size_t *cap, FILE *f);

#undef stat
#undef fstat
#undef lseek
#define open      port_open
#define openat    port_openat
#define read      port_read
#define write     port_write
#define pread     port_pread
#define lseek     port_lseek
#define stat      port_stat
#define lstat     port_lstat
#define fstat     port_fstat
#define fstatat   port_fstatat
#define access    port_access
#define faccessat port_faccessat
#define unlink    port_unlink
#define unlinkat  port_unlinkat
#define rename    port_rename
#define renameat  port_renameat
#define mkdir     port_mkdir
#define mkdirat   port_mkdirat
#define readlink  port_readlink
#define realpath  port_realpath
#define fcntl     port_fcntl
#define pipe      port_pipe
#define flock     port_flock
#define isatty    port_isatty
#define fchmod    port_fchmod
#define fchown    port_fchown
#define geteuid   port_geteuid
#define fopen     port_fopen
#define getline   port_getline

/* ---- folders ---- */

struct dirent {
	char d_name[3 * NAME_MAX + 1];
};
typedef struct port_folder DIR;
DIR *opendir(const char *path);
struct dirent *readdir(DIR *d);
int closedir(DIR *d);

typedef struct {
	size_t gl_pathc;
	char **gl_pathv;
} glob_t;
#define GLOB_NOSORT  0
#define GLOB_NOSPACE 1
#define GLOB_NOMATCH 3
/* Expands a pattern as glob(3) does, without flags and sorting. '\' separates parts of a path, so
 * nothing is escaped. */
int glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *g);
void globfree(glob_t *g);

/* ---- memory ---- */

#define PROT_READ     1
#define PROT_WRITE    2
#define MAP_PRIVATE   2
#define MAP_ANONYMOUS 0x20
#define MAP_FAILED    ((void *)-1)
#define MADV_HUGEPAGE 14
/* Anonymous memory only. */
void *mmap(void *at, size_t n, int access, int flags, int fd, int64_t offset);
int munmap(void *p, size_t n);
int madvise(void *p, size_t n, int what);
#include "port/mremap.h"

/* ---- waiting ---- */

struct pollfd {
	int fd;
	short events, revents;
};
#define POLLIN  1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
/* Descriptors of the C library: files, pipes and consoles. */
int poll(struct pollfd *p, unsigned long n, int ms);

/* ---- terminal ---- */

struct winsize {
	unsigned short ws_row, ws_col;
};
#define TIOCGWINSZ 0x5413
int ioctl(int fd, unsigned long request, struct winsize *w);

/* ---- processes and signals ---- */

/* Ctrl-C, Ctrl-Break and the end of the session arrive; signals without a meaning on Windows are
 * accepted and never arrive. */
#define SIGHUP       SIGBREAK
#define SIGPIPE      13
#define SIGALRM      14
#define SIGXFSZ      25
#define SA_RESETHAND 1
#define SA_RESTART   2
#define SIG_BLOCK    0
#define SIG_UNBLOCK  1
#define SIG_SETMASK  2
typedef uint64_t port_sigset;
#define sigset_t port_sigset
struct sigaction {
	void (*sa_handler)(int);
	sigset_t sa_mask;
	int sa_flags;
};
int sigaction(int number, const struct sigaction *now, struct sigaction *before);
int port_raise(int number);
#define raise                         port_raise
#define sigemptyset(s)                (*(s) = 0, 0)
#define sigfillset(s)                 (*(s) = ~(port_sigset)0, 0)
#define sigaddset(s, n)               (*(s) |= (port_sigset)1 << (n), 0)
#define sigprocmask(how, now, before) ((void)(now), (void)(before), 0)
#undef pthread_sigmask
#define pthread_sigmask sigprocmask

typedef struct {
	int in; /* becomes standard input */
} posix_spawn_file_actions_t;
typedef int posix_spawnattr_t;
#define POSIX_SPAWN_SETSIGDEF                     4
#define posix_spawn_file_actions_init(f)          ((f)->in = -1, 0)
#define posix_spawn_file_actions_destroy(f)       ((void)(f))
#define posix_spawn_file_actions_adddup2(f, a, b) ((f)->in = (a), 0)
#define posix_spawnattr_init(a)                   (*(a) = 0)
#define posix_spawnattr_destroy(a)                ((void)(a))
#define posix_spawnattr_setsigdefault(a, set)     ((void)(set))
#define posix_spawnattr_setflags(a, flags)        ((void)(flags))
int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *files,
        const posix_spawnattr_t *how, char *const *argv, char *const *environment);
/* Stands for the environment that a program inherits; an entry before it is added. */
#undef environ
#define environ port_environ
extern char **port_environ;
pid_t waitpid(pid_t pid, int *status, int flags);
#define WIFEXITED(status)   1
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) ((void)(status), 0)
#define WTERMSIG(status)    (status)

#define _SC_PAGESIZE         30
#define _SC_NPROCESSORS_ONLN 84
long sysconf(int name);
typedef int cpu_set_t;
#define sched_getaffinity(pid, n, set) ((void)(set), -1)
#define CPU_COUNT(set)                 (*(set))
int port_gethostname(char *name, size_t n);
#define gethostname port_gethostname
#define prctl(...)  ((void)0)

/* ---- text, locales and time ---- */

/* Knows the forms "%2$s" too. */
int port_vsnprintf(char *to, size_t n, const char *format, va_list ap)
        __attribute__((format(gnu_printf, 3, 0)));
int port_snprintf(char *to, size_t n, const char *format, ...)
        __attribute__((format(gnu_printf, 3, 4)));
#define vsnprintf port_vsnprintf
#define snprintf  port_snprintf

void *memmem(const void *p, size_t n, const void *what, size_t size);
void *memrchr(const void *p, int c, size_t n);
char *port_strndup(const char *p, size_t n);
#define strndup port_strndup
/* Columns of a character in a terminal; -1: none. */
int port_wcwidth(int32_t c);
#define wcwidth           port_wcwidth
#define lgamma_r(x, sign) (*(sign) = 1, lgamma(x))

/* Two locales: that of C, and that of the user, whose characters are UTF-8. */
typedef const char *locale_t;
#define LC_CTYPE_MASK   1
#define LC_ALL_MASK     2
#define LC_NUMERIC_MASK 4
#define CODESET         14
locale_t newlocale(int mask, const char *name, locale_t base);
locale_t uselocale(locale_t to);
void freelocale(locale_t l);
char *nl_langinfo_l(int item, locale_t l);

char *port_strerror(int number);
#define strerror port_strerror
int port_strerror_r(int number, char *to, size_t n);
#define strerror_r port_strerror_r
struct tm *port_localtime_r(const time_t *t, struct tm *tm);
#undef localtime_r
#define localtime_r port_localtime_r
char *port_getenv(const char *name);
#define getenv port_getenv

/* The main function of the program; windows_start.c calls it with UTF-8 arguments. */
#define main port_main
int port_main(int argc, char **argv);

#endif
