/* SPDX-License-Identifier: Apache-2.0
 *
 * The builder of a trace and the encoding of slices in blocks.
 *
 *   record: head    how many bytes the next three numbers have; RECORD_CORRELATION, RECORD_ARGS
 *           form    in one byte, of slices that are not complete
 *           event
 *           zigzag of start - start of the record before; of the first: - base of the block
 *           length
 *           varint  zigzag of correlation - correlation of the block, if the flag is set
 *           varint  size of the arguments, then the arguments, if the flag is set
 *
 *   head:   bits 0-1  bytes of event: 1, 2 or 4; the fourth value: 4, and the form comes first
 *           bits 2-3  bytes of start: 2, 3, 4 or 8
 *           bits 4-5  bytes of length, likewise
 *
 * A number is read as eight bytes, of which only the first ones belong to it: a block has room for
 * RECORD_HEAD bytes and the arguments before each record is written.
 *
 *   argument: varint key * 4 + type, then a zigzag varint, a varint, 8 bytes or a varint
 */
#ifndef TFPROF_TRACE_TRACE_INTERNAL_H
#define TFPROF_TRACE_TRACE_INTERNAL_H

#include "base/bits.h"
#include "trace/trace_build.h"

#define SLICE_BLOCK_MIN 256u
#define SLICE_BLOCK     4096u /* bytes; a block with a single record may be longer */
#define SLICE_ENTRIES   7u    /* places in a block, besides its begin, where decoding can begin */

enum { RECORD_FORM = 3, RECORD_CORRELATION = 64, RECORD_ARGS = 128 };

/* Forms of records that the seal combines into complete slices. */
enum { FORM_BEGIN = SLICE_SAMPLE + 1, FORM_END };

struct slice_block {
	uint8_t *bytes;
	uint32_t size, cap, n;
	uint32_t first;                     /* number of the first slice, within the track */
	int64_t base;                       /* start of the first slice */
	int64_t correlation;                /* first correlation in the block */
	uint32_t entries;                   /* number of entries, one per SLICE_BLOCK / 8 bytes */
	uint16_t entry_at[SLICE_ENTRIES];   /* offset of the record */
	uint16_t entry_n[SLICE_ENTRIES];    /* records before it */
	int64_t entry_start[SLICE_ENTRIES]; /* start of the record before it */
};

/* An input of a node of a program. */
struct build_edge {
	uint32_t node, source;
};

/* A track under construction. */
struct build_track {
	int64_t last_start, last_length; /* start and length of the last slice */
	bool unordered;
	bool marks; /* true: the track has begins or ends */
};

struct trace_build {
	struct trace *t;
	struct arena *scratch;
	struct notes *notes;
	uint64_t wants;
	struct intern process_keys, device_keys, track_keys, event_keys;
	VEC(struct build_track) tracks;
	VEC(struct build_edge) edges;
	struct build_creations creations;
	VEC(uint8_t) args;    /* arguments of the next event or slice */
	VEC(uint8_t) key;     /* key of the event that is looked up */
	VEC(uint8_t *) spare; /* unused blocks of SLICE_BLOCK bytes */
	bool sealed;
};

/* Appends a slice to its track. */
void store_append(struct trace_build *b, const struct slice *s);

/* Decodes a record at p. *start is the start of the previous record of the block (initially the
 * block's base), and becomes the start of this record. Returns the end of the record. */
const uint8_t *store_decode(
        const struct slice_block *block, const uint8_t *p, int64_t *start, struct slice *out);

/* Empties a track, and returns its previous state, so that its slices can be appended anew. */
struct trace_track store_take(struct trace_build *b, uint32_t track);
/* Releases the blocks of a track that store_take returned. */
void store_release(struct trace_build *b, const struct trace_track *taken);

/* Sorts a track by start, longest first; slices equal in both keep their order. */
void store_order(struct trace_build *b, uint32_t track);

/* Makes complete slices of the begins and ends of a track. */
void marks_pair(struct trace_build *b, uint32_t track);

#endif
