/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots of PyTorch (torch.cuda.memory._snapshot), as a pickle or as JSON:
 *
 *   {"segments": [{"device", "address", "total_size", "blocks": [{"size", "state", ...}]}],
 *    "device_traces": [[{"action", "addr", "size", "stream", "time_us", "frames": [...]}], ...],
 *    "host_segments": ..., "host_traces": ..., "external_annotations": ...}
 *
 * Both forms pass each container that has ended to snapshot_close, which returns a small object for
 * it. Entries of device_traces become instants of a track per device at once; segments and blocks
 * are kept until the end, and become instants after the entries. Call stacks are sites of the
 * trace: equal stacks and equal beginnings of stacks exist once.
 */
#ifndef TFPROF_TRACE_SNAPSHOT_H
#define TFPROF_TRACE_SNAPSHOT_H

#include "io/pickle.h"
#include "trace/trace_build.h"

#define SHAPE_KEYS 24 /* maximum number of keys of a dict; dicts with more keys are not used */
#define SHAPES_MAX 64 /* maximum number of stored lists of keys */

enum snapshot_kind {
	OBJECT_EMPTY, /* a list without items */
	OBJECT_ENTRY, /* an entry of device_traces */
	OBJECT_ENTRIES,
	OBJECT_TRACES, /* a list of lists of entries */
	OBJECT_FRAME,  /* id: index of the event */
	OBJECT_STACK,  /* id: index of the site */
	OBJECT_BLOCK,
	OBJECT_BLOCKS,
	OBJECT_SEGMENT,
	OBJECT_SEGMENTS,
	OBJECT_ANNOTATION,
	OBJECT_POOL, /* id: string id of the trace */
	OBJECT_ROOT,
	OBJECT_N
};

#define FIELD(id, name) FIELD_##id,
enum snapshot_field {
#include "trace/read/snapshot/snapshot_field.def"
	FIELD_N
};
#undef FIELD
#define FIELD_BIT(field) ((uint64_t)1 << FIELD_##field)
_Static_assert(FIELD_N < 64, "a set of fields is 64 bits");

/* The keys of a dict, and what dicts with equal keys were found to be. */
struct snapshot_shape {
	uint64_t uses;
	uint64_t fields; /* FIELD_BITs */
	uint32_t n;
	uint32_t keys[SHAPE_KEYS]; /* texts */
	uint8_t field[SHAPE_KEYS]; /* FIELD_N: not used */
};

struct snapshot_block {
	uint64_t address;
	int64_t size, requested; /* requested: -1 if unknown */
	uint32_t state;          /* string id, or ID_NONE */
	uint32_t site;           /* site of the allocation, or ID_NONE */
	bool has_address, whole;
};
struct snapshot_segment {
	uint64_t address;
	int64_t size, stream, device;
	uint32_t pool; /* string id, or ID_NONE */
	uint32_t block0, n_blocks;
	bool expandable, host;
};

/* A list of entries: a device, or the pinned memory of the host. */
struct snapshot_entries {
	uint64_t number; /* number of the container */
	uint64_t first_entry;
	uint32_t track;
	int64_t last; /* time of the last entry */
};
/* Consecutive blocks, segments, or lists of entries. */
struct snapshot_range {
	uint32_t first, n;
};

/* Consecutive frames. */
struct frame_range {
	uint32_t first, n;
};
/* A stack that was looked up as a whole. */
struct whole_stack {
	uint32_t site;
	uint32_t range0; /* in stack_frames, or ID_NONE: only the site has the frames */
	uint32_t ranges;
};

struct stack_level {
	uint32_t frame, site;
};

struct snapshot {
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct intern texts;
	struct snapshot_shape shapes[SHAPES_MAX];
	unsigned n_shapes, last_shape;
	VEC(struct snapshot_entries) lists;
	VEC(uint32_t) members; /* elements of nested lists: 1 + index in lists; 0: an empty list */
	VEC(struct snapshot_range) ranges;
	VEC(struct snapshot_block) blocks;
	VEC(struct snapshot_segment) segments;
	const uint32_t *order;       /* segments sorted by address; created when an entry needs
	                                them */
	struct intern frames, pools; /* keys of the following two arrays */
	VEC(uint32_t) frame_events;
	VEC(uint32_t) pool_names;
	struct imap sites;  /* key: parent and event; value: site */
	struct imap stacks; /* key: hash of the frames; value: index in whole_stacks */
	VEC(struct whole_stack) whole_stacks;
	VEC(struct frame_range)
	stack_frames; /* of the first stacks; the sites of a stack do not lie together */
	/* The frames of the last stack, the outermost first, with their sites. */
	VEC(struct stack_level) last;
	uint64_t written; /* bytes of the frames' texts so far */
	int64_t end;      /* latest time of any entry */
	uint64_t entries, annotations;
	uint64_t odd, shortened, outside, backwards, unused_dicts,
	        unused_lists; /* counts for notes */
	bool timeless, private_pools;
	uint32_t key_metadata, key_context, key_category, key_state, key_expandable;
};

void snapshot_init(struct snapshot *x, struct src *s, struct trace_build *b, struct arena *a);

/* Returns an object for a container. Used as `close` of struct pickle_caller. */
bool snapshot_close(void *snapshot, const struct pickle_container *c, struct pickle_value *out);

/* Adds the stored segments and blocks, names the devices, and adds the notes. */
void snapshot_end(struct snapshot *x);

#endif
