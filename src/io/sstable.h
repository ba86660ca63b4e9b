/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted tables of keys and values, the container of checkpoints. A table is read through
 * its index, block by block. The checksum of every block is verified before use. Independent of the
 * meaning of keys and values.
 *
 *   block 0 | type crc | block 1 | type crc | ... | metaindex | type crc | index | type crc
 *   | footer
 *   footer, 48 bytes: handle of metaindex, handle of index (two varints each), zeros, magic
 */
#ifndef TFPROF_IO_SSTABLE_H
#define TFPROF_IO_SSTABLE_H

#include "base/err.h"

/* ---- rfile ---- */

/* A regular file that is read by offset. It is opened at the first read, and reopened if it was
 * closed by a work that ended early. Every read is checked against the file size at opening. */

struct rfile {
	struct str path;
	uint64_t size; /* set by rfile_open */
	struct guard guard;
	struct arena *a; /* holds *f; closing it closes the file */
	int fd;          /* -1: not open */
};

/* Initialises a file. *f is allocated in a; path must outlive *f. Does not open the file yet. */
void rfile_init(struct rfile *f, struct arena *a, struct str path);

/* Opens the file unless it is open. scratch: arena for the name. Refuses everything except regular
 * files. */
bool rfile_open(struct rfile *f, struct arena *scratch, struct err *e);

/* Reads exactly n bytes at an offset. Fails with a sentence if the file ends earlier. */
bool rfile_read(
        struct rfile *f, uint64_t at, void *p, size_t n, struct arena *scratch, struct err *e);
void rfile_close(struct rfile *f);

struct table_handle {
	uint64_t at, size; /* size of the contents; type and checksum follow */
};

/* The contents of a block, and a position in them. */
struct table_block {
	uint8_t *buf, *packed; /* contents; the compressed bytes, if any */
	size_t cap, packed_cap;
	struct table_handle from;
	const uint8_t *p, *entries_end; /* next entry, and start of the restart array */
	uint32_t restarts;
	char *key_buf;
	size_t key_n, key_cap;
	struct str value;
	bool loaded;
	bool first;   /* true: the next entry shares no bytes with its predecessor */
	bool has_key; /* true: the key belongs to the predecessor, and the next key must sort after
	                 it */
};

/* Parts of an error sentence: lead FILE middle SENTENCE tail; magic replaces SENTENCE if the file
 * is not a table. */
struct table_frame {
	const char *lead, *middle, *tail, *magic;
};

struct sstable {
	struct rfile file;
	struct table_handle meta, index;
	struct table_block top; /* the index block; only its contents are shared by cursors */
	const struct table_frame *frame; /* text around its error sentences */
	bool odd_footer;                 /* true: the footer differs from a writer's encoding */
};

/* Opens the file and reads the index, which lives in a; path must live as long. frame surrounds the
 * sentence if the contents are faulty; NULL: "FILE: SENTENCE". */
bool table_open(struct sstable *t, struct arena *a, struct str path,
        const struct table_frame *frame, struct err *e);
void table_close(struct sstable *t);

/* A position in a table; buffers live in a and are reused. */
struct table_at {
	struct sstable *t;
	struct arena *a;
	struct err *e;
	struct str key, value; /* of the current entry; valid until the next call */
	uint64_t place;        /* offset of the entry's block in the file */
	bool bad;              /* true: *e is filled */
	struct table_block top, block;
	uint64_t expect; /* strict: expected start of the next block */
	bool strict;     /* true: blocks must follow one another without gaps, up to the footer */
};
void table_at_init(struct table_at *c, struct sstable *t, struct arena *a, struct err *e);

/* Moves to the next entry. Returns false at the end, or when bad is set. */
bool table_next(struct table_at *c);

/* Moves to the entry with a key. Returns false if there is none, or after an error (bad). */
bool table_find(struct table_at *c, struct str key);

/* Fails because of a fault in the current block: "<file>: byte <its offset>: ..." as ERR_DATA_LOSS.
 * Returns false. */
bool table_fail(struct table_at *c, const char *f, ...) __attribute__((format(printf, 2, 3)));

/* True if, after the last entry of a strict cursor, metaindex, index and footer follow without
 * gaps, each in a writer's encoding. */
bool table_verify_end(struct table_at *c);

#endif
