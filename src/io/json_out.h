/* SPDX-License-Identifier: Apache-2.0
 *
 * A streaming JSON writer: no spaces, keys in the given order, text as ASCII. Asserts that every
 * open level is closed and that keys appear only in objects.
 */
#ifndef TFPROF_IO_JSON_OUT_H
#define TFPROF_IO_JSON_OUT_H

#include "io/sink.h"

#define JSON_DEPTH_MAX 64

struct json {
	struct sink *to;
	uint64_t objects; /* one bit per level, innermost lowest: 1 for an object, 0 for an array */
	unsigned depth;
	bool first; /* true: the innermost level is still empty */
	bool keyed; /* true: a key was written, and its value must follow */
	bool line;  /* true: the next item begins a new line */
};

void json_init(struct json *j, struct sink *to);
void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, struct str key);
void json_line(struct json *j); /* starts a new line before the next key, value or end */

/* Writes a string: quotes, backslash and control characters escaped, '/' not, everything beyond
 * ASCII as \uXXXX with surrogate pairs. Invalid UTF-8 becomes the same characters as in the
 * original. */
void json_string(struct json *j, struct str text);
/* Writes a string. Bytes that are not UTF-8 are written as \xNN. scratch is used and emptied. */
void json_bytes(struct json *j, struct sb *scratch, struct str text);
void json_i64(struct json *j, int64_t v);
void json_literal(
        struct json *j, struct str text); /* writes a number, true, false or null unchanged */

/* Appends the escaped text without writing it. */
void json_put_text(struct sink *to, struct str text);

/* Asserts that one whole value was written. Returns true, for use in tests. */
bool json_done(const struct json *j);

#endif
