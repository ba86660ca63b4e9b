/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts programs without a shell.
 */
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct sigaction pipe_before, size_before;

void spawn_ignore_signals(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, &pipe_before);
	sigaction(SIGXFSZ, &ignore, &size_before);
}

void spawn_restore_signals(void)
{
	sigaction(SIGPIPE, &pipe_before, NULL);
	sigaction(SIGXFSZ, &size_before, NULL);
}

/* Returns the environment preceded by one more entry. */
static char **with(struct arena *a, const char *entry)
{
	size_t n = 0;

	if (!entry)
		return environ;
	while (environ[n])
		n++;
	char **v = ARENA_ARRAY(a, n + 2, char *);
	v[0] = str_z(a, str_of(entry));
	memcpy(v + 1, environ, n * sizeof *v);
	return v;
}

static int start(pid_t *pid, char **argv, char **env, int in)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t normal;
	int r;

	sigemptyset(&normal);
	sigaddset(&normal, SIGPIPE);
	sigaddset(&normal, SIGINT);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawnattr_setsigdefault(&how, &normal);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(pid, argv[0], &files, &how, argv, env);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

int spawn_error(const char *name, int error)
{
	const char *from = getenv("PATH");
	char path[PATH_MAX];

	if (error != EACCES || strchr(name, '/') || !from)
		return error;
	for (size_t n; *from; from += n + (from[n] == ':')) {
		n = strcspn(from, ":");
		int length =
		        snprintf(path, sizeof path, "%.*s%s%s", (int)n, from, n ? "/" : "", name);
		if (length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0)
			return error;
	}
	return ENOENT;
}

bool spawn_start(struct child *c, const struct strs *words, const char *env, struct err *e)
{
	char **argv = ARENA_ARRAY(e->a, words->n + 1, char *);
	int ends[2], r;

	for (size_t i = 0; i < words->n; i++)
		argv[i] = str_z(e->a, words->v[i]);
	if (pipe(ends) || fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
	        fcntl(ends[1], F_SETFD, FD_CLOEXEC))
		return err_system(e, "cannot create a pipe to", words->v[0], errno);
	r = start(&c->pid, argv, with(e->a, env), ends[0]);
	close(ends[0]);
	if (r) {
		close(ends[1]);
		return err_system(e, "cannot start", words->v[0], spawn_error(argv[0], r));
	}
	c->fd = ends[1];
	c->name = words->v[0];
	return true;
}

/* Waits for the child, and returns its status in the form of waitpid. */
static int end(struct child *c)
{
	int status = 0;

	close(c->fd);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void spawn_leave(struct child *c)
{
	(void)end(c);
}

bool spawn_wait(struct child *c, struct err *e)
{
	int status = end(c);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (WIFSIGNALED(status))
		return err_set(e, ERR_FAILED, "'%.*s' was terminated by signal %d", STR(c->name),
		        WTERMSIG(status));
	return err_set(
	        e, ERR_FAILED, "'%.*s' exited with status %d", STR(c->name), WEXITSTATUS(status));
}
