/* SPDX-License-Identifier: Apache-2.0
 *
 * A streaming JSON writer: no spaces, keys in the order given, text as ASCII. It asserts that what
 * is opened gets closed and that keys stand where keys belong. Knows nothing of what is written.
 */
#ifndef TFPROF_IO_JSON_OUT_H
#define TFPROF_IO_JSON_OUT_H

#include "io/sink.h"

#define JSON_DEPTH_MAX 64

struct json {
	struct sink *to;
	uint64_t objects; /* one bit per level, the innermost lowest: an object, not an array */
	unsigned depth;
	bool first; /* nothing stands yet in the innermost level */
	bool keyed; /* a key waits for its value */
	bool line;  /* what comes next begins a line */
};

void json_init(struct json *j, struct sink *to);
void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, struct str key);
void json_line(struct json *j); /* the next key, value or end begins a line */

/* Quotes, backslash and control characters escaped, '/' not, everything beyond ASCII as \uXXXX with
 * surrogate pairs. What is no UTF-8 comes out as some other characters, those of the original. */
void json_string(struct json *j, struct str text);
/* Writes a string; bytes that are not UTF-8 are written as \xNN. scratch is used and emptied. */
void json_bytes(struct json *j, struct sb *scratch, struct str text);
void json_i64(struct json *j, int64_t v);
void json_literal(struct json *j, struct str text); /* a number, true, false or null, as it is */

/* Appends the escaped text without writing it. */
void json_put_text(struct sink *to, struct str text);

/* One whole value was written: asserted, and returned for tests. */
bool json_done(const struct json *j);

#endif
