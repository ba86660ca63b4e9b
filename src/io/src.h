/* SPDX-License-Identifier: Apache-2.0
 *
 * Input: a window over a file, a pipe, memory or a gzip stream (found by its magic, for all of
 * them). Offsets are those of the unpacked bytes and never restart. Knows no format.
 *
 *        already read          |  window: p .... end  |   not yet read
 *   0 ............. src_at() --^                      ^-- filled by src_need
 */
#ifndef TFPROF_IO_SRC_H
#define TFPROF_IO_SRC_H

#include "base/err.h"

#define SRC_WINDOW ((size_t)1 << 20)

/* Position at which an input stops being valid. Filled by its reader. */
struct src_damage {
	bool recover;       /* what comes before counts: gzip data that break off just end */
	struct str in_gzip; /* the sentence about them */
	uint64_t at;        /* where the first record that is lost begins; UINT64_MAX: nowhere */
	uint64_t missing;   /* bytes that should come behind the last one */
	uint64_t kept;      /* records before it */
	uint64_t groups;    /* that they belong to */
	uint64_t lost;      /* records of which those that were kept speak */
};

struct src {
	const uint8_t *p, *end;    /* unread part of the window; readers may advance p up to end */
	uint64_t end_at;           /* offset of end */
	struct str name;           /* of the input, for sentences */
	struct err *e;             /* filled when reading fails; set by the caller of src_open */
	struct src_damage *damage; /* made by the src */
	struct src_inner *in;
};

/* Opens path ("-": standard input). Refuses folders. The window lives in a; the handle is guarded
 * by the arena's work until src_close. Sentences: "cannot open '<path>': <reason>". */
bool src_open(struct src **out, struct arena *a, struct str path, struct err *e);

/* Opens a regular file; refuses pipes and devices, for which one would have to wait. */
bool src_open_file(struct src **out, struct arena *a, struct str path, struct err *e);

/* Reads from memory that outlives the src; name is used in sentences. */
bool src_memory(
        struct src **out, struct arena *a, struct str name, struct str bytes, struct err *e);

/* Makes at least n bytes contiguous at s->p. False when the input ends before that (*e untouched:
 * the bytes that are there stay in p..end) or when reading fails (*e filled). */
bool src_need(struct src *s, size_t n);

/* Goes n bytes forward, seeking where it can; false when the input ends before that. */
bool src_skip(struct src *s, uint64_t n);

/* Goes over the hole of a sparse file that begins behind the bytes handed out, all of which are
 * read: they would be zeros. */
void src_pass_hole(struct src *s);

static inline uint64_t src_at(const struct src *s) /* offset of s->p */
{
	return s->end_at - (uint64_t)(s->end - s->p);
}
bool src_failed(const struct src *s);     /* a read error, not an end */
uint64_t src_size(const struct src *s);   /* bytes of the file, 0 if unknown (pipe, gzip) */
uint64_t src_raw_at(const struct src *s); /* bytes taken from the file itself, for progress */

/* Bytes between an offset and the end; false if nobody knows where that is. */
bool src_rest(const struct src *s, uint64_t from, uint64_t *n);

/* All the rest, contiguous (text inputs). */
bool src_all(struct src *s, struct str *out);

/* Called after each filling of the window with src_raw_at and the size of the file itself (0:
 * unknown; known for a gzip file too); false cancels: the read fails with ERR_CANCELLED. */
void src_on_progress(
        struct src *s, bool (*tick)(void *user, uint64_t done, uint64_t size), void *user);

/* Back to offset 0, to try another format. Works while nothing but the first window was read, for
 * pipes too; always for files and memory. */
bool src_rewind(struct src *s);

/* From now on all that is read is kept, so that src_rewind works for pipes too. */
void src_keep(struct src *s);

void src_close(struct src *s);

#endif
