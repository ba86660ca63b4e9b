/* SPDX-License-Identifier: Apache-2.0
 *
 * Output to a file descriptor, to memory, or to a temporary file that is renamed when complete. A
 * sink remembers its first error; later puts do nothing; sink_close reports the error.
 */
#ifndef TFPROF_IO_SINK_H
#define TFPROF_IO_SINK_H

#include "base/err.h"

#define SINK_BUFFER ((size_t)64 << 10)

struct sink {
	uint8_t *p, *end; /* free part of the buffer */
	struct sink_inner *in;
};

struct sink *sink_fd(struct arena *a, int fd, struct str name); /* does not own fd */
struct sink *sink_memory(struct arena *a);
struct sink *sink_call(
        struct arena *a, bool (*put)(void *user, const void *p, size_t n), void *user);

/* Creates a sink whose line function receives lines with their cells (io/line.h). put receives all
 * other bytes, in order. */
struct line;
struct sink *sink_lines(struct arena *a, bool (*put)(void *user, const void *p, size_t n),
        bool (*put_line)(void *user, const struct line *l), void *user);

bool sink_takes_lines(const struct sink *s); /* true for sinks of sink_lines */

/* Opens a sink to a file. Regular files are written under a temporary name beside path (created
 * exclusively, mode by umask, an existing file's mode kept), without fsync, and renamed to path by
 * sink_close. Devices and pipes are written directly. A symbolic link is first followed to its
 * target. Fails at once if the folder is missing or not writable. A guard removes the temporary
 * file if work ends early. */
bool sink_file(struct sink **out, struct arena *a, struct str path, struct err *e);

/* Opens a sink like sink_file, for a name in an open folder, which must stay open until the sink is
 * closed. `path` names the file in messages. Replaces only regular files, and refuses links. */
bool sink_file_inside(struct sink **out, struct arena *a, int folder, struct str name,
        struct str path, struct err *e);

void sink_put_beyond(struct sink *s, struct str bytes); /* slow path: the buffer has no room */
static inline void sink_put(struct sink *s, struct str bytes)
{
	if (bytes.n > (size_t)(s->end - s->p)) {
		sink_put_beyond(s, bytes);
	} else if (bytes.n) {
		memcpy(s->p, bytes.p, bytes.n);
		s->p += bytes.n;
	}
}
static inline void sink_char(struct sink *s, char c)
{
	if (s->p < s->end)
		*s->p++ = (uint8_t)c;
	else
		sink_put_beyond(s, (struct str){ &c, 1 });
}
void sink_i64(struct sink *s, int64_t v);
void sink_fmt(struct sink *s, const char *f, ...) __attribute__((format(printf, 2, 3)));
void sink_flush(struct sink *s);

uint64_t sink_size(const struct sink *s); /* number of bytes put so far */
bool sink_ok(const struct sink *s);
struct str sink_text(const struct sink *s); /* contents of a memory sink */

/* Flushes and renames. Fails with "cannot write '<path>': <reason>"; then the old file is
 * unchanged. sink_drop ends a sink without leaving a file. */
bool sink_close(struct sink *s, struct err *e);
void sink_drop(struct sink *s);

/* ---- shared ---- */

/* In world-writable folders such as /tmp, a file that another user created under the name of an
 * output is not used. */

/* True if it is safe to write to the file at path, with links followed or not, or if the file does
 * not exist. Returns false, with the sentence in *e, for a link, a pipe or a device of another user
 * in a shared folder. */
bool shared_check(const char *path, struct arena *a, struct err *e);

/* ---- internal ----
 *
 * Interface of a kind of sink, for files of this folder only.
 */

/* The functions return false with *why filled; after that only drop is called. */
struct sink_ops {
	bool (*put)(void *user, const void *p, size_t n, struct err *why); /* takes all n bytes */
	/* Receives a line with its cells; NULL: put receives its bytes. */
	bool (*put_line)(void *user, const struct line *l, struct err *why);
	bool (*finish)(void *user, struct err *why); /* called by sink_close; may be NULL */
	void (*drop)(void *user); /* called instead of finish, or after finish failed; may be
	                             NULL */
};

#define WRAP_COLUMNS 100 /* maximum width of a wrapped line */

/* Writes text wrapped at blanks to `columns` columns (clamped to 20 to 100; 0: no terminal). A word
 * that is too long for a line is broken after a '/', if it has one. Lines after the first are
 * indented by `blanks` columns; the first line also begins there. */
void sink_wrap(struct sink *s, struct str text, unsigned columns, size_t blanks);

/* Passes a line of `bytes` bytes to a sink of lines. Returns false, without writing, if the sink
 * has no function for lines. */
bool sink_pass_line(struct sink *s, const struct line *l, size_t bytes);

struct sink *sink_new(struct arena *a, const struct sink_ops *ops, void *user);

/* Writes all n bytes to fd, unless w is cancelled while fd would block. Fails with "cannot write
 * '<name>': <reason>". */
bool sink_write(
        int fd, struct str name, const void *p, size_t n, const struct work *w, struct err *why);

/* Copies the first error of s. Returns false. */
bool sink_copy_error(const struct sink *s, struct err *to);

/* ---- wait ----
 *
 * Waits for the other end of a pipe, possibly forever, and still notices a cancel.
 */

/* Waits until the descriptor can be read (POLLIN) or written (POLLOUT), or is broken. Returns false
 * after a short time; then it must be called again. */
bool wait_ready(int fd, short events);

/* Opens a pipe for writing as soon as it has a reader. Returns -1 with errno; ECANCELED if the work
 * was cancelled. */
int wait_reader(const char *path, int flags, const struct work *w);

#endif
