/* SPDX-License-Identifier: Apache-2.0
 *
 * Every name once: of kernels, API functions, ranges, domains, threads. Any thread and even a
 * signal handler may add one: there is no lock and no malloc. What does not fit any more keeps an
 * identity but loses its text.
 */
#ifndef TFPROF_COLLECT_NAMES_H
#define TFPROF_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_BYTES  (16u << 20) /* of texts and what belongs to them */
#define NAME_LONGEST 8192u       /* bytes of a text; the rest is cut off */

struct name {
	uint64_t hash;
	uint32_t length;
	uint32_t spool_id; /* the writer's: 0 until it has written the text */
	char text[];       /* NUL-terminated; missing in one that came too late */
};
#define NAME_NO_TEXT UINT32_MAX /* as length */

/* Makes the table, or forgets in a forked child what its parent has written of the one it inherits:
 * the program may hold names from before. False if there is no memory. */
bool names_make(void);
/* The name of n bytes; never NULL. */
struct name *names_add(const char *text, size_t n);
/* A number for a name that fits 32 bits, and back. */
uint32_t names_number(const struct name *);
struct name *names_at(uint32_t number);
/* Whether a pointer of the program's can be a name of ours. */
bool names_has(const void *);
/* How many names had to go without their text. */
uint32_t names_textless(void);

#endif
