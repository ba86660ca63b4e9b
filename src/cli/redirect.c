/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses and opens the redirection at the end of a command line.
 */
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static enum redirect_to mark(struct str word)
{
	return str_eq(word, S("|"))    ? REDIRECT_PROGRAM
	       : str_eq(word, S(">"))  ? REDIRECT_FILE
	       : str_eq(word, S(">>")) ? REDIRECT_APPEND
	                               : REDIRECT_NONE;
}

/* Passes a pipe of several programs, or of a program with a redirection, to the shell. rest: the
 * text after the first '|'. */
static void use_shell(struct redirect *l, struct str rest, struct arena *a)
{
	bool several = false;

	for (size_t i = 0; i < l->words.n; i++)
		several |= mark(l->words.v[i]) != REDIRECT_NONE;
	if (l->to != REDIRECT_PROGRAM || !several)
		return;
	l->words.n = 0;
	strs_add(a, &l->words, S("sh"));
	strs_add(a, &l->words, S("-c"));
	strs_add(a, &l->words, rest);
}

static bool check(const struct redirect *l, struct err *e)
{
	if (l->to == REDIRECT_PROGRAM && l->words.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "'|' needs a program after it, as in 'scope | less'");
	if ((l->to == REDIRECT_FILE || l->to == REDIRECT_APPEND) && l->words.n != 1)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "'%s' needs one file name after it, not %zu words",
		        l->to == REDIRECT_FILE ? ">" : ">>", l->words.n);
	return true;
}

bool redirect_split(struct redirect *l, struct str text, struct err *e)
{
	struct strs words = str_split(e->a, text, ' ');

	*l = (struct redirect){ .command = text, .fd = -1 };
	if (text.n && memchr(text.p, 0, text.n))
		return err_set(e, ERR_INVALID_ARGUMENT, "the line contains a NUL byte");
	for (size_t i = 0; i < words.n; i++) {
		l->to = mark(words.v[i]);
		if (l->to == REDIRECT_NONE)
			continue;
		l->command = str_sub(text, 0, (size_t)(words.v[i].p - text.p));
		for (size_t k = i + 1; k < words.n; k++)
			strs_add(e->a, &l->words, str_strip_quotes(words.v[k]));
		use_shell(l, str_sub(text, l->command.n + words.v[i].n, SIZE_MAX), e->a);
		return check(l, e);
	}
	return true;
}

/* Removes partial output if the work ended early. */
static void drop(void *what)
{
	struct redirect *l = what;

	if (l->to == REDIRECT_PROGRAM)
		spawn_leave(&l->child);
	else if (l->fd >= 0)
		close(l->fd);
}

bool redirect_open(struct redirect *l, struct err *e)
{
	switch (l->to) {
	case REDIRECT_NONE: return true;
	case REDIRECT_FILE: return sink_file(&l->sink, e->a, l->words.v[0], e);
	case REDIRECT_PROGRAM:
		if (!spawn_start(&l->child, &l->words, NULL, e))
			return false;
		l->sink = sink_fd(e->a, l->child.fd, l->child.name);
		break;
	case REDIRECT_APPEND:
		if (!shared_check(str_z(e->a, l->words.v[0]), e->a, e))
			return false;
		l->fd = open(str_z(e->a, l->words.v[0]), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		        0666);
		if (l->fd < 0)
			return err_system(e, "cannot write", l->words.v[0], errno);
		l->sink = sink_fd(e->a, l->fd, l->words.v[0]);
		break;
	}
	work_guard(e->a->work, &l->guard, drop, l);
	return true;
}

bool redirect_close(struct redirect *l, bool ok, struct err *e)
{
	if (l->to == REDIRECT_NONE)
		return ok;
	if (l->to == REDIRECT_FILE) {
		if (ok)
			return sink_close(l->sink, e);
		sink_drop(l->sink);
		return false;
	}
	work_unguard(e->a->work, &l->guard);
	/* A reader that stops early, such as a closed pager, is not an error. */
	if (l->to == REDIRECT_PROGRAM) {
		struct err unread = { .a = e->a };
		sink_close(l->sink, &unread);
		return spawn_wait(&l->child, e) && ok;
	}
	ok = sink_close(l->sink, e) && ok;
	close(l->fd);
	return ok;
}
