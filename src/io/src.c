/* SPDX-License-Identifier: Apache-2.0
 *
 * The input window. One routine, src_fill, moves bytes into it, from a file, a pipe or gzip data;
 * everything else is bookkeeping of offsets. Memory that is not gzip is its own window. The buffer
 * grows with the received bytes, not with the requested number.
 *
 *   buf            p            end          buf + cap
 *    | already read | unread     | free        |      offset of end: end_at
 */
#include "io/src.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define SRC_HEAD 3 /* bytes needed to recognise gzip */

/* Guard: closes the file. */
static void src_drop(void *what)
{
	struct src_inner *in = what;

	if (in->fd >= 0 && in->owned)
		close(in->fd);
	in->fd = -1;
}

static bool src_fail(struct src_inner *in)
{
	in->failed = true;
	return false;
}

/* Reports the position to the watcher. Returns false if the watcher cancels. */
static bool src_tick(struct src_inner *in)
{
	struct src *s = &in->pub;

	if (!work_cancelled(in->a->work) &&
	        (!in->tick || in->tick(in->user, src_raw_at(s), in->raw_size)))
		return true;
	err_set(s->e, ERR_CANCELLED, "reading '%.*s' was cancelled", STR(s->name));
	return src_fail(in);
}

/* Reads up to n bytes of the file itself. Returns SIZE_MAX on failure. */
static size_t src_read_raw(struct src_inner *in, void *p, size_t n)
{
	ssize_t got;

	do {
		if (in->fd < 0)
			return 0;
		while (!in->regular && !wait_ready(in->fd, POLLIN))
			if (!src_tick(in))
				return SIZE_MAX;
		if (in->regular)
			got = pread(in->fd, p, n, (off_t)(in->base + in->raw_at));
		else
			got = read(in->fd, p, n);
	} while (got < 0 && (errno == EINTR || (errno == EAGAIN && !in->regular)));
	if (got < 0) {
		err_system(in->pub.e, "cannot read", in->pub.name, errno);
		src_fail(in);
		return SIZE_MAX;
	}
	in->raw_at += (uint64_t)got;
	return (size_t)got;
}

/* Fills the sentence for bad gzip data, with the offset in the file. If the intact part counts,
 * ends the input here. */
static bool src_fail_gzip(struct src_inner *in, const char *why, bool truncated)
{
	struct src_damage *d = in->pub.damage;
	struct err own = { .a = in->a };

	uint64_t at = in->raw_at - in->packed.n;

	err_set(err_at(&own, in->pub.name, at), ERR_DATA_LOSS,
	        "%.*s: byte %" PRIu64 ": the gzip data cannot be unpacked: %s", STR(in->pub.name),
	        at, why);
	if (d->in_gzip.n) /* the first fault counts */
		return false;
	if (d->recover || (truncated && d->truncated_ok)) {
		d->in_gzip = own.text;
		d->in_gzip_at = at;
		d->truncated = truncated;
		return false;
	}
	err_copy(in->pub.e, &own);
	return src_fail(in);
}

/* Reads more compressed bytes. Returns false at the end or after an error. */
static bool src_feed(struct src_inner *in)
{
	size_t got = src_read_raw(in, in->raw, SRC_WINDOW);

	if (in->failed)
		return false;
	in->packed = str_make(in->raw, got);
	if (got == 0 && !gunzip_at_end(in->gz))
		return src_fail_gzip(in, "it ends in the middle", true);
	return got > 0;
}

/* Decompresses up to n bytes to p. Returns 0 at the end, SIZE_MAX on failure. */
static size_t src_read_gzip(struct src_inner *in, uint8_t *p, size_t n)
{
	uint8_t *out = p;
	const char *why = "";

	while (out == p) {
		if (in->packed.n == 0 && !src_feed(in))
			return in->failed ? SIZE_MAX : 0;
		if (gunzip_run(in->gz, &in->packed, &out, p + n, &why) < 0) {
			src_fail_gzip(in, why, false);
			return in->failed ? SIZE_MAX : (size_t)(out - p);
		}
	}
	return (size_t)(out - p);
}

bool src_finish(struct src *s)
{
	struct src_inner *in = s->in;
	uint8_t rest[16 << 10];

	while (in->gz && !in->ended && !in->failed) {
		in->ended = src_read_gzip(in, rest, sizeof rest) == 0;
		src_tick(in);
	}
	return !in->failed;
}

/* Doubles the window, or extends it to just after the end of the file if that is less. */
static void src_grow(struct src_inner *in)
{
	size_t cap = in->cap > SIZE_MAX / 2 ? SIZE_MAX : in->cap * 2;
	uint64_t rest = in->raw_size - in->raw_at;

	if (in->regular && !in->gz && in->raw_size >= in->raw_at && rest < cap - in->cap)
		cap = in->cap + (size_t)rest + 1;
	in->buf = arena_grow(in->a, in->buf, in->cap, cap);
	in->cap = cap;
}

/* Makes room after end: `need` bytes if possible without growing, otherwise at least one. Moves the
 * unread bytes down, or grows. Stays at the low end of a large window, to use the cache well. */
static void src_room(struct src_inner *in, size_t need)
{
	struct src *s = &in->pub;
	size_t have = (size_t)(s->end - s->p), from = (size_t)(s->p - in->buf);
	size_t room = in->cap - from - have;

	if (need <= room && (from < SRC_WINDOW || have > SRC_WINDOW || in->keep))
		return;
	if (from > 0 && !in->keep) {
		memmove(in->buf, s->p, have);
		in->first = false;
		from = 0;
	} else if (room == 0) {
		src_grow(in);
	}
	s->p = in->buf + from;
	s->end = s->p + have;
}

/* For memory that is its own window: exposes the next piece. */
static bool src_show(struct src_inner *in)
{
	struct src *s = &in->pub;
	uint64_t rest = in->text.n - s->end_at;
	size_t n = rest < SRC_WINDOW ? (size_t)rest : SRC_WINDOW;

	s->end += n;
	s->end_at += n;
	in->raw_at = s->end_at;
	return n > 0 && src_tick(in);
}

/* Reads more bytes into the window, which has fewer than the n bytes wanted. Returns false at the
 * end, or if reading failed. */
bool src_fill(struct src_inner *in, size_t n)
{
	struct src *s = &in->pub;
	size_t used, room, got;

	if (in->ended || in->failed)
		return false;
	if (!in->buf)
		return src_show(in);
	src_room(in, n - (size_t)(s->end - s->p));
	used = (size_t)(s->end - in->buf);
	room = in->cap - used < SRC_WINDOW ? in->cap - used : SRC_WINDOW;
	got = in->gz ? src_read_gzip(in, in->buf + used, room)
	             : src_read_raw(in, in->buf + used, room);
	if (in->failed)
		return false;
	in->ended = got == 0;
	s->end += got;
	s->end_at += got;
	return src_tick(in) && got > 0;
}

/* Empties the window and sets its offset to 0. */
static void src_restart(struct src_inner *in)
{
	if (in->gz)
		gunzip_restart(in->gz);
	in->packed = in->text;
	in->pub.p = in->pub.end = in->buf;
	in->pub.end_at = 0;
	in->raw_at = in->memory ? in->text.n : 0;
	in->ended = false;
	in->first = true;
}

/* Gives the input a window of its own. */
static void src_add_window(struct src_inner *in)
{
	in->buf = ARENA_ARRAY(in->a, SRC_WINDOW, uint8_t);
	in->cap = SRC_WINDOW;
	src_restart(in);
}

/* Reads the first bytes of a file. If they are gzip, the window becomes the buffer of compressed
 * bytes, and a new window is created. */
static bool src_start(struct src_inner *in)
{
	struct src *s = &in->pub;
	uint64_t raw_at;

	src_add_window(in);
	while ((size_t)(s->end - s->p) < SRC_HEAD && src_fill(in, SRC_HEAD))
		;
	if (in->failed || !gz_is(str_make(s->p, (size_t)(s->end - s->p))))
		return !in->failed;
	in->raw = in->buf;
	raw_at = in->raw_at;
	src_add_window(in);
	in->packed = str_make(in->raw, (size_t)raw_at);
	in->raw_at = raw_at;
	in->gz = gunzip_open(in->a);
	return true;
}

/* Stores the identity and position of the file. Rejects folders and, if requested, everything
 * except regular files. */
static bool src_look(struct src_inner *in, bool only_file)
{
	struct stat st;
	off_t base;

	if (fstat(in->fd, &st) < 0)
		return err_system(in->pub.e, "cannot open", in->pub.name, errno);
	if (S_ISDIR(st.st_mode))
		return err_set(in->pub.e, only_file ? ERR_IO : ERR_INVALID_ARGUMENT,
		        "cannot open '%.*s': it is a folder", STR(in->pub.name));
	if (!S_ISREG(st.st_mode))
		return !only_file ||
		       err_set(in->pub.e, ERR_IO, "cannot open '%.*s': it is not a regular file",
		               STR(in->pub.name));
	base = in->owned ? 0 : lseek(in->fd, 0, SEEK_CUR);
	in->regular = base >= 0;
	in->base = base > 0 ? (uint64_t)base : 0;
	in->raw_size = (uint64_t)st.st_size > in->base ? (uint64_t)st.st_size - in->base : 0;
	return true;
}

static struct src_inner *src_new(struct arena *a, struct str name, struct err *e)
{
	static const struct src_options none;
	struct src_inner *in = ARENA_NEW(a, struct src_inner);

	in->pub.in = in;
	in->pub.name = str_copy(a, name);
	in->pub.e = e;
	in->pub.damage = ARENA_NEW(a, struct src_damage);
	in->pub.damage->at = UINT64_MAX;
	in->pub.options = &none;
	in->pub.facts = ARENA_NEW(a, struct src_facts);
	in->pub.facts->a = a;
	in->a = a;
	in->fd = -1;
	return in;
}

/* Opens the file with a name. Opens a pipe at once, even without a writer. */
static bool src_open_named(struct src_inner *in, struct str path)
{
	const char *z = str_z(in->a, path);

	if (memchr(z, 0, path.n))
		return err_set(
		        in->pub.e, ERR_INVALID_ARGUMENT, "cannot open '%s': a NUL in its name", z);
	do
		in->fd = open(z, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	while (in->fd < 0 && errno == EINTR);
	in->owned = true;
	return in->fd >= 0 || err_system(in->pub.e, "cannot open", path, errno);
}

/* Checks the opened file and reads its first bytes. */
static bool src_begin(struct src **out, struct src_inner *in, bool only_file)
{
	arena_guard(in->a, &in->guard, src_drop, in);
	if (!src_look(in, only_file) || !src_start(in)) {
		src_close(&in->pub);
		return false;
	}
	*out = &in->pub;
	return true;
}

/* Opens a file, a pipe or standard input. */
bool src_open(struct src **out, struct arena *a, struct str path, struct err *e)
{
	bool is_stdin = str_eq(path, S("-"));
	struct src_inner *in = src_new(a, is_stdin ? S("standard input") : path, e);

	if (is_stdin)
		in->fd = STDIN_FILENO;
	else if (!src_open_named(in, path))
		return false;
	return src_begin(out, in, false);
}

bool src_open_file(struct src **out, struct arena *a, struct str path, struct err *e)
{
	struct src_inner *in = src_new(a, path, e);

	return src_open_named(in, path) && src_begin(out, in, true);
}

/* Opens memory. */
bool src_memory(struct src **out, struct arena *a, struct str name, struct str bytes, struct err *e)
{
	struct src_inner *in = src_new(a, name, e);

	in->memory = true;
	in->text = bytes.n ? bytes : S("");
	in->raw_size = bytes.n;
	if (gz_is(bytes)) {
		in->gz = gunzip_open(a);
		src_add_window(in);
	} else {
		in->pub.p = (const uint8_t *)in->text.p;
		in->pub.end = in->pub.p + bytes.n;
		in->pub.end_at = bytes.n;
	}
	in->raw_at = bytes.n;
	*out = &in->pub;
	return true;
}

/* Makes n bytes contiguous. */
bool src_need(struct src *s, size_t n)
{
	while ((size_t)(s->end - s->p) < n)
		if (!src_fill(s->in, n))
			return false;
	return true;
}

bool src_failed(const struct src *s)
{
	return s->in->failed;
}

/* Returns the size of the input; 0 if the number of decompressed bytes is unknown. */
uint64_t src_size(const struct src *s)
{
	return s->in->gz ? 0 : s->in->raw_size;
}

bool src_rest(const struct src *s, uint64_t from, uint64_t *n)
{
	const struct src_inner *in = s->in;
	uint64_t end = in->ended ? s->end_at : in->raw_size;

	*n = end > from ? end - from : 0;
	return in->ended || (!in->gz && (in->memory || in->regular));
}

uint64_t src_raw_at(const struct src *s)
{
	return s->in->raw_at - (s->in->memory ? s->in->packed.n : 0);
}

/* Returns all remaining bytes. */
bool src_all(struct src *s, struct str *out)
{
	src_need(s, SIZE_MAX);
	if (s->in->failed)
		return false;
	*out = str_make(s->p, (size_t)(s->end - s->p));
	s->p = s->end;
	return true;
}

void src_on_progress(
        struct src *s, bool (*tick)(void *user, uint64_t done, uint64_t size), void *user)
{
	struct src_inner *in = s->in;

	in->tick = tick;
	in->user = user;
	if (in->buf || s->p != (const uint8_t *)in->text.p)
		return;
	s->end = s->p; /* memory is exposed piece by piece, so that progress can be reported */
	s->end_at = in->raw_at = 0;
}

bool src_watch(struct src *s, uint64_t done)
{
	struct src_inner *in = s->in;

	if (done > in->raw_size)
		done = in->raw_size;
	if (done > in->raw_at)
		in->raw_at = done;
	return src_tick(in);
}

bool src_is_plain_file(const struct src *s)
{
	const struct src_inner *in = s->in;

	return in->regular && in->owned && !in->memory && !in->gz && in->base == 0;
}

/* Moves back to offset 0. */
bool src_rewind(struct src *s)
{
	struct src_inner *in = s->in;

	if (in->failed)
		return false;
	if (!in->buf)
		s->p = (const uint8_t *)in->text.p;
	else if (in->first)
		s->p = in->buf;
	else if (in->memory || in->regular)
		src_restart(in);
	else
		return false;
	return true;
}

void src_keep(struct src *s)
{
	struct src_inner *in = s->in;

	in->keep = in->first && !in->regular && !in->memory;
}

/* Closes the file; the window stays readable. */
void src_close(struct src *s)
{
	struct src_inner *in = s->in;

	arena_unguard(in->a, &in->guard);
	src_drop(in);
	in->ended = true;
}
