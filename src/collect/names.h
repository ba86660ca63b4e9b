/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores every name once: kernels, API functions, ranges, domains, threads. Any thread, even a
 * signal handler, may add one: there is neither lock nor malloc. When the table is full, further
 * names keep an identity but lose their text.
 */
#ifndef TFPROF_COLLECT_NAMES_H
#define TFPROF_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_BYTES  (16u << 20) /* total size of texts and their headers, bytes */
#define NAME_LONGEST 8192u       /* maximum bytes of a text; a longer text ends in a checksum */
#define NAME_READ    (1u << 20)  /* maximum bytes of a text that are read */

struct name {
	uint64_t hash;
	uint32_t length;
	uint32_t spool_id; /* used by the writer: 0 until it has written the text */
	char text[];       /* NUL-terminated; absent if the table was full */
};
#define NAME_NO_TEXT UINT32_MAX /* value of length for a missing text */

/* Creates the table. In a forked child, resets the parent's marks in the inherited table, because
 * the program may hold names from before the fork. Returns false if memory is exhausted. */
bool names_make(void);
/* Returns the name with these n bytes; never NULL. */
struct name *names_add(const char *text, size_t n);
/* Returns the name of a range. A program may use any number of such names. */
struct name *names_add_range(const char *text, size_t n);
/* Returns the name of a long text: its first NAME_LONGEST bytes are at `begin`, and a checksum of
 * all n bytes at `all`, in the program's own form, is appended. */
struct name *names_add_long(const char *begin, const void *all, size_t n);
/* Converts a name to a 32-bit number, and back. */
uint32_t names_number(const struct name *);
struct name *names_at(uint32_t number);
/* True if a pointer from the program can be a name of this table. */
bool names_has(const void *);
/* Returns the number of names that share an entry with another name because the table was full, or
 * that were shortened because they were too long. */
uint64_t names_lost(void);

#endif
