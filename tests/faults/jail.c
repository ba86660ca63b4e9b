/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the program: from the start of main, the kernel kills the program for every system
 * call that loading and viewing do not need. Files may be opened for reading only; the network,
 * other programs, and creating, renaming, removing and changing files are forbidden.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
/* Allows one system call. */
#define MAY(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ALLOW

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

static struct sock_filter filter[] = {
	LOAD(nr),
	MAY(read),
	MAY(pread64),
	MAY(readv),
	MAY(write),
	MAY(writev),
	MAY(close),
	MAY(lseek),
	MAY(fstat),
	MAY(newfstatat),
	MAY(stat),
	MAY(lstat),
	MAY(statx),
	MAY(access),
	MAY(getcwd),
	MAY(readlink),
	MAY(faccessat),
	MAY(fcntl),
	MAY(ioctl),
	MAY(poll),
	MAY(ppoll),
	MAY(getdents64),
	MAY(mmap),
	MAY(mremap),
	MAY(munmap),
	MAY(mprotect),
	MAY(madvise),
	MAY(brk),
	MAY(futex),
	MAY(set_robust_list),
	MAY(rseq),
	MAY(sched_getaffinity),
	MAY(sched_yield),
	MAY(getpid),
	MAY(gettid),
	MAY(getuid),
	MAY(geteuid),
	MAY(getgid),
	MAY(getegid),
	MAY(getrandom),
	MAY(clock_gettime),
	MAY(clock_nanosleep),
	MAY(uname),
	MAY(rt_sigaction),
	MAY(rt_sigprocmask),
	MAY(rt_sigreturn),
	MAY(sysinfo),
	MAY(prlimit64),
	MAY(exit),
	MAY(exit_group),
	MAY(restart_syscall),
	MAY(tgkill),
	/* Allows opening files for reading. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
	LOAD(args[2]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1),
	KILL,
	ALLOW,
	/* Allows threads but no processes. Calls whose flags are in memory fail as if they did not
	   exist. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
	KILL,
	ALLOW,
	KILL,
};

__attribute__((constructor)) static void lock(void)
{
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(77);
	}
}
