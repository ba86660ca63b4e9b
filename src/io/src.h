/* SPDX-License-Identifier: Apache-2.0
 *
 * Input: a window over a file, a pipe, memory or a gzip stream (recognised by its magic in all of
 * them). Offsets count decompressed bytes and never restart. Independent of formats.
 *
 *        already read          |  window: p .... end  |   not yet read
 *   0 ............. src_at() --^                      ^-- filled by src_need
 */
#ifndef TFPROF_IO_SRC_H
#define TFPROF_IO_SRC_H

#include "base/err.h"
#include "base/arena.h"
#include "io/gz.h"

#define SRC_WINDOW ((size_t)1 << 20)

/* Damage of an input: the position at which the input stops being valid. Filled by the reader. */
struct src_damage {
	bool recover;        /* true: use the part before the damage; damaged gzip data end there
	                        without an error */
	bool truncated_ok;   /* true: truncated gzip data end without an error; set by readers */
	struct str in_gzip;  /* the error message about gzip data that ended early */
	uint64_t in_gzip_at; /* offset at which the gzip data ended */
	bool truncated;      /* true: the gzip data are truncated, not damaged */
	uint64_t at;         /* offset of the first lost record; UINT64_MAX: none */
	uint64_t missing;    /* number of bytes expected after the last one */
	uint64_t kept;       /* number of records before the damage */
	uint64_t groups;     /* number of records announced by the file */
	uint64_t lost;       /* number of lost records to which the intact records refer */
};

/* Pairs a trace with the execution trace of the same process. */
struct src_calls {
	struct str trace, path; /* names of the inputs */
};

/* User options for readers. An empty text means that the option was not given. */
struct src_options {
	struct str sample;        /* sample type to use if several have the same metric */
	struct str step;          /* regular expression for the names of ranges that are steps */
	struct str graph_capture; /* file or folder with the captures of replayed graphs */
	bool guess_steps;         /* for traces that do not mark their steps */
	const struct src_calls *calls;
	size_t n_calls;
	enum {
		SLICES_BY_SIZE,
		SLICES_KEPT,
		SLICES_SUMMED
	} slices; /* for traces whose reader can add up slices */
};

/* Data of an input that its reader does not use. */
struct src_unused {
	struct str kind; /* in the plural: "partition graphs" */
	uint64_t n;
};
struct src_facts {
	struct arena *a;
	struct str producer; /* writer and version; empty if unknown */
	struct str content;  /* more facts about the format: "samples/count, cpu/nanoseconds" */
	int64_t pid;         /* process that the file describes; 0: unknown */
	VEC(struct src_unused) unused;
};

struct src {
	const uint8_t *p, *end;    /* unread part of the window; readers may advance p up to end */
	uint64_t end_at;           /* offset of end */
	struct str name;           /* name of the input, for sentences */
	struct err *e;             /* filled if reading fails; set by the caller of src_open */
	struct src_damage *damage; /* created by the src */
	const struct src_options *options; /* never NULL */
	struct src_facts *facts;           /* created by the src */
	struct src_inner *in;
};

/* Opens path ("-": standard input). Refuses folders. The window lives in a; the arena's work guards
 * the descriptor until src_close. Fails with "cannot open '<path>': <reason>". */
bool src_open(struct src **out, struct arena *a, struct str path, struct err *e);

/* Opens a regular file. Refuses pipes and devices, which could block. */
bool src_open_file(struct src **out, struct arena *a, struct str path, struct err *e);

/* Reads from memory, which must outlive the src. name is used in sentences. */
bool src_memory(
        struct src **out, struct arena *a, struct str name, struct str bytes, struct err *e);

/* Makes at least n bytes contiguous at s->p. Returns false if the input ends earlier (*e unchanged;
 * the remaining bytes are p..end) or if reading fails (*e filled). */
bool src_need(struct src *s, size_t n);

/* Skips n bytes, by seeking if possible. Returns false if the input ends earlier. */
bool src_skip(struct src *s, uint64_t n);

/* Skips the hole of a sparse file that begins after the bytes in the window, all of which must have
 * been read. A hole contains zeros. */
void src_pass_hole(struct src *s);

static inline uint64_t src_at(const struct src *s) /* offset of s->p */
{
	return s->end_at - (uint64_t)(s->end - s->p);
}
bool src_failed(const struct src *s);     /* true for a read error, false for the end */
uint64_t src_size(const struct src *s);   /* size of the file, 0 if unknown (pipe, gzip) */
uint64_t src_raw_at(const struct src *s); /* number of bytes read from the file itself, for
                                             progress */

/* Sets the number of bytes between an offset and the end. Returns false if the end is unknown. */
bool src_rest(const struct src *s, uint64_t from, uint64_t *n);

/* Returns all remaining bytes, contiguous (for text inputs). */
bool src_all(struct src *s, struct str *out);

/* Decompresses gzip data to their end to verify the checksum. Keeps the window, and discards the
 * data. Returns false if the data are damaged (*e filled), unless s->damage allows damaged data to
 * end early. */
bool src_finish(struct src *s);

/* Sets a watcher. It is called after each filling of the window with src_raw_at and the size of the
 * file itself (0: unknown; known for a gzip file). If it returns false, the read fails with
 * ERR_CANCELLED. */
void src_on_progress(
        struct src *s, bool (*tick)(void *user, uint64_t done, uint64_t size), void *user);

/* Reports n more bytes as done, for an input that another library reads. Returns false to
 * cancel. */
bool src_watch(struct src *s, uint64_t done);

/* True if the input is an uncompressed regular file, read from its beginning, that can be opened by
 * its name. */
bool src_is_plain_file(const struct src *s);

/* Moves back to offset 0, to try another format. Works for pipes while only the first window was
 * read; for files and memory, always. */
bool src_rewind(struct src *s);

/* Keeps all bytes read from now on, so that src_rewind also works for pipes. */
void src_keep(struct src *s);

void src_close(struct src *s);

/* Adds n to the count of unused data of a kind. Copies the text. */
void facts_count_unused(struct src_facts *f, struct str kind, uint64_t n);

/* The following functions set facts of a source. They copy the texts. */
void src_set_producer(struct src *s, struct str producer);
void src_set_content(struct src *s, struct str content);
void src_count_unused(struct src *s, struct str kind, uint64_t n);

/* Returns the path of the execution trace paired with this trace, or STR_NONE. */
struct str src_calls_path(const struct src *s);

/* ---- internal ----
 *
 * The inside of a src, for src.c and src_seek.c only.
 */

struct src_inner {
	struct src pub;
	struct arena *a;
	struct guard guard;
	int fd;       /* -1: memory, or the file is closed */
	bool owned;   /* true: the src closes fd */
	bool regular; /* true: read by offset; may seek */
	bool memory, ended, failed;
	bool first;    /* true: the window still begins at offset 0 */
	bool keep;     /* true: the window must keep beginning at offset 0 */
	uint64_t base; /* initial position in a regular file */
	uint64_t raw_at, raw_size;
	struct str text; /* memory: the whole input */
	uint8_t *buf;    /* the window; NULL for uncompressed memory */
	size_t cap;
	struct gunzip *gz; /* NULL: the input is not compressed */
	uint8_t *raw;      /* compressed bytes of a file */
	struct str packed; /* bytes that are not yet decompressed */
	bool (*tick)(void *user, uint64_t done, uint64_t size);
	void *user;
};

/* Adds bytes to the window, at least `need` bytes if possible in one read. Returns false at the
 * end. */
bool src_fill(struct src_inner *in, size_t n);

#endif
