/* SPDX-License-Identifier: Apache-2.0
 *
 * The error value: a code and one finished sentence. The function that detects a fault writes the
 * sentence; no caller rewrites it; only lib and cli print it.
 */
#ifndef TFPROF_BASE_ERR_H
#define TFPROF_BASE_ERR_H

#include "base/str.h"

enum status {
	ERR_NONE,
	ERR_INVALID_ARGUMENT, /* usage error: an argument, a value, a pattern */
	ERR_NOT_FOUND,        /* a file or a step does not exist */
	ERR_PERMISSION,       /* refused by the system */
	ERR_DATA_LOSS,        /* bytes that cannot be parsed */
	ERR_UNIMPLEMENTED,    /* a known feature that this build or this view lacks */
	ERR_RESOURCE,         /* a limit of tfprof or of the system is reached, such as memory */
	ERR_IO,               /* reading or writing failed half-way */
	ERR_CANCELLED,
	ERR_FAILED, /* the command is valid but did not succeed */
	ERR_STEP,   /* a step is not loaded; a note contains the original's message */
	ERR_N
};

/* Filled once, by err_set. The text lives in *a. */
struct err {
	struct arena *a;
	enum status code;
	struct str text; /* has no trailing newline */
	bool partial;    /* for a file: true if the part before the fault could be used */
	int errnum;      /* errno; 0: none */
	struct str file; /* the file that the error is about; p is NULL if unknown */
	uint64_t at;     /* offset of the byte in it */
	bool has_at;
};

/* err_about stores the file that the next err_set is about, err_at also the byte in it, unless *e
 * is already filled. Both return e, so that calls can be nested: err_set(err_at(e, name, at),
 * ...). */
struct err *err_about(struct err *e, struct str file);
struct err *err_at(struct err *e, struct str file, uint64_t at);

/* Fills *e unless it is already filled, and returns false, so that callers can return its result.
 * Control bytes of the arguments, such as a line break in a file's name, are written as \xNN. */
bool err_set(struct err *e, enum status code, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Fills *e like err_set, with a copy of a complete sentence, such as the text of another error. */
bool err_text(struct err *e, enum status code, struct str text);

/* Fills *e with the code, the text and the place of another error. */
bool err_copy(struct err *e, const struct err *from);

/* Writes the sentence for a failed system call: "<what> '<path>': <strerror>". */
bool err_system(struct err *e, const char *what, struct str path, int errnum);

const char *status_name(enum status code); /* name such as "INVALID_ARGUMENT" */

#endif
