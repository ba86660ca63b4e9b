/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes: remarks that do not stop anything, kept in order. The engine adds them; lib and cli print
 * them on standard error after the command.
 */
#ifndef TFPROF_BASE_NOTE_H
#define TFPROF_BASE_NOTE_H

#include "base/map.h"

#define NOTE_LINES 1000

/* The answers that a note of loading concerns. A note is printed with an answer only if it changes
 * how the numbers of the answer must be read: a note about unread events with every answer, a note
 * about work without an op with the answers that name the ops of device work. The answer about the
 * files themselves, summary, prints all notes. */
enum note_about { NOTE_NUMBERS, NOTE_OPS, NOTE_FILES };
#define NOTE_BIT(about) (1u << (about))
#define NOTES_OF_TIMES  NOTE_BIT(NOTE_NUMBERS)
#define NOTES_OF_OPS    (NOTE_BIT(NOTE_NUMBERS) | NOTE_BIT(NOTE_OPS))
#define NOTES_ALL       (NOTES_OF_OPS | NOTE_BIT(NOTE_FILES))

struct note {
	struct str text; /* text as printed; ends in a newline unless the original's line does
	                    not */
	uint32_t kind;   /* 0: the note is a line of its own */
	/* Number of notes of this kind; the text belongs to the first of them. For kind 0: 1, plus
	 * the number of further lines of the same format after NOTE_LINES. */
	uint64_t count;
	const char *format; /* for kind 0 */
	enum note_about about;
	bool printed; /* for notes of loading, which are printed once */
};

/* Lines of one format: their number, and the last stored line. */
struct note_lines {
	const char *format;
	size_t n, last;
};

struct notes {
	struct arena *a; /* arena of the texts */
	VEC(struct note) list;
	struct imap kinds; /* key: kind; value: index in list */
	VEC(struct note_lines) formats;
	enum note_about about; /* of the notes that are added */
};

void notes_init(struct notes *n, struct arena *a);

/* Appends one line. Control bytes of the arguments are written as \xNN. Stores NOTE_LINES lines of
 * one format, and counts further ones. */
void note_line(struct notes *n, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* Appends a line about n things; nothing if n is 0. Each "{one|many}" in the format is replaced by
 * the form for n; the format must not have other braces. */
void note_count(struct notes *to, uint64_t n, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Appends a note, or counts it if a note of this kind exists. The text has no newline: it is
 * printed as "note: <text>", followed by " (<count> times)" if count > 1. */
void note_kind(struct notes *n, uint32_t kind, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

void note_append(struct notes *to, const struct notes *from); /* copies the texts, merges kinds */

/* Returns the notes about some answers (NOTE_BIT bits) that are not printed yet, and marks them as
 * printed. The list lives in a and shares the texts. */
struct notes notes_take(struct notes *n, unsigned about, struct arena *a);

/* Returns the notes from a given one on. Both lists share the texts. */
struct notes notes_from(const struct notes *n, size_t from);

/* Returns one note as a sentence, without prefix and newline. */
struct str note_text(struct arena *a, const struct note *note);

/* Returns the whole list in printed form. */
struct str notes_text(struct arena *a, const struct notes *n);

#endif
