/* SPDX-License-Identifier: Apache-2.0
 *
 * Interface of a kind of sink, for files of this folder only.
 */
#ifndef TFPROF_IO_SINK_INTERNAL_H
#define TFPROF_IO_SINK_INTERNAL_H

#include "io/sink.h"

/* Functions return false with *why filled; after that only drop is called. */
struct sink_ops {
	bool (*put)(void *user, const void *p, size_t n, struct err *why); /* takes all n bytes */
	/* A line with its cells; NULL: put gets its bytes. */
	bool (*put_line)(void *user, const struct line *l, struct err *why);
	bool (*finish)(void *user, struct err *why); /* by sink_close; or NULL */
	void (*drop)(void *user); /* instead of finish, or after it failed; or NULL */
};

/* Hands a line, which has `bytes` bytes as text, to a sink of lines. False: the sink has no
 * function for lines, and nothing was written. */
bool sink_pass_line(struct sink *s, const struct line *l, size_t bytes);

struct sink *sink_new(struct arena *a, const struct sink_ops *ops, void *user);

/* Writes all n bytes to fd, unless w is cancelled while fd would block. False with
 * "cannot write '<name>': <reason>". */
bool sink_write(
        int fd, struct str name, const void *p, size_t n, const struct work *w, struct err *why);

/* Copies the first error of s; returns false. */
bool sink_copy_error(const struct sink *s, struct err *to);

#endif
