/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffer of all sinks, and sinks to memory, descriptors and callbacks. After the first error
 * the buffer is full, so every put calls sink_put, which then does nothing. sink_file.c has sinks
 * to named files.
 */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fmt.h"

struct sink_inner {
	struct sink pub;
	struct arena *a;
	const struct sink_ops *ops; /* NULL: a sink to memory, which stores everything in the
	                               buffer */
	void *user;
	uint8_t *buf;
	size_t cap;
	uint64_t flushed; /* number of bytes that have left the buffer */
	struct err err;   /* the first error; its sentence lives in a */
};

/* Creates a sink of any kind. ops NULL: memory. */
struct sink *sink_new(struct arena *a, const struct sink_ops *ops, void *user)
{
	struct sink_inner *in = ARENA_NEW(a, struct sink_inner);

	in->pub.in = in;
	in->a = a;
	in->ops = ops;
	in->user = user;
	in->err.a = a;
	in->cap = SINK_BUFFER;
	in->buf = ARENA_ARRAY(a, in->cap, uint8_t);
	in->pub.p = in->buf;
	in->pub.end = in->buf + in->cap;
	return &in->pub;
}

static size_t sink_used(const struct sink *s)
{
	return (size_t)(s->p - s->in->buf);
}

bool sink_ok(const struct sink *s)
{
	return s->in->err.code == ERR_NONE;
}

uint64_t sink_size(const struct sink *s)
{
	return s->in->flushed + sink_used(s);
}

struct str sink_text(const struct sink *s)
{
	return str_make(s->in->buf, sink_used(s));
}

bool sink_copy_error(const struct sink *s, struct err *to)
{
	if (to && to->code == ERR_NONE)
		to->errnum = s->in->err.errnum;
	return err_copy(to, &s->in->err);
}

/* Passes n bytes on; after an error the buffer has no room. */
static void sink_pass(struct sink *s, const void *p, size_t n)
{
	struct sink_inner *in = s->in;

	work_poll(in->a->work);
	if (n && !in->ops->put(in->user, p, n, &in->err))
		s->p = s->end = in->buf;
	else
		in->flushed += n;
}

/* Empties the buffer. */
void sink_flush(struct sink *s)
{
	struct sink_inner *in = s->in;
	size_t n = sink_used(s);

	if (!in->ops || !sink_ok(s))
		return;
	s->p = in->buf;
	sink_pass(s, in->buf, n);
}

/* Makes n bytes free in the buffer. Returns false after an error. */
static bool sink_room(struct sink *s, size_t n)
{
	struct sink_inner *in = s->in;
	size_t used, cap;

	if ((size_t)(s->end - s->p) < n)
		sink_flush(s);
	if (!sink_ok(s))
		return false;
	used = sink_used(s);
	if (n > in->cap - used) {
		cap = n > SIZE_MAX / 4 ? SIZE_MAX : in->cap * 2 + n;
		in->buf = arena_grow(in->a, in->buf, in->cap, cap);
		in->cap = cap;
		s->p = in->buf + used;
		s->end = in->buf + cap;
	}
	return true;
}

/* Puts bytes; a block larger than the buffer bypasses it. */
void sink_put_beyond(struct sink *s, struct str bytes)
{
	if (s->in->ops && bytes.n >= s->in->cap) {
		sink_flush(s);
		if (sink_ok(s))
			sink_pass(s, bytes.p, bytes.n);
	} else if (sink_room(s, bytes.n)) {
		memcpy(s->p, bytes.p, bytes.n);
		s->p += bytes.n;
	}
}

void sink_i64(struct sink *s, int64_t v)
{
	char text[FMT_I64_MAX];

	if (s->end - s->p >= FMT_I64_MAX)
		s->p = (uint8_t *)fmt_put_i64((char *)s->p, v);
	else
		sink_put(s, str_make(text, (size_t)(fmt_put_i64(text, v) - text)));
}

/* Puts printf output. */
void sink_fmt(struct sink *s, const char *f, ...)
{
	size_t room = (size_t)(s->end - s->p);
	va_list ap;
	int n;

	va_start(ap, f);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started in the line above */
	n = vsnprintf((char *)s->p, room, f, ap);
	va_end(ap);
	if (n < 0) {
		err_set(&s->in->err, ERR_RESOURCE, "a text is too long to be written");
		s->p = s->end = s->in->buf;
		return;
	}
	if ((size_t)n >= room) {
		if (!sink_room(s, (size_t)n + 1))
			return;
		va_start(ap, f);
		vsnprintf((char *)s->p, (size_t)n + 1, f, ap);
		va_end(ap);
	}
	s->p += n;
}

/* Ends a sink. Replaces the old file only if every write succeeded. */
bool sink_close(struct sink *s, struct err *e)
{
	struct sink_inner *in = s->in;

	sink_flush(s);
	if (in->ops && in->ops->finish && sink_ok(s))
		in->ops->finish(in->user, &in->err);
	if (sink_ok(s))
		return true;
	sink_drop(s);
	return sink_copy_error(s, e);
}

void sink_drop(struct sink *s)
{
	struct sink_inner *in = s->in;

	if (in->ops && in->ops->drop)
		in->ops->drop(in->user);
	in->user = NULL;
}

struct sink *sink_memory(struct arena *a)
{
	return sink_new(a, NULL, NULL);
}

struct sink_target {
	int fd;
	struct str name;
	const struct work *work; /* its cancel ends a blocked write */
	bool (*put)(void *user, const void *p, size_t n);
	bool (*put_line)(void *user, const struct line *l);
	void *user;
};

/* Writes all n bytes in as many calls as needed. */
static bool sink_put_fd(void *user, const void *p, size_t n, struct err *why)
{
	const struct sink_target *t = user;

	return sink_write(t->fd, t->name, p, n, t->work, why);
}

/* True for a regular file, whose writes never wait for another process. */
static bool sink_is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 || S_ISREG(st.st_mode);
}

/* Writes at most n bytes to a descriptor that may block. Returns the number
 * of bytes written, 0 if the descriptor would block, or -1. A pipe that poll reports as writable
 * takes PIPE_BUF bytes without blocking, perhaps no more. A terminal may still block; a signal then
 * ends its write early. The mode of a descriptor shared with other processes is not changed. */
static ssize_t sink_write_some(int fd, const char *p, size_t n)
{
	ssize_t done;

	if (!wait_ready(fd, POLLOUT))
		return 0;
	done = write(fd, p, n < PIPE_BUF ? n : PIPE_BUF);
	if (done < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (done == 0)
		errno = EIO;
	return done ? done : -1;
}

bool sink_write(
        int fd, struct str name, const void *p, size_t n, const struct work *w, struct err *why)
{
	const bool waits = !sink_is_file(fd);
	const char *from = p;
	ssize_t done;

	while (n) {
		done = waits ? sink_write_some(fd, from, n) : write(fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 || (!done && !waits))
			return err_system(why, "cannot write", name, done ? errno : EIO);
		from += done;
		n -= (size_t)done;
		if (n && done < PIPE_BUF && work_cancelled(w))
			return err_system(why, "cannot write", name, ECANCELED);
	}
	return true;
}

static const struct sink_ops sink_fd_ops = { .put = sink_put_fd };

struct sink *sink_fd(struct arena *a, int fd, struct str name)
{
	struct sink_target *t = ARENA_NEW(a, struct sink_target);

	t->fd = fd;
	t->name = str_copy(a, name);
	t->work = a->work;
	return sink_new(a, &sink_fd_ops, t);
}

static bool gave_up(struct err *why)
{
	return err_set(why, ERR_IO, "cannot write: the receiver of the output failed");
}

static bool sink_put_call(void *user, const void *p, size_t n, struct err *why)
{
	const struct sink_target *t = user;

	return t->put(t->user, p, n) || gave_up(why);
}

static bool sink_put_line(void *user, const struct line *l, struct err *why)
{
	const struct sink_target *t = user;

	return t->put_line(t->user, l) || gave_up(why);
}

static const struct sink_ops sink_call_ops = { .put = sink_put_call };
static const struct sink_ops sink_lines_ops = { .put = sink_put_call, .put_line = sink_put_line };

struct sink *sink_call(
        struct arena *a, bool (*put)(void *user, const void *p, size_t n), void *user)
{
	struct sink_target *t = ARENA_NEW(a, struct sink_target);

	t->put = put;
	t->user = user;
	return sink_new(a, &sink_call_ops, t);
}

struct sink *sink_lines(struct arena *a, bool (*put)(void *user, const void *p, size_t n),
        bool (*put_line)(void *user, const struct line *l), void *user)
{
	struct sink_target *t = ARENA_NEW(a, struct sink_target);

	t->put = put;
	t->put_line = put_line;
	t->user = user;
	return sink_new(a, &sink_lines_ops, t);
}

bool sink_takes_lines(const struct sink *s)
{
	return s->in->ops && s->in->ops->put_line;
}

bool sink_pass_line(struct sink *s, const struct line *l, size_t bytes)
{
	struct sink_inner *in = s->in;

	if (!in->ops || !in->ops->put_line)
		return false;
	sink_flush(s);
	if (!sink_ok(s))
		return true;
	if (in->ops->put_line(in->user, l, &in->err))
		in->flushed += bytes;
	else
		s->p = s->end = in->buf;
	return true;
}

/* ---- wrapped text ---- */

#define WRAP_COLUMNS_MIN 20

/* Returns where to break a word that is too long for a line: after its last '/', or at its end. */
static size_t path_end(struct str word)
{
	size_t slash = str_rfind_char(word, '/');

	return slash == SIZE_MAX ? word.n : slash + 1;
}

void sink_wrap(struct sink *s, struct str text, unsigned columns, size_t blanks)
{
	size_t all = columns && columns < WRAP_COLUMNS ? columns : WRAP_COLUMNS;
	const size_t room = (all < WRAP_COLUMNS_MIN ? WRAP_COLUMNS_MIN : all) - blanks;

	for (bool first = true; text.n; first = false) {
		size_t n = text.n;
		if (n > room) {
			size_t blank = str_rfind_char(str_sub(text, 0, room + 1), ' ');
			n = blank == SIZE_MAX || !blank ? path_end(str_sub(text, 0, room)) : blank;
		}
		for (size_t i = 0; i < blanks && !first; i++)
			sink_char(s, ' ');
		sink_put(s, str_sub(text, 0, n));
		sink_char(s, '\n');
		text = str_sub(text, text.n > n && text.p[n] == ' ' ? n + 1 : n, SIZE_MAX);
	}
}
