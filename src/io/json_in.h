/* SPDX-License-Identifier: Apache-2.0
 *
 * A streaming JSON tokenizer over a src: no tree, no recursion; strings are unescaped on demand,
 * numbers stay text. Tolerates the JSON of profilers (inf, nan, trailing commas, bad escapes, raw
 * control characters, invalid UTF-8) and reports each kind as a flaw. Independent of the document's
 * schema.
 *
 * The caller reads item by item. An item is completely in the window, so its texts are valid until
 * json_in_take. An item that reaches the end of the window is read again in a larger one:
 *
 *   do
 *           good = read_event(j, &event);
 *   while (!good && json_in_more(j));
 *   json_in_take(j);
 */
#ifndef TFPROF_IO_JSON_IN_H
#define TFPROF_IO_JSON_IN_H

#include "base/note.h"
#include "io/src.h"

#define JSON_IN_DEPTH_MAX 512                /* maximum depth of nested arrays and objects */
#define JSON_IN_ITEM_MAX  ((size_t)64 << 20) /* maximum size of an item, bytes */

enum json_type {
	JSON_OBJECT, /* the cursor stays before the bracket; the caller enters or skips the
	                container */
	JSON_ARRAY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_NONFINITE, /* inf, nan and other spellings of them */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL
};

/* Flaws in text that can still be read. */
enum json_flaw {
	JSON_FLAW_COMMA,     /* a comma before a closing bracket */
	JSON_FLAW_NONFINITE, /* inf or nan as a number */
	JSON_FLAW_ESCAPE,    /* a backslash that does not begin an escape */
	JSON_FLAW_CONTROL,   /* a control character inside a string */
	JSON_FLAW_UTF8,      /* a string that is not UTF-8 */
	JSON_FLAW_ZERO,      /* a number with a zero before its digits */
	JSON_FLAW_PART,      /* malformed JSON inside a container that is stored as text */
	JSON_FLAW_N
};
extern const char *const json_flaw_texts[JSON_FLAW_N];

/* Number of items with a flaw, and the first of them. */
struct json_flaw_count {
	uint64_t items;    /* number of items that have the flaw */
	uint64_t at, line; /* position of the first item */
};

enum json_stop {
	JSON_STOP_NONE,
	JSON_STOP_MORE, /* the window ends inside the item */
	JSON_STOP_BAD,  /* malformed JSON at p */
	JSON_STOP_DEEP, /* nested too deep at p */
	JSON_STOP_WIDE  /* the text is UTF-16 or UTF-32 */
};

struct json_value {
	enum json_type type;
	bool plain;      /* for a string: true if the text needs no unescaping */
	struct str text; /* for a string: the bytes between the quotes, with escapes; for a number:
	                    its digits; for a container: empty */
};

/* The text before the value of a member: it begins after the value before it, or after the bracket,
 * and contains the key. Programs write the members of equal objects in the same order and spacing,
 * so the text that followed last time is compared first. */
#define JSON_MEMBER_MAX 32 /* longer texts are not stored */
struct json_member {
	char text[JSON_MEMBER_MAX];
	uint8_t n, key_at, key_n;
	bool fresh;      /* true: the member follows the bracket */
	uint8_t next[4]; /* indices of members that followed this member; 0: none */
	uint8_t user;    /* free for the caller, initially 0 */
};

struct json_in {
	const char *p, *end; /* unread part of the window */
	enum json_stop stop; /* reason why the last call returned false */
	bool fresh;          /* true: p is directly after an opening bracket */
	unsigned depth;      /* containers entered in this item */
	unsigned flaws;      /* bits of enum json_flaw found in this item */
	uint64_t flaw_at[JSON_FLAW_N];
	struct json_flaw_count found[JSON_FLAW_N];
	struct src *s;
	struct json_member
	        members[128]; /* the first entry represents all members that are not stored */
	uint8_t member;       /* the last member that was read */
	const char *counted;  /* a position in the window, not after the item */
	uint64_t lines;       /* number of newlines before that position */
};

/* Begins at the first byte after a byte order mark. Returns false if reading fails, or for UTF-16
 * and UTF-32 (stop: WIDE). */
bool json_in_open(struct json_in *j, struct src *s);
/* Begins like json_in_open. For UTF-16 and UTF-32, also fills the error of s. */
bool json_in_open_utf8(struct json_in *j, struct src *s);

/* Returns true if the item can be read again, from its beginning, with more bytes in the window.
 * Returns false and changes nothing at the end of the input, or if the item has JSON_IN_ITEM_MAX
 * bytes. */
bool json_in_more(struct json_in *j);

/* Ends the item at p, and counts its flaws. Releases the bytes before p. */
void json_in_take(struct json_in *j);

/* Moves back to the beginning of the item. */
void json_in_again(struct json_in *j);

uint64_t json_in_at(const struct json_in *j, const char *p); /* offset in the input */
uint64_t json_in_line(struct json_in *j, const char *p);     /* counted from 1; p is in the item */
bool json_in_failed(const struct json_in *j); /* true if reading failed; *e of the src has the
                                                 reason */

/* Skips blanks and returns the next character; -1 at the end of the window (stop: MORE). */
int json_in_peek(struct json_in *j);

/* Between items: skips blanks, reading more of the input as needed, and returns the next character;
 * -1 at the end of the input. */
int json_in_ahead(struct json_in *j);

/* Between items: skips the character that json_in_ahead returned. */
void json_in_pass(struct json_in *j);

/* Skips the bracket that json_in_peek returned. */
bool json_in_enter(struct json_in *j);

/* Reads the key of the next member of the innermost object. The value of the member comes next.
 * Returns false at the end of the object, after its bracket (stop: NONE), or with a stop. Does not
 * unescape keys. */
bool json_in_member(struct json_in *j, struct str *key);

/* Returns the byte that the caller may store with the text of the last member; initially 0. */
static inline uint8_t *json_in_user(struct json_in *j)
{
	return &j->members[j->member].user;
}

/* Stops before p. Returns false. */
static inline bool json_stop_at(struct json_in *j, const char *p, enum json_stop why)
{
	j->p = p;
	j->stop = why;
	return false;
}

static inline bool json_is_blank(char c)
{
	const uint64_t blanks = 1ull << ' ' | 1ull << '\t' | 1ull << '\n' | 1ull << '\r';

	return (uint8_t)c <= ' ' && blanks >> (uint8_t)c & 1;
}

/* Moves to the next element of the innermost array. Returns the same values as json_in_member. */
bool json_in_element(struct json_in *j);

/* Reads a scalar, or returns the kind of the container that follows with an empty text. */
bool json_in_value(struct json_in *j, struct json_value *v);

/* Reads a scalar. Skips a container, and sets v to its kind with an empty text. */
bool json_in_scalar(struct json_in *j, struct json_value *v);

/* Skips a value of any kind. Inside it, only quotes and brackets are checked. */
bool json_in_skip(struct json_in *j);

/* Skips a value of any size as an item of its own, and ends that item. Returns false with stop MORE
 * if the input ends inside it. */
bool json_in_skip_item(struct json_in *j);

/* Returns the bytes of a string: the text itself, or the unescaped text in b. Invalid escapes stay
 * unchanged; unpaired surrogates become U+FFFD. */
struct str json_in_text(struct json_in *j, const struct json_value *v, struct sb *b);

void json_in_flaw(struct json_in *j, enum json_flaw flaw, const char *at);

/* Finds the flaws of a string's text. Returns true if it has none. */
bool json_in_check(struct json_in *j, struct str text);

/* Adds a note for each kind of flaw of the items taken, except those with a bit in *noted, and sets
 * their bits. */
void json_in_note_flaws(const struct json_in *j, unsigned *noted, struct notes *notes);

/* ---- check ---- */

/* Finds malformed JSON inside a container whose text, from bracket to bracket, is in the item. */
void json_in_check_container(struct json_in *j, struct str text);

/* ---- large documents, element by element ---- */

/* Moves to the value of a member of the outermost object. Returns false if the object has no such
 * member. */
bool json_in_find(struct json_in *j, struct str name);

/* Moves to the value of the first member with one of two names. Sets *second if the member has the
 * second name. */
bool json_in_find_either(struct json_in *j, struct str first, struct str other, bool *second);

/* Calls `read` for each element of the array that comes next, then `take`. Calls `read` again with
 * more of the input if an element ends after the window. Returns false if the array does not
 * end. */
bool json_in_each(
        struct json_in *j, bool (*read)(void *user), void (*take)(void *user), void *user);

/* Skips the other members after the value that json_in_find found. Adds notes about flaws, and
 * about an outermost object that does not end. list: name of the member. */
void json_in_finish(struct json_in *j, const char *list, struct notes *notes);

/* True if the text is a number of JSON: digits without a leading zero, with or without sign,
 * fraction and exponent. */
bool json_is_number(struct str text);

enum json_number {
	JSON_NUMBER_GOOD,
	JSON_NUMBER_OVERFLOW, /* *v is the nearest number that the type can hold */
	JSON_NUMBER_NONE      /* the text is not a number; *v is 0 */
};

/* Reads decimal text, with or without fraction and exponent, times 10^decimals, rounded to the
 * nearest integer, halves away from 0. Uses no double, so all digits count. */
enum json_number json_decimal(struct str text, unsigned decimals, int64_t *v);

#endif
