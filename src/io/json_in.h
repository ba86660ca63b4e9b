/* SPDX-License-Identifier: Apache-2.0
 *
 * A streaming JSON tokenizer over a src: no tree, no recursion, strings unescaped on demand,
 * numbers kept as text. Tolerates what profilers write (inf, nan, trailing commas, bad escapes, raw
 * control characters, bytes that are no UTF-8) and reports each kind as a flaw. Knows nothing of
 * what is read.
 *
 * The caller reads item by item. All of an item lies in the window, so that its texts stay valid
 * until json_in_take; an item that runs into the end of the window is read again in a larger one:
 *
 *   do
 *           good = read_event(j, &event);
 *   while (!good && json_in_more(j));
 *   json_in_take(j);
 */
#ifndef TFPROF_IO_JSON_IN_H
#define TFPROF_IO_JSON_IN_H

#include "io/src.h"

#define JSON_IN_DEPTH_MAX 512                /* nested arrays and objects */
#define JSON_IN_ITEM_MAX  ((size_t)64 << 20) /* bytes of an item */

enum json_type {
	JSON_OBJECT, /* the cursor stays before the bracket: enter or skip it */
	JSON_ARRAY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_NONFINITE, /* inf, nan and their other spellings */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL
};

/* Faults of text that can still be read. */
enum json_flaw {
	JSON_FLAW_COMMA,     /* a comma before a closing bracket */
	JSON_FLAW_NONFINITE, /* inf or nan as a number */
	JSON_FLAW_ESCAPE,    /* a backslash before something else than an escape */
	JSON_FLAW_CONTROL,   /* a control character inside a string */
	JSON_FLAW_UTF8,      /* a string that is no UTF-8 */
	JSON_FLAW_N
};

enum json_stop {
	JSON_STOP_NONE,
	JSON_STOP_MORE, /* the window ends inside the item */
	JSON_STOP_BAD,  /* no JSON at p */
	JSON_STOP_DEEP, /* nested too deep at p */
	JSON_STOP_WIDE  /* the text is UTF-16 or UTF-32 */
};

struct json_value {
	enum json_type type;
	bool plain; /* of a string: the text is its bytes */
	struct str
	        text; /* of a string: what is between the quotes, with its escapes; of a number */
};

struct json_in {
	const char *p, *end; /* unread part of the window */
	enum json_stop stop; /* why the last call returned false */
	bool fresh;          /* p is just behind an opening bracket */
	unsigned depth;      /* containers entered in this item */
	unsigned flaws;      /* bits of enum json_flaw: those of this item */
	uint64_t flaw_at[JSON_FLAW_N];
	struct src *s;
	uint64_t lines; /* newlines before the item */
};

/* Begins at the first byte behind a byte order mark. False if reading fails, or for UTF-16 and
 * UTF-32 (stop: WIDE). */
bool json_in_open(struct json_in *j, struct src *s);

/* True if the item can be read again, from its beginning, with more bytes in the window. Where the
 * input ends, or the item has JSON_IN_ITEM_MAX bytes, the answer is false and nothing has changed.
 */
bool json_in_more(struct json_in *j);

/* Ends the item at p: what comes before is given up. */
void json_in_take(struct json_in *j);

/* Goes back to the beginning of the item. */
void json_in_again(struct json_in *j);

uint64_t json_in_at(const struct json_in *j, const char *p);   /* offset in the input */
uint64_t json_in_line(const struct json_in *j, const char *p); /* from 1; p is in the item */
bool json_in_failed(const struct json_in *j);                  /* reading failed: *e of the src */

/* Goes over blanks; the character after them, -1 at the end of the window (stop: MORE). */
int json_in_peek(struct json_in *j);

/* Goes behind the bracket, which json_in_peek has shown. */
bool json_in_enter(struct json_in *j);

/* The next member of the object entered last: its key is read, its value comes next. False at the
 * end of the object, behind its bracket (stop: NONE), or with a stop. Keys are not unescaped. */
bool json_in_member(struct json_in *j, struct str *key);

/* The next element of the array entered last: likewise. */
bool json_in_element(struct json_in *j);

/* Reads a scalar, or tells which container comes. */
bool json_in_value(struct json_in *j, struct json_value *v);

/* Goes over a value of any kind; strings are not looked at. */
bool json_in_skip(struct json_in *j);

/* Goes over a value of any size, which makes it an item of its own and ends that. False with stop
 * MORE where the input ends inside it. */
bool json_in_skip_item(struct json_in *j);

/* A string's bytes: the text itself, or unescaped into b, of which they are a part. Escapes that
 * JSON does not have stay as they are; surrogates without their other half become U+FFFD. */
struct str json_in_text(struct json_in *j, const struct json_value *v, struct sb *b);

void json_in_flaw(struct json_in *j, enum json_flaw flaw, const char *at);

enum json_number {
	JSON_NUMBER_GOOD,
	JSON_NUMBER_OVERFLOW, /* *v is the end of the type */
	JSON_NUMBER_NONE      /* the text is no number; *v is 0 */
};

/* Decimal text, with or without fraction and exponent, times 10^decimals; rounded to the nearest,
 * halves away from 0. Never goes through a double: all digits count. */
enum json_number json_decimal(struct str text, unsigned decimals, int64_t *v);

#endif
