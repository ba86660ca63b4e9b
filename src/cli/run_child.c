/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program in the process group of tfprof. Signals are blocked and received with sigwaitinfo,
 * which reports the sender: a signal of the terminal's keys (SI_KERNEL) has already reached the
 * whole process group, including the program.
 */
#define _GNU_SOURCE 1
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Selects the signals that other processes send: all signals except those that the process causes
 * itself, by a fault or by reading and writing. */
static void choose(sigset_t *set)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
		SIGPIPE, SIGXFSZ, SIGXCPU, SIGTTIN, SIGTTOU };

	sigfillset(set);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		sigdelset(set, own[i]);
}

/* ---- start ---- */

static _Noreturn void become(
        char **argv, const struct follow *f, const struct sigaction *child, int tell)
{
	ssize_t n;
	int e;

	spawn_restore_signals();
	sigaction(SIGCHLD, child, NULL);
	sigprocmask(SIG_SETMASK, &f->kept, NULL);
	execvp(argv[0], argv);
	e = errno;
	do
		n = write(tell, &e, sizeof e);
	while (n < 0 && errno == EINTR);
	_exit(FOLLOW_NOT_FOUND);
}

/* Returns 0, or the errno of exec; the child is then reaped. */
static int start(struct follow *f, char **argv, const struct sigaction *child)
{
	int ends[2], e = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	f->pid = fork();
	if (f->pid == 0)
		become(argv, f, child, ends[1]);
	if (f->pid < 0)
		e = errno;
	close(ends[1]);
	do
		n = f->pid < 0 ? 0 : read(ends[0], &e, sizeof e);
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (e && f->pid > 0)
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			;
	return spawn_error(argv[0], e);
}

/* ---- wait ---- */

/* Stops this process as the signal would, until it is continued. */
static void stop(int number)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, before;
	sigset_t one;

	sigemptyset(&normal.sa_mask);
	sigemptyset(&one);
	sigaddset(&one, number);
	if (number == SIGSTOP) {
		raise(number);
		return;
	}
	sigaction(number, &normal, &before);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(number, &before, NULL);
}

/* True if the process was continued meanwhile; a stop would lose that signal. */
static bool may_go_on(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) && sigismember(&waiting, SIGCONT) > 0;
}

/* True if this process runs in the foreground of a terminal. */
static bool in_front(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	bool yes = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	if (fd >= 0)
		close(fd);
	return yes;
}

/* Processes a change of the child's state. Returns true if the child has ended. */
static bool look(struct follow *f)
{
	int status;
	pid_t pid = waitpid(f->pid, &status, WNOHANG | WUNTRACED);

	if (pid < 0 && errno != EINTR) {
		f->status = FOLLOW_NOT_FOUND; /* another part of the process has reaped the child */
		return true;
	}
	if (pid != f->pid)
		return false;
	if (WIFSTOPPED(status)) {
		if (!may_go_on() && (WSTOPSIG(status) != SIGSTOP || in_front()))
			stop(WSTOPSIG(status));
		return false;
	}
	f->ended = status;
	f->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	f->status = WIFSIGNALED(status) ? FOLLOW_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* True if the kernel has sent the signal to the program, too. The hangup of a terminal is sent only
 * to the leader of its session; other signals of the kernel (of a timer) to one process. */
static bool has_reached_group(const siginfo_t *s)
{
	if (s->si_code != SI_KERNEL)
		return false;
	switch (s->si_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGWINCH: return true;
	case SIGHUP:
	case SIGCONT: return getsid(0) != getpid();
	default: return false;
	}
}

static void pass(const struct follow *f, const siginfo_t *s)
{
	if (s->si_code == SI_KERNEL && s->si_signo == SIGTSTP)
		stop(SIGTSTP);
	else if (!has_reached_group(s) && s->si_pid != f->pid)
		kill(f->pid, s->si_signo);
}

bool follow_run(struct follow *f, char **argv)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, child;
	sigset_t all;
	siginfo_t s;

	*f = (struct follow){ 0 };
	choose(&all);
	sigemptyset(&normal.sa_mask);
	sigprocmask(SIG_BLOCK, &all, &f->kept);
	sigaction(SIGCHLD, &normal, &child);
	f->error = start(f, argv, &child);
	if (f->error) {
		f->status = f->error == ENOENT ? FOLLOW_NOT_FOUND : FOLLOW_CANNOT_RUN;
		return false;
	}
	while (!look(f)) {
		if (sigwaitinfo(&all, &s) < 0)
			continue;
		if (s.si_signo != SIGCHLD)
			pass(f, &s);
	}
	return true;
}

bool follow_wait(int64_t milliseconds)
{
	struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	return sigtimedwait(&ends, NULL, &t) < 0;
}

void follow_end(const struct follow *f)
{
	sigprocmask(SIG_SETMASK, &f->kept, NULL);
}
