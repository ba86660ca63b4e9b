/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes: remarks that do not stop anything, kept in order. The engine adds them, app/ prints them
 * on standard error after the command.
 */
#ifndef TFPROF_BASE_NOTE_H
#define TFPROF_BASE_NOTE_H

#include "base/map.h"
#include "base/vec.h"

struct note {
	struct str text; /* as printed; ends in a newline unless the original's line does not */
	uint32_t kind;   /* 0: never merged */
	uint64_t count;  /* of this kind; the text is that of the first */
};

struct notes {
	struct arena *a; /* holds the texts */
	VEC(struct note) list;
	struct imap kinds; /* kind -> index in list */
};

void notes_init(struct notes *n, struct arena *a);

/* Appends one line, exactly as given. */
void note_line(struct notes *n, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* Appends a remark, or counts it if one of this kind is there already. The text has no newline:
 * it is printed as "note: <text>" with " (<count> times)" behind it when count > 1. */
void note_kind(struct notes *n, uint32_t kind, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

void note_append(struct notes *to, const struct notes *from); /* copies the texts, merges kinds */

/* Those from the given one on; what notes point to is shared. */
struct notes notes_from(const struct notes *n, size_t from);

/* One remark as a sentence: nothing before it, no newline at its end. */
struct str note_text(struct arena *a, const struct note *note);

/* The whole list as printed. */
struct str notes_text(struct arena *a, const struct notes *n);

#endif
