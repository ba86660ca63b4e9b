/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaves of GraphDef, OpLogProto and ProfileProto: faults with their offset, and map entries.
 * Decoding follows the rules of libprotobuf: the last scalar wins, a known field with another wire
 * type is unknown, copies of a submessage are merged, packed and unpacked lists are both accepted,
 * texts are UTF-8.
 */
#ifndef TFPROF_MODEL_READ_LEAF_H
#define TFPROF_MODEL_READ_LEAF_H

#include "io/wire.h"
#include "model/read/read.h"

/* The state of reading one file. */
struct pb_reading {
	struct wire w;
	struct ingest *to;
	struct arena *a;  /* memory of the file */
	struct str leaf;  /* the leaf that is being decoded; valid until the next one */
	uint64_t leaf_at; /* offset of the leaf */
	const char *why;  /* static text: the fault that read_text found */
	char *join;       /* end of the last read_join */
	size_t join_cap;
};

void reading_init(struct pb_reading *r, struct src *s, const char *what, struct ingest *to,
        struct arena *a, struct err *e);

/* Reads the value announced by wire_next as the leaf to decode. */
bool reading_leaf(struct pb_reading *r);

/* Ends decoding: true if l was valid to its end, otherwise fills *e with the place of the fault. */
bool reading_end(struct pb_reading *r, const struct leaf *l);

/* Fills *e, and returns false. near: a byte of the leaf, or NULL. */
bool reading_refuse(struct pb_reading *r, const void *near, const char *why);

/* Starts decoding bytes that are `depth` levels below the top of the file. */
static inline struct leaf leaf_below(struct str bytes, unsigned depth)
{
	struct leaf l = leaf_of(bytes);
	l.depth = depth;
	return l;
}

/* Returns the value of a text field. Invalid UTF-8 sets bad. */
static inline struct str read_text(struct pb_reading *r, struct leaf *l)
{
	struct str s = leaf_bytes(l);

	if (!str_is_utf8(s)) {
		l->bad = true;
		l->p = (const uint8_t *)s.p; /* place of the fault */
		r->why = "text that is not valid UTF-8";
	}
	return s;
}

/* Adds one more copy of a submessage. Concatenated copies are equal to their merge. */
void read_join(struct pb_reading *r, struct str *to, struct str copy);

/* Appends the values of a packed list to a column. If `to` is NULL, only validates them. */
struct numbers {
	int64_t *v;
	size_t n, cap;
};
void read_packed(struct pb_reading *r, struct leaf *l, struct numbers *to);

/* Reads a Tuple and appends its values to the column. */
bool read_tuple(struct pb_reading *r, struct str bytes, unsigned depth, struct numbers *to);

/* Reads an AllocationRecord: one allocation or, if the size is negative, one release. */
struct mem_item read_allocation(struct leaf *l);

/* Validates a submessage that is not stored. */
struct ProtobufCMessageDescriptor;
bool read_judge(struct pb_reading *r, const struct ProtobufCMessageDescriptor *d, struct str bytes,
        unsigned depth);

/* ---- map entries ---- */

struct map_entry {
	int64_t key;      /* key in a map with numeric keys */
	struct str name;  /* key in a map with text keys */
	struct str value; /* a text, or a message with its copies joined */
	int64_t number;   /* value in a map with numeric values */
};
struct entries {
	struct map_entry *v;
	size_t n, cap;
};
enum entry_form {
	ENTRY_MESSAGE = 0,
	ENTRY_TEXT = 1,   /* the value is text */
	ENTRY_NUMBER = 2, /* the value is a varint */
	ENTRY_NAMED = 4,  /* the key is text, otherwise a varint */
	ENTRY_KEY32 = 8   /* the key has 32 bits */
};
bool read_entry(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct map_entry *out);
bool read_entry_to(struct pb_reading *r, struct str bytes, unsigned depth, enum entry_form form,
        struct entries *to);

/* Sorts by number. entries_tidy also drops all but the last of equal keys. */
void entries_sort(struct arena *a, struct entries *v);
bool entries_last(const struct entries *v,
        size_t i); /* true for the last entry of its key in a sorted list */
void entries_tidy(struct arena *a, struct entries *v);

#endif
